/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workloads of pairs that continue without end (closed_cdf, incast with back_to_back, poisson_cdf
 * with pairs). Tests who sends to whom, how much and for how long. A pair's flows must not depend
 * on the number of pairs.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/app/app.h"
#include "sim/app/cdf.h"
#include "tests/support/test.h"
#include "tests/unit/app/temporary.h"

static struct oche_error error;
static uint64_t params[16];
static const struct oche_workload_type *type;
static struct oche_workload_facts facts;
static struct oche_flow_list list;

static void set(const char *name, union oche_value value)
{
    const struct oche_param *param = oche_param_find(type->table, name);

    assert_non_null(param);
    assert_true(oche_param_in_range(param, value));
    oche_param_set(param, params, value);
}

static void set_number(const char *name, uint64_t value)
{
    set(name, (union oche_value){.u = value});
}

static struct oche_host_rate every_host;

static void begin(const char *name)
{
    oche_flow_list_free(&list);
    list = (struct oche_flow_list){0};
    every_host = (struct oche_host_rate){.link_bps = 40 * OCHE_GBPS, .hosts = 20};
    facts = (struct oche_workload_facts){.host_count = 20,
                                         .rates = {.kinds = &every_host, .count = 1},
                                         .mtu_bytes = 1000,
                                         .header_bytes = 82,
                                         .duration = 10 * OCHE_MS,
                                         .seed = 1,
                                         .number = 2};
    type = oche_workload_type_find(name);
    assert_non_null(type);
    assert_true(type->table->struct_bytes <= sizeof(params));
    oche_param_defaults(type->table, params);
}

static void generate(void)
{
    list.count = 0;
    if (!type->generate(params, &facts, &list, &error))
        fail_msg("%s", error.text);
}

static void refused(const char *expected)
{
    list.count = 0;
    assert_false(type->generate(params, &facts, &list, &error));
    assert_string_equal(error.text, expected);
    assert_int_equal(list.count, 0);
}

/* Reads the loop that begins with flow `at`. Returns the flow after its last one. */
static uint32_t loop_at(uint32_t at, oche_time start, uint64_t *line_bytes)
{
    const struct oche_flow_plan *first = &list.plan[at];

    *line_bytes = 0;
    assert_true(first->start == start && first->src != first->dst);
    assert_true(first->src < facts.host_count && first->dst < facts.host_count);
    for (;; at++) {
        const struct oche_flow_plan *flow = &list.plan[at];

        assert_true(at < list.count && flow->workload == facts.number);
        assert_true(flow->src == first->src && flow->dst == first->dst);
        assert_true(flow == first || flow->start == OCHE_NEVER);
        if (flow->then_same_source == OCHE_NO_FLOW)
            return at + 1;
        assert_int_equal(flow->then_same_source, at + 1);
        *line_bytes += flow->bytes + (flow->bytes + 999) / 1000 * 82;
    }
}

/* Each loop is one chain. All its messages but the last fill the link until the end. */
static void loops_last(void **state)
{
    uint32_t at = 0, before = 0;

    (void)state;
    begin("closed_cdf");
    set_number("pairs", 40);
    set_number("outstanding", 2);
    set_number("start", 2 * OCHE_MS);
    generate();
    for (unsigned loop = 0; loop < 80; loop++) {
        uint32_t first = at;
        uint64_t bytes;

        at = loop_at(at, 2 * OCHE_MS, &bytes);
        assert_in_range(bytes, 40000000, 72460000); /* 8 ms; one message more, 30 MB at most */
        if (loop % 2 == 1) {
            assert_int_equal(list.plan[first].src, list.plan[before].src);
            assert_int_equal(list.plan[first].dst, list.plan[before].dst);
            assert_int_not_equal(list.plan[first].bytes, list.plan[before].bytes);
        }
        before = first;
    }
    assert_int_equal(at, list.count);
}

/* With all pairs: each pair occurs once, and each host equally often. */
static void pairs_differ(void **state)
{
    static bool seen[20][20];
    unsigned pairs = 0;

    (void)state;
    begin("closed_cdf");
    set_number("pairs", 380);
    facts.duration = OCHE_NS; /* the fewest possible messages */
    generate();
    for (uint32_t i = 0; i < list.count; i++) {
        const struct oche_flow_plan *flow = &list.plan[i];

        if (flow->start == OCHE_NEVER)
            continue;
        assert_false(seen[flow->src][flow->dst]);
        seen[flow->src][flow->dst] = true;
        pairs++;
    }
    assert_int_equal(pairs, 380);
    set_number("pairs", 381);
    refused("pairs: 381, but 20 hosts have only 380; give at most that many");
}

/* More pairs do not change the first ones. Another seed or number does. */
static void more_change_nothing(void **state)
{
    struct oche_flow_list few;

    (void)state;
    begin("closed_cdf");
    set_number("pairs", 5);
    generate();
    few = list;
    list = (struct oche_flow_list){0};
    set_number("pairs", 80);
    generate();
    assert_true(list.count > few.count);
    assert_memory_equal(list.plan, few.plan, few.count * sizeof(*few.plan));
    for (unsigned i = 0; i < 2; i++) {
        facts.seed += i == 0;
        facts.number += i == 1;
        generate();
        assert_int_not_equal(list.plan[0].bytes, few.plan[0].bytes);
    }
    oche_flow_list_free(&few);
}

/* Sizes follow the distribution: for each row, the right share of sizes is at most that row's. */
static void sizes_follow(void **state)
{
    struct oche_cdf cdf;
    size_t index = 0;

    (void)state;
    while (strcmp(oche_cdf_names[index], "alistorage2019") != 0)
        index++;
    begin("closed_cdf");
    set_number("cdf", index);
    set_number("pairs", 30);
    set_number("outstanding", 2); /* 2000 messages of 41 KB a loop, 80,000 in all */
    generate();
    assert_in_range(list.count, 60000, 90000);
    assert_true(oche_cdf_read_builtin(&cdf, index, &error));
    for (uint32_t row = 0; row < cdf.count; row++) {
        uint32_t at_most = 0;

        for (uint32_t i = 0; i < list.count; i++)
            at_most += list.plan[i].bytes <= cdf.rows[row].size;
        double part = (double)at_most / list.count - cdf.rows[row].at_most;

        /* three standard deviations, for a probability of a half, of 70,000 */
        assert_true(part > -0.006 && part < 0.006);
    }
    oche_cdf_free(&cdf);
}

static void refuses(void **state)
{
    (void)state;
    begin("closed_cdf");
    facts.host_count = every_host.hosts = 1;
    refused("type: a workload needs two hosts, there is 1; a larger topology");
    begin("closed_cdf");
    set_number("start", 10 * OCHE_MS);
    refused("start: 10ms, but the run ends at 10ms; an earlier time");
    begin("closed_cdf");
    set("cdf_file", (union oche_value){.text = temporary_file("0 0\n1 100\n")});
    facts.duration = 10000 * OCHE_SEC;
    refused("pairs: make more than 100000000 flows until the end of the run; fewer pairs, larger "
            "messages, or a shorter run");
    set("cdf_file", (union oche_value){.text = temporary_file("0 0\n1000 90\n")});
    list.count = 0;
    assert_false(type->generate(params, &facts, &list, &error));
    temporary_expect_error(error.text,
                           ":2: cdf: ends at 90; the last line's must be 100 (percent) or 1");
    temporary_remove();
    oche_flow_list_free(&list);
    list = (struct oche_flow_list){0};
}

/* Pairs that offer a fixed load: each has its own. More pairs do not change the first ones. */
static void pairs_with_a_load(void **state)
{
    struct oche_flow_list few;
    uint64_t bytes[20] = {0};
    uint32_t pairs = 0, srcs[20], dsts[20];

    (void)state;
    begin("poisson_cdf");
    set("cdf_file", (union oche_value){.text = temporary_file("0 0\n20000 100\n")});
    set("load", (union oche_value){.real = 0.5});
    facts.duration = 100 * OCHE_MS; /* 250 MB by each pair, in some 25,000 flows */
    set_number("pairs", 3);
    generate();
    few = list;
    list = (struct oche_flow_list){0};
    set_number("pairs", 20);
    generate();
    assert_memory_equal(list.plan, few.plan, few.count * sizeof(*few.plan));
    for (uint32_t i = 0; i < list.count; i++) {
        const struct oche_flow_plan *flow = &list.plan[i];

        if (i == 0 || flow->src != flow[-1].src || flow->dst != flow[-1].dst) {
            assert_in_range(pairs, 0, 19);
            for (uint32_t k = 0; k < pairs; k++)
                assert_false(srcs[k] == flow->src && dsts[k] == flow->dst);
            srcs[pairs] = flow->src;
            dsts[pairs++] = flow->dst;
        } else {
            assert_true(flow->start > flow[-1].start);
        }
        assert_true(flow->then_same_source == OCHE_NO_FLOW && flow->start < facts.duration);
        bytes[pairs - 1] += flow->bytes;
    }
    assert_int_equal(pairs, 20);
    for (uint32_t i = 0; i < 20; i++)
        assert_in_range(bytes[i], 250000000 * 0.95, 250000000 * 1.05);
    set_number("senders", 2);
    refused("pairs: are drawn among all hosts; without senders");
    set_number("senders", 0);
    set_number("pairs", 381);
    refused("pairs: 381, but 20 hosts have only 380; give at most that many");
    temporary_remove();
    oche_flow_list_free(&few);
}

/* A rebuild: its senders continue. A higher degree does not change the first senders. */
static void incast_goes_on(void **state)
{
    struct oche_flow_plan first[2];

    (void)state;
    begin("incast");
    set_number("degree", 2);
    set_number("receiver", 1); /* random */
    set_number("bytes", 4000000);
    set_number("back_to_back", 1);
    for (unsigned degree = 2; degree <= 10; degree += 8) {
        uint32_t at = 0;

        set_number("degree", degree);
        generate();
        for (unsigned i = 0; i < degree; i++) {
            const struct oche_flow_plan *flow = &list.plan[at];
            uint64_t bytes;

            if (degree == 2)
                first[i] = *flow;
            assert_true(i >= 2 || (flow->src == first[i].src && flow->dst == first[i].dst));
            assert_true(flow->dst == list.plan[0].dst && flow->bytes == 4000000);
            at = loop_at(at, 0, &bytes);
            assert_in_range(bytes, 50000000, 58656000); /* 12.5 messages; two more, one uncounted */
        }
        assert_int_equal(at, list.count);
    }
    set_number("period", OCHE_MS);
    refused("back_to_back: there is one round that does not end; without period");
    set_number("period", OCHE_NEVER);
    set_number("bytes", 1);
    set_number("degree", 19);
    refused("bytes: messages of 1 bytes make more than 100000000 flows until the end of the run; "
            "larger ones");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_last),          cmocka_unit_test(pairs_differ),
        cmocka_unit_test(more_change_nothing), cmocka_unit_test(sizes_follow),
        cmocka_unit_test(pairs_with_a_load),   cmocka_unit_test(refuses),
        cmocka_unit_test(incast_goes_on),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
