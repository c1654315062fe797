/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flows that sources make during a run equal those of a plan that lists them all: numbers, plans,
 * connections, and the order in which hosts start them. Flows that are not made take no memory,
 * even if all plans are read.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sim/app/app.h"
#include "sim/network/flow.h"
#include "tests/support/test.h"
#include "tests/unit/app/temporary.h"

#define HOSTS 12

struct workload {
    const char *type;
    struct {
        const char *name;
        union oche_value value;
    } set[5];
};

#define U(number)                                                                                  \
    {                                                                                              \
        .u = (number)                                                                              \
    }

static const struct workload workloads[] = {
    {"poisson_cdf", {{"load", {.real = 0.3}}}},
    {"permutation", {{"messages", U(0)}, {"bytes", U(20000)}, {"jitter", U(5 * OCHE_US)}}},
    {"closed_cdf", {{"pairs", U(9)}, {"outstanding", U(2)}, {"tenant", U(3)}}},
    {"incast", {{"degree", U(3)}, {"bytes", U(3000)}, {"period", U(50 * OCHE_US)}}},
    {"incast", {{"degree", U(4)}, {"back_to_back", U(1)}, {"bytes", U(5000)}}},
    {"poisson_cdf", {{"pairs", U(20)}, {"load", {.real = 0.1}}}},
    {"long_flows", {{"bytes", U(30000)}, {"load_of", U(0)}}},
    {"background", {{"pairs", U(5)}, {"bytes", U(900)}, {"stagger", U(7 * OCHE_US)}}},
    {"poisson_cdf", {{"senders", U(4)}, {"load", {.real = 0.1}}}},
};

static const struct oche_host_rate every_host = {.link_bps = 40 * OCHE_GBPS, .hosts = HOSTS};

static void add(struct oche_flow_list *list, const struct workload *workload, uint32_t number,
                oche_time duration)
{
    const struct oche_workload_type *type = oche_workload_type_find(workload->type);
    struct oche_workload_facts facts = {.host_count = HOSTS,
                                        .rates = {.kinds = &every_host, .count = 1},
                                        .mtu_bytes = 1000,
                                        .header_bytes = 82,
                                        .duration = duration,
                                        .seed = 5,
                                        .number = number};
    uint64_t params[24];
    struct oche_error error;

    assert_true(type->table->struct_bytes <= sizeof(params));
    oche_param_defaults(type->table, params);
    for (unsigned i = 0; i < OCHE_COUNT_OF(workload->set) && workload->set[i].name != NULL; i++)
        oche_param_set(oche_param_find(type->table, workload->set[i].name), params,
                       workload->set[i].value);
    if (type->table == oche_workload_type_find("poisson_cdf")->table ||
        type->table == oche_workload_type_find("closed_cdf")->table)
        oche_param_set(oche_param_find(type->table, "cdf_file"), params,
                       (union oche_value){.text = temporary_file("0 0\n1000 40\n9000 100\n")});
    list->initial_rate_bps = list->supply_bps = 0;
    if (!type->generate(params, &facts, list, &error))
        fail_msg("%s: %s", workload->type, error.text);
    temporary_remove();
}

static void prepare(struct oche_flows *flows, bool as_needed, enum oche_connections per,
                    uint64_t priority_bytes)
{
    struct oche_flow_list list = {.as_needed = as_needed, .priority_bytes = priority_bytes};
    struct oche_error error;

    for (uint32_t i = 0; i < OCHE_COUNT_OF(workloads); i++)
        add(&list, &workloads[i], i, OCHE_MS);
    if (!oche_flows_prepare(flows, list.plan, list.count, &list.sources, HOSTS, per, &error))
        fail_msg("%s", error.text);
    oche_flows_set_groups(flows, &list.groups);
}

static void assert_same_connection(const struct oche_flows *all, const struct oche_flows *some,
                                   uint32_t flow)
{
    const struct oche_connection *a = &all->connections[all->plan[flow].connection];
    const struct oche_connection *b = &some->connections[some->plan[flow].connection];

    assert_int_equal(a->src, b->src);
    assert_int_equal(a->dst, b->dst);
    assert_int_equal(a->priority, b->priority);
    assert_int_equal(a->tenant, b->tenant);
    assert_int_equal(a->first, b->first);
    assert_int_equal(a->count, b->count);
    assert_true(a->bytes == b->bytes);
}

static void assert_same_flow(const struct oche_flows *all, const struct oche_flows *some,
                             uint32_t flow)
{
    assert_memory_equal(&all->plan[flow], &some->plan[flow], sizeof(all->plan[flow]));
    assert_same_connection(all, some, flow);
    assert_true(oche_flow_is_made(some, flow) && !oche_flow_has_started(some, flow));
    assert_true(some->received[flow].delivered == OCHE_NEVER);
}

/* Reads all plans, of which some are made. */
static void assert_same_walk(const struct oche_flows *all, const struct oche_flows *some)
{
    struct oche_flow_walk walk = oche_flow_walk(some);
    const struct oche_flow_plan *plan;
    uint32_t next = 0;

    for (; (plan = oche_flow_walk_next(&walk)) != NULL; next++) {
        assert_int_equal(walk.number, next);
        assert_memory_equal(plan, &all->plan[next], sizeof(*plan));
        if (next % 997 == 0) {
            struct oche_flow_plan looked_up = oche_flows_plan(some, next);

            assert_memory_equal(&looked_up, plan, sizeof(*plan));
        }
    }
    assert_int_equal(next, all->count);
}

/* Starts a host's flows, and after each all that follow it. Returns their number. */
static uint32_t start_all(struct oche_flows *all, struct oche_flows *some, uint32_t host)
{
    uint32_t count = 0;

    while (oche_flows_next_start(all, host) != OCHE_NEVER) {
        assert_true(oche_flows_next_start(all, host) == oche_flows_next_start(some, host));
        uint32_t flow = oche_flows_take_start(all, host);

        assert_int_equal(oche_flows_take_start(some, host), flow);
        for (; flow != OCHE_NO_FLOW; flow = all->plan[flow].then_same_source, count++) {
            oche_flows_make_follower(some, flow);
            assert_same_flow(all, some, flow);
        }
        if (count % 1500 == 0)
            assert_same_walk(all, some);
    }
    assert_true(oche_flows_next_start(some, host) == OCHE_NEVER);
    return count;
}

static uint32_t count_made(const struct oche_flows *flows)
{
    uint32_t count = 0;

    for (OCHE_EACH_MADE_FLOW(i, flows)) {
        assert_true(oche_flow_is_made(flows, i));
        count++;
    }
    return count;
}

static void compare(enum oche_connections per, uint64_t priority_bytes)
{
    struct oche_flows all, some;
    uint32_t started = 0;

    prepare(&all, false, per, priority_bytes);
    prepare(&some, true, per, priority_bytes);
    assert_int_equal(all.count, some.count);
    assert_int_equal(all.connection_count, some.connection_count);
    for (uint32_t host = 0; host < HOSTS; host++)
        assert_int_equal(all.host_connections[host], some.host_connections[host]);
    assert_int_equal(count_made(&all), all.count);
    assert_in_range(count_made(&some), 1, all.count / 10);
    assert_same_walk(&all, &some);
    for (uint32_t host = 0; host < HOSTS; host++)
        started += start_all(&all, &some, host);
    assert_int_equal(started, all.count);
    assert_int_equal(count_made(&some), all.count);
    assert_same_walk(&all, &some);
    oche_flows_free(&all);
    oche_flows_free(&some);
}

static void connections_per_flow(void **state)
{
    (void)state;
    compare(OCHE_CONNECTION_PER_FLOW, 0);
}

static void connections_per_pair(void **state)
{
    (void)state;
    compare(OCHE_CONNECTION_PER_PAIR, 0);
    compare(OCHE_CONNECTION_PER_PAIR, 3000);
}

static void connections_per_chain(void **state)
{
    (void)state;
    compare(OCHE_CONNECTION_PER_CHAIN, 0);
    compare(OCHE_CONNECTION_PER_CHAIN, 3000);
}

/* ---- memory ---- */

/* Returns how many pages of the piece exist, including those made by reading. */
static size_t count_pages(const void *memory, size_t bytes)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t first = ((uintptr_t)memory + page - 1) / page * page;
    const size_t pages = ((uintptr_t)memory + bytes - first) / page;
    unsigned char *there = malloc(pages);
    size_t count = 0;

    assert_int_equal(mincore((void *)first, pages * page, there), 0);
    for (size_t i = 0; i < pages; i++)
        count += there[i] & 1;
    free(there);
    return count;
}

#define PAGES(array, count) count_pages(array, sizeof(*(array)) * (size_t)(count))

static size_t pages_of_flows(const struct oche_flows *flows)
{
    return PAGES(flows->plan, flows->count) + PAGES(flows->sent, flows->count) +
           PAGES(flows->received, flows->count) + PAGES(flows->order, flows->count) +
           PAGES(flows->connections, flows->count);
}

static size_t resident_bytes(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    unsigned long pages;

    assert_non_null(file);
    assert_int_equal(fscanf(file, "%*u %lu", &pages), 1);
    fclose(file);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* Reads all plans in each possible way. Returns how many it saw. */
static uint32_t go_through(const struct oche_flows *flows)
{
    struct oche_flow_walk walk = oche_flow_walk(flows);
    const struct oche_flow_plan *plan;
    uint64_t bytes = 0;
    uint32_t count = 0, made = 0;

    for (; (plan = oche_flow_walk_next(&walk)) != NULL; count++)
        bytes += plan->bytes;
    assert_int_equal(bytes, 16 * (uint64_t)count);
    for (uint32_t i = 0; i < flows->count; i++)
        made += oche_flow_has_started(flows, i) || oche_flow_is_made(flows, i);
    assert_int_equal(made, oche_flows_made(flows));
    assert_int_equal(count_made(flows), made);
    made = 0;
    for (OCHE_EACH_MADE_CONNECTION(i, flows))
        made += flows->connections[i].count > 0;
    assert_int_equal(made, oche_flows_made(flows));
    for (uint32_t i = 0; i < flows->count; i += flows->count / 50)
        assert_int_equal(oche_flows_plan(flows, i).bytes, 16);
    return count;
}

/*
 * A kernel may give a separate page to a reader of memory that nobody has written. Then the page
 * counts as resident memory; otherwise it counts among the pages that exist.
 */
static void reading_takes_no_memory(void **state)
{
    static const struct workload endless = {"permutation", {{"messages", U(0)}, {"bytes", U(16)}}};
    struct oche_flow_list list = {.as_needed = true};
    struct oche_flows flows;
    struct oche_error error;

    (void)state;
    add(&list, &endless, 0, OCHE_MS);
    if (!oche_flows_prepare(&flows, list.plan, list.count, &list.sources, HOSTS,
                            OCHE_CONNECTION_PER_FLOW, &error))
        fail_msg("%s", error.text);
    assert_in_range(flows.count, 1000000, 10000000);
    for (unsigned i = 0; i < 1000; i++)
        oche_flows_make_follower(&flows, flows.sources.list[1].first + i);

    const size_t pages = pages_of_flows(&flows), bytes = resident_bytes();

    assert_int_equal(go_through(&flows), flows.count);
    assert_int_equal(pages_of_flows(&flows), pages);
    assert_in_range(resident_bytes(), 0, bytes + (8 << 20)); /* more than 200 MB of plans */
    oche_flows_free(&flows);
}

/* A source whose flows are asked for by their places: sizes and receivers follow from these. */
static void at_place(const struct oche_flow_source *source, uint32_t place,
                     struct oche_flow_plan *plan)
{
    (void)source;
    plan->bytes = 100 + place;
    plan->dst = 1 + place % 5;
    plan->channel = place % 2;
}

static void check_plan(const struct oche_flows *flows, uint32_t first, uint32_t place)
{
    const struct oche_flow_plan plan = oche_flows_plan(flows, first + place);
    const struct oche_connection *connection = &flows->connections[plan.connection];

    assert_int_equal(plan.bytes, 100 + place);
    assert_int_equal(plan.dst, 1 + place % 5);
    assert_int_equal(plan.start, OCHE_NEVER);
    assert_int_equal(connection->src, 0);
    assert_int_equal(connection->dst, plan.dst);
}

/* Flows of such a source are made in any order, beside those of others, by pair and channel. */
static void at_any_place(enum oche_connections per)
{
    static const uint32_t order[] = {77, 0, 64, 63, 99, 5};
    const struct oche_flow_source source = {
        .at = at_place,
        .count = 100,
        .flow = {.dst = 1, .start = OCHE_NEVER, .then_same_source = OCHE_NO_FLOW, .workload = 2}};
    struct oche_flow_list list = {.as_needed = true};
    struct oche_flow_walk walk;
    struct oche_flows flows;
    struct oche_error error;
    uint32_t before;

    add(&list, &workloads[1], 0, OCHE_MS);
    before = list.count;
    assert_true(oche_flow_list_add_source(&list, &source));
    add(&list, &workloads[3], 1, OCHE_MS);
    if (!oche_flows_prepare(&flows, list.plan, list.count, &list.sources, HOSTS, per, &error))
        fail_msg("%s", error.text);
    oche_flows_set_groups(&flows, &list.groups);
    for (uint32_t i = 0; i < 100; i++)
        check_plan(&flows, before, i);
    for (unsigned i = 0; i < OCHE_COUNT_OF(order); i++) {
        assert_false(oche_flow_is_made(&flows, before + order[i]));
        oche_flows_make_at(&flows, before + order[i]);
        assert_true(oche_flow_is_made(&flows, before + order[i]));
        check_plan(&flows, before, order[i]);
    }
    assert_int_equal(oche_flows_next_made(&flows, before), before);
    assert_int_equal(oche_flows_next_made(&flows, before + 1), before + 5);
    assert_int_equal(oche_flows_next_made(&flows, before + 6), before + 63);
    assert_int_equal(oche_flows_next_made(&flows, before + 78), before + 99);
    assert_int_equal(count_made(&flows), oche_flows_made(&flows));
    /* Ten connections, each with ten flows; no other flow shares one. */
    for (uint32_t i = 0; i < 100; i++) {
        const uint32_t connection = oche_flows_plan(&flows, before + i).connection;

        assert_int_equal(flows.connections[connection].count, 10);
        assert_int_equal(connection, oche_flows_plan(&flows, before + (i + 10) % 100).connection);
    }
    walk = oche_flow_walk(&flows);
    for (uint32_t i = 0; i < flows.count; i++) {
        const struct oche_flow_plan *plan = oche_flow_walk_next(&walk);

        assert_non_null(plan);
        if (i - before < 100)
            assert_int_equal(plan->bytes, 100 + i - before);
    }
    assert_null(oche_flow_walk_next(&walk));
    oche_flows_free(&flows);
}

static void places_per_flow(void **state)
{
    (void)state;
    at_any_place(OCHE_CONNECTION_PER_FLOW);
}

static void places_per_pair(void **state)
{
    (void)state;
    at_any_place(OCHE_CONNECTION_PER_PAIR);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(connections_per_flow),  cmocka_unit_test(connections_per_pair),
        cmocka_unit_test(connections_per_chain), cmocka_unit_test(reading_takes_no_memory),
        cmocka_unit_test(places_per_flow),       cmocka_unit_test(places_per_pair),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
