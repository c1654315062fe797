/* SPDX-License-Identifier: Apache-2.0 */
/*
 * READs in pieces, used if congestion control's window counts READ data
 * (oche_cc_scheme.windows_reads). The responder sends all requested data at once, without pacing.
 * So the requester asks only for as much as the window allows: a READ leaves as several READ
 * requests, each for the next PSNs of the READ. For the peer each request is a READ with an SSN of
 * its own, and counts for initiator_depth. The PSNs are the same as with a single request
 * (rocev2.md#psns).
 *
 * Flight    READ data is in flight from when it is asked for until it arrives. Sizes     a piece is
 * an eighth of the window or what is left of the READ, and waits until all of
 *           it has room. With few requests outstanding at most, it is as much more of the window.
 * Pacing    after a request the next one waits as long as its data takes at the queue pair's rate.
 * Again     a peer remembers each request, and a repetition must lie within one. So nothing is
 *           asked for across the end of a piece, until all of the piece has arrived.
 * Losses    data behind a gap is kept, if there is memory for it (oche_qp_config.held_reads), and
 *           goes to its place in its turn. Once data from behind a piece has come, what is missing
 *           of the piece is asked for again, by one request; with a reordering window, if it is
 *           missing for so long. If all of that has come twice, nothing was lost (cc.h, undo). Data
 *           that was asked for only after that shows whether the repetition was lost, too. A
 *           timeout or a NAK concerns recovery, as ever; what has been kept is then passed over,
 *           and recovery is told that it has left. So tx.next never rests at what is kept, also if
 *           it is kept only then.
 */
#ifndef OCHE_CORE_QP_SEND_PIECES_H
#define OCHE_CORE_QP_SEND_PIECES_H

#include "core/qp/send/sender.h"
#include "core/recovery/psn_bitmap.h"
#include "core/recovery/reorder.h"

/* A READ request that has left, and whose data has not completely arrived. */
struct read_piece {
    uint32_t first, end; /* PSNs */
    uint32_t bytes;
};

struct read_pieces {
    uint32_t mask, head, tail; /* ring indices of `piece` */
    oche_time due;             /* with read_waits: when the next request may leave */
    /* Behind a gap: */
    uint8_t *held;       /* payloads; NULL: none, or the driver moves none */
    uint32_t held_bytes; /* size of `held` in bytes */
    uint16_t wanted;     /* packets that it had no room for; 0: none since it was given */
    uint32_t reach;      /* from una on, so many PSNs can be kept; a power of two, or 0 */
    uint32_t base;       /* the PSN whose payload is at `held` */
    uint32_t kept;       /* packets */
    uint64_t kept_bytes;
    bool gap;        /* a response is missing, and one from behind it has come: */
    bool recovering; /* congestion control was told of a loss before `recover` */
    uint32_t heard;  /* one past the highest PSN that has been answered */
    /* missing PSNs below this one count as lost; equals `heard` without reordering */
    uint32_t lost;
    uint32_t vain; /* packets asked for again since congestion control was told, not come twice */
    uint32_t walk; /* missing PSNs of pieces that begin before this PSN were asked for again */
    uint32_t mark; /* data from this PSN on was asked for after that repetition */
    uint32_t recover;
    uint32_t hole_first, hole_end; /* if snd(qp)->asks: the missing PSNs to ask for */
    struct oche_suspects suspects; /* suspects that may only be late */
    struct oche_psn_bitmap arrived;
    struct read_piece piece[];
};

/* Returns the bytes of the pieces of a queue pair with this configuration; 0: it has none. */
size_t pieces_bytes(const struct oche_nic_config *config, const struct oche_qp_config *qp);
/* To be called once, with zeroed memory of that size. */
void pieces_init(struct oche_qp *qp, const struct oche_qp_config *config);
/* The connection's MTU is known. */
void pieces_connect(struct oche_qp *qp);
/* As placement_move, for READ data. */
void pieces_move(struct oche_qp *qp, uint8_t *memory, uint32_t bytes);
/* Forgets everything, as all work has ended. */
void pieces_reset(struct oche_qp *qp);

/* Returns the payload that is under way, for congestion control. */
static inline uint64_t pieces_flight(const struct oche_qp *qp)
{
    const uint64_t kept = OCHE_LIKELY(snd(qp)->pieces == NULL) ? 0 : snd(qp)->pieces->kept_bytes;

    return snd(qp)->flight_bytes > kept ? snd(qp)->flight_bytes - kept : 0;
}

/* True if READs count as flight. */
static inline bool pieces_counts(const struct oche_qp *qp, uint8_t work_opcode)
{
    return work_opcode == OCHE_WORK_READ && snd(qp)->pieces != NULL;
}

/* Returns how much of the window a piece may leave unused while it waits. */
uint64_t pieces_slack_bytes(const struct oche_qp *qp);
/* Returns what the request of the READ at the cursor, or of the one that starts next, waits for. */
enum requester_wait pieces_wait(const struct oche_qp *qp);
/*
 * The request for the READ at the cursor is about to leave. Returns one past the last PSN that it
 * asks for.
 */
uint32_t pieces_take(struct oche_qp *qp);
/* A request for these PSNs has left. */
void pieces_left(struct oche_qp *qp, uint32_t first, uint32_t end, oche_time now);
/* True if the hole is to be asked for now. */
static inline bool pieces_ask_now(const struct oche_qp *qp)
{
    return snd(qp)->asks && !snd(qp)->read_waits && snd(qp)->tx.next == snd(qp)->tx.high &&
           snd(qp)->rnr_deadline == OCHE_NEVER;
}
/* The request for the hole leaves. */
void pieces_asked(struct oche_qp *qp, oche_time now);
/* The time of pacing is over. */
void pieces_due(struct oche_qp *qp, oche_time now);

/* READ data has come that had come before. */
void pieces_came_twice(struct oche_qp *qp, oche_time now);
/* READ data for una is here, before it is taken. */
static inline void pieces_fills_gap(struct oche_qp *qp)
{
    if (OCHE_UNLIKELY(snd(qp)->pieces->gap) && qp->nic->recovery->read_late != NULL &&
        oche_psn_diff(snd(qp)->pieces->walk, snd(qp)->tx.una) <= 0)
        qp->nic->recovery->read_late(&snd(qp)->tx, false);
}

/* Returns when missing data counts as lost, or OCHE_NEVER. */
static inline oche_time pieces_loss_due(const struct oche_qp *qp)
{
    return snd(qp)->pieces->gap ? oche_suspects_due(&snd(qp)->pieces->suspects) : OCHE_NEVER;
}
/* To be called then. */
void pieces_loss_timer(struct oche_qp *qp, oche_time now);

/* Recovery sends all from una on again. */
void pieces_go_back(struct oche_qp *qp);
/* Returns the first PSN from `psn` on that is not kept, at most tx.high. */
uint32_t pieces_pass_over(const struct oche_qp *qp, uint32_t psn);

/*
 * A response has come while the one for una, which is of a READ, is missing. Keeps READ data if it
 * can.
 */
void pieces_behind_gap(struct oche_qp *qp, const struct oche_packet *packet, bool read,
                       oche_time now);
/* All before `end` has been answered, but the response for una, which is of a READ, is missing. */
void pieces_answered(struct oche_qp *qp, uint32_t end, oche_time now);
/*
 * una has moved past a response of a READ. Returns true if this response was the last one of a
 * piece.
 */
bool pieces_moved(struct oche_qp *qp);
/* If data for una is kept, fills `packet` with it and returns true. It is kept no longer. */
bool pieces_recall(struct oche_qp *qp, struct oche_packet *packet);
/* To be called after una has moved on, and nothing is kept for it. */
void pieces_settle(struct oche_qp *qp);

#endif
