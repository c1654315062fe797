/* SPDX-License-Identifier: Apache-2.0 */
#include "params/input_file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base.h"

#define FIRST_BYTES 4096

/*
 * The contents of a pipe. The pipe stays open, and is not read again, so no other file gets its
 * number.
 */
struct kept {
    struct kept *next;
    int held;
    dev_t device;
    ino_t number;
    struct oche_input_file file;
};

static struct kept *pipes;

static const char *kind_of(mode_t mode)
{
    if (S_ISDIR(mode))
        return strerror(EISDIR);
    if (S_ISSOCK(mode))
        return "a socket, not a file";
    return S_ISCHR(mode) || S_ISBLK(mode) ? "a device, not a file" : "not a file";
}

/* True if the kind of file is one that is read; else the reason is in `reason`. */
static bool is_readable_kind(const struct stat *status, struct oche_error *reason)
{
    return S_ISREG(status->st_mode) || S_ISFIFO(status->st_mode) ||
           oche_fail(reason, "%s", kind_of(status->st_mode));
}

/*
 * Opens without waiting. Checks the kind of file before, because opening a device may have an
 * effect, and after, because it may have changed.
 */
static int open_checked(const char *path, struct stat *status, struct oche_error *reason)
{
    if (stat(path, status) != 0) {
        oche_fail(reason, "%s", strerror(errno));
        return -1;
    }
    if (!is_readable_kind(status, reason))
        return -1;
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

    if (fd < 0) {
        oche_fail(reason, "%s", strerror(errno));
        return -1;
    }
    if (fstat(fd, status) == 0 && is_readable_kind(status, reason))
        return fd;
    close(fd);
    return -1;
}

/* Waits until there are bytes to read, or no more will come. */
static int wait_for(int fd, int milliseconds)
{
    struct pollfd pipe = {.fd = fd, .events = POLLIN};
    int ready;

    do {
        ready = poll(&pipe, 1, milliseconds);
    } while (ready < 0 && errno == EINTR);
    return ready;
}

/* True if a process has the pipe open for writing. tee takes no bytes out of it. */
static bool has_writer(int fd)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) != 0)
        return true;
    const ssize_t got = tee(fd, ends[1], 1, SPLICE_F_NONBLOCK);

    close(ends[0]);
    close(ends[1]);
    return got != 0;
}

/*
 * Waits until a pipe has bytes or is at its end. A named pipe without a writer reads as if it were
 * at its end, but poll does not report it as ready.
 */
static bool wait_for_bytes(int fd, struct oche_error *reason)
{
    if (wait_for(fd, OCHE_INPUT_OPEN_MS) != 0)
        return true;
    if (!has_writer(fd))
        return oche_fail(reason, "a pipe to which nobody writes");
    return wait_for(fd, OCHE_INPUT_QUIET_MS - OCHE_INPUT_OPEN_MS) != 0 ||
           oche_fail(reason, "a pipe whose writer has written nothing for %d s",
                     OCHE_INPUT_QUIET_MS / 1000);
}

/* Reads everything into memory that grows, because most files are small. */
static bool read_all(int fd, bool is_pipe, size_t most, struct oche_input_file *file,
                     struct oche_error *reason)
{
    size_t room = 0;

    for (;;) {
        if (is_pipe && !wait_for_bytes(fd, reason))
            return false;
        if (file->bytes == room) {
            room = room == 0 ? FIRST_BYTES : room < most / 2 ? 2 * room : most + 1;
            char *grown = realloc(file->text, room + 1);

            OCHE_GOT(grown != NULL);
            file->text = grown;
        }
        const ssize_t got = read(fd, file->text + file->bytes, room - file->bytes);

        if (got < 0 && (errno == EINTR || (errno == EAGAIN && is_pipe)))
            continue;
        if (got < 0)
            return oche_fail(reason, "%s", strerror(errno));
        file->bytes += (size_t)got;
        if (file->bytes > most)
            return oche_fail(reason, "larger than %zu MiB", most / OCHE_INPUT_MIB);
        if (got == 0)
            break;
    }
    file->text[file->bytes] = '\0';
    return true;
}

static struct kept *find_kept(const struct stat *status)
{
    struct kept *kept = pipes;

    while (kept != NULL && (kept->device != status->st_dev || kept->number != status->st_ino))
        kept = kept->next;
    return kept;
}

static void copy(const struct oche_input_file *from, struct oche_input_file *to)
{
    *to = (struct oche_input_file){.text = malloc(from->bytes + 1), .bytes = from->bytes};
    OCHE_GOT(to->text != NULL);
    memcpy(to->text, from->text, from->bytes + 1);
}

static void keep(const char *path, const struct stat *status, const struct oche_input_file *file)
{
    const int held = open(path, O_PATH | O_CLOEXEC);
    struct stat now;

    if (held < 0 || fstat(held, &now) != 0 || now.st_dev != status->st_dev ||
        now.st_ino != status->st_ino) {
        close(held);
        return;
    }
    struct kept *kept = malloc(sizeof(*kept));

    OCHE_GOT(kept != NULL);
    *kept = (struct kept){
        .next = pipes, .held = held, .device = status->st_dev, .number = status->st_ino};
    copy(file, &kept->file);
    pipes = kept;
}

bool oche_input_read(struct oche_input_file *file, const char *path, size_t most,
                     struct oche_error *reason)
{
    const struct oche_input_file *before = oche_input_of_pipe(path);
    struct stat status;

    *file = (struct oche_input_file){.bytes = 0};
    if (before != NULL && before->bytes > most)
        return oche_fail(reason, "larger than %zu MiB", most / OCHE_INPUT_MIB);
    if (before != NULL) {
        copy(before, file);
        return true;
    }
    const int fd = open_checked(path, &status, reason);

    if (fd < 0)
        return false;
    const bool is_pipe = S_ISFIFO(status.st_mode);
    bool good = is_pipe || (uint64_t)status.st_size <= most ||
                oche_fail(reason, "larger than %zu MiB", most / OCHE_INPUT_MIB);

    good = good && read_all(fd, is_pipe, most, file, reason);
    if (good && is_pipe)
        keep(path, &status, file);
    close(fd);
    if (!good)
        oche_input_free(file);
    return good;
}

void oche_input_free(struct oche_input_file *file)
{
    free(file->text);
    *file = (struct oche_input_file){.bytes = 0};
}

int oche_input_open(const char *path, struct oche_error *reason)
{
    struct stat status;
    int fd = open_checked(path, &status, reason);

    if (fd < 0)
        return -1;
    if ((!S_ISFIFO(status.st_mode) || wait_for_bytes(fd, reason)) && fcntl(fd, F_SETFL, 0) == 0)
        return fd;
    close(fd);
    return -1;
}

FILE *oche_input_stream(const char *path, struct oche_error *reason)
{
    const int fd = oche_input_open(path, reason);
    FILE *stream = fd >= 0 ? fdopen(fd, "r") : NULL;

    OCHE_GOT(fd < 0 || stream != NULL);
    return stream;
}

const struct oche_input_file *oche_input_of_pipe(const char *path)
{
    struct stat status;

    if (pipes == NULL || stat(path, &status) != 0 || !S_ISFIFO(status.st_mode))
        return NULL;
    const struct kept *kept = find_kept(&status);

    return kept != NULL ? &kept->file : NULL;
}

bool oche_input_is_regular(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

size_t oche_input_head(const char *path, char *head, size_t room)
{
    struct oche_error reason;
    ssize_t count;
    int file;

    if (!oche_input_is_regular(path) || (file = oche_input_open(path, &reason)) < 0)
        return 0;
    count = pread(file, head, room, 0);
    close(file);
    return count > 0 ? (size_t)count : 0;
}
