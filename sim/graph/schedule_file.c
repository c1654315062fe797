/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the format of a file. */
#include "sim/graph/schedule_file.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct reading_only {
    struct oche_schedule_reading reading;
};
static const struct oche_param params[] = {OCHE_PARAM_READING(reading_only)};
const struct oche_param_table oche_schedule_reading_table =
    OCHE_PARAM_TABLE(params, struct reading_only);

static bool open_goal(struct oche_goal *goal, const char *path,
                      const struct oche_schedule_reading *reading, struct oche_schedule_file *about,
                      struct oche_error *error)
{
    (void)reading;
    (void)about;
    return oche_goal_open(goal, path, error);
}

/* A format, and the names of the parameters that it takes. */
static const struct format {
    const char *name;
    bool (*is)(const char *path);
    bool (*open)(struct oche_goal *goal, const char *path,
                 const struct oche_schedule_reading *reading, struct oche_schedule_file *about,
                 struct oche_error *error);
    const char *takes[6];
} formats[] = {
    {"htsim's connection matrix", oche_htsim_is_matrix, oche_htsim_open_matrix, {NULL}},
    {"Chakra's execution traces",
     oche_chakra_is_trace,
     oche_chakra_open,
     {"algorithm", "chunks", "window", "control_deps", "groups_file"}},
    {"SimAI's workload",
     oche_simai_is_workload,
     oche_simai_open,
     {"algorithm", "chunks", "window", "gpus"}},
    {"JSON lines", oche_json_lines_is_one, oche_json_lines_open, {"algorithm", "chunks", "window"}},
    {"GOAL", oche_goal_is_schedule, open_goal, {NULL}}, /* the last: also when none fits */
};

static const struct format *format_of(const char *path)
{
    size_t i = 0;

    while (i + 1 < OCHE_COUNT_OF(formats) && !formats[i].is(path))
        i++;
    return &formats[i];
}

bool oche_schedule_is_one(const char *path)
{
    return format_of(path)->is(path);
}

static bool takes(const struct format *format, const char *name)
{
    for (size_t i = 0; i < OCHE_COUNT_OF(format->takes) && format->takes[i] != NULL; i++)
        if (strcmp(format->takes[i], name) == 0)
            return true;
    return false;
}

/* Refuses a parameter that is not as it is by default and has no meaning for the format. */
static bool check_reading(const struct format *format, const struct oche_schedule_reading *reading,
                          struct oche_error *error)
{
    const struct oche_param_table *table = &oche_schedule_reading_table;
    for (size_t i = 0; i < table->count; i++) {
        const struct oche_param *param = &table->params[i];

        if (!takes(format, param->name) && oche_param_get(param, reading).u != param->preset.u)
            return oche_fail(error, "%s: has no meaning for %s; leave it out", param->name,
                             format->name);
    }
    return true;
}

bool oche_schedule_open(struct oche_goal *goal, const char *path,
                        const struct oche_schedule_reading *reading,
                        struct oche_schedule_file *about, struct oche_error *error)
{
    const struct format *format = format_of(path);

    *about = (struct oche_schedule_file){.format = format->name};
    if (format == &formats[OCHE_COUNT_OF(formats) - 1]) { /* a missing file is the first error */
        if (!format->open(goal, path, reading, about, error))
            return false;
        if (check_reading(format, reading, error))
            return true;
        oche_goal_close(goal);
        return false;
    }
    if (!check_reading(format, reading, error) || !format->open(goal, path, reading, about, error))
        return false;
    for (unsigned i = 0; about->others >> i > 0; i++)
        if (about->others >> i & 1)
            oche_schedule_remark(
                about, "%s is not done by %s, but by %s", oche_collective_names[i],
                oche_algorithm_names[reading->algorithm],
                oche_algorithm_names[i == OCHE_ALL_TO_ALL ? OCHE_DIRECT : OCHE_RING]);
    return true;
}

/* ---- for the formats ---- */

void oche_schedule_remark(struct oche_schedule_file *about, const char *format, ...)
{
    const size_t used = strlen(about->remark), room = sizeof(about->remark);
    va_list arguments;

    if (used > 0)
        snprintf(about->remark + used, room - used, "; ");
    va_start(arguments, format);
    vsnprintf(about->remark + strlen(about->remark), room - strlen(about->remark), format,
              arguments);
    va_end(arguments);
}

struct oche_collective oche_schedule_collective(const struct oche_schedule_reading *reading,
                                                enum oche_collective_operation operation,
                                                uint32_t ranks, uint64_t bytes, unsigned *others)
{
    struct oche_collective collective = {.operation = operation,
                                         .algorithm =
                                             (enum oche_collective_algorithm)reading->algorithm,
                                         .ranks = ranks,
                                         .bytes = bytes,
                                         .chunks = (uint32_t)reading->chunks,
                                         .window = (uint32_t)reading->window,
                                         .repeat = 1};

    oche_collective_adjust(&collective);
    if (collective.algorithm != reading->algorithm && ranks > 1)
        *others |= 1U << operation;
    return collective;
}

uint32_t oche_schedule_tags(uint32_t *next, uint32_t first, const struct oche_collective *of)
{
    const uint64_t count = oche_collective_tags(of);
    uint32_t begin = *next;

    if (begin < first || begin + count >= OCHE_GOAL_ANY)
        begin = first;
    *next = begin + (uint32_t)count;
    return begin;
}
