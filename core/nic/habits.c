/* SPDX-License-Identifier: Apache-2.0 */
/* The parameter table of struct oche_nic_habits. */
#include "core/nic/habits.h"

typedef struct oche_nic_habits row;

static const char *const kinds[] = {[OCHE_TIMEOUTS_AS_ASKED] = "as_asked",
                                    [OCHE_TIMEOUTS_DOUBLING] = "connectx",
                                    [OCHE_TIMEOUTS_CONNECTX6] = "connectx-6",
                                    [OCHE_TIMEOUTS_PROFILE] = "adaptive",
                                    NULL};
static const char *const restarts[] = {"progress", "packet", NULL};
static const char *const decreases[] = {[OCHE_DECREASE_BY_4] = "div_4",
                                        [OCHE_DECREASE_BY_2] = "div_2",
                                        [OCHE_DECREASE_TO_LOW] = "low_bound",
                                        NULL};

static const char *const scopes[] = {[OCHE_CNP_SCOPE_QUEUE_PAIR] = "queue_pair",
                                     [OCHE_CNP_SCOPE_DESTINATION] = "destination",
                                     [OCHE_CNP_SCOPE_PORT] = "port",
                                     NULL};
static const char *const errors[] = {
    [OCHE_VENDOR_ERRORS_OWN] = "own", [OCHE_VENDOR_ERRORS_CONNECTX] = "connectx", NULL};

#define MOST_EXPONENT 31

/* The five fields of a range, whose values are a range of the vendor's example of 4 us. */
#define RANGE(i, least, span, retries, before)                                                     \
    {OCHE_PARAM_AS("range_low_bound_" #i, row, timeouts.profile.range[i].low_bound),               \
     OCHE_IS_COUNT(least, 0, MOST_EXPONENT), .where = "nics.md#adaptive",                          \
     .help = "adaptive: smallest exponent of range " #i},                                          \
        {OCHE_PARAM_AS("range_size_" #i, row, timeouts.profile.range[i].size),                     \
         OCHE_IS_COUNT(span, 0, MOST_EXPONENT), .where = "nics.md#adaptive",                       \
         .help = "adaptive: exponents of range " #i " above the smallest"},                        \
        {OCHE_PARAM_AS("timeout_retry_num_" #i, row, timeouts.profile.range[i].retry_num),         \
         OCHE_IS_COUNT(retries, 0, 1023), .where = "nics.md#adaptive",                             \
         .help = "adaptive: timeouts with an exponent of range " #i " before the next exponent"},  \
        {OCHE_PARAM_AS("dec_mode_" #i, row, timeouts.profile.range[i].dec_mode),                   \
         OCHE_IS_CHOICE(OCHE_DECREASE_BY_2, decreases), .where = "nics.md#adaptive",               \
         .help = "adaptive: how progress shortens the timeout in range " #i},                      \
    {                                                                                              \
        OCHE_PARAM_AS("prev_range_index_" #i, row, timeouts.profile.range[i].prev_range_index),    \
            OCHE_IS_COUNT(before, 0, OCHE_ADAPTIVE_RANGES - 1),                                    \
            .where = "nics.md#adaptive",                                                           \
            .help = "adaptive: the range that progress leads to from the least of range " #i       \
    }

static const struct oche_param rows[] = {
    {OCHE_PARAM_AS("timeouts", row, timeouts.kind), OCHE_IS_CHOICE(OCHE_TIMEOUTS_AS_ASKED, kinds),
     .where = "nics.md#timeouts",
     .help = "ACK timeouts are the ones that were asked for; or 2, 4, 8, then 16 ms in a row; or "
             "those of a ConnectX-6; or NVIDIA's adaptive ones, by the fields below"},
    {OCHE_PARAM_AS("min_ack_timeout_limit_disabled", row, timeouts.min_ack_timeout_limit_disabled),
     OCHE_IS_BOOL(false), .where = "nics.md#connectx-6",
     .help = "connectx-6: no adaptive timeouts, and regular ones as asked, however short"},
    {OCHE_PARAM_AS("time_base", row, timeouts.profile.time_base),
     OCHE_IS_TIME(4 * OCHE_US, OCHE_US, OCHE_SEC), .where = "nics.md#adaptive",
     .help = "adaptive: a timeout of exponent e is this * 2^e"},
    {OCHE_PARAM_AS("timeout_init_low_bound", row, timeouts.profile.timeout_init_low_bound),
     OCHE_IS_COUNT(11, 0, MOST_EXPONENT), .where = "nics.md#adaptive",
     .help = "adaptive: smallest exponent of a queue pair's first timeout"},
    {OCHE_PARAM_AS("timeout_init_range_size", row, timeouts.profile.timeout_init_range_size),
     OCHE_IS_COUNT(4, 0, MOST_EXPONENT), .where = "nics.md#adaptive",
     .help = "adaptive: of so many exponents a queue pair draws its first"},
    {OCHE_PARAM_AS("range_num", row, timeouts.profile.range_num),
     OCHE_IS_COUNT(1, 0, OCHE_ADAPTIVE_RANGES), .where = "nics.md#adaptive",
     .help = "adaptive: so many ranges are valid"},
    {OCHE_PARAM_AS("start_range_index", row, timeouts.profile.start_range_index),
     OCHE_IS_COUNT(0, 0, OCHE_ADAPTIVE_RANGES - 1), .where = "nics.md#adaptive",
     .help = "adaptive: the range after a first timeout that is in none"},
    {OCHE_PARAM_AS("qp_total_timeout", row, timeouts.profile.qp_total_timeout), OCHE_IS_BOOL(true),
     .where = "nics.md#adaptive",
     .help = "adaptive: a queue pair fails after its timeout * retry count; or else after "
             "time_base * 2^retx_total_timeout"},
    {OCHE_PARAM_AS("retx_total_timeout", row, timeouts.profile.retx_total_timeout),
     OCHE_IS_COUNT(20, 0, MOST_EXPONENT), .where = "nics.md#adaptive",
     .help = "adaptive: exponent of the time after which a queue pair fails"},
    RANGE(0, 11, 6, 1, 0),
    RANGE(1, 18, 2, 1, 0),
    RANGE(2, 21, 1, 1, 1),
    RANGE(3, 23, 0, 1, 2),
    {OCHE_PARAM(row, timer_restart), OCHE_IS_CHOICE(OCHE_TIMER_RESTARTS_AT_PROGRESS, restarts),
     .where = "error-recovery.md#l10",
     .help = "when the ACK timer begins anew: with progress, or also with each packet that the "
             "queue pair sends"},
    {OCHE_PARAM(row, nak_delay), OCHE_IS_TIME(0, 0, OCHE_SEC), .where = "nics.md#naks",
     .help = "from the packet behind a gap until the responder's NAK leaves"},
    {OCHE_PARAM(row, nak_reaction), OCHE_IS_TIME(0, 0, OCHE_SEC), .where = "nics.md#naks",
     .help = "from a NAK's arrival until the requester begins to send again"},
    {OCHE_PARAM(row, read_nak_delay), OCHE_IS_TIME(0, 0, OCHE_SEC), .where = "nics.md#naks",
     .help = "from a gap in READ responses until the requester asks again"},
    {OCHE_PARAM(row, nak_brings_cnp), OCHE_IS_BOOL(false), .where = "nics.md#cnps",
     .help = "a NAK for a gap brings a CNP, paced as others"},
    {OCHE_PARAM(row, slow_restart), OCHE_IS_BOOL(false), .where = "nics.md#slow-restart",
     .help = "an ACK timeout lowers the queue pair's rate as a CNP does"},
    {OCHE_PARAM(row, checks_each_packet), OCHE_IS_BOOL(false), .where = "nics.md#errors",
     .help = "a WRITE across the end of a memory region writes the packets before the end; false: "
             "it writes nothing"},
    {OCHE_PARAM(row, cnp_interval), OCHE_IS_TIME(OCHE_NEVER, 0, OCHE_SEC), .automatic = true,
     .where = "nics.md#cnps",
     .help = "least time between two CNPs; auto: the congestion control's cnp_interval"},
    {OCHE_PARAM(row, cnp_scope), OCHE_IS_CHOICE(OCHE_CNP_SCOPE_QUEUE_PAIR, scopes),
     .where = "nics.md#cnps", .help = "for which CNPs together that time holds"},
    {OCHE_PARAM(row, cnp_delay), OCHE_IS_TIME(0, 0, OCHE_SEC), .where = "nics.md#cnps",
     .help = "from the mark, or the NAK, that leads to a CNP until it leaves"},
    {OCHE_PARAM(row, ect_always), OCHE_IS_BOOL(false), .where = "nics.md#ect",
     .help = "data packets have ECT(0), whatever the congestion control"},
    {OCHE_PARAM_AS("ingress_buffer", row, ingress_buffer_bytes),
     OCHE_IS_BYTES(0, 0, UINT64_C(1) << 31), .where = "nics.md#receive-path",
     .help = "buffer that arriving data waits in until it is in memory; what finds no room is "
             "lost; 0: nothing waits; only in the simulator, as the next two"},
    {OCHE_PARAM_AS("drain_rate", row, drain_bps), OCHE_IS_BPS(0, 0, 1000000 * OCHE_GBPS),
     .where = "nics.md#receive-path",
     .help = "rate at which data leaves that buffer, headers included; needs ingress_buffer"},
    {OCHE_PARAM_AS("ingress_mark", row, ingress_mark_bytes),
     OCHE_IS_BYTES(OCHE_NEVER, 0, OCHE_NEVER), .where = "nics.md#receive-path",
     .help = "data that comes while more than this waits there is marked CE, so that the adapter "
             "sends CNPs of its own; never: it does not"},
    {OCHE_PARAM_AS("limiter_lag", row, limiter_lag_bytes), OCHE_IS_BYTES(0, 0, 1 << 30),
     .where = "RoGUE sec 3.3; rogue.md#habits",
     .help = "a queue pair sends so much before a new limit of its rate holds"},
    {OCHE_PARAM(row, resend_one_verb_at_a_time), OCHE_IS_BOOL(false),
     .where = "RoGUE sec 5.2; rogue.md#habits",
     .help = "messages that are sent again wait each for the ACK of the one before"},
    {OCHE_PARAM(row, vendor_errors), OCHE_IS_CHOICE(OCHE_VENDOR_ERRORS_OWN, errors),
     .where = "nics.md#errors",
     .help = "vendor_err of a failed completion: oche's causes, or a ConnectX's syndromes; only on "
             "the wire"},
};

const struct oche_param_table oche_nic_habits_table = OCHE_PARAM_TABLE(rows, row);

/* True if a field of an adaptive profile is not at its default. */
static bool has_profile(const struct oche_nic_habits *habits)
{
    const size_t from = offsetof(struct oche_nic_habits, timeouts.profile);

    for (size_t i = 0; i < OCHE_COUNT_OF(rows); i++)
        if (rows[i].offset >= from && rows[i].offset < from + sizeof(habits->timeouts.profile) &&
            oche_param_get(&rows[i], habits).u != rows[i].preset.u)
            return true;
    return false;
}

const char *oche_nic_habits_check(const struct oche_nic_habits *habits)
{
    const struct oche_adaptive_profile *profile = &habits->timeouts.profile;

    if (habits->cnp_scope != OCHE_CNP_SCOPE_QUEUE_PAIR && habits->cnp_interval == OCHE_NEVER)
        return "cnp_scope: needs a cnp_interval; give one, or leave it out";
    if ((habits->ingress_buffer_bytes > 0) != (habits->drain_bps > 0))
        return "drain_rate: belongs together with ingress_buffer; give both, or none";
    if (habits->ingress_mark_bytes != OCHE_NEVER && habits->ingress_buffer_bytes == 0)
        return "ingress_mark: has no effect without ingress_buffer; give it, or leave this out";
    if (habits->timeouts.min_ack_timeout_limit_disabled &&
        habits->timeouts.kind != OCHE_TIMEOUTS_CONNECTX6)
        return "min_ack_timeout_limit_disabled: has no effect without timeouts: connectx-6; set "
               "that, or leave this out";
    if (habits->timeouts.kind != OCHE_TIMEOUTS_PROFILE)
        return has_profile(habits) ? "timeouts: the fields of an adaptive profile (time_base, "
                                     "range_num, …) have no "
                                     "effect unless this is adaptive; set it, or leave them out"
                                   : NULL;
    if (profile->start_range_index > 0 && profile->start_range_index >= profile->range_num)
        return "start_range_index: there is no such range; below range_num";
    for (uint64_t i = 1; i < profile->range_num; i++)
        if (profile->range[i].low_bound <=
            profile->range[i - 1].low_bound + profile->range[i - 1].size)
            return "range_num: ranges overlap or are not in order; each range_low_bound must be "
                   "above the last exponent of the range before";
    for (uint64_t i = 0; i < profile->range_num; i++)
        if (profile->range[i].prev_range_index >= profile->range_num)
            return "range_num: a prev_range_index names a range that is not valid; below range_num";
    return NULL;
}

/*
 * DCQCN's alpha is to become smaller only without CNPs, so its interval is above theirs, by a tenth
 * in the paper. An adapter whose CNPs are farther apart has a longer one.
 */
static void fit_alpha(const struct oche_param_table *table, void *params, oche_time cnp_interval,
                      const char *(*check)(const void *params))
{
    const struct oche_param *alpha = oche_param_find(table, "alpha_interval");

    if (alpha != NULL && check != NULL && check(params) != NULL)
        oche_param_set(alpha, params, (union oche_value){.u = cnp_interval + cnp_interval / 10});
}

bool oche_nic_habits_fit(struct oche_nic_habits *habits, const struct oche_param_table *table,
                         void *params, const char *(*check)(const void *params))
{
    const struct oche_param *param = oche_param_find(table, "cnp_interval");

    if (param == NULL)
        return false;
    if (habits->cnp_interval == OCHE_NEVER) {
        habits->cnp_interval = oche_param_get(param, params).u;
        return false;
    }
    oche_param_set(param, params,
                   (union oche_value){.u = habits->cnp_interval > 0 ? habits->cnp_interval : 1});
    fit_alpha(table, params, habits->cnp_interval, check);
    return true;
}
