/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The congestion control of HPCC's simulator: its DCQCN is our `mode: nic` with marks echoed by
 * ACKs (dcqcn.md#readings), its TIMELY and DCTCP are near ours, and its HPCC is ours (hpcc.md).
 */
#include <string.h>

#include "sim/foreign/ns3_job.h"

enum mode { DCQCN = 1, HPCC = 3, TIMELY = 7, DCTCP = 8, HPCC_PINT = 10 };

#define SECTION     "congestion_control"
#define PS_PER_US   1e6
#define MOST_US     1e6
#define LEAST_US    0.001
#define MOST_BPS    UINT64_C(1000000000000)
#define MOST_STEPS  1000
#define LEAST_GAIN  1e-6
#define LEAST_SHARE 0.01
#define MOST_SHARE  2.0
#define MOST_STAGES 1000000
#define HAI_STAGES  5 /* TIMELY: increases in a row before the larger step */

/* Sets a time that the file has in microseconds. */
static bool set_us(const struct oche_ns3_job *job, enum oche_ns3_key key, const char *ours)
{
    const struct oche_ns3_value *value = oche_ns3_given(job, key);

    if (value == NULL)
        return true;
    if (value->real < LEAST_US || value->real > MOST_US)
        return oche_ns3_refuse(job, key, "%g us; from 0.001 to 1000000", value->real);
    oche_translation_set_unit(job->to, SECTION, ours, oche_ns3_key_name(key), OCHE_UNIT_TIME,
                              (uint64_t)(value->real * PS_PER_US + 0.5));
    return true;
}

static bool set_rate(const struct oche_ns3_job *job, enum oche_ns3_key key, const char *ours)
{
    const struct oche_ns3_value *value = oche_ns3_given(job, key);

    if (value == NULL)
        return true;
    if (value->count > MOST_BPS)
        return oche_ns3_refuse(job, key, "%llu bit/s; at most 1Tb/s",
                               (unsigned long long)value->count);
    oche_translation_set_unit(job->to, SECTION, ours, oche_ns3_key_name(key), OCHE_UNIT_BPS,
                              value->count);
    return true;
}

static bool set_gain(const struct oche_ns3_job *job, double least)
{
    const struct oche_ns3_value *value = oche_ns3_given(job, OCHE_NS3_EWMA_GAIN);

    if (value == NULL)
        return true;
    if (value->real < least || value->real > 1)
        return oche_ns3_refuse(job, OCHE_NS3_EWMA_GAIN, "%g; from %g to 1", value->real, least);
    oche_translation_set_real(job->to, SECTION, "g", "EWMA_GAIN", value->real);
    return true;
}

static bool translate_dcqcn(const struct oche_ns3_job *job)
{
    const struct oche_ns3_value *steps = oche_ns3_given(job, OCHE_NS3_FAST_RECOVERY_TIMES);
    const struct oche_ns3_value *clamp = oche_ns3_given(job, OCHE_NS3_CLAMP_TARGET_RATE);

    oche_translation_set(job->to, SECTION, "name", "CC_MODE", "dcqcn");
    oche_translation_set(job->to, SECTION, "mode", "as in HPCC's simulator", "nic");
    oche_translation_set(job->to, SECTION, "np", "ACKs echo marks, there are no CNPs", "ack");
    if (steps != NULL) {
        if (steps->count < 1 || steps->count > MOST_STEPS)
            return oche_ns3_refuse(job, OCHE_NS3_FAST_RECOVERY_TIMES, "%llu; from 1 to %d",
                                   (unsigned long long)steps->count, MOST_STEPS);
        oche_translation_set(job->to, SECTION, "fast_recovery_steps", "FAST_RECOVERY_TIMES", "%llu",
                             (unsigned long long)steps->count);
    }
    if (clamp != NULL)
        oche_translation_set(job->to, SECTION, "target_at_cut", "CLAMP_TARGET_RATE", "%s",
                             clamp->count == 0 ? "after_increase" : "always");
    return set_gain(job, LEAST_GAIN) &&
           set_us(job, OCHE_NS3_ALPHA_RESUME_INTERVAL, "alpha_interval") &&
           set_us(job, OCHE_NS3_RATE_DECREASE_INTERVAL, "reduce_monitor_period") &&
           set_us(job, OCHE_NS3_RP_TIMER, "timer") && set_rate(job, OCHE_NS3_RATE_AI, "rai") &&
           set_rate(job, OCHE_NS3_RATE_HAI, "rhai") && set_rate(job, OCHE_NS3_MIN_RATE, "min_rate");
}

static bool translate_timely(const struct oche_ns3_job *job)
{
    static const char from[] = "as in HPCC's simulator";
    const struct oche_ns3_value *step = oche_ns3_given(job, OCHE_NS3_RATE_AI);
    const struct oche_ns3_value *large = oche_ns3_given(job, OCHE_NS3_RATE_HAI);

    oche_translation_set(job->to, SECTION, "name", "CC_MODE", "timely");
    oche_translation_set(job->to, SECTION, "t_low", from, "50us");
    oche_translation_set(job->to, SECTION, "t_high", from, "500us");
    oche_translation_set(job->to, SECTION, "min_rtt", from, "20us");
    oche_translation_set(job->to, SECTION, "ewma", from, "0.875");
    oche_translation_set(job->to, SECTION, "beta", from, "0.8");
    oche_translation_set(job->to, SECTION, "pacing", from, "packet");
    oche_translation_set(job->to, SECTION, "start", from, "line");
    oche_translation_set(job->to, SECTION, "hai_events", from, "%d", HAI_STAGES);
    if (step != NULL && large != NULL && step->count > 0 && large->count >= step->count &&
        large->count / step->count <= MOST_STEPS) {
        oche_translation_set(job->to, SECTION, "hai_multiplier", "RATE_HAI over RATE_AI", "%llu",
                             (unsigned long long)(large->count / step->count));
        if (large->count % step->count != 0)
            oche_translation_note(job->to, OCHE_NOTE_ASSUMED,
                                  "RATE_HAI is rounded down to a multiple of RATE_AI");
    }
    oche_translation_note(job->to, OCHE_NOTE_ASSUMED,
                          "TIMELY: a new rate after each segment; there once a round trip");
    return set_rate(job, OCHE_NS3_RATE_AI, "delta") && set_rate(job, OCHE_NS3_MIN_RATE, "min_rate");
}

static bool translate_dctcp(const struct oche_ns3_job *job)
{
    oche_translation_set(job->to, SECTION, "name", "CC_MODE", "dctcp");
    if (oche_ns3_count(job, OCHE_NS3_ENABLE_PFC, 1) != 0)
        oche_translation_set(job->to, SECTION, "lossless", "PFC is for all traffic there", "true");
    oche_translation_note(job->to, OCHE_NOTE_NO_COUNTERPART,
                          "CC_MODE 8: DCTCP as a rate in NICs; here it is TCP's, with a window, "
                          "without DCTCP_RATE_AI, MIN_RATE and L2_ keys");
    return set_gain(job, 1.0 / 65536);
}

static bool translate_hpcc(const struct oche_ns3_job *job)
{
    const struct oche_ns3_value *share = oche_ns3_given(job, OCHE_NS3_U_TARGET);
    const struct oche_ns3_value *stages = oche_ns3_given(job, OCHE_NS3_MI_THRESH);
    const struct oche_ns3_value *react = oche_ns3_given(job, OCHE_NS3_FAST_REACT);

    oche_translation_set(job->to, SECTION, "name", "CC_MODE", "hpcc");
    if (share != NULL && (share->real < LEAST_SHARE || share->real > MOST_SHARE))
        return oche_ns3_refuse(job, OCHE_NS3_U_TARGET, "%g; from %g to %g", share->real,
                               LEAST_SHARE, MOST_SHARE);
    if (share != NULL)
        oche_translation_set_real(job->to, SECTION, "eta", "U_TARGET", share->real);
    if (stages != NULL && stages->count > MOST_STAGES)
        return oche_ns3_refuse(job, OCHE_NS3_MI_THRESH, "%llu; at most %d",
                               (unsigned long long)stages->count, MOST_STAGES);
    if (stages != NULL)
        oche_translation_set(job->to, SECTION, "max_stage", "MI_THRESH", "%llu",
                             (unsigned long long)stages->count);
    if (react != NULL)
        oche_translation_set(job->to, SECTION, "update", "FAST_REACT", "%s",
                             react->count == 0 ? "rtt" : "both");
    return set_rate(job, OCHE_NS3_RATE_AI, "r_ai") && set_rate(job, OCHE_NS3_MIN_RATE, "min_rate");
}

/* ---- windows, and keys of one scheme ---- */

/* Notes, in one line, the keys of a list that are in the file. */
static void note_keys(const struct oche_ns3_job *job, const enum oche_ns3_key *keys, size_t count,
                      enum oche_note_kind kind, const char *why)
{
    char names[600];
    size_t used = 0;

    for (size_t i = 0; i < count && used < sizeof(names); i++)
        if (oche_ns3_given(job, keys[i]) != NULL)
            used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s",
                                     used > 0 ? ", " : "", oche_ns3_key_name(keys[i]));
    if (used > 0)
        oche_translation_note(job->to, kind, kind == OCHE_NOTE_NOT_NEEDED ? "%s (%s)" : "%s: %s",
                              names, why);
}

#define NOTE_KEYS(job, kind, why, ...)                                                             \
    note_keys(job, (const enum oche_ns3_key[]){__VA_ARGS__},                                       \
              sizeof((const enum oche_ns3_key[]){__VA_ARGS__}) / sizeof(enum oche_ns3_key), kind,  \
              why)

static bool is_hpcc(uint64_t mode)
{
    return mode == HPCC || mode == HPCC_PINT;
}

static void note_window(const struct oche_ns3_job *job)
{
    if (is_hpcc(oche_ns3_count(job, OCHE_NS3_CC_MODE, DCQCN)))
        NOTE_KEYS(job, OCHE_NOTE_NOT_NEEDED, "HPCC has its window", OCHE_NS3_HAS_WIN,
                  OCHE_NS3_VAR_WIN, OCHE_NS3_GLOBAL_T);
    else if (oche_ns3_count(job, OCHE_NS3_HAS_WIN, 1) == 0)
        NOTE_KEYS(job, OCHE_NOTE_NOT_NEEDED, "no window", OCHE_NS3_HAS_WIN, OCHE_NS3_VAR_WIN,
                  OCHE_NS3_GLOBAL_T);
    else
        NOTE_KEYS(job, OCHE_NOTE_NO_COUNTERPART,
                  "a window of a bandwidth-delay product, which senders here do not have",
                  OCHE_NS3_HAS_WIN, OCHE_NS3_VAR_WIN, OCHE_NS3_GLOBAL_T);
    if (oche_ns3_count(job, OCHE_NS3_RATE_BOUND, 1) == 0)
        NOTE_KEYS(job, OCHE_NOTE_NO_COUNTERPART,
                  "0: senders ignore their rates; here they follow them", OCHE_NS3_RATE_BOUND);
    else
        NOTE_KEYS(job, OCHE_NOTE_NOT_NEEDED, "senders follow their rates", OCHE_NS3_RATE_BOUND);
}

/* Keys of HPCC that its scheme here has, and that it has not. */
#define HPCC_KEYS OCHE_NS3_U_TARGET, OCHE_NS3_MI_THRESH, OCHE_NS3_FAST_REACT
#define HPCC_OTHERS                                                                                \
    OCHE_NS3_INT_MULTI, OCHE_NS3_MULTI_RATE, OCHE_NS3_SAMPLE_FEEDBACK, OCHE_NS3_PINT_LOG_BASE,     \
        OCHE_NS3_PINT_PROB

static void note_schemes(const struct oche_ns3_job *job, uint64_t mode)
{
    if (is_hpcc(mode))
        NOTE_KEYS(job, OCHE_NOTE_NO_COUNTERPART, "telemetry is whole and in each packet here",
                  HPCC_OTHERS);
    else
        NOTE_KEYS(job, OCHE_NOTE_NOT_NEEDED, "of HPCC", HPCC_KEYS, HPCC_OTHERS);
    if (is_hpcc(mode))
        NOTE_KEYS(job, OCHE_NOTE_NOT_NEEDED, "of DCQCN", OCHE_NS3_ALPHA_RESUME_INTERVAL,
                  OCHE_NS3_RATE_DECREASE_INTERVAL, OCHE_NS3_CLAMP_TARGET_RATE, OCHE_NS3_RP_TIMER,
                  OCHE_NS3_FAST_RECOVERY_TIMES, OCHE_NS3_EWMA_GAIN, OCHE_NS3_RATE_HAI);
    if (mode != DCTCP)
        NOTE_KEYS(job, OCHE_NOTE_NOT_NEEDED, "of DCTCP", OCHE_NS3_DCTCP_RATE_AI);
    if (mode == TIMELY || mode == DCTCP)
        NOTE_KEYS(job, OCHE_NOTE_NOT_NEEDED, "of DCQCN", OCHE_NS3_ALPHA_RESUME_INTERVAL,
                  OCHE_NS3_RATE_DECREASE_INTERVAL, OCHE_NS3_CLAMP_TARGET_RATE, OCHE_NS3_RP_TIMER,
                  OCHE_NS3_FAST_RECOVERY_TIMES);
    if (mode == TIMELY)
        NOTE_KEYS(job, OCHE_NOTE_NOT_NEEDED, "of DCQCN, DCTCP", OCHE_NS3_EWMA_GAIN);
    if (mode == DCTCP)
        NOTE_KEYS(job, OCHE_NOTE_NOT_NEEDED, "not of DCTCP", OCHE_NS3_RATE_AI, OCHE_NS3_RATE_HAI);
}

/* Notes a mode that oche does not have. */
static void note_mode(const struct oche_ns3_job *job, uint64_t mode)
{
    if (mode == HPCC_PINT)
        oche_translation_note(job->to, OCHE_NOTE_NO_COUNTERPART,
                              "CC_MODE 10: HPCC-PINT, which samples telemetry; HPCC in its place");
    else if (mode != DCQCN && mode != HPCC && mode != TIMELY && mode != DCTCP)
        oche_translation_note(
            job->to, OCHE_NOTE_NOT_KNOWN,
            "CC_MODE %llu; 1 is DCQCN, 3 HPCC, 7 TIMELY, 8 DCTCP, 10 HPCC-PINT: DCQCN in its place",
            (unsigned long long)mode);
}

bool oche_ns3_translate_congestion(const struct oche_ns3_job *job)
{
    const uint64_t mode = oche_ns3_count(job, OCHE_NS3_CC_MODE, DCQCN);

    note_mode(job, mode);
    note_schemes(job, mode);
    note_window(job);
    if (oche_ns3_count(job, OCHE_NS3_ENABLE_QCN, 1) == 0 && mode != TIMELY && !is_hpcc(mode)) {
        oche_translation_set(job->to, SECTION, "name", "ENABLE_QCN", "none");
        oche_translation_note(
            job->to, OCHE_NOTE_ASSUMED,
            "ENABLE_QCN 0: without marks senders never slow down: congestion_control: none");
        return true;
    }
    switch (mode) {
    case TIMELY:
        return translate_timely(job);
    case DCTCP:
        return translate_dctcp(job);
    case HPCC:
    case HPCC_PINT:
        return translate_hpcc(job);
    default:
        return translate_dcqcn(job);
    }
}
