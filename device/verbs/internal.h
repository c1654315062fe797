/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declarations shared by the files of the verbs library. The public interface is rdma-core's
 * infiniband/verbs.h: our structs begin with the public ones, so that a pointer to our struct is
 * also a pointer to the public one. One idea per file:
 *
 *   device_list.c  the devices that there are     port.c     a device that is open; its thread
 *   identity.c     names and GUIDs of devices     facts.c    what every device has
 *   context.c      a device, for an application   query.c    a device's properties
 *   pd.c mr.c cq.c cq_ex.c channel.c qp.c modify_qp.c post.c qp_ex.c srq.c ah.c mw.c
 *   async_event.c  fork.c  environment.c  memory_map.c  transitions.c  strings.c  rates.c
 *   private.c      the interface that libmlx5 and libefa link with
 *   manager.c      the functions that our librdmacm needs
 *   unsupported.c  verbs that we do not support
 *   strict.c       mistakes that adapters do not forgive
 *   process_exit.c the end of the process by a signal; exit_hooks.c: a library that helps
 *   system.c       the system's libibverbs, for the kernel's devices
 *
 * Locks are taken in this order: a window's, a queue pair's state, an object's own (send, receive,
 * poll), the device's, a channel's or a context's queue of events.
 */
#ifndef OCHE_DEVICE_VERBS_INTERNAL_H
#define OCHE_DEVICE_VERBS_INTERNAL_H

#include <net/if.h>
#include <pthread.h>
#include <stdatomic.h>

#include <infiniband/verbs.h>

#include "device/path/address.h"
#include "device/verbs/facts.h"
#include "device/verbs/faults.h"
#include "device/verbs/poll_yield.h"
#include "device/verbs/uc_delay.h"

#pragma GCC visibility push(hidden)

#define OV_MAX_QPS       16384
#define OV_MAX_REGIONS   (1 << 20)
#define OV_MAX_PEERS     4096
#define OV_MAX_WR        16384
#define OV_MAX_CQE       (1 << 20)
#define OV_MAX_RD_ATOMIC 16
#define OV_MAX_MTU       4096

/* ---- devices ---- */

struct ov_device {
    struct ibv_device device; /* must be first: the application has a pointer to it */
    /*
     * address of ov_mark; in devices of other libraries, the address of a table is here (system.h)
     */
    const void *mark;
    struct oche_address address;
    unsigned interface_index;
    bool loopback;
    bool only; /* the user named this address (OCHE_DEVICE), so no other may be used instead */
    _Atomic uint32_t references;
};

/* Exported, but not declared in any installed header. */
#pragma GCC visibility push(default)
int ibv_dontfork_range(void *base, size_t size);
int ibv_dofork_range(void *base, size_t size);
int ibv_query_gid_type(struct ibv_context *context, uint8_t port_num, unsigned int index,
                       unsigned int *type);
int ibv_read_sysfs_file(const char *dir, const char *file, char *buf, size_t size);
const char *ibv_get_sysfs_path(void);
#pragma GCC visibility pop

struct ov_device *ov_device_take(struct ov_device *device);
void ov_device_release(struct ov_device *device);

#include "device/verbs/system.h"
#include "params/scheme.h"

/* OCHE_POLL: the behaviour of threads that poll or wait while no packet arrives. */
enum ov_poll { OV_POLL_ADAPTIVE, OV_POLL_BUSY, OV_POLL_SLEEP };

/*
 * A device that is open in this process, shared by all contexts on the same address. A thread that
 * polls makes progress and sets `active`; the port's own thread takes over when no other thread has
 * polled for a while.
 */
struct ov_port {
    struct oche_device *device;
    struct oche_address address; /* the address in use, which may differ from `wanted` */
    uint64_t line_rate_bps;      /* the link's; 0: not known */
    unsigned interface_index;
    uint32_t references;
    uint32_t generation; /* ov_generation of the process that opened the port (fork.c) */
    enum ov_poll poll;
    bool strict;
    uint64_t wall_ns; /* nanoseconds since 1970 at device time 0 */
    struct ov_port *next;
    struct oche_address wanted;

    pthread_t thread;
    _Atomic(struct ov_view *) view; /* view (view.c), used by the thread; NULL: none */
    struct ov_retransmissions {
        oche_time due, since;
        uint64_t sent, again; /* packets, when it last looked */
        bool told;
    } retransmissions; /* retransmission_warning.c; the thread's */
    _Atomic bool stop;
    _Atomic bool active;       /* some thread has polled since the port's thread last checked */
    _Atomic bool eager;        /* the port's thread waits for packets even while others poll */
    _Atomic bool answered;     /* the awaited answer has come, so eager is not needed */
    _Atomic uint32_t sleepers; /* threads that sleep and then make progress */
    _Atomic uint32_t call;     /* the futex on which the port's thread naps */

    struct ov_cq *new_events,
        *last_new; /* CQs with new events, in order; under the device's lock */

    /* faults on demand (health.c) */
    _Atomic bool down, vanished;
    oche_time up_at; /* when a port that is down comes up; the thread's */

    pthread_mutex_t lock; /* protects the next two members */
    uint32_t next_pd;
    struct ov_context *contexts; /* those that are open on the port */
};

/* Returns NULL, with errno set, on failure, after printing a line with the reason. */
struct ov_port *ov_port_open(const struct ov_device *device);
void ov_port_close(struct ov_port *port);
/* Wakes the port's thread from its nap, because the application may be about to sleep. */
void ov_port_call_thread(struct ov_port *port);
/* Called around a fork: before the fork, after it in the parent, and after it in the child. */
void ov_ports_before_fork(void);
void ov_ports_after_fork(void);
void ov_ports_in_child(void);
/*
 * At the end of the process: completes the captures, and prints the counters, of all open devices.
 * Waits for locks only for a while.
 */
void ov_ports_report(void);
/* Returns the time of CLOCK_REALTIME until which the end of the process waits for a lock. */
struct timespec ov_soon(void);

/* ---- the path MTU (path_mtu.c), as the kernel has it now ---- */

/* Returns the port's active MTU. */
enum ibv_mtu ov_port_mtu(const struct ov_port *port);
/* Returns the largest MTU of its interface, which a queue pair may have. */
enum ibv_mtu ov_port_largest_mtu(const struct ov_port *port);
/* True if a queue pair can have this MTU. Prints a line if it is larger than the interface's. */
bool ov_path_mtu_ok(const struct ov_port *port, enum ibv_mtu mtu);
/* Returns the MTU of the route to a peer. */
enum ibv_mtu ov_path_mtu(const struct ov_port *port, const struct oche_address *peer);
/* The hook too_large of struct oche_device_config: prints a line. */
void ov_say_too_large(void *context, const struct oche_address *peer, uint32_t packet_bytes);

/* ---- what `oche stat` shows (view.c) ---- */

/*
 * Called by the port's thread. The first makes the file, if possible; the second writes it when it
 * is due.
 */
void ov_view_open(struct ov_port *port);
/* Before a fork: waits until no view is being opened, as the child closes only those it knows. */
void ov_views_before_fork(void);
/* After a fork, in both processes. */
void ov_views_after_fork(void);
void ov_view_update(struct ov_port *port, oche_time now);
/* Returns the time until the next write; OCHE_NEVER: there is no file. */
oche_time ov_view_wait(const struct ov_port *port, oche_time now);
/* Removes the file. The thread has ended. */
void ov_view_close(struct ov_port *port);
/* In a forked child. */
void ov_view_leave(struct ov_port *port);
/* Print lines for OCHE_STATS. */
void ov_report_causes(const char *address, const uint64_t *counters);
void ov_report_connections(void);

/* ---- the end of the process ---- */

/* The process ends: events, which take locks, are not reported any more. */
extern _Atomic bool ov_exiting;
/*
 * Sends all due packets of all devices, as the process ends (oche_device_finish). `patient`: waits
 * a moment for locks of other threads.
 */
void ov_ports_finish(bool patient);
/* Undoes ov_ports_finish: the process continues. */
void ov_ports_resume(void);
/*
 * Makes the end of the process run the calls above (process_exit.c). `tells`: there are also
 * counters to print, or a capture.
 */
void ov_exit_watch(bool tells);
/* Runs them all: the process is about to end. */
void ov_exit_now(void);
/* Calls the functions that oche_at_end has noted. */
void ov_others_report(void);

static inline unsigned ov_port_progress(struct ov_port *port)
{
    atomic_store_explicit(&port->active, true, memory_order_relaxed);
    return oche_device_progress(port->device);
}

/*
 * The port's thread sleeps for this time while others poll, and at most so long while it is eager.
 */
#define OV_NAP OCHE_MS

/*
 * Called after work was posted. If the port's thread is eager, the program watches its memory and
 * may not poll for a while, so the work leaves at once, as with an adapter. Otherwise sleepers are
 * woken, if any; the next poll sends it.
 */
static inline void ov_port_posted(struct ov_port *port)
{
    oche_device_posted_quietly(port->device);
    atomic_thread_fence(memory_order_seq_cst);
    if (!atomic_load_explicit(&port->eager, memory_order_relaxed) ||
        !oche_device_send_posted(port->device))
        oche_device_posted(port->device);
}

/* ---- contexts ---- */

struct ov_event {
    struct ibv_async_event event;
    struct ov_event *next;
};

struct ov_context {
    struct verbs_context verbs; /* the application has a pointer to its last member */
    struct ov_device *device;
    struct ov_port *port;
    struct ov_context *next_of_port; /* under the port's lock */
    _Atomic uint32_t references;     /* one for the application, and one for each object */
    pthread_mutex_t event_lock;
    struct ov_event *first_event, **last_event;
    _Atomic uint32_t events; /* number of events so far; a futex */
};

static inline struct ov_context *ov_context_of(struct ibv_context *context)
{
    return (struct ov_context *)(void *)((uint8_t *)context -
                                         offsetof(struct ov_context, verbs.context));
}

static inline struct ov_port *ov_port_of(struct ibv_context *context)
{
    return ov_context_of(context)->port;
}

/* Objects keep their context alive by taking a reference. */
struct ov_context *ov_context_take(struct ibv_context *context);
void ov_context_release(struct ov_context *context);

/* ---- after a fork ---- */

extern _Atomic uint32_t ov_generation; /* number of forks between the first process and this one */

/*
 * True if this process may not use the port because it was opened before a fork. Prints a line
 * once.
 */
bool ov_foreign_slow(const struct ov_port *port);
static inline bool ov_foreign(const struct ov_port *port)
{
    return OCHE_UNLIKELY(port->generation !=
                         atomic_load_explicit(&ov_generation, memory_order_relaxed)) &&
           ov_foreign_slow(port);
}

/*
 * Returns the errno with which a call on this port fails at once: EPERM after a fork, or on demand
 * (faults.h); 0: the call goes on.
 */
static inline int ov_refuses(const struct ov_port *port, enum oche_call call)
{
    return ov_foreign(port) ? EPERM : ov_fails(port, call);
}

/* Returns EPERM after a fork, EIO on a device that has vanished on demand, otherwise 0. */
static inline int ov_gone(const struct ov_port *port)
{
    if (ov_foreign(port))
        return EPERM;
    return OCHE_UNLIKELY(atomic_load_explicit(&port->vanished, memory_order_relaxed)) ? EIO : 0;
}

/* ---- objects ---- */

struct ov_pd {
    struct ibv_pd pd;
    struct ov_context *context;
    uint32_t number;
    _Atomic uint32_t users;
    /*
     * of a parent domain (domains.c): the domain that it extends; the count of its thread domain,
     * or NULL
     */
    struct ov_pd *extends;
    _Atomic uint32_t *td_users;
};

struct ov_mr {
    struct ibv_mr mr;
    struct oche_region region;
};

struct ov_mw {
    struct ibv_mw mw;
    struct ov_context *context;
    struct ov_port *port;
    struct oche_window *core; /* allocated separately */
    /* one bind of type 1 at a time, as each gets a new key; taken before a send lock */
    pthread_mutex_t bind_lock;
};

struct ov_channel {
    struct ibv_comp_channel channel;
    struct ov_context *context;
    pthread_mutex_t lock; /* protects the queue of events and the counts of its CQs */
    struct ov_cq *first, **last;
    /* the application waits in ibv_get_cq_event, so it does not use poll() */
    _Atomic bool sleeps_here;
    bool warned;
};

struct ov_cq {
    union {
        struct ibv_cq cq;
        struct ibv_cq_ex ex;
    };
    struct ov_context *context;
    struct oche_cq *ring;
    void *resized; /* the ring's memory since it was resized; NULL: it never was */
    struct ov_port *port;
    pthread_mutex_t poll_lock;
    uint32_t since_progress;
    struct oche_poll_yield poll_yield;
    struct oche_uc_delay uc_delay;
    bool single_threaded;
    /*
     * Strict mode: the queue pairs that complete here, under poll_lock; completions still expected.
     */
    struct ov_strict *senders, *receivers;
    _Atomic uint32_t expected;
    _Atomic bool may_overrun; /* a line about this was printed */
    struct ov_pd *parent;     /* the parent domain that it was made with, or NULL */
    uint8_t datagram_sl;      /* service level to report for a datagram: ov_sl_of */
    _Atomic uint32_t users;
    _Atomic uint32_t unreliable; /* UC queue pairs among the users */

    /* The completion that is read between ibv_start_poll and ibv_end_poll. */
    struct oche_completion current;

    /* Protected by the channel's lock. */
    uint32_t pending_events, delivered_events;
    struct ov_cq *next_event;
    /* Events not yet reported to the channel; protected by the device's lock. */
    uint32_t new_events;
    struct ov_cq *next_new;
    uint32_t async_delivered; /* under the context's event_lock */
};

/* Work requests staged by ibv_wr_*, until ibv_wr_complete. */
struct ov_stage {
    struct oche_send_work *work;
    uint8_t *bytes;              /* inline data: max_inline_data bytes per work request */
    struct oche_destination *to; /* one per work request, for UD */
    struct oche_bind *bind;      /* one per work request, for RC and UC */
    uint32_t count;
    bool binds; /* at least one of the work requests is a bind */
    int error;
};

struct ov_qp {
    union {
        struct ibv_qp qp;
        struct ibv_qp_ex ex;
    };
    struct ov_context *context;
    struct ov_port *port;
    struct oche_qp *core;
    pthread_mutex_t send_lock, recv_lock;
    bool signal_all, extended;
    uint32_t largest_packet; /* largest payload; for datagrams, which have no path MTU */
    struct ibv_qp_cap cap;
    struct ov_stage stage;
    /* protects the state and attr; attr is written under the device's lock as well */
    pthread_mutex_t state_lock;
    struct ibv_qp_attr attr; /* as set by the application */
    struct oche_qp_connection connection;
    const struct oche_group *group; /* that its messages name; NULL: none */
    struct ov_strict *strict;       /* NULL: not in strict mode */
    bool has_peer;                  /* connection.remote_address is a reference that we hold */
    uint32_t async_delivered;       /* under the context's event_lock */
};

struct ov_srq {
    struct ibv_srq srq;
    struct ov_context *context;
    struct ov_port *port;
    struct oche_srq *core;    /* allocated separately */
    void *resized;            /* the ring's memory since it was resized; NULL: it never was */
    pthread_mutex_t lock;     /* protects posts and the attributes */
    struct ibv_srq_attr attr; /* the attributes, without srq_limit, which the core keeps */
    _Atomic uint32_t users;
    uint32_t async_delivered; /* under the context's event_lock */
};

struct ov_ah {
    struct ibv_ah ah;
    struct ov_context *context;
    struct oche_destination to; /* the peer's address; each work request adds QPN and Q_Key */
    uint32_t flow_label;
};

static inline struct ov_srq *ov_srq_of(struct ibv_srq *srq)
{
    return (struct ov_srq *)(void *)srq;
}

static inline struct ov_pd *ov_pd_of(struct ibv_pd *pd)
{
    return (struct ov_pd *)(void *)pd;
}

/* True if both are one protection domain, or a parent domain of it. */
static inline bool ov_same_pd(struct ibv_pd *a, struct ibv_pd *b)
{
    return a == b || (a->context == b->context && ov_pd_of(a)->number == ov_pd_of(b)->number);
}

static inline struct ov_cq *ov_cq_of(struct ibv_cq *cq)
{
    return (struct ov_cq *)(void *)cq;
}

static inline struct ov_qp *ov_qp_of(struct ibv_qp *qp)
{
    return (struct ov_qp *)(void *)qp;
}

/* True if the process may read the memory [addr, addr + length), and with `write` also write it. */
bool ov_memory_is_mapped(const void *addr, size_t length, bool write);

/*
 * Creates a CQ of the core that keeps a pointer to its owner, because some hooks get only the
 * core's CQ. Returns NULL without memory.
 */
struct oche_cq *ov_ring_create(uint32_t entries, struct ov_cq *owner);
void ov_ring_destroy(struct oche_cq *ring);
struct ov_cq *ov_ring_owner(const struct oche_cq *ring);
/*
 * Polls. Makes progress if the queue is empty, and in some of the other polls. Returns the number
 * of completions. The caller holds poll_lock.
 */
unsigned ov_cq_take(struct ov_cq *cq, struct oche_completion *done, unsigned max);
/* Removes the completions of a queue pair that was reset or destroyed. */
void ov_cq_forget_qp(struct ov_cq *cq, uint32_t qpn);
/*
 * Removes the CQ's undelivered events, waits until its delivered ones are acknowledged, and leaves
 * the channel.
 */
void ov_channel_forget(struct ov_cq *cq);
/* True if an event waits. */
bool ov_channel_has_event(struct ov_channel *channel);
/* The work of oche_manager_wait (manager.h). */
int ov_channel_wait(struct ov_channel *channel, const _Atomic uint32_t *kicks, uint32_t kicks_since,
                    uint64_t limit_ns);

enum ibv_qp_state ov_qp_state_of(const struct oche_qp *qp);
enum ibv_wc_status ov_wc_status_of(uint8_t status);
enum ibv_wc_opcode ov_wc_opcode_of(uint8_t opcode);
unsigned int ov_wc_flags_of(const struct oche_completion *done);
uint8_t ov_sl_of(const struct ov_cq *cq, const struct oche_completion *done);
/* Returns vendor_err: the cause, or what the adapter of OCHE_NIC writes. */
uint32_t ov_vendor_err(const struct oche_completion *done);
/* Returns the enum oche_access of the flags; flags without a meaning here are ignored. */
uint32_t ov_access_of(unsigned int flags);

/* ---- the verbs that are called through pointers ---- */

int ov_query_device_ex(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
                       struct ibv_device_attr_ex *attr, size_t attr_size);
int ov_query_port(struct ibv_context *context, uint8_t port_num, struct ibv_port_attr *attr,
                  size_t attr_size);
int ov_query_rt_values(struct ibv_context *context, struct ibv_values_ex *values);
struct ibv_cq_ex *ov_create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr);
int ov_modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr);
int ov_poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc);
int ov_req_notify_cq(struct ibv_cq *cq, int solicited_only);
struct ibv_qp *ov_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr);
/* Like ov_create_qp; if `number` is not 0, it becomes the queue pair's number. */
struct ibv_qp *ov_create_qp_numbered(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr,
                                     uint32_t number);
int ov_modify_qp_rate_limit(struct ibv_qp *qp, struct ibv_qp_rate_limit_attr *attr);
int ov_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
int ov_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);

/* Initialise and release the parts of ibv_cq_ex (cq_ex.c) and ibv_qp_ex (qp_ex.c). */
void ov_cq_ex_init(struct ov_cq *cq);
/* Gives back the peer that the queue pair was connected to, if it was. */
void ov_qp_release_peer(struct ov_qp *qp);
bool ov_qp_ex_init(struct ov_qp *qp, bool datagrams);
void ov_qp_ex_destroy(struct ov_qp *qp);

/* True if the standard allows this state change of a queue pair with these attributes. */
bool ov_transition_ok(enum ibv_qp_type type, enum ibv_qp_state from, enum ibv_qp_state to,
                      int attr_mask);
uint8_t ov_work_flags_of(const struct ov_qp *qp, unsigned int flags);
union ov_target { /* the parts of a work request except data */
    struct oche_destination to;
    struct oche_bind bind;
};
/* Translates one work request into the core's form, which may then be posted. Returns 0 or an
 * errno. */
/* Returns the group of senders that a message of this opcode names, or NULL. */
const struct oche_group *ov_group_of(const struct ov_qp *qp, uint8_t opcode);
int ov_send_work_of(const struct ov_qp *qp, const struct ibv_send_wr *wr,
                    struct oche_send_work *work, uint8_t *inline_memory, union ov_target *target);
/*
 * Posts translated work requests: all of them, or none. Returns 0 or an errno. The caller holds
 * send_lock.
 */
int ov_post_sends(struct ov_qp *qp, const struct oche_send_work *work, uint32_t count);
/* Thread and parent domains (domains.c). */
struct ibv_td *ov_alloc_td(struct ibv_context *context, struct ibv_td_init_attr *attr);
int ov_dealloc_td(struct ibv_td *td);
struct ibv_pd *ov_alloc_parent_domain(struct ibv_context *context,
                                      struct ibv_parent_domain_init_attr *attr);

struct ibv_mw *ov_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type);
int ov_dealloc_mw(struct ibv_mw *mw);
int ov_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *mw_bind);
/* Translates a bind into the core's form. Returns 0 or an errno. */
int ov_bind_of(const struct ov_qp *qp, struct ibv_mw *mw, uint32_t rkey,
               const struct ibv_mw_bind_info *info, struct oche_bind *bind);
int ov_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
/* Translates one receive into the core's form. Returns 0 or an errno. */
int ov_recv_work_of(const struct ibv_recv_wr *wr, struct oche_recv_work *work);
/*
 * Fills `to`. Returns false if the handle is not of this queue pair's protection domain, or `qpn`
 * is invalid.
 */
bool ov_destination(const struct ov_qp *qp, struct ibv_ah *ah, uint32_t qpn, uint32_t qkey,
                    struct oche_destination *to);
/*
 * Returns the address index of the peer; UINT32_MAX: we cannot send to the address, or the table of
 * peers is full.
 */
uint32_t ov_peer_of(struct ov_port *port, const struct ibv_ah_attr *ah);
bool ov_ah_attr_ok(const struct ibv_ah_attr *ah);
/* Returns the source port, which carries ECMP's entropy (rocev2.md#source-port). */
uint16_t ov_source_port(uint32_t flow_label, uint32_t own_qpn, uint32_t remote_qpn);

/* The device's hooks, called under its lock. */
void ov_completion_event(void *context, struct oche_cq *ring);
void ov_completion_events_over(void *context);
void ov_cq_error(void *context, struct oche_cq *ring);
void ov_qp_event(void *context, struct oche_qp *qp, enum oche_qp_event event);
void ov_srq_limit(void *context, struct oche_srq *srq);

/* ---- of the private interface (private.c) ---- */

int ov_query_gid_type(struct ibv_context *context, uint8_t port_num, unsigned int index,
                      unsigned int *type);
const char *ov_wr_opcode_str(int opcode);

/* ---- events ---- */

void ov_async_push(struct ov_context *context, const struct ibv_async_event *event);
/*
 * Each removes the undelivered events of an object, and waits until its delivered ones are
 * acknowledged.
 */
void ov_async_forget_srq(struct ov_srq *srq);
void ov_async_forget_qp(struct ov_qp *qp);
void ov_async_forget_cq(struct ov_cq *cq);

/* ---- strict mode (strict.c) ---- */

/* Returns false if there is no memory. */
bool ov_strict_add(struct ov_qp *qp);
void ov_strict_remove(struct ov_qp *qp);
void ov_strict_reset(struct ov_qp *qp);
/*
 * Count work that is about to be posted. Return 0, or ENOMEM if the queue has no room. If posting
 * then fails, the other two undo it. The caller holds the queue's lock.
 */
int ov_strict_send(struct ov_qp *qp, const struct oche_send_work *work, uint32_t count);
void ov_strict_unsend(struct ov_qp *qp, const struct oche_send_work *work, uint32_t count);
int ov_strict_receive(struct ov_qp *qp);
void ov_strict_unreceive(struct ov_qp *qp);
/* Counts completions that the program has polled. The caller holds poll_lock. */
void ov_strict_polled(struct ov_cq *cq, const struct oche_completion *done, unsigned count);

/* ---- what is told once in a process ---- */

enum ov_once {
    OV_ONCE_SEND_SLOTS,
    OV_ONCE_RECV_SLOTS,
    OV_ONCE_OVERRUN,
    OV_ONCE_XRC,
    OV_ONCE_RAW,
    OV_ONCE_MULTICAST,
    OV_ONCE_ECE,
    OV_ONCE_ODP,
    OV_ONCE_DEVICE_MEMORY,
    OV_ONCE_ALTERNATE_PATH,
    OV_ONCE_NO_GID,
    OV_ONCE_FILES,
    OV_ONCE_UNLIMITED,
    OV_ONCE_NUMBERS,
    OV_ONCE_NO_INTERFACE,
    OV_ONCE_LINK_LOCAL,
    OV_ONCE_PATH_MTU,
    OV_ONCES
};

/* Like ov_say, but prints only once for each kind. */
void ov_say_once(enum ov_once kind, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- what is not there (unsupported.c) ---- */

/* Prints that this is not supported. */
void ov_unsupported(enum ov_once kind);
/* Prints so if this type of queue pair is not supported. */
void ov_unsupported_qp(enum ibv_qp_type type);
/* Sets a context's unsupported verbs to functions that print that they are unsupported. */
void ov_unsupported_fill(struct verbs_context *verbs);
/*
 * Prints advice for UCX's users if `caller`, an address in its code, is UCX's and files are
 * missing.
 */
void ov_unsupported_files(const struct ov_device *first, const void *caller);

/* ---- the rest ---- */

/*
 * If OCHE_STATS is set, prints the port's counters to standard error; and what scripted events have
 * done.
 */
void ov_report_stats(struct ov_port *port);
bool ov_wants_stats(void);
/*
 * Return the names of the schemes with their parameters, as the user chose them, or else the
 * defaults.
 */
const char *ov_cc(void);
const char *ov_recovery(void);
/* Prints once that the chosen congestion control does not limit this type of queue pair. */
void ov_warn_unlimited(const struct oche_qp_config *config);
bool ov_has_defaults(void);
/*
 * Prints a line once if many packets are retransmitted (retransmission_warning.c). To be called by
 * the port's thread.
 */
void ov_warn_retransmissions(struct ov_port *port, oche_time now);
/* Sets unset parameters to values for the wire (wire_presets.c). */
void ov_wire_presets(struct oche_cc_choice *cc, struct oche_recovery_choice *choice);
/* Returns false if the user wants no view. *folder: the user's folder, or NULL. */
bool ov_view_wanted(const char **folder);
bool ov_is_strict(void);
/* How vendor_err is written: the adapter of OCHE_NIC. */
enum oche_vendor_errors ov_vendor_errors(void);
/*
 * Reads OCHE_CC, OCHE_RECOVERY … Returns false if a value is wrong, after printing a line with the
 * reason.
 */
bool ov_environment(struct oche_device_config *config);
bool ov_poll_mode(enum ov_poll *mode);
/*
 * Reads OCHE_EVENTS, `text`; NULL: none. Returns false if it is wrong, after printing a line.
 * Called under the lock of all ports; the device copies the events.
 */
bool ov_read_events(const char *text, struct oche_device_config *config);
/* Prints what scripted events have done, if OCHE_STATS is set, or if one never happened. */
void ov_report_events(struct ov_port *port);
/* Prints what the device's links have done to packets, if anything (link_report.c). */
void ov_report_links(struct ov_port *port);
/* Prints one line to standard error: "oche: …". */
void ov_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Sets errno and returns NULL. */
static inline void *ov_null(int error)
{
    errno = error;
    return NULL;
}

#pragma GCC visibility pop

#endif
