/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `oche run`: runs a scenario, or several variants of it, and makes tables and results files. All
 * scenarios, and the place for results, are checked before the first run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/installed.h"
#include "cli/interrupted.h"
#include "cli/run/processors.h"
#include "cli/run/progress.h"
#include "cli/run/ranks.h"
#include "cli/refuse.h"
#include "cli/results_json.h"
#include "cli/run/remarks.h"
#include "cli/run/run_name.h"
#include "cli/run/complaints.h"
#include "cli/run/event_trace.h"
#include "cli/run/options.h"
#include "cli/run/place.h"
#include "cli/run/show_defaults.h"
#include "cli/run/same_runs.h"
#include "cli/run/source.h"
#include "cli/run/store_run.h"
#include "cli/run/summary.h"
#include "cli/run/taps.h"
#include "cli/run/threads.h"
#include "cli/variants.h"
#include "lab/measures/long_run.h"
#include "lab/measures/outcome.h"
#include "lab/measures/steady.h"
#include "params/error.h"
#include "params/figures.h"
#include "sim/scenario/scenario.h"
#include "store/folder_lock.h"

/* One of the runs of this command. */
struct run {
    const char *label; /* the compared value that distinguishes this run; "" for a single run */
    struct oche_run_name name; /* the name in messages; "" for a single run */
    struct oche_scenario *scenario;
    char *folder; /* folder for its results */
    int lock;     /* lock as set by oche_folder_lock; -1: not locked */
};

struct session {
    struct oche_run_options options;
    struct oche_run_ranks ranks;
    struct oche_run_source source;
    struct oche_variants variants;
    char *command; /* command line as typed, for the record */
    struct run *runs;
    struct oche_outcome *outcomes;
    size_t count;
    char *part; /* name of the results file that is not finished; NULL: there is none */
    const volatile sig_atomic_t *interrupted; /* 1: a signal asks for the end */
    size_t finished; /* runs that were made; fewer than `count` if a signal ended the last one */
    uint64_t traced; /* events in the file of --trace */
    bool missed;     /* an event that must happen has not */
    bool stopped;    /* at least one run ended in a deadlock, or stalled */
    bool unstable;   /* at least one run ended before the metric of --until-stable was stable */
    bool differs;    /* the run that was repeated has another hash */
    struct oche_error error;
    struct oche_mistakes mistakes; /* mistakes of the scenario; then `error` is the first of them */
};

enum status {
    DONE = 0,
    DIFFERS = 1,
    REFUSED = 2,
    STOPPED = 3,
    UNSTABLE = 4,
    MISSED = 5,
    INTERRUPTED = 130
};

/* ---- scenarios ---- */

/*
 * Returns the overrides of the command line, then `last` (NULL: none) in a malloc'd array. Sets
 * *count to their number.
 */
static const char **overrides_of(const struct session *session, const char *last, size_t *count)
{
    const struct oche_run_options *options = &session->options;
    const char **sets = calloc(options->set_count + 1, sizeof(*sets));

    OCHE_GOT(sets != NULL);
    for (*count = 0; *count < options->set_count; (*count)++)
        sets[*count] = options->sets[*count].assignment;
    if (last != NULL)
        sets[(*count)++] = last;
    return sets;
}

static void set_threads(const struct oche_run_options *options, struct oche_world_config *config)
{
    config->threads = options->report_parts > 0 ? options->report_parts : options->threads;
    config->record_schedule = options->report_parts > 0;
    config->processors = oche_processors();
}

/* Makes an error about an override name the option that gave it. */
static void name_options(struct session *session, const char *last)
{
    oche_run_options_name(&session->options, last, &session->error);
}

static void name_options_of_mistakes(struct session *session, const char *last)
{
    for (size_t i = 0; i < oche_mistakes_kept(&session->mistakes); i++)
        oche_run_options_name(&session->options, last, &session->mistakes.kept[i].error);
    session->error = session->mistakes.kept[0].error;
}

/*
 * Opens the scenario with the overrides of the command line, then `last` (NULL: none).
 * `refused_too`: accepts also a scenario whose sections contradict each other.
 */
static struct oche_scenario *open_scenario(struct session *session, const char *last,
                                           bool refused_too)
{
    size_t count;
    const char **sets = overrides_of(session, last, &count);
    struct oche_scenario *scenario =
        oche_run_source_open(&session->source, sets, count, refused_too, &session->mistakes);

    free(sets);
    if (session->mistakes.count > 0)
        name_options_of_mistakes(session, last);
    if (scenario != NULL) {
        set_threads(&session->options, &scenario->config);
        scenario->config.auto_series = true;
        scenario->config.mail = session->ranks.mail;
    }
    return scenario;
}

/* Returns the override that distinguishes a run of a comparison (malloc'd), or NULL. */
static char *assignment_of(const struct session *session, size_t number)
{
    char *assignment = NULL;

    if (session->variants.count > 0)
        OCHE_GOT(asprintf(&assignment, "%s=%s", session->variants.key,
                          session->variants.values[number]) >= 0);
    return assignment;
}

/*
 * Checks that run `number` differs from all earlier runs, because two different texts may be the
 * same value.
 */
static bool is_distinct(struct session *session, size_t number)
{
    for (size_t i = 0; i < number; i++) {
        if (!oche_bindings_same(&session->runs[i].scenario->bindings,
                                &session->runs[number].scenario->bindings))
            continue;
        return oche_fail(
            &session->error, "--compare %s: %s and %s come to the same run; leave one out",
            session->options.compare, session->runs[i].label, session->runs[number].label);
    }
    return true;
}

static bool is_of_packets(struct session *session, const struct oche_scenario *scenario)
{
    if (scenario->model == OCHE_MODEL_PACKETS)
        return true;
    oche_scenario_place(scenario,
                        "model: is not packets, which is all that oche run simulates; use oche "
                        "fluid or oche sweep, or set it to packets",
                        &session->error);
    return false;
}

static bool open_scenarios(struct session *session)
{
    for (size_t i = 0; i < session->count; i++)
        session->runs[i].lock = -1;
    for (size_t i = 0; i < session->count; i++) {
        char *assignment = assignment_of(session, i);
        struct run *run = &session->runs[i];

        run->label = session->variants.count > 0 ? session->variants.values[i] : "";
        run->name = oche_run_name(session->variants.key, run->label);
        run->scenario = open_scenario(session, assignment, false);
        bool fine = run->scenario != NULL && is_of_packets(session, run->scenario);

        if (!fine)
            name_options(session, assignment);
        free(assignment);
        if (!fine || !is_distinct(session, i))
            return false;
        oche_run_ranks_note(&session->ranks, run->scenario);
    }
    return true;
}

/*
 * Creates the run's world. On failure returns NULL and sets session->error, which names the place
 * in the scenario.
 */
static struct oche_world *make_world(struct session *session, size_t number)
{
    const struct oche_scenario *scenario = session->runs[number].scenario;
    struct oche_error message;

    oche_interrupt_hurriedly(true); /* a large schedule takes a minute */
    struct oche_world *world = oche_world_create(&scenario->config, &message);

    oche_interrupt_hurriedly(false);
    if (world == NULL &&
        strncmp(message.text, OCHE_EVENT_LOG_SAYS, strlen(OCHE_EVENT_LOG_SAYS)) == 0) {
        oche_fail(&session->error, "--trace %s: %s", session->options.trace,
                  message.text + strlen(OCHE_EVENT_LOG_SAYS));
    } else if (world == NULL) {
        char *assignment = assignment_of(session, number);

        oche_scenario_place(scenario, message.text, &session->error);
        name_options(session, assignment);
        free(assignment);
    }
    return world;
}

/* ---- where results go ---- */

static bool folder_is_taken(const struct session *session, size_t before, const char *folder)
{
    for (size_t i = 0; i < before; i++)
        if (strcmp(session->runs[i].folder, folder) == 0)
            return true;
    return false;
}

/* Sets the folder of each run to DIR, or DIR/VALUE; equal names get a number. */
static void name_given_folders(struct session *session, const char *base)
{
    for (size_t i = 0; i < session->count; i++) {
        struct run *run = &session->runs[i];
        char *value = oche_file_name_of(run->label);

        if (session->variants.count == 0)
            run->folder = strdup(base);
        else
            OCHE_GOT(asprintf(&run->folder, "%s/%s", base, value) >= 0);
        OCHE_GOT(run->folder != NULL);
        for (unsigned again = 2; folder_is_taken(session, i, run->folder); again++) {
            free(run->folder);
            OCHE_GOT(asprintf(&run->folder, "%s/%s-%u", base, value, again) >= 0);
        }
        free(value);
    }
}

/* True if the command repeats a run without changes. */
static bool repeats(const struct session *session)
{
    return session->source.is_recorded && session->options.set_count == 0 &&
           session->variants.count == 0;
}

/* Sets the folder of each run to out/NAME, or a folder in it that is named by the overrides. */
static void name_own_folders(struct session *session)
{
    char *name = oche_file_name_of(session->runs[0].scenario->name), *base = NULL;
    const struct oche_recorded *recorded = &session->source.recorded;
    size_t count;
    const char **sets = overrides_of(session, NULL, &count);
    const char **all = calloc(recorded->override_count + count + 1, sizeof(*all));

    OCHE_GOT(all != NULL && asprintf(&base, "out/%s", name) >= 0);
    for (size_t i = 0; i < recorded->override_count; i++)
        all[i] = recorded->overrides[i];
    for (size_t i = 0; i < count; i++)
        all[recorded->override_count + i] = sets[i];
    char *folder = oche_overrides_folder(base, all, recorded->override_count + count);

    for (size_t i = 0; i < session->count; i++) {
        char *assignment = assignment_of(session, i);

        session->runs[i].folder = oche_overrides_folder(folder, (const char *const *)&assignment,
                                                        assignment != NULL ? 1 : 0);
        free(assignment);
    }
    free(folder);
    free(base);
    free(name);
    free(all);
    free(sets);
}

static void name_folders(struct session *session)
{
    if (session->options.out != NULL)
        name_given_folders(session, session->options.out);
    else if (repeats(session))
        session->runs[0].folder = oche_repeat_folder(session->source.path);
    else
        name_own_folders(session);
}

static struct oche_results *begin_results(struct session *session, struct run *run)
{
    struct oche_results *results;
    struct oche_error reason;
    char *path = NULL;

    if (!oche_results_folder(run->folder, &session->error))
        return NULL;
    if (run->lock < 0 && !oche_folder_lock(run->folder, &run->lock, &reason)) {
        oche_fail(&session->error, "%s: %s", run->folder, reason.text);
        return NULL;
    }
    OCHE_GOT(asprintf(&path, "%s/run.sqlite", run->folder) >= 0);
    OCHE_GOT(asprintf(&session->part, "%s" OCHE_RESULTS_PART, path) >= 0);
    oche_remove_if_interrupted(OCHE_UNFINISHED_RESULTS, session->part);
    results = oche_results_create(path, &session->error);
    free(path);
    return results;
}

/* The file that begin_results began is finished or removed. */
static void end_results(struct session *session)
{
    oche_remove_if_interrupted(OCHE_UNFINISHED_RESULTS, NULL);
    free(session->part);
    session->part = NULL;
}

/* Checks the folders of all runs before the runs: an error after an hour would be too late. */
static bool results_can_be_written(struct session *session)
{
    for (size_t i = 0; i < session->count; i++) {
        struct oche_results *results = begin_results(session, &session->runs[i]);

        oche_results_abandon(results);
        end_results(session);
        if (results == NULL)
            return false;
    }
    return true;
}

static void store_source(struct session *session, size_t number, struct oche_results *results)
{
    char *assignment = assignment_of(session, number);
    size_t count;
    const char **sets = overrides_of(session, assignment, &count);

    oche_run_source_store(&session->source, sets, count, session->runs[number].scenario, results);
    free(sets);
    free(assignment);
}

static bool write_run(struct session *session, size_t number, struct oche_world *world)
{
    struct run *run = &session->runs[number];
    struct oche_results *results = begin_results(session, run);

    if (results == NULL)
        return false;
    oche_store_run(results, run->scenario, world, &session->outcomes[number], session->command);
    store_source(session, number, results);
    if (session->variants.count > 0) {
        char variant[32];

        snprintf(variant, sizeof(variant), "%zu", number);
        oche_results_info(results, "variant", variant);
        oche_results_info(results, "compared", session->variants.key);
    }
    if (session->options.csv && !oche_results_csv(results, run->folder, &session->error)) {
        oche_results_abandon(results);
        return false;
    }
    return oche_results_finish(results, &session->error);
}

static bool write_results(struct session *session, size_t number, struct oche_world *world)
{
    bool ok = write_run(session, number, world);

    end_results(session);
    return ok;
}

/* ---- running ---- */

static void tell_length(const struct session *session, const struct run *run,
                        const struct oche_world *world)
{
    char text[OCHE_LONG_RUN_BYTES];

    if (!session->options.quiet && session->ranks.mail == NULL && oche_long_run_remark(world, text))
        fprintf(stderr, "%s%s%s\n", run->name.text, run->name.text[0] != '\0' ? ": " : "", text);
}

/* The files beside the results, for a single run only. */
struct besides {
    struct oche_taps taps;         /* --pcap */
    struct oche_event_trace trace; /* --trace */
};

/*
 * Ends the run when the metric of --until-stable, or that of the repeated run, is stable. Sets
 * *steady to NULL if there is none. Returns false, with an error, if the metric cannot be used.
 */
static bool watch_metric(struct session *session, struct oche_world *world,
                         struct oche_steady **steady)
{
    const struct oche_run_options *options = &session->options;
    const struct oche_recorded *recorded = &session->source.recorded;
    const char *metric = options->until_stable;
    double within = options->within > 0 ? options->within : OCHE_STEADY_WITHIN;
    struct oche_error why;

    *steady = NULL;
    if (metric == NULL && recorded->until_stable != NULL) {
        metric = recorded->until_stable;
        within = recorded->within != NULL ? strtod(recorded->within, NULL) : within;
    }
    if (metric == NULL)
        return true;
    if (session->ranks.mail != NULL)
        return oche_fail(&session->error, "--until-stable: one process judges it; no mpirun");
    *steady = oche_steady_create(world, metric, within, &why);
    if (*steady == NULL)
        oche_fail(&session->error, "--until-stable %s", why.text);
    return *steady != NULL;
}

static void take_outcome(struct session *session, const struct run *run, struct oche_world *world,
                         struct oche_steady *steady, double wall_s)
{
    struct oche_outcome *outcome = &session->outcomes[session->finished++];

    oche_outcome_take(outcome, world, run->label, wall_s);
    oche_idle_keys_find(run->scenario, &outcome->idle);
    if (steady != NULL)
        oche_steady_take(steady, &outcome->steady);
    session->stopped |=
        outcome->pathologies.deadlock != NULL || outcome->pathologies.waiting != NULL;
    session->unstable |= steady != NULL && outcome->steady.state != OCHE_STEADY_STABLE;
    session->missed |= session->options.must_happen && outcome->events.counts.never > 0;
}

static bool run_one(struct session *session, size_t number, const struct besides *besides)
{
    const struct run *run = &session->runs[number];
    const bool speaks = oche_run_ranks_is_first(&session->ranks), writes = speaks && number == 0;
    struct oche_world *world = make_world(session, number);
    struct oche_progress_line line;
    struct oche_steady *steady = NULL;
    bool ok = world != NULL && watch_metric(session, world, &steady);

    ok = oche_run_ranks_agree_on(&session->ranks, ok, world, &session->error) &&
         oche_run_ranks_agree(&session->ranks, !writes || results_can_be_written(session),
                              &session->error);
    if (!ok) {
        oche_steady_free(steady);
        oche_world_free(world);
        return false;
    }
    tell_length(session, run, world);
    if (session->options.verbose || !session->options.quiet)
        oche_threads_print(world, session->options.verbose, stderr);
    if (besides->taps.capture != NULL)
        oche_capture_attach(besides->taps.capture, oche_world_network(world));
    oche_progress_begin(&line, run->name.text,
                        run->scenario->config.run.stop_when_done || steady != NULL,
                        session->options.quiet);
    line.steady = steady;
    oche_world_interrupt_by(world, session->interrupted);
    oche_world_run(world, line.shown ? oche_progress_draw : NULL, &line);
    const double wall_s = oche_progress_end(&line);

    if (!speaks) {
        session->outcomes[session->finished++].end = oche_world_ended(world);
        oche_world_free(world);
        return oche_run_ranks_agree(&session->ranks, true, &session->error);
    }
    take_outcome(session, run, world, steady, wall_s);
    if (session->options.verbose || !session->options.quiet)
        oche_threads_print_together(world, wall_s, session->options.verbose, stderr);
    if (session->options.report_parts > 0)
        oche_partition_report_print(world, wall_s, stderr);
    ok = (besides->trace.log == NULL ||
          oche_event_trace_is_fine(&besides->trace, &session->error)) &&
         write_results(session, number, world);
    oche_steady_free(steady);
    oche_world_free(world);
    return oche_run_ranks_agree(&session->ranks, ok, &session->error);
}

/*
 * Builds the worlds of all runs except the first, to find errors. The first is built when it runs.
 */
static bool other_worlds_can_be_made(struct session *session)
{
    for (size_t i = 1; i < session->count; i++) {
        struct oche_world *world = make_world(session, i);
        struct oche_steady *steady;

        if (world == NULL)
            return false;
        const bool fine = watch_metric(session, world, &steady);

        oche_steady_free(steady);
        oche_world_free(world);
        if (!fine)
            return false;
    }
    return true;
}

/* True if a signal has ended the last run that was made. */
static bool is_interrupted(const struct session *session)
{
    return session->finished > 0 &&
           session->outcomes[session->finished - 1].end == OCHE_END_INTERRUPTED;
}

/* Begins the files that the options ask for; the first run fills them. */
static bool open_besides(struct session *session, struct besides *besides)
{
    struct oche_scenario *scenario = session->runs[0].scenario;
    struct oche_error message;

    if (session->options.pcap != NULL &&
        !oche_taps_open(&besides->taps, session->options.pcap, &scenario->config, &message)) {
        oche_scenario_place(scenario, message.text, &session->error);
        return false;
    }
    if (session->options.trace != NULL &&
        !oche_event_trace_open(&besides->trace, session->options.trace, &session->error))
        return false;
    scenario->config.events = besides->trace.log;
    return true;
}

static bool finish_besides(struct session *session, struct besides *besides)
{
    return (besides->trace.log == NULL ||
            oche_event_trace_finish(&besides->trace, &session->traced, &session->error)) &&
           (besides->taps.capture == NULL || oche_taps_finish(&besides->taps, &session->error));
}

/* `ready`: all input of the runs has been read. */
static bool run_all(struct session *session, bool ready)
{
    struct besides besides = {.trace = {.log = NULL}};

    session->interrupted = oche_interrupt_gently(true);
    bool ok = ready && other_worlds_can_be_made(session) && open_besides(session, &besides);

    ok = oche_run_ranks_agree(&session->ranks, ok, &session->error);
    for (size_t i = 0; ok && i < session->count && !is_interrupted(session); i++)
        ok = run_one(session, i, &besides);
    ok = ok && finish_besides(session, &besides);
    oche_taps_abandon(&besides.taps);
    oche_event_trace_abandon(&besides.trace);
    oche_interrupt_gently(false);
    return ok;
}

/* ---- showing ---- */

static void print_results(const struct session *session)
{
    const struct oche_scenario *scenario = session->runs[0].scenario;
    const char *about = scenario->description;

    printf("%s%s%s\n", scenario->name, about != NULL ? ": " : "", about != NULL ? about : "");
    if (session->variants.count == 0) {
        oche_summary_print(&session->outcomes[0], session->options.all, stdout);
    } else {
        oche_comparison_print(session->variants.key, session->outcomes, session->finished,
                              session->options.all, session->options.by_size, stdout);
        if (!is_interrupted(session))
            oche_remarks_print(session->variants.key, session->outcomes, session->count, stdout);
    }
    printf("\nresults:");
    for (size_t i = 0; i < session->finished; i++)
        printf(" %s/run.sqlite", session->runs[i].folder);
    putchar('\n');
    if (session->options.trace != NULL)
        printf("trace: %s, %s events\n", session->options.trace,
               oche_figure_count(session->traced).text);
}

static bool print_json(struct session *session)
{
    char **paths = calloc(session->finished, sizeof(*paths));
    char *same = oche_same_runs_member(session->outcomes, session->finished);

    OCHE_GOT(paths != NULL);
    for (size_t i = 0; i < session->finished; i++)
        OCHE_GOT(asprintf(&paths[i], "%s/run.sqlite", session->runs[i].folder) >= 0);
    bool ok = oche_print_json("runs", paths, session->finished, same, &session->error);

    for (size_t i = 0; i < session->finished; i++)
        free(paths[i]);
    free(paths);
    free(same);
    return ok;
}

/*
 * Prints if the repeated run is the same: after the tables or, if there are none, on standard
 * error.
 */
static void compare_with_recorded(struct session *session)
{
    const bool tables = !session->options.json && !session->options.quiet;
    bool same;
    char *line = oche_run_source_compare(&session->source, &session->outcomes[0], &same);

    session->differs = !same;
    if (tables || !same || !session->options.quiet)
        fprintf(tables ? stdout : stderr, "%s\n", line);
    free(line);
}

static bool show_defaults(struct session *session)
{
    if (session->options.scenario == NULL) {
        oche_show_schema(stdout);
        return true;
    }
    struct oche_scenario *scenario = open_scenario(session, NULL, true);
    bool refused = scenario == NULL || scenario->refused;
    struct oche_world *world = NULL;
    struct oche_error message;

    if (!refused) {
        world = oche_world_create(&scenario->config, &message);
        refused = world == NULL;
        if (refused)
            oche_scenario_place(scenario, message.text, &session->error);
    }
    if (refused)
        name_options(session, NULL);
    if (scenario != NULL)
        oche_show_effective(scenario, world, stdout);
    oche_world_free(world);
    oche_scenario_close(scenario);
    return !refused;
}

/* ---- the command ---- */

static bool read_source(struct session *session)
{
    size_t count;
    const char **sets = overrides_of(session, session->options.compare, &count);
    bool fine = oche_run_source_read(&session->source, session->options.scenario, sets, count,
                                     &session->error);

    free(sets);
    return fine;
}

/* Reads all input of the runs and sets the folders of results. */
static bool prepare(struct session *session)
{
    const struct oche_run_options *options = &session->options;

    if (options->compare != NULL &&
        !oche_variants_read(&session->variants, options->compare, &session->error))
        return false;
    if (options->scenario != NULL && !read_source(session))
        return false;
    if (options->show_defaults)
        return true;
    session->count = session->variants.count > 0 ? session->variants.count : 1;
    session->runs = calloc(session->count, sizeof(*session->runs));
    session->outcomes = calloc(session->count, sizeof(*session->outcomes));
    OCHE_GOT(session->runs != NULL && session->outcomes != NULL);
    if (!open_scenarios(session))
        return false;
    for (size_t i = 0; options->must_happen && i < session->count; i++)
        if (session->runs[i].scenario->config.scripted.file == NULL)
            return oche_fail(&session->error, "--events-must-happen: the scenario has no "
                                              "events.file; write one, or leave this out");
    name_folders(session);
    return true;
}

static bool work(struct session *session)
{
    const struct oche_run_options *options = &session->options;

    if (options->list)
        return !oche_run_ranks_is_first(&session->ranks) ||
               oche_installed_print(stdout, &session->error);
    bool ok = prepare(session);

    if (options->show_defaults)
        return ok && (!oche_run_ranks_is_first(&session->ranks) || show_defaults(session));
    ok = run_all(session, ok);
    if (!ok || !oche_run_ranks_is_first(&session->ranks))
        return ok;
    if (options->json)
        ok = print_json(session);
    else if (!options->quiet)
        print_results(session);
    if (ok && repeats(session))
        compare_with_recorded(session);
    return ok;
}

static void tell_interrupted(const struct session *session)
{
    const struct oche_outcome *last = &session->outcomes[session->finished - 1];
    const char *name = session->runs[session->finished - 1].name.text;
    size_t missing = session->count - session->finished;

    fprintf(stderr, "%s%sinterrupted at %s; the results are of what was run until then", name,
            name[0] != '\0' ? ": " : "", oche_figure_time(last->simulated).text);
    if (missing > 0)
        fprintf(stderr, ", and %zu of %zu runs are missing", missing, session->count);
    fputc('\n', stderr);
}

/* Prints how the runs ended. Returns the status of the command. */
static enum status tell_ends(const struct session *session)
{
    for (size_t i = 0; i < session->finished; i++)
        oche_run_complain(session->runs[i].name.text, &session->outcomes[i],
                          session->options.must_happen);
    if (is_interrupted(session))
        tell_interrupted(session);
    return is_interrupted(session) ? INTERRUPTED
           : session->stopped      ? STOPPED
           : session->differs      ? DIFFERS
           : session->unstable     ? UNSTABLE
           : session->missed       ? MISSED
                                   : DONE;
}

static void clean_up(struct session *session)
{
    for (size_t i = 0; session->runs != NULL && i < session->count; i++) {
        oche_scenario_close(session->runs[i].scenario);
        oche_outcome_free(&session->outcomes[i]);
        oche_folder_unlock(session->runs[i].lock);
        free(session->runs[i].folder);
    }
    free(session->runs);
    free(session->outcomes);
    free(session->command);
    oche_variants_free(&session->variants);
    oche_run_source_free(&session->source);
    oche_run_options_free(&session->options);
}

int oche_cmd_run(int argc, char **argv)
{
    struct session session = {.count = 0, .ranks = oche_run_ranks_find()};

    session.command = oche_command_line(argc, argv); /* before argp reorders the arguments */
    if (!oche_run_options_read(&session.options, argc, argv)) {
        free(session.command);
        return REFUSED;
    }
    bool ok =
        oche_run_ranks_join(&session.ranks, &session.options, &session.error) && work(&session);

    if (!ok && (oche_run_ranks_is_first(&session.ranks) || session.ranks.mail == NULL))
        oche_print_mistakes(&session.mistakes, &session.error);
    enum status status = !ok                                       ? REFUSED
                         : oche_run_ranks_is_first(&session.ranks) ? tell_ends(&session)
                                                                   : DONE;

    clean_up(&session);
    return oche_run_ranks_leave(&session.ranks, (int)status);
}
