/* SPDX-License-Identifier: Apache-2.0 */
/* Matching of messages and receives: MPI's rules, against a list that is searched from its start.
 */
#include "core/random.h"
#include "sim/graph/goal.h"
#include "sim/graph/match.h"
#include "tests/support/test.h"

#define MOST 20000

/* One that waits, in the order of coming. */
struct waits {
    uint32_t source, tag, handle;
    bool gone;
};
static struct waits posted[MOST], messages[MOST];
static uint32_t posted_count, message_count;

static bool fits(uint32_t wanted, uint32_t is)
{
    return wanted == OCHE_GOAL_ANY || wanted == is;
}

static uint32_t naive_post(uint32_t source, uint32_t tag, uint32_t handle)
{
    for (uint32_t i = 0; i < message_count; i++)
        if (!messages[i].gone && fits(source, messages[i].source) && fits(tag, messages[i].tag)) {
            messages[i].gone = true;
            return messages[i].handle;
        }
    posted[posted_count++] = (struct waits){.source = source, .tag = tag, .handle = handle};
    return OCHE_NO_MATCH;
}

static uint32_t naive_arrive(uint32_t source, uint32_t tag, uint32_t handle)
{
    for (uint32_t i = 0; i < posted_count; i++)
        if (!posted[i].gone && fits(posted[i].source, source) && fits(posted[i].tag, tag)) {
            posted[i].gone = true;
            return posted[i].handle;
        }
    messages[message_count++] = (struct waits){.source = source, .tag = tag, .handle = handle};
    return OCHE_NO_MATCH;
}

/* Mixes both sides at random; `open` of 16 receives take any source, and as many any tag. */
static void mix(uint64_t seed, uint32_t keys, uint32_t open)
{
    struct oche_random random = oche_random_stream(seed, "match", keys);
    struct oche_match *match = oche_match_create();

    posted_count = message_count = 0;
    for (uint32_t i = 0; i < 4000; i++) {
        uint32_t source = (uint32_t)oche_random_below(&random, keys);
        uint32_t tag = (uint32_t)oche_random_below(&random, keys);

        if (oche_random_below(&random, 2) == 0) {
            assert_int_equal(oche_match_arrive(match, source, tag, i),
                             naive_arrive(source, tag, i));
            continue;
        }
        if (oche_random_below(&random, 16) < open)
            source = OCHE_GOAL_ANY;
        if (oche_random_below(&random, 16) < open)
            tag = OCHE_GOAL_ANY;
        assert_int_equal(oche_match_post(match, source, tag, i), naive_post(source, tag, i));
    }
    uint32_t left = 0, first = OCHE_NO_MATCH;

    for (uint32_t i = 0; i < posted_count; i++) {
        first = first == OCHE_NO_MATCH && !posted[i].gone ? posted[i].handle : first;
        left += !posted[i].gone;
    }
    assert_int_equal(oche_match_posted(match), left);
    if (left > 0)
        assert_int_equal(oche_match_first_posted(match).handle, first);
    left = 0;
    for (uint32_t i = 0; i < message_count; i++)
        left += !messages[i].gone;
    assert_int_equal(oche_match_unexpected(match), left);
    oche_match_free(match);
}

static void test_random(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 5; seed++) {
        mix(seed, 2, 0);
        mix(seed, 3, 4);
        mix(seed, 40, 1);
        mix(seed, 1000, 8);
    }
}

/* The receive that was posted first gets the message, whether it is open or not. */
static void test_order(void **state)
{
    struct oche_match *match = oche_match_create();

    (void)state;
    oche_match_post(match, OCHE_GOAL_ANY, 5, 1);
    oche_match_post(match, 3, 5, 2);
    oche_match_post(match, 3, OCHE_GOAL_ANY, 3);
    assert_int_equal(oche_match_arrive(match, 3, 5, 10), 1);
    assert_int_equal(oche_match_arrive(match, 3, 5, 11), 2);
    assert_int_equal(oche_match_arrive(match, 3, 5, 12), 3);
    assert_int_equal(oche_match_arrive(match, 3, 5, 13), OCHE_NO_MATCH);
    assert_int_equal(oche_match_arrive(match, 4, 5, 14), OCHE_NO_MATCH);
    assert_int_equal(oche_match_post(match, OCHE_GOAL_ANY, OCHE_GOAL_ANY, 4), 13);
    assert_int_equal(oche_match_first_unexpected(match).handle, 14);
    oche_match_free(match);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
