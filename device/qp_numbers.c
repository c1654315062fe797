/* SPDX-License-Identifier: Apache-2.0 */
/* A bit for each number, and a queue of those that rest. */
#include "device/qp_numbers.h"

#include <stdlib.h>
#include <string.h>

#define TRIES      64 /* with half of all numbers taken, all fail once in 2^64 */
#define FIRST_ROOM 64

bool oche_qp_numbers_create(struct oche_qp_numbers *numbers, uint32_t first, uint32_t last)
{
    *numbers = (struct oche_qp_numbers){.first = first, .last = last, .room = FIRST_ROOM};
    numbers->taken = calloc((last - first) / 64 + 1, sizeof(numbers->taken[0]));
    numbers->resting = malloc(FIRST_ROOM * sizeof(numbers->resting[0]));
    if (numbers->taken != NULL && numbers->resting != NULL)
        return true;
    oche_qp_numbers_destroy(numbers);
    return false;
}

void oche_qp_numbers_destroy(struct oche_qp_numbers *numbers)
{
    free(numbers->taken);
    free(numbers->resting);
    *numbers = (struct oche_qp_numbers){0};
}

static bool in_range(const struct oche_qp_numbers *numbers, uint32_t number)
{
    return number >= numbers->first && number <= numbers->last;
}

static bool is_taken(const struct oche_qp_numbers *numbers, uint32_t number)
{
    const uint32_t bit = number - numbers->first;

    return numbers->taken[bit / 64] >> bit % 64 & 1;
}

static void set_taken(struct oche_qp_numbers *numbers, uint32_t number, bool taken)
{
    const uint32_t bit = number - numbers->first;
    const uint64_t mask = UINT64_C(1) << bit % 64;

    numbers->taken[bit / 64] = (numbers->taken[bit / 64] & ~mask) | (taken ? mask : 0);
}

/* Frees the numbers that have rested for long enough. */
static void wake(struct oche_qp_numbers *numbers, oche_time now)
{
    for (; numbers->head != numbers->tail; numbers->head++) {
        const struct oche_resting *first = &numbers->resting[numbers->head & (numbers->room - 1)];

        if (now < first->since + OCHE_QPN_REST)
            return;
        if (first->number != 0)
            set_taken(numbers, first->number, false);
    }
}

/* Returns the first free number from `number` on, round the range; 0: none is free. */
static uint32_t search(const struct oche_qp_numbers *numbers, uint32_t number)
{
    const uint32_t count = numbers->last - numbers->first + 1;

    for (uint32_t i = 0; i < count; i++) {
        if (!is_taken(numbers, number))
            return number;
        number = number == numbers->last ? numbers->first : number + 1;
    }
    return 0;
}

uint32_t oche_qp_numbers_take(struct oche_qp_numbers *numbers, struct oche_entropy *entropy,
                              oche_time now)
{
    const uint32_t count = numbers->last - numbers->first + 1;
    uint32_t number = 0;

    wake(numbers, now);
    for (unsigned i = 0; i < TRIES; i++) {
        number = numbers->first + (uint32_t)oche_entropy_below(entropy, count);
        if (entropy->failed)
            return 0;
        if (!is_taken(numbers, number))
            break;
    }
    number = search(numbers, number);
    if (number != 0)
        set_taken(numbers, number, true);
    return number;
}

void oche_qp_numbers_undo(struct oche_qp_numbers *numbers, uint32_t number)
{
    set_taken(numbers, number, false);
}

/* Doubles the room for resting numbers. Returns false if memory is out. */
static bool grow(struct oche_qp_numbers *numbers)
{
    struct oche_resting *more = malloc(2 * (size_t)numbers->room * sizeof(more[0]));

    if (more == NULL)
        return false;
    for (uint32_t at = numbers->head; at != numbers->tail; at++)
        more[at & (2 * numbers->room - 1)] = numbers->resting[at & (numbers->room - 1)];
    free(numbers->resting);
    numbers->resting = more;
    numbers->room *= 2;
    return true;
}

void oche_qp_numbers_rest(struct oche_qp_numbers *numbers, uint32_t number, oche_time now)
{
    wake(numbers, now);
    /* If memory is out the number stays taken: better one less than one too early. */
    if (numbers->tail - numbers->head == numbers->room && !grow(numbers))
        return;
    numbers->resting[numbers->tail++ & (numbers->room - 1)] =
        (struct oche_resting){.since = now, .number = number};
}

void oche_qp_numbers_claim(struct oche_qp_numbers *numbers, uint32_t number)
{
    if (!in_range(numbers, number))
        return;
    set_taken(numbers, number, true);
    for (uint32_t at = numbers->head; at != numbers->tail; at++)
        if (numbers->resting[at & (numbers->room - 1)].number == number)
            numbers->resting[at & (numbers->room - 1)].number = 0;
}
