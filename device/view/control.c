/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests to running processes; see control.h. Paths of sockets are short, and folders may be
 * long, so a socket is named through a descriptor of its folder, in /proc.
 */
#include "device/view/control.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "device/view/place.h"

#define PATIENCE 5 /* seconds that an asker may be silent for */
#define BACKLOG  16

/* Writes the address of the socket that belongs to the view `name` in the folder. */
static bool name_socket(struct sockaddr_un *address, int folder, const char *name)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    return (size_t)snprintf(address->sun_path, sizeof(address->sun_path), "/proc/self/fd/%d/%s.s",
                            folder, name) < sizeof(address->sun_path);
}

static int new_socket(int flags)
{
    return socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | flags, 0);
}

/* Returns what identifies an open descriptor's socket; 0: it is none of ours. */
static ino_t inode_of(int fd)
{
    struct stat about;

    return fd >= 0 && fstat(fd, &about) == 0 && S_ISSOCK(about.st_mode) ? about.st_ino : 0;
}

/* ---- the process ---- */

void oche_control_open(struct oche_control *control, const char *folder, const char *name)
{
    const int at = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct sockaddr_un address;
    int fd = -1;

    *control = (struct oche_control){.listens = -1, .asker = -1};
    if (at >= 0 && name_socket(&address, at, name))
        fd = new_socket(SOCK_NONBLOCK);
    /* nobody else gets into the folder; the file's own mode is only tidy */
    if (fd >= 0 &&
        (bind(fd, (const struct sockaddr *)(const void *)&address, sizeof(address)) != 0 ||
         chmod(address.sun_path, 0600) != 0 || listen(fd, BACKLOG) != 0)) {
        close(fd);
        fd = -1;
    }
    if (at >= 0)
        close(at);
    control->listens = fd;
    control->listens_inode = inode_of(fd);
}

static void close_asker(struct oche_control *control)
{
    if (control->asker >= 0 && inode_of(control->asker) == control->asker_inode)
        close(control->asker);
    control->asker = -1;
}

void oche_control_leave(struct oche_control *control)
{
    close_asker(control);
    if (control->listens >= 0 && inode_of(control->listens) == control->listens_inode)
        close(control->listens);
    control->listens = -1;
}

void oche_control_close(struct oche_control *control, const char *folder, const char *name)
{
    const int at = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    char own[OCHE_VIEW_NAME_BYTES + 2];

    oche_control_leave(control);
    if (at < 0)
        return;
    snprintf(own, sizeof(own), "%s.s", name);
    unlinkat(at, own, 0);
    close(at);
}

static int64_t seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return now.tv_sec;
}

/* Lets the next asker in, if there is one. */
static void accept_asker(struct oche_control *control)
{
    if (control->listens < 0 || inode_of(control->listens) != control->listens_inode)
        return;
    control->asker = accept4(control->listens, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    control->asker_inode = inode_of(control->asker);
    control->came = seconds();
}

/* True if the asker does not wait for an answer any more: nobody would learn of what is done. */
static bool has_gone(const struct oche_control *control)
{
    char byte;

    return recv(control->asker, &byte, 1, MSG_DONTWAIT | MSG_PEEK) >= 0 || errno != EAGAIN;
}

bool oche_control_take(struct oche_control *control, char *text)
{
    ssize_t count;

    if (control->asker < 0)
        accept_asker(control);
    if (control->asker < 0)
        return false;
    if (inode_of(control->asker) != control->asker_inode) {
        control->asker = -1;
        return false;
    }
    count = recv(control->asker, text, OCHE_CONTROL_BYTES - 1, MSG_DONTWAIT | MSG_TRUNC);
    if (count > 0 && count < OCHE_CONTROL_BYTES && !has_gone(control)) {
        text[count] = '\0';
        return true;
    }
    if (count >= 0 || errno != EAGAIN || seconds() > control->came + PATIENCE)
        close_asker(control);
    return false;
}

void oche_control_answer(struct oche_control *control, const char *text)
{
    if (control->asker >= 0 && inode_of(control->asker) == control->asker_inode &&
        send(control->asker, text, strlen(text), MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
        errno = 0; /* the asker has gone */
    close_asker(control);
}

/* ---- the asker ---- */

/* Sends the text. Waits for a place in the queue of a busy process. Returns false with errno. */
static bool say(int fd, const struct sockaddr_un *address, const char *text, int timeout_ms)
{
    const struct timeval longest = {.tv_sec = timeout_ms / 1000,
                                    .tv_usec = timeout_ms % 1000 * 1000};

    if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &longest, sizeof(longest)) != 0)
        return false;
    if (connect(fd, (const struct sockaddr *)(const void *)address, sizeof(*address)) != 0) {
        errno = errno == EAGAIN ? ETIMEDOUT : errno;
        return false;
    }
    return send(fd, text, strlen(text), MSG_NOSIGNAL) >= 0;
}

/* Waits for the answer. Returns false with errno. */
static bool hear(int fd, char *answer, size_t bytes, int timeout_ms)
{
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
    const int ready = poll(&poll_fd, 1, timeout_ms);
    ssize_t count;

    if (ready <= 0) {
        errno = ready == 0 ? ETIMEDOUT : errno;
        return false;
    }
    count = recv(fd, answer, bytes - 1, 0);
    if (count <= 0) {
        errno = count == 0 ? ECONNRESET : errno;
        return false;
    }
    answer[count] = '\0';
    return true;
}

bool oche_control_ask(int folder, const char *name, const char *text, char *answer, size_t bytes,
                      int timeout_ms)
{
    struct sockaddr_un address;
    const int fd = new_socket(0);
    bool heard;
    int why;

    if (fd < 0)
        return false;
    heard = name_socket(&address, folder, name) && say(fd, &address, text, timeout_ms) &&
            hear(fd, answer, bytes, timeout_ms);
    why = errno;
    close(fd);
    errno = why;
    return heard;
}
