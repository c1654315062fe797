/* SPDX-License-Identifier: Apache-2.0 */
/* --flows of `oche fluid`: accepted and rejected values, with the messages. */
#include "tests/support/test.h"

#include <stdio.h>
#include <string.h>

#include "lab/fluid/flows.h"

static void expect(const char *text, size_t entries, const struct oche_fluid_flow *want)
{
    struct oche_fluid_flow_list list;
    struct oche_error error = {""};
    uint32_t total = 0;

    assert_true(oche_fluid_flows_read(&list, text, 40e9, &error));
    assert_int_equal(list.count, entries);
    for (size_t i = 0; i < entries; i++) {
        assert_true(list.flows[i].rate_bps == want[i].rate_bps);
        assert_true(list.flows[i].start_s == want[i].start_s);
        assert_int_equal(list.flows[i].count, want[i].count);
        total += want[i].count;
    }
    assert_int_equal(list.total, total);
    oche_fluid_flows_free(&list);
}

static void test_read(void **state)
{
    (void)state;
    expect("2", 1, (struct oche_fluid_flow[]){{40e9, 0, 2}});
    expect("3@10ms", 1, (struct oche_fluid_flow[]){{40e9, 10e-3, 3}});
    expect("40Gbps,5Gbps@10ms", 2, (struct oche_fluid_flow[]){{40e9, 0, 1}, {5e9, 10e-3, 1}});
    expect("8x1Gbps@3us,2", 2, (struct oche_fluid_flow[]){{1e9, 3e-6, 8}, {40e9, 0, 2}});
    /* Equal neighbours become one entry. */
    expect("1,40Gbps,2x40Gbps,5Gbps", 2, (struct oche_fluid_flow[]){{40e9, 0, 4}, {5e9, 0, 1}});
    expect("100000", 1, (struct oche_fluid_flow[]){{40e9, 0, 100000}});
}

static void refuse(const char *text, const char *entry, const char *what)
{
    struct oche_fluid_flow_list list;
    char begin[64];
    struct oche_error error = {""};

    assert_false(oche_fluid_flows_read(&list, text, 40e9, &error));
    snprintf(begin, sizeof(begin), "--flows %s: ", entry);
    assert_memory_equal(error.text, begin, strlen(begin));
    assert_non_null(strstr(error.text, what));
    assert_non_null(strstr(error.text, "; write 2, or 40Gbps,5Gbps@10ms, or 8x1Gbps"));
    assert_int_equal(list.count, 0);
}

static void test_refuse(void **state)
{
    (void)state;
    refuse("", "", "has no value");
    refuse("2,", "", "has no value");
    refuse("0", "0", "out of range");
    refuse("100001", "100001", "out of range");
    refuse("99999,2", "2", "too many flows");
    refuse("41Gbps", "41Gbps", "above the capacity");
    refuse("5Gbps@x", "5Gbps@x", "is not a time");
    refuse("5Gbps@-1ms", "5Gbps@-1ms", "negative");
    refuse("x5Gbps", "x5Gbps", "has no value");
    refuse("2x", "2x", "has no value");
    refuse("2x3x5Gbps", "2x3x5Gbps", "");
    refuse("5us", "5us", "is not a unit of rate");
    refuse("0bps", "0bps", "out of range");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_read), cmocka_unit_test(test_refuse)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
