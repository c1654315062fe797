/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DCQCN's fluid model: the time of 10^6 steps, from 300,000, with 64 flows, each with a different
 * rate and start, deployed parameters and the default tolerance. With a delay of 4 us, steps are as
 * long as the delay; with 85 us the error limits the steps, and the queue swings between 0 and
 * twice Kmax.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "fabric/switch.h"
#include "fluid/dcqcn_fluid.h"

#define FLOWS 64
#define STEPS 300000

_Noreturn void oche_panic(const char *file, int line, const char *what)
{
    fprintf(stderr, "%s:%d: %s\n", file, line, what);
    abort();
}

/* Returns this process's processor time in seconds; other processes do not affect it. */
static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void run(double delay)
{
    struct oche_dcqcn_model model = oche_dcqcn_model();
    struct oche_fluid_flow flows[FLOWS];
    struct oche_switch_params switches;

    oche_param_defaults(&oche_switch_params, &switches);
    oche_dcqcn_model_take(&model, &oche_switch_params, &switches);
    model.delay = delay;
    for (unsigned i = 0; i < FLOWS; i++)
        flows[i] = (struct oche_fluid_flow){model.capacity / (1 + i), i * 10e-6, 1};
    struct oche_fluid *fluid = oche_dcqcn_fluid_create(&model, flows, FLOWS, &OCHE_FLUID_OPTIONS);
    double begin = seconds(), until = 0;

    while (oche_fluid_counts(fluid).steps < STEPS) {
        until += 1e-3;
        if (!oche_fluid_run(fluid, until, NULL, NULL))
            abort();
    }
    struct oche_ode_counts counts = oche_fluid_counts(fluid);
    double took = seconds() - begin;

    printf("fluid: flows=%d, delay=%.0fus: %llu steps (%llu rejected), %.2f s simulated, in %.2f s "
           "of CPU: %.2f s for 10^6\n",
           FLOWS, delay * 1e6, (unsigned long long)counts.steps,
           (unsigned long long)counts.rejected, until, took, took / (double)counts.steps * 1e6);
    oche_fluid_free(fluid);
}

int main(void)
{
    run(4e-6);
    run(85e-6);
    return 0;
}
