/* SPDX-License-Identifier: Apache-2.0 */
/* Writes one run's results to SQLite. */
#include "store/store.h"

#include <errno.h>
#include <inttypes.h>
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

/* Makes one folder of `path`, unless it is there. */
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

/* Returns the query's number; -1 if the file cannot be asked, as it is no database. */
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

/* True if a run's results may take the place of `path`: it is a run's, of any schema, or empty. */
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
     * Nobody else reads the file before it has its final name, so it needs no journal and need not
     * wait for the disk.
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

static void bind_text(sqlite3_stmt *statement, int column, const char *text)
{
    int status =
        sqlite3_bind_text(statement, column, text != NULL ? text : "", -1, SQLITE_TRANSIENT);

    OCHE_GOT(status != SQLITE_NOMEM);
}

/*
 * SQLite's integers are signed: OCHE_NEVER becomes NULL, and any other value that does not fit
 * becomes the largest integer.
 */
static void bind_u64(sqlite3_stmt *statement, int column, uint64_t value)
{
    if (value == OCHE_NEVER)
        sqlite3_bind_null(statement, column);
    else
        sqlite3_bind_int64(statement, column, value > INT64_MAX ? INT64_MAX : (int64_t)value);
}

static sqlite3_stmt *begin_row(struct oche_results *results, enum statement which)
{
    return results->failed ? NULL : results->add[which];
}

static void end_row(struct oche_results *results, sqlite3_stmt *statement)
{
    if (sqlite3_step(statement) != SQLITE_DONE)
        fail(results);
    sqlite3_reset(statement);
}

void oche_results_info(struct oche_results *results, const char *key, const char *value)
{
    sqlite3_stmt *row = begin_row(results, ADD_INFO);

    if (row == NULL)
        return;
    bind_text(row, 1, key);
    bind_text(row, 2, value);
    end_row(results, row);
}

void oche_results_parameter(struct oche_results *results, const char *key, const char *value,
                            const char *unit, bool given)
{
    sqlite3_stmt *row = begin_row(results, ADD_PARAMETER);

    if (row == NULL)
        return;
    bind_text(row, 1, key);
    bind_text(row, 2, value);
    bind_text(row, 3, unit);
    bind_u64(row, 4, given);
    end_row(results, row);
}

void oche_results_override(struct oche_results *results, const char *assignment)
{
    sqlite3_stmt *row = begin_row(results, ADD_OVERRIDE);

    if (row == NULL)
        return;
    bind_text(row, 1, assignment);
    end_row(results, row);
}

void oche_results_file(struct oche_results *results, const char *key, const char *path,
                       uint64_t digest)
{
    sqlite3_stmt *row = begin_row(results, ADD_FILE);
    char text[32];

    if (row == NULL)
        return;
    snprintf(text, sizeof(text), "%016" PRIx64, digest);
    bind_text(row, 1, key);
    bind_text(row, 2, path);
    bind_text(row, 3, text);
    end_row(results, row);
}

void oche_results_metric(struct oche_results *results, const char *name, const char *unit,
                         const char *help, double value)
{
    sqlite3_stmt *row = begin_row(results, ADD_METRIC_NAME);

    if (row == NULL)
        return;
    bind_text(row, 1, name);
    bind_text(row, 2, unit);
    bind_text(row, 3, help);
    end_row(results, row);
    row = begin_row(results, ADD_METRIC);
    if (row == NULL)
        return;
    bind_text(row, 1, name);
    sqlite3_bind_double(row, 2, value);
    end_row(results, row);
}

void oche_results_flow(struct oche_results *results, const struct oche_results_flow *flow)
{
    sqlite3_stmt *row = begin_row(results, ADD_FLOW);

    if (row == NULL)
        return;
    bind_u64(row, 1, flow->id);
    bind_u64(row, 2, flow->workload);
    bind_u64(row, 3, flow->src);
    bind_u64(row, 4, flow->dst);
    bind_u64(row, 5, flow->bytes);
    bind_u64(row, 6, flow->started);
    bind_u64(row, 7, flow->delivered);
    bind_u64(row, 8, flow->completed);
    if (flow->ideal == 0)
        sqlite3_bind_null(row, 9);
    else
        bind_u64(row, 9, flow->ideal);
    if (flow->ideal == 0 || flow->delivered == OCHE_NEVER || flow->started == OCHE_NEVER)
        sqlite3_bind_null(row, 10);
    else
        sqlite3_bind_double(row, 10,
                            (double)(flow->delivered - flow->started) / (double)flow->ideal);
    bind_u64(row, 11, flow->retransmitted_packets);
    bind_u64(row, 12, flow->timeouts);
    bind_text(row, 13, flow->status);
    bind_u64(row, 14, flow->measured);
    bind_u64(row, 15, flow->held);
    bind_u64(row, 16, flow->lost);
    if (flow->root == NULL)
        sqlite3_bind_null(row, 17);
    else
        bind_text(row, 17, flow->root);
    bind_u64(row, 18, flow->victim);
    bind_text(row, 19, flow->verb);
    end_row(results, row);
}

void oche_results_pause(struct oche_results *results, const struct oche_results_pause *pause)
{
    sqlite3_stmt *row = begin_row(results, ADD_PAUSE);

    if (row == NULL)
        return;
    bind_u64(row, 1, pause->id);
    bind_u64(row, 2, pause->parent == UINT32_MAX ? OCHE_NEVER : pause->parent);
    if (pause->port == NULL)
        sqlite3_bind_null(row, 3);
    else
        bind_text(row, 3, pause->port);
    bind_u64(row, 4, pause->cls);
    bind_u64(row, 5, pause->depth);
    bind_u64(row, 6, pause->pauses);
    bind_u64(row, 7, pause->held);
    bind_u64(row, 8, pause->first);
    bind_u64(row, 9, pause->last);
    bind_u64(row, 10, pause->ports);
    bind_u64(row, 11, pause->senders);
    bind_u64(row, 12, pause->returns);
    end_row(results, row);
}

void oche_results_deadlock(struct oche_results *results, uint32_t position, const char *port,
                           uint32_t cls)
{
    sqlite3_stmt *row = begin_row(results, ADD_DEADLOCK);

    if (row == NULL)
        return;
    bind_u64(row, 1, position);
    bind_text(row, 2, port);
    bind_u64(row, 3, cls);
    end_row(results, row);
}

void oche_results_way(struct oche_results *results, const struct oche_results_way *way)
{
    sqlite3_stmt *row = begin_row(results, ADD_WAY);

    if (row == NULL)
        return;
    bind_u64(row, 1, way->flow);
    bind_u64(row, 2, way->packets);
    bind_u64(row, 3, way->links);
    bind_u64(row, 4, way->shortest);
    bind_u64(row, 5, way->deflections);
    end_row(results, row);
}

void oche_results_path(struct oche_results *results, const struct oche_results_path *path)
{
    sqlite3_stmt *row = begin_row(results, ADD_PATH);

    if (row == NULL)
        return;
    bind_u64(row, 1, path->flow);
    bind_text(row, 2, path->ordinary ? "ordinary" : "taken");
    bind_u64(row, 3, path->hop);
    bind_u64(row, 4, path->node);
    bind_text(row, 5, path->port);
    bind_u64(row, 6, path->deflected);
    bind_u64(row, 7, path->ordinary ? OCHE_NEVER : path->lane);
    bind_u64(row, 8, path->ordinary ? OCHE_NEVER : path->tokens);
    bind_u64(row, 9, path->time);
    end_row(results, row);
}

void oche_results_congestion(struct oche_results *results,
                             const struct oche_results_congestion *congestion)
{
    sqlite3_stmt *row = begin_row(results, ADD_CONGESTION);

    if (row == NULL)
        return;
    bind_text(row, 1, congestion->place);
    bind_u64(row, 2, congestion->ports);
    bind_u64(row, 3, congestion->packets);
    bind_u64(row, 4, congestion->marks);
    bind_u64(row, 5, congestion->queueing);
    sqlite3_bind_null(row, 6);
    sqlite3_bind_null(row, 7);
    if (congestion->worst_port != NULL) {
        sqlite3_bind_double(row, 6, congestion->worst);
        bind_text(row, 7, congestion->worst_port);
    }
    bind_u64(row, 8, congestion->queue_most);
    bind_u64(row, 9, congestion->paused);
    end_row(results, row);
}

void oche_results_deflection(struct oche_results *results,
                             const struct oche_results_deflection *deflection)
{
    sqlite3_stmt *row = begin_row(results, ADD_DEFLECTION);

    if (row == NULL)
        return;
    bind_u64(row, 1, deflection->time);
    bind_u64(row, 2, deflection->flow == UINT32_MAX ? OCHE_NEVER : deflection->flow);
    bind_u64(row, 3, deflection->node);
    bind_text(row, 4, deflection->in_port);
    bind_text(row, 5, deflection->port);
    bind_u64(row, 6, deflection->lane);
    bind_u64(row, 7, deflection->tokens);
    end_row(results, row);
}

void oche_results_counter(struct oche_results *results, const char *entity, const char *name,
                          uint64_t value)
{
    sqlite3_stmt *row = begin_row(results, ADD_COUNTER);

    if (row == NULL)
        return;
    bind_text(row, 1, entity);
    bind_text(row, 2, name);
    sqlite3_bind_int64(row, 3, value > INT64_MAX ? INT64_MAX : (int64_t)value);
    end_row(results, row);
}

uint32_t oche_results_series(struct oche_results *results, const char *name, const char *entity,
                             const char *unit)
{
    sqlite3_stmt *row = begin_row(results, ADD_SERIES);
    uint32_t number = ++results->series;

    if (row == NULL)
        return number;
    bind_u64(row, 1, number);
    bind_text(row, 2, name);
    bind_text(row, 3, entity);
    bind_text(row, 4, unit);
    end_row(results, row);
    return number;
}

void oche_results_point(struct oche_results *results, uint32_t series, oche_time time, double value)
{
    sqlite3_stmt *row = begin_row(results, ADD_POINT);

    if (row == NULL)
        return;
    bind_u64(row, 1, series);
    bind_u64(row, 2, time);
    sqlite3_bind_double(row, 3, value);
    end_row(results, row);
}

uint32_t oche_results_histogram(struct oche_results *results, const char *name, const char *entity,
                                const char *unit, const char *weight)
{
    sqlite3_stmt *row = begin_row(results, ADD_HISTOGRAM);
    uint32_t number = ++results->histograms;

    if (row == NULL)
        return number;
    bind_u64(row, 1, number);
    bind_text(row, 2, name);
    bind_text(row, 3, entity);
    bind_text(row, 4, unit);
    bind_text(row, 5, weight);
    end_row(results, row);
    return number;
}

void oche_results_bucket(struct oche_results *results, uint32_t histogram, uint64_t low,
                         uint64_t high, uint64_t weight)
{
    sqlite3_stmt *row = begin_row(results, ADD_BUCKET);

    if (row == NULL)
        return;
    bind_u64(row, 1, histogram);
    bind_u64(row, 2, low);
    bind_u64(row, 3, high);
    sqlite3_bind_int64(row, 4, weight > INT64_MAX ? INT64_MAX : (int64_t)weight);
    end_row(results, row);
}

void oche_results_node(struct oche_results *results, uint32_t id, const char *name,
                       const char *kind, uint32_t pod)
{
    sqlite3_stmt *row = begin_row(results, ADD_NODE);

    if (row == NULL)
        return;
    bind_u64(row, 1, id);
    bind_text(row, 2, name);
    bind_text(row, 3, kind);
    bind_u64(row, 4, pod == UINT32_MAX ? OCHE_NEVER : pod);
    end_row(results, row);
}

void oche_results_link(struct oche_results *results, const struct oche_results_link *link)
{
    sqlite3_stmt *row = begin_row(results, ADD_LINK);

    if (row == NULL)
        return;
    bind_u64(row, 1, results->links++);
    bind_u64(row, 2, link->a);
    bind_u64(row, 3, link->b);
    bind_text(row, 4, link->port_a);
    bind_text(row, 5, link->port_b);
    bind_u64(row, 6, link->rate_bps);
    bind_u64(row, 7, link->delay);
    end_row(results, row);
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
    while (!ok && --count > 0) { /* those before the one that failed */
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
