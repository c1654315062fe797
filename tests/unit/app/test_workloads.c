/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The flows that each type of workload makes. They repeat with the same seed. Bad parameters are
 * rejected with the right message.
 */
#include "tests/support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/app/app.h"
#include "tests/unit/app/temporary.h"

#define US OCHE_US

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
        .link_bps = 10 * OCHE_GBPS, .uplink_bps = 5 * OCHE_GBPS, .hosts = 16};
    facts = (struct oche_workload_facts){.host_count = 16,
                                         .rates = {.kinds = &every_host, .count = 1},
                                         .mtu_bytes = 1000,
                                         .header_bytes = 78,
                                         .duration = 10 * OCHE_MS,
                                         .seed = 1,
                                         .number = 2};
    type = oche_workload_type_find(name);
    assert_non_null(type);
    assert_true(type->table->struct_bytes <= sizeof(params));
    oche_param_defaults(type->table, params);
    error.text[0] = '\0';
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

static void choose(const char *name, const char *choice)
{
    const struct oche_param *param = oche_param_find(type->table, name);
    uint64_t i = 0;

    assert_non_null(param);
    while (param->choices[i] != NULL && strcmp(param->choices[i], choice) != 0)
        i++;
    assert_non_null(param->choices[i]);
    set_number(name, i);
}

static void generate(void)
{
    if (!type->generate(params, &facts, &list, &error))
        fail_msg("%s", error.text);
    for (uint32_t i = 0; i < list.count; i++) {
        const struct oche_flow_plan *f = &list.plan[i];

        assert_true(f->src < facts.host_count && f->dst < facts.host_count && f->src != f->dst);
        assert_true(f->bytes >= 1 && f->bytes <= UINT64_C(1) << 31);
        assert_true(f->start < facts.duration || f->start == OCHE_NEVER);
        assert_int_equal(f->workload, facts.number);
    }
}

static void refused(const char *expected)
{
    assert_false(type->generate(params, &facts, &list, &error));
    assert_string_equal(error.text, expected);
    assert_int_equal(list.count, 0);
}

/* Generates again and gets the same flows. Another seed or number gives others. */
static void repeats(bool random)
{
    struct oche_flow_list first;

    list.count = list.groups.count = list.groups.member_count = 0;
    generate();
    first = list;
    list = (struct oche_flow_list){0};
    generate();
    assert_int_equal(list.count, first.count);
    assert_memory_equal(list.plan, first.plan, first.count * sizeof(*first.plan));
    for (unsigned i = 0; i < 2 && random; i++) {
        oche_flow_list_free(&list);
        facts.seed += i == 0;
        facts.number += i == 1;
        generate();
        for (uint32_t k = 0; k < list.count; k++)
            list.plan[k].workload = first.plan[0].workload;
        assert_true(list.count != first.count ||
                    memcmp(list.plan, first.plan, first.count * sizeof(*first.plan)) != 0);
    }
    oche_flow_list_free(&first);
}

static void registry_is_complete(void **state)
{
    uint64_t defaults[32];
    unsigned count = 0;

    (void)state;
    for (; oche_workload_types[count] != NULL; count++) {
        const struct oche_workload_type *t = oche_workload_types[count];

        assert_ptr_equal(oche_workload_type_find(t->name), t);
        assert_true(t->help[0] != '\0' && t->generate != NULL);
        oche_param_defaults(t->table, defaults);
        for (size_t i = 0; i < t->table->count; i++) {
            const struct oche_param *p = &t->table->params[i];

            assert_true(oche_param_in_range(p, oche_param_get(p, defaults)));
            assert_ptr_equal(oche_param_find(t->table, p->name), p);
            assert_true(p->help != NULL && p->help[0] != '\0');
        }
    }
    assert_int_equal(count, 11);
    assert_null(oche_workload_type_find("outcast"));
}

static void every_type_needs_two_hosts(void **state)
{
    (void)state;
    for (unsigned i = 0; oche_workload_types[i] != NULL; i++) {
        begin(oche_workload_types[i]->name);
        facts.host_count = every_host.hosts = 1;
        refused("type: a workload needs two hosts, there is 1; a larger topology");
    }
}

/* ---- incast ---- */

static void incast_once(void **state)
{
    bool seen[16] = {false};

    (void)state;
    begin("incast");
    set_number("degree", 15);
    set_number("receiver_host", 3);
    set_number("bytes", 5000);
    set_number("start", 7 * US);
    generate();
    assert_int_equal(list.count, 15);
    for (unsigned i = 0; i < 15; i++) {
        assert_int_equal(list.plan[i].dst, 3);
        assert_false(seen[list.plan[i].src]);
        seen[list.plan[i].src] = true;
        assert_int_equal(list.plan[i].bytes, 5000);
        assert_true(list.plan[i].start == 7 * US);
        assert_true(list.plan[i].then_same_source == OCHE_NO_FLOW);
    }
}

static void incast_periodic(void **state)
{
    unsigned different = 0;

    (void)state;
    begin("incast");
    set_number("degree", 4);
    set_number("start", 1 * OCHE_MS);
    set_number("period", 3 * OCHE_MS);
    set_number("jitter", 100 * US);
    generate(); /* at 1, 4 and 7 ms; 10 ms is the end */
    assert_int_equal(list.count, 12);
    for (unsigned i = 0; i < 12; i++) {
        oche_time round = (1 + 3 * (i / 4)) * OCHE_MS;

        assert_in_range(list.plan[i].start, round, round + 100 * US);
        different += list.plan[i].start != round;
        for (unsigned k = i / 4 * 4; k < i; k++)
            assert_true(list.plan[k].src != list.plan[i].src);
    }
    assert_in_range(different, 10, 12);
    set_number("period", 3 * OCHE_MS - 1); /* a fourth one starts just before the end of the run */
    set_number("jitter", 0);
    list.count = list.groups.count = list.groups.member_count = 0;
    generate();
    assert_int_equal(list.count, 16);
    repeats(true);
}

/* The draws of a round do not depend on the other rounds. */
static void incast_rounds_are_independent(void **state)
{
    struct oche_flow_plan four[4];

    (void)state;
    begin("incast");
    set_number("degree", 4);
    choose("receiver", "random");
    set_number("period", 1 * OCHE_MS);
    generate();
    assert_int_equal(list.count, 40);
    memcpy(four, &list.plan[8], sizeof(four)); /* round 2 */
    list.count = list.groups.count = list.groups.member_count = 0;
    facts.duration = 3 * OCHE_MS;
    generate();
    assert_memory_equal(four, &list.plan[8], sizeof(four));
}

static void incast_receivers_and_senders(void **state)
{
    unsigned receivers[16] = {0}, senders[16] = {0};

    (void)state;
    begin("incast");
    set_number("degree", 3);
    set_number("receiver_host", 14);
    set_number("period", 1 * OCHE_MS);
    choose("receiver", "round_robin");
    choose("senders", "next");
    generate();
    for (unsigned i = 0; i < 30; i++) {
        assert_int_equal(list.plan[i].dst, (14 + i / 3) % 16);
        assert_int_equal(list.plan[i].src, (14 + i / 3 + 1 + i % 3) % 16);
    }
    choose("receiver", "random");
    choose("senders", "random");
    set_number("period", 5 * US);
    list.count = list.groups.count = list.groups.member_count = 0;
    generate(); /* 2000 rounds: 125 for each receiver, 375 flows of each sender */
    assert_int_equal(list.count, 6000);
    for (unsigned i = 0; i < list.count; i++) {
        receivers[list.plan[i].dst] += i % 3 == 0;
        senders[list.plan[i].src]++;
    }
    for (unsigned h = 0; h < 16; h++) {
        assert_in_range(receivers[h], 125 - 60, 125 + 60);
        assert_in_range(senders[h], 375 - 100, 375 + 100);
    }
}

static void incast_refuses(void **state)
{
    (void)state;
    begin("incast");
    refused("degree: 16 senders, but only 15 hosts beside the receiver; at most 15");
    set_number("degree", 15);
    set_number("receiver_host", 16);
    refused("receiver_host: there is no host 16; 0 to 15");
    set_number("receiver_host", 0);
    set_number("start", 10 * OCHE_MS);
    refused("start: 10ms, but the run ends at 10ms; an earlier time");
    set_number("start", 0);
    set_number("period", 1 * OCHE_NS);
    refused("period: gives 10000000 rounds of 15 flows; at most 100000000 flows");
}

/* ---- background ---- */

static void background_pairs(void **state)
{
    bool seen[16] = {false};
    uint32_t next = 0;

    (void)state;
    begin("background");
    set_number("pairs", 8);
    set_number("bytes", 1000000); /* 0.8 ms: 12.5 in 10 ms; two more */
    set_number("stagger", 100 * US);
    generate();
    for (unsigned pair = 0; pair < 8; pair++) {
        const struct oche_flow_plan *f = &list.plan[next];
        unsigned chain = (10000 - 100 * pair) / 800 + 2; /* in microseconds */

        assert_false(seen[f->src] || seen[f->dst]);
        seen[f->src] = seen[f->dst] = true;
        assert_true(f->start == pair * 100 * US);
        for (unsigned i = 0; i < chain; i++, next++) {
            const struct oche_flow_plan *g = &list.plan[next];

            assert_true(g->src == f->src && g->dst == f->dst && g->bytes == 1000000);
            assert_true(i == 0 || g->start == OCHE_NEVER);
            assert_true(g->then_same_source == (i + 1 < chain ? next + 1 : OCHE_NO_FLOW));
        }
    }
    assert_int_equal(next, list.count);
    list.count = list.groups.count = list.groups.member_count = 0;
    repeats(true);
}

static void background_random_and_outstanding(void **state)
{
    unsigned starts = 0, again = 0;
    uint32_t src[40];

    (void)state;
    begin("background");
    set_number("pairs", 20); /* more pairs than these hosts allow */
    set_number("bytes", 100000000);
    set_number("outstanding", 2);
    choose("placement", "random");
    generate();
    assert_int_equal(list.count, 20 * 2 * 2);
    for (uint32_t i = 0; i < list.count; i++)
        if (list.plan[i].start == 0)
            src[starts++] = list.plan[i].src;
    assert_int_equal(starts, 40);
    for (unsigned i = 0; i < 40; i += 2) {
        assert_int_equal(src[i], src[i + 1]);
        for (unsigned k = 0; k < i; k += 2)
            again += src[k] == src[i];
    }
    assert_true(again > 0);
}

static void background_refuses(void **state)
{
    (void)state;
    begin("background");
    set_number("pairs", 9);
    refused("pairs: 9 need 18 hosts, there are 16; at most 8, or placement random");
    set_number("pairs", 8);
    set_number("stagger", 2 * OCHE_MS);
    refused("stagger: the last of 8 pairs would start after the end of the run; less, or fewer "
            "pairs");
    set_number("stagger", 0);
    set_number("bytes", 1);
    refused("bytes: messages of 1 bytes make more than 100000000 flows until the end of the run; "
            "larger ones");
    set_number("start", 11 * OCHE_MS);
    refused("start: 11ms, but the run ends at 10ms; an earlier time");
}

/* ---- permutation ---- */

static void permutation_is_a_derangement(void **state)
{
    unsigned to_next = 0;

    (void)state;
    begin("permutation");
    for (facts.seed = 0; facts.seed < 300; facts.seed++) {
        bool seen[16] = {false};

        list.count = list.groups.count = list.groups.member_count = 0;
        generate();
        assert_int_equal(list.count, 16);
        for (uint32_t i = 0; i < 16; i++) {
            assert_int_equal(list.plan[i].src, i);
            assert_false(seen[list.plan[i].dst]);
            seen[list.plan[i].dst] = true;
            assert_int_equal(list.plan[i].bytes, 2000000);
            assert_true(list.plan[i].start == 0);
        }
        to_next += list.plan[0].dst == 1;
    }
    assert_in_range(to_next, 5, 40); /* 1 in 15: 20 */
    list.count = list.groups.count = list.groups.member_count = 0;
    repeats(true);
}

static void permutation_of_two_and_of_three(void **state)
{
    (void)state;
    begin("permutation");
    facts.host_count = every_host.hosts = 2;
    generate();
    assert_int_equal(list.plan[0].dst, 1);
    assert_int_equal(list.plan[1].dst, 0);
    list.count = list.groups.count = list.groups.member_count = 0;
    facts.host_count = every_host.hosts = 3;
    generate();
    assert_int_equal(list.count, 3);
}

static void permutation_shift_messages_and_jitter(void **state)
{
    (void)state;
    begin("permutation");
    choose("pattern", "shift");
    set_number("shift", 5);
    set_number("messages", 3);
    set_number("start", 1 * US);
    set_number("jitter", 2 * US);
    generate();
    assert_int_equal(list.count, 48);
    for (uint32_t i = 0; i < 48; i++) {
        const struct oche_flow_plan *f = &list.plan[i];

        assert_int_equal(f->src, i / 3);
        assert_int_equal(f->dst, (i / 3 + 5) % 16);
        assert_int_equal(f->then_same_source, i % 3 == 2 ? OCHE_NO_FLOW : i + 1);
        if (i % 3 == 0)
            assert_in_range(f->start, 1 * US, 3 * US);
        else
            assert_true(f->start == OCHE_NEVER);
    }
    list.count = list.groups.count = list.groups.member_count = 0;
    set_number("messages", 0); /* 12.5 MB in messages of 2 MB: 6 whole ones, and two more */
    set_number("start", 0);
    generate();
    assert_int_equal(list.count, 16 * 8);
}

static void permutation_refuses(void **state)
{
    (void)state;
    begin("permutation");
    choose("pattern", "shift");
    set_number("shift", 32);
    refused("shift: 32 leads each of 16 hosts to itself; 1 to 15");
    choose("pattern", "random");
    set_number("messages", 0);
    set_number("bytes", 1);
    refused("bytes: 12500002 messages of each host make more than 100000000 flows; larger ones");
    set_number("messages", 1000000);
    facts.host_count = every_host.hosts = 1000;
    refused("messages: 1000000 messages of each host make more than 100000000 flows; fewer");
}

/* ---- poisson_cdf ---- */

/*
 * The offered payload relative to the link's capacity, and each host's share of flows and arrivals.
 */
static void poisson_offers_its_load(void **state)
{
    static const struct {
        const char *load_of;
        bool headers;
        double expected; /* of the host's link */
    } cases[] = {{"host", false, 0.6}, {"uplink", false, 0.3}, {"host", true, 0.6 / 1.078}};

    (void)state;
    for (unsigned c = 0; c < 3; c++) {
        double bytes = 0, link;
        unsigned from[16] = {0}, to[16] = {0};

        begin("poisson_cdf");
        facts.duration = 3 * OCHE_SEC;
        choose("cdf", "webserver");
        set("load", (union oche_value){.real = 0.6});
        set_number("headers", cases[c].headers);
        choose("load_of", cases[c].load_of);
        generate();
        for (uint32_t i = 0; i < list.count; i++) {
            bytes += (double)list.plan[i].bytes;
            from[list.plan[i].src]++;
            to[list.plan[i].dst]++;
        }
        link = 16 * 3.0 * 10e9 / 8;
        assert_true(fabs(bytes / link / cases[c].expected - 1) < 0.01);
        for (unsigned h = 0; h < 16; h++) {
            assert_true(fabs(from[h] * 16.0 / list.count - 1) < 0.03);
            assert_true(fabs(to[h] * 16.0 / list.count - 1) < 0.03);
        }
    }
}

static void poisson_gaps_are_exponential(void **state)
{
    uint64_t sum = 0;
    unsigned count = 0, above = 0;
    double mean = 66121.0 * 8 / (0.5 * 10e9); /* s */

    (void)state;
    begin("poisson_cdf");
    facts.duration = 1 * OCHE_SEC;
    choose("cdf", "webserver");
    generate();
    for (uint32_t i = 1; i < list.count; i++) {
        const struct oche_flow_plan *f = &list.plan[i];

        if (f->src != f[-1].src)
            continue;
        assert_true(f->start >= f[-1].start);
        sum += f->start - f[-1].start;
        above += (double)(f->start - f[-1].start) > mean * 1e12;
        count++;
    }
    assert_in_range(count, 140000, 160000);
    assert_true(fabs((double)sum / count / (mean * 1e12) - 1) < 0.015);
    assert_true(fabs((double)above / count - exp(-1.0)) < 0.006);
}

/* More hosts, or a longer run, do not change a host's existing arrivals. */
static void poisson_streams_are_by_host(void **state)
{
    struct oche_flow_plan first[50];
    uint32_t count;

    (void)state;
    begin("poisson_cdf");
    generate();
    count = list.count;
    assert_true(count > 50);
    memcpy(first, list.plan, sizeof(first));
    repeats(true);
    begin("poisson_cdf");
    facts.duration = 20 * OCHE_MS;
    generate();
    assert_true(list.count > count);
    for (unsigned i = 0; i < 50 && first[i].src == 0; i++)
        assert_memory_equal(&first[i], &list.plan[i], sizeof(first[0]));
    begin("poisson_cdf");
    set_number("start", 4 * OCHE_MS);
    set_number("stop", 6 * OCHE_MS);
    generate();
    assert_true(list.count > 0);
    for (uint32_t i = 0; i < list.count; i++)
        assert_in_range(list.plan[i].start, 4 * OCHE_MS, 6 * OCHE_MS - 1);
}

/* Recorded values, the same on every machine. A second program, in Python, gave the same. */
static void poisson_recorded(void **state)
{
    static const struct {
        oche_time start;
        uint32_t dst;
        uint64_t bytes;
    } expected[] = {
        {367727640, 12, 1937740}, {1320817686, 9, 723233},    {8452670440, 1, 36288},
        {9067638682, 15, 4368},   {13675930489, 15, 3285706}, {16836701475, 5, 33151},
    };

    (void)state;
    begin("poisson_cdf");
    facts.duration = 20 * OCHE_MS;
    generate();
    for (unsigned i = 0; i < OCHE_COUNT_OF(expected); i++) {
        assert_true(list.plan[i].start == expected[i].start);
        assert_int_equal(list.plan[i].dst, expected[i].dst);
        assert_int_equal(list.plan[i].bytes, expected[i].bytes);
    }
}

/* Some hosts only send and the others only receive. The load is relative to a sender's link. */
static void poisson_across(void **state)
{
    unsigned from[16] = {0}, to[16] = {0};
    double bytes = 0;

    (void)state;
    begin("poisson_cdf");
    facts.duration = 3 * OCHE_SEC;
    choose("cdf", "webserver");
    set_number("senders", 6);
    generate();
    for (uint32_t i = 0; i < list.count; i++) {
        bytes += (double)list.plan[i].bytes;
        from[list.plan[i].src]++;
        to[list.plan[i].dst]++;
    }
    assert_true(fabs(bytes / (6 * 3.0 * 10e9 / 8) / 0.5 - 1) < 0.01);
    for (unsigned h = 0; h < 16; h++) {
        double sends = h < 6 ? 1.0 / 6 : 0, receives = h < 6 ? 0 : 0.1;
        assert_true(fabs((double)from[h] / list.count - sends) < 0.03 * sends + 1e-9);
        assert_true(fabs((double)to[h] / list.count - receives) < 0.03 * receives + 1e-9);
    }
}

static void poisson_takes_a_file(void **state)
{
    (void)state;
    begin("poisson_cdf");
    set("cdf_file", (union oche_value){.text = temporary_file("4000 0\n4000 1\n")});
    generate();
    assert_true(list.count > 1000);
    for (uint32_t i = 0; i < list.count; i++)
        assert_int_equal(list.plan[i].bytes, 4000);
}

static void poisson_refuses(void **state)
{
    (void)state;
    begin("poisson_cdf");
    set_number("stop", 5);
    set_number("start", 5);
    refused("stop: not after start; a later time, or never");
    begin("poisson_cdf");
    set_number("senders", 16);
    refused("senders: 16 of 16 hosts leave none to send to; at most 15");
    begin("poisson_cdf");
    every_host.uplink_bps = 0;
    choose("load_of", "uplink");
    refused("load_of: this topology has no uplinks; host");
    choose("load_of", "host");
    set("cdf_file", (union oche_value){.text = "./no-such-file"});
    refused("./no-such-file: No such file or directory; a readable file of lines \"size_bytes "
            "cdf\"");
    set("cdf_file", (union oche_value){.text = temporary_file("5 0\n1000 10\n900 100\n")});
    assert_false(type->generate(params, &facts, &list, &error));
    temporary_expect_error(error.text, ":3: size: 900 after 1000; sizes must not fall");
    set("cdf_file", (union oche_value){.text = NULL});
    choose("cdf", "fbhdp");
    facts.duration = 1000000 * OCHE_SEC;
    refused("load: makes more than 100000000 flows; less load, or a shorter run");
}

/* ---- transfers ---- */

static void set_pairs(const char *text)
{
    set("pairs", (union oche_value){.text = text});
}

/* Chains: flow i of the list goes from src to dst. Flow `then` follows it. */
static void expect_transfer(uint32_t i, uint32_t src, uint32_t dst, oche_time start, uint32_t then)
{
    assert_true(i < list.count);
    assert_int_equal(list.plan[i].src, src);
    assert_int_equal(list.plan[i].dst, dst);
    assert_true(list.plan[i].start == start);
    assert_int_equal(list.plan[i].then_same_source, then);
}

static void transfers_of_pairs(void **state)
{
    (void)state;
    begin("transfers");
    set_pairs(" 0 > 15,5>15 ,\n15>0");
    set_number("bytes", 7000);
    set_number("messages", 3);
    set_number("start", 2 * US);
    set_number("stagger", 5 * US);
    generate();
    assert_int_equal(list.count, 9);
    expect_transfer(0, 0, 15, 2 * US, 1);
    expect_transfer(1, 0, 15, OCHE_NEVER, 2);
    expect_transfer(2, 0, 15, OCHE_NEVER, OCHE_NO_FLOW);
    expect_transfer(3, 5, 15, 7 * US, 4);
    expect_transfer(6, 15, 0, 12 * US, 7);
    for (uint32_t i = 0; i < list.count; i++)
        assert_int_equal(list.plan[i].bytes, 7000);
    repeats(false);
}

/*
 * Five messages, two at a time: a chain of three and a chain of two. Then without end: the source
 * always has more.
 */
static void transfers_outstanding_and_without_end(void **state)
{
    (void)state;
    begin("transfers");
    set_pairs("3>4");
    set_number("messages", 5);
    set_number("outstanding", 2);
    generate();
    assert_int_equal(list.count, 5);
    expect_transfer(0, 3, 4, 0, 1);
    expect_transfer(2, 3, 4, OCHE_NEVER, OCHE_NO_FLOW);
    expect_transfer(3, 3, 4, 0, 4);
    expect_transfer(4, 3, 4, OCHE_NEVER, OCHE_NO_FLOW);
    begin("transfers");
    set_pairs("3>4");
    set_number("messages", 1);
    set_number("outstanding", 4);
    generate();
    assert_int_equal(list.count, 1);
    begin("transfers");
    set_pairs("3>4");
    set_number("bytes", 1250000); /* takes 1 ms at line rate; the run has 10 ms */
    set_number("start", 2 * OCHE_MS);
    set_number("outstanding", 2);
    generate();
    assert_in_range(list.count, 2 * 9, 2 * 11);
}

static void transfers_refuses(void **state)
{
    static const struct {
        const char *pairs, *error;
    } cases[] = {
        {NULL, "pairs: not given; sender and receiver, such as \"0>15, 5>15\""},
        {"  ", "pairs: not given; sender and receiver, such as \"0>15, 5>15\""},
        {"0>16", "pairs: there is no host 16; 0 to 15"},
        {"99999999999999999999>1", "pairs: there is no host 99999999999999999999; 0 to 15"},
        {"0>1, 2>2", "pairs: host 2 sends to itself; another host"},
        {"0>1, 2", "pairs: \"2\" is no pair; two hosts, such as 0>15 or host0>host15"},
        {"0>1,", "pairs: \"\" is no pair; two hosts, such as 0>15 or host0>host15"},
        {"0>1,,2>3", "pairs: \"\" is no pair; two hosts, such as 0>15 or host0>host15"},
        {"0-1, 2>3", "pairs: \"0-1\" is no pair; two hosts, such as 0>15 or host0>host15"},
        {"0>1 2>3, 4>5", "pairs: \"0>1 2>3\" is more than a pair; a comma after each"},
    };

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(cases); i++) {
        begin("transfers");
        set_pairs(cases[i].pairs);
        refused(cases[i].error);
    }
    begin("transfers");
    set_pairs("0>1, 2>3, 4>5");
    set_number("stagger", 5 * OCHE_MS);
    refused("stagger: the last of 3 pairs would start after the end of the run; less, or fewer "
            "pairs");
    set_number("stagger", 5 * OCHE_MS - 1);
    generate();
    begin("transfers");
    set_pairs("0>1");
    set_number("start", 10 * OCHE_MS);
    refused("start: 10ms, but the run ends at 10ms; an earlier time");
    begin("transfers");
    set_pairs("0>1, 2>3");
    set_number("bytes", 1);
    facts.duration = OCHE_SEC;
    refused("bytes: 1250000002 messages of each pair make more than 100000000 flows; larger ones");
}

static int clean_up(void **state)
{
    (void)state;
    temporary_remove();
    oche_flow_list_free(&list);
    return 0;
}

/* Every type has the parameter and passes it to all its flows. The default is 0. */
static void initial_rate_of_every_type(void **state)
{
    (void)state;
    for (size_t i = 0; oche_workload_types[i] != NULL; i++) {
        for (uint64_t rate = 0; rate <= 5 * OCHE_GBPS; rate += 5 * OCHE_GBPS) {
            begin(oche_workload_types[i]->name);
            facts.host_count = every_host.hosts = 17;
            if (type == oche_workload_type_find("schedule"))
                set("file", (union oche_value){
                                .text = temporary_file("num_ranks 2\nrank 0 {\nsend 8b to 1\n"
                                                       "send 9b to 1\n}\n")});
            else if (oche_param_find(type->table, "file") != NULL)
                set("file", (union oche_value){.text = temporary_file("src,dst,bytes,start\n"
                                                                      "1,2,3,0\n4,5,6,1us\n")});
            if (type == oche_workload_type_find("transfers"))
                set("pairs", (union oche_value){.text = "1>2,4>5"});
            if (rate > 0)
                set_number("initial_rate", rate);
            generate();
            assert_true(list.count > 1);
            for (uint32_t f = 0; f < list.count; f++)
                assert_int_equal(list.plan[f].initial_rate_bps, rate);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(registry_is_complete),
        cmocka_unit_test(every_type_needs_two_hosts),
        cmocka_unit_test(initial_rate_of_every_type),
        cmocka_unit_test(incast_once),
        cmocka_unit_test(incast_periodic),
        cmocka_unit_test(incast_rounds_are_independent),
        cmocka_unit_test(incast_receivers_and_senders),
        cmocka_unit_test(incast_refuses),
        cmocka_unit_test(background_pairs),
        cmocka_unit_test(background_random_and_outstanding),
        cmocka_unit_test(background_refuses),
        cmocka_unit_test(permutation_is_a_derangement),
        cmocka_unit_test(permutation_of_two_and_of_three),
        cmocka_unit_test(permutation_shift_messages_and_jitter),
        cmocka_unit_test(permutation_refuses),
        cmocka_unit_test(poisson_offers_its_load),
        cmocka_unit_test(poisson_gaps_are_exponential),
        cmocka_unit_test(poisson_streams_are_by_host),
        cmocka_unit_test(poisson_recorded),
        cmocka_unit_test(poisson_across),
        cmocka_unit_test(poisson_takes_a_file),
        cmocka_unit_test(poisson_refuses),
        cmocka_unit_test(transfers_of_pairs),
        cmocka_unit_test(transfers_outstanding_and_without_end),
        cmocka_unit_test(transfers_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, clean_up);
}
