/* SPDX-License-Identifier: Apache-2.0 */
/* A bit for each number, and two queues of those that rest. */
#include "device/qp_numbers.h"

#include <stdlib.h>
#include <string.h>

#define TRIES       64 /* if half of all numbers are taken, all tries fail once in 2^64 */
#define FIRST_ROOM  64
#define ENOUGH_FREE 8 /* an eighth of all numbers is left to be drawn from, if that is possible */

static bool create_queue(struct oche_resting_queue *queue)
{
    *queue = (struct oche_resting_queue){.room = FIRST_ROOM};
    queue->ring = malloc(FIRST_ROOM * sizeof(queue->ring[0]));
    return queue->ring != NULL;
}

bool oche_qp_numbers_create(struct oche_qp_numbers *numbers, uint32_t first, uint32_t last)
{
    *numbers = (struct oche_qp_numbers){.first = first, .last = last, .free = last - first + 1};
    numbers->taken = calloc((last - first) / 64 + 1, sizeof(numbers->taken[0]));
    if (numbers->taken != NULL && create_queue(&numbers->met) && create_queue(&numbers->unmet))
        return true;
    oche_qp_numbers_destroy(numbers);
    return false;
}

void oche_qp_numbers_destroy(struct oche_qp_numbers *numbers)
{
    free(numbers->taken);
    free(numbers->met.ring);
    free(numbers->unmet.ring);
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

    if (is_taken(numbers, number) == taken)
        return;
    numbers->taken[bit / 64] ^= mask;
    numbers->free += taken ? UINT32_MAX : 1;
}

static struct oche_resting *resting_at(const struct oche_resting_queue *queue, uint32_t index)
{
    return &queue->ring[index & (queue->room - 1)];
}

/* Frees the number that rests longest. */
static void wake_first(struct oche_qp_numbers *numbers, struct oche_resting_queue *queue)
{
    const struct oche_resting *first = resting_at(queue, queue->head++);

    if (first->number != 0)
        set_taken(numbers, first->number, false);
}

/* Frees the numbers that have rested for long enough. */
static void wake_rested(struct oche_qp_numbers *numbers, struct oche_resting_queue *queue,
                        oche_time now)
{
    while (queue->head != queue->tail) {
        const struct oche_resting *first = resting_at(queue, queue->head);

        if (now < first->since + OCHE_QPN_REST)
            return;
        wake_first(numbers, queue);
    }
}

static void wake(struct oche_qp_numbers *numbers, oche_time now)
{
    const uint32_t enough = (numbers->last - numbers->first + 1) / ENOUGH_FREE;

    wake_rested(numbers, &numbers->met, now);
    wake_rested(numbers, &numbers->unmet, now);
    while (numbers->free <= enough && numbers->unmet.head != numbers->unmet.tail)
        wake_first(numbers, &numbers->unmet);
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
static bool grow(struct oche_resting_queue *queue)
{
    struct oche_resting *more = malloc(2 * (size_t)queue->room * sizeof(more[0]));

    if (more == NULL)
        return false;
    for (uint32_t at = queue->head; at != queue->tail; at++)
        more[at & (2 * queue->room - 1)] = *resting_at(queue, at);
    free(queue->ring);
    queue->ring = more;
    queue->room *= 2;
    return true;
}

void oche_qp_numbers_rest(struct oche_qp_numbers *numbers, uint32_t number, bool met, oche_time now)
{
    struct oche_resting_queue *queue = met ? &numbers->met : &numbers->unmet;

    wake(numbers, now);
    /* Without memory the number stays taken: one less is better than one too early. */
    if (queue->tail - queue->head == queue->room && !grow(queue))
        return;
    *resting_at(queue, queue->tail++) = (struct oche_resting){.since = now, .number = number};
}

static void forget(struct oche_resting_queue *queue, uint32_t number)
{
    for (uint32_t at = queue->head; at != queue->tail; at++)
        if (resting_at(queue, at)->number == number)
            resting_at(queue, at)->number = 0;
}

void oche_qp_numbers_claim(struct oche_qp_numbers *numbers, uint32_t number)
{
    if (!in_range(numbers, number))
        return;
    set_taken(numbers, number, true);
    forget(&numbers->met, number);
    forget(&numbers->unmet, number);
}
