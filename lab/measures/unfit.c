/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/measures/unfit.h"

#include <stdarg.h>
#include <stdio.h>

#include "core/cc/cc_advice.h"
#include "params/figures.h"

void oche_unfit_say(struct oche_unfit *unfit, const char *format, ...)
{
    va_list arguments;

    if (unfit->count == OCHE_UNFIT_MOST)
        return;
    va_start(arguments, format);
    vsnprintf(unfit->text[unfit->count++], sizeof(unfit->text[0]), format, arguments);
    va_end(arguments);
}

static void judge_load(struct oche_unfit *unfit, const struct oche_world *world)
{
    const struct oche_topology *topology = oche_world_topology(world);
    struct oche_overload over;
    char name[OCHE_TOPOLOGY_NAME_BYTES];

    if (!oche_world_overload(world, &over))
        return;
    if (over.is_pod)
        snprintf(name, sizeof(name), "pod %u", over.number);
    else
        snprintf(name, sizeof(name), "%s",
                 topology->nodes[topology->host_count + over.number].name);
    oche_unfit_say(
        unfit,
        "workload: more than the links between switches carry, so that queues grow: %s is to send "
        "%s to other %s, and its links there carry %s (load %s)",
        name, oche_figure_rate((uint64_t)over.offered_bps).text, over.is_pod ? "pods" : "racks",
        oche_figure_rate(over.capacity_bps).text,
        oche_figure_share(over.offered_bps / (double)over.capacity_bps).text);
}

static void judge_host_load(struct oche_unfit *unfit, const struct oche_world *world)
{
    struct oche_host_overload over;

    if (!oche_world_host_overload(world, &over))
        return;
    oche_unfit_say(
        unfit,
        "workload: more than a host's link carries, so that what waits %s grows: %s is to %s %s "
        "with headers, and its link carries %s (load %s)",
        over.receives ? "for it" : "there", oche_world_topology(world)->nodes[over.host].name,
        over.receives ? "get" : "send", oche_figure_rate((uint64_t)over.offered_bps).text,
        oche_figure_rate(over.capacity_bps).text,
        oche_figure_share(over.offered_bps / (double)over.capacity_bps).text);
}

static void judge_endpoint(struct oche_unfit *unfit, const struct oche_world *world)
{
    const struct oche_endpoint *endpoint = oche_world_config(world)->endpoint;
    oche_time round_trip = oche_world_recovery_network(world).round_trip;

    if (endpoint == NULL || endpoint->unfit == NULL)
        return;
    const char *what = endpoint->unfit(oche_world_fitted_endpoint(world), round_trip);

    if (what != NULL)
        oche_unfit_say(unfit,
                       "congestion_control: where nothing waits, a round trip takes up to %s: %s",
                       oche_figure_time(round_trip).text, what);
}

static void judge_timeouts(struct oche_unfit *unfit, const struct oche_world *world)
{
    const struct oche_world_config *config = oche_world_config(world);
    const struct oche_recovery_network network = oche_world_recovery_network(world);
    const struct oche_recovery_scheme *recovery = config->recovery;
    const struct oche_host_params *hosts = oche_world_host_params(world);
    struct oche_figure trip = oche_figure_time(network.round_trip);

    if (config->endpoint != NULL && !config->endpoint->roce)
        return; /* the network has neither of them */
    if (hosts->timeouts == OCHE_TIMEOUTS_DOUBLING && network.round_trip > 2 * OCHE_MS)
        oche_unfit_say(
            unfit,
            "host.timeouts: where nothing waits, a round trip takes up to %s: more than connectx's "
            "first timeout of 2ms, so that packets are sent again that have arrived",
            trip.text);
    else if (hosts->ack_timeout < network.round_trip)
        oche_unfit_say(
            unfit,
            "host.ack_timeout: where nothing waits, a round trip takes up to %s: more than %s, so "
            "that packets are sent again that have arrived",
            trip.text, oche_figure_time(hosts->ack_timeout).text);
    if (recovery == NULL || recovery->remark == NULL)
        return;
    const char *remark = recovery->remark(oche_world_fitted_recovery(world), &network);

    if (remark != NULL)
        oche_unfit_say(
            unfit,
            "recovery: where nothing waits, a round trip takes up to %s, in which a host's link "
            "carries %s packets: %s",
            trip.text, oche_figure_count(network.packets).text, remark);
}

/* Reports the fastest links first. */
static void judge_line_rate(struct oche_unfit *unfit, const struct oche_world *world)
{
    const struct oche_world_config *config = oche_world_config(world);
    const struct oche_host_rates *rates = oche_world_host_rates(world);
    const char *remark = NULL;
    uint64_t line_bps = 0;

    if (config->endpoint != NULL || config->cc->advice == NULL ||
        config->cc->advice->rate_remark == NULL)
        return;
    for (uint32_t i = rates->count; i-- > 0 && remark == NULL;) {
        line_bps = rates->kinds[i].link_bps;
        remark = config->cc->advice->rate_remark(config->cc_params, line_bps);
    }
    if (remark != NULL)
        oche_unfit_say(unfit, "congestion_control: %s carry %s: %s",
                       rates->kinds[0].link_bps == rates->kinds[rates->count - 1].link_bps
                           ? "the hosts' links"
                           : "some hosts' links",
                       oche_figure_rate(line_bps).text, remark);
}

/* A run without duration may be over before its warm-up ends; that is known only afterwards. */
static void judge_warmup(struct oche_unfit *unfit, const struct oche_world *world)
{
    oche_time now = oche_world_network(world)->now;
    oche_time warmup = oche_world_config(world)->run.warmup;

    if (now > 0 && now <= warmup)
        oche_unfit_say(unfit, "warmup: the run ended at %s, and nothing is measured before %s",
                       oche_figure_time(now).text, oche_figure_time(warmup).text);
}

void oche_unfit_take(struct oche_unfit *unfit, const struct oche_world *world)
{
    unfit->count = 0;
    judge_warmup(unfit, world);
    judge_host_load(unfit, world);
    judge_load(unfit, world);
    judge_timeouts(unfit, world);
    judge_endpoint(unfit, world);
    judge_line_rate(unfit, world);
    oche_unfit_judge_buffers(unfit, world);
    oche_unfit_judge_receivers(unfit, world);
}
