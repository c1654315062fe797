/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sockets over RDMA, which are not there yet: rsocket refuses, and says so. As no descriptor is a
 * socket of ours, rpoll and rselect do what poll and select do, and all else finds no socket.
 */
#include <poll.h>
#include <sys/select.h>

#include <rdma/rsocket.h>

#include "device/cm/internal.h"

int rsocket(int domain, int type, int protocol)
{
    (void)domain;
    (void)type;
    (void)protocol;
    cm_say("rsocket: sockets over RDMA are not supported yet");
    return cm_result(EPROTONOSUPPORT);
}

int rpoll(struct pollfd *fds, nfds_t nfds, int timeout)
{
    return poll(fds, nfds, timeout);
}

int rselect(int nfds, fd_set *readfds, fd_set *writefds, fd_set *exceptfds, struct timeval *timeout)
{
    return select(nfds, readfds, writefds, exceptfds, timeout);
}

/* A call on a descriptor that is no socket of ours. */
#define NO_SOCKET(type, name, ...)                                                                 \
    type name(__VA_ARGS__)                                                                         \
    {                                                                                              \
        errno = EBADF;                                                                             \
        return (type)-1;                                                                           \
    }

#pragma GCC diagnostic ignored "-Wunused-parameter"
NO_SOCKET(int, rbind, int socket, const struct sockaddr *addr, socklen_t addrlen)
NO_SOCKET(int, rlisten, int socket, int backlog)
NO_SOCKET(int, raccept, int socket, struct sockaddr *addr, socklen_t *addrlen)
NO_SOCKET(int, rconnect, int socket, const struct sockaddr *addr, socklen_t addrlen)
NO_SOCKET(int, rshutdown, int socket, int how)
NO_SOCKET(int, rclose, int socket)
NO_SOCKET(ssize_t, rrecv, int socket, void *buf, size_t len, int flags)
NO_SOCKET(ssize_t, rrecvfrom, int socket, void *buf, size_t len, int flags,
          struct sockaddr *src_addr, socklen_t *addrlen)
NO_SOCKET(ssize_t, rrecvmsg, int socket, struct msghdr *msg, int flags)
NO_SOCKET(ssize_t, rsend, int socket, const void *buf, size_t len, int flags)
NO_SOCKET(ssize_t, rsendto, int socket, const void *buf, size_t len, int flags,
          const struct sockaddr *dest_addr, socklen_t addrlen)
NO_SOCKET(ssize_t, rsendmsg, int socket, const struct msghdr *msg, int flags)
NO_SOCKET(ssize_t, rread, int socket, void *buf, size_t count)
NO_SOCKET(ssize_t, rreadv, int socket, const struct iovec *iov, int iovcnt)
NO_SOCKET(ssize_t, rwrite, int socket, const void *buf, size_t count)
NO_SOCKET(ssize_t, rwritev, int socket, const struct iovec *iov, int iovcnt)
NO_SOCKET(int, rgetpeername, int socket, struct sockaddr *addr, socklen_t *addrlen)
NO_SOCKET(int, rgetsockname, int socket, struct sockaddr *addr, socklen_t *addrlen)
NO_SOCKET(int, rsetsockopt, int socket, int level, int optname, const void *optval,
          socklen_t optlen)
NO_SOCKET(int, rgetsockopt, int socket, int level, int optname, void *optval, socklen_t *optlen)
NO_SOCKET(int, rfcntl, int socket, int cmd, ...)
NO_SOCKET(off_t, riomap, int socket, void *buf, size_t len, int prot, int flags, off_t offset)
NO_SOCKET(int, riounmap, int socket, void *buf, size_t len)
NO_SOCKET(size_t, riowrite, int socket, const void *buf, size_t count, off_t offset, int flags)
