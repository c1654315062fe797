/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of messages between libraries (rogue.md#resync). They may come from any sender. */
#include <string.h>

#include "core/random.h"
#include "rogue/resync.h"
#include "tests/support/test.h"

static struct rogue_resync any(struct oche_random *random)
{
    struct rogue_resync message = {
        .kind = (uint8_t)(1 + oche_random_below(random, 3)),
        .qp = (uint8_t)oche_random_below(random, 2),
        .epoch = (uint32_t)oche_random_u64(random),
        .psn = (uint32_t)oche_random_u64(random) & OCHE_PSN_MASK,
        .token = oche_random_u64(random),
    };

    return message;
}

static void assert_same(const struct rogue_resync *a, const struct rogue_resync *b)
{
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->qp, b->qp);
    assert_int_equal(a->epoch, b->epoch);
    assert_int_equal(a->psn, b->psn);
    assert_true(a->token == b->token);
}

static void layout(void **state)
{
    static const uint8_t expected[ROGUE_RESYNC_BYTES] = {
        'r',  'o',  'g',  'u',  2,    1,    0,    0,    0xa1, 0xa2, 0xa3, 0xa4,
        0x00, 0xb2, 0xb3, 0xb4, 0xc1, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7, 0xc8};
    const struct rogue_resync message = {.kind = ROGUE_RESYNC_REPLY,
                                         .qp = 1,
                                         .epoch = 0xa1a2a3a4,
                                         .psn = 0xb2b3b4,
                                         .token = UINT64_C(0xc1c2c3c4c5c6c7c8)};
    uint8_t bytes[ROGUE_RESYNC_BYTES];

    (void)state;
    memset(bytes, 0xff, sizeof(bytes));
    rogue_resync_encode(&message, bytes);
    assert_memory_equal(bytes, expected, sizeof(bytes));
}

static void round_trip(void **state)
{
    struct oche_random random = oche_random_stream(1, "resync", 0);

    (void)state;
    for (unsigned i = 0; i < 1000; i++) {
        struct rogue_resync in = any(&random), out;
        uint8_t bytes[ROGUE_RESYNC_BYTES];

        rogue_resync_encode(&in, bytes);
        assert_true(rogue_resync_decode(bytes, sizeof(bytes), &out));
        assert_same(&in, &out);
    }
}

static void other_lengths_are_refused(void **state)
{
    struct oche_random random = oche_random_stream(2, "resync", 0);
    struct rogue_resync message = any(&random);
    uint8_t bytes[2 * ROGUE_RESYNC_BYTES] = {0};

    (void)state;
    rogue_resync_encode(&message, bytes);
    for (size_t count = 0; count <= sizeof(bytes); count++)
        assert_true(rogue_resync_decode(bytes, count, &message) == (count == ROGUE_RESYNC_BYTES));
    assert_false(rogue_resync_decode(NULL, 0, &message));
}

/* True if the decoded message is one that an encoder makes, of exactly these bytes. */
static bool is_canonical(const struct rogue_resync *message, const uint8_t *bytes)
{
    uint8_t again[ROGUE_RESYNC_BYTES];

    rogue_resync_encode(message, again);
    return memcmp(again, bytes, sizeof(again)) == 0 && message->qp <= 1 &&
           message->kind >= ROGUE_RESYNC_REQUEST && message->kind <= ROGUE_RESYNC_DONE &&
           message->psn <= OCHE_PSN_MASK;
}

static void flipped_bits(void **state)
{
    struct oche_random random = oche_random_stream(3, "resync", 0);

    (void)state;
    for (unsigned round = 0; round < 100; round++) {
        struct rogue_resync message = any(&random), out;
        uint8_t bytes[ROGUE_RESYNC_BYTES];

        rogue_resync_encode(&message, bytes);
        for (unsigned bit = 0; bit < 8 * sizeof(bytes); bit++) {
            unsigned byte = bit / 8;

            bytes[byte] ^= (uint8_t)(1 << bit % 8);
            bool taken = rogue_resync_decode(bytes, sizeof(bytes), &out);
            if (byte < 4 || byte == 6 || byte == 7 || byte == 12)
                assert_false(taken); /* magic, zeros, the high byte of the PSN */
            if (byte >= 13 || (byte >= 8 && byte < 12))
                assert_true(taken); /* any epoch, PSN and token can be */
            if (taken)
                assert_true(is_canonical(&out, bytes));
            bytes[byte] ^= (uint8_t)(1 << bit % 8);
        }
    }
}

static void every_kind_and_queue_pair(void **state)
{
    struct rogue_resync message = {.kind = 1, .qp = 0, .token = 1}, out;
    uint8_t bytes[ROGUE_RESYNC_BYTES];

    (void)state;
    rogue_resync_encode(&message, bytes);
    for (unsigned kind = 0; kind < 256; kind++)
        for (unsigned qp = 0; qp < 256; qp++) {
            bytes[4] = (uint8_t)kind;
            bytes[5] = (uint8_t)qp;
            assert_true(rogue_resync_decode(bytes, sizeof(bytes), &out) ==
                        (kind >= 1 && kind <= 3 && qp <= 1));
        }
}

static void noise(void **state)
{
    struct oche_random random = oche_random_stream(4, "resync", 0);
    uint8_t bytes[ROGUE_RESYNC_BYTES];
    struct rogue_resync out;
    unsigned taken = 0;

    (void)state;
    for (unsigned i = 0; i < 100000; i++) {
        for (unsigned at = 0; at < sizeof(bytes); at++)
            bytes[at] = (uint8_t)oche_random_u64(&random);
        if (i % 2 == 0) { /* some get past the magic */
            memcpy(bytes, "rogu", 4);
            bytes[4] &= 3;
            bytes[5] &= 1;
            bytes[6] = bytes[7] = 0;
            bytes[12] &= 1;
        }
        if (!rogue_resync_decode(bytes, sizeof(bytes), &out))
            continue;
        taken++;
        assert_true(is_canonical(&out, bytes));
    }
    assert_true(taken > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layout),       cmocka_unit_test(round_trip),
        cmocka_unit_test(flipped_bits), cmocka_unit_test(other_lengths_are_refused),
        cmocka_unit_test(noise),        cmocka_unit_test(every_kind_and_queue_pair)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
