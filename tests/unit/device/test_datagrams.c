/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random datagrams, posts and nearly right packets into a device with two queue pairs: the checks
 * of tests/fuzz/datagram_check.h, with a fixed seed. Also that the programs reach what they should.
 */
#include <string.h>

#include "tests/fuzz/datagram_check.h"
#include "tests/unit/device/pair.h"

#define PROGRAMS 12000

static void random_programs(void **state)
{
    static const enum oche_reject reached[] = {
        OCHE_REJECT_QP_STATE,  OCHE_REJECT_WRONG_PEER, OCHE_REJECT_OPCODE,
        OCHE_REJECT_SEQUENCE,  OCHE_REJECT_PSN,        OCHE_REJECT_DUPLICATE_GONE,
        OCHE_REJECT_NOT_READY, OCHE_REJECT_ACCESS,     OCHE_REJECT_INVALID_REQUEST,
        OCHE_REJECT_PLACEMENT, OCHE_REJECT_QKEY,
    };
    struct oche_random random = oche_random_stream(1, "datagram programs", 0);
    static struct datagram_world world;
    struct oche_device_stats stats;
    char own[32], peer[32], stranger[32];
    uint8_t program[400];
    unsigned completed = 0;

    (void)state;
    assert_true(datagram_open(&world, loopback_address(own, 1), loopback_address(peer, 2),
                              loopback_address(stranger, 3)));
    for (unsigned i = 0; i < PROGRAMS; i++) {
        const size_t count = oche_random_below(&random, sizeof(program));
        const char *wrong;

        for (size_t k = 0; k < count; k++)
            program[k] = (uint8_t)oche_random_u64(&random);
        if (i % 2 == 0) /* opcodes that there are, for bytes that could be one */
            for (size_t k = 0; k < count; k++)
                program[k] = program[k] % 3 != 0 ? program[k] & 0x1f : program[k];
        wrong = datagram_check(&world, program, count);
        if (wrong != NULL)
            fail_msg("program %u: %s", i, wrong);
        completed += (unsigned)__builtin_popcountll(world.completed);
    }
    oche_device_stats(world.device, &stats);
    assert_true(world.datagrams > 20);
    assert_true(world.succeeded[OCHE_DONE_BIND_MW] > 500);
    assert_true(completed > 1500);
    assert_true(stats.nic.delivered_messages > 400);
    assert_true(stats.nic.naks_sent > 1000);
    assert_true(stats.nic.placed_packets > 50);
    assert_true(stats.nic.acks_received > 50);
    assert_true(stats.nic.data_packets_sent > 1000);
    assert_true(stats.strangers > 1000);
    assert_true(stats.wrong[OCHE_WIRE_ICRC] > 1000);
    for (size_t i = 0; i < sizeof(reached) / sizeof(reached[0]); i++)
        if (oche_nic_rejected(oche_device_nic(world.device), reached[i]) == 0)
            fail_msg("never: %s", oche_reject_name(reached[i]));
    datagram_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_programs)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
