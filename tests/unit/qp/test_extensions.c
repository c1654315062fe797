/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two queue pairs with selective repeat, packet by packet on the link. How they learn that both
 * support it; a peer without support sees plain RoCEv2; the retransmissions after each loss; the
 * timer; a SACK with nonsense changes nothing.
 */
#include "tests/support/test.h"

#include <stdio.h>
#include <string.h>

#include "core/random.h"
#include "core/recovery/go_back_n.h"
#include "core/recovery/selective_repeat.h"
#include "core/wire/aeth.h"
#include "core/wire/opcode.h"
#include "tests/support/pair.h"

#define MTU PAIR_MTU

static const struct oche_selective_repeat_params params = {
    .window = 110, .few_packets = 3, .rto_low = 100 * OCHE_US, .rto_high = 320 * OCHE_US};
static const struct oche_go_back_n_params go_back_n = {.nak_interval = 5 * OCHE_US,
                                                       .nak_exception = true};

#define SELECTIVE                                                                                  \
    .recovery = &oche_recovery_selective_repeat, .own_recovery_params = &params, .extensions = true

/* The packets a side sends, and which packets of side 0 are lost. */
struct link {
    struct {
        uint32_t count;
        struct oche_packet packet[256];
        oche_time time[256];
    } from[2];
    uint32_t drop[8], drops; /* PSNs, each when first sent by side 0 */
    uint32_t drop_answers;   /* that many of side 1's next packets are lost */
};

static void tap(struct pair *pair, int from, const struct oche_packet *packet)
{
    struct link *link = pair->context;
    uint32_t n = link->from[from].count++;

    assert_true(n < 256);
    link->from[from].packet[n] = *packet;
    link->from[from].time[n] = pair->now;
}

static enum pair_fate fate(struct pair *pair, int from, const struct oche_packet *packet)
{
    struct link *link = pair->context;

    if (from == 1 && link->drop_answers > 0) {
        link->drop_answers--;
        return PAIR_DROP;
    }
    for (uint32_t i = 0; from == 0 && i < link->drops; i++)
        if (link->drop[i] == packet->psn) {
            link->drop[i] = UINT32_MAX;
            return PAIR_DROP;
        }
    return PAIR_PASS;
}

static struct pair *open_link(const struct pair_options *options, struct link *link)
{
    struct pair_options small = *options;
    small.in_flight = 512;
    struct pair *pair = pair_open(&small);

    memset(link, 0, sizeof(*link));
    pair->context = link;
    pair->tap = tap;
    pair->fate = fate;
    pair_fill(pair, 0, 0, 256 * 1024, 3);
    pair_fill(pair, 1, 0, 256 * 1024, 4);
    return pair;
}

static void drop(struct link *link, uint32_t psn)
{
    link->drop[link->drops++] = psn;
}

/*
 * A WRITE of so many full packets, from its place here to the same place plus half of the memory.
 */
static void write_packets(struct pair *pair, uint64_t wr_id, uint32_t at, uint32_t packets)
{
    struct oche_send_work work =
        pair_work(OCHE_WORK_WRITE, wr_id, at, PAIR_MEMORY / 2 + at, packets * MTU);

    pair_post(pair, 0, &work);
}

static void expect_written(const struct pair *pair, uint32_t at, uint32_t packets)
{
    assert_memory_equal(pair->side[1].memory + PAIR_MEMORY / 2 + at, pair->side[0].memory + at,
                        packets * MTU);
}

static const struct oche_nic_stats *stats(const struct pair *pair, int side)
{
    return oche_nic_stats(pair->side[side].nic);
}

/* PSNs that a side has sent, from `start` on: "0-9 3 10", ACKs "a5", SACKs "s3:4-9". */
static const char *tell(const struct link *link, int from, uint32_t start)
{
    static char text[2048];
    size_t at = 0;

    text[0] = '\0';
    for (uint32_t i = start; i < link->from[from].count; i++) {
        const struct oche_packet *p = &link->from[from].packet[i];
        bool ack = oche_opcode(p->opcode)->operation == OCHE_OPERATION_ACK;
        bool nak = ack && oche_aeth_kind(oche_aeth_syndrome(p)) != OCHE_AETH_ACK;
        const char *kind = p->opcode == OCHE_RC_SACK ? "s" : nak ? "n" : ack ? "a" : "";
        at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s%u", at > 0 ? " " : "", kind,
                               p->psn);
        if (p->opcode != OCHE_RC_SACK)
            continue;
        struct oche_sack sack = oche_sack_get(p);
        for (uint32_t b = 0; b < 64; b++)
            if (sack.bits >> b & 1)
                at += (size_t)snprintf(text + at, sizeof(text) - at, ",%u", sack.first + b);
    }
    return text;
}

/* ---- finding out ---- */

static void expect_opcodes(const struct link *link, uint32_t start, const uint8_t *opcodes,
                           uint32_t count, uint8_t reserved)
{
    assert_int_equal(link->from[0].count, start + count);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(link->from[0].packet[start + i].opcode, opcodes[i]);
        assert_int_equal(link->from[0].packet[start + i].bth_reserved, reserved);
    }
}

static const uint8_t plain_write[] = {OCHE_RC_WRITE_FIRST, OCHE_RC_WRITE_MIDDLE,
                                      OCHE_RC_WRITE_LAST};
static const uint8_t extended_write[] = {OCHE_RC_WRITE_FIRST, OCHE_RC_WRITE_MIDDLE_AT,
                                         OCHE_RC_WRITE_LAST_AT};

static void test_found_out(void **state)
{
    struct pair_options options = {.recovery = &oche_recovery_selective_repeat,
                                   .own_recovery_params = &params};
    struct link link;
    struct pair *pair = open_link(&options, &link);

    (void)state;
    write_packets(pair, 1, 0, 3);
    pair_run_quiet(pair);
    expect_opcodes(&link, 0, plain_write, 3, OCHE_BTH_EXTENSIONS);
    assert_int_equal(link.from[1].packet[0].bth_reserved, OCHE_BTH_EXTENSIONS);
    write_packets(pair, 2, 0, 3);
    pair_run_quiet(pair);
    expect_opcodes(&link, 3, extended_write, 3, OCHE_BTH_EXTENSIONS);
    pair_close(pair);

    /*
     * The very first packet is lost. The packets behind it may come from a stranger, so they show
     * no support. The NAK is plain, and is sufficient.
     */
    pair = open_link(&options, &link);
    drop(&link, 0);
    write_packets(pair, 1, 0, 8);
    pair_run_quiet(pair);
    assert_int_equal(link.from[1].packet[0].opcode, OCHE_RC_ACK);
    assert_int_equal(stats(pair, 1)->placed_packets, 0);
    assert_int_equal(stats(pair, 1)->naks_sent, 1);
    assert_int_equal(link.from[0].packet[8].opcode, OCHE_RC_WRITE_FIRST);
    assert_int_equal(link.from[0].packet[9].opcode, OCHE_RC_WRITE_MIDDLE_AT);
    assert_string_equal(tell(&link, 0, 0), "0 1 2 3 4 5 6 7 0 1 2 3 4 5 6 7");
    assert_int_equal(stats(pair, 0)->timeouts, 0);
    expect_written(pair, 0, 8);
    pair_close(pair);
}

/* A plain peer sees only RoCEv2, except for a bit that it ignores. */
static void test_alone(void **state)
{
    for (int capable = 0; capable < 2; capable++) {
        struct pair_options options = {
            .recovery = capable == 0 ? &oche_recovery_selective_repeat : &oche_recovery_go_back_n,
            .own_recovery_params = capable == 0 ? (const void *)&params : &go_back_n,
            .peer_recovery =
                capable == 1 ? &oche_recovery_selective_repeat : &oche_recovery_go_back_n,
            .peer_recovery_params = capable == 1 ? (const void *)&params : &go_back_n,
        };
        struct link link;
        struct pair *pair = open_link(&options, &link);

        (void)state;
        drop(&link, 5);
        write_packets(pair, 1, 0, 20);
        pair_run_quiet(pair);
        pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
        expect_written(pair, 0, 20);
        assert_int_equal(stats(pair, 1)->placed_packets, 0);
        assert_int_equal(stats(pair, 0)->timeouts, 0);
        assert_in_range(stats(pair, 0)->retransmitted_packets, 12, 15); /* all from 5 on */
        for (int side = 0; side < 2; side++)
            for (uint32_t i = 0; i < link.from[side].count; i++) {
                const struct oche_packet *packet = &link.from[side].packet[i];
                assert_true(packet->opcode < OCHE_SCHEME_OPCODES);
                assert_int_equal(packet->bth_reserved, side == capable ? OCHE_BTH_EXTENSIONS : 0);
            }
        if (capable == 1)
            assert_int_equal(stats(pair, 1)->naks_sent, 1);
        pair_close(pair);
    }
}

/* Extended opcodes from or to a side that has not shown support. */
static void test_unasked(void **state)
{
    struct pair_options options = {.recovery = &oche_recovery_selective_repeat,
                                   .own_recovery_params = &params,
                                   .peer_recovery = &oche_recovery_go_back_n,
                                   .peer_recovery_params = &go_back_n};
    struct link link;
    struct pair *pair = open_link(&options, &link);

    (void)state;
    for (unsigned opcode = OCHE_SCHEME_OPCODES; opcode < OCHE_OPCODES; opcode++)
        for (int from = 0; from < 2; from++) {
            struct oche_packet packet = pair_packet(pair, from, (uint8_t)opcode, 0, 0);
            struct oche_nic *nic = pair->side[1 - from].nic;
            uint64_t before = oche_nic_rejected(nic, OCHE_REJECT_OPCODE);
            packet.ext = OCHE_EXT_RETH | OCHE_EXT_IMM | OCHE_EXT_SCHEME;
            packet.bth_reserved = from == 0 ? OCHE_BTH_EXTENSIONS : 0x1f;
            pair_inject(pair, from, &packet);
            assert_int_equal(oche_nic_rejected(nic, OCHE_REJECT_OPCODE), before + 1);
            assert_int_equal(pair->side[1 - from].errors, 0);
        }
    assert_int_equal(link.from[0].count + link.from[1].count, 0);
    /* Other transports' opcodes are no extensions. */
    struct pair_options both = {SELECTIVE};
    struct pair *other = pair_open(&both);
    for (unsigned opcode = OCHE_UC_OF_RC; opcode < OCHE_CNP; opcode++) {
        struct oche_packet packet = pair_packet(other, 0, (uint8_t)opcode, 0, 0);
        packet.ext = OCHE_EXT_RETH | OCHE_EXT_IMM | OCHE_EXT_DETH;
        pair_inject(other, 0, &packet);
    }
    assert_int_equal(oche_nic_rejected(other->side[1].nic, OCHE_REJECT_OPCODE),
                     OCHE_CNP - OCHE_UC_OF_RC);
    pair_close(other);
    /* A stranger's bit does not count. */
    struct oche_packet packet = pair_packet(pair, 1, OCHE_RC_ACK, 0, 0);
    packet.bth_reserved = OCHE_BTH_EXTENSIONS;
    packet.src = 7;
    pair_inject(pair, 1, &packet);
    write_packets(pair, 1, 0, 3);
    pair_run_quiet(pair);
    expect_opcodes(&link, 0, plain_write, 3, OCHE_BTH_EXTENSIONS);
    pair_close(pair);
}

/*
 * One packet with the bit, from the peer's address, to a queue pair whose peer is plain. Unless its
 * PSN is right, everything stays plain; otherwise the peer would reject unknown packets.
 */
static const struct {
    const char *what;
    uint8_t opcode, syndrome;
    uint32_t psn; /* data from the peer begins at 1000; 0 and 1 are acknowledged, 2 was sent */
    bool teaches;
} shown[] = {
    {"CNP", OCHE_CNP, 0, 0, false},
    {"share", OCHE_SHARE, 0, 0, false},
    {"data behind a gap", OCHE_RC_WRITE_MIDDLE, 0, 1001, false},
    {"data far off", OCHE_RC_WRITE_ONLY, 0, 5000000, false},
    {"duplicate data", OCHE_RC_WRITE_ONLY, 0, 999, false},
    {"extended data behind a gap", OCHE_RC_WRITE_LAST_AT, 0, 1001, false},
    {"old ACK", OCHE_RC_ACK, OCHE_SYNDROME_ACK, 0, false},
    {"old SACK", OCHE_RC_SACK, OCHE_SYNDROME_NAK_SEQUENCE, 1, false},
    {"old ACK with a share", OCHE_RC_ACK_SHARE, OCHE_SYNDROME_ACK, 0, false},
    {"ACK of what was not sent", OCHE_RC_ACK, OCHE_SYNDROME_ACK, 3, false},
    {"NAK far off", OCHE_RC_ACK, OCHE_SYNDROME_NAK_SEQUENCE, 9000000, false},
    {"response that was not asked for", OCHE_RC_READ_RESPONSE_ONLY, OCHE_SYNDROME_ACK, 1, false},
    {"data", OCHE_RC_WRITE_ONLY, 0, 1000, true},
    {"ACK", OCHE_RC_ACK, OCHE_SYNDROME_ACK, 2, true},
    {"NAK", OCHE_RC_ACK, OCHE_SYNDROME_NAK_SEQUENCE, 2, true},
    {"SACK", OCHE_RC_SACK, OCHE_SYNDROME_NAK_SEQUENCE, 2, true},
};

static enum pair_fate lose_third(struct pair *pair, int from, const struct oche_packet *packet)
{
    (void)pair;
    return from == 0 && packet->psn == 2 ? PAIR_DROP : PAIR_PASS;
}

static void test_who_teaches(void **state)
{
    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(shown); i++) {
        struct pair_options options = {.recovery = &oche_recovery_selective_repeat,
                                       .own_recovery_params = &params,
                                       .peer_recovery = &oche_recovery_go_back_n,
                                       .peer_recovery_params = &go_back_n,
                                       .ack_timeout = OCHE_NEVER};
        struct link link;
        struct pair *pair = open_link(&options, &link);
        const struct oche_sack sack = {.first = shown[i].psn};
        struct oche_packet packet = pair_packet(pair, 1, shown[i].opcode, shown[i].psn, 0);
        bool extended = false;

        write_packets(pair, 1, 0, 2);
        pair_run_quiet(pair);
        pair->fate = lose_third;
        write_packets(pair, 2, 0, 1);
        pair_run_quiet(pair);
        pair->fate = fate;
        packet.bth_reserved = OCHE_BTH_EXTENSIONS;
        packet.aeth = oche_aeth(shown[i].syndrome, 0);
        oche_sack_put(&packet, &sack);
        packet.ext |= OCHE_EXT_RETH;
        pair_inject(pair, 1, &packet);
        write_packets(pair, 3, 0, 3);
        for (unsigned step = 0; step < 40 && pair_step(pair, OCHE_SEC); step++)
            ;
        for (uint32_t k = 0; k < link.from[0].count; k++)
            extended |= link.from[0].packet[k].opcode >= OCHE_SCHEME_OPCODES;
        if (extended != shown[i].teaches)
            fail_msg("%s: %s", shown[i].what, extended ? "extended" : "plain");
        pair_close(pair);
    }
}

/* An unreliable queue pair of such a NIC does not use it. */
static void test_unreliable(void **state)
{
    struct pair_options options = {SELECTIVE, .transport = OCHE_TRANSPORT_UC};
    struct link link;
    struct pair *pair = open_link(&options, &link);
    struct oche_packet packet = pair_packet(pair, 0, OCHE_RC_WRITE_LAST_AT, 0, 0);

    (void)state;
    write_packets(pair, 1, 0, 3);
    pair_run_quiet(pair);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(link.from[0].packet[i].opcode, plain_write[i] + OCHE_UC_OF_RC);
        assert_int_equal(link.from[0].packet[i].bth_reserved, 0);
    }
    packet.bth_reserved = OCHE_BTH_EXTENSIONS;
    pair_inject(pair, 0, &packet);
    assert_int_equal(oche_nic_rejected(pair->side[1].nic, OCHE_REJECT_OPCODE), 1);
    pair_close(pair);
}

/* ---- losses ---- */

static void test_one_loss(void **state)
{
    struct pair_options options = {SELECTIVE};
    struct link link;
    struct pair *pair = open_link(&options, &link);

    (void)state;
    drop(&link, 3);
    write_packets(pair, 1, 0, 10);
    pair_run_quiet(pair);
    assert_string_equal(tell(&link, 0, 0), "0 1 2 3 4 5 6 7 8 9 3");
    assert_string_equal(tell(&link, 1, 0),
                        "a0 a1 a2 s3,4 s3,4,5 s3,4,5,6 s3,4,5,6,7 s3,4,5,6,7,8 s3,4,5,6,7,8,9 a9");
    assert_true(link.from[0].packet[10].bth & OCHE_BTH_ACKREQ);
    expect_written(pair, 0, 10);
    assert_int_equal(stats(pair, 0)->retransmitted_packets, 1);
    assert_int_equal(stats(pair, 0)->timeouts, 0);
    assert_int_equal(stats(pair, 1)->placed_packets, 6);
    assert_int_equal(pair->side[1].delivered_messages, 1);
    pair_close(pair);
}

/* Several losses, of several messages. When a gap closes, the next one is reported. */
static void test_gaps(void **state)
{
    struct pair_options options = {SELECTIVE};
    struct link link;
    struct pair *pair = open_link(&options, &link);

    (void)state;
    drop(&link, 1);
    drop(&link, 4);
    drop(&link, 5);
    drop(&link, 7);
    for (uint32_t i = 0; i < 5; i++)
        write_packets(pair, i, i * 8 * MTU, 2);
    pair_run_quiet(pair);
    assert_string_equal(tell(&link, 0, 0), "0 1 2 3 4 5 6 7 8 9 1 4 5 7");
    assert_string_equal(
        tell(&link, 1, 0),
        "a0 s1,2 s1,2,3 s1,2,3,6 s1,2,3,6,8 s1,2,3,6,8,9 s4,6,8,9 s5,6,8,9 s7,8,9 a9");
    for (uint32_t i = 0; i < 5; i++) {
        pair_expect(pair, 0, i, OCHE_STATUS_SUCCESS);
        expect_written(pair, i * 8 * MTU, 2);
    }
    assert_int_equal(stats(pair, 0)->timeouts, 0);
    pair_close(pair);
}

/* All NAKs but one are lost: that one is sufficient. */
static void test_one_nak_is_enough(void **state)
{
    struct pair_options options = {SELECTIVE};
    struct link link;
    struct pair *pair = open_link(&options, &link);

    (void)state;
    drop(&link, 0);
    drop(&link, 6);
    link.drop_answers = 17;
    write_packets(pair, 1, 0, 20);
    pair_run_quiet(pair);
    assert_string_equal(tell(&link, 0, 20), "0 6");
    assert_int_equal(stats(pair, 0)->timeouts, 0);
    expect_written(pair, 0, 20);
    pair_close(pair);
}

/* Only the last packet asks for an ACK. Retransmissions ask, too, so no timer is needed. */
static void test_rare_ack_requests(void **state)
{
    struct pair_options options = {SELECTIVE, .ack_every = 1000};
    struct link link;
    struct pair *pair = open_link(&options, &link);

    (void)state;
    drop(&link, 2);
    drop(&link, 19);
    write_packets(pair, 1, 0, 20);
    pair_run_quiet(pair);
    assert_string_equal(tell(&link, 0, 20), "2 19");
    assert_int_equal(stats(pair, 0)->timeouts, 1); /* for the last one: no packet came behind it */
    expect_written(pair, 0, 20);
    pair_close(pair);
}

/* Requests that are never kept are retransmitted. Packets behind them are kept. */
static void test_reads_and_atomics(void **state)
{
    struct pair_options options = {SELECTIVE};
    struct link link;
    struct pair *pair = open_link(&options, &link);
    struct oche_send_work read = pair_work(OCHE_WORK_READ, 2, 600 * 1024, 0, 3 * MTU);
    struct oche_send_work add = pair_work(OCHE_WORK_FETCH_ADD, 3, 700 * 1024, 900 * 1024, 8);

    (void)state;
    add.swap_add = 5;
    drop(&link, 1); /* of the first WRITE: the READ comes behind the gap */
    drop(&link, 5); /* the atomic */
    write_packets(pair, 1, 0, 2);
    pair_post(pair, 0, &read);
    pair_post(pair, 0, &add);
    write_packets(pair, 4, 64 * 1024, 2);
    pair_run_quiet(pair);
    for (uint64_t id = 1; id <= 4; id++)
        pair_expect(pair, 0, id, OCHE_STATUS_SUCCESS);
    assert_string_equal(tell(&link, 0, 0), "0 1 2 5 6 7 1 2 5");
    assert_memory_equal(pair->side[0].memory + 600 * 1024, pair->side[1].memory, 3 * MTU);
    assert_int_equal(pair->side[1].memory[900 * 1024], 5);
    expect_written(pair, 0, 2);
    expect_written(pair, 64 * 1024, 2);
    assert_int_equal(stats(pair, 0)->timeouts, 0);
    assert_int_equal(stats(pair, 1)->placed_packets, 2);
    pair_close(pair);
}

/*
 * Lost responses: all from there on are sent again, because other packets behind the gap were not
 * kept.
 */
static void test_lost_response(void **state)
{
    struct pair_options options = {SELECTIVE};
    struct link link;
    struct pair *pair = open_link(&options, &link);
    struct oche_send_work read = pair_work(OCHE_WORK_READ, 1, 600 * 1024, 0, 4 * MTU);

    (void)state;
    pair_post(pair, 0, &read);
    write_packets(pair, 2, 0, 3);
    link.drop_answers = 1;
    pair_run_quiet(pair);
    pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
    pair_expect(pair, 0, 2, OCHE_STATUS_SUCCESS);
    assert_string_equal(tell(&link, 0, 0), "0 4 5 6 0 4 5 6");
    assert_memory_equal(pair->side[0].memory + 600 * 1024, pair->side[1].memory, 4 * MTU);
    pair_close(pair);
}

/* SENDs into late receives, and a loss as well. */
static void test_late_receives(void **state)
{
    struct pair_options options = {SELECTIVE, .ack_every = 1000};
    struct link link;
    struct pair *pair = open_link(&options, &link);

    (void)state;
    drop(&link, 0);
    pair_post_recv(pair, 1, 0, 600 * 1024, 4 * MTU);
    for (uint32_t i = 0; i < 3; i++) {
        struct oche_send_work work = pair_work(OCHE_WORK_SEND_IMM, i, i * 8 * MTU, 0, 3 * MTU);
        work.imm = i;
        pair_post(pair, 0, &work);
    }
    pair_run(pair, 30 * OCHE_US);
    assert_int_equal(stats(pair, 1)->placed_packets,
                     2); /* of the first; the others are too early */
    assert_int_equal(pair->side[1].delivered_messages, 1);
    assert_true(stats(pair, 0)->rnr_naks_received > 0);
    pair_post_recv(pair, 1, 1, 700 * 1024, 4 * MTU);
    pair_post_recv(pair, 1, 2, 800 * 1024, 4 * MTU);
    pair_run_quiet(pair);
    for (uint32_t i = 0; i < 3; i++) {
        struct oche_completion done = pair_expect(pair, 1, i, OCHE_STATUS_SUCCESS);
        assert_int_equal(done.bytes, 3 * MTU);
        assert_int_equal(done.imm, i);
        assert_memory_equal(pair->side[1].memory + (600 + i * 100) * 1024,
                            pair->side[0].memory + i * 8 * MTU, 3 * MTU);
        pair_expect(pair, 0, i, OCHE_STATUS_SUCCESS);
    }
    assert_int_equal(stats(pair, 0)->timeouts, 0);
    pair_close(pair);
}

/* Losses of a long message: only lost packets are sent twice, and the memory is right. */
static void test_many_losses(void **state)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct pair_options options = {SELECTIVE, .no_payload = seed % 5 == 0};
        struct oche_random random = oche_random_stream(seed, "losses", 0);
        struct link link;
        struct pair *pair = open_link(&options, &link);

        (void)state;
        for (uint32_t i = 0; i < 8; i++)
            drop(&link, 23 * i + (uint32_t)oche_random_below(&random, 23));
        write_packets(pair, 1, 0, 200);
        pair_run_quiet(pair);
        uint32_t lost = 0;
        for (uint32_t i = 0; i < 8; i++)
            lost += link.drop[i] == UINT32_MAX;
        assert_int_equal(stats(pair, 0)->retransmitted_packets, lost);
        assert_int_equal(stats(pair, 0)->timeouts, 0);
        if (!options.no_payload)
            expect_written(pair, 0, 200);
        assert_int_equal(pair->side[1].delivered_bytes, 200 * MTU);
        pair_close(pair);
    }
}

static uint32_t losses_told;

static void count_loss(struct oche_cc_flow *flow, oche_time now, enum oche_cc_loss kind)
{
    (void)flow;
    (void)now;
    losses_told += kind == OCHE_CC_LOSS_NAK;
}

/* Congestion control is told of a loss once, not with each NAK. */
static void test_loss_is_told_once(void **state)
{
    struct oche_cc_scheme cc = pair_cc_idle;
    struct pair_options options = {SELECTIVE, .cc = &cc};
    struct link link;

    (void)state;
    cc.loss = count_loss;
    losses_told = 0;
    struct pair *pair = open_link(&options, &link);
    drop(&link, 3);
    drop(&link, 5);
    drop(&link, 60);
    write_packets(pair, 1, 0, 100);
    pair_run_quiet(pair);
    assert_in_range(stats(pair, 0)->naks_received, 20, 100);
    assert_int_equal(losses_told, 2);
    pair_close(pair);
}

/* ---- timer ---- */

static void test_timer(void **state)
{
    struct pair_options options = {SELECTIVE};
    struct link link;
    struct pair *pair = open_link(&options, &link);

    (void)state;
    /* The last of a message, with at most three outstanding: rto_low. */
    drop(&link, 2);
    write_packets(pair, 1, 0, 3);
    pair_run_quiet(pair);
    assert_string_equal(tell(&link, 0, 0), "0 1 2 2");
    oche_time waited = link.from[0].time[3] - link.from[0].time[2];
    assert_in_range(waited, 100 * OCHE_US, 104 * OCHE_US);
    pair_close(pair);
    /* More than a few: rto_high, though the timer was started with only one outstanding. */
    pair = open_link(&options, &link);
    for (uint32_t i = 0; i < 8; i++)
        drop(&link, i);
    write_packets(pair, 1, 0, 8);
    pair_run_quiet(pair);
    assert_string_equal(tell(&link, 0, 8), "0 1 2 3 4 5 6 7");
    waited = link.from[0].time[8] - link.from[0].time[0];
    assert_in_range(waited, 320 * OCHE_US, 321 * OCHE_US);
    assert_int_equal(stats(pair, 0)->timeouts, 1); /* the answer to 0 shows that the rest is lost */
    pair_close(pair);
    /* A round trip longer than rto_low, but with many outstanding: no timeout. */
    options.delay = 60 * OCHE_US;
    pair = open_link(&options, &link);
    write_packets(pair, 1, 0, 50);
    pair_run_quiet(pair);
    assert_int_equal(stats(pair, 0)->timeouts, 0);
    pair_close(pair);
    /* No timer: a loss without a later packet is never found. */
    options.ack_timeout = OCHE_NEVER;
    pair = open_link(&options, &link);
    drop(&link, 2);
    write_packets(pair, 1, 0, 3);
    pair_run_quiet(pair);
    assert_string_equal(tell(&link, 0, 0), "0 1 2");
    pair_close(pair);
}

/* The window: the maximum of outstanding packets. */
static void test_window(void **state)
{
    struct pair_options options = {SELECTIVE, .delay = 50 * OCHE_US};
    struct link link;
    struct pair *pair = open_link(&options, &link);

    (void)state;
    write_packets(pair, 1, 0, 200);
    pair_run(pair, 60 * OCHE_US);
    assert_int_equal(link.from[0].count, 110);
    pair_run_quiet(pair);
    assert_int_equal(link.from[0].count, 200);
    pair_close(pair);
}

/* ---- nonsense ---- */

static void test_hostile_sacks(void **state)
{
    struct pair_options options = {SELECTIVE, .ack_timeout = OCHE_NEVER};
    struct link link;
    struct pair *pair = open_link(&options, &link);
    struct oche_packet good = pair_packet(pair, 1, OCHE_RC_SACK, 4, 0), bad;

    (void)state;
    link.drop_answers = UINT32_MAX;
    write_packets(pair, 1, 0, 10);
    pair_run_quiet(pair);
    good.aeth = oche_aeth(OCHE_SYNDROME_NAK_SEQUENCE, 0);
    good.bth_reserved = OCHE_BTH_EXTENSIONS;
    oche_sack_put(&good, &(struct oche_sack){.first = 4, .count = 6, .bits = 0x22});
#define WRONG(psn_, aeth_, first_, count_, bits_)                                                  \
    bad = good;                                                                                    \
    bad.psn = (psn_);                                                                              \
    bad.aeth = (aeth_);                                                                            \
    oche_sack_put(&bad,                                                                            \
                  &(struct oche_sack){.first = (first_), .count = (count_), .bits = (bits_)});     \
    pair_inject(pair, 1, &bad);                                                                    \
    assert_int_equal(oche_nic_rejected(pair->side[0].nic, OCHE_REJECT_PSN), ++rejects);            \
    assert_int_equal(link.from[0].count, 10)
    uint64_t rejects = 0;
    WRONG(4, good.aeth, 4, 7, 0x22); /* 10 was never sent */
    WRONG(4, good.aeth, 9, 2, 1);
    WRONG(4, good.aeth, 1000, 6, 0x22);
    WRONG(4, good.aeth, 3, 6, 0x22); /* begins before what it misses */
    WRONG(4, good.aeth, 4, 6, 0x23); /* has what it misses */
    WRONG(4, good.aeth, 4, 5, 0x22); /* says more than it counts */
    WRONG(4, good.aeth, 4, 65, 0x22);
    WRONG(4, good.aeth, 4, 255, 0x22);
    WRONG(4, oche_aeth(OCHE_SYNDROME_ACK, 0), 4, 6, 0x22); /* not a NAK */
    WRONG(4, oche_aeth(OCHE_SYNDROME_RNR, 0), 4, 6, 0x22);
    WRONG(4, oche_aeth(OCHE_SYNDROME_NAK_REMOTE_ACCESS, 0), 4, 6, 0x22);
    WRONG(10, good.aeth, 10, 0, 0); /* misses what was never sent */
    WRONG(1000, good.aeth, 1000, 0, 0);
#undef WRONG
    bad = good;
    bad.ext = 0;
    pair_inject(pair, 1, &bad);
    assert_int_equal(oche_nic_rejected(pair->side[0].nic, OCHE_REJECT_PSN), ++rejects);
    assert_int_equal(link.from[0].count, 10);
    assert_int_equal(pair->side[0].errors, 0);
    pair_expect_none(pair, 0);
    /* The valid one counts, once. One for an acknowledged PSN no longer counts. */
    pair_inject(pair, 1, &good);
    assert_string_equal(tell(&link, 0, 10), "4 6 7 8");
    pair_inject(pair, 1, &good);
    bad = good;
    bad.psn = 3;
    pair_inject(pair, 1, &bad);
    assert_int_equal(link.from[0].count, 14);
    pair_close(pair);
}

/* ---- pacing ---- */

/* A packet with its headers takes its time at the given rate. */
static void test_pacing(void **state)
{
    struct pair_options options = {SELECTIVE};
    struct link link;
    struct pair *pair = open_link(&options, &link);
    uint64_t rate = 3 * OCHE_GBPS;

    (void)state;
    oche_qp_set_rate_limit(pair->side[0].qp[0], rate, pair->now);
    write_packets(pair, 1, 0, 20);
    pair_run_quiet(pair);
    for (uint32_t i = 1; i + 1 < 20; i++) {
        assert_int_equal(link.from[0].packet[i].frame_bytes,
                         oche_frame_bytes(OCHE_RC_WRITE_MIDDLE_AT, MTU, false));
        assert_int_equal(
            link.from[0].time[i + 1] - link.from[0].time[i],
            oche_time_of_bytes(link.from[0].packet[i].frame_bytes + OCHE_GAP_BYTES, rate));
    }
    pair_close(pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_found_out),
        cmocka_unit_test(test_alone),
        cmocka_unit_test(test_unasked),
        cmocka_unit_test(test_who_teaches),
        cmocka_unit_test(test_unreliable),
        cmocka_unit_test(test_one_loss),
        cmocka_unit_test(test_gaps),
        cmocka_unit_test(test_one_nak_is_enough),
        cmocka_unit_test(test_rare_ack_requests),
        cmocka_unit_test(test_reads_and_atomics),
        cmocka_unit_test(test_lost_response),
        cmocka_unit_test(test_late_receives),
        cmocka_unit_test(test_many_losses),
        cmocka_unit_test(test_loss_is_told_once),
        cmocka_unit_test(test_timer),
        cmocka_unit_test(test_window),
        cmocka_unit_test(test_hostile_sacks),
        cmocka_unit_test(test_pacing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
