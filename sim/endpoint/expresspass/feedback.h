/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a receiver sets the rate of a flow's credits, once a round trip (ExpressPass sec 3.2;
 * REFERENCE F.3): more until credits are lost, then as many as came through. A credit is lost when
 * the data that it called for does not come: data carries its credit's number, so a gap in the
 * numbers is a loss.
 *
 *     loss = lost / (lost + used) of the round trip; rates in bytes of credits on the line a second
 *
 *     code    target = target_loss * (1 - rate / most)
 *             loss > target: rate = min(rate, used bytes / time * (1 + target)),
 *                            w = max(w / 2, w_least), and w does not grow next time
 *             else:          w = min(w + w_step, w_most) if the last time was good too,
 *                            rate = w * most + (1 - w) * rate
 *             at least a credit a round trip, at most `most`
 *     paper   target = target_loss
 *             loss > target: rate = rate * (1 - loss) * (1 + target), w = max(w / 2, w_least)
 *             else:          w = (w + w_most) / 2 if the last time was good too,
 *                            rate = (1 - w) * rate + w * most * (1 + target)
 *             within the same bounds, but for most * (1 + target) in place of `most`
 *
 * Round trips are from a credit's leaving to its data's arrival, smoothed 4 to 1 as in the code.
 * These are the paper's formulas in IEEE doubles, of which every operation is exactly rounded; so
 * every machine computes the same, as in core/cc.
 */
#ifndef OCHE_SIM_ENDPOINT_EXPRESSPASS_FEEDBACK_H
#define OCHE_SIM_ENDPOINT_EXPRESSPASS_FEEDBACK_H

#include "sim/endpoint/expresspass/params.h"

struct oche_xpass_feedback {
    double rate, most; /* bytes a second */
    double w;
    double credit_bytes; /* on the line, in the mean */
    oche_time rtt;       /* smoothed; 0: not known */
    oche_time updated;
    uint32_t used, lost; /* credits, since then */
    bool good;           /* the last update saw no loss above the target */
};

/* Credits begin (again) at `now`; what is known of the round trip stays. */
void oche_xpass_feedback_start(struct oche_xpass_feedback *feedback,
                               const struct oche_xpass_params *params, double most,
                               double credit_bytes, oche_time now);
/* Data of a credit has come; `lost`: credits before it whose data did not. */
void oche_xpass_feedback_data(struct oche_xpass_feedback *feedback, uint32_t lost, oche_time rtt);
/* Sets the rate if a round trip has passed; whether it did. */
bool oche_xpass_feedback_update(struct oche_xpass_feedback *feedback,
                                const struct oche_xpass_params *params, oche_time now);

#endif
