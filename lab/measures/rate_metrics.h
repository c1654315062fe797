/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The metrics that are computed from rates by window (sim/measure/rate_gap.h), as
 * lab/measures/metrics.c names them and says what they are. `which`: the flow, where it is of a
 * flow.
 */
#ifndef OCHE_LAB_MEASURES_RATE_METRICS_H
#define OCHE_LAB_MEASURES_RATE_METRICS_H

#include "lab/measures/outcome.h"

double oche_flow_rate(const struct oche_outcome *o, unsigned which);
double oche_flow_model_distance(const struct oche_outcome *o, unsigned which);
double oche_model_distance(const struct oche_outcome *o, unsigned which);
double oche_rate_gap_mean(const struct oche_outcome *o, unsigned which);
double oche_rate_gap_of_means(const struct oche_outcome *o, unsigned which);
double oche_rate_gap_late(const struct oche_outcome *o, unsigned which);
double oche_convergence_share(const struct oche_outcome *o, unsigned which);
double oche_convergence_first(const struct oche_outcome *o, unsigned which);
double oche_convergence_time(const struct oche_outcome *o, unsigned which);
double oche_convergence_settled(const struct oche_outcome *o, unsigned which);
double oche_convergence_paced(const struct oche_outcome *o, unsigned which);
double oche_convergence_paced_close(const struct oche_outcome *o, unsigned which);
double oche_convergence_reached(const struct oche_outcome *o, unsigned which);

#endif
