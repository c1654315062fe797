/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the command line of `oche run`. */
#include "cli/run/options.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/installed.h"
#include "cli/refuse.h"
#include "core/base.h"
#include "lab/measures/steady_metric.h"
#include "params/units.h"

#define MOST_THREADS 64

enum key {
    KEY_SEED = 256,
    KEY_CSV,
    KEY_JSON,
    KEY_PCAP,
    KEY_TRACE,
    KEY_SHOW_DEFAULTS,
    KEY_LIST,
    KEY_PARTITION,
    KEY_UNTIL_STABLE,
    KEY_WITHIN,
    KEY_ALL,
    KEY_BY_SIZE,
    KEY_MUST_HAPPEN
};

static void add_set(struct oche_run_options *options, const char *key, const char *value,
                    const char *option)
{
    struct oche_run_set *set;

    options->sets = realloc(options->sets, (options->set_count + 1) * sizeof(*options->sets));
    OCHE_GOT(options->sets != NULL);
    set = &options->sets[options->set_count++];
    OCHE_GOT(asprintf(&set->assignment, "%s%s", key, value) >= 0);
    OCHE_GOT(asprintf(&set->typed, "%s %s", option, value) >= 0);
}

/* Returns the plain number in the text, from `least` to MOST_THREADS; 0: it is none. */
static uint32_t number_in(const char *text, uint32_t least)
{
    char *end;
    unsigned long number = strtoul(text, &end, 10);

    if (text[0] < '0' || text[0] > '9' || *end != '\0' || number < least || number > MOST_THREADS)
        return 0;
    return (uint32_t)number;
}

/* Returns 0 for "auto". */
static uint32_t read_threads(const char *text, struct argp_state *state)
{
    uint32_t number = number_in(text, 1);

    if (number == 0 && strcmp(text, "auto") != 0)
        oche_refuse(state, "--threads %s: not a number of threads; write 1 to %d, or auto", text,
                    MOST_THREADS);
    return number;
}

static uint32_t read_parts(const char *text, struct argp_state *state)
{
    uint32_t number = number_in(text, 2);

    if (number == 0)
        oche_refuse(state, "--partition-report %s: not a number of parts; write 2 to %d", text,
                    MOST_THREADS);
    return number;
}

/* Returns the fraction in the text, above 0 and below 1: "5%" or "0.05". */
static double read_within(const char *text, struct argp_state *state)
{
    static const struct oche_param part = {.name = "within", OCHE_IS_REAL(0, 0, 1), .help = ""};
    struct oche_error error;
    union oche_value value;

    if (!oche_value_parse(&part, text, &value, &error) || value.real <= 0 || value.real >= 1)
        oche_refuse(state,
                    "--within %s: not a part of the mean; write a share above 0 and below 1, such "
                    "as 5%% or 0.05",
                    text);
    return value.real;
}

/* Rejects options that have no effect on the partition report. */
static void check_report(const struct oche_run_options *options, struct argp_state *state)
{
    const char *wrong = options->threads > 0       ? "is made in one thread; leave out --threads"
                        : options->compare != NULL ? "is of one run; leave out --compare"
                        : options->pcap != NULL    ? "has no captures; leave out --pcap"
                                                   : NULL;

    if (wrong != NULL)
        oche_refuse(state, "--partition-report %s", wrong);
}

/* Returns an option that has no effect if nothing is run, or NULL. */
static const char *option_of_runs(const struct oche_run_options *options)
{
    return options->compare != NULL ? "--compare"
           : options->pcap != NULL  ? "--pcap"
           : options->trace != NULL ? "--trace"
           : options->out != NULL   ? "--out"
           : options->csv           ? "--csv"
           : options->json          ? "--json"
           : options->report_parts  ? "--partition-report"
           : options->until_stable  ? "--until-stable"
                                    : NULL;
}

/* Rejects options that --list would ignore. */
static void check_list(const struct oche_run_options *options, struct argp_state *state)
{
    const char *ignored = options->scenario != NULL ? options->scenario
                          : options->set_count > 0  ? options->sets[0].typed
                          : options->show_defaults  ? "--show-defaults"
                                                    : option_of_runs(options);

    if (ignored != NULL)
        oche_refuse(state, "--list runs nothing; leave out %s", ignored);
}

/* Rejects options that --show-defaults would ignore. */
static void check_show(const struct oche_run_options *options, struct argp_state *state)
{
    const char *ignored = option_of_runs(options);

    if (ignored != NULL)
        oche_refuse(state, "--show-defaults runs nothing; leave out %s", ignored);
    if (options->scenario == NULL && options->set_count > 0)
        oche_refuse(state,
                    "%s: --show-defaults without a scenario shows what can be written, which "
                    "nothing overrides; give a scenario too",
                    options->sets[0].typed);
}

/* Returns the whole path of FILE (malloc'd), from FILE or FILE:MORE. */
static char *whole_path(const char *option)
{
    const char *slash = strrchr(option, '/'), *name = slash != NULL ? slash + 1 : option;
    char *folder = strndup(option, (size_t)(name - option)), *path = NULL;

    OCHE_GOT(folder != NULL);
    char *whole = realpath(slash != NULL ? folder : ".", NULL);

    OCHE_GOT(asprintf(&path, "%s/%.*s", whole != NULL ? whole : folder, (int)strcspn(name, ":"),
                      name) >= 0);
    free(folder);
    free(whole);
    return path;
}

/* True if two options that name FILE or FILE:MORE name one file. */
static bool is_same_file(const char *one, const char *other)
{
    char *path = whole_path(one), *other_path = whole_path(other);
    bool same = strcmp(path, other_path) == 0;

    free(path);
    free(other_path);
    return same;
}

/* Rejects options that contradict each other. */
static void check(const struct oche_run_options *options, struct argp_state *state)
{
    if (options->report_parts > 0)
        check_report(options, state);
    if (options->list)
        check_list(options, state);
    else if (options->show_defaults)
        check_show(options, state);
    else if (options->scenario == NULL)
        oche_refuse(state, "which scenario? give a YAML file, or the name of one that oche run "
                           "--list shows");
    if (options->by_size && options->compare == NULL)
        oche_refuse(state, "--by-size is of --compare; a run alone has its flow sizes in a table");
    if (options->within > 0 && options->until_stable == NULL)
        oche_refuse(state, "--within is of --until-stable; give that too");
    if (options->pcap != NULL && options->compare != NULL)
        oche_refuse(state, "--pcap captures one run; leave out --compare");
    if (options->trace != NULL && options->pcap != NULL &&
        is_same_file(options->trace, options->pcap))
        oche_refuse(state, "--trace and --pcap name one file; give each its own");
    if (options->trace != NULL && options->compare != NULL)
        oche_refuse(state, "--trace is of one run; leave out --compare");
    if (options->pcap != NULL && options->threads > 1)
        oche_refuse(state, "--pcap needs one thread; leave out --threads");
}

/* Returns the field that an option without a value sets; NULL: it is no such option. */
static bool *flag_of(struct oche_run_options *options, int key)
{
    return key == 'q'                 ? &options->quiet
           : key == 'v'               ? &options->verbose
           : key == KEY_CSV           ? &options->csv
           : key == KEY_JSON          ? &options->json
           : key == KEY_LIST          ? &options->list
           : key == KEY_ALL           ? &options->all
           : key == KEY_BY_SIZE       ? &options->by_size
           : key == KEY_MUST_HAPPEN   ? &options->must_happen
           : key == KEY_SHOW_DEFAULTS ? &options->show_defaults
                                      : NULL;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct oche_run_options *options = state->input;
    bool *flag = flag_of(options, key);

    if (flag != NULL) {
        *flag = true;
        return 0;
    }
    switch (key) {
    case 's':
        add_set(options, "", argument, "--set");
        return 0;
    case KEY_SEED:
        add_set(options, "seed=", argument, "--seed");
        return 0;
    case 'o':
        if (argument[0] == '\0')
            oche_refuse(state, "--out: names no folder; write --out . for this one");
        options->out = argument;
        return 0;
    case 't':
        options->threads = read_threads(argument, state);
        return 0;
    case KEY_PARTITION:
        options->report_parts = read_parts(argument, state);
        return 0;
    case KEY_UNTIL_STABLE:
        if (options->until_stable != NULL)
            oche_refuse(state, "--until-stable %s: one metric at a time", argument);
        options->until_stable = argument;
        return 0;
    case KEY_WITHIN:
        options->within = read_within(argument, state);
        return 0;
    case 'c':
        if (options->compare != NULL)
            oche_refuse(state, "--compare %s: one comparison at a time", argument);
        options->compare = argument;
        return 0;
    case KEY_PCAP:
        if (options->pcap != NULL)
            oche_refuse(state, "--pcap %s: one capture at a time; list ports after one file",
                        argument);
        options->pcap = argument;
        return 0;
    case KEY_TRACE:
        if (options->trace != NULL)
            oche_refuse(state, "--trace %s: one trace at a time", argument);
        options->trace = argument;
        return 0;
    case ARGP_KEY_ARG:
        if (options->scenario != NULL)
            oche_refuse(state, "%s: one scenario at a time", argument);
        options->scenario = oche_scenario_argument(argument, state);
        return 0;
    case ARGP_KEY_END:
        check(options, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option known[] = {
    {"set", 's', "KEY=VALUE", 0,
     "override a value of the scenario, such as switch.kmin=10KB or workload[0].load=70%", 0},
    {"seed", KEY_SEED, "N", 0, "the same as --set seed=N", 0},
    {"compare", 'c', "KEY=A,B", 0,
     "run once for each value, with the same seed, and show all runs in one table", 0},
    {"out", 'o', "DIR", 0,
     "put results there: run.sqlite, or VALUE/run.sqlite for each run of a comparison; default "
     "out/NAME, where NAME is the scenario's, and in it a folder for what --set, --seed and "
     "--compare change, such as switch.kmin=10KB",
     0},
    {"csv", KEY_CSV, NULL, 0, "also write metrics.csv, flows.csv, series.csv and counters.csv", 0},
    {"json", KEY_JSON, NULL, 0,
     "print the results as JSON instead of tables: {\"runs\": [...]}, with metrics, parameters and "
     "the scenario",
     0},
    {"pcap", KEY_PCAP, "FILE[:PORT,...]", 0,
     "capture what these ports send and receive: host3, tor0:host3, tor0:up1, tor*:up*; needs one "
     "thread",
     0},
    {"trace", KEY_TRACE, "FILE[:host=H,flow=F,...]", 0,
     "write all protocol events, or those of these hosts, switches or flows, as CSV (FILE.csv) or "
     "as a JSON object a line (FILE.jsonl)",
     0},
    {"threads", 't', "N|auto", 0,
     "simulate with N threads; the results are the same. Default auto: as many as there are "
     "processors, or fewer if there is too little to do at a time. mpirun -np N oche run takes N "
     "processes",
     0},
    {"partition-report", KEY_PARTITION, "N", 0,
     "share the network out in N parts, run them in one thread, and show what 2, 4, 8, ... "
     "threads, at most N, would give",
     0},
    {"until-stable", KEY_UNTIL_STABLE, "METRIC", 0,
     "end the run as soon as the 95 % interval of the metric's mean is within --within of "
     "it: " OCHE_STEADY_METRICS,
     0},
    {"within", KEY_WITHIN, "SHARE", 0, "half the interval of --until-stable, over the mean; 5%", 0},
    {"events-must-happen", KEY_MUST_HAPPEN, NULL, 0,
     "end with status 5 if a scripted event of the scenario (`events`) has not happened", 0},
    {"all", KEY_ALL, NULL, 0, "show also the rows of tables that are 0, or a dash, in every column",
     0},
    {"by-size", KEY_BY_SIZE, NULL, 0,
     "with --compare: show every percentile of slowdown and FCT for each flow size", 0},
    {"verbose", 'v', NULL, 0,
     "tell what each thread or process has of the network, and what they exchanged", 0},
    {"quiet", 'q', NULL, 0,
     "no progress line and no tables: only results files, errors and what --json prints", 0},
    {"show-defaults", KEY_SHOW_DEFAULTS, NULL, 0,
     "show every parameter with unit, default, range and source; with a scenario, the values that "
     "it results in",
     0},
    {"list", KEY_LIST, NULL, 0, "list the scenarios that come with oche, which run by name", 0},
    {0},
};

static const struct argp argp = {
    .options = known,
    .parser = parse,
    .args_doc = "SCENARIO|NAME|-|run.sqlite\n--list",
    .doc =
        "Simulates a scenario (a YAML file, docs/scenario.md; the NAME of one that --list shows; "
        "or "
        "-, standard input) and shows what happened: flows, links, PAUSEs, queues. All of it goes "
        "into one SQLite file. Given such a file, repeats "
        "its run, says whether the hash is the same, and puts results into repeat/ beside it; "
        "--set and --compare change that run."
        "\vA scenario's mistakes are told in a line each, with file, line, key and what would be "
        "right. Exit status: 0 the run is over and its results are written; 1 likewise, and it is "
        "not the same as the run that it repeats; 2 bad arguments, a "
        "bad scenario, no memory, or results that cannot be written; 3 a run ended in a "
        "deadlock of PFC, or without duration and with flows that cannot arrive: its results "
        "are written, and who waits for what is told; 4 a run ended before the metric of "
        "--until-stable was stable: its results are written; 5 with --events-must-happen, a "
        "scripted "
        "event has not happened: results are written; 130 interrupted by a first SIGINT: "
        "the results are of what was run until then, and there are none if no run had begun.",
};

bool oche_run_options_read(struct oche_run_options *options, int argc, char **argv)
{
    *options = (struct oche_run_options){.threads = 0};
    if (oche_parse_arguments(&argp, argc, argv, 0, options))
        return true;
    oche_run_options_free(options);
    return false;
}

void oche_run_options_free(struct oche_run_options *options)
{
    for (size_t i = 0; i < options->set_count; i++) {
        free(options->sets[i].assignment);
        free(options->sets[i].typed);
    }
    free(options->sets);
    free(options->scenario);
    options->scenario = NULL;
    options->sets = NULL;
    options->set_count = 0;
}

/*
 * If the error begins with "--set ASSIGNMENT: ", replaces that by the option that the user typed.
 */
static void name_option(const char *assignment, const char *typed, struct oche_error *error)
{
    char set[OCHE_ERROR_BYTES];
    size_t length = (size_t)snprintf(set, sizeof(set), "--set %s: ", assignment);

    if (length >= sizeof(set) || strncmp(error->text, set, length) != 0)
        return;
    oche_fail(error, "%s: %s", typed, error->text + length);
}

void oche_run_options_name(const struct oche_run_options *options, const char *compared,
                           struct oche_error *error)
{
    for (size_t i = 0; i < options->set_count; i++)
        name_option(options->sets[i].assignment, options->sets[i].typed, error);
    if (compared != NULL) {
        char *typed = NULL;

        OCHE_GOT(asprintf(&typed, "--compare %s", compared) >= 0);
        name_option(compared, typed, error);
        free(typed);
    }
}
