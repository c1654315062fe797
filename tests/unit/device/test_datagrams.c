/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random datagrams, posts and nearly right packets into devices with queue pairs of all kinds: the
 * checks of tests/fuzz/datagram_check.h, with a fixed seed. Also that the programs reach what they
 * should.
 */
#include <string.h>

#include "tests/fuzz/datagram_check.h"
#include "tests/support/counted.h"
#include "tests/unit/device/pair.h"

#define PROGRAMS 12000

static struct datagram_world world;

/* Completions of all programs. */
static unsigned run(unsigned variant, unsigned programs)
{
    struct oche_random random = oche_random_stream(1, "datagram programs", variant);
    char own[32], peer[32], stranger[32];
    uint8_t program[400];
    unsigned completed = 0;

    if (variant == DATAGRAM_IPV6) {
        if (!datagram_open(&world, variant, "::1", "fd00::2", "fd00::3"))
            skip(); /* no IPv6 here */
    } else {
        assert_true(datagram_open(&world, variant, loopback_address(own, 1),
                                  loopback_address(peer, 2), loopback_address(stranger, 3)));
    }
    for (unsigned i = 0; i < programs; i++) {
        const size_t count = oche_random_below(&random, sizeof(program));
        const char *wrong;

        for (size_t k = 0; k < count; k++)
            program[k] = (uint8_t)oche_random_u64(&random);
        if (i % 2 == 0) /* opcodes that there are, for bytes that could be one */
            for (size_t k = 0; k < count; k++)
                program[k] = program[k] % 3 != 0 ? program[k] & 0x1f : program[k];
        wrong = datagram_check(&world, program, count);
        if (wrong != NULL)
            fail_msg("variant %u, program %u: %s", variant, i, wrong);
        completed += (unsigned)__builtin_popcountll(world.completed);
    }
    return completed;
}

static void placed(void **state)
{
    static const enum oche_reject reached[] = {
        OCHE_REJECT_QP_STATE,  OCHE_REJECT_WRONG_PEER, OCHE_REJECT_OPCODE,
        OCHE_REJECT_SEQUENCE,  OCHE_REJECT_PSN,        OCHE_REJECT_DUPLICATE_GONE,
        OCHE_REJECT_NOT_READY, OCHE_REJECT_ACCESS,     OCHE_REJECT_INVALID_REQUEST,
        OCHE_REJECT_PLACEMENT, OCHE_REJECT_QKEY,
    };
    const unsigned completed = run(DATAGRAM_PLACED, PROGRAMS);
    const struct oche_device_stats stats = world.stats;

    (void)state;
    assert_true(world.datagrams > 20);
    assert_true(world.succeeded[OCHE_DONE_BIND_MW] > 500);
    assert_true(completed > 1500);
    assert_true(stats.nic.delivered_messages > 400);
    assert_true(stats.nic.naks_sent > 1000);
    assert_true(stats.nic.placed_packets > 50);
    assert_true(stats.nic.acks_received > 50);
    assert_true(stats.nic.data_packets_sent > 1000);
    assert_true(stats.strangers > 1000);
    assert_true(stats.strange_ports > 100);
    assert_true(stats.wrong[OCHE_WIRE_ICRC] > 1000);
    for (size_t i = 0; i < OCHE_COUNT_OF(reached); i++)
        if (world.rejected[reached[i]] == 0)
            fail_msg("never: %s", oche_reject_name(reached[i]));
    datagram_close(&world);
}

/* Shares and lists without agreed extensions; a window of type 1. */
static void dart(void **state)
{
    const struct oche_counters *counters;
    const void *in;

    (void)state;
    run(DATAGRAM_DART, PROGRAMS / 4);
    counters = oche_nic_counters(oche_device_nic(world.device), &in);
    assert_true(world.stats.nic.cc_packets_received > 20);
    assert_true(world.stats.nic.cnps_received > 5);
    assert_true(counted(counters, world.counters, "share_acks") > 20);
    assert_int_equal(counted(counters, world.counters, "groups"),
                     0); /* a device ignores lists (docs/wire.md) */
    assert_true(world.succeeded[OCHE_DONE_BIND_MW] > 100);
    datagram_close(&world);
}

/* All 32 bits of the ICRC are checked here. */
static void ipv6(void **state)
{
    (void)state;
    run(DATAGRAM_IPV6, PROGRAMS / 4);
    const struct oche_device_stats stats = world.stats;
    assert_true(stats.nic.cnps_received > 5);
    assert_true(stats.nic.cnps_sent > 5);
    assert_true(stats.nic.delivered_messages > 50);
    assert_true(stats.wrong[OCHE_WIRE_ICRC] > 100);
    assert_int_equal(stats.unexpected_ip_ids, 0);
    datagram_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(placed), cmocka_unit_test(dart),
                                       cmocka_unit_test(ipv6)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
