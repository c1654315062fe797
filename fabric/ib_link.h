/* SPDX-License-Identifier: Apache-2.0 */
/*
 * InfiniBand's credit-based link-level flow control, one end of a link (InfiniBand Architecture
 * Specification, volume 1, sec 7.9; REFERENCE F.4). A virtual lane (VL) is a traffic class here.
 *
 * The receiver of a link has a buffer a VL, in blocks of 64 bytes. It tells the sender by flow
 * control packets (FCP) up to which block it may send: FCCL, the blocks that have arrived so far
 * (ABR) and those that are free now. The sender counts what it has sent (FCTBS) and sends a packet
 * only if that stays within FCCL. So nothing is ever sent that there is no room for. All counters
 * are 12 bits wide, which is why a buffer is at most 2048 blocks.
 *
 * An FCP also carries the FCTBS of its own sender, from which the far end sets its ABR: blocks that
 * a link has lost are found again so. FCPs are due at least every 65,536 symbol times. When else,
 * is the receiver's choice: here, when `update` blocks have become free that were not told yet.
 *
 * Before time 0 the ends have exchanged FCPs: both know the other's buffer, which is like their
 * own.
 */
#ifndef OCHE_FABRIC_IB_LINK_H
#define OCHE_FABRIC_IB_LINK_H

#include "core/base.h"
#include "core/wire/packet.h"

#define OCHE_IB_BLOCK_BYTES 64
#define OCHE_IB_MOST_BLOCKS 2048
#define OCHE_IB_COUNTER     UINT16_C(0xfff)
/* Of one VL: op, FCTBS, VL, FCCL, CRC are 6 bytes, and the symbols before and after. */
#define OCHE_IB_FCP_BYTES 8
/* 65,536 symbol times of a link of four lanes, each of which carries a byte at a time. */
#define OCHE_IB_FCP_INTERVAL_BYTES (UINT64_C(65536) * 4)

struct oche_ib_vl {
    uint16_t fctbs; /* sender: blocks sent, modulo 4096 */
    uint16_t limit; /* sender: the last FCCL */
    uint16_t abr;   /* receiver: blocks that have arrived, modulo 4096 */
    uint16_t held;  /* receiver: blocks in the buffer */
    uint16_t owed;  /* receiver: blocks that have become free since the last FCP */
};

struct oche_ib_link {
    uint16_t size;   /* of the buffer of a VL, blocks */
    uint16_t update; /* blocks that are worth an FCP */
    uint8_t vl_count;
    uint8_t due;    /* VLs whose FCP is due */
    oche_time told; /* when the last FCP of all VLs left */
    struct oche_ib_vl vl[OCHE_CLASSES];
};

void oche_ib_link_init(struct oche_ib_link *link, unsigned vl_count, uint64_t buffer_bytes,
                       uint64_t update_bytes);

static inline uint16_t oche_ib_blocks(uint32_t bytes)
{
    return (uint16_t)((bytes + OCHE_IB_BLOCK_BYTES - 1) / OCHE_IB_BLOCK_BYTES);
}

/* ---- sender ---- */

/* Blocks that may be sent. What is ahead of FCCL by the wrong half of the circle is none. */
static inline uint16_t oche_ib_credit(const struct oche_ib_link *link, unsigned vl)
{
    uint16_t credit = (uint16_t)(link->vl[vl].limit - link->vl[vl].fctbs) & OCHE_IB_COUNTER;

    return credit <= OCHE_IB_MOST_BLOCKS ? credit : 0;
}

static inline void oche_ib_sent(struct oche_ib_link *link, unsigned vl, uint16_t blocks)
{
    link->vl[vl].fctbs = (uint16_t)(link->vl[vl].fctbs + blocks) & OCHE_IB_COUNTER;
}

/* ---- receiver ---- */

static inline bool oche_ib_has_room(const struct oche_ib_link *link, unsigned vl, uint16_t blocks)
{
    return (uint32_t)link->vl[vl].held + blocks <= link->size;
}

/* A packet has come and is kept, for which there was room. */
static inline void oche_ib_arrived(struct oche_ib_link *link, unsigned vl, uint16_t blocks)
{
    link->vl[vl].abr = (uint16_t)(link->vl[vl].abr + blocks) & OCHE_IB_COUNTER;
    link->vl[vl].held = (uint16_t)(link->vl[vl].held + blocks);
}

/* So many blocks more are free than the sender knows. True: an FCP has become due. */
bool oche_ib_owe(struct oche_ib_link *link, unsigned vl, uint16_t blocks);
/* A packet leaves the buffer. True: an FCP has become due. */
bool oche_ib_freed(struct oche_ib_link *link, unsigned vl, uint16_t blocks);
/* A packet has come and is gone at once: dropped, or taken by a host. True likewise. */
bool oche_ib_passed(struct oche_ib_link *link, unsigned vl, uint16_t blocks);

/* ---- FCPs ---- */

/* Makes the FCP of every VL due. */
void oche_ib_tell_all(struct oche_ib_link *link);
/* Fills `frame` with the FCPs that are due: one frame on the line. Some are. */
void oche_ib_fill(struct oche_ib_link *link, struct oche_packet *frame, oche_time now);
/* FCPs have come. VLs that are not in use are left alone. True: an FCP of ours has become due. */
bool oche_ib_take(struct oche_ib_link *link, const struct oche_packet *frame);

#endif
