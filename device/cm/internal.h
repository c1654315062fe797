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
 * One lock, cm_lock, protects everything; verbs are called under it, and no verb calls us.
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
#define CM_RANDOM_PORTS 28232 /* 32768 to 60999, as Linux has them */
#define CM_FIRST_RANDOM 32768
/*
 * 0.54 s, as Linux has at least (its soft-RoCE 2.1 s): with 7 retries a peer may be away for 4.3 s.
 * Adapters answer while the program is stopped; here it has to run. With 14, the usual one of
 * programs that connect by themselves, a process that a debugger or a busy machine held for 0.6 s
 * lost its connections. What is lost is sent again after 67 ms all the same
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
    struct ibv_pd *pd; /* of queue pairs for which a program gives none */
    union ibv_gid gid;
    union ibv_gid listed; /* another one, if the address that is listed is another user's */
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
    bool more OCHE_GUARDED_BY(cm_lock); /* completions may be waiting that no event will tell of */
    struct oche_cm cm OCHE_GUARDED_BY(cm_lock);
    uint8_t *ports[4]; /* by port space: a bit for each port that is used */
    uint32_t next_port OCHE_GUARDED_BY(cm_lock);
};

extern struct cm_device *cm_devices OCHE_GUARDED_BY(cm_lock);

/*
 * All that are listed, opened. Returns false with errno: ENODEV: none is listed. To be called under
 * the lock.
 */
bool cm_devices_open(void) OCHE_NEEDS(cm_lock);
/* Returns the device with this address, opened, or NULL with errno. */
struct cm_device *cm_device_of(const union ibv_gid *gid) OCHE_NEEDS(cm_lock);
/* Takes the event that something has arrived at queue pair 1. */
void cm_device_woken(struct cm_device *device) OCHE_NEEDS(cm_lock);
/*
 * Handles some of what has arrived. Sets device->more if there may be more: so others get the lock
 * between, however much arrives.
 */
void cm_device_receive(struct cm_device *device) OCHE_NEEDS(cm_lock);
void cm_device_send(struct cm_device *device, const uint8_t *remote_gid, const uint8_t *mad);
/*
 * Waits until what was sent has left, for a tenth of a second at most: right after the call that
 * sends, a program may end by _exit. Under the lock, but not from within the protocol.
 */
void cm_device_flush(struct cm_device *device);
extern const struct oche_cm_hooks
    cm_hooks; /* without their context, a device (protocol_events.c) */

/* Starts the thread unless it runs. Returns false with errno. */
bool cm_thread_start(void) OCHE_NEEDS(cm_lock);
/* Lets it look at the timers again. */
void cm_thread_wake(void);
/* Lets it wait for messages of the device. Returns false with errno. */
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
    struct cm_id *id;           /* whose counts it is in: the listener's for a request */
    struct cm_event *next;
    struct rdma_cm_event *theirs; /* the system's that it stands for, or NULL */
    uint8_t private_data[OCHE_CM_MOST_PRIVATE];
};

struct cm_id {
    struct rdma_cm_id id; /* must be first: programs have a pointer to it */
    enum cm_id_state state;
    struct cm_device *device; /* NULL: bound to all of them, or to none */
    struct oche_cm_conn conn;
    bool sync; /* calls wait for their events */
    bool owns_channel;
    pthread_cond_t acknowledged;
    uint32_t delivered OCHE_GUARDED_BY(cm_lock), acked OCHE_GUARDED_BY(cm_lock); /* events */

    uint16_t port;  /* 0: none */
    bool port_held; /* the services of the port are ours */
    bool wildcard, reuse, af_only;
    bool of_libfabric;    /* it is used by libfabric (libfabric.c) */
    int backlog, pending; /* pending: requests that no event has told yet, or not answered */
    struct cm_id *next_bound OCHE_GUARDED_BY(cm_lock); /* in the list of those that listen */

    struct cm_id *listener;                /* of a request that the program has not heard of yet */
    uint8_t remote_gid[OCHE_CM_GID_BYTES]; /* of a request */
    uint8_t tos, ack_timeout;

    /* of the REQ or REP that agreed on it, and what we said in ours */
    uint32_t receive_psn; /* in our REQ or REP: where what the peer sends begins */
    uint32_t send_psn;    /* in the peer's: where what we send does */
    uint8_t responder_resources, initiator_depth;
    uint8_t retry_count, rnr_retry, path_mtu;
    uint8_t response_timeout, max_cm_retries;
    uint64_t service_id;
    uint32_t remote_qkey;

    /* of rdma_create_ep: the queue pair of each request, or of the connection */
    struct ibv_qp_init_attr *qp_init_attr;
    uint8_t connect_data[CM_USER_SIDR];
    uint8_t connect_bytes;

    struct rdma_cm_id *theirs; /* the system's behind it, or NULL (system_ids.c) */
    bool is_theirs; /* and what is asked of it is asked of that one alone (library_choice.c) */
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
/* Frees it. It has no events, no port, and the protocol does not know it. */
void cm_id_free(struct cm_id *id);
/* Ends it in whatever state it is: its events, its port, its connection. Under the lock. */
void cm_id_end(struct cm_id *id) OCHE_NEEDS(cm_lock);
/* Makes the device the identifier's. */
void cm_id_attach(struct cm_id *id, struct cm_device *device);

/* ---- events ---- */

/* Makes an event of `id`. Returns NULL if memory is out: then nobody is told. */
struct cm_event *cm_event_make(struct cm_id *id, enum rdma_cm_event_type type, int status);
/* Sets private data, of a connection or of datagrams. */
void cm_event_private(struct cm_event *event, const uint8_t *data, uint8_t bytes);
/* Queues it. Its identifier is told by whether it is a request's. Under the lock. */
void cm_event_queue(struct cm_event *event) OCHE_NEEDS(cm_lock);
/* Takes an event out of the queue, at `link`. Under the lock. */
struct cm_event *cm_event_take(struct cm_channel *channel, struct cm_event **link)
    OCHE_NEEDS(cm_lock);
/* Removes the events of an identifier that were not delivered, also of requests to it. */
void cm_events_drop(struct cm_id *id) OCHE_NEEDS(cm_lock);
/*
 * Waits for the next event of an identifier whose calls are synchronous, and keeps it in id->event.
 * Returns 0, or -1 with errno if it is not `wanted`. Not under the lock.
 */
int cm_wait(struct cm_id *id, enum rdma_cm_event_type wanted);
/* What has to be done before a program is told an event. May change it. Not under the lock. */
void cm_before_delivery(struct cm_event *event);

/* ---- the system's library beside ours ---- */

/*
 * Gives a channel the system's and a descriptor for both. Without the one there is no other: a line
 * says so. Returns false with errno.
 */
bool cm_system_open_channel(struct cm_channel *channel);
void cm_system_close_channel(struct cm_channel *channel);
/* Returns the next event of the system's, delivered, or NULL with errno: EAGAIN. */
struct cm_event *cm_system_next_event(struct cm_channel *channel);
/* Makes the system's identifier, if its channel has one. Returns 0, or -1 with errno. */
int cm_system_create_id(struct cm_id *id);
/* Destroys it; waits until its events are acknowledged. Not under the lock. */
void cm_system_drop_id(struct cm_id *id);
int cm_system_migrate_id(struct cm_id *id, struct cm_channel *to);
/* Copies device, addresses and path from the system's identifier. */
void cm_system_copy_device(struct cm_id *id);
/* Tells it the queue pair that the program's has, which the program may set. Returns it. */
struct rdma_cm_id *cm_system_set_qp(struct cm_id *id);
/*
 * The first statement of a function that the system's library may call, and which asks that library
 * where the identifier `id` is its.
 */
#define CM_PASS_ON(name, id, ...)                                                                  \
    do {                                                                                           \
        CM_IF_SYSTEM_CALLS(name, id, ##__VA_ARGS__);                                               \
        if (cm_id_of(id)->is_theirs)                                                               \
            return CM_SYSTEM(name, cm_id_of(id)->theirs, ##__VA_ARGS__);                           \
    } while (0)

/* Do it with our identifier, the system's, or both. Return 0 or an errno. */
int cm_bind(struct cm_id *id, struct sockaddr *address);
int cm_resolve(struct cm_id *id, struct sockaddr *from, struct sockaddr *to, int timeout_ms);
int cm_listen(struct cm_id *id, int backlog);

/*
 * The same with ours alone. *no_device: it failed as ours has no device for the address, or cannot
 * open it.
 */
int cm_bind_ours(struct cm_id *id, const struct sockaddr *address, bool *no_device);
int cm_resolve_ours(struct cm_id *id, const struct sockaddr *from, const struct sockaddr *to,
                    bool *no_device);
int cm_listen_ours(struct cm_id *id, int backlog);
/* Undoes cm_bind_ours. */
void cm_unbind_ours(struct cm_id *id);

/* ---- addresses and ports ---- */

/* Returns false if the address is of no family that there is here. */
bool cm_gid_of(const struct sockaddr *address, union ibv_gid *gid);
void cm_sockaddr_of(const uint8_t *gid, uint16_t port, struct sockaddr_storage *address);
uint16_t cm_port_of(const struct sockaddr *address);
void cm_set_port(struct sockaddr *address, uint16_t port);
bool cm_is_wildcard(const struct sockaddr *address);
bool cm_is_loopback(const struct sockaddr *address);
/* Notes whether the caller is libfabric, by its call's return address. */
void cm_note_caller(struct cm_id *id, const void *caller);
/*
 * Says once, if the caller is libfabric, that it has no use for the devices there are, if those are
 * loopback's and the user has not chosen one of them. Under the lock, with all devices open; and so
 * is the next one.
 */
void cm_warn_libfabric(const void *caller) OCHE_NEEDS(cm_lock);
/* Returns the device that "localhost" means to libfabric, or NULL. */
struct cm_device *cm_libfabric_localhost(const struct sockaddr *address) OCHE_NEEDS(cm_lock);
/* Finds the address from which the kernel would send to another. Returns 0 or an errno. */
int cm_source_towards(const struct sockaddr *to, struct sockaddr_storage *from);
socklen_t cm_sockaddr_bytes(const struct sockaddr *address);

/* Gives the identifier, which is bound, its port; 0: any free one. Returns 0 or an errno. */
int cm_port_take(struct cm_id *id, uint16_t port) OCHE_NEEDS(cm_lock);
/* As that, for a connection whose port nobody has to know. */
int cm_port_take_any(struct cm_id *id) OCHE_NEEDS(cm_lock);
/* Takes its services, which those of REUSEADDR have not yet. Returns 0 or an errno. */
int cm_port_listen(struct cm_id *id) OCHE_NEEDS(cm_lock);
void cm_port_release(struct cm_id *id) OCHE_NEEDS(cm_lock);
void cm_unlisten(struct cm_id *id) OCHE_NEEDS(cm_lock);
/* Returns the identifier that listens to a service at a device, or NULL. */
struct cm_id *cm_listener_of(struct cm_device *device, uint64_t service_id) OCHE_NEEDS(cm_lock);

/* ---- connections ---- */

/* Fills the primary path and what is ours of a REQ. */
void cm_fill_request(struct cm_id *id, const struct rdma_conn_param *param,
                     struct oche_cm_message *message);
/* Copies what a REQ or REP says into the identifier. */
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

/* Tells that this type of shared receive queue is not there, if it is XRC's; once. */
void cm_not_basic(enum ibv_srq_type type);
/* Prints one line to standard error: "oche: …". */
void cm_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#pragma GCC visibility pop

#endif
