/* SPDX-License-Identifier: Apache-2.0 */
/* Flows with a start, and flows that follow one another, whose end fires a trigger of its own. */
#include "cli/export/traffic.h"

#include <stdlib.h>

uint32_t oche_export_add_trigger(struct oche_export_traffic *traffic, uint32_t firings)
{
    if (traffic->trigger_count == traffic->trigger_room) {
        traffic->trigger_room = traffic->trigger_room == 0 ? 256 : 2 * traffic->trigger_room;
        traffic->triggers =
            realloc(traffic->triggers, traffic->trigger_room * sizeof(*traffic->triggers));
        OCHE_GOT(traffic->triggers != NULL);
    }
    traffic->triggers[traffic->trigger_count] = (struct oche_export_trigger){.firings = firings};
    return traffic->trigger_count++;
}

/* True if the flow is one of a job's messages. */
static bool is_of_job(const struct oche_jobs *jobs, uint32_t flow)
{
    for (uint32_t i = 0; i < jobs->count; i++)
        if (flow - jobs->list[i]->first_flow < oche_job_flows(jobs->list[i]))
            return true;
    return false;
}

/* Takes a flow that belongs to no job. */
static bool take_flow(struct oche_export_traffic *traffic, uint32_t number,
                      const struct oche_flow_plan *plan, struct oche_error *error)
{
    struct oche_export_flow *flow = &traffic->flows[number];

    if (plan->supply_bps > 0)
        return oche_fail(error,
                         "workload[%u]: host%u's application makes the flow's bytes one after the "
                         "other, which has no form in a file of flows",
                         plan->workload, plan->src);
    if (plan->start == OCHE_NEVER && flow->trigger == OCHE_NO_TRIGGER)
        return oche_fail(error, "workload[%u]: flow %u starts after another flow of a later number",
                         plan->workload, number);
    flow->src = plan->src;
    flow->dst = plan->dst;
    flow->bytes = plan->bytes;
    flow->start = plan->start;
    if (plan->start != OCHE_NEVER)
        flow->trigger = OCHE_NO_TRIGGER;
    traffic->reads += plan->verb == OCHE_VERB_READ;
    traffic->sends += plan->verb == OCHE_VERB_SEND;
    traffic->first_rates += plan->initial_rate_bps > 0;
    if (plan->then_same_source == OCHE_NO_FLOW)
        return true;
    flow->send_done = oche_export_add_trigger(traffic, 1);
    traffic->flows[plan->then_same_source].trigger = flow->send_done;
    return true;
}

static bool take_flows(struct oche_export_traffic *traffic, const struct oche_world *world,
                       struct oche_error *error)
{
    const struct oche_jobs *jobs = oche_world_jobs(world);
    struct oche_flow_walk walk = oche_flow_walk(oche_world_flows(world));
    const struct oche_flow_plan *plan;

    while ((plan = oche_flow_walk_next(&walk)) != NULL)
        if (!is_of_job(jobs, walk.number) && !take_flow(traffic, walk.number, plan, error))
            return false;
    for (uint32_t i = 0; i < jobs->count; i++)
        if (!oche_export_take_job(traffic, jobs->list[i], error))
            return false;
    traffic->jobs = jobs->count > 0;
    return true;
}

bool oche_export_traffic_take(struct oche_export_traffic *traffic, const struct oche_world *world,
                              struct oche_error *error)
{
    const uint32_t count = oche_world_flows(world)->count;

    *traffic = (struct oche_export_traffic){.flow_count = count};
    if (count == 0)
        return oche_fail(error, "workload: no flow is known before the run; there is nothing to "
                                "export");
    if (count > OCHE_EXPORT_MOST_FLOWS)
        return oche_fail(error,
                         "workload: %u flows; at most %u can be exported: set a shorter duration, "
                         "or fewer messages",
                         count, OCHE_EXPORT_MOST_FLOWS);
    traffic->flows = malloc((size_t)count * sizeof(*traffic->flows));
    OCHE_GOT(traffic->flows != NULL);
    for (uint32_t i = 0; i < count; i++)
        traffic->flows[i] = (struct oche_export_flow){
            .trigger = OCHE_NO_TRIGGER, .send_done = OCHE_NO_TRIGGER, .recv_done = OCHE_NO_TRIGGER};
    if (take_flows(traffic, world, error))
        return true;
    oche_export_traffic_free(traffic);
    return false;
}

void oche_export_traffic_free(struct oche_export_traffic *traffic)
{
    free(traffic->flows);
    free(traffic->triggers);
    *traffic = (struct oche_export_traffic){.flow_count = 0};
}
