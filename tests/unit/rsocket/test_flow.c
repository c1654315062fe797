/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flow control: two correct ends continue for ever and lose nothing. An incorrect peer is detected
 * at its first wrong message.
 */
#include "tests/support/test.h"

#include "device/rsocket/flow.h"

#define HALF    64
#define CREDITS 5

static struct rs_hello hello_of(uint32_t length, uint16_t credits)
{
    return (struct rs_hello){.credits = credits,
                             .places = {.address = 4096, .length = RS_PLACES},
                             .buffer = {.address = 0, .length = length}};
}

/*
 * Random sends, reads and updates, each of which arrives later and in order. The sender's addresses
 * are offsets into the receiver's ring. They must be the places where the receiver expects the
 * bytes.
 */
static void both_ends(void **state)
{
    const struct rs_hello hello = hello_of(HALF, CREDITS);
    struct rs_inflow in;
    struct rs_outflow out;
    uint64_t seed = 7, sent = 0, taken = 0, stuck = 0;

    (void)state;
    rs_inflow_start(&in, HALF, CREDITS, RS_PLACES);
    rs_outflow_start(&out, &hello);
    while (taken < 1000000) {
        uint32_t room = rs_outflow_room(&out), some, offset, entry;

        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
        some = (uint32_t)(seed >> 33) % (HALF + 1);
        if (room > 0 && some > 0 && (seed >> 62) != 0) {
            struct rs_place to;

            some = some < room ? some : room;
            to = rs_outflow_take(&out, some);
            assert_int_equal(to.address, in.head);
            assert_true(rs_inflow_arrived(&in, some));
            sent += some;
            stuck = 0;
        } else if (rs_inflow_readable(&in) > 0) {
            some = rs_inflow_readable(&in);
            assert_int_equal(in.tail, taken % (2 * HALF));
            rs_inflow_read(&in, some);
            taken += some;
            stuck = 0;
        }
        if (rs_inflow_should_give(&in) && (seed >> 61) % 2 == 0) {
            if (rs_inflow_give(&in, &offset, &entry)) {
                const struct rs_place place = {.address = offset, .length = HALF};

                assert_true(entry < RS_PLACES);
                assert_int_equal(entry, (out.current + out.count) % RS_PLACES);
                assert_true(rs_outflow_granted(&out, &place));
            }
            rs_outflow_credits(&out, in.limit);
        }
        assert_true(in.granted + in.filled + in.free == 2 * HALF);
        assert_true(stuck++ < 1000); /* the two wait for each other */
    }
    assert_true(sent >= taken);
}

static void more_than_granted(void **state)
{
    struct rs_inflow in;
    uint32_t offset, entry;

    (void)state;
    rs_inflow_start(&in, HALF, CREDITS, RS_PLACES);
    assert_false(rs_inflow_arrived(&in, 0));
    assert_false(rs_inflow_arrived(&in, HALF + 1));
    assert_false(rs_inflow_arrived(&in, RS_MOST_VALUE));
    assert_true(rs_inflow_arrived(&in, HALF - 1));
    assert_false(rs_inflow_arrived(&in, 2)); /* beyond the end of the place */
    assert_true(rs_inflow_arrived(&in, 1));
    assert_false(rs_inflow_arrived(&in, 1)); /* the other half was not granted yet */
    assert_true(rs_inflow_give(&in, &offset, &entry));
    assert_int_equal(offset, HALF);
    assert_int_equal(entry, 1);
    assert_true(rs_inflow_arrived(&in, HALF));
    assert_false(rs_inflow_arrived(&in, 1)); /* nothing was read */
}

static void more_messages_than_credits(void **state)
{
    struct rs_inflow in;
    uint32_t offset, entry;

    (void)state;
    rs_inflow_start(&in, HALF, CREDITS, RS_PLACES);
    for (int i = 0; i < CREDITS; i++)
        assert_true(rs_inflow_arrived(&in, 1));
    assert_false(rs_inflow_arrived(&in, 1));
    assert_false(rs_inflow_counted(&in));
    rs_inflow_give(&in, &offset, &entry);
    for (int i = 0; i < CREDITS; i++)
        assert_true(rs_inflow_arrived(&in, 1));
    assert_false(rs_inflow_arrived(&in, 1));
}

static void bad_places(void **state)
{
    const struct rs_hello hello = hello_of(HALF, CREDITS);
    struct rs_outflow out;
    struct rs_place place = {.address = 0, .length = 0};

    (void)state;
    rs_outflow_start(&out, &hello);
    assert_false(rs_outflow_granted(&out, &place)); /* no bytes */
    place = (struct rs_place){.address = UINT64_MAX - 1, .length = 2};
    assert_false(rs_outflow_granted(&out, &place));
    place = (struct rs_place){.address = 0, .length = UINT32_MAX};
    assert_true(rs_outflow_granted(&out, &place));
    assert_false(rs_outflow_granted(&out, &place)); /* the list is full */
    /* for any credits, a message stays within its place */
    rs_outflow_credits(&out, UINT32_MAX);
    assert_int_equal(rs_outflow_room(&out), HALF);
}

static void no_credit_no_message(void **state)
{
    const struct rs_hello hello = hello_of(HALF, 1);
    struct rs_outflow out;

    (void)state;
    rs_outflow_start(&out, &hello);
    rs_outflow_take(&out, 1);
    assert_int_equal(rs_outflow_room(&out), 0);
    assert_false(rs_outflow_credit(&out));
    rs_outflow_credits(&out, 65536 + 2); /* modulo 65536 */
    assert_int_equal(rs_outflow_room(&out), HALF - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_ends),
        cmocka_unit_test(more_than_granted),
        cmocka_unit_test(more_messages_than_credits),
        cmocka_unit_test(bad_places),
        cmocka_unit_test(no_credit_no_message),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
