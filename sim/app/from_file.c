/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flows from a file, in one of two formats. In both # begins a comment.
 *
 * The format of HPCC's generator (workloads.md#flow-files): the number of flows alone on the first
 * line, then lines `src dst pg dport size start`, size in bytes, start in seconds. The generator's
 * clock begins at 2 s: set `origin` to 2 s. Priority group (pg) and port (dport) are ignored.
 *
 * CSV: a line with the column names src, dst, bytes and start in any order, then one flow per line;
 * start is in seconds, or has a unit (ps, ns, us, ms, s).
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "params/error.h"
#include "sim/app/generate.h"

struct from_file {
    uint64_t initial_rate, tenant;
    const char *file;
    oche_time origin;
};

static const struct oche_param params[] = {
    {OCHE_PARAM(struct from_file, file), OCHE_IS_TEXT, .where = "workloads.md#flow-files",
     .help = "path; a count, then lines \"src dst pg dport size start\", or CSV with the columns "
             "src,dst,bytes,start"},
    {OCHE_PARAM(struct from_file, origin), OCHE_IS_TIME(0, 0, 1000000 * OCHE_SEC),
     .help = "time in the file at which the run begins (HPCC's generator: 2s)"},
    OCHE_PARAM_INITIAL_RATE(from_file),
};
static const struct oche_param_table table = OCHE_PARAM_TABLE(params, struct from_file);

enum column { SRC, DST, BYTES, START, UNUSED, COLUMNS_KNOWN = UNUSED };
static const char *const column_names[] = {"src", "dst", "bytes", "start"};

#define MAX_COLUMNS 6
#define NOT_READ    "%s; a readable file of flows"

struct reader {
    const char *path;
    unsigned line;
    const char *separators;
    unsigned columns; /* number of columns in a line */
    enum column column[MAX_COLUMNS];
    bool has_count;
    uint64_t announced, flows;
    oche_time origin;
    const struct oche_workload_facts *facts;
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

static bool parse_count(const char *text, uint64_t *value)
{
    if (*text == '\0' || strspn(text, "0123456789") != strlen(text) || strlen(text) > 18)
        return false;
    *value = strtoull(text, NULL, 10);
    return true;
}

/*
 * Parses a time such as "2.00001" (seconds) or "10.5us", of at most 24 digits, and rounds it to
 * picoseconds.
 */
static bool parse_time(const char *text, oche_time *time)
{
    static const struct {
        const char *name;
        uint64_t ps;
    } units[] = {{"", OCHE_SEC},  {"s", OCHE_SEC}, {"ms", OCHE_MS},
                 {"us", OCHE_US}, {"ns", OCHE_NS}, {"ps", 1}};
    unsigned __int128 number = 0, divisor = 1;
    unsigned digits = 0;
    bool point = false;

    for (; (*text >= '0' && *text <= '9') || (*text == '.' && !point); text++) {
        if (*text == '.') {
            point = true;
            continue;
        }
        if (++digits > 24)
            return false;
        number = number * 10 + (unsigned)(*text - '0');
        divisor *= point ? 10 : 1;
    }
    for (size_t i = 0; digits > 0 && i < OCHE_COUNT_OF(units); i++) {
        if (strcmp(units[i].name, text) != 0)
            continue;
        number = (number * units[i].ps + divisor / 2) / divisor;
        *time = (oche_time)number;
        return number < OCHE_NEVER / 2;
    }
    return false;
}

static bool parse_host(struct reader *reader, const char *column, const char *text, uint64_t *host)
{
    if (!parse_count(text, host))
        return fail(reader, "%s: \"%.40s\" is no host; a number", column, text);
    if (*host >= reader->facts->host_count)
        return fail(reader, "%s: there is no host %.40s; 0 to %u", column, text,
                    reader->facts->host_count - 1);
    return true;
}

static bool parse_flow(struct reader *reader, char *const words[])
{
    const char *text[COLUMNS_KNOWN] = {0};
    uint64_t src = 0, dst = 0, bytes = 0;
    oche_time start = 0;

    for (unsigned i = 0; i < reader->columns; i++)
        if (reader->column[i] < COLUMNS_KNOWN)
            text[reader->column[i]] = words[i];
    if (!parse_host(reader, "src", text[SRC], &src) || !parse_host(reader, "dst", text[DST], &dst))
        return false;
    if (src == dst)
        return fail(reader, "dst: host %.40s sends to itself; another host", text[DST]);
    if (!parse_count(text[BYTES], &bytes) || bytes < 1 || bytes > OCHE_MAX_FLOW_BYTES)
        return fail(reader, "bytes: \"%.40s\" is no size; 1 to %llu bytes", text[BYTES],
                    (unsigned long long)OCHE_MAX_FLOW_BYTES);
    if (!parse_time(text[START], &start))
        return fail(reader, "start: \"%.40s\" is no time; seconds, as 2.00001, or as 10us",
                    text[START]);
    if (start < reader->origin)
        return fail(reader, "start: %.40s is before origin; a smaller origin", text[START]);
    reader->flows++;
    start -= reader->origin;
    if (start >= reader->facts->duration)
        return true;
    if (oche_flow_list_add(reader->list, reader->facts->number, (uint32_t)src, (uint32_t)dst, bytes,
                           start) == OCHE_NO_FLOW)
        return oche_workload_no_memory(reader->list, reader->error);
    return true;
}

/* Parses the first line, which shows the format: just a count (HPCC), or column names (CSV). */
static bool parse_first(struct reader *reader, char *line)
{
    static const enum column hpcc[] = {SRC, DST, UNUSED, UNUSED, BYTES, START};
    bool seen[COLUMNS_KNOWN] = {0};
    char *rest = line, *word;

    reader->separators = " \t";
    if (parse_count(line, &reader->announced)) {
        reader->has_count = true;
        reader->columns = OCHE_COUNT_OF(hpcc);
        memcpy(reader->column, hpcc, sizeof(hpcc));
        return true;
    }
    reader->separators = ",";
    while ((word = strsep(&rest, " \t,")) != NULL) {
        enum column c = SRC;

        if (*word == '\0')
            continue;
        while (c < COLUMNS_KNOWN && strcmp(word, column_names[c]) != 0)
            c++;
        if (c == COLUMNS_KNOWN || seen[c])
            return fail(reader,
                        "\"%.40s\" is no column, or a second one; the first line is a "
                        "number of flows, or src,dst,bytes,start",
                        word);
        seen[c] = true;
        reader->column[reader->columns++] = c;
    }
    if (reader->columns == COLUMNS_KNOWN)
        return true;
    return fail(reader, "%u columns; src,dst,bytes,start are needed", reader->columns);
}

/* Splits a line into words, one per column. Returns false if the number of words is wrong. */
static bool split(struct reader *reader, char *line, char *words[MAX_COLUMNS])
{
    bool csv = *reader->separators == ',';
    unsigned count = 0;
    char *rest = line, *word;

    while ((word = strsep(&rest, reader->separators)) != NULL) {
        if (csv)
            word += strspn(word, " \t");
        if (*word == '\0' && !csv)
            continue;
        if (count < MAX_COLUMNS)
            words[count] = word;
        count++;
        if (csv)
            word[strcspn(word, " \t")] = '\0';
    }
    if (count == reader->columns)
        return true;
    return fail(reader, "%u values; %u would be right: %s", count, reader->columns,
                csv ? "one for each column of the first line" : "src dst pg dport size start");
}

static bool read_line(struct reader *reader, char *line)
{
    char *words[MAX_COLUMNS];
    size_t length;

    line[strcspn(line, "#\r\n")] = '\0';
    line += strspn(line, " \t");
    for (length = strlen(line); length > 0 && strchr(" \t", line[length - 1]) != NULL; length--)
        line[length - 1] = '\0';
    if (length == 0)
        return true;
    if (reader->columns == 0)
        return parse_first(reader, line);
    return split(reader, line, words) && parse_flow(reader, words);
}

static bool read_file(struct reader *reader, FILE *file)
{
    uint32_t before = reader->list->count;
    char *line = NULL;
    size_t line_bytes = 0;
    bool good = true;

    errno = 0;
    while (good && getline(&line, &line_bytes, file) >= 0) {
        reader->line++;
        good = read_line(reader, line);
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
    struct reader reader = {
        .path = p->file, .origin = p->origin, .facts = facts, .list = list, .error = error};
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
    fclose(file);
    return good;
}

const struct oche_workload_type oche_workload_from_file = {
    .name = "from_file",
    .help = "flows listed in a file",
    .table = &table,
    .generate = generate,
};
