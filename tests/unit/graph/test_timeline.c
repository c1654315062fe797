/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timelines of ranks: random times are added, and the spans have the same sums as a list of them,
 * however often spans were joined.
 */
#include <stdlib.h>

#include "core/random.h"
#include "sim/graph/timeline.h"
#include "tests/support/test.h"

#define START (7 * OCHE_US)
#define ADDED 2000

struct added {
    enum oche_activity activity;
    oche_time from, to;
};

/* Returns the part of what was added to the activity that is in [from, to). */
static oche_time sum_in(const struct added *list, enum oche_activity activity, oche_time from,
                        oche_time to)
{
    oche_time sum = 0;

    for (uint32_t i = 0; i < ADDED; i++) {
        const oche_time begin = oche_time_max(list[i].from, from);
        const oche_time end = oche_time_min(list[i].to, to);

        if (list[i].activity == activity && begin < end)
            sum += end - begin;
    }
    return sum;
}

static void assert_spans(const struct oche_timeline *line, uint32_t row, const struct added *list)
{
    for (uint32_t i = 0; i < line->spans; i++) {
        const oche_time from = line->start + i * line->lengths[row], to = from + line->lengths[row];

        for (unsigned k = 0; k < OCHE_ACTIVITIES; k++)
            assert_int_equal(oche_timeline_spans(line, row)[i][k], sum_in(list, k, from, to));
    }
}

static void test_spans_have_what_was_added(void **state)
{
    (void)state;
    for (uint64_t most = 10; most <= UINT64_C(10000000000); most *= 10) {
        struct oche_random random = oche_random_stream(most, "timeline", 0);
        struct oche_timeline line;
        struct added list[ADDED];
        oche_time now = START;

        oche_timeline_make(&line, 3, START);
        for (uint32_t i = 0; i < ADDED; i++) {
            now += oche_random_below(&random, most);
            list[i] = (struct added){
                .activity = (enum oche_activity)oche_random_below(&random, OCHE_ACTIVITIES),
                .from = now,
                .to = now + oche_random_below(&random, most)};
            now = list[i].to;
            oche_timeline_add(&line, 1, list[i].activity, list[i].from, list[i].to);
        }
        assert_spans(&line, 1, list);
        assert_true(line.lengths[1] * line.spans >= now - START);
        assert_int_equal(line.lengths[0], 10 * OCHE_NS);
        assert_int_equal(oche_timeline_spans(&line, 2)[0][0], 0);
        oche_timeline_free(&line);
    }
}

static void test_memory_is_bounded(void **state)
{
    static const uint32_t counts[] = {1, 64, 2048, 2049, 16384, 16385, 100000, 1048576};

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(counts); i++) {
        struct oche_timeline line;
        uint32_t recorded = 0;

        oche_timeline_make(&line, counts[i], 0);
        for (uint32_t rank = 0; rank < counts[i]; rank++)
            recorded += oche_timeline_has(&line, rank);
        assert_int_equal(recorded, line.rows);
        assert_in_range(line.rows, 1, OCHE_TIMELINE_RANKS);
        assert_true(counts[i] > OCHE_TIMELINE_RANKS || line.rows == counts[i]);
        assert_in_range((uint64_t)line.rows * line.spans, 1, OCHE_TIMELINE_CELLS);
        assert_in_range(line.spans, 64, OCHE_TIMELINE_SPANS);
        oche_timeline_free(&line);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spans_have_what_was_added),
        cmocka_unit_test(test_memory_is_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
