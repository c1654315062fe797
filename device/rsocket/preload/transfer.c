/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading and writing. The names with _chk are those that a program calls which was compiled with
 * _FORTIFY_SOURCE.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device/rsocket/preload/internal.h"

#define PIECE 65536 /* bytes of a file sent at a time */

/* As with TCP, a write to a connection that the program has ended raises a signal. */
static ssize_t with_signal(ssize_t sent, int flags)
{
    if (sent < 0 && errno == EPIPE && (flags & MSG_NOSIGNAL) == 0) {
        pthread_kill(pthread_self(), SIGPIPE);
        errno = EPIPE;
    }
    return sent;
}

/* ---- reading ---- */

ssize_t recv(int descriptor, void *to, size_t bytes, int flags)
{
    if (rp_is_rdma(descriptor))
        return rrecv(descriptor, to, bytes, flags);
    return rp_is_parents(descriptor) ? -1 : rp_real()->recv(descriptor, to, bytes, flags);
}

ssize_t recvfrom(int descriptor, void *restrict to, size_t bytes, int flags,
                 struct sockaddr *restrict address, socklen_t *restrict address_bytes)
{
    if (rp_is_rdma(descriptor))
        return rrecvfrom(descriptor, to, bytes, flags, address, address_bytes);
    return rp_is_parents(descriptor)
               ? -1
               : rp_real()->recvfrom(descriptor, to, bytes, flags, address, address_bytes);
}

ssize_t recvmsg(int descriptor, struct msghdr *message, int flags)
{
    if (rp_is_rdma(descriptor))
        return rrecvmsg(descriptor, message, flags);
    return rp_is_parents(descriptor) ? -1 : rp_real()->recvmsg(descriptor, message, flags);
}

/* A stream's bytes are one message. */
int recvmmsg(int descriptor, struct mmsghdr *messages, unsigned count, int flags,
             struct timespec *timeout)
{
    ssize_t received;

    if (!rp_is_rdma(descriptor))
        return rp_is_parents(descriptor)
                   ? -1
                   : rp_real()->recvmmsg(descriptor, messages, count, flags, timeout);
    if (count == 0)
        return 0;
    received = rrecvmsg(descriptor, &messages[0].msg_hdr, flags);
    if (received < 0)
        return -1;
    messages[0].msg_len = (unsigned)received;
    return 1;
}

ssize_t read(int descriptor, void *to, size_t bytes)
{
    if (rp_is_rdma(descriptor))
        return rread(descriptor, to, bytes);
    return rp_is_parents(descriptor) ? -1 : rp_real()->read(descriptor, to, bytes);
}

ssize_t readv(int descriptor, const struct iovec *pieces, int count)
{
    if (rp_is_rdma(descriptor))
        return rreadv(descriptor, pieces, count);
    return rp_is_parents(descriptor) ? -1 : rp_real()->readv(descriptor, pieces, count);
}

ssize_t __read_chk(int descriptor, void *to, size_t bytes, size_t room);
ssize_t __recv_chk(int descriptor, void *to, size_t bytes, size_t room, int flags);
ssize_t __recvfrom_chk(int descriptor, void *to, size_t bytes, size_t room, int flags,
                       struct sockaddr *address, socklen_t *address_bytes);

/* Ends the program if a buffer is too small, as the C library does. */
static void check(size_t bytes, size_t room)
{
    if (bytes <= room)
        return;
    rp_say("a buffer would overflow");
    abort();
}

ssize_t __read_chk(int descriptor, void *to, size_t bytes, size_t room)
{
    check(bytes, room);
    return read(descriptor, to, bytes);
}

ssize_t __recv_chk(int descriptor, void *to, size_t bytes, size_t room, int flags)
{
    check(bytes, room);
    return recv(descriptor, to, bytes, flags);
}

ssize_t __recvfrom_chk(int descriptor, void *to, size_t bytes, size_t room, int flags,
                       struct sockaddr *address, socklen_t *address_bytes)
{
    check(bytes, room);
    return recvfrom(descriptor, to, bytes, flags, address, address_bytes);
}

/* ---- writing ---- */

ssize_t send(int descriptor, const void *from, size_t bytes, int flags)
{
    if (rp_is_rdma(descriptor))
        return with_signal(rsend(descriptor, from, bytes, flags), flags);
    return rp_is_parents(descriptor) ? -1 : rp_real()->send(descriptor, from, bytes, flags);
}

ssize_t sendto(int descriptor, const void *from, size_t bytes, int flags,
               const struct sockaddr *address, socklen_t address_bytes)
{
    if (rp_is_rdma(descriptor)) /* a connected stream ignores the address */
        return with_signal(rsend(descriptor, from, bytes, flags), flags);
    return rp_is_parents(descriptor)
               ? -1
               : rp_real()->sendto(descriptor, from, bytes, flags, address, address_bytes);
}

ssize_t sendmsg(int descriptor, const struct msghdr *message, int flags)
{
    if (rp_is_rdma(descriptor))
        return with_signal(rsendmsg(descriptor, message, flags), flags);
    return rp_is_parents(descriptor) ? -1 : rp_real()->sendmsg(descriptor, message, flags);
}

int sendmmsg(int descriptor, struct mmsghdr *messages, unsigned count, int flags)
{
    unsigned done = 0;

    if (!rp_is_rdma(descriptor))
        return rp_is_parents(descriptor) ? -1
                                         : rp_real()->sendmmsg(descriptor, messages, count, flags);
    for (; done < count; done++) {
        const ssize_t sent = sendmsg(descriptor, &messages[done].msg_hdr, flags);

        if (sent < 0)
            return done > 0 ? (int)done : -1;
        messages[done].msg_len = (unsigned)sent;
    }
    return (int)done;
}

ssize_t write(int descriptor, const void *from, size_t bytes)
{
    if (rp_is_rdma(descriptor))
        return with_signal(rwrite(descriptor, from, bytes), 0);
    return rp_is_parents(descriptor) ? -1 : rp_real()->write(descriptor, from, bytes);
}

ssize_t writev(int descriptor, const struct iovec *pieces, int count)
{
    if (rp_is_rdma(descriptor))
        return with_signal(rwritev(descriptor, pieces, count), 0);
    return rp_is_parents(descriptor) ? -1 : rp_real()->writev(descriptor, pieces, count);
}

/* ---- from a file ---- */

/* Sends up to `bytes` of a file, from *at on. */
static ssize_t send_file(int to, int from, off_t *at, size_t bytes)
{
    char *piece = malloc(PIECE);
    ssize_t done = 0, some = 1, sent;

    if (piece == NULL)
        return -1;
    while (some > 0 && (size_t)done < bytes) {
        const size_t wanted = bytes - (size_t)done < PIECE ? bytes - (size_t)done : PIECE;

        some = pread(from, piece, wanted, *at);
        if (some <= 0)
            break;
        sent = with_signal(rsend(to, piece, (size_t)some, 0), 0);
        if (sent < 0) {
            some = -1;
            break;
        }
        *at += sent;
        done += sent;
        if (sent < some)
            break;
    }
    free(piece);
    return done > 0 || some >= 0 ? done : -1;
}

ssize_t sendfile(int to, int from, off_t *at, size_t bytes)
{
    off_t here;
    ssize_t done;

    if (!rp_is_rdma(to))
        return rp_is_parents(to) ? -1 : rp_real()->sendfile(to, from, at, bytes);
    if (at != NULL)
        return send_file(to, from, at, bytes);
    here = lseek(from, 0, SEEK_CUR);
    if (here < 0)
        return -1;
    done = send_file(to, from, &here, bytes);
    lseek(from, here, SEEK_SET);
    return done;
}

#undef sendfile64
ssize_t sendfile64(int to, int from, off_t *at, size_t bytes) __attribute__((alias("sendfile")));

/* Programs that get this read and write instead. */
ssize_t splice(int from, off_t *from_at, int to, off_t *to_at, size_t bytes, unsigned flags)
{
    if (rp_is_rdma(from) || rp_is_rdma(to)) {
        errno = EINVAL;
        return -1;
    }
    return rp_real()->splice(from, from_at, to, to_at, bytes, flags);
}
