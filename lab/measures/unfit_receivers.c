/* SPDX-License-Identifier: Apache-2.0 */
/* Slow receivers whose PAUSEs come too late, or that send none. */
#include "lab/measures/unfit.h"

#include "params/figures.h"

/* The first of the two thresholds that is given, or NULL. */
static const char *given_threshold(const struct oche_receiver_params *params)
{
    if (params->xoff_bytes != OCHE_NEVER)
        return "xoff";
    return params->xon_bytes != OCHE_NEVER ? "xon" : NULL;
}

void oche_unfit_judge_receivers(struct oche_unfit *unfit, const struct oche_world *world)
{
    const struct oche_world_config *config = oche_world_config(world);

    for (uint32_t i = 0; i < config->receiver_count; i++) {
        const struct oche_receiver_params *params = &config->receivers[i];
        const char *given = given_threshold(params);
        struct oche_receiver_thresholds bounds;

        if (!oche_world_receiver_thresholds(world, i, &bounds)) {
            if (given != NULL)
                oche_unfit_say(unfit,
                               "slow_receivers[%u].%s: nothing comes of it without PFC: what finds "
                               "the buffer full is dropped",
                               i, given);
        } else if (bounds.most_xoff + bounds.most_headroom > params->buffer_bytes) {
            oche_unfit_say(unfit,
                           "slow_receivers[%u].xoff: PAUSEs come too late to lose nothing: they "
                           "begin at %s of %s, and %s may still arrive",
                           i, oche_figure_bytes(bounds.most_xoff).text,
                           oche_figure_bytes(params->buffer_bytes).text,
                           oche_figure_bytes(bounds.most_headroom).text);
        }
    }
}
