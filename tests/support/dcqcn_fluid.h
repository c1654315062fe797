/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DCQCN's fluid model for two flows on one bottleneck: equations 5 to 9 of the paper, each flow
 * with its own (REFERENCE A.5), integrated by Euler steps. It shares no code with core/cc: it is
 * what packets are compared with.
 */
#ifndef OCHE_TESTS_SUPPORT_DCQCN_FLUID_H
#define OCHE_TESTS_SUPPORT_DCQCN_FLUID_H

/* Rates in bits per second, sizes in bytes, times in seconds. */
struct dcqcn_fluid {
    double capacity, packet; /* of the bottleneck; size of every packet */
    double kmin, kmax, pmax;
    double g, cnp_interval, alpha_interval, timer, byte_counter, fast_recovery_steps, rai;
    double delay; /* from a mark to the rate that answers it */
    double initial[2];
    double step;
};

/* The paper's deployment (REFERENCE A.3), two flows that start at 40 and 5 Gbit/s. */
struct dcqcn_fluid dcqcn_fluid_deployed(void);

/* Called after each step. */
typedef void dcqcn_fluid_observer(void *context, double time, const double rates[2], double queue);

void dcqcn_fluid_run(const struct dcqcn_fluid *fluid, double duration,
                     dcqcn_fluid_observer *observer, void *context);

#endif
