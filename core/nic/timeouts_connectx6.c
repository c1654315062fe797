/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The timeouts of a ConnectX-6 with its registers at their defaults, as they were measured
 * (docs/papers/nics.md#connectx-6). An adaptive phase of growing steps is followed by regular
 * timeouts of twice the program's, at least 2 * 268 ms. The adaptive phase takes one unit of
 * retry_cnt.
 */
#include "core/nic/timeouts.h"

#define IB_UNIT    (UINT64_C(4096) * OCHE_NS) /* verbs: a timeout lasts 4.096 us * 2^T */
#define FLOOR      (IB_UNIT << 16)
#define ADAPTIVES  11
#define SENDS_OF_0 8 /* with retry_cnt 0: as often as this a packet leaves */

/* From one adaptive retransmission to the next. The first four can be the first one. */
#define STEP(halves, exponent) ((halves) * (IB_UNIT << (exponent)) / 2)
static const oche_time steps[ADAPTIVES] = {STEP(3, 11), STEP(2, 11), STEP(2, 12), STEP(2, 13),
                                           STEP(2, 14), STEP(3, 14), STEP(3, 15), STEP(2, 17),
                                           STEP(3, 17), STEP(2, 19), STEP(2, 20)};

/* The first expiry without the adaptive phase, which sends nothing: medians that were measured. */
static const struct {
    uint8_t exponent; /* T */
    oche_time after;
} silent[] = {
    {8, 830 * OCHE_US},     {10, 4260 * OCHE_US},   {12, 12690 * OCHE_US},  {14, 37900 * OCHE_US},
    {16, 172090 * OCHE_US}, {17, 440250 * OCHE_US}, {18, 629600 * OCHE_US}, {20, 3578170 * OCHE_US},
};

static oche_time longer(oche_time a, oche_time b)
{
    return a > b ? a : b;
}

/* The sum of the steps that the queue pair leaves out. */
static oche_time first_wait(const struct oche_timeouts_run *run)
{
    oche_time sum = 0;

    for (uint32_t i = 0; i <= run->first; i++)
        sum += steps[i];
    return sum;
}

/* Returns how many adaptive timeouts there are: until a step is longer than the program's. */
static uint32_t adaptives(const struct oche_timeouts_run *run, oche_time asked)
{
    const oche_time most = longer(asked, FLOOR);
    uint32_t last = 3;

    while (last + 1 < ADAPTIVES && steps[last + 1] <= most)
        last++;
    return last - run->first + 1;
}

/* Returns the wait before the first regular timeout. */
static oche_time first_regular(const struct oche_timeouts_run *run, oche_time asked)
{
    const uint32_t next = run->first + adaptives(run, asked);
    const oche_time regular = 2 * longer(asked, FLOOR);

    return next < ADAPTIVES && steps[next] < regular ? steps[next] : regular;
}

/* Returns the first wait without an adaptive phase, of `asked` in proportion between two rows. */
static oche_time silent_wait(oche_time asked)
{
    uint32_t row = 0;

    while (row + 1 < OCHE_COUNT_OF(silent) && IB_UNIT << silent[row + 1].exponent <= asked)
        row++;
    const oche_time nominal = IB_UNIT << silent[row].exponent;

    return (oche_time)((oche_u128)silent[row].after * asked / nominal);
}

oche_time timeouts_connectx6_wait(const struct oche_timeouts *how,
                                  const struct oche_timeouts_run *run, oche_time asked)
{
    if (asked == OCHE_NEVER)
        return OCHE_NEVER;
    if (how->min_ack_timeout_limit_disabled)
        return run->expired == 0 ? silent_wait(asked) : asked;
    const uint32_t adaptive = adaptives(run, asked);

    if (run->expired == 0)
        return first_wait(run);
    if (run->expired < adaptive)
        return steps[run->first + run->expired];
    if (run->expired == adaptive)
        return first_regular(run, asked);
    return 2 * longer(asked, FLOOR);
}

/* The expiry of an adaptive or a regular timeout, with the registers at their defaults. */
static enum oche_timeout expired_by_default(struct oche_timeouts_run *run, oche_time asked,
                                            uint32_t retry_count)
{
    const uint32_t adaptive = adaptives(run, asked), number = run->expired + 1;
    const bool last = retry_count == 0 ? number >= SENDS_OF_0
                                       : number >= adaptive && number - adaptive >= retry_count - 1;

    if (number <= adaptive)
        return last ? OCHE_TIMEOUT_ADAPTIVE_GIVES_UP : OCHE_TIMEOUT_ADAPTIVE;
    run->regular++;
    return last ? OCHE_TIMEOUT_GIVES_UP : OCHE_TIMEOUT_REPEATS;
}

enum oche_timeout timeouts_connectx6_expired(const struct oche_timeouts *how,
                                             struct oche_timeouts_run *run, oche_time asked,
                                             uint32_t retry_count)
{
    if (!how->min_ack_timeout_limit_disabled)
        return expired_by_default(run, asked, retry_count);
    run->regular++;
    if (run->expired == 0)
        return OCHE_TIMEOUT_SILENT;
    return run->expired > retry_count ? OCHE_TIMEOUT_GIVES_UP : OCHE_TIMEOUT_REPEATS;
}

/* The longest wait of a queue pair that begins at step `first`. */
static oche_time longest_from(uint32_t first, const struct oche_timeouts *how, oche_time asked,
                              uint32_t retry_count)
{
    struct oche_timeouts_run run = {.first = first};
    enum oche_timeout means;
    oche_time longest = 0;

    do { /* the waits after the second regular one are as long as that */
        longest = longer(longest, timeouts_connectx6_wait(how, &run, asked));
        means = timeouts_connectx6_expired(how, &run, asked, retry_count);
        run.expired++;
    } while (means != OCHE_TIMEOUT_GIVES_UP && means != OCHE_TIMEOUT_ADAPTIVE_GIVES_UP &&
             run.regular <= 2);
    return longest;
}

oche_time timeouts_connectx6_longest(const struct oche_timeouts *how, oche_time asked,
                                     uint32_t retry_count)
{
    oche_time longest = 0;

    for (uint32_t first = 0; first < OCHE_CONNECTX6_FIRSTS; first++)
        longest = longer(longest, longest_from(first, how, asked, retry_count));
    return longest;
}
