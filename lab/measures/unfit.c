/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/measures/unfit.h"

#include <stdarg.h>
#include <stdio.h>

#include "params/figures.h"

static void __attribute__((format(printf, 2, 3)))
say(struct oche_unfit *unfit, const char *format, ...)
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
    say(unfit,
        "workload: more than the links between switches carry, so that queues grow: %s is to send "
        "%s to other %s, and its links there carry %s (load %s)",
        name, oche_figure_rate((uint64_t)over.offered_bps).text, over.is_pod ? "pods" : "racks",
        oche_figure_rate(over.capacity_bps).text,
        oche_figure_share(over.offered_bps / (double)over.capacity_bps).text);
}

static void judge_timeouts(struct oche_unfit *unfit, const struct oche_world *world)
{
    const struct oche_world_config *config = oche_world_config(world);
    const struct oche_recovery_network network = oche_world_recovery_network(world);
    const struct oche_recovery_scheme *recovery = config->recovery;
    const struct oche_host_params *hosts = oche_world_host_params(world);
    struct oche_figure trip = oche_figure_time(network.round_trip);

    if (config->endpoint != NULL && !config->endpoint->roce)
        return; /* it has neither of them */
    if (hosts->timeouts == OCHE_TIMEOUTS_CONNECTX && network.round_trip > 2 * OCHE_MS)
        say(unfit,
            "host.timeouts: where nothing waits, a round trip takes up to %s: more than connectx's "
            "first timeout of 2ms, so that packets are sent again that have arrived",
            trip.text);
    else if (hosts->ack_timeout < network.round_trip)
        say(unfit,
            "host.ack_timeout: where nothing waits, a round trip takes up to %s: more than %s, so "
            "that packets are sent again that have arrived",
            trip.text, oche_figure_time(hosts->ack_timeout).text);
    if (recovery == NULL || recovery->remark == NULL)
        return;
    const char *remark = recovery->remark(oche_world_fitted_recovery(world), &network);

    if (remark != NULL)
        say(unfit,
            "recovery: where nothing waits, a round trip takes up to %s, in which a host's link "
            "carries %s packets: %s",
            trip.text, oche_figure_count(network.packets).text, remark);
}

void oche_unfit_take(struct oche_unfit *unfit, const struct oche_world *world)
{
    unfit->count = 0;
    judge_load(unfit, world);
    judge_timeouts(unfit, world);
}
