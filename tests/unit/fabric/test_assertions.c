/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assertions of the switch that are in every build: what each says is made untrue on purpose, so
 * that none can be a statement that never fails. The invariants, for tests alone, have
 * test_invariants.c.
 */
#include <stdlib.h>
#include <string.h>

#include "fabric/credit_shaper.h"
#include "fabric/switch_state.h"
#include "tests/unit/fabric/rig.h"

#define PORTS 4
#define OUT   3

/* A switch with packets for one port, of which the senders are to pause; all PAUSEs wait. */
static struct oche_switch *make(struct rig *rig)
{
    rig_init(rig, PORTS);
    rig->params.buffer_bytes = 400000;
    rig_make(rig);
    for (unsigned i = 0; i < 400; i++)
        rig_in(rig, i % OUT, OUT, 0, RIG_MTU, OCHE_US);
    assert_true(oche_switch_ingress(rig->sw, 0, 0)->xoff);
    return rig->sw;
}

/* ---- queues and holds ---- */

static void holds_do_not_know_the_packet(struct oche_switch *sw)
{
    static uint64_t memory[1024];
    struct oche_packet packet = {.frame_bytes = RIG_MTU};

    memset(memory, 0, sizeof(memory));
    assert_true(oche_switch_holds_bytes(sw) <= sizeof(memory));
    oche_switch_keep_holds(sw, memory, OCHE_US);
    oche_holds_take(sw, 0, 1, &packet);
}

static void hold_of_no_port(struct oche_switch *sw)
{
    oche_switch_hold(sw, PORTS, 1);
}

static void hold_of_no_class(struct oche_switch *sw)
{
    oche_switch_hold(sw, 0, 0x80);
}

static void call_of_no_port(struct oche_switch *sw)
{
    oche_switch_call(sw, PORTS, OCHE_US);
}

/* ---- PFC ---- */

static void more_frames_than_ports(struct oche_switch *sw)
{
    sw->pfc.named_count = PORTS;
    oche_switch_frame_waits(sw, OUT);
}

static void named_port_is_not_named(struct oche_switch *sw)
{
    sw->pfc.ports[sw->pfc.named[sw->pfc.named_head]].named = false;
    oche_switch_pause_port(sw);
}

static void class_to_pause_is_not_over(struct oche_switch *sw)
{
    oche_switch_ingress(sw, 0, 0)->xoff = 0;
    sw->buffer.resume_level = INT64_MAX;
    oche_pfc_test_resume(sw, 0, 0);
}

static void pause_begins_after_its_end(struct oche_switch *sw)
{
    struct oche_packet frame = {.tag = 0};

    assert_true(oche_switch_take_pause(sw, 0, &frame, 2 * OCHE_US));
    sw->pfc.want[0] = 0;
    sw->pfc.ports[0].refresh = true;
    oche_switch_frame_waits(sw, 0);
    oche_switch_take_pause(sw, 0, &frame, OCHE_US);
}

static void frame_of_no_mechanism(struct oche_switch *sw)
{
    struct oche_packet frame = {.tag = 0};

    oche_switch_frame_take(sw, 0, &frame, OCHE_US);
}

static void headroom_is_exceeded(struct oche_switch *sw)
{
    struct oche_ingress *in = oche_switch_ingress(sw, 0, 0);

    oche_buffer_cross(&sw->buffer, in, RIG_MTU, 0);
    in->headroom_used = 1;
    oche_buffer_cross(&sw->buffer, in, RIG_MTU, 0);
}

/* All pauses are of classes of their own, so none can be joined with another. */
static void pauses_cannot_be_joined(struct oche_switch *sw)
{
    struct oche_pause *pause = &sw->pauses[0];
    struct oche_packet frame = {.kind = OCHE_PACKET_PFC};

    pause->count = OCHE_PAUSE_SPANS;
    for (unsigned i = 0; i < OCHE_PAUSE_SPANS; i++) {
        pause->spans[i] = (struct oche_pause_span){.from = OCHE_SEC, .until = 2 * OCHE_SEC};
        pause->class_of[i] = (uint8_t)(OCHE_CLASSES + i);
    }
    oche_pfc_set(&frame, 0, 1);
    oche_pause_receive(pause, &frame, OCHE_US);
}

static void test_each_can_fail(void **state)
{
    void (*const breaks[])(struct oche_switch *) = {
        holds_do_not_know_the_packet,
        hold_of_no_port,
        hold_of_no_class,
        call_of_no_port,
        more_frames_than_ports,
        named_port_is_not_named,
        class_to_pause_is_not_over,
        pause_begins_after_its_end,
        frame_of_no_mechanism,
        headroom_is_exceeded,
        pauses_cannot_be_joined,
    };

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(breaks); i++) {
        struct rig rig;
        struct oche_switch *sw = make(&rig);

        expect_assert_failure(breaks[i](sw));
        for (unsigned port = 0; port < PORTS; port++) {
            struct oche_egress *egress = oche_switch_egress(sw, port);

            while (egress->waiting & 1)
                rig_discard(oche_egress_take(egress, 0, OCHE_US));
        }
        free(sw);
    }
}

/* ---- a mechanism ---- */

static void test_credits_that_leave_have_waited(void **state)
{
    struct oche_credit_shaper_params params;
    const struct oche_switch_mechanism *const shaper = &oche_credit_shaper;
    const void *const of_shaper = &params;
    struct rig rig;

    (void)state;
    rig_init(&rig, PORTS);
    oche_param_defaults(oche_credit_shaper.params, &params);
    rig.config.mechanisms = &shaper;
    rig.config.mechanism_params = &of_shaper;
    rig.config.mechanism_count = 1;
    rig.config.class_count = 2;
    rig.config.answer_frame_bytes = 64;
    rig.params.pfc = false;
    rig_make(&rig);
    void *own = rig.sw->mechanisms[0].state;
    struct oche_packet *credit = rig_packet(1, 1, 64);

    expect_assert_failure(shaper->dequeue(own, rig.sw, 1, credit, OCHE_US));
    expect_assert_failure(shaper->discard(own, rig.sw, 1, credit));
    rig_discard(credit);
    rig_free(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_can_fail),
        cmocka_unit_test(test_credits_that_leave_have_waited),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
