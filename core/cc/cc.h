/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The congestion-control contract: events in, decisions out. A scheme is one file in core/cc and
 * one line in the registry (registry.c). It never sees the queue pair. It gets a struct
 * oche_cc_flow, reads facts there, and writes its decisions there (a rate, a window, timers); after
 * each event the NIC acts on the decisions.
 *
 * Each queue pair has one flow object, which serves both directions: the queue pair's sender half
 * (reaction point) and its receiver half (notification point). A scheme may also declare state per
 * peer or per NIC; the NIC allocates that state, zeroed, once for each peer and once for itself.
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
    uint8_t wants; /* enum oche_cc_wants; see oche_cc_want */

    /* Facts. */
    bool arriving : 1; /* `message_begins` was called for a message that has not ended yet */
    /*
     * True: the peer has set OCHE_BTH_EXTENSIONS in a packet, so `ack_opcode` and `own_opcode` are
     * used.
     */
    bool extended : 1;
    /*
     * Kept only for schemes with the hook `more`: the queue pair has more to send, new or again,
     * when the rate or a window lets it. False if it has sent everything and only waits for ACKs,
     * or if what is left waits for something else: the ACK of the message before, the peer's
     * receives, a READ.
     */
    bool more : 1;
    uint8_t tenant; /* the tenant that owns the queue pair */
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
    void *peer_state; /* scheme->peer_state_bytes, shared by all queue pairs to this peer */
    void *nic_state;  /* scheme->nic_state_bytes, one per NIC */
    uint64_t peer_line_rate_bps; /* line rate of the peer's port; if unknown, our own */
};

/*
 * Things that a scheme can ask for, on behalf of its own queue pair or another one of the NIC. An
 * extra ACK acknowledges nothing new but is stamped again. At most one request of each kind is
 * pending for a queue pair.
 */
enum oche_cc_wants {
    /* the flow's decisions have changed; the NIC must carry them out */
    OCHE_CC_WANTS_LOOK = 1 << 0,
    /* to send a packet `own_opcode` at control priority, if `extended` */
    OCHE_CC_WANTS_OWN = 1 << 1,
};

/* The NIC's side of a scheme that has state beyond that of queue pairs. There is one per NIC. */
struct oche_cc_nic {
    /* Decisions. */
    struct oche_cc_flow **wanting; /* flows whose `wants` is not 0, to be examined after the hook */
    uint32_t wanting_count;
    /*
     * true: `wanting` or `timer` has changed; set by oche_cc_want and oche_cc_nic_timer. The NIC
     * looks at those two only if it is set.
     */
    bool *touched;
    oche_time timer; /* when to call nic_timer; 0: at once; OCHE_NEVER: no call */

    /* Facts. */
    uint32_t address;
    uint32_t shared_addresses; /* addresses below this one mean the same host at all NICs */
    uint32_t max_peers;        /* most peers that have queue pairs at one time */
    /*
     * Returns the state of the peer at `address` (oche_cc_flow.peer_state), or NULL if no queue
     * pair goes there.
     */
    void *(*peer_state)(const struct oche_cc_nic *nic, uint32_t address);
    uint64_t line_rate_bps;
    /*
     * Bytes on the line, with gaps, of all RoCEv2 packets that have arrived. A packet is counted
     * before `arrived` is called for it.
     */
    const uint64_t *received_line_bytes;
    const void *params;
    void *state;  /* the same as oche_cc_flow.nic_state */
    void *tables; /* scheme->nic_tables_size, aligned to a cache line */
    struct oche_trace *trace;
};

/* Asks the NIC to do something for `flow`; `wants`: bits of enum oche_cc_wants. */
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

/* The facts that an acknowledgement brings. */
struct oche_cc_ack {
    /* the ACK, NAK or response that brought the acknowledgement */
    const struct oche_packet *packet;
    uint64_t acked_bytes;  /* payload that it newly acknowledges; may be 0 */
    uint64_t flight_bytes; /* payload still unacknowledged */
    uint64_t slack_bytes;  /* of the window that stay unused where READs leave in pieces */
    oche_time rtt; /* round trip of the newest packet that the ACK covers, if that packet was not
                      retransmitted; OCHE_NEVER: unknown */
    bool ecn_echo; /* the receiver's `stamp_ack` set OCHE_BTH_BECN in the packet */
};

enum oche_cc_loss { OCHE_CC_LOSS_NAK, OCHE_CC_LOSS_TIMEOUT };

/* The receiver half's requests to the NIC; zeroed before the call. */
struct oche_cc_reply {
    bool send_cnp; /* one CNP to this packet's sender (in `timer`: to the peer), at control priority
                    */
    bool ack_now;  /* an ACK as soon as possible, regardless of the ACK frequency */
};

/* How many senders this NIC counts, for display. */
struct oche_cc_senders {
    uint32_t counted; /* senders that are active now */
    uint32_t told;    /* the n that they are told, whose n-th part of the line each may have */
};

/* A scheme's requirements of hosts and switches, checked when a world or a device is built. */
enum oche_cc_needs {
    OCHE_CC_NEEDS_NOTHING = 0,
    OCHE_CC_NEEDS_ECN = 1 << 0,          /* switches that mark CE */
    OCHE_CC_NEEDS_ACK_A_PACKET = 1 << 1, /* every data packet asks for an ACK */
    OCHE_CC_NEEDS_RTT = 1 << 2,          /* oche_cc_ack.rtt */
};

/* The network that parameters are fitted to: the input of oche_cc_scheme.fit. */
struct oche_cc_network {
    uint64_t line_rate_bps;
    /* A device: the least that was measured to the farthest peer; 0: none yet. The simulator: the
     * longest where nothing waits. */
    oche_time round_trip;
};

/*
 * Counts of the other NICs at the same port, for schemes that count senders. A simulated NIC has
 * its port to itself. On the wire the processes of one address tell each other.
 */
struct oche_cc_elsewhere {
    uint32_t senders;             /* active there, and not here */
    uint64_t received_line_bytes; /* as oche_cc_nic.received_line_bytes */
};

enum oche_cc_transports { OCHE_CC_RC = 1 << 0, OCHE_CC_UC = 1 << 1, OCHE_CC_UD = 1 << 2 };

struct oche_cc_scheme {
    const char *name;
    const char *paper; /* the paper that the scheme implements, with the section */
    struct oche_param_table table;
    size_t flow_state_bytes, peer_state_bytes, nic_state_bytes;
    /*
     * True: READ data counts for the window of the queue pair that asks for it, from when it is
     * asked for: a READ leaves in pieces (core/qp/pieces.h). `sent` sees the requests, with what
     * they ask for; `acked` and `loss` come for their data, too.
     */
    bool windows_reads;
    /*
     * Two cache lines of a flow's state, as offsets: the line used for most packets that are sent,
     * and the line used for most packets that arrive.
     */
    uint16_t sender_line, receiver_line;
    uint32_t needs; /* enum oche_cc_needs */
    /* enum oche_cc_transports; queue pairs of the others are not controlled, and not started */
    uint32_t transports;
    bool runs_on_wire; /* false if it needs switches that no real network has */
    /*
     * Opcodes for peers that have shown OCHE_BTH_EXTENSIONS; 0: none. ack_opcode replaces the
     * opcode of ACKs and NAKs (but not of SACKs): the packet has an AETH and a header of the
     * scheme. own_opcode: a packet of the scheme's own, of service OCHE_SERVICE_SCHEME. stamp_ack
     * fills in the scheme's headers.
     */
    uint8_t ack_opcode, own_opcode;
    /*
     * Packets of SENDs, WRITEs and READ data carry a trailer (OCHE_BTH_TRAILER), which `sent` fills
     * in and switches rewrite. Only for schemes that do not run on the wire: in the simulator all
     * peers know the trailer.
     */
    bool trailer;
    /* A mechanism that every switch must have: its name in fabric/registry.c, or NULL. */
    const char *switch_mechanism;

    /*
     * Optional: returns the bytes that a NIC of this configuration needs, in addition to its state,
     * for tables that few packets use. The tables are kept apart from the memory that every packet
     * uses, and are not zeroed.
     */
    size_t (*nic_tables_size)(const void *params, uint32_t max_peers);
    /*
     * Optional: returns the size of the state per peer, if it depends on the parameters; replaces
     * peer_state_bytes.
     */
    size_t (*peer_state_size)(const void *params);
    /*
     * Optional: the NIC was created; its state is zeroed. Required for oche_cc_want and the NIC's
     * timer.
     */
    void (*nic_start)(struct oche_cc_nic *nic);
    /* Optional: oche_cc_nic.timer is due. Before this call it has been set to OCHE_NEVER. */
    void (*nic_timer)(struct oche_cc_nic *nic, oche_time now);
    /*
     * Optional, for schemes that count senders: writes the addresses of up to `most` of those that
     * are active, and returns how many it has written. `*version` changes when the senders do.
     */
    uint32_t (*senders)(const void *nic_state, uint32_t *addresses, uint32_t most,
                        uint32_t *version);
    /* Required with `senders`: other NICs of the port have this now. */
    void (*elsewhere)(struct oche_cc_nic *nic, oche_time now,
                      const struct oche_cc_elsewhere *elsewhere);
    /*
     * Optional: the scheme's own counters, in its NIC's state. Counters that every NIC has are in
     * struct oche_nic_stats.
     */
    const struct oche_counters *counters;
    /* Optional: what a NIC with this state (oche_cc_nic.state) counts now. */
    struct oche_cc_senders (*counts)(const void *nic_state);

    /*
     * Required: makes the first decisions. Called when the queue pair becomes ready to receive
     * (RTR), before any other hook; the receiver half works from then on. All timers are
     * OCHE_NEVER, the rate is the initial rate and there is no window.
     */
    void (*start)(struct oche_cc_flow *flow, oche_time now);
    /*
     * Optional, for schemes that count per peer or per NIC: the queue pair has failed, is reset or
     * is destroyed. It sends nothing more, and its unfinished messages are over. Requests that the
     * hook makes for other queue pairs are carried out at the next event; oche_cc_nic_timer(nic, 0)
     * causes an event at once.
     */
    void (*stop)(struct oche_cc_flow *flow);

    /* All other hooks are optional; NULL costs nothing. The hooks of the sender half: */
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
     * The last `loss` of this kind, or several timeouts in a row, told of no loss: what had been
     * sent was only late. That says nothing of a `loss` of the other kind. If an ACK shows it,
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
    /*
     * flow->more has changed, as a packet has left or nothing was left to leave; after `sent`. It
     * is not called where `idle` says as much: by then flow->more is false.
     */
    void (*more)(struct oche_cc_flow *flow, oche_time now);

    /* Hooks of the receiver half: */
    /* A data packet has arrived (valid, with any PSN) and is not delivered yet. */
    void (*arrived)(struct oche_cc_flow *flow, oche_time now, const struct oche_packet *packet,
                    struct oche_cc_reply *reply);
    /* An ACK, a NAK, a response or a CNP is about to leave. The hook may set fields of it. */
    void (*stamp_ack)(struct oche_cc_flow *flow, oche_time now, struct oche_packet *packet);

    /*
     * A message begins to arrive, or has arrived: each is called exactly once per message, whatever
     * is lost or duplicated. A SEND or WRITE begins when its first packet, and ends when its last
     * packet, is accepted in order; a message that recovery restarts does not begin again; on UC a
     * message also ends when the rest of it will not come. A READ, whose data the requester
     * receives, begins when it is issued and ends when its last response is accepted. SENDs and
     * WRITEs come one at a time; several READs may be in progress beside them.
     */
    void (*message_begins)(struct oche_cc_flow *flow, oche_time now);
    void (*message_ends)(struct oche_cc_flow *flow, oche_time now);
    /*
     * The message's first packet names the group that the message is part of (oche_group_get; the
     * peer may have written anything there). If `begins` is true, message_begins has just been
     * called for the message. If false, the packet is kept behind a gap; when its message begins
     * later, the hook is called again, with a list of 0 senders. Called only if the peer's `start`
     * has set names_groups.
     */
    void (*group)(struct oche_cc_flow *flow, oche_time now, const struct oche_packet *packet,
                  bool begins);
    /* A packet of opcode `own_opcode` has arrived from the peer, usually for the sender half. */
    void (*own)(struct oche_cc_flow *flow, oche_time now, const struct oche_packet *packet);

    /* Optional: true if `start` sets names_groups under these parameters. */
    bool (*names_groups)(const void *params);

    /*
     * Checks parameters against each other. Returns NULL if they are valid, else a text: what is
     * wrong and what would be right.
     */
    const char *(*check)(const void *params);
    /* Optional: as check, of what names hosts; called by the simulator, whose hosts are 0 to n - 1.
     */
    const char *(*check_hosts)(const void *params, uint32_t hosts);
    /*
     * Returns a remark for the user if the parameters are valid but do not suit the network, else
     * NULL. `empty_rtt` is the longest round trip of a packet and its ACK in the empty network,
     * without the packet's serialisation at the sender; `line_bps` the rate of the hosts' links.
     * The text follows "a round trip takes up to 61us: ".
     */
    const char *(*remark)(const void *params, oche_time empty_rtt, uint64_t line_bps);
    /*
     * Optional: returns a remark if the parameters are those of far slower links than `line_bps`,
     * else NULL. The text follows "the hosts' links carry 100Gbps: ".
     */
    const char *(*rate_remark)(const void *params, uint64_t line_bps);
    /*
     * Finds what the parameter of the scheme's table is on a line of `line_bps` if its value stands
     * for another one. Returns false if the value is what it says. Required if the table has a
     * value `auto`.
     */
    bool (*derived)(const void *params, const struct oche_param *param, uint64_t line_bps,
                    struct oche_derived *derived);
    /*
     * Optional: gives parameters that nobody chose the values that suit the network, and notes
     * what values that are `auto` follow. `free`: bit i: row i of the table may be changed; the
     * simulator calls it with 0, as there a scenario has chosen all. On a device it may be called
     * again, also between events, when more is known of the network; the parameters are valid after
     * each call.
     */
    void (*fit)(void *params, uint64_t free, const struct oche_cc_network *network);
};

/* All schemes; there are `oche_cc_scheme_count`. */
extern const struct oche_cc_scheme *const oche_cc_schemes[];
extern const size_t oche_cc_scheme_count;

/* Returns the scheme called `name`, or NULL. */
const struct oche_cc_scheme *oche_cc_find(const char *name);

OCHE_C_END

#endif
