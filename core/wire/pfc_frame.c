/* SPDX-License-Identifier: Apache-2.0 */
/* The priority-based flow control frame as bytes (IEEE 802.1Qbb; rocev2.md#pfc). */
#include "core/wire/pfc_frame.h"

#include <string.h>

#include "core/wire/bytes.h"

#define ETHERTYPE_MAC_CONTROL 0x8808
#define OPCODE_PFC            0x0101
#define OPCODE_AT             14
#define VECTOR_AT             16
#define QUANTA_AT             18
#define QUANTA_END            (QUANTA_AT + 2 * OCHE_CLASSES)

static const uint8_t mac_control_address[6] = {0x01, 0x80, 0xc2, 0x00, 0x00, 0x01};

bool oche_pfc_is_control(const uint8_t *bytes, size_t count)
{
    return count >= OCHE_ETH_BYTES && oche_get16(bytes + 12) == ETHERTYPE_MAC_CONTROL;
}

void oche_pfc_encode(const struct oche_packet *pfc, const uint8_t src_mac[6], uint8_t *out)
{
    memset(out, 0, OCHE_PFC_BYTES);
    memcpy(out, mac_control_address, 6);
    memcpy(out + 6, src_mac, 6);
    oche_put16(out + 12, ETHERTYPE_MAC_CONTROL);
    oche_put16(out + OPCODE_AT, OPCODE_PFC);
    oche_put16(out + VECTOR_AT, pfc->pfc.classes); /* upper byte: reserved */
    for (unsigned cls = 0; cls < OCHE_CLASSES; cls++)
        oche_put16(out + QUANTA_AT + 2 * (size_t)cls, pfc->pfc.quanta[cls]);
}

bool oche_pfc_decode(const uint8_t *bytes, size_t count, struct oche_packet *pfc, uint8_t *src_mac)
{
    if (count < QUANTA_END || !oche_pfc_is_control(bytes, count))
        return false;
    if (memcmp(bytes, mac_control_address, 6) != 0 || oche_get16(bytes + OPCODE_AT) != OPCODE_PFC)
        return false;
    *pfc = (struct oche_packet){.kind = OCHE_PACKET_PFC, .frame_bytes = OCHE_MIN_FRAME_BYTES};
    for (unsigned cls = 0; cls < OCHE_CLASSES; cls++)
        oche_pfc_set(pfc, cls, oche_get16(bytes + QUANTA_AT + 2 * (size_t)cls));
    pfc->pfc.classes = bytes[VECTOR_AT + 1]; /* oche_pfc_set enabled all classes */
    if (src_mac != NULL)
        memcpy(src_mac, bytes + 6, 6);
    return true;
}
