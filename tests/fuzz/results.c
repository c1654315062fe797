/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer target: results files of a run, a sweep or a figure with any values anywhere, rows and
 * tables that are missing, and damaged bytes, for `oche report`, for what repeats a run and for a
 * sweep that goes on. What is made of them must be JSON that may stand in a page, or one line says
 * what is wrong.
 * tools/fuzz 60 results runs it.
 *
 * The file is made from the schema: each table has a few rows of ordinary values, without
 * constraints, as another program could have written it. The input says what is changed.
 */
#include <fcntl.h>
#include <json-c/json.h>
#include <math.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include "report/report.h"
#include "store/recorded.h"
#include "store/run.sql.h"
#include "store/store.h"
#include "store/sweep.sql.h"
#include "store/sweep_store.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/target.h"

#define KINDS        3 /* run, sweep, figure */
#define ROWS         3
#define MOST_CHANGES 64
#define MOST_TABLES  64

static const char *const words[] = {
    "host",          "tor",        "aggregation", "core",   "host0",    "tor0:host0", "ordinary",
    "taken",         "bps",        "s",           "bytes",  "count",    "ratio",      "done",
    "completed",     "unfinished", "log",         "linear", "figure",   "sweep",      "compared",
    "scenario",      "overrides",  "queue",       "rate",   "host_nic", "<script>",   "",
    "\xff\x01",      "failed: x",  "tor0",        "0",      "1e400",    "0001",       "a,b=\"c\"",
    "scenario_text", "trace_hash", "grid",        "x",      "name",     "time",       "points"};

static void must_run(sqlite3 *database, const char *sql)
{
    char *error = NULL;

    if (sqlite3_exec(database, sql, NULL, NULL, &error) != SQLITE_OK) {
        fprintf(stderr, "%s\n%s\n", sql, error);
        abort();
    }
}

/* Calls `one` for each table. */
static void each_table(sqlite3 *database, void (*one)(sqlite3 *, const char *table))
{
    static const char sql[] = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name";
    char *names[MOST_TABLES];
    sqlite3_stmt *statement;
    unsigned count = 0;

    if (sqlite3_prepare_v2(database, sql, -1, &statement, NULL) != SQLITE_OK)
        abort();
    while (sqlite3_step(statement) == SQLITE_ROW && count < MOST_TABLES)
        names[count++] = strdup((const char *)sqlite3_column_text(statement, 0));
    sqlite3_finalize(statement);
    for (unsigned i = 0; i < count; i++) {
        one(database, names[i]);
        free(names[i]);
    }
}

/* Returns the content of a column in a row; NULL: any value. */
static const char *value_of(const char *column, unsigned row)
{
    static const struct {
        const char *column, *values[ROWS];
    } known[] = {{"status", {"'completed'", "'done'", "'done'"}},
                 {"kind", {"'host'", "'tor'", "'host'"}},
                 {"way", {"'ordinary'", "'taken'", "'taken'"}},
                 {"measured", {"1", "1", "1"}},
                 {"victim", {"0", "1", "1"}},
                 {"deflected", {"0", "1", "1"}},
                 {"slowdown", {"1.5", "2", "30"}},
                 {"delivered_ps", {"3000", "4000", "5000"}},
                 {"unit", {"'s'", "'bytes'", "'bps'"}},
                 {"thousandth", {"0", "500", "1000"}},
                 {"depth", {"0", "1", "0"}},
                 {"parent", {"NULL", "0", "NULL"}}};

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strcmp(known[i].column, column) == 0)
            return known[i].values[row];
    return NULL;
}

/* Fills a table. Other numbers are a row's number, other texts are words, all different. */
static void fill(sqlite3 *database, const char *table)
{
    char sql[4000];
    sqlite3_stmt *columns;

    for (unsigned row = 0; row < ROWS; row++) {
        int at = snprintf(sql, sizeof(sql), "INSERT INTO %s VALUES (", table);
        char query[100];

        snprintf(query, sizeof(query), "SELECT type, name FROM pragma_table_info('%s')", table);
        if (sqlite3_prepare_v2(database, query, -1, &columns, NULL) != SQLITE_OK)
            abort();
        for (unsigned i = 0; sqlite3_step(columns) == SQLITE_ROW; i++) {
            const bool text = strcmp((const char *)sqlite3_column_text(columns, 0), "TEXT") == 0;

            const char *value = value_of((const char *)sqlite3_column_text(columns, 1), row);

            if (value != NULL)
                at +=
                    snprintf(sql + at, sizeof(sql) - (size_t)at, "%s%s", i > 0 ? ", " : "", value);
            else if (text)
                at += snprintf(sql + at, sizeof(sql) - (size_t)at, "%s'%s'", i > 0 ? ", " : "",
                               words[(i + row) % 4 + 4 * row]);
            else
                at += snprintf(sql + at, sizeof(sql) - (size_t)at, "%s%u", i > 0 ? ", " : "", row);
        }
        sqlite3_finalize(columns);
        snprintf(sql + at, sizeof(sql) - (size_t)at, ")");
        must_run(database, sql);
    }
}

/* The table without types, keys and constraints. */
static void loosen(sqlite3 *database, const char *table)
{
    char sql[400];

    snprintf(sql, sizeof(sql),
             "CREATE TABLE loose AS SELECT * FROM %s; DROP TABLE %s;"
             "ALTER TABLE loose RENAME TO %s",
             table, table, table);
    must_run(database, sql);
}

/* Makes a results file in memory. */
static uint8_t *make(unsigned kind, sqlite3_int64 *bytes)
{
    static const char *const schemas[KINDS][3] = {
        {run_schema, "", ""}, {sweep_schema, "", ""}, {sweep_schema, figure_schema, plots_schema}};
    sqlite3 *database;
    char sql[300];
    uint8_t *file;

    if (sqlite3_open(":memory:", &database) != SQLITE_OK)
        abort();
    for (unsigned i = 0; i < 3; i++)
        must_run(database, schemas[kind][i]);
    each_table(database, fill);
    each_table(database, loosen);
    snprintf(sql, sizeof(sql),
             "PRAGMA user_version = %d; PRAGMA application_id = %d;"
             "INSERT INTO info VALUES ('kind', '%s'), ('program', 'fuzz'),"
             "('scenario_text', 'text'), ('grid', 'grid')",
             kind == 0 ? OCHE_RESULTS_SCHEMA : OCHE_SWEEP_SCHEMA,
             kind == 0 ? 0 : OCHE_SWEEP_APPLICATION, kind == 2 ? "figure" : "sweep");
    must_run(database, sql);
    file = sqlite3_serialize(database, "main", bytes, 0);
    sqlite3_close(database);
    return file;
}

/* ---- changes ---- */

static void bind_value(sqlite3_stmt *statement, struct fuzz_input *input)
{
    const uint8_t kind = fuzz_byte(input), value = fuzz_byte(input);
    const uint8_t *bytes;
    size_t count;

    switch (kind % 8) {
    case 0:
        sqlite3_bind_null(statement, 1);
        break;
    case 1:
        sqlite3_bind_int(statement, 1, value);
        break;
    case 2:
        sqlite3_bind_int64(statement, 1, (int64_t)fuzz_number(input, 8));
        break;
    case 3:
        sqlite3_bind_double(statement, 1, value == 255 ? INFINITY : ldexp(value, value * 8 - 900));
        break;
    case 4:
        sqlite3_bind_double(statement, 1, -(double)value / 3);
        break;
    case 5:
        bytes = fuzz_bytes(input, value % 40, &count);
        sqlite3_bind_blob(statement, 1, bytes, (int)count, SQLITE_TRANSIENT);
        break;
    case 6:
        bytes = fuzz_bytes(input, value % 40, &count);
        sqlite3_bind_text(statement, 1, (const char *)bytes, (int)count, SQLITE_TRANSIENT);
        break;
    default:
        sqlite3_bind_text(statement, 1, words[value % (sizeof(words) / sizeof(words[0]))], -1,
                          SQLITE_STATIC);
        break;
    }
}

/* Returns the nth table, or column of a table; "": there is none. */
static void name_of(sqlite3 *database, const char *sql, unsigned nth, char name[64])
{
    sqlite3_stmt *statement;

    name[0] = '\0';
    if (sqlite3_prepare_v2(database, sql, -1, &statement, NULL) != SQLITE_OK)
        return;
    sqlite3_bind_int(statement, 1, (int)nth);
    if (sqlite3_step(statement) == SQLITE_ROW)
        snprintf(name, 64, "%s", (const char *)sqlite3_column_text(statement, 0));
    sqlite3_finalize(statement);
}

static void change(sqlite3 *database, struct fuzz_input *input)
{
    static const char *const forms[] = {
        "UPDATE %1$s SET %2$s = ?1 WHERE rowid = %3$u",
        "UPDATE %1$s SET %2$s = ?1",
        "DELETE FROM %1$s WHERE rowid = %3$u",
        "DELETE FROM %1$s",
        "INSERT INTO %1$s SELECT * FROM %1$s LIMIT 20",
        "ALTER TABLE %1$s DROP COLUMN %2$s",
        "DROP TABLE %1$s",
        "CREATE TABLE IF NOT EXISTS notes AS SELECT %2$s FROM %1$s"};
    const uint8_t what = fuzz_byte(input), table_number = fuzz_byte(input);
    const unsigned form = what < 192 ? what < 128 ? 0 : 1 : what % 8;
    char table[64], column[64], sql[400], query[400];
    sqlite3_stmt *statement;

    name_of(database,
            "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name LIMIT 1 OFFSET ?1 % "
            "(SELECT count(*) FROM sqlite_master WHERE type = 'table')",
            table_number, table);
    snprintf(query, sizeof(query),
             "SELECT name FROM pragma_table_info('%1$s') LIMIT 1 OFFSET ?1 %% "
             "(SELECT count(*) FROM pragma_table_info('%1$s'))",
             table);
    name_of(database, query, fuzz_byte(input), column);
    snprintf(sql, sizeof(sql), forms[form], table, column, 1 + what % (ROWS + 1u));
    if (sqlite3_prepare_v2(database, sql, -1, &statement, NULL) != SQLITE_OK)
        return;
    if (form < 2)
        bind_value(statement, input);
    sqlite3_step(statement);
    sqlite3_finalize(statement);
}

/* Writes the file that the input describes. */
static void write_file(const char *path, unsigned kind, struct fuzz_input *input)
{
    static uint8_t *bases[KINDS];
    static sqlite3_int64 base_bytes[KINDS];
    sqlite3 *database;
    sqlite3_int64 bytes;
    uint8_t *file;
    int out;

    if (bases[kind] == NULL)
        bases[kind] = make(kind, &base_bytes[kind]);
    file = sqlite3_malloc64((uint64_t)base_bytes[kind]);
    if (file == NULL || sqlite3_open(":memory:", &database) != SQLITE_OK)
        abort();
    memcpy(file, bases[kind], (size_t)base_bytes[kind]);
    sqlite3_deserialize(database, "main", file, base_bytes[kind], base_bytes[kind],
                        SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE);
    for (unsigned i = 0; i < MOST_CHANGES && input->left > 0 && *input->at != 0xff; i++)
        change(database, input);
    file = sqlite3_serialize(database, "main", &bytes, 0);
    sqlite3_close(database);
    while (fuzz_byte(input) == 0xff && bytes > 0) /* damaged bytes */
        file[fuzz_number(input, 3) % (uint64_t)bytes] = fuzz_byte(input);
    out = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    if (out < 0 || write(out, file, (size_t)bytes) != bytes)
        abort();
    close(out);
    sqlite3_free(file);
}

/* ---- readers ---- */

/*
 * True if the error has a place and a reason. SQLite's own messages may have any bytes; these are
 * escaped when they are printed.
 */
static bool is_refusal(const struct oche_error *error)
{
    return strstr(error->text, ": ") != NULL;
}

static const char *report(const char *path)
{
    struct oche_error error = {""};
    size_t bytes = 0;
    char *text = oche_report_data(path, "fuzz", "fuzz", NULL, &bytes, &error);
    struct json_object *json;
    const char *wrong = NULL;

    if (text == NULL)
        return is_refusal(&error) ? NULL : "a results file is refused without a reason";
    json = json_tokener_parse(text);
    if (json == NULL || strlen(text) != bytes || strchr(text, '<') != NULL)
        wrong = "a report's data is no JSON, or cannot stand in a page";
    json_object_put(json);
    free(text);
    return wrong;
}

static const char *repeat(const char *path)
{
    struct oche_recorded recorded;
    struct oche_error error = {""};

    if (!oche_recorded_read(&recorded, path, &error))
        return is_refusal(&error) ? NULL : "a record is refused without a reason";
    oche_recorded_free(&recorded);
    return NULL;
}

static void hear_head(void *context, uint64_t seed, uint64_t trace_hash, double wall_s)
{
    *(uint64_t *)context += seed + trace_hash + (wall_s > 0);
}

static void hear_metric(void *context, const char *name, const char *unit, double value)
{
    *(uint64_t *)context += strlen(name) + strlen(unit) + (value > 0);
}

static void hear_percentile(void *context, const char *name, const char *unit, uint64_t samples,
                            uint32_t thousandth, double value)
{
    *(uint64_t *)context += strlen(name) + strlen(unit) + samples + thousandth + (value > 0);
}

/* The file of a sweep, or of a figure, that goes on. */
static const char *go_on(const char *path, bool figure)
{
    const struct oche_sweep_description description = {.program = "fuzz",
                                                       .command = "fuzz",
                                                       .kind = figure ? "figure" : "sweep",
                                                       .scenario = "fuzz.yaml",
                                                       .scenario_text = "text",
                                                       .grid = "grid"};
    uint64_t heard = 0;
    const struct oche_sweep_reader reader = {
        .context = &heard, .head = hear_head, .metric = hear_metric, .percentile = hear_percentile};
    struct oche_error error = {""};
    struct oche_sweep_store *store = oche_sweep_store_open(path, &description, false, &error);
    double values[4];
    bool done[4];
    const char *wrong = NULL;

    if (store == NULL)
        return is_refusal(&error) ? NULL : "a sweep's file is refused without a reason";
    if (oche_sweep_store_done(store, done, 4) > 4)
        wrong = "more points are done than there are";
    oche_sweep_store_values(store, words[4], values, 4);
    for (size_t point = 0; point < 4; point++)
        oche_sweep_store_read(store, point, &reader);
    oche_sweep_store_close(store);
    return wrong;
}

/* The unchanged files must be readable; otherwise the changes would be useless. */
static void check_bases(const char *path)
{
    for (unsigned kind = 0; kind < KINDS; kind++) {
        struct fuzz_input none = {NULL, 0};
        struct oche_error error = {""};
        size_t bytes;
        char *text;

        write_file(path, kind, &none);
        text = oche_report_data(path, "fuzz", "fuzz", NULL, &bytes, &error);
        if (text == NULL) {
            fprintf(stderr, "%s\n", error.text);
            abort();
        }
        free(text);
    }
}

const char *fuzz_input(const uint8_t *bytes, size_t count)
{
    static bool checked;
    struct fuzz_input input = {bytes, count};
    const uint8_t what = fuzz_byte(&input);
    const unsigned kind = what % KINDS;
    static const char *const ends[] = {"", "-wal", "-shm", "-journal"};
    char folder[64], path[100], file[120];
    const char *wrong;

    snprintf(folder, sizeof(folder), "/dev/shm/oche-fuzz-%d", (int)getpid());
    snprintf(path, sizeof(path), "%s/results.sqlite", folder);
    mkdir(folder, 0700);
    if (!checked)
        check_bases(path);
    checked = true;
    write_file(path, kind, &input);
    wrong = report(path);
    if (wrong == NULL)
        wrong = repeat(path);
    if (wrong == NULL && kind > 0 && what >= 128)
        wrong = go_on(path, kind == 2);
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        snprintf(file, sizeof(file), "%s%s", path, ends[i]);
        unlink(file);
    }
    rmdir(folder);
    return wrong;
}
