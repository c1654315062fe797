/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declarations shared by the files of librdmacm. The public interface is rdma-core's
 * rdma/rdma_cma.h: our structs begin with the public ones. The protocol is core/cm; here are
 * addresses, threads, queue pairs and events. One idea per file:
 *
 *   channel.c          event channels: waiting for events, acknowledging them
 *   id.c               identifiers: making, moving and destroying them; options
 *   address.c          which device an address belongs to; resolving addresses and routes
 *   port.c             port spaces: who has which port, and who listens there
 *   device.c           a device that is open, its queue pair 1, and the messages there
 *   thread.c           the thread that receives messages and runs timers
 *   protocol_events.c  events for programs, made of the protocol's
 *   connect.c          connect, accept, reject, establish, disconnect
 *   attr.c             a queue pair's attributes, from what both ends agreed on
 *   qp.c               queue pairs, shared receive queues, and completion queues of identifiers
 *   endpoint.c         rdma_create_ep, rdma_get_request; addrinfo.c: rdma_getaddrinfo
 *   unsupported.c      multicast and ECE, which are rejected; libfabric.c: its localhost
 *   system.c           the system's librdmacm, where the kernel has devices
 *   system_ids.c       event channels and identifiers of both libraries
 *   library_choice.c   which of the two an identifier belongs to
 *
 * One lock, cm_lock, protects everything. We call verbs under it; verbs do not call us.
 */
#ifndef OCHE_DEVICE_CM_INTERNAL_H
#define OCHE_DEVICE_CM_INTERNAL_H

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>

#include "core/cm/cm.h"
#include "device/cm/system.h"
#include "device/host/lock.h"

#pragma GCC visibility push(hidden)

#define CM_PORT         1
#define CM_HOP_LIMIT    64
#define CM_RECEIVES     256
#define CM_SENDS        64
#define CM_GRH_BYTES    40
#define CM_USER_REQ     (OCHE_CM_REQ_PRIVATE - OCHE_CMA_HEADER_BYTES)
#define CM_USER_SIDR    (OCHE_CM_SIDR_REQ_PRIVATE - OCHE_CMA_HEADER_BYTES)
#define CM_MOST_BACKLOG 1024
#define CM_RANDOM_PORTS 28232 /* 32768 to 60999, Linux's range */
#define CM_FIRST_RANDOM 32768
/*
 * 0.54 s, the least of Linux (its soft-RoCE has 2.1 s): with 7 retries a peer may be away for 4.3
 * s. Adapters answer while the program is stopped; here it has to run. With 14, usual in programs
 * that connect by themselves, a process that was stopped for 0.6 s by a debugger or a busy machine
 * lost its connections. Lost packets are retransmitted after 67 ms anyway
 * (device/verbs/modify_qp.c).
 */
#define CM_ACK_TIMEOUT 17

extern struct oche_lock cm_lock;

/* ---- devices ---- */

struct cm_send_slot {
    struct ibv_ah *ah; /* NULL: the slot is free */
    uint8_t mad[OCHE_MAD_BYTES];
};

/* A device of ours that is open in this process, until its end. */
struct cm_device {
    struct cm_device *next;
    struct ibv_context *verbs;
    struct ibv_pd *pd; /* for queue pairs without one of the program's */
    union ibv_gid gid;
    union ibv_gid listed; /* the listed address if it is another user's */
    uint64_t guid;
    int most_reads; /* a queue pair's most READs and atomics under way */
    unsigned interface;
    unsigned slot;
    struct ibv_comp_channel *channel;
    struct ibv_cq *cq, *send_cq;
    struct ibv_qp *qp1;
    struct ibv_mr *mr;
    uint8_t *receives; /* CM_RECEIVES buffers of CM_GRH_BYTES + OCHE_MAD_BYTES, then the sends */
    struct cm_send_slot *sends;
    bool more OCHE_GUARDED_BY(cm_lock); /* more completions may wait, without an event */
    struct oche_cm cm OCHE_GUARDED_BY(cm_lock);
    uint8_t *ports[4]; /* by port space: a bit for each port that is used */
    uint32_t next_port OCHE_GUARDED_BY(cm_lock);
};

extern struct cm_device *cm_devices OCHE_GUARDED_BY(cm_lock);

/* Opens all listed devices. Returns false with errno; ENODEV: none is listed. */
bool cm_devices_open(void) OCHE_NEEDS(cm_lock);
/* Returns the device with this address, opened, or NULL with errno. */
struct cm_device *cm_device_of(const union ibv_gid *gid) OCHE_NEEDS(cm_lock);
/* Takes the event of an arrival at queue pair 1. */
void cm_device_woken(struct cm_device *device) OCHE_NEEDS(cm_lock);
/*
 * Handles some arrived messages. Sets device->more if there may be more: other threads then get the
 * lock, also in a flood.
 */
void cm_device_receive(struct cm_device *device) OCHE_NEEDS(cm_lock);
void cm_device_send(struct cm_device *device, const uint8_t *remote_gid, const uint8_t *mad);
/*
 * Waits until sent messages have left, for a tenth of a second at most: the program may call _exit
 * right after the call that sends. Under the lock, but not from within the protocol.
 */
void cm_device_flush(struct cm_device *device);
extern const struct oche_cm_hooks cm_hooks; /* their context is a device (protocol_events.c) */

/* Starts the thread unless it runs. Returns false with errno. */
bool cm_thread_start(void) OCHE_NEEDS(cm_lock);
/* Makes the thread check its timers. */
void cm_thread_wake(void);
/* Makes the thread wait for the device's messages. Returns false with errno. */
bool cm_thread_watch(struct cm_device *device);
oche_time cm_now(void);
uint64_t cm_random(void);

/* ---- identifiers ---- */

enum cm_id_state {
    CM_ID_IDLE,
    CM_ID_BOUND,
    CM_ID_ADDR_RESOLVED,
    CM_ID_ROUTE_RESOLVED,
    CM_ID_LISTENING,
    CM_ID_CONNECTING, /* asked, or asks */
    CM_ID_CONNECTED,
    CM_ID_OVER,
};

struct cm_channel {
    struct rdma_event_channel channel; /* its descriptor: `signal`, or an epoll of both */
    int signal;                        /* an eventfd that is readable while there are events */
    struct rdma_event_channel *theirs; /* the system's, or NULL (system_ids.c) */
    struct cm_event *first OCHE_GUARDED_BY(cm_lock), **last OCHE_GUARDED_BY(cm_lock);
    unsigned readers OCHE_GUARDED_BY(cm_lock); /* threads in rdma_get_cm_event */
    bool destroyed;
};

struct cm_event {
    struct rdma_cm_event event; /* must be first: programs have a pointer to it */
    struct cm_id *id;           /* the identifier that counts it: the listener for a request */
    struct cm_event *next;
    struct rdma_cm_event *theirs; /* the system's event behind it, or NULL */
    uint8_t private_data[OCHE_CM_MOST_PRIVATE];
};

struct cm_id {
    struct rdma_cm_id id; /* must be first: programs have a pointer to it */
    enum cm_id_state state;
    struct cm_device *device; /* NULL: bound to all of them, or to none */
    struct oche_cm_conn conn;
    bool sync; /* its calls are synchronous */
    bool owns_channel;
    pthread_cond_t acknowledged;
    uint32_t delivered OCHE_GUARDED_BY(cm_lock), acked OCHE_GUARDED_BY(cm_lock); /* events */

    uint16_t port;  /* the port that the identifier has; 0: no port */
    bool port_held; /* the services of the port are ours */
    bool wildcard, reuse, af_only;
    bool of_libfabric;    /* libfabric uses it (libfabric.c) */
    int backlog, pending; /* pending: requests undelivered or unanswered */
    struct cm_id *next_bound OCHE_GUARDED_BY(cm_lock); /* in the list of listeners */

    struct cm_id *listener;                /* of a request that was not delivered */
    uint8_t remote_gid[OCHE_CM_GID_BYTES]; /* GID of the request's sender */
    uint8_t tos, ack_timeout;

    /* values agreed in the REQ and REP */
    uint32_t receive_psn; /* in our REQ or REP: the peer's first PSN */
    uint32_t send_psn;    /* in the peer's REQ or REP: our first PSN */
    uint8_t responder_resources, initiator_depth;
    uint8_t retry_count, rnr_retry, path_mtu;
    uint8_t response_timeout, max_cm_retries;
    uint64_t service_id;
    uint32_t remote_qkey;

    /* of rdma_create_ep: the queue pair of each request, or of the connection */
    struct ibv_qp_init_attr *qp_init_attr;
    uint8_t connect_data[CM_USER_SIDR];
    uint8_t connect_bytes;

    struct rdma_cm_id *theirs; /* the system's identifier behind it, or NULL (system_ids.c) */
    bool is_theirs;            /* all calls go to that one (library_choice.c) */
};

static inline struct cm_id *cm_id_of(struct rdma_cm_id *id)
{
    return (struct cm_id *)(void *)id;
}

static inline struct cm_channel *cm_channel_of(struct rdma_event_channel *channel)
{
    return (struct cm_channel *)(void *)channel;
}

static inline bool cm_is_datagram(const struct cm_id *id)
{
    return id->id.qp_type == IBV_QPT_UD;
}

/* Makes an identifier without a channel. Returns NULL with errno ENOMEM. */
struct cm_id *cm_id_make(void *context, enum rdma_port_space ps, enum ibv_qp_type type);
/* Frees an identifier without events and port that the protocol does not know. */
void cm_id_free(struct cm_id *id);
/* Ends an identifier in any state: its events, its port, its connection. */
void cm_id_end(struct cm_id *id) OCHE_NEEDS(cm_lock);
/* Makes the device the identifier's. */
void cm_id_attach(struct cm_id *id, struct cm_device *device);

/* ---- events ---- */

/* Makes an event of `id`. Returns NULL if memory is out; the event is then lost. */
struct cm_event *cm_event_make(struct cm_id *id, enum rdma_cm_event_type type, int status);
/* Sets private data, of a connection or of datagrams. */
void cm_event_private(struct cm_event *event, const uint8_t *data, uint8_t bytes);
/* Queues an event: for a listener if it is a request, else for its identifier. */
void cm_event_queue(struct cm_event *event) OCHE_NEEDS(cm_lock);
/* Takes an event out of the queue, at `link`. Under the lock. */
struct cm_event *cm_event_take(struct cm_channel *channel, struct cm_event **link)
    OCHE_NEEDS(cm_lock);
/* Removes an identifier's undelivered events, also of requests to it. */
void cm_events_drop(struct cm_id *id) OCHE_NEEDS(cm_lock);
/*
 * Waits for the next event of an identifier whose calls are synchronous, and keeps it in id->event.
 * Returns 0, or -1 with errno if it is not `wanted`. Not under the lock.
 */
int cm_wait(struct cm_id *id, enum rdma_cm_event_type wanted);
/* Completes the work before an event's delivery. May change the event. Not under the lock. */
void cm_before_delivery(struct cm_event *event);

/* ---- the system's library beside ours ---- */

/*
 * Adds the system's channel to ours, with one descriptor for both. If the system's fails, prints a
 * line and continues without. Returns false with errno.
 */
bool cm_system_open_channel(struct cm_channel *channel);
void cm_system_close_channel(struct cm_channel *channel);
/* Returns the system's next event, delivered, or NULL with errno: EAGAIN. */
struct cm_event *cm_system_next_event(struct cm_channel *channel);
/* Makes the system's identifier, if the channel has the system's. Returns 0, or -1 with errno. */
int cm_system_create_id(struct cm_id *id);
/* Destroys the system's identifier. Waits until its events are acknowledged. Not under the lock. */
void cm_system_drop_id(struct cm_id *id);
int cm_system_migrate_id(struct cm_id *id, struct cm_channel *to);
/* Copies device, addresses and path from the system's identifier. */
void cm_system_copy_device(struct cm_id *id);
/*
 * Gives the system's identifier our identifier's queue pair, which the program may have set.
 * Returns the system's.
 */
struct rdma_cm_id *cm_system_set_qp(struct cm_id *id);
/*
 * The first statement of a function that the system's library may call. Passes the call on if the
 * identifier `id` is the system's.
 */
#define CM_PASS_ON(name, id, ...)                                                                  \
    do {                                                                                           \
        CM_IF_SYSTEM_CALLS(name, id, ##__VA_ARGS__);                                               \
        if (cm_id_of(id)->is_theirs)                                                               \
            return CM_SYSTEM(name, cm_id_of(id)->theirs, ##__VA_ARGS__);                           \
    } while (0)

/* Call our library, the system's, or both. Return 0 or an errno. */
int cm_bind(struct cm_id *id, struct sockaddr *address);
int cm_resolve(struct cm_id *id, struct sockaddr *from, struct sockaddr *to, int timeout_ms);
int cm_listen(struct cm_id *id, int backlog);

/*
 * Like cm_bind, but only with our library. *no_device is set if our library has no device for the
 * address, or cannot open it.
 */
int cm_bind_ours(struct cm_id *id, const struct sockaddr *address, bool *no_device);
int cm_resolve_ours(struct cm_id *id, const struct sockaddr *from, const struct sockaddr *to,
                    bool *no_device);
int cm_listen_ours(struct cm_id *id, int backlog);
/* Undoes cm_bind_ours. */
void cm_unbind_ours(struct cm_id *id);

/* ---- addresses and ports ---- */

/* Returns false if we do not support the address's family. */
bool cm_gid_of(const struct sockaddr *address, union ibv_gid *gid);
void cm_sockaddr_of(const uint8_t *gid, uint16_t port, struct sockaddr_storage *address);
uint16_t cm_port_of(const struct sockaddr *address);
void cm_set_port(struct sockaddr *address, uint16_t port);
bool cm_is_wildcard(const struct sockaddr *address);
bool cm_is_loopback(const struct sockaddr *address);
/* Notes if the caller is libfabric, by its call's return address. */
void cm_note_caller(struct cm_id *id, const void *caller);
/*
 * Prints a line once if the caller is libfabric, all devices are loopback's and the user has chosen
 * none: libfabric ignores these. This and the next function are called with all devices open.
 */
void cm_warn_libfabric(const void *caller) OCHE_NEEDS(cm_lock);
/* Returns the device that "localhost" means to libfabric, or NULL. */
struct cm_device *cm_libfabric_localhost(const struct sockaddr *address) OCHE_NEEDS(cm_lock);
/* Finds the address from which the kernel would send to another. Returns 0 or an errno. */
int cm_source_towards(const struct sockaddr *to, struct sockaddr_storage *from);
socklen_t cm_sockaddr_bytes(const struct sockaddr *address);

/* Gives the identifier, which is bound, its port; 0: any free one. Returns 0 or an errno. */
int cm_port_take(struct cm_id *id, uint16_t port) OCHE_NEEDS(cm_lock);
/* Like cm_port_take, for a connection's local port, which other processes need not know. */
int cm_port_take_any(struct cm_id *id) OCHE_NEEDS(cm_lock);
/* Takes its services, if they were not taken (REUSEADDR). Returns 0 or an errno. */
int cm_port_listen(struct cm_id *id) OCHE_NEEDS(cm_lock);
void cm_port_release(struct cm_id *id) OCHE_NEEDS(cm_lock);
void cm_unlisten(struct cm_id *id) OCHE_NEEDS(cm_lock);
/* Returns the identifier that listens to a service at a device, or NULL. */
struct cm_id *cm_listener_of(struct cm_device *device, uint64_t service_id) OCHE_NEEDS(cm_lock);

/* ---- connections ---- */

/* Fills the primary path and our fields of a REQ. */
void cm_fill_request(struct cm_id *id, const struct rdma_conn_param *param,
                     struct oche_cm_message *message);
/* Copies the values of a REQ or REP into the identifier. */
void cm_note_request(struct cm_id *id, const struct oche_cm_message *message);
void cm_note_answer(struct cm_id *id, const struct oche_cm_message *message);
/* Fills the path record that programs look at. Returns false if memory is out. */
bool cm_fill_route(struct cm_id *id);
/* Takes the queue pair to RTS, or to ERROR. Return 0, or -1 with errno. */
int cm_qp_to_ready(struct cm_id *id);
int cm_qp_to_error(struct cm_id *id);
/* Sends the RTU. Returns 0, or -1 with errno. */
int cm_confirm(struct cm_id *id);
/* Destroys the completion queues that rdma_create_qp or rdma_create_srq has made. */
void cm_destroy_cqs(struct cm_id *id);
/* Makes the queue pair of rdma_create_ep's attributes. Returns 0, or -1 with errno. */
int cm_create_kept_qp(struct cm_id *id, const struct cm_id *from);

/* Sets errno, and returns -1; or 0 if there is no error. */
static inline int cm_result(int error)
{
    if (error == 0)
        return 0;
    errno = error;
    return -1;
}

/* If the queue is an XRC shared receive queue, prints once that these are not supported. */
void cm_not_basic(enum ibv_srq_type type);
/* Prints one line to standard error: "oche: …". */
void cm_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#pragma GCC visibility pop

#endif
