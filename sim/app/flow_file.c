/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/app/flow_file.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "params/error.h"
#include "params/text_input.h"
#include "params/units.h"
#include "sim/app/flow_columns.h"
#include "sim/app/generate.h"
#include "sim/app/host_names.h"

static const char *const csv_names[OCHE_FLOW_CSV_COLUMNS] = {"src", "dst", "bytes", "start",
                                                             "verb"};

#define MOST_GROUP 7 /* ns-3's switches have eight queues */
#define MOST_PORT  65535
#define LATE       OCHE_SEC /* a first start from here on is hardly meant */

struct reader {
    struct oche_text_input input;
    struct oche_flow_columns columns;
    char separator; /* separator of CSV; '\0': each line shows its own */
    bool has_count;
    uint64_t announced, flows;
    oche_time origin, first; /* first: the earliest start, after origin */
    const struct oche_workload_facts *facts;
    struct oche_host_names names;
    uint8_t verb; /* the verb of flows whose line names none */
    struct oche_flow_list *list;
};

#define fail(reader, ...) oche_text_fail(&(reader)->input, __VA_ARGS__)

/* ---- one flow ---- */

/* Finds a host by its number in the topology's file, which its name has. */
static bool parse_node(struct reader *reader, const char *column, uint64_t number, uint32_t *host)
{
    char name[OCHE_TOPOLOGY_NAME_BYTES];

    snprintf(name, sizeof(name), "host%llu", (unsigned long long)number);
    return oche_host_names_find(&reader->names, name, host) ||
           fail(reader, "%s: node %llu is no host of the topology's file", column,
                (unsigned long long)number);
}

static bool parse_host(struct reader *reader, const char *column, const char *text, uint32_t *host)
{
    uint64_t number;

    if (!oche_text_count(text, &number))
        return oche_host_names_find(&reader->names, text, host) ||
               fail(reader, "%s: \"%.40s\" is no host; a number, or a name as in tables", column,
                    text);
    if (reader->facts->topology != NULL && reader->facts->topology->numbered_by_name)
        return parse_node(reader, column, number, host);
    if (number >= reader->facts->host_count)
        return fail(reader, "%s: there is no host %.40s; 0 to %u", column, text,
                    reader->facts->host_count - 1);
    *host = (uint32_t)number;
    return true;
}

/* Checks a column that is not used: a value that cannot be one shows that the columns are others.
 */
static bool check_unused(struct reader *reader, const char *column, const char *text, uint64_t most,
                         const char *what)
{
    uint64_t number;

    if (text == NULL || (oche_text_count(text, &number) && number <= most))
        return true;
    return fail(reader,
                "%s: \"%.40s\" is no %s; 0 to %llu, in lines of %u values: " OCHE_FLOW_FORMATS,
                column, text, what, (unsigned long long)most, reader->columns.count);
}

/* Reads the size of a flow: bytes, or packets of the scenario's MTU. */
static bool parse_bytes(struct reader *reader, const char *text[], uint64_t *bytes)
{
    const uint64_t packet = reader->facts->mtu_bytes;
    uint64_t packets;

    if (!reader->columns.in_packets)
        return (oche_text_bytes(text[OCHE_FLOW_BYTES], bytes) && *bytes >= 1 &&
                *bytes <= OCHE_MAX_FLOW_BYTES) ||
               fail(reader, "bytes: \"%.40s\" %s; 1 to %llu bytes", text[OCHE_FLOW_BYTES],
                    oche_text_fault(text[OCHE_FLOW_BYTES], "is no size"),
                    (unsigned long long)OCHE_MAX_FLOW_BYTES);
    if (!oche_text_count(text[OCHE_FLOW_PACKETS], &packets) || packets < 1)
        return fail(reader, "packets: \"%.40s\" %s; a whole number of packets",
                    text[OCHE_FLOW_PACKETS],
                    oche_text_fault(text[OCHE_FLOW_PACKETS], "is no number"));
    if (packets > OCHE_MAX_FLOW_BYTES / packet)
        return fail(reader,
                    "packets: %.40s of %llu bytes (ns3-rdma's columns: src dst pg packets start "
                    "stop); at most %llu, as a flow has at most %llu bytes",
                    text[OCHE_FLOW_PACKETS], (unsigned long long)packet,
                    (unsigned long long)(OCHE_MAX_FLOW_BYTES / packet),
                    (unsigned long long)OCHE_MAX_FLOW_BYTES);
    *bytes = packets * packet;
    return true;
}

static bool parse_time(struct reader *reader, const char *column, const char *text, oche_time *time)
{
    return oche_text_time(text, time) ||
           fail(reader, "%s: \"%.40s\" %s; seconds, as 2.00001, or as 10us", column, text,
                oche_text_fault(text, "is no time"));
}

static bool parse_start(struct reader *reader, const char *text[], oche_time *start)
{
    oche_time stop;

    if (!parse_time(reader, "start", text[OCHE_FLOW_START], start))
        return false;
    if (*start < reader->origin)
        return fail(reader, "start: %.40s is before origin; a smaller origin",
                    text[OCHE_FLOW_START]);
    if (text[OCHE_FLOW_STOP] == NULL)
        return true;
    if (!parse_time(reader, "stop", text[OCHE_FLOW_STOP], &stop))
        return false;
    return stop > *start || fail(reader, "stop: %.40s is not after start, %.40s; a later one",
                                 text[OCHE_FLOW_STOP], text[OCHE_FLOW_START]);
}

/* Reads the verb of a flow; a file without that column has the workload's. */
static bool parse_verb(struct reader *reader, const char *text, uint8_t *verb)
{
    const char *none = reader->facts->no_verbs;

    *verb = reader->verb;
    if (text == NULL)
        return true;
    for (*verb = 0; oche_verb_names[*verb] != NULL; ++*verb)
        if (strcasecmp(text, oche_verb_names[*verb]) == 0)
            return *verb == OCHE_VERB_WRITE || none == NULL ||
                   fail(reader,
                        "verb: %s, but congestion_control: %s has no verbs of flows; leave the "
                        "column out",
                        oche_verb_names[*verb], none);
    return fail(reader, "verb: \"%.40s\" is none; write, send or read", text);
}

static bool parse_flow(struct reader *reader, char *const words[])
{
    const char *text[OCHE_FLOW_COLUMNS] = {0};
    uint32_t src = 0, dst = 0;
    uint64_t bytes = 0;
    oche_time start = 0;

    for (unsigned i = 0; i < reader->columns.count; i++)
        text[reader->columns.column[i]] = words[i];
    if (!parse_host(reader, "src", text[OCHE_FLOW_SRC], &src) ||
        !parse_host(reader, "dst", text[OCHE_FLOW_DST], &dst))
        return false;
    if (src == dst)
        return fail(reader, "dst: host %.40s sends to itself; another host", text[OCHE_FLOW_DST]);
    if (!check_unused(reader, "pg", text[OCHE_FLOW_GROUP], MOST_GROUP, "priority group") ||
        !check_unused(reader, "dport", text[OCHE_FLOW_PORT], MOST_PORT, "port") ||
        !parse_bytes(reader, text, &bytes) || !parse_start(reader, text, &start) ||
        !parse_verb(reader, text[OCHE_FLOW_VERB], &reader->list->verb))
        return false;
    reader->flows++;
    start -= reader->origin;
    reader->first = start < reader->first ? start : reader->first;
    if (start >= reader->facts->duration && reader->facts->until_done)
        return fail(reader,
                    "start: %.40s is later than a run can last, which is a day; an earlier "
                    "one, a larger origin, or a duration",
                    text[OCHE_FLOW_START]);
    if (start >= reader->facts->duration)
        return true;
    if (oche_flow_list_add(reader->list, reader->facts->number, src, dst, bytes, start) ==
        OCHE_NO_FLOW)
        return oche_workload_no_memory(reader->list, reader->input.error);
    return true;
}

/* ---- the first line ---- */

/* Refuses a topology of htsim, which begins as its connection matrices do. */
static bool is_foreign(struct reader *reader, const char *line)
{
    if (strncmp(line, "Nodes", 5) != 0 || strchr(" \t", line[5]) == NULL)
        return false;
    fail(reader, "is a topology of htsim; a number of flows and lines of them, or CSV with "
                 "src,dst,bytes,start");
    return true;
}

/* Parses column names. */
static bool parse_header(struct reader *reader, char *line)
{
    struct oche_flow_columns *columns = &reader->columns;
    bool seen[OCHE_FLOW_CSV_COLUMNS] = {0};
    char *rest = line, *word;

    reader->separator = oche_text_separator(line);
    if (reader->separator == ' ' && strchr(line, '\t') != NULL)
        reader->separator = '\t';
    while ((word = oche_text_value(&rest, reader->separator)) != NULL) {
        enum oche_flow_column c = OCHE_FLOW_SRC;

        while (c < OCHE_FLOW_CSV_COLUMNS && strcasecmp(word, csv_names[c]) != 0)
            c++;
        if (columns->count == OCHE_FLOW_MOST_COLUMNS)
            return fail(reader, "more than %d columns; src,dst,bytes,start",
                        OCHE_FLOW_MOST_COLUMNS);
        if (c < OCHE_FLOW_CSV_COLUMNS && seen[c])
            return fail(reader, "\"%.40s\" is there twice; src,dst,bytes,start are needed", word);
        if (c < OCHE_FLOW_CSV_COLUMNS)
            seen[c] = true;
        columns->column[columns->count++] = c < OCHE_FLOW_CSV_COLUMNS ? c : OCHE_FLOW_UNUSED;
    }
    for (unsigned c = 0; c < OCHE_FLOW_CSV_NEEDED; c++)
        if (!seen[c])
            return fail(
                reader,
                "no column \"%s\"; the first line is a number of flows, or names of columns, "
                "with src,dst,bytes,start",
                csv_names[c]);
    if (reader->separator == ' ') /* names between blanks, values between commas */
        reader->separator = ',';
    return true;
}

/*
 * True if the line has nothing but a number, perhaps followed by separators, as spreadsheets write
 * it.
 */
static bool is_count(char *line, uint64_t *count)
{
    size_t length = strlen(line);

    while (length > 0 && strchr(" \t,;", line[length - 1]) != NULL)
        length--;
    const char kept = line[length];

    line[length] = '\0';
    const bool is = oche_text_count(line, count);

    line[length] = kept;
    return is;
}

/* Parses the first line, which shows the form: just a count (ns-3), or column names (CSV). */
static bool parse_first(struct reader *reader, char *line)
{
    if (is_foreign(reader, line))
        return false;
    if (!is_count(line, &reader->announced))
        return parse_header(reader, line);
    reader->has_count = true;
    return oche_flow_columns_find(&reader->input, reader->announced, &reader->columns);
}

/* ---- the others ---- */

/*
 * Splits a line into values, one per column. Values that are missing at the end, or are empty and
 * too many, matter only if the column is used. Returns false if their number is wrong.
 */
static bool split(struct reader *reader, char *line, char *words[OCHE_FLOW_MOST_COLUMNS])
{
    static char none[] = "";
    const struct oche_flow_columns *columns = &reader->columns;
    const char separator = reader->has_count ? oche_text_separator(line) : reader->separator;
    char *rest = line, *word;
    unsigned count = 0, full = 0, needed = 0;

    for (unsigned i = 0; i < columns->count; i++) {
        words[i] = none;
        if (columns->column[i] != OCHE_FLOW_UNUSED)
            needed = i + 1;
    }
    while ((word = oche_text_value(&rest, separator)) != NULL) {
        if (count < columns->count)
            words[count] = word;
        count++;
        if (*word != '\0')
            full = count;
    }
    if (full <= columns->count && count >= needed)
        return true;
    if (reader->has_count)
        return fail(
            reader,
            "%u values; %u would be right, as in the first line of a flow: " OCHE_FLOW_FORMATS,
            full, columns->count);
    return fail(reader, "%u values; %u would be right: one for each column of the first line",
                count, columns->count);
}

static bool read_lines(struct reader *reader)
{
    char *words[OCHE_FLOW_MOST_COLUMNS], *line;

    while ((!reader->has_count || reader->flows < reader->announced) &&
           (line = oche_text_next(&reader->input)) != NULL)
        if (reader->columns.count == 0 ? !parse_first(reader, line)
                                       : !split(reader, line, words) || !parse_flow(reader, words))
            return false;
    return true;
}

/* Says what has been read otherwise than it may look. */
static void remark(struct reader *reader)
{
    struct oche_flow_list *list = reader->list;
    size_t used = strlen(list->remark);

    if (reader->columns.in_packets && used < sizeof(list->remark))
        used +=
            (size_t)snprintf(list->remark + used, sizeof(list->remark) - used,
                             "%s%.100s: columns src dst pg packets start stop (ns3-rdma): a "
                             "packet has %u bytes, and a flow goes on behind its stop",
                             used > 0 ? "; " : "", reader->input.name, reader->facts->mtu_bytes);
    if (reader->has_count && oche_text_next(&reader->input) != NULL && used < sizeof(list->remark))
        used += (size_t)snprintf(
            list->remark + used, sizeof(list->remark) - used,
            "%s%.100s: %llu flow%s, as the first line says; line %u and what follows are not read",
            used > 0 ? "; " : "", reader->input.name, (unsigned long long)reader->announced,
            reader->announced == 1 ? "" : "s", reader->input.line);
    if (reader->flows > 0 && reader->first >= LATE && used < sizeof(list->remark)) {
        static const struct oche_param time = {
            .name = "origin", OCHE_IS_TIME(0, 0, OCHE_NEVER), .help = ""};
        char origin[OCHE_VALUE_BYTES];

        oche_value_format(&time, (union oche_value){.u = reader->origin + reader->first}, origin,
                          sizeof(origin));
        snprintf(list->remark + used, sizeof(list->remark) - used,
                 "%s%.100s: its first flow starts after %.9g s, and rates are over that time, too; "
                 "origin: %s in the workload begins the run there",
                 used > 0 ? "; " : "", reader->input.name, (double)reader->first / (double)OCHE_SEC,
                 origin);
    }
}

static bool read_all(struct reader *reader)
{
    const uint32_t before = reader->list->count;

    if (!read_lines(reader))
        return false;
    remark(reader);
    reader->input.line = 0;
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

bool oche_flow_file_read(const struct oche_flow_file *file, const struct oche_workload_facts *facts,
                         struct oche_flow_list *list, struct oche_error *error)
{
    struct reader reader = {.origin = file->origin,
                            .first = OCHE_NEVER,
                            .facts = facts,
                            .names = {.topology = facts->topology},
                            .verb = list->verb,
                            .list = list};

    if (!oche_text_begin(&reader.input, file->name, file->text, file->bytes, error))
        return false;
    const bool good = read_all(&reader);

    oche_host_names_free(&reader.names);
    oche_text_end(&reader.input);
    return good;
}
