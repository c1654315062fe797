/* SPDX-License-Identifier: Apache-2.0 */
/* How far the queues of a switch can grow, and from where on it marks and pauses. */
#include "fabric/chips.h"
#include "fabric/ecn.h"
#include "fabric/shared_buffer.h"
#include "sim/world/internal.h"

/* Returns the thresholds of the port that marks last. */
static struct oche_red_ramp last_ramp(const struct oche_switch_config *config)
{
    struct oche_red_ramp last = oche_red_ramp(config->params, config->ports[0].rate_bps);

    for (unsigned port = 1; port < config->port_count; port++) {
        struct oche_red_ramp ramp = oche_red_ramp(config->params, config->ports[port].rate_bps);

        if (ramp.kmin > last.kmin || (ramp.kmin == last.kmin && ramp.kmax > last.kmax))
            last = ramp;
    }
    return last;
}

struct oche_buffer_limits oche_world_buffer_limits(const struct oche_world *world, uint32_t number)
{
    struct oche_switch_port_config ports[OCHE_MAX_PORTS];
    struct oche_switch_config config;

    oche_world_switch_config(world, number, &config, ports);
    const struct oche_buffer_plan plan = oche_buffer_plan(&config);
    const struct oche_red_ramp ramp = last_ramp(&config);
    struct oche_buffer_limits limits = {
        .lossless = config.params->pfc && (config.lossless_classes >> OCHE_DATA_CLASS & 1) != 0,
        .memory = oche_switch_memory(&config),
        .headroom = plan.headroom_total,
        .shared = plan.shared > plan.reserve ? plan.shared - plan.reserve : 0,
        .frame = config.mtu_frame_bytes,
        .xoff = config.params->threshold == OCHE_THRESHOLD_STATIC ? plan.xoff : 0,
        .kmin = ramp.kmin,
        .kmax = ramp.kmax,
    };

    limits.queue = limits.lossless ? limits.memory : oche_world_lossy_room(world, number);
    limits.most_marked =
        (double)oche_red_probability(&ramp, limits.queue) / (double)(UINT64_C(1) << 63);
    return limits;
}
