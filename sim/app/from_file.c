/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flows from a file, in one of two formats. In both # begins a comment.
 *
 * The format of HPCC's generator (workloads.md#flow-files): the number of flows alone on the first
 * line, then lines `src dst pg dport size start`, size in bytes, start in seconds. The generator's
 * clock begins at 2 s: set `origin` to 2 s. Priority group (pg) and port (dport) are ignored.
 *
 * CSV, as people, spreadsheets and pandas write it (sim/app/sheet.h): a line with the column names
 * src, dst, bytes and start in any order and case, then one flow per line; start is in seconds,
 * bytes in bytes, or they have a unit; a host is a number or a name. The separator is a comma, a
 * semicolon or a tab. Columns of other names, and the one without a name, which is the index that
 * pandas writes, are not read.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "params/error.h"
#include "sim/app/generate.h"
#include "sim/app/host_names.h"
#include "sim/app/sheet.h"

struct from_file {
    uint64_t initial_rate, tenant;
    const char *file;
    oche_time origin;
};

static const struct oche_param params[] = {
    {OCHE_PARAM(struct from_file, file), OCHE_IS_TEXT, .where = "workloads.md#flow-files",
     .help = "path; a count, then lines \"src dst pg dport size start\", or CSV with columns "
             "src,dst,bytes,start: hosts by number or name, a plain start in seconds"},
    {OCHE_PARAM(struct from_file, origin), OCHE_IS_TIME(0, 0, 1000000 * OCHE_SEC),
     .help = "time in the file at which the run begins (HPCC's generator: 2s)"},
    OCHE_PARAM_INITIAL_RATE(from_file),
};
static const struct oche_param_table table = OCHE_PARAM_TABLE(params, struct from_file);

enum column { SRC, DST, BYTES, START, UNUSED, COLUMNS_KNOWN = UNUSED };
static const char *const column_names[] = {"src", "dst", "bytes", "start"};

#define MAX_COLUMNS     64
#define BYTE_ORDER_MARK "\xef\xbb\xbf" /* with which Excel begins its UTF-8 */
#define NOT_READ        "%s; a readable file of flows"

struct reader {
    const char *path;
    unsigned line;
    char separator;   /* of columns; ' ': blanks and tabs, as many as there are */
    unsigned columns; /* number of columns in a line */
    enum column column[MAX_COLUMNS];
    bool has_count;
    uint64_t announced, flows;
    oche_time origin;
    const struct oche_workload_facts *facts;
    struct oche_host_names names;
    struct oche_flow_list *list;
    struct oche_error *error;
};

static bool fail(struct reader *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static bool fail(struct reader *reader, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    oche_fail_at(reader->error, reader->path, reader->line, format, args);
    va_end(args);
    return false;
}

static bool parse_host(struct reader *reader, const char *column, const char *text, uint32_t *host)
{
    uint64_t number;

    if (!oche_sheet_count(text, &number))
        return oche_host_names_find(&reader->names, text, host) ||
               fail(reader, "%s: \"%.40s\" is no host; a number, or a name as in tables", column,
                    text);
    if (number >= reader->facts->host_count)
        return fail(reader, "%s: there is no host %.40s; 0 to %u", column, text,
                    reader->facts->host_count - 1);
    *host = (uint32_t)number;
    return true;
}

static bool parse_flow(struct reader *reader, char *const words[])
{
    const char *text[COLUMNS_KNOWN] = {0};
    uint32_t src = 0, dst = 0;
    uint64_t bytes = 0;
    oche_time start = 0;

    for (unsigned i = 0; i < reader->columns; i++)
        if (reader->column[i] < COLUMNS_KNOWN)
            text[reader->column[i]] = words[i];
    if (!parse_host(reader, "src", text[SRC], &src) || !parse_host(reader, "dst", text[DST], &dst))
        return false;
    if (src == dst)
        return fail(reader, "dst: host %.40s sends to itself; another host", text[DST]);
    if (!oche_sheet_bytes(text[BYTES], &bytes) || bytes < 1 || bytes > OCHE_MAX_FLOW_BYTES)
        return fail(reader, "bytes: \"%.40s\" is no size; 1 to %llu bytes", text[BYTES],
                    (unsigned long long)OCHE_MAX_FLOW_BYTES);
    if (!oche_sheet_time(text[START], &start))
        return fail(reader, "start: \"%.40s\" is no time; seconds, as 2.00001, or as 10us",
                    text[START]);
    if (start < reader->origin)
        return fail(reader, "start: %.40s is before origin; a smaller origin", text[START]);
    reader->flows++;
    start -= reader->origin;
    if (start >= reader->facts->duration && reader->facts->until_done)
        return fail(reader,
                    "start: %.40s is later than a run can last, which is a day; an earlier "
                    "one, a larger origin, or a duration",
                    text[START]);
    if (start >= reader->facts->duration)
        return true;
    if (oche_flow_list_add(reader->list, reader->facts->number, src, dst, bytes, start) ==
        OCHE_NO_FLOW)
        return oche_workload_no_memory(reader->list, reader->error);
    return true;
}

static bool is_count(const char *text, uint64_t *value)
{
    return strspn(text, "0123456789") == strlen(text) && oche_sheet_count(text, value);
}

/* Returns the next value of a line, or NULL. */
static char *next_value(const struct reader *reader, char **rest)
{
    char *word;

    if (reader->separator != ' ')
        return oche_sheet_value(rest, reader->separator);
    while ((word = strsep(rest, " \t")) != NULL && *word == '\0')
        ;
    return word;
}

/* Parses column names. */
static bool parse_header(struct reader *reader, char *line)
{
    bool seen[COLUMNS_KNOWN] = {0};
    char *rest = line, *word;

    reader->separator = strchr(line, ',') != NULL    ? ','
                        : strchr(line, ';') != NULL  ? ';'
                        : strchr(line, '\t') != NULL ? '\t'
                                                     : ' ';
    while ((word = next_value(reader, &rest)) != NULL) {
        enum column c = SRC;

        while (c < COLUMNS_KNOWN && strcasecmp(word, column_names[c]) != 0)
            c++;
        if (reader->columns == MAX_COLUMNS)
            return fail(reader, "more than %d columns; src,dst,bytes,start", MAX_COLUMNS);
        if (c < COLUMNS_KNOWN && seen[c])
            return fail(reader, "\"%.40s\" is there twice; src,dst,bytes,start are needed", word);
        if (c < COLUMNS_KNOWN)
            seen[c] = true;
        reader->column[reader->columns++] = c;
    }
    for (unsigned c = 0; c < COLUMNS_KNOWN; c++)
        if (!seen[c])
            return fail(
                reader,
                "no column \"%s\"; the first line is a number of flows, or names of columns, "
                "with src,dst,bytes,start",
                column_names[c]);
    if (reader->separator == ' ') /* names between blanks, values between commas */
        reader->separator = ',';
    return true;
}

/* Parses the first line, which shows the format: just a count (HPCC), or column names (CSV). */
static bool parse_first(struct reader *reader, char *line)
{
    static const enum column hpcc[] = {SRC, DST, UNUSED, UNUSED, BYTES, START};

    if (!is_count(line, &reader->announced))
        return parse_header(reader, line);
    reader->separator = ' ';
    reader->has_count = true;
    reader->columns = OCHE_COUNT_OF(hpcc);
    memcpy(reader->column, hpcc, sizeof(hpcc));
    return true;
}

/* Splits a line into values, one per column. Returns false if their number is wrong. */
static bool split(struct reader *reader, char *line, char *words[MAX_COLUMNS])
{
    unsigned count = 0;
    char *rest = line, *word;

    while ((word = next_value(reader, &rest)) != NULL) {
        if (count < MAX_COLUMNS)
            words[count] = word;
        count++;
    }
    if (count == reader->columns)
        return true;
    return fail(reader, "%u values; %u would be right: %s", count, reader->columns,
                reader->separator == ' ' ? "src dst pg dport size start"
                                         : "one for each column of the first line");
}

static bool read_line(struct reader *reader, char *line)
{
    char *words[MAX_COLUMNS];
    size_t length;

    line[strcspn(line, "#\r\n")] = '\0';
    if (reader->line == 1 && strncmp(line, BYTE_ORDER_MARK, strlen(BYTE_ORDER_MARK)) == 0)
        line += strlen(BYTE_ORDER_MARK);
    line += strspn(line, " ");
    for (length = strlen(line); length > 0 && strchr(" \t", line[length - 1]) != NULL; length--)
        line[length - 1] = '\0';
    if (length == 0)
        return true;
    if (reader->columns == 0)
        return parse_first(reader, line);
    return split(reader, line, words) && parse_flow(reader, words);
}

/* True if the line begins with a byte order mark of UTF-16. */
static bool is_utf16(const char *line)
{
    return strncmp(line, "\xff\xfe", 2) == 0 || strncmp(line, "\xfe\xff", 2) == 0;
}

static bool read_file(struct reader *reader, FILE *file)
{
    uint32_t before = reader->list->count;
    char *line = NULL;
    size_t line_bytes = 0;
    bool good = true;

    errno = 0;
    for (ssize_t length; good && (length = getline(&line, &line_bytes, file)) >= 0;) {
        reader->line++;
        if (reader->line == 1 && is_utf16(line))
            good = fail(reader, "is UTF-16; save it as UTF-8 (Excel: CSV UTF-8)");
        else
            good = strlen(line) == (size_t)length ? read_line(reader, line)
                                                  : fail(reader, "has a NUL byte; text, as UTF-8");
    }
    free(line);
    if (!good)
        return false;
    reader->line = 0;
    if (ferror(file))
        return fail(reader, NOT_READ, strerror(errno));
    if (reader->has_count && reader->announced != reader->flows)
        return fail(reader, "%llu flows, but the first line says %llu",
                    (unsigned long long)reader->flows, (unsigned long long)reader->announced);
    if (reader->flows == 0)
        return fail(reader, "no flows; at least one");
    if (reader->list->count == before)
        return fail(reader, "all flows start after the end of the run; a longer run, or another "
                            "origin");
    return true;
}

static bool generate(const void *values, const struct oche_workload_facts *facts,
                     struct oche_flow_list *list, struct oche_error *error)
{
    const struct from_file *p = values;
    struct reader reader = {.path = p->file,
                            .origin = p->origin,
                            .facts = facts,
                            .names = {.topology = facts->topology},
                            .list = list,
                            .error = error};
    FILE *file;
    bool good;

    if (!oche_workload_has_hosts(facts, error))
        return false;
    if (p->file == NULL || *p->file == '\0')
        return oche_fail(error, "file: not given; the path of a list of "
                                "flows");
    list->initial_rate_bps = p->initial_rate;
    list->tenant = (uint8_t)p->tenant;
    file = fopen(p->file, "r");
    if (file == NULL)
        return fail(&reader, NOT_READ, strerror(errno));
    good = read_file(&reader, file);
    oche_host_names_free(&reader.names);
    fclose(file);
    return good;
}

const struct oche_workload_type oche_workload_from_file = {
    .name = "from_file",
    .help = "flows listed in a file",
    .table = &table,
    .ends = "ends by itself: after the last flow of the file",
    .generate = generate,
};
