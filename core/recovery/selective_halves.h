/* SPDX-License-Identifier: Apache-2.0 */
/* The two halves of selective repeat (selective_repeat.c): hooks of recovery.h. */
#ifndef OCHE_CORE_RECOVERY_SELECTIVE_HALVES_H
#define OCHE_CORE_RECOVERY_SELECTIVE_HALVES_H

#include "core/recovery/psn_bitmap.h"
#include "core/recovery/reorder.h"
#include "core/recovery/selective_repeat.h"

/* The values of IRN, whose network has a round trip of 24 us at 40 Gbit/s (irn.md#parameters). */
#define IRN_WINDOW   110
#define IRN_RTO_LOW  (100 * OCHE_US)
#define IRN_RTO_HIGH (320 * OCHE_US)

#define SELECTIVE_TRIMS                                                                            \
    64 /* trimmed packets that wait to be told; what is more, a timeout finds                      \
        */

struct selective_tx {
    oche_time srtt, rttvar; /* srtt 0: nothing was measured */
    oche_time late;         /* the timeout is at least that, since one was early */
    uint8_t backoff;        /* timeouts since the last progress, up to MOST_BACKOFF */
    bool extended;          /* the peer knows the extensions */
    bool recovering;        /* if false, the next members, up to lost_end, are not valid */
    bool after_timeout;     /* recovery began with a timeout, and there is no progress yet */
    bool again;             /* una must be sent again before anything else */
    uint32_t end;           /* recovery ends when una reaches it */
    uint32_t walk;          /* lost packets below this PSN have been sent again */
    uint32_t lost_end;      /* packets below this PSN that have not arrived are lost */
    uint32_t floor;         /* the bits of all PSNs below this one are 0 */
    uint32_t arrived_count; /* bits of the bitmap that are 1 */
    bool doubted;           /* the next members are valid: a timeout may have been early */
    uint32_t doubt_end;     /* one past the highest PSN sent before that timeout */
    uint32_t touched;       /* one past the highest of these sent again, or known from a SACK */
    oche_time doubt_since;  /* when the wait for the ACK began */
    uint32_t heard;         /* one past the highest PSN that SACKs told of; see hears */
    uint32_t named;         /* the PSN of the last SACK's NAK */
    uint32_t newest;        /* the highest PSN that it newly told of; with any_new */
    bool any_new;
    /* `told`: the next members are valid; congestion control was told of a loss that is doubted. */
    bool told, first_missing; /* first_missing: first_psn has not been acknowledged */
    uint32_t told_end;        /* tx->high when it was told */
    uint32_t first_psn;       /* the first packet that was lost */
    oche_time first_at;       /* when this packet left again; 0: it has not */
    uint32_t resent;          /* packets sent again since, less those reported as duplicates */
    uint32_t resent_end;      /* tx->high when the last of them left */
    uint32_t expected;        /* duplicates that say nothing new; always valid */
    bool repairs_doubted;     /* repair_due is valid */
    /* packets that were sent again and are missing at this time are lost */
    oche_time repair_due;
    struct oche_reorder reorder;
    struct oche_suspects suspects;
    struct oche_psn_bitmap arrived;
    /* Packets that switches have trimmed; a bit of the second may be stale where one arrived. */
    uint32_t trimmed_count, repaired_count; /* bits that are 1 */
    uint32_t trims_told_end; /* tx->high when congestion control heard of one; with trims_told */
    bool trims_told;
    struct oche_psn_bitmap trimmed;  /* are to leave again */
    struct oche_psn_bitmap repaired; /* have left again, and are not known to be lost */
};

struct selective_rx {
    bool extended;
    bool naked; /* without extensions: a NAK for nak_psn has been sent */
    bool gap;   /* a packet from behind the expected PSN has come: highest and new_* are valid */
    uint32_t nak_psn;
    uint32_t highest; /* one past the highest PSN that arrived, kept or not */
    /* range of the arrivals that were not reported yet; may be empty */
    uint32_t new_first, new_end;
    struct oche_psn_bitmap kept;
    uint32_t trimmed_first, trimmed_end; /* of the ring, not reduced to its size */
    uint32_t trimmed[SELECTIVE_TRIMS];   /* PSN << 8 | enum oche_trimmed; not told yet */
};

/* Returns whichever of two PSNs is later on the circle. */
static inline uint32_t later(uint32_t a, uint32_t b)
{
    return oche_psn_diff(a, b) >= 0 ? a : b;
}

/* Returns the most packets outstanding, and kept behind a gap. */
uint32_t selective_window(const void *params);

/* selective_sender.c */
void selective_extend(struct oche_recovery_tx *tx, struct oche_recovery_rx *rx);
void selective_acked(struct oche_recovery_tx *tx, oche_time now);
void selective_nak(struct oche_recovery_tx *tx, uint32_t psn, oche_time now);
bool selective_sacked(struct oche_recovery_tx *tx, uint32_t psn, const struct oche_sack *sack,
                      oche_time now);
void selective_timeout(struct oche_recovery_tx *tx, oche_time now);
enum oche_timeout_was selective_judge(struct oche_recovery_tx *tx, oche_time now);
void selective_answered(struct oche_recovery_tx *tx, uint32_t end);
oche_time selective_reorder_window(const struct oche_recovery_tx *tx, uint32_t arrived);
oche_time selective_loss_due(const struct oche_recovery_tx *tx);
bool selective_loss_timer(struct oche_recovery_tx *tx, oche_time now);
enum oche_timeout_was selective_duplicated(struct oche_recovery_tx *tx, uint32_t count,
                                           oche_time now);
void selective_read_late(struct oche_recovery_tx *tx, bool asked_again);
uint32_t selective_arrived_packets(const struct oche_recovery_tx *tx);
bool selective_newly_arrived(const struct oche_recovery_tx *tx, uint32_t *psn);
void selective_rnr_over(struct oche_recovery_tx *tx, oche_time now);
void selective_sent(struct oche_recovery_tx *tx, uint32_t psn, bool last, oche_time now);
void selective_passed(struct oche_recovery_tx *tx, uint32_t psn);
bool selective_wants_rtt(const void *params);
void selective_measured(struct oche_recovery_tx *tx, oche_time rtt);
oche_time selective_probe(const void *params);
oche_time selective_rto(const struct oche_recovery_tx *tx, oche_time most);

uint32_t selective_trimmed_packets(const struct oche_recovery_tx *tx);
bool selective_trim_told(struct oche_recovery_tx *tx, uint32_t psn, bool *is_new);

/* selective_receiver.c */
bool selective_trimmed(struct oche_recovery_rx *rx, uint32_t psn, enum oche_trimmed where);
bool selective_next_trimmed(struct oche_recovery_rx *rx, uint32_t *psn, enum oche_trimmed *where);
void selective_extend_receiver(struct oche_recovery_rx *rx);
enum oche_verdict selective_arrived(struct oche_recovery_rx *rx, const struct oche_packet *packet,
                                    oche_time now, struct oche_recovery_reply *reply);
void selective_accepted(struct oche_recovery_rx *rx, const struct oche_packet *packet,
                        oche_time now);
void selective_placed(struct oche_recovery_rx *rx, uint32_t psn);
bool selective_holds(const struct oche_recovery_rx *rx, uint32_t psn);
bool selective_sack(struct oche_recovery_rx *rx, struct oche_sack *sack);

#endif
