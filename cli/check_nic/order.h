/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order and the times of captured packets. Lumina's switch mirrors packets to several hosts. It
 * writes into each packet a number (source MAC), the time (destination MAC), and what it does to
 * the packet (TTL). It also writes another UDP destination port and a random source port.
 */
#ifndef OCHE_CLI_CHECK_NIC_ORDER_H
#define OCHE_CLI_CHECK_NIC_ORDER_H

#include "cli/check_nic/capture.h"
#include "core/wire/packet.h"

/* A packet, kept until all files are read. */
struct oche_check_frame {
    uint32_t file;
    uint64_t number;  /* in its file, from 1 */
    uint64_t time_ns; /* after ordering: since the first packet; it never falls */
    uint64_t mirror_number, mirror_time_ns; /* the MAC addresses */
    uint16_t udp_checksum;
    uint8_t ttl;
    bool ethernet;             /* the MAC addresses are the packet's own: no tunnel is around it */
    bool rewritten;            /* had the mirror's UDP port */
    bool damaged;              /* the ICRC is wrong */
    struct oche_packet packet; /* its addresses are numbers */
};

struct oche_check_frames {
    struct oche_check_frame *list;
    size_t count, room;
};

/*
 * Finds out whether the packets are a mirror's, puts them in order, and sets the members `mirror`,
 * `missing` and `earlier` of the capture. Returns false, with one line in `error`, if the packets
 * have no safe order: if a mirror is damaged, or several captures are no mirror.
 */
bool oche_check_order(struct oche_check_frames *frames, char *const *paths, size_t path_count,
                      struct oche_check_capture *capture, struct oche_error *error);

#endif
