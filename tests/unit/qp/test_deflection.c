/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sender's part in the deflection of its short messages (Dart sec IV; dart.md#d18). Their packets
 * carry tokens, no others do, and no other packet of the queue pair is near them. With `follow`,
 * packets near them carry the same tokens and the bit OCHE_BTH_FOLLOWS. The last packet before a
 * pause carries OCHE_BTH_RELEASE.
 */
#include "tests/support/test.h"

#include "core/recovery/improved_go_back_n.h"
#include "core/wire/opcode.h"
#include "tests/support/pair.h"

#define SHORT 4096
#define MOST  256

/* The packets that left side 0 with their times, and the ACKs that came to it. */
struct seen {
    struct {
        uint32_t qpn, psn;
        uint8_t opcode, tokens;
        oche_time at;
        bool ack, follows, release;
    } packet[MOST];
    unsigned count;
};

static void tap(struct pair *pair, int from, const struct oche_packet *packet)
{
    struct seen *seen = pair->context;

    if (from != 0)
        return;
    assert_true(seen->count < MOST);
    seen->packet[seen->count].qpn = packet->dest_qpn;
    seen->packet[seen->count].psn = packet->psn;
    seen->packet[seen->count].opcode = packet->opcode;
    seen->packet[seen->count].tokens = packet->bth_reserved & OCHE_BTH_TOKENS;
    seen->packet[seen->count].follows = packet->bth & OCHE_BTH_FOLLOWS;
    seen->packet[seen->count].release = packet->bth_reserved & OCHE_BTH_RELEASE;
    seen->packet[seen->count++].at = pair->now;
}

static void on_ack(struct pair *pair, int to, const struct oche_packet *packet)
{
    struct seen *seen = pair->context;

    if (to != 0)
        return;
    assert_true(seen->count < MOST);
    seen->packet[seen->count].ack = true;
    seen->packet[seen->count].psn = packet->psn;
    seen->packet[seen->count++].at = pair->now;
}

static struct pair *open_as(struct seen *seen, struct oche_deflection deflection,
                            const struct oche_recovery_scheme *recovery, const void *params)
{
    struct pair_options options = {.recovery = recovery,
                                   .own_recovery_params = params,
                                   .deflection = deflection,
                                   .qps = 2,
                                   .ack_every = 1000};
    struct pair *pair = pair_open(&options);

    *seen = (struct seen){.count = 0};
    pair->context = seen;
    pair->tap = tap;
    pair->arrival = on_ack;
    return pair;
}

static struct pair *open_with(struct seen *seen, uint32_t tokens, oche_time hold,
                              const struct oche_recovery_scheme *recovery, const void *params)
{
    return open_as(
        seen,
        (struct oche_deflection){.tokens = (uint8_t)tokens, .short_bytes = SHORT, .hold = hold},
        recovery, params);
}

static struct pair *open_follow(struct seen *seen, oche_time linger,
                                const struct oche_recovery_scheme *recovery, const void *params)
{
    return open_as(seen,
                   (struct oche_deflection){.tokens = 4,
                                            .short_bytes = SHORT,
                                            .hold = OCHE_NEVER,
                                            .follow = true,
                                            .linger = linger},
                   recovery, params);
}

static struct pair *open_pair(struct seen *seen, uint32_t tokens, oche_time hold)
{
    return open_with(seen, tokens, hold, NULL, NULL);
}

static void write_bytes(struct pair *pair, uint64_t wr_id, uint32_t length)
{
    struct oche_send_work work = pair_work(OCHE_WORK_WRITE, wr_id, 0, 0, length);

    pair_post(pair, 0, &work);
}

static void tokens(void **state)
{
    static const struct {
        enum oche_work_opcode opcode;
        uint32_t length, tokens;
    } works[] = {{OCHE_WORK_WRITE, SHORT, 4},   {OCHE_WORK_WRITE, SHORT + 1, 0},
                 {OCHE_WORK_WRITE, 1, 4},       {OCHE_WORK_SEND, 0, 4},
                 {OCHE_WORK_WRITE, 10000, 0},   {OCHE_WORK_READ, 100, 0},
                 {OCHE_WORK_FETCH_ADD, 8, 0},   {OCHE_WORK_SEND, SHORT, 4},
                 {OCHE_WORK_WRITE_IMM, 5000, 0}};
    struct seen seen;

    (void)state;
    for (unsigned on = 0; on < 2; on++) {
        struct pair *pair = open_pair(&seen, on ? 4 : 0, OCHE_NEVER);

        for (unsigned i = 0; i < OCHE_COUNT_OF(works); i++) {
            struct oche_send_work work = pair_work(works[i].opcode, i, 0, 0, works[i].length);

            pair_post_recv(pair, 1, i, 0, SHORT);
            seen.count = 0;
            pair_post(pair, 0, &work);
            pair_run_quiet(pair);
            assert_true(seen.count >= 2);
            for (unsigned p = 0; p < seen.count; p++)
                if (!seen.packet[p].ack)
                    assert_int_equal(seen.packet[p].tokens, on ? works[i].tokens : 0);
            pair_expect(pair, 0, i, OCHE_STATUS_SUCCESS);
        }
        pair_close(pair);
    }
}

/* Side 1 reads: neither its requests nor the responses have tokens. */
static void responses(void **state)
{
    struct seen seen;
    struct pair *pair = open_pair(&seen, 4, OCHE_NEVER);
    struct oche_send_work work = pair_work(OCHE_WORK_READ, 1, 0, 0, SHORT);

    (void)state;
    pair_post(pair, 1, &work);
    pair_run_quiet(pair);
    pair_expect(pair, 1, 1, OCHE_STATUS_SUCCESS);
    for (unsigned p = 0; p < seen.count; p++)
        assert_int_equal(seen.packet[p].tokens, 0);
    pair_close(pair);
}

/* True if the ACK of a message came between its last packet and the first of the next. */
static bool waits_for_ack(const struct seen *seen, uint32_t last_psn)
{
    unsigned last = 0, next = 0, ack = 0;

    for (unsigned p = 0; p < seen->count; p++) {
        if (seen->packet[p].ack && seen->packet[p].psn == last_psn)
            ack = p;
        if (!seen->packet[p].ack && seen->packet[p].psn == last_psn)
            last = p;
        if (!seen->packet[p].ack && seen->packet[p].psn == last_psn + 1)
            next = p;
    }
    assert_true(next > 0 && last < next);
    return ack > last && ack < next;
}

static void apart(void **state)
{
    struct seen seen;
    struct pair *pair = open_pair(&seen, 4, OCHE_NEVER);

    (void)state;
    write_bytes(pair, 1, 2000);  /* PSN 0, 1: short */
    write_bytes(pair, 2, 10000); /* 2 … 11: long */
    write_bytes(pair, 3, 10000); /* 12 … 21: long */
    write_bytes(pair, 4, 1000);  /* 22: short */
    write_bytes(pair, 5, 1000);  /* 23: short */
    pair_run_quiet(pair);
    assert_true(waits_for_ack(&seen, 1));
    assert_false(waits_for_ack(&seen, 11)); /* a long message after a long one does not wait */
    assert_true(waits_for_ack(&seen, 21));
    assert_true(waits_for_ack(&seen, 22));
    for (uint64_t id = 1; id <= 5; id++)
        pair_expect(pair, 0, id, OCHE_STATUS_SUCCESS);
    pair_close(pair);
}

/* A waiting queue pair gives its reason. Another one of the NIC does not wait. */
static void others_go_on(void **state)
{
    struct seen seen;
    struct pair *pair = open_pair(&seen, 4, OCHE_NEVER);
    struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 9, 0, 0, 1000);
    bool other = false;

    (void)state;
    write_bytes(pair, 1, 1000);
    write_bytes(pair, 2, 1000);
    assert_int_equal(oche_qp_post_send(pair->side[0].qp[1], &work), 0);
    pair_run(pair, pair->now + 500 * OCHE_NS); /* nothing is acknowledged yet */
    assert_string_equal(oche_qp_waits_for(pair->side[0].qp[0]), "order of short messages");
    assert_int_equal(seen.count, 2);
    for (unsigned p = 0; p < seen.count; p++)
        other |= seen.packet[p].qpn != PAIR_QPN + 1;
    assert_true(other);
    pair_run_quiet(pair);
    assert_int_equal(oche_qp_retransmitted_packets(pair->side[0].qp[0]), 0);
    pair_close(pair);
}

static enum pair_fate lose_second(struct pair *pair, int from, const struct oche_packet *packet)
{
    const struct seen *seen = pair->context;

    (void)packet;
    return from == 0 && seen->count == 2 ? PAIR_DROP : PAIR_PASS;
}

/* Losses change nothing: the retransmission has its tokens, and the next message still waits. */
static void losses(void **state)
{
    struct seen seen;
    struct pair *pair = open_pair(&seen, 3, OCHE_NEVER);

    (void)state;
    pair->fate = lose_second;
    write_bytes(pair, 1, 3000); /* PSN 0 … 2 */
    write_bytes(pair, 2, 3000);
    pair_run_quiet(pair);
    pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
    pair_expect(pair, 0, 2, OCHE_STATUS_SUCCESS);
    assert_true(oche_qp_retransmitted_packets(pair->side[0].qp[0]) > 0);
    assert_true(waits_for_ack(&seen, 2));
    for (unsigned p = 0; p < seen.count; p++)
        if (!seen.packet[p].ack)
            assert_int_equal(seen.packet[p].tokens, 3);
    pair_close(pair);
}

static unsigned times_left(const struct seen *seen, uint32_t psn)
{
    unsigned times = 0;

    for (unsigned p = 0; p < seen->count; p++)
        times += !seen->packet[p].ack && seen->packet[p].psn == psn;
    return times;
}

/*
 * Improved Go-Back-N sends a message's last packet twice, except if a switch may deflect the
 * message. With `hold` it does so then, too.
 */
static void last_packet_once(void **state)
{
    const struct oche_improved_go_back_n_params twice = {.nak_interval = OCHE_US,
                                                         .send_twice = true};
    const oche_time holds[] = {OCHE_NEVER, 60 * OCHE_US};

    (void)state;
    for (unsigned i = 0; i < OCHE_COUNT_OF(holds); i++) {
        struct seen seen;
        struct pair *pair =
            open_with(&seen, 4, holds[i], &oche_recovery_improved_go_back_n, &twice);

        write_bytes(pair, 1, 2000);  /* PSN 0, 1: short */
        write_bytes(pair, 2, 10000); /* 2 … 11: long */
        pair_run_quiet(pair);
        assert_int_equal(times_left(&seen, 0), 1);
        assert_int_equal(times_left(&seen, 1), holds[i] == OCHE_NEVER ? 1 : 2);
        assert_int_equal(times_left(&seen, 10), 1);
        assert_int_equal(times_left(&seen, 11), 2);
        pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
        pair_expect(pair, 0, 2, OCHE_STATUS_SUCCESS);
        pair_close(pair);
    }
}

static oche_time left_at(const struct seen *seen, uint32_t psn)
{
    for (unsigned p = 0; p < seen->count; p++)
        if (!seen->packet[p].ack && seen->packet[p].psn == psn)
            return seen->packet[p].at;
    fail_msg("PSN %u has not left", psn);
    return 0;
}

static void hold(void **state)
{
    const oche_time time = 60 * OCHE_US;
    struct seen seen;
    struct pair *pair = open_pair(&seen, 4, time);

    (void)state;
    write_bytes(pair, 1, 2000);  /* PSN 0, 1: short */
    write_bytes(pair, 2, 10000); /* 2 … 11: long */
    write_bytes(pair, 3, 10000); /* 12 … 21: long */
    write_bytes(pair, 4, 1000);  /* 22: short */
    pair_run_quiet(pair);
    assert_int_equal(left_at(&seen, 2) - left_at(&seen, 1), time);
    assert_true(left_at(&seen, 12) - left_at(&seen, 11) < OCHE_US);
    assert_int_equal(left_at(&seen, 22) - left_at(&seen, 21), time);
    for (uint64_t id = 1; id <= 4; id++)
        pair_expect(pair, 0, id, OCHE_STATUS_SUCCESS);
    pair_close(pair);
}

/* The ACK takes longer than `hold`: the queue pair stops waiting. */
static void hold_is_pipelining(void **state)
{
    struct seen seen;
    struct pair *pair = open_pair(&seen, 4, 500 * OCHE_NS);

    (void)state;
    write_bytes(pair, 1, 1000);
    write_bytes(pair, 2, 1000);
    pair_run_quiet(pair);
    assert_false(waits_for_ack(&seen, 0));
    assert_int_equal(left_at(&seen, 1) - left_at(&seen, 0), 500 * OCHE_NS);
    pair_close(pair);
}

/* True if all data packets but the first have the FOLLOWS bit, and all have so many tokens. */
static void assert_train(const struct seen *seen, uint32_t tokens)
{
    bool first = true;

    for (unsigned p = 0; p < seen->count; p++) {
        if (seen->packet[p].ack)
            continue;
        assert_int_equal(seen->packet[p].tokens, tokens);
        assert_int_equal(seen->packet[p].follows, tokens > 0 && !first);
        first = false;
    }
}

/* Work behind a short message does not wait, and all of it carries the same tokens. */
static void follow(void **state)
{
    struct seen seen;
    struct pair *pair = open_follow(&seen, OCHE_MS, NULL, NULL);
    struct oche_send_work read = pair_work(OCHE_WORK_READ, 4, 0, 0, 3000);
    struct oche_send_work add = pair_work(OCHE_WORK_FETCH_ADD, 5, 0, 0, 8);

    (void)state;
    write_bytes(pair, 1, 2000);  /* PSN 0, 1: short */
    write_bytes(pair, 2, 10000); /* 2 … 11: long */
    write_bytes(pair, 3, 1000);  /* 12 */
    pair_post(pair, 0, &read);
    pair_post(pair, 0, &add);
    pair_run_quiet(pair);
    assert_false(waits_for_ack(&seen, 1));
    assert_false(waits_for_ack(&seen, 11));
    assert_train(&seen, 4);
    for (uint64_t id = 1; id <= 5; id++)
        pair_expect(pair, 0, id, OCHE_STATUS_SUCCESS);
    /* Everything is acknowledged: the next message leads. */
    seen.count = 0;
    write_bytes(pair, 6, 2000);
    pair_run_quiet(pair);
    assert_train(&seen, 4);
    pair_expect(pair, 0, 6, OCHE_STATUS_SUCCESS);
    /* Behind a long message a short one takes the same way. */
    seen.count = 0;
    write_bytes(pair, 7, 10000);
    write_bytes(pair, 8, 1000);
    pair_run_quiet(pair);
    assert_train(&seen, 0);
    pair_close(pair);
}

/* Two messages of one packet each, so the queue pair expects more messages: PSN 0 and 1. */
static void make_followed(struct pair *pair, struct seen *seen)
{
    write_bytes(pair, 100, 1000);
    write_bytes(pair, 101, 1000);
    pair_run_quiet(pair);
    pair_expect(pair, 0, 100, OCHE_STATUS_SUCCESS);
    pair_expect(pair, 0, 101, OCHE_STATUS_SUCCESS);
    seen->count = 0;
}

/* After a silence of half of `linger`, a message waits for the ACK. */
static void follow_waits(void **state)
{
    struct seen seen;
    struct pair *pair = open_follow(&seen, 100 * OCHE_NS, NULL, NULL);

    (void)state;
    make_followed(pair, &seen);
    write_bytes(pair, 1, 1000);
    pair_run(pair, pair->now + 500 * OCHE_NS); /* the ACK has not arrived yet */
    write_bytes(pair, 2, 1000);
    pair_run(pair, pair->now + OCHE_NS);
    assert_string_equal(oche_qp_waits_for(pair->side[0].qp[0]), "order of short messages");
    pair_run_quiet(pair);
    assert_true(waits_for_ack(&seen, 2));
    for (unsigned p = 0; p < seen.count; p++)
        assert_false(!seen.packet[p].ack && seen.packet[p].follows); /* both lead */
    pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
    pair_expect(pair, 0, 2, OCHE_STATUS_SUCCESS);
    pair_close(pair);
}

/* Retransmitted packets follow, even the leader. */
static void follow_losses(void **state)
{
    struct seen seen;
    struct pair *pair = open_follow(&seen, OCHE_MS, NULL, NULL);

    (void)state;
    pair->fate = lose_second;
    write_bytes(pair, 1, 3000); /* PSN 0 … 2 */
    write_bytes(pair, 2, 3000);
    pair_run_quiet(pair);
    pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
    pair_expect(pair, 0, 2, OCHE_STATUS_SUCCESS);
    assert_true(oche_qp_retransmitted_packets(pair->side[0].qp[0]) > 0);
    assert_train(&seen, 4);
    pair_close(pair);
}

/* Improved Go-Back-N sends last packets twice; the second copy follows. */
static void follow_twice(void **state)
{
    const struct oche_improved_go_back_n_params twice = {.nak_interval = OCHE_US,
                                                         .send_twice = true};
    struct seen seen;
    struct pair *pair = open_follow(&seen, OCHE_MS, &oche_recovery_improved_go_back_n, &twice);

    (void)state;
    write_bytes(pair, 1, 1000);
    write_bytes(pair, 2, 2000);
    pair_run_quiet(pair);
    assert_int_equal(times_left(&seen, 0), 2);
    assert_int_equal(times_left(&seen, 1), 1);
    assert_int_equal(times_left(&seen, 2), 2);
    assert_train(&seen, 4);
    pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
    pair_expect(pair, 0, 2, OCHE_STATUS_SUCCESS);
    pair_close(pair);
}

/* Returns how many packets have the bit. Each must be the last packet of its message. */
static unsigned releases(const struct seen *seen)
{
    unsigned count = 0;

    for (unsigned p = 0; p < seen->count; p++) {
        if (seen->packet[p].ack || !seen->packet[p].release)
            continue;
        assert_true(oche_opcode_has(seen->packet[p].opcode, OCHE_OP_LAST));
        assert_true(seen->packet[p].tokens > 0);
        count++;
    }
    return count;
}

static bool is_waiting(const struct pair *pair)
{
    return strcmp(oche_qp_waits_for(pair->side[0].qp[0]), "order of short messages") == 0;
}

/*
 * One message at a time: each one releases. The first that has work behind it is the last to
 * release.
 */
static void release(void **state)
{
    struct seen seen;
    struct pair *pair = open_follow(&seen, OCHE_MS, NULL, NULL);

    (void)state;
    for (uint64_t id = 1; id <= 3; id++) { /* PSN 0 to 2, 3 to 5, 6 to 8 */
        seen.count = 0;
        write_bytes(pair, id, 3000);
        pair_run_quiet(pair);
        assert_int_equal(releases(&seen), 1);
        assert_train(&seen, 4);
        pair_expect(pair, 0, id, OCHE_STATUS_SUCCESS);
    }
    write_bytes(pair, 4, 1000); /* 9 */
    pair_run(pair, pair->now + 500 * OCHE_NS);
    write_bytes(pair, 5, 10000); /* 10 to 19: long, and waits */
    pair_run(pair, pair->now + OCHE_NS);
    assert_true(is_waiting(pair));
    pair_run_quiet(pair);
    assert_true(waits_for_ack(&seen, 9));
    pair_expect(pair, 0, 4, OCHE_STATUS_SUCCESS);
    pair_expect(pair, 0, 5, OCHE_STATUS_SUCCESS);
    /* From now on no message waits, and none releases. */
    seen.count = 0;
    for (uint64_t id = 6; id <= 7; id++) { /* 20, 21 */
        write_bytes(pair, id, 1000);
        pair_run(pair, pair->now + 500 * OCHE_NS);
    }
    assert_int_equal(releases(&seen), 0);
    assert_int_equal(seen.count, 2);
    pair_run_quiet(pair);
    assert_train(&seen, 4);
    pair_close(pair);
}

/*
 * A message posted while the first is being sent follows, if the first one's last packet has not
 * left.
 */
static void release_decided_last(void **state)
{
    struct seen seen;
    struct pair *pair = open_follow(&seen, OCHE_MS, NULL, NULL);
    struct oche_send_work read = pair_work(OCHE_WORK_READ, 2, 0, 0, 3000);

    (void)state;
    write_bytes(pair, 1, SHORT); /* PSN 0 to 3 */
    while (seen.count < 2)
        assert_true(pair_step(pair, OCHE_NEVER));
    assert_int_equal(seen.count, 2);
    pair_post(pair, 0, &read);
    pair_run_quiet(pair);
    assert_false(waits_for_ack(&seen, 3));
    assert_int_equal(releases(&seen), 0);
    assert_train(&seen, 4);
    pair_close(pair);
}

/* READs and atomics behind a released message wait, as all work does. */
static void release_reads(void **state)
{
    struct seen seen;
    struct pair *pair = open_follow(&seen, OCHE_MS, NULL, NULL);
    struct oche_send_work read = pair_work(OCHE_WORK_READ, 2, 0, 0, 3000);
    struct oche_send_work add = pair_work(OCHE_WORK_FETCH_ADD, 3, 0, 0, 8);

    (void)state;
    write_bytes(pair, 1, 1000);
    pair_run(pair, pair->now + 500 * OCHE_NS);
    pair_post(pair, 0, &read);
    pair_post(pair, 0, &add);
    pair_run(pair, pair->now + OCHE_NS);
    assert_true(is_waiting(pair));
    pair_run_quiet(pair);
    assert_int_equal(releases(&seen), 1);
    for (uint64_t id = 1; id <= 3; id++)
        pair_expect(pair, 0, id, OCHE_STATUS_SUCCESS);
    pair_close(pair);
}

static unsigned with_tokens(const struct seen *seen)
{
    unsigned count = 0;

    for (unsigned p = 0; p < seen->count; p++)
        count += !seen->packet[p].ack && seen->packet[p].tokens > 0;
    return count;
}

/*
 * A released message is retransmitted without tokens, and work behind it waits. Later work has no
 * tokens until no packet of the first transmission can be on its way.
 */
static void release_again(void **state)
{
    struct seen seen;
    struct pair *pair = open_follow(&seen, 200 * OCHE_US, NULL, NULL);

    (void)state;
    pair->fate = lose_second;
    write_bytes(pair, 1, 3000); /* PSN 0 to 2 */
    pair_run(pair, pair->now + 2900 * OCHE_NS);
    assert_true(oche_qp_retransmitted_packets(pair->side[0].qp[0]) > 0);
    write_bytes(pair, 2, 1000); /* 3 */
    pair_run(pair, pair->now + OCHE_NS);
    assert_true(is_waiting(pair));
    pair_run(pair, pair->now + 50 * OCHE_US);
    assert_true(waits_for_ack(&seen, 2));
    assert_true(times_left(&seen, 2) > 1);
    assert_int_equal(with_tokens(&seen), 3);
    assert_int_equal(releases(&seen), 1);
    pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
    pair_expect(pair, 0, 2, OCHE_STATUS_SUCCESS);
    pair_run(pair, pair->now + 100 * OCHE_US);
    write_bytes(pair, 3, 1000);
    pair_run_quiet(pair);
    assert_int_equal(with_tokens(&seen), 4);
    pair_expect(pair, 0, 3, OCHE_STATUS_SUCCESS);
    pair_close(pair);
}

static enum pair_fate lose_third(struct pair *pair, int from, const struct oche_packet *packet)
{
    const struct seen *seen = pair->context;

    (void)packet;
    return from == 0 && seen->count == 3 ? PAIR_DROP : PAIR_PASS;
}

/*
 * If no packet of it can be on its way any more, it is retransmitted as if it had not been
 * released.
 */
static void release_again_late(void **state)
{
    struct seen seen;
    struct pair *pair = open_follow(&seen, 200 * OCHE_US, NULL, NULL);

    (void)state;
    pair->fate = lose_third;
    write_bytes(pair, 1, 3000); /* PSN 0 to 2; the timeout is after 500 us */
    pair_run_quiet(pair);
    assert_true(oche_qp_retransmitted_packets(pair->side[0].qp[0]) > 0);
    assert_int_equal(releases(&seen), 1);
    assert_train(&seen, 4);
    pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
    pair_close(pair);
}

/* The last packet that releases leaves once, in every recovery scheme. */
static void release_once(void **state)
{
    const struct oche_improved_go_back_n_params twice = {.nak_interval = OCHE_US,
                                                         .send_twice = true};
    struct seen seen;
    struct pair *pair = open_follow(&seen, OCHE_MS, &oche_recovery_improved_go_back_n, &twice);

    (void)state;
    write_bytes(pair, 1, 2000);
    pair_run_quiet(pair);
    assert_int_equal(times_left(&seen, 0), 1);
    assert_int_equal(times_left(&seen, 1), 1);
    assert_int_equal(releases(&seen), 1);
    pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
    make_followed(pair, &seen);
    write_bytes(pair, 2, 1000); /* PSN 4 */
    pair_run_quiet(pair);
    assert_int_equal(times_left(&seen, 4), 2);
    assert_int_equal(releases(&seen), 0);
    pair_close(pair);
}

/* A reset queue pair has no followers. PSNs wrap around. */
static void release_after_reset(void **state)
{
    struct seen seen;
    struct pair_options options = {.deflection = {4, SHORT, OCHE_NEVER, true, OCHE_MS},
                                   .first_psn = OCHE_PSN_MASK - 1};
    struct pair *pair = pair_open(&options);

    (void)state;
    seen = (struct seen){.count = 0};
    pair->context = &seen;
    pair->tap = tap;
    make_followed(pair, &seen);
    write_bytes(pair, 1, 3000);
    pair_run_quiet(pair);
    assert_int_equal(releases(&seen), 0);
    for (int side = 0; side < 2; side++) {
        const struct oche_qp_connection connection = pair_connection(pair, side, 0);
        struct oche_qp *qp = pair->side[side].qp[0];

        oche_qp_reset(qp);
        assert_true(oche_qp_init(qp, pair->now) &&
                    oche_qp_ready_to_receive(qp, &connection, pair->now) &&
                    oche_qp_ready_to_send(qp, pair->now));
    }
    seen.count = 0;
    write_bytes(pair, 2, 3000); /* PSN 2^24 - 2 to 0 */
    pair_run_quiet(pair);
    assert_int_equal(seen.packet[2].psn, 0);
    assert_int_equal(releases(&seen), 1);
    pair_close(pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens),
        cmocka_unit_test(responses),
        cmocka_unit_test(apart),
        cmocka_unit_test(others_go_on),
        cmocka_unit_test(losses),
        cmocka_unit_test(last_packet_once),
        cmocka_unit_test(hold),
        cmocka_unit_test(hold_is_pipelining),
        cmocka_unit_test(follow),
        cmocka_unit_test(follow_waits),
        cmocka_unit_test(follow_losses),
        cmocka_unit_test(follow_twice),
        cmocka_unit_test(release),
        cmocka_unit_test(release_decided_last),
        cmocka_unit_test(release_reads),
        cmocka_unit_test(release_again),
        cmocka_unit_test(release_again_late),
        cmocka_unit_test(release_once),
        cmocka_unit_test(release_after_reset),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
