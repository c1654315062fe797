/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The wire: one RNIC of core/qp over a UDP socket in real time (RoCEv2, rocev2.md). The device
 * provides the clock, the packets and the memory. The RNIC is the same as in the simulator.
 *
 * Threads that poll make progress: oche_device_progress receives, runs timers, sends and returns.
 * Any number of threads may call it; one does the work (a try-lock), and the others return at once.
 * The device has no thread of its own. An idle thread sleeps in oche_device_wait.
 *
 * The rules for threads are those of nic.h: oche_qp_post_recv, oche_cq_poll and
 * oche_device_post_send (which posts, and wakes sleepers) need no lock. Every other call on a queue
 * pair or on the NIC must be made between oche_device_lock and oche_device_unlock, or through the
 * functions below, which take the lock themselves.
 *
 * An arriving packet passes all checks of core/wire and core/qp, and its ICRC is verified. Over
 * IPv4 the ICRC covers a field that a socket does not show; ip_id.h says how strong the check still
 * is. We assume that packets have don't-fragment set, as those of every RoCEv2 sender, and no IP
 * options.
 */
#ifndef OCHE_DEVICE_DEVICE_H
#define OCHE_DEVICE_DEVICE_H

#include <time.h>

#include "core/qp/nic.h"
#include "core/wire/codec.h"
#include "device/host/entropy.h"
#include "device/host/lock.h"
#include "device/path/source_ports.h"
#include "params/error.h"

struct oche_address;
struct oche_device;
struct oche_incast_list;
struct oche_link_plan;
struct oche_packet_event;
struct oche_packet_event_counts;

/* The kind of a device's lock (lock.h). */
OCHE_LOCK_KIND(device_lock);

struct oche_device_config {
    const char *address; /* own IP address: "192.0.2.1", "2001:db8::1"; required, unicast */
    uint16_t port;       /* UDP port of this device and all its peers; 0: 4791 */
    /*
     * Number of UDP ports that packets leave from, 1 … 64; each queue pair uses one of them
     * (source_ports.h). 1: only `port`; 0: 4. The device uses fewer if not enough ports are free.
     */
    uint32_t source_ports;
    /*
     * Spreads the packets of each queue pair over the source ports (core/paths/paths.h). Peers must
     * accept any port. A scheme that hears needs a power of two of ports, at both ends the same
     * number, and any_peer_ports. NULL: one port for each queue pair.
     */
    const struct oche_path_scheme *paths;
    /*
     * The line's rate: all queue pairs together send no faster. 0: not known, and schemes take it
     * for 100 Gbit/s.
     */
    uint64_t line_rate_bps;
    uint32_t mtu_bytes; /* largest payload of a packet on any queue pair; 0: 4096 */
    uint32_t max_qps, max_regions, max_peers; /* 0: 1024 of each kind */
    uint32_t receive_buffer_bytes;   /* requested size of the socket's buffer; 0: 8 MiB, more for UC
                                        and UD */
    const struct oche_cc_scheme *cc; /* NULL: none */
    const void *cc_params;           /* NULL: its defaults; copied */
    /*
     * Parameters that the device makes suit the line's rate and the round trips that it measures:
     * bit i: row i of the scheme's table (oche_cc_choice.free). Without cc_params: all.
     */
    uint64_t cc_free;
    const struct oche_recovery_scheme *recovery; /* NULL: go_back_n */
    const void *recovery_params;                 /* NULL: its defaults; copied */
    const struct oche_nic_habits *habits;        /* of an adapter; NULL: an ideal RNIC; copied */
    /* faults of the links to peers (link/spec.h); NULL: none; copied */
    const struct oche_link_plan *links;
    /* scripted events for arriving packets (link/event_text.h), each valid; copied */
    const struct oche_packet_event *events;
    uint32_t event_count; /* 0: none */
    uint64_t seed;        /* for links without a seed only; 0: random */
    /* for tests: source of keys, numbers, nonces and ports instead of the kernel */
    oche_entropy_fill *entropy;
    void *entropy_context;
    /*
     * Up to 64 processes of this user may share the address; each has a part of all queue pair
     * numbers (sharing.h). All of them must set this.
     */
    bool share;
    /*
     * The hosts that send to one receiver together (params/incast_list.h), for a scheme that takes
     * lists of senders (dart); NULL: none. Used until the device is open.
     */
    const struct oche_incast_list *incast;
    bool any_peer_ports; /* accept a peer's packets from any port (peer_ports.h) */
    bool no_gso, no_gro; /* one packet per datagram */
    bool strict_ip_id;   /* drop every packet with an unexpected identification (ip_id.h) */
    /* ACKs and NAKs have the DSCP of CNPs, in datagrams of their own; false: that of data */
    bool ack_priority;
    /* file name; if that file is in use, a similar name is chosen (capture.h); NULL: no capture */
    const char *capture;
    /* see nic.h; called under the lock */
    void (*completion_event)(void *context, struct oche_cq *cq);
    /*
     * Called after one or more completion events, just before the lock is released. A program that
     * wakes its thread here lets it find all completions that came together. Sleepers wake after
     * this call.
     */
    void (*completion_events_over)(void *context);
    void (*cq_error)(void *context, struct oche_cq *cq);
    void (*qp_error)(void *context, struct oche_qp *qp, enum oche_status status);
    void (*qp_event)(void *context, struct oche_qp *qp, enum oche_qp_event event);
    /*
     * A queue pair has used up its retries, and its peer's address has never sent anything. Called
     * once for each address.
     */
    void (*silent_peer)(void *context, const struct oche_address *address);
    /*
     * The kernel has refused a packet because it is larger than the MTU of the route to this
     * address. `packet_bytes` includes all headers. Called once for each peer.
     */
    void (*too_large)(void *context, const struct oche_address *address, uint32_t packet_bytes);
    void (*srq_limit)(void *context, struct oche_srq *srq);
    /*
     * Waits for this time, below a second; NULL: nanosleep. oche_device_open calls it while another
     * process of the address ends or restores its names, and has no descriptors open then.
     */
    void (*wait)(void *context, oche_time time);
    void *context;
};

/*
 * Packets with data that have arrived on unreliable connections: until now, and until data last
 * left on such a connection.
 */
struct oche_uc_counts {
    uint32_t now, at_send;
};

struct oche_device_stats {
    uint64_t sent_packets, sent_datagrams;         /* several packets may share a datagram */
    uint64_t received_packets, received_datagrams; /* including invalid ones */
    uint64_t sent_bytes, received_bytes;           /* of these packets, from the BTH to the ICRC */
    uint64_t wrong[OCHE_WIRE_ERROR_COUNT]; /* received packets dropped as invalid, by cause */
    uint64_t strangers;                    /* datagrams from addresses that belong to no peer */
    uint64_t strange_ports;     /* valid packets of peers from other ports (peer_ports.h) */
    uint64_t unexpected_ip_ids; /* packets with an unexpected identification (ip_id.h) */
    /* unexpected identifications that were taken as a sign of damage (ip_id.h) */
    uint64_t doubtful_ip_ids;
    /* packets that links with faults have lost, or scripted events */
    uint64_t dropped_sent, dropped_received;
    uint64_t passed_on,
        taken_over;        /* packets passed to, and taken from, other processes on this address */
    uint64_t pass_lost;    /* packets for other processes that could not be passed on */
    uint64_t pass_refused; /* messages refused because malformed or from another user's process */
    uint64_t send_errors;  /* packets that the kernel refused to send, or kept no room for */
    uint64_t send_full;    /* packets that waited, as a socket's buffer was full */
    /* datagrams that the kernel dropped, nearly always as the receive buffer was full */
    uint64_t kernel_drops;
    /* ACKs that were delayed; delays in vain, because no data left in time */
    uint64_t held, held_in_vain;
    uint64_t hung; /* queue pairs that looked hung twice in a row (oche_device_snapshot) */
    /* peers that get one packet per datagram, because the path does not allow more */
    uint64_t gso_refused;
    uint32_t source_ports; /* number of ports from which packets leave */
    bool gso, gro;         /* true if the kernel's offload is in use */
    struct oche_nic_stats nic;
};

/*
 * Opens a device. Returns NULL, with a line in `error`, on failure. errno EADDRINUSE: the address
 * and port are taken, or 64 processes share them already. The kernel must provide random numbers.
 */
struct oche_device *oche_device_open(const struct oche_device_config *config,
                                     struct oche_error *error);
/*
 * Frees everything, including completion queues and queue pairs. Returns false if the capture is
 * incomplete. No other thread may still use the device.
 */
bool oche_device_close(struct oche_device *device);

/* Returns the name of the capture's file; NULL: no capture. */
const char *oche_device_capture(const struct oche_device *device);

/*
 * For the child of a process that forked: closes its copies of the descriptors, so that the address
 * is free when the parent ends. The child must neither use nor close the device.
 */
void oche_device_leave(struct oche_device *device);

/* ---- faults ---- */

/*
 * Changes the links to peers at run time (link/links.h): for so long, in these directions, to one
 * peer or, with NULL, to all. OCHE_NEVER: until oche_device_restore_links. Returns false, with an
 * error and without a change, if `text` is wrong or memory is out.
 */
bool oche_device_change_links(struct oche_device *device, uint8_t directions,
                              const struct oche_address *peer, const char *text, oche_time lasts,
                              struct oche_error *error);
void oche_device_restore_links(struct oche_device *device);
/* Writes which links are in force (oche_links_list); empty: no link has a fault. */
void oche_device_list_links(struct oche_device *device, char *text, size_t bytes);
/*
 * While `cut` is set, no packet leaves or arrives, as without a cable. Returns false, with an
 * error, if memory is out.
 */
bool oche_device_cut_links(struct oche_device *device, bool cut, struct oche_error *error);

/*
 * Makes a queue pair fail (oche_qp_fail_as), or, with NULL, all that can. Returns how many failed.
 */
unsigned oche_device_fail_qps(struct oche_device *device, const uint32_t *qpn,
                              enum oche_status status);
/* Moves all queue pairs that are not in RESET to ERR, without an event: all work is flushed. */
void oche_device_flush_qps(struct oche_device *device);

/* ---- progress ---- */

/*
 * Receives what has arrived, runs timers, sends what is due. Returns the number of packets received
 * and sent. Returns 0 at once if another thread is doing this.
 */
unsigned oche_device_progress(struct oche_device *device);
/*
 * Like oche_device_progress, but waits while another thread is doing this. So work that was posted
 * before the call has been looked at when it returns.
 */
unsigned oche_device_progress_in_turn(struct oche_device *device);
/*
 * Like oche_device_progress, for a thread that the program did not start. The program may have
 * unmapped memory that is still posted, so received data is written with a check.
 */
unsigned oche_device_progress_checked(struct oche_device *device);
/*
 * Restores the device's names if they were removed (names.h), so that new processes see the device.
 * Progress includes this. To be called a few times a second if no thread makes progress.
 */
void oche_device_restore_names(struct oche_device *device);
/*
 * At the end of the process: sends delayed ACKs and everything else that is due, receives packets
 * and acknowledges them, for two milliseconds at most. An RNIC would have done so by now. ACKs are
 * not delayed after this call. To be called under the lock.
 */
void oche_device_finish(struct oche_device *device) OCHE_NEEDS(device_lock);
/*
 * Undoes oche_device_finish: the process continues, as its exec has failed. To be called under the
 * lock.
 */
void oche_device_resume(struct oche_device *device) OCHE_NEEDS(device_lock);
/* Returns the device time at which progress was last made. */
oche_time oche_device_progressed(const struct oche_device *device);
/* Returns the counts of packets on unreliable connections (UC). */
struct oche_uc_counts oche_device_uc_counts(const struct oche_device *device);
/*
 * Sleeps until there may be something to do (a packet arrives, a timer expires, a packet is due,
 * oche_device_post_send has posted work), until the number of oche_device_events is no longer
 * `since`, or until `timeout` (picoseconds) has passed. The caller must then make progress itself.
 * Returns at once if something is due within 50 µs. Any number of threads may sleep. A thread that
 * makes its calls in this order misses no completion:
 *     arm; since = oche_device_events; oche_device_progress; oche_cq_poll; oche_device_wait
 * Returns false if a signal handler ran, which ended the sleep.
 */
bool oche_device_wait(struct oche_device *device, uint32_t since, oche_time timeout);
/*
 * Makes oche_device_wait end, too, when one of two more descriptors can be read; -1: none. To be
 * called by one thread only.
 */
void oche_device_watch(struct oche_device *device, int first, int second);
/*
 * Returns the number of events so far. An event is a completion in a CQ that is armed
 * (oche_cq_arm), or a call of oche_device_wake.
 */
uint32_t oche_device_events(const struct oche_device *device);
/*
 * Makes an event, which ends all waits. A wait that begins later with an older `since` ends at
 * once.
 */
void oche_device_wake(struct oche_device *device);

oche_time oche_device_now(const struct oche_device *device);

/*
 * The lock is needed for calls on the NIC. It is not recursive, and the functions in
 * oche_device_config are called under it.
 */
void oche_device_lock(struct oche_device *device) OCHE_TAKES(device_lock);
void oche_device_unlock(struct oche_device *device) OCHE_RELEASES(device_lock);
/*
 * Like oche_device_lock, but gives up at this time of the clock CLOCK_REALTIME. Then returns false:
 * another thread has the lock.
 */
bool oche_device_lock_within(struct oche_device *device, const struct timespec *end)
    OCHE_TRIES(device_lock);
struct oche_nic *oche_device_nic(struct oche_device *device) OCHE_NEEDS(device_lock);

/* ---- objects ---- */

/*
 * Returns the address index of an IP address (text), for oche_qp_connection.remote_address and
 * oche_destination.address. The index is valid until it was released, with
 * oche_device_release_peer, as often as it was returned. Returns UINT32_MAX on failure, with errno:
 * EINVAL (not an address, or not of this device's IP version), ENOMEM (max_peers are in use).
 */
uint32_t oche_device_peer(struct oche_device *device, const char *address);
/* The caller has disconnected all queue pairs from the peer, and no datagram for it is posted. */
/*
 * True if the configuration has an incast: queue pairs that send messages of it must have been made
 * with `groups` (nic.h).
 */
bool oche_device_names_groups(const struct oche_device *device);
/*
 * Returns the group that messages to this peer name (oche_send_work.group), or NULL. It is valid as
 * long as the device.
 */
const struct oche_group *oche_device_group(const struct oche_device *device, uint32_t receiver);
void oche_device_release_peer(struct oche_device *device, uint32_t index);

/*
 * Registers memory, which stays the caller's; its remote addresses are its pointers. Memory for
 * atomics must be aligned to 8 bytes. Returns the key (lkey and rkey), or 0 if there is no room.
 */
uint32_t oche_device_register(struct oche_device *device, void *memory, size_t bytes,
                              uint32_t access);
/*
 * Registers a region given as the core's struct, with its own addresses and protection domain. If
 * region->key is 0, a free key is chosen and stored there. Returns false if the key is taken or
 * there is no room.
 */
bool oche_device_add_region(struct oche_device *device, struct oche_region *region);
/*
 * Makes room for one more region or window. Called under the lock. Returns false if there are
 * max_regions, or no memory. The tables double in size when they are full.
 */
bool oche_device_make_region_room(struct oche_device *device) OCHE_NEEDS(device_lock);
/*
 * Draws a random memory key, which may be in use. Called under the lock. Returns false if the
 * kernel gives no random numbers.
 */
bool oche_device_random_key(struct oche_device *device, uint32_t *key) OCHE_NEEDS(device_lock);
/* As oche_nic_change_region: changes the region with this key in one step. */
bool oche_device_change_region(struct oche_device *device, const struct oche_region *region);
/* Returns false if no region has this key, or a window is bound to it. */
bool oche_device_deregister(struct oche_device *device, uint32_t key);

/* `entries` must be a power of two. Returns NULL if memory is out. */
struct oche_cq *oche_device_create_cq(struct oche_device *device, uint32_t entries);
/* All queue pairs of `cq` must have been destroyed. */
void oche_device_destroy_cq(struct oche_device *device, struct oche_cq *cq);

/*
 * Makes this process the receiver of connection managers' packets for a service (core/cm/mad.h).
 * Returns false with errno; EADDRINUSE: another process of the address receives for this service.
 */
bool oche_device_take_service(struct oche_device *device, uint64_t id);
/* True if this process or another one of the address has taken the service. */
bool oche_device_service_taken(struct oche_device *device, uint64_t id);
void oche_device_release_service(struct oche_device *device, uint64_t id);
/*
 * Returns the process's slot, of OCHE_SLOT_BITS bits: the uppermost bits of its queue pair numbers,
 * and of its communication IDs.
 */
unsigned oche_device_slot(const struct oche_device *device);

/*
 * As oche_qp_create; qpn 0 in `config` means a free number, pkey 0 the default one. A number that
 * belongs to another process (oche_device_config.share) is refused. Each process may have queue
 * pair 1, to which connection managers' packets go. Regions of oche_device_register belong to
 * protection domain 0. If it returns NULL, errno is EADDRNOTAVAIL (no number is free, qp_numbers.h)
 * or ENOMEM.
 */
struct oche_qp *oche_device_create_qp(struct oche_device *device,
                                      const struct oche_qp_config *config);
void oche_device_destroy_qp(struct oche_device *device, struct oche_qp *qp);
/*
 * Takes the queue pair from RESET to RTS. Returns false if it is not in RESET or the connection is
 * impossible. connection.udp_source_port selects one of the device's ports (config.source_ports).
 * If it is 0, it is computed from the two queue pair numbers, as the standard says. The upper 6
 * bits of `tag` are the DSCP of all packets except CNPs. If they are 0, the traffic class
 * determines the DSCP. The tag of a datagram's destination has the same meaning.
 */
bool oche_device_connect(struct oche_device *device, struct oche_qp *qp,
                         const struct oche_qp_connection *connection);

/*
 * Forgets the ports of the queue pair's peer. To be called under the lock if a connection is made
 * without oche_device_connect.
 */
void oche_device_forget_ports(struct oche_qp *qp);

/*
 * Sends delayed ACKs (ack_delay.h). To be called under the lock before a queue pair enters RESET or
 * ERROR; oche_device_destroy_qp calls it.
 */
void oche_device_send_acks(struct oche_device *device) OCHE_NEEDS(device_lock);

/* As oche_qp_post_send; also wakes threads in oche_device_wait. */
int oche_device_post_send(struct oche_device *device, struct oche_qp *qp,
                          const struct oche_send_work *work);

/*
 * Wakes threads in oche_device_wait. To be called after one or more calls of oche_qp_post_send or
 * oche_qp_post_recv.
 */
void oche_device_posted(struct oche_device *device);
/*
 * Sends posted work in the calling thread. A thread that sleeps alone does not learn of the timers
 * that this sets, so the caller must make progress soon. Returns false, and does nothing, if
 * another thread has the device's lock.
 */
bool oche_device_send_posted(struct oche_device *device);
/* As oche_device_posted, but wakes nobody: for a caller that will soon make progress itself. */
void oche_device_posted_quietly(struct oche_device *device);

/*
 * Returns the number of packets of `mtu_bytes` that a peer like this device can buffer while it
 * does not poll. The sum of oche_qp_connection.window_packets over all queue pairs to that peer
 * should not exceed it.
 */
uint32_t oche_device_window_packets(const struct oche_device *device, uint32_t mtu_bytes);
/* True if recovery has timeouts of its own, shorter than a connection's may be (recovery.h, rto).
 */
bool oche_device_recovery_has_timeouts(const struct oche_device *device);

void oche_device_stats(struct oche_device *device, struct oche_device_stats *stats);
/*
 * Like oche_device_stats, for a caller that holds the lock. At the end of the process the lock is
 * not needed if the thread that has it was stopped for good.
 */
void oche_device_stats_now(struct oche_device *device, struct oche_device_stats *stats);
/*
 * Writes what scripted events have done, and the first of the configuration's that has not
 * happened, if any. Returns false if none is scripted. Called as oche_device_stats_now.
 */
bool oche_device_event_counts_now(const struct oche_device *device,
                                  struct oche_packet_event_counts *counts,
                                  struct oche_packet_event *first_left);
/*
 * Writes what the device's links have done (device/link/links.h). Returns false if it has none.
 * Called as oche_device_stats_now.
 */
struct oche_links_report;
bool oche_device_links_report_now(const struct oche_device *device,
                                  struct oche_links_report *report);
/*
 * Writes the device's part of what `oche stat` shows (device/view/format.h); the caller adds the
 * process's numbers, names and connections. Takes the lock while it reads OCHE_VIEW_QPS queue pairs
 * at most.
 */
struct oche_view;
void oche_device_snapshot(struct oche_device *device, struct oche_view *view);
/*
 * Writes the OCHE_VIEW_COUNTERS counters. Called with or without the lock, as
 * oche_device_stats_now.
 */
void oche_device_counters_now(struct oche_device *device, uint64_t *counters);
/*
 * At the end of the process: completes the capture, which then takes no more packets. `locked`: the
 * caller has the lock; otherwise the thread that has it was stopped for good.
 */
void oche_device_end_capture(struct oche_device *device, bool locked);
/*
 * Writes the number of datagrams that the kernel has dropped, and the size of the receive buffer.
 * Returns true if they may have been for queue pairs without retransmission. Costs one system call
 * and takes no lock.
 */
bool oche_device_losses(const struct oche_device *device, uint32_t *datagrams,
                        uint32_t *buffer_bytes);

#endif
