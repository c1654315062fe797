/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The RNIC: a pure state machine. A driver (the simulator's host, the device's loop) gives it
 * packets and the time; it gives back packets, completions and the time at which it wants to be
 * called again. It reads no clock, does no I/O, allocates nothing and starts no thread; memory
 * comes from the driver when an object is made.
 *
 * The driver's loop:
 *     oche_nic_receive(nic, packet, now)       for each packet that arrived
 *     oche_nic_expire(nic, now)                when now >= oche_nic_next(...)
 *     n = oche_nic_transmit(nic, now, due_by, classes, out, max)   whenever the port is free
 *     sleep until a packet arrives, or oche_nic_next(nic, classes), or a post
 *
 * Threads: the driver makes all calls on one NIC under one lock (the simulator needs none). The
 * exceptions are oche_qp_post_send, oche_qp_post_recv, oche_srq_post_recv and oche_cq_poll. They
 * work on single-producer single-consumer rings and need no lock, but only one thread at a time may
 * call them for the same queue.
 */
#ifndef OCHE_CORE_QP_NIC_H
#define OCHE_CORE_QP_NIC_H

#include "core/base.h"
#include "core/cc/cc.h"
#include "core/cc/cc_counting.h"
#include "core/nic/habits.h"
#include "core/paths/paths.h"
#include "core/qp/cause.h"
#include "core/qp/work.h"
#include "core/recovery/recovery.h"
#include "core/trace/trace.h"
#include "core/wire/packet.h"

OCHE_C_BEGIN

struct oche_nic;
struct oche_qp;
struct oche_cq;
struct oche_srq;

/* Events of a queue pair that a driver may want to know. */
enum oche_qp_event {
    /*
     * In ERR, with a shared receive queue: the queue pair will take no further receive from the
     * queue.
     */
    OCHE_QP_EVENT_LAST_RECEIVE,
    /* In ERR, because the peer sent a request that is invalid or that it may not make. */
    OCHE_QP_EVENT_BAD_REQUEST,
    OCHE_QP_EVENT_BAD_ACCESS,
    /*
     * In ERR, because the data of an accepted READ can no longer be read, or because a completion
     * queue was full and lost a completion.
     */
    OCHE_QP_EVENT_FATAL,
    /* RC and UC, in RTR: the peer's first packet has arrived. */
    OCHE_QP_EVENT_ESTABLISHED,
    /* In SQD: every work request that had begun has completed (oche_qp_drained). */
    OCHE_QP_EVENT_DRAINED,
};

/*
 * The driver's side. Every hook is optional unless said otherwise. A hook may create queue pairs,
 * change the state of others, post and poll; it must not destroy or reset the queue pair that it
 * is called for, and must not call receive, transmit or expire.
 */
struct oche_nic_port {
    /*
     * Data movement; the NIC has checked key, bounds and access. Without these hooks no byte is
     * moved (a simulation without payload). `read` copies from the region to the packet buffer, the
     * other two from the packet to the region; `offset` is counted from region->va. `write` is for
     * an address that the peer has given; `write_posted` is for memory that the program itself has
     * posted (a receive, or the destination of a READ). Without write_posted, write is called for
     * both.
     */
    void (*read)(void *context, const struct oche_region *region, uint64_t offset, void *to,
                 uint32_t bytes);
    void (*write)(void *context, const struct oche_region *region, uint64_t offset,
                  const void *from, uint32_t bytes);
    void (*write_posted)(void *context, const struct oche_region *region, uint64_t offset,
                         const void *from, uint32_t bytes);
    /*
     * Carries out an 8-byte atomic, and returns the old value. A region's atomics are carried out
     * one at a time.
     */
    uint64_t (*atomic)(void *context, const struct oche_region *region, uint64_t offset,
                       bool compare_swap, uint64_t compare, uint64_t swap_add);
    /*
     * Called when `bytes` more bytes of a message have been delivered in order; `last` is true if
     * the message is complete. SEND and WRITE are delivered at the responder, READ at the
     * requester. Where recovery may restart a message (whole_messages), this is called once per
     * message, with all of its bytes.
     */
    void (*delivered)(void *context, struct oche_qp *qp, uint32_t bytes, bool last, oche_time now);
    /*
     * A request for an unknown queue pair has arrived. The hook may create the queue pair (RTR or
     * RTS) and return it.
     */
    struct oche_qp *(*unknown_qp)(void *context, const struct oche_packet *packet, oche_time now);
    /*
     * Fills in the global route header at the beginning of a datagram's receive (IPv4: the IP
     * header is in its last 20 bytes). Without this hook these bytes stay as they were. Called
     * within oche_nic_receive, for the packet given there.
     */
    void (*grh)(void *context, const struct oche_packet *packet, uint8_t grh[OCHE_GRH_BYTES]);
    /* A completion was put into `cq`, which was armed for it by oche_cq_arm. */
    void (*completion_event)(void *context, struct oche_cq *cq);
    /*
     * `cq` was full and has lost a completion; it will lose all later ones too. Called once for a
     * queue.
     */
    void (*cq_error)(void *context, struct oche_cq *cq);
    /*
     * The ACK timer has expired; recovery acts after this call. oche_qp_losses tells what is known
     * about lost packets.
     */
    void (*timed_out)(void *context, struct oche_qp *qp, oche_time now);
    /*
     * The queue pair has entered ERR (or SQE, after a UC or UD sender's error) because of an error.
     */
    void (*qp_error)(void *context, struct oche_qp *qp, enum oche_status status);
    void (*qp_event)(void *context, struct oche_qp *qp, enum oche_qp_event event);
    /*
     * Fewer receives are posted than the limit that oche_srq_set_limit has set. The limit is now
     * unset.
     */
    void (*srq_limit)(void *context, struct oche_srq *srq);
    /*
     * A payload that came behind a gap found no room in the queue pair's memory for held payloads.
     * Its packet was dropped, and will be sent again. The driver may give more memory later, by
     * oche_qp_hold_at, but not within this call. Not called again before that for the same or a
     * lesser need.
     */
    void (*wants_room)(void *context, struct oche_qp *qp);
};

/*
 * Deflection of short messages by switches (Dart sec IV). Packets of a short SEND or WRITE on a
 * reliable queue pair carry tokens in their BTH, which allow switches to send them by another path.
 * Because PSNs run across messages, packets of a short message must not be in the network together
 * with packets of the messages before and after it, unless they take the same way (dart.md#d18).
 */
struct oche_deflection {
    uint8_t tokens;       /* 0 to OCHE_BTH_TOKENS; 0: no deflection */
    uint32_t short_bytes; /* a message of at most this many bytes is short */
    /*
     * How long a message waits if it or the message before it is short, counted from the last
     * packet of that earlier message. This keeps the two apart unless the network holds that packet
     * for longer. OCHE_NEVER: the later message waits until the earlier one is acknowledged, so a
     * short message is never outstanding together with another one.
     */
    oche_time hold;
    /*
     * True: nothing is held. What starts while a short message is outstanding, or is sent again,
     * carries the same tokens and OCHE_BTH_FOLLOWS, so that switches send it the same way. They
     * remember that way for `linger` after the last packet. A message waits until all before it
     * are acknowledged if the queue pair has sent nothing for half of that. A queue pair on which
     * nothing has come behind a short message yet has switches forget the way at once, by
     * OCHE_BTH_RELEASE; then what comes behind it waits for the ACK, the first time only.
     */
    bool follow;
    oche_time linger;
};

struct oche_nic_config {
    uint32_t address; /* the NIC's own address index */
    /*
     * Address indices below this one mean the same host to every NIC, so NICs can send each other
     * lists of them (Dart's look-ahead). 0: indices have no meaning outside of this NIC.
     */
    uint32_t shared_addresses;
    uint64_t line_rate_bps; /* line rate of the port */
    uint32_t gap_bytes;     /* gap between frames on the line: OCHE_GAP_BYTES, or 0 */
    bool ipv6;
    uint8_t control_class; /* class of CNPs, and of ACKs and NAKs that follow no READ data */
    /* true: ACKs, NAKs and results of atomics always have their queue pair's traffic class */
    bool acks_with_data;
    bool measures_rtt; /* round trips are measured though no scheme asks for them */
    uint32_t max_qps;
    uint32_t max_regions;         /* until oche_nic_move_regions makes them more */
    uint64_t ecn_threshold_bytes; /* the NIC sets CE above this backlog; OCHE_NEVER: never */
    struct oche_deflection deflection;
    struct oche_spreading spread;
    /* Must outlive the NIC; NULL: an ideal RNIC, without habits. */
    const struct oche_nic_habits *habits;
    /*
     * How often a READ may be repeated from one packet on, before it is repeated from a later one;
     * more requests are dropped. 0: as often as anybody asks. A request is a packet, and its
     * response may be 2 GB; a peer that follows verbs repeats a request 7 times.
     */
    uint32_t most_repeats;
    /*
     * How far ahead of the expected PSN a request may be; one farther ahead is dropped without a
     * NAK, which would make the peer go back. A peer that has more outstanding than that and loses
     * some waits for its ACK timeout. 0: as far as PSNs can be ordered.
     */
    uint32_t most_ahead;
    /*
     * Several devices can have one address. The highest bits of a queue pair number, so many, then
     * tell which one it is of; 0: an address is one device. At most 8, and then addresses of peers
     * are below 2^24.
     */
    uint8_t peer_qpn_bits;
    uint64_t seed;
    const struct oche_cc_scheme *cc;             /* required */
    const void *cc_params;                       /* must outlive the NIC */
    const struct oche_recovery_scheme *recovery; /* required */
    const void *recovery_params;                 /* must outlive the NIC */
    const struct oche_nic_port *port;            /* required; its hooks may be NULL */
    void *port_context;
    struct oche_trace *trace; /* required */
    /*
     * Memory of oche_nic_table_bytes() bytes, aligned to OCHE_CACHE_LINE, for tables that few
     * packets need. NULL: the tables are in the NIC's own memory. A driver with many NICs sets
     * this, so that the memory that every packet needs lies close together.
     */
    void *tables;
};

/* Counters of one NIC, for the driver to read. Bytes are payload. */
struct oche_nic_stats {
    uint64_t data_packets_sent, data_bytes_sent;
    /* including duplicates and packets behind a gap */
    uint64_t data_packets_received, data_bytes_received;
    uint64_t delivered_bytes;
    uint64_t queueing_time; /* time that sent data packets waited for the port, summed */
    uint64_t acks_sent, acks_received;
    uint64_t delivered_messages;
    uint64_t retransmitted_packets, retransmitted_bytes;
    uint64_t duplicate_packets, out_of_order_packets;
    uint64_t placed_packets; /* packets kept behind a gap, which need not be sent again */
    uint64_t naks_sent, naks_received, rnr_naks_sent, rnr_naks_received;
    uint64_t cnps_sent, cnps_received;
    /* congestion control's own packets other than CNPs */
    uint64_t cc_packets_sent, cc_packets_received;
    uint64_t ce_received; /* data packets that arrived with CE */
    uint64_t ce_marked;   /* data packets that this NIC marked itself */
    uint64_t timeouts;    /* how often an ACK timer ran out */
    /* timeouts of these that adapters call adaptive retransmissions (core/nic/timeouts.h) */
    uint64_t adaptive_timeouts;
    /* timeouts of these after which an ACK has shown that nothing was lost */
    uint64_t early_timeouts;
    uint64_t early_losses; /* NAKs and the like, after which nothing turned out to be lost */
    /* the total; oche_nic_rejected has the numbers by cause */
    uint64_t rejected_packets;

    /* Rarer events, for the counters of adapters (adapter_counters.h). */
    uint64_t delivered_sends;                /* delivered_messages that are SENDs */
    uint64_t refused_writes;                 /* WRITEs that were refused access */
    uint64_t read_requests, atomic_requests; /* that were executed, or refused access */
    uint64_t gaps;                /* gaps in requests that the responder saw, each once */
    uint64_t response_gaps;       /* gaps in responses that the requester asked for again */
    uint64_t gap_naks_acted_on;   /* NAKs for a gap that made packets leave again */
    uint64_t duplicate_responses; /* duplicate_packets that are responses */
    uint64_t adaptive_give_ups;   /* adaptive_timeouts after which the request failed */
    uint64_t slow_restarts;       /* timeouts that lowered a rate as a CNP does (slow_restart) */
    uint64_t cnps_ignored;        /* cnps_received that the scheme does not react to */
    uint64_t no_receive;          /* packets dropped because no receive was posted */
    uint64_t access_refused;      /* requests refused for their key, bounds or permission */
    /* work requests that failed, and those of them that were flushed */
    uint64_t failed_sends, flushed_sends;
    uint64_t failed_receives, flushed_receives;
    uint64_t short_receives; /* failed_receives that were too short for their message */
    /* failed_sends by what the peer said, or did not say */
    uint64_t sends_refused_access, sends_refused_invalid;
    uint64_t sends_unanswered, sends_not_ready;
    /* data packets of which only the headers arrived, and NACKs for these */
    uint64_t trimmed_packets, trim_nacks_sent, trim_nacks_received;
};

/* Why an arriving packet was dropped. Packets from the network may be hostile. */
enum oche_reject {
    OCHE_REJECT_NO_QP,
    OCHE_REJECT_QP_STATE,
    OCHE_REJECT_WRONG_PEER, /* source address is not the queue pair's peer */
    OCHE_REJECT_OPCODE,     /* the opcode is unknown, or not one of this transport */
    OCHE_REJECT_PKEY,
    OCHE_REJECT_LENGTH,         /* payload length does not fit the MTU and the opcode */
    OCHE_REJECT_SEQUENCE,       /* UC: the middle of a message whose start is missing */
    OCHE_REJECT_PSN,            /* a response to a PSN that is not outstanding */
    OCHE_REJECT_DUPLICATE_GONE, /* a duplicate of a READ or atomic that is no longer remembered */
    /* On a reliable queue pair, packets with the following causes also get a NAK. */
    OCHE_REJECT_NOT_READY,       /* no receive is posted */
    OCHE_REJECT_INVALID_REQUEST, /* wrong order, length or alignment; more READs than agreed */
    OCHE_REJECT_ACCESS,          /* key, bounds or permission */
    OCHE_REJECT_OPERATION,       /* the receive that we posted cannot be used */
    /* These get no NAK: */
    OCHE_REJECT_PLACEMENT, /* invalid packet behind a gap: not kept */
    OCHE_REJECT_QKEY,      /* UD: the Q_Key is not the queue pair's */
    /* a CNP, or a packet of congestion control, that the peer cannot have sent (core/wire/cnp.h) */
    OCHE_REJECT_CNP,
    OCHE_REJECT_REPEATS, /* a READ that was repeated too often: most_repeats */
    OCHE_REJECT_AHEAD,   /* a request that the peer cannot have sent yet: most_ahead */
    OCHE_REJECT_CAUSES
};
const char *oche_reject_name(enum oche_reject cause);

/* Why a packet was retransmitted. */
enum oche_resent {
    OCHE_RESENT_NAK,       /* a NAK: everything from its PSN on */
    OCHE_RESENT_SELECTIVE, /* a NAK with a SACK: only the missing packets */
    OCHE_RESENT_TIMEOUT,
    OCHE_RESENT_NOT_READY, /* the wait after an RNR NAK is over */
    OCHE_RESENT_RESPONSES, /* responses are missing, so the request leaves again */
    OCHE_RESENT_TWICE,     /* no loss: recovery sends the last packet of a message twice */
    OCHE_RESENT_ASKED,     /* READ data that the peer has asked for again */
    OCHE_RESENT_TRIMMED,   /* a switch has trimmed the packet */
    OCHE_RESENT_CAUSES
};
const char *oche_resent_name(enum oche_resent cause);

struct oche_qp_config {
    uint32_t qpn;          /* our number, 24 bits, unique in the NIC; at least 2 (UD: 1) */
    uint8_t transport;     /* enum oche_transport */
    uint8_t traffic_class; /* class of requests, READ responses, and ACKs behind READ responses */
    uint16_t pkey;         /* partition key; 0 (no partition has it): OCHE_PKEY_DEFAULT */
    uint32_t qkey;         /* UD: Q_Key that datagrams must have */
    uint32_t pd;
    uint32_t mtu_bytes;  /* payload a packet: any value 64 … 9000 (verbs: 256 … 4096) */
    uint32_t send_depth; /* work requests, a power of two */
    uint32_t recv_depth; /* work requests, a power of two, or 0 */
    /* if not NULL, receives come from this queue, and recv_depth is not used */
    struct oche_srq *srq;
    uint32_t responder_resources;        /* READs and atomics that the peer may have outstanding */
    uint32_t initiator_depth;            /* READs and atomics that we may have outstanding */
    uint32_t access;                     /* enum oche_access: what the peer may do */
    uint32_t max_send_sge, max_recv_sge; /* 1 … OCHE_MAX_SGE; 0 means 1 */
    bool groups;                         /* work requests may name a group of senders */
    bool windows;                        /* work requests may be BIND_MW */
    uint32_t max_inline_bytes;           /* 0 … OCHE_MAX_INLINE_BYTES */
    /*
     * Optional, for recovery that keeps packets behind a gap: the caller's memory for their
     * payloads, which are then written to their places when the packets' turn comes. It must last
     * as long as the queue pair, or until oche_qp_hold_at replaces it, and its pages are used only
     * when packets are kept. Packets for which there is no room are sent again. NULL: payloads are
     * written to their places at once. Recovery may ask for that, too (recovery.h, places_at_once);
     * then only payloads whose place is not known yet are held.
     */
    uint8_t *held;
    uint32_t held_bytes;
    /*
     * Optional, for congestion control that counts READs (oche_cc_scheme.windows_reads): as `held`,
     * for READ data that arrives behind a gap. NULL: it is asked for again.
     */
    uint8_t *held_reads;
    uint32_t held_reads_bytes;
    bool end_to_end_credits; /* our ACKs tell how many receives are posted (rocev2.md#credits) */
    struct oche_cq *send_cq, *recv_cq; /* the two may be the same; NULL: completions are not kept */
    void *user;                        /* the driver's value, which oche_qp_user returns */
};

/*
 * Facts that are known when the connection is made (RTR and RTS). A UD queue pair has no connection
 * and uses only send_psn and initial_rate_bps.
 */
struct oche_qp_connection {
    uint32_t remote_address, remote_qpn;
    uint32_t send_psn, recv_psn; /* first PSNs of the two directions */
    uint16_t udp_source_port;
    uint32_t flow_hash; /* copied into every packet, for ECMP */
    uint8_t tag;        /* the driver's value, copied into every packet's tag */
    /* AckReq is set in every n-th packet and in the last of a message */
    uint32_t ack_every_packets;
    uint32_t window_packets; /* most PSNs outstanding; 0: 2^23 */
    /*
     * window_packets is what the peer can hold while it is away, and so many more may be
     * outstanding as a path delivers in its least round trip. Where round trips are measured.
     */
    bool window_grows;
    oche_time ack_timeout; /* OCHE_NEVER: no timer */
    /*
     * Number of timeouts in a row, without progress, that are allowed; one more is an error.
     * UINT32_MAX: no limit. NAKs do not count, because a NAK may have left before the repair
     * arrived, with two exceptions: without an ACK timeout a NAK without progress counts; and where
     * recovery restarts messages, each restart of a message counts.
     */
    uint32_t retry_count;
    /*
     * The least time without progress, in us, after which the peer is given up, when retry_count is
     * used up; 0: as long as that many timeouts and one more take.
     */
    uint32_t patience_us;
    uint32_t rnr_retry;    /* like retry_count, for RNR NAKs */
    uint8_t min_rnr_timer; /* code sent in our RNR NAKs (rocev2.md#rnr-timers) */
    /*
     * True if the peer is known to have all the extensions that this NIC has: the extended opcodes
     * (core/wire/extension.h), CNPs that name a PSN, messages that begin again (whole_messages). If
     * false, they are used as soon as a packet of the peer shows that it has them, too.
     */
    bool extensions;
    /* rate of the peer's port, for congestion control; 0: the same as ours */
    uint64_t peer_line_rate_bps;
    uint8_t tenant; /* the tenant that owns the queue pair, for congestion control */
    /*
     * Rate at which congestion control begins (DCQCN sec 3.1). 0 or a value above line rate: line
     * rate.
     */
    uint64_t initial_rate_bps;
    /* The path's MTU, at most the configuration's mtu_bytes; 0: equal to the configuration's. */
    uint32_t mtu_bytes;
};

/*
 * Returns the bytes of memory (aligned to OCHE_CACHE_LINE) that a NIC of this configuration needs.
 */
size_t oche_nic_bytes(const struct oche_nic_config *config);
size_t oche_nic_table_bytes(const struct oche_nic_config *config);
/* Makes the NIC. `memory` and config->tables stay the caller's, and must outlive the NIC. */
struct oche_nic *oche_nic_create(void *memory, const struct oche_nic_config *config);

/*
 * For drivers that give several NICs one port. The scheme must have the hook `senders` (cc.h): the
 * senders that are active here, the bytes that have arrived, and what the other NICs have.
 */
uint32_t oche_nic_senders(const struct oche_nic *nic, uint32_t *addresses, uint32_t most,
                          uint32_t *version);
uint64_t oche_nic_received_line_bytes(const struct oche_nic *nic);
void oche_nic_elsewhere(struct oche_nic *nic, const struct oche_cc_elsewhere *elsewhere,
                        oche_time now);

/* The port. */
/* Handles a packet that has arrived (not a PFC frame). The packet stays the caller's. */
void oche_nic_receive(struct oche_nic *nic, const struct oche_packet *packet, oche_time now);
/*
 * Fills up to `max` packets whose pacing time is at or before `due_by` (>= now) and whose traffic
 * class is in the mask `classes`; returns how many. The caller owns the packets and has set the
 * `payload` of each to a buffer of at least the MTU, or to NULL (no bytes wanted). Control packets
 * come first, then data of queue pairs by pacing time, round-robin among equals.
 */
unsigned oche_nic_transmit(struct oche_nic *nic, oche_time now, oche_time due_by, uint8_t classes,
                           struct oche_packet *const out[], unsigned max);
/*
 * Returns when to call again, for a packet of a class in `classes` or for a timer; 0: at once;
 * OCHE_NEVER: the NIC is idle. The time is never too late, but may be too early if a queue pair of
 * another class is next.
 */
oche_time oche_nic_next(struct oche_nic *nic, uint8_t classes);
/* As oche_nic_next, but for timers only. A driver waits until this time while its port is busy. */
oche_time oche_nic_next_timer(const struct oche_nic *nic);
/* Runs the timers that are due at `now`. */
void oche_nic_expire(struct oche_nic *nic, oche_time now);
/* Returns how many bytes wait for the port although their pacing time has come. */
uint64_t oche_nic_backlog_bytes(const struct oche_nic *nic);

/*
 * Only affects speed: fetches into the cache what the next call will touch. There are
 * OCHE_NIC_FETCH_STEPS steps, to be called some time apart, because each needs data that the step
 * before has fetched. `packet` is about to arrive; NULL: the port is about to transmit.
 */
#define OCHE_NIC_FETCH_STEPS 3
void oche_nic_fetch(const struct oche_nic *nic, const struct oche_packet *packet, unsigned step);

const struct oche_nic_stats *oche_nic_stats(const struct oche_nic *nic);
/*
 * Returns the congestion-control scheme's own counters, and sets `state` to the state that holds
 * them, for oche_counters_add. NULL: the scheme has no counters.
 */
const struct oche_counters *oche_nic_counters(const struct oche_nic *nic, const void **state);
uint64_t oche_nic_rejected(const struct oche_nic *nic, enum oche_reject cause);
/* Returns how many of the retransmitted packets had this cause. */
uint64_t oche_nic_resent(const struct oche_nic *nic, enum oche_resent cause);
/* As the hook `counts` of the scheme (core/cc/cc.h). Returns false if the scheme has none. */
bool oche_nic_counts(const struct oche_nic *nic, struct oche_cc_senders *senders);
/* As the hook `marks` of the scheme (core/cc/cc_nic.h). */
enum oche_cc_marks oche_nic_marks(const struct oche_nic *nic);

/*
 * The tables of regions and windows are in the NIC's own memory at first. They can be moved to
 * memory of the driver's, of oche_regions_bytes(count) bytes, aligned to OCHE_CACHE_LINE, with room
 * for more: `count` of them, at least oche_nic_max_regions. The former memory is then no longer
 * used. That takes time in proportion to `count`, so a driver doubles it.
 */
size_t oche_regions_bytes(uint32_t count);
void oche_nic_move_regions(struct oche_nic *nic, void *memory, uint32_t count);
uint32_t oche_nic_max_regions(const struct oche_nic *nic);
uint32_t oche_nic_regions_left(const struct oche_nic *nic);

/*
 * Adds a memory region. Returns false if no room is left, or if its key is 0, is in use, or may
 * become the key of a window.
 */
bool oche_nic_add_region(struct oche_nic *nic, const struct oche_region *region);
/*
 * Replaces the region with the key region->key by `region`, in one step: every packet sees either
 * the old or the new region. Returns false, and changes nothing, if no region has this key or a
 * window is bound to it.
 */
bool oche_nic_change_region(struct oche_nic *nic, const struct oche_region *region);
/* Removes a region. Returns false if no region has this key or a window is bound to it. */
bool oche_nic_remove_region(struct oche_nic *nic, uint32_t key);

/*
 * Memory windows. Each counts as one of max_regions. A window of type 1 is open to all queue pairs
 * of its protection domain and may be bound again at any time. One of type 2 is open to the queue
 * pair that has bound it, and must be invalidated (by LOCAL_INV, by the peer's SEND_INV, or by the
 * end of that queue pair) before it is bound again. Windows are bound by work requests of a queue
 * pair with `windows` in its configuration. A bind or LOCAL_INV that is not allowed fails with
 * OCHE_STATUS_WINDOW, a SEND_INV at the peer with a NAK (remote access error).
 */
enum oche_window_type { OCHE_WINDOW_TYPE_1, OCHE_WINDOW_TYPE_2 };

struct oche_window_config {
    uint32_t key; /* the first key; its upper 24 bits must be unique, and never change */
    uint32_t pd;
    uint8_t type; /* enum oche_window_type */
    void *user;   /* the driver's value, which oche_window_user returns */
};
size_t oche_window_bytes(void);
/*
 * Makes a window that is not bound. Returns NULL if no room is left, or if the upper 24 bits of the
 * key are 0 or those of another key.
 */
struct oche_window *oche_window_create(struct oche_nic *nic, void *memory,
                                       const struct oche_window_config *config);
/*
 * Removes the window and gives its memory back to the caller. Returns false, and does nothing, if a
 * bind of the window has not completed.
 */
bool oche_window_destroy(struct oche_window *window);
/* the key set by the last completed bind */
uint32_t oche_window_key(const struct oche_window *window);
void *oche_window_user(const struct oche_window *window);

/*
 * Completion queues: rings of `entries` (a power of two). A queue that has overflowed takes no
 * further completions. A queue pair that loses a completion fails when the NIC's timers next run;
 * they are due at once.
 */
size_t oche_cq_bytes(uint32_t entries);
struct oche_cq *oche_cq_create(void *memory, uint32_t entries);
/*
 * Moves the ring to `memory`, of oche_cq_entries_bytes(entries) bytes; the old memory is then no
 * longer used. Returns false if the queue holds more than `entries` completions. Nobody may poll
 * the queue or call the NIC meanwhile.
 */
size_t oche_cq_entries_bytes(uint32_t entries);
bool oche_cq_resize(struct oche_cq *cq, void *memory, uint32_t entries);
unsigned oche_cq_poll(struct oche_cq *cq, struct oche_completion *out, unsigned max);
/*
 * Returns the completion that the next poll gives first, which stays in the queue; NULL: there is
 * none. Sets *count to how many there are. For the thread that polls.
 */
const struct oche_completion *oche_cq_peek(const struct oche_cq *cq, uint32_t *count);
/*
 * Removes the completions of one queue pair; the others keep their order. Nobody may poll the queue
 * or call the NIC meanwhile.
 */
void oche_cq_forget(struct oche_cq *cq, uint32_t qpn);
/*
 * Makes the next completion call completion_event; `solicited_only`: the next solicited or failed
 * one.
 */
void oche_cq_arm(struct oche_cq *cq, bool solicited_only);
bool oche_cq_overflowed(const struct oche_cq *cq);

/*
 * Shared receive queues (SRQ): several queue pairs, of any transport, take their receives from one
 * queue. The completion of a receive goes to the completion queue of the queue pair that took it.
 * An error of a queue pair leaves the receives in the SRQ untouched; OCHE_QP_EVENT_LAST_RECEIVE
 * tells that the receive which the queue pair had taken has completed. Receives belong to the SRQ's
 * protection domain. A queue pair whose SRQ is empty behaves as if it had no receive posted.
 */
struct oche_srq_config {
    uint32_t depth;   /* most receives posted, a power of two */
    uint32_t max_sge; /* 1 … OCHE_MAX_SGE */
    uint32_t pd;
    void *user; /* the driver's value, which oche_srq_user returns */
};
size_t oche_srq_bytes(const struct oche_srq_config *config);
/* Makes the queue in `memory`. Returns NULL for a configuration that verbs would refuse. */
struct oche_srq *oche_srq_create(struct oche_nic *nic, void *memory,
                                 const struct oche_srq_config *config);
/*
 * Removes the queue and gives its memory back to the caller. Returns false, and does nothing, if a
 * queue pair uses the queue.
 */
bool oche_srq_destroy(struct oche_srq *srq);
/*
 * Moves the ring to `memory`, of oche_srq_entries_bytes() bytes. Nobody may post meanwhile. Returns
 * false if more receives than `depth` are posted, or if `depth` is not allowed.
 */
size_t oche_srq_entries_bytes(uint32_t depth, uint32_t max_sge);
bool oche_srq_resize(struct oche_srq *srq, void *memory, uint32_t depth);
/* As oche_qp_post_recv: one thread at a time may post, and it needs no lock. */
int oche_srq_post_recv(struct oche_srq *srq, const struct oche_recv_work *work);
/* Asks for one call of srq_limit when fewer receives than `limit` are posted. 0: no call. */
void oche_srq_set_limit(struct oche_srq *srq, uint32_t limit);
uint32_t oche_srq_limit(const struct oche_srq *srq); /* 0: not set, or already reported */
/* receives that are posted and not taken yet */
uint32_t oche_srq_posted(const struct oche_srq *srq);
void *oche_srq_user(const struct oche_srq *srq);

/*
 * Queue pairs. They are created in RESET. The functions return NULL or false if verbs would refuse
 * the call.
 */
size_t oche_qp_bytes(const struct oche_nic *nic, const struct oche_qp_config *config);
struct oche_qp *oche_qp_create(struct oche_nic *nic, void *memory,
                               const struct oche_qp_config *config);
/* Forgets the queue pair at once, without completions. The memory is the caller's again. */
void oche_qp_destroy(struct oche_qp *qp);
struct oche_qp *oche_nic_find_qp(struct oche_nic *nic, uint32_t qpn);
/* True if the queue pair takes packets from the packet's source. */
bool oche_qp_knows(const struct oche_qp *qp, const struct oche_packet *packet);
/* How the PSN of an arriving request or response fits a connection (RC, UC). */
enum oche_fit {
    OCHE_FIT_EXPECTED, /* the next request, or a response to something that is outstanding */
    OCHE_FIT_REPEATED, /* a request before the expected one */
    OCHE_FIT_OTHER,    /* neither, or not for this queue pair as it is now */
};
enum oche_fit oche_qp_fit(const struct oche_qp *qp, const struct oche_packet *packet);

/* State changes. Each returns false if the transition is not allowed (rocev2.md#states). */
bool oche_qp_init(struct oche_qp *qp, oche_time now);
bool oche_qp_ready_to_receive(struct oche_qp *qp, const struct oche_qp_connection *connection,
                              oche_time now);
bool oche_qp_ready_to_send(struct oche_qp *qp, oche_time now);
/*
 * Moves to RTS, for drivers that know the facts of sending only now, as in verbs. Takes send_psn,
 * timeout, retries, window_packets and ack_every_packets from `connection`; all other fields must
 * be the same as in the call of ready_to_receive.
 */
bool oche_qp_ready_to_send_as(struct oche_qp *qp, const struct oche_qp_connection *connection,
                              oche_time now);
bool oche_qp_drain(struct oche_qp *qp, oche_time now);  /* RTS → SQD; may call qp_event */
bool oche_qp_resume(struct oche_qp *qp, oche_time now); /* SQD or SQE → RTS */
void oche_qp_fail(struct oche_qp *qp, oche_time now);   /* → ERR: flushes both queues */
void oche_qp_reset(struct oche_qp *qp);                 /* → RESET: forgets all work */
/*
 * → ERR on demand, for tests of programs: the oldest work request completes with `status`; if none
 * is outstanding, the oldest receive, or else the next work request that is posted. All others are
 * flushed. Success: all are flushed. Returns false in the states RESET and ERR.
 */
bool oche_qp_fail_as(struct oche_qp *qp, enum oche_status status, oche_time now);

/* Sets, in any state, what the peer may do from now on (enum oche_access). */
void oche_qp_set_access(struct oche_qp *qp, uint32_t access);
/* UD: sets, in any state, the Q_Key that datagrams must have from now on. */
void oche_qp_set_qkey(struct oche_qp *qp, uint32_t qkey);
/*
 * Sets how many READs and atomics the peer may have outstanding. Returns false if that is more than
 * the configuration's, or if one has arrived since RESET.
 */
bool oche_qp_set_responder_resources(struct oche_qp *qp, uint32_t resources);
/* Sets how many READs and atomics we may have outstanding: at most the configuration's. */
void oche_qp_set_initiator_depth(struct oche_qp *qp, uint32_t depth);
/*
 * Changes a connection's timeout, retry counts and min_rnr_timer, from the next timeout or NAK on.
 */
void oche_qp_set_retries(struct oche_qp *qp, const struct oche_qp_connection *connection);

/*
 * Posts work. Returns 0 or an errno: EINVAL (opcode, length, sge, transport or state), ENOMEM
 * (queue full). Completions come to the CQ. May run beside the NIC's own calls (see above).
 *
 * UD: a message is one packet; if it is longer than the MTU, it completes and is not sent (IBTA
 * C10-93.1.1). An arriving datagram is dropped if no receive is posted, or if the receive is too
 * short for GRH and payload; such a receive stays posted. Datagrams are not limited by a
 * congestion-control scheme that is not for UD.
 */
int oche_qp_post_send(struct oche_qp *qp, const struct oche_send_work *work);
/* Returns how many more work requests the send queue takes now. For the thread that posts. */
uint32_t oche_qp_send_room(const struct oche_qp *qp);
/*
 * Posts `count` work requests and returns 0, or posts none and returns the error of the first bad
 * one.
 */
int oche_qp_post_sends(struct oche_qp *qp, const struct oche_send_work *work, uint32_t count);
int oche_qp_post_recv(struct oche_qp *qp, const struct oche_recv_work *work);

/*
 * Caps the queue pair's rate, in addition to congestion control. 0, or line rate or more: no cap.
 */
void oche_qp_set_rate_limit(struct oche_qp *qp, uint64_t bps, oche_time now);

/*
 * Sets the rate at which the program produces the payload from `now` on: no posted byte leaves
 * before it has been produced. This is no rate limit: bytes that were produced earlier and have
 * waited may leave as fast as congestion control allows. 0: all posted bytes exist already.
 */
void oche_qp_set_supply(struct oche_qp *qp, uint64_t bps, oche_time now);

uint32_t oche_qp_number(const struct oche_qp *qp);
enum oche_qp_state oche_qp_state(const struct oche_qp *qp);
enum oche_transport oche_qp_transport(const struct oche_qp *qp);
void *oche_qp_user(const struct oche_qp *qp);

/* True if a send of the queue pair has started, or a receive has completed, also before a reset. */
bool oche_qp_has_worked(const struct oche_qp *qp);

/* The two kinds of payloads that are held behind a gap: `held` and `held_reads`. */
enum oche_held_kind { OCHE_HELD_REQUESTS, OCHE_HELD_READS, OCHE_HELD_KINDS };
/*
 * Returns how many bytes of memory would have been enough for every payload of this kind that has
 * arrived. 0: since the memory was given, there has been room for all of them. See wants_room.
 */
uint32_t oche_qp_room_wanted(const struct oche_qp *qp, enum oche_held_kind kind);
/*
 * Moves the payloads that are held to `memory`, which is larger, and holds payloads there from now
 * on; the former memory is then no longer used. Only for a queue pair that was given memory of this
 * kind when it was made.
 */
void oche_qp_hold_at(struct oche_qp *qp, enum oche_held_kind kind, uint8_t *memory, uint32_t bytes);
uint64_t oche_qp_rate_bps(const struct oche_qp *qp); /* the pacer's present rate */
/* Return the PSN of the next new packet, and the PSN that is expected of the peer. */
uint32_t oche_qp_send_psn(const struct oche_qp *qp);
uint32_t oche_qp_recv_psn(const struct oche_qp *qp);
/* true: nothing is posted, in flight or pending */
bool oche_qp_idle(const struct oche_qp *qp);
/* Returns why no request leaves now ("nothing", "window", "credits", ...), for diagnosis. */
const char *oche_qp_waits_for(const struct oche_qp *qp);

/* Events that a queue pair waits for, and reasons why none will come. */
enum oche_wake {
    OCHE_WAKE_NO_WORK,  /* nothing is posted, and no answer is due */
    OCHE_WAKE_DOORBELL, /* the next oche_nic_transmit looks at what was posted */
    OCHE_WAKE_PORT,     /* a packet is ready; its class may be paused */
    OCHE_WAKE_PACING,   /* the queue pair's rate */
    /* as OCHE_WAKE_PACING, for READ requests, where a window counts READ data */
    OCHE_WAKE_READ_PACING,
    OCHE_WAKE_ACK_TIMER,
    OCHE_WAKE_RNR_TIMER,
    OCHE_WAKE_ORDER_TIMER, /* struct oche_deflection's hold */
    OCHE_WAKE_FAILURE,     /* a completion was lost; the queue pair fails at once */
    OCHE_WAKE_PROGRAM,     /* SQD and drained, or READs that may not be outstanding: a new state */
    OCHE_WAKE_PEER,        /* an answer alone: no ACK timeout is set */
    OCHE_WAKE_NEVER,       /* a fault: it hangs */
    OCHE_WAKES
};
/*
 * Returns what will make the queue pair go on; for a timer or pacing `*when` is the time, else
 * OCHE_NEVER. Call it under the driver's lock and outside of hooks. A thread that posts at that
 * moment may not have rung yet, which looks like OCHE_WAKE_NEVER.
 */
enum oche_wake oche_qp_wake(const struct oche_qp *qp, oche_time *when);
const char *oche_wake_name(enum oche_wake wake);
/* Returns a queue pair with work that nothing will wake, or NULL. For tests: it looks at all. */
const struct oche_qp *oche_nic_hung(const struct oche_nic *nic);
/* true: nothing is in flight; in SQD, work may still wait */
bool oche_qp_drained(const struct oche_qp *qp);
uint64_t oche_qp_retransmitted_packets(const struct oche_qp *qp);
/* The current state of a queue pair, for display. */
struct oche_qp_view {
    uint32_t qpn, remote_qpn, remote_address; /* the latter two are 0 where there is no peer */
    uint8_t transport, state;                 /* enum oche_transport, enum oche_qp_state */
    uint64_t rate_bps;                        /* the pacer's; the line rate: not paced */
    uint64_t window_bytes; /* congestion control's; UINT64_MAX: there is no window */
    uint64_t flight_bytes; /* payload sent and not acknowledged */
    uint64_t retransmitted_packets, timeouts;
};
void oche_qp_look(const struct oche_qp *qp, struct oche_qp_view *view);
/*
 * Returns how many bytes of the arriving message have arrived in order; 0 between messages, and
 * always 0 where recovery may restart messages.
 */
uint32_t oche_qp_arrived_bytes(const struct oche_qp *qp);
/*
 * Returns how many bytes of our oldest READ have arrived in order; 0 if the oldest work is not a
 * READ.
 */
uint32_t oche_qp_read_bytes(const struct oche_qp *qp);
uint64_t oche_qp_timeouts(const struct oche_qp *qp);
/* Return the values that the connection was last given; OCHE_NEVER: there is no ACK timer. */
oche_time oche_qp_ack_timeout(const struct oche_qp *qp);
uint32_t oche_qp_retry_count(const struct oche_qp *qp);
/*
 * In the hook `delivered`, for the last packet of a WRITE: returns the address that the message was
 * written to, and its length in `bytes`.
 */
uint64_t oche_qp_delivered_write(const struct oche_qp *qp, uint32_t *bytes);

/*
 * A PSN, and the first and last time at which an event happened to it. Both times are 0 if the
 * event never happened.
 */
struct oche_psn_note {
    uint32_t psn;
    oche_time first, last;
};

/* The state of a reliable queue pair after a loss, for finding the cause of a timeout. */
struct oche_qp_losses {
    bool selective;                 /* true: after a NAK only the missing packets are sent */
    uint32_t una, next, high;       /* PSNs as in struct oche_recovery_tx */
    uint32_t epsn;                  /* the PSN expected from the peer */
    struct oche_psn_note nak_taken; /* the last NAK (sequence error) that was acted upon */
    struct oche_psn_note missing;   /* the PSN expected when a packet last arrived out of order */
    struct oche_psn_note restarted; /* the last gap that made a message begin again */
    struct oche_psn_note nak_sent;  /* the last NAK that left */
};
void oche_qp_losses(const struct oche_qp *qp, struct oche_qp_losses *losses);

/*
 * Returns the shortest round trip that the connection has measured; OCHE_NEVER: none, or nobody
 * asks for round trips (oche_nic_config.measures_rtt).
 */
oche_time oche_qp_least_rtt(const struct oche_qp *qp);

OCHE_C_END

#endif
