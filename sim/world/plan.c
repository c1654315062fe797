/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The flows of a world. A run with a duration has whatever workloads list until then, and they
 * need to be listed only that far. A run without one lasts until all flows of the workloads that
 * end by themselves are over; workloads that go on and on may be beside them, and are listed up to
 * a bound far behind the time that the others need.
 */
#include "sim/world/internal.h"

#include <stdio.h>
#include <string.h>

#define LONGEST_RUN  (86400 * OCHE_SEC) /* the largest duration that a scenario can give */
#define LEAST_BOUND  OCHE_MS
#define MOST_BESIDE  4000000 /* flows of workloads that go on and on, in a run without duration */
#define MOST_LISTED  100000  /* of these, such as take memory before they start */
#define TIMES_SERIAL 100     /* the bound, in times that all bytes need one after the other */

static const char *endless(const struct oche_workload_config *workload)
{
    return oche_workload_endless(workload->type, workload->params);
}

enum chosen { FINITE = 1, ENDLESS = 2, ALL = FINITE | ENDLESS };

/*
 * If the message begins with the path of a file, returns the parameter that names this file; else
 * NULL.
 */
static const struct oche_param *file_of(const struct oche_param_table *table, const void *params,
                                        const char *message)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct oche_param *param = &table->params[i];
        const char *path =
            param->unit == OCHE_UNIT_TEXT ? oche_param_get(param, params).text : NULL;
        size_t length = path == NULL ? 0 : strlen(path);

        if (length > 0 && strncmp(message, path, length) == 0 && message[length] == ':')
            return param;
    }
    return NULL;
}

/*
 * Sets the verb of the flows that a workload adds. Returns false, with an error, if the endpoint
 * has no verbs.
 */
static bool set_verb(const struct oche_world_config *config,
                     const struct oche_workload_config *workload, struct oche_flow_list *list,
                     struct oche_error *error)
{
    const struct oche_endpoint *endpoint = config->endpoint;
    const struct oche_param *param = oche_param_find(workload->type->table, "verb");
    const uint64_t verb =
        param == NULL ? OCHE_VERB_WRITE : oche_param_get(param, workload->params).u;

    list->verb = (uint8_t)verb;
    if (verb == OCHE_VERB_WRITE || endpoint == NULL)
        return true;
    return oche_fail(error, "verb: %s, but congestion_control: %s has no verbs of flows; %s",
                     oche_verb_names[verb], endpoint->name,
                     oche_param_find(endpoint->table, "verb") != NULL
                         ? "set congestion_control.verb"
                         : "leave it out");
}

/*
 * Lists the flows of the chosen workloads. On failure returns false with an error, and the list is
 * empty.
 */
static bool list_flows(const struct oche_world *world, struct oche_workload_facts facts,
                       enum chosen chosen, struct oche_flow_list *list, struct oche_error *error)
{
    struct oche_error why;

    for (uint32_t i = 0; i < world->config->workload_count; i++) {
        const struct oche_workload_config *workload = &world->config->workloads[i];
        bool goes_on = endless(workload) != NULL;

        if (!(chosen & (goes_on ? ENDLESS : FINITE)))
            continue;
        facts.number = i;
        list->initial_rate_bps = list->supply_bps = 0;
        list->tenant = 0;
        list->beside = facts.until_done && goes_on;
        if (!set_verb(world->config, workload, list, &why) ||
            !workload->type->generate(workload->params, &facts, list, &why)) {
            const struct oche_param *key =
                file_of(workload->type->table, workload->params, why.text);

            oche_flow_list_free(list);
            return oche_fail(error, "workload[%u]: %s%s%s", i, key == NULL ? "" : key->name,
                             key == NULL ? "" : ": ", why.text);
        }
    }
    return true;
}

static struct oche_flow_list new_list(const struct oche_world *world, bool as_needed)
{
    const uint32_t *by_name = world->topology.by_name;
    const uint32_t nodes = oche_topology_nodes(&world->topology);

    return (struct oche_flow_list){
        .as_needed = as_needed,
        .priority_bytes = world->config->hosts.priority_bytes,
        .sources = {.at_place = by_name, .place_of = by_name == NULL ? NULL : by_name + nodes}};
}

static uint64_t slowest_rate(const struct oche_topology *topology)
{
    uint64_t rate = topology->links[0].rate_bps;

    for (uint32_t i = 1; i < topology->link_count; i++)
        rate = topology->links[i].rate_bps < rate ? topology->links[i].rate_bps : rate;
    return rate;
}

/* The needs of workloads that end by themselves, as far as they are known before the run. */
struct need {
    uint32_t flows, listed;
    oche_time last; /* the last time at which a flow starts by the clock, or a link changes */
    /* the time of all bytes, one after the other, on the slowest link, and of all calculations */
    oche_time serial;
};

/* Returns sum + count * each, or the most that can be told. */
static uint64_t add_bytes(uint64_t sum, uint64_t count, uint64_t each)
{
    return each > (UINT64_MAX - sum) / count ? UINT64_MAX : sum + count * each;
}

/* Adds flows that are drawn one after the other, and keeps none. */
static void need_source(struct oche_flow_source source, uint64_t header_bytes, uint64_t *bytes,
                        oche_time *last)
{
    if (source.draw == NULL && source.at == NULL) {
        *bytes = add_bytes(*bytes, source.count, source.flow.bytes + header_bytes);
        *last = oche_time_max(*last, source.flow.start);
        return;
    }
    for (uint32_t i = 0; i < source.count && oche_flow_source_draw(&source); i++) {
        *bytes = add_bytes(*bytes, 1, source.flow.bytes + header_bytes);
        if (source.flow.start != OCHE_NEVER)
            *last = oche_time_max(*last, source.flow.start);
    }
}

/* Returns how many flows take memory from the start: the flows that belong to no source. */
static uint32_t listed_flows(const struct oche_flow_list *list)
{
    uint32_t count = list->count;

    for (uint32_t i = 0; i < list->sources.count; i++)
        count -= list->sources.list[i].count;
    return count;
}

static bool find_need(const struct oche_world *world, const struct oche_workload_facts *facts,
                      struct need *need, struct oche_error *error)
{
    struct oche_flow_list list = new_list(world, true);
    oche_time busy = 0;
    uint64_t bytes = 0;

    *need = (struct need){.flows = 0};
    if (!list_flows(world, *facts, FINITE, &list, error))
        return false;
    for (uint32_t i = 0; i < list.jobs.count; i++) {
        need->last = oche_time_max(need->last, list.jobs.list[i]->params.start);
        busy = oche_time_add(busy, oche_job_serial(list.jobs.list[i]));
    }
    need->flows = list.count;
    need->listed = listed_flows(&list);
    for (uint32_t i = 0, source = 0; i < list.count; i++) {
        if (source < list.sources.count && list.sources.list[source].first == i) {
            i += list.sources.list[source].count - 1;
            need_source(list.sources.list[source++], facts->header_bytes, &bytes, &need->last);
            continue;
        }
        bytes = add_bytes(bytes, 1, list.plan[i].bytes + facts->header_bytes);
        if (list.plan[i].start != OCHE_NEVER)
            need->last = oche_time_max(need->last, list.plan[i].start);
    }
    oche_flow_list_free(&list);
    for (uint32_t i = 0; i < world->config->failure_count; i++) {
        const struct oche_failure_params *failure = &world->config->failures[i];

        need->last = oche_time_max(need->last, failure->at);
        if (failure->until != OCHE_NEVER)
            need->last = oche_time_max(need->last, failure->until);
    }
    need->last = oche_time_min(oche_time_max(need->last, world->config->run.warmup), LONGEST_RUN);
    need->serial = oche_time_min(
        oche_time_add(busy, oche_time_of_bytes(bytes, slowest_rate(&world->topology))),
        LONGEST_RUN / TIMES_SERIAL);
    return true;
}

/*
 * Lists the flows of workloads that end and of such that do not, with a bound on the run that
 * doubles as long as the flows of the latter are not too many.
 */
static bool list_bounded(struct oche_world *world, struct oche_workload_facts *facts,
                         struct oche_flow_list *list, struct oche_error *error)
{
    bool listed = false;
    struct need need;

    if (!find_need(world, facts, &need, error))
        return false;
    oche_time most = oche_time_min(
        need.last + oche_time_max(TIMES_SERIAL * need.serial, 10 * LEAST_BOUND), LONGEST_RUN);
    /* At first, assume that all hosts send at once. */
    oche_time bound =
        oche_time_min(need.last + 2 * need.serial / facts->host_count + LEAST_BOUND, most);

    for (;; bound = oche_time_min(2 * bound, most)) {
        struct oche_flow_list longer = new_list(world, true);
        struct oche_error why;

        facts->duration = bound;
        bool fits = list_flows(world, *facts, ALL, &longer, listed ? &why : error);

        if (listed && (!fits || longer.count - need.flows > MOST_BESIDE ||
                       listed_flows(&longer) - need.listed > MOST_LISTED)) {
            oche_flow_list_free(&longer);
            return true;
        }
        if (fits) {
            oche_flow_list_free(list);
            *list = longer;
            world->until = bound;
            listed = true;
        }
        if (bound == most)
            return listed;
    }
}

/* Returns the first workload that goes on and on; NULL: there is none. Sets *others. */
static const struct oche_workload_config *first_endless(const struct oche_world_config *config,
                                                        bool *others)
{
    const struct oche_workload_config *found = NULL;

    *others = false;
    for (uint32_t i = 0; i < config->workload_count; i++)
        if (endless(&config->workloads[i]) == NULL)
            *others = true;
        else if (found == NULL)
            found = &config->workloads[i];
    return found;
}

/* Lists all flows, and sets how long the run may last. */
static bool list_all(struct oche_world *world, struct oche_workload_facts *facts,
                     struct oche_flow_list *list, struct oche_error *error)
{
    const struct oche_world_config *config = world->config;
    bool others;
    const struct oche_workload_config *goes_on = first_endless(config, &others);

    facts->until_done = config->run.duration == 0;
    world->until = facts->duration = facts->until_done ? LONGEST_RUN : config->run.duration;
    if (!facts->until_done || goes_on == NULL)
        return list_flows(world, *facts, ALL, list, error);
    if (others)
        return list_bounded(world, facts, list, error);
    const char *advice = endless(goes_on);

    return oche_fail(error,
                     "workload[%u].type: %s goes on for as long as the run; %s%sset duration",
                     (unsigned)(goes_on - config->workloads), goes_on->type->name, advice,
                     *advice != '\0' ? ", or " : "");
}

/* Returns how many flows and ranks of jobs the run waits for. */
static uint64_t count_awaited(const struct oche_world_config *config,
                              const struct oche_flow_list *list)
{
    uint64_t count = list->count;
    bool others;

    for (uint32_t i = 0; i < list->jobs.count; i++)
        count += list->jobs.list[i]->goal.ranks;

    if (config->run.duration != 0 || first_endless(config, &others) == NULL)
        return count;
    for (uint32_t i = 0, s = 0; i < list->count;) {
        if (s == list->sources.count || i < list->sources.list[s].first) {
            count -= list->plan[i++].beside;
            continue;
        }
        const struct oche_flow_source *source = &list->sources.list[s++];

        count -= source->flow.beside ? source->count : 0;
        i = source->first + source->count;
    }
    return count;
}

/*
 * True if only ACKs make the scheme slow down senders. READ data gets no ACKs: no hook is called at
 * the end that sends it, and no window counts it at the end that asks for it.
 */
static bool lets_reads_go(const struct oche_cc_scheme *cc)
{
    return cc != NULL && cc->acked != NULL && cc->cnp == NULL && cc->headers == NULL &&
           !cc->windows_reads;
}

/* Says what moves the flows' data, if it is not WRITEs alone. */
static void remark_verbs(struct oche_world *world)
{
    const struct oche_flows *flows = &world->flows;
    const bool any[] = {flows->writes, flows->sends, flows->reads};
    static const char *const names[] = {"WRITEs", "SENDs", "READs (posted by the receiver)"};
    char *text = world->flow_remark;
    const size_t most = sizeof(world->flow_remark);
    size_t used = strlen(text);

    if (!flows->sends && !flows->reads)
        return;
    used += (size_t)snprintf(text + used, most - used, "%sflows are", used > 0 ? "; " : "");
    for (size_t i = 0, before = 0; i < OCHE_COUNT_OF(any) && used < most; i++)
        if (any[i])
            used += (size_t)snprintf(text + used, most - used, "%s %s", before++ > 0 ? " and" : "",
                                     names[i]);
    if (flows->reads && used < most && lets_reads_go(world->config->cc))
        snprintf(text + used, most - used,
                 "; %s goes by ACKs, which READ data does not get: it leaves at line rate",
                 world->config->cc->name);
}

bool oche_world_build_flows(struct oche_world *world, struct oche_workload_facts facts,
                            struct oche_error *error)
{
    const struct oche_world_config *config = world->config;
    const struct oche_endpoint *endpoint = config->endpoint;
    struct oche_flow_list list = new_list(world, true);
    struct oche_error why;

    if (config->run.duration == 0 && !config->run.stop_when_done)
        return oche_fail(error, "stop_when_done: false needs the time at which the run is to end; "
                                "set duration");
    if (!list_all(world, &facts, &list, error))
        return false;
    world->jobs = list.jobs;
    for (uint32_t i = 0; config->auto_series && config->measure.interval > 0 && i < list.jobs.count;
         i++)
        oche_job_keep_details(list.jobs.list[i]);
    world->failed = list.failed;
    world->failed_count = list.failed_count;
    world->awaited = count_awaited(config, &list);
    memcpy(world->flow_remark, list.remark, sizeof(list.remark));
    if (!oche_flows_prepare(&world->flows, list.plan, list.count, &list.sources, facts.host_count,
                            (enum oche_connections)config->hosts.connections, &why)) {
        oche_fail(error, "workload: %s", why.text);
        oche_flow_groups_free(&list.groups);
        return false;
    }
    oche_flows_set_groups(&world->flows, &list.groups);
    if (endpoint != NULL && world->flows.most_bytes > OCHE_MAX_MESSAGE_BYTES)
        return oche_fail(error,
                         "workload: a flow of %llu bytes; at most %llu with congestion_control: %s",
                         (unsigned long long)world->flows.most_bytes,
                         (unsigned long long)OCHE_MAX_MESSAGE_BYTES, endpoint->name);
    remark_verbs(world);
    if (endpoint != NULL && endpoint->most_connections > 0 &&
        world->flows.connection_count > endpoint->most_connections)
        return oche_fail(error,
                         "workload: %u connections; at most %u with congestion_control: %s: fewer "
                         "or larger flows, a shorter run, or host.connections: per_pair",
                         world->flows.connection_count, endpoint->most_connections, endpoint->name);
    return true;
}
