/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DCQCN's fluid model: equations 5 to 9 of the paper (sec 5.1; dcqcn.md#fluid-model). Each flow has
 * its own equations 7, 8 and 9, which is the paper's extension to unequal rates. The model assumes
 * that every packet has the same size, that marks are set at the queue's end and take effect
 * `delay` later, that PFC does not act, that there is no hyper increase, and that R_C and R_T never
 * exceed the capacity.
 *
 * A flow sends nothing before its start, so its delayed rate is 0 until `delay` after the start.
 */
#ifndef OCHE_FLUID_DCQCN_FLUID_H
#define OCHE_FLUID_DCQCN_FLUID_H

#include "core/base.h"
#include "core/param.h"
#include "fluid/fluid.h"

/* Rates in bits per second, sizes in bytes, times in seconds. */
struct oche_dcqcn_model {
    double capacity, packet; /* the bottleneck's rate; the size of every packet */
    double delay;            /* from a mark until the changed rate arrives at the queue */
    double kmin, kmax, pmax;
    double g, initial_alpha, alpha_interval, cnp_interval;
    double timer, byte_counter, fast_recovery_steps, rai;
};

/*
 * The parameters that belong neither to the scheme nor to the switch. Their defaults are those of
 * dcqcn.md#fluid-defaults.
 */
struct oche_dcqcn_link_params {
    uint64_t capacity_bps, packet_bytes;
    oche_time delay;
};
extern const struct oche_param_table oche_dcqcn_link_params;

/*
 * Returns a model with the defaults of oche_dcqcn_link_params and of core/cc's dcqcn. The caller
 * takes Kmin, Kmax and Pmax from the switch's parameters.
 */
struct oche_dcqcn_model oche_dcqcn_model(void);

/*
 * Copies from a parameter table, by name, all values that the model has. The table may be the one
 * above, the table of core/cc's dcqcn (g, timer, byte_counter, …), or the switch's (kmin, kmax,
 * pmax).
 */
void oche_dcqcn_model_take(struct oche_dcqcn_model *model, const struct oche_param_table *table,
                           const void *values);
/* Sets the value of one parameter of such a table; false if the model does not have it. */
bool oche_dcqcn_model_set(struct oche_dcqcn_model *model, const struct oche_param *param,
                          union oche_value value);

/* Returns NULL, or "name: what is wrong; what would be right" if values do not fit together. */
const char *oche_dcqcn_model_check(const struct oche_dcqcn_model *model);

/*
 * Creates a run. The model must have passed the check, and rates must be in (0, capacity]. To be
 * released with oche_fluid_free.
 */
struct oche_fluid *oche_dcqcn_fluid_create(const struct oche_dcqcn_model *model,
                                           const struct oche_fluid_flow *flows, size_t count,
                                           const struct oche_fluid_options *options);

/* Equation 5: returns the probability of a mark if the queue has `queue_bytes` bytes. */
double oche_dcqcn_mark(const struct oche_dcqcn_model *model, double queue_bytes);

/*
 * The effect of marks on a flow with rate `rate_bps` whose packets are marked with probability
 * `mark`: the bracketed terms of equations 7 to 9.
 */
struct oche_dcqcn_events {
    double alpha;    /* 1 - (1-p)^(tau' R): the value towards which alpha moves */
    double cuts;     /* (1 - (1-p)^(tau R)) / tau, per second */
    double raises;   /* R (b + d): events of the byte counter and of the timer, per second */
    double additive; /* R (c + e): the part of these events that are in additive increase, per
                        second */
};
struct oche_dcqcn_events oche_dcqcn_events(const struct oche_dcqcn_model *model, double mark,
                                           double rate_bps);

/* The state of one flow; also used for its growth per second. */
struct oche_dcqcn_flow {
    double alpha, target_bps, rate_bps;
};

/* Equations 7 to 9. */
static inline struct oche_dcqcn_flow oche_dcqcn_slopes(const struct oche_dcqcn_model *model,
                                                       const struct oche_dcqcn_events *e,
                                                       struct oche_dcqcn_flow now)
{
    double gap = now.target_bps - now.rate_bps;

    return (struct oche_dcqcn_flow){
        .alpha = model->g / model->alpha_interval * (e->alpha - now.alpha),
        .target_bps = model->rai * e->additive - gap * e->cuts,
        .rate_bps = (gap * e->raises - now.rate_bps * now.alpha * e->cuts) / 2,
    };
}

#endif
