/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many objects: queue pairs take little address space until gaps need more, memory regions take
 * memory and time in proportion to their number, and queue pairs that never had a peer can be made
 * and destroyed as fast as a program likes.
 */
#include "tests/interop/verbs_bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#ifdef __SANITIZE_ADDRESS__
#define SANITIZED true
#else
#define SANITIZED false
#endif

#define MEGABYTE (UINT64_C(1) << 20)

/* Returns how many regions are registered: a million in the long form. */
static unsigned how_many(void)
{
    const char *form = getenv("OCHE_LONG");

    if (SANITIZED)
        return 50000;
    return form != NULL && strcmp(form, "yes") == 0 ? 1000000 : 200000;
}

struct size {
    uint64_t address_space, resident; /* bytes */
};

static struct size own_size(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    unsigned long long pages[2] = {0};

    assert_non_null(file);
    assert_int_equal(fscanf(file, "%llu %llu", &pages[0], &pages[1]), 2);
    fclose(file);
    return (struct size){.address_space = pages[0] * (uint64_t)sysconf(_SC_PAGESIZE),
                         .resident = pages[1] * (uint64_t)sysconf(_SC_PAGESIZE)};
}

static double processor_seconds(void)
{
    struct timespec time;

    assert_int_equal(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time), 0);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* With 30 MB of address space left, 30 queue pairs of perftest's size can be had. */
static void queue_pairs_in_little_space(void **state)
{
    enum { COUNT = 30 };
    struct bench *bench = open_bench(IBV_QPT_RC, IBV_MTU_1024, NULL);
    struct ibv_qp_init_attr attr = init_attr(bench->end[0].cq, IBV_QPT_RC);
    struct ibv_qp *qps[COUNT];
    struct rlimit own, limit;
    unsigned made = 0;

    (void)state;
    attr.cap.max_send_wr = 128;
    attr.cap.max_recv_wr = 512;
    assert_int_equal(getrlimit(RLIMIT_AS, &own), 0);
    limit = own;
    limit.rlim_cur = own_size().address_space + COUNT * MEGABYTE;
    assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
    while (made < COUNT && (qps[made] = ibv_create_qp(bench->pd, &attr)) != NULL)
        made++;
    assert_int_equal(setrlimit(RLIMIT_AS, &own), 0);
    for (unsigned i = 0; i < made; i++)
        assert_int_equal(ibv_destroy_qp(qps[i]), 0);
    close_bench(bench, false);
    assert_int_equal(made, COUNT);
}

/*
 * Without more address space, packets behind a gap are dropped and sent again; nothing fails.
 */
static void no_space_for_gaps(void **state)
{
    struct bench *bench = open_bench(IBV_QPT_RC, IBV_MTU_4096, NULL);
    struct ibv_sge sge = sge_of(&bench->end[0], 0, BYTES / 2);
    struct rlimit own, limit;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_AS, &own), 0);
    for (uint64_t i = 0; i < 11; i++) {
        const bool read = i % 2 == 1;
        struct ibv_send_wr wr =
            remote(read ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE, i, &sge, &bench->end[1], 0);

        memset(bench->end[read].memory, (int)i + 1, BYTES / 2);
        post(&bench->end[0], &wr);
        expect(bench->end[0].cq, i, IBV_WC_SUCCESS);
        assert_memory_equal(bench->end[0].memory, bench->end[1].memory, BYTES / 2);
        if (i > 0)
            continue;
        /* the device's thread runs: it has its stacks, and a sanitizer's */
        limit = own;
        limit.rlim_cur = own_size().address_space;
        assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
    }
    assert_int_equal(setrlimit(RLIMIT_AS, &own), 0);
    close_bench(bench, false);
}

/*
 * Registers `count` regions; the peer may access only the last one. Returns seconds of processor
 * time.
 */
static double register_many(struct bench *bench, struct ibv_mr **regions, unsigned count)
{
    const double before = processor_seconds();

    for (unsigned i = 0; i < count; i++) {
        regions[i] = ibv_reg_mr(bench->pd, bench->end[1].memory, 4096, ACCESS);
        if (regions[i] == NULL)
            fail_msg("%u regions could be registered", i);
    }
    return processor_seconds() - before;
}

static void use(struct bench *bench, const struct ibv_mr *region, uint8_t byte)
{
    struct ibv_sge sge = sge_of(&bench->end[0], 0, 4096);
    struct ibv_send_wr wr = remote(IBV_WR_RDMA_WRITE, byte, &sge, &bench->end[1], 0);

    wr.wr.rdma.rkey = region->rkey;
    memset(bench->end[0].memory, byte, 4096);
    post(&bench->end[0], &wr);
    expect(bench->end[0].cq, byte, IBV_WC_SUCCESS);
    assert_memory_equal(bench->end[1].memory, bench->end[0].memory, 4096);
}

static void many_regions(void **state)
{
    struct bench *bench = open_bench(IBV_QPT_RC, IBV_MTU_1024, NULL);
    const unsigned count = how_many();
    struct ibv_mr **regions = calloc(count, sizeof(struct ibv_mr *));
    struct ibv_device_attr attr;
    double first, rest;

    (void)state;
    assert_non_null(regions);
    assert_int_equal(ibv_query_device(bench->context, &attr), 0);
    assert_true(attr.max_mr >= 1000000);
    const struct size before = own_size();
    first = register_many(bench, regions, count / 20);
    rest = register_many(bench, regions + count / 20, count - count / 20);
    const struct size after = own_size();
    printf("%u regions: %.2f us each, the first twentieth %.2f; %.0f bytes each\n", count,
           rest / (count - count / 20) * 1e6, first / (count / 20) * 1e6,
           (double)(after.resident - before.resident) / count);
    assert_true(rest / 19 < 5 * first);
    if (!SANITIZED)
        assert_true(after.resident - before.resident < UINT64_C(400) * count);
    use(bench, regions[0], 1);
    use(bench, regions[count - 1], 2);
    for (unsigned i = 0; i < count; i++)
        assert_int_equal(ibv_dereg_mr(regions[i]), 0);
    free(regions);
    close_bench(bench, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(queue_pairs_in_little_space),
                                       cmocka_unit_test(no_space_for_gaps),
                                       cmocka_unit_test(many_regions)};

    setenv("OCHE_DEVICE", "127.34.0.12", 0);
    setenv("OCHE_DROP", "5000", 0); /* packets in a million: gaps */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
