/* SPDX-License-Identifier: Apache-2.0 */
/* READ data that is asked for in pieces; see pieces.h. */
#include "core/qp/send/pieces.h"

#include <string.h>

#include "core/qp/congestion.h"
#include "core/qp/scheduler.h"
#include "core/qp/timers.h"

#define PIECES_A_WINDOW 8u
#define LEAST_PIECES    16u /* room for so many even where the configuration has fewer */
#define MOST_PIECES     4096u

static uint32_t later(uint32_t a, uint32_t b)
{
    return oche_psn_diff(a, b) >= 0 ? a : b;
}

static uint32_t less(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* ---- memory ---- */

static uint32_t ring_of(uint32_t depth)
{
    uint32_t ring = LEAST_PIECES;

    while (ring < depth && ring < MOST_PIECES)
        ring *= 2;
    return ring;
}

size_t pieces_bytes(const struct oche_nic_config *config, const struct oche_qp_config *qp)
{
    /* If recovery restarts messages, a peer would have to remember all requests of a READ. */
    if (!config->cc->windows_reads || config->recovery->whole_messages ||
        qp->transport != OCHE_TRANSPORT_RC || qp->initiator_depth == 0)
        return 0;
    return sizeof(struct read_pieces) + ring_of(qp->initiator_depth) * sizeof(struct read_piece);
}

void pieces_init(struct oche_qp *qp, const struct oche_qp_config *config)
{
    struct read_pieces *pieces = snd(qp)->pieces;

    memset(pieces, 0, pieces_bytes(&qp->nic->config, config));
    pieces->mask = ring_of(config->initiator_depth) - 1;
    pieces->held = config->held_reads;
    pieces->held_bytes = config->held_reads_bytes;
}

void pieces_connect(struct oche_qp *qp)
{
    struct read_pieces *pieces = snd(qp)->pieces;

    pieces->reach = OCHE_PSN_BITMAP_BITS;
    if (qp->nic->port->write == NULL)
        return;
    if (pieces->held == NULL)
        pieces->reach = 0;
    while (pieces->reach > 0 && (uint64_t)pieces->reach * qp->mtu > pieces->held_bytes)
        pieces->reach /= 2;
}

void pieces_reset(struct oche_qp *qp)
{
    struct read_pieces *pieces = snd(qp)->pieces;

    pieces->head = pieces->tail;
    if (pieces->kept > 0)
        pieces->arrived = (struct oche_psn_bitmap){0};
    pieces->kept = 0;
    pieces->kept_bytes = 0;
    pieces->gap = pieces->recovering = false;
    pieces->vain = 0;
    pieces->due = 0;
    pieces->wanted = 0;
    snd(qp)->asks = snd(qp)->read_waits = false;
}

static struct read_piece *piece_at(struct read_pieces *pieces, uint32_t index)
{
    return &pieces->piece[index & pieces->mask];
}

/* Returns the piece that has this PSN, or NULL. */
static struct read_piece *find_piece(struct read_pieces *pieces, uint32_t psn)
{
    for (uint32_t i = pieces->head; i != pieces->tail; i++) {
        struct read_piece *piece = piece_at(pieces, i);
        if (oche_psn_diff(psn, piece->end) < 0)
            return oche_psn_diff(psn, piece->first) >= 0 ? piece : NULL;
    }
    return NULL;
}

/* Returns the packet's payload as it must be. */
static uint32_t bytes_of(const struct oche_qp *qp, const struct read_piece *piece, uint32_t psn)
{
    return less(piece->bytes - ((psn - piece->first) & OCHE_PSN_MASK) * qp->mtu, qp->mtu);
}

/* ---- what is kept ---- */

static bool is_kept(const struct oche_qp *qp, uint32_t psn)
{
    const struct read_pieces *pieces = snd(qp)->pieces;
    const uint32_t ahead = (psn - snd(qp)->tx.una) & OCHE_PSN_MASK;

    return pieces->kept > 0 && ahead < pieces->reach && oche_psn_has(&pieces->arrived, psn);
}

uint32_t pieces_pass_over(const struct oche_qp *qp, uint32_t psn)
{
    const struct read_pieces *pieces = snd(qp)->pieces;
    uint32_t end = oche_psn_add(snd(qp)->tx.una, pieces->reach);

    if (pieces->kept == 0)
        return psn;
    if (oche_psn_diff(end, snd(qp)->tx.high) > 0)
        end = snd(qp)->tx.high;
    return oche_psn_diff(psn, end) < 0 ? oche_psn_first_clear(&pieces->arrived, psn, end) : psn;
}

static uint8_t *held_at(const struct oche_qp *qp, uint32_t psn)
{
    const struct read_pieces *pieces = snd(qp)->pieces;

    return pieces->held + (size_t)((psn - pieces->base) & (pieces->reach - 1)) * qp->mtu;
}

/* True if there is room for the payload of `psn`. If not, the driver is told what is missing. */
static bool has_room(struct oche_qp *qp, uint32_t psn)
{
    struct read_pieces *pieces = snd(qp)->pieces;
    const uint32_t ahead = (psn - snd(qp)->tx.una) & OCHE_PSN_MASK;

    if (OCHE_LIKELY(ahead < pieces->reach))
        return true;
    if (pieces->held != NULL && ahead < OCHE_PSN_BITMAP_BITS)
        qp_want_room(qp, &pieces->wanted, ahead);
    return false;
}

void pieces_move(struct oche_qp *qp, uint8_t *memory, uint32_t bytes)
{
    struct read_pieces *pieces = snd(qp)->pieces;
    const struct read_pieces *const now = pieces;
    const uint8_t *const before = pieces->held;
    const uint32_t mask = pieces->reach - 1, base = pieces->base;

    pieces->held = memory;
    pieces->held_bytes = bytes;
    pieces->wanted = 0;
    pieces_connect(qp);
    for (uint32_t i = 0, left = now->kept; left > 0 && i <= mask; i++) {
        const uint32_t psn = oche_psn_add(snd(qp)->tx.una, i);
        if (!oche_psn_has(&now->arrived, psn))
            continue;
        memcpy(held_at(qp, psn), before + (size_t)((psn - base) & mask) * qp->mtu, qp->mtu);
        left--;
    }
}

static void keep(struct oche_qp *qp, const struct oche_packet *packet, oche_time now)
{
    struct read_pieces *pieces = snd(qp)->pieces;
    const struct read_piece *piece = find_piece(pieces, packet->psn);
    const uint32_t bytes = packet->payload_bytes;

    if (!has_room(qp, packet->psn))
        return;
    if (piece == NULL || bytes != bytes_of(qp, piece, packet->psn)) {
        nic_reject(qp->nic, qp, piece == NULL ? OCHE_REJECT_PSN : OCHE_REJECT_LENGTH, packet, now);
        return;
    }
    if (is_kept(qp, packet->psn)) {
        qp->nic->stats.duplicate_packets++;
        qp->nic->stats.duplicate_responses++;
        pieces_came_twice(qp, now);
        return;
    }
    if (pieces->kept == 0) /* so the memory touched is only as much as is kept at a time */
        pieces->base = snd(qp)->tx.una;
    if (pieces->held != NULL && bytes > 0) {
        if (!(packet->ext & OCHE_EXT_PAYLOAD))
            return;
        memcpy(held_at(qp, packet->psn), packet->payload, bytes);
    }
    oche_psn_set(&pieces->arrived, packet->psn);
    pieces->kept++;
    OCHE_MUST(pieces->kept <= pieces->reach);
    pieces->kept_bytes += bytes;
    qp->nic->stats.placed_packets++;
    qp_trace(qp, now, OCHE_TRACE_PLACED, packet->psn, bytes);
}

bool pieces_recall(struct oche_qp *qp, struct oche_packet *packet)
{
    struct read_pieces *pieces = snd(qp)->pieces;
    const uint32_t psn = snd(qp)->tx.una;
    const struct read_piece *piece;

    if (OCHE_LIKELY(!is_kept(qp, psn)))
        return false;
    piece = find_piece(pieces, psn);
    OCHE_MUST(piece != NULL);
    *packet = (struct oche_packet){
        .psn = psn,
        .opcode = OCHE_RC_READ_RESPONSE_MIDDLE,
        .payload_bytes = (uint16_t)bytes_of(qp, piece, psn),
        .ext = pieces->held != NULL ? OCHE_EXT_PAYLOAD : 0,
    };
    if (pieces->held != NULL)
        packet->payload = held_at(qp, psn);
    oche_psn_clear(&pieces->arrived, psn, 1);
    OCHE_MUST(pieces->kept_bytes >= packet->payload_bytes);
    pieces->kept--;
    pieces->kept_bytes -= packet->payload_bytes;
    return true;
}

/* ---- what is missing ---- */

/*
 * Returns the end of the missing PSNs of the piece, from `first` on: one past the last PSN that is
 * not kept.
 */
static uint32_t end_of_missing(const struct oche_qp *qp, const struct read_piece *piece,
                               uint32_t first)
{
    const uint32_t least = oche_psn_add(first, 1);
    uint32_t end = piece->end;

    while (end != least && is_kept(qp, oche_psn_add(end, OCHE_PSN_MASK)))
        end = oche_psn_add(end, OCHE_PSN_MASK);
    return end;
}

/*
 * Tells recovery up to where READ data has been answered, so that data taken from `held` does not
 * make a timeout look early.
 */
static void tell_answered(struct oche_qp *qp)
{
    if (qp->nic->recovery->answered != NULL && snd(qp)->pieces->gap)
        qp->nic->recovery->answered(&snd(qp)->tx, snd(qp)->pieces->heard);
}

/*
 * Looks for a piece with lost data that was not asked for again since the loss. The result is in
 * snd(qp)->asks.
 */
static void look(struct oche_qp *qp)
{
    struct read_pieces *pieces = snd(qp)->pieces;
    const uint32_t reach = oche_psn_add(snd(qp)->tx.una, pieces->reach);

    snd(qp)->asks = false;
    for (uint32_t i = pieces->head; pieces->gap && i != pieces->tail; i++) {
        const struct read_piece *piece = piece_at(pieces, i);
        const uint32_t from = later(piece->first, snd(qp)->tx.una);

        if (oche_psn_diff(piece->end, pieces->lost) > 0 ||
            (oche_psn_diff(piece->end, reach) > 0 && from != snd(qp)->tx.una))
            return;
        if (oche_psn_diff(piece->end, pieces->walk) <= 0)
            continue;
        const uint32_t hole = pieces_pass_over(qp, from);
        if (oche_psn_diff(hole, piece->end) >= 0) {
            pieces->walk = piece->end; /* all of it is here */
            continue;
        }
        pieces->hole_first = hole;
        pieces->hole_end = end_of_missing(qp, piece, hole);
        snd(qp)->asks = true;
        return;
    }
}

/* Counts data that is missing before `end` as lost. */
static void lose(struct oche_qp *qp, uint32_t end)
{
    struct read_pieces *pieces = snd(qp)->pieces;

    pieces->lost = later(pieces->lost, end);
    if (oche_psn_diff(pieces->lost, pieces->mark) > 0) {
        /* so the answer to what was asked for again before that would have come */
        pieces->walk = snd(qp)->tx.una;
        pieces->mark = snd(qp)->tx.high;
        pieces->recovering = false;
    }
    look(qp);
}

void pieces_answered(struct oche_qp *qp, uint32_t end, oche_time now)
{
    const struct oche_recovery_scheme *recovery = qp->nic->recovery;
    struct read_pieces *pieces = snd(qp)->pieces;
    oche_time window = 0;

    if (!pieces->gap) {
        pieces->gap = true;
        pieces->heard = end;
        pieces->lost = snd(qp)->tx.una;
        pieces->suspects.count = 0;
        /* what recovery sends again includes all that is missing */
        pieces->walk = snd(qp)->tx.next != snd(qp)->tx.high ? snd(qp)->tx.high : snd(qp)->tx.una;
        pieces->mark = snd(qp)->tx.high;
    } else if (oche_psn_diff(end, pieces->heard) > 0) {
        pieces->heard = end;
    }
    tell_answered(qp);
    if (recovery->reorder_window != NULL)
        window = recovery->reorder_window(&snd(qp)->tx, pieces->kept);
    if (window == 0) {
        lose(qp, pieces->heard);
        return;
    }
    oche_suspects_note(&pieces->suspects, pieces->heard, window, now);
    timers_want(qp, oche_suspects_due(&pieces->suspects));
}

void pieces_loss_timer(struct oche_qp *qp, oche_time now)
{
    uint32_t end = snd(qp)->tx.una;

    if (oche_suspects_expire(&snd(qp)->pieces->suspects, now, &end))
        lose(qp, end);
    scheduler_kick(qp, now);
}

void pieces_came_twice(struct oche_qp *qp, oche_time now)
{
    struct read_pieces *pieces = snd(qp)->pieces;

    if (pieces->vain == 0 || --pieces->vain > 0)
        return;
    pieces->recovering = false;
    if (qp->nic->recovery->read_late == NULL)
        return;
    qp->nic->recovery->read_late(&snd(qp)->tx, true);
    qp->nic->stats.early_losses++;
    congestion_undo(qp, OCHE_CC_LOSS_NAK, now);
}

void pieces_behind_gap(struct oche_qp *qp, const struct oche_packet *packet, bool read,
                       oche_time now)
{
    qp->nic->stats.out_of_order_packets++;
    if (read)
        keep(qp, packet, now);
    pieces_answered(qp, oche_psn_add(packet->psn, 1), now);
}

void pieces_asked(struct oche_qp *qp, oche_time now)
{
    struct read_pieces *pieces = snd(qp)->pieces;
    const struct read_piece *piece = find_piece(pieces, pieces->hole_first);

    qp->nic->stats.response_gaps++;
    snd(qp)->rtt_head =
        snd(qp)->rtt_tail; /* the measured packet would have waited for the repetition */
    pieces_left(qp, pieces->hole_first, pieces->hole_end, now);
    pieces->walk = piece != NULL ? piece->end : pieces->hole_end;
    pieces->mark = snd(qp)->tx.high;
    if (!pieces->recovering || oche_psn_diff(pieces->hole_first, pieces->recover) >= 0) {
        pieces->recovering = true;
        pieces->recover = snd(qp)->tx.high;
        pieces->vain = 0;
        congestion_loss(qp, OCHE_CC_LOSS_NAK, now);
    }
    pieces->vain += (pieces->hole_end - pieces->hole_first) & OCHE_PSN_MASK;
    look(qp);
}

void pieces_go_back(struct oche_qp *qp)
{
    struct read_pieces *pieces = snd(qp)->pieces;

    pieces->walk = pieces->mark = snd(qp)->tx.high;
    pieces->vain = 0;
    snd(qp)->asks = false;
    tell_answered(qp);
}

bool pieces_moved(struct oche_qp *qp)
{
    struct read_pieces *pieces = snd(qp)->pieces;

    if (pieces->head == pieces->tail || piece_at(pieces, pieces->head)->end != snd(qp)->tx.una)
        return false;
    pieces->head++;
    return true;
}

void pieces_settle(struct oche_qp *qp)
{
    struct read_pieces *pieces = snd(qp)->pieces;

    if (pieces->recovering && oche_psn_diff(snd(qp)->tx.una, pieces->recover) >= 0)
        pieces->recovering = false;
    if (!pieces->gap)
        return;
    if (oche_psn_diff(snd(qp)->tx.una, pieces->heard) >= 0)
        pieces->gap = false;
    else
        pieces->walk = later(pieces->walk, snd(qp)->tx.una);
    look(qp);
}

/* ---- asking ---- */

/* Returns the packets that may be under way: the lesser of both windows. */
static uint32_t window_of(const struct oche_qp *qp)
{
    const uint64_t packets = qp->flow.window_bytes / qp->mtu;

    return packets < snd(qp)->window_packets ? (uint32_t)packets : snd(qp)->window_packets;
}

/* Returns the packets of a piece of a long READ. */
static uint32_t piece_packets(const struct oche_qp *qp)
{
    const uint32_t half = snd(qp)->initiator_depth / 2;
    const uint32_t share = half == 0 ? 1 : less(half, PIECES_A_WINDOW);

    return window_of(qp) < share ? 1 : (window_of(qp) + share - 1) / share;
}

uint64_t pieces_slack_bytes(const struct oche_qp *qp)
{
    return (uint64_t)piece_packets(qp) * qp->mtu;
}

/* Returns the bytes of the next request for a READ with `left` bytes left. */
static uint32_t piece_bytes(const struct oche_qp *qp, uint32_t left)
{
    const uint64_t most = pieces_slack_bytes(qp);

    return left < most ? left : (uint32_t)most;
}

enum requester_wait pieces_wait(const struct oche_qp *qp)
{
    const uint32_t offset =
        snd(qp)->send_next == snd(qp)->send_started ? 0 : snd(qp)->cursor_offset;
    const uint32_t length = send_at(qp, snd(qp)->send_next)->length;
    struct read_pieces *pieces = snd(qp)->pieces;
    const uint64_t flight = pieces_flight(qp);
    const bool again = snd(qp)->tx.next != snd(qp)->tx.high;
    const uint32_t outstanding = (snd(qp)->tx.next - snd(qp)->tx.una) & OCHE_PSN_MASK;
    uint64_t bytes;

    if (snd(qp)->read_waits)
        return REQUESTER_PACED;
    if (!again && pieces->tail - pieces->head > pieces->mask)
        return REQUESTER_DEPTH;
    if (!again && offset > 0 && snd(qp)->reads_started >= snd(qp)->initiator_depth)
        return REQUESTER_DEPTH;
    if (outstanding == 0 || oche_psn_diff(snd(qp)->asked, snd(qp)->tx.una) <= 0)
        return REQUESTER_GO;
    if (again) {
        const struct read_piece *piece = find_piece(pieces, snd(qp)->tx.next);
        const uint32_t end =
            piece == NULL ? snd(qp)->tx.next : end_of_missing(qp, piece, snd(qp)->tx.next);
        bytes = (uint64_t)((end - snd(qp)->tx.next) & OCHE_PSN_MASK) * qp->mtu;
    } else {
        bytes = piece_bytes(qp, length - offset);
        if (outstanding + bytes / qp->mtu > snd(qp)->window_packets)
            return REQUESTER_WINDOW;
    }
    if (flight > 0 && flight + bytes > qp->flow.window_bytes)
        return REQUESTER_CC_WINDOW;
    return REQUESTER_GO;
}

uint32_t pieces_take(struct oche_qp *qp)
{
    struct read_pieces *pieces = snd(qp)->pieces;
    const uint32_t next = snd(qp)->tx.next, left = snd(qp)->cursor_length - snd(qp)->cursor_offset;

    if (next != snd(qp)->tx.high) {
        const struct read_piece *piece = find_piece(pieces, next);
        OCHE_MUST(piece != NULL);
        return end_of_missing(qp, piece, next);
    }
    const uint32_t bytes = piece_bytes(qp, left);
    const uint32_t packets = bytes <= qp->mtu ? 1 : (bytes - 1) / qp->mtu + 1;
    struct read_piece *piece = piece_at(pieces, pieces->tail++);

    *piece = (struct read_piece){.first = next, .end = oche_psn_add(next, packets), .bytes = bytes};
    if (snd(qp)->cursor_offset > 0) { /* to the peer it is one more READ, which needs no credit */
        snd(qp)->reads_started++;
        snd(qp)->next_ssn = oche_psn_add(snd(qp)->next_ssn, 1);
        snd(qp)->credit_limit = oche_psn_add(snd(qp)->credit_limit, 1);
    }
    return piece->end;
}

void pieces_left(struct oche_qp *qp, uint32_t first, uint32_t end, oche_time now)
{
    struct read_pieces *pieces = snd(qp)->pieces;
    const oche_time takes = snd(qp)->pace_full * ((end - first) & OCHE_PSN_MASK);

    if (takes == 0)
        return;
    /* A request that left late is made up for by at most its own time. */
    pieces->due = oche_time_max(pieces->due, now > takes ? now - takes : 0) + takes;
    if (pieces->due <= now)
        return;
    snd(qp)->read_waits = true;
    timers_want(qp, pieces->due);
}

void pieces_due(struct oche_qp *qp, oche_time now)
{
    if (now < snd(qp)->pieces->due)
        return;
    snd(qp)->read_waits = false;
    scheduler_kick(qp, now);
}
