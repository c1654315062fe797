/* SPDX-License-Identifier: Apache-2.0 */
/*
 * librspreload.so: TCP programs over RDMA, as they are. It stands before the C library's functions
 * for sockets. A program's socket is the kernel's TCP socket until it connects or listens:
 *
 *   connect: if there is a device towards the address, and a socket over RDMA can be connected,
 * that takes the descriptor's place; else TCP connects, as ever. listen:  the descriptor becomes an
 * epoll, of TCP's socket and of one over RDMA on the same port. So both kinds of peers are
 * accepted, and poll, select and epoll see both.
 *
 * Calls on other descriptors go to the C library. After a fork the child's sockets are TCP's:
 * listeners continue, and sockets over RDMA belong to the parent.
 *
 *   real.c         the C library's functions
 *   table.c        what is known of a descriptor
 *   connections.c  connect, listen, accept
 *   options.c      options and addresses
 *   transfer.c     reading and writing
 *   descriptors.c  close, dup, fcntl, ioctl
 *   waiting.c      poll, select, epoll
 */
#ifndef OCHE_DEVICE_RSOCKET_PRELOAD_INTERNAL_H
#define OCHE_DEVICE_RSOCKET_PRELOAD_INTERNAL_H

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>

#include <rdma/rsocket.h>

#include "device/rsocket/private.h"

#pragma GCC visibility push(hidden)

#define RP_MOST 65536 /* descriptors above are left to the C library */

/* The C library's functions that ours replace. */
struct real {
    int (*connect)(int, const struct sockaddr *, socklen_t);
    int (*listen)(int, int);
    int (*accept4)(int, struct sockaddr *, socklen_t *, int);
    int (*shutdown)(int, int);
    int (*close)(int);
    ssize_t (*read)(int, void *, size_t);
    ssize_t (*readv)(int, const struct iovec *, int);
    ssize_t (*recv)(int, void *, size_t, int);
    ssize_t (*recvfrom)(int, void *, size_t, int, struct sockaddr *, socklen_t *);
    ssize_t (*recvmsg)(int, struct msghdr *, int);
    int (*recvmmsg)(int, struct mmsghdr *, unsigned, int, struct timespec *);
    ssize_t (*write)(int, const void *, size_t);
    ssize_t (*writev)(int, const struct iovec *, int);
    ssize_t (*send)(int, const void *, size_t, int);
    ssize_t (*sendto)(int, const void *, size_t, int, const struct sockaddr *, socklen_t);
    ssize_t (*sendmsg)(int, const struct msghdr *, int);
    int (*sendmmsg)(int, struct mmsghdr *, unsigned, int);
    ssize_t (*sendfile)(int, int, off_t *, size_t);
    ssize_t (*splice)(int, off_t *, int, off_t *, size_t, unsigned);
    int (*poll)(struct pollfd *, nfds_t, int);
    int (*ppoll)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);
    int (*select)(int, fd_set *, fd_set *, fd_set *, struct timeval *);
    int (*pselect)(int, fd_set *, fd_set *, fd_set *, const struct timespec *, const sigset_t *);
    int (*epoll_wait)(int, struct epoll_event *, int, int);
    int (*epoll_pwait)(int, struct epoll_event *, int, int, const sigset_t *);
    int (*epoll_ctl)(int, int, int, struct epoll_event *);
    int (*getpeername)(int, struct sockaddr *, socklen_t *);
    int (*getsockname)(int, struct sockaddr *, socklen_t *);
    int (*setsockopt)(int, int, int, const void *, socklen_t);
    int (*getsockopt)(int, int, int, void *, socklen_t *);
    int (*fcntl)(int, int, ...);
    int (*ioctl)(int, unsigned long, ...);
    int (*dup)(int);
    int (*dup2)(int, int);
    int (*dup3)(int, int, int);
};

/* Looks the functions up when first called. */
const struct real *rp_real(void);

/* Two sockets that listen on one port. */
struct rp_listener {
    int tcp, rdma;    /* both non-blocking; rdma -1: in a child, tcp is its own descriptor */
    bool nonblocking; /* the program's setting */
};

/* Returns the descriptor's listener, or NULL. */
struct rp_listener *rp_listener_of(int descriptor);
/* Sets it, or with NULL forgets and frees it. Returns false if memory is out. */
bool rp_set_listener(int descriptor, const struct rp_listener *listener);
/* Returns the kernel's socket behind a descriptor: itself unless it listens. */
int rp_kernel_socket(int descriptor);
/* Notes that the program has a socket over RDMA there, or not any more. */
void rp_note_rdma(int descriptor, bool rdma);
/* True for a parent's socket in a child. Prints once that it cannot be used. */
bool rp_is_parents(int descriptor);

/* Notes calls of epoll_ctl for a descriptor, for another that takes its place. */
void rp_note_epoll(int epoll, int operation, int descriptor, const struct epoll_event *event);
/* Before and after another open file takes the descriptor's place. */
void rp_leave_epolls(int descriptor);
void rp_join_epolls(int descriptor);
/* The program has closed it. */
void rp_forget(int descriptor);

/*
 * False in a child of vfork. It has the parent's memory until it starts a program, but its own
 * descriptors: closing or copying these does not affect the parent's sockets.
 */
bool rp_is_own_process(void);

/* True if a call is for a socket over RDMA; a child's call on a parent's one fails before. */
bool rp_is_rdma(int descriptor);

void rp_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#pragma GCC visibility pop

#endif
