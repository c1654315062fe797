/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A link with faults; see link.h. Loss in bursts is the model of Gilbert: each packet begins a
 * burst with one probability and ends it with another, and all packets of a burst are lost.
 */
#include "fabric/link.h"

#include <string.h>

#define HALF_WAY 0x1p63
/* A duplicate arrives this long after the packet. */
#define DUPLICATE_AFTER OCHE_NS

static const char *const shapes[] = {[OCHE_LINK_UNIFORM] = "uniform",
                                     [OCHE_LINK_NORMAL] = "normal",
                                     [OCHE_LINK_EXPONENTIAL] = "exponential",
                                     NULL};
static const char *const units[] = {
    [OCHE_LINK_PER_PACKET] = "packet", [OCHE_LINK_PER_BIT] = "bit", NULL};

#define LONGEST      (60 * OCHE_SEC)
#define MOST_WAITING (UINT64_C(1) << 30)

static const struct oche_param rows[] = {
    {OCHE_PARAM(struct oche_link_params, loss), OCHE_IS_REAL(0, 0, 1), .where = "our choice",
     .help = "probability that a packet is lost, each independently"},
    {OCHE_PARAM(struct oche_link_params, burst_loss), OCHE_IS_REAL(0, 0, 0.99),
     .where = "Gilbert 1960", .help = "share of packets that are lost in bursts"},
    {OCHE_PARAM(struct oche_link_params, burst_loss_length), OCHE_IS_REAL(10, 1, 1e6),
     .where = "Gilbert 1960", .help = "mean length of a burst, in packets"},
    {OCHE_PARAM(struct oche_link_params, delay), OCHE_IS_TIME(0, 0, LONGEST), .where = "our choice",
     .help = "one way"},
    {OCHE_PARAM(struct oche_link_params, jitter), OCHE_IS_TIME(0, 0, LONGEST),
     .where = "our choice",
     .help = "variation of the delay, which stays above 0; packets keep their order"},
    {OCHE_PARAM(struct oche_link_params, jitter_shape), OCHE_IS_CHOICE(OCHE_LINK_UNIFORM, shapes),
     .where = "our choice",
     .help = "uniform: up to `jitter` less or more; normal: its standard deviation; exponential: "
             "added, its mean"},
    {OCHE_PARAM_AS("rate", struct oche_link_params, rate_bps), OCHE_IS_BPS(0, 0, 10000 * OCHE_GBPS),
     .where = "our choice",
     .help = "of the line, with headers and the gaps between frames; 0: no limit, and no queue"},
    {OCHE_PARAM_AS("queue", struct oche_link_params, queue_bytes),
     OCHE_IS_BYTES(1000000, 1, MOST_WAITING), .where = "our choice",
     .help = "with `rate`: so much waits, and further packets are lost (drop-tail)"},
    {OCHE_PARAM_AS("ecn_min", struct oche_link_params, ecn_min_bytes),
     OCHE_IS_BYTES(OCHE_NEVER, 0, MOST_WAITING), .automatic = true, .where = "DCQCN sec 3.1",
     .help = "Kmin: no marks up to this queue; auto: no marks at all"},
    {OCHE_PARAM_AS("ecn_max", struct oche_link_params, ecn_max_bytes),
     OCHE_IS_BYTES(OCHE_NEVER, 0, MOST_WAITING), .automatic = true, .where = "DCQCN sec 3.1",
     .help = "Kmax: every packet is marked above this queue; auto: Kmin"},
    {OCHE_PARAM(struct oche_link_params, ecn_pmax), OCHE_IS_REAL(0.01, 0, 1),
     .where = "dcqcn.md#parameters", .help = "Pmax: probability of a mark at Kmax"},
    {OCHE_PARAM(struct oche_link_params, reorder), OCHE_IS_REAL(0, 0, 1), .where = "our choice",
     .help = "probability that a packet is late, so that others overtake it"},
    {OCHE_PARAM(struct oche_link_params, reorder_by), OCHE_IS_TIME(20 * OCHE_US, 1, LONGEST),
     .where = "our choice", .help = "how late it is"},
    {OCHE_PARAM(struct oche_link_params, duplicate), OCHE_IS_REAL(0, 0, 1), .where = "our choice",
     .help = "probability that a packet arrives twice"},
    {OCHE_PARAM(struct oche_link_params, corrupt), OCHE_IS_REAL(0, 0, 1), .where = "our choice",
     .help = "probability that a bit of a packet is inverted, so that the ICRC is wrong"},
    {OCHE_PARAM(struct oche_link_params, corrupt_per), OCHE_IS_CHOICE(OCHE_LINK_PER_PACKET, units),
     .where = "our choice",
     .help = "whether `corrupt` is per packet, or per bit (a bit error rate)"},
    {OCHE_PARAM(struct oche_link_params, flap_up), OCHE_IS_TIME(0, 0, 86400 * OCHE_SEC),
     .where = "our choice", .help = "the link is up for so long, again and again; 0: always"},
    {OCHE_PARAM(struct oche_link_params, flap_down), OCHE_IS_TIME(0, 0, 86400 * OCHE_SEC),
     .where = "our choice", .help = "then it is down for so long, and loses all packets"},
    {OCHE_PARAM(struct oche_link_params, spray), OCHE_IS_COUNT(1, 1, OCHE_LINK_PATHS),
     .where = "our choice",
     .help = "packets take one of so many paths at random, as with adaptive routing"},
    {OCHE_PARAM(struct oche_link_params, spray_by), OCHE_IS_TIME(3 * OCHE_US, 0, OCHE_SEC),
     .where = "our choice", .help = "each path takes so much longer than the one before it"},
    {OCHE_PARAM(struct oche_link_params, seed), OCHE_IS_COUNT(0, 0, UINT64_MAX - 1),
     .where = "our choice", .help = "of the random choices; 0: another one each time"},
};
const struct oche_param_table oche_link_params = OCHE_PARAM_TABLE(rows, struct oche_link_params);

const char *oche_link_check(const struct oche_link_params *params)
{
    if ((params->flap_up == 0) != (params->flap_down == 0))
        return "flap: a time up and a time down are needed, as in 2s/100ms";
    if (params->ecn_min_bytes != OCHE_NEVER && params->rate_bps == 0)
        return "ecn: there is no queue without rate; give a rate, too";
    if (params->ecn_min_bytes == OCHE_NEVER && params->ecn_max_bytes != OCHE_NEVER)
        return "ecn_max: without ecn_min; ecn=100KB..400KB gives both";
    if (params->ecn_min_bytes != OCHE_NEVER && params->ecn_min_bytes > params->ecn_max_bytes)
        return "ecn: Kmin is above Kmax; ecn=100KB..400KB is right";
    if (params->burst_loss * (params->burst_loss_length + 1) > params->burst_loss_length)
        return "burst_loss: at most length / (length + 1), as each burst ends; give a longer "
               "length";
    return NULL;
}

/* ---- making a link ---- */

static uint64_t threshold(double probability)
{
    return (uint64_t)(probability * HALF_WAY);
}

void oche_link_change(struct oche_link *link, const struct oche_link_params *params, oche_time now)
{
    const double ends = 1 / params->burst_loss_length;
    const double begins = params->burst_loss * ends / (1 - params->burst_loss);

    link->params = *params;
    link->since = now;
    link->loss = threshold(params->loss);
    link->burst_ends = threshold(ends);
    link->burst_begins = threshold(begins < 1 ? begins : 1);
    link->reorder = threshold(params->reorder);
    link->duplicate = threshold(params->duplicate);
    link->corrupt = threshold(params->corrupt);
    if (params->burst_loss == 0)
        link->in_burst = false;
}

void oche_link_forget_order(struct oche_link *link)
{
    memset(link->latest, 0, sizeof(link->latest));
}

void oche_link_init(struct oche_link *link, const struct oche_link_params *params, uint64_t entity,
                    oche_time now)
{
    const uint64_t seed = params->seed;

    *link =
        (struct oche_link){.loss_random = oche_random_stream(seed, "link loss", entity),
                           .burst_random = oche_random_stream(seed, "link burst", entity),
                           .jitter_random = oche_random_stream(seed, "link jitter", entity),
                           .reorder_random = oche_random_stream(seed, "link reorder", entity),
                           .spray_random = oche_random_stream(seed, "link spray", entity),
                           .duplicate_random = oche_random_stream(seed, "link duplicate", entity),
                           .corrupt_random = oche_random_stream(seed, "link corrupt", entity)};
    oche_link_change(link, params, now);
}

/* ---- a packet ---- */

static bool happens(struct oche_random *random, uint64_t threshold)
{
    return threshold != 0 && oche_random_u64(random) >> 1 < threshold;
}

static bool is_down(const struct oche_link *link, oche_time when)
{
    const oche_time period = link->params.flap_up + link->params.flap_down;

    return period != 0 && (when - link->since) % period >= link->params.flap_up;
}

/* True if the packet is lost in a burst. */
static bool in_burst(struct oche_link *link)
{
    if (link->burst_begins == 0)
        return false;
    link->in_burst = link->in_burst ? !happens(&link->burst_random, link->burst_ends)
                                    : happens(&link->burst_random, link->burst_begins);
    return link->in_burst;
}

/* True if the packet is lost, which is then counted. */
static bool loses(struct oche_link *link, oche_time left)
{
    /* Draws do not depend on each other: each stream is used once for each packet. */
    const bool lost = happens(&link->loss_random, link->loss), burst = in_burst(link);

    if (is_down(link, left))
        link->lost[OCHE_LINK_LOST_DOWN]++;
    else if (burst)
        link->lost[OCHE_LINK_LOST_BURST]++;
    else if (lost)
        link->lost[OCHE_LINK_LOST]++;
    else
        return false;
    return true;
}

/* Returns a number with mean 0 and standard deviation 1, from -6 to 6: a sum of twelve. */
static double normal(struct oche_random *random)
{
    double sum = -6;

    for (unsigned i = 0; i < 12; i++)
        sum += oche_random_unit(random);
    return sum;
}

/* Returns a number of mean 1, by von Neumann's method, which needs no logarithm. */
static double exponential(struct oche_random *random)
{
    for (unsigned whole = 0;; whole++) {
        const double first = oche_random_unit(random);
        double last = first, next;
        unsigned falling = 1;

        while ((next = oche_random_unit(random)) < last) {
            last = next;
            falling++;
        }
        if (falling % 2 == 1)
            return whole + first;
    }
}

static oche_time delay_of(struct oche_link *link)
{
    const struct oche_link_params *params = &link->params;
    double factor, delay;

    if (params->jitter == 0)
        return params->delay;
    switch ((enum oche_link_jitter)params->jitter_shape) {
    case OCHE_LINK_NORMAL:
        factor = normal(&link->jitter_random);
        break;
    case OCHE_LINK_EXPONENTIAL:
        factor = exponential(&link->jitter_random);
        break;
    default:
        factor = 2 * oche_random_unit(&link->jitter_random) - 1;
    }
    delay = (double)params->delay + factor * (double)params->jitter;
    return delay > 0 ? (oche_time)delay : 0;
}

/* Returns the arrival of a packet, after the last one on its path unless it is reordered. */
static oche_time arrival(struct oche_link *link, oche_time left)
{
    const uint64_t path =
        link->params.spray > 1 ? oche_random_below(&link->spray_random, link->params.spray) : 0;
    const oche_time due = left + delay_of(link) + path * link->params.spray_by;

    if (happens(&link->reorder_random, link->reorder)) {
        link->reordered++;
        return due + link->params.reorder_by;
    }
    return link->latest[path] = oche_time_max(due, link->latest[path]);
}

/* True if a bit of the packet is inverted: each bit with a probability, or the packet. */
static bool is_corrupt(struct oche_link *link, uint32_t bytes)
{
    double good = 1;
    uint64_t limit = link->corrupt;

    if (limit == 0)
        return false;
    if (link->params.corrupt_per == OCHE_LINK_PER_BIT) {
        /* (1 - p)^(8 bytes), by squaring */
        double power = 1 - link->params.corrupt;

        for (uint32_t bits = 8 * bytes; bits != 0; bits /= 2, power *= power)
            if (bits % 2 == 1)
                good *= power;
        limit = threshold(1 - good);
    }
    return happens(&link->corrupt_random, limit);
}

void oche_link_cross(struct oche_link *link, oche_time left, uint32_t bytes,
                     struct oche_link_fate *fate)
{
    *fate = (struct oche_link_fate){.copies = 0};
    if (loses(link, left))
        return;
    link->arrived++;
    fate->copies = 1;
    fate->arrives[0] = arrival(link, left);
    if (is_corrupt(link, bytes)) {
        fate->corrupt = true;
        fate->bit = (uint32_t)oche_random_below(&link->corrupt_random, 8 * (uint64_t)bytes);
        link->corrupted++;
    }
    if (happens(&link->duplicate_random, link->duplicate)) {
        fate->copies = 2;
        fate->arrives[1] = fate->arrives[0] + DUPLICATE_AFTER;
        link->duplicated++;
    }
}
