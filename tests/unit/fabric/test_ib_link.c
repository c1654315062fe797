/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two ends of a link with credits: what may be sent, when credits are announced, wrapping counters,
 * and the effect of a lost link or flow control packet.
 */
#include <string.h>

#include "core/random.h"
#include "fabric/ib_link.h"
#include "tests/support/test.h"

#define BLOCKS 256 /* of a buffer */

struct two {
    struct oche_ib_link from, to;
};

static void make(struct two *two, uint64_t update)
{
    oche_ib_link_init(&two->from, 2, BLOCKS * 64, update * 64);
    oche_ib_link_init(&two->to, 2, BLOCKS * 64, update * 64);
}

static void tell(struct oche_ib_link *from, struct oche_ib_link *to)
{
    struct oche_packet frame = {.tag = 9};

    oche_ib_fill(from, &frame, 5);
    assert_int_equal(frame.kind, OCHE_PACKET_FCP);
    assert_int_equal(frame.tag, 9);
    assert_int_equal(frame.frame_bytes % OCHE_IB_FCP_BYTES, 0);
    oche_ib_take(to, &frame);
}

static void test_blocks(void **state)
{
    (void)state;
    assert_int_equal(oche_ib_blocks(0), 0);
    assert_int_equal(oche_ib_blocks(1), 1);
    assert_int_equal(oche_ib_blocks(64), 1);
    assert_int_equal(oche_ib_blocks(65), 2);
    assert_int_equal(oche_ib_blocks(1090), 18);
}

/*
 * At first the whole buffer is credit. Each VL counts alone. Free space is announced when a quarter
 * is free.
 */
static void test_update(void **state)
{
    struct two two;

    (void)state;
    make(&two, 0);
    assert_int_equal(two.to.update, BLOCKS / 4);
    assert_int_equal(oche_ib_credit(&two.from, 0), BLOCKS);
    for (unsigned i = 0; i < BLOCKS / 16; i++) {
        oche_ib_sent(&two.from, 0, 16);
        assert_true(oche_ib_has_room(&two.to, 0, 16));
        oche_ib_arrived(&two.to, 0, 16);
    }
    assert_int_equal(oche_ib_credit(&two.from, 0), 0);
    assert_int_equal(oche_ib_credit(&two.from, 1), BLOCKS);
    assert_false(oche_ib_has_room(&two.to, 0, 1));
    for (unsigned i = 1; i < 4; i++)
        assert_false(oche_ib_freed(&two.to, 0, 16));
    assert_true(oche_ib_freed(&two.to, 0, 16));
    assert_false(oche_ib_freed(&two.to, 0, 16)); /* it is due already */
    assert_int_equal(two.to.due, 1);
    tell(&two.to, &two.from);
    assert_int_equal(two.to.due, 0);
    assert_int_equal(oche_ib_credit(&two.from, 0), 5 * 16);
    assert_int_equal(two.to.told, 0); /* not of all VLs */
    oche_ib_tell_all(&two.to);
    tell(&two.to, &two.from);
    assert_int_equal(two.to.told, 5);
    assert_int_equal(oche_ib_credit(&two.from, 0), 5 * 16);
}

/* The largest possible buffer: all of it is credit, with the counters anywhere. */
static void test_most_blocks(void **state)
{
    struct two two;

    (void)state;
    oche_ib_link_init(&two.from, 1, OCHE_IB_MOST_BLOCKS * 64, 64);
    oche_ib_link_init(&two.to, 1, OCHE_IB_MOST_BLOCKS * 64, 64);
    for (unsigned step = 0; step < 5000; step++) {
        assert_int_equal(oche_ib_credit(&two.from, 0), OCHE_IB_MOST_BLOCKS);
        oche_ib_sent(&two.from, 0, OCHE_IB_MOST_BLOCKS);
        assert_int_equal(oche_ib_credit(&two.from, 0), 0);
        oche_ib_arrived(&two.to, 0, OCHE_IB_MOST_BLOCKS);
        assert_true(oche_ib_freed(&two.to, 0, OCHE_IB_MOST_BLOCKS));
        tell(&two.to, &two.from);
        oche_ib_sent(&two.from, 0, 1); /* so that the counters drift */
        oche_ib_arrived(&two.to, 0, 1);
        assert_true(oche_ib_freed(&two.to, 0, 1));
        tell(&two.to, &two.from);
    }
}

/* A limit more than half the circle beyond the data sent is no credit. */
static void test_limit_behind(void **state)
{
    struct two two;
    struct oche_packet frame = {0};

    (void)state;
    make(&two, 0);
    oche_ib_sent(&two.from, 0, 100);
    oche_fcp_set(&frame, 0, 0, 99); /* less than what has been sent */
    oche_ib_take(&two.from, &frame);
    assert_int_equal(oche_ib_credit(&two.from, 0), 0);
}

/* Blocks lost on the link are given back when the sender reports how many it has sent. */
static void test_lost(void **state)
{
    struct two two;
    struct oche_packet frame = {0};

    (void)state;
    make(&two, 0);
    oche_ib_sent(&two.from, 0, 200); /* 136 of which get lost */
    oche_ib_arrived(&two.to, 0, 64);
    assert_true(oche_ib_freed(&two.to, 0, 64));
    tell(&two.to, &two.from);
    assert_int_equal(oche_ib_credit(&two.from, 0), BLOCKS - 136);
    oche_ib_tell_all(&two.from);
    oche_ib_fill(&two.from, &frame, 1);
    assert_true(oche_ib_take(&two.to, &frame)); /* and that causes an FCP */
    tell(&two.to, &two.from);
    assert_int_equal(oche_ib_credit(&two.from, 0), BLOCKS);
}

/* A frame of all eight VLs carries the values of each. */
static void test_frame(void **state)
{
    struct oche_packet frame = {0};

    (void)state;
    for (unsigned cls = 0; cls < OCHE_CLASSES; cls++)
        oche_fcp_set(&frame, cls, (uint16_t)(0xf00 + cls), (uint16_t)(0x0a0 + 16 * cls));
    assert_int_equal(frame.fcp.lanes, 0xff);
    for (unsigned cls = 0; cls < OCHE_CLASSES; cls++) {
        assert_int_equal(frame.fcp.lane[cls].fctbs, 0xf00 + cls);
        assert_int_equal(frame.fcp.lane[cls].fccl, 0x0a0 + 16 * cls);
    }
}

/*
 * For any order of arrivals, with lost frames, too: the buffer never holds more than its size. When
 * everything has come and gone, all credit is back.
 */
static void test_random(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 300; seed++) {
        struct oche_random random = oche_random_stream(seed, "ib link", 0);
        uint16_t queue[4096], in_buffer[4096]; /* packets on the link, in the buffer */
        unsigned sent = 0, arrived = 0, freed = 0;
        struct two two;

        make(&two, 1 + oche_random_below(&random, BLOCKS - 40));
        while (sent < 4096) {
            uint16_t blocks = (uint16_t)(1 + oche_random_below(&random, 40));
            uint64_t what = oche_random_below(&random, 4);

            if (what == 0 && blocks <= oche_ib_credit(&two.from, 1)) {
                oche_ib_sent(&two.from, 1, blocks);
                queue[sent++] = blocks;
            } else if (what == 1 && arrived < sent) {
                assert_true(oche_ib_has_room(&two.to, 1, queue[arrived]));
                oche_ib_arrived(&two.to, 1, queue[arrived]);
                in_buffer[arrived] = queue[arrived];
                arrived++;
            } else if (what == 2 && freed < arrived) {
                oche_ib_freed(&two.to, 1, in_buffer[freed++]);
            }
            if (what == 3 && two.to.due != 0) {
                struct oche_packet frame = {0};

                oche_ib_fill(&two.to, &frame, 1);
                if (oche_random_below(&random, 8) != 0)
                    oche_ib_take(&two.from, &frame);
            }
            if (oche_random_below(&random, 64) == 0) { /* the interval: lost credit is restored */
                oche_ib_tell_all(&two.to);
                tell(&two.to, &two.from);
            }
        }
        for (; arrived < sent; arrived++)
            oche_ib_arrived(&two.to, 1, in_buffer[arrived] = queue[arrived]);
        for (; freed < sent; freed++)
            oche_ib_freed(&two.to, 1, in_buffer[freed]);
        oche_ib_tell_all(&two.to);
        tell(&two.to, &two.from);
        assert_int_equal(oche_ib_credit(&two.from, 1), BLOCKS);
        assert_int_equal(two.to.vl[1].held, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks),      cmocka_unit_test(test_update),
        cmocka_unit_test(test_most_blocks), cmocka_unit_test(test_limit_behind),
        cmocka_unit_test(test_lost),        cmocka_unit_test(test_frame),
        cmocka_unit_test(test_random),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
