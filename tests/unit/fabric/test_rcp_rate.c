/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RCP's rate of a port: the formula against numbers worked out by hand. In a switch: its inputs
 * (bytes that came in T, bytes that wait, round trips), its times, and which packets it affects.
 */
#include "tests/unit/fabric/rig.h"

#include <string.h>

#include "core/random.h"
#include "core/wire/extension.h"
#include "fabric/rcp_rate.h"
#include "fabric/registry.h"
#include "fabric/switch_state.h"

#define LINE   (10 * OCHE_GBPS)
#define T      (20 * OCHE_US) /* in which the line carries 25000 bytes */
#define HALF   32768          /* alpha and beta of a half, a quarter */
#define FOURTH 16384

/* ---- the formula ---- */

/* alpha 1/2, beta 1/4, C 10 Gbit/s, R_min 1 Mbit/s, d0 20 us. */
static uint64_t next_rate(uint64_t rate, oche_time period, uint64_t arrived, uint64_t queued)
{
    return oche_rcp_next_rate(&(struct oche_rcp_interval){.rate_bps = rate,
                                                          .capacity_bps = LINE,
                                                          .minimum_bps = OCHE_MBPS,
                                                          .alpha = HALF,
                                                          .beta = FOURTH,
                                                          .period = period,
                                                          .rtt = T,
                                                          .arrived_bytes = arrived,
                                                          .queued_bytes = queued});
}

static void by_hand(void **state)
{
    static const struct {
        uint64_t rate_mbps;
        oche_time period;
        uint64_t arrived, queued, want_mbps;
    } rows[] = {
        /* y = C and nothing waits: it stays. */
        {5000, T, 25000, 0, 5000},
        /* Half the line is free: + 1/2 * 1/2. */
        {4000, T, 12500, 0, 5000},
        /* Nothing comes: + 1/2. */
        {4000, T, 0, 0, 6000},
        /* Twice the line: - 1/2. */
        {10000, T, 50000, 0, 5000},
        /* Full, and a round trip's worth waits: - 1/4. */
        {8000, T, 25000, 25000, 6000},
        /* Nothing comes, two round trips' worth wait: + 1/2 - 1/2. */
        {8000, T, 0, 50000, 8000},
        /* T is half a round trip: half of the change; the line carries 12500 bytes in that time. */
        {4000, T / 2, 0, 0, 5000},
        {8000, T / 2, 12500, 25000, 7000},
        /* Never above the line, and never below the least. */
        {9000, T, 0, 0, 10000},
        {10000, T, 0, 0, 10000},
        {10000, T, 75000, 25000, 1},     /* - 1 - 1/4 */
        {10000, T, 25000, 250000000, 1}, /* - 2500 */
        {1, T, 25000, 250000000, 1},
    };

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(rows); i++) {
        uint64_t rate = next_rate(rows[i].rate_mbps * OCHE_MBPS, rows[i].period, rows[i].arrived,
                                  rows[i].queued);
        if (rate != rows[i].want_mbps * OCHE_MBPS)
            fail_msg("row %zu: %llu", i, (unsigned long long)rate);
    }
    /* A change of a quarter that four does not divide is rounded towards the old value. */
    assert_int_equal(next_rate(999999999, T, 12500, 0), 1249999998);
    assert_int_equal(next_rate(999999999, T, 37500, 0), 750000000);
}

/* For any measurement, R is within its bounds. Every value equals the one in doubles. */
static void at_random(void **state)
{
    struct oche_random random = oche_random_stream(1, "rcp", 0);

    (void)state;
    for (unsigned n = 0; n < 100000; n++) {
        struct oche_rcp_interval i = {
            .capacity_bps = 1 + (oche_random_u64(&random) >> (21 + oche_random_below(&random, 20))),
            .alpha = (uint32_t)oche_random_below(&random, (16 << 16) + 1),
            .beta = (uint32_t)oche_random_below(&random, (16 << 16) + 1),
            .rtt = OCHE_US + oche_random_below(&random, OCHE_SEC - OCHE_US + 1),
            .arrived_bytes = oche_random_u64(&random) >> oche_random_below(&random, 64),
            .queued_bytes = oche_random_u64(&random) >> oche_random_below(&random, 64),
        };
        i.minimum_bps = oche_random_below(&random, i.capacity_bps + 1);
        i.rate_bps = i.minimum_bps + oche_random_below(&random, i.capacity_bps - i.minimum_bps + 1);
        i.period = OCHE_US + oche_random_below(&random, i.rtt - OCHE_US + 1);
        uint64_t rate = oche_rcp_next_rate(&i);

        assert_in_range(rate, i.minimum_bps, i.capacity_bps);
        if (i.arrived_bytes >> 40 != 0 || i.queued_bytes >> 33 != 0 || i.capacity_bps < 1000000)
            continue;
        double c = (double)i.capacity_bps, t = (double)i.period / 1e12, d = (double)i.rtt / 1e12;
        double y = 8.0 * (double)i.arrived_bytes / t, q = 8.0 * (double)i.queued_bytes;
        double change = t / d * (i.alpha / 65536.0 * (c - y) - i.beta / 65536.0 * q / d) / c;
        double want = (double)i.rate_bps * (1 + change);
        want = want < (double)i.minimum_bps ? (double)i.minimum_bps : want < c ? want : c;
        assert_true(want - (double)rate < 1e-4 * want + 2 && (double)rate - want < 1e-4 * want + 2);
    }
}

/* ---- in a switch ---- */

static const struct oche_switch_mechanism *const mechanisms[] = {&oche_rcp_rate};

struct scene {
    struct rig rig;
    struct oche_rcp_rate_params params;
    const void *values[1];
};

static void scene_init(struct scene *scene)
{
    memset(scene, 0, sizeof(*scene));
    rig_init(&scene->rig, 3);
    for (unsigned port = 0; port < 3; port++)
        scene->rig.ports[port].rate_bps = LINE;
    oche_param_defaults(&oche_rcp_rate_params, &scene->params);
    scene->params.alpha = 0.5;
    scene->params.beta = 0.25;
    scene->values[0] = &scene->params;
    scene->rig.config.mechanisms = mechanisms;
    scene->rig.config.mechanism_params = scene->values;
    scene->rig.config.mechanism_count = 1;
}

static uint64_t mbps(const struct scene *scene, unsigned port)
{
    return oche_rcp_rate_of(scene->rig.sw->mechanisms[0].state, port) / OCHE_MBPS;
}

static void expire(struct scene *scene, oche_time now)
{
    assert_int_equal(oche_switch_expire(scene->rig.sw, now), -1);
}

/* A packet to port 2, `bytes` on the line, that asks for the line rate. */
static void arrive(struct scene *scene, uint16_t bytes, uint32_t rtt_ns, oche_time now)
{
    struct oche_packet *packet = rig_packet(2, 0, bytes - OCHE_GAP_BYTES);

    oche_rate_trailer_put(packet,
                          &(struct oche_rate_trailer){LINE / OCHE_RATE_UNIT_BPS, rtt_ns, 77});
    assert_int_equal(oche_switch_receive(scene->rig.sw, 0, packet, now), 2);
}

/* Returns the rate in Mbit/s in the next packet that leaves port 2. */
static unsigned leave(struct scene *scene, oche_time now)
{
    struct oche_packet *packet = oche_switch_transmit(scene->rig.sw, 2, now);
    struct oche_rate_trailer trailer;

    assert_non_null(packet);
    trailer = packet->trailer;
    assert_int_equal(trailer.stamp_ns, 77);
    rig_discard(packet);
    return (unsigned)(trailer.rate_10kbps * (uint64_t)OCHE_RATE_UNIT_BPS / OCHE_MBPS);
}

/* From a twentieth of the line up to the line, half as much again in each T. Then it sleeps. */
static void nothing_to_do(void **state)
{
    static const unsigned want[] = {500, 750, 1125, 1687, 2531, 3796, 5695, 8542, 10000};
    struct scene scene;

    (void)state;
    scene_init(&scene);
    rig_make(&scene.rig);
    for (unsigned i = 0; i < OCHE_COUNT_OF(want); i++) {
        for (unsigned port = 0; port < 3; port++)
            assert_int_equal(mbps(&scene, port), want[i]);
        assert_int_equal(oche_switch_next(scene.rig.sw), (i + 1) * T);
        expire(&scene, (i + 1) * T - 1);
        assert_int_equal(mbps(&scene, 1), want[i]);
        expire(&scene, (i + 1) * T);
    }
    assert_int_equal(mbps(&scene, 0), 10000);
    assert_int_equal(oche_switch_next(scene.rig.sw), OCHE_NEVER);

    /* A packet that wakes it begins an interval. */
    arrive(&scene, 1000, 0, OCHE_MS + 5);
    assert_int_equal(oche_switch_next(scene.rig.sw), OCHE_MS + 5 + T);
    assert_int_equal(leave(&scene, OCHE_MS + 6), 10000);
    expire(&scene, OCHE_MS + 5 + T);
    assert_int_equal(oche_switch_next(scene.rig.sw), OCHE_MS + 5 + 2 * T);
    expire(&scene, OCHE_MS + 5 + 2 * T);
    assert_int_equal(oche_switch_next(scene.rig.sw), OCHE_NEVER);
    rig_free(&scene.rig);
}

/* The bytes that came in T and those that wait at its end: the edges. */
static void measures(void **state)
{
    struct scene scene;

    (void)state;
    scene_init(&scene);
    scene.params.initial_rate = 0.5;
    rig_make(&scene.rig);
    /* 25000 bytes come, the last just before the end; 15000 of them wait. */
    for (unsigned i = 0; i < 20; i++)
        arrive(&scene, 1250, 0, i < 19 ? i * OCHE_US : T - 1);
    for (unsigned i = 0; i < 8; i++)
        assert_int_equal(leave(&scene, T - 1), 5000);
    expire(&scene, T);
    assert_int_equal(mbps(&scene, 2), 5000 - 5000 / 4 * 15000 / 25000);
    assert_int_equal(mbps(&scene, 1), 7500); /* its own affair */
    /* A packet at the end belongs to the next T. It leaves with the rate at its departure. */
    arrive(&scene, 1250, 0, T);
    for (unsigned i = 0; i < 13; i++)
        assert_int_equal(leave(&scene, T + 1), 4250);
    expire(&scene, 2 * T);
    assert_int_equal(mbps(&scene, 2), 4250 + 4250 * 95 / 200);
    rig_free(&scene.rig);
}

/* A packet that asks for less than the port has is not changed; nor is one without a trailer. */
static void packets(void **state)
{
    uint64_t counted[OCHE_MOST_MECHANISM_COUNTERS];
    struct oche_packet *packet;
    struct scene scene;

    (void)state;
    scene_init(&scene);
    scene.params.initial_rate = 0.5;
    rig_make(&scene.rig);
    packet = rig_packet(2, 0, 500);
    oche_rate_trailer_put(packet, &(struct oche_rate_trailer){499999, 0, 77});
    oche_switch_receive(scene.rig.sw, 0, packet, 10);
    packet = rig_packet(2, 0, 500);
    packet->atomic.swap_add = packet->atomic.compare = UINT64_MAX;
    oche_switch_receive(scene.rig.sw, 0, packet, 10);
    arrive(&scene, 500, 0, 10);
    assert_int_equal(leave(&scene, 20), 4999);
    assert_ptr_equal(oche_switch_transmit(scene.rig.sw, 2, 20), packet);
    assert_true(packet->atomic.swap_add == UINT64_MAX && packet->atomic.compare == UINT64_MAX);
    rig_discard(packet);
    assert_int_equal(leave(&scene, 20), 5000);
    oche_switch_mechanism_counters(scene.rig.sw, 0, counted);
    assert_int_equal(counted[0], 0);
    assert_int_equal(counted[2], 1);
    expire(&scene, T);
    oche_switch_mechanism_counters(scene.rig.sw, 0, counted);
    assert_int_equal(counted[0], 3);
    oche_switch_reset_stats(scene.rig.sw, T);
    oche_switch_mechanism_counters(scene.rig.sw, 0, counted);
    assert_int_equal(counted[0] + counted[2], 0);
    rig_free(&scene.rig);
}

/* The mean round trip sets T, unless the period is shorter. Hosts may send any value. */
static void round_trips(void **state)
{
    struct scene scene;

    (void)state;
    scene_init(&scene);
    rig_make(&scene.rig);
    arrive(&scene, 1000, 30000, 1);
    arrive(&scene, 1000, 0, 1); /* does not know */
    arrive(&scene, 1000, 50000, 1);
    expire(&scene, T);
    assert_int_equal(oche_switch_next(scene.rig.sw), 2 * T); /* the other ports */
    expire(&scene, 2 * T);
    arrive(&scene, 1000, UINT32_MAX, 2 * T);
    expire(&scene, 3 * T - 1);
    const void *rcp = scene.rig.sw->mechanisms[0].state;
    uint64_t before = oche_rcp_rate_of(rcp, 2);
    expire(&scene, 3 * T); /* 40 us have passed: its T */
    assert_true(oche_rcp_rate_of(rcp, 2) != before);
    while (oche_switch_next(scene.rig.sw) < OCHE_MS)
        expire(&scene, oche_switch_next(scene.rig.sw));
    assert_int_equal(oche_switch_next(scene.rig.sw), 3 * T + OCHE_SEC); /* not 4.29 s */
    arrive(&scene, 1000, 1, 4 * T);
    expire(&scene, 3 * T + OCHE_SEC);
    assert_int_equal(oche_switch_next(scene.rig.sw), 3 * T + OCHE_SEC + OCHE_US); /* not 1 ns */
    rig_free(&scene.rig);

    scene_init(&scene);
    scene.params.period = 10 * OCHE_US;
    rig_make(&scene.rig);
    assert_int_equal(oche_switch_next(scene.rig.sw), 10 * OCHE_US);
    for (unsigned i = 0; i < 5; i++)
        arrive(&scene, 1250, 60000, 1);
    for (unsigned i = 0; i < 5; i++)
        assert_int_equal(leave(&scene, 2), 500);
    expire(&scene, 10 * OCHE_US);
    /* d0 is half on its way from 20 us to 60, and half of the line is free: 10/40 of 1/4. */
    assert_int_equal(mbps(&scene, 2), 500 + 500 / 16);
    assert_int_equal(mbps(&scene, 1), 500 + 500 / 4);
    rig_free(&scene.rig);
}

/* A slow port, a floor above it; and the bytes that come while none may leave. */
static void bounds(void **state)
{
    struct scene scene;

    (void)state;
    scene_init(&scene);
    scene.rig.ports[1].rate_bps = 5 * OCHE_MBPS;
    scene.rig.ports[2].rate_bps = 100 * OCHE_MBPS;
    rig_make(&scene.rig);
    assert_int_equal(mbps(&scene, 1), 5);
    assert_int_equal(mbps(&scene, 2), 10);
    for (unsigned i = 1; i < 100; i++) {
        arrive(&scene, 1500, 20000, i * T - 1);
        arrive(&scene, 1500, 20000, i * T - 1);
        expire(&scene, i * T);
        assert_int_equal(mbps(&scene, 1), 5);
        assert_int_equal(mbps(&scene, 2), 10);
    }
    while (oche_switch_ready(scene.rig.sw, 2))
        assert_int_equal(leave(&scene, 100 * T), 10);
    rig_free(&scene.rig);
}

static void parameters(void **state)
{
    struct oche_rcp_rate_params params;

    (void)state;
    oche_param_defaults(&oche_rcp_rate_params, &params);
    assert_true(params.alpha == 0.4 && params.beta == 0.4);
    assert_null(oche_rcp_rate.check(&params));
    params.period = OCHE_US;
    assert_null(oche_rcp_rate.check(&params));
    params.period = OCHE_US - 1;
    assert_non_null(strstr(oche_rcp_rate.check(&params), "period"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),  cmocka_unit_test(at_random),
        cmocka_unit_test(measures), cmocka_unit_test(nothing_to_do),
        cmocka_unit_test(packets),  cmocka_unit_test(round_trips),
        cmocka_unit_test(bounds),   cmocka_unit_test(parameters),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
