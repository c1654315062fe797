/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a fluid model by windows. The model gives the rates at which flows send; the bits that leave
 * the queue in a window are divided among the flows in proportion to the bits that they sent. A
 * FIFO queue would divide them in the same way, but later by the queueing delay (50 us for 250 KB
 * at 40 Gbit/s). Percentiles of the queue are computed from SAMPLES samples at equal distances in
 * time.
 */
#include "lab/fluid/outcome.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/fluid/scene.h"
#include "fluid/fluid_summary.h"
#include "params/error.h"
#include "sim/measure/fairness.h"

#define SAMPLES 100000

struct watch {
    const struct oche_fluid_scene *scene;
    struct oche_fluid_summary all, window;
    bool in_window;
    double *queue; /* samples of the queue's length */
    uint32_t sampled;
};

/* ---- the model of a scenario ---- */

struct modelled {
    struct oche_fluid_model model;
    struct oche_fluid_scene scene;
};

static void forget(struct modelled *m)
{
    oche_fluid_flows_free(&m->scene.flows);
    oche_fluid_model_free(&m->model);
}

static bool place(const struct oche_scenario *scenario, const char *message,
                  struct oche_error *error)
{
    oche_scenario_place(scenario, message, error);
    return false;
}

static bool make(struct modelled *m, const struct oche_scenario *scenario, struct oche_error *error)
{
    enum oche_fluid_name name = oche_fluid_scene_model(scenario);
    struct oche_error message;

    *m = (struct modelled){.scene.duration_s = 0};
    if (name == OCHE_FLUID_NAMES) {
        oche_fail(&message, "model: congestion_control %s has no fluid model; set it to packets",
                  oche_world_scheme_name(&scenario->config));
        return place(scenario, message.text, error);
    }
    oche_fluid_model_init(&m->model, name);
    bool fine = oche_fluid_scene_take(&m->scene, &m->model, scenario, NULL,
                                      "let all go to one host, or set model to packets", error);

    if (fine && !oche_fluid_model_check(&m->model, &message)) {
        oche_bound_fail(scenario->document,
                        oche_bindings_find(&scenario->bindings, "congestion_control"), message.text,
                        error);
        fine = false;
    }
    if (!fine)
        forget(m);
    return fine;
}

bool oche_fluid_outcome_check(const struct oche_scenario *scenario, struct oche_error *error)
{
    struct modelled m;

    if (scenario->model == OCHE_MODEL_PACKETS)
        return true;
    if (scenario->config.run.duration == 0)
        return place(scenario,
                     "model: is not packets, and without duration no flow of a fluid model would "
                     "end; set duration, or this to packets",
                     error);
    if (!make(&m, scenario, error))
        return false;
    bool rates = oche_measure_interval(&scenario->config) > 0 && m.scene.all_flows &&
                 m.scene.flows.total <= OCHE_OUTCOME_RATED;

    forget(&m);
    if (scenario->model != OCHE_MODEL_BOTH || rates)
        return true;
    if (oche_measure_interval(&scenario->config) == 0)
        return place(scenario,
                     scenario->config.measure.interval == 0
                         ? "measure.interval: is 0, and model: both compares rates in windows of "
                           "it; set it to 1ms"
                         : "measure.interval: is auto, and model: both compares rates in windows "
                           "of it; set it to 1ms",
                     error);
    return place(scenario,
                 "model: both compares flows one by one, at most 64 of them, each with a start of "
                 "its own; change the workload, or set it to packets",
                 error);
}

/* ---- the run ---- */

static double sample_time(const struct oche_fluid_scene *scene, uint32_t number)
{
    return scene->warmup_s + (scene->duration_s - scene->warmup_s) * (number + 0.5) / SAMPLES;
}

static void observe(void *context, const struct oche_fluid *fluid, double begin, double end)
{
    struct watch *watch = context;

    oche_fluid_summary_step(&watch->all, fluid, begin, end);
    if (watch->in_window)
        oche_fluid_summary_step(&watch->window, fluid, begin, end);
    for (; watch->sampled < SAMPLES; watch->sampled++) {
        double time = sample_time(watch->scene, watch->sampled);

        if (time > end)
            return;
        watch->queue[watch->sampled] = fmax(0, oche_fluid_at(fluid, time, NULL));
    }
}

/*
 * Returns how much payload the bottleneck lets through, as a share of all bits that the flows send.
 */
static double passed_on(const struct oche_fluid_summary *sum, const struct oche_fluid *fluid,
                        double payload_share)
{
    double length = sum->until_s - sum->from_s;

    return sum->sent > 0
               ? sum->utilisation * oche_fluid_capacity(fluid) * length / sum->sent * payload_share
               : 0;
}

static bool run_window(struct watch *watch, struct oche_fluid *fluid, struct oche_rates *rates,
                       uint32_t window)
{
    double until = rates->from_s + (window + 1) * rates->window_s;
    uint32_t flow = 0;

    /*
     * The window begins exactly where the last one ended, because the queue's length is known only
     * there.
     */
    oche_fluid_summary_begin(&watch->window, fluid, oche_fluid_time(fluid));
    watch->in_window = true;
    bool fine = oche_fluid_run(fluid, until, observe, watch);

    watch->in_window = false;
    oche_fluid_summary_end(&watch->window, fluid);
    double share = passed_on(&watch->window, fluid, watch->scene->payload_share);

    for (size_t i = 0; i < oche_fluid_flows(fluid); i++)
        for (uint32_t k = 0; k < oche_fluid_flow_count(fluid, i); k++, flow++)
            if (flow < rates->flows)
                rates->rates[(size_t)flow * rates->windows + window] =
                    watch->window.rate_mean[i] * share;
    oche_fluid_summary_free(&watch->window);
    return fine;
}

static void make_rates(struct oche_rates *rates, const struct oche_scenario *scenario,
                       const struct oche_fluid_scene *scene)
{
    const struct oche_world_config *config = &scenario->config;

    if (oche_measure_interval(config) == 0)
        return;
    rates->windows =
        (uint32_t)((config->run.duration - config->run.warmup) / oche_measure_interval(config));
    rates->from_s = scene->warmup_s;
    rates->window_s = scene->interval_s;
    if (scene->all_flows && scene->flows.total <= OCHE_OUTCOME_RATED && rates->windows > 0)
        rates->flows = scene->flows.total;
    rates->rates = calloc((size_t)rates->flows * rates->windows + 1, sizeof(double));
    OCHE_GOT(rates->rates != NULL);
}

static bool run(struct watch *watch, struct oche_fluid *fluid, struct oche_rates *rates)
{
    if (watch->scene->warmup_s > 0 &&
        !oche_fluid_run(fluid, watch->scene->warmup_s, observe, watch))
        return false;
    for (uint32_t w = 0; w < rates->windows; w++)
        if (!run_window(watch, fluid, rates, w))
            return false;
    return oche_fluid_time(fluid) >= watch->scene->duration_s ||
           oche_fluid_run(fluid, watch->scene->duration_s, observe, watch);
}

/* ---- the outcome ---- */

static uint64_t whole(double value)
{
    return (uint64_t)llround(fmax(0, value));
}

static void take_queue(struct oche_outcome *outcome, struct watch *watch)
{
    if (!watch->scene->queue_watched)
        return;
    outcome->queues = calloc(1, sizeof(*outcome->queues));
    OCHE_GOT(outcome->queues != NULL);
    outcome->queue_count = 1;
    struct oche_queue_occupancy *occupancy = &outcome->queues[0].occupancy;

    snprintf(outcome->queues[0].name, sizeof(outcome->queues[0].name), "%s",
             watch->scene->bottleneck);
    oche_sort_real(watch->queue, watch->sampled);
    occupancy->watched = outcome->totals.measured;
    occupancy->mean_bytes = fmax(0, watch->all.queue_mean);
    occupancy->deviation = watch->all.queue_sd;
    occupancy->max_bytes = whole(watch->all.queue_max);
    for (unsigned p = 0; p < OCHE_PERCENTILES && watch->sampled > 0; p++)
        occupancy->percentile[p] = whole(
            oche_percentile_real(watch->queue, watch->sampled, oche_percentile_thousandths[p]));
}

/* Takes the goodputs of flows that began after warm-up, as in a packet simulation. */
static void take_goodputs(struct oche_outcome *outcome, const struct watch *watch, double share)
{
    const struct oche_fluid_scene *scene = watch->scene;
    struct oche_sorted_values *samples = &outcome->samples[OCHE_SAMPLES_GOODPUT];

    outcome->jain = -1;
    if (!scene->all_flows)
        return;
    samples->values = calloc((size_t)scene->flows.total + 1, sizeof(*samples->values));
    OCHE_GOT(samples->values != NULL);
    for (size_t i = 0; i < scene->flows.count; i++) {
        const struct oche_fluid_flow *flow = &scene->flows.flows[i];
        double part = (scene->duration_s - scene->warmup_s) / (scene->duration_s - flow->start_s);

        if (flow->start_s < scene->warmup_s || flow->start_s >= scene->duration_s)
            continue;
        for (uint32_t k = 0; k < flow->count; k++)
            samples->values[samples->count++] = watch->all.rate_mean[i] * part * share;
    }
    for (size_t i = 0; samples->count <= OCHE_OUTCOME_LISTED && i < samples->count; i++)
        outcome->listed[outcome->listed_count++].goodput_bps = whole(samples->values[i]);
    outcome->jain = oche_jain_index(samples->values, samples->count);
    oche_sort_real(samples->values, samples->count);
}

static void fill(struct oche_outcome *outcome, struct watch *watch, const struct oche_fluid *fluid,
                 const struct oche_scenario *scenario)
{
    const struct oche_world_config *config = &scenario->config;
    double length = watch->all.until_s - watch->all.from_s;

    outcome->simulated = config->run.duration;
    outcome->totals.measured = config->run.duration - config->run.warmup;
    outcome->totals.nic.delivered_bytes =
        whole(watch->all.utilisation * oche_fluid_capacity(fluid) * length / 8 *
              watch->scene->payload_share);
    take_goodputs(outcome, watch, passed_on(&watch->all, fluid, watch->scene->payload_share));
    take_queue(outcome, watch);
    oche_by_rate_take(&outcome->by_rate, &outcome->rates, &outcome->model, &outcome->paced);
}

bool oche_fluid_outcome_take(struct oche_outcome *outcome, const struct oche_scenario *scenario,
                             struct oche_error *error)
{
    struct modelled m;

    if (!make(&m, scenario, error))
        return false;
    struct oche_fluid *fluid = oche_fluid_model_create(&m.model, m.scene.flows.flows,
                                                       m.scene.flows.count, &OCHE_FLUID_OPTIONS);
    struct watch watch = {.scene = &m.scene, .queue = calloc(SAMPLES, sizeof(double))};

    OCHE_GOT(watch.queue != NULL);
    *outcome = (struct oche_outcome){.by_fluid = true, .seed = scenario->config.seed};
    make_rates(&outcome->rates, scenario, &m.scene);
    oche_fluid_summary_begin(&watch.all, fluid, m.scene.warmup_s);
    bool fine = run(&watch, fluid, &outcome->rates);

    oche_fluid_summary_end(&watch.all, fluid);
    if (fine) {
        fill(outcome, &watch, fluid, scenario);
    } else {
        place(scenario,
              "model: the fluid model's numbers grow beyond all bounds; its parameters fit no "
              "network",
              error);
        oche_outcome_free(outcome);
    }
    oche_fluid_summary_free(&watch.all);
    oche_fluid_free(fluid);
    free(watch.queue);
    forget(&m);
    return fine;
}

bool oche_fluid_outcome_add(struct oche_outcome *outcome, const struct oche_scenario *scenario,
                            struct oche_error *error)
{
    struct oche_outcome fluid;

    if (!oche_fluid_outcome_take(&fluid, scenario, error))
        return false;
    bool alike = fluid.rates.flows > 0 && fluid.rates.flows == outcome->rates.flows &&
                 fluid.rates.windows == outcome->rates.windows;

    if (alike) {
        outcome->model = fluid.rates;
        fluid.rates = (struct oche_rates){.flows = 0};
        oche_by_rate_take(&outcome->by_rate, &outcome->rates, &outcome->model, &outcome->paced);
    }
    oche_outcome_free(&fluid);
    return alike || place(scenario,
                          "model: both compares greedy flows over the whole duration, and these "
                          "came to their end; make them larger",
                          error);
}
