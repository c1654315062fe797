/* SPDX-License-Identifier: Apache-2.0 */
/* Late feedback: within the jitter, in order of time, the same for the same seed. */
#include "tests/support/test.h"

#include <stdlib.h>

#include "sim/network/feedback.h"
#include "tests/support/small_world.h"

#define PACKETS 1000
#define JITTER  (100 * OCHE_US)
#define GAP     (2 * OCHE_US)

/* Delays a packet every GAP and notes when each comes out. */
static void run(uint64_t seed, uint64_t entity, oche_time out[PACKETS])
{
    static struct oche_packet packets[PACKETS];
    struct oche_feedback feedback = oche_feedback_make(JITTER, seed, entity);
    struct oche_arena arena;
    struct oche_packet *packet;
    uint32_t sent = 0, taken = 0;
    oche_time last = 0;

    oche_arena_init(&arena);
    assert_true(oche_feedback_next(&feedback) == OCHE_NEVER);
    while (taken < PACKETS) {
        oche_time next = oche_feedback_next(&feedback);
        if (sent < PACKETS && sent * GAP <= next) {
            oche_feedback_hold(&feedback, &arena, &packets[sent], sent * GAP);
            sent++;
            continue;
        }
        assert_true(next >= last && next != OCHE_NEVER);
        last = next;
        assert_true(next == 0 || oche_feedback_take(&feedback, next - 1) == NULL);
        packet = oche_feedback_take(&feedback, next);
        assert_non_null(packet);
        out[packet - packets] = next;
        taken++;
    }
    assert_true(oche_feedback_next(&feedback) == OCHE_NEVER);
    assert_null(oche_feedback_take(&feedback, OCHE_SEC));
    oche_arena_free(&arena);
}

static void late_by_up_to_the_jitter(void **state)
{
    static oche_time out[PACKETS];
    unsigned overtaken = 0;
    double mean = 0;

    (void)state;
    run(1, 0, out);
    for (uint32_t i = 0; i < PACKETS; i++) {
        oche_time late = out[i] - i * GAP;
        assert_true(out[i] >= i * GAP && late <= JITTER);
        mean += (double)late / PACKETS;
        overtaken += i > 0 && out[i] < out[i - 1];
    }
    assert_true(mean > 0.46 * (double)JITTER && mean < 0.54 * (double)JITTER);
    assert_true(overtaken > PACKETS / 4);
}

static void same_for_the_same_seed(void **state)
{
    static oche_time first[PACKETS], again[PACKETS], seed[PACKETS], host[PACKETS];
    unsigned same[2] = {0};

    (void)state;
    run(1, 0, first);
    run(1, 0, again);
    run(2, 0, seed);
    run(1, 1, host);
    for (uint32_t i = 0; i < PACKETS; i++) {
        assert_true(first[i] == again[i]);
        same[0] += first[i] == seed[i];
        same[1] += first[i] == host[i];
    }
    assert_true(same[0] < 10 && same[1] < 10);
}

/* Ties go by order of arrival. */
static void no_jitter_keeps_the_order(void **state)
{
    static struct oche_packet packets[200];
    struct oche_feedback feedback = oche_feedback_make(0, 1, 0);
    struct oche_arena arena;

    (void)state;
    oche_arena_init(&arena);
    for (unsigned i = 0; i < 200; i++)
        oche_feedback_hold(&feedback, &arena, &packets[i], OCHE_US);
    for (unsigned i = 0; i < 200; i++)
        assert_ptr_equal(oche_feedback_take(&feedback, OCHE_US), &packets[i]);
    oche_arena_free(&arena);
}

/* In a world: data is not late, but its acknowledgement is. */
static void only_feedback_is_late(void **state)
{
    struct oche_flow_plan flow = small_flow(0, 1, 1000, 0);
    oche_time delivered[2], completed[2];

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct small_world small;
        small_world_init(&small, "star", "none", "go_back_n");
        small.config.hosts.feedback_jitter = i * JITTER;
        small_world_run(&small, &flow, 1);
        delivered[i] = oche_world_flows(small.world)->received[0].delivered;
        completed[i] = oche_world_flows(small.world)->sent[0].completed;
        small_world_end(&small);
        small_world_free(&small);
    }
    assert_true(delivered[0] == delivered[1]);
    assert_true(completed[1] > completed[0] + OCHE_US);
    assert_true(completed[1] <= completed[0] + JITTER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(late_by_up_to_the_jitter),
        cmocka_unit_test(same_for_the_same_seed),
        cmocka_unit_test(no_jitter_keeps_the_order),
        cmocka_unit_test(only_feedback_is_late),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
