/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes packets to a capture file. core/wire makes the bytes, a heap the order, libpcap the file.
 */
#include "sim/capture/pcap_writer.h"

#include <errno.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "core/wire/bytes.h"
#include "core/wire/codec.h"
#include "core/wire/pfc_frame.h"
#include "core/wire/telemetry.h"
#include "params/error.h"
#include "params/part_file.h"

#define SNAP_BYTES  65535
#define LEAST_BYTES (OCHE_MIN_FRAME_BYTES - OCHE_FCS_BYTES)

struct record {
    oche_time when;
    uint64_t number; /* order in which records were added, to break ties */
    uint8_t *bytes;
    uint32_t count;
};

struct oche_pcap_writer {
    char *path;
    pcap_t *pcap;
    pcap_dumper_t *dumper;
    oche_time slack, newest;
    uint64_t records;
    struct record *heap; /* binary heap, oldest record first */
    size_t used, room;
    bool memory_ran_out;
    int failure;                /* errno of the first write that failed, or 0 */
    oche_pcap_encoder *encoder; /* for packets of kind OTHER, or NULL */
    uint8_t scratch[SNAP_BYTES];
};

static uint32_t crc(uint32_t before, const uint8_t *bytes, size_t count)
{
    return (uint32_t)crc32_z(before, bytes, count);
}

static bool before(const struct record *a, const struct record *b)
{
    return a->when != b->when ? a->when < b->when : a->number < b->number;
}

static bool push(struct oche_pcap_writer *writer, struct record record)
{
    size_t at = writer->used;

    if (writer->used == writer->room) {
        const size_t room = writer->room > 0 ? 2 * writer->room : 1024;
        struct record *heap = realloc(writer->heap, room * sizeof(*heap));

        if (heap == NULL)
            return false;
        writer->heap = heap;
        writer->room = room;
    }
    writer->used++;
    while (at > 0 && before(&record, &writer->heap[(at - 1) / 2])) {
        writer->heap[at] = writer->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    writer->heap[at] = record;
    return true;
}

static struct record pop(struct oche_pcap_writer *writer)
{
    const struct record top = writer->heap[0], last = writer->heap[--writer->used];
    size_t at = 0;

    for (;;) {
        size_t child = 2 * at + 1;

        if (child >= writer->used)
            break;
        if (child + 1 < writer->used && before(&writer->heap[child + 1], &writer->heap[child]))
            child++;
        if (!before(&writer->heap[child], &last))
            break;
        writer->heap[at] = writer->heap[child];
        at = child;
    }
    writer->heap[at] = last;
    return top;
}

/*
 * Writes a packet. pcap_dump returns nothing: the stream remembers that a write failed, and errno
 * says why only until the next call.
 */
static void dump(struct oche_pcap_writer *writer, const struct pcap_pkthdr *header,
                 const uint8_t *bytes)
{
    errno = 0;
    pcap_dump((u_char *)writer->dumper, header, bytes);
    if (ferror(pcap_dump_file(writer->dumper)) != 0)
        writer->failure = errno != 0 ? errno : EIO;
}

/* Writes all records up to `until`. */
static void flush(struct oche_pcap_writer *writer, oche_time until)
{
    while (writer->used > 0 && writer->heap[0].when <= until) {
        struct record record = pop(writer);
        const struct pcap_pkthdr header = {
            /* In a nanosecond capture tv_usec holds nanoseconds. */
            .ts = {.tv_sec = (time_t)(record.when / OCHE_SEC),
                   .tv_usec = (suseconds_t)(record.when % OCHE_SEC / OCHE_NS)},
            .caplen = record.count,
            .len = record.count,
        };

        if (writer->failure == 0)
            dump(writer, &header, record.bytes);
        free(record.bytes);
    }
}

static void release(struct oche_pcap_writer *writer)
{
    while (writer->used > 0)
        free(writer->heap[--writer->used].bytes);
    free(writer->heap);
    if (writer->dumper != NULL)
        pcap_dump_close(writer->dumper);
    if (writer->pcap != NULL)
        pcap_close(writer->pcap);
    free(writer->path);
    free(writer);
}

/*
 * Makes the file, which is a new one (params/part_file.h), and hands it to libpcap. Returns false,
 * with a line in `error`, on failure.
 */
static bool open_file(struct oche_pcap_writer *writer, struct oche_error *error)
{
    FILE *file = oche_part_create(writer->path);

    if (file == NULL)
        return oche_fail(error, "%s: %s", writer->path, strerror(errno));
    writer->dumper = pcap_dump_fopen(writer->pcap, file);
    if (writer->dumper != NULL)
        return true;
    fclose(file);
    return oche_fail(error, "%s: %s", writer->path, pcap_geterr(writer->pcap));
}

struct oche_pcap_writer *oche_pcap_create(const char *path, oche_time slack,
                                          struct oche_error *error)
{
    struct oche_pcap_writer *writer = calloc(1, sizeof(*writer));

    if (writer == NULL) {
        oche_fail(error, "%s: out of memory", path);
        return NULL;
    }
    writer->slack = slack;
    writer->path = strdup(path);
    writer->pcap =
        pcap_open_dead_with_tstamp_precision(DLT_EN10MB, SNAP_BYTES, PCAP_TSTAMP_PRECISION_NANO);
    if (writer->path != NULL && writer->pcap != NULL) {
        if (open_file(writer, error))
            return writer;
    } else {
        oche_fail(error, "%s: out of memory", path);
    }
    release(writer);
    return NULL;
}

void oche_pcap_set_slack(struct oche_pcap_writer *writer, oche_time slack)
{
    writer->slack = slack;
}

void oche_pcap_set_encoder(struct oche_pcap_writer *writer, oche_pcap_encoder *encoder)
{
    writer->encoder = encoder;
}

/* What a switch has left of a frame, whose IP header still tells its whole length. */
static size_t encode_trimmed(const struct oche_packet *packet, const struct oche_frame *facts,
                             uint8_t *out)
{
    const size_t kept = packet->frame_bytes - (size_t)OCHE_FCS_BYTES;
    struct oche_packet whole = *packet;

    whole.kind = OCHE_PACKET_ROCE;
    whole.aeth = 0;
    const size_t count = oche_encode_frame(&whole, facts, crc, out, SNAP_BYTES);

    return count < kept ? count : kept;
}

/* Encodes the frame into writer->scratch. Returns its size; 0: the packet has no byte format. */
static size_t encode(struct oche_pcap_writer *writer, const struct oche_packet *packet,
                     const struct oche_frame *frame)
{
    struct oche_frame facts = *frame;
    uint8_t *out = writer->scratch;
    size_t count;

    if (packet->kind == OCHE_PACKET_PFC) {
        oche_pfc_encode(packet, frame->src_mac, out);
        return OCHE_PFC_BYTES;
    }
    if (packet->kind == OCHE_PACKET_FCP)
        return 0; /* not an Ethernet frame */
    facts.ethernet = true;
    facts.udp_checksum = 0;
    if (oche_has_telemetry(packet))
        facts.telemetry = *oche_telemetry_at(packet);
    if (packet->kind == OCHE_PACKET_TRIMMED)
        return encode_trimmed(packet, &facts, out);
    if (packet->kind != OCHE_PACKET_ROCE)
        count = writer->encoder == NULL ? 0 : writer->encoder(packet, &facts, out, SNAP_BYTES);
    else
        count = oche_encode_frame(packet, &facts, crc, out, SNAP_BYTES);
    if (count == 0)
        return 0;
    /* IPv6 stacks drop UDP packets that have no checksum */
    if (frame->ipv6 && packet->kind == OCHE_PACKET_ROCE)
        oche_put16(out + OCHE_ETH_BYTES + OCHE_IPV6_BYTES + 6,
                   oche_udp_checksum(out + OCHE_ETH_BYTES));
    if (count < LEAST_BYTES)
        memset(out + count, 0, LEAST_BYTES - count);
    return count < LEAST_BYTES ? LEAST_BYTES : count;
}

bool oche_pcap_write(struct oche_pcap_writer *writer, const struct oche_packet *packet,
                     const struct oche_frame *frame, oche_time when)
{
    const size_t count = encode(writer, packet, frame);
    struct record record = {.when = when, .number = writer->records, .count = (uint32_t)count};

    if (count == 0)
        return false;
    record.bytes = malloc(count);
    if (record.bytes != NULL)
        memcpy(record.bytes, writer->scratch, count);
    if (record.bytes == NULL || !push(writer, record)) {
        free(record.bytes);
        writer->memory_ran_out = true;
        return true; /* oche_pcap_close reports the error */
    }
    writer->records++;
    if (when > writer->newest)
        writer->newest = when;
    if (writer->newest >= writer->slack)
        flush(writer, writer->newest - writer->slack);
    return true;
}

bool oche_pcap_close(struct oche_pcap_writer *writer, struct oche_error *error)
{
    bool fine;

    flush(writer, OCHE_NEVER);
    errno = 0;
    if (pcap_dump_flush(writer->dumper) != 0 && writer->failure == 0)
        writer->failure = errno != 0 ? errno : EIO;
    fine = writer->failure == 0;
    if (!fine)
        oche_fail(error, "%s: not written whole: %s", writer->path, strerror(writer->failure));
    else if (writer->memory_ran_out)
        oche_fail(error, "%s: not written whole: out of memory", writer->path);
    fine = fine && !writer->memory_ran_out;
    release(writer);
    return fine;
}
