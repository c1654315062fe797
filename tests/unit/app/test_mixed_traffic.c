/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Long flows and groups of short ones, as in Dart's sec VI: the offered load, the hosts of a group,
 * and rejected parameters. Random streams belong to a host or a group.
 */
#include "tests/support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/app/app.h"

static struct oche_error error;
static uint64_t params[32];
static const struct oche_workload_type *type;
static struct oche_workload_facts facts;
static struct oche_flow_list list;

static struct oche_host_rate every_host;

static void begin(const char *name)
{
    oche_flow_list_free(&list);
    every_host = (struct oche_host_rate){
        .link_bps = 10 * OCHE_GBPS, .uplink_bps = 2500 * OCHE_MBPS, .hosts = 64};
    facts = (struct oche_workload_facts){.host_count = 64,
                                         .rates = {.kinds = &every_host, .count = 1},
                                         .mtu_bytes = 1024,
                                         .header_bytes = 82,
                                         .duration = 50 * OCHE_MS,
                                         .seed = 1,
                                         .number = 1};
    type = oche_workload_type_find(name);
    assert_non_null(type);
    assert_true(type->table->struct_bytes <= sizeof(params));
    oche_param_defaults(type->table, params);
}

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

static void set_real(const char *name, double value)
{
    set(name, (union oche_value){.real = value});
}

static void set_text(const char *name, const char *text)
{
    set(name, (union oche_value){.text = text});
}

static void generate(void)
{
    oche_flow_list_free(&list);
    if (!type->generate(params, &facts, &list, &error))
        fail_msg("%s", error.text);
}

static void refused(const char *expected)
{
    oche_flow_list_free(&list);
    assert_false(type->generate(params, &facts, &list, &error));
    assert_string_equal(error.text, expected);
    assert_int_equal(list.count, 0);
}

static const uint32_t *members_of(uint32_t flow, uint32_t *count)
{
    assert_true(list.plan[flow].group >= 1 && list.plan[flow].group <= list.groups.count);
    return oche_flow_group(&list.groups, list.plan[flow].group, count);
}

/* Offered rate of all groups over the run, in bit/s. */
static double offered(void)
{
    double bytes = 0;

    for (uint32_t i = 0; i < list.count; i++)
        bytes += (double)list.plan[i].bytes;
    return bytes * 8 * (double)OCHE_SEC / (double)facts.duration;
}

/*
 * The offered rate is load times share of the capacity of ToR uplinks or of hosts' links. A long
 * run is within 1 %.
 */
static void groups_offer_their_load(void **state)
{
    static const struct {
        double load, share;
        uint64_t degree, of, headers;
        double bps;
    } cases[] = {
        {0.4, 0.4, 16, 1, 0, 64 * 2.5e9 * 0.16},
        {0.8, 0.2, 6, 1, 0, 64 * 2.5e9 * 0.16},
        {0.2, 0.6, 26, 1, 1, 64 * 2.5e9 * 0.12 * 1024 / 1106},
        {0.1, 0.4, 16, 0, 0, 64 * 10e9 * 0.04},
    };

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(cases); i++) {
        begin("incast_groups");
        facts.duration = 4 * OCHE_SEC;
        set_real("load", cases[i].load);
        set_real("share", cases[i].share);
        set_number("degree", cases[i].degree);
        set_number("load_of", cases[i].of);
        set_number("headers", cases[i].headers);
        generate();
        if (fabs(offered() / cases[i].bps - 1) > 0.01)
            fail_msg("case %zu offers %.4g bit/s, not %.4g", i, offered(), cases[i].bps);
    }
}

/*
 * A group has one start, one receiver and the requested number of senders. They differ, and none is
 * the receiver.
 */
static void groups_are_whole(void **state)
{
    uint32_t receivers[64] = {0}, senders[64] = {0}, sizes[3] = {0};

    (void)state;
    begin("incast_groups");
    set_number("degree", 6);
    generate();
    assert_true(list.count > 600 && list.count % 6 == 0);
    assert_int_equal(list.count / 6, list.groups.count);
    for (uint32_t i = 0; i < list.count; i++) {
        const struct oche_flow_plan *flow = &list.plan[i], *first = &list.plan[i - i % 6];
        uint32_t count;
        const uint32_t *members = members_of(i, &count);

        assert_int_equal(flow->group, i / 6 + 1);
        assert_int_equal(count, 6);
        assert_int_equal(members[i % 6], flow->src);
        assert_true(flow->dst == first->dst && flow->start == first->start);
        for (uint32_t k = 0; k < i % 6; k++)
            assert_true(members[k] != flow->src);
        assert_true(flow->src < 64 && flow->dst < 64 && flow->src != flow->dst);
        assert_true(flow->bytes == 2000 || flow->bytes == 4000 || flow->bytes == 8000);
        assert_true(flow->supply_bps == 0 && flow->workload == 1);
        receivers[flow->dst]++;
        senders[flow->src]++;
        sizes[flow->bytes / 4000]++;
    }
    for (uint32_t host = 0; host < 64; host++)
        assert_true(receivers[host] > 0 && senders[host] > 0);
    for (unsigned i = 0; i < 3; i++)
        assert_true(sizes[i] > list.count / 4);
}

static void sizes_of_groups(void **state)
{
    unsigned mixed = 0;

    (void)state;
    for (unsigned of = 0; of < 2; of++) {
        begin("incast_groups");
        set_text("sizes", " 1KB,64KiB ");
        set_number("size_of", of);
        generate();
        mixed = 0;
        for (uint32_t i = 0; i < list.count; i++) {
            assert_true(list.plan[i].bytes == 1000 || list.plan[i].bytes == 65536);
            mixed += list.plan[i].bytes != list.plan[i - i % 16].bytes;
        }
        assert_true((mixed > 0) == (of == 0));
    }
}

/* `groups` sets the number of sets of hosts. Their sizes vary over time. */
static void groups_of_the_same_hosts(void **state)
{
    uint32_t first[5], sets = 0, other_sizes = 0;

    (void)state;
    begin("incast_groups");
    set_number("degree", 6);
    set_number("groups", 5);
    generate();
    assert_true(list.count > 600);
    for (uint32_t i = 0; i < list.count; i += 6) {
        uint32_t set = 0, count;
        const uint32_t *members = members_of(i, &count);

        for (; set < sets; set++) {
            uint32_t other_count;

            if (list.plan[first[set]].dst == list.plan[i].dst &&
                memcmp(members_of(first[set], &other_count), members, count * sizeof(*members)) ==
                    0)
                break;
        }
        assert_true(set < 5);
        if (set == sets)
            first[sets++] = i;
        other_sizes += list.plan[first[set]].bytes != list.plan[i].bytes;
    }
    assert_int_equal(sets, 5);
    assert_true(other_sizes > list.count / 6 / 3); /* two thirds of them, on average */
}

/* Sets that share no receiver, or no host. Each set has groups, and its hosts do not change. */
static void sets_that_share_nothing(void **state)
{
    (void)state;
    for (unsigned disjoint = 1; disjoint <= 2; disjoint++) {
        uint32_t sets = disjoint == 1 ? 64 : 9; /* the most groups that 64 hosts allow */
        uint32_t seen = 0, set_of_member[64] = {0}, first[64] = {0}, count;

        begin("incast_groups");
        facts.duration = 500 * OCHE_MS;
        set_number("degree", 6);
        set_number("groups", sets);
        set_number("disjoint", disjoint);
        generate();
        for (uint32_t i = 0; i < list.count; i += 6) {
            uint32_t receiver = list.plan[i].dst, other;
            const uint32_t *members = members_of(i, &count);

            if (first[receiver] == 0) {
                seen++;
                first[receiver] = i + 1;
            }
            assert_memory_equal(members, members_of(first[receiver] - 1, &other),
                                count * sizeof(*members));
            for (uint32_t k = 0; disjoint == 2 && k < count; k++) {
                assert_true(set_of_member[members[k]] == 0 ||
                            set_of_member[members[k]] == receiver + 1);
                set_of_member[members[k]] = receiver + 1;
            }
        }
        assert_int_equal(seen, sets);
        for (uint32_t host = 0; disjoint == 2 && host < 64; host++)
            assert_true(first[host] == 0 || set_of_member[host] == 0);
        set_number("groups", sets + 1);
        refused(disjoint == 1 ? "groups: 65 sets that share no receiver, but 64 hosts are enough "
                                "for 64; fewer, or disjoint: none"
                              : "groups: 10 sets that share no host, but 64 hosts are enough for "
                                "9; fewer, or disjoint: none");
        set_number("groups", 0);
        refused("disjoint: is for fixed sets of hosts; set groups, or none");
    }
}

/*
 * The same seed and number give the same flows; others give different flows. A longer run begins
 * like a shorter one.
 */
static void groups_repeat(void **state)
{
    struct oche_flow_list first;

    (void)state;
    begin("incast_groups");
    set_number("jitter", 10 * OCHE_US);
    generate();
    first = list;
    list = (struct oche_flow_list){.count = 0};
    generate();
    assert_int_equal(list.count, first.count);
    assert_memory_equal(list.plan, first.plan, first.count * sizeof(*first.plan));
    assert_memory_equal(list.groups.members, first.groups.members,
                        first.groups.member_count * sizeof(uint32_t));
    facts.duration *= 2;
    generate();
    assert_true(list.count > first.count * 3 / 2);
    assert_memory_equal(list.plan, first.plan, (first.count - 16) * sizeof(*first.plan));
    for (unsigned i = 0; i < 2; i++) {
        facts.seed += i == 0;
        facts.number += i == 1;
        generate();
        for (uint32_t k = 0; k < list.count; k++)
            list.plan[k].workload = 1;
        assert_true(memcmp(list.plan, first.plan, 100 * sizeof(*first.plan)) != 0);
    }
    oche_flow_list_free(&first);
}

static void groups_refuse(void **state)
{
    static const struct {
        const char *sizes, *error;
    } cases[] = {
        {"", "sizes: one is missing; a list, such as \"2KB, 4KB, 8KB\""},
        {NULL, "sizes: one is missing; a list, such as \"2KB, 4KB, 8KB\""},
        {"2KB,,8KB", "sizes: one is missing; a list, such as \"2KB, 4KB, 8KB\""},
        {"2KB,", "sizes: one is missing; a list, such as \"2KB, 4KB, 8KB\""},
        {"1KB,1KB,1KB,1KB,1KB,1KB,1KB,1KB,1KB,1KB,1KB,1KB,1KB,1KB,1KB,1KB,1KB",
         "sizes: more than 16; fewer"},
        {"2KB, a word that is longer than any size can be and then some and then some more",
         "sizes: \"a word that is longe…\" is no size; such as 8KB"},
    };

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(cases); i++) {
        begin("incast_groups");
        set_text("sizes", cases[i].sizes);
        refused(cases[i].error);
    }
    begin("incast_groups");
    set_text("sizes", "2KB, 0");
    assert_false(type->generate(params, &facts, &list, &error));
    assert_memory_equal(error.text, "sizes: ", 7);
    set_text("sizes", "2 cows");
    assert_false(type->generate(params, &facts, &list, &error));
    assert_memory_equal(error.text, "sizes: ", 7);
    begin("incast_groups");
    set_number("degree", 64);
    refused("degree: 64 senders, but only 63 hosts beside the receiver; at most 63");
    begin("incast_groups");
    every_host.uplink_bps = 0;
    refused("load_of: this topology has no uplinks; host");
    begin("incast_groups");
    set_text("sizes", "1B");
    facts.duration = 1000 * OCHE_SEC;
    refused("load: makes more than 100000000 flows; less load, or a shorter run");
    begin("incast_groups");
    set_number("stop", 0);
    refused("stop: not after start; a later time, or never");
}

/*
 * Each host sends to one other host, at the same rate. A message starts when the one before it
 * ends.
 */
static void long_flows_of_all_hosts(void **state)
{
    uint32_t receivers[64] = {0}, different = 0;

    (void)state;
    begin("long_flows");
    generate();
    assert_int_equal(list.count, 2 * 64);
    for (uint32_t i = 0; i < list.count; i++) {
        const struct oche_flow_plan *flow = &list.plan[i];

        assert_int_equal(flow->src, i / 2);
        assert_int_equal(flow->bytes, 1000000000);
        assert_int_equal(flow->supply_bps, 600 * OCHE_MBPS); /* 60 % of 40 % of 2.5 Gbit/s */
        assert_int_equal(flow->group, 0);
        if (i % 2 == 0) {
            assert_true(flow->start <= 100 * OCHE_US);
            assert_int_equal(flow->then_same_source, i + 1);
            receivers[flow->dst]++;
        } else {
            assert_int_equal(flow->dst, flow[-1].dst);
            assert_int_equal(flow->start, OCHE_NEVER);
        }
    }
    for (uint32_t host = 0; host < 64; host++)
        different += receivers[host] > 0;
    assert_true(different > 25 && different < 60); /* 1 - 1/e of them, on average */
}

static void long_flows_greedy_and_by_host(void **state)
{
    struct oche_flow_plan first[20];

    (void)state;
    begin("long_flows");
    set_real("load", 0.8);
    set_real("share", 0.8);
    set_number("headers", 1);
    generate();
    assert_int_equal(list.plan[0].supply_bps, (uint64_t)(1.6e9 * 1024 / 1106 + 0.5));
    memcpy(first, list.plan, sizeof(first));
    facts.host_count = every_host.hosts =
        63; /* streams belong to hosts: the draws are the same, only the receiver differs */
    generate();
    assert_int_equal(list.plan[6].start, first[6].start);
    facts.host_count = every_host.hosts = 64;
    generate();
    assert_memory_equal(list.plan, first, sizeof(first));
    facts.seed++;
    generate();
    assert_true(memcmp(list.plan, first, sizeof(first)) != 0);
    set_number("greedy", 1);
    every_host.uplink_bps = 0;
    generate();
    for (uint32_t i = 0; i < list.count; i++)
        assert_int_equal(list.plan[i].supply_bps, 0);
    set_number("greedy", 0);
    refused("load_of: this topology has no uplinks; host");
    begin("long_flows");
    set_number("bytes", 1);
    facts.duration = OCHE_SEC;
    refused("bytes: messages of 1 bytes make more than 100000000 flows until the end of the run; "
            "larger ones");
}

/*
 * The number of active hosts follows from the load at their links' rate. Other seeds choose others.
 */
static void long_flows_of_some_hosts(void **state)
{
    bool has[1024] = {false};
    uint32_t again = 0;

    (void)state;
    begin("long_flows");
    set_number("greedy", 1);
    set_number("hosts", 1);
    facts.host_count = every_host.hosts = 1000;
    generate();
    assert_int_equal(list.count, 2 * 60); /* 60 % of 40 % of a quarter of their links' rate */
    for (uint32_t i = 0; i < list.count; i += 2) {
        assert_true(list.plan[i].src < 1000 && !has[list.plan[i].src]);
        has[list.plan[i].src] = true;
        assert_int_equal(list.plan[i].supply_bps, 0);
        assert_int_equal(list.plan[i + 1].src, list.plan[i].src);
    }
    facts.seed++;
    generate();
    assert_int_equal(list.count, 2 * 60);
    for (uint32_t i = 0; i < list.count; i += 2)
        again += has[list.plan[i].src];
    assert_true(again < 15); /* 3.6 in the mean */
    set_real("load", 0.001); /* a seventh of a flow */
    refused("load: with hosts: by_load no host would have a flow; more");
    set_real("load", 7); /* 1.05 flows a host */
    refused("load: with hosts: by_load more than all hosts would have a flow; less");
    set_number("greedy", 0);
    refused("hosts: by_load is for greedy flows; greedy: true, or all");
    begin("long_flows");
    set_number("greedy", 1);
    set_number("hosts", 1);
    every_host.uplink_bps = 0;
    refused("load_of: this topology has no uplinks; host");
}

static int clean_up(void **state)
{
    (void)state;
    oche_flow_list_free(&list);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_offer_their_load),
        cmocka_unit_test(groups_are_whole),
        cmocka_unit_test(sizes_of_groups),
        cmocka_unit_test(groups_of_the_same_hosts),
        cmocka_unit_test(sets_that_share_nothing),
        cmocka_unit_test(groups_repeat),
        cmocka_unit_test(groups_refuse),
        cmocka_unit_test(long_flows_of_all_hosts),
        cmocka_unit_test(long_flows_greedy_and_by_host),
        cmocka_unit_test(long_flows_of_some_hosts),
    };
    return cmocka_run_group_tests(tests, NULL, clean_up);
}
