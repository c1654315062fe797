/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The network: nodes (hosts and switches), their ports, the links between them, and the loop that
 * runs them in virtual time.
 *
 * A node's handler touches only that node and reaches others by sending over a link, whose delay is
 * above zero. So nodes can be spread over shards, each run by one thread. All shards run the same
 * window of time, in parallel if that is quicker (sim/network/team.h); a window is as long as the
 * smallest link delay. The result is the same for any number of shards.
 *
 * A packet on a link is its arrival's event, and nothing else holds it. A transmit-done event
 * exists only if something waits for the port.
 */
#ifndef OCHE_SIM_NETWORK_NETWORK_H
#define OCHE_SIM_NETWORK_NETWORK_H

#include <signal.h>

#include "core/qp/nic.h"
#include "fabric/late.h"
#include "fabric/loss.h"
#include "fabric/switch.h"
#include "sim/engine/arena.h"
#include "sim/engine/event_queue.h"
#include "sim/network/deflection_notes.h"
#include "sim/network/mishaps.h"
#include "sim/network/pace.h"
#include "sim/network/packet_pool.h"
#include "sim/network/pause_notes.h"

/*
 * Events of one node that have the same time run in this order. The kind is part of an event's
 * identity.
 */
enum oche_event_kind {
    OCHE_EVENT_TRANSMIT_DONE,
    OCHE_EVENT_ARRIVAL,
    OCHE_EVENT_TIMER,
    OCHE_EVENT_CHANGE /* a link or routes change: sim/network/link_failure.h */
};

#define OCHE_MAX_NODES (UINT32_C(1) << 20)
#define OCHE_MAX_PORTS 1024 /* per node */

enum oche_port_flags {
    OCHE_PORT_HOST = 1 << 0,         /* belongs to a host */
    OCHE_PORT_DONE_PENDING = 1 << 1, /* a transmit-done event is on its way */
    OCHE_PORT_REMOTE = 1 << 2,       /* the far end is in another shard */
    OCHE_PORT_SPECIAL = 1 << 3,      /* losses, events, tap, bytes mode: see oche_port_extra */
    OCHE_PORT_DEFLECTS = 1 << 4,     /* belongs to a switch that may deflect packets */
    OCHE_PORT_FAILS = 1 << 5,        /* the port's link goes down at some time */
};

/*
 * A port is one cache line, with all that sending touches besides the node and the packet. The
 * arrival of a packet at a switch touches only the port by which the packet goes on.
 */
struct oche_port {
    oche_time busy_until; /* when the transmitter becomes free */
    void *device;         /* struct oche_switch or struct oche_host */
    oche_time delay;      /* propagation delay of the link */
    uint64_t line_bytes;  /* bytes of frames and gaps so far, including the frame being sent */
    uint32_t peer;        /* global number of the far port */
    uint32_t arrival_key; /* key of the arrival events of packets that this port sends */
    uint32_t node;
    uint32_t ps_per_byte; /* 0: not a whole number, so the extra's sends.bps is used */
    uint16_t local;       /* the port's number within its node */
    uint8_t flags;
    uint8_t peer_shard; /* valid with OCHE_PORT_REMOTE; the far port's line is another thread's */
} __attribute__((aligned(OCHE_CACHE_LINE)));

_Static_assert(sizeof(struct oche_port) == OCHE_CACHE_LINE, "a port is one line");

/* The facts about a node that the arrival of a packet needs. */
struct oche_site {
    void *device;        /* that of the node's ports */
    uint32_t first_port; /* global number of the node's port 0 */
    /* OCHE_PORT_HOST, _DEFLECTS and _FAILS: set if set at any port of the node */
    uint8_t flags;
};

/* The rate of one direction of a link, which failures may change (link_failure.h). */
struct oche_port_rate {
    uint64_t bps, old_bps;
    oche_time since; /* when it changed last */
};

/* Returns the member ps_per_byte of a port that sends at this rate. */
static inline uint32_t oche_network_ps_per_byte(uint64_t rate_bps)
{
    return 8 * OCHE_SEC % rate_bps == 0 ? (uint32_t)(8 * OCHE_SEC / rate_bps) : 0;
}

/* Members of a port that few ports use or that are rarely needed. */
struct oche_port_extra {
    uint64_t rate_bps;               /* of the link without failures */
    uint64_t slowest_bps;            /* of this end in the whole run */
    struct oche_loss *loss;          /* decides which packets of this port are lost; NULL: none */
    struct oche_loss *grey;          /* the same of a failure that changes; NULL: none */
    struct oche_late *late;          /* decides which packets arrive late; NULL: none */
    struct oche_port_events *events; /* scripted ones (port_events.h); NULL: none; not with late */
    bool tap;                        /* show the port's packets to network->tap */
    uint64_t lost_packets, lost_bytes;
    uint64_t grey_packets;                 /* of these: lost by `grey` */
    struct oche_port_rate sends, receives; /* of both directions; written by this end's node */
    oche_time old_until;                   /* this end sends at sends.old_bps until then */
    /* Valid with OCHE_PORT_FAILS: the state of this end of the link, written by its own node. */
    bool down;
    oche_time last_down;             /* OCHE_NEVER: the link has never been down */
    uint64_t cut_packets, cut_bytes; /* packets on the way to this port when the link went down */
};

/* Packets of a connection that were lost to link failures, PFC frames not counted. */
struct oche_hit {
    oche_time first, last; /* times of the first and the last loss; valid if packets > 0 */
    uint64_t packets;
};

struct oche_node {
    uint8_t shard;
    uint16_t port_count;
    uint32_t first_port; /* global number of the node's port 0 */
    oche_time timer_at;  /* time of the earliest pending timer event; OCHE_NEVER: none */
    struct oche_trace trace;
    struct oche_pause_notes *pauses;          /* NULL until a switch's first PFC frame */
    struct oche_deflection_notes deflections; /* used by switches with OCHE_PORT_DEFLECTS */
    const struct oche_change *changes;        /* the next of change_count changes still to come */
    size_t change_count;
};

struct oche_network;
struct oche_port_events;
struct oche_endpoint;
struct oche_change;
struct oche_flow_notes;
struct oche_ranks;

/* A packet that was sent to a port of another shard. */
struct oche_crossing {
    struct oche_packet *packet;
    oche_time when; /* the packet's: taking it in need not touch the packet */
    uint32_t key;   /* key of its arrival event */
};

/* Bytes of a mailbox that are fetched into the cache ahead of its filling and emptying. */
#define OCHE_MAILBOX_AHEAD 256

/*
 * The packets that one shard sent to another shard in a window. During the window only the sending
 * shard writes the mailbox. Afterwards only the receiving shard reads and empties it. The next
 * window uses another mailbox.
 */
struct oche_mailbox {
    struct oche_crossing *list;
    uint32_t count, capacity;
} __attribute__((aligned(OCHE_CACHE_LINE)));

/* A shard: the part of the network that one thread runs. */
struct oche_shard {
    struct oche_event_queue events;
    struct oche_packet_pool pool;
    struct oche_arena arena;  /* for the nodes of this shard: hosts, queue pairs, switches */
    struct oche_arena tables; /* for tables that few packets use; kept out of `arena`, so that nodes
                                 lie side by side */
    struct oche_network *network;
    uint64_t hops;        /* packets put on a link, including control packets */
    int64_t kept_packets; /* that scripted events keep until others have overtaken them */
    uint64_t handled_events;
    uint64_t flows_completed; /* flows completed by senders in this shard, including failed flows */
    /* flows whose last byte has arrived, and is not in memory yet (host_latency.h) */
    uint64_t pending_deliveries;
    uint64_t awaited_completed;  /* of these, flows for which the run waits */
    struct oche_mishaps mishaps; /* filled if network->keep_mishaps; read between windows */
    uint32_t index;
    /* Two mailboxes per destination shard: [side][shard]. Windows use them by turns. */
    struct oche_mailbox *outbox;
    uint32_t side;          /* side of the mailboxes in the present window */
    uint64_t windows;       /* windows in which this shard ran events, or could have */
    oche_time crosses_from; /* when the first packet of `outbox` arrives; OCHE_NEVER: none */
    uint8_t *scratch;       /* two frame buffers, for bytes mode */
    struct oche_flow_notes *flow_notes; /* NULL: no other process has to hear of flows */
    struct oche_hit *hits;              /* one per connection; NULL: no link can fail */
    uint8_t *hit_blocks;                /* 1: a connection of the block has been hit */
} __attribute__((aligned(OCHE_CACHE_LINE)));

/*
 * An observer of a link. It is called for each packet that the tapped port sends (`sent` is true,
 * `start` is when transmission starts) and receives (`sent` is false, `start` is when the packet
 * arrives).
 */
typedef void oche_tap(void *context, uint32_t port, const struct oche_packet *packet,
                      oche_time start, bool sent);

/*
 * When a run is looked at: at the ends of windows in which something happened, where any of these
 * is so, and where the run is to pause. All 0: at the end of every window.
 */
struct oche_window_checks {
    oche_time at;     /* the window ends at this time, or later */
    uint64_t flows;   /* so many flows, or more, are completed */
    uint64_t awaited; /* so many flows for which the run waits, or more */
    uint64_t windows; /* so many windows were run since the last one; 0: however many */
    const volatile sig_atomic_t *interrupt; /* this is not 0; NULL: nothing interrupts */
    /* A packet was lost, or a timer expired (sim/network/mishaps.h): in every case. */
};

struct oche_team;
struct oche_schedule;

struct oche_network {
    struct oche_port *ports; /* all nodes' ports, node by node */
    struct oche_port_extra *extras;
    struct oche_site *sites; /* one per node, valid after oche_network_ready */
    struct oche_node *nodes; /* hosts first, in address order, then switches */
    uint32_t node_count, host_count, port_count;
    struct oche_shard *shards;
    uint32_t shard_count;
    uint32_t gap_bytes;
    oche_time window;                 /* length of a window: the smallest link delay */
    oche_time now;                    /* everything before this time has happened */
    struct oche_window_checks checks; /* may be changed while no thread runs, as by a check */
    struct oche_pace pace;            /* whether threads run windows together */
    struct oche_schedule *schedule;   /* records a run in one thread; NULL: does not */
    struct oche_team *team;           /* the threads; NULL: none was needed so far */
    struct oche_ranks *ranks;         /* the other processes that run it; NULL: there are none */
    uint64_t windows_together;        /* windows that all threads ran at the same time */
    uint64_t events_together;         /* events in these windows */
    bool ipv6;                        /* in bytes mode frames are IPv6, not IPv4 */
    const struct oche_endpoint
        *endpoint;   /* the hosts' endpoint if it is not the RNIC; NULL: the RNIC */
    bool bytes_mode; /* encode and decode every packet at every link */
    bool keep_mishaps;
    bool in_order;        /* a shard's events run in order of time, not node by node; slower */
    uint32_t connections; /* number of connections; 0: no link can fail */
    oche_tap *tap;        /* NULL: none; with a tap there is only one shard */
    void *tap_context;
};

/* The key of an event. Its target is the packet that arrives, or else the node's port. */
static inline uint32_t oche_event_key(uint32_t node, enum oche_event_kind kind, uint32_t local)
{
    return node << 12 | (uint32_t)kind << 10 | local;
}

/*
 * Creates nodes and ports; devices are attached later. `degree` has the number of ports of each
 * node. Returns false if the network is too large.
 */
bool oche_network_init(struct oche_network *network, uint32_t host_count, uint32_t switch_count,
                       const uint32_t *degree, uint32_t shard_count);
void oche_network_free(struct oche_network *network);

/*
 * Joins two ports (given by node and local number) in both directions. The delay must be above
 * zero.
 */
void oche_network_link(struct oche_network *network, uint32_t node_a, uint32_t local_a,
                       uint32_t node_b, uint32_t local_b, uint64_t rate_bps, oche_time delay);

/* Puts a node into a shard. To be called before anything runs. */
void oche_network_assign(struct oche_network *network, uint32_t node, uint32_t shard);

/* Tells that the port's link can fail. */
void oche_network_can_fail(struct oche_network *network, uint32_t port);

/* To be called when all links are made and all devices are attached. */
void oche_network_ready(struct oche_network *network);

/*
 * Runs all events before `until`. If `check` is not NULL, it is called, while no shard runs, at the
 * ends of windows that network->checks says; if it returns true, the run ends. It may change
 * network->checks.
 */
typedef bool oche_network_check(void *context, oche_time now);
void oche_network_run(struct oche_network *network, oche_time until, oche_network_check *check,
                      void *context);

/*
 * Rare cases of oche_network_send, which alone may call these functions. The first puts a packet
 * that the port sends into the mailbox of the other shard that its far end is in. The second
 * applies loss, events, lateness, taps and bytes mode to a packet being sent; it returns false if
 * the link loses the packet, or an event keeps it.
 */
void oche_network_cross(struct oche_shard *shard, const struct oche_port *port,
                        struct oche_packet *packet);
bool oche_network_special(struct oche_shard *shard, uint32_t number, struct oche_packet *packet,
                          oche_time now);

/*
 * For port_events.c: the link loses a packet that the port sends; and: a packet crosses the link
 * that is not the one that the port sends now. Its `when` is the time at which it arrives.
 */
void oche_network_lose(struct oche_shard *shard, uint32_t number, struct oche_packet *packet,
                       oche_time now);
void oche_network_launch(struct oche_shard *shard, uint32_t number, struct oche_packet *packet);

/*
 * Asks for the node's timer event at `when`, unless an earlier one is pending. Called by a node's
 * handlers.
 */
void oche_network_wake(struct oche_shard *shard, uint32_t node, oche_time when);

/*
 * Returns the part of the port's line_bytes that has not left by `now`: bytes of the one packet
 * being sent, rounded up.
 */
uint64_t oche_network_unsent_bytes(const struct oche_network *network, uint32_t port,
                                   oche_time now);

/* Return how many packets all shards have put on links, and how many events they have handled. */
uint64_t oche_network_hops(const struct oche_network *network);
uint64_t oche_network_events(const struct oche_network *network);
/*
 * Returns how many flows have arrived and are not delivered yet, because of host.dma_latency. A
 * rank counts those that end at its own hosts.
 */
uint64_t oche_network_pending_deliveries(const struct oche_network *network);
/* Returns the number of packets in use, in queues and on links, without those that events keep. */
int64_t oche_network_live_packets(const struct oche_network *network);
/* Returns all nodes' trace hashes, combined in node order. */
uint64_t oche_network_hash(const struct oche_network *network);

static inline enum oche_event_kind oche_event_kind_of(uint32_t key)
{
    return (enum oche_event_kind)(key >> 10 & 3);
}

/* Returns the site of the node that an event is for, and the number of the port at that node. */
static inline const struct oche_site *oche_event_site(const struct oche_network *network,
                                                      uint32_t key)
{
    return &network->sites[key >> 12];
}

static inline uint32_t oche_event_local(uint32_t key)
{
    return key & 1023;
}

static inline struct oche_shard *oche_network_shard_of(struct oche_network *network, uint32_t node)
{
    return &network->shards[network->nodes[node].shard];
}

/* Asks for a transmit-done event when the port becomes free, unless such an event is pending. */
static inline void oche_network_want_done(struct oche_shard *shard, struct oche_port *port)
{
    if (port->flags & OCHE_PORT_DONE_PENDING)
        return;
    port->flags |= OCHE_PORT_DONE_PENDING;
    oche_event_push(&shard->events, port->busy_until,
                    oche_event_key(port->node, OCHE_EVENT_TRANSMIT_DONE, port->local), port);
}

/* Sends `packet` from `port`, which must be free. Called by a node's handlers. */
static inline void oche_network_send(struct oche_shard *shard, struct oche_port *port,
                                     struct oche_packet *packet, oche_time now)
{
    struct oche_network *network = shard->network;
    uint32_t line_bytes = packet->frame_bytes + network->gap_bytes;
    oche_time busy =
        OCHE_LIKELY(port->ps_per_byte != 0)
            ? (oche_time)line_bytes * port->ps_per_byte
            : oche_time_of_bytes(line_bytes, network->extras[port - network->ports].sends.bps);

    shard->hops++;
    port->line_bytes += line_bytes;
    port->busy_until = now + busy;
    packet->when = now + busy + port->delay;
    if (OCHE_UNLIKELY(port->flags & (OCHE_PORT_SPECIAL | OCHE_PORT_REMOTE))) {
        if ((port->flags & OCHE_PORT_SPECIAL) &&
            !oche_network_special(shard, (uint32_t)(port - network->ports), packet, now))
            return;
        if (port->flags & OCHE_PORT_REMOTE) {
            oche_network_cross(shard, port, packet);
            return;
        }
    }
    if (OCHE_LIKELY(packet->when < OCHE_TIME_LIMIT))
        oche_event_push_later(&shard->events, packet->when, port->arrival_key, packet);
}

#endif
