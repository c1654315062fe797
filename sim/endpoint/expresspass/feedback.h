/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a receiver sets the rate of a flow's credits, once per round trip (ExpressPass sec 3.2;
 * expresspass.md#feedback): the rate rises until credits are lost, then falls to the rate of the
 * credits that were not lost. A credit counts as lost when the data that it asks for does not come:
 * each data packet carries the number of its credit, so a gap in the numbers is a loss.
 *
 *     loss = lost / (lost + used) of the round trip; rates are bytes of credits on the line / s
 *
 *     code    target = target_loss * (1 - rate / most)
 *             loss > target: rate = min(rate, used bytes / time * (1 + target)),
 *                            w = max(w / 2, w_least), and w does not grow next time
 *             else:          w = min(w + w_step, w_most) if the last time was good too,
 *                            rate = w * most + (1 - w) * rate
 *             at least one credit per round trip, at most `most`
 *     paper   target = target_loss
 *             loss > target: rate = rate * (1 - loss) * (1 + target), w = max(w / 2, w_least)
 *             else:          w = (w + w_most) / 2 if the last time was good too,
 *                            rate = (1 - w) * rate + w * most * (1 + target)
 *             within the same bounds, but with most * (1 + target) in place of `most`
 *
 * A round trip lasts from a credit's departure to the arrival of its data. As in the authors' code
 * it is smoothed, with weights 4 to 1. The formulas use IEEE doubles. Each operation on them is
 * correctly rounded, so every machine computes the same, as in core/cc.
 */
#ifndef OCHE_SIM_ENDPOINT_EXPRESSPASS_FEEDBACK_H
#define OCHE_SIM_ENDPOINT_EXPRESSPASS_FEEDBACK_H

#include "sim/endpoint/expresspass/params.h"

struct oche_xpass_feedback {
    double rate, most; /* bytes per second */
    double w;
    double credit_bytes; /* mean size of a credit on the line */
    oche_time rtt;       /* smoothed; 0: unknown */
    oche_time updated;
    uint32_t used, lost; /* credits counted since `updated` */
    bool good;           /* at the last update the loss was not above the target */
};

/* Starts the loop, or restarts it, at `now`. A restart keeps the known round trip. */
void oche_xpass_feedback_start(struct oche_xpass_feedback *feedback,
                               const struct oche_xpass_params *params, double most,
                               double credit_bytes, oche_time now);
/* Counts a credit whose data has arrived, and the `lost` credits before it whose data has not. */
void oche_xpass_feedback_data(struct oche_xpass_feedback *feedback, uint32_t lost, oche_time rtt);
/* Sets the rate if a round trip has passed. Returns true if it did. */
bool oche_xpass_feedback_update(struct oche_xpass_feedback *feedback,
                                const struct oche_xpass_params *params, oche_time now);

#endif
