/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The congestion-control contract: events in, decisions out. A scheme is one file in core/cc and
 * one line in core/cc/meson.build. It never sees the queue pair. It gets a struct oche_cc_flow,
 * reads facts there, and writes its decisions there (a rate, a window, timers); after each event
 * the NIC acts on the decisions.
 *
 * Each queue pair has one flow object, which serves both directions: the queue pair's sender half
 * (reaction point) and its receiver half (notification point). A scheme may also declare state per
 * NIC; the NIC allocates that state, zeroed, once for itself.
 *
 * This header is all that a simple scheme needs (none.c, dcqcn.c). What few schemes need is in
 * tables of their own, one for each purpose; the list stands before struct oche_cc_scheme.
 *
 * Rates count bytes on the line, frames with their gaps, so the highest rate is exactly the rate of
 * the line.
 */
#ifndef OCHE_CORE_CC_CC_H
#define OCHE_CORE_CC_CC_H

#include "core/base.h"
#include "core/counter.h"
#include "core/param.h"
#include "core/random.h"
#include "core/trace/trace.h"
#include "core/wire/packet.h"

OCHE_C_BEGIN

#define OCHE_CC_TIMERS 3

struct oche_cc_flow {
    /* Decisions. */
    uint64_t rate_bps; /* above 0, at most line_rate_bps; line_rate_bps: unlimited */
    /*
     * Most payload bytes in flight; UINT64_MAX: no window. Whatever the window, one packet may
     * leave if no packet in flight asks for an ACK.
     */
    uint64_t window_bytes;
    oche_time timer[OCHE_CC_TIMERS]; /* when to call the scheme's `timer`; OCHE_NEVER: no call */
    /*
     * Set or cleared in `sent`: the next packet may follow this one without a gap. After the burst
     * pacing waits for as long as the gaps would have taken, so that the mean rate holds.
     */
    bool burst : 1;
    /* Set in `start`: the first packet of a message names the group of its work request. */
    bool names_groups : 1;
    uint8_t wants; /* enum oche_cc_wants; see oche_cc_want in core/cc/cc_nic.h */

    /* Facts. */
    bool arriving : 1; /* oche_cc_messages.begins was called for a message that has not ended */
    /*
     * True: the peer has set OCHE_BTH_EXTENSIONS in a packet, so the opcodes of struct
     * oche_cc_headers are used.
     */
    bool extended : 1;
    /*
     * Kept only for schemes with the hook oche_cc_messages.more: the queue pair has more to send,
     * new or again, when the rate or a window lets it. False if it has sent everything and only
     * waits for ACKs, or if what is left waits for something else: the ACK of the message before,
     * the peer's receives, a READ.
     */
    bool more : 1;
    bool mark_waits : 1; /* only for core/cc/ecn_echo.h: a mark that no ACK has echoed yet */
    uint8_t tenant;      /* the tenant that owns the queue pair */
    uint32_t qpn;
    void *state;        /* scheme->flow_state_bytes, zeroed before `start` */
    const void *params; /* the scheme's parameter struct */
    uint64_t line_rate_bps;
    /* the rate at which to start: the line rate, or less if local policy says so */
    uint64_t initial_rate_bps;
    uint16_t mtu_bytes;
    /*
     * A decision: pacing makes up for so many packets that left late, as the process had no
     * processor. 0: for what the NIC makes up for.
     */
    uint16_t catch_up_packets;
    /* the peer's address; where devices share one, also which of them it is (peer_qpn_bits) */
    uint32_t peer_address;
    struct oche_random *random;
    struct oche_trace *trace;
    void *peer_state; /* oche_cc_nic_hooks.peer_bytes, shared by all queue pairs to this peer */
    void *nic_state;  /* scheme->nic_state_bytes, one per NIC */
    uint64_t peer_line_rate_bps; /* line rate of the peer's port; if unknown, our own */
};

/* The facts that an acknowledgement brings. */
struct oche_cc_ack {
    /* the ACK, NAK or response that brought the acknowledgement */
    const struct oche_packet *packet;
    uint64_t acked_bytes;  /* payload that it newly acknowledges; may be 0 */
    uint64_t flight_bytes; /* payload still unacknowledged */
    uint64_t slack_bytes;  /* bytes of the window that stay unused where READs leave in pieces */
    oche_time rtt; /* round trip of the newest packet that the ACK covers, if that packet was not
                      retransmitted; OCHE_NEVER: unknown */
    /* the receiver's `stamp_ack` set OCHE_BTH_BECN in the packet; READ data: it is marked itself */
    bool ecn_echo;
};

enum oche_cc_loss { OCHE_CC_LOSS_NAK, OCHE_CC_LOSS_TIMEOUT };

/* The receiver half's requests to the NIC; zeroed before the call. */
struct oche_cc_reply {
    bool send_cnp; /* one CNP to this packet's sender (in `timer`: to the peer), at control priority
                    */
    bool ack_now;  /* an ACK as soon as possible, regardless of the ACK frequency */
};

/* A scheme's requirements of hosts and switches, checked when a world or a device is built. */
enum oche_cc_needs {
    OCHE_CC_NEEDS_NOTHING = 0,
    OCHE_CC_NEEDS_ECN = 1 << 0,          /* switches that mark CE */
    OCHE_CC_NEEDS_ACK_A_PACKET = 1 << 1, /* every data packet asks for an ACK */
    OCHE_CC_NEEDS_RTT = 1 << 2,          /* oche_cc_ack.rtt */
};

enum oche_cc_transports { OCHE_CC_RC = 1 << 0, OCHE_CC_UC = 1 << 1, OCHE_CC_UD = 1 << 2 };

/*
 * Hooks that only some schemes need. Each table has a header of its own. NULL: the scheme has no
 * such hooks.
 */
struct oche_cc_nic_hooks; /* state of peers and a timer of the NIC: core/cc/cc_nic.h */
struct oche_cc_messages;  /* which messages arrive, and what is left to send: cc_messages.h */
struct oche_cc_counting;  /* how many senders there are: cc_counting.h */
struct oche_cc_headers;   /* headers and packets of the scheme's own: cc_headers.h */
struct oche_cc_advice;    /* which parameters suit a network: cc_advice.h */

struct oche_cc_scheme {
    const char *name;
    const char *paper; /* the paper that the scheme implements, with the section */
    struct oche_param_table table;
    /*
     * Optional: checks parameters against each other. Returns NULL if they are valid, else a text:
     * what is wrong and what would be right.
     */
    const char *(*check)(const void *params);
    /*
     * Optional: the scheme's own counters, in its NIC's state. Counters that every NIC has are in
     * struct oche_nic_stats.
     */
    const struct oche_counters *counters;
    size_t flow_state_bytes, nic_state_bytes;

    uint32_t needs; /* enum oche_cc_needs */
    /* enum oche_cc_transports; queue pairs of the others are not controlled, and not started */
    uint32_t transports;
    bool one_path; /* all packets of a queue pair must take one path, or its decisions are wrong */
    bool runs_on_wire; /* false if it needs switches that no real network has */
    /*
     * True: READ data counts for the window of the queue pair that asks for it, from when it is
     * asked for: a READ leaves in pieces (core/qp/send/pieces.h). `sent` sees the requests, with
     * what they ask for; `acked` and `loss` come for their data, too.
     */
    bool windows_reads;
    /*
     * True: acked_bytes and rtt are of what arrived, in any order: a SACK brings those of packets
     * behind a gap; and flight_bytes is without these. Otherwise all three are of what is
     * acknowledged in order.
     */
    bool counts_sacks;
    /* A mechanism that every switch must have: its name in fabric/meson.build, or NULL. */
    const char *switch_mechanism;

    /*
     * Required: makes the first decisions. Called when the queue pair becomes ready to receive
     * (RTR), before any other hook; the receiver half works from then on. All timers are
     * OCHE_NEVER, the rate is the initial rate and there is no window.
     */
    void (*start)(struct oche_cc_flow *flow, oche_time now);
    /* All other hooks are optional; NULL costs nothing. */
    /*
     * For schemes that count per peer or per NIC: the queue pair has failed, is reset or is
     * destroyed. It sends nothing more, and its unfinished messages are over. Requests that the
     * hook makes for other queue pairs are carried out at the next event; oche_cc_nic_timer(nic, 0)
     * causes an event at once.
     */
    void (*stop)(struct oche_cc_flow *flow);

    /* The hooks of the sender half: */
    /*
     * A packet of a request or of READ data is about to leave. May stamp fields, and ask for an ACK
     * (OCHE_BTH_ACKREQ). line_bytes includes the gap.
     */
    void (*sent)(struct oche_cc_flow *flow, oche_time now, struct oche_packet *packet,
                 uint64_t line_bytes);
    void (*acked)(struct oche_cc_flow *flow, oche_time now, const struct oche_cc_ack *ack);
    void (*cnp)(struct oche_cc_flow *flow, oche_time now, const struct oche_packet *cnp);
    void (*loss)(struct oche_cc_flow *flow, oche_time now, enum oche_cc_loss kind);
    /*
     * A switch has trimmed a packet, which is about to leave again; `flight_bytes`: payload that is
     * in flight without it. NULL: `loss` is called with OCHE_CC_LOSS_NAK for the first in a round
     * trip.
     */
    void (*trimmed)(struct oche_cc_flow *flow, oche_time now, enum oche_trimmed where,
                    uint64_t flight_bytes);
    /*
     * The last `loss` of this kind, or several timeouts in a row, turned out to be false: the
     * packets were only late. A `loss` of the other kind is not affected. If an ACK shows this,
     * `acked` follows for the same ACK.
     */
    void (*undo)(struct oche_cc_flow *flow, oche_time now, enum oche_cc_loss kind);
    /*
     * Timer `index` has expired. It has been set to OCHE_NEVER; the scheme may set it again. Both
     * halves share the timers: a receiver half that waits may ask for its reply here.
     */
    void (*timer)(struct oche_cc_flow *flow, oche_time now, unsigned index,
                  struct oche_cc_reply *reply);
    /*
     * idle: nothing is left to send or to be acknowledged; busy: after `idle` there is work again.
     */
    void (*idle)(struct oche_cc_flow *flow, oche_time now);
    void (*busy)(struct oche_cc_flow *flow, oche_time now);

    /* The hooks of the receiver half (to echo marks in ACKs: core/cc/ecn_echo.h): */
    /* A data packet has arrived (valid, with any PSN) and is not delivered yet. */
    void (*arrived)(struct oche_cc_flow *flow, oche_time now, const struct oche_packet *packet,
                    struct oche_cc_reply *reply);
    /* An ACK, a NAK, a response or a CNP is about to leave. The hook may set fields of it. */
    void (*stamp_ack)(struct oche_cc_flow *flow, oche_time now, struct oche_packet *packet);

    /* For some schemes; each is NULL where it is not used. */
    const struct oche_cc_nic_hooks *nic;
    const struct oche_cc_messages *messages;
    const struct oche_cc_counting *counting;
    const struct oche_cc_headers *headers;
    const struct oche_cc_advice *advice;
};

/* All schemes; there are `oche_cc_scheme_count`. */
extern const struct oche_cc_scheme *const oche_cc_schemes[];
extern const size_t oche_cc_scheme_count;

/* Returns the scheme called `name`, or NULL. */
const struct oche_cc_scheme *oche_cc_find(const char *name);

OCHE_C_END

#endif
