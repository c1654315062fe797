/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts RoCEv2 packets from struct to bytes and back (rocev2.md), by the opcode table. Two
 * levels: whole frames that begin with an Ethernet or IP header (captures, the simulator's bytes
 * mode), and transport bytes from BTH to ICRC (a device, whose socket adds IP and UDP).
 *
 * Decoding is made for hostile input: it reads nothing beyond the given bytes, and each kind of
 * fault has an error of its own. A frame that decodes without error encodes to the same bytes
 * again, except that a VLAN tag, IP options and IPv6 extension headers are not part of a RoCEv2
 * frame here.
 */
#ifndef OCHE_CORE_WIRE_CODEC_H
#define OCHE_CORE_WIRE_CODEC_H

#include "core/wire/frame.h"
#include "core/wire/icrc.h"
#include "core/wire/opcode.h"

OCHE_C_BEGIN

/* X(name, text): why bytes are not a RoCEv2 packet. NOT_…: the bytes belong to another protocol. */
#define OCHE_WIRE_ERRORS(X)                                                                        \
    X(OK, "ok")                                                                                    \
    X(NOT_IP, "not IPv4 or IPv6")                                                                  \
    X(NOT_UDP, "not UDP")                                                                          \
    X(NOT_ROCE, "not UDP port 4791")                                                               \
    X(TRUNCATED, "shorter than its headers say")                                                   \
    X(IP_VERSION, "IP version is not that of the frame")                                           \
    X(IP_OPTIONS, "IP header with options")                                                        \
    X(IP_LENGTH, "IP length does not fit UDP's")                                                   \
    X(IP_CHECKSUM, "IP header checksum is wrong")                                                  \
    X(FRAGMENT, "IP fragment")                                                                     \
    X(UDP_LENGTH, "UDP length too small")                                                          \
    X(ALIGNMENT, "length is not a multiple of four")                                               \
    X(TVER, "transport version is not 0")                                                          \
    X(OPCODE, "unknown opcode")                                                                    \
    X(HEADER, "shorter than its opcode's headers")                                                 \
    X(LIST, "list of senders cut off, too long, or with something behind it")                      \
    X(PAD, "pad count larger than the payload")                                                    \
    X(PAYLOAD, "payload length impossible for the opcode")                                         \
    X(ICRC, "ICRC is wrong")

enum oche_wire_error {
#define OCHE_WIRE_ENUM(name, text) OCHE_WIRE_##name,
    OCHE_WIRE_ERRORS(OCHE_WIRE_ENUM)
#undef OCHE_WIRE_ENUM
        OCHE_WIRE_ERROR_COUNT
};

/* Returns the text of the table above ("unknown opcode", …). */
const char *oche_wire_error_text(enum oche_wire_error error);

/* True if the bytes belong to another protocol, and so are not a malformed RoCEv2 packet. */
static inline bool oche_wire_is_foreign(enum oche_wire_error error)
{
    return error >= OCHE_WIRE_NOT_IP && error <= OCHE_WIRE_NOT_ROCE;
}

/*
 * Decodes a frame that begins with an Ethernet header (frame->ethernet is set), or with an IP
 * header. `packet` and `frame` are overwritten whole. In the packet: src, dst and traffic_class
 * stay 0 (the driver maps them from frame's addresses and dscp); payload points into `bytes`;
 * frame_bytes is what oche_frame_bytes returns. Bytes behind the IP packet (Ethernet padding) are
 * left out of frame->frame_bytes.
 *
 * If `crc32` is NULL, the ICRC is not verified. A wrong ICRC is found last, when both structs are
 * filled. After ALIGNMENT and the errors that follow it in the list, which are those of the
 * transport, the IP and UDP members of `frame` are filled; after any other error the structs mean
 * nothing.
 */
enum oche_wire_error oche_decode_ethernet(const uint8_t *bytes, size_t count, oche_crc32 *crc32,
                                          struct oche_packet *packet, struct oche_frame *frame);
enum oche_wire_error oche_decode_ip(const uint8_t *bytes, size_t count, oche_crc32 *crc32,
                                    struct oche_packet *packet, struct oche_frame *frame);

/*
 * Decodes BTH to ICRC, both included, and the trailer if there is one. The ICRC is not verified;
 * oche_icrc_check does that. If `frame` is not NULL, its BTH, DETH and pad members are written. The
 * packet's udp_source_port and ecn stay 0.
 */
enum oche_wire_error oche_decode_transport(const uint8_t *bytes, size_t count,
                                           struct oche_packet *packet, struct oche_frame *frame);

/*
 * Encodes a whole frame (without FCS), with an Ethernet header if frame->ethernet is true. The pad
 * count follows from payload_bytes. The payload is zeros if the packet has no OCHE_EXT_PAYLOAD or
 * its `payload` is NULL; an extension header that `ext` does not name is zeros. Returns the number
 * of bytes written; 0 if `capacity` is too small, the opcode is unknown, the opcode cannot have
 * this payload, or the IP packet is larger than 65535 bytes.
 */
size_t oche_encode_frame(const struct oche_packet *packet, const struct oche_frame *frame,
                         oche_crc32 *crc32, uint8_t *out, size_t capacity);

/*
 * Encodes BTH to ICRC, and the trailer if there is one, contiguously. `pseudo` stands for the IP
 * and UDP headers; this call sets its lengths. Returns the bytes written, or 0 in the same cases as
 * oche_encode_frame.
 */
size_t oche_encode_transport(const struct oche_packet *packet, struct oche_pseudo *pseudo,
                             oche_crc32 *crc32, uint8_t *out, size_t capacity);

/*
 * Encodes BTH and extension headers only, for scatter-gather: at most OCHE_MAX_HEADER_BYTES. If
 * `frame` is NULL, reserved bits are 0. The opcode must be in the table. Returns the bytes written.
 */
size_t oche_encode_headers(const struct oche_packet *packet, const struct oche_frame *frame,
                           uint8_t *out);

/*
 * Encode and decode the extension headers of one row. Encoding also writes a list of senders;
 * decoding does not read it. Both return the number of bytes.
 */
size_t oche_encode_extension(const struct oche_opcode_row *row, const struct oche_packet *packet,
                             uint8_t *out);
size_t oche_decode_extension(const struct oche_opcode_row *row, const uint8_t *bytes,
                             struct oche_packet *packet);

/*
 * Fills `pseudo` with the masked IP and UDP headers of a frame whose UDP payload has
 * `transport_bytes` bytes.
 */
void oche_pseudo_from_frame(struct oche_pseudo *pseudo, const struct oche_frame *frame,
                            uint16_t udp_source_port, uint32_t transport_bytes);

/*
 * Returns the UDP checksum of a complete IP packet (version 4 or 6, without options) as its sender
 * would compute it; never 0. The ICRC does not cover the checksum, so the checksum can be set last.
 */
uint16_t oche_udp_checksum(const uint8_t *ip);

/*
 * Returns a UDP source port, 0xC000 … 0xFFFF, made from two queue pair numbers so that ECMP spreads
 * connections. It is the same in both directions (rocev2.md#source-port).
 */
uint16_t oche_udp_source_port(uint32_t local_qpn, uint32_t remote_qpn);

OCHE_C_END

#endif
