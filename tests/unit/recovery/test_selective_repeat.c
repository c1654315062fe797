/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Selective repeat by itself: the sender's next packets one by one, and the receiver's decisions
 * and reports. Everything is done twice, the second time across the wrap of PSNs.
 */
#include "tests/support/test.h"

#include <stdarg.h>
#include <stdlib.h>

#include "core/random.h"
#include "core/recovery/selective_repeat.h"
#include "core/wire/opcode.h"

#define SCHEME oche_recovery_selective_repeat
#define END    UINT32_MAX /* of a list of PSNs */

static const uint32_t bases[] = {0, OCHE_PSN_MASK - 6};

/* Both halves of one queue pair; PSNs in the tests are relative to `base`. */
struct end {
    struct oche_selective_repeat_params params;
    struct oche_recovery_tx tx;
    struct oche_recovery_rx rx;
    struct oche_recovery_reply reply;
    uint32_t base;
    bool stuck; /* una waits for responses */
};

static struct end *open_end(uint32_t base, bool extended)
{
    struct end *end = calloc(1, sizeof(*end));

    assert_non_null(end);
    end->base = base;
    oche_param_defaults(&SCHEME.table, &end->params);
    end->tx = (struct oche_recovery_tx){.una = base,
                                        .next = base,
                                        .high = base,
                                        .params = &end->params,
                                        .state = calloc(1, SCHEME.tx_state_bytes)};
    end->rx = (struct oche_recovery_rx){.epsn = base,
                                        .timer = OCHE_NEVER,
                                        .params = &end->params,
                                        .state = calloc(1, SCHEME.rx_state_bytes)};
    if (extended)
        SCHEME.extend(&end->tx, &end->rx);
    return end;
}

static void close_end(struct end *end)
{
    free(end->tx.state);
    free(end->rx.state);
    free(end);
}

/* ---- sender ---- */

static void check_tx(const struct end *end)
{
    assert_true(oche_psn_diff(end->tx.next, end->tx.una) >= 0);
    assert_true(oche_psn_diff(end->tx.high, end->tx.next) >= 0);
}

/* The next packet leaves and is returned. `psns`: more than 1 for a READ. */
static uint32_t leave(struct end *end, uint32_t psns)
{
    struct oche_recovery_tx *tx = &end->tx;
    uint32_t psn = tx->next;

    tx->next = oche_psn_add(tx->next, psns);
    if (oche_psn_diff(tx->next, tx->high) > 0)
        tx->high = tx->next;
    SCHEME.sent(tx, psn, false, 0);
    check_tx(end);
    return (psn - end->base) & OCHE_PSN_MASK;
}

/* These leave next, in this order. */
static void expect(struct end *end, ...)
{
    va_list list;

    va_start(list, end);
    for (uint32_t psn; (psn = va_arg(list, uint32_t)) != END;)
        assert_int_equal(leave(end, 1), psn);
    va_end(list);
}

static void send(struct end *end, uint32_t packets)
{
    while (packets-- > 0)
        leave(end, 1);
}

static void acked(struct end *end, uint32_t una)
{
    end->tx.una = oche_psn_add(end->base, una);
    if (oche_psn_diff(end->tx.una, end->tx.next) > 0)
        end->tx.next = end->tx.una;
    SCHEME.acked(&end->tx, 0);
    check_tx(end);
}

/* NAK(psn): of [first, first + count) the bits have arrived. Moves una as the queue pair does. */
static bool sacked(struct end *end, uint32_t psn, uint32_t first, uint32_t count, uint64_t bits)
{
    struct oche_sack sack = {
        .first = oche_psn_add(end->base, first), .count = (uint8_t)count, .bits = bits};

    if (oche_psn_add(end->base, psn) != end->tx.una && !end->stuck)
        acked(end, psn);
    bool is_new = SCHEME.sacked(&end->tx, oche_psn_add(end->base, psn), &sack, 0);
    check_tx(end);
    return is_new;
}

static void test_one_hole(uint32_t base)
{
    struct end *end = open_end(base, true);

    send(end, 10);
    assert_true(sacked(end, 2, 2, 2, 0x2));   /* 3 came */
    assert_false(sacked(end, 2, 2, 3, 0x6));  /* 4 came */
    assert_false(sacked(end, 2, 2, 4, 0xe));  /* 5 came */
    expect(end, 2, 10, 11, END);              /* the hole, then new ones */
    assert_false(sacked(end, 2, 2, 8, 0xfe)); /* 9 came: no new loss */
    expect(end, 12, END);
    acked(end, 10); /* that was all up to 9: recovery is over */
    expect(end, 13, END);
    assert_true(sacked(end, 12, 12, 2, 0x2)); /* another loss */
    expect(end, 12, 14, END);
    close_end(end);
}

static void test_many_holes(uint32_t base)
{
    struct end *end = open_end(base, true);

    send(end, 20);
    sacked(end, 0, 0, 9, 0x112);                 /* 1, 4, 8 came */
    expect(end, 0, 2, END);                      /* 3 is next … */
    sacked(end, 0, 0, 12, 0x11a);                /* … but came late; of 9 to 11 none came */
    expect(end, 5, 6, 7, 9, 10, 11, END);        /* 11 came and was not kept */
    expect(end, 20, END);                        /* new: 12 to 19 may be on their way */
    assert_false(sacked(end, 0, 0, 13, 0x11fa)); /* 5, 6, 7 and 12 came */
    expect(end, 21, END);                        /* 0, 2, 9, 10, 11 are on their way: not again */
    acked(end, 2);
    expect(end, 22, END);
    sacked(end, 2, 2, 13, 0x1c7e); /* 9 is there now, and 12 to 14 */
    expect(end, 23, END);
    acked(end, 9); /* of which we knew */
    expect(end, 24, END);
    sacked(end, 11, 11, 7, 0x4e); /* 15 and 16 are missing */
    expect(end, 15, 16, 25, END);
    close_end(end);
}

/* A packet that is lost during a recovery belongs to it, or to the next one. */
static void test_loss_during_recovery(uint32_t base)
{
    struct end *end = open_end(base, true);

    send(end, 5);
    assert_true(sacked(end, 1, 1, 2, 0x2));
    expect(end, 1, 5, 6, 7, 8, END);
    assert_false(sacked(end, 1, 1, 6, 0x2e)); /* 6 came, 5 did not */
    expect(end, 5, END);
    acked(end, 5); /* the first recovery is over, 5 is on its way */
    expect(end, 9, END);
    assert_false(sacked(end, 5, 5, 2, 0x2)); /* still the known loss */
    acked(end, 7);
    assert_false(sacked(end, 7, 7, 2, 0x2)); /* 7 was sent before the repair was complete */
    expect(end, 7, 10, END);
    acked(end, 9);
    acked(end, 11);
    assert_int_equal(end->tx.next, end->tx.high);
    expect(end, 11, 12, END);
    assert_true(sacked(end, 11, 11, 2, 0x2));
    close_end(end);
}

/* Lost twice: only a timeout finds that, and resends every packet known to be missing. */
static void test_lost_twice(uint32_t base)
{
    struct end *end = open_end(base, true);

    send(end, 10);
    sacked(end, 3, 3, 5, 0x16); /* 4, 5, 7 came */
    expect(end, 3, 6, 10, END);
    sacked(end, 3, 3, 8, 0xf6); /* 8, 9, 10: 3 and 6 are still missing */
    expect(end, 11, END);
    SCHEME.timeout(&end->tx, 0);
    expect(end, 3, 6, 12, END);
    sacked(end, 6, 6, 6, 0x3e); /* 11 has come as well */
    expect(end, 13, END);
    /* An ACK would show that it has not, because it was sent before 3 was resent. */
    SCHEME.timeout(&end->tx, 0);
    expect(end, 6, 14, END);
    acked(end, 12);
    expect(end, 12, 13, 15, END);
    close_end(end);
}

/*
 * No packet came behind the lost ones: one packet asks, and the answer shows that the rest is lost.
 */
static void test_timeout(uint32_t base)
{
    struct end *end = open_end(base, true);

    send(end, 10);
    acked(end, 4);
    SCHEME.timeout(&end->tx, 0);
    expect(end, 4, 10, END);
    acked(end, 5);
    expect(end, 5, 6, 7, 8, 9, 11, END);
    acked(end, 6); /* they are on their way */
    expect(end, 12, END);
    acked(end, 10);
    acked(end, 12);
    expect(end, 13, 14, 15, END);
    /* Only an ACK was lost: nothing more is sent. */
    SCHEME.timeout(&end->tx, 0);
    expect(end, 12, END);
    acked(end, 16);
    assert_int_equal(end->tx.next, end->tx.high);
    /* A second timeout before any answer. */
    send(end, 4);
    SCHEME.timeout(&end->tx, 0);
    SCHEME.timeout(&end->tx, 0);
    assert_int_equal(leave(end, 1), 16);
    SCHEME.timeout(&end->tx, 0);
    assert_int_equal(leave(end, 1), 16);
    /* And one whose ACK comes before any packet has left. */
    SCHEME.timeout(&end->tx, 0);
    acked(end, 17);
    expect(end, 17, 18, 19, END);
    acked(end, 20);
    send(end, 4);
    SCHEME.timeout(&end->tx, 0);
    acked(end, 24);
    expect(end, 24, END);
    close_end(end);
    end = open_end(base, true);
    send(end, 20);
    acked(end, 16);
    SCHEME.timeout(&end->tx, 0);
    assert_int_equal(leave(end, 1), 16);
    assert_int_equal(leave(end, 1), 20);
    /* The answer is a NAK: it knows better than we which packets are missing. */
    sacked(end, 17, 17, 2, 0x2);
    expect(end, 17, 19, 21, END);
    close_end(end);
}

/* The oldest packet is reported as received, but is not acknowledged: the report is dropped. */
static void test_false_claim(uint32_t base)
{
    struct end *end = open_end(base, true);

    send(end, 10);
    sacked(end, 0, 0, 10, 0x3fe);
    expect(end, 0, END);
    acked(end, 1); /* and no further: it waits for a receive, or the report was wrong */
    assert_int_equal(end->tx.next, end->tx.high);
    SCHEME.timeout(&end->tx, 0);
    expect(end, 1, END);
    acked(end, 2);
    expect(end, 2, 3, 4, 5, 6, 7, 8, 9, 10, END);
    close_end(end);
}

/* A SACK that reaches farther than our window: only its NAK counts. */
static void test_far_claim(uint32_t base)
{
    struct end *end = open_end(base, true);

    leave(end, 1);
    leave(end, 10000); /* a READ */
    leave(end, 1);
    sacked(end, 0, 9990, 12, 0x800);
    expect(end, 0, 10002, END);
    close_end(end);
}

/*
 * Missing responses: the READ again, and all packets behind it that are not known to have arrived.
 */
static void test_response_gap(uint32_t base)
{
    struct end *end = open_end(base, true);

    leave(end, 1);
    leave(end, 8); /* READ: 1 to 8 */
    send(end, 3);  /* 9, 10, 11 */
    acked(end, 3);
    SCHEME.nak(&end->tx, end->tx.una, 0);
    assert_int_equal(leave(end, 6), 3); /* the rest of it */
    expect(end, 9, 10, 11, 12, END);
    /* Before it has left, a NAK reports the arrived and the missing ones. */
    end->stuck = true;
    SCHEME.nak(&end->tx, end->tx.una, 0);
    sacked(end, 10, 10, 2, 0x2); /* 11 came */
    assert_int_equal(leave(end, 6), 3);
    expect(end, 10, 12, 13, END);
    /* Before it has left, one response comes after all. */
    SCHEME.nak(&end->tx, end->tx.una, 0);
    acked(end, 4);
    assert_int_equal(leave(end, 5), 4);
    expect(end, 9, 10, 11, 12, 13, 14, END);
    /* A READ request that got lost itself. */
    struct end *other = open_end(base, true);
    leave(other, 1);
    leave(other, 8);
    send(other, 3);
    sacked(other, 1, 1, 10, 0x300); /* 9 and 10 came */
    assert_int_equal(leave(other, 8), 1);
    expect(other, 12, END);
    close_end(other);
    /* … and again. The known arrivals are no reason to request only a part. */
    other = open_end(base, true);
    leave(other, 1);
    leave(other, 8);
    send(other, 3);
    sacked(other, 1, 1, 0, 0);
    assert_int_equal(leave(other, 8), 1);
    expect(other, 12, END);
    sacked(other, 1, 1, 10, 0x300);
    expect(other, 13, END);
    close_end(other);
    close_end(end);
}

static void test_plain_sender(uint32_t base)
{
    struct end *end = open_end(base, false);

    send(end, 10);
    acked(end, 3);
    SCHEME.nak(&end->tx, end->tx.una, 0);
    expect(end, 3, 4, 5, 6, 7, 8, 9, 10, END);
    acked(end, 5);
    SCHEME.timeout(&end->tx, 0);
    expect(end, 5, 6, END);
    acked(end, 7);
    expect(end, 7, 8, 9, 10, 11, END);
    /* The peer shows the extensions in the middle of it: the NAK is sufficient. */
    SCHEME.nak(&end->tx, end->tx.una, 0);
    expect(end, 7, END);
    SCHEME.extend(&end->tx, &end->rx);
    sacked(end, 8, 8, 3, 0x4);
    expect(end, 8, 9, 12, END);
    close_end(end);
}

static void test_timers(uint32_t base)
{
    struct end *end = open_end(base, true);

    send(end, 3);
    assert_int_equal(SCHEME.rto(&end->tx, OCHE_NEVER), 100 * OCHE_US);
    send(end, 1);
    assert_int_equal(SCHEME.rto(&end->tx, OCHE_NEVER), 320 * OCHE_US);
    acked(end, 1);
    assert_int_equal(SCHEME.rto(&end->tx, OCHE_NEVER), 100 * OCHE_US);
    end->params.few_packets = 0;
    assert_int_equal(SCHEME.rto(&end->tx, OCHE_NEVER), 320 * OCHE_US);
    assert_int_equal(SCHEME.window_packets(&end->params), 110);
    close_end(end);
}

/*
 * RFC 6298: the smoothed round trip plus four deviations, which are at least rto_low and half of
 * it.
 */
static void test_measured_timers(uint32_t base)
{
    struct end *end = open_end(base, true);

    assert_false(SCHEME.wants_rtt(&end->params));
    end->params.rto = OCHE_SELECTIVE_RTO_MEASURED;
    assert_true(SCHEME.wants_rtt(&end->params));
    end->params.rto_low = 5 * OCHE_MS;
    end->params.rto_high = 200 * OCHE_MS;
    send(end, 8);
    assert_int_equal(SCHEME.rto(&end->tx, OCHE_NEVER), 200 * OCHE_MS); /* nothing is known */
    assert_int_equal(SCHEME.rto(&end->tx, 67 * OCHE_MS), 67 * OCHE_MS);
    SCHEME.measured(&end->tx, OCHE_MS);
    assert_int_equal(SCHEME.rto(&end->tx, OCHE_NEVER), 6 * OCHE_MS);
    for (unsigned i = 0; i < 100; i++)
        SCHEME.measured(&end->tx, 40 * OCHE_MS);
    assert_true(SCHEME.rto(&end->tx, OCHE_NEVER) > 59 * OCHE_MS &&
                SCHEME.rto(&end->tx, OCHE_NEVER) <= 60 * OCHE_MS);
    SCHEME.measured(&end->tx, 200 * OCHE_MS); /* 40 + 160 / 8, and 4 * 160 / 4 */
    assert_true(SCHEME.rto(&end->tx, OCHE_NEVER) > 219 * OCHE_MS &&
                SCHEME.rto(&end->tx, OCHE_NEVER) <= 221 * OCHE_MS);
    const oche_time rto = SCHEME.rto(&end->tx, OCHE_NEVER);
    SCHEME.rnr_over(&end->tx, 0); /* a receiver that was not ready is no loss */
    assert_int_equal(SCHEME.rto(&end->tx, OCHE_NEVER), rto);
    SCHEME.timeout(&end->tx, 0);
    assert_int_equal(SCHEME.rto(&end->tx, OCHE_NEVER), 2 * rto);
    for (unsigned i = 0; i < 20; i++)
        SCHEME.timeout(&end->tx, 0);
    assert_int_equal(SCHEME.rto(&end->tx, OCHE_NEVER), 64 * rto);
    assert_int_equal(SCHEME.rto(&end->tx, 3 * rto), 3 * rto); /* no longer than the ACK timeout */
    assert_int_equal(SCHEME.rto(&end->tx, rto / 2), rto); /* but never below the measured value */
    acked(end, 1);
    assert_int_equal(SCHEME.rto(&end->tx, OCHE_NEVER), rto);
    close_end(end);
}

/* ---- receiver ---- */

static enum oche_verdict arrive_as(struct end *end, uint32_t psn, uint8_t opcode)
{
    struct oche_packet packet = {.psn = oche_psn_add(end->base, psn), .opcode = opcode};

    end->reply = (struct oche_recovery_reply){0};
    enum oche_verdict verdict = SCHEME.arrived(&end->rx, &packet, 0, &end->reply);
    bool gap = oche_psn_diff(packet.psn, end->rx.epsn) > 0;
    if (!gap)
        assert_false(end->reply.send_nak);
    if (end->reply.send_nak)
        assert_int_equal(end->reply.nak_psn, end->rx.epsn);
    return verdict;
}

static enum oche_verdict arrive(struct end *end, uint32_t psn)
{
    enum oche_verdict verdict = arrive_as(end, psn, OCHE_RC_WRITE_MIDDLE_AT);

    if (verdict == OCHE_VERDICT_PLACE)
        SCHEME.placed(&end->rx, oche_psn_add(end->base, psn));
    return verdict;
}

/* The packet at the expected PSN is executed; `psns`: more than 1 for a READ. */
static void accept(struct end *end, uint32_t psns)
{
    struct oche_packet packet = {.psn = end->rx.epsn};

    end->rx.epsn = oche_psn_add(end->rx.epsn, psns);
    SCHEME.accepted(&end->rx, &packet, 0);
}

static bool holds(const struct end *end, uint32_t psn)
{
    return SCHEME.holds(&end->rx, oche_psn_add(end->base, psn));
}

static bool expect_sack(struct end *end, uint32_t first, uint32_t count, uint64_t bits)
{
    struct oche_sack sack;

    bool more = SCHEME.sack(&end->rx, &sack);
    assert_int_equal(sack.first, oche_psn_add(end->base, first));
    assert_int_equal(sack.count, count);
    assert_int_equal(sack.bits, bits);
    return more;
}

static void test_receiver(uint32_t base)
{
    struct end *end = open_end(base, true);

    expect_sack(end, 0, 0, 0);
    assert_int_equal(arrive(end, 0), OCHE_VERDICT_DELIVER);
    accept(end, 1);
    assert_int_equal(arrive(end, 0), OCHE_VERDICT_DUPLICATE);
    assert_true(end->reply.send_ack);
    assert_int_equal(arrive_as(end, 0, OCHE_RC_READ_REQUEST), OCHE_VERDICT_DUPLICATE);
    assert_false(end->reply.send_ack); /* its responses are the answer */
    assert_int_equal(arrive(end, 3), OCHE_VERDICT_PLACE);
    assert_true(end->reply.send_nak);
    expect_sack(end, 1, 3, 0x4);
    assert_int_equal(arrive(end, 5), OCHE_VERDICT_PLACE);
    expect_sack(end, 1, 5, 0x14);
    assert_int_equal(arrive(end, 3), OCHE_VERDICT_PLACED);
    assert_true(end->reply.send_nak);
    assert_true(holds(end, 3) && holds(end, 5) && !holds(end, 4) && !holds(end, 1));
    assert_int_equal(arrive(end, 1), OCHE_VERDICT_DELIVER);
    accept(end, 1);
    expect_sack(end, 2, 4, 0xa);
    assert_int_equal(arrive(end, 2), OCHE_VERDICT_DELIVER);
    accept(end, 1);
    assert_true(holds(end, 3));
    accept(end, 1);
    assert_false(holds(end, 4));
    expect_sack(end, 4, 2, 0x2);
    accept(end, 1); /* 4 */
    accept(end, 1); /* 5 */
    expect_sack(end, 6, 0, 0);
    for (uint32_t i = 0; i < 20; i++)
        assert_false(holds(end, i));
    close_end(end);
}

/* Packets that come but cannot be kept are reported as received. */
static void test_not_kept(uint32_t base)
{
    struct end *end = open_end(base, true);

    assert_int_equal(arrive_as(end, 2, OCHE_RC_READ_REQUEST), OCHE_VERDICT_PLACE);
    expect_sack(end, 0, 3, 0);
    assert_int_equal(arrive_as(end, 2, OCHE_RC_READ_REQUEST), OCHE_VERDICT_PLACE);
    assert_int_equal(arrive(end, 12), OCHE_VERDICT_PLACE);
    expect_sack(end, 0, 13, 0x1000);
    accept(end, 1);
    accept(end, 1);
    accept(end, 10); /* the READ */
    assert_true(holds(end, 12));
    accept(end, 1);
    expect_sack(end, 13, 0, 0);
    close_end(end);
}

static void test_receiver_window(uint32_t base)
{
    struct end *end = open_end(base, true);

    assert_int_equal(arrive(end, 110), OCHE_VERDICT_DROP);
    assert_true(end->reply.send_nak);
    expect_sack(end, 0, 0, 0); /* unknown content: not reported */
    assert_int_equal(arrive(end, UINT32_C(1) << 22), OCHE_VERDICT_DROP);
    assert_int_equal(arrive(end, 109), OCHE_VERDICT_PLACE);
    expect_sack(end, 46, 64, UINT64_C(1) << 63);
    assert_int_equal(arrive(end, 63), OCHE_VERDICT_PLACE);
    expect_sack(end, 0, 64, UINT64_C(1) << 63);
    assert_int_equal(arrive(end, 64), OCHE_VERDICT_PLACE);
    expect_sack(end, 1, 64, UINT64_C(3) << 62);
    assert_int_equal(arrive(end, 2), OCHE_VERDICT_PLACE);
    expect_sack(end, 0, 64, UINT64_C(1) << 63 | 4);
    accept(end, 1);
    expect_sack(end, 1, 64, UINT64_C(3) << 62 | 2);
    for (uint32_t i = 1; i < 60; i++)
        accept(end, 1);
    expect_sack(end, 60, 50, UINT64_C(1) << 49 | 0x18);
    close_end(end);
}

/* Many come before a NAK can leave: as many NAKs as necessary report all of them. */
static void test_reports(uint32_t base)
{
    struct end *end = open_end(base, true);

    for (uint32_t psn = 1; psn <= 100; psn++)
        if (psn != 70)
            assert_int_equal(arrive(end, psn), OCHE_VERDICT_PLACE);
    assert_true(expect_sack(end, 1, 64, UINT64_MAX));
    assert_false(expect_sack(end, 37, 64, ~(UINT64_C(1) << 33)));
    /* Requested once more, with nothing new: the last ones again. */
    assert_false(expect_sack(end, 37, 64, ~(UINT64_C(1) << 33)));
    /* A late packet counts as new wherever it lies. So does a duplicate. */
    arrive(end, 70);
    arrive(end, 101);
    assert_false(expect_sack(end, 38, 64, UINT64_MAX));
    arrive(end, 20);
    arrive(end, 102);
    assert_true(expect_sack(end, 20, 64, UINT64_MAX));
    arrive(end, 103); /* while the second one waits */
    assert_false(expect_sack(end, 40, 64, UINT64_MAX));
    /* In between the gap closes up to there. */
    arrive(end, 105);
    for (uint32_t psn = 0; psn <= 103; psn++)
        accept(end, 1);
    assert_false(expect_sack(end, 104, 2, 0x2));
    close_end(end);
}

static void test_plain_receiver(uint32_t base)
{
    struct end *end = open_end(base, false);

    assert_int_equal(arrive(end, 1), OCHE_VERDICT_DROP);
    assert_true(end->reply.send_nak);
    assert_int_equal(arrive(end, 2), OCHE_VERDICT_DROP);
    assert_false(end->reply.send_nak);
    assert_int_equal(arrive(end, 0), OCHE_VERDICT_DELIVER);
    accept(end, 1);
    assert_int_equal(arrive(end, 2), OCHE_VERDICT_DROP);
    assert_true(end->reply.send_nak);
    assert_int_equal(arrive(end, 0), OCHE_VERDICT_DUPLICATE);
    assert_false(end->reply.send_ack);
    /* Once around the circle: the same PSN, another gap. */
    accept(end, 1);
    accept(end, UINT32_C(1) << 23);
    accept(end, (UINT32_C(1) << 23) - 1);
    assert_int_equal(arrive(end, 2), OCHE_VERDICT_DROP);
    assert_true(end->reply.send_nak);
    SCHEME.extend(&end->tx, &end->rx);
    assert_int_equal(arrive(end, 2), OCHE_VERDICT_PLACE);
    assert_true(end->reply.send_nak);
    close_end(end);
}

/* ---- both ---- */

#define PACKETS 600
#define DELAY   40 /* packets, there and back */

/* A link that keeps the order. Returns the answer that arrives DELAY packets after one has left. */
struct answer {
    bool there, nak;
    uint32_t psn;
    struct oche_sack sack;
};

struct both {
    struct end *sender, *receiver;
    struct answer answers[DELAY];
    uint32_t time, quiet;
    uint8_t times[PACKETS];
    bool lost[PACKETS];
};

static void take_answer(struct both *b, struct answer *answer)
{
    struct end *sender = b->sender;
    uint32_t psn = (answer->psn - sender->base) & OCHE_PSN_MASK;

    b->quiet = answer->there ? 0 : b->quiet + 1;
    if (answer->there && answer->nak)
        sacked(sender, psn, (answer->sack.first - sender->base) & OCHE_PSN_MASK, answer->sack.count,
               answer->sack.bits);
    else if (answer->there && answer->psn != sender->tx.una)
        acked(sender, psn);
    answer->there = false;
    if (b->quiet <= 2 * DELAY)
        return;
    SCHEME.timeout(&sender->tx, 0);
    b->quiet = 0;
}

static void give_answer(struct both *b, uint32_t psn, struct answer *answer)
{
    struct end *receiver = b->receiver;

    if (arrive(receiver, psn) == OCHE_VERDICT_DELIVER)
        do
            accept(receiver, 1);
        while (SCHEME.holds(&receiver->rx, receiver->rx.epsn));
    answer->there = true;
    answer->psn = receiver->rx.epsn;
    SCHEME.sack(&receiver->rx, &answer->sack);
    answer->nak = receiver->reply.send_nak || answer->sack.count > 0;
}

/*
 * Packets are lost, each at most once. All others are sent once, the lost ones twice. Only the last
 * ones need a timer.
 */
static void run_losses(uint64_t seed)
{
    struct oche_random random = oche_random_stream(seed, "selective repeat", 0);
    uint32_t base = (uint32_t)oche_random_u64(&random) & OCHE_PSN_MASK;
    uint32_t loss = (uint32_t)oche_random_below(&random, 400);
    struct both *b = calloc(1, sizeof(*b));

    assert_non_null(b);
    b->sender = open_end(base, true);
    b->receiver = open_end(base, true);
    while (b->sender->tx.una != oche_psn_add(base, PACKETS)) {
        const struct oche_recovery_tx *tx = &b->sender->tx;
        struct answer *answer = &b->answers[b->time++ % DELAY];
        assert_true(b->time < 20 * PACKETS);
        take_answer(b, answer);
        uint32_t next = (tx->next - base) & OCHE_PSN_MASK;
        if (next == PACKETS || ((tx->next - tx->una) & OCHE_PSN_MASK) >= 110)
            continue;
        leave(b->sender, 1);
        bool lost = b->times[next]++ == 0 && oche_random_below(&random, 1000) < loss;
        b->lost[next] |= lost;
        if (lost)
            continue;
        give_answer(b, next, answer);
    }
    for (uint32_t i = 0; i < PACKETS; i++)
        assert_int_equal(b->times[i], b->lost[i] ? 2 : 1);
    close_end(b->sender);
    close_end(b->receiver);
    free(b);
}

static void test_losses(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++)
        run_losses(seed);
}

/* Extensions are enabled together or not at all. The parameters are those of IRN. */
static void test_registry(void **state)
{
    struct oche_selective_repeat_params preset;

    (void)state;
    assert_ptr_equal(oche_recovery_find("selective_repeat"), &SCHEME);
    for (size_t i = 0; i < oche_recovery_scheme_count; i++) {
        const struct oche_recovery_scheme *scheme = oche_recovery_schemes[i];
        bool extends = scheme->extend != NULL;
        assert_int_equal(scheme->sacked != NULL, extends);
        assert_int_equal(scheme->placed != NULL, extends);
        assert_int_equal(scheme->holds != NULL, extends);
        assert_int_equal(scheme->sack != NULL, extends);
        assert_true(scheme->window_packets != NULL || !extends);
    }
    oche_param_defaults(&SCHEME.table, &preset);
    assert_int_equal(preset.window, 110);
    assert_int_equal(preset.few_packets, 3);
    assert_int_equal(preset.rto_low, 100 * OCHE_US);
    assert_int_equal(preset.rto_high, 320 * OCHE_US);
}

#define TEST(name)                                                                                 \
    static void name##_everywhere(void **state)                                                    \
    {                                                                                              \
        (void)state;                                                                               \
        for (size_t i = 0; i < OCHE_COUNT_OF(bases); i++)                                          \
            name(bases[i]);                                                                        \
    }
TEST(test_one_hole)
TEST(test_many_holes)
TEST(test_loss_during_recovery)
TEST(test_lost_twice)
TEST(test_timeout)
TEST(test_false_claim)
TEST(test_far_claim)
TEST(test_response_gap)
TEST(test_plain_sender)
TEST(test_timers)
TEST(test_measured_timers)
TEST(test_receiver)
TEST(test_not_kept)
TEST(test_receiver_window)
TEST(test_reports)
TEST(test_plain_receiver)

/*
 * With a reordering window, packets that arrived behind a gap are reported: they are not in flight.
 */
static void test_arrived(uint32_t base)
{
    struct end *end = open_end(base, true);

    end->params.reorder = OCHE_SELECTIVE_REORDER_RACK;
    SCHEME.measured(&end->tx, OCHE_MS);
    send(end, 12);
    sacked(end, 2, 3, 4, 0xb); /* 3, 4 and 6 */
    assert_int_equal(SCHEME.arrived_packets(&end->tx), 3);
    sacked(end, 2, 3, 4, 0xf);
    assert_int_equal(SCHEME.arrived_packets(&end->tx), 4);
    acked(end, 5);
    assert_int_equal(SCHEME.arrived_packets(&end->tx), 2);
    acked(end, 12);
    assert_int_equal(SCHEME.arrived_packets(&end->tx), 0);
    end->params.reorder = OCHE_SELECTIVE_REORDER_NONE;
    send(end, 2);
    sacked(end, 12, 13, 1, 1);
    assert_int_equal(SCHEME.arrived_packets(&end->tx), 0);
    close_end(end);
}

static void test_arrived_everywhere(void **state)
{
    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(bases); i++)
        test_arrived(bases[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_hole_everywhere),
        cmocka_unit_test(test_many_holes_everywhere),
        cmocka_unit_test(test_loss_during_recovery_everywhere),
        cmocka_unit_test(test_lost_twice_everywhere),
        cmocka_unit_test(test_timeout_everywhere),
        cmocka_unit_test(test_false_claim_everywhere),
        cmocka_unit_test(test_far_claim_everywhere),
        cmocka_unit_test(test_response_gap_everywhere),
        cmocka_unit_test(test_plain_sender_everywhere),
        cmocka_unit_test(test_timers_everywhere),
        cmocka_unit_test(test_measured_timers_everywhere),
        cmocka_unit_test(test_receiver_everywhere),
        cmocka_unit_test(test_not_kept_everywhere),
        cmocka_unit_test(test_receiver_window_everywhere),
        cmocka_unit_test(test_reports_everywhere),
        cmocka_unit_test(test_plain_receiver_everywhere),
        cmocka_unit_test(test_arrived_everywhere),
        cmocka_unit_test(test_losses),
        cmocka_unit_test(test_registry),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
