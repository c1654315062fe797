/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of one size each: which exist, their content, their names. */
#include "tests/support/test.h"

#include <math.h>
#include <string.h>

#include "lab/measures/metrics.h"
#include "lab/measures/size_rows.h"

#define US OCHE_US

static struct oche_outcome outcome;
static char text[64];

static struct oche_flow_record flow(uint64_t bytes, oche_time start, oche_time took)
{
    return (struct oche_flow_record){
        .bytes = bytes, .start = start, .end = start + took, .ideal = US};
}

static const char *name(unsigned i)
{
    return oche_size_row_name(&outcome, OCHE_OUTCOME_EXACT + i, text, sizeof(text));
}

static void each_size_by_itself(void **state)
{
    const struct oche_flow_record flows[] = {
        flow(8000, 5 * US, 70 * US), flow(2001, 5 * US, 30 * US),  flow(2000, 6 * US, 20 * US),
        flow(8000, 7 * US, 90 * US), flow(2000, 1 * US, 999 * US), flow(8192, 5 * US, 50 * US)};

    (void)state;
    memset(&outcome, 0, sizeof(outcome));
    oche_size_rows_exact(&outcome, flows, 6, 2 * US);
    const struct oche_completion_row *rows = &outcome.sizes[OCHE_OUTCOME_EXACT];
    assert_string_equal(name(0), "of_2KB");
    assert_string_equal(name(1), "of_2001B");
    assert_string_equal(name(2), "of_8KB");
    assert_string_equal(name(3), "of_8KiB");
    assert_string_equal(name(4), "");
    assert_int_equal(rows[0].flows, 1); /* the other one began in warm-up */
    assert_int_equal(rows[0].time_max, 20 * US);
    assert_int_equal(rows[1].time_max, 30 * US);
    assert_int_equal(rows[2].flows, 2);
    assert_int_equal(rows[2].time[OCHE_P50], 70 * US);
    assert_int_equal(rows[2].time[OCHE_P99], 90 * US);
    assert_int_equal(rows[3].time_max, 50 * US);
}

static void not_of_one_nor_of_many(void **state)
{
    struct oche_flow_record flows[9];

    (void)state;
    for (uint32_t i = 0; i < 9; i++)
        flows[i] = flow(1000 * (9 - i), US, US);
    for (uint32_t count = 1; count <= 9; count++) {
        memset(&outcome, 0, sizeof(outcome));
        oche_size_rows_exact(&outcome, flows, count, 0);
        for (unsigned i = 0; i < OCHE_OUTCOME_MOST_EXACT; i++)
            assert_int_equal(outcome.sizes[OCHE_OUTCOME_EXACT + i].flows,
                             count > 1 && count < 9 && i < count);
    }
}

static void names_that_may_be(void **state)
{
    static const char *const good[] = {"of_8KB", "of_8KiB", "of_2001B", "of_1GB"};
    static const char *const bad[] = {"of_",     "of",     "of_8000B",   "of_cow",  "of_0B",
                                      "of_8 KB", "of_-1B", "below_10KB", "of_8Gbps"};

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(good); i++)
        if (!oche_size_row_may_be(good[i], strlen(good[i])))
            fail_msg("%s", good[i]);
    for (size_t i = 0; i < OCHE_COUNT_OF(bad); i++)
        if (oche_size_row_may_be(bad[i], strlen(bad[i])))
            fail_msg("%s", bad[i]);
}

static void share_of_marked(void **state)
{
    (void)state;
    memset(&outcome, 0, sizeof(outcome));
    outcome.sizes[1].flows = 1;
    assert_true(isnan(oche_metric_value(&outcome, "marked_share.SIZE", 1)));
    outcome.size_packets[1] = (struct oche_size_packets){.packets = 8, .marked = 2};
    assert_true(oche_metric_value(&outcome, "marked_share.SIZE", 1) == 0.25);
    assert_true(oche_metric_value(&outcome, "unsuppressed_share.SIZE", 1) == 0);
    outcome.size_packets[1].unsuppressed = 1;
    assert_true(oche_metric_value(&outcome, "unsuppressed_share.SIZE", 1) == 0.125);
    assert_true(oche_metric_value(&outcome, "answered_share.SIZE", 1) == 0);
    outcome.size_packets[1].answered = 1;
    assert_true(oche_metric_value(&outcome, "answered_share.SIZE", 1) == 0.125);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_size_by_itself),
        cmocka_unit_test(not_of_one_nor_of_many),
        cmocka_unit_test(names_that_may_be),
        cmocka_unit_test(share_of_marked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
