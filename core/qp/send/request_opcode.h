/* SPDX-License-Identifier: Apache-2.0 */
/* The opcodes of requests, by work opcode, transport and place in the message; for requester.c. */
#ifndef OCHE_CORE_QP_SEND_REQUEST_OPCODE_H
#define OCHE_CORE_QP_SEND_REQUEST_OPCODE_H

#include "core/qp/send/sender.h"

/*
 * The packet's opcode. Indices: the work opcode; 1 if the peer knows the extensions, else 0; the
 * packet's place in the message (bit 0: first, bit 1: last). UC adds 0x20.
 */
static const uint8_t request_opcodes[OCHE_WORK_OPCODES][2][4] = {
    [OCHE_WORK_SEND] = {{OCHE_RC_SEND_MIDDLE, OCHE_RC_SEND_FIRST, OCHE_RC_SEND_LAST,
                         OCHE_RC_SEND_ONLY},
                        {OCHE_RC_SEND_MIDDLE_AT, OCHE_RC_SEND_FIRST_AT, OCHE_RC_SEND_LAST_AT,
                         OCHE_RC_SEND_ONLY_AT}},
    [OCHE_WORK_SEND_IMM] = {{OCHE_RC_SEND_MIDDLE, OCHE_RC_SEND_FIRST, OCHE_RC_SEND_LAST_IMM,
                             OCHE_RC_SEND_ONLY_IMM},
                            {OCHE_RC_SEND_MIDDLE_AT, OCHE_RC_SEND_FIRST_AT,
                             OCHE_RC_SEND_LAST_IMM_AT, OCHE_RC_SEND_ONLY_IMM_AT}},
    [OCHE_WORK_WRITE] = {{OCHE_RC_WRITE_MIDDLE, OCHE_RC_WRITE_FIRST, OCHE_RC_WRITE_LAST,
                          OCHE_RC_WRITE_ONLY},
                         {OCHE_RC_WRITE_MIDDLE_AT, OCHE_RC_WRITE_FIRST, OCHE_RC_WRITE_LAST_AT,
                          OCHE_RC_WRITE_ONLY}},
    [OCHE_WORK_WRITE_IMM] = {{OCHE_RC_WRITE_MIDDLE, OCHE_RC_WRITE_FIRST, OCHE_RC_WRITE_LAST_IMM,
                              OCHE_RC_WRITE_ONLY_IMM},
                             {OCHE_RC_WRITE_MIDDLE_AT, OCHE_RC_WRITE_FIRST,
                              OCHE_RC_WRITE_LAST_IMM_AT, OCHE_RC_WRITE_ONLY_IMM}},
    [OCHE_WORK_SEND_INV] = {{OCHE_RC_SEND_MIDDLE, OCHE_RC_SEND_FIRST, OCHE_RC_SEND_LAST_INV,
                             OCHE_RC_SEND_ONLY_INV},
                            {OCHE_RC_SEND_MIDDLE_AT, OCHE_RC_SEND_FIRST_AT,
                             OCHE_RC_SEND_LAST_INV_AT, OCHE_RC_SEND_ONLY_INV_AT}},
    [OCHE_WORK_READ] = {{OCHE_RC_READ_REQUEST, OCHE_RC_READ_REQUEST, OCHE_RC_READ_REQUEST,
                         OCHE_RC_READ_REQUEST},
                        {OCHE_RC_READ_REQUEST, OCHE_RC_READ_REQUEST, OCHE_RC_READ_REQUEST,
                         OCHE_RC_READ_REQUEST}},
    [OCHE_WORK_COMPARE_SWAP] = {{OCHE_RC_COMPARE_SWAP, OCHE_RC_COMPARE_SWAP, OCHE_RC_COMPARE_SWAP,
                                 OCHE_RC_COMPARE_SWAP},
                                {OCHE_RC_COMPARE_SWAP, OCHE_RC_COMPARE_SWAP, OCHE_RC_COMPARE_SWAP,
                                 OCHE_RC_COMPARE_SWAP}},
    [OCHE_WORK_FETCH_ADD] = {{OCHE_RC_FETCH_ADD, OCHE_RC_FETCH_ADD, OCHE_RC_FETCH_ADD,
                              OCHE_RC_FETCH_ADD},
                             {OCHE_RC_FETCH_ADD, OCHE_RC_FETCH_ADD, OCHE_RC_FETCH_ADD,
                              OCHE_RC_FETCH_ADD}},
};

_Static_assert(OCHE_WORK_OPCODES <= 16, "an opcode has four bits in the cursor");

/* Returns the opcode of a packet of a reliable queue pair. */
static inline uint8_t opcode_of(const struct oche_qp *qp, uint8_t work_opcode, bool first,
                                bool last)
{
    bool extended = qp->flags & QP_EXTENDED;

    return request_opcodes[work_opcode][extended][first | last << 1];
}

/* Returns the opcode of UC or UD that corresponds to an opcode of RC. */
static inline uint8_t unreliable_opcode(const struct oche_qp *qp, uint8_t opcode)
{
    bool uc = qp->transport == OCHE_TRANSPORT_UC;

    return (uint8_t)(opcode + (uc ? OCHE_UC_OF_RC : OCHE_UD_OF_RC));
}

#endif
