/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A peer that announces incasts without end (Dart's look-ahead, wire.md): each of its messages
 * names 200 unknown senders. A device counts the lists and takes the messages. It spends no memory
 * on them, and only the time to read a list.
 */
#include <malloc.h>
#include <string.h>
#include <time.h>

#include "core/cc/dart/dart.h"
#include "core/qp/receive/receiver.h"
#include "core/wire/extension.h"
#include "device/internal.h"
#include "tests/unit/device/pair.h"

#define LIES  20000
#define FIRST 0xfffff0 /* the PSN of a's first packet (pair.c) */

static uint64_t processor_ns(void)
{
    struct timespec time;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* An empty WRITE of a to b that names `count` senders. */
static struct oche_packet lie(const struct pair *pair, uint32_t number, uint8_t *members,
                              uint16_t count)
{
    const struct oche_qp *b = pair->b.qp;
    struct oche_packet packet = {
        .src = b->remote_address,
        .dst = 0,
        .dest_qpn = oche_qp_number(b),
        .psn = oche_psn_add(FIRST, number),
        .pkey = 0xffff,
        .opcode = OCHE_RC_WRITE_ONLY_GROUP,
        .bth_reserved = OCHE_BTH_EXTENSIONS,
    };
    const struct oche_group group = {
        .id = number & OCHE_PSN_MASK, .count = count, .members = members};

    packet.ext |= OCHE_EXT_RETH;
    for (uint32_t i = 0; i < count; i++)
        oche_put16(members + 2 * (size_t)i, (uint16_t)(1 + i + number % 64000));
    oche_group_put(&packet, &group, 0);
    packet.frame_bytes = 600;
    return packet;
}

/* Sends the lies to b. Returns the processor time of one of them, in ns. */
static uint64_t flood(struct pair *pair, uint32_t from, uint16_t count)
{
    uint8_t members[2 * OCHE_GROUP_MOST];
    struct oche_nic *nic = oche_device_nic(pair->b.device);
    const uint64_t start = processor_ns();

    oche_device_lock(pair->b.device);
    for (uint32_t i = from; i < from + LIES; i++) {
        const struct oche_packet packet = lie(pair, i, members, count);
        oche_nic_receive(nic, &packet, oche_device_now(pair->b.device));
    }
    oche_device_unlock(pair->b.device);
    return (processor_ns() - start) / LIES;
}

static void lies_cost_neither_memory_nor_time(void **state)
{
    const struct oche_device_config config = {.cc = oche_cc_find("dart")};
    struct pair pair;

    (void)state;
    pair_open(&pair, &config, OCHE_TRANSPORT_RC);
    const void *dart = oche_device_nic(pair.b.device)->cc_nic.state;
    const uint64_t alone = flood(&pair, 0, 1);
    const struct mallinfo2 before = mallinfo2();
    const uint64_t lists = oche_dart_look(dart).void_groups;
    const uint64_t long_ones = flood(&pair, LIES, OCHE_GROUP_MOST);
    const struct oche_dart_view view = oche_dart_look(dart);
    assert_int_equal(rcv(pair.b.qp)->rx.epsn, oche_psn_add(FIRST, 2 * LIES)); /* all were taken */
    assert_int_equal(view.void_groups - lists, LIES);
    assert_int_equal(view.groups, 0);
    assert_true(view.senders <= 1); /* the peer itself, which is counted for a moment after */
    assert_int_equal(mallinfo2().uordblks, before.uordblks);
    assert_int_equal(mallinfo2().hblkhd, before.hblkhd);
    print_message("a list of one: %u ns, of %u: %u ns\n", (unsigned)alone, OCHE_GROUP_MOST,
                  (unsigned)long_ones);
    assert_true(long_ones < 20 * alone + 20000);
    pair_close(&pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lies_cost_neither_memory_nor_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
