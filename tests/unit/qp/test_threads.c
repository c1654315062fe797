/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Posting and polling take no lock. Two threads post sends on two queue pairs, one posts receives
 * and polls for them, one polls for sends. Two drive the NICs in turn, under the driver's one lock.
 * Every post is noticed, and every completion comes once and in order; the same with a shared
 * receive queue. Under ThreadSanitizer this also shows that there is no race.
 */
#include "tests/support/test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "tests/support/pair.h"

#define WORKS 8000

struct shared {
    struct pair *pair;
    pthread_mutex_t lock;
    atomic_uint sends_done, recvs_done;
    atomic_bool failed;
};

/* Lets other threads run. A thread that only yields gets almost no time beside busy programs. */
static void rest(void)
{
    usleep(10);
}

struct poster {
    struct shared *shared;
    uint32_t index; /* of the queue pair */
    enum oche_work_opcode opcode;
};

static void *post_sends(void *context)
{
    struct poster *poster = context;
    struct oche_qp *qp = poster->shared->pair->side[0].qp[poster->index];

    for (uint64_t i = 0; i < WORKS && !atomic_load(&poster->shared->failed);) {
        struct oche_send_work work =
            pair_work(poster->opcode, i, 0, 4096, 1 + (uint32_t)(i * 37 % 3000));
        work.wr_id |= (uint64_t)poster->index << 32;
        if (oche_qp_post_send(qp, &work) == 0)
            i++;
        else
            rest();
    }
    return NULL;
}

static void *poll_sends(void *context)
{
    struct shared *shared = context;
    uint64_t next[2] = {0};
    struct oche_completion done[8];

    for (unsigned total = 0; total < 2 * WORKS && !atomic_load(&shared->failed);) {
        unsigned count = oche_cq_poll(shared->pair->side[0].cq, done, 8);
        for (unsigned i = 0; i < count; i++) {
            uint32_t index = (uint32_t)(done[i].wr_id >> 32);
            bool right =
                done[i].status == OCHE_STATUS_SUCCESS && (uint32_t)done[i].wr_id == next[index]++;
            if (!right)
                atomic_store(&shared->failed, true);
        }
        total += count;
        atomic_store(&shared->sends_done, total);
        if (count == 0)
            rest();
    }
    return NULL;
}

static int post_numbered(struct pair_side *side, uint64_t number)
{
    struct oche_recv_work work = {
        .wr_id = number,
        .sge_count = 1,
        .sge[0] = {.va = PAIR_VA + 100000, .length = 3000, .lkey = PAIR_KEY},
    };

    return side->srq != NULL ? oche_srq_post_recv(side->srq, &work)
                             : oche_qp_post_recv(side->qp[0], &work);
}

static void *receive(void *context)
{
    struct shared *shared = context;
    struct oche_completion done[8];
    uint64_t posted = 0, received = 0;

    while (received < WORKS && !atomic_load(&shared->failed)) {
        /* As many as fit: on a busy machine this thread runs only every few milliseconds. */
        while (posted < WORKS && post_numbered(&shared->pair->side[1], posted) == 0)
            posted++;
        unsigned count = oche_cq_poll(shared->pair->side[1].cq, done, 8);
        for (unsigned i = 0; i < count; i++) {
            bool right = done[i].status == OCHE_STATUS_SUCCESS && done[i].wr_id == received &&
                         done[i].bytes == 1 + received * 37 % 3000;
            if (!right)
                atomic_store(&shared->failed, true);
            received++;
        }
        atomic_store(&shared->recvs_done, (unsigned)received);
        if (count == 0)
            rest();
    }
    return NULL;
}

static bool all_done(struct shared *shared)
{
    return atomic_load(&shared->sends_done) == 2 * WORKS &&
           atomic_load(&shared->recvs_done) == WORKS;
}

static void *drive(void *context)
{
    struct shared *shared = context;

    while (!all_done(shared) && !atomic_load(&shared->failed)) {
        pthread_mutex_lock(&shared->lock);
        for (int i = 0; i < 64; i++)
            if (!pair_step(shared->pair, shared->pair->now + 10 * OCHE_US))
                shared->pair->now += OCHE_US / 8;
        pthread_mutex_unlock(&shared->lock);
    }
    return NULL;
}

/* With a shared receive queue of `srq_depth`, or with none. */
static void run(uint32_t srq_depth)
{
    struct pair_options options = {.qps = 2,
                                   .drop = 5,
                                   .rnr_retry = UINT32_MAX,
                                   .retry_count = UINT32_MAX,
                                   .srq_depth = srq_depth};
    struct shared shared = {.pair = pair_open(&options), .lock = PTHREAD_MUTEX_INITIALIZER};
    struct poster posters[2] = {{&shared, 0, OCHE_WORK_SEND}, {&shared, 1, OCHE_WORK_WRITE}};
    struct {
        void *(*run)(void *);
        void *context;
    } roles[] = {{post_sends, &posters[0]}, {post_sends, &posters[1]}, {poll_sends, &shared},
                 {receive, &shared},        {drive, &shared},          {drive, &shared}};
    pthread_t threads[6];

    for (int i = 0; i < 6; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, roles[i].run, roles[i].context), 0);
    for (int i = 0; i < 6; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_false(atomic_load(&shared.failed));
    pair_run_quiet(shared.pair);
    assert_int_equal(shared.pair->side[1].delivered_messages, 2 * WORKS);
    assert_true(oche_qp_idle(shared.pair->side[0].qp[0]));
    assert_true(oche_qp_idle(shared.pair->side[0].qp[1]));
    pair_close(shared.pair);
}

static void test_posting_needs_no_lock(void **state)
{
    (void)state;
    run(0);
}

static void test_nor_does_sharing(void **state)
{
    (void)state;
    run(16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_posting_needs_no_lock),
        cmocka_unit_test(test_nor_does_sharing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
