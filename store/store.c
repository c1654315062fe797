/* SPDX-License-Identifier: Apache-2.0 */
/* Writes one run's results to SQLite. */
#include "store/store.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sqlite3.h>

#include "params/error.h"
#include "store/csv.h"
#include "store/database.h"
#include "store/old_counters.sql.h"
#include "store/row.h"
#include "store/run.sql.h"

#define TEXT_OF(x)  #x
#define VALUE_OF(x) TEXT_OF(x)

enum statement {
    ADD_METRIC_NAME,
    ADD_METRIC,
    ADD_INFO,
    ADD_PARAMETER,
    ADD_OVERRIDE,
    ADD_FILE,
    ADD_FLOW,
    ADD_COUNTER,
    ADD_SERIES,
    ADD_POINT,
    ADD_HISTOGRAM,
    ADD_BUCKET,
    ADD_NODE,
    ADD_LINK,
    ADD_PAUSE,
    ADD_DEADLOCK,
    ADD_WAY,
    ADD_DEFLECTION,
    ADD_CONGESTION,
    ADD_PATH,
    ADD_JOB,
    ADD_RANK,
    ADD_REPETITION,
    ADD_PHASE,
    ADD_SPAN,
    STATEMENTS
};

static const char *const statements[STATEMENTS] = {
    [ADD_METRIC_NAME] = "INSERT INTO metric_names VALUES (?, ?, ?)",
    [ADD_METRIC] = "INSERT INTO metrics VALUES (?, ?)",
    [ADD_INFO] = "INSERT INTO info VALUES (?, ?)",
    [ADD_PARAMETER] = "INSERT INTO parameters VALUES (?, ?, ?, ?)",
    [ADD_OVERRIDE] = "INSERT INTO overrides VALUES (NULL, ?)",
    [ADD_FILE] = "INSERT INTO files VALUES (?, ?, ?)",
    [ADD_FLOW] =
        "INSERT INTO flows VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [ADD_COUNTER] = "INSERT INTO entity_counters VALUES (?, ?, ?)",
    [ADD_SERIES] = "INSERT INTO series_names VALUES (?, ?, ?, ?)",
    [ADD_POINT] = "INSERT INTO series VALUES (?, ?, ?)",
    [ADD_HISTOGRAM] = "INSERT INTO histogram_names VALUES (?, ?, ?, ?, ?)",
    [ADD_BUCKET] = "INSERT INTO histograms VALUES (?, ?, ?, ?)",
    [ADD_NODE] = "INSERT INTO nodes VALUES (?, ?, ?, ?)",
    [ADD_LINK] = "INSERT INTO links VALUES (?, ?, ?, ?, ?, ?, ?)",
    [ADD_PAUSE] = "INSERT INTO pause_tree VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [ADD_DEADLOCK] = "INSERT INTO deadlock VALUES (?, ?, ?)",
    [ADD_WAY] = "INSERT INTO ways VALUES (?, ?, ?, ?, ?)",
    [ADD_DEFLECTION] = "INSERT INTO deflections VALUES (NULL, ?, ?, ?, ?, ?, ?, ?)",
    [ADD_PATH] = "INSERT INTO paths VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [ADD_JOB] = "INSERT INTO jobs VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    [ADD_RANK] = "INSERT INTO job_ranks VALUES (?, ?, ?, ?, ?)",
    [ADD_REPETITION] = "INSERT INTO job_repetitions VALUES (?, ?, ?, ?, ?)",
    [ADD_PHASE] = "INSERT INTO job_phases VALUES (?, ?, ?, ?, ?, ?, ?)",
    [ADD_SPAN] = "INSERT INTO job_spans VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    [ADD_CONGESTION] = "INSERT INTO congestion VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
};

struct oche_results {
    sqlite3 *database;
    sqlite3_stmt *add[STATEMENTS];
    char *path, *part; /* path: final name of the file; part: its name while it is being written */
    uint32_t series, histograms, links;
    bool begun; /* `part` is there, and ours */
    bool failed;
    struct oche_error error; /* the first failure, if `failed` */
};

static void fail(struct oche_results *results)
{
    if (results->failed)
        return;
    results->failed = true;
    oche_fail(&results->error, "%s: cannot be written: %s", results->path,
              sqlite3_errmsg(results->database));
}

static void run(struct oche_results *results, const char *sql)
{
    if (!results->failed && sqlite3_exec(results->database, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail(results);
}

/* Makes one folder of `path`, unless it exists. */
static bool make_folder(const char *folder, const char *path, struct oche_error *error)
{
    struct stat status;

    if (mkdir(folder, 0777) == 0)
        return true;
    const int why = errno;

    if (stat(folder, &status) != 0)
        return oche_fail(error, "%s: cannot be made: %s; give a folder that can be written", path,
                         strerror(why));
    return S_ISDIR(status.st_mode) ||
           oche_fail(error, "\"%s\" is %s; give a folder for the results, or the name of a new one",
                     folder, S_ISREG(status.st_mode) ? "a file" : "no folder");
}

bool oche_results_folder(const char *path, struct oche_error *error)
{
    char *folder = strdup(path);
    bool ok = path[0] != '\0' || oche_fail(error, "\"\" names no folder; give one");

    OCHE_GOT(folder != NULL);
    for (char *c = folder + 1; ok; c++) {
        const char kept = *c;

        if (kept != '/' && kept != '\0')
            continue;
        *c = '\0';
        ok = make_folder(folder, path, error);
        *c = kept;
        if (kept == '\0')
            break;
    }
    free(folder);
    return ok;
}

static void close_database(struct oche_results *results)
{
    for (int i = 0; i < STATEMENTS; i++)
        sqlite3_finalize(results->add[i]);
    sqlite3_close(results->database);
    results->database = NULL;
}

void oche_results_abandon(struct oche_results *results)
{
    if (results == NULL)
        return;
    close_database(results);
    if (results->begun)
        unlink(results->part);
    free(results->path);
    free(results->part);
    free(results);
}

/* Returns the query's number; -1 if the file is no database. */
static int64_t ask(sqlite3 *database, const char *query)
{
    sqlite3_stmt *statement = NULL;
    int64_t number = -1;

    if (sqlite3_prepare_v2(database, query, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return number;
}

/*
 * True if a run's results may replace `path`: it has results of a run, of any schema, or is empty.
 */
static bool replaceable(const char *path)
{
    struct oche_error reason;
    struct stat status;
    sqlite3 *database;

    if (stat(path, &status) != 0)
        return true;
    if (!S_ISREG(status.st_mode))
        return false;
    database = oche_database_read(path, &reason);
    bool ours = database != NULL &&
                (ask(database, "SELECT count(*) FROM sqlite_schema") == 0 ||
                 (ask(database, "PRAGMA application_id") == 0 &&
                  ask(database, "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name "
                                "IN ('info', 'flows')") == 2));

    OCHE_GOT(ours || database == NULL || sqlite3_errcode(database) != SQLITE_NOMEM);
    sqlite3_close(database);
    return ours;
}

struct oche_results *oche_results_create(const char *path, struct oche_error *error)
{
    struct oche_results *results;
    struct oche_error reason;

    if (!replaceable(path)) {
        oche_fail(error, "%s: not a results file; remove it, or give another --out", path);
        return NULL;
    }
    results = calloc(1, sizeof(*results));
    OCHE_GOT(results != NULL);
    results->path = strdup(path);
    OCHE_GOT(results->path != NULL && asprintf(&results->part, "%s" OCHE_RESULTS_PART, path) >= 0);
    results->database = oche_database_new(results->part, &reason);
    if (results->database == NULL) {
        oche_fail(error, "%s: cannot be written: %s", path, reason.text);
        oche_results_abandon(results);
        return NULL;
    }
    results->begun = true;
    /*
     * No other process reads the file before it has its final name, so it needs no journal and need
     * not wait for the disk.
     */
    run(results, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN");
    run(results, "PRAGMA user_version = " VALUE_OF(OCHE_RESULTS_SCHEMA));
    run(results, run_schema);
    run(results, run_old_counters);
    for (int i = 0; i < STATEMENTS && !results->failed; i++)
        if (sqlite3_prepare_v3(results->database, statements[i], -1, SQLITE_PREPARE_PERSISTENT,
                               &results->add[i], NULL) != SQLITE_OK)
            fail(results);
    if (results->failed) {
        *error = results->error;
        oche_results_abandon(results);
        return NULL;
    }
    return results;
}

/* ---- rows ---- */

static void add(struct oche_results *results, enum statement which, const struct oche_cell *cells,
                size_t count)
{
    if (!results->failed && !oche_row_add(results->add[which], cells, count))
        fail(results);
}

/* Adds a row: ADD(results, STATEMENT, TEXT(…), NUMBER(…), …). */
#define ADD(results, which, ...) add(results, which, OCHE_CELLS(__VA_ARGS__))

void oche_results_info(struct oche_results *results, const char *key, const char *value)
{
    ADD(results, ADD_INFO, TEXT(key), TEXT(value));
}

void oche_results_parameter(struct oche_results *results, const char *key, const char *value,
                            const char *unit, bool given)
{
    ADD(results, ADD_PARAMETER, TEXT(key), TEXT(value), TEXT(unit), NUMBER(given));
}

void oche_results_override(struct oche_results *results, const char *assignment)
{
    ADD(results, ADD_OVERRIDE, TEXT(assignment));
}

void oche_results_file(struct oche_results *results, const char *key, const char *path,
                       uint64_t digest)
{
    char text[32];

    snprintf(text, sizeof(text), "%016" PRIx64, digest);
    ADD(results, ADD_FILE, TEXT(key), TEXT(path), TEXT(text));
}

void oche_results_metric(struct oche_results *results, const char *name, const char *unit,
                         const char *help, double value)
{
    ADD(results, ADD_METRIC_NAME, TEXT(name), TEXT(unit), TEXT(help));
    ADD(results, ADD_METRIC, TEXT(name), REAL(value));
}

/* Returns NAN if the flow has none. */
static double slowdown_of(const struct oche_results_flow *flow)
{
    if (flow->ideal == 0 || flow->delivered == OCHE_NEVER || flow->started == OCHE_NEVER)
        return NAN;
    return (double)(flow->delivered - flow->started) / (double)flow->ideal;
}

void oche_results_flow(struct oche_results *results, const struct oche_results_flow *flow)
{
    ADD(results, ADD_FLOW, NUMBER(flow->id), NUMBER(flow->workload), NUMBER(flow->src),
        NUMBER(flow->dst), NUMBER(flow->bytes), NUMBER(flow->started), NUMBER(flow->delivered),
        NUMBER(flow->completed), NUMBER(flow->ideal == 0 ? OCHE_NEVER : flow->ideal),
        REAL(slowdown_of(flow)), NUMBER(flow->retransmitted_packets), NUMBER(flow->timeouts),
        TEXT(flow->status), NUMBER(flow->measured), NUMBER(flow->held), NUMBER(flow->lost),
        TEXT_OR_NULL(flow->root), NUMBER(flow->victim), TEXT(flow->verb));
}

void oche_results_pause(struct oche_results *results, const struct oche_results_pause *pause)
{
    ADD(results, ADD_PAUSE, NUMBER(pause->id),
        NUMBER(pause->parent == UINT32_MAX ? OCHE_NEVER : pause->parent), TEXT_OR_NULL(pause->port),
        NUMBER(pause->cls), NUMBER(pause->depth), NUMBER(pause->pauses), NUMBER(pause->held),
        NUMBER(pause->first), NUMBER(pause->last), NUMBER(pause->ports), NUMBER(pause->senders),
        NUMBER(pause->returns));
}

void oche_results_deadlock(struct oche_results *results, uint32_t position, const char *port,
                           uint32_t cls)
{
    ADD(results, ADD_DEADLOCK, NUMBER(position), TEXT(port), NUMBER(cls));
}

void oche_results_way(struct oche_results *results, const struct oche_results_way *way)
{
    ADD(results, ADD_WAY, NUMBER(way->flow), NUMBER(way->packets), NUMBER(way->links),
        NUMBER(way->shortest), NUMBER(way->deflections));
}

void oche_results_path(struct oche_results *results, const struct oche_results_path *path)
{
    ADD(results, ADD_PATH, NUMBER(path->flow), TEXT(path->ordinary ? "ordinary" : "taken"),
        NUMBER(path->hop), NUMBER(path->node), TEXT(path->port), NUMBER(path->deflected),
        NUMBER(path->ordinary ? OCHE_NEVER : path->lane),
        NUMBER(path->ordinary ? OCHE_NEVER : path->tokens), NUMBER(path->time));
}

void oche_results_congestion(struct oche_results *results,
                             const struct oche_results_congestion *congestion)
{
    ADD(results, ADD_CONGESTION, TEXT(congestion->place), NUMBER(congestion->ports),
        NUMBER(congestion->packets), NUMBER(congestion->marks), NUMBER(congestion->queueing),
        REAL(congestion->worst_port != NULL ? congestion->worst : NAN),
        TEXT_OR_NULL(congestion->worst_port), NUMBER(congestion->queue_most),
        NUMBER(congestion->paused));
}

void oche_results_deflection(struct oche_results *results,
                             const struct oche_results_deflection *deflection)
{
    ADD(results, ADD_DEFLECTION, NUMBER(deflection->time),
        NUMBER(deflection->flow == UINT32_MAX ? OCHE_NEVER : deflection->flow),
        NUMBER(deflection->node), TEXT(deflection->in_port), TEXT(deflection->port),
        NUMBER(deflection->lane), NUMBER(deflection->tokens));
}

void oche_results_job(struct oche_results *results, const struct oche_results_job *job)
{
    ADD(results, ADD_JOB, NUMBER(job->job), TEXT(job->title), NUMBER(job->ranks),
        NUMBER(job->bytes), NUMBER(job->start), NUMBER(job->end), NUMBER(job->last_rank),
        NUMBER(job->late));
}

void oche_results_rank(struct oche_results *results, uint32_t job, uint32_t rank, uint32_t host,
                       oche_time end, oche_time busy)
{
    ADD(results, ADD_RANK, NUMBER(job), NUMBER(rank), NUMBER(host), NUMBER(end), NUMBER(busy));
}

void oche_results_repetition(struct oche_results *results,
                             const struct oche_results_repetition *repetition)
{
    if (repetition->name == NULL)
        ADD(results, ADD_REPETITION, NUMBER(repetition->job), NUMBER(repetition->repetition),
            NUMBER(repetition->begin), NUMBER(repetition->end), NUMBER(repetition->last_rank));
    else
        ADD(results, ADD_PHASE, NUMBER(repetition->job), NUMBER(repetition->repetition),
            NUMBER(repetition->phase), TEXT(repetition->name), NUMBER(repetition->begin),
            NUMBER(repetition->end), NUMBER(repetition->last_rank));
}

void oche_results_span(struct oche_results *results, const struct oche_results_span *span)
{
    ADD(results, ADD_SPAN, NUMBER(span->job), NUMBER(span->rank), NUMBER(span->begin),
        NUMBER(span->end), NUMBER(span->times[0]), NUMBER(span->times[1]), NUMBER(span->times[2]),
        NUMBER(span->times[3]));
}

/* Returns the value, unless it would become NULL: then the next smaller one. */
static uint64_t at_most(uint64_t value)
{
    return value < INT64_MAX ? value : INT64_MAX;
}

void oche_results_counter(struct oche_results *results, const char *entity, const char *name,
                          uint64_t value)
{
    ADD(results, ADD_COUNTER, TEXT(entity), TEXT(name), NUMBER(at_most(value)));
}

uint32_t oche_results_series(struct oche_results *results, const char *name, const char *entity,
                             const char *unit)
{
    uint32_t number = ++results->series;

    ADD(results, ADD_SERIES, NUMBER(number), TEXT(name), TEXT(entity), TEXT(unit));
    return number;
}

void oche_results_point(struct oche_results *results, uint32_t series, oche_time time, double value)
{
    ADD(results, ADD_POINT, NUMBER(series), NUMBER(time), REAL(value));
}

uint32_t oche_results_histogram(struct oche_results *results, const char *name, const char *entity,
                                const char *unit, const char *weight)
{
    uint32_t number = ++results->histograms;

    ADD(results, ADD_HISTOGRAM, NUMBER(number), TEXT(name), TEXT(entity), TEXT(unit), TEXT(weight));
    return number;
}

void oche_results_bucket(struct oche_results *results, uint32_t histogram, uint64_t low,
                         uint64_t high, uint64_t weight)
{
    ADD(results, ADD_BUCKET, NUMBER(histogram), NUMBER(low), NUMBER(high), NUMBER(at_most(weight)));
}

void oche_results_node(struct oche_results *results, uint32_t id, const char *name,
                       const char *kind, uint32_t pod)
{
    ADD(results, ADD_NODE, NUMBER(id), TEXT(name), TEXT(kind),
        NUMBER(pod == UINT32_MAX ? OCHE_NEVER : pod));
}

void oche_results_link(struct oche_results *results, const struct oche_results_link *link)
{
    ADD(results, ADD_LINK, NUMBER(results->links++), NUMBER(link->a), NUMBER(link->b),
        TEXT(link->port_a), TEXT(link->port_b), NUMBER(link->rate_bps), NUMBER(link->delay));
}

/* ---- the end ---- */

static char *path_in(const char *folder, const char *name)
{
    char *path = NULL;

    OCHE_GOT(asprintf(&path, "%s/%s", folder, name) >= 0);
    return path;
}

bool oche_results_csv(struct oche_results *results, const char *folder, struct oche_error *error)
{
    static const struct {
        const char *name, *query;
    } files[] = {
        {"flows.csv", "SELECT * FROM flows ORDER BY id"},
        {"series.csv", "SELECT name, entity, unit, time_ps, value FROM series JOIN series_names"
                       " ON id = series ORDER BY series, time_ps"},
        {"counters.csv", "SELECT * FROM counters ORDER BY entity, name"},
        {"metrics.csv", "SELECT name, unit, value FROM metrics JOIN metric_names USING (name)"
                        " ORDER BY name"},
    };

    bool ok = true;
    size_t count = 0;

    for (; ok && count < OCHE_COUNT_OF(files); count++) {
        char *path = path_in(folder, files[count].name);

        ok = oche_csv_write(results->database, files[count].query, path, error);
        free(path);
    }
    while (!ok && --count > 0) { /* statements before the one that failed */
        char *path = path_in(folder, files[count - 1].name);

        unlink(path);
        free(path);
    }
    return ok;
}

bool oche_results_finish(struct oche_results *results, struct oche_error *error)
{
    run(results, "COMMIT");
    bool ok = !results->failed;

    if (!ok)
        *error = results->error;
    for (int i = 0; i < STATEMENTS; i++) {
        sqlite3_finalize(results->add[i]);
        results->add[i] = NULL;
    }
    if (sqlite3_close(results->database) != SQLITE_OK && ok) {
        oche_fail(error, "%s: cannot be closed", results->path);
        ok = false;
    }
    results->database = NULL;
    if (ok && rename(results->part, results->path) != 0) {
        oche_fail(error, "%s: cannot be written: %s", results->path, strerror(errno));
        ok = false;
    }
    oche_results_abandon(results);
    return ok;
}
