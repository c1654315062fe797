/* SPDX-License-Identifier: Apache-2.0 */
/* Packets of a device to a capture file. */
#include "device/capture.h"

#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/wire/bytes.h"
#include "core/wire/codec.h"

#define SNAP_BYTES 65535

struct oche_capture {
    pcap_t *pcap;
    pcap_dumper_t *dumper;
    uint64_t epoch_ns; /* of device time 0 */
    uint8_t bytes[SNAP_BYTES];
};

static void release(struct oche_capture *capture)
{
    if (capture->dumper != NULL)
        pcap_dump_close(capture->dumper);
    if (capture->pcap != NULL)
        pcap_close(capture->pcap);
    free(capture);
}

struct oche_capture *oche_capture_open(const char *path, oche_time now, char *error,
                                       size_t error_bytes)
{
    struct oche_capture *capture = calloc(1, sizeof(*capture));
    struct timespec wall;

    if (capture == NULL) {
        snprintf(error, error_bytes, "%s: out of memory", path);
        return NULL;
    }
    capture->pcap =
        pcap_open_dead_with_tstamp_precision(DLT_RAW, SNAP_BYTES, PCAP_TSTAMP_PRECISION_NANO);
    if (capture->pcap != NULL)
        capture->dumper = pcap_dump_open(capture->pcap, path);
    if (capture->dumper == NULL) {
        snprintf(error, error_bytes, "%s",
                 capture->pcap != NULL ? pcap_geterr(capture->pcap) : "out of memory");
        release(capture);
        return NULL;
    }
    clock_gettime(CLOCK_REALTIME, &wall);
    capture->epoch_ns = (uint64_t)wall.tv_sec * 1000000000 + (uint64_t)wall.tv_nsec - now / OCHE_NS;
    return capture;
}

/* The checksum over an IPv4 header whose checksum field is 0. */
static uint16_t ipv4_checksum(const uint8_t *ip)
{
    uint32_t sum = 0;

    for (unsigned i = 0; i < OCHE_IPV4_BYTES; i += 2)
        sum += oche_get16(ip + i);
    while (sum > 0xffff)
        sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t)~sum;
}

void oche_capture_write(struct oche_capture *capture, const struct oche_ip_header *header,
                        const uint8_t *bytes, uint32_t count, oche_time now)
{
    const uint64_t ns = capture->epoch_ns + now / OCHE_NS;
    const uint32_t all = header->count + count;
    uint8_t *out = capture->bytes;
    const struct pcap_pkthdr record = {
        .ts = {.tv_sec = (time_t)(ns / 1000000000), .tv_usec = (suseconds_t)(ns % 1000000000)},
        .caplen = all,
        .len = all,
    };

    if (all > SNAP_BYTES)
        return; /* no packet is that long */
    memcpy(out, header->bytes, header->count);
    memcpy(out + header->count, bytes, count);
    if (header->count == OCHE_IPV4_BYTES + OCHE_UDP_BYTES)
        oche_put16(out + 10, ipv4_checksum(out));
    else
        oche_put16(out + OCHE_IPV6_BYTES + 6, oche_udp_checksum(out));
    pcap_dump((u_char *)capture->dumper, &record, out);
}

bool oche_capture_close(struct oche_capture *capture)
{
    const bool whole =
        pcap_dump_flush(capture->dumper) == 0 && ferror(pcap_dump_file(capture->dumper)) == 0;

    release(capture);
    return whole;
}
