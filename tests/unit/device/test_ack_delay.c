/* SPDX-License-Identifier: Apache-2.0 */
/* ACKs that wait for data: when they do, for how long, and what they then share. */
#include <string.h>

#include "core/recovery/selective_repeat.h"
#include "device/internal.h"
#include "tests/unit/device/pair.h"

#define ROUNDS  200 /* the last one is b's */
#define ANSWERS (PAIR_DEPTH / 2)

/* ---- when ---- */

static void first_an_answer(void **state)
{
    struct oche_ack_delay hold = {.longest = OCHE_ACK_DELAY};

    (void)state;
    assert_false(oche_ack_delay_may_wait(&hold)); /* nothing was ever answered */
    assert_false(oche_ack_delay_waits(&hold, 0));
    assert_false(oche_ack_delay_waits(&hold, 1));
    oche_ack_delay_data_sent(&hold, 5); /* data goes */
    assert_true(oche_ack_delay_may_wait(&hold) && oche_ack_delay_waits(&hold, 5));
    assert_true(oche_ack_delay_may_wait(&hold)); /* they wait: it is to be asked again */
    assert_true(oche_ack_delay_waits(&hold, 5 + OCHE_ACK_DELAY - 1));
    oche_ack_delay_data_sent(&hold, 5 + OCHE_ACK_DELAY - 1);
    assert_true(hold.until == 0 && hold.useful == 1 && hold.in_vain == 0);
    assert_true(oche_ack_delay_waits(&hold, 10)); /* useful once: at once again */
}

/* Returns the number of occasions that are skipped before the next one is taken. */
static unsigned left_out(struct oche_ack_delay *hold, oche_time now)
{
    unsigned count = 0;

    for (;; count++) {
        oche_ack_delay_data_sent(hold, now);
        if (oche_ack_delay_waits(hold, now))
            return count;
        assert_true(count < 1000);
    }
}

static void in_vain(void **state)
{
    struct oche_ack_delay hold = {.longest = OCHE_ACK_DELAY};
    oche_time now = 1;

    (void)state;
    assert_int_equal(left_out(&hold, now), 0);
    for (unsigned misses = 1; misses < 12; misses++) {
        const unsigned most = misses < OCHE_ACK_DELAY_MISSES ? misses : OCHE_ACK_DELAY_MISSES;

        now += OCHE_ACK_DELAY;
        assert_false(oche_ack_delay_waits(&hold, now)); /* over: they go */
        assert_int_equal(hold.in_vain, misses);
        assert_int_equal(left_out(&hold, now), 1u << most);
    }
    oche_ack_delay_data_sent(&hold, now); /* useful after all: misses count anew */
    assert_int_equal(left_out(&hold, now), 0);
    const uint64_t before = hold.in_vain;

    now += OCHE_ACK_DELAY;
    oche_ack_delay_data_sent(&hold, now); /* just too late */
    assert_int_equal(hold.in_vain, before + 1);
    assert_int_equal(left_out(&hold, now), 2);
}

/* A program that computes before it answers, without polling, counts as too late, too. */
static void late_answers(void **state)
{
    struct oche_ack_delay hold = {.longest = OCHE_ACK_DELAY};
    oche_time now = 1;
    unsigned held = 0;

    (void)state;
    for (unsigned i = 0; i < 1000; i++, now += 5 * OCHE_MS) {
        held += oche_ack_delay_waits(&hold, now); /* a request has come */
        oche_ack_delay_data_sent(&hold, now + 5 * OCHE_MS);
    }
    assert_in_range(held, 6, 30);
    assert_int_equal(hold.useful, 0);
    assert_int_equal(hold.in_vain, held);
}

/* ---- on the wire ---- */

static void write_word(struct end *from, const struct end *to, uint64_t value)
{
    struct oche_send_work work = work_between(from, to, OCHE_WORK_WRITE, 0, sizeof(value));

    memcpy(from->memory, &value, sizeof(value));
    assert_int_equal(oche_device_post_send(from->device, from->qp, &work), 0);
}

/*
 * Polls `end` alone until `value` has come, and for some µs more, as who waits for a completion
 * does: an ACK that is not held is sent meanwhile.
 */
static void take_word(struct end *end, uint64_t value)
{
    const oche_time limit = oche_device_now(end->device) + OCHE_SEC;
    uint64_t seen = 0;

    while (seen != value) {
        oche_device_progress(end->device);
        memcpy(&seen, end->memory, sizeof(seen));
        assert_true(oche_device_now(end->device) < limit);
    }
    oche_device_progress(end->device);
}

/* The machine may stop us for a while; that must not look like no answer. */
static void open_patient(struct pair *pair, const struct oche_device_config *config)
{
    pair_open(pair, config, OCHE_TRANSPORT_RC);
    pair_be_patient(pair);
    pair->a.device->ack_delay.longest = pair->b.device->ack_delay.longest = OCHE_SEC;
}

static void ping_pong(void **state)
{
    struct oche_device_stats stats;
    struct oche_completion done;
    struct pair pair;

    (void)state;
    open_patient(&pair, &(struct oche_device_config){0});
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        struct end *from = round % 2 ? &pair.a : &pair.b, *to = round % 2 ? &pair.b : &pair.a;

        write_word(from, to, round);
        oche_device_progress(from->device);
        take_word(to, round);
        while (oche_cq_poll(to->cq, &done, 1) == 1) /* its own WRITE of the round before */
            assert_int_equal(done.status, OCHE_STATUS_SUCCESS);
    }
    pair.a.device->ack_delay.until = 1; /* the last one's ACK: no answer has come */
    done = pump(&pair, &pair.b);
    assert_int_equal(done.status, OCHE_STATUS_SUCCESS);
    oche_device_stats(pair.a.device, &stats);
    assert_int_equal(stats.sent_packets, ROUNDS); /* half of the WRITEs, ACKs of the others */
    if (stats.gso && stats.gro)
        assert_in_range(stats.sent_datagrams, ROUNDS / 2, ROUNDS / 2 + 2);
    assert_in_range(stats.held, ROUNDS / 2 - 2, ROUNDS / 2);
    pair_close(&pair);
}

static void send_word(struct end *from, const struct end *to)
{
    struct oche_send_work work = work_between(from, to, OCHE_WORK_SEND, 0, sizeof(uint64_t));

    assert_int_equal(oche_device_post_send(from->device, from->qp, &work), 0);
    oche_device_progress(from->device);
}

/* Polls `end` alone until it has a completion. */
static struct oche_completion await(struct end *end)
{
    const oche_time limit = oche_device_now(end->device) + 10 * OCHE_SEC;
    struct oche_completion done;

    while (oche_cq_poll(end->cq, &done, 1) == 0) {
        oche_device_progress(end->device);
        assert_true(oche_device_now(end->device) < limit);
    }
    assert_int_equal(done.status, OCHE_STATUS_SUCCESS);
    return done;
}

/* Makes b take a's device for another vendor's. */
static void be_foreign(struct pair *pair)
{
    const uint32_t a = oche_device_peer(pair->b.device, pair->a.address);

    pair->b.device->peers.peers[a].is_local = false;
}

static bool kernel_merges; /* of the last pair: it has GSO and GRO */

/*
 * An answer follows from what it answers, so the asker hears first that its SEND was delivered.
 * Programs count on that (tgtd does, for the end of a login). Returns how many datagrams b sent.
 */
static uint64_t sent_before_answered(const struct oche_device_config *config, bool foreign)
{
    struct oche_device_stats stats;
    struct pair pair;

    open_patient(&pair, config);
    if (foreign)
        be_foreign(&pair);
    for (unsigned i = 0; i < ANSWERS; i++) {
        post_receive(&pair.a, i, 64, 8);
        post_receive(&pair.b, i, 64, 8);
    }
    for (unsigned round = 0; round < ANSWERS; round++) {
        send_word(&pair.a, &pair.b);
        if (round > 0) /* that of the round before */
            assert_int_equal(await(&pair.b).opcode, OCHE_DONE_SEND);
        assert_int_equal(await(&pair.b).opcode, OCHE_DONE_RECV);
        send_word(&pair.b, &pair.a);
        assert_int_equal(await(&pair.a).opcode, OCHE_DONE_SEND);
        assert_int_equal(await(&pair.a).opcode, OCHE_DONE_RECV);
    }
    oche_device_stats(pair.b.device, &stats);
    kernel_merges = stats.gso && stats.gro;
    pair_close(&pair);
    return stats.sent_datagrams;
}

/* Our own devices share the datagram. */
static void answered_by_ours(void **state)
{
    (void)state;
    const uint64_t sent = sent_before_answered(&(struct oche_device_config){0}, false);
    if (kernel_merges)
        assert_in_range(sent, ANSWERS, ANSWERS + 2);
    /* selective repeat's timeouts are short, so some may be sent again */
    sent_before_answered(&(struct oche_device_config){.recovery = &oche_recovery_selective_repeat},
                         false);
}

/* Others get the ACK in a datagram of its own, ahead; and so do ours where datagrams are split. */
static void answered_by_others(void **state)
{
    const struct oche_device_config configs[] = {{0}, {.no_gso = true}, {.no_gro = true}};

    (void)state;
    for (unsigned i = 0; i < 3; i++)
        assert_in_range(sent_before_answered(&configs[i], i == 0), 2 * ANSWERS - 2, 2 * ANSWERS);
}

/* A queue pair that ends while its ACK waits: the peer gets it all the same. */
static void goes_before_the_end(void **state)
{
    struct pair pair;

    (void)state;
    open_patient(&pair, &(struct oche_device_config){0});
    write_word(&pair.b, &pair.a, 1);
    pump(&pair, &pair.b);
    write_word(&pair.a, &pair.b, 2);
    oche_device_progress(pair.a.device);
    take_word(&pair.b, 2);
    assert_true(pair.b.device->ack_delay.until != 0);
    oche_device_destroy_qp(pair.b.device, pair.b.qp);
    for (unsigned i = 0; i < 100; i++)
        oche_device_progress(pair.a.device);
    assert_int_equal(pump(&pair, &pair.a).status, OCHE_STATUS_SUCCESS);
    pair_close(&pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_an_answer),     cmocka_unit_test(in_vain),
        cmocka_unit_test(late_answers),        cmocka_unit_test(ping_pong),
        cmocka_unit_test(answered_by_ours),    cmocka_unit_test(answered_by_others),
        cmocka_unit_test(goes_before_the_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
