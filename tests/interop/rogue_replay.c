/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For rogue.py, with packets that are lost: two queue pairs send to each other at once.
 *
 *     rogue_replay replay     WRITEs, messages and READs, again and again. Every byte is checked,
 *                             each message comes once and in order, and what was written before a
 *                             message is not written again after it.
 *     rogue_replay atomic     nothing arrives: an atomic that may have been done fails, what is
 *                             behind it and all receives are flushed
 *     rogue_replay silent     the same with a WRITE, which is tried again for a while
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/interop/verbs_bench.h"

#define ROUNDS   20     /* OCHE_LONG=yes: twice as many */
#define WRITTEN  200000 /* four segments of 64 KiB */
#define READ     100000
#define SOURCE   0 /* offsets */
#define TARGET   200000
#define GOT      400000
#define CONSTANT 500000
#define MESSAGES 700000
#define RECEIVES 4
#define USED     0xee

enum { WROTE = 1, SENT, GOT_IT, CAME = 100 };

static const char *mode;

static unsigned seed_of(int round, int end)
{
    return 1000u * (unsigned)end + (unsigned)round;
}

/*
 * A READ's response acknowledges the message before the READ. So that this is not always the case,
 * only some rounds have a READ.
 */
static bool reads(int round)
{
    return round % 2 == 0;
}

static void post_round(struct bench *bench, int from, int round)
{
    struct end *own = &bench->end[from];
    const struct end *peer = &bench->end[1 - from];
    struct ibv_sge data = sge_of(own, SOURCE, WRITTEN), got = sge_of(own, GOT, READ);
    struct ibv_sge word = sge_of(own, MESSAGES - 8, 8);
    struct ibv_send_wr write = remote(IBV_WR_RDMA_WRITE, WROTE, &data, peer, TARGET);
    struct ibv_send_wr read = remote(IBV_WR_RDMA_READ, GOT_IT, &got, peer, CONSTANT);
    struct ibv_send_wr send = {.wr_id = SENT,
                               .sg_list = &word,
                               .num_sge = 1,
                               .opcode = IBV_WR_SEND_WITH_IMM,
                               .send_flags = IBV_SEND_SIGNALED,
                               .imm_data = (uint32_t)round};

    if (round % 3 == 0) {
        send = remote(IBV_WR_RDMA_WRITE_WITH_IMM, SENT, &word, peer, MESSAGES - 16);
        send.imm_data = (uint32_t)round;
    }
    fill(own->memory + SOURCE, WRITTEN, seed_of(round, from));
    memcpy(own->memory + MESSAGES - 8, &round, sizeof(round));
    memset(own->memory + GOT, 0, READ);
    write.send_flags = 0;
    write.next = &send;
    if (reads(round))
        send.next = &read;
    post(own, &write);
}

/* The round's message has arrived. Checks that all data written before it has arrived, too. */
static void check_message(struct bench *bench, int at, int round, const struct ibv_wc *wc)
{
    static uint8_t expected[WRITTEN];
    const struct end *own = &bench->end[at];

    assert_int_equal(wc->imm_data, round);
    assert_int_equal(wc->wr_id, CAME + round % RECEIVES);
    assert_int_equal(wc->qp_num, own->qp->qp_num);
    assert_int_equal(wc->byte_len, 8);
    if (round % 3 != 0)
        assert_memory_equal(own->memory + MESSAGES + 64 * (round % RECEIVES), &round,
                            sizeof(round));
    fill(expected, WRITTEN, seed_of(round, 1 - at));
    assert_memory_equal(own->memory + TARGET, expected, WRITTEN);
    memset(own->memory + TARGET, USED, WRITTEN); /* this memory is ours again */
}

static void run_round(struct bench *bench, int round)
{
    static uint8_t expected[READ];
    const time_t end = time(NULL) + 60;
    unsigned seen[2] = {reads(round) ? 0 : 2, reads(round) ? 0 : 2};

    for (int i = 0; i < 2; i++)
        post_round(bench, i, round);
    for (int i = 0; seen[0] != 7 || seen[1] != 7; i = 1 - i) {
        struct ibv_wc wc;
        assert_true(time(NULL) < end);
        if (ibv_poll_cq(bench->end[i].cq, 1, &wc) == 0) {
            usleep(POLL_US);
            continue;
        }
        if (wc.status != IBV_WC_SUCCESS)
            print_error("round %d: %s\n", round, ibv_wc_status_str(wc.status));
        assert_int_equal(wc.status, IBV_WC_SUCCESS);
        unsigned bit = wc.wr_id == SENT ? 1 : wc.wr_id == GOT_IT ? 2 : 4;
        assert_int_equal(seen[i] & bit, 0);
        seen[i] |= bit;
        if (bit == 4)
            check_message(bench, i, round, &wc);
    }
    for (int i = 0; i < 2; i++) {
        const struct end *own = &bench->end[i];
        for (uint32_t at = TARGET; at < TARGET + WRITTEN; at++)
            assert_int_equal(own->memory[at], USED);
        fill(expected, READ, seed_of(0, 3 - i));
        if (reads(round))
            assert_memory_equal(own->memory + GOT, expected, READ);
        post_recv(&bench->end[i], CAME + (uint64_t)(round % RECEIVES),
                  MESSAGES + 64 * (uint32_t)(round % RECEIVES), 64);
    }
}

static void replay(struct bench *bench)
{
    for (int i = 0; i < 2; i++) {
        fill(bench->end[i].memory + CONSTANT, READ, seed_of(0, 2 + i));
        for (uint32_t n = 0; n < RECEIVES; n++)
            post_recv(&bench->end[i], CAME + n, MESSAGES + 64 * n, 64);
    }
    const char *form = getenv("OCHE_LONG");
    const int rounds = form != NULL && strcmp(form, "yes") == 0 ? 2 * ROUNDS : ROUNDS;

    for (int round = 0; round < rounds; round++)
        run_round(bench, round);
}

/* Packets of this verb do not arrive at the peer. */
static void fails(struct bench *bench, enum ibv_wr_opcode opcode)
{
    struct end *own = &bench->end[0];
    struct ibv_sge word = sge_of(own, 0, 8);
    struct ibv_send_wr first = remote(opcode, 1, &word, &bench->end[1], 0);
    struct ibv_send_wr second = remote(IBV_WR_RDMA_WRITE, 2, &word, &bench->end[1], 64);
    struct ibv_qp_init_attr init;
    struct ibv_qp_attr attr;

    if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
        first.wr.atomic.remote_addr = (uintptr_t)bench->end[1].memory;
        first.wr.atomic.rkey = bench->end[1].mr->rkey;
        first.wr.atomic.compare_add = 1;
    }
    second.send_flags = 0; /* flushed work completes even if unsignaled */
    first.next = &second;
    post_recv(own, 3, 128, 8);
    post_recv(own, 4, 128, 8);
    post(own, &first);
    expect(own->cq, 1, IBV_WC_RETRY_EXC_ERR);
    expect(own->cq, 2, IBV_WC_WR_FLUSH_ERR);
    expect(own->cq, 3, IBV_WC_WR_FLUSH_ERR);
    expect(own->cq, 4, IBV_WC_WR_FLUSH_ERR);
    assert_int_equal(ibv_query_qp(own->qp, &attr, IBV_QP_STATE, &init), 0);
    assert_int_equal(attr.qp_state, IBV_QPS_ERR);
    second.next = NULL;
    post(own, &second); /* after the end */
    expect(own->cq, 2, IBV_WC_WR_FLUSH_ERR);
}

static void test(void **state)
{
    struct bench *bench = open_bench(IBV_QPT_RC, IBV_MTU_1024, NULL);

    (void)state;
    if (strcmp(mode, "replay") == 0)
        replay(bench);
    else
        fails(bench, strcmp(mode, "atomic") == 0 ? IBV_WR_ATOMIC_FETCH_AND_ADD : IBV_WR_RDMA_WRITE);
    close_bench(bench, false);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test)};

    mode = argc > 1 ? argv[1] : "replay";
    return cmocka_run_group_tests(tests, NULL, NULL);
}
