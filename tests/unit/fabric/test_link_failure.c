/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Links of a switch that fail and return. Waiting packets are dropped and their memory is freed.
 * Upstreams that were paused because of them resume. PFC of both directions restarts. Packets for a
 * dead port are dropped and counted. Routes are the present ones.
 */
#include "tests/unit/fabric/rig.h"

#include <string.h>

static void make(struct rig *rig, unsigned ports)
{
    rig_init(rig, ports);
    rig->params.ecn = false;
    rig->params.threshold = OCHE_THRESHOLD_STATIC;
    rig->params.xoff_bytes = 10000;
    rig->config.links_fail = true;
    rig_make(rig);
}

static unsigned flush(struct rig *rig, unsigned port, oche_time now)
{
    struct oche_packet *packet;
    unsigned count = 0;

    oche_switch_link_down(rig->sw, port, now);
    while ((packet = oche_switch_flush(rig->sw, port, now)) != NULL) {
        assert_int_equal(oche_switch_last_drop(rig->sw), OCHE_DROP_LINK_DOWN);
        rig_discard(packet);
        count++;
    }
    return count;
}

/* The peer pauses port 2, so packets from port 0 wait until port 0's upstream is paused. */
static void fill(struct rig *rig)
{
    rig_pause(rig, 2, 0, UINT16_MAX, 0);
    while (oche_switch_expire(rig->sw, OCHE_US) >= 0)
        continue;
    assert_true(oche_switch_is_paused(rig->sw, 2, 0));
    for (unsigned i = 0; i < 10; i++)
        assert_true(rig_in(rig, 0, 2, 0, 1500, OCHE_US));
    assert_int_equal(oche_switch_pause_port(rig->sw), 0);
    assert_int_equal(rig_pause_frame(rig, 0, 0, OCHE_US), UINT16_MAX);
}

static void flushed(void **state)
{
    struct rig rig;

    (void)state;
    make(&rig, 4);
    fill(&rig);
    assert_int_equal(flush(&rig, 2, 2 * OCHE_US), 10);
    assert_int_equal(oche_switch_occupied_bytes(rig.sw), 0);
    assert_int_equal(oche_switch_ingress_bytes(rig.sw, 0, 0), 0);
    assert_int_equal(oche_switch_queue_bytes(rig.sw, 2), 0);
    assert_int_equal(rig_stats(&rig, 2, 2 * OCHE_US).drops[OCHE_DROP_LINK_DOWN], 10);
    assert_int_equal(rig_stats(&rig, 2, 2 * OCHE_US).packets, 0);
    /* The upstream that was paused because of it resumes. */
    assert_int_equal(oche_switch_pause_port(rig.sw), 0);
    assert_int_equal(rig_pause_frame(&rig, 0, 0, 2 * OCHE_US), 0);
    assert_false(oche_switch_is_pausing(rig.sw, 0, 0));
    /* Packets for it are lost. When it is back, earlier PAUSEs of the peer have no effect. */
    assert_false(rig_in(&rig, 0, 2, 0, 1500, 3 * OCHE_US));
    assert_int_equal(oche_switch_last_drop(rig.sw), OCHE_DROP_LINK_DOWN);
    assert_int_equal(rig_stats(&rig, 2, 3 * OCHE_US).drops[OCHE_DROP_LINK_DOWN], 11);
    assert_int_equal(rig_stats(&rig, 2, 3 * OCHE_US).paused_time[0], 2 * OCHE_US - 500 * OCHE_NS);
    assert_true(oche_switch_link_is_down(rig.sw, 2));
    oche_switch_link_up(rig.sw, 2);
    assert_false(oche_switch_is_paused(rig.sw, 2, 0));
    assert_true(rig_in(&rig, 0, 2, 0, 1500, 4 * OCHE_US));
    assert_int_equal(rig_out(&rig, 2, 4 * OCHE_US), 1500);
    rig_free(&rig);
}

static void upstream(void **state)
{
    struct rig rig;
    oche_time now = 3 * OCHE_US;

    (void)state;
    make(&rig, 4);
    fill(&rig);
    /* The upstream's own link: no frame is sent while it is down, */
    assert_int_equal(flush(&rig, 0, now), 0);
    assert_false(oche_switch_is_pausing(rig.sw, 0, 0));
    assert_int_equal(oche_switch_pause_port(rig.sw), -1);
    assert_int_equal(oche_switch_queue_bytes(rig.sw, 2), 15000);
    assert_int_equal(rig_stats(&rig, 0, OCHE_MS).pause_sent_time[0], now - OCHE_US);
    /* not even a refresh, */
    while (oche_switch_expire(rig.sw, 50 * OCHE_MS) >= 0)
        continue;
    assert_false(oche_switch_pause_waits(rig.sw, 0));
    /* and at once when it is back. */
    oche_switch_link_up(rig.sw, 0);
    assert_int_equal(oche_switch_pause_port(rig.sw), 0);
    assert_int_equal(rig_pause_frame(&rig, 0, 0, 50 * OCHE_MS), UINT16_MAX);
    assert_true(oche_switch_is_pausing(rig.sw, 0, 0));
    rig_free(&rig);
}

/* The class resumes while its link is down: then no frame is sent when it is back. */
static void resumed_meanwhile(void **state)
{
    struct rig rig;

    (void)state;
    make(&rig, 4);
    fill(&rig);
    assert_int_equal(flush(&rig, 0, 2 * OCHE_US), 0);
    assert_int_equal(flush(&rig, 2, 2 * OCHE_US), 10);
    assert_int_equal(oche_switch_pause_port(rig.sw), -1);
    oche_switch_link_up(rig.sw, 0);
    assert_int_equal(oche_switch_pause_port(rig.sw), -1);
    oche_switch_link_up(rig.sw, 2);
    rig_free(&rig);
}

/* A packet takes the routes that exist when it arrives. */
static void rerouted(void **state)
{
    struct rig rig;
    uint16_t others[RIG_PORTS];
    struct oche_routes routes;
    struct oche_packet *packet = rig_packet(1, 0, 1000);

    (void)state;
    make(&rig, 4);
    memcpy(others, rig.port_of_address, sizeof(others));
    others[1] = 3;
    routes = rig.config.routes;
    routes.port_of_address = others;
    oche_switch_reroute(rig.sw, &routes, NULL);
    assert_int_equal(oche_switch_receive(rig.sw, 0, packet, 1), 3);
    rig_free(&rig);
}

/* Where routes go up and then down, down to up is no way. From below, it is one. */
static void no_turn(void **state)
{
    struct rig rig;

    (void)state;
    rig_init(&rig, 4);
    rig.config.links_fail = rig.config.up_down = true;
    rig.ports[2].up = rig.ports[3].up = true;
    rig_make(&rig);
    assert_true(rig_in(&rig, 0, 3, 0, 1000, 1));
    assert_true(rig_in(&rig, 2, 0, 0, 1000, 1));
    assert_false(rig_in(&rig, 2, 3, 0, 1000, 1));
    assert_int_equal(rig_stats(&rig, 2, 1).drops[OCHE_DROP_NO_ROUTE], 1);
    rig_free(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flushed),  cmocka_unit_test(upstream), cmocka_unit_test(resumed_meanwhile),
        cmocka_unit_test(rerouted), cmocka_unit_test(no_turn),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
