/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of a run without duration in which not all is delivered: nothing more has arrived for
 * 1,000 times the longest timeout, by the scenario or by an adapter's habits, or can
 * (unreachable.c), or the run is at its bound. Looked at at times that follow from the scenario
 * alone, so any number of threads gives the same end.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/cc/cc_advice.h"
#include "params/figures.h"
#include "params/text_stream.h"
#include "sim/engine/sparse_memory.h"
#include "sim/world/internal.h"
#include "sim/world/results/readings.h"

#define TIMEOUTS   1000 /* of the longest timeout, at least so many pass without a byte */
#define LOOKS      10   /* in that time */
#define MOST_NAMED 3

struct oche_world_stall {
    oche_time timeout; /* the longest one, or the longest round trip if that is longer */
    bool round_trip;
    uint64_t timeouts; /* so many of them pass without a byte */
    oche_time patience, next;
    oche_time since;    /* nothing has arrived since then */
    uint64_t completed; /* flows, at the last check */
    /* the most bytes that each flow had at a check; memory of oche_sparse_take */
    uint64_t *most;
};

/* ---- the longest timeout ---- */

static bool is_timeout(const struct oche_param *param)
{
    return param->unit == OCHE_UNIT_TIME &&
           (strstr(param->name, "timeout") != NULL || strncmp(param->name, "rto", 3) == 0);
}

static oche_time longest_in(const struct oche_param_table *table, const void *values)
{
    oche_time longest = 0;

    for (size_t i = 0; values != NULL && i < table->count; i++) {
        const struct oche_param *param = &table->params[i];
        oche_time value = is_timeout(param) ? oche_param_get(param, values).u : 0;

        if (value != OCHE_NEVER)
            longest = oche_time_max(longest, value);
    }
    return longest;
}

static oche_time longest_timeout(const struct oche_world *world)
{
    const struct oche_world_config *config = world->config;
    oche_time longest = 0;

    if (config->endpoint != NULL)
        longest = oche_time_max(
            longest, longest_in(config->endpoint->table, oche_world_fitted_endpoint(world)));
    if (config->recovery != NULL)
        longest =
            oche_time_max(longest, longest_in(&config->recovery->table, world->recovery_params));
    return oche_time_max(longest, longest_in(&oche_host_params, &world->host_params));
}

/* Adapters wait as long as they do, whatever the scenario asks for. */
static void add_adapters(const struct oche_world *world, struct oche_world_stall *stall)
{
    const oche_time asked = world->host_params.ack_timeout;
    const uint32_t retries = (uint32_t)world->host_params.retry_count;

    for (uint32_t i = 0; i <= world->config->nic_count; i++) {
        const struct oche_timeouts *how = &world->nics[i].habits.timeouts;
        const oche_time longest = oche_timeouts_longest(how, asked, retries);
        const uint64_t most = oche_timeouts_most(how, asked);

        if (longest != OCHE_NEVER)
            stall->timeout = oche_time_max(stall->timeout, longest);
        if (most > stall->timeouts / 2) /* packets take time, too */
            stall->timeouts = 2 * most;
    }
}

/* ---- looking ---- */

/*
 * Returns the time of a packet at the lowest rate, if an adapter lowers its rate after a timeout:
 * so much passes before the next timeout begins. 0: no adapter does, or the scheme has no such
 * rate.
 */
static oche_time slowest_packet(const struct oche_world *world)
{
    const struct oche_cc_scheme *cc = world->config->cc;
    const struct oche_param *param = cc != NULL ? oche_param_find(&cc->table, "min_rate") : NULL;
    struct oche_derived derived;
    bool slows = false;

    for (uint32_t i = 0; i <= world->config->nic_count; i++)
        slows = slows || world->nics[i].habits.slow_restart;
    if (!slows || param == NULL)
        return 0;
    const void *params = oche_world_fitted_cc(world);
    uint64_t bps = oche_param_get(param, params).u;

    if (cc->advice != NULL && cc->advice->derived != NULL &&
        cc->advice->derived(params, param, world->host_rates.kinds[0].link_bps, &derived))
        bps = derived.value.u;
    return bps > 0 ? oche_time_of_bytes(oche_world_packets(world->config).frame_bytes, bps) : 0;
}

/* Returns how long nothing need arrive if all goes well: posts and completions take time, too. */
static oche_time longest_trip(const struct oche_world *world)
{
    const struct oche_host_params *hosts = &world->host_params;
    const struct oche_endpoint *endpoint = world->config->endpoint;
    oche_time trip = oche_time_add(oche_world_longest_round_trip(world), slowest_packet(world));

    if (endpoint != NULL && endpoint->deferred == NULL)
        return trip; /* no queue pairs */
    return oche_time_add(trip, hosts->doorbell_latency + hosts->completion_latency);
}

void oche_world_stall_start(struct oche_world *world)
{
    struct oche_world_stall *stall;

    if (world->config->run.duration > 0)
        return;
    world->stall = stall = oche_world_make(1, sizeof(*stall));
    oche_time trip = longest_trip(world);

    stall->timeout = longest_timeout(world);
    stall->timeouts = TIMEOUTS;
    add_adapters(world, stall);
    stall->round_trip = trip > stall->timeout;
    stall->timeout = oche_time_max(stall->timeout, trip);
    stall->patience = stall->timeout < world->until / stall->timeouts
                          ? stall->timeout * stall->timeouts
                          : world->until;
    stall->since = world->network.now;
    stall->next = world->network.now + stall->patience / LOOKS;
    stall->most = oche_world_make_sparse(world->flows.count, sizeof(*stall->most));
    oche_world_unreachable_start(world, stall->timeout);
}

oche_time oche_world_stall_next(const struct oche_world *world)
{
    return world->stall == NULL ? OCHE_NEVER
                                : oche_time_min(world->stall->next, world->unreachable.next);
}

bool oche_world_is_under_way(const struct oche_world *world, uint32_t flow)
{
    return world->flows.sent[flow].started != OCHE_NEVER &&
           world->flows.sent[flow].completed == OCHE_NEVER;
}

/*
 * Returns how many flows are under way. Sets *arrived if bytes of one of them have arrived since
 * the last check. A rank counts the flows that begin at its hosts, and checks the bytes of flows
 * that end at its hosts.
 */
static uint64_t look_at_flows(struct oche_world *world, bool *arrived)
{
    uint64_t found[2] = {0, *arrived};

    for (OCHE_EACH_MADE_FLOW(i, &world->flows)) {
        if (!oche_world_is_under_way(world, i))
            continue;
        found[0] += oche_world_has(world, oche_flow_poster(&world->flows.plan[i]));
        if (!oche_world_has(world, world->flows.plan[i].dst))
            continue;
        uint64_t bytes = oche_world_flow_bytes(world, i);

        found[1] |= bytes > world->stall->most[i];
        if (bytes > world->stall->most[i]) /* after Go-Back-0 there may be fewer */
            world->stall->most[i] = bytes;
    }
    oche_ranks_sum(world->network.ranks, found, OCHE_COUNT_OF(found));
    *arrived = found[1] > 0;
    return found[0];
}

/* Like oche_world_something_is_to_come, for the nodes of this process only. */
static bool is_to_come_here(const struct oche_world *world, bool flows)
{
    for (uint32_t i = 0; i < world->network.node_count; i++)
        if (world->network.nodes[i].change_count > 0 && oche_world_has(world, i))
            return true;
    for (uint32_t i = 0; i < world->config->storm_count; i++) {
        oche_time until = world->config->storms[i].until;

        if (until != OCHE_NEVER && until > world->network.now)
            return true;
    }
    for (uint32_t i = 0; flows && i < world->topology.host_count; i++)
        if (oche_world_has(world, i) && oche_host_has_to_start(world->hosts[i]))
            return true;
    return false;
}

bool oche_world_something_is_to_come(const struct oche_world *world, bool flows)
{
    return oche_ranks_any(world->network.ranks, is_to_come_here(world, flows));
}

/* True if nothing has arrived for so long that nothing will. */
static bool patience_is_over(struct oche_world *world)
{
    struct oche_world_stall *stall = world->stall;
    oche_time now = world->network.now;
    uint64_t completed = 0;

    if (now < stall->next)
        return false;
    stall->next = now + stall->patience / LOOKS;
    for (uint32_t s = 0; s < world->network.shard_count; s++)
        completed += world->network.shards[s].flows_completed;
    bool progress = completed != stall->completed;

    stall->completed = completed;
    if (!progress) {
        uint64_t under_way = look_at_flows(world, &progress);

        progress = progress || oche_world_something_is_to_come(world, under_way == 0);
    }
    if (progress)
        stall->since = now;
    return now - stall->since >= stall->patience;
}

bool oche_world_stall_check(struct oche_world *world)
{
    return world->stall != NULL && (patience_is_over(world) || oche_world_unreachable_check(world));
}

void oche_world_stall_free(struct oche_world *world)
{
    if (world->stall != NULL)
        oche_sparse_free(world->stall->most);
    free(world->stall);
}

enum oche_world_end oche_world_ended(const struct oche_world *world)
{
    return world->end;
}

oche_time oche_world_over_at(const struct oche_world *world)
{
    return world->over_at;
}

oche_time oche_world_until(const struct oche_world *world)
{
    oche_time duration = world->config->run.duration;

    return duration > 0 ? duration : world->until;
}

void oche_world_interrupt_by(struct oche_world *world, const volatile sig_atomic_t *flag)
{
    world->interrupt = flag;
}

/* ---- who waits for what ---- */

static void print_flows(const struct oche_world *world, FILE *out)
{
    const struct oche_topology *topology = &world->topology;
    uint64_t under_way = 0, named = 0, done = 0, ranks = 0, ranks_left = 0;

    for (uint32_t s = 0; s < world->network.shard_count; s++)
        done += world->network.shards[s].awaited_completed;
    for (OCHE_EACH_MADE_FLOW(i, &world->flows))
        under_way += oche_world_is_under_way(world, i) && !world->flows.plan[i].beside;
    for (uint32_t i = 0; i < world->jobs.count; i++) {
        ranks += world->jobs.list[i]->goal.ranks;
        ranks_left += oche_job_waits(world->jobs.list[i]).ranks;
    }
    if (ranks > 0)
        fprintf(out, "%llu of %llu ranks have not come to their end; ",
                (unsigned long long)ranks_left, (unsigned long long)ranks);
    fprintf(out, "%llu of %llu flows have not arrived, %llu of them under way",
            (unsigned long long)(world->awaited - done - ranks_left),
            (unsigned long long)(world->awaited - ranks), (unsigned long long)under_way);
    for (OCHE_EACH_MADE_FLOW(i, &world->flows)) {
        const struct oche_flow_plan *plan = &world->flows.plan[i];

        if (named == MOST_NAMED || plan->beside || !oche_world_is_under_way(world, i))
            continue;
        fprintf(out, "%s flow %u from %s to %s (%s of %s)", named++ == 0 ? ":" : ",", i,
                topology->nodes[plan->src].name, topology->nodes[plan->dst].name,
                oche_figure_bytes(oche_world_flow_bytes(world, i)).text,
                oche_figure_bytes(plan->bytes).text);
    }
    if (under_way > named)
        fputs(" …", out);
}

struct names {
    const char *head;
    FILE *out;
    uint64_t count;
};

static void add_name(struct names *names, const struct oche_world *world, uint32_t node,
                     uint32_t local)
{
    char name[OCHE_PORT_NAME_BYTES];

    if (++names->count > MOST_NAMED + 1)
        return;
    oche_topology_port_name(&world->topology, node, local, name, sizeof(name));
    fprintf(names->out, "%s%s", names->count == 1 ? names->head : ", ",
            names->count > MOST_NAMED ? "…" : name);
}

static bool is_held(const struct oche_world *world, uint32_t node, uint32_t local)
{
    struct oche_host_reading host;
    struct oche_port_reading port;

    if (node < world->topology.host_count) {
        oche_world_read_host(world, node, &host);
        return host.paused;
    }
    oche_world_read_port(world, node - world->topology.host_count, local, &port);
    return port.paused != 0;
}

static void print_ports(const struct oche_world *world, bool down, FILE *out)
{
    struct names names = {.head = down ? "; down: " : "; held by PAUSE: ", .out = out};

    for (uint32_t node = 0; node < world->network.node_count; node++)
        for (uint32_t local = 0; local < world->topology.nodes[node].port_count; local++) {
            uint32_t port = world->network.nodes[node].first_port + local;

            if (down ? world->network.extras[port].down : is_held(world, node, local))
                add_name(&names, world, node, local);
        }
    if (names.count == 0 && !down)
        fputs("; no port is held by PAUSE", out);
}

/* Prints the next timers of the hosts whose flows are under way. */
static void print_timers(const struct oche_world *world, FILE *out)
{
    uint64_t count = 0;
    uint32_t last = UINT32_MAX;

    for (OCHE_EACH_MADE_FLOW(i, &world->flows)) {
        uint32_t host = oche_flow_poster(&world->flows.plan[i]);

        if (host == last || world->flows.plan[i].beside || !oche_world_is_under_way(world, i) ||
            count == MOST_NAMED)
            continue;
        oche_time at = world->network.nodes[host].timer_at;

        fprintf(out, "%s%s: %s", count++ == 0 ? "; next timer of " : ", of ",
                world->topology.nodes[host].name,
                at == OCHE_NEVER ? "none" : oche_figure_time(at).text);
        last = host;
    }
}

char *oche_world_waiting_text(const struct oche_world *world)
{
    const struct oche_world_stall *stall = world->stall;
    char *text = NULL;
    size_t bytes;

    if (world->end != OCHE_END_STALLED && world->end != OCHE_END_BOUND)
        return NULL;
    FILE *out = oche_text_stream_open(&text, &bytes);

    if (world->end == OCHE_END_STALLED && world->unreachable.ended)
        fprintf(out,
                "nothing was delivered from %s or earlier to %s, and links that stay down cut off "
                "every flow that is left: ",
                oche_figure_time(world->unreachable.since).text,
                oche_figure_time(world->network.now).text);
    else if (world->end == OCHE_END_STALLED)
        fprintf(
            out, "nothing was delivered from %s or earlier to %s, %s times the longest %s (%s): ",
            oche_figure_time(stall->since).text, oche_figure_time(world->network.now).text,
            oche_figure_count(stall->timeouts).text, stall->round_trip ? "round trip" : "timeout",
            oche_figure_time(stall->timeout).text);
    else
        fprintf(out,
                "not all was delivered at %s, the most that this run may last without duration; "
                "set duration to give it more: ",
                oche_figure_time(world->until).text);
    print_flows(world, out);
    print_ports(world, true, out);
    print_ports(world, false, out);
    print_timers(world, out);
    oche_text_stream_close(out);
    return text;
}
