/* SPDX-License-Identifier: Apache-2.0 */
/* Thresholds, computed by the code that the switch itself uses: fabric/shared_buffer. */
#include "sim/measure/thresholds.h"

#include "fabric/chips.h"
#include "fabric/shared_buffer.h"

/* Computes the switch's PFC, ECN and resume thresholds as if it had the kind `threshold`. */
static void take_threshold(const struct oche_switch_config *config,
                           enum oche_buffer_threshold threshold, double *pfc, double *ecn,
                           double *resume)
{
    struct oche_switch_params params = *config->params;
    struct oche_switch_config changed = *config;
    struct oche_buffer buffer;

    params.threshold = threshold;
    params.xoff_bytes = 0; /* 0: computed by the formula of DCQCN sec 4 */
    changed.params = &params;
    oche_buffer_init(&buffer, &changed);
    *pfc = (double)oche_buffer_xoff_at(&buffer, 0);
    *resume = buffer.hysteresis;
    *ecn = oche_buffer_ecn_bound_of_paper(
        &changed, (struct oche_buffer_worst){.fan_out = config->port_count,
                                             .classes = oche_buffer_plan(&changed).priorities});
}

bool oche_thresholds(const struct oche_switch_config *config, struct oche_thresholds *thresholds)
{
    struct oche_buffer_plan plan = oche_buffer_plan(config);

    if (plan.priorities == 0 || plan.headroom_total >= oche_switch_memory(config))
        return false;
    *thresholds = (struct oche_thresholds){.headroom_all = (double)plan.headroom_total,
                                           .shared = (double)plan.shared,
                                           .frame = config->mtu_frame_bytes};
    for (unsigned port = 0; port < config->port_count; port++) {
        double headroom = (double)oche_buffer_headroom(config, port);

        if (headroom > thresholds->headroom)
            thresholds->headroom = headroom;
    }
    take_threshold(config, OCHE_THRESHOLD_STATIC, &thresholds->static_pfc, &thresholds->static_ecn,
                   &thresholds->resume);
    take_threshold(config, OCHE_THRESHOLD_DYNAMIC, &thresholds->dynamic_pfc,
                   &thresholds->dynamic_ecn, &thresholds->resume);
    return true;
}
