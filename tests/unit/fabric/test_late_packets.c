/* SPDX-License-Identifier: Apache-2.0 */
/* Late packets of a link: how many, by how much, and never two at the same time. */
#include "tests/unit/fabric/rig.h"

#include <stdlib.h>
#include <string.h>

#include "fabric/late.h"

#define RATE_BPS 100000000000
#define PACKETS  200000u

static struct oche_late *late_of(double probability, oche_time least, oche_time most,
                                 uint64_t entity)
{
    void *memory = malloc(oche_late_bytes(probability, most, RATE_BPS));

    assert_non_null(memory);
    memset(memory, 0xa5, sizeof(struct oche_late));
    return oche_late_create(memory, probability, least, most, RATE_BPS, 1, entity);
}

static void test_share_and_bounds(void **state)
{
    struct oche_late *late = late_of(0.01, 10 * OCHE_US, 30 * OCHE_US, 1);
    const struct oche_packet packet = {.payload_bytes = 1024};
    oche_time sum = 0;

    (void)state;
    for (uint32_t i = 1; i <= PACKETS; i++) {
        const oche_time when = i * 100 * OCHE_NS;
        const oche_time at = oche_late_arrival(late, &packet, when);

        assert_true(at == when || at == when + 1 ||
                    (at >= when + 10 * OCHE_US && at <= when + 30 * OCHE_US + 2));
        sum += at - when > 1 ? at - when : 0;
    }
    assert_in_range(late->count, 1800, 2200);
    assert_in_range(sum / late->count, 19 * OCHE_US, 21 * OCHE_US);
    free(late);
}

/* Times so close that many would otherwise be equal. */
static void test_no_two_at_the_same_time(void **state)
{
    struct oche_late *late = late_of(0.5, 0, 4800, 1);
    const struct oche_packet packet = {.payload_bytes = 1024};
    uint8_t *taken = calloc(1, 64 * PACKETS + 8192);

    (void)state;
    assert_non_null(taken);
    for (uint32_t i = 1; i <= PACKETS; i++) {
        const oche_time at = oche_late_arrival(late, &packet, i * 64);

        assert_false(taken[at]);
        taken[at] = true;
    }
    assert_true(late->count > PACKETS / 3);
    free(taken);
    free(late);
}

static void test_frames_of_the_link_are_on_time(void **state)
{
    struct oche_late *late = late_of(1, OCHE_US, OCHE_US, 1);
    const struct oche_packet pause = {.kind = OCHE_PACKET_PFC}, packet = {.payload_bytes = 8};

    (void)state;
    assert_int_equal(oche_late_arrival(late, &pause, 1000), 1000);
    assert_int_equal(oche_late_arrival(late, &packet, 1000), 1000 + OCHE_US);
    free(late);
}

/* When the late packets have taken all places, the others are on time. */
static void test_room(void **state)
{
    struct oche_late *late = late_of(1, OCHE_SEC, OCHE_SEC, 1);
    const struct oche_packet packet = {.payload_bytes = 8};
    const uint32_t room = late->arrivals->capacity;

    (void)state;
    for (uint32_t i = 0; i < room; i++)
        assert_true(oche_late_arrival(late, &packet, i) >= OCHE_SEC);
    assert_int_equal(oche_late_arrival(late, &packet, room), room);
    assert_true(oche_late_arrival(late, &packet, OCHE_SEC) > OCHE_SEC);
    free(late);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_share_and_bounds),
        cmocka_unit_test(test_no_two_at_the_same_time),
        cmocka_unit_test(test_frames_of_the_link_are_on_time),
        cmocka_unit_test(test_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
