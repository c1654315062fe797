/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dart's look-ahead and its tenants in a network (Dart sec III-D, III-E). A long flow makes room
 * for an incast with the incast's first message, not with its last. The cost of announced senders
 * that do not come. The cost of a tenant's false announcements for other tenants, with and without
 * separate tenants.
 */
#include "tests/support/small_world.h"
#include "tests/support/test.h"

#include "core/cc/dart/dart.h"
#include "core/qp/qp_internal.h"
#include "sim/network/rnic.h"
#include "sim/network/host_state.h"
#include "sim/world/internal.h"

#define RATE   (10 * OCHE_GBPS)
#define LONG   1000000000
#define DEGREE 16
#define START  OCHE_MS

static void open_star(struct small_world *small, uint32_t hosts, oche_time end)
{
    small_world_init(small, "star", "dart", "go_back_n");
    small_world_topology(small, "hosts", hosts);
    small_world_topology(small, "host_rate", RATE);
    small_world_topology(small, "delay", 2 * OCHE_US);
    small->config.run.duration = end;
    small->config.switches.buffer_bytes = 32000000;
    small->config.switches.ecn = true;
}

static uint64_t rate_of(const struct small_world *small, uint32_t flow)
{
    const struct oche_world *world = small->world;

    return oche_host_rate_bps(world->hosts[world->flows.plan[flow].src],
                              world->flows.plan[flow].connection);
}

static struct oche_dart_view view_of(const struct small_world *small, uint32_t tenant)
{
    const struct oche_rnic *rnic = oche_host_endpoint_state(small->world->hosts[0]);

    return oche_dart_look_at(rnic->nic->cc_nic.state, tenant);
}

/* ---- look-ahead ---- */

/* An incast of DEGREE beside a long flow: one more sender each 2 us. */
static void run_incast(struct small_world *small, bool look_ahead, bool bytes, oche_time end)
{
    static struct oche_flow_plan flows[DEGREE + 1];
    static uint32_t members[DEGREE];
    static const struct small_world_group group = {members, DEGREE};

    flows[0] = small_flow(DEGREE + 1, 0, LONG, 0);
    for (uint32_t i = 0; i < DEGREE; i++) {
        members[i] = DEGREE - i; /* packets name them in rising order */
        flows[i + 1] = small_flow(i + 1, 0, 200000, START + i * 2 * OCHE_US);
        flows[i + 1].group = 1;
    }
    open_star(small, DEGREE + 2, end);
    small_world_cc(small, "look_ahead", look_ahead);
    small->groups = &group;
    small->group_count = 1;
    small->config.run.bytes = bytes;
    small_world_run(small, flows, DEGREE + 1);
}

/* Returns when the long flow has gone down to its share of the whole incast. */
static oche_time backs_off(bool look_ahead)
{
    for (oche_time at = START; at < START + 400 * OCHE_US; at += 2 * OCHE_US) {
        struct small_world small;
        run_incast(&small, look_ahead, false, at);
        uint64_t rate = rate_of(&small, 0);
        small_world_end(&small);
        small_world_free(&small);
        if (rate <= RATE / (DEGREE + 1) * 101 / 100)
            return at - START;
    }
    return OCHE_NEVER;
}

static void a_long_flow_makes_room_with_the_first_message(void **state)
{
    oche_time with = backs_off(true), without = backs_off(false);

    (void)state;
    print_message("back at its share after %.0f us with look-ahead, %.0f us without\n",
                  (double)with / OCHE_US, (double)without / OCHE_US);
    assert_true(with <= 20 * OCHE_US);
    assert_true(without != OCHE_NEVER);
    assert_true(without >= 10 * with); /* the first packets of the last senders wait in a queue */
}

/* Both ways of moving packets: all messages arrive, and in the end no sender counts. */
static void bytes_and_structs_are_alike(void **state)
{
    uint64_t hash[2];

    (void)state;
    for (unsigned bytes = 0; bytes < 2; bytes++) {
        struct small_world small;
        run_incast(&small, true, bytes != 0, 20 * OCHE_MS);
        for (uint32_t i = 1; i <= DEGREE; i++)
            assert_true(small.world->flows.received[i].delivered != OCHE_NEVER);
        assert_int_equal(view_of(&small, 0).groups, 1);
        assert_int_equal(view_of(&small, 0).not_come, 0);
        assert_int_equal(view_of(&small, 0).void_groups, 0);
        assert_int_equal(view_of(&small, 0).senders, 1);
        hash[bytes] = small.totals.hash;
        small_world_end(&small);
        small_world_free(&small);
    }
    assert_true(hash[0] == hash[1]);
}

/*
 * Senders 1 to 4 have used queue pairs. 1 announces all of them, and 4 begins 50 us after it.
 * Returns the rate of 4 just after its first packet, before any ACK can have come.
 */
static uint64_t begins_at(bool updates)
{
    static const uint32_t members[] = {1, 2, 3, 4};
    static const struct small_world_group group = {members, 4};
    struct oche_flow_plan flows[6];
    struct small_world small;

    for (uint32_t i = 0; i < 4; i++)
        flows[i] = small_flow(i + 1, 0, 2000, (i + 1) * OCHE_US * 50);
    flows[4] = small_flow(1, 0, 2000000, START);
    flows[5] = small_flow(4, 0, 2000000, START + 50 * OCHE_US);
    flows[4].group = flows[5].group = 1;
    open_star(&small, 6, START + 54 * OCHE_US);
    small_world_cc(&small, "look_ahead_updates", updates);
    small.config.hosts.connections = OCHE_CONNECTION_PER_PAIR;
    small.groups = &group;
    small.group_count = 1;
    small_world_run(&small, flows, 6);
    assert_int_equal(view_of(&small, 0).senders, 4);
    const uint64_t rate = rate_of(&small, 5);
    small_world_end(&small);
    small_world_free(&small);
    return rate;
}

static void announced_senders_know_their_share(void **state)
{
    (void)state;
    assert_int_equal(begins_at(true), RATE / 4);
    assert_int_equal(begins_at(false), RATE);
}

static void off_nothing_is_said(void **state)
{
    struct small_world small;

    (void)state;
    run_incast(&small, false, true, 20 * OCHE_MS);
    assert_int_equal(view_of(&small, 0).groups, 0);
    assert_int_equal(view_of(&small, 0).senders, 1);
    small_world_end(&small);
    small_world_free(&small);
}

/* ---- tenants ---- */

/* Shares of the line, divided by each tenant among its own senders (dart.md#d15). */
static void shares_divide_the_line(void **state)
{
    const struct oche_param *shares =
        oche_param_find(&oche_cc_find("dart")->table, "tenant_shares");
    struct oche_flow_plan flows[] = {small_flow(1, 0, LONG, 0), small_flow(2, 0, LONG, 0),
                                     small_flow(3, 0, LONG, 0), small_flow(1, 0, LONG, 0)};
    struct small_world small;

    (void)state;
    flows[2].tenant = flows[3].tenant = 1; /* host 1 sends for both */
    open_star(&small, 4, OCHE_MS);
    small_world_cc(&small, "tenants", 2);
    oche_param_set(shares, small.cc_params, (union oche_value){.text = "1:3"});
    assert_null(small.config.cc->check(small.cc_params));
    small_world_run(&small, flows, 4);
    for (uint32_t i = 0; i < 4; i++) {
        double want = (double)RATE * (i < 2 ? 1 : 3) / 8;
        assert_true((double)rate_of(&small, i) > 0.99 * want);
        assert_true((double)rate_of(&small, i) < 1.01 * want);
    }
    assert_int_equal(view_of(&small, 0).senders, 2);
    assert_int_equal(view_of(&small, 1).senders, 2);
    small_world_end(&small);
    oche_param_set(shares, small.cc_params, (union oche_value){.text = "2:3"});
    assert_non_null(small.config.cc->check(small.cc_params));
    oche_param_set(shares, small.cc_params, (union oche_value){.text = "x"});
    assert_non_null(small.config.cc->check(small.cc_params));
    small_world_free(&small);
}

#define ABSENT 100
#define LIES   20

/*
 * Tenant 0 sends one long flow. Tenant 1 sends a small message every 2 ms, each of which announces
 * ABSENT senders that never come. Returns tenant 0's share of the line, and that of tenant 1's own
 * long flow.
 */
static void flood(uint32_t tenants, bool look_ahead, double got[2])
{
    static struct oche_flow_plan flows[LIES + 2];
    static uint32_t members[ABSENT];
    static struct small_world_group groups[LIES];
    struct small_world small;

    for (uint32_t i = 0; i < ABSENT; i++)
        members[i] = i + 2; /* host 2 makes the announcements */
    flows[0] = small_flow(1, 0, LONG, 0);
    flows[1] = small_flow(ABSENT + 2, 0, LONG, 0);
    flows[1].tenant = 1;
    for (uint32_t i = 0; i < LIES; i++) {
        groups[i] = (struct small_world_group){members, ABSENT};
        flows[i + 2] = small_flow(2, 0, 1000, i * 2 * OCHE_MS);
        flows[i + 2].tenant = 1;
        flows[i + 2].group = i + 1;
    }
    open_star(&small, ABSENT + 3, LIES * 2 * OCHE_MS);
    small_world_cc(&small, "tenants", tenants);
    small_world_cc(&small, "look_ahead", look_ahead);
    small.groups = groups;
    small.group_count = LIES;
    small_world_run(&small, flows, LIES + 2);
    for (uint32_t i = 0; i < 2; i++)
        got[i] = (double)rate_of(&small, i) / (double)RATE;
    small_world_end(&small);
    small_world_free(&small);
}

static void who_floods_harms_only_himself(void **state)
{
    double together[2], apart[2], off[2];

    (void)state;
    flood(1, true, together);
    flood(2, true, apart);
    flood(1, false, off);
    print_message("of the line: honest %.4f, flooding %.4f; apart %.4f, %.4f; look-ahead off %.4f, "
                  "%.4f\n",
                  together[0], together[1], apart[0], apart[1], off[0], off[1]);
    assert_true(together[0] < 0.02); /* one of a hundred absent ones */
    assert_true(apart[0] > 0.49 && apart[0] < 0.51);
    assert_true(apart[1] < 0.02);
    assert_true(off[0] > 0.49 && off[0] < 0.51);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_long_flow_makes_room_with_the_first_message),
        cmocka_unit_test(bytes_and_structs_are_alike),
        cmocka_unit_test(announced_senders_know_their_share),
        cmocka_unit_test(off_nothing_is_said),
        cmocka_unit_test(shares_divide_the_line),
        cmocka_unit_test(who_floods_harms_only_himself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
