/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes sweeps to SQLite. While the file is open it has a write-ahead log, so adding a point does
 * not wait for the disk, and other processes can read meanwhile. Committed data survives the death
 * of the process. A power failure may lose the last points, but the file stays consistent. Once
 * closed, the sweep is a single file without a log.
 */
#include "store/sweep_store.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "params/error.h"
#include "store/database.h"
#include "store/folder_lock.h"
#include "store/store.h"
#include "store/sweep.sql.h"
#include "store/sweep_csv.h"
#include "store/sweep_rows.h"
#include "store/sweep_schema.h"

#define BUSY_MS     60000 /* most milliseconds to wait while another process uses the file */
#define SHOWN_BYTES 300   /* most bytes of another grid that a message quotes */
#define WAY_OUT     "--restart begins anew here, --out puts new results elsewhere"

static const char *const statements[STATEMENTS] = {
    [ADD_INFO] = "INSERT OR REPLACE INTO info VALUES (?, ?)",
    [ADD_PARAMETER] = "INSERT OR REPLACE INTO parameters VALUES (?, ?, ?, ?)",
    [ADD_AXIS] = "INSERT INTO axes VALUES (?, ?)",
    [ADD_AXIS_VALUE] = "INSERT INTO axis_values VALUES (?, ?, ?)",
    [FORGET_VALUES] = "DELETE FROM point_values WHERE point = ?",
    [FORGET_METRICS] = "DELETE FROM metrics WHERE point = ?",
    [FORGET_DISTRIBUTIONS] = "DELETE FROM distributions WHERE point = ?",
    [ADD_POINT] = "INSERT OR REPLACE INTO points VALUES (?, ?, ?, ?, ?, ?, ?)",
    [ADD_POINT_VALUE] = "INSERT INTO point_values VALUES (?, ?, ?)",
    [ADD_METRIC_NAME] = "INSERT OR IGNORE INTO metric_names VALUES (?, ?, ?)",
    [ADD_METRIC] = "INSERT INTO metrics VALUES (?, ?, ?)",
    [ADD_PERCENTILE] = "INSERT INTO distributions VALUES (?, ?, ?, ?, ?, ?)",
    [LIST_DONE] = "SELECT id FROM points WHERE status = 'done'",
    [LIST_HASHES] = "SELECT id, trace_hash FROM points WHERE status = 'done'",
    [LIST_VALUES] = "SELECT point, value FROM metrics WHERE name = ?",
    [ADD_CLAIM] = ("INSERT INTO claims VALUES"
                   " (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
    [ADD_READING] = "INSERT INTO readings VALUES (?, ?, ?, ?, ?, ?)",
    [ADD_PLOT] = "INSERT INTO plots VALUES (NULL, ?, ?, ?, ?, ?)",
    [ADD_CURVE] = "INSERT INTO curves VALUES (NULL, ?, ?, ?, ?, ?, ?, ?)",
    [ADD_CURVE_POINT] = "INSERT INTO curve_points VALUES (?, ?, ?, ?, ?)",
    [ADD_DIFFERENCE] = "INSERT INTO differences VALUES (NULL, ?)",
};

static void fail(struct oche_sweep_store *store)
{
    if (store->failed)
        return;
    struct oche_error reason;

    store->failed = true;
    oche_database_explain(store->database, WAY_OUT, &reason);
    oche_fail(&store->error, "%s: cannot be written: %s", store->path, reason.text);
}

/* Rejects the file because of its contents. */
static bool refuse(struct oche_sweep_store *store, const char *why)
{
    if (!store->failed)
        oche_fail(&store->error, "%s: %s", store->path, why);
    store->failed = true;
    return false;
}

void oche_sweep_sql(struct oche_sweep_store *store, const char *sql)
{
    if (!store->failed && sqlite3_exec(store->database, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail(store);
}

/* ---- one process at a time ---- */

static bool lock_folder(struct oche_sweep_store *store)
{
    char *folder = strdup(store->path);

    OCHE_GOT(folder != NULL);
    char *slash = strrchr(folder, '/');

    if (slash != NULL)
        slash[slash == folder] = '\0';
    struct oche_error reason;
    bool ours = oche_folder_lock(slash != NULL ? folder : ".", &store->lock, &reason);

    free(folder);
    return ours || refuse(store, reason.text);
}

/* ---- opening ---- */

static bool open_database(struct oche_sweep_store *store)
{
    struct oche_error reason;

    store->database = oche_database_keep(store->path, &reason);
    if (store->database == NULL) {
        oche_fail(&store->error, "%s: cannot be written: %s; give another --out", store->path,
                  reason.text);
        store->failed = true;
        return false;
    }
    sqlite3_busy_timeout(store->database, BUSY_MS);
    return true;
}

/* Returns the first column of the first row as an integer; -1 if there is no row. */
static int64_t ask_number(struct oche_sweep_store *store, const char *query)
{
    sqlite3_stmt *statement = NULL;
    int64_t number = -1;

    if (sqlite3_prepare_v2(store->database, query, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return number;
}

/* Returns the value of `key` in the table info (malloc'd); "" if there is none. */
static char *ask_info(struct oche_sweep_store *store, const char *key)
{
    sqlite3_stmt *statement = NULL;
    char *value = NULL;

    if (sqlite3_prepare_v2(store->database, "SELECT value FROM info WHERE key = ?", -1, &statement,
                           NULL) == SQLITE_OK) {
        sqlite3_bind_text(statement, 1, key, -1, SQLITE_STATIC);
        /* NULL, which no oche writes there, is "", too */
        if (sqlite3_step(statement) == SQLITE_ROW &&
            sqlite3_column_type(statement, 0) != SQLITE_NULL)
            value = strdup((const char *)sqlite3_column_text(statement, 0));
    }
    sqlite3_finalize(statement);
    if (value == NULL)
        value = strdup("");
    OCHE_GOT(value != NULL);
    return value;
}

/* True if the file begins like that of a sweep. */
static bool begins_as_sweep(const char *path)
{
    unsigned char head[72];
    FILE *in = fopen(path, "rb");
    bool is = in != NULL && fread(head, 1, sizeof(head), in) == sizeof(head) &&
              memcmp(head, "SQLite format 3", 16) == 0;

    if (in != NULL)
        fclose(in);
    return is && ((uint32_t)head[68] << 24 | (uint32_t)head[69] << 16 | (uint32_t)head[70] << 8 |
                  head[71]) == OCHE_SWEEP_APPLICATION;
}

/*
 * Sets *empty to true if the file has no tables. Returns false if the file is not that of a sweep.
 */
static bool is_empty(struct oche_sweep_store *store, bool *empty)
{
    int64_t tables = ask_number(store, "SELECT count(*) FROM sqlite_schema");

    *empty = tables == 0;
    if (tables < 0 && !begins_as_sweep(store->path))
        return refuse(store, "not a results file; remove it, or give another --out");
    if (tables > 0 && ask_number(store, "PRAGMA application_id") != OCHE_SWEEP_APPLICATION)
        return refuse(store, "not the results of a sweep; remove it, or give another --out");
    return true;
}

/* Rejects an incomplete file, such as one that was copied in part. */
static bool is_whole(struct oche_sweep_store *store)
{
    sqlite3_stmt *check = NULL;
    char why[SHOWN_BYTES + 200];
    const char *found = NULL;

    if (oche_database_is_cut(store->path))
        return refuse(store, "is damaged (" OCHE_DATABASE_CUT "); " WAY_OUT);
    if (sqlite3_prepare_v2(store->database, "PRAGMA quick_check(1)", -1, &check, NULL) ==
            SQLITE_OK &&
        sqlite3_step(check) == SQLITE_ROW)
        found = (const char *)sqlite3_column_text(check, 0);
    bool whole = found != NULL && strcmp(found, "ok") == 0;

    snprintf(why, sizeof(why), "is damaged (%.*s); " WAY_OUT, SHOWN_BYTES,
             found != NULL ? found : sqlite3_errmsg(store->database));
    for (char *c = why; *c != '\0'; c++)
        if (*c == '\n')
            *c = ' ';
    sqlite3_finalize(check);
    return whole || refuse(store, why);
}

static bool same(struct oche_sweep_store *store, const char *key, const char *wanted)
{
    char *has = ask_info(store, key);
    bool equal = strcmp(has, wanted) == 0;

    free(has);
    return equal;
}

/*
 * Returns true if the file was begun by this sweep. Otherwise rejects the file and reports the
 * difference.
 */
static bool is_same_sweep(struct oche_sweep_store *store,
                          const struct oche_sweep_description *description)
{
    const char *what = NULL, *shown = NULL;
    char why[SHOWN_BYTES + 200];

    const int64_t version = ask_number(store, "PRAGMA user_version");

    if (version < OCHE_SWEEP_OLDEST || version > OCHE_SWEEP_SCHEMA ||
        !same(store, "program", description->program)) {
        what = "program";
        shown = "program";
    } else if (!same(store, "scenario_text", description->scenario_text)) {
        what = "text of the scenario";
        shown = "scenario";
    } else if (!same(store, "grid", description->grid) || !same(store, "kind", description->kind)) {
        what = "grid";
        shown = "grid";
    } else if (ask_number(store, "SELECT count(*) FROM info WHERE key = 'files'") > 0 &&
               !same(store, "files", description->files != NULL ? description->files : "")) {
        what = "content of the files that the scenario names";
        shown = "files";
    }
    if (what == NULL)
        return true;
    char *has = ask_info(store, shown);

    for (char *c = has; *c != '\0'; c++) /* the message must stay on one line, whatever it quotes */
        if ((unsigned char)*c < ' ')
            *c = ' ';
    snprintf(why, sizeof(why),
             "has results of another %s (%.*s%s); --out puts new ones elsewhere, --restart begins "
             "anew here",
             what, SHOWN_BYTES, has, strlen(has) > SHOWN_BYTES ? "…" : "");
    free(has);
    return refuse(store, why);
}

static bool bring_up_to_date(struct oche_sweep_store *store, bool figure)
{
    const int64_t version = ask_number(store, "PRAGMA user_version");

    if (version != OCHE_SWEEP_SCHEMA && !oche_sweep_upgrade(store->database, version, figure))
        fail(store);
    return !store->failed;
}

static void now_as_text(char *text, size_t text_bytes)
{
    time_t now = time(NULL);
    struct tm utc;

    gmtime_r(&now, &utc);
    strftime(text, text_bytes, "%Y-%m-%dT%H:%M:%SZ", &utc);
}

static bool prepare(struct oche_sweep_store *store, bool figure)
{
    for (int i = 0; i < (figure ? STATEMENTS : ALWAYS) && !store->failed; i++)
        if (sqlite3_prepare_v3(store->database, statements[i], -1, SQLITE_PREPARE_PERSISTENT,
                               &store->use[i], NULL) != SQLITE_OK)
            fail(store);
    return !store->failed;
}

static void store_number(struct oche_sweep_store *store, const char *key, uint64_t number)
{
    char text[32];

    snprintf(text, sizeof(text), "%" PRIu64, number);
    oche_sweep_store_info(store, key, text);
}

void oche_sweep_add(struct oche_sweep_store *store, enum oche_sweep_statement which,
                    const struct oche_cell *cells, size_t count)
{
    if (!store->failed && !oche_row_add(store->use[which], cells, count))
        fail(store);
}

static void store_axes(struct oche_sweep_store *store,
                       const struct oche_sweep_description *description)
{
    for (size_t axis = 0; axis < description->axis_count; axis++) {
        oche_sweep_add(store, ADD_AXIS,
                       OCHE_CELLS(NUMBER(axis), TEXT(description->axes[axis].key)));
        for (size_t number = 0; number < description->axes[axis].count; number++) {
            oche_sweep_add(store, ADD_AXIS_VALUE,
                           OCHE_CELLS(NUMBER(axis), NUMBER(number),
                                      TEXT(description->axes[axis].values[number])));
        }
    }
}

/* Makes all the tables or none, so a file can always be continued. */
static void make(struct oche_sweep_store *store, const struct oche_sweep_description *description,
                 bool figure)
{
    char text[128];

    oche_sweep_sql(store, "BEGIN");
    snprintf(text, sizeof(text), "PRAGMA application_id = %d; PRAGMA user_version = %d",
             OCHE_SWEEP_APPLICATION, OCHE_SWEEP_SCHEMA);
    oche_sweep_sql(store, text);
    oche_sweep_sql(store, sweep_schema);
    if (figure) {
        oche_sweep_sql(store, figure_schema);
        oche_sweep_sql(store, plots_schema);
    }
    if (store->failed || !prepare(store, figure))
        return;
    oche_sweep_store_info(store, "program", description->program);
    oche_sweep_store_info(store, "command", description->command);
    oche_sweep_store_info(store, "kind", description->kind);
    oche_sweep_store_info(store, "scenario", description->scenario);
    oche_sweep_store_info(store, "scenario_text", description->scenario_text);
    oche_sweep_store_info(store, "grid", description->grid);
    oche_sweep_store_info(store, "files", description->files);
    store_number(store, "seed", description->seed);
    store_number(store, "repeats", description->repeats);
    if (description->zipped)
        oche_sweep_store_info(store, "zipped", "yes");
    store_number(store, "cores", description->cores);
    now_as_text(text, sizeof(text));
    oche_sweep_store_info(store, "began", text);
    store_axes(store, description);
    oche_sweep_sql(store, "COMMIT");
}

/*
 * Removes a file, and the logs that SQLite may have left beside it, because SQLite would apply
 * these logs to a new file of the same name.
 */
static bool remove_file(const char *path)
{
    static const char *const beside[] = {"-wal", "-shm", "-journal"};
    bool ok = unlink(path) == 0;

    for (size_t i = 0; ok && i < OCHE_COUNT_OF(beside); i++) {
        char *name = NULL;

        OCHE_GOT(asprintf(&name, "%s%s", path, beside[i]) >= 0);
        ok = unlink(name) == 0 || errno == ENOENT;
        free(name);
    }
    return ok;
}

/* Removes the open file and opens a new, empty one under the same name. */
static bool replace(struct oche_sweep_store *store)
{
    sqlite3_close(store->database);
    store->database = NULL;
    if (!remove_file(store->path)) {
        oche_fail(&store->error, "%s: cannot be replaced: %s", store->path, strerror(errno));
        store->failed = true;
        return false;
    }
    return open_database(store);
}

static bool open_store(struct oche_sweep_store *store,
                       const struct oche_sweep_description *description, bool restart)
{
    bool figure = strcmp(description->kind, "figure") == 0, empty;

    if (!lock_folder(store) || !open_database(store) || !is_empty(store, &empty))
        return false;
    if (!empty && restart) {
        if (!replace(store))
            return false;
        empty = true;
    }
    if (!empty && !is_whole(store))
        return false;
    oche_sweep_sql(store, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
    if (!empty && !is_same_sweep(store, description))
        return false;
    if (empty)
        make(store, description, figure);
    else if (bring_up_to_date(store, figure))
        prepare(store, figure);
    return !store->failed;
}

struct oche_sweep_store *oche_sweep_store_open(const char *path,
                                               const struct oche_sweep_description *description,
                                               bool restart, struct oche_error *error)
{
    struct oche_sweep_store *store = calloc(1, sizeof(*store));

    OCHE_GOT(store != NULL);
    store->lock = -1;
    store->axis_count = description->axis_count;
    store->path = strdup(path);
    OCHE_GOT(store->path != NULL);
    if (!open_store(store, description, restart)) {
        *error = store->error;
        oche_sweep_store_close(store);
        return NULL;
    }
    return store;
}

bool oche_sweep_store_settle(struct oche_sweep_store *store, struct oche_error *error)
{
    int status = SQLITE_OK;

    if (!store->failed)
        status = sqlite3_exec(store->database, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
    /* while another process reads, the log remains beside the file */
    if (status != SQLITE_OK && status != SQLITE_BUSY && status != SQLITE_LOCKED)
        fail(store);
    if (store->failed)
        *error = store->error;
    return !store->failed;
}

void oche_sweep_store_close(struct oche_sweep_store *store)
{
    struct oche_error ignored;

    if (store == NULL)
        return;
    for (int i = 0; i < STATEMENTS; i++)
        sqlite3_finalize(store->use[i]);
    if (store->database != NULL)
        oche_sweep_store_settle(store, &ignored);
    sqlite3_close(store->database);
    oche_folder_unlock(store->lock);
    free(store->path);
    free(store);
}

/* ---- transactions ---- */

void oche_sweep_store_begin(struct oche_sweep_store *store)
{
    oche_sweep_sql(store, "BEGIN IMMEDIATE");
}

bool oche_sweep_store_commit(struct oche_sweep_store *store, struct oche_error *error)
{
    char text[64];

    now_as_text(text, sizeof(text));
    oche_sweep_store_info(store, "ended", text);
    oche_sweep_sql(store, "COMMIT");
    if (!store->failed)
        return true;
    *error = store->error;
    return false;
}

/* ---- rows ---- */

void oche_sweep_store_info(struct oche_sweep_store *store, const char *key, const char *value)
{
    oche_sweep_add(store, ADD_INFO, OCHE_CELLS(TEXT(key), TEXT(value)));
}

void oche_sweep_store_parameter(struct oche_sweep_store *store, const char *key, const char *value,
                                const char *unit, bool given)
{
    oche_sweep_add(store, ADD_PARAMETER,
                   OCHE_CELLS(TEXT(key), TEXT(value), TEXT(unit), NUMBER(given)));
}

static void forget(struct oche_sweep_store *store, size_t point, enum oche_sweep_statement which)
{
    oche_sweep_add(store, which, OCHE_CELLS(NUMBER(point)));
}

void oche_sweep_store_point(struct oche_sweep_store *store, const struct oche_sweep_point *point)
{
    char seed[32], hash[32]; /* text, since a seed can be above SQLite's largest integer */

    forget(store, point->id, FORGET_VALUES);
    forget(store, point->id, FORGET_METRICS);
    forget(store, point->id, FORGET_DISTRIBUTIONS);
    const bool done = strcmp(point->status, "done") == 0;
    const struct oche_cell number = NUMBER(point->seed), text = TEXT(seed);

    snprintf(seed, sizeof(seed), "%" PRIu64, point->seed);
    snprintf(hash, sizeof(hash), "%016" PRIx64, point->trace_hash);
    /* A point that did not finish has neither time nor hash. */
    oche_sweep_add(store, ADD_POINT,
                   OCHE_CELLS(NUMBER(point->id), NUMBER(point->repeat),
                              point->seed <= INT64_MAX ? number : text, TEXT(point->status),
                              TEXT_OR_NULL(point->error), REAL(done ? point->wall_s : NAN),
                              TEXT_OR_NULL(done ? hash : NULL)));
    for (size_t axis = 0; axis < store->axis_count; axis++) {
        oche_sweep_add(store, ADD_POINT_VALUE,
                       OCHE_CELLS(NUMBER(point->id), NUMBER(axis), NUMBER(point->numbers[axis])));
    }
}

void oche_sweep_store_metric(struct oche_sweep_store *store, size_t point, const char *name,
                             const char *unit, const char *help, double value)
{
    oche_sweep_add(store, ADD_METRIC_NAME, OCHE_CELLS(TEXT(name), TEXT(unit), TEXT(help)));
    oche_sweep_add(store, ADD_METRIC, OCHE_CELLS(NUMBER(point), TEXT(name), REAL(value)));
}

void oche_sweep_store_distribution(struct oche_sweep_store *store, size_t point, const char *name,
                                   const char *unit, uint64_t samples, const double *values,
                                   size_t count, uint32_t step)
{
    for (size_t i = 0; i < count; i++)
        oche_sweep_add(store, ADD_PERCENTILE,
                       OCHE_CELLS(NUMBER(point), TEXT(name), TEXT(unit),
                                  NUMBER(samples < INT64_MAX ? samples : INT64_MAX),
                                  NUMBER(i * step), REAL(values[i])));
}

/* ---- reading, during the sweep ---- */

/* Detects a reading that has ended before the last row. */
static void end_reading(struct oche_sweep_store *store, sqlite3_stmt *list)
{
    if (list != NULL && sqlite3_reset(list) != SQLITE_OK)
        fail(store);
}

/* Returns a statement that lists; NULL after a failure. */
static sqlite3_stmt *list_of(struct oche_sweep_store *store, enum oche_sweep_statement which)
{
    return store->failed ? NULL : store->use[which];
}

size_t oche_sweep_store_done(struct oche_sweep_store *store, bool *done, size_t count)
{
    sqlite3_stmt *list = list_of(store, LIST_DONE);
    size_t found = 0;

    memset(done, 0, count * sizeof(*done));
    while (list != NULL && sqlite3_step(list) == SQLITE_ROW) {
        int64_t id = sqlite3_column_int64(list, 0);

        if (id >= 0 && (size_t)id < count && !done[id]) {
            done[id] = true;
            found++;
        }
    }
    end_reading(store, list);
    return found;
}

void oche_sweep_store_hashes(struct oche_sweep_store *store, uint64_t *hashes, size_t count)
{
    sqlite3_stmt *list = list_of(store, LIST_HASHES);

    memset(hashes, 0, count * sizeof(*hashes));
    while (list != NULL && sqlite3_step(list) == SQLITE_ROW) {
        int64_t id = sqlite3_column_int64(list, 0);
        const char *text = (const char *)sqlite3_column_text(list, 1);

        if (id >= 0 && (size_t)id < count && text != NULL)
            hashes[id] = strtoull(text, NULL, 16);
    }
    end_reading(store, list);
}

static double real_of(sqlite3_stmt *statement, int column)
{
    return sqlite3_column_type(statement, column) == SQLITE_NULL
               ? NAN
               : sqlite3_column_double(statement, column);
}

void oche_sweep_store_values(struct oche_sweep_store *store, const char *name, double *values,
                             size_t count)
{
    sqlite3_stmt *list = list_of(store, LIST_VALUES);

    for (size_t i = 0; i < count; i++)
        values[i] = NAN;
    if (list == NULL)
        return;
    OCHE_GOT(sqlite3_bind_text(list, 1, name, -1, SQLITE_TRANSIENT) != SQLITE_NOMEM);
    while (sqlite3_step(list) == SQLITE_ROW) {
        int64_t point = sqlite3_column_int64(list, 0);

        if (point >= 0 && (size_t)point < count)
            values[point] = real_of(list, 1);
    }
    end_reading(store, list);
}

bool oche_sweep_store_csv(struct oche_sweep_store *store, const char *folder,
                          struct oche_error *error)
{
    return oche_sweep_csv_write(store->database, store->axis_count, folder, error);
}
