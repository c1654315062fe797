/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code shared by TIMELY and its patched version (Mittal et al., "TIMELY: RTT-based Congestion
 * Control for the Datacenter", SIGCOMM 2015, sec 3 and 5; timely.md#measurement): segments and
 * their pacing, the RTT of a segment, its gradient, and the limits of the rate. The schemes
 * (timely.c, timely_patched.c) compute the rate from the RTT and the gradient.
 *
 * A segment is a fixed number of packets, counted by PSN from the queue pair's first packet, so an
 * ACK's PSN tells which segments it completes, whatever was lost. The last packet of a segment asks
 * for an ACK. The ACK that covers this packet is the segment's completion, and
 *     RTT = completion - (when the first packet left) - (the segment's time at line rate).
 * With pacing by packets a segment takes longer than its time at line rate to leave; then the RTT
 * is that of its last packet alone, as in the authors' simulator (ns3-rdma).
 *
 * Two kinds of segments are not measured, and so cause no update: segments with a retransmitted
 * packet (an ACK could be for either copy), and segments with TIMELY_OUTSTANDING unfinished
 * segments before them. An ACK that completes several segments counts as the completion of the
 * newest. READ data is sent at the queue pair's initial rate, because nothing acknowledges READ
 * data.
 */
#ifndef OCHE_CORE_CC_TIMELY_TIMELY_ENGINE_H
#define OCHE_CORE_CC_TIMELY_TIMELY_ENGINE_H

#include "core/cc/cc.h"
#include "core/cc/cc_advice.h"

/*
 * Parameters of both schemes. The table of a scheme does not have the other scheme's own
 * parameters.
 */
struct timely_params {
    uint32_t preset; /* enum oche_preset */
    oche_time t_low, t_high, min_rtt;
    double ewma;
    double beta, beta_high;
    uint64_t delta;
    uint32_t zero_gradient;  /* timely; enum timely_zero_gradient */
    uint64_t hai_events;     /* timely */
    uint64_t hai_multiplier; /* timely */
    oche_time rtt_ref;       /* timely_patched; 0: t_low */
    double gradient_limit;   /* timely_patched */
    uint64_t segment;        /* bytes of payload */
    uint32_t pacing;         /* enum timely_pacing */
    uint32_t update;         /* enum timely_update */
    uint32_t start;          /* enum timely_start */
    bool window;
    double use_to_raise;
    uint64_t min_rate;
    double min_rate_fraction, max_rate_fraction;
    /* Not a parameter: the network's round trip, set by `fit`; 0: unknown. */
    oche_time round_trip;
};

enum timely_zero_gradient { TIMELY_ZERO_INCREASE, TIMELY_ZERO_HOLD };
enum timely_pacing { TIMELY_PACE_SEGMENTS, TIMELY_PACE_PACKETS };
enum timely_update { TIMELY_UPDATE_SCALED, TIMELY_UPDATE_COMPLETION, TIMELY_UPDATE_MIN_RTT };
enum timely_start { TIMELY_START_SHARE, TIMELY_START_LINE };
extern const char *const timely_pacing_names[], *const timely_update_names[],
                                                    *const timely_start_names[];

/* Causes of RATE_CHANGED. */
enum timely_cause {
    TIMELY_CAUSE_START = 1,
    TIMELY_CAUSE_LOW,      /* below t_low */
    TIMELY_CAUSE_HIGH,     /* above t_high */
    TIMELY_CAUSE_INCREASE, /* between the thresholds: a raise without HAI */
    TIMELY_CAUSE_HYPER,
    TIMELY_CAUSE_DECREASE
};

#define TIMELY_OUTSTANDING 512 /* segments; a power of two */

struct timely_state {
    double rate;     /* bits per second */
    double asked;    /* the lowest rate since the segment's first packet left */
    double rtt_diff; /* filtered difference of successive RTTs, in picoseconds */
    oche_time prev_rtt;
    oche_time updated;                  /* update=min_rtt: time of the last update */
    uint32_t negative;                  /* completions in a row whose gradient was below 0 */
    uint32_t packets;                   /* packets in a segment */
    bool begun;                         /* the queue pair has sent a packet */
    bool active;                        /* the queue pair is counted in the NIC's state */
    bool measured;                      /* prev_rtt is valid */
    bool raises;                        /* the sender uses enough of its rate */
    bool once;                          /* no packet of the current segment is a retransmission */
    uint32_t next_psn;                  /* PSN of the next packet that is not a retransmission */
    uint64_t next;                      /* number of that packet, from 0 */
    uint64_t once_from;                 /* packets before this one may have been sent twice */
    uint64_t done;                      /* segments before this one are complete */
    uint32_t position;                  /* position of packet `next` in its segment */
    uint64_t line_bytes;                /* bytes on the line of the current segment so far */
    oche_time first;                    /* when the current segment's first packet left */
    oche_time left[TIMELY_OUTSTANDING]; /* by segment: the time from which its RTT is counted; 0:
                                           not measured */
};

/* The state of a NIC, shared by its queue pairs. */
struct timely_nic_state {
    uint64_t active; /* queue pairs with something to send or to be acknowledged */
};

/* A completion as the schemes see it. */
struct timely_completion {
    oche_time rtt;
    double gradient;
    double scale;      /* factor of the change: 1; less if completions are closer than min_rtt */
    uint32_t negative; /* completions in a row, with this one, whose gradient was below 0 */
    bool may_raise;    /* the sender uses enough of its rate */
};

void timely_start(struct oche_cc_flow *flow, oche_time now);
void timely_stop(struct oche_cc_flow *flow);
void timely_sent(struct oche_cc_flow *flow, oche_time now, struct oche_packet *packet,
                 uint64_t line_bytes);
void timely_idle(struct oche_cc_flow *flow, oche_time now);
/*
 * Values of both schemes for link rates of today. timely uses only the first TIMELY_DEPLOYED of
 * these rows.
 */
#define TIMELY_DEPLOYED         6
#define TIMELY_DEPLOYED_PATCHED 8
extern const struct oche_deployed timely_deployed[TIMELY_DEPLOYED_PATCHED];

/* Return the value of a parameter that may be `auto`, on a line of `line_bps`. */
oche_time timely_low(const struct timely_params *p, uint64_t line_bps);
oche_time timely_high(const struct timely_params *p, uint64_t line_bps);
oche_time timely_unit(const struct timely_params *p, uint64_t line_bps); /* min_rtt */
uint64_t timely_delta(const struct timely_params *p, uint64_t line_bps);
uint64_t timely_segment(const struct timely_params *p, uint64_t line_bps);

bool timely_derived(const void *params, const struct oche_param *param, uint64_t line_bps,
                    struct oche_derived *derived);
const char *timely_check(const void *params);
/*
 * The hook `fit` of both schemes, for the rows that they share (`table`: the scheme's). Rows that
 * are `auto` and not free stay so; they follow the round trip that it notes.
 */
void timely_fit_rows(const struct oche_param_table *table, void *params, uint64_t free,
                     const struct oche_cc_network *network);
/*
 * Returns the remark about t_high, the same for both schemes; NULL if t_high is above `empty_rtt`.
 */
const char *timely_remark_high(const struct timely_params *p, oche_time empty_rtt,
                               uint64_t line_bps);

/* Returns true if the ACK is a completion that calls for a new rate, and fills `completion`. */
bool timely_completed(struct oche_cc_flow *flow, oche_time now, const struct oche_cc_ack *ack,
                      struct timely_completion *completion);
/* Sets the rate that the scheme has computed, within its limits, and the window. */
void timely_set_rate(struct oche_cc_flow *flow, oche_time now, double rate, oche_time rtt,
                     enum timely_cause cause);

static inline struct timely_state *timely_state_of(struct oche_cc_flow *flow)
{
    return flow->state;
}

/* ---- rows of both parameter tables ---- */

/* clang-format off */
#define TIMELY_SIGNAL_PARAMS \
    OCHE_PRESET_ROW_AT(struct timely_params, "timely.md#deployed"), \
    {OCHE_PARAM(struct timely_params, t_low), OCHE_IS_TIME(50 * OCHE_US, OCHE_NS, OCHE_SEC), \
     .automatic = true, .where = "TIMELY sec 4.4; timely.md#parameters", \
     .help = "RTT below which the rate rises whatever the gradient; includes propagation; auto: " \
             "the network's longest round trip and 8us, more below 25Gbps"}, \
    {OCHE_PARAM(struct timely_params, t_high), OCHE_IS_TIME(500 * OCHE_US, OCHE_NS, OCHE_SEC), \
     .automatic = true, .where = "TIMELY sec 4.4; timely.md#parameters", \
     .help = "RTT above which the rate falls whatever the gradient; auto: t_low and 32us, more " \
             "below 25Gbps"}, \
    {OCHE_PARAM(struct timely_params, min_rtt), OCHE_IS_TIME(20 * OCHE_US, OCHE_NS, OCHE_SEC), \
     .automatic = true, .where = "TIMELY sec 4.3; timely.md#parameters", \
     .help = "D_minRTT, unit of the gradient; not measured; auto: t_low"}, \
    {OCHE_PARAM(struct timely_params, ewma), OCHE_IS_REAL(0.875, 1e-6, 1.0), \
     .where = "TIMELY sec 4.3; value: timely.md#parameters", \
     .help = "alpha, weight of the newest RTT difference"}, \
    {OCHE_PARAM(struct timely_params, delta), OCHE_IS_BPS(10 * OCHE_MBPS, 0, 1000 * OCHE_GBPS), \
     .automatic = true, .where = "TIMELY sec 4.3; timely.md#parameters", \
     .help = \
         "step of additive increase; the paper's lines have 10Gbps (Dart's comparison: 1Mbps, as " \
         "its alpha); auto: 1/200 of the line's rate"}

#define TIMELY_ENGINE_PARAMS(segment_bytes, paced, paced_from) \
    {OCHE_PARAM(struct timely_params, segment), OCHE_IS_BYTES(segment_bytes, 1, 1 << 30), \
     .automatic = true, .where = "TIMELY sec 5", \
     .help = "payload between two completions, in whole packets (16KB, 64KB; Dart's: 1460B); " \
             "auto: 16KB on a line of 100Gbps or more, in proportion less below, 4KB at least"}, \
    {OCHE_PARAM(struct timely_params, pacing), OCHE_IS_CHOICE(paced, timely_pacing_names), \
     .where = paced_from, \
     .help = "segment: all of it at line rate, then a gap; packet: a gap after each packet"}, \
    {OCHE_PARAM(struct timely_params, update), \
     OCHE_IS_CHOICE(TIMELY_UPDATE_SCALED, timely_update_names), \
     .where = "TIMELY sec 5; ECN or Delay sec 4.1", \
     .help = \
         "segments that take less than min_rtt at the rate change it by that much less (scaled), " \
         "as the others (completion), or not before min_rtt is over (min_rtt)"}, \
    {OCHE_PARAM(struct timely_params, start), \
     OCHE_IS_CHOICE(TIMELY_START_SHARE, timely_start_names), \
     .where = "ECN or Delay sec 4; timely.md#start", \
     .help = "rate of a queue pair's first packet, unless the workload gives one: the line's " \
             "over 1 + queue pairs that are active in the NIC, or the line's"}, \
    {OCHE_PARAM(struct timely_params, window), OCHE_IS_BOOL(false), .where = "Dart sec VI-A", \
     .help = "no more in flight than rate * RTT and a segment, from the first RTT on"}, \
    {OCHE_PARAM(struct timely_params, use_to_raise), OCHE_IS_REAL(0.8, 0.0, 1.0), \
     .where = "TIMELY sec 5; timely.md#use-to-raise", \
     .help = "the rate rises only if segments follow each other with this much of it"}, \
    {OCHE_PARAM(struct timely_params, min_rate), OCHE_IS_BPS(0, 0, 1000 * OCHE_GBPS), \
     .where = "dcqcn.md#a4", .help = "floor of the rate; 0: min_rate_fraction of the line rate"}, \
    {OCHE_PARAM(struct timely_params, min_rate_fraction), OCHE_IS_REAL(0.001, 1e-9, 1.0), \
     .where = "dcqcn.md#a4", \
     .help = "floor of the rate as a fraction of the line rate, where min_rate is 0 " \
             "(ns3-rdma 0.01)"}, \
    {OCHE_PARAM(struct timely_params, max_rate_fraction), OCHE_IS_REAL(1.0, 1e-9, 1.0), \
     .where = "TIMELY sec 5", \
     .help = "cap of the rate as a fraction of the line rate (ns3-rdma 0.96)"}
/* clang-format on */

#endif
