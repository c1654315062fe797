/* SPDX-License-Identifier: Apache-2.0 */
/* Flows from a file (sim/app/flow_file.h). */
#include <string.h>

#include "params/error.h"
#include "params/input_file.h"
#include "sim/app/flow_file.h"
#include "sim/app/generate.h"
#include "sim/app/job.h"
#include "sim/graph/schedule_file.h"

#define MOST_BYTES (1024 * OCHE_INPUT_MIB)

struct from_file {
    uint64_t initial_rate, tenant;
    uint32_t verb;
    const char *file;
    oche_time origin;
};

static const struct oche_param params[] = {
    {OCHE_PARAM(struct from_file, file), OCHE_IS_TEXT, .where = "workloads.md#flow-files",
     .help = "path; a schedule, as `type: schedule` has it, or a count, then lines \"src dst "
             "pg dport size start\" or of other ns-3 programs, "
             "or CSV with columns src,dst,bytes,start, and verb if flows differ in it: hosts by "
             "number or name, a plain start in seconds"},
    {OCHE_PARAM(struct from_file, origin), OCHE_IS_TIME(0, 0, 1000000 * OCHE_SEC),
     .help = "time in the file at which the run begins (HPCC's generator: 2s)"},
    OCHE_PARAM_INITIAL_RATE(from_file),
};
static const struct oche_param_table table = OCHE_PARAM_TABLE(params, struct from_file);

static bool generate(const void *values, const struct oche_workload_facts *facts,
                     struct oche_flow_list *list, struct oche_error *error)
{
    const struct from_file *p = values;
    struct oche_input_file input;
    struct oche_error reason;

    if (!oche_workload_has_hosts(facts, error))
        return false;
    if (p->file == NULL || *p->file == '\0')
        return oche_fail(error, "file: not given; the path of a list of flows");
    if (oche_schedule_is_one(p->file) && p->origin > 0)
        return oche_fail(error, "origin: has no effect on a schedule; leave it out");
    if (oche_schedule_is_one(p->file))
        return oche_workload_add_schedule(p->file, p->initial_rate, p->tenant, p->verb, facts, list,
                                          error);
    list->initial_rate_bps = p->initial_rate;
    list->tenant = (uint8_t)p->tenant;
    if (!oche_input_read(&input, p->file, MOST_BYTES, &reason))
        return oche_fail(error, "%s: %s; a readable file of flows", p->file, reason.text);
    const struct oche_flow_file file = {
        .name = p->file, .text = input.text, .bytes = input.bytes, .origin = p->origin};
    const bool good = oche_flow_file_read(&file, facts, list, error);

    oche_input_free(&input);
    return good;
}

static struct oche_workload_arrivals arrivals_of(const void *values)
{
    (void)values;
    return (struct oche_workload_arrivals){.kind = OCHE_ARRIVALS_LISTED};
}

const struct oche_workload_type oche_workload_from_file = {
    .name = "from_file",
    .help = "flows listed in a file, or a schedule",
    .table = &table,
    .ends = "ends by itself: after the last flow of the file",
    .generate = generate,
    .arrivals = arrivals_of,
};
