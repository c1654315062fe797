/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits of values that keep worlds small: thousands must run in a minute. A parameter without a
 * row here is drawn up to its usual_most, if its table has one, or else around its default. Most of
 * these have no influence on the cost of a world.
 */
#include "tests/swarm/draft.h"

#include <string.h>

#define US ((double)OCHE_US)
#define MS ((double)OCHE_MS)

struct row {
    const char *section, *key; /* key NULL: all parameters of that unit */
    enum oche_unit unit;       /* with key NULL */
    double least, most;
    unsigned percent; /* percent of drafts that give it, whatever else they give; 0: by chance */
};

static const struct row rows[] = {
    {"", "seed", .least = 0, .most = 1e6},
    {"", "defaults", .percent = 100},
    {"", "duration", .least = 20 * US, .most = 200 * MS, .percent = 100},
    {"", "warmup", .least = 0, .most = MS},
    {"", "model", .least = 1, .most = 0}, /* packets, not bytes, set the cost of a world */
    {"", "bytes", .least = 1, .most = 0}, /* a twin of each world has it: judge.c */
    {"", "payload", .least = 1, .most = 0},
    {"topology", "hosts", .least = 2, .most = 8, .percent = 100},
    {"topology", "k", .least = 2, .most = 4, .percent = 100},
    {"topology", "oversubscription", .least = 0, .most = 0, .percent = 100},
    {"topology", "uplinks_per_tor", .least = 1, .most = 3, .percent = 100},
    {"topology", NULL, OCHE_UNIT_COUNT, .least = 0, .most = 4, .percent = 100},
    {"topology", NULL, OCHE_UNIT_BPS, .least = 1e9, .most = 2e11},
    {"topology", NULL, OCHE_UNIT_TIME, .least = 5e3, .most = 5 * US},
    {"topology", "file", .percent = 100},
    {"routes", "file", .percent = 10},
    {"routes", "reroute", .least = 0, .most = 2 * MS},
    {"switch", "mechanisms", .percent = 55},
    {"switch", "buffer", .least = 5e3, .most = 4e5, .percent = 80},
    {"switch", "xoff", .least = 0, .most = 5e4, .percent = 30},
    {"switch", "xon_offset", .least = 0, .most = 2e4, .percent = 30},
    {"switch", "beta", .least = 1.0 / 64, .most = 16, .percent = 30},
    {"switch", "kmin", .least = 0, .most = 2e4, .percent = 50},
    {"switch", "kmax", .least = 0, .most = 1e5, .percent = 40},
    {"switch", "pmax", .least = 0, .most = 1, .percent = 40},
    {"switch", "headroom_scale", .least = 0, .most = 4},
    {"host", "ack_timeout", .least = 5 * US, .most = 2 * MS, .percent = 50},
    {"host", "ack_every", .least = 1, .most = 40},
    {"workload", "bytes", .least = 1, .most = 2e5, .percent = 100},
    {"workload", "start", .least = 0, .most = 50 * US},
    {"workload", "jitter", .least = 0, .most = 30 * US},
    {"workload", "stagger", .least = 0, .most = 30 * US},
    {"workload", "spread", .least = 0, .most = 50 * US, .percent = 100},
    {"workload", "load", .least = 0.1, .most = 4, .percent = 80},
    {"workload", "messages", .least = 0, .most = 6, .percent = 80},
    {"workload", "stop", .least = US, .most = 300 * US, .percent = 70},
    {"workload", "pairs", .least = 0, .most = 6, .percent = 100},
    {"workload", "degree", .least = 1, .most = 8, .percent = 100},
    {"workload", "file", .percent = 100},
    {"workload", "ranks", .least = 2, .most = 9, .percent = 90},
    {"workload", "ranks_per_host", .least = 1, .most = 4},
    {"workload", "chunks", .least = 1, .most = 5},
    {"workload", "repeat", .least = 1, .most = 3},
    {"workload", "channels", .least = 1, .most = 3},
    {"workload", "first_host", .least = 0, .most = 2, .percent = 20},
    {"workload", "compute", .least = 0, .most = 30 * US},
    {"workload", "overhead", .least = 0, .most = 5 * US},
    {"workload", "local_latency", .least = 0, .most = 10 * US},
    {"workload", "local_rate", .least = 1e9, .most = 4e12},
    {"workload", "cdf_file", .percent = 30},
    {"workload", "tenant", .least = 0, .most = 5},
    {"workload", "share", .least = 0.01, .most = 1},
    {"workload", "period", .least = US, .most = MS},
    {"workload", "initial_rate", .least = 1e6, .most = 1e11},
    {"workload", NULL, OCHE_UNIT_COUNT, .least = 0, .most = 12},
    {"workload", NULL, OCHE_UNIT_TIME, .least = 0, .most = MS},
    {"loss", "probability", .least = 0, .most = 0.3},
    {"loss", "late", .least = 0, .most = 0.1},
    {"loss", "late_least", .least = 0, .most = 100 * US},
    {"loss", "late_most", .least = 100 * US, .most = 500 * US},
    {"events", "file", .percent = 100},
    {"events", "port", .percent = 100},
    {"failures", "random", .least = 1, .most = 4, .percent = 50},
    {"failures", "link", .percent = 50},
    {"failures", "switch", .percent = 50},
    {"failures", "speed", .least = 0.02, .most = 1, .percent = 15},
    {"failures", "loss", .least = 0.001, .most = 0.3, .percent = 10},
    {"failures", "at", .least = 0, .most = 200 * US, .percent = 80},
    {"failures", "until", .least = 1, .most = 3 * MS, .percent = 60},
    {"nics", "hosts", .percent = 100},
    {"nics", "nic", .percent = 100},
    {"slow_receivers", "hosts", .percent = 100},
    {"slow_receivers", "drain_rate", .least = 1e8, .most = 5e10, .percent = 90},
    {"slow_receivers", "buffer", .least = 5e3, .most = 4e5, .percent = 80},
    {"slow_receivers", "xoff", .least = 0, .most = 4e5},
    {"slow_receivers", "xon", .least = 0, .most = 4e4},
    {"pause_storms", "hosts", .percent = 100},
    {"pause_storms", "at", .least = 0, .most = 200 * US, .percent = 80},
    {"pause_storms", "until", .least = 1, .most = 3 * MS, .percent = 90},
    {"pause_storms", "quanta", .least = 64, .most = 65535},
    {"iofd", "threshold", .least = 0, .most = 8e3, .percent = 90},
    {"iofd", "short_message", .least = 100, .most = 1e5, .percent = 50},
    {"ib_credits", "buffer", .least = 600, .most = 3e4, .percent = 80},
    {"pfc_watchdog", "detection_time", .least = 10 * US, .most = 500 * US, .percent = 95},
    {"pfc_watchdog", "restoration_time", .least = 10 * US, .most = 500 * US, .percent = 95},
    {"pfc_watchdog", "poll_interval", .least = US, .most = 50 * US, .percent = 98},
    {"measure", "interval", .least = US, .most = MS},
};

/* Large worlds: more hosts than a table's first line has, and paths of milliseconds. */
static const struct row large_rows[] = {
    {"topology", "hosts", .least = 20, .most = 400, .percent = 100},
    {"topology", "k", .least = 6, .most = 8, .percent = 100},
    {"topology", "hosts_per_tor", .least = 1, .most = 24},
    {"topology", "hosts_per_leaf", .least = 1, .most = 24},
    {"topology", NULL, OCHE_UNIT_BPS, .least = 1e9, .most = 8e11},
    {"topology", NULL, OCHE_UNIT_TIME, .least = 5e3, .most = 10 * MS},
    {"workload", "bytes", .least = 1000, .most = 5e6, .percent = 100},
    {"measure", "queue_step", .least = 1000, .most = 1e5},
};

/* Returns the range of a value without limits of its own: a few octaves around its default. */
static struct draft_limits about_preset(const struct oche_param *param)
{
    double preset = (double)param->preset.u;

    switch (param->unit) {
    case OCHE_UNIT_REAL:
        if (param->maximum.real <= 1)
            return (struct draft_limits){param->minimum.real, param->maximum.real, 0, false};
        return (struct draft_limits){param->preset.real / 16, param->preset.real * 16 + 1, 0,
                                     false};
    case OCHE_UNIT_COUNT:
    case OCHE_UNIT_BYTES:
    case OCHE_UNIT_BPS:
    case OCHE_UNIT_TIME:
        if (param->preset.u != 0 && param->preset.u != UINT64_MAX)
            return (struct draft_limits){preset / 32, preset * 8, 0, false};
        return (struct draft_limits){0,
                                     param->unit == OCHE_UNIT_COUNT   ? 16
                                     : param->unit == OCHE_UNIT_BYTES ? 2e5
                                     : param->unit == OCHE_UNIT_BPS   ? 1e11
                                                                      : 200 * US,
                                     0, false};
    default:
        return (struct draft_limits){0, 0, 0, false};
    }
}

static bool names(const struct row *row, const struct draft_part *part,
                  const struct oche_param *param)
{
    if (strcmp(row->section, draft_section(part)) != 0)
        return false;
    return row->key != NULL ? strcmp(row->key, param->name) == 0 : row->unit == param->unit;
}

struct draft_limits draft_limits_clip(struct draft_limits limits, const struct oche_param *param)
{
    bool real = param->unit == OCHE_UNIT_REAL;

    if (param->unit >= OCHE_UNIT_BOOL || limits.most < limits.least)
        return limits;
    double minimum = real ? param->minimum.real : (double)param->minimum.u;
    double maximum = real ? param->maximum.real : (double)param->maximum.u;

    limits.least = limits.least < minimum ? minimum : limits.least;
    limits.most = limits.most > maximum ? maximum : limits.most;
    if (limits.most < limits.least)
        limits.most = limits.least;
    return limits;
}

struct draft_limits draft_limits(const struct draft_part *part, const struct oche_param *param)
{
    struct draft_limits limits = param->usual_most > 0
                                     ? (struct draft_limits){0, (double)param->usual_most, 0, false}
                                     : about_preset(param);

    /* If some switches do not mark, no switch marks: impossible_pairs.c relies on it. */
    if (part->section->within != NULL && strcmp(param->name, "ecn") == 0)
        return (struct draft_limits){0, 0, 0, true};
    for (size_t i = 0; i < OCHE_COUNT_OF(rows); i++)
        if (names(&rows[i], part, param)) {
            limits = (struct draft_limits){rows[i].least, rows[i].most, rows[i].percent, false};
            break;
        }
    return draft_limits_clip(limits, param);
}

bool draft_limits_large(const struct draft_part *part, const struct oche_param *param,
                        struct draft_limits *limits)
{
    for (size_t i = 0; i < OCHE_COUNT_OF(large_rows); i++) {
        const struct row *row = &large_rows[i];

        if (!names(row, part, param))
            continue;
        *limits = draft_limits_clip(
            (struct draft_limits){row->least, row->most, row->percent, false}, param);
        return true;
    }
    return false;
}
