/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a world: warm-up first, then in steps of the sampling interval. Steps end at multiples of
 * the interval after warm-up, and where to look for a stall, whatever the number of threads.
 */
#include "sim/network/host_jobs.h"
#include "sim/world/internal.h"
#include "sim/world/results/readings.h"

#include <string.h>

#define REPORT_EVERY 256 /* windows, and wherever else it is looked */

struct watcher {
    struct oche_world *world;
    oche_progress_report *report;
    void *context;
    uint32_t arrived; /* no data of flows before this one is waited for */
    bool done;
    /*
     * A sample by itself must not show in the run. If it is taken at this time, within a window,
     * nothing is looked at then, but at the window's end, where it is owed.
     */
    oche_time between;
    bool owed;
    oche_time looked; /* when the run was looked at last */
};

static uint64_t flows_done(const struct oche_world *world)
{
    uint64_t sum = 0;

    for (uint32_t s = 0; s < world->network.shard_count; s++)
        sum += world->network.shards[s].flows_completed;
    return sum;
}

static uint64_t awaited_done(const struct oche_world *world)
{
    uint64_t sum = 0;

    for (uint32_t s = 0; s < world->network.shard_count; s++)
        sum += world->network.shards[s].awaited_completed;
    return sum;
}

/* True if all that was sent of the flow has arrived, or is known not to, or is not waited for. */
static bool is_over(const struct oche_world *world, uint32_t flow)
{
    const struct oche_flow_received *received = &world->flows.received[flow];

    if (!oche_flow_is_made(&world->flows, flow))
        return true; /* nothing was sent */
    return received->delivered != OCHE_NEVER || received->passed_over ||
           world->flows.sent[flow].failed != 0 || world->flows.plan[flow].beside;
}

/* True if this process has the host that posts the flow. */
static bool begins_here(const struct oche_world *world, uint32_t flow)
{
    const struct oche_flow_source *source;

    if (world->network.ranks == NULL)
        return true;
    if (oche_flow_is_made(&world->flows, flow))
        return oche_world_has(world, oche_flow_poster(&world->flows.plan[flow]));
    source = oche_flow_sources_find(&world->flows.sources, flow);
    if (source == NULL)
        return false;
    const struct oche_flow_plan plan =
        source->at != NULL ? oche_flows_plan(&world->flows, flow) : source->flow;

    return oche_world_has(world, oche_flow_poster(&plan));
}

/* True if a flow may be completed before its data is delivered. */
static bool completes_early(const struct oche_world *world)
{
    const struct oche_endpoint *endpoint = world->config->endpoint;

    return world->config->hosts.dma_latency > 0 ||
           (endpoint != NULL && endpoint->completes_early != NULL &&
            endpoint->completes_early(oche_world_endpoint_params(world->config)));
}

/*
 * Called when all flows that the run waits for are completed. True if no data of them may still
 * arrive: what has left the network was lost. A rank knows only the flows that begin at its hosts,
 * all packets, and its own hosts' pending deliveries.
 */
static bool has_arrived(struct watcher *watcher)
{
    const struct oche_world *world = watcher->world;

    if (!completes_early(world))
        return true;
    while (watcher->arrived < world->flows.count &&
           (!begins_here(world, watcher->arrived) || is_over(world, watcher->arrived)))
        watcher->arrived++;
    return oche_ranks_all(world->network.ranks, watcher->arrived == world->flows.count) ||
           (oche_network_live_packets(&world->network) == 0 &&
            !oche_ranks_any(world->network.ranks,
                            oche_network_pending_deliveries(&world->network) > 0));
}

static void end(struct watcher *watcher, enum oche_world_end why)
{
    watcher->world->end = why;
    watcher->done = true;
}

/* Tells the network at which windows' ends anything can happen in at_window_end. */
static void set_looks(struct watcher *watcher)
{
    const struct oche_world *world = watcher->world;

    watcher->world->network.checks = (struct oche_window_checks){
        .at = world->config->events != NULL ? 0 : world->pauses_check_at,
        .flows = oche_flows_next_move(&world->flows),
        .awaited = world->config->run.stop_when_done ? world->awaited : UINT64_MAX,
        .windows = watcher->report != NULL ? REPORT_EVERY : 0,
        .interrupt = world->interrupt,
    };
}

static bool is_interrupted(const struct oche_world *world)
{
    if (world->network.ranks != NULL)
        return world->network.ranks->interrupted; /* all ranks end at the same window */
    return world->interrupt != NULL && *world->interrupt != 0;
}

/* Returns true if every flow is over that the run waits for, and was not at the last look. */
static bool note_over(struct watcher *watcher, oche_time now)
{
    struct oche_world *world = watcher->world;

    if (world->over_at != OCHE_NEVER || !world->config->run.stop_when_done ||
        awaited_done(world) != world->awaited || !has_arrived(watcher))
        return false;
    world->over_at = now;
    return true;
}

/* Returns when a run ends whose flows are all over. */
static oche_time run_on_until(const struct oche_world *world)
{
    return oche_time_add(world->over_at, world->config->run_on);
}

static void end_if_over(struct watcher *watcher, oche_time now)
{
    if (watcher->world->over_at != OCHE_NEVER && now >= run_on_until(watcher->world))
        end(watcher, OCHE_END_DELIVERED);
}

static bool at_window_end(void *context, oche_time now)
{
    struct watcher *watcher = context;
    struct oche_world *world = watcher->world;
    const uint64_t done = flows_done(world);

    if (world->config->events != NULL && !oche_event_log_write(world->config->events))
        end(watcher, OCHE_END_INTERRUPTED);
    if (now == watcher->between) {
        watcher->owed = true;
        return watcher->done;
    }
    watcher->looked = now;
    oche_world_causes_judge(world);
    oche_flows_move_over(&world->flows, done);
    if (watcher->report != NULL) {
        struct oche_progress progress = {
            .now = now,
            .duration = world->config->run.duration,
            .awaited_done = awaited_done(world),
            .awaited = world->awaited,
            .hops = oche_network_hops(&world->network),
            .flows_done = (uint32_t)done,
            .flows = world->flows.count,
        };
        watcher->report(watcher->context, &progress);
    }
    const bool noticed = note_over(watcher, now);

    end_if_over(watcher, now);
    if (oche_world_pauses_check(world))
        end(watcher, OCHE_END_DEADLOCK);
    if (is_interrupted(world))
        end(watcher, OCHE_END_INTERRUPTED);
    set_looks(watcher);
    return watcher->done || noticed; /* then run_to_sample chooses the next pause anew */
}

static void note_flows(struct oche_world *world)
{
    world->flow_before = oche_world_make_sparse(world->flows.count, sizeof(*world->flow_before));
    for (OCHE_EACH_MADE_FLOW(i, &world->flows))
        if (world->flows.sent[i].started != OCHE_NEVER &&
            oche_world_has(world, world->flows.plan[i].dst))
            world->flow_before[i] = oche_world_flow_bytes(world, i);
}

static void watch_queues(struct oche_world *world, bool watch)
{
    for (uint32_t i = 0; i < world->watched_count; i++) {
        struct oche_world_watched *watched = &world->watched[i];

        if (oche_world_has(world, watched->node))
            oche_switch_watch(world->switches[watched->node - world->topology.host_count],
                              watched->local, watch ? &watched->watch : NULL, world->network.now);
    }
}

static void end_warmup(struct oche_world *world)
{
    oche_time now = world->network.now;

    world->measured_from = now;
    memset(world->timeout_causes, 0, sizeof(world->timeout_causes));
    for (uint32_t i = 0; i < world->topology.host_count; i++) {
        if (!oche_world_has(world, i))
            continue;
        world->nic_before[i] = *oche_host_stats(world->hosts[i]);
        oche_host_counters(world->hosts[i], &world->counted_before[i * OCHE_MOST_COUNTERS]);
        world->late_before[i] = oche_host_late_packets(world->hosts[i]);
        oche_pause_reset(oche_host_pause(world->hosts[i]), now);
        oche_slow_host_reset(world->hosts[i], now);
    }
    for (uint32_t i = 0; i < world->topology.switch_count; i++)
        if (oche_world_has_switch(world, i))
            oche_switch_reset_stats(world->switches[i], now);
    for (uint32_t i = 0; i < world->network.port_count; i++) {
        /* Rounds up the bytes sent so far; otherwise a link could seem to carry too many later. */
        uint64_t unsent = oche_network_unsent_bytes(&world->network, i, now);
        world->line_before[i] = world->network.ports[i].line_bytes - (unsent > 0 ? unsent - 1 : 0);
        world->lost_before[i] = world->network.extras[i].lost_packets;
        world->cut_before[i] = world->network.extras[i].cut_packets;
        world->grey_before[i] = world->network.extras[i].grey_packets;
    }
    if (world->paths_before != NULL)
        for (OCHE_EACH_MADE_FLOW(i, &world->flows))
            world->paths_before[i] = world->flows.paths[i];
    watch_queues(world, true);
    if (now > 0)
        note_flows(world);
    oche_world_series_start(world);
    oche_world_longest_queues_start(world);
    oche_world_slowest_start(world);
}

/* True if no more samples are taken, because the run has no duration and enough of them. */
static bool has_enough_samples(const struct oche_world *world)
{
    return world->rows == OCHE_WORLD_MOST_SAMPLES ||
           (world->config->run.duration == 0 &&
            (uint64_t)(world->rows + 1) * world->column_count > OCHE_WORLD_MOST_VALUES);
}

/*
 * Runs until a sample is to be taken, but at most until `until`, when the run is looked at in any
 * case, and looks whether it has stalled.
 */
static void run_to_sample(struct watcher *watcher, oche_time until)
{
    struct oche_world *world = watcher->world;
    struct oche_network *network = &world->network;
    oche_time step, window = network->window;
    /* the output must not depend on where the run pauses, `step` */
    bool hidden = world->most_rows > 0;

    if (world->over_at == OCHE_NEVER)
        until = oche_time_min(until, oche_world_stall_next(world));
    else
        until = oche_time_min(until, (run_on_until(world) + window - 1) / window * window);
    if (world->visit != NULL)
        until = oche_time_min(until, world->visit_at);
    step = until;
    if (world->interval > 0 && network->now >= world->config->run.warmup &&
        !has_enough_samples(world)) {
        oche_time since = network->now - world->measured_from;

        step = oche_time_min(step, world->measured_from +
                                       (since / world->interval + 1) * world->interval);
    }
    if (oche_world_load_next(world) < step) {
        step = oche_world_load_next(world);
        hidden = true;
    }
    if (watcher->owed)
        step = oche_time_min(step, (network->now / window + 1) * window);
    watcher->between = hidden && step != until && step % window != 0 ? step : OCHE_NEVER;
    set_looks(watcher);
    oche_network_run(network, step, at_window_end, watcher);
    if (watcher->owed && !watcher->done && network->now != watcher->between) {
        watcher->owed = false;
        if (watcher->looked != network->now)
            at_window_end(watcher, network->now);
    }
    if (!watcher->done)
        end_if_over(watcher, network->now); /* nothing need have happened at that time */
    if (!watcher->done && world->over_at == OCHE_NEVER && oche_world_stall_check(world))
        end(watcher, OCHE_END_STALLED);
}

/*
 * Lets the visitor look, if it is time. Looks are where windows end, so they change nothing but,
 * perhaps, the end of the run.
 */
static void visit(struct watcher *watcher)
{
    struct oche_world *world = watcher->world;
    const oche_time now = world->network.now, window = world->network.window;

    if (world->visit == NULL || watcher->done || now < world->visit_at)
        return;
    const oche_time next = world->visit(world->visit_context, now);

    if (next <= now)
        end(watcher, OCHE_END_STABLE);
    world->visit_at = next < OCHE_TIME_LIMIT ? (next + window - 1) / window * window : OCHE_NEVER;
}

void oche_world_visit_by(struct oche_world *world, oche_world_visit *visitor, void *context)
{
    world->visit = visitor;
    world->visit_context = context;
    world->visit_at = OCHE_NEVER;
}

static void count_sent_again(struct oche_world *world)
{
    for (OCHE_EACH_MADE_FLOW(i, &world->flows)) {
        uint32_t host = oche_flow_poster(&world->flows.plan[i]);

        if (oche_world_has(world, host))
            oche_host_count_sent_again(world->hosts[host], i);
    }
}

static void finish_jobs(struct oche_world *world)
{
    if (world->jobs.count == 0)
        return;
    for (uint32_t host = 0; host < world->topology.host_count; host++)
        if (oche_world_has(world, host))
            oche_host_jobs_finish(world->hosts[host], world->network.now);
    for (uint32_t i = 0; i < world->jobs.count; i++)
        oche_job_finish(world->jobs.list[i]);
}

void oche_world_run(struct oche_world *world, oche_progress_report *report, void *context)
{
    const struct oche_run_params *run = &world->config->run;
    struct watcher watcher = {
        .world = world, .report = report, .context = context, .between = OCHE_NEVER};
    oche_time last = oche_world_until(world);

    world->end = run->duration > 0 ? OCHE_END_DURATION : OCHE_END_BOUND;
    world->over_at = OCHE_NEVER;
    if (run->duration == 0 && world->awaited == 0)
        end(&watcher, OCHE_END_DELIVERED);
    oche_world_stall_start(world);
    oche_world_plan_end(world);
    while (!watcher.done && world->network.now < run->warmup)
        run_to_sample(&watcher, run->warmup);
    end_warmup(world);
    world->visit_at = world->network.now;
    visit(&watcher);
    while (!watcher.done && world->network.now < last) {
        run_to_sample(&watcher, last);
        if (world->interval > 0 && !has_enough_samples(world) &&
            (world->network.now - world->measured_from) % world->interval == 0) {
            oche_world_series_sample(world);
            oche_world_longest_sample(world);
        }
        if (world->network.now >= world->arrivals.stop)
            oche_world_load_take(world);
        visit(&watcher);
    }
    oche_world_load_take(world);
    finish_jobs(world);
    count_sent_again(world);
    oche_world_pauses_finish(world);
    watch_queues(world, false);
    oche_world_longest_finish(world);
    oche_world_slowest_finish(world);
    oche_world_count_events(world);
    oche_world_gather(world);
}
