/* SPDX-License-Identifier: Apache-2.0 */
/* A schedule of operations that depend on each other, from a file (sim/graph/goal.h). */
#include <stdio.h>
#include <stdlib.h>

#include "sim/app/failed_links.h"
#include "sim/app/job.h"
#include "sim/graph/schedule_file.h"

struct schedule {
    struct oche_job_settings job;
    struct oche_schedule_reading reading;
    const char *file;
};

static const struct oche_param params[] = {
    {OCHE_PARAM(struct schedule, file), OCHE_IS_TEXT, .where = "workloads.md#schedules",
     .help = "path of a schedule: GOAL, text or binary, a connection matrix of htsim (.cm), "
             "whose sends end when they are acknowledged, traces of Chakra (.et), a workload of "
             "SimAI, or JSON lines"},
    OCHE_PARAM_READING(schedule),
    OCHE_PARAM_JOB(schedule),
};
static const struct oche_param_table table = OCHE_PARAM_TABLE(params, struct schedule);

static bool generate(const void *values, const struct oche_workload_facts *facts,
                     struct oche_flow_list *list, struct oche_error *error)
{
    const struct schedule *p = values;
    struct oche_schedule_file about;
    struct oche_job_settings settings;
    struct oche_job_plan plan = {.repeats = NULL};
    bool found;

    if (!oche_workload_has_hosts(facts, error))
        return false;
    if (p->file == NULL || *p->file == '\0')
        return oche_fail(error, "file: not given; the path of a schedule");
    if (!oche_workload_starts(p->job.start, facts, error) ||
        !oche_schedule_open(&plan.goal, p->file, &p->reading, &about, error))
        return false;
    settings = p->job;
    if (about.acknowledged)
        settings.send_ends = 1;
    if (about.remark[0] != '\0')
        snprintf(list->remark, sizeof(list->remark), "%s", about.remark);
    plan.source = p->file;
    found = oche_failed_links_add(p->file, &about, facts, list, error);
    free(about.failures);
    plan.host_of = found ? oche_place_ranks(&settings.place, plan.goal.ranks, facts, error) : NULL;
    if (plan.host_of == NULL) {
        oche_goal_close(&plan.goal);
        return false;
    }
    return oche_workload_add_job(&plan, &settings, facts, list, error);
}

bool oche_workload_add_schedule(const char *file, uint64_t initial_rate_bps, uint64_t tenant,
                                uint32_t verb, const struct oche_workload_facts *facts,
                                struct oche_flow_list *list, struct oche_error *error)
{
    struct schedule schedule;

    if (verb == OCHE_VERB_READ)
        return oche_fail(error, "verb: a schedule's messages are pushed; write or send");
    oche_param_defaults(&table, &schedule);
    schedule.file = file;
    schedule.job.initial_rate = initial_rate_bps;
    schedule.job.tenant = tenant;
    return generate(&schedule, facts, list, error);
}

const struct oche_workload_type oche_workload_schedule = {
    .name = "schedule",
    .help = "a schedule from a file: ranks that send, receive and calculate",
    .table = &table,
    .ends = "ends by itself: when each rank has done all its operations",
    .generate = generate,
};
