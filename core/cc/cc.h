/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The congestion-control contract: events in, decisions out. A scheme is one file in core/cc and
 * one line in the registry (registry.c). It never sees the queue pair: it gets a struct
 * oche_cc_flow, in which it reads facts and writes decisions (a rate, a window, timers); after
 * each event the NIC looks at the decisions and acts.
 *
 * One flow object belongs to each queue pair and serves both directions: a queue pair's sender
 * half (reaction point) and its receiver half (notification point). A scheme that must know more
 * than its queue pair declares state by peer or by NIC; the NIC makes it, zeroed, once each.
 *
 * Rates count bytes on the line: frame and inter-frame gap, so that the line rate means the line.
 */
#ifndef OCHE_CORE_CC_CC_H
#define OCHE_CORE_CC_CC_H

#include "core/base.h"
#include "core/counter.h"
#include "core/param.h"
#include "core/random.h"
#include "core/trace/trace.h"
#include "core/wire/packet.h"

#define OCHE_CC_TIMERS 3

struct oche_cc_flow {
    /* Decisions. */
    uint64_t rate_bps; /* 0 < rate <= line_rate_bps; equal to it: not limited */
    /*
     * Payload bytes in flight at most; UINT64_MAX: no window. One packet leaves whatever it says
     * when nothing is in flight, or nothing that asks for an ACK.
     */
    uint64_t window_bytes;
    oche_time timer[OCHE_CC_TIMERS]; /* when `timer` is to be called; OCHE_NEVER: not */
    /*
     * Set or cleared in `sent`: the next packet may follow this one at once. Pacing makes up for it
     * after the burst, so that the rate holds in the mean.
     */
    bool burst : 1;
    /* Set in `start`: first packets name the groups of their work requests. */
    bool names_groups : 1;
    uint8_t wants; /* enum oche_cc_wants; see oche_cc_want */

    /* Facts. */
    bool arriving : 1; /* a message that was told to `message_begins`, and has not ended */
    /* The peer has shown OCHE_BTH_EXTENSIONS: `ack_opcode`, `own_opcode` are used. */
    bool extended : 1;
    uint8_t tenant; /* whose queue pair it is */
    uint32_t qpn;
    void *state;        /* scheme->flow_state_bytes, zeroed before `start` */
    const void *params; /* the scheme's parameter struct */
    uint64_t line_rate_bps;
    uint64_t initial_rate_bps; /* to start at: the line rate, or less if local policy says so */
    uint16_t mtu_bytes;
    uint32_t peer_address;
    struct oche_random *random;
    struct oche_trace *trace;
    void *peer_state; /* scheme->peer_state_bytes, shared by all queue pairs to this peer */
    void *nic_state;  /* scheme->nic_state_bytes, one a NIC */
    uint64_t peer_line_rate_bps; /* of the peer's port; where that is not known, our own */
};

/*
 * What a scheme asks for a queue pair, its own or another one of the NIC. An ACK says nothing that
 * the last one did not, but is stamped anew; there is at most one of each pending.
 */
enum oche_cc_wants {
    OCHE_CC_WANTS_LOOK = 1 << 0, /* its decisions have changed: act on them */
    OCHE_CC_WANTS_OWN = 1 << 1,  /* a packet `own_opcode`, at control priority, if `extended` */
};

/* The NIC's side of a scheme that has more than queue pairs: one a NIC. */
struct oche_cc_nic {
    /* Decisions. */
    struct oche_cc_flow **wanting; /* whose `wants` is not 0; the NIC looks after each hook */
    uint32_t wanting_count;
    bool *touched;   /* by one of the functions below; the NIC looks at this alone */
    oche_time timer; /* when nic_timer is to be called; OCHE_NEVER: not; 0: at once */

    /* Facts. */
    uint32_t address;
    uint32_t shared_addresses; /* addresses below mean the same to every NIC; 0: none does */
    uint32_t max_peers;        /* with queue pairs at the same time, at most */
    uint64_t line_rate_bps;
    /*
     * Bytes on the line of all RoCEv2 packets that have arrived, with gaps. Before `arrived` is
     * called, the packet has been counted.
     */
    const uint64_t *received_line_bytes;
    const void *params;
    void *state;  /* the same as oche_cc_flow.nic_state */
    void *tables; /* scheme->nic_tables_size, aligned to a cache line */
    struct oche_trace *trace;
};

/* Asks for something for `flow`: enum oche_cc_wants. */
static inline void oche_cc_want(struct oche_cc_nic *nic, struct oche_cc_flow *flow, uint8_t wants)
{
    if (flow->wants == 0) {
        nic->wanting[nic->wanting_count++] = flow;
        *nic->touched = true;
    }
    flow->wants |= wants;
}

/* Sets the NIC's timer. */
static inline void oche_cc_nic_timer(struct oche_cc_nic *nic, oche_time when)
{
    nic->timer = when;
    *nic->touched = true;
}

/* What an acknowledgement says. */
struct oche_cc_ack {
    const struct oche_packet *packet; /* the ACK, NAK or response that carried it */
    uint64_t acked_bytes;             /* payload newly acknowledged, may be 0 */
    uint64_t flight_bytes;            /* payload still unacknowledged */
    oche_time rtt;                    /* of the newest packet it acknowledges, not of a
                                         retransmitted one; OCHE_NEVER: not known */
    bool ecn_echo;                    /* the receiver's `stamp_ack` set OCHE_BTH_BECN in it */
};

enum oche_cc_loss { OCHE_CC_LOSS_NAK, OCHE_CC_LOSS_TIMEOUT };

/* What the receiver half wants done; zeroed before the call. */
struct oche_cc_reply {
    bool send_cnp; /* one CNP to this packet's sender (timer: the peer), at control priority */
    bool ack_now;  /* an ACK as soon as possible, whatever the ACK frequency */
};

/* What a scheme needs from its surroundings; checked when a world or a device is built. */
enum oche_cc_needs {
    OCHE_CC_NEEDS_NOTHING = 0,
    OCHE_CC_NEEDS_ECN = 1 << 0,          /* switches that mark CE */
    OCHE_CC_NEEDS_ACK_A_PACKET = 1 << 1, /* every data packet asks for an ACK */
    OCHE_CC_NEEDS_RTT = 1 << 2,          /* oche_cc_ack.rtt */
};

enum oche_cc_transports { OCHE_CC_RC = 1 << 0, OCHE_CC_UC = 1 << 1, OCHE_CC_UD = 1 << 2 };

struct oche_cc_scheme {
    const char *name;
    const char *paper; /* what it implements, with section */
    struct oche_param_table table;
    size_t flow_state_bytes, peer_state_bytes, nic_state_bytes;
    /* Bytes into a flow's state: the line that most packets touch that are sent, that arrive. */
    uint16_t sender_line, receiver_line;
    uint32_t needs;      /* enum oche_cc_needs */
    uint32_t transports; /* enum oche_cc_transports */
    bool runs_on_wire;   /* false when it needs switches that no real network has */
    /*
     * Opcodes that go to peers that have shown OCHE_BTH_EXTENSIONS, or 0. ack_opcode, in place of
     * an ACK or a NAK (but not of a SACK): an AETH and what the scheme adds. own_opcode: a packet
     * of the scheme's own, of service OCHE_SERVICE_SCHEME. stamp_ack fills in what is not the AETH.
     */
    uint8_t ack_opcode, own_opcode;
    /*
     * Packets of SENDs, of WRITEs and of READ data carry a trailer (OCHE_BTH_TRAILER), which `sent`
     * fills in and switches rewrite. Only for schemes that do not run on the wire, whose peers all
     * know it.
     */
    bool trailer;
    /* What every switch must have: the name of a mechanism in fabric/registry.c, or NULL. */
    const char *switch_mechanism;

    /*
     * Optional: bytes that a NIC needs besides its state, as many as the configuration says, for
     * what few packets look at: they lie apart from what each packet touches. Not zeroed.
     */
    size_t (*nic_tables_size)(const void *params, uint32_t max_peers);
    /* Optional: the same of state by peer, in place of peer_state_bytes. */
    size_t (*peer_state_size)(const void *params);
    /* Optional: the NIC was made; its state is zeroed. Required for oche_cc_want and the timer. */
    void (*nic_start)(struct oche_cc_nic *nic);
    /* Optional: oche_cc_nic.timer is due; it has been set to OCHE_NEVER. */
    void (*nic_timer)(struct oche_cc_nic *nic, oche_time now);
    /*
     * Optional: what the scheme counts itself, in its NIC's state. What every NIC counts is in
     * struct oche_nic_stats.
     */
    const struct oche_counters *counters;

    /*
     * Required: sets the first decisions. Called when the queue pair becomes ready to receive
     * (RTR), before any other hook: the receiver half works from then on. All timers are
     * OCHE_NEVER, the rate is the initial rate and there is no window.
     */
    void (*start)(struct oche_cc_flow *flow, oche_time now);
    /*
     * Optional: the queue pair has failed, is reset or goes away, and sends nothing more; messages
     * that have not ended are over. For what the scheme counts by peer or by NIC. What it wants for
     * others is done at the next event; with oche_cc_nic_timer(nic, 0) there is one at once.
     */
    void (*stop)(struct oche_cc_flow *flow);

    /* All others are optional: NULL costs nothing. Sender half: */
    /*
     * A packet of a request or of READ data is about to leave; may stamp fields, also ask for an
     * ACK (OCHE_BTH_ACKREQ). line_bytes: with the gap.
     */
    void (*sent)(struct oche_cc_flow *flow, oche_time now, struct oche_packet *packet,
                 uint64_t line_bytes);
    void (*acked)(struct oche_cc_flow *flow, oche_time now, const struct oche_cc_ack *ack);
    void (*cnp)(struct oche_cc_flow *flow, oche_time now, const struct oche_packet *cnp);
    void (*loss)(struct oche_cc_flow *flow, oche_time now, enum oche_cc_loss kind);
    /*
     * Timer `index` is due. It has been set to OCHE_NEVER; the scheme may set it again. Both halves
     * share the timers: a receiver half that waits may ask for its reply here.
     */
    void (*timer)(struct oche_cc_flow *flow, oche_time now, unsigned index,
                  struct oche_cc_reply *reply);
    /* Nothing is left to send or to be acknowledged / work again after that. */
    void (*idle)(struct oche_cc_flow *flow, oche_time now);
    void (*busy)(struct oche_cc_flow *flow, oche_time now);

    /* Receiver half: */
    /* A data packet arrived (valid, any PSN), before it is delivered. */
    void (*arrived)(struct oche_cc_flow *flow, oche_time now, const struct oche_packet *packet,
                    struct oche_cc_reply *reply);
    /* An ACK, a NAK, a response or a CNP is about to leave; may stamp fields. */
    void (*stamp_ack)(struct oche_cc_flow *flow, oche_time now, struct oche_packet *packet);

    /*
     * A message begins to arrive, has arrived: exactly once each, whatever is lost or comes twice.
     * SEND and WRITE: its first and last packet are accepted in order (a message that recovery
     * begins again has begun already; UC: also when the rest of it will not come). READ, where the
     * requester receives: it is issued; its last response was taken. SEND and WRITE come one at a
     * time; READs, several at once, beside them.
     */
    void (*message_begins)(struct oche_cc_flow *flow, oche_time now);
    void (*message_ends)(struct oche_cc_flow *flow, oche_time now);
    /*
     * The message's first packet names the group that it is part of (oche_group_get; whatever the
     * peer likes). `begins`: after message_begins. Else the packet is kept behind a gap, and its
     * message will begin; that is then said with a list of 0 senders. Sent where `start` has set
     * names_groups.
     */
    void (*group)(struct oche_cc_flow *flow, oche_time now, const struct oche_packet *packet,
                  bool begins);
    /* A packet `own_opcode` of the peer's has arrived. Sender half, mostly. */
    void (*own)(struct oche_cc_flow *flow, oche_time now, const struct oche_packet *packet);

    /* Checks parameters against each other: NULL, or what is wrong and what would be right. */
    const char *(*check)(const void *params);
    /*
     * What a user should know of parameters that are valid, but do not fit a network in which some
     * packet and its ACK take `empty_rtt` although nothing waits (without the packet's own time on
     * the sender's line). NULL, or what follows on "a round trip takes up to 61us: ".
     */
    const char *(*remark)(const void *params, oche_time empty_rtt);
};

/* Every scheme; `oche_cc_scheme_count` of them. */
extern const struct oche_cc_scheme *const oche_cc_schemes[];
extern const size_t oche_cc_scheme_count;

/* The scheme called `name`, or NULL. */
const struct oche_cc_scheme *oche_cc_find(const char *name);

#endif
