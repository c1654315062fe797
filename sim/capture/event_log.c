/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collects the events of each shard, which come node by node, brings them between windows into the
 * order of time and node, merges them, and writes them as lines.
 */
#include "sim/capture/event_log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/capture/event_fields.h"
#include "sim/network/endpoint.h"
#include "sim/network/host.h"

#define LINE_BYTES   2048 /* room for a line: some 40 columns of up to 20 digits */
#define MOST_COLUMNS 64
#define NO_NUMBER    UINT64_MAX

struct event {
    struct oche_trace_record record;
    uint32_t node;
    uint32_t number; /* in the batch: each node's own events keep their order */
};

/* The events of one shard. */
struct batch {
    struct oche_event_log *log;
    struct event *events;
    size_t count, room;
    size_t written; /* of `count` */
} __attribute__((aligned(OCHE_CACHE_LINE)));

struct oche_event_log {
    FILE *out;
    enum oche_event_format format;
    const struct oche_topology *topology;
    struct batch *batches;
    uint32_t batch_count, connections;
    bool roce;
    char *filter; /* NULL: everything */
    /* One bit per connection: is written. NULL: all are, and what is of no connection. */
    uint64_t *wanted;
    uint64_t lines;
    int failure;
    /* The columns of CSV after the first ones, in order, and the column of each field. */
    const char *columns[MOST_COLUMNS];
    unsigned column_count;
    uint8_t column_of[OCHE_TRACE_KINDS][OCHE_EVENT_MOST_FIELDS];
};

/* ---- lines ---- */

struct line {
    char text[LINE_BYTES];
    size_t used;
};

static void put_text(struct line *line, const char *text)
{
    size_t length = strlen(text);

    OCHE_MUST(line->used + length < sizeof(line->text));
    memcpy(line->text + line->used, text, length);
    line->used += length;
}

static void put_number(struct line *line, uint64_t number)
{
    char digits[20];
    size_t count = 0;

    do
        digits[count++] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    OCHE_MUST(line->used + count < sizeof(line->text));
    while (count > 0)
        line->text[line->used++] = digits[--count];
}

/* Returns the number of the event's connection, or NO_NUMBER. */
static uint64_t connection_of(const struct oche_event_log *log,
                              const struct oche_trace_record *record)
{
    uint32_t number = oche_connection_of(record->qpn);

    /* what tells of a group of senders has the group's number in place of a queue pair's */
    if (record->qpn < OCHE_FIRST_QPN || number >= log->connections ||
        record->kind == OCHE_TRACE_SENDERS)
        return NO_NUMBER;
    return number;
}

static void put_member(struct line *line, const char *name, uint64_t value)
{
    put_text(line, ",\"");
    put_text(line, name);
    put_text(line, "\":");
    put_number(line, value);
}

static void put_json(const struct oche_event_log *log, struct line *line, const struct event *event)
{
    const struct oche_trace_record *record = &event->record;
    uint64_t connection = connection_of(log, record);

    put_text(line, "{\"time_ps\":");
    put_number(line, record->time);
    put_text(line, ",\"node\":\"");
    put_text(line, log->topology->nodes[event->node].name);
    put_text(line, "\"");
    if (record->qpn != 0)
        put_member(line, "qp", record->qpn);
    if (connection != NO_NUMBER)
        put_member(line, "connection", connection);
    put_text(line, ",\"event\":\"");
    put_text(line, oche_event_name(record, log->roce));
    put_text(line, "\"");
    for (const struct oche_event_field *field =
             oche_event_fields((enum oche_trace_kind)record->kind);
         field->name != NULL; field++)
        put_member(line, field->name, oche_event_value(record, field));
    put_text(line, "}\n");
}

static void put_csv(const struct oche_event_log *log, struct line *line, const struct event *event)
{
    const struct oche_trace_record *record = &event->record;
    const struct oche_event_field *fields = oche_event_fields((enum oche_trace_kind)record->kind);
    const struct oche_event_field *of[MOST_COLUMNS] = {NULL};
    uint64_t connection = connection_of(log, record);

    put_number(line, record->time);
    put_text(line, ",");
    put_text(line, log->topology->nodes[event->node].name);
    put_text(line, ",");
    if (record->qpn != 0)
        put_number(line, record->qpn);
    put_text(line, ",");
    if (connection != NO_NUMBER)
        put_number(line, connection);
    put_text(line, ",");
    put_text(line, oche_event_name(record, log->roce));
    for (unsigned i = 0; fields[i].name != NULL; i++)
        of[log->column_of[record->kind][i]] = &fields[i];
    for (unsigned i = 0; i < log->column_count; i++) {
        put_text(line, ",");
        if (of[i] != NULL)
            put_number(line, oche_event_value(record, of[i]));
    }
    put_text(line, "\n");
}

static void put_out(struct oche_event_log *log, const struct line *line)
{
    if (log->failure != 0)
        return;
    errno = 0;
    if (fwrite(line->text, 1, line->used, log->out) != line->used)
        log->failure = errno != 0 ? errno : EIO;
}

static void write_event(struct oche_event_log *log, const struct event *event)
{
    struct line line = {.used = 0};

    if (log->format == OCHE_EVENTS_CSV)
        put_csv(log, &line, event);
    else
        put_json(log, &line, event);
    put_out(log, &line);
    log->lines++;
}

static void write_header(struct oche_event_log *log)
{
    struct line line = {.used = 0};

    if (log->format != OCHE_EVENTS_CSV)
        return;
    put_text(&line, "time_ps,node,qp,connection,event");
    for (unsigned i = 0; i < log->column_count; i++) {
        put_text(&line, ",");
        put_text(&line, log->columns[i]);
    }
    put_text(&line, "\n");
    put_out(log, &line);
}

/* Gives each name of a field a column, in the order of the kinds that have them. */
static void make_columns(struct oche_event_log *log)
{
    for (unsigned kind = 0; kind < OCHE_TRACE_KINDS; kind++) {
        const struct oche_event_field *fields = oche_event_fields((enum oche_trace_kind)kind);

        for (unsigned i = 0; fields[i].name != NULL; i++) {
            unsigned column = 0;

            while (column < log->column_count && strcmp(log->columns[column], fields[i].name) != 0)
                column++;
            OCHE_MUST(column < MOST_COLUMNS);
            if (column == log->column_count)
                log->columns[log->column_count++] = fields[i].name;
            log->column_of[kind][i] = (uint8_t)column;
        }
    }
}

/* ---- collecting and merging ---- */

static bool is_before(const struct event *a, const struct event *b)
{
    return a->record.time != b->record.time ? a->record.time < b->record.time : a->node < b->node;
}

static int compare(const void *left, const void *right)
{
    const struct event *a = left, *b = right;

    if (a->record.time != b->record.time || a->node != b->node)
        return is_before(a, b) ? -1 : 1;
    return a->number < b->number ? -1 : 1;
}

bool oche_event_log_write(struct oche_event_log *log)
{
    for (uint32_t i = 0; i < log->batch_count; i++)
        if (log->batches[i].count > 1)
            qsort(log->batches[i].events, log->batches[i].count, sizeof(struct event), compare);
    for (;;) {
        struct batch *first = NULL;

        for (uint32_t i = 0; i < log->batch_count; i++) {
            struct batch *batch = &log->batches[i];

            if (batch->written < batch->count &&
                (first == NULL ||
                 is_before(&batch->events[batch->written], &first->events[first->written])))
                first = batch;
        }
        if (first == NULL)
            break;
        write_event(log, &first->events[first->written++]);
    }
    for (uint32_t i = 0; i < log->batch_count; i++)
        log->batches[i].count = log->batches[i].written = 0;
    return log->failure == 0;
}

static bool is_wanted(const struct oche_event_log *log, const struct oche_trace_record *record)
{
    if (log->wanted == NULL)
        return true;
    uint64_t connection = connection_of(log, record);

    return connection != NO_NUMBER && (log->wanted[connection / 64] >> connection % 64 & 1) != 0;
}

/* The sink of every node of a shard; `context` is the shard's batch. */
static void hear(void *context, uint32_t node, const struct oche_trace_record *record)
{
    struct batch *batch = context;

    if (!is_wanted(batch->log, record))
        return;
    if (batch->count == batch->room) {
        batch->room = batch->room == 0 ? 1024 : 2 * batch->room;
        batch->events = realloc(batch->events, batch->room * sizeof(*batch->events));
        if (batch->events == NULL)
            oche_panic(__FILE__, __LINE__, "out of memory for a trace");
    }
    batch->events[batch->count] =
        (struct event){.record = *record, .node = node, .number = (uint32_t)batch->count};
    batch->count++;
}

/* ---- the filter ---- */

/*
 * Takes the next item, "host=3", off the filter; one without a key has that of the item before it.
 * Returns false at the end.
 */
static bool next_item(char **rest, const char **key, const char **value)
{
    char *item = strsep(rest, ","), *equals;

    if (item == NULL)
        return false;
    equals = strchr(item, '=');
    *value = equals == NULL ? item : equals + 1;
    if (equals != NULL) {
        *equals = '\0';
        *key = item;
    }
    return true;
}

static bool check_filter(const char *filter, struct oche_error *error)
{
    char *copy = strdup(filter), *rest = copy;
    const char *key = "", *value;
    bool fine = true;

    OCHE_GOT(copy != NULL);
    while (fine && next_item(&rest, &key, &value)) {
        if (strcmp(key, "host") != 0 && strcmp(key, "flow") != 0)
            fine = oche_fail(error, "\"%.40s\" is not known; write host=3, host=tor0 or flow=7",
                             *key == '\0' ? value : key);
        else if (*value == '\0')
            fine = oche_fail(error, "%s= has no value; write such as %s", key,
                             *key == 'h' ? "host=3 or host=tor0" : "flow=7");
    }
    free(copy);
    return fine;
}

/* Reads a whole number below `limit`. */
static bool read_number(const char *text, uint32_t limit, uint32_t *number)
{
    uint64_t sum = 0;

    if (*text == '\0')
        return false;
    for (; *text >= '0' && *text <= '9' && sum < limit; text++)
        sum = 10 * sum + (uint64_t)(*text - '0');
    *number = (uint32_t)sum;
    return *text == '\0' && sum < limit;
}

static bool want_node(const struct oche_topology *topology, const char *name, uint8_t *wanted,
                      struct oche_error *error)
{
    uint32_t node = oche_topology_find(topology, name);

    if (node == UINT32_MAX && !read_number(name, topology->host_count, &node))
        return oche_fail(error,
                         OCHE_EVENT_LOG_SAYS
                         "no node is called \"%.40s\"; hosts are %s to %s, or 0 to %u, switches %s "
                         "to %s",
                         name, topology->nodes[0].name,
                         topology->nodes[topology->host_count - 1].name, topology->host_count - 1,
                         topology->nodes[topology->host_count].name,
                         topology->nodes[oche_topology_nodes(topology) - 1].name);
    wanted[node] = 1;
    return true;
}

static bool want_flow(struct oche_event_log *log, const struct oche_flows *flows, const char *name,
                      struct oche_error *error)
{
    uint32_t number;

    if (flows->count == 0)
        return oche_fail(error, OCHE_EVENT_LOG_SAYS "flow %.40s: there are no flows", name);
    if (!read_number(name, flows->count, &number))
        return oche_fail(error, OCHE_EVENT_LOG_SAYS "flow %.40s: there are flows 0 to %u", name,
                         flows->count - 1);
    uint32_t connection = oche_flows_plan(flows, number).connection;

    log->wanted[connection / 64] |= UINT64_C(1) << connection % 64;
    return true;
}

/* Sets the nodes that are listened to, and the connections. */
static bool apply_filter(struct oche_event_log *log, const struct oche_flows *flows, uint8_t *nodes,
                         struct oche_error *error)
{
    uint32_t count = oche_topology_nodes(log->topology);
    bool of_hosts = false, fine = true;
    char *rest = log->filter;
    const char *key = "", *value;

    while (fine && log->filter != NULL && next_item(&rest, &key, &value)) {
        if (strcmp(key, "host") == 0) {
            fine = want_node(log->topology, value, nodes, error);
            of_hosts = true;
            continue;
        }
        if (log->wanted == NULL)
            log->wanted = calloc((size_t)log->connections / 64 + 1, sizeof(*log->wanted));
        OCHE_GOT(log->wanted != NULL);
        fine = want_flow(log, flows, value, error);
    }
    if (!of_hosts)
        memset(nodes, 1, count);
    return fine;
}

/* ---- the log ---- */

struct oche_event_log *oche_event_log_create(FILE *out, enum oche_event_format format,
                                             const char *filter, struct oche_error *error)
{
    if (filter != NULL && !check_filter(filter, error))
        return NULL;
    struct oche_event_log *log = calloc(1, sizeof(*log));

    OCHE_GOT(log != NULL);
    log->out = out;
    log->format = format;
    log->filter = filter == NULL ? NULL : strdup(filter);
    OCHE_GOT(filter == NULL || log->filter != NULL);
    make_columns(log);
    return log;
}

bool oche_event_log_attach(struct oche_event_log *log, struct oche_network *network,
                           const struct oche_topology *topology, const struct oche_flows *flows,
                           struct oche_error *error)
{
    uint8_t *nodes = calloc(network->node_count, 1);

    OCHE_GOT(nodes != NULL);
    log->topology = topology;
    log->connections = flows->connection_count;
    log->roce = network->endpoint == NULL || network->endpoint->roce;
    bool fine = apply_filter(log, flows, nodes, error);

    if (fine) {
        log->batch_count = network->shard_count;
        log->batches = aligned_alloc(OCHE_CACHE_LINE, log->batch_count * sizeof(*log->batches));
        OCHE_GOT(log->batches != NULL);
        memset(log->batches, 0, log->batch_count * sizeof(*log->batches));
        write_header(log);
    }
    for (uint32_t i = 0; fine && i < log->batch_count; i++)
        log->batches[i].log = log;
    for (uint32_t i = 0; fine && i < network->node_count; i++) {
        if (!nodes[i])
            continue;
        network->nodes[i].trace.sink = hear;
        network->nodes[i].trace.sink_context = &log->batches[network->nodes[i].shard];
    }
    free(nodes);
    return fine;
}

uint64_t oche_event_log_lines(const struct oche_event_log *log)
{
    return log->lines;
}

int oche_event_log_failure(const struct oche_event_log *log)
{
    return log->failure;
}

void oche_event_log_free(struct oche_event_log *log)
{
    if (log == NULL)
        return;
    for (uint32_t i = 0; i < log->batch_count; i++)
        free(log->batches[i].events);
    free(log->batches);
    free(log->wanted);
    free(log->filter);
    free(log);
}
