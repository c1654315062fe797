/* SPDX-License-Identifier: Apache-2.0 */
/* A raised count is seen by spinning and by sleeping threads, together with all earlier writes. */
#include "tests/support/test.h"

#include <pthread.h>
#include <unistd.h>

#include "sim/engine/turn.h"

#define ROUNDS 2000

struct pair {
    struct oche_turn there, back;
    uint64_t spin_ns;
    uint32_t first;
    uint64_t value; /* not atomic: only the thread with the turn writes it */
};

static void *answer(void *argument)
{
    struct pair *pair = argument;

    for (uint32_t i = 1; i <= ROUNDS; i++) {
        oche_turn_await(&pair->there, pair->first + i, pair->spin_ns);
        pair->value++;
        oche_turn_raise(&pair->back, pair->first + i);
    }
    return NULL;
}

/* The two alternate for ROUNDS rounds, from count `first` on. */
static void take_turns(uint32_t first, uint64_t spin_ns)
{
    struct pair pair = {
        .there.count = first, .back.count = first, .spin_ns = spin_ns, .first = first};
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, answer, &pair), 0);
    for (uint32_t i = 1; i <= ROUNDS; i++) {
        pair.value++;
        oche_turn_raise(&pair.there, first + i);
        oche_turn_await(&pair.back, first + i, spin_ns);
        assert_int_equal(pair.value, 2 * (uint64_t)i);
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(pair.there.sleepers + pair.back.sleepers, 0);
}

static void test_spinning(void **state)
{
    (void)state;
    take_turns(0, 20000);
}

static void test_asleep(void **state)
{
    (void)state;
    take_turns(0, 0);
}

/* After its largest value the count continues at 0. */
static void test_around_the_end(void **state)
{
    (void)state;
    take_turns(UINT32_MAX - ROUNDS / 2, 0);
    take_turns(UINT32_MAX - ROUNDS / 2, 20000);
}

/* A thread that spins without success falls asleep and is woken. */
static void test_late(void **state)
{
    struct oche_turn turn = {.count = 0};
    struct pair pair = {.spin_ns = 1000};
    pthread_t thread;

    (void)state;
    assert_false(oche_turn_is(&turn, 1));
    oche_turn_raise(&turn, 5);
    assert_true(oche_turn_is(&turn, 1) && oche_turn_is(&turn, 5) && !oche_turn_is(&turn, 6));
    assert_int_equal(pthread_create(&thread, NULL, answer, &pair), 0);
    for (uint32_t i = 1; i <= ROUNDS; i++) {
        if (i < 4)
            usleep(20000);
        oche_turn_raise(&pair.there, i);
        oche_turn_await(&pair.back, i, i % 2 * 1000);
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spinning),
        cmocka_unit_test(test_asleep),
        cmocka_unit_test(test_around_the_end),
        cmocka_unit_test(test_late),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
