/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random work over queue pairs that share their receives, on a link that loses, duplicates and
 * reorders: RC, UC and UD. Each message contains its sender and its number. Checks:
 * - a receive holds one whole message;
 * - RC: every message arrives, once, in order;
 * - UC: in order and once, if the link keeps it so (a FIRST or ONLY packet may have any PSN);
 * - UD: as many copies as the link made;
 * - every message reaches its own receiver, and no receive is lost.
 * A failure names its seed: test_datagrams_random SEED runs that one.
 */
#include "tests/support/seeds.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/random.h"
#include "tests/support/pair.h"

#define RUNS     150
#define QPS      3
#define MESSAGES 60   /* of each queue pair */
#define MOST     5000 /* bytes of a message */
#define SLOT     5120
#define SLOTS    64 /* of receives, in turn */
#define DEPTH    16

struct run {
    struct pair *pair;
    struct oche_random random;
    uint8_t transport;
    bool ordered; /* in order and once */
    uint32_t sent[QPS], length[QPS][MESSAGES];
    uint32_t came[QPS][MESSAGES];
    uint32_t next[QPS]; /* one more than the last that arrived */
    uint32_t posted, completed;
    bool used[SLOTS]; /* posted and not completed */
    uint32_t arrived;
};

static uint32_t below(struct run *r, uint32_t limit)
{
    return (uint32_t)oche_random_below(&r->random, limit);
}

static void fill(uint8_t *at, uint32_t q, uint32_t number, uint32_t length)
{
    for (uint32_t i = 0; i < length; i++)
        at[i] = (uint8_t)((i * 31 + number * 7 + q * 101) * UINT32_C(0x9e3779b1) >> 21);
}

/* The sender's memory has a place for each message, which stays until it has arrived. */
static void send_one(struct run *r, uint32_t q)
{
    bool ud = r->transport == OCHE_TRANSPORT_UD;
    uint32_t number = r->sent[q], length = below(r, ud ? PAIR_MTU + 1 : MOST);
    uint32_t from = (q * MESSAGES + number) * SLOT % (PAIR_MEMORY - SLOT);
    struct oche_send_work work = pair_work(OCHE_WORK_SEND_IMM, number, from, 0, length);
    struct oche_destination to = pair_destination(0, q);

    if (number == MESSAGES)
        return;
    work.imm = q << 16 | number;
    work.to = &to;
    fill(r->pair->side[0].memory + from, q, number, length);
    if (oche_qp_post_send(r->pair->side[0].qp[q], &work) != 0)
        return;
    r->length[q][number] = length;
    r->sent[q]++;
}

static void post_receive(struct run *r)
{
    uint32_t slot = r->posted % SLOTS;
    struct oche_recv_work work = {
        .wr_id = r->posted,
        .sge_count = 1,
        .sge[0] = {.va = PAIR_VA + slot * SLOT, .length = SLOT, .lkey = PAIR_KEY},
    };

    if (r->used[slot] || oche_srq_post_recv(r->pair->side[1].srq, &work) != 0)
        return;
    r->used[slot] = true;
    r->posted++;
}

static void take(struct run *r, const struct oche_completion *done)
{
    uint32_t slot = (uint32_t)done->wr_id % SLOTS, q = done->imm >> 16, number = done->imm & 0xffff;
    uint32_t grh = r->transport == OCHE_TRANSPORT_UD ? OCHE_GRH_BYTES : 0;
    static uint8_t right[SLOT];

    assert_int_equal(done->status, OCHE_STATUS_SUCCESS);
    assert_true(r->used[slot] && done->wr_id < r->posted);
    assert_true(done->has_imm && q < QPS && number < r->sent[q]);
    assert_int_equal(done->qpn, PAIR_QPN + 1 + 2 * q);
    if (r->transport == OCHE_TRANSPORT_UD)
        assert_int_equal(done->src_qpn, PAIR_QPN + 2 * q);
    assert_int_equal(done->bytes, r->length[q][number] + grh);
    fill(right, q, number, r->length[q][number]);
    assert_memory_equal(right, r->pair->side[1].memory + slot * SLOT + grh, r->length[q][number]);
    if (r->transport == OCHE_TRANSPORT_RC)
        assert_int_equal(number, r->next[q]);
    if (r->ordered)
        assert_true(number >= r->next[q]);
    r->next[q] = number + 1;
    r->came[q][number]++;
    r->used[slot] = false;
    r->arrived++;
}

static void poll(struct run *r)
{
    struct oche_completion done;

    while (oche_cq_poll(r->pair->side[1].cq, &done, 1) == 1)
        take(r, &done);
    while (oche_cq_poll(r->pair->side[0].cq, &done, 1) == 1) {
        assert_int_equal(done.status, OCHE_STATUS_SUCCESS);
        r->completed++;
    }
}

static struct run *open_run(uint64_t seed)
{
    struct run *r = calloc(1, sizeof(*r));

    assert_non_null(r);
    r->random = oche_random_stream(seed, "datagrams", 0);
    r->transport = (uint8_t)(seed % 3);
    struct pair_options options = {
        .seed = seed,
        .transport = r->transport,
        .qps = QPS,
        .srq_depth = DEPTH,
        .send_depth = 16,
        .drop = below(r, 60),
        .twice = below(r, 60),
        .late = below(r, 60),
        .damage = below(r, 40),
        .bytes = true,
        .rnr_retry = UINT32_MAX,
        .retry_count = UINT32_MAX,
        .ipv6 = below(r, 2),
    };
    r->ordered = r->transport == OCHE_TRANSPORT_RC;
    if (r->transport == OCHE_TRANSPORT_UC && below(r, 2) == 0) {
        options.twice = options.late = 0;
        r->ordered = true;
    }
    r->pair = pair_open(&options);
    return r;
}

static void finish(struct run *r)
{
    uint64_t limits = 0, faults = r->pair->faults;

    for (uint32_t q = 0; q < QPS; q++)
        for (uint32_t i = 0; i < MESSAGES; i++) {
            if (r->transport == OCHE_TRANSPORT_RC)
                assert_int_equal(r->came[q][i], 1);
            else if (r->ordered)
                assert_in_range(r->came[q][i], 0, 1);
            limits += r->came[q][i] > 1 ? r->came[q][i] - 1 : 0;
        }
    assert_true(limits <= faults);
    assert_int_equal(r->completed, QPS * MESSAGES);
    uint32_t held = 0; /* UC: its message was given up; the receive waits for the next message */
    for (uint32_t i = 0; i < SLOTS; i++)
        held += r->used[i];
    held -= oche_srq_posted(r->pair->side[1].srq);
    assert_true(held <= (r->transport == OCHE_TRANSPORT_UC ? QPS : 0));
    assert_true(r->arrived > 0);
    for (uint32_t i = 0; i < QPS; i++)
        assert_true(oche_qp_idle(r->pair->side[0].qp[i]));
    pair_close(r->pair);
    free(r);
}

static void run(uint64_t seed)
{
    struct run *r = open_run(seed);
    uint32_t left = 1;

    while (left > 0) {
        for (uint32_t i = below(r, 8); i-- > 0;)
            send_one(r, below(r, QPS));
        for (uint32_t i = below(r, 8); i-- > 0;)
            post_receive(r);
        for (uint32_t i = below(r, 40); i-- > 0;)
            pair_step(r->pair, r->pair->now + OCHE_MS);
        poll(r);
        left = 0;
        for (uint32_t q = 0; q < QPS; q++)
            left += MESSAGES - r->sent[q];
    }
    for (int round = 0; round < 200 && r->completed < QPS * MESSAGES; round++) {
        for (uint32_t i = 0; i < DEPTH; i++)
            post_receive(r);
        pair_run(r->pair, r->pair->now + 10 * OCHE_MS);
        poll(r);
    }
    for (uint32_t i = 0; i < DEPTH; i++)
        post_receive(r);
    pair_run_quiet(r->pair);
    poll(r);
    finish(r);
}

static void test_random(void **state)
{
    const uint64_t *only = *state;
    uint64_t last = only != NULL ? *only : seeds_of(RUNS);

    for (uint64_t seed = only != NULL ? *only : 1; seed <= last; seed++) {
        print_message("test_datagrams_random %lu\n", (unsigned long)seed);
        run(seed);
    }
}

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_random, argc > 1 ? &seed : NULL),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
