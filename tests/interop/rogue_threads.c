/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For rogue_threads.py, under `oche exec --rogue`: many threads post on
 * many connections at once, others poll, and one makes connections and destroys them meanwhile.
 * Each work request completes once, with success, and what was written is there.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/interop/verbs_bench.h"

#define CONNECTIONS 24
#define POSTERS     6
#define POLLERS     3 /* each has a CQ, which CONNECTIONS / POLLERS queue pairs share */
#define EACH        1500
#define ALL         (POSTERS * EACH)
#define AREA        8192 /* of a connection */
#define DEPTH       16
#define LIMIT_S     100

struct connection {
    struct ibv_qp *from, *to;
    atomic_int posted; /* posted and not completed */
};

static struct {
    struct bench *bench; /* its memory and its own connection, which comes and goes */
    struct ibv_cq *cqs[POLLERS], *other;
    struct connection connections[CONNECTIONS];
    uint8_t *source, *target;
    struct ibv_mr *source_mr, *target_mr;
    atomic_uint seen[ALL], completed, wrong, made;
    atomic_bool over;
} all;

static struct ibv_qp *make(struct ibv_cq *cq)
{
    struct ibv_qp_init_attr init = init_attr(cq, IBV_QPT_RC);

    return ibv_create_qp(all.bench->pd, &init);
}

/* Returns 0, or an error: also for threads, which may not fail. */
static int connect_both(struct ibv_qp *from, struct ibv_qp *to)
{
    int error = to_init(from) | to_init(to);

    error |= to_rtr(all.bench, from, to->qp_num, IBV_MTU_1024);
    error |= to_rtr(all.bench, to, from->qp_num, IBV_MTU_1024);
    return error | to_rts(from) | to_rts(to);
}

static bool post_one(struct connection *connection, unsigned which, unsigned number)
{
    const uint32_t bytes = number % 5 == 0 ? AREA : 1 + number % 700;
    const size_t at = (size_t)which * AREA;
    const bool read = number % 3 == 0; /* of what is there from the beginning */
    struct ibv_sge sge = {(uintptr_t)(read ? all.target : all.source) + at, bytes,
                          read ? all.target_mr->lkey : all.source_mr->lkey};
    struct ibv_send_wr wr = {.wr_id = number,
                             .sg_list = &sge,
                             .num_sge = 1,
                             .opcode = read ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE,
                             .send_flags = IBV_SEND_SIGNALED,
                             .wr.rdma = {(uintptr_t)(read ? all.source : all.target) + at,
                                         read ? all.source_mr->rkey : all.target_mr->rkey}};
    struct ibv_send_wr *bad;

    if (atomic_fetch_add(&connection->posted, 1) >= DEPTH ||
        ibv_post_send(connection->from, &wr, &bad) != 0) {
        atomic_fetch_sub(&connection->posted, 1);
        return false;
    }
    return true;
}

static void *post_many(void *argument)
{
    const unsigned first = *(unsigned *)argument * EACH;

    for (unsigned i = 0, tried = first; i < EACH && !all.over; tried++) {
        const unsigned which = tried * 7 % CONNECTIONS;

        if (post_one(&all.connections[which], which, first + i))
            i++;
        else
            usleep(100);
    }
    return NULL;
}

static void *poll_one(void *argument)
{
    struct ibv_wc wc[4];
    int count;

    while (!all.over) {
        count = ibv_poll_cq(*(struct ibv_cq **)argument, 4, wc);
        atomic_fetch_add(&all.wrong, count < 0);
        for (int i = 0; i < count; i++) {
            atomic_fetch_add(&all.wrong, wc[i].status != IBV_WC_SUCCESS || wc[i].wr_id >= ALL);
            if (wc[i].wr_id < ALL)
                atomic_fetch_add(&all.seen[wc[i].wr_id], 1);
            for (unsigned which = 0; which < CONNECTIONS; which++)
                if (all.connections[which].from->qp_num == wc[i].qp_num)
                    atomic_fetch_sub(&all.connections[which].posted, 1);
            atomic_fetch_add(&all.completed, 1);
        }
        if (count == 0)
            usleep(50);
    }
    return NULL;
}

static void *come_and_go(void *unused)
{
    (void)unused;
    while (!all.over) {
        struct ibv_qp *from = make(all.other), *to = make(all.other);
        bool works = from != NULL && to != NULL && connect_both(from, to) == 0;

        atomic_fetch_add(&all.wrong, !works);
        atomic_fetch_add(&all.made, works);
        if (from != NULL)
            ibv_destroy_qp(from);
        if (to != NULL)
            ibv_destroy_qp(to);
    }
    return NULL;
}

static void prepare(void)
{
    all.bench = open_bench(IBV_QPT_RC, IBV_MTU_1024, NULL);
    all.source = malloc((size_t)CONNECTIONS * AREA);
    all.target = calloc(CONNECTIONS, AREA);
    fill(all.source, CONNECTIONS * AREA, 1);
    all.source_mr = ibv_reg_mr(all.bench->pd, all.source, (size_t)CONNECTIONS * AREA, ACCESS);
    all.target_mr = ibv_reg_mr(all.bench->pd, all.target, (size_t)CONNECTIONS * AREA, ACCESS);
    assert_true(all.source_mr != NULL && all.target_mr != NULL);
    all.other = ibv_create_cq(all.bench->context, 64, NULL, NULL, 0);
    for (unsigned i = 0; i < POLLERS; i++)
        all.cqs[i] = ibv_create_cq(all.bench->context, 4096, NULL, NULL, 0);
    for (unsigned i = 0; i < CONNECTIONS; i++) {
        struct connection *connection = &all.connections[i];
        connection->from = make(all.cqs[i % POLLERS]);
        connection->to = make(all.other);
        assert_int_equal(connect_both(connection->from, connection->to), 0);
    }
}

static void take_down(void)
{
    for (unsigned i = 0; i < CONNECTIONS; i++) {
        assert_int_equal(ibv_destroy_qp(all.connections[i].from), 0);
        assert_int_equal(ibv_destroy_qp(all.connections[i].to), 0);
    }
    for (unsigned i = 0; i < POLLERS; i++)
        assert_int_equal(ibv_destroy_cq(all.cqs[i]), 0);
    assert_int_equal(ibv_destroy_cq(all.other), 0);
    assert_int_equal(ibv_dereg_mr(all.source_mr), 0);
    assert_int_equal(ibv_dereg_mr(all.target_mr), 0);
    free(all.source);
    free(all.target);
    close_bench(all.bench, false);
}

static void test(void **state)
{
    pthread_t posters[POSTERS], pollers[POLLERS], maker;
    unsigned numbers[POSTERS];
    const time_t end = time(NULL) + LIMIT_S;

    (void)state;
    prepare();
    assert_int_equal(pthread_create(&maker, NULL, come_and_go, NULL), 0);
    for (unsigned i = 0; i < POLLERS; i++)
        assert_int_equal(pthread_create(&pollers[i], NULL, poll_one, &all.cqs[i]), 0);
    for (unsigned i = 0; i < POSTERS; i++) {
        numbers[i] = i;
        assert_int_equal(pthread_create(&posters[i], NULL, post_many, &numbers[i]), 0);
    }
    while ((all.completed < ALL || all.made < 3) && all.wrong == 0 && time(NULL) < end)
        usleep(10000);
    usleep(50000); /* for what completes twice */
    all.over = true;
    pthread_join(maker, NULL);
    for (unsigned i = 0; i < POLLERS; i++)
        pthread_join(pollers[i], NULL);
    for (unsigned i = 0; i < POSTERS; i++)
        pthread_join(posters[i], NULL);
    print_message("completed %u, wrong %u, made meanwhile %u\n", all.completed, all.wrong,
                  all.made);
    assert_int_equal(all.wrong, 0);
    for (unsigned i = 0; i < ALL; i++)
        assert_int_equal(all.seen[i], 1);
    assert_memory_equal(all.target, all.source, (size_t)CONNECTIONS * AREA);
    take_down();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
