/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Equations 7 to 9, linearised around the fixed point. A flow has the state x = (alpha, R_T, R_C);
 * r and p are its rate and the mark probability of one delay ago:
 *
 *     x' = A x + u r + v p,    q' = N R_C / 8,    p = q pmax / (Kmax - Kmin)
 *
 * Differences between flows obey the same equations without p. The derivatives are difference
 * quotients of the model's own functions, so no equation is written twice.
 */
#include "fluid/dcqcn_stability.h"

#include <math.h>
#include <string.h>

#include "core/base.h"

#define RELATIVE 1e-5 /* step of the finite differences */

/* ---- the fixed point ---- */

/* Returns the effect of cuts minus that of increases, which is positive above p*. */
static double excess(const struct oche_dcqcn_model *model, double mark, double rate)
{
    struct oche_dcqcn_events e = oche_dcqcn_events(model, mark, rate);

    return e.cuts * e.cuts * e.alpha * rate - model->rai * e.raises * e.additive;
}

static double estimate(const struct oche_dcqcn_model *m, double flows)
{
    double bits = 8 * m->packet, capacity = m->capacity / bits, rai = m->rai / bits;
    double bytes = m->byte_counter / m->packet;
    double events = 1 / bytes + flows / (m->timer * capacity);

    return cbrt(rai * flows * flows / (m->alpha_interval * capacity * capacity) * events * events);
}

struct oche_dcqcn_point oche_dcqcn_fixed_point(const struct oche_dcqcn_model *model, double flows)
{
    double rate = model->capacity / flows, low = -40, high = 0; /* ln p */

    for (unsigned i = 0; i < 80; i++) {
        double middle = (low + high) / 2;

        if (excess(model, exp(middle), rate) > 0)
            high = middle;
        else
            low = middle;
    }
    struct oche_dcqcn_point point = {
        .mark = exp(low), .estimate = estimate(model, flows), .rate_bps = rate};
    struct oche_dcqcn_events e = oche_dcqcn_events(model, point.mark, rate);

    point.alpha = e.alpha;
    point.target_bps = rate + model->rai * e.additive / e.cuts;
    point.on_ramp = model->kmin < model->kmax && point.mark <= model->pmax;
    point.queue = model->kmax;
    if (point.on_ramp)
        point.queue = model->kmin + point.mark / model->pmax * (model->kmax - model->kmin);
    return point;
}

/* ---- around the fixed point ---- */

enum { ALPHA, TARGET, RATE, STATES };

struct linear {
    double a[STATES][STATES], u[STATES], v[STATES];
    double delay, loop; /* N pmax / (Kmax - Kmin) / 8 */
};

/* The inputs of the slopes: the flow's state now, then its rate and the mark one delay ago. */
enum { PAST_RATE = STATES, PAST_MARK, INPUTS };

static void slopes(const struct oche_dcqcn_model *m, const double in[INPUTS], double out[STATES])
{
    struct oche_dcqcn_events e = oche_dcqcn_events(m, in[PAST_MARK], in[PAST_RATE]);
    struct oche_dcqcn_flow grows =
        oche_dcqcn_slopes(m, &e, (struct oche_dcqcn_flow){in[ALPHA], in[TARGET], in[RATE]});

    out[ALPHA] = grows.alpha;
    out[TARGET] = grows.target_bps;
    out[RATE] = grows.rate_bps;
}

static struct linear linearise(const struct oche_dcqcn_model *m,
                               const struct oche_dcqcn_point *point, double flows)
{
    const double at[INPUTS] = {[ALPHA] = point->alpha,
                               [TARGET] = point->target_bps,
                               [RATE] = point->rate_bps,
                               [PAST_RATE] = point->rate_bps,
                               [PAST_MARK] = point->mark};
    struct linear l = {.delay = m->delay, .loop = flows * m->pmax / (m->kmax - m->kmin) / 8};

    for (unsigned k = 0; k < INPUTS; k++) {
        double in[INPUTS], more[STATES], less[STATES];

        memcpy(in, at, sizeof(in));
        in[k] = at[k] * (1 + RELATIVE);
        slopes(m, in, more);
        in[k] = at[k] * (1 - RELATIVE);
        slopes(m, in, less);
        for (unsigned i = 0; i < STATES; i++) {
            double by = (more[i] - less[i]) / (2 * RELATIVE * at[k]);

            *(k < STATES ? &l.a[i][k] : k == PAST_RATE ? &l.u[i] : &l.v[i]) = by;
        }
    }
    return l;
}

/*
 * Returns the determinant of s I - A - u e^(-s delay) c, where the row vector c selects R_C. Column
 * `replaced` of the matrix is replaced by v before; STATES: no column is.
 */
static double complex determinant(const struct linear *l, double complex s, unsigned replaced)
{
    double complex m[STATES][STATES], late = cexp(-s * l->delay);

    for (unsigned i = 0; i < STATES; i++) {
        for (unsigned k = 0; k < STATES; k++)
            m[i][k] = (i == k ? s : 0) - l->a[i][k];
        m[i][RATE] -= l->u[i] * late;
        if (replaced < STATES)
            m[i][replaced] = l->v[i];
    }
    return m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
           m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
           m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
}

static double complex differences(void *context, double complex s)
{
    return determinant(context, s, STATES);
}

/* The characteristic function of all flows together: s D - N k e^(-s delay) D_v (Cramer's rule). */
static double complex together(void *context, double complex s)
{
    const struct linear *l = context;

    return s * determinant(l, s, STATES) - l->loop * cexp(-s * l->delay) * determinant(l, s, RATE);
}

static double complex open_loop(void *context, double complex s)
{
    const struct linear *l = context;

    return -l->loop * cexp(-s * l->delay) * determinant(l, s, RATE) /
           (s * determinant(l, s, STATES));
}

struct oche_dcqcn_stability oche_dcqcn_stability(const struct oche_dcqcn_model *model,
                                                 const struct oche_dcqcn_point *point, double flows)
{
    const struct oche_band band = {1, 1e9};
    struct linear l = linearise(model, point, flows);

    OCHE_MUST(point->on_ramp);
    return (struct oche_dcqcn_stability){
        .margin = oche_phase_margin(open_loop, &l, band),
        .unstable_roots = oche_unstable_roots(together, &l, STATES + 1, band),
        .unstable_differences = oche_unstable_roots(differences, &l, STATES, band),
    };
}
