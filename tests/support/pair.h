/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two NICs joined by a virtual link, for tests of queue pairs. The link has a delay, a line rate,
 * and faults (drop, duplicate, delay, damage). The test chooses faults by rule, or at random with a
 * fixed seed. Real bytes move between two arrays. Time is virtual; pair_run goes from event to
 * event.
 */
#ifndef OCHE_TESTS_SUPPORT_PAIR_H
#define OCHE_TESTS_SUPPORT_PAIR_H

#include "core/qp/nic.h"
#include "tests/support/blocks.h"

#define PAIR_MEMORY    (1 << 20) /* bytes per side: one region, PAIR_KEY at PAIR_VA */
#define PAIR_KEY       77
#define PAIR_VA        UINT64_C(0x10000)
#define PAIR_PD        5
#define PAIR_QPN       0x11 /* of side 0; side 1 has 0x12; each additional pair adds 2 */
#define PAIR_QPS       8
#define PAIR_REGIONS   16
#define PAIR_QKEY      0x1234567 /* of all UD queue pairs */
#define PAIR_MTU       1024
#define PAIR_CQ        4096
#define PAIR_IN_FLIGHT 4096

/*
 * PAIR_DAMAGE: only if packets are bytes. PAIR_TRIM: only the headers of a request with payload
 * arrive, as if a switch had trimmed it; other packets pass.
 */
enum pair_fate { PAIR_PASS, PAIR_DROP, PAIR_TWICE, PAIR_LATE, PAIR_DAMAGE, PAIR_TRIM };

struct pair_packet {
    struct oche_packet packet;
    oche_time arrives;
    uint64_t order;
    uint8_t to;
    uint8_t payload[9216];
    uint8_t *wire; /* the packet as bytes; NULL: packets are structs only */
    size_t wire_bytes;
    bool damaged;
};

struct pair_hooks {
    struct pair *pair;
    int side;
};

struct pair_side {
    struct pair_hooks hooks; /* context of the port's hooks */
    struct oche_nic *nic;
    struct oche_cq *cq;
    struct oche_qp *qp[PAIR_QPS];
    struct oche_srq *srq; /* or NULL */
    uint8_t *memory;
    struct oche_trace trace;
    struct oche_trace_record ring[64];
    oche_time busy_until;
    uint8_t classes;          /* classes that may send now, as a mask */
    uint64_t delivered_bytes; /* counted by the hook */
    uint64_t delivered_messages;
    uint64_t out_payload, in_payload; /* bytes that this side sent and received */
    uint64_t out_naks, out_rnr_naks;  /* packets sent by this side */
    uint64_t events, errors;          /* calls of completion_event, qp_error */
    uint64_t cq_errors;
    const struct oche_send_work
        *post_at_event;     /* what happens at the next completion_event, on qp[0] */
    int posted_at_event;    /* the result of that action */
    enum oche_status error; /* status of the last qp_error */
    uint64_t qp_events[8], srq_limits;
    uint64_t timeouts; /* calls of timed_out */
    struct oche_qp_losses at_timeout;
    uint64_t wishes, wishes_seen; /* calls of wants_room */
    uint8_t *later[PAIR_QPS];     /* memory of held_later bytes, for two */
    uint8_t given[PAIR_QPS];      /* by kind, as a bit: `later` is in use */
    void *nic_memory, *cq_memory, *srq_memory, *qp_memory[PAIR_QPS];
};

/* Options that the test may set before pair_open. Zero means the default; comments say which. */
struct pair_options {
    const struct oche_cc_scheme *cc; /* a scheme without any effect */
    const void *cc_params;
    const struct oche_cc_scheme *peer_cc; /* congestion control of side 1; default: as side 0 */
    const void *peer_cc_params;
    const struct oche_recovery_scheme *recovery; /* go_back_n */
    const void *own_recovery_params;
    const struct oche_recovery_scheme *peer_recovery; /* recovery of side 1; default: as side 0 */
    const void *peer_recovery_params;
    bool extensions;        /* both sides know from the start that the peer has extensions */
    uint64_t line_rate_bps; /* 100 Gbit/s */
    oche_time delay;        /* 1 µs */
    oche_time data_delay; /* extra delay of the data class, so that control packets overtake data */
    oche_time late_by;    /* how late PAIR_LATE is: random, up to five delays */
    uint64_t seed;
    uint32_t transport;
    uint32_t mtu;
    uint32_t send_depth, recv_depth; /* 16 */
    uint32_t srq_depth;              /* if above 0, side 1 has an SRQ for all queue pairs */
    uint32_t max_sge;                /* 4 */
    uint32_t responder_resources, initiator_depth; /* 4; UINT32_MAX: 0 */
    uint32_t qps;                                  /* number of pairs of queue pairs: 1 */
    uint32_t first_psn;                            /* first PSN of side 0; side 1 has 1000 more */
    uint32_t ack_every, window_packets;
    bool window_grows;
    oche_time ack_timeout;           /* 500 µs */
    uint32_t retry_count, rnr_retry; /* default 7; UINT32_MAX - 1: 0 */
    uint32_t min_rnr_timer;
    uint32_t access; /* all; UINT32_MAX: none */
    bool ipv6, credits, no_connect;
    uint64_t ecn_threshold; /* 0: never */
    struct oche_deflection deflection;
    struct oche_spreading spread;
    struct oche_nic_habits habits, peer_habits; /* of side 0 and of side 1 */
    oche_time nak_interval;                     /* 5 µs */
    uint32_t most_repeats;                      /* most repetitions of a READ; 0: any number */
    uint32_t most_ahead;   /* most PSNs ahead of the PSN expected; 0: any number */
    bool acks_with_data;   /* ACKs have the class of data */
    uint8_t peer_qpn_bits; /* value for struct oche_nic_config */
    bool unknown_qp;       /* side 1 has no queue pair at first; the hook makes one */
    bool no_payload;
    /* bytes of memory for payloads behind a gap; 0: such payloads are written at once */
    uint32_t held_bytes;
    uint32_t held_later; /* bytes that replace it once there was no room; 0: never */
    uint32_t in_flight;  /* most packets on the link: PAIR_IN_FLIGHT */
    bool groups;         /* work may name a group; addresses below 200 are shared */
    bool bytes;          /* packets are bytes on the link (pair_bytes.h) */
    /* The allocator of the pair's own memory, and of the sides', which is kept. */
    struct blocks *blocks; /* NULL: fresh memory */
    uint8_t *memory[2];    /* PAIR_MEMORY bytes, used unchanged; NULL: fresh and zeroed */
    /* Random faults, in 1/1000 of packets each; damage only with bytes. */
    uint32_t drop, twice, late, damage, trim;
    /* The longest random delay of late packets and of copies; 0: a few link delays. */
    oche_time late_most;
};

struct pair {
    struct pair_side side[2];
    struct pair_options options;
    oche_time now;
    struct oche_random random;
    struct pair_packet *pool; /* the link's packets: in_flight entries */
    uint32_t *free, free_count;
    uint32_t *heap, heap_count; /* in flight, by (arrives, order) */
    uint64_t sent;              /* packets put on the link so far, in both directions */
    uint64_t order;
    uint64_t steps;   /* of pair_step */
    uint64_t faults;  /* packets that were lost, duplicated, delayed or damaged */
    uint64_t damaged; /* damaged packets among these; all must be dropped */
    uint8_t *wires;   /* with bytes: PAIR_WIRE_BYTES for each of the pool */
    /* Decides the fate of a packet; NULL: random faults only. */
    enum pair_fate (*fate)(struct pair *pair, int from, const struct oche_packet *packet);
    /* Called for every packet that is sent, before its fate is decided. */
    void (*tap)(struct pair *pair, int from, const struct oche_packet *packet);
    /* Called for every packet that leaves the link undamaged, before it is received. */
    void (*arrival)(struct pair *pair, int to, const struct oche_packet *packet);
    void *context;
    struct {
        oche_time nak_interval;
        bool nak_exception;
    } recovery_params;
};

/* Returns a random time: below late_most, or `most` quarters of a delay. */
static inline oche_time pair_late(struct pair *pair, uint32_t most)
{
    if (pair->options.late_most > 0)
        return oche_random_below(&pair->random, pair->options.late_most);
    return oche_random_below(&pair->random, most) * pair->options.delay / 4;
}

/*
 * Makes both NICs and connects `qps` pairs of queue pairs (both sides in RTS). Never returns NULL.
 */
struct pair *pair_open(const struct pair_options *options);
/* A packet has arrived at side `to` (called by pair.c). */
void pair_receive(struct pair *pair, int to, const struct oche_packet *packet);
void pair_close(struct pair *pair);

/*
 * Return the configuration and the connection that pair_open uses, for tests that make their own.
 */
struct oche_qp_config pair_qp_config(const struct pair *pair, int side, uint32_t index);
struct oche_qp_connection pair_connection(const struct pair *pair, int side, uint32_t index);
/* Takes the queue pair to RTS. */
void pair_connect(struct pair *pair, int side, uint32_t index);

/* Runs one event if it is not after `until`. Returns false if there is nothing to do until then. */
bool pair_step(struct pair *pair, oche_time until);
/* Runs all events until `until`, which is then `now`. */
void pair_run(struct pair *pair, oche_time until);
/* Runs until no event is left, for 1000 s at most. Returns the time of the last event. */
oche_time pair_run_quiet(struct pair *pair);

/* Prints the last events of both sides. */
void pair_dump(const struct pair *pair);

/* Returns a work request with one SGE. Offsets are into the sides' memory. It is signalled. */
struct oche_send_work pair_work(enum oche_work_opcode opcode, uint64_t wr_id, uint32_t offset,
                                uint32_t remote_offset, uint32_t length);
/* Returns the destination of datagrams from side `from` to the other side's queue pair `index`. */
struct oche_destination pair_destination(int from, uint32_t index);
void pair_post(struct pair *pair, int side, const struct oche_send_work *work);
void pair_post_recv(struct pair *pair, int side, uint64_t wr_id, uint32_t offset, uint32_t length);
/* Checks the next completion of a side, and returns it. */
struct oche_completion pair_expect(struct pair *pair, int side, uint64_t wr_id,
                                   enum oche_status status);
void pair_expect_none(struct pair *pair, int side);
/* Returns a packet as side `from` would send it on pair 0. The test fills in the rest. */
struct oche_packet pair_packet(const struct pair *pair, int from, uint8_t opcode, uint32_t psn,
                               uint16_t payload_bytes);
/* Discards all packets on the link. */
void pair_clear_link(struct pair *pair);
/* Gives the packet to the other side now, and runs until no event is left. */
void pair_inject(struct pair *pair, int from, const struct oche_packet *packet);
/* Fills a range of a side's memory with bytes that depend on position and `salt`. */
void pair_fill(struct pair *pair, int side, uint32_t offset, uint32_t length, uint8_t salt);

extern const struct oche_cc_scheme pair_cc_idle;

#endif
