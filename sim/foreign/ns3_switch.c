/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Switches of HPCC's simulator. Marking goes by a port's rate there. Here thresholds grow with the
 * rate, or belong to a tier of switches; where neither fits, the slowest ports of a tier decide. A
 * port pauses a sender above an eighth of what is free; each doubling of its rate over that of the
 * hosts doubles the share, up to all.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/ecn.h"
#include "sim/foreign/ns3_job.h"
#include "sim/topology/builder.h"

#define MIB             UINT64_C(1048576)
#define MOST_BUFFER     UINT64_C(0x7fffffff)
#define KB              1000.0
#define MOST_RATES      16
#define RATE_TEXT_BYTES 32
/* CC_MODE */
#define TIMELY      7
#define HPCC        3
#define HPCC_PINT   10
#define LEAST_ALPHA 0.125
#define PRIORITIES  2 /* lossless classes of a switch here: data, and ACKs and CNPs */

/* The rates of a tier's ports, in rising order. */
struct rates {
    uint64_t bps[MOST_RATES];
    unsigned count;
};

struct marking {
    double kmin, kmax, pmax; /* bytes; probability */
    bool known;              /* all three maps have the rate */
};

static const char *const tiers[OCHE_NODE_KINDS] = {[OCHE_NODE_TOR] = "switch.tor",
                                                   [OCHE_NODE_AGGREGATION] = "switch.aggregation",
                                                   [OCHE_NODE_CORE] = "switch.core"};

/* Adds a rate. More than MOST_RATES are not kept: the slowest are. */
static void add_rate(struct rates *rates, uint64_t bps)
{
    unsigned at = 0;

    while (at < rates->count && rates->bps[at] < bps)
        at++;
    if (at == MOST_RATES || (at < rates->count && rates->bps[at] == bps))
        return;
    rates->count += rates->count < MOST_RATES;
    memmove(&rates->bps[at + 1], &rates->bps[at], (rates->count - 1 - at) * sizeof(rates->bps[0]));
    rates->bps[at] = bps;
}

/* Finds the rates of the ports of switches of a kind; OCHE_NODE_KINDS: of all kinds. */
static struct rates rates_of(const struct oche_ns3_files *files, uint32_t kind)
{
    const struct oche_topology *t = files->network;
    struct rates rates = {.count = 0};

    if (t == NULL) {
        if (kind == OCHE_NODE_KINDS)
            add_rate(&rates, files->host_rate_bps);
        return rates;
    }
    for (uint32_t n = t->host_count; n < oche_topology_nodes(t); n++)
        if (t->nodes[n].kind == kind || kind == OCHE_NODE_KINDS)
            for (uint32_t p = 0; p < t->nodes[n].port_count; p++)
                add_rate(&rates, oche_topology_port_link(t, n, p)->rate_bps);
    return rates;
}

static struct marking marking_of(const struct oche_ns3_config *config, uint64_t bps)
{
    struct marking marking = {.known = false};

    marking.known = oche_ns3_config_entry(config, OCHE_NS3_KMIN_MAP, bps, &marking.kmin) &&
                    oche_ns3_config_entry(config, OCHE_NS3_KMAX_MAP, bps, &marking.kmax) &&
                    oche_ns3_config_entry(config, OCHE_NS3_PMAX_MAP, bps, &marking.pmax);
    marking.kmin *= KB;
    marking.kmax *= KB;
    return marking;
}

static bool alike(const struct marking *a, const struct marking *b)
{
    return a->kmin == b->kmin && a->kmax == b->kmax && a->pmax == b->pmax;
}

static void write_rate(uint64_t bps, char text[RATE_TEXT_BYTES])
{
    oche_topology_rate(bps, text, RATE_TEXT_BYTES);
}

/* True if the ports of all rates mark alike. Notes rates that the maps do not have. */
static bool check_markings(const struct oche_ns3_job *job, const struct rates *rates, bool *same,
                           bool *any)
{
    struct marking first = {.known = false};
    char text[RATE_TEXT_BYTES];

    *same = true;
    *any = false;
    for (unsigned i = 0; i < rates->count; i++) {
        const struct marking marking = marking_of(job->config, rates->bps[i]);

        if (!marking.known) {
            write_rate(rates->bps[i], text);
            oche_translation_note(job->to, OCHE_NOTE_ASSUMED,
                                  "ports of %s mark as by default: KMIN_MAP, KMAX_MAP and PMAX_MAP "
                                  "do not have this rate",
                                  text);
            *same = false;
            continue;
        }
        if (marking.kmax > (double)MOST_BUFFER || marking.kmin > marking.kmax)
            return oche_ns3_refuse(job, OCHE_NS3_KMAX_MAP,
                                   "%.0f KB, and KMIN_MAP %.0f KB; at most 2147483 KB, and no less "
                                   "than that of KMIN_MAP",
                                   marking.kmax / KB, marking.kmin / KB);
        if (marking.pmax > 1)
            return oche_ns3_refuse(job, OCHE_NS3_PMAX_MAP, "%g; a probability from 0 to 1",
                                   marking.pmax);
        *same &= !*any || alike(&first, &marking);
        first = *any ? first : marking;
        *any = true;
    }
    return true;
}

static void set_marking(const struct oche_ns3_job *job, const char *section,
                        const struct marking *marking)
{
    oche_translation_set_unit(job->to, section, "kmin", "KMIN_MAP", OCHE_UNIT_BYTES,
                              (uint64_t)marking->kmin);
    oche_translation_set_unit(job->to, section, "kmax", "KMAX_MAP", OCHE_UNIT_BYTES,
                              (uint64_t)marking->kmax);
    oche_translation_set_real(job->to, section, "pmax", "PMAX_MAP", marking->pmax);
}

/* Returns the time in which a port sends so much; the marking of `auto`. */
static oche_time time_of(double bytes, uint64_t bps)
{
    return (oche_time)(bytes * 8 * (double)OCHE_SEC / (double)bps + 0.5);
}

/* Sets thresholds that grow with the rate of a port, as all maps of HPCC's own files do. */
static bool set_by_rate(const struct oche_ns3_job *job, const struct rates *rates)
{
    const struct marking first = marking_of(job->config, rates->bps[0]);
    const struct oche_switch_params params = {.ecn = true,
                                              .kmin_bytes = OCHE_NEVER,
                                              .kmax_bytes = OCHE_NEVER,
                                              .kmin_time = time_of(first.kmin, rates->bps[0]),
                                              .kmax_time = time_of(first.kmax, rates->bps[0])};

    for (unsigned i = 0; i < rates->count; i++) {
        const struct marking marking = marking_of(job->config, rates->bps[i]);
        const struct oche_red_ramp ramp = oche_red_ramp(&params, rates->bps[i]);

        if (!marking.known || (double)ramp.kmin != marking.kmin ||
            (double)ramp.kmax != marking.kmax || marking.pmax != first.pmax)
            return false;
    }
    oche_translation_set_unit(job->to, "switch", "kmin_time", "KMIN_MAP, which grows with the rate",
                              OCHE_UNIT_TIME, params.kmin_time);
    oche_translation_set_unit(job->to, "switch", "kmax_time", "KMAX_MAP", OCHE_UNIT_TIME,
                              params.kmax_time);
    oche_translation_set_real(job->to, "switch", "pmax", "PMAX_MAP", first.pmax);
    return true;
}

/* Sets the marking of a tier, whose slowest ports decide if its ports should differ. */
static void set_tier(const struct oche_ns3_job *job, uint32_t kind)
{
    const struct rates rates = rates_of(job->files, kind);
    struct marking chosen = {.known = false};
    char slow[RATE_TEXT_BYTES] = "", other[RATE_TEXT_BYTES];

    for (unsigned i = 0; i < rates.count; i++) {
        const struct marking marking = marking_of(job->config, rates.bps[i]);

        if (!marking.known)
            continue;
        if (!chosen.known) {
            chosen = marking;
            write_rate(rates.bps[i], slow);
            set_marking(job, tiers[kind], &chosen);
        } else if (!alike(&chosen, &marking)) {
            write_rate(rates.bps[i], other);
            oche_translation_note(job->to, OCHE_NOTE_ASSUMED,
                                  "%s: ports of %s mark as those of %s; a tier has one kmin, kmax "
                                  "and pmax here, and KMIN_MAP, KMAX_MAP or PMAX_MAP differ",
                                  tiers[kind], other, slow);
        }
    }
}

static bool translate_marking(const struct oche_ns3_job *job)
{
    const struct rates all = rates_of(job->files, OCHE_NODE_KINDS);
    const uint64_t mode = oche_ns3_count(job, OCHE_NS3_CC_MODE, 0);
    bool same, any;

    if (oche_ns3_count(job, OCHE_NS3_ENABLE_QCN, 1) == 0) {
        oche_translation_set(job->to, "switch", "ecn", "ENABLE_QCN", "false");
        return true;
    }
    if (mode == TIMELY || mode == HPCC || mode == HPCC_PINT) {
        oche_translation_note(job->to, OCHE_NOTE_NOT_NEEDED,
                              "KMIN_MAP, KMAX_MAP, PMAX_MAP (%s uses no marks)",
                              mode == TIMELY ? "TIMELY" : "HPCC");
        return true;
    }
    if (oche_ns3_given(job, OCHE_NS3_KMIN_MAP) == NULL ||
        oche_ns3_given(job, OCHE_NS3_KMAX_MAP) == NULL ||
        oche_ns3_given(job, OCHE_NS3_PMAX_MAP) == NULL) {
        oche_translation_note(job->to, OCHE_NOTE_ASSUMED,
                              "marking by default: KMIN_MAP, KMAX_MAP and PMAX_MAP are needed");
        return true;
    }
    if (!check_markings(job, &all, &same, &any))
        return false;
    if (same && any) {
        const struct marking marking = marking_of(job->config, all.bps[0]);

        set_marking(job, "switch", &marking);
        return true;
    }
    if (all.count > 0 && set_by_rate(job, &all))
        return true;
    for (uint32_t kind = OCHE_NODE_TOR; kind < OCHE_NODE_KINDS; kind++)
        set_tier(job, kind);
    return true;
}

/* Returns the share of what is free above which a port of this rate pauses. */
static double alpha_of(uint64_t bps, uint64_t nic_bps)
{
    double alpha = LEAST_ALPHA;

    for (; bps > nic_bps && alpha < 1; bps /= 2)
        alpha *= 2;
    return alpha;
}

static uint64_t nic_rate(const struct oche_ns3_files *files)
{
    return files->network == NULL ? files->host_rate_bps
                                  : oche_topology_port_link(files->network, 0, 0)->rate_bps;
}

/* Sets the threshold of PFC, with what differs in a tier. */
static void translate_pfc(const struct oche_ns3_job *job)
{
    static const char from[] = "as in HPCC's simulator";
    const uint64_t nic_bps = nic_rate(job->files);

    if (oche_ns3_count(job, OCHE_NS3_ENABLE_PFC, 1) == 0) {
        oche_translation_set(job->to, "switch", "pfc", "ENABLE_PFC", "false");
        return;
    }
    oche_translation_set(job->to, "switch", "pfc_priorities", from, "%d", PRIORITIES);
    oche_translation_set_real(job->to, "switch", "beta", "alpha 1/8, times pfc_priorities",
                              LEAST_ALPHA * PRIORITIES);
    oche_translation_set(job->to, "switch", "xon_offset", from, "3KiB");
    for (uint32_t kind = OCHE_NODE_TOR; kind < OCHE_NODE_KINDS; kind++) {
        const struct rates rates = rates_of(job->files, kind);
        const double alpha = rates.count == 0 ? LEAST_ALPHA : alpha_of(rates.bps[0], nic_bps);

        if (alpha > LEAST_ALPHA)
            oche_translation_set_real(job->to, tiers[kind], "beta",
                                      "alpha by the rate of the ports", alpha * PRIORITIES);
        for (unsigned i = 1; i < rates.count; i++)
            if (alpha_of(rates.bps[i], nic_bps) != alpha) {
                oche_translation_note(job->to, OCHE_NOTE_ASSUMED,
                                      "%s: all ports pause at one share of the free buffer; there "
                                      "faster ones hold more",
                                      tiers[kind]);
                break;
            }
    }
    oche_translation_note(
        job->to, OCHE_NOTE_ASSUMED,
        "headroom: by each link's rate and delay; there three times their product");
}

bool oche_ns3_translate_switch(const struct oche_ns3_job *job)
{
    const struct oche_ns3_value *buffer = oche_ns3_given(job, OCHE_NS3_BUFFER_SIZE);

    if (buffer != NULL) {
        if (buffer->count == 0 || buffer->count > MOST_BUFFER / MIB)
            return oche_ns3_refuse(job, OCHE_NS3_BUFFER_SIZE, "%llu MB; from 1 to %llu",
                                   (unsigned long long)buffer->count,
                                   (unsigned long long)(MOST_BUFFER / MIB));
        oche_translation_set(job->to, "switch", "buffer", "BUFFER_SIZE", "%lluMiB",
                             (unsigned long long)buffer->count);
    }
    translate_pfc(job);
    return translate_marking(job);
}
