/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes packets as a capture: nanosecond pcap, Ethernet without FCS, through libpcap. Frames are
 * as on the wire: padded to 60 bytes, with a correct ICRC and, over IPv6, a UDP checksum.
 *
 * The simulator reports a packet's arrival when the packet leaves, so records come out of order by
 * at most a link's transit time; the writer sorts them.
 */
#ifndef OCHE_SIM_CAPTURE_PCAP_WRITER_H
#define OCHE_SIM_CAPTURE_PCAP_WRITER_H

#include "core/wire/frame.h"
#include "params/error.h"

struct oche_pcap_writer;

/*
 * Creates or replaces the file. `slack`: a record that is added later may be older than the newest
 * one by at most this. On failure returns NULL, with a line in `error`.
 */
struct oche_pcap_writer *oche_pcap_create(const char *path, oche_time slack,
                                          struct oche_error *error);

/* Changes the slack from the next record on. OCHE_NEVER: everything is held back until the end. */
void oche_pcap_set_slack(struct oche_pcap_writer *writer, oche_time slack);

/*
 * Encodes a packet of an endpoint that is not an RNIC (TCP, ExpressPass) as the bytes of a frame
 * without FCS. Returns the number of bytes, at most `size`; 0: the packet has no byte format.
 * Without an encoder such packets are not written.
 */
typedef size_t oche_pcap_encoder(const struct oche_packet *packet, const struct oche_frame *frame,
                                 uint8_t *bytes, size_t size);
void oche_pcap_set_encoder(struct oche_pcap_writer *writer, oche_pcap_encoder *encoder);

/*
 * Adds a packet at simulated time `when` (picoseconds, truncated to nanoseconds). `frame` has the
 * packet's addresses, including MACs, and its other frame fields; frame->udp_checksum is not used.
 * If the packet's payload pointer is NULL, the payload is written as zeros. For a PFC frame only
 * frame->src_mac is used. Records of the same time keep their order. Returns false, and writes
 * nothing, for a packet that has no byte format (TCP or ExpressPass without an encoder, or an
 * opcode that is not in the table).
 */
bool oche_pcap_write(struct oche_pcap_writer *writer, const struct oche_packet *packet,
                     const struct oche_frame *frame, oche_time when);

/*
 * Completes the file and frees the writer. Returns false, with a line in `error`, if any record was
 * not written.
 */
bool oche_pcap_close(struct oche_pcap_writer *writer, struct oche_error *error);

#endif
