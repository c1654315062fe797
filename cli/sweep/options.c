/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the command line of `oche sweep`. */
#include "cli/sweep/options.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/installed.h"
#include "cli/refuse.h"
#include "lab/measures/metrics.h"

#define MOST_JOBS  1024
#define MOST_TASKS 1000000

enum key {
    KEY_CSV = 256,
    KEY_JSON,
    KEY_METRICS,
    KEY_RESTART,
    KEY_SLURM,
    KEY_TASKS,
    KEY_POINT,
    KEY_MERGE,
    KEY_SKIP_INVALID,
    KEY_ZIP,
};

struct reading {
    struct oche_sweep_options *options;
    /* arguments of --vary, parsed when all --set options are known */
    const char *varied[OCHE_GRID_MAX_AXES + 1];
    size_t varied_count;
};

/*
 * Parses a plain number from `least` to `most`. If it is not one, ends the program with status 2.
 */
static size_t read_number(const char *option, const char *text, size_t least, size_t most,
                          struct argp_state *state)
{
    char *end;

    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);

    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || number < least ||
        number > most)
        oche_refuse(state, "--%s %s: not a number from %zu to %zu", option, text, least, most);
    return (size_t)number;
}

/* True if the text from `text` to `end` is a plain number of at most `most`. */
static bool is_number(const char *text, const char *end, size_t most, size_t *number)
{
    *number = 0;
    for (const char *c = text; c < end; c++) {
        if (*c < '0' || *c > '9')
            return false;
        *number = *number * 10 + (size_t)(*c - '0');
        if (*number > most)
            return false;
    }
    return end > text;
}

/* Parses "3" as point 3, and "3/40" as points 3, 43, 83, … */
static void read_point(struct oche_sweep_options *options, const char *text,
                       struct argp_state *state)
{
    const char *slash = strchr(text, '/');

    options->stride = 0;
    if (slash == NULL) {
        if (!is_number(text, text + strlen(text), OCHE_GRID_MAX_POINTS - 1, &options->first))
            oche_refuse(state, "--point %s: not a number from 0 to %d, nor K/N", text,
                        OCHE_GRID_MAX_POINTS - 1);
        return;
    }
    if (!is_number(text, slash, OCHE_GRID_MAX_POINTS - 1, &options->first) ||
        !is_number(slash + 1, text + strlen(text), MOST_TASKS, &options->stride))
        oche_refuse(state, "--point %s: not a task; write K/N, such as 0/40, with N up to %d", text,
                    MOST_TASKS);
    if (options->first >= options->stride)
        oche_refuse(state, "--point %s: no such task; of N tasks the first is 0/N, the last N-1/N",
                    text);
}

static void set_mode(struct oche_sweep_options *options, enum oche_sweep_mode mode,
                     struct argp_state *state)
{
    if (options->mode != OCHE_SWEEP_RUN && options->mode != mode)
        oche_refuse(state, "--slurm, --point, --merge and --metrics do not go together; give one");
    options->mode = mode;
}

static void set_scenario(struct oche_grid *grid, const char *path, struct argp_state *state)
{
    if (grid->scenario != NULL)
        oche_refuse(state, "%s: one scenario at a time", path);
    grid->scenario = oche_scenario_argument(path, state);
}

static void add_set(struct oche_grid *grid, const char *set)
{
    grid->sets = realloc(grid->sets, (grid->set_count + 1) * sizeof(*grid->sets));
    OCHE_GOT(grid->sets != NULL);
    grid->sets[grid->set_count] = strdup(set);
    OCHE_GOT(grid->sets[grid->set_count++] != NULL);
}

static void add_metric(struct oche_sweep_options *options, const char *name,
                       struct argp_state *state)
{
    struct oche_error error;

    if (!oche_metric_check(name, &error))
        oche_refuse(state, "--metric %s", error.text);
    if (options->metric_count == OCHE_SWEEP_MOST_METRICS)
        oche_refuse(state, "--metric %s: one too many; the results file has all of them", name);
    options->metrics[options->metric_count++] = name;
}

static void check_together(const struct oche_sweep_options *options, struct argp_state *state)
{
    if (options->mode != OCHE_SWEEP_METRICS && options->grid.scenario == NULL)
        oche_refuse(
            state,
            "which scenario? give a YAML file, or the name of one that oche run --list shows");
    if (options->tasks > 0 && options->mode != OCHE_SWEEP_SLURM)
        oche_refuse(state, "--tasks says how --slurm divides the points; add --slurm");
    if (options->grid.skip_invalid && options->mode != OCHE_SWEEP_RUN)
        oche_refuse(state, "--skip-invalid is for a sweep that runs here; vary what can be run");
    if (options->restart && options->mode == OCHE_SWEEP_SLURM)
        oche_refuse(state,
                    "--slurm --restart: the script cannot begin anew; remove what is in --out, "
                    "or give another");
    if ((options->csv || options->json || options->metric_count > 0) &&
        (options->mode == OCHE_SWEEP_SLURM || options->mode == OCHE_SWEEP_POINTS))
        oche_refuse(state,
                    "--csv, --json and --metric are for when all points are there; give them to "
                    "--merge");
    if (options->mode == OCHE_SWEEP_METRICS && (options->csv || options->json))
        oche_refuse(state, "--metrics prints a list, and runs nothing; leave out %s",
                    options->json ? "--json" : "--csv");
    if (options->json && options->metric_count > 0)
        oche_refuse(state, "--json prints all results, and no table; leave out --metric");
    if (options->quiet && options->mode == OCHE_SWEEP_SLURM)
        oche_refuse(state, "--slurm --quiet: the script is all that --slurm says");
    if (options->jobs > 0 && options->mode == OCHE_SWEEP_MERGE)
        oche_refuse(state, "--merge runs nothing; leave out --jobs");
}

/* Reads an option without a value that is not a mode. Returns false if it is another. */
static bool parse_flag(struct oche_sweep_options *options, int key)
{
    const struct {
        int key;
        bool *flag;
    } flags[] = {{'q', &options->quiet},
                 {KEY_CSV, &options->csv},
                 {KEY_JSON, &options->json},
                 {KEY_RESTART, &options->restart},
                 {KEY_SKIP_INVALID, &options->grid.skip_invalid},
                 {KEY_ZIP, &options->grid.zipped}};

    for (size_t i = 0; i < OCHE_COUNT_OF(flags); i++)
        if (flags[i].key == key) {
            *flags[i].flag = true;
            return true;
        }
    return false;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct reading *reading = state->input;
    struct oche_sweep_options *options = reading->options;

    switch (key) {
    case 's':
        add_set(&options->grid, argument);
        return 0;
    case 'v':
        reading->varied[reading->varied_count] = argument;
        if (reading->varied_count < OCHE_GRID_MAX_AXES)
            reading->varied_count++;
        else
            oche_refuse(state, "--vary %s: one too many; at most %d", argument, OCHE_GRID_MAX_AXES);
        return 0;
    case 'r':
        options->grid.repeats =
            (uint32_t)read_number("repeat", argument, 1, OCHE_GRID_MAX_POINTS, state);
        return 0;
    case 'j':
        options->jobs = (unsigned)read_number("jobs", argument, 1, MOST_JOBS, state);
        return 0;
    case 'o':
        if (argument[0] == '\0')
            oche_refuse(state, "--out: names no folder; write --out . for this one");
        options->out = argument;
        return 0;
    case 'm':
        add_metric(options, argument, state);
        return 0;
    case KEY_METRICS:
        set_mode(options, OCHE_SWEEP_METRICS, state);
        return 0;
    case KEY_SLURM:
        set_mode(options, OCHE_SWEEP_SLURM, state);
        return 0;
    case KEY_TASKS:
        options->tasks = read_number("tasks", argument, 1, MOST_TASKS, state);
        return 0;
    case KEY_POINT:
        set_mode(options, OCHE_SWEEP_POINTS, state);
        read_point(options, argument, state);
        return 0;
    case KEY_MERGE:
        set_mode(options, OCHE_SWEEP_MERGE, state);
        return 0;
    case ARGP_KEY_ARG:
        set_scenario(&options->grid, argument, state);
        return 0;
    case ARGP_KEY_END:
        check_together(options, state);
        return 0;
    default:
        return parse_flag(options, key) ? 0 : ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option known[] = {
    {"vary", 'v', "KEY=A,B,...", 0,
     "run with each of these values; several of them make a grid of all combinations", 0},
    {"zip", KEY_ZIP, NULL, 0,
     "take the values of all --vary together: the first of each, then the second of each, ...", 0},
    {"repeat", 'r', "N", 0, "run every combination with N seeds, from the scenario's on", 0},
    {"set", 's', "KEY=VALUE", 0, "override a value of the scenario in every point", 0},
    {"jobs", 'j', "N", 0,
     "run N points at a time; default: one for each core; with --slurm: N in each task, which gets "
     "N cores; default 1",
     0},
    {"out", 'o', "DIR", 0,
     "put results there, as sweep.sqlite; default out/NAME-sweep, where NAME is the scenario's", 0},
    {"csv", KEY_CSV, NULL, 0, "also write points.csv and metrics.csv", 0},
    {"json", KEY_JSON, NULL, 0,
     "print the results as JSON instead of a table: points, each with its axes and metrics", 0},
    {"metric", 'm', "NAME", 0,
     "show this metric in the table at the end; may be given several times", 0},
    {"metrics", KEY_METRICS, NULL, 0, "list all metrics with their units and what they mean", 0},
    {"restart", KEY_RESTART, NULL, 0, "begin anew: forget the points that are in --out", 0},
    {"skip-invalid", KEY_SKIP_INVALID, NULL, 0,
     "leave out the combinations that are impossible, and tell which; without it, one of them "
     "refuses the whole grid",
     0},
    {"quiet", 'q', NULL, 0,
     "no progress and no table: only results files, errors and what --json prints", 0},
    {"slurm", KEY_SLURM, NULL, 0,
     "print a script that runs the grid as a Slurm job array and then merges", 0},
    {"tasks", KEY_TASKS, "N", 0,
     "with --slurm: divide the points into N tasks; default: one a point, at most 1000", 0},
    {"point", KEY_POINT, "K[/N]", 0,
     "run point K alone (with /N: K, K+N, K+2N, ...) and put each into a file of its own, "
     "DIR/points/K.point",
     0},
    {"merge", KEY_MERGE, NULL, 0,
     "read the files in DIR/points into DIR/sweep.sqlite instead of running", 0},
    {0},
};

static const struct argp argp = {
    .options = known,
    .parser = parse,
    .args_doc = "SCENARIO",
    .doc =
        "Runs a grid of variants of a scenario in parallel processes and shows the means and "
        "spreads over seeds; every metric of every point goes into one SQLite file. The same "
        "command goes on where it was interrupted."
        "\vExit status: 0 every point is done; 1 some are not, and why is told; 2 bad arguments, a "
        "bad scenario, or results that cannot be written; 130 interrupted.",
};

bool oche_sweep_options_read(struct oche_sweep_options *options, int argc, char **argv,
                             struct oche_error *error)
{
    struct reading reading = {.options = options};
    bool ok = true;

    *options = (struct oche_sweep_options){.grid = {.repeats = 1}};
    error->text[0] = '\0';
    if (!oche_parse_arguments(&argp, argc, argv, 0, &reading))
        ok = false;
    for (size_t i = 0; ok && i < reading.varied_count; i++)
        ok = oche_grid_add_axis(&options->grid, reading.varied[i], error);
    ok = ok && oche_grid_check_zip(&options->grid, error);
    if (!ok)
        oche_sweep_options_free(options);
    return ok;
}

void oche_sweep_options_free(struct oche_sweep_options *options)
{
    oche_grid_free(&options->grid);
}
