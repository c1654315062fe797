/* SPDX-License-Identifier: Apache-2.0 */
/* `oche fluid`: fluid models of congestion control, run or tabulated. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/refuse.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "lab/fluid/flows.h"
#include "lab/fluid/model.h"
#include "cli/fluid/options.h"
#include "cli/fluid/run.h"
#include "lab/fluid/scene.h"
#include "cli/fluid/tables.h"
#include "params/error.h"

#define DURATION_S   0.1
#define DURATION     (100 * OCHE_MS) /* the same */
#define TOLERANCE    1e-6
#define SAMPLES      1000    /* samples that a run writes, unless --interval is given */
#define MOST_SAMPLES 1000000 /* as in oche run */
#define MOST_VALUES  20000000

static const uint32_t usual_counts[] = {2, 4, 8, 10, 16, 20, 32, 64};
static const double usual_delays_s[] = {4e-6, 25e-6, 50e-6, 85e-6, 100e-6};

struct session {
    struct oche_fluid_cli_options options;
    struct oche_fluid_model model;
    struct oche_scenario *scenario; /* NULL: no scenario was given */
    struct oche_fluid_scene scene;
    struct oche_fluid_flow_list flows;
    char *command;
    struct oche_error error;
    /* mistakes of the scenario; if there are any, there is no other error */
    struct oche_mistakes mistakes;
};

/* ---- arguments ---- */

/* True if a scenario has the key: a path below a section, a section, or a key of the root. */
static bool is_in_schema(const char *key)
{
    struct oche_schema *schema = calloc(1, sizeof(*schema));
    size_t length = strcspn(key, ".[");
    bool found = false;

    OCHE_GOT(schema != NULL);
    oche_schema_make(schema);
    for (size_t i = 0; i < schema->section_count && !found; i++) {
        const struct oche_section *section = &schema->sections[i];

        found = section->name[0] == '\0'
                    ? oche_param_find(section->table, key) != NULL
                    : strlen(section->name) == length && memcmp(section->name, key, length) == 0;
    }
    free(schema);
    return found;
}

/* True if "KEY=…" is for the scenario, not for the model. */
static bool is_for_scenario(const struct session *session, const char *assignment)
{
    char *key = strndup(assignment, strcspn(assignment, "="));

    OCHE_GOT(key != NULL);
    bool yes = session->options.scenario != NULL && !oche_fluid_model_has(&session->model, key) &&
               is_in_schema(key);

    free(key);
    return yes;
}

/* Opens the scenario with those overrides that are for the scenario. */
static bool open_scenario(struct session *session)
{
    const struct oche_fluid_cli_options *options = &session->options;
    const char **sets = calloc(options->set_count + 1, sizeof(*sets));
    size_t count = 0;

    OCHE_GOT(sets != NULL);
    for (size_t i = 0; i < options->set_count; i++)
        if (is_for_scenario(session, options->sets[i]))
            sets[count++] = options->sets[i];
    session->scenario = oche_scenario_read(
        &(struct oche_scenario_input){.name = options->scenario, .sets = sets, .set_count = count},
        &session->mistakes);
    free(sets);
    return session->scenario != NULL;
}

/* Finds the model that the user chose, or else the scenario's model. */
static bool choose_model(struct session *session, enum oche_fluid_name *name)
{
    *name = session->options.model;
    if (*name != OCHE_FLUID_NAMES)
        return true;
    *name =
        session->scenario != NULL ? oche_fluid_scene_model(session->scenario) : OCHE_FLUID_DCQCN;
    if (*name != OCHE_FLUID_NAMES)
        return true;
    return oche_fail(
        &session->error,
        "%s: congestion_control: %s has no fluid model; dcqcn has, or choose with --model",
        session->options.scenario, oche_world_scheme_name(&session->scenario->config));
}

static bool take_scenario(struct session *session)
{
    if (session->scenario != NULL && session->scenario->config.run.duration == 0)
        session->scenario->config.run.duration = DURATION;
    return session->scenario == NULL ||
           oche_fluid_scene_take(&session->scene, &session->model, session->scenario,
                                 session->options.receiver, "choose with --receiver",
                                 &session->error);
}

static bool set_values(struct session *session)
{
    for (size_t i = 0; i < session->options.set_count; i++) {
        const char *set = session->options.sets[i];

        if (!is_for_scenario(session, set) &&
            !oche_fluid_model_set(&session->model, set, &session->error))
            return false;
    }
    return oche_fluid_model_check(&session->model, &session->error);
}

static bool prepare(struct session *session)
{
    enum oche_fluid_name name = session->options.model;

    /*
     * The model comes first, because its keys determine which --set options are for the scenario.
     */
    oche_fluid_model_init(&session->model, name == OCHE_FLUID_NAMES ? OCHE_FLUID_DCQCN : name);
    if (session->options.scenario != NULL && !open_scenario(session))
        return false;
    if (!choose_model(session, &name))
        return false;
    if (name != session->model.name) {
        oche_fluid_model_free(&session->model);
        oche_fluid_model_init(&session->model, name);
    }
    return take_scenario(session) && set_values(session);
}

/* ---- modes ---- */

/* Takes the flows that the user gave; else the scenario's; else two flows. */
static bool choose_flows(struct session *session)
{
    double capacity = oche_fluid_model_capacity(&session->model);

    if (session->options.flows != NULL)
        return oche_fluid_flows_read(&session->flows, session->options.flows, capacity,
                                     &session->error);
    if (session->scenario == NULL) {
        oche_fluid_flows_add(&session->flows, capacity, 0, 1);
        oche_fluid_flows_add(&session->flows, capacity / 8, 0, 1);
        return true;
    }
    for (size_t i = 0; i < session->scene.flows.count; i++) {
        const struct oche_fluid_flow *flow = &session->scene.flows.flows[i];

        /* --set capacity may have made the link slower than the flows. */
        oche_fluid_flows_add(&session->flows, flow->rate_bps < capacity ? flow->rate_bps : capacity,
                             flow->start_s, flow->count);
    }
    return true;
}

static bool run_model(struct session *session)
{
    const struct oche_fluid_cli_options *options = &session->options;
    double duration = options->duration_s;

    if (!choose_flows(session))
        return false;
    if (duration == 0)
        duration = session->scenario != NULL ? session->scene.duration_s : DURATION_S;
    struct oche_fluid_run run = {
        .model = &session->model,
        .flows = &session->flows,
        .duration_s = duration,
        .interval_s = options->interval_s > 0 ? options->interval_s : duration / SAMPLES,
        .tolerance = options->tolerance > 0 ? options->tolerance : TOLERANCE,
        .scenario = session->scenario != NULL ? session->scenario->name : NULL,
        .receiver = session->scene.receiver,
        .bottleneck = session->scene.bottleneck,
        .left_out = session->scene.left_out,
        .command = session->command,
        .csv = options->csv,
        .out = options->out,
        .quiet = options->quiet,
    };
    double samples = duration / run.interval_s;

    if (samples > MOST_SAMPLES || samples * (double)session->flows.count > MOST_VALUES)
        return oche_fail(
            &session->error,
            "--interval: gives more than a million rows, or twenty million numbers; make it "
            "longer, or --duration shorter");
    return oche_fluid_run_show(&run, &session->error);
}

static bool print_table(struct session *session)
{
    const struct oche_fluid_cli_options *options = &session->options;
    struct oche_fluid_grid grid = {
        .model = &session->model,
        .counts = options->count_count > 0 ? options->counts : usual_counts,
        .count_count =
            options->count_count > 0 ? options->count_count : OCHE_COUNT_OF(usual_counts),
        .delays_s = options->delay_count > 0 ? options->delays_s : usual_delays_s,
        .delay_count =
            options->delay_count > 0 ? options->delay_count : OCHE_COUNT_OF(usual_delays_s),
        .duration_s = options->duration_s > 0 ? options->duration_s : DURATION_S,
        .tolerance = options->tolerance > 0 ? options->tolerance : TOLERANCE,
        .csv = options->csv,
    };

    if (session->model.name == OCHE_FLUID_TIMELY)
        return oche_fail(&session->error,
                         "--model timely: has no fixed point; timely_patched has one");
    if (session->model.name == OCHE_FLUID_DCQCN && session->model.dcqcn.rai == 0)
        return oche_fail(
            &session->error,
            "rai: is 0, and without additive increase there is no fixed point; make it more");
    return options->mode == OCHE_FLUID_FIXED_POINT
               ? oche_fluid_print_points(&grid, &session->error)
               : oche_fluid_print_stability(&grid, &session->error);
}

static bool do_all(struct session *session)
{
    if (!prepare(session))
        return false;
    if (session->options.show_defaults) {
        oche_fluid_model_show(&session->model, stdout);
        return true;
    }
    return session->options.mode == OCHE_FLUID_RUN ? run_model(session) : print_table(session);
}

int oche_cmd_fluid(int argc, char **argv)
{
    struct session session = {.scenario = NULL};

    session.command = oche_command_line(argc, argv);
    bool fine = oche_fluid_options_read(&session.options, argc, argv) && do_all(&session);

    if (!fine)
        oche_print_mistakes(&session.mistakes, &session.error);
    oche_fluid_flows_free(&session.flows);
    oche_fluid_flows_free(&session.scene.flows);
    oche_fluid_model_free(&session.model);
    oche_scenario_close(session.scenario);
    oche_fluid_options_free(&session.options);
    free(session.command);
    return fine ? 0 : 2;
}
