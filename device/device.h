/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The wire: one RNIC of core/qp, driven in real time over a UDP socket (RoCEv2, REFERENCE I). The
 * device gives it the clock, the packets and the memory; what the RNIC does is what it does in the
 * simulator.
 *
 * Progress is made by whoever polls: oche_device_progress receives, runs timers and sends, and
 * returns. Any number of threads may call it; one does the work (a try-lock), the others return at
 * once. There is no thread inside. Who has nothing to do sleeps in oche_device_wait.
 *
 * What nic.h says about threads holds: oche_qp_post_recv and oche_cq_poll need no lock, nor does
 * oche_device_post_send (which posts, and wakes who waits); every other call on a queue pair or on
 * the NIC is made between oche_device_lock and oche_device_unlock, or by the functions below, which
 * do that themselves.
 *
 * What is checked of an arriving packet: all that core/wire and core/qp check, and the ICRC. Over
 * IPv4 the ICRC covers a field that a socket does not show; ip_id.h says what is left of the check.
 * Also assumed: don't fragment is set, as every RoCEv2 sender does, and no IP options.
 */
#ifndef OCHE_DEVICE_DEVICE_H
#define OCHE_DEVICE_DEVICE_H

#include "core/qp/nic.h"
#include "core/wire/codec.h"
#include "params/error.h"

#define OCHE_MAX_SOURCE_PORTS 64

struct oche_device;

struct oche_device_config {
    const char *address; /* own IP address: "192.0.2.1", "2001:db8::1"; required, unicast */
    uint16_t port;       /* UDP port of this device and of all its peers; 0: 4791 */
    /*
     * How many UDP ports packets leave from, by their queue pairs (source_ports.h): 1 … 64; 1: from
     * `port` alone; 0: 4. Fewer if there are no more.
     */
    uint32_t source_ports;
    uint64_t line_rate_bps; /* what an unlimited queue pair may send; 0: 100 Gbit/s */
    uint32_t mtu_bytes;     /* largest payload a packet that any queue pair will have; 0: 4096 */
    uint32_t max_qps, max_regions, max_peers;    /* 0: 1024 of each */
    uint32_t receive_buffer_bytes;               /* of the socket, as asked for; 0: 8 MiB */
    const struct oche_cc_scheme *cc;             /* NULL: none */
    const void *cc_params;                       /* NULL: its defaults; copied */
    const struct oche_recovery_scheme *recovery; /* NULL: go_back_n */
    const void *recovery_params;                 /* NULL: its defaults; copied */
    uint64_t seed;                               /* of everything random; 0: by chance */
    uint32_t drop_sent_ppm, drop_received_ppm;   /* for tests: packets in a million */
    /*
     * Other processes of this user may have the address too, up to 64: each has a part of all queue
     * pair numbers (share.h). All of them say so, or the address is taken.
     */
    bool share;
    bool no_gso, no_gro; /* one packet a datagram */
    bool strict_ip_id;   /* drop all that ip_id.h did not expect */
    const char *capture; /* a file, or one beside it (capture.h); NULL: none */
    void (*completion_event)(void *context, struct oche_cq *cq); /* as in nic.h; under the lock */
    /*
     * Under the lock, before it is released, after one or more completion events: who is told now
     * finds all that came together. Then whoever waits is woken.
     */
    void (*completion_events_over)(void *context);
    void (*cq_error)(void *context, struct oche_cq *cq);
    void (*qp_error)(void *context, struct oche_qp *qp, enum oche_status status);
    void (*qp_event)(void *context, struct oche_qp *qp, enum oche_qp_event event);
    void (*srq_limit)(void *context, struct oche_srq *srq);
    void *context;
};

struct oche_device_stats {
    uint64_t sent_packets, sent_datagrams;         /* packets that share one count once */
    uint64_t received_packets, received_datagrams; /* whatever they held */
    uint64_t wrong[OCHE_WIRE_ERROR_COUNT];         /* received and dropped, by cause */
    uint64_t strangers;                            /* from an address that is no peer's */
    uint64_t unexpected_ip_ids;                    /* accepted, or with strict_ip_id dropped */
    uint64_t doubtful_ip_ids;                      /* of these: dropped in any case (ip_id.h) */
    uint64_t dropped_sent, dropped_received;       /* on purpose */
    uint64_t passed_on, taken_over; /* packets: to, and from, other processes on this address */
    uint64_t pass_lost;             /* … that could not be passed on */
    uint64_t pass_refused;          /* messages that were no process's of this user */
    uint64_t send_errors;           /* packets that the kernel did not take */
    uint64_t send_full;             /* times that a socket's buffer was full */
    uint64_t held, held_in_vain;    /* times that ACKs waited for data, and when none came */
    uint64_t gso_refused;  /* peers to which packets go one by one, as the way there wants */
    uint32_t source_ports; /* that packets leave from */
    bool gso, gro;         /* in use */
    struct oche_nic_stats nic;
};

/* NULL, and a line in `error`, when it cannot be opened; errno EADDRINUSE: somebody else has the
 * address and port, or 64 share it. */
struct oche_device *oche_device_open(const struct oche_device_config *config,
                                     struct oche_error *error);
/*
 * Frees everything, completion queues and queue pairs included. False: the capture is not whole.
 * No other thread may use the device any more.
 */
bool oche_device_close(struct oche_device *device);

/* The capture's file; NULL: there is none. */
const char *oche_device_capture(const struct oche_device *device);

/*
 * For the child of a process that forked: closes its copies of the descriptors, so that the address
 * is free when the parent ends. The device must not be used in the child, nor closed there.
 */
void oche_device_leave(struct oche_device *device);

/* ---- progress ---- */

/*
 * Receives what arrived, runs timers, sends what is due. Returns the number of packets received
 * and sent; 0 also when another thread is at it.
 */
unsigned oche_device_progress(struct oche_device *device);
/* The same, beside the program that the memory belongs to, which may have unmapped what it posted.
 */
unsigned oche_device_progress_aside(struct oche_device *device);
/* When progress was last made, as oche_device_now. */
oche_time oche_device_progressed(const struct oche_device *device);
/*
 * Sleeps until there may be something to do: a packet, a timer, a packet due, work posted by
 * oche_device_post_send; or an event has happened since `since` was read: a completion in a queue
 * that is armed (oche_cq_arm), oche_device_wake; or until `timeout` (picoseconds) has passed.
 * Progress is the caller's to make then. Returns at once if something is due within 50 µs. Any
 * number of threads may sleep. The order that misses nothing:
 *     arm; since = oche_device_events; oche_device_progress; oche_cq_poll; oche_device_wait
 * False: a signal handler ran, which ended it.
 */
bool oche_device_wait(struct oche_device *device, uint32_t since, oche_time timeout);
/* A number that changes with each event. */
uint32_t oche_device_events(const struct oche_device *device);
/* An event: ends all waits, and those that have not begun yet. */
void oche_device_wake(struct oche_device *device);

oche_time oche_device_now(const struct oche_device *device);

/* For calls on the NIC. Not recursive; hooks run under it. */
void oche_device_lock(struct oche_device *device);
void oche_device_unlock(struct oche_device *device);
struct oche_nic *oche_device_nic(struct oche_device *device);

/* ---- objects ---- */

/*
 * The address index of an IP address (text), for oche_qp_connection.remote_address. UINT32_MAX:
 * not an address, not of this device's IP version, or no room.
 */
uint32_t oche_device_peer(struct oche_device *device, const char *address);

/*
 * Registers memory, which stays the caller's: addresses are pointers. Aligned to 8 bytes if there
 * are to be atomics. Returns the key (lkey and rkey), 0 when there is no room.
 */
uint32_t oche_device_register(struct oche_device *device, void *memory, size_t bytes,
                              uint32_t access);
/*
 * The same for a region as the core has it (its own addresses, protection domain), with its key,
 * or 0: one is chosen and set. False: the key is taken, or there is no room.
 */
bool oche_device_add_region(struct oche_device *device, struct oche_region *region);
/* As oche_nic_change_region: in one step, the key stays registered. */
bool oche_device_change_region(struct oche_device *device, const struct oche_region *region);
/* False: no such key, or a window is bound to it. */
bool oche_device_deregister(struct oche_device *device, uint32_t key);

/* `entries`: a power of two. NULL: out of memory. */
struct oche_cq *oche_device_create_cq(struct oche_device *device, uint32_t entries);
/* No queue pair uses it any more. */
void oche_device_destroy_cq(struct oche_device *device, struct oche_cq *cq);

/*
 * As oche_qp_create; qpn 0 in `config` gets a free number, pkey 0 the default one. A number that is
 * another process's (oche_device_config.share) is refused. Regions belong
 * to protection domain 0.
 */
struct oche_qp *oche_device_create_qp(struct oche_device *device,
                                      const struct oche_qp_config *config);
void oche_device_destroy_qp(struct oche_device *device, struct oche_qp *qp);
/*
 * RESET to RTS. False: not in RESET, or the connection is impossible. udp_source_port chooses among
 * the device's (config.source_ports); 0: the standard's function of both numbers does. `tag`: its
 * upper 6 bits are the DSCP of all but CNPs; 0: by the packet's traffic class. Likewise that of a
 * datagram's destination.
 */
bool oche_device_connect(struct oche_device *device, struct oche_qp *qp,
                         const struct oche_qp_connection *connection);

/*
 * Sends the ACKs that wait for data to go with: what a queue pair has acknowledged before it goes
 * to RESET or ERROR. Under the lock. oche_device_destroy_qp does it, too.
 */
void oche_device_send_acks(struct oche_device *device);

/* As oche_qp_post_send, and whoever waits sees it. */
int oche_device_post_send(struct oche_device *device, struct oche_qp *qp,
                          const struct oche_send_work *work);

/* After oche_qp_post_send or oche_qp_post_recv, any number of them: whoever waits looks. */
void oche_device_posted(struct oche_device *device);
/* The same, but nobody is woken: the caller polls soon. */
void oche_device_posted_quietly(struct oche_device *device);

/*
 * Packets of `mtu_bytes` that a peer like this one can take while it does not look: what
 * oche_qp_connection.window_packets should not exceed, all queue pairs to that peer together.
 */
uint32_t oche_device_window_packets(const struct oche_device *device, uint32_t mtu_bytes);

void oche_device_stats(struct oche_device *device, struct oche_device_stats *stats);

#endif
