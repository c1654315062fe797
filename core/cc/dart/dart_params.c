/* SPDX-License-Identifier: Apache-2.0 */
/* Dart's table of parameters, its weights and its tenants' shares (see dart.c). */
#include "core/cc/dart/dart_params.h"

#define MOST_WEIGHT 1000

static const char *const advertise_names[] = {"always", "congestion", NULL};
static const char *const share_line_names[] = {"least", "receiver", NULL};

const struct oche_param dart_param_rows[] = {
    {OCHE_PARAM(struct dart_params, base_rtt), OCHE_IS_TIME(12 * OCHE_US, OCHE_NS, OCHE_SEC),
     .where = "Dart sec V-A; dart.md#d8",
     .help = "round-trip time of the longest path without queues; updates, windows and "
             "AckReq go by it"},
    {OCHE_PARAM(struct dart_params, window), OCHE_IS_TIME(50 * OCHE_US, OCHE_NS, OCHE_SEC),
     .where = "dart.md#d5; dart.md#d6",
     .help = "time over which marks and throughput are judged, or base_rtt if that is "
             "longer"},
    {OCHE_PARAM(struct dart_params, line_above), OCHE_IS_REAL(0.95, 0.01, 1.0),
     .where = "dart.md#d5",
     .help = "a link counts as at line rate from this fraction of it on, with headers and "
             "gaps"},
    {OCHE_PARAM(struct dart_params, line_below), OCHE_IS_REAL(0.90, 0.01, 1.0),
     .where = "dart.md#d5",
     .help = "a link no longer counts as at line rate below this fraction of it"},
    {OCHE_PARAM(struct dart_params, soft_timeout), OCHE_IS_TIME(2 * OCHE_SEC, OCHE_US, OCHE_NEVER),
     .where = "Dart sec III-B; dart.md#d13",
     .help = "an active message that has had no packet for this long no longer counts"},
    {OCHE_PARAM(struct dart_params, linger), OCHE_IS_TIME(0, 0, OCHE_SEC),
     .where = "our choice (Dart sec III-B: 0)",
     .help = "a sender still counts for this long when its last message has ended, so that n stays "
             "the same from one message to the next"},
    {OCHE_PARAM(struct dart_params, advertise), OCHE_IS_CHOICE(0, advertise_names),
     .where = "Dart sec III-A, Fig 5; dart.md#d3",
     .help = "always: receivers tell n except in non-receiver congestion; congestion: only "
             "in receiver congestion"},
    {OCHE_PARAM(struct dart_params, suppress_marks), OCHE_IS_BOOL(true),
     .where = "Dart sec III-C, Fig 5; dart.md#d32",
     .help = "receivers answer no marks with CNPs except in non-receiver congestion; false: they "
             "answer marks in all states"},
    {OCHE_PARAM(struct dart_params, share_line), OCHE_IS_CHOICE(0, share_line_names),
     .where = "dart.md#d1",
     .help = "least: a share of the slower of both ends' links; receiver: of the receiver's"},
    {OCHE_PARAM(struct dart_params, fill), OCHE_IS_REAL(1.0, 0.01, 1.0),
     .where = "our choice (Dart sec III: 1)",
     .help = "part of the line that the shares of several senders fill; 1: no queue drains"},
    {OCHE_PARAM(struct dart_params, flight), OCHE_IS_TIME(OCHE_NEVER, OCHE_US, OCHE_NEVER),
     .where = "our choice (Dart: none)",
     .help = "no more payload is in flight than the rate carries in this time; never: no window"},
    {OCHE_PARAM(struct dart_params, least_rate), OCHE_IS_BPS(OCHE_MBPS, 1, 1000 * OCHE_GBPS),
     .where = "dart.md#d29",
     .help = "no share slows a queue pair down below this rate, whatever the receiver says"},
    {OCHE_PARAM_AS("stagger", struct dart_params, stagger_bytes),
     OCHE_IS_BYTES(0, 0, UINT64_C(1) << 30), .where = "Dart sec V-B; dart.md#d37",
     .help = "a queue pair sends so much payload at the line's rate, then waits until its mean "
             "rate is right, as applications of the testbed do; 0: each packet is paced"},
    {OCHE_PARAM(struct dart_params, updates), OCHE_IS_BOOL(true), .where = "dart.md#d8",
     .help = "send updates with a new n to senders that get no ACK now; the paper has ACKs "
             "only"},
    {OCHE_PARAM(struct dart_params, ack_packets), OCHE_IS_COUNT(16, 1, 1 << 20),
     .where = "dart.md#d8",
     .help =
         "a sender asks for an ACK after this many packets, or after base_rtt if that is earlier"},
    {OCHE_PARAM(struct dart_params, work_conserving), OCHE_IS_BOOL(false), .where = "dart.md#d4",
     .help = "without marks and below line rate, senders are told a smaller n"},
    {OCHE_PARAM(struct dart_params, work_conserving_windows), OCHE_IS_COUNT(2, 1, 1000000),
     .needs = "work_conserving", .where = "dart.md#d4",
     .help = "work_conserving begins after this many windows without marks and below line "
             "rate"},
    {OCHE_PARAM(struct dart_params, weights), OCHE_IS_TEXT, .where = "Dart sec III",
     .help = "shares of senders that are not 1: host:weight, …, as in 3:2, 7:4"},
    {OCHE_PARAM(struct dart_params, look_ahead), OCHE_IS_BOOL(true), .where = "Dart sec III-D",
     .help = "an incast's first message to arrive makes all of its senders count; false: "
             "groups are neither announced nor heeded"},
    {OCHE_PARAM(struct dart_params, look_ahead_timeout),
     OCHE_IS_TIME(10 * OCHE_MS, OCHE_NS, OCHE_NEVER), .needs = "look_ahead", .where = "dart.md#d13",
     .help = "a sender that was announced and has sent nothing for this long no longer counts"},
    {OCHE_PARAM(struct dart_params, look_ahead_senders), OCHE_IS_COUNT(256, 2, UINT16_MAX),
     .needs = "look_ahead", .where = "our choice (the NIC's memory)",
     .help = "senders of all groups that a tenant's receiver knows at a time; a list holds "
             "up to 200"},
    {OCHE_PARAM(struct dart_params, look_ahead_updates), OCHE_IS_BOOL(true), .needs = "look_ahead",
     .where = "Dart sec III-D; dart.md#d31",
     .help = "updates tell announced senders n before their first packet, and they begin with that "
             "share; false: they begin at line rate, as in sec III-A"},
    {OCHE_PARAM(struct dart_params, tenants), OCHE_IS_COUNT(1, 1, DART_MOST_TENANTS),
     .where = "Dart sec III-E; dart.md#d15",
     .help = "tenants 0 to tenants - 1 have an AUSS and a part of the line each, all others "
             "share tenant 0's; must be the same at both ends; 1: no separation"},
    {OCHE_PARAM(struct dart_params, tenant_shares), OCHE_IS_TEXT,
     .where = "Dart sec III-E; dart.md#d15",
     .help = "parts of the line that are not 1, among the tenants that have senders: "
             "tenant:share, …, as in 0:3, 1:2"},
/* The rows of the fallback, DCQCN. */
#include "core/cc/dcqcn_rows.h"
};

/* ---- for devices ---- */

#define FIT_LINGER     UINT64_C(65536) /* bytes of the line: dozens of packets of the others */
#define FIT_FILL       0.995           /* of what is left over a queue drains */
#define FIT_UNITS      4               /* of dcqcn_fit_unit, in flight: 256 KB or more */
#define FIT_TRIP       (50 * OCHE_US)  /* no shorter round trip */
#define FIT_FIRST_TRIP FIT_TRIP        /* until one is measured: rather too many ACKs */
#define LINE_TO_LEAST  1000

void dart_fit(void *params, uint64_t free, const struct oche_cc_network *network)
{
    static const struct oche_param_table table =
        OCHE_PARAM_TABLE(dart_param_rows, struct dart_params);
    const oche_time unit = dcqcn_fit_unit(network);
    const oche_time trip = network->round_trip != 0 ? network->round_trip : FIT_FIRST_TRIP;
    const uint64_t least = network->line_rate_bps / LINE_TO_LEAST;
    struct dart_params *p = params;

    dcqcn_fit_rows(&table, params, free, network);
    oche_param_fit(&table, params, free, "base_rtt", oche_time_max(trip, FIT_TRIP));
    oche_param_fit(&table, params, free, "window", unit);
    oche_param_fit(&table, params, free, "linger",
                   oche_time_of_bytes(FIT_LINGER, network->line_rate_bps));
    oche_param_fit(&table, params, free, "flight", FIT_UNITS * unit);
    oche_param_fit(&table, params, free, "least_rate", least < OCHE_MBPS ? least : OCHE_MBPS);
    if (oche_param_is_free(&table, free, "fill"))
        p->fill = FIT_FILL;
}

/* ---- parsing of lists ---- */

static const char *number(const char *text, uint32_t most, uint32_t *value)
{
    const char *first = text;
    uint64_t n = 0;

    for (; *text >= '0' && *text <= '9' && n <= most; text++)
        n = n * 10 + (uint64_t)(*text - '0');
    *value = (uint32_t)n;
    return text != first && n <= most ? text : NULL;
}

/*
 * Reads "host:weight" at `text`. Returns where the next one begins, or NULL if this one is invalid.
 */
static const char *weight_at(const char *text, uint32_t *host, uint32_t *weight)
{
    while (*text == ' ')
        text++;
    text = number(text, UINT32_MAX - 1, host);
    if (text == NULL || *text != ':')
        return NULL;
    text = number(text + 1, MOST_WEIGHT, weight);
    if (text == NULL || *weight == 0)
        return NULL;
    while (*text == ' ')
        text++;
    if (*text == ',')
        return text + 1;
    return *text == '\0' ? text : NULL;
}

/* Returns the value of `key` in the text; 1 if the text has none. */
static uint32_t said_of(const char *at, uint32_t key)
{
    uint32_t named, weight;

    while (at != NULL && *at != '\0') {
        at = weight_at(at, &named, &weight);
        if (at != NULL && named == key)
            return weight;
    }
    return 1;
}

uint32_t dart_weight_of(const void *params, uint32_t address)
{
    const struct dart_params *p = params;

    return said_of(p->weights, address);
}

uint32_t dart_share_of(const struct dart_params *p, uint32_t tenant)
{
    return said_of(p->tenant_shares, tenant);
}

static bool text_ok(const char *at)
{
    uint32_t named, weight;

    while (at != NULL && *at != '\0')
        at = weight_at(at, &named, &weight);
    return at != NULL;
}

/* Returns the highest key in a valid text. */
static uint32_t highest(const char *at)
{
    uint32_t named, weight, most = 0;

    while (at != NULL && *at != '\0') {
        at = weight_at(at, &named, &weight);
        most = named > most ? named : most;
    }
    return most;
}

/* True if a valid text names a key twice. */
static bool names_twice(const char *text)
{
    uint32_t named, other, weight;

    for (const char *at = text; at != NULL && *at != '\0';) {
        at = weight_at(at, &named, &weight);
        for (const char *rest = at; rest != NULL && *rest != '\0';) {
            rest = weight_at(rest, &other, &weight);
            if (rest != NULL && other == named)
                return true;
        }
    }
    return false;
}

const char *dart_check_hosts(const void *params, uint32_t hosts)
{
    const struct dart_params *p = params;

    if (p->weights != NULL && highest(p->weights) >= hosts)
        return "weights: names a host that there is not; the first is 0";
    return NULL;
}

const char *dart_check(const void *params)
{
    const struct dart_params *p = params;

    if (p->weights != NULL && !text_ok(p->weights))
        return "weights: should be host:weight, …, as in 3:2, 7:4, with weights of 1 to 1000";
    if (p->tenant_shares != NULL && !text_ok(p->tenant_shares))
        return "tenant_shares: should be tenant:share, …, as in 0:3, 1:2, with shares of 1 to 1000";
    if (names_twice(p->weights))
        return "weights: names a host twice; write it once";
    if (names_twice(p->tenant_shares))
        return "tenant_shares: names a tenant twice; write it once";
    if (highest(p->tenant_shares) >= p->tenants)
        return "tenant_shares: names a tenant that there is not; tenants are 0 to tenants - 1";
    if (p->line_below > p->line_above)
        return "line_below: must not be above line_above";
    return oche_cc_dcqcn.check(params);
}
