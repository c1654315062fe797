/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The invariants of fabric/invariants.h. They hold while an incast fills a switch, pauses and
 * resumes. Each is violated on purpose once, so that none can be a check that never fails.
 */
#include <stdlib.h>
#include <string.h>

#include "fabric/invariants.h"
#include "fabric/switch_state.h"
#include "tests/unit/fabric/rig.h"

#define PORTS   4
#define OUT     3
#define PACKETS 400

/* Three ports fill the queue of a fourth, until all of them are to pause. */
static void fill(struct rig *rig)
{
    rig_init(rig, PORTS);
    rig->params.buffer_bytes = 400000;
    rig->config.links_fail = true;
    rig_make(rig);
    for (unsigned i = 0; i < PACKETS; i++) {
        rig_in(rig, i % OUT, OUT, 0, RIG_MTU, i * OCHE_NS);
        rig_check(rig);
    }
    for (unsigned port = 0; port < OUT; port++)
        assert_true(oche_switch_ingress(rig->sw, port, 0)->xoff);
}

static void drain(struct rig *rig)
{
    for (oche_time now = OCHE_US; oche_switch_occupied_bytes(rig->sw) > 0; now += OCHE_NS) {
        for (unsigned port = 0; port < PORTS; port++)
            rig_out(rig, port, now);
        rig_check(rig);
    }
}

static struct oche_egress *busy(struct oche_switch *sw)
{
    return oche_switch_egress(sw, OUT);
}

static struct oche_ingress *full(struct oche_switch *sw)
{
    return oche_switch_ingress(sw, 0, 0);
}

/* ---- violations: each changes one thing ---- */

static void queue_is_longer(struct oche_switch *sw)
{
    busy(sw)->bytes[0]++;
}

static void longest_is_forgotten(struct oche_switch *sw)
{
    busy(sw)->max_bytes = 0;
}

static void class_beyond_those_in_use(struct oche_switch *sw)
{
    busy(sw)->waiting |= 0x80;
}

static void link_goes_down(struct oche_switch *sw)
{
    sw->cold[OUT].down = true;
}

static void memory_is_lost(struct oche_switch *sw)
{
    sw->buffer.used--;
}

static void memory_is_too_small(struct oche_switch *sw)
{
    sw->buffer.size = sw->buffer.used - 1;
}

static void ingress_is_wrong(struct oche_switch *sw)
{
    full(sw)->bytes++;
}

static void headroom_is_too_small(struct oche_switch *sw)
{
    full(sw)->headroom_used = (sw->pfc.ports[0].headroom + 1) & INT32_MAX;
}

static void headrooms_do_not_add_up(struct oche_switch *sw)
{
    sw->buffer.headroom_all++;
    sw->buffer.used--;
}

static void pause_is_not_wanted(struct oche_switch *sw)
{
    sw->pfc.want[0] = 0;
}

static void headroom_without_pause(struct oche_switch *sw)
{
    full(sw)->xoff = 0;
    sw->pfc.want[0] = 0;
}

static void resume_is_forgotten(struct oche_switch *sw)
{
    sw->buffer.resume_level = INT64_MIN;
}

static void no_frame_waits(struct oche_switch *sw)
{
    oche_switch_egress(sw, 0)->flags = 0;
}

static void dead_link_was_told(struct oche_switch *sw)
{
    sw->cold[0].down = true;
    sw->pfc.ports[0].told = sw->pfc.want[0];
    oche_switch_egress(sw, 0)->flags = 0;
}

static void port_is_named_twice(struct oche_switch *sw)
{
    sw->pfc.named_count++;
}

static void paused_by_nobody(struct oche_switch *sw)
{
    busy(sw)->paused = 1;
}

static void called_too_late(struct oche_switch *sw)
{
    sw->due[OUT] = 1;
    sw->next = OCHE_NEVER;
}

static const struct fault {
    const char *words;
    void (*breaks)(struct oche_switch *sw);
} faults[] = {
    {"the bytes of a queue are those of its packets", queue_is_longer},
    {"no queue is longer than the longest one seen", longest_is_forgotten},
    {"only classes in use have packets", class_beyond_those_in_use},
    {"nothing waits at a link that is down", link_goes_down},
    {"the memory in use is that of the packets", memory_is_lost},
    {"the shared part is as large as what it holds", memory_is_too_small},
    {"an ingress class holds the bytes that came in by it", ingress_is_wrong},
    {"the headroom in use is at most the class's", headroom_is_too_small},
    {"the headrooms in use add up", headrooms_do_not_add_up},
    {"a class is to pause if it is above its threshold", pause_is_not_wanted},
    {"only paused classes use headroom", headroom_without_pause},
    {"a class that may resume has resumed", resume_is_forgotten},
    {"a change of what is paused waits as a frame", no_frame_waits},
    {"a link that is down has been told nothing", dead_link_was_told},
    {"ports with a new frame are listed once", port_is_named_twice},
    {"a class rests if the peer or a mechanism says so", paused_by_nobody},
    {"the switch is called in time", called_too_late},
};

/* Copies of the state that the faults change. */
struct copy {
    struct oche_switch sw;
    struct oche_egress egress[2];
    struct oche_ingress ingress;
    struct oche_pfc_port pfc;
    struct oche_switch_cold cold[2];
    uint8_t want;
    oche_time due;
};

static void keep(struct oche_switch *sw, struct copy *copy)
{
    *copy = (struct copy){*sw,
                          {*busy(sw), *oche_switch_egress(sw, 0)},
                          *full(sw),
                          sw->pfc.ports[0],
                          {sw->cold[OUT], sw->cold[0]},
                          sw->pfc.want[0],
                          sw->due[OUT]};
}

static void restore(struct oche_switch *sw, const struct copy *copy)
{
    *sw = copy->sw;
    *busy(sw) = copy->egress[0];
    *oche_switch_egress(sw, 0) = copy->egress[1];
    *full(sw) = copy->ingress;
    sw->pfc.ports[0] = copy->pfc;
    sw->cold[OUT] = copy->cold[0];
    sw->cold[0] = copy->cold[1];
    sw->pfc.want[0] = copy->want;
    sw->due[OUT] = copy->due;
}

static void test_each_can_break(void **state)
{
    struct rig rig;
    struct copy copy;
    uint32_t port;

    (void)state;
    fill(&rig);
    for (size_t i = 0; i < OCHE_COUNT_OF(faults); i++) {
        keep(rig.sw, &copy);
        faults[i].breaks(rig.sw);
        assert_string_equal(oche_switch_broken(rig.sw, &port), faults[i].words);
        restore(rig.sw, &copy);
        rig_check(&rig);
    }
    drain(&rig);
    rig_free(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_can_break),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
