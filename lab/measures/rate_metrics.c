/* SPDX-License-Identifier: Apache-2.0 */
/* From tables of rates to single numbers: NAN where there is none. */
#include "lab/measures/rate_metrics.h"

#include <math.h>

double oche_flow_rate(const struct oche_outcome *o, unsigned which)
{
    return oche_rates_mean(&o->rates, which);
}

double oche_flow_model_distance(const struct oche_outcome *o, unsigned which)
{
    return o->model.flows == 0 ? NAN : oche_rates_apart(&o->rates, &o->model, which);
}

double oche_model_distance(const struct oche_outcome *o, unsigned which)
{
    double sum = 0;

    (void)which;
    for (uint32_t i = 0; i < o->model.flows; i++)
        sum += oche_rates_apart(&o->rates, &o->model, i);
    return o->model.flows == 0 ? NAN : sum / o->model.flows;
}

/* With one flow there is nothing to be apart. */
static bool has_gap(const struct oche_outcome *o)
{
    return o->rates.flows >= 2;
}

double oche_rate_gap_mean(const struct oche_outcome *o, unsigned which)
{
    (void)which;
    return has_gap(o) ? oche_rate_gap(&o->rates).mean : NAN;
}

double oche_rate_gap_of_means(const struct oche_outcome *o, unsigned which)
{
    (void)which;
    return has_gap(o) ? oche_rate_gap(&o->rates).of_means : NAN;
}

double oche_rate_gap_late(const struct oche_outcome *o, unsigned which)
{
    (void)which;
    return has_gap(o) ? oche_rate_gap(&o->rates).late : NAN;
}

double oche_convergence_share(const struct oche_outcome *o, unsigned which)
{
    (void)which;
    return has_gap(o) ? (double)oche_rate_gap(&o->rates).equal / o->rates.windows : NAN;
}

/* When a window begins; NAN: there is none. */
static double begin_of(const struct oche_rates *rates, uint32_t window)
{
    return window >= rates->windows ? NAN : rates->from_s + window * rates->window_s;
}

double oche_convergence_first(const struct oche_outcome *o, unsigned which)
{
    (void)which;
    return has_gap(o) ? begin_of(&o->rates, oche_rate_gap(&o->rates).first) : NAN;
}

double oche_convergence_time(const struct oche_outcome *o, unsigned which)
{
    (void)which;
    return has_gap(o) ? begin_of(&o->rates, oche_rate_gap(&o->rates).since) : NAN;
}

double oche_convergence_settled(const struct oche_outcome *o, unsigned which)
{
    (void)which;
    return has_gap(o) ? begin_of(&o->rates, oche_rate_gap(&o->rates).settled) : NAN;
}

double oche_convergence_paced(const struct oche_outcome *o, unsigned which)
{
    (void)which;
    return o->paced.flows < 2 ? NAN : begin_of(&o->paced, oche_rate_gap(&o->paced).settled);
}

double oche_convergence_paced_close(const struct oche_outcome *o, unsigned which)
{
    (void)which;
    return o->paced.flows < 2 ? NAN : begin_of(&o->paced, oche_rate_gap(&o->paced).settled_close);
}

double oche_convergence_reached(const struct oche_outcome *o, unsigned which)
{
    (void)which;
    return has_gap(o) ? oche_rate_gap(&o->rates).since < o->rates.windows : NAN;
}
