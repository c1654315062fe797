/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Remembers the PSNs of each stream, which shows retransmissions in a capture. A stream is one
 * direction of a queue pair at one place of capture. Requests and responses are separate streams,
 * since responses carry their requests' PSNs.
 */
#ifndef OCHE_CLI_WIRE_PSN_SEEN_H
#define OCHE_CLI_WIRE_PSN_SEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct oche_psn_stream {
    uint8_t src_ip[16], dst_ip[16];
    uint64_t place;
    uint32_t dest_qpn;
    uint32_t response; /* 1 for responses, 0 for requests */
};

struct oche_psn_seen;

/* Returns NULL if there is no memory. */
struct oche_psn_seen *oche_psn_seen_create(void);
void oche_psn_seen_free(struct oche_psn_seen *seen);

/*
 * Notes a PSN. Sets *again if the stream had the same PSN among its last 2^23. Returns false if
 * there is no memory. Uses a few KiB for 32768 PSNs that are close to each other.
 */
bool oche_psn_seen_note(struct oche_psn_seen *seen, const struct oche_psn_stream *stream,
                        uint32_t psn, bool *again);
/* Returns the number of streams so far. */
size_t oche_psn_seen_streams(const struct oche_psn_seen *seen);

#endif
