/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/measures/long_run.h"

#include <math.h>
#include <stdio.h>

#include "params/figures.h"

#define HOPS_PER_SECOND 4e6 /* of one core (docs/performance.md), for the expected time */
#define LONG_HOPS       (120 * HOPS_PER_SECOND)
#define MANY_TRIES      1000

/*
 * Writes the number of attempts for the largest message, if each loss restarts it. A run without
 * duration waits for that.
 */
static bool begins_again(const struct oche_world *world, const struct oche_work_estimate *estimate,
                         char text[OCHE_LONG_RUN_BYTES])
{
    const struct oche_world_config *config = oche_world_config(world);
    const double packets = ceil((double)estimate->most_bytes / estimate->payload_bytes);

    if (config->run.duration > 0 || config->recovery == NULL || !config->recovery->whole_messages ||
        (config->endpoint != NULL && !config->endpoint->roce))
        return false;
    const double tries = pow(1 - config->loss.probability, -packets);

    if (tries < MANY_TRIES)
        return false;
    snprintf(text, OCHE_LONG_RUN_BYTES,
             "recovery: %s begins a message again at each loss, and with loss.probability %s one "
             "of %.3g tries at %s meets none, so that this run may take very long: set duration, "
             "send smaller messages, or choose another recovery",
             config->recovery->name, oche_figure_share(config->loss.probability).text, tries,
             oche_figure_bytes(estimate->most_bytes).text);
    return true;
}

bool oche_long_run_remark(const struct oche_world *world, char text[OCHE_LONG_RUN_BYTES])
{
    const struct oche_work_estimate estimate = oche_world_estimate_work(world);

    if (begins_again(world, &estimate, text))
        return true;
    if (estimate.hops < LONG_HOPS)
        return false;
    snprintf(text, OCHE_LONG_RUN_BYTES,
             "ahead: some %.2g packet-hops, at four million a second %s; Ctrl-C ends the run with "
             "what there is",
             estimate.hops, oche_figure_wait(estimate.hops / HOPS_PER_SECOND).text);
    return true;
}
