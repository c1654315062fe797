/* SPDX-License-Identifier: Apache-2.0 */
/* Which scripted event applies to a packet; see packet_events.h. */
#include "fabric/packet_events.h"

#include <string.h>

#include "core/random.h"
#include "core/wire/opcode.h"

#define MOST_ITER 65535

static const char *const types[] = {
    [OCHE_PACKET_EVENT_DROP] = "drop",
    [OCHE_PACKET_EVENT_ECN] = "ecn",
    [OCHE_PACKET_EVENT_BIT_ERROR] = "bit-error",
    [OCHE_PACKET_EVENT_DELAY] = "delay",
    [OCHE_PACKET_EVENT_REORDER] = "reorder",
    [OCHE_PACKET_EVENT_DUPLICATE] = "duplicate",
    NULL,
};

static const struct oche_param event_params[] = {
    {OCHE_PARAM(struct oche_packet_event, qpn), OCHE_IS_COUNT(0, 0, 65535), .where = "Lumina",
     .help = "the connection, in the order in which they are first seen"},
    {OCHE_PARAM(struct oche_packet_event, psn), OCHE_IS_COUNT(0, 0, OCHE_PSN_MASK),
     .where = "Lumina", .help = "the packet, counted from the connection's first PSN"},
    {OCHE_PARAM(struct oche_packet_event, type), OCHE_IS_CHOICE(OCHE_PACKET_EVENT_DROP, types),
     .where = "Lumina", .help = "what happens to the packet"},
    {OCHE_PARAM(struct oche_packet_event, iter), OCHE_IS_COUNT(1, 1, MOST_ITER), .where = "Lumina",
     .help = "1: the first transmission; 2: the one after the first resend"},
};
const struct oche_param_table oche_packet_event_params =
    OCHE_PARAM_TABLE(event_params, struct oche_packet_event);

static const struct oche_param by_time = {OCHE_PARAM_AS("by", struct oche_packet_event, delay),
                                          OCHE_IS_TIME(20 * OCHE_US, 1, 3600 * OCHE_SEC),
                                          .where = "our choice", .help = "how late the packet is"};
static const struct oche_param by_packets = {
    OCHE_PARAM_AS("by", struct oche_packet_event, overtake), OCHE_IS_COUNT(1, 1, 65535),
    .where = "our choice", .help = "how many packets overtake it"};

/* Requests to one queue pair from one sender, or its READ responses. */
struct stream {
    uint32_t src, dst, dest_qpn;
    bool used, responses;
    bool after_read;     /* requests: the one before was a READ */
    uint32_t first_psn;  /* of its first data packet here */
    uint32_t expected;   /* PSN */
    uint32_t iter;       /* Lumina's counter */
    uint32_t first, end; /* its events in oche_packet_events.list */
};

struct listed {
    struct oche_packet_event event;
    uint32_t number; /* in the caller's list */
    bool happened;
};

struct kept {
    void *handle;
    uint32_t stream;
    uint32_t left; /* packets that are still to overtake it */
};

struct oche_packet_events {
    struct listed *list; /* in the order of qpn, psn, iter */
    struct stream *table;
    struct kept *kept;
    uint32_t count, table_size; /* a power of two */
    uint32_t streams, most_streams;
    uint32_t kept_count, ready; /* kept packets, and those of them with `left` 0 */
    uint32_t keeps_for, keeps;  /* the last answer was REORDER: stream, and how many overtake */
    uint64_t by_type[OCHE_PACKET_EVENT_TYPES];
};

/* ---- making ---- */

const struct oche_param *oche_packet_event_by(uint32_t type)
{
    if (type == OCHE_PACKET_EVENT_DELAY)
        return &by_time;
    return type == OCHE_PACKET_EVENT_REORDER ? &by_packets : NULL;
}

static bool in_range(const struct oche_param *param, const struct oche_packet_event *event)
{
    return oche_param_in_range(param, oche_param_get(param, event));
}

bool oche_packet_event_valid(const struct oche_packet_event *event)
{
    const struct oche_param *by = oche_packet_event_by(event->type);

    for (size_t i = 0; i < OCHE_COUNT_OF(event_params); i++)
        if (!in_range(&event_params[i], event))
            return false;
    return event->type < OCHE_PACKET_EVENT_TYPES && (by == NULL || in_range(by, event)) &&
           (by == &by_time || event->delay == 0) && (by == &by_packets || event->overtake == 0);
}

/* Returns less than 0, 0 or more than 0 if the packet of `a` comes before, at or after that of b.
 */
static int compare(const struct oche_packet_event *a, const struct oche_packet_event *b)
{
    if (a->qpn != b->qpn)
        return a->qpn < b->qpn ? -1 : 1;
    if (a->psn != b->psn)
        return a->psn < b->psn ? -1 : 1;
    return a->iter != b->iter ? (a->iter < b->iter ? -1 : 1) : 0;
}

bool oche_packet_event_same(const struct oche_packet_event *a, const struct oche_packet_event *b)
{
    return compare(a, b) == 0;
}

static uint32_t streams_of(const struct oche_packet_event *list, uint32_t count)
{
    uint64_t most = 0;

    for (uint32_t i = 0; i < count; i++)
        most = list[i].qpn > most ? list[i].qpn : most;
    return (uint32_t)most + 1;
}

/* Returns the size of the table: at most half of it is used. */
static uint32_t table_size_of(uint32_t streams)
{
    uint32_t size = 4;

    while (size < 2 * streams)
        size *= 2;
    return size;
}

static uint32_t reorders_of(const struct oche_packet_event *list, uint32_t count)
{
    uint32_t reorders = 0;

    for (uint32_t i = 0; i < count; i++)
        reorders += list[i].type == OCHE_PACKET_EVENT_REORDER;
    return reorders;
}

size_t oche_packet_events_bytes(const struct oche_packet_event *list, uint32_t count)
{
    return sizeof(struct oche_packet_events) + count * sizeof(struct listed) +
           reorders_of(list, count) * sizeof(struct kept) +
           table_size_of(streams_of(list, count)) * sizeof(struct stream);
}

struct oche_packet_events *
oche_packet_events_create(void *memory, const struct oche_packet_event *list, uint32_t count)
{
    struct oche_packet_events *events = memory;

    OCHE_MUST(count > 0 && count <= OCHE_MOST_PACKET_EVENTS);
    memset(memory, 0, oche_packet_events_bytes(list, count));
    events->count = count;
    events->most_streams = streams_of(list, count);
    events->table_size = table_size_of(events->most_streams);
    events->list = (struct listed *)(events + 1);
    events->kept = (struct kept *)(events->list + count);
    events->table = (struct stream *)(events->kept + reorders_of(list, count));
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = i;

        OCHE_MUST(oche_packet_event_valid(&list[i]));
        for (; at > 0 && compare(&list[i], &events->list[at - 1].event) < 0; at--)
            events->list[at] = events->list[at - 1];
        OCHE_MUST(at == 0 || compare(&list[i], &events->list[at - 1].event) != 0);
        events->list[at] = (struct listed){.event = list[i], .number = i};
    }
    return events;
}

/* ---- streams ---- */

/* Returns the first event of the range that is not before `key`. */
static uint32_t lower_bound(const struct oche_packet_events *events, uint32_t first, uint32_t end,
                            const struct oche_packet_event *key)
{
    while (first < end) {
        const uint32_t middle = first + (end - first) / 2;

        if (compare(&events->list[middle].event, key) < 0)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

static void begin_stream(struct oche_packet_events *events, struct stream *stream,
                         const struct oche_packet *packet, bool responses)
{
    const uint32_t number = events->streams++;
    const struct oche_packet_event from = {.qpn = number}, to = {.qpn = number + 1};

    *stream = (struct stream){.src = packet->src,
                              .dst = packet->dst,
                              .dest_qpn = packet->dest_qpn,
                              .used = true,
                              .responses = responses,
                              .first_psn = packet->psn,
                              .expected = packet->psn,
                              .iter = 1,
                              .first = lower_bound(events, 0, events->count, &from),
                              .end = lower_bound(events, 0, events->count, &to)};
}

/*
 * Returns the packet's stream. If it has none yet, begins one if `data`, or else returns NULL; and
 * also if no event can be for the new stream, because its number is too large.
 */
static struct stream *stream_of(struct oche_packet_events *events, const struct oche_packet *packet,
                                bool responses, bool data)
{
    const uint64_t key = (uint64_t)packet->src << 32 ^ (uint64_t)packet->dst << 25 ^
                         (uint64_t)packet->dest_qpn << 1 ^ (uint64_t)responses;
    uint32_t at = (uint32_t)oche_mix64(key) & (events->table_size - 1);

    for (;; at = (at + 1) & (events->table_size - 1)) {
        struct stream *stream = &events->table[at];

        if (!stream->used) {
            if (!data || events->streams == events->most_streams)
                return NULL;
            begin_stream(events, stream, packet, responses);
            return stream;
        }
        if (stream->dest_qpn == packet->dest_qpn && stream->src == packet->src &&
            stream->dst == packet->dst && stream->responses == responses)
            return stream;
    }
}

/* Moves Lumina's counter, and the expected PSN. */
static void count(struct stream *stream, const struct oche_packet *packet,
                  const struct oche_opcode_row *row)
{
    const int32_t ahead = oche_psn_diff(packet->psn, stream->expected);
    const bool begins = (row->flags & OCHE_OP_FIRST) != 0;
    const bool may_skip = begins && (stream->responses || stream->after_read);

    if (ahead != 0 && !(may_skip && ahead > 0))
        stream->iter += stream->iter <= MOST_ITER;
    else if (begins)
        stream->iter = 1;
    stream->expected = oche_psn_add(packet->psn, 1);
    stream->after_read = row->operation == OCHE_OPERATION_READ;
}

/* ---- packets ---- */

/* Returns the event for the stream's packet that is now seen, or NULL. */
static struct listed *event_for(struct oche_packet_events *events, const struct stream *stream,
                                const struct oche_packet *packet)
{
    struct oche_packet_event key = {.psn = (packet->psn - stream->first_psn) & OCHE_PSN_MASK,
                                    .iter = stream->iter};
    uint32_t at;

    if (stream->first == stream->end)
        return NULL;
    key.qpn = events->list[stream->first].event.qpn;
    at = lower_bound(events, stream->first, stream->end, &key);
    if (at == stream->end || compare(&events->list[at].event, &key) != 0 ||
        events->list[at].happened)
        return NULL;
    return &events->list[at];
}

/* A packet of the stream passes on: it overtakes those that are kept. */
static void overtake(struct oche_packet_events *events, uint32_t stream)
{
    for (uint32_t i = 0; i < events->kept_count; i++)
        if (events->kept[i].stream == stream && events->kept[i].left > 0)
            events->ready += --events->kept[i].left == 0;
}

const struct oche_packet_event *oche_packet_events_see(struct oche_packet_events *events,
                                                       const struct oche_packet *packet)
{
    const struct oche_opcode_row *row = oche_opcode(packet->opcode);
    const bool responses = (row->flags & OCHE_OP_RESPONSE) != 0;
    const bool data = (row->flags & OCHE_OP_PAYLOAD) != 0;
    struct stream *stream;
    struct listed *found;

    events->keeps = 0;
    if (packet->kind != OCHE_PACKET_ROCE || !(data || (row->flags & OCHE_OP_TAKES_PSN)) ||
        (row->service != OCHE_SERVICE_RC && row->service != OCHE_SERVICE_RC_EXTENDED &&
         row->service != OCHE_SERVICE_UC) ||
        (stream = stream_of(events, packet, responses, data)) == NULL)
        return NULL;
    count(stream, packet, row);
    if (!data)
        return NULL;
    found = event_for(events, stream, packet);
    if (found == NULL || found->event.type == OCHE_PACKET_EVENT_ECN ||
        found->event.type == OCHE_PACKET_EVENT_BIT_ERROR ||
        found->event.type == OCHE_PACKET_EVENT_DUPLICATE)
        overtake(events, (uint32_t)(stream - events->table));
    if (found == NULL)
        return NULL;
    found->happened = true;
    events->by_type[found->event.type]++;
    if (found->event.type == OCHE_PACKET_EVENT_REORDER) {
        events->keeps = (uint32_t)found->event.overtake;
        events->keeps_for = (uint32_t)(stream - events->table);
    }
    return &found->event;
}

void oche_packet_events_keep(struct oche_packet_events *events, void *handle)
{
    OCHE_MUST(events->keeps > 0);
    events->kept[events->kept_count++] =
        (struct kept){.handle = handle, .stream = events->keeps_for, .left = events->keeps};
    events->keeps = 0;
}

void *oche_packet_events_release(struct oche_packet_events *events)
{
    uint32_t at = 0;
    void *handle;

    if (OCHE_LIKELY(events->ready == 0))
        return NULL;
    while (events->kept[at].left > 0)
        at++;
    handle = events->kept[at].handle;
    events->kept_count--;
    events->ready--;
    for (; at < events->kept_count; at++)
        events->kept[at] = events->kept[at + 1];
    return handle;
}

/* ---- results ---- */

void oche_packet_events_counts(const struct oche_packet_events *events,
                               struct oche_packet_event_counts *counts)
{
    *counts =
        (struct oche_packet_event_counts){.listed = events->count, .kept = events->kept_count};
    for (unsigned type = 0; type < OCHE_PACKET_EVENT_TYPES; type++) {
        counts->by_type[type] = events->by_type[type];
        counts->happened += events->by_type[type];
    }
    for (uint32_t i = 0; i < events->count; i++) {
        const struct listed *one = &events->list[i];

        if (one->happened)
            continue;
        if (counts->never == 0 || one->number < counts->first_left)
            counts->first_left = one->number;
        counts->never++;
    }
}

const struct oche_packet_event *oche_packet_events_at(const struct oche_packet_events *events,
                                                      uint64_t number)
{
    uint32_t at = 0;

    OCHE_MUST(number < events->count);
    while (events->list[at].number != number)
        at++;
    return &events->list[at].event;
}

void *oche_packet_events_kept(const struct oche_packet_events *events, uint32_t number)
{
    OCHE_MUST(number < events->kept_count);
    return events->kept[number].handle;
}
