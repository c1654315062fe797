/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rate limit of a queue pair (ibv_modify_qp_rate_limit). Time passes with each look at the
 * clock and not otherwise, so that a busy machine does not change what is measured.
 */
#include "tests/interop/verbs_bench.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LOOK_NS 200
#define SECOND  1000000000

static _Atomic uint64_t passed_ns;

/* Replaces the C library's function, also for the verbs library. */
int clock_gettime(clockid_t clock, struct timespec *time)
{
    uint64_t now;

    if (clock != CLOCK_MONOTONIC)
        return (int)syscall(SYS_clock_gettime, clock, time);
    now = atomic_fetch_add(&passed_ns, LOOK_NS);
    *time = (struct timespec){.tv_sec = (time_t)(now / SECOND), .tv_nsec = (long)(now % SECOND)};
    return 0;
}

/* Polls without a pause: time passes only then. */
static void completes(struct ibv_cq *cq, uint64_t wr_id)
{
    struct ibv_wc wc;
    int count;

    while ((count = ibv_poll_cq(cq, 1, &wc)) == 0)
        ;
    assert_int_equal(count, 1);
    assert_int_equal(wc.wr_id, wr_id);
    assert_int_equal(wc.status, IBV_WC_SUCCESS);
}

/* Returns the seconds that `count` WRITEs of `size` bytes take. */
static double time_of(struct bench *bench, unsigned count, uint32_t size)
{
    struct ibv_sge sge = sge_of(&bench->end[0], 0, size);
    const uint64_t start = atomic_load(&passed_ns);

    for (unsigned i = 0; i < count; i++) {
        struct ibv_send_wr wr = remote(IBV_WR_RDMA_WRITE, i, &sge, &bench->end[1], 0);

        post(&bench->end[0], &wr);
        if (i >= 4)
            completes(bench->end[0].cq, i - 4);
    }
    for (unsigned i = count < 4 ? 0 : count - 4; i < count; i++)
        completes(bench->end[0].cq, i);
    return (double)(atomic_load(&passed_ns) - start) / SECOND;
}

/*
 * The limit counts bytes on the line: 4096 of payload are 4178 there (RETH left out, which only
 * first packets have). Of two lengths, so that the first burst and the last ACK do not count.
 */
static void test_rate_limit(void **state)
{
    static const uint32_t kbps[] = {50000, 200000, 1000000};
    struct bench *bench = open_bench(IBV_QPT_RC, IBV_MTU_4096, NULL);
    const unsigned few = 4, more = 12, size = 64 << 10;

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        struct ibv_qp_rate_limit_attr attr = {.rate_limit = kbps[i]};
        double seconds, rate;

        assert_int_equal(ibv_modify_qp_rate_limit(bench->end[0].qp, &attr), 0);
        seconds = -time_of(bench, few, size);
        seconds += time_of(bench, more, size);
        rate = 8.0 * size * (more - few) * (4096 + 82) / 4096 / seconds / (1000.0 * kbps[i]);
        print_message("limit %u kbit/s: %.4f of it\n", kbps[i], rate);
        assert_true(rate > 0.97 && rate < 1.03);
    }
    struct ibv_qp_rate_limit_attr none = {0};
    assert_int_equal(ibv_modify_qp_rate_limit(bench->end[0].qp, &none), 0);
    close_bench(bench, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rate_limit)};

    setenv("OCHE_DEVICE", "127.34.0.10", 0);
    setenv("OCHE_POLL", "busy", 0); /* one that yields would wait for others at each look */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
