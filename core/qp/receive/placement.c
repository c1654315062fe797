/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps packets that arrive behind a gap; see placement.h. */
#include "core/qp/receive/placement.h"

#include <string.h>

#include "core/qp/objects/objects.h"

/* ---- memory ---- */

/* A part of a payload, and where in memory it lies. */
struct piece {
    const struct oche_region *region;
    uint64_t offset; /* offset in the region */
    uint32_t from;   /* offset in the payload */
    uint32_t bytes;
};

/* All pieces of a payload that goes to one address or into one receive. */
struct pieces {
    uint32_t count;
    struct piece piece[OCHE_MAX_SGE];
};

/*
 * Returns the place of the piece in memory, so that pieces of different regions, which may overlap,
 * can be compared. For a region without memory (base NULL), returns the piece's address in the
 * region.
 */
static uint64_t address_of(const struct piece *piece)
{
    const struct oche_region *region = piece->region;

    return (region->base != NULL ? (uint64_t)(uintptr_t)region->base : region->va) + piece->offset;
}

static bool add_piece(const struct oche_qp *qp, struct pieces *pieces, uint32_t key, uint64_t va,
                      uint32_t from, uint32_t bytes, uint32_t access)
{
    const struct oche_region *region =
        access == OCHE_ACCESS_LOCAL_WRITE
            ? region_check(qp->nic, rcv(qp)->recv_pd, key, va, bytes, access)
            : region_check_remote(qp, key, va, bytes, access);

    if (region == NULL)
        return false;
    pieces->piece[pieces->count++] =
        (struct piece){.region = region, .offset = va - region->va, .from = from, .bytes = bytes};
    return true;
}

static bool receive_pieces(const struct oche_qp *qp, const struct payload_target *target,
                           struct pieces *pieces)
{
    const struct recv_entry *entry = recv_at(qp, target->receive);
    uint32_t skip = target->offset, done = 0;

    if (target->receive - rcv(qp)->recv_head >= rcv(qp)->recv_tail - rcv(qp)->recv_head)
        return false; /* that receive has been completed: the packet named a wrong one */
    for (uint32_t i = 0; i < entry->sge_count && done < target->bytes; i++) {
        const struct oche_sge *sge = &entry->sge[i];
        if (skip >= sge->length) {
            skip -= sge->length;
            continue;
        }
        uint32_t left = target->bytes - done, bytes = sge->length - skip;
        bytes = bytes < left ? bytes : left;
        if (!add_piece(qp, pieces, sge->lkey, sge->va + skip, done, bytes, OCHE_ACCESS_LOCAL_WRITE))
            return false;
        done += bytes;
        skip = 0;
    }
    return done == target->bytes;
}

/*
 * Finds the pieces of memory that the payload goes to. Returns false if some of it may not be
 * written.
 */
static bool find_pieces(const struct oche_qp *qp, const struct payload_target *target,
                        struct pieces *pieces)
{
    pieces->count = 0;
    if (target->bytes == 0)
        return true;
    if (target->send)
        return receive_pieces(qp, target, pieces);
    return add_piece(qp, pieces, target->rkey, target->va, 0, target->bytes,
                     OCHE_ACCESS_REMOTE_WRITE);
}

/* ---- what later packets have written ---- */

/* One bit for each byte of a payload: set if the byte must not be written. */
struct coverage {
    bool any;
    uint64_t words[(UINT16_MAX + 1) / 64];
};

static void cover(struct coverage *coverage, uint32_t payload_bytes, uint32_t from, uint32_t bytes)
{
    if (!coverage->any)
        memset(coverage->words, 0, (payload_bytes + 63) / 64 * sizeof(coverage->words[0]));
    coverage->any = true;
    for (uint32_t i = from; i < from + bytes; i++)
        coverage->words[i / 64] |= UINT64_C(1) << i % 64;
}

/* Marks the bytes of `mine` that overlap `theirs` in memory. */
static void cover_overlaps(struct coverage *coverage, uint32_t payload_bytes,
                           const struct pieces *mine, const struct pieces *theirs)
{
    for (uint32_t i = 0; i < mine->count; i++)
        for (uint32_t k = 0; k < theirs->count; k++) {
            const struct piece *m = &mine->piece[i], *t = &theirs->piece[k];
            uint64_t start = address_of(m), end = start + m->bytes;
            uint64_t other = address_of(t), other_end = other + t->bytes;
            uint64_t low = start > other ? start : other;
            uint64_t high = end < other_end ? end : other_end;
            if (low < high)
                cover(coverage, payload_bytes, m->from + (uint32_t)(low - start),
                      (uint32_t)(high - low));
        }
}

static struct placed_packet *placed_at(const struct oche_qp *qp, uint32_t psn)
{
    return &rcv(qp)->placed[psn & rcv(qp)->placed_mask];
}

/*
 * Returns where the payload of `psn` is held until its turn comes. Each gap begins with the first
 * place, so that no more memory is touched than what has been held at a time.
 */
static uint8_t *held_at(const struct oche_qp *qp, uint32_t psn)
{
    return rcv(qp)->held +
           (size_t)((psn - rcv(qp)->held_base) & (rcv(qp)->held_count - 1)) * qp->mtu;
}

/* True if there is room for the payload of `psn`. If not, the driver is told what is missing. */
static bool has_room(struct oche_qp *qp, uint32_t psn)
{
    const uint32_t ahead = (psn - rcv(qp)->rx.epsn) & OCHE_PSN_MASK;

    if (OCHE_LIKELY(ahead < rcv(qp)->held_count))
        return true;
    if (ahead <= rcv(qp)->placed_mask)
        qp_want_room(qp, &rcv(qp)->held_wanted, ahead);
    return false;
}

static struct payload_target target_of(const struct placed_packet *placed)
{
    struct oche_packet packet = {0};

    memcpy(packet.scheme_header, placed->place, sizeof(placed->place));
    struct oche_place place = oche_place_get(&packet);
    return (struct payload_target){
        .send = oche_opcode(placed->opcode)->operation == OCHE_OPERATION_SEND,
        .bytes = placed->payload_bytes,
        .receive = place.receive,
        .offset = place.offset,
        .rkey = placed->rkey,
        .va = placed->va,
    };
}

/* Marks the bytes of `pieces` that kept packets after `psn` have already written. */
static void find_coverage(const struct oche_qp *qp, uint32_t psn, const struct pieces *pieces,
                          uint32_t payload_bytes, struct coverage *coverage)
{
    const struct oche_recovery_scheme *recovery = qp->nic->recovery;
    uint32_t later = oche_psn_add(psn, 1);

    coverage->any = false;
    if (!(qp->flags & QP_HOLDS))
        return;
    for (; oche_psn_diff(later, rcv(qp)->placed_end) < 0; later = oche_psn_add(later, 1)) {
        const struct placed_packet *placed = placed_at(qp, later);
        struct pieces theirs;
        if (!recovery->holds(&rcv(qp)->rx, later) || (placed->ext & OCHE_EXT_PAYLOAD))
            continue; /* it is missing, or its payload is still held */
        struct payload_target target = target_of(placed);
        if (find_pieces(qp, &target, &theirs))
            cover_overlaps(coverage, payload_bytes, pieces, &theirs);
    }
}

/* ---- writing ---- */

/* A payload on its way to memory. */
struct writing {
    const struct oche_nic *nic;
    const uint8_t *payload;
    bool posted; /* the program has posted the memory: a receive */
};

static void write_piece(const struct writing *w, const struct piece *piece, uint32_t from,
                        uint32_t bytes)
{
    const struct oche_nic_port *port = w->nic->port;
    const bool posted = w->posted && port->write_posted != NULL;

    (posted ? port->write_posted : port->write)(w->nic->port_context, piece->region,
                                                piece->offset + (from - piece->from),
                                                w->payload + from, bytes);
}

/* Writes the bytes of the piece that are not marked. */
static void write_uncovered(const struct writing *w, const struct piece *piece,
                            const struct coverage *coverage)
{
    uint32_t end = piece->from + piece->bytes, run = piece->from;

    for (uint32_t i = piece->from; i < end; i++) {
        if (!(coverage->words[i / 64] >> i % 64 & 1))
            continue;
        if (i > run)
            write_piece(w, piece, run, i - run);
        run = i + 1;
    }
    if (end > run)
        write_piece(w, piece, run, end - run);
}

bool placement_write(const struct oche_qp *qp, uint32_t psn, const struct payload_target *target,
                     const uint8_t *payload)
{
    const struct writing w = {.nic = qp->nic, .payload = payload, .posted = target->send};
    struct coverage coverage;
    struct pieces pieces;

    if (!find_pieces(qp, target, &pieces))
        return false;
    find_coverage(qp, psn, &pieces, target->bytes, &coverage);
    for (uint32_t i = 0; i < pieces.count; i++) {
        const struct piece *piece = &pieces.piece[i];
        if (coverage.any)
            write_uncovered(&w, piece, &coverage);
        else
            write_piece(&w, piece, piece->from, piece->bytes);
    }
    return true;
}

/* ---- keeping ---- */

static bool is_write(const struct oche_opcode_row *row)
{
    return row->operation == OCHE_OPERATION_WRITE;
}

/*
 * True if the packet's payload is held until its turn comes: always, where it is not to be placed
 * at once; otherwise if its place is not known.
 */
static bool is_held(const struct oche_qp *qp, const struct oche_opcode_row *row)
{
    if (rcv(qp)->held == NULL)
        return false;
    return !rcv(qp)->places_at_once || (rcv(qp)->srq != NULL && !is_write(row));
}

/*
 * Checks the payload against the MTU and its place in the message, as far as one packet can show.
 */
static bool length_ok(const struct oche_qp *qp, const struct oche_packet *packet,
                      const struct oche_opcode_row *row)
{
    uint32_t bytes = packet->payload_bytes;
    bool first = row->flags & OCHE_OP_FIRST, last = row->flags & OCHE_OP_LAST;

    if (last ? bytes > qp->mtu : bytes != qp->mtu)
        return false;
    if (!is_write(row))
        return first == (oche_place_get(packet).offset == 0);
    if (packet->reth.dma_length > OCHE_MAX_MESSAGE_BYTES ||
        packet->reth.dma_length > (uint64_t)qp->mtu * MAX_PSN_WINDOW)
        return false;
    return last ? packet->reth.dma_length == bytes : packet->reth.dma_length > bytes;
}

static enum placement write_ok(const struct oche_qp *qp, const struct oche_packet *packet)
{
    bool may = rcv(qp)->access & OCHE_ACCESS_REMOTE_WRITE;

    const uint64_t bytes = region_bytes_to_check(qp, packet, oche_opcode(packet->opcode));

    if (may && bytes > 0)
        may = region_check_remote(qp, packet->reth.rkey, packet->reth.va, bytes,
                                  OCHE_ACCESS_REMOTE_WRITE) != NULL;
    return may ? PLACEMENT_KEPT : PLACEMENT_WRONG;
}

/*
 * Checks that the receive that the packet names is posted, large enough, and in writable memory. A
 * message takes a shared receive only when its turn comes: until then the place of its payload is
 * unknown, so the payload can only be held.
 */
static enum placement send_ok(struct oche_qp *qp, const struct oche_packet *packet)
{
    struct oche_place place = oche_place_get(packet);
    uint32_t ahead = place.receive - rcv(qp)->recv_head;

    if (rcv(qp)->srq != NULL)
        return rcv(qp)->held != NULL ? PLACEMENT_KEPT : PLACEMENT_NOT_NOW;
    if (rcv(qp)->recv_mask == UINT32_MAX || ahead > rcv(qp)->recv_mask)
        /* the receive has been completed, or lies beyond the queue's depth */
        return PLACEMENT_WRONG;
    rcv(qp)->recv_tail = atomic_load_explicit(&qp->posted_recvs, memory_order_acquire);
    if (ahead >= rcv(qp)->recv_tail - rcv(qp)->recv_head)
        return PLACEMENT_NOT_NOW;
    const struct recv_entry *entry = recv_at(qp, place.receive);
    if ((uint64_t)place.offset + packet->payload_bytes > entry->length ||
        !region_check_sges(qp->nic, rcv(qp)->recv_pd, entry->sge, entry->sge_count,
                           OCHE_ACCESS_LOCAL_WRITE))
        return PLACEMENT_WRONG;
    return PLACEMENT_KEPT;
}

static enum placement may_keep(struct oche_qp *qp, const struct oche_packet *packet,
                               const struct oche_opcode_row *row)
{
    bool write = is_write(row);

    if (!(row->flags & OCHE_OP_PAYLOAD) ||
        !(row->flags & (write ? OCHE_OP_HAS(RETH) : OCHE_OP_HAS(PLACE))))
        return PLACEMENT_NOT_NOW; /* the packet does not say where its payload goes */
    if (is_held(qp, row) && !has_room(qp, packet->psn))
        return PLACEMENT_NOT_NOW;
    if (!(packet->ext & (write ? OCHE_EXT_RETH : OCHE_EXT_SCHEME)) || !length_ok(qp, packet, row))
        return PLACEMENT_WRONG;
    return write ? write_ok(qp, packet) : send_ok(qp, packet);
}

static struct placed_packet *note(struct oche_qp *qp, const struct oche_packet *packet)
{
    struct placed_packet *placed = placed_at(qp, packet->psn);

    *placed = (struct placed_packet){
        .payload_bytes = packet->payload_bytes,
        .opcode = packet->opcode,
        .bth = packet->bth,
        .ext = packet->ext & (OCHE_EXT_RETH | OCHE_EXT_IMM | OCHE_EXT_SCHEME | OCHE_EXT_LIST),
    };
    if (packet->ext & OCHE_EXT_RETH) {
        placed->va = packet->reth.va;
        placed->rkey = packet->reth.rkey;
        placed->dma_length = packet->reth.dma_length;
    }
    if (packet->ext & OCHE_EXT_IMM)
        placed->imm = packet->imm;
    if (packet->ext & OCHE_EXT_SCHEME)
        memcpy(placed->place, packet->scheme_header, sizeof(placed->place));
    return placed;
}

/* Returns false if the payload cannot be written to its place. */
static bool keep_payload(struct oche_qp *qp, const struct oche_packet *packet,
                         const struct oche_opcode_row *row, struct placed_packet *placed)
{
    const struct payload_target target = target_of(placed);

    if (qp->nic->port->write == NULL || !(packet->ext & OCHE_EXT_PAYLOAD))
        return true;
    if (!is_held(qp, row))
        return placement_write(qp, packet->psn, &target, packet->payload);
    placed->ext |= OCHE_EXT_PAYLOAD;
    memcpy(held_at(qp, packet->psn), packet->payload, packet->payload_bytes);
    return true;
}

enum placement placement_keep(struct oche_qp *qp, const struct oche_packet *packet,
                              const struct oche_opcode_row *row)
{
    enum placement placement = may_keep(qp, packet, row);
    uint32_t end = oche_psn_add(packet->psn, 1);

    if (placement != PLACEMENT_KEPT)
        return placement;
    if (!(qp->flags & QP_HOLDS))
        rcv(qp)->held_base = (uint16_t)rcv(qp)->rx.epsn;
    if (!keep_payload(qp, packet, row, note(qp, packet)))
        return PLACEMENT_WRONG;
    if (!(qp->flags & QP_HOLDS) || oche_psn_diff(end, rcv(qp)->placed_end) > 0)
        rcv(qp)->placed_end = end;
    qp->flags |= QP_HOLDS;
    return PLACEMENT_KEPT;
}

void placement_recall(const struct oche_qp *qp, uint32_t psn, struct oche_packet *packet)
{
    const struct placed_packet *placed = placed_at(qp, psn);

    *packet = (struct oche_packet){
        .psn = psn,
        .payload_bytes = placed->payload_bytes,
        .opcode = placed->opcode,
        .bth = placed->bth,
        .ext = placed->ext,
        .reth.va = placed->va,
        .reth.rkey = placed->rkey,
        .reth.dma_length = placed->dma_length,
        .imm = placed->imm,
    };
    if (placed->ext & OCHE_EXT_PAYLOAD)
        packet->payload = held_at(qp, psn);
    memcpy(packet->scheme_header, placed->place, sizeof(placed->place));
    if (packet->ext & OCHE_EXT_LIST)
        oche_group_clear(packet);
}

void placement_passed(struct oche_qp *qp)
{
    if (oche_psn_diff(rcv(qp)->placed_end, rcv(qp)->rx.epsn) <= 0)
        qp->flags &= (uint16_t)~QP_HOLDS;
}

void placement_connect(struct oche_qp *qp)
{
    uint32_t count = rcv(qp)->held != NULL ? rcv(qp)->placed_mask + 1 : 0;

    while (count > 0 && (uint64_t)count * qp->mtu > rcv(qp)->held_bytes)
        count /= 2;
    rcv(qp)->held_count = count;
}

void placement_move(struct oche_qp *qp, uint8_t *memory, uint32_t bytes)
{
    const uint8_t *const before = rcv(qp)->held;
    const uint32_t mask = rcv(qp)->held_count - 1, base = rcv(qp)->held_base;

    rcv(qp)->held = memory;
    rcv(qp)->held_bytes = bytes;
    rcv(qp)->held_wanted = 0;
    placement_connect(qp);
    if (!(qp->flags & QP_HOLDS))
        return;
    for (uint32_t psn = rcv(qp)->rx.epsn; oche_psn_diff(psn, rcv(qp)->placed_end) < 0;
         psn = oche_psn_add(psn, 1))
        if (qp->nic->recovery->holds(&rcv(qp)->rx, psn) &&
            placed_at(qp, psn)->ext & OCHE_EXT_PAYLOAD)
            memcpy(held_at(qp, psn), before + (size_t)((psn - base) & mask) * qp->mtu,
                   placed_at(qp, psn)->payload_bytes);
}

uint32_t placement_count(const struct oche_nic_config *config, uint8_t transport)
{
    uint32_t window, count = 1;

    if (config->recovery->extend == NULL || transport != OCHE_TRANSPORT_RC)
        return 0;
    window = config->recovery->window_packets(config->recovery_params);
    while (count < window)
        count *= 2;
    return count;
}
