/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets that come after a gap and are kept (recovery's verdict PLACE): the payload is written to
 * where it belongs at once, and what else the packet said is noted, a line a PSN, until the gap is
 * closed and the packet is executed in its turn (responder.c). IRN (irn.md#placement)
 * says what a packet must carry for that; core/wire/extension.h says how it does.
 *
 * Only what could be executed now is kept: its length, key, bounds and permission are right, or
 * the receive that it names is posted and large enough. Anything else is left to be sent again:
 * errors are found, and answered, in their turn. READ requests and atomics are never kept.
 *
 * Memory ends as if everything had come in order, also where packets write to the same place: one
 * that is executed late does not touch the bytes that a later one, kept already, has written.
 */
#ifndef OCHE_CORE_QP_PLACEMENT_H
#define OCHE_CORE_QP_PLACEMENT_H

#include "core/qp/qp_internal.h"

/* What a kept packet said. */
struct placed_packet {
    uint64_t va;
    uint32_t rkey, dma_length;
    uint32_t imm;
    uint16_t payload_bytes;
    uint8_t opcode, bth, ext;
    uint8_t place[OCHE_PLACE_BYTES];
};

enum placement {
    PLACEMENT_KEPT,
    PLACEMENT_NOT_NOW, /* it may well be right, but cannot be kept */
    PLACEMENT_WRONG,   /* it will be refused in its turn */
};

/* Where payload goes: for a SEND into a receive, else to an address. */
struct payload_target {
    bool send;
    uint32_t bytes;
    uint32_t receive, offset; /* ring index; of the payload in the receive */
    uint32_t rkey;
    uint64_t va;
};

/* Packets that a queue pair of this NIC keeps at most, a power of two; 0: it keeps none. */
uint32_t placement_count(const struct oche_nic_config *config, uint8_t transport);

/* Keeps the packet, if it can be. */
enum placement placement_keep(struct oche_qp *qp, const struct oche_packet *packet,
                              const struct oche_opcode_row *row);
/* The packet with this PSN, which is kept, as it came but without payload and list of senders. */
void placement_recall(const struct oche_qp *qp, uint32_t psn, struct oche_packet *packet);
/* The expected PSN has moved on: sees whether there is still something kept behind it. */
void placement_passed(struct oche_qp *qp);

/*
 * Writes the payload of `psn`, but for the bytes that kept packets of later PSNs have written.
 * False, and nothing is written: a region is gone.
 */
bool placement_write(const struct oche_qp *qp, uint32_t psn, const struct payload_target *target,
                     const uint8_t *payload);

#endif
