/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table from objects of a verbs library to RoGUE's (rogue/verbs/table.c): many come and go at
 * addresses that are never the same, while a thread looks for those that stay.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "core/random.h"
#include "rogue/verbs/internal.h"
#include "tests/support/test.h"

#define STAY    1000
#define LIVE    20000
#define OBJECTS 500000

static atomic_bool over;

static const void *address_of(uint64_t number)
{
    return (const void *)(uintptr_t)((1 + number) * 4176);
}

static void *value_of(uint64_t number)
{
    return (void *)(uintptr_t)(number + 5);
}

static void *look(void *wrong)
{
    while (!atomic_load(&over))
        for (uint64_t i = 0; i < STAY; i++)
            if (rv_find(RV_QP, address_of(i)) != value_of(i))
                ++*(unsigned *)wrong;
    return NULL;
}

static void objects_come_and_go(void **state)
{
    static uint64_t live[LIVE];
    struct oche_random random = oche_random_stream(1, "objects", 0);
    unsigned wrong = 0;
    pthread_t thread;

    (void)state;
    for (uint64_t i = 0; i < STAY; i++)
        assert_true(rv_put(RV_QP, address_of(i), value_of(i)));
    assert_int_equal(pthread_create(&thread, NULL, look, &wrong), 0);
    for (uint64_t i = STAY; i < OBJECTS; i++) {
        uint64_t *slot = &live[i < STAY + LIVE ? i - STAY : oche_random_below(&random, LIVE)];
        if (*slot != 0) {
            assert_ptr_equal(rv_find(RV_QP, address_of(*slot)), value_of(*slot));
            rv_remove(RV_QP, address_of(*slot));
            assert_null(rv_find(RV_QP, address_of(*slot)));
        }
        *slot = i;
        if (!rv_put(RV_QP, address_of(i), value_of(i)))
            fail_msg("no room for object %lu", (unsigned long)i);
        assert_null(rv_find(RV_CQ, address_of(i)));
    }
    for (uint64_t i = 0; i < LIVE; i++)
        assert_ptr_equal(rv_find(RV_QP, address_of(live[i])), value_of(live[i]));
    atomic_store(&over, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(objects_come_and_go)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
