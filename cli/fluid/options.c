/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the command line of `oche fluid`. */
#include "cli/fluid/options.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>

#include "cli/installed.h"
#include "cli/refuse.h"
#include "lab/fluid/flows.h"
#include "params/units.h"

enum key {
    KEY_FIXED_POINT = 256,
    KEY_STABILITY,
    KEY_COUNTS,
    KEY_DELAYS,
    KEY_CSV,
    KEY_INTERVAL,
    KEY_TOLERANCE,
    KEY_RECEIVER,
    KEY_SHOW_DEFAULTS,
};

static const struct oche_param time_param = {.name = "time",
                                             OCHE_IS_TIME(0, OCHE_NS, 1000 * OCHE_SEC)};
/* The limits are those of the models' key "delay". */
static const struct oche_param delay_param = {.name = "delay",
                                              OCHE_IS_TIME(0, 100 * OCHE_NS, OCHE_SEC)};
static const struct oche_param count_param = {.name = "count",
                                              OCHE_IS_COUNT(0, 1, OCHE_FLUID_MOST_FLOWS)};
static const struct oche_param tolerance_param = {.name = "tolerance",
                                                  OCHE_IS_REAL(0, 1e-12, 0.01)};

static union oche_value read_value(const struct oche_param *param, const char *option,
                                   const char *text, struct argp_state *state)
{
    union oche_value value;
    struct oche_error why;

    if (!oche_value_parse(param, text, &value, &why))
        argp_failure(state, 2, 0, "--%s %s: %s", option, text, why.text);
    return value;
}

static double read_seconds(const struct oche_param *param, const char *option, const char *text,
                           struct argp_state *state)
{
    return (double)read_value(param, option, text, state).u / (double)OCHE_SEC;
}

/* Calls `add` for each item of "a,b,c". */
static void read_list(struct oche_fluid_cli_options *options, const char *option, const char *text,
                      void (*add)(struct oche_fluid_cli_options *, const char *, size_t,
                                  struct argp_state *),
                      struct argp_state *state)
{
    char *copy = strdup(text), *rest = copy;
    size_t number = 0;

    OCHE_GOT(copy != NULL);
    for (char *word; (word = strsep(&rest, ",")) != NULL; number++) {
        if (number == OCHE_FLUID_MOST_LISTED)
            argp_failure(state, 2, 0, "--%s %s: more than %d; write fewer", option, text,
                         OCHE_FLUID_MOST_LISTED);
        add(options, word, number, state);
    }
    free(copy);
}

static void add_count(struct oche_fluid_cli_options *options, const char *word, size_t number,
                      struct argp_state *state)
{
    options->counts[number] = (uint32_t)read_value(&count_param, "counts", word, state).u;
    options->count_count = number + 1;
}

static void add_delay(struct oche_fluid_cli_options *options, const char *word, size_t number,
                      struct argp_state *state)
{
    options->delays_s[number] = read_seconds(&delay_param, "delays", word, state);
    options->delay_count = number + 1;
}

static void add_set(struct oche_fluid_cli_options *options, const char *set)
{
    options->sets = realloc(options->sets, (options->set_count + 1) * sizeof(*options->sets));
    OCHE_GOT(options->sets != NULL);
    options->sets[options->set_count++] = set;
}

static enum oche_fluid_name read_model(const char *text, struct argp_state *state)
{
    for (unsigned i = 0; i < OCHE_FLUID_NAMES; i++)
        if (strcmp(text, oche_fluid_names[i]) == 0)
            return i;
    const char *nearest = oche_nearest_word(text, oche_fluid_names, OCHE_FLUID_NAMES);

    argp_failure(state, 2, 0, "--model %s: no such model; %s%s%s", text,
                 nearest != NULL ? "did you mean " : "there are dcqcn, timely and timely_patched",
                 nearest != NULL ? nearest : "", nearest != NULL ? "?" : "");
    return OCHE_FLUID_NAMES;
}

static void set_mode(struct oche_fluid_cli_options *options, enum oche_fluid_mode mode,
                     struct argp_state *state)
{
    if (options->mode != OCHE_FLUID_RUN && options->mode != mode)
        argp_failure(state, 2, 0, "--fixed-point and --stability do not go together; give one");
    options->mode = mode;
}

/* Rejects options that would have no effect. */
static void check_together(const struct oche_fluid_cli_options *options, struct argp_state *state)
{
    bool table = options->mode != OCHE_FLUID_RUN;

    if (options->show_defaults &&
        (table || options->flows != NULL || options->csv != NULL || options->out != NULL ||
         options->duration_s > 0 || options->tolerance > 0 || options->quiet))
        argp_failure(state, 2, 0,
                     "--show-defaults runs nothing; leave out what is for a run or a table");
    if (options->receiver != NULL && options->scenario == NULL)
        argp_failure(state, 2, 0, "--receiver chooses among a scenario's; give a scenario");
    if (table && options->flows != NULL)
        argp_failure(state, 2, 0, "--flows is for a run; a table takes --counts 2,10,64");
    if (!table && options->count_count > 0)
        argp_failure(state, 2, 0,
                     "--counts is for --fixed-point and --stability; a run takes "
                     "--flows");
    if (options->delay_count > 0 && options->mode != OCHE_FLUID_STABILITY)
        argp_failure(state, 2, 0, "--delays is for --stability; else --set delay=50us");
    if (options->mode == OCHE_FLUID_FIXED_POINT &&
        (options->duration_s > 0 || options->tolerance > 0))
        argp_failure(state, 2, 0, "--fixed-point runs nothing; leave out --duration, --tolerance");
    if (table && options->interval_s > 0)
        argp_failure(state, 2, 0, "--interval is for what a run writes; leave it out");
    if (table && (options->out != NULL || options->quiet))
        argp_failure(state, 2, 0, "--out and --quiet are for a run; a table takes --csv");
    if (!table && options->interval_s > 0 && options->csv == NULL && options->out == NULL)
        argp_failure(state, 2, 0, "--interval is for --csv and --out; give one of them");
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct oche_fluid_cli_options *options = state->input;

    switch (key) {
    case 'm':
        options->model = read_model(argument, state);
        return 0;
    case 's':
        add_set(options, argument);
        return 0;
    case 'f':
        options->flows = argument;
        return 0;
    case 'd':
        options->duration_s = read_seconds(&time_param, "duration", argument, state);
        return 0;
    case KEY_INTERVAL:
        options->interval_s = read_seconds(&time_param, "interval", argument, state);
        return 0;
    case KEY_TOLERANCE:
        options->tolerance = read_value(&tolerance_param, "tolerance", argument, state).real;
        return 0;
    case KEY_FIXED_POINT:
        set_mode(options, OCHE_FLUID_FIXED_POINT, state);
        return 0;
    case KEY_STABILITY:
        set_mode(options, OCHE_FLUID_STABILITY, state);
        return 0;
    case KEY_COUNTS:
        read_list(options, "counts", argument, add_count, state);
        return 0;
    case KEY_DELAYS:
        read_list(options, "delays", argument, add_delay, state);
        return 0;
    case KEY_CSV:
        options->csv = argument;
        return 0;
    case KEY_RECEIVER:
        options->receiver = argument;
        return 0;
    case 'o':
        options->out = argument;
        return 0;
    case 'q':
        options->quiet = true;
        return 0;
    case KEY_SHOW_DEFAULTS:
        options->show_defaults = true;
        return 0;
    case ARGP_KEY_ARG:
        if (options->scenario != NULL)
            argp_failure(state, 2, 0, "%s: one scenario at a time", argument);
        options->scenario = oche_scenario_argument(argument, state);
        return 0;
    case ARGP_KEY_END:
        check_together(options, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option known[] = {
    {"model", 'm', "NAME", 0, "dcqcn (default), timely or timely_patched", 0},
    {"flows", 'f', "LIST", 0,
     "2: two flows that begin at the capacity; 40Gbps,5Gbps@10ms: one at 40 Gbps from 0 on, one at "
     "5 Gbps from 10 ms on; 8x10Gbps: eight at 10 Gbps. Default: one at the capacity, one at an "
     "eighth of it",
     0},
    {"set", 's', "KEY=VALUE", 0,
     "a parameter of the model, such as g=1/16 or delay=85us; a key with a dot, or of the "
     "scenario's root, changes the scenario",
     0},
    {"duration", 'd', "TIME", 0, "how long to run; default 100ms, or the scenario's", 0},
    {"fixed-point", KEY_FIXED_POINT, NULL, 0, "a table of fixed points instead of a run", 0},
    {"stability", KEY_STABILITY, NULL, 0,
     "a table of phase margins, and of the queue in runs, over numbers of flows and delays", 0},
    {"counts", KEY_COUNTS, "LIST", 0,
     "numbers of flows for --fixed-point and --stability; default 2,4,8,10,16,20,32,64", 0},
    {"delays", KEY_DELAYS, "LIST", 0, "delays for --stability; default 4us,25us,50us,85us,100us",
     0},
    {"receiver", KEY_RECEIVER, "HOST", 0,
     "the receiver whose link is the bottleneck, if the scenario's flows have several", 0},
    {"csv", KEY_CSV, "FILE", 0, "write queue and rates, or the table, as CSV", 0},
    {"out", 'o', "DIR", 0, "write DIR/run.sqlite, as oche run does", 0},
    {"interval", KEY_INTERVAL, "TIME", 0,
     "time between two rows of --csv and --out; default a thousandth of the duration", 0},
    {"tolerance", KEY_TOLERANCE, "X", 0,
     "error that a step may make, as a share of the whole scale; default 1e-6", 0},
    {"quiet", 'q', NULL, 0, "print nothing but errors", 0},
    {"show-defaults", KEY_SHOW_DEFAULTS, NULL, 0,
     "show the model's parameters, with the values that scenario and --set give them", 0},
    {0},
};

static const struct argp argp = {
    .options = known,
    .parser = parse,
    .args_doc = "[SCENARIO]",
    .doc = "Solves a fluid model of congestion control: one queue and flows whose rates are real "
           "numbers, as differential equations with delays. A scenario gives parameters, link "
           "and flows."
           "\vExit status: 0 done; 2 bad arguments, a bad scenario, or a file that cannot be "
           "written.",
};

bool oche_fluid_options_read(struct oche_fluid_cli_options *options, int argc, char **argv)
{
    *options = (struct oche_fluid_cli_options){.model = OCHE_FLUID_NAMES};
    return oche_parse_arguments(&argp, argc, argv, 0, options);
}

void oche_fluid_options_free(struct oche_fluid_cli_options *options)
{
    free(options->sets);
    free(options->scenario);
}
