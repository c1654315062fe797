/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the command line of `oche reproduce`. */
#include "cli/reproduce/options.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/refuse.h"

#define MOST_JOBS 1024

enum key {
    KEY_QUICK = 256,
    KEY_FULL,
    KEY_JSON,
    KEY_LIST,
    KEY_TOLERANCES,
    KEY_PAPERS,
    KEY_RESTART,
    KEY_ALL,
    KEY_RECORD,
    KEY_MEASURE,
    KEY_STALE
};

struct reading {
    struct oche_reproduce_options *options;
    bool full;
};

static unsigned read_jobs(const char *text, struct argp_state *state)
{
    char *end;

    errno = 0;
    unsigned long number = strtoul(text, &end, 10);

    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || number < 1 ||
        number > MOST_JOBS)
        oche_refuse(state, "--jobs %s: not a number from 1 to %d", text, MOST_JOBS);
    return (unsigned)number;
}

static void set_mode(struct oche_reproduce_options *options, enum oche_reproduce_mode mode,
                     struct argp_state *state)
{
    if (options->mode != OCHE_REPRODUCE_RUN && options->mode != mode)
        oche_refuse(state, "--list, --tolerances and --stale do not go together; give one");
    options->mode = mode;
}

/* Without a paper nothing is run: the committed results are shown. */
static void no_paper(struct reading *reading, struct argp_state *state)
{
    struct oche_reproduce_options *options = reading->options;

    if (options->quick || reading->full || options->restart || options->record ||
        options->out != NULL || options->jobs > 0)
        oche_refuse(state, "no paper is named; PAPER, PAPER/FIGURE or --all");
    options->mode = OCHE_REPRODUCE_COMMITTED;
}

/* Rejects options that contradict each other. */
static void check(struct reading *reading, struct argp_state *state)
{
    struct oche_reproduce_options *options = reading->options;

    if (options->quick && reading->full)
        oche_refuse(state, "--quick and --full do not go together; give one");
    if (options->all && options->which != NULL)
        oche_refuse(state, "%s: --all is every paper; leave out one of them", options->which);
    if (options->record && (options->quick || options->mode != OCHE_REPRODUCE_RUN))
        oche_refuse(state, "--record is for all runs of a paper; leave out what runs fewer");
    if (options->measure && (options->which == NULL || strchr(options->which, '/') == NULL ||
                             options->mode != OCHE_REPRODUCE_RUN))
        oche_refuse(state, "--measure is for a figure that is measured on the wire; name it, "
                           "as in oche reproduce dart/wire --measure");
    if (options->which == NULL && !options->all && options->mode == OCHE_REPRODUCE_RUN)
        no_paper(reading, state);
    if (options->verbose &&
        (options->quiet || options->json ||
         (options->mode != OCHE_REPRODUCE_RUN && options->mode != OCHE_REPRODUCE_COMMITTED)))
        oche_refuse(state, "--verbose adds to the table of statements; leave out what prints "
                           "another table or none");
    if (options->json && options->mode != OCHE_REPRODUCE_RUN &&
        options->mode != OCHE_REPRODUCE_COMMITTED)
        oche_refuse(state, "--json prints what figures come to; leave out what prints "
                           "something else");
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct reading *reading = state->input;
    struct oche_reproduce_options *options = reading->options;

    switch (key) {
    case KEY_QUICK:
        options->quick = true;
        return 0;
    case KEY_FULL:
        reading->full = true;
        return 0;
    case 'j':
        options->jobs = read_jobs(argument, state);
        return 0;
    case 'o':
        if (argument[0] == '\0')
            oche_refuse(state, "--out: names no folder; write --out . for this one");
        options->out = argument;
        return 0;
    case 'q':
        options->quiet = true;
        return 0;
    case 'v':
        options->verbose = true;
        return 0;
    case KEY_JSON:
        options->json = true;
        return 0;
    case 'l':
        set_mode(options, OCHE_REPRODUCE_LIST, state);
        return 0;
    case KEY_TOLERANCES:
        set_mode(options, OCHE_REPRODUCE_TOLERANCES, state);
        return 0;
    case KEY_STALE:
        set_mode(options, OCHE_REPRODUCE_STALE, state);
        return 0;
    case KEY_ALL:
        options->all = true;
        return 0;
    case KEY_RECORD:
        options->record = true;
        return 0;
    case KEY_MEASURE:
        options->measure = true;
        return 0;
    case KEY_PAPERS:
        options->papers = argument;
        return 0;
    case KEY_RESTART:
        options->restart = true;
        return 0;
    case ARGP_KEY_ARG:
        if (options->which != NULL)
            oche_refuse(state, "%s: one paper or figure at a time", argument);
        if (argument[strspn(argument, "/")] == '\0')
            oche_refuse(state, "\"%s\" names no paper; oche reproduce --list lists them", argument);
        options->which = argument;
        return 0;
    case ARGP_KEY_END:
        check(reading, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option known[] = {
    {"quick", KEY_QUICK, NULL, 0, "with fewer runs: minutes, for a first look and for tests", 0},
    {"full", KEY_FULL, NULL, 0, "with all runs that the figures ask for; this is the default", 0},
    {"jobs", 'j', "N", 0, "run N points at a time; default: one for each core", 0},
    {"out", 'o', "DIR", 0,
     "put results there, FIGURE.sqlite for each figure; default out/reproduce/PAPER, or "
     "out/reproduce/PAPER-quick",
     0},
    {"all", KEY_ALL, NULL, 0, "run all papers", 0},
    {"list", 'l', NULL, 0, "list papers and figures", 0},
    {"record", KEY_RECORD, NULL, 0,
     "write the verdicts beside the paper, results.csv, and a sample of its points, sample.csv", 0},
    {"measure", KEY_MEASURE, NULL, 0,
     "measure again what a figure has measured with real processes (dart/wire), in place of what "
     "is kept of that with the paper; minutes, on a machine that is else idle",
     0},
    {"stale", KEY_STALE, NULL, 0,
     "tell which of those verdicts may be others today: claims, scenarios or a sample of the "
     "points have changed; about a minute, with --quick an eighth of that",
     0},
    {"tolerances", KEY_TOLERANCES, NULL, 0,
     "list for each figure the commit that fixed its claims and tolerances, and their digest", 0},
    {"papers", KEY_PAPERS, "DIR", 0,
     "the papers' folder; default: OCHE_PAPERS of the environment, or what came with the program",
     0},
    {"restart", KEY_RESTART, NULL, 0, "begin anew: forget the runs that are in --out", 0},
    {"json", KEY_JSON, NULL, 0,
     "print statements, claims and verdicts as JSON instead of tables: {\"papers\": [...], "
     "\"figures\": [...]}",
     0},
    {"verbose", 'v', NULL, 0,
     "name the claims that decide each statement, with their verdicts; of recorded results also "
     "why a statement does not hold",
     0},
    {"quiet", 'q', NULL, 0,
     "no progress and no tables: only results files, errors and what --json prints", 0},
    {0},
};

static const struct argp argp = {
    .options = known,
    .parser = parse,
    .args_doc = "[PAPER[/FIGURE]]",
    .doc = "Runs what a paper's figures show, and judges claim by claim what the paper says of "
           "them: what is published, what is measured with its 95 % interval, whether that is "
           "within the tolerance that was fixed before. The same command goes on where it was "
           "interrupted. Without PAPER: the verdicts that were recorded last, of all papers."
           "\vExit status: 0 all is measured, whatever the verdicts; 1 some runs are not done, and "
           "why is told, or with --stale some results are; 2 bad arguments, a bad file, or results "
           "that cannot be written; 130 "
           "interrupted.",
};

bool oche_reproduce_options_read(struct oche_reproduce_options *options, int argc, char **argv)
{
    struct reading reading = {.options = options};

    *options = (struct oche_reproduce_options){.mode = OCHE_REPRODUCE_RUN};
    return oche_parse_arguments(&argp, argc, argv, 0, &reading);
}
