/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Little room for payloads behind a gap. A payload without room is dropped and sent again, and the
 * driver is told. When the driver gives more room, held payloads move there, and later ones are
 * kept, too.
 */
#include "tests/support/test.h"

#include "core/recovery/selective_repeat.h"
#include "tests/support/pair.h"

#define MTU     256
#define PACKETS 40
#define BYTES   (PACKETS * MTU - 5)
#define FROM    (64 * 1024)
#define TARGET  (128 * 1024)
#define TIMES   3

static const struct oche_selective_repeat_params params = {
    .window = 64, .few_packets = 3, .rto_low = 100 * OCHE_US, .rto_high = 320 * OCHE_US};

static uint32_t lost[TIMES]; /* PSNs that are lost once each */

static enum pair_fate lose(struct pair *pair, int from, const struct oche_packet *packet)
{
    (void)pair;
    for (unsigned i = 0; i < TIMES && from == 0; i++)
        if (packet->psn == lost[i]) {
            lost[i] = UINT32_MAX;
            return PAIR_DROP;
        }
    return PAIR_PASS;
}

/*
 * Writes TIMES times; the first packet of each is lost. Returns how many packets behind gaps were
 * not kept.
 */
static uint64_t write_all(uint32_t held, uint32_t later, uint64_t *wishes)
{
    struct pair_options options = {.recovery = &oche_recovery_selective_repeat,
                                   .own_recovery_params = &params,
                                   .extensions = true,
                                   .mtu = MTU,
                                   .held_bytes = held,
                                   .held_later = later};
    struct pair *pair = pair_open(&options);
    uint64_t dropped;

    pair->fate = lose;
    for (uint32_t i = 0; i < TIMES; i++) {
        struct oche_send_work work = pair_work(OCHE_WORK_WRITE, i, FROM, TARGET, BYTES);

        lost[i] = i * PACKETS;
        pair_fill(pair, 0, FROM, BYTES, (uint8_t)(i + 1));
        pair_post(pair, 0, &work);
        pair_run_quiet(pair);
        pair_expect(pair, 0, i, OCHE_STATUS_SUCCESS);
        assert_memory_equal(pair->side[1].memory + TARGET, pair->side[0].memory + FROM, BYTES);
    }
    assert_int_equal(pair->side[1].delivered_bytes, TIMES * BYTES);
    dropped = oche_nic_stats(pair->side[1].nic)->out_of_order_packets -
              oche_nic_stats(pair->side[1].nic)->placed_packets;
    *wishes = pair->side[1].wishes;
    pair_close(pair);
    return dropped;
}

/* One packet is dropped for lack of room. After more was given, none is. */
static void test_given(void **state)
{
    uint64_t wishes;

    (void)state;
    assert_int_equal(write_all(64 * MTU, 0, &wishes), 0);
    assert_int_equal(wishes, 0);
    for (uint32_t room = 1; room <= 32; room++) {
        assert_int_equal(write_all(room * MTU, 64 * MTU, &wishes), 1);
        assert_int_equal(wishes, 1);
    }
}

/*
 * If no more is given, the queue pair continues with its room. It tells the driver each larger
 * need.
 */
static void test_not_given(void **state)
{
    uint64_t wishes;

    (void)state;
    for (uint32_t room = 1; room <= 32; room *= 2) {
        assert_true(write_all(room * MTU, 0, &wishes) > TIMES);
        assert_in_range(wishes, 1, 6);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_given),
        cmocka_unit_test(test_not_given),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
