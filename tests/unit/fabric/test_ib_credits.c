/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A switch whose links have credits: queues that wait for them, small packets that need fewer,
 * dropped packets, flow control packets by freed space and by time, and no PFC.
 */
#include <string.h>

#include "fabric/ib_credits.h"
#include "tests/unit/fabric/rig.h"

#define PORTS  4
#define MTU    1000          /* 16 blocks */
#define BUFFER (4 * 16 * 64) /* four of them */
#define LATE   (1000 * OCHE_SEC)

struct credited {
    struct rig rig;
    struct oche_ib_credits_params params;
    const struct oche_switch_mechanism *mechanisms[1];
    const void *mechanism_params[1];
    struct oche_ib_link far[PORTS]; /* the other ends */
};

static void prepare(struct credited *credited)
{
    memset(credited, 0, sizeof(*credited));
    rig_init(&credited->rig, PORTS);
    oche_param_defaults(oche_ib_credits.params, &credited->params);
    credited->params.buffer_bytes = BUFFER;
    credited->mechanisms[0] = &oche_ib_credits;
    credited->mechanism_params[0] = &credited->params;
    credited->rig.config.mechanisms = credited->mechanisms;
    credited->rig.config.mechanism_params = credited->mechanism_params;
    credited->rig.config.mechanism_count = 1;
    credited->rig.config.mtu_frame_bytes = MTU;
}

static void make(struct credited *credited)
{
    prepare(credited);
    rig_make(&credited->rig);
    for (unsigned port = 0; port < PORTS; port++)
        oche_ib_link_init(&credited->far[port], 2, BUFFER, 0);
}

static uint64_t count(const struct credited *credited, enum oche_ib_credits_counter which)
{
    uint64_t values[OCHE_IB_CREDITS_COUNTERS];

    oche_switch_mechanism_counters(credited->rig.sw, 0, values);
    return values[which];
}

/* From the far end, within its credit. */
static bool in(struct credited *credited, unsigned port, unsigned out, unsigned cls, uint16_t bytes)
{
    assert_true(oche_ib_credit(&credited->far[port], cls) >= oche_ib_blocks(bytes));
    oche_ib_sent(&credited->far[port], cls, oche_ib_blocks(bytes));
    return rig_in(&credited->rig, port, out, cls, bytes, 0);
}

/* The far end of `port` grants so many more blocks of a class, as if they were free. */
static void allow(struct credited *credited, unsigned port, unsigned cls, uint16_t blocks)
{
    struct oche_packet frame = {.kind = OCHE_PACKET_FCP};
    struct oche_ib_link *far = &credited->far[port];

    oche_ib_arrived(far, cls, blocks);
    oche_ib_freed(far, cls, blocks);
    far->due = (uint8_t)(1U << cls);
    oche_ib_fill(far, &frame, 0);
    oche_switch_receive_frame(credited->rig.sw, port, &frame, 0);
}

/* The waiting frame of `port` goes to its far end. False: none waits. */
static bool frame_out(struct credited *credited, unsigned port, oche_time now)
{
    struct oche_packet frame = {.tag = 77};

    if (!oche_switch_take_pause(credited->rig.sw, port, &frame, now))
        return false;
    assert_int_equal(frame.kind, OCHE_PACKET_FCP);
    assert_int_equal(frame.tag, 77);
    oche_ib_take(&credited->far[port], &frame);
    return true;
}

/* Everything left is sent, with credit for all of it. */
static void finish(struct credited *credited)
{
    for (unsigned round = 0; round < 100; round++)
        for (unsigned port = 0; port < PORTS; port++) {
            for (unsigned cls = 0; cls < 2; cls++)
                while (rig_out(&credited->rig, port, LATE) > 0)
                    allow(credited, port, cls, 0);
            for (unsigned cls = 0; cls < 2; cls++)
                allow(credited, port, cls, 16);
        }
    rig_free(&credited->rig);
}

/* Four packets go, the fifth waits; the other class does not, nor does the other port. */
static void test_waits(void **state)
{
    struct credited credited;

    (void)state;
    make(&credited);
    for (unsigned i = 0; i < 3; i++) {
        assert_true(in(&credited, 1, 0, 0, MTU));
        assert_true(in(&credited, 2, 0, 0, MTU));
    }
    assert_true(in(&credited, 1, 3, 0, MTU));
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(rig_out(&credited.rig, 0, 1), MTU);
    assert_false(oche_switch_ready(credited.rig.sw, 0));
    assert_int_equal(rig_out(&credited.rig, 0, 1), 0);
    assert_int_equal(count(&credited, OCHE_IB_CREDITS_WAITS), 1);
    assert_false(oche_switch_is_paused(credited.rig.sw, 0, 0)); /* that is PFC's word */
    assert_int_equal(rig_out(&credited.rig, 3, 1), MTU);
    assert_true(in(&credited, 1, 0, 1, 64));
    assert_int_equal(rig_out(&credited.rig, 0, 1), 64);
    allow(&credited, 0, 0, 15); /* a block too few */
    assert_int_equal(rig_out(&credited.rig, 0, 1), 0);
    allow(&credited, 0, 0, 1);
    assert_int_equal(rig_out(&credited.rig, 0, 1), MTU);
    assert_int_equal(rig_out(&credited.rig, 0, 1), 0);
    finish(&credited);
}

/* The first packet of a queue decides: a small one may leave where a large one may not. */
static void test_small_one(void **state)
{
    struct credited credited;

    (void)state;
    make(&credited);
    for (unsigned i = 0; i < 3; i++)
        assert_true(in(&credited, 1, 0, 0, MTU));
    assert_true(in(&credited, 2, 0, 0, 640));
    assert_true(in(&credited, 2, 0, 0, 384));
    assert_true(in(&credited, 2, 0, 0, 64));
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(rig_out(&credited.rig, 0, 1), MTU);
    assert_int_equal(rig_out(&credited.rig, 0, 1), 640);
    assert_int_equal(rig_out(&credited.rig, 0, 1), 384);
    assert_int_equal(rig_out(&credited.rig, 0, 1), 0);
    finish(&credited);
}

/* When a quarter of a buffer is free again, the credit is announced at the port of arrival. */
static void test_tells(void **state)
{
    struct credited credited;

    (void)state;
    make(&credited);
    assert_int_equal(oche_switch_pause_port(credited.rig.sw), -1);
    for (unsigned i = 0; i < 4; i++)
        assert_true(in(&credited, 1, 0, 0, MTU));
    assert_int_equal(oche_ib_credit(&credited.far[1], 0), 0);
    assert_int_equal(count(&credited, OCHE_IB_CREDITS_PEAK), BUFFER);
    assert_int_equal(oche_switch_pause_port(credited.rig.sw), -1);
    rig_out(&credited.rig, 0, 1);
    assert_int_equal(oche_switch_pause_port(credited.rig.sw), 1);
    assert_int_equal(oche_switch_pause_port(credited.rig.sw), -1);
    assert_true(oche_switch_ready(credited.rig.sw, 1));
    assert_true(frame_out(&credited, 1, 1));
    assert_false(frame_out(&credited, 1, 1));
    assert_int_equal(oche_ib_credit(&credited.far[1], 0), 16);
    assert_int_equal(count(&credited, OCHE_IB_CREDITS_FCPS), 1);
    finish(&credited);
}

/* A sender that exceeds its credit loses the packet, but not the credit. */
static void test_hostile(void **state)
{
    struct credited credited;

    (void)state;
    make(&credited);
    for (unsigned i = 0; i < 4; i++)
        assert_true(in(&credited, 1, 0, 0, MTU));
    oche_ib_sent(&credited.far[1], 0, 16);
    assert_false(rig_in(&credited.rig, 1, 0, 0, MTU, 0));
    assert_int_equal(rig_stats(&credited.rig, 0, 0).drops[OCHE_DROP_MECHANISM], 1);
    assert_int_equal(oche_switch_pause_port(credited.rig.sw), 1);
    assert_true(frame_out(&credited, 1, 0));
    for (unsigned i = 0; i < 4; i++) {
        rig_out(&credited.rig, 0, 1);
        frame_out(&credited, 1, 1);
    }
    assert_int_equal(oche_ib_credit(&credited.far[1], 0), BUFFER / 64);
    finish(&credited);
}

/* A packet without a route frees its buffer at once. */
static void test_no_route(void **state)
{
    struct credited credited;

    (void)state;
    make(&credited);
    for (unsigned i = 0; i < 40; i++) {
        struct oche_packet *packet = rig_packet(99, 0, MTU);

        assert_true(oche_ib_credit(&credited.far[1], 0) >= 16);
        oche_ib_sent(&credited.far[1], 0, 16);
        assert_int_equal(oche_switch_receive(credited.rig.sw, 1, packet, 0), -1);
        rig_discard(packet);
        frame_out(&credited, 1, 0);
    }
    assert_int_equal(oche_ib_credit(&credited.far[1], 0), BUFFER / 64);
    finish(&credited);
}

/* At least one frame an interval for every class at every port, whatever else happens. */
static void test_interval(void **state)
{
    struct credited credited;
    oche_time interval = oche_time_of_bytes(262144, 40 * OCHE_GBPS);
    oche_time last[PORTS] = {0};

    (void)state;
    make(&credited);
    assert_int_equal(oche_ib_credits_interval(&credited.params, 40 * OCHE_GBPS), interval);
    for (unsigned i = 0; i < 20; i++) {
        oche_time now = oche_switch_next(credited.rig.sw);
        int port;

        assert_true(now < OCHE_NEVER);
        assert_int_equal(oche_switch_expire(credited.rig.sw, now), -1);
        while ((port = oche_switch_pause_port(credited.rig.sw)) >= 0) {
            assert_true(now - last[port] <= interval);
            assert_true(frame_out(&credited, (unsigned)port, now));
            last[port] = now;
        }
        for (unsigned p = 0; p < PORTS; p++)
            assert_true(now - last[p] <= interval);
    }
    for (unsigned p = 0; p < PORTS; p++)
        assert_true(last[p] > 8 * interval);
    finish(&credited);
}

static void refused(struct credited *credited, const char *word)
{
    struct oche_error why = {""};

    assert_false(oche_ib_credits.fits(&credited->rig.config, &credited->params, &why));
    if (strstr(why.text, word) != why.text || strstr(why.text, "would be right") == NULL)
        fail_msg("%s", why.text);
}

static void test_bad_input(void **state)
{
    struct credited credited;

    (void)state;
    prepare(&credited);
    credited.params.buffer_bytes = 2 * 16 * 64 - 1;
    refused(&credited, "buffer: 2047 bytes; ");
    credited.params.buffer_bytes = 2 * 16 * 64;
    credited.params.update_bytes = 16 * 64 + 1;
    refused(&credited, "update: 1025 bytes ");
    credited.params.update_bytes = 0;
    credited.rig.params.buffer_bytes = 2 * 16 * 64 * PORTS * 2 - 1;
    refused(&credited, "buffer: 2048 bytes for each of 4 ports and 2 classes ");
    credited.rig.params.buffer_bytes++;
    assert_true(oche_ib_credits.fits(&credited.rig.config, &credited.params, NULL));
    credited.rig.params.port_buffer_bytes = 1;
    refused(&credited, "buffer: makes all 2 classes lossless");
    assert_null(oche_ib_credits.check(&credited.params));
    credited.params.interval = 1;
    assert_non_null(oche_ib_credits.check(&credited.params));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_waits),     cmocka_unit_test(test_small_one),
        cmocka_unit_test(test_tells),     cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_no_route),  cmocka_unit_test(test_interval),
        cmocka_unit_test(test_bad_input),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
