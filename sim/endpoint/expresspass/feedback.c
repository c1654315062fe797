/* SPDX-License-Identifier: Apache-2.0 */
/* The feedback loop; see the header. */
#include "sim/endpoint/expresspass/feedback.h"

static double least_of(double a, double b)
{
    return a < b ? a : b;
}

static double most_of(double a, double b)
{
    return a > b ? a : b;
}

static double seconds(oche_time time)
{
    return (double)time / (double)OCHE_SEC;
}

void oche_xpass_feedback_start(struct oche_xpass_feedback *feedback,
                               const struct oche_xpass_params *params, double most,
                               double credit_bytes, oche_time now)
{
    oche_time rtt = feedback->rtt;

    /*
     * In the authors' code w may grow at the first good round trip; in the paper only at the
     * second.
     */
    *feedback = (struct oche_xpass_feedback){.rate = params->alpha * most,
                                             .most = most,
                                             .w = params->w_initial,
                                             .credit_bytes = credit_bytes,
                                             .rtt = rtt,
                                             .updated = now,
                                             .good = params->feedback == OCHE_XPASS_AUTHORS_CODE};
}

void oche_xpass_feedback_data(struct oche_xpass_feedback *feedback, uint32_t lost, oche_time rtt)
{
    feedback->used++;
    feedback->lost += lost;
    if (rtt > 0)
        feedback->rtt = feedback->rtt == 0 ? rtt : (4 * feedback->rtt + rtt) / 5;
}

static void as_code(struct oche_xpass_feedback *f, const struct oche_xpass_params *p, double loss,
                    oche_time now)
{
    double target = (1 - f->rate / f->most) * oche_xpass_target_loss(p);

    if (loss > target) {
        double used = f->credit_bytes * f->used / seconds(now - f->updated);

        f->rate = least_of(f->rate, used * (1 + target));
        f->w = most_of(f->w / 2, p->w_least);
        f->good = false;
        return;
    }
    if (f->good)
        f->w = least_of(f->w + p->w_step, p->w_most);
    f->good = true;
    f->rate = f->w * f->most + (1 - f->w) * f->rate;
}

static void as_paper(struct oche_xpass_feedback *f, const struct oche_xpass_params *p, double loss)
{
    double target = oche_xpass_target_loss(p);

    if (loss > target) {
        f->rate *= (1 - loss) * (1 + target);
        f->w = most_of(f->w / 2, p->w_least);
        f->good = false;
        return;
    }
    if (f->good)
        f->w = (f->w + p->w_most) / 2;
    f->good = true;
    f->rate = (1 - f->w) * f->rate + f->w * f->most * (1 + target);
}

bool oche_xpass_feedback_update(struct oche_xpass_feedback *f, const struct oche_xpass_params *p,
                                oche_time now)
{
    uint32_t credits = f->used + f->lost;
    bool paper = p->feedback == OCHE_XPASS_PAPER;

    if (f->rtt == 0 || now - f->updated < f->rtt || credits == 0)
        return false;
    double loss = (double)f->lost / credits;
    if (paper)
        as_paper(f, p, loss);
    else
        as_code(f, p, loss, now);
    f->rate = least_of(f->rate, paper ? f->most * (1 + oche_xpass_target_loss(p)) : f->most);
    f->rate = most_of(f->rate, least_of(f->credit_bytes / seconds(f->rtt), f->most));
    f->used = f->lost = 0;
    f->updated = now;
    return true;
}
