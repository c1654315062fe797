/* SPDX-License-Identifier: Apache-2.0 */
/* Reads captures for a test of adapters; see capture.h. */
#include "cli/check_nic/capture.h"

#include <pcap/pcap.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "cli/wire/link_layer.h"
#include "cli/wire/tunnel.h"
#include "core/wire/codec.h"
#include "params/input_file.h"

#define ROOM          (65536 + 64)
#define ROCE_UDP_PORT 4791
#define MOST_PACKETS  4000000

/* A packet, kept until all are known: a mirror's are in the order of their numbers. */
struct frame {
    uint64_t number, time_ns;               /* in the file */
    uint64_t mirror_number, mirror_time_ns; /* the MAC addresses, as a mirror's switch sets them */
    uint8_t ttl;
    bool damaged;
    struct oche_packet packet; /* its addresses are numbers */
};

struct reader {
    const struct oche_nic_test *test;
    struct oche_check_capture *capture;
    struct frame *frames;
    size_t count, room;
    uint8_t (*addresses)[16];
    uint32_t address_count;
    bool all_low;  /* every TTL so far is one of the mirror's */
    bool too_many; /* packets or addresses */
    uint8_t whole[ROOM];
};

#define MOST_ADDRESSES 1024

static uint32_t crc(uint32_t before, const uint8_t *bytes, size_t count)
{
    return (uint32_t)crc32_z(before, bytes, count);
}

/* Returns the number of an address; UINT32_MAX: there are too many. */
static uint32_t address_number(struct reader *reader, const uint8_t ip[16])
{
    for (uint32_t i = 0; i < reader->address_count; i++)
        if (memcmp(reader->addresses[i], ip, 16) == 0)
            return i;
    if (reader->address_count == MOST_ADDRESSES)
        return UINT32_MAX;
    memcpy(reader->addresses[reader->address_count], ip, 16);
    return reader->address_count++;
}

static uint64_t mac_number(const uint8_t mac[6])
{
    uint64_t value = 0;

    for (int i = 0; i < 6; i++)
        value = value << 8 | mac[i];
    return value;
}

/*
 * Makes a mirrored packet one of RoCEv2 again: the switch has written another UDP port, so neither
 * the IP header's checksum nor the ICRC can be right.
 */
static void restore(uint8_t *ip, size_t count, uint16_t udp_port)
{
    const size_t header = (size_t)(ip[0] & 0x0f) * 4;

    if (udp_port == ROCE_UDP_PORT || count < header + 8 || ip[0] >> 4 != 4 || ip[9] != 17 ||
        (ip[header + 2] << 8 | ip[header + 3]) != udp_port)
        return;
    ip[header + 2] = ROCE_UDP_PORT >> 8;
    ip[header + 3] = ROCE_UDP_PORT & 0xff;
}

/* Sets the checksum of an IPv4 header, whose TTL a switch has changed. */
static void set_checksum(uint8_t *ip, size_t count)
{
    const size_t header = (size_t)(ip[0] & 0x0f) * 4;
    uint32_t sum = 0;

    if (ip[0] >> 4 != 4 || header < 20 || count < header)
        return;
    ip[10] = ip[11] = 0;
    for (size_t i = 0; i < header; i += 2)
        sum += (uint32_t)(ip[i] << 8 | ip[i + 1]);
    while (sum >> 16 != 0)
        sum = (sum & 0xffff) + (sum >> 16);
    ip[10] = (uint8_t)(~sum >> 8);
    ip[11] = (uint8_t)~sum;
}

static struct frame *add_frame(struct reader *reader)
{
    if (reader->count == reader->room) {
        reader->room = reader->room == 0 ? 1024 : 2 * reader->room;
        reader->frames = realloc(reader->frames, reader->room * sizeof(*reader->frames));
        OCHE_GOT(reader->frames != NULL);
    }
    return &reader->frames[reader->count++];
}

/* Decodes the IP packet at `ip`, of `count` bytes; what was not captured is zeros. */
static void see_ip(struct reader *reader, const struct pcap_pkthdr *header, uint8_t *ip,
                   size_t count, const uint8_t *link)
{
    const bool cut = header->caplen < header->len;
    struct oche_packet packet;
    struct oche_frame facts;
    enum oche_wire_error wrong;
    bool mirrored = reader->test->udp_port != ROCE_UDP_PORT;
    struct frame *frame;
    uint32_t src, dst;

    restore(ip, count, (uint16_t)reader->test->udp_port);
    set_checksum(ip, count);
    wrong = oche_decode_ip(ip, count, cut || mirrored ? NULL : crc, &packet, &facts);
    if (wrong != OCHE_WIRE_OK && wrong != OCHE_WIRE_ICRC)
        return;
    src = address_number(reader, facts.src_ip);
    dst = address_number(reader, facts.dst_ip);
    reader->too_many = src == UINT32_MAX || dst == UINT32_MAX || reader->count == MOST_PACKETS;
    if (reader->too_many)
        return;
    frame = add_frame(reader);
    packet.src = src;
    packet.dst = dst;
    packet.payload = NULL;
    *frame = (struct frame){
        .number = reader->capture->frames,
        .time_ns = (uint64_t)header->ts.tv_sec * 1000000000 + (uint64_t)header->ts.tv_usec,
        .ttl = facts.ttl,
        .damaged = wrong == OCHE_WIRE_ICRC,
        .packet = packet,
    };
    reader->all_low = reader->all_low && link != NULL && facts.ttl <= OCHE_SEEN_DAMAGED;
    if (reader->all_low) {
        frame->mirror_time_ns = mac_number(link);
        frame->mirror_number = mac_number(link + 6);
    }
}

static void see_frame(struct reader *reader, int datalink, const struct pcap_pkthdr *header,
                      const uint8_t *bytes)
{
    struct oche_link_view link;
    size_t count = header->len;

    reader->capture->frames++;
    if (count > ROOM || header->caplen > count ||
        !oche_link_view(datalink, bytes, header->caplen, &link) || !link.ip)
        return;
    while (oche_tunnel_enter(bytes, header->caplen, &link))
        continue;
    if (!link.ip)
        return;
    memcpy(reader->whole, bytes, header->caplen);
    memset(reader->whole + header->caplen, 0, count - header->caplen);
    if (count > link.end)
        count = link.end;
    if (count <= link.ip_at + 20)
        return;
    see_ip(reader, header, reader->whole + link.ip_at, count - link.ip_at,
           datalink == DLT_EN10MB && link.tunnels == 0 ? bytes : NULL);
}

static bool read_file(struct reader *reader, const char *path, struct oche_error *error)
{
    char message[PCAP_ERRBUF_SIZE];
    struct oche_error reason;
    struct pcap_pkthdr *header;
    const u_char *bytes;
    FILE *in = oche_input_stream(path, &reason);
    pcap_t *pcap;
    int status = 0;

    if (in == NULL)
        return oche_fail(error, "%s: %s; a pcap or pcapng file is needed", path, reason.text);
    pcap = pcap_fopen_offline_with_tstamp_precision(in, PCAP_TSTAMP_PRECISION_NANO, message);
    if (pcap == NULL) {
        fclose(in);
        return oche_fail(error, "%s: %s; a pcap or pcapng file is needed", path, message);
    }
    if (!oche_link_supported(pcap_datalink(pcap))) {
        pcap_close(pcap);
        return oche_fail(error,
                         "%s: its link type is not known here; Ethernet, raw IP, Linux "
                         "cooked and loopback are",
                         path);
    }
    while (!reader->too_many && (status = pcap_next_ex(pcap, &header, &bytes)) == 1)
        see_frame(reader, pcap_datalink(pcap), header, bytes);
    if (status == PCAP_ERROR)
        oche_fail(error, "%s: after frame %llu: %s", path,
                  (unsigned long long)reader->capture->frames, pcap_geterr(pcap));
    else if (reader->too_many)
        oche_fail(error, "%s: more than %d packets of RoCEv2, or %d addresses; cut the capture",
                  path, MOST_PACKETS, MOST_ADDRESSES);
    pcap_close(pcap);
    return status != PCAP_ERROR && !reader->too_many;
}

static int compare(const void *left, const void *right)
{
    const struct frame *a = left, *b = right;

    return a->number < b->number ? -1 : a->number > b->number;
}

static int compare_mirrored(const void *left, const void *right)
{
    const struct frame *a = left, *b = right;

    return a->mirror_number < b->mirror_number ? -1 : a->mirror_number > b->mirror_number;
}

/*
 * Finds out whether the packets are a mirror's: then no two have the same number. If so, puts them
 * into its order, with its times, and counts those that are missing.
 */
static void find_mirror(struct reader *reader)
{
    struct frame *frames = reader->frames;
    bool differ = reader->all_low && reader->count > 1;

    if (!differ)
        return;
    qsort(frames, reader->count, sizeof(*frames), compare_mirrored);
    for (size_t i = 1; differ && i < reader->count; i++)
        differ = frames[i].mirror_number != frames[i - 1].mirror_number;
    if (!differ) {
        qsort(frames, reader->count, sizeof(*frames), compare);
        return;
    }
    reader->capture->mirror = true;
    reader->capture->missing =
        frames[reader->count - 1].mirror_number - frames[0].mirror_number + 1 - reader->count;
    for (size_t i = 0; i < reader->count; i++)
        frames[i].time_ns = frames[i].mirror_time_ns;
}

static enum oche_seen_event event_of(const struct reader *reader, const struct frame *frame)
{
    if (reader->capture->mirror)
        return (enum oche_seen_event)frame->ttl;
    if (frame->damaged)
        return OCHE_SEEN_DAMAGED;
    return frame->packet.ecn == OCHE_ECN_CE ? OCHE_SEEN_MARKED : OCHE_SEEN_PASSED;
}

static void watch_all(struct reader *reader, bool behind)
{
    const struct oche_nic_test *test = reader->test;
    struct oche_check_capture *capture = reader->capture;
    const struct oche_watch_config config = {
        .events = test->events,
        .event_count = test->event_count,
        .place = capture->mirror ? OCHE_WATCH_TOLD
                 : behind        ? OCHE_WATCH_BEHIND
                                 : OCHE_WATCH_BEFORE,
        .mtu_bytes = test->mtu_bytes,
        .message_packets = oche_nic_message_packets(test),
    };

    capture->watch = oche_nic_watch_create(&config);
    for (size_t i = 0; i < reader->count; i++) {
        const struct frame *frame = &reader->frames[i];

        const uint64_t first_ns = reader->frames[0].time_ns;
        const uint64_t ns = frame->time_ns > first_ns ? frame->time_ns - first_ns : 0;

        oche_nic_watch_see(
            capture->watch, &frame->packet, (ns < OCHE_NEVER / OCHE_NS ? ns : 0) * OCHE_NS,
            capture->mirror ? frame->mirror_number : frame->number, event_of(reader, frame));
    }
}

bool oche_check_capture_read(struct oche_check_capture *capture, const struct oche_nic_test *test,
                             char *const *paths, size_t count, bool behind,
                             struct oche_error *error)
{
    struct reader *reader = calloc(1, sizeof(*reader));
    bool whole = true;

    OCHE_GOT(reader != NULL);
    *capture = (struct oche_check_capture){.watch = NULL};
    reader->test = test;
    reader->capture = capture;
    reader->all_low = true;
    reader->addresses = calloc(MOST_ADDRESSES, sizeof(*reader->addresses));
    OCHE_GOT(reader->addresses != NULL);
    for (size_t i = 0; whole && i < count; i++)
        whole = read_file(reader, paths[i], error);
    if (whole) {
        find_mirror(reader);
        capture->roce = reader->count;
        watch_all(reader, behind);
    }
    free(reader->addresses);
    free(reader->frames);
    free(reader);
    return whole;
}
