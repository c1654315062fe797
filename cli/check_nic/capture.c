/* SPDX-License-Identifier: Apache-2.0 */
/* Reads captures for a test of adapters; see capture.h. */
#include "cli/check_nic/capture.h"

#include <pcap/pcap.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "cli/check_nic/order.h"
#include "cli/wire/link_layer.h"
#include "cli/wire/tunnel.h"
#include "core/wire/bytes.h"
#include "core/wire/codec.h"
#include "params/input_file.h"

#define ROOM          (65536 + 64)
#define ROCE_UDP_PORT 4791
#define MOST_PACKETS  4000000
#define MOST_NS       (OCHE_NEVER / OCHE_NS - 1)

struct reader {
    const struct oche_nic_test *test;
    struct oche_check_capture *capture;
    struct oche_check_frames frames;
    uint32_t file;
    uint64_t in_file; /* frames of the file so far */
    uint8_t (*addresses)[16];
    uint32_t address_count;
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
 * Makes a mirrored packet one of RoCEv2 again, and returns true: the switch has written other UDP
 * ports, so neither the IP header's checksum nor the ICRC can be right.
 */
static bool restore(uint8_t *ip, size_t count, uint16_t udp_port)
{
    const size_t header = (size_t)(ip[0] & 0x0f) * 4;

    if (udp_port == ROCE_UDP_PORT || count < header + 8 || ip[0] >> 4 != 4 ||
        ip[9] != OCHE_IP_UDP || oche_get16(ip + header + 2) != udp_port)
        return false;
    oche_put16(ip + header + 2, ROCE_UDP_PORT);
    return true;
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

/*
 * Returns true if the packet may be one of RoCEv2, and only its first `there` bytes were captured,
 * which are not all its headers. The bytes behind them are zeros.
 */
static bool is_cut(const uint8_t *ip, size_t there, uint16_t udp_port)
{
    const bool v6 = ip[0] >> 4 == 6;
    const size_t udp = v6 ? OCHE_IPV6_BYTES : (size_t)(ip[0] & 0x0f) * 4;
    const size_t bth = udp + OCHE_UDP_BYTES;
    uint16_t port;

    if (there < 10) /* IPv4's protocol is the tenth byte */
        return true;
    if ((!v6 && ip[0] >> 4 != 4) || ip[v6 ? 6 : 9] != OCHE_IP_UDP)
        return false;
    if (there < udp + 4)
        return true;
    port = oche_get16(ip + udp + 2);
    if (port != ROCE_UDP_PORT && port != udp_port)
        return false;
    return there < bth + OCHE_BTH_BYTES ||
           there < bth + OCHE_BTH_BYTES + oche_opcode(ip[bth])->header_bytes;
}

static struct oche_check_frame *add_frame(struct oche_check_frames *frames)
{
    if (frames->count == frames->room) {
        frames->room = frames->room == 0 ? 1024 : 2 * frames->room;
        frames->list = realloc(frames->list, frames->room * sizeof(*frames->list));
        OCHE_GOT(frames->list != NULL);
    }
    return &frames->list[frames->count++];
}

/*
 * Decodes the IP packet at `ip`, of `count` bytes; those that were not captured are zeros. `macs`:
 * its Ethernet header, or NULL.
 */
static void see_ip(struct reader *reader, const struct pcap_pkthdr *header, uint8_t *ip,
                   size_t count, const uint8_t *macs)
{
    const bool cut = header->caplen < header->len;
    const bool rewritten = restore(ip, count, (uint16_t)reader->test->udp_port);
    struct oche_packet packet;
    struct oche_frame facts;
    enum oche_wire_error wrong;
    uint32_t src, dst;

    set_checksum(ip, count);
    wrong = oche_decode_ip(ip, count, cut || rewritten ? NULL : crc, &packet, &facts);
    if (wrong != OCHE_WIRE_OK && wrong != OCHE_WIRE_ICRC)
        return;
    src = address_number(reader, facts.src_ip);
    dst = address_number(reader, facts.dst_ip);
    reader->too_many =
        src == UINT32_MAX || dst == UINT32_MAX || reader->frames.count == MOST_PACKETS;
    if (reader->too_many)
        return;
    packet.src = src;
    packet.dst = dst;
    packet.payload = NULL;
    *add_frame(&reader->frames) = (struct oche_check_frame){
        .file = reader->file,
        .number = reader->in_file,
        .time_ns = (uint64_t)header->ts.tv_sec * 1000000000 + (uint64_t)header->ts.tv_usec,
        .mirror_number = macs != NULL ? mac_number(macs + 6) : 0,
        .mirror_time_ns = macs != NULL ? mac_number(macs) : 0,
        .udp_checksum = facts.udp_checksum,
        .ttl = facts.ttl,
        .ethernet = macs != NULL,
        .rewritten = rewritten,
        .damaged = wrong == OCHE_WIRE_ICRC,
        .packet = packet,
    };
}

static void see_frame(struct reader *reader, int datalink, const struct pcap_pkthdr *header,
                      const uint8_t *bytes)
{
    struct oche_link_view link;
    size_t count = header->len;

    reader->capture->frames++;
    reader->in_file++;
    if (count > ROOM || header->caplen > count)
        return;
    if (!oche_link_view(datalink, bytes, header->caplen, &link)) {
        reader->capture->cut += header->caplen < header->len;
        return;
    }
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
    if (header->caplen < count && is_cut(reader->whole + link.ip_at, header->caplen - link.ip_at,
                                         (uint16_t)reader->test->udp_port)) {
        reader->capture->cut++;
        return;
    }
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

    reader->in_file = 0;
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
        oche_fail(error, "%s: after frame %llu: %s", path, (unsigned long long)reader->in_file,
                  pcap_geterr(pcap));
    else if (reader->too_many)
        oche_fail(error, "%s: more than %d packets of RoCEv2, or %d addresses; cut the capture",
                  path, MOST_PACKETS, MOST_ADDRESSES);
    pcap_close(pcap);
    return status != PCAP_ERROR && !reader->too_many;
}

static enum oche_seen_event event_of(const struct reader *reader,
                                     const struct oche_check_frame *frame)
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
    for (size_t i = 0; i < reader->frames.count; i++) {
        const struct oche_check_frame *frame = &reader->frames.list[i];
        const uint64_t ns = frame->time_ns < MOST_NS ? frame->time_ns : MOST_NS;

        oche_nic_watch_see(capture->watch, &frame->packet, ns * OCHE_NS,
                           capture->mirror ? frame->mirror_number : frame->number,
                           event_of(reader, frame));
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
    reader->addresses = calloc(MOST_ADDRESSES, sizeof(*reader->addresses));
    OCHE_GOT(reader->addresses != NULL);
    for (; whole && reader->file < count; reader->file++)
        whole = read_file(reader, paths[reader->file], error);
    if (whole && oche_check_order(&reader->frames, paths, count, capture, error)) {
        capture->roce = reader->frames.count;
        watch_all(reader, behind);
    } else {
        whole = false;
    }
    free(reader->addresses);
    free(reader->frames.list);
    free(reader);
    return whole;
}
