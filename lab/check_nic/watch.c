/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From packets to the judges' trace; see watch.h. Packets are kept until the end, as only then it
 * is known which answers belong to which data.
 */
#include "lab/check_nic/watch.h"

#include <stdlib.h>

#include "core/wire/aeth.h"
#include "core/wire/opcode.h"
#include "lab/check_nic/ways.h"

#define MOST_MISSING 1000000 /* packets that are put in, in all: a capture may be hostile */

/* A packet that was seen; seen.stream is the number of its way until the end. */
struct noted {
    struct oche_seen_packet seen;
    uint8_t opcode;
};

/* A stream of data, for packets that are missing behind the events. */
struct progress {
    bool begun;
    uint32_t next;    /* PSN behind the last one */
    uint32_t restart; /* PSN at which the sender restarts, if it does: a NACK's, else unacked */
};

struct oche_nic_watch {
    struct oche_watch_config config;
    void *memory; /* of `script` */
    struct oche_packet_events *script;
    struct noted *list;
    size_t count, room;
    struct oche_ways *ways;
    struct progress *progress; /* by stream */
    oche_time began;
    uint32_t missing; /* packets that were put in */
    uint64_t strangers, contradicted;
    struct oche_nic_trace trace;
    size_t trace_room;
};

struct oche_nic_watch *oche_nic_watch_create(const struct oche_watch_config *config)
{
    struct oche_nic_watch *watch = calloc(1, sizeof(*watch));

    OCHE_GOT(watch != NULL);
    watch->config = *config;
    watch->ways = calloc(1, sizeof(*watch->ways));
    OCHE_GOT(watch->ways != NULL);
    if (config->event_count > 0) {
        watch->memory = calloc(1, oche_packet_events_bytes(config->events, config->event_count));
        OCHE_GOT(watch->memory != NULL);
        watch->script =
            oche_packet_events_create(watch->memory, config->events, config->event_count);
    }
    watch->config.events = NULL; /* the caller's */
    return watch;
}

void oche_nic_watch_free(struct oche_nic_watch *watch)
{
    free(watch->memory);
    free(watch->list);
    free(watch->ways);
    free(watch->progress);
    free(watch->trace.packets);
    free(watch->trace.streams);
    free(watch);
}

const char *oche_seen_kind_name(unsigned kind)
{
    static const char *const names[] = {
        [OCHE_SEEN_DATA] = "data",   [OCHE_SEEN_READ_REQUEST] = "READ", [OCHE_SEEN_ACK] = "ACK",
        [OCHE_SEEN_NAK] = "NACK",    [OCHE_SEEN_CNP] = "CNP",           [OCHE_SEEN_RNR] = "RNR NAK",
        [OCHE_SEEN_OTHER] = "other",
    };

    return names[kind];
}

/* ---- packets ---- */

static enum oche_seen_kind kind_of_answer(const struct oche_packet *packet)
{
    const uint8_t syndrome = oche_aeth_syndrome(packet);

    if (oche_aeth_kind(syndrome) == OCHE_AETH_ACK)
        return OCHE_SEEN_ACK;
    if (oche_aeth_kind(syndrome) == OCHE_AETH_RNR)
        return OCHE_SEEN_RNR;
    return syndrome == OCHE_SYNDROME_NAK_SEQUENCE ? OCHE_SEEN_NAK : OCHE_SEEN_OTHER;
}

static enum oche_seen_kind kind_of(const struct oche_packet *packet)
{
    const struct oche_opcode_row *row = oche_opcode(packet->opcode);

    if (packet->kind != OCHE_PACKET_ROCE)
        return OCHE_SEEN_OTHER;
    if (packet->opcode == OCHE_CNP)
        return OCHE_SEEN_CNP;
    if (row->service != OCHE_SERVICE_RC && row->service != OCHE_SERVICE_RC_EXTENDED)
        return OCHE_SEEN_OTHER;
    if ((row->flags & OCHE_OP_PAYLOAD) != 0)
        return OCHE_SEEN_DATA;
    if (row->operation == OCHE_OPERATION_READ)
        return OCHE_SEEN_READ_REQUEST;
    return row->operation == OCHE_OPERATION_ACK ? kind_of_answer(packet) : OCHE_SEEN_OTHER;
}

void oche_nic_watch_see(struct oche_nic_watch *watch, const struct oche_packet *packet,
                        oche_time when, uint64_t number, enum oche_seen_event event)
{
    const enum oche_seen_kind kind = kind_of(packet);
    const uint64_t mtu = watch->config.mtu_bytes;
    struct noted *noted;
    uint32_t way;

    if (kind == OCHE_SEEN_OTHER)
        return;
    way = oche_ways_add(watch->ways, packet, kind);
    if (way == OCHE_NO_WAY) {
        watch->strangers++;
        return;
    }
    if (watch->count == watch->room) {
        watch->room = watch->room == 0 ? 1024 : 2 * watch->room;
        watch->list = realloc(watch->list, watch->room * sizeof(*watch->list));
        OCHE_GOT(watch->list != NULL);
    }
    if (watch->count == 0)
        watch->began = when;
    noted = &watch->list[watch->count++];
    *noted = (struct noted){.opcode = packet->opcode,
                            .seen = {.when = when > watch->began ? when - watch->began : 0,
                                     .number = number,
                                     .stream = way,
                                     .psn = packet->psn,
                                     .kind = (uint8_t)kind,
                                     .event = (uint8_t)event}};
    if (kind == OCHE_SEEN_READ_REQUEST)
        noted->seen.span = packet->reth.dma_length == 0
                               ? 1
                               : (uint32_t)((packet->reth.dma_length + mtu - 1) / mtu);
}

/* ---- the trace ---- */

static void emit(struct oche_nic_watch *watch, const struct oche_seen_packet *seen)
{
    struct oche_nic_trace *trace = &watch->trace;

    watch->missing += seen->number == 0;
    if (trace->count == watch->trace_room) {
        watch->trace_room = watch->trace_room == 0 ? 1024 : 2 * watch->trace_room;
        trace->packets = realloc(trace->packets, watch->trace_room * sizeof(*trace->packets));
        OCHE_GOT(trace->packets != NULL);
    }
    trace->packets[trace->count++] = *seen;
}

/* Returns what the script says of the packet, and lets it count. */
static enum oche_seen_event told(struct oche_nic_watch *watch, const struct oche_way *way,
                                 uint8_t opcode, uint32_t psn)
{
    const struct oche_packet packet = {.kind = OCHE_PACKET_ROCE,
                                       .opcode = opcode,
                                       .psn = psn,
                                       .src = way->src,
                                       .dst = way->dst,
                                       .dest_qpn = way->dest_qpn};
    const struct oche_packet_event *event =
        watch->script != NULL ? oche_packet_events_see(watch->script, &packet) : NULL;

    if (event == NULL)
        return OCHE_SEEN_PASSED;
    switch (event->type) {
    case OCHE_PACKET_EVENT_DROP:
        return OCHE_SEEN_DROPPED;
    case OCHE_PACKET_EVENT_BIT_ERROR:
        return OCHE_SEEN_DAMAGED;
    case OCHE_PACKET_EVENT_ECN:
        return OCHE_SEEN_MARKED;
    default:
        return OCHE_SEEN_PASSED;
    }
}

/* Returns an opcode for a packet that was not seen: of a message's first packet, or a later one. */
static uint8_t opcode_of(const struct oche_nic_watch *watch, const struct oche_way *way,
                         uint32_t psn)
{
    const bool begins = ((psn - way->first) & OCHE_PSN_MASK) % watch->config.message_packets == 0;

    if (way->responses)
        return begins ? OCHE_RC_READ_RESPONSE_FIRST : OCHE_RC_READ_RESPONSE_MIDDLE;
    return begins ? OCHE_RC_WRITE_FIRST : OCHE_RC_WRITE_MIDDLE;
}

/* Adds the packets from PSN `from` to the one before `noted`, which the capture does not have. */
static void add_missing(struct oche_nic_watch *watch, const struct noted *noted, uint32_t from)
{
    const struct oche_way *way = &watch->ways->list[noted->seen.stream];
    struct oche_seen_packet missing = noted->seen;

    missing.number = 0;
    missing.stream = way->stream;
    for (missing.psn = from;
         oche_psn_diff(noted->seen.psn, missing.psn) > 0 && watch->missing < MOST_MISSING;
         missing.psn = oche_psn_add(missing.psn, 1)) {
        const enum oche_seen_event event =
            told(watch, way, opcode_of(watch, way, missing.psn), missing.psn);

        missing.event = (uint8_t)(event == OCHE_SEEN_DAMAGED ? event : OCHE_SEEN_DROPPED);
        emit(watch, &missing);
    }
}

/*
 * Before the sender restarts: adds the packets up to the message's end that the script has lost.
 * The script then counts one packet more; the restart is a jump, so its counter rises once anyway.
 */
static void add_lost_tail(struct oche_nic_watch *watch, const struct noted *noted, uint32_t from)
{
    const struct oche_way *way = &watch->ways->list[noted->seen.stream];
    struct oche_seen_packet missing = noted->seen;

    missing.number = 0;
    missing.stream = way->stream;
    for (missing.psn = from;
         ((missing.psn - way->first) & OCHE_PSN_MASK) % watch->config.message_packets != 0;
         missing.psn = oche_psn_add(missing.psn, 1)) {
        const enum oche_seen_event event =
            told(watch, way, opcode_of(watch, way, missing.psn), missing.psn);

        if (event != OCHE_SEEN_DROPPED && event != OCHE_SEEN_DAMAGED)
            return;
        missing.event = (uint8_t)event;
        emit(watch, &missing);
    }
}

/* Finds what is missing before the packet. Returns what happened to the packet itself. */
static enum oche_seen_event behind(struct oche_nic_watch *watch, const struct noted *noted,
                                   struct progress *progress)
{
    const struct oche_way *way = &watch->ways->list[noted->seen.stream];
    const uint32_t psn = noted->seen.psn;
    enum oche_seen_event should;

    if (!progress->begun) /* the lowest PSN was sent first, and may have been lost */
        *progress = (struct progress){.begun = true, .next = way->first, .restart = way->first};
    if (oche_psn_diff(psn, progress->next) > 0)
        add_missing(watch, noted, progress->next);
    if (oche_psn_diff(psn, progress->next) < 0) {
        add_lost_tail(watch, noted, progress->next);
        add_missing(watch, noted, progress->restart);
    }
    /* One that should be lost and is here is its repeat: the first one was lost before. */
    while ((should = told(watch, way, noted->opcode, psn)) == OCHE_SEEN_DROPPED ||
           (should == OCHE_SEEN_DAMAGED && noted->seen.event != OCHE_SEEN_DAMAGED)) {
        struct oche_seen_packet missing = noted->seen;

        missing.number = 0;
        missing.stream = way->stream;
        missing.event = (uint8_t)should;
        emit(watch, &missing);
    }
    return should;
}

/* Notes where a sender restarts after this packet. */
static void follow(struct progress *progress, const struct oche_seen_packet *seen)
{
    if (seen->kind == OCHE_SEEN_DATA) {
        if (!progress->begun)
            progress->restart = seen->psn;
        progress->begun = true;
        progress->next = oche_psn_add(seen->psn, 1);
    } else if (seen->kind == OCHE_SEEN_ACK) {
        progress->restart = oche_psn_add(seen->psn, 1);
    } else if (seen->kind == OCHE_SEEN_NAK || seen->kind == OCHE_SEEN_READ_REQUEST) {
        progress->restart = seen->psn;
    }
}

static void replay(struct oche_nic_watch *watch, const struct noted *noted)
{
    const struct oche_way *way = &watch->ways->list[noted->seen.stream];
    struct oche_seen_packet seen = noted->seen;
    enum oche_seen_event should = OCHE_SEEN_PASSED;

    if (way->stream == OCHE_NO_WAY) {
        watch->strangers++;
        return;
    }
    seen.stream = way->stream;
    if (seen.kind == OCHE_SEEN_DATA && watch->config.place == OCHE_WATCH_BEHIND)
        should = behind(watch, noted, &watch->progress[way->stream]);
    else
        should = told(watch, way, noted->opcode, seen.psn);
    if (watch->config.place == OCHE_WATCH_TOLD)
        watch->contradicted += should != seen.event;
    else if (should != OCHE_SEEN_PASSED)
        seen.event = (uint8_t)should;
    emit(watch, &seen);
    follow(&watch->progress[way->stream], &seen);
}

static void make_streams(struct oche_nic_watch *watch)
{
    const struct oche_ways *ways = watch->ways;
    struct oche_nic_trace *trace = &watch->trace;

    trace->streams = calloc(ways->streams + 1, sizeof(*trace->streams));
    watch->progress = calloc(ways->streams + 1, sizeof(*watch->progress));
    OCHE_GOT(trace->streams != NULL && watch->progress != NULL);
    for (uint32_t i = 0; i < ways->count; i++) {
        const struct oche_way *way = &ways->list[i];

        if (way->data)
            trace->streams[trace->stream_count++] = (struct oche_seen_stream){
                .qpn = way->dest_qpn,
                .sender = way->src,
                .receiver = way->dst,
                .responses = way->responses,
                .first = way->first,
                .behind = way->end,
            };
    }
}

struct oche_watched oche_nic_watch_finish(struct oche_nic_watch *watch)
{
    struct oche_watched watched = {.events = 0};
    struct oche_packet_event_counts counts;

    oche_ways_match(watch->ways);
    make_streams(watch);
    for (size_t i = 0; i < watch->count; i++)
        replay(watch, &watch->list[i]);
    watched.trace = watch->trace;
    watched.strangers = watch->strangers;
    watched.contradicted = watch->contradicted;
    if (watch->script != NULL) {
        oche_packet_events_counts(watch->script, &counts);
        watched.events = counts.listed;
        watched.events_seen = counts.happened;
        watched.first_left = counts.first_left;
    }
    return watched;
}
