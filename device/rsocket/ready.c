/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A descriptor that the kernel's poll and epoll can wait for. It is one end of a pair of Unix
 * sockets. It is readable while a byte from the other end is unread, not writable while its own
 * bytes fill the other end, and at its end after the other end was shut down. The program reads and
 * writes it only by our calls. It is kept up to date for sockets that listen or connect, and for
 * others once they are watched (oche_rsocket_watch).
 *
 * The system calls are made directly, since librspreload.so has functions of these names.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "device/rsocket/internal.h"

#define MOST_TOKENS 64

int rs_real_close(int fd)
{
    return (int)syscall(SYS_close, fd);
}

int rs_real_fcntl(int fd, int command, long argument)
{
    return (int)syscall(SYS_fcntl, fd, command, argument);
}

int rs_real_dup3(int from, int to, int flags)
{
    return (int)syscall(SYS_dup3, from, to, flags);
}

int rs_real_poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
    struct timespec limit = {.tv_sec = timeout_ms / 1000,
                             .tv_nsec = (timeout_ms % 1000) * 1000000L};

    return (int)syscall(SYS_ppoll, fds, count, timeout_ms < 0 ? NULL : &limit, NULL, 0);
}

static bool put(int fd)
{
    return syscall(SYS_sendto, fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL, NULL, 0) == 1;
}

static void take(int fd)
{
    char tokens[MOST_TOKENS];

    while (syscall(SYS_recvfrom, fd, tokens, sizeof(tokens), MSG_DONTWAIT, NULL, NULL) ==
           (long)sizeof(tokens))
        continue;
}

bool rs_ready_make(struct rs_socket *s)
{
    int ends[2];
    const int least = 1;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return false;
    syscall(SYS_setsockopt, ends[0], SOL_SOCKET, SO_SNDBUF, &least, sizeof(least));
    s->own_end = ends[1];
    rs_real_fcntl(ends[0], F_SETFD, 0);
    if (!rs_enter(s, ends[0])) {
        rs_real_close(ends[0]);
        return false;
    }
    return true;
}

void rs_ready_drop(struct rs_socket *s)
{
    rs_real_close(s->own_end);
    s->own_end = -1;
}

static void show_input(struct rs_socket *s, bool input, bool arrived)
{
    if (input == s->shows_input && !(input && arrived))
        return;
    if (!input || s->shows_input)
        take(s->descriptor); /* a new byte is an edge for edge-triggered epolls */
    if (input)
        put(s->own_end);
    s->shows_input = input;
}

static void show_full(struct rs_socket *s, bool full)
{
    if (full == s->shows_full)
        return;
    if (full)
        while (put(s->descriptor))
            continue;
    else
        take(s->own_end);
    s->shows_full = full;
}

void rs_ready_show(struct rs_socket *s, bool arrived)
{
    const short events = rs_events(s);

    if (s->descriptor < 0 || s->own_end < 0)
        return;
    if (!s->shows_end) {
        show_input(s, (events & POLLIN) != 0, arrived);
        show_full(s, (events & POLLOUT) == 0 && s->state != RS_LISTENING);
    }
    if ((events & POLLRDHUP) != 0 && !s->shows_end) {
        syscall(SYS_shutdown, s->own_end, SHUT_WR);
        s->shows_end = true;
    }
    if ((events & (POLLHUP | POLLERR)) != 0 && !s->shows_hangup) {
        show_full(s, false);
        syscall(SYS_shutdown, s->own_end, SHUT_RDWR);
        s->shows_hangup = true;
    }
    if (s->shows_end && !s->shows_hangup)
        show_full(s, (events & POLLOUT) == 0);
}
