/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dart by verbs: three devices in one process, on addresses of their own; two write to the third
 * one. Their own links are rate limits here, a little below the line rate. Alone, a sender has all
 * of its link; with the other one, half of the receiver's; and all again when the other one has
 * ended. Nothing marks here: the rates come from the shares that ACKs say.
 */
#include "tests/interop/verbs_bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define OWN_LINK 0.95  /* of the line rate, at which nothing is limited */
#define LINE     400e6 /* OCHE_LINE_RATE */
#define SIZE     (512 << 10)
#define POSTED   2 /* WRITEs under way */
#define SECONDS  0.3
#define ATTEMPTS 40

/* One sender and its own end at the receiver. */
struct sender {
    struct ibv_context *context;
    struct ibv_pd *pd;
    struct end from, to;
    uint64_t bytes; /* bytes that have arrived */
    unsigned under_way;
};

static struct ibv_context *receiver;
static struct ibv_pd *receiver_pd;
static struct sender senders[2];

static struct ibv_context *open_on(unsigned last)
{
    char address[32];

    snprintf(address, sizeof(address), "127.34.1.%u", last);
    setenv("OCHE_DEVICE", address, 1);
    return open_one();
}

static void open_end(struct end *end, struct ibv_context *context, struct ibv_pd *pd)
{
    struct ibv_qp_init_attr init;

    end->cq = ibv_create_cq(context, 64, NULL, NULL, 0);
    assert_non_null(end->cq);
    init = init_attr(end->cq, IBV_QPT_RC);
    end->qp = ibv_create_qp(pd, &init);
    assert_non_null(end->qp);
    end->memory = calloc(1, BYTES);
    end->mr = ibv_reg_mr(pd, end->memory, BYTES, ACCESS);
    assert_non_null(end->mr);
}

static void close_end(struct end *end)
{
    assert_int_equal(ibv_destroy_qp(end->qp), 0);
    assert_int_equal(ibv_destroy_cq(end->cq), 0);
    assert_int_equal(ibv_dereg_mr(end->mr), 0);
    free(end->memory);
}

static void join(struct end *end, struct ibv_context *peer, const struct end *other)
{
    struct bench there = {.context = peer};

    assert_int_equal(ibv_query_gid(peer, 1, 0, &there.gid), 0);
    assert_int_equal(to_init(end->qp), 0);
    assert_int_equal(to_rtr(&there, end->qp, other->qp->qp_num, IBV_MTU_4096), 0);
    assert_int_equal(to_rts(end->qp), 0);
}

static int set_up(void **state)
{
    struct ibv_qp_rate_limit_attr link = {.rate_limit = (uint32_t)(OWN_LINK * LINE / 1000)};

    (void)state;
    receiver = open_on(1);
    receiver_pd = ibv_alloc_pd(receiver);
    for (unsigned i = 0; i < 2; i++) {
        struct sender *s = &senders[i];

        s->context = open_on(2 + i);
        s->pd = ibv_alloc_pd(s->context);
        open_end(&s->from, s->context, s->pd);
        open_end(&s->to, receiver, receiver_pd);
        join(&s->from, receiver, &s->to);
        join(&s->to, s->context, &s->from);
        assert_int_equal(ibv_modify_qp_rate_limit(s->from.qp, &link), 0);
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        close_end(&senders[i].from);
        close_end(&senders[i].to);
        assert_int_equal(ibv_dealloc_pd(senders[i].pd), 0);
        assert_int_equal(ibv_close_device(senders[i].context), 0);
    }
    assert_int_equal(ibv_dealloc_pd(receiver_pd), 0);
    return ibv_close_device(receiver);
}

static double seconds_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void keep_busy(struct sender *s, bool more)
{
    struct ibv_sge sge = sge_of(&s->from, 0, SIZE);
    struct ibv_send_wr wr = remote(IBV_WR_RDMA_WRITE, 1, &sge, &s->to, 0);
    struct ibv_wc wc;

    while (more && s->under_way < POSTED) {
        post(&s->from, &wr);
        s->under_way++;
    }
    while (ibv_poll_cq(s->from.cq, 1, &wc) == 1) {
        assert_int_equal(wc.status, IBV_WC_SUCCESS);
        s->bytes += SIZE;
        s->under_way--;
    }
    assert_int_equal(ibv_poll_cq(s->to.cq, 1, &wc), 0); /* the receiver's progress */
}

/* Writes each sender's part of the line, measured for `seconds`. */
static void transfer(unsigned count, double seconds, double part[2])
{
    const double start = seconds_now();
    double now;

    senders[0].bytes = senders[1].bytes = 0;
    while ((now = seconds_now()) < start + seconds)
        for (unsigned i = 0; i < 2; i++)
            keep_busy(&senders[i], i < count);
    for (unsigned i = 0; i < 2; i++)
        part[i] = 8.0 * (double)senders[i].bytes * 4178 / 4096 / (now - start) / LINE;
}

/*
 * A busy machine leaves less to both, so one of many short times must show it; that anybody has
 * more than he may, none.
 */
static void must_have(unsigned count, double least, double most)
{
    double part[2];

    transfer(count, SECONDS, part); /* until all know */
    for (unsigned attempt = 0; attempt < ATTEMPTS; attempt++) {
        transfer(count, SECONDS, part);
        if (part[0] > least && part[0] < most &&
            (count == 1 || (part[1] > least && part[1] < most)))
            break;
    }
    print_message("%u senders: %.3f and %.3f of the line\n", count, part[0], part[1]);
    assert_in_range((uint64_t)(1000 * part[0]), (uint64_t)(1000 * least), (uint64_t)(1000 * most));
    if (count == 2)
        assert_in_range((uint64_t)(1000 * part[1]), (uint64_t)(1000 * least),
                        (uint64_t)(1000 * most));
}

static void test_halves(void **state)
{
    (void)state;
    must_have(1, 0.85, 1);
    must_have(2, 0.42, 0.6);
    must_have(1, 0.85, 1);
    while (senders[0].under_way > 0)
        keep_busy(&senders[0], false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_halves, set_up, tear_down)};

    setenv("OCHE_CC", "dart,base_rtt=2ms", 1);
    setenv("OCHE_LINE_RATE", "400Mbps", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
