/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The free queue pair numbers. A new queue pair gets a random number of the process's range, so
 * that the number cannot be predicted. When the queue pair is destroyed, its number rests for a
 * minute, so that a late packet does not reach a new queue pair. If few numbers are left, some are
 * used sooner: numbers of queue pairs that were never ready to receive, since no packet for them
 * can be under way. The numbers that rested longest go first.
 */
#ifndef OCHE_DEVICE_QP_NUMBERS_H
#define OCHE_DEVICE_QP_NUMBERS_H

#include "core/base.h"
#include "device/host/entropy.h"

#define OCHE_QPN_REST (60 * OCHE_SEC)

/* A number that rests since `since`; 0: it was claimed. */
struct oche_resting {
    oche_time since;
    uint32_t number;
};

/* Resting numbers, oldest first, in a ring. The ring's size is a power of two. */
struct oche_resting_queue {
    struct oche_resting *ring;
    uint32_t room, head, tail;
};

struct oche_qp_numbers {
    uint32_t first, last, free;
    uint64_t *taken; /* bit set, from `first` on: used, claimed, or resting */
    /* met: their queue pair has sent or got a packet */
    struct oche_resting_queue met, unmet;
};

/* All numbers from `first` to `last` are free. Returns false if memory is out. */
bool oche_qp_numbers_create(struct oche_qp_numbers *numbers, uint32_t first, uint32_t last);
void oche_qp_numbers_destroy(struct oche_qp_numbers *numbers);

/* Returns a random free number, which is then taken; 0: none is free, or `entropy` has failed. */
uint32_t oche_qp_numbers_take(struct oche_qp_numbers *numbers, struct oche_entropy *entropy,
                              oche_time now);
/* Makes the number free again at once, since no packet can have used it. */
void oche_qp_numbers_undo(struct oche_qp_numbers *numbers, uint32_t number);
/* The number is free again after its rest. met: its queue pair has sent or got a packet. */
void oche_qp_numbers_rest(struct oche_qp_numbers *numbers, uint32_t number, bool met,
                          oche_time now);
/* Reserves the number for the program: it is never returned by oche_qp_numbers_take. */
void oche_qp_numbers_claim(struct oche_qp_numbers *numbers, uint32_t number);

#endif
