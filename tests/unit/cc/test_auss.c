/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Active Unique Sender Set. By hand: one sender with several messages, timeouts, revival,
 * weights. At random: against a list that is recounted after each step.
 */
#include "tests/support/test.h"

#include <stdlib.h>

#include "core/cc/dart/auss.h"
#include "core/random.h"

#define MEMBERS  24
#define CAPACITY 8
#define TIMEOUT  (100 * OCHE_US)

struct rig {
    struct oche_auss auss;
    void *memory;
    struct oche_auss_member member[MEMBERS];
};

static void rig_open(struct rig *rig, oche_time timeout)
{
    rig->memory = malloc(oche_auss_bytes(CAPACITY));
    assert_non_null(rig->memory);
    oche_auss_init(&rig->auss, rig->memory, CAPACITY);
    for (unsigned i = 0; i < MEMBERS; i++)
        oche_auss_member_init(&rig->member[i], timeout);
}

/* A sender counts until its timeout. It stays if another message begins before that. */
static void lingers(void **state)
{
    struct rig rig;
    struct oche_auss *auss = &rig.auss;

    (void)state;
    rig_open(&rig, TIMEOUT);
    oche_auss_begin(auss, &rig.member[0], 7, 1, 10);
    oche_auss_begin(auss, &rig.member[1], 8, 1, 10);
    oche_auss_linger(auss, &rig.member[0], 50);
    assert_int_equal(auss->count, 2);
    assert_int_equal(oche_auss_next(auss), 50);
    assert_false(oche_auss_begin(auss, &rig.member[0], 7, 1, 20));
    assert_false(oche_auss_expire(auss, 60));
    assert_int_equal(auss->count, 2);
    oche_auss_linger(auss, &rig.member[0], 90);
    oche_auss_linger(auss, &rig.member[1], 95);
    assert_false(oche_auss_expire(auss, 89));
    assert_true(oche_auss_expire(auss, 90));
    assert_int_equal(auss->count, 1);
    assert_true(oche_auss_expire(auss, 95));
    assert_int_equal(auss->count, 0);
    assert_int_equal(auss->timeouts, 0);
    assert_int_equal(oche_auss_next(auss), OCHE_NEVER);
    assert_true(oche_auss_begin(auss, &rig.member[0], 7, 1, 100));
    free(rig.memory);
}

/* Two messages of one sender, on two queue pairs, and one of another (Dart Fig 4). */
static void counts_a_sender_once(void **state)
{
    struct rig rig;
    struct oche_auss *auss = &rig.auss;

    (void)state;
    rig_open(&rig, OCHE_NEVER);
    assert_true(oche_auss_begin(auss, &rig.member[0], 7, 1, 10));
    assert_false(oche_auss_begin(auss, &rig.member[1], 7, 1, 20));
    assert_false(oche_auss_begin(auss, &rig.member[1], 7, 1, 20)); /* a second READ */
    assert_int_equal(auss->count, 1);
    assert_true(oche_auss_begin(auss, &rig.member[2], 9, 3, 30));
    assert_int_equal(auss->count, 2);
    assert_int_equal(auss->weight, 4);
    assert_false(oche_auss_end(auss, &rig.member[0]));
    assert_false(oche_auss_end(auss, &rig.member[1]));
    assert_true(oche_auss_end(auss, &rig.member[2]));
    assert_int_equal(auss->weight, 1);
    assert_true(oche_auss_end(auss, &rig.member[1]));
    assert_int_equal(auss->count, 0);
    assert_int_equal(auss->weight, 0);
    assert_true(oche_auss_next(auss) == OCHE_NEVER);
    assert_int_equal(auss->free_count, CAPACITY);
    free(rig.memory);
}

/*
 * A sender is dropped after a silence of the timeout, not less. Its next packet revives it. After a
 * timeout there is no message to end.
 */
static void forgets_the_silent(void **state)
{
    struct rig rig;
    struct oche_auss *auss = &rig.auss;

    (void)state;
    rig_open(&rig, TIMEOUT);
    oche_auss_begin(auss, &rig.member[0], 1, 1, 0);
    oche_auss_begin(auss, &rig.member[1], 2, 1, 5);
    assert_false(oche_auss_seen(&rig.member[0], 40));
    assert_true(oche_auss_next(auss) <= 5 + TIMEOUT);
    assert_false(oche_auss_expire(auss, TIMEOUT + 4));
    assert_int_equal(auss->count, 2);
    assert_true(oche_auss_expire(auss, TIMEOUT + 5));
    assert_int_equal(auss->count, 1);
    assert_int_equal(auss->timeouts, 1);
    assert_true(oche_auss_next(auss) == TIMEOUT + 40);
    assert_true(oche_auss_seen(&rig.member[1], TIMEOUT + 20));
    assert_true(oche_auss_revive(auss, &rig.member[1], 2, 1, TIMEOUT + 20));
    assert_int_equal(auss->count, 2);
    assert_true(oche_auss_expire(auss, 3 * TIMEOUT));
    assert_int_equal(auss->count, 0);
    assert_false(oche_auss_end(auss, &rig.member[0]));
    assert_false(oche_auss_seen(&rig.member[0], 3 * TIMEOUT)); /* nothing is active any more */
    assert_false(oche_auss_forget(auss, &rig.member[1]));
    free(rig.memory);
}

/* Packets of other queue pairs of a sender do not keep a member alive after an earlier timeout. */
static void timeouts_are_a_members_own(void **state)
{
    struct rig rig;
    struct oche_auss *auss = &rig.auss;
    oche_time now = 0;

    (void)state;
    rig_open(&rig, TIMEOUT);
    oche_auss_begin(auss, &rig.member[0], 1, 1, now); /* its queue pair is dead */
    for (unsigned i = 0; i < 30; i++) {
        now += TIMEOUT / 10;
        oche_auss_begin(auss, &rig.member[1], 1, 1, now);
        oche_auss_expire(auss, now);
        assert_int_equal(auss->count, 1);
        oche_auss_end(auss, &rig.member[1]);
        assert_int_equal(auss->count, now < TIMEOUT ? 1 : 0);
    }
    free(rig.memory);
}

/* The expected set, computed only from the time of each member's last packet. */
struct truth {
    uint32_t messages, address;
    oche_time last;
    bool expired;
};

static void check_against(const struct rig *rig, const struct truth *truth)
{
    bool in[CAPACITY] = {false};
    uint32_t messages[CAPACITY] = {0}, count = 0, weight = 0;

    for (unsigned i = 0; i < MEMBERS; i++) {
        if (truth[i].messages == 0 || truth[i].expired)
            continue;
        in[truth[i].address] = true;
        messages[truth[i].address] += truth[i].messages;
    }
    for (uint32_t a = 0; a < CAPACITY; a++) {
        uint32_t slot = map_find(&rig->auss.map, a);
        count += in[a];
        weight += in[a] ? a + 1 : 0;
        assert_int_equal(slot != NO_SLOT, in[a]);
        if (in[a])
            assert_int_equal(rig->auss.senders[slot].messages, messages[a]);
    }
    assert_int_equal(rig->auss.count, count);
    assert_int_equal(rig->auss.weight, weight);
    assert_int_equal(rig->auss.free_count, CAPACITY - count);
}

static void random_steps(uint64_t seed)
{
    struct oche_random random = oche_random_stream(seed, "auss", 0);
    struct truth truth[MEMBERS] = {0};
    struct rig rig;
    oche_time now = 0;

    rig_open(&rig, TIMEOUT);
    for (unsigned step = 0; step < 2000; step++) {
        uint32_t i = (uint32_t)oche_random_below(&random, MEMBERS);
        struct truth *t = &truth[i];
        uint32_t address = i % CAPACITY;
        now += oche_random_below(&random, 10) == 0 ? oche_random_below(&random, TIMEOUT) : 1;
        oche_auss_expire(&rig.auss, now);
        for (unsigned k = 0; k < MEMBERS; k++)
            truth[k].expired |= truth[k].messages > 0 && now - truth[k].last >= TIMEOUT;
        switch (oche_random_below(&random, 8)) {
        case 0:
        case 1:
        case 2:
            oche_auss_begin(&rig.auss, &rig.member[i], address, address + 1, now);
            t->address = address;
            t->messages++;
            t->last = now;
            t->expired = false;
            break;
        case 3:
        case 4:
            if (t->messages == 0)
                break;
            oche_auss_end(&rig.auss, &rig.member[i]);
            t->messages--;
            t->expired &= t->messages > 0;
            break;
        case 5:
            oche_auss_forget(&rig.auss, &rig.member[i]);
            *t = (struct truth){0};
            break;
        default:
            if (oche_auss_seen(&rig.member[i], now))
                oche_auss_revive(&rig.auss, &rig.member[i], address, address + 1, now);
            t->last = now;
            t->expired = false;
            break;
        }
        check_against(&rig, truth);
    }
    free(rig.memory);
}

static void random_against_a_list(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 100; seed++)
        random_steps(seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lingers),
        cmocka_unit_test(counts_a_sender_once),
        cmocka_unit_test(forgets_the_silent),
        cmocka_unit_test(timeouts_are_a_members_own),
        cmocka_unit_test(random_against_a_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
