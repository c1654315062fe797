/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules for any bytes, shared by the fuzz target and by the test with mutated golden packets:
 * every decoded packet is within its bounds and encodes to the same bytes.
 */
#ifndef OCHE_TESTS_FUZZ_DECODE_CHECK_H
#define OCHE_TESTS_FUZZ_DECODE_CHECK_H

#include <string.h>

#include "core/cm/mad.h"
#include "core/wire/codec.h"
#include "core/wire/extension.h"
#include "core/wire/pfc_frame.h"

#define DECODE_CHECK_ROOM 66000

/*
 * Returns NULL, or the error of a packet that was decoded from `bytes` without checking the ICRC.
 */
static inline const char *decode_check_packet(const uint8_t *bytes, size_t count,
                                              const struct oche_packet *packet,
                                              const struct oche_frame *frame, oche_crc32 *crc32,
                                              uint8_t *again)
{
    const uint32_t behind = OCHE_ICRC_BYTES + oche_packet_trailer_bytes(packet);
    size_t encoded;

    if (frame->frame_bytes > count || frame->frame_bytes < OCHE_ICRC_BYTES)
        return "frame_bytes is not within the input";
    if (oche_opcode(packet->opcode)->name == NULL)
        return "an unknown opcode was accepted";
    if (packet->payload_bytes > 0 &&
        (packet->payload < bytes ||
         packet->payload + packet->payload_bytes > bytes + frame->frame_bytes - behind))
        return "the payload is not within the input";
    encoded = oche_encode_frame(packet, frame, crc32, again, DECODE_CHECK_ROOM);
    if (encoded != frame->frame_bytes)
        return "encodes to another length";
    if (memcmp(again, bytes, encoded - behind) != 0 ||
        memcmp(again + encoded - behind + OCHE_ICRC_BYTES,
               bytes + encoded - behind + OCHE_ICRC_BYTES, behind - OCHE_ICRC_BYTES) != 0)
        return "encodes to other bytes";
    return NULL;
}

/*
 * Returns NULL, or the error of the bytes as a connection manager's message: a message that is
 * read, written and read again must be equal.
 */
static inline const char *decode_check_cm(const uint8_t *bytes, size_t count, unsigned *accepted)
{
    struct oche_cm_message message, back;
    uint8_t mad[OCHE_MAD_BYTES];
    struct oche_cma_header header;

    if (oche_cma_read(bytes, count, &header))
        ++*accepted;
    if (oche_cm_read(bytes, count < sizeof(mad) ? count : sizeof(mad), &message) != OCHE_CM_OK)
        return NULL;
    ++*accepted;
    oche_cm_write(&message, mad);
    if (oche_cm_read(mad, sizeof(mad), &back) != OCHE_CM_OK)
        return "a message that was written does not read";
    message.has_alternate = false; /* is not written */
    return memcmp(&message, &back, sizeof(back)) == 0 ? NULL : "a message reads differently again";
}

/* `again`: DECODE_CHECK_ROOM bytes. *accepted counts decodings that succeeded. */
static inline const char *decode_check(const uint8_t *bytes, size_t count, oche_crc32 *crc32,
                                       uint8_t *again, unsigned *accepted)
{
    struct oche_packet packet;
    struct oche_frame frame;
    uint8_t mac[6], pfc[OCHE_PFC_BYTES];
    const char *wrong = NULL;

    if (oche_decode_ethernet(bytes, count, NULL, &packet, &frame) == OCHE_WIRE_OK) {
        ++*accepted;
        wrong = decode_check_packet(bytes, count, &packet, &frame, crc32, again);
        if (wrong == NULL) {
            const size_t icrc_at =
                frame.frame_bytes - OCHE_ICRC_BYTES - oche_packet_trailer_bytes(&packet);
            const bool same = memcmp(again + icrc_at, bytes + icrc_at, OCHE_ICRC_BYTES) == 0;
            const enum oche_wire_error error =
                oche_decode_ethernet(bytes, count, crc32, &packet, &frame);
            if (error != (same ? OCHE_WIRE_OK : OCHE_WIRE_ICRC))
                wrong = "the ICRC verdict is not that of encoding again";
        }
    }
    if (wrong == NULL && oche_decode_ip(bytes, count, NULL, &packet, &frame) == OCHE_WIRE_OK) {
        ++*accepted;
        wrong = decode_check_packet(bytes, count, &packet, &frame, crc32, again);
    }
    if (wrong == NULL && oche_decode_transport(bytes, count, &packet, NULL) == OCHE_WIRE_OK) {
        ++*accepted;
        if (oche_transport_bytes(packet.opcode, packet.payload_bytes) +
                oche_packet_trailer_bytes(&packet) + oche_list_bytes(&packet) !=
            count)
            wrong = "transport lengths do not add up";
    }
    if (wrong == NULL && oche_pfc_decode(bytes, count, &packet, mac)) {
        ++*accepted;
        oche_pfc_encode(&packet, mac, pfc);
        if (memcmp(pfc, bytes, 16) != 0 || memcmp(pfc + 17, bytes + 17, 17) != 0)
            wrong = "a PFC frame encodes to other bytes";
    }
    if (wrong == NULL)
        wrong = decode_check_cm(bytes, count, accepted);
    return wrong;
}

#endif
