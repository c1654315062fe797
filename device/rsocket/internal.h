/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declarations shared by the files of the sockets over RDMA. The public interface is rdma-core's
 * rdma/rsocket.h. One idea per file:
 *
 *   wire.c      what the ends say to each other, as bytes
 *   flow.c      who may write how much
 *   table.c     which descriptor is which socket, and when a socket ends
 *   ready.c     a descriptor that poll and epoll of the kernel can wait for
 *   pair.c      a connection's queue pair and memory
 *   progress.c  completions, and the messages that are no data
 *   wait.c      waiting until a socket can do something
 *   connect.c   socket, bind, listen, accept, connect
 *   service.c   the thread: connections being made and ended, probes of silent peers
 *   send.c, receive.c, close.c, options.c, poll.c, iomap.c: the calls of those names
 *
 * Three kinds of locks, taken in this order: a socket's; then cm_lock of device/cm, by the
 * functions of rdma_cma.h; the table's is last. A thread has at most one socket's lock. Every call
 * makes progress. The thread takes part if the kernel waits for a socket (epoll), and makes and
 * ends connections, as TCP's are made without the program.
 */
#ifndef OCHE_DEVICE_RSOCKET_INTERNAL_H
#define OCHE_DEVICE_RSOCKET_INTERNAL_H

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <rdma/rdma_cma.h>
#include <rdma/rsocket.h>

#include "core/base.h"
#include "device/rsocket/flow.h"

#pragma GCC visibility push(hidden)

#define RS_RECEIVE_BYTES  (1U << 20) /* the ring's, unless SO_RCVBUF says otherwise */
#define RS_SEND_BYTES     (1U << 19)
#define RS_LEAST_BYTES    4096U
#define RS_MOST_BYTES     (1U << 26)
#define RS_MESSAGES       384 /* data messages in flight, in each direction: rdma-core's number */
#define RS_LEAST_MESSAGES 16
#define RS_MOST_MESSAGES  4096
#define RS_INLINE_BYTES   256
#define RS_CONTROLS       4 /* messages without data that may still be in flight */
#define RS_MOST_MESSAGE   65536U
#define RS_MOST_IOMAPS    128
#define RS_BACKLOG        128

enum rs_state {
    RS_NEW,
    RS_BOUND,
    RS_LISTENING,
    /* also: the thread has accepted the connection, and the peer has not confirmed it */
    RS_CONNECTING,
    RS_CONNECTED,
    RS_FAILED, /* connecting has failed */
};

/* Kinds of work requests: the upper half of wr_id; the lower half is bytes. */
enum rs_work {
    RS_WORK_RECEIVE,
    RS_WORK_DATA,
    RS_WORK_CONTROL,
    RS_WORK_DISCONNECT,
    RS_WORK_PROBE,
};

struct rs_mapping {
    struct rs_mapping *next;
    struct ibv_mr *mr;
    uint64_t offset;
    int entry; /* entry of the peer's iomap; -1: local only */
    bool told;
};

struct rs_socket {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned references; /* under the table's lock */
    int descriptor;      /* the program's: one end of a socket pair; -1: closed */
    int own_end;         /* the other */
    /* descriptors that the program has for it (dup), under the table's lock */
    unsigned descriptors;
    sa_family_t family;
    enum rs_state state;
    bool nonblocking;
    bool peer_done; /* the peer sends no more */
    bool peer_gone; /* nor takes any more */
    bool send_shut, receive_shut;
    bool disconnect_sent, disconnect_done;
    bool lost;      /* the connection is in error and receives no more */
    int error;      /* an errno that no call has returned yet */
    int send_error; /* the error of sending: EPIPE, ECONNRESET, ETIMEDOUT */

    struct rdma_cm_id *id;
    struct ibv_qp *qp; /* owned by the identifier, which may be destroyed first */
    struct ibv_comp_channel *channel;
    struct ibv_cq *cq;
    bool armed;             /* the queue will signal, or has signaled, the channel */
    bool waiting;           /* a thread waits at the channel, on behalf of all threads */
    bool watched;           /* the thread makes progress, and keeps the descriptor up to date */
    _Atomic bool watching;  /* the thread's epoll contains it */
    _Atomic uint32_t kicks; /* counts changes without a completion */

    /* sending */
    struct rs_outflow out;
    bool swap;            /* the peer has another byte order */
    struct rs_place list; /* the peer's list of places */
    struct rs_place peer_iomap;
    uint8_t *send_ring;
    struct ibv_mr *send_mr;
    uint32_t send_bytes, send_head, send_used;
    unsigned sends, most_sends, controls; /* work that is under way */
    bool probing;
    unsigned data_sends; /* incomplete sends and iomaps */
    oche_time heard;     /* when something last arrived, or was acknowledged */

    /* receiving */
    struct rs_inflow in;
    uint8_t *receive_ring;
    struct ibv_mr *receive_mr;
    unsigned most_receives;
    uint8_t *table; /* our list of places, followed by our iomap */
    struct ibv_mr *table_mr;
    unsigned iomaps;
    struct rs_mapping *mappings;

    /* options */
    uint32_t want_send_bytes, want_receive_bytes;
    uint32_t inline_bytes;
    bool reuse, v6_only, keepalive, no_delay;
    int keep_idle;
    uint32_t linger_on, linger_s;
    uint32_t receive_timeout_ms, send_timeout_ms; /* 0: none */
    uint32_t max_segment;

    /* listening; under the table's lock */
    struct rs_socket *listener;      /* listener of a socket that was not accepted yet */
    struct rs_socket *first, **last; /* sockets ready for accept */
    struct rs_socket *next;          /* the next socket in the listener's list */
    unsigned pending, backlog;       /* pending: also those that the peer has to confirm */

    /* in the list of all, under the table's lock */
    struct rs_socket *next_all, **link_all;
    bool closing; /* the program has closed it; the thread ends it */
    oche_time close_by;
    /* readiness (ready.c) */
    bool shows_input, shows_full, shows_end, shows_hangup;
};

/* ---- table.c ---- */

/* Returns the socket with a reference, or NULL with errno EBADF. */
struct rs_socket *rs_get(int descriptor);
void rs_put(struct rs_socket *s);
/* Makes a socket with a descriptor of its own. Returns NULL with errno. */
struct rs_socket *rs_make(sa_family_t family);
/* Shows it to programs, as its descriptor. Returns false with errno. */
bool rs_enter(struct rs_socket *s, int descriptor);
/*
 * Removes the descriptor and closes it, under the lock. Returns true if it was the socket's last
 * descriptor.
 */
bool rs_leave(struct rs_socket *s, int descriptor);
/* Returns the next of all sockets, with a reference, and gives back that of the one before. */
struct rs_socket *rs_next(struct rs_socket *before);
void rs_table_lock(void);
void rs_table_unlock(void);

/* ---- ready.c ---- */

/* Makes the two ends. Returns false with errno. */
bool rs_ready_make(struct rs_socket *s);
/* Makes the descriptor as ready as the socket is. `arrived`: signals input once more. */
void rs_ready_show(struct rs_socket *s, bool arrived);
void rs_ready_drop(struct rs_socket *s);
/* System calls, past the functions of these names that librspreload.so replaces. */
int rs_real_close(int fd);
int rs_real_poll(struct pollfd *fds, nfds_t count, int timeout_ms);
int rs_real_fcntl(int fd, int command, long argument);
int rs_real_dup3(int from, int to, int flags);

/* ---- pair.c ---- */

/* Makes queue pair and memory. Returns false with errno. */
bool rs_pair_make(struct rs_socket *s);
void rs_pair_drop(struct rs_socket *s);
void rs_hello_of(const struct rs_socket *s, uint8_t bytes[RS_HELLO_BYTES]);
/* Applies the peer's hello. Returns false with errno if it is invalid. */
bool rs_hello_from(struct rs_socket *s, const uint8_t *bytes, size_t count);
bool rs_post_receive(struct rs_socket *s);
/* Posts an RDMA WRITE of `bytes`, inline if `lkey` is 0. Returns 0 or an errno. */
int rs_post_write(struct rs_socket *s, const struct rs_place *to, const void *from, uint32_t bytes,
                  uint32_t lkey, uint64_t work, const uint32_t *immediate);

static inline uint64_t rs_work_id(enum rs_work work, uint32_t bytes)
{
    return (uint64_t)work << 32 | bytes;
}

/* ---- progress.c: under the socket's lock ---- */

/* Handles completions, and informs the peer of free places. */
void rs_progress(struct rs_socket *s);
/* Marks the connection as lost. `error`: for the program's calls. */
void rs_lose(struct rs_socket *s, int error);
/* Sends a message of the control kind, if there is room for one. Returns false if not. */
bool rs_send_control(struct rs_socket *s, enum rs_control control);
/* Sends something that the peer's adapter has to acknowledge. */
void rs_probe(struct rs_socket *s);
bool rs_can_read(const struct rs_socket *s);
bool rs_can_write(const struct rs_socket *s);
/* True if all that was sent has arrived, or cannot any more. */
bool rs_all_sent(const struct rs_socket *s);
uint32_t rs_send_room(const struct rs_socket *s);

/* ---- wait.c ---- */

typedef bool rs_test(const struct rs_socket *s);
/*
 * Waits until the test is true. Under the socket's lock, which is released while waiting. Returns 0
 * or an errno: EAGAIN: it must not wait, or not longer; EINTR. `timeout_ms` 0: no limit.
 */
int rs_wait(struct rs_socket *s, rs_test *test, bool wait, uint32_t timeout_ms);
/* Wakes all that wait. Under the socket's lock. */
void rs_kick(struct rs_socket *s);
/*
 * Makes the completion queue signal the next completion to the channel. Returns false if it has
 * signaled already.
 */
bool rs_arm(struct rs_socket *s);
/* Makes the port's thread look, for a thread that will wait in poll. */
void rs_rouse(const struct rs_socket *s);

/* ---- service.c ---- */

/* Starts the thread. Returns the channel of its identifiers, or NULL with errno. */
struct rdma_event_channel *rs_service_start(void);
/* Makes the thread check for sockets to end. */
void rs_service_wake(void);
/* Makes the thread wait for the socket's completions, or stop that. Under the socket's lock. */
void rs_service_watch(struct rs_socket *s);
/*
 * Tries to end the connection of a socket that is closing. Returns true if it has ended. Under the
 * lock.
 */
bool rs_close_step(struct rs_socket *s);
/* Closes a socket without descriptors. Not under a lock. */
void rs_close(struct rs_socket *s);

/* ---- the rest ---- */

/* Makes the socket's identifier. Returns false with errno. */
bool rs_make_id(struct rs_socket *s);
/*
 * Handles a peer's request. If it fails, returns the socket to close, with a reference; else NULL.
 * In the thread.
 */
struct rs_socket *rs_take_request(struct rdma_cm_event *event);
/* The connection is there. In the thread. */
void rs_established(struct rs_socket *s, const struct rdma_cm_event *event);
/*
 * Handles the failure of a request. Returns true if the socket has to be closed, and its reference
 * released.
 */
bool rs_refused(struct rs_socket *s, int error);
/*
 * Removes a socket that was not accepted from its listener. Returns true if it was there; the
 * caller then has the listener's reference.
 */
bool rs_detach(struct rs_socket *s);
/* Sends as much of the pieces as it can, like send(2). The socket's own flags count as well. */
ssize_t rs_send(struct rs_socket *s, const struct iovec *pieces, size_t count, int flags);
ssize_t rs_receive(struct rs_socket *s, const struct iovec *pieces, size_t count, int flags);
/* Sends the peer the mappings that it does not know. Under the lock. Returns 0 or an errno. */
int rs_iomaps_send(struct rs_socket *s, bool wait);
void rs_iomaps_drop(struct rs_socket *s);
/* Returns the events that poll would report for the socket. Under the lock. */
short rs_events(const struct rs_socket *s);
/* Copies an address as the calls that return one do. Returns 0 or an errno. */
int rs_address_out(const struct sockaddr *from, struct sockaddr *address, socklen_t *bytes);
oche_time rs_now(void);

/* Returns -1 with errno. */
static inline int rs_error(int error)
{
    errno = error;
    return -1;
}

#pragma GCC visibility pop

#endif
