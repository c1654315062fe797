/* SPDX-License-Identifier: Apache-2.0 */
/* The results of `oche wire` for a capture, and for one of its frames. */
#ifndef OCHE_CLI_WIRE_JUDGED_H
#define OCHE_CLI_WIRE_JUDGED_H

#include <pcap/pcap.h>
#include <stdbool.h>
#include <stdint.h>

#include "cli/wire/link_layer.h"
#include "cli/wire/psn_seen.h"
#include "core/wire/codec.h"

#define OCHE_WIRE_NAK_KINDS 5 /* NAK codes 0 … 4 have names; 5 counts all others */

struct oche_wire_options {
    const char *path;
    bool quiet, json;
};

/* The verdict on one packet. */
enum oche_wire_verdict { OCHE_VERDICT_RIGHT, OCHE_VERDICT_WRONG, OCHE_VERDICT_CUT };

struct oche_wire_report {
    struct oche_wire_options options;
    struct oche_psn_seen *seen;
    int datalink;
    int64_t first_ns; /* time of the first frame, nanoseconds since 1970 */
    uint64_t frames, roce, pfc, other, cut, wrong;
    uint64_t listed;  /* packets in the list of --json */
    bool interrupted; /* by SIGINT */
    bool whole;       /* the capture was read to its end */
    uint64_t wrong_by[OCHE_WIRE_ERROR_COUNT];
    /* packets whose ICRC is right but whose fields, encoded again, give other bytes */
    uint64_t differ;
    uint64_t packets[OCHE_OPCODES], bytes[OCHE_OPCODES];
    uint64_t retransmissions, rnr_naks, naks[OCHE_WIRE_NAK_KINDS + 1], ce;
};

/* A frame that is being judged. */
struct oche_wire_one {
    const struct pcap_pkthdr *header;
    const uint8_t *bytes; /* the captured bytes, from the link header on */
    struct oche_link_view link;
    struct oche_packet packet;
    struct oche_frame facts;
    enum oche_wire_error error;
    uint32_t icrc, icrc_should;
    long differs_at; /* offset from the IP header of the first byte that differs; -1: none */
    bool again;
};

/* Returns the frame's time after the first one's, in nanoseconds. */
int64_t oche_wire_time_ns(const struct oche_wire_report *report, const struct oche_wire_one *one);
#define OCHE_WIRE_FLAGS 8 /* most names that oche_wire_flags writes */
/* Returns the names of the set bits of the BTH, and "CE"; `names` has room for OCHE_WIRE_FLAGS. */
unsigned oche_wire_flags(const struct oche_packet *packet, const char **names);
/* Returns the name of a NAK code. */
const char *oche_wire_nak_name(unsigned code);
/* Writes the addresses as text. Each has room for INET6_ADDRSTRLEN bytes. */
void oche_wire_addresses(const struct oche_frame *facts, char *src, char *dst);

#endif
