/* SPDX-License-Identifier: Apache-2.0 */
/* Common code of the models' tests. */
#include "tests/unit/fluid/model_defaults.h"

#include <math.h>

#include "fabric/switch.h"
#include "tests/support/test.h"

void check_near(double value, double right, double tolerance, const char *what, const char *file,
                int line)
{
    if (fabs(value - right) <= tolerance)
        return;
    print_error("%s is %.9g, not %.9g +- %.3g\n", what, value, right, tolerance);
    _fail(file, line);
}

struct oche_dcqcn_model deployed(void)
{
    struct oche_dcqcn_model model = oche_dcqcn_model();
    struct oche_switch_params params;

    oche_param_defaults(&oche_switch_params, &params);
    oche_dcqcn_model_take(&model, &oche_switch_params, &params);
    return model;
}

struct oche_dcqcn_model strawman(void)
{
    struct oche_dcqcn_model model = deployed();

    model.kmin = model.kmax = 40000;
    model.pmax = 1;
    model.g = 1.0 / 16;
    model.timer = 1.5e-3;
    model.byte_counter = 150e3;
    return model;
}

struct came_to run_to(struct oche_fluid *fluid, double from, double until)
{
    struct oche_fluid_summary summary;

    oche_fluid_summary_begin(&summary, fluid, from);
    assert_true(oche_fluid_run(fluid, until, oche_fluid_summary_step, &summary));
    oche_fluid_summary_end(&summary, fluid);
    struct came_to came = {
        .queue_mean = summary.queue_mean,
        .queue_sd = summary.queue_sd,
        .queue_min = summary.queue_min,
        .queue_max = summary.queue_max,
        .utilisation = summary.utilisation,
        .converged_s = summary.converged_s,
        .rates = {summary.rate_mean[0], summary.rate_mean[summary.flows > 1]},
        .counts = oche_fluid_counts(fluid),
    };
    oche_fluid_summary_free(&summary);
    oche_fluid_free(fluid);
    return came;
}
