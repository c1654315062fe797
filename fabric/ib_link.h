/* SPDX-License-Identifier: Apache-2.0 */
/*
 * InfiniBand's credit-based link-level flow control, one end of a link (InfiniBand Architecture
 * Specification, volume 1, sec 7.9; ib-cc.md#credits). A virtual lane (VL) is a traffic class here.
 *
 * The receiver of a link has a buffer for each VL, in blocks of 64 bytes. It sends flow control
 * packets (FCP) with a limit, FCCL: the number of blocks that have arrived so far (ABR) plus the
 * number that are free now. The sender counts the blocks that it has sent (FCTBS) and sends a
 * packet only if the count stays within FCCL. So no packet is sent without room for it. All
 * counters are 12 bits wide, which limits a buffer to 2048 blocks.
 *
 * An FCP also carries its sender's own FCTBS. The far end sets its ABR to that value, which
 * recovers blocks that the link has lost. FCPs are due at least every 65,536 symbol times. More
 * often than that, the receiver chooses when to send one: here, when `update` blocks have become
 * free since the last one.
 *
 * The two ends are assumed to have exchanged FCPs before time 0: each knows the size of the other's
 * buffer, which is the same as the size of its own.
 */
#ifndef OCHE_FABRIC_IB_LINK_H
#define OCHE_FABRIC_IB_LINK_H

#include "core/base.h"
#include "core/wire/packet.h"

#define OCHE_IB_BLOCK_BYTES 64
#define OCHE_IB_MOST_BLOCKS 2048
#define OCHE_IB_COUNTER     UINT16_C(0xfff)
/*
 * Bytes on the line of one VL's FCP: op, FCTBS, VL, FCCL and CRC are 6 bytes; one symbol precedes
 * and one follows them.
 */
#define OCHE_IB_FCP_BYTES 8
/* 65,536 symbol times on a link of four lanes, each of which carries one byte per symbol time. */
#define OCHE_IB_FCP_INTERVAL_BYTES (UINT64_C(65536) * 4)

struct oche_ib_vl {
    uint16_t fctbs; /* sender: blocks sent, modulo 4096 */
    uint16_t limit; /* sender: the last FCCL received */
    uint16_t abr;   /* receiver: blocks that have arrived, modulo 4096 */
    uint16_t held;  /* receiver: blocks in the buffer */
    uint16_t owed;  /* receiver: blocks that have become free since the last FCP */
};

struct oche_ib_link {
    uint16_t size;   /* blocks in the buffer of each VL */
    uint16_t update; /* an FCP becomes due once this many blocks have become free */
    uint8_t vl_count;
    uint8_t due;    /* mask of the VLs whose FCP is due */
    oche_time told; /* when FCPs of all VLs were last sent */
    struct oche_ib_vl vl[OCHE_CLASSES];
};

void oche_ib_link_init(struct oche_ib_link *link, unsigned vl_count, uint64_t buffer_bytes,
                       uint64_t update_bytes);

static inline uint16_t oche_ib_blocks(uint32_t bytes)
{
    return (uint16_t)((bytes + OCHE_IB_BLOCK_BYTES - 1) / OCHE_IB_BLOCK_BYTES);
}

/* ---- sender ---- */

/*
 * Returns how many blocks may be sent. If the FCCL seems to be ahead of the count of sent blocks by
 * more than half the number range, it is really behind; then the result is 0.
 */
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

/* Counts a packet that has arrived and is kept. The caller has checked that there is room. */
static inline void oche_ib_arrived(struct oche_ib_link *link, unsigned vl, uint16_t blocks)
{
    link->vl[vl].abr = (uint16_t)(link->vl[vl].abr + blocks) & OCHE_IB_COUNTER;
    link->vl[vl].held = (uint16_t)(link->vl[vl].held + blocks);
}

/*
 * Notes that `blocks` more blocks are free than the sender has been told. Returns true if an FCP
 * has become due.
 */
bool oche_ib_owe(struct oche_ib_link *link, unsigned vl, uint16_t blocks);
/* Frees the blocks of a packet that leaves the buffer. Returns true if an FCP has become due. */
bool oche_ib_freed(struct oche_ib_link *link, unsigned vl, uint16_t blocks);
/*
 * Counts a packet that has arrived and takes no room: it is dropped, or a host consumes it at once.
 * Returns true if an FCP has become due.
 */
bool oche_ib_passed(struct oche_ib_link *link, unsigned vl, uint16_t blocks);

/* ---- FCPs ---- */

/* Makes the FCP of every VL due. */
void oche_ib_tell_all(struct oche_ib_link *link);
/* Fills `frame` with all FCPs that are due. At least one must be due. */
void oche_ib_fill(struct oche_ib_link *link, struct oche_packet *frame, oche_time now);
/*
 * Applies the FCPs of an arrived frame, except those for VLs that are not in use. Returns true if
 * an FCP of this end has become due.
 */
bool oche_ib_take(struct oche_ib_link *link, const struct oche_packet *frame);

#endif
