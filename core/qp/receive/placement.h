/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeping packets that arrive behind a gap (recovery's verdict PLACE). The headers are stored, one
 * entry per PSN, until the gap is closed and the packet is executed in its turn (responder.c). The
 * payload is written to its final place at once, as in IRN, or held until then, too, where the
 * queue pair has memory for that (oche_qp_config.held): for programs that wait for the last byte of
 * a message in memory. Recovery may ask for the former although there is memory
 * (places_at_once); then only SENDs that will take a shared receive are held, as their place is not
 * known yet. IRN (irn.md#placement) says which facts a packet must carry to be placed at once;
 * core/wire/extension.h defines the headers.
 *
 * A packet is kept only if it could be executed now: a WRITE if its length, key, bounds and
 * permission are right, a SEND if the receive that it names is posted and large enough, or if it
 * will take a shared one and its payload is held. Any other
 * packet is dropped and must be sent again, so errors are found and answered in PSN order. READ
 * requests and atomics are never kept. A WRITE that is placed at once may reach memory before an
 * earlier READ or atomic is executed. A requester that minds gives it a fence, so that it leaves
 * only after the answer.
 *
 * In the end memory is as if all packets had come in order, even if several write to the same
 * place: when a packet fills a gap, its write skips the bytes that kept packets of later PSNs have
 * written.
 */
#ifndef OCHE_CORE_QP_RECEIVE_PLACEMENT_H
#define OCHE_CORE_QP_RECEIVE_PLACEMENT_H

#include "core/qp/receive/receiver.h"

/* The stored headers of a kept packet. */
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
    PLACEMENT_NOT_NOW, /* the packet may be valid, but cannot be kept */
    PLACEMENT_WRONG,   /* the packet is invalid, and will be refused in its turn */
};

/* The destination of a payload: a receive if it is a SEND's, otherwise an address. */
struct payload_target {
    bool send;
    uint32_t bytes;
    uint32_t receive, offset; /* the receive's ring index; the payload's offset in it */
    uint32_t rkey;
    uint64_t va;
};

/* Returns how many packets a queue pair of the NIC can keep; this is a power of two, or 0. */
uint32_t placement_count(const struct oche_nic_config *config, uint8_t transport);

/* The connection's MTU is known: it says how many payloads find room in rcv(qp)->held. */
void placement_connect(struct oche_qp *qp);

/*
 * Moves the payloads that are held to `memory`, which is larger than the queue pair's, and holds
 * payloads there from now on.
 */
void placement_move(struct oche_qp *qp, uint8_t *memory, uint32_t bytes);

/* Keeps the packet if possible. The result says whether it was kept. */
enum placement placement_keep(struct oche_qp *qp, const struct oche_packet *packet,
                              const struct oche_opcode_row *row);
/* Fills `packet` with the headers of the kept packet with this PSN, without its list of senders. */
void placement_recall(const struct oche_qp *qp, uint32_t psn, struct oche_packet *packet);
/*
 * Called when the expected PSN has moved on. Clears QP_HOLDS if no packet is kept behind that PSN.
 */
void placement_passed(struct oche_qp *qp);

/*
 * Writes the payload of `psn`, except the bytes that kept packets of later PSNs have written.
 * Returns false, and writes nothing, if a region is gone.
 */
bool placement_write(const struct oche_qp *qp, uint32_t psn, const struct payload_target *target,
                     const uint8_t *payload);

#endif
