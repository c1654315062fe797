/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signals and calls that sleep, ibv_get_cq_event and ibv_get_async_event: a handler without
 * SA_RESTART ends them (EINTR), as it would a read of a kernel's descriptor; one with it does not.
 * And signals that the program has blocked: no thread of the library takes them.
 */
#include "tests/interop/verbs_bench.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct waiter {
    struct ibv_context *context;
    struct ibv_comp_channel *channel; /* NULL: waits for an asynchronous event */
    struct ibv_async_event event;
    int status, error;
    _Atomic bool begun, ended;
};

static _Atomic unsigned handled;

static void handle(int number)
{
    (void)number;
    atomic_fetch_add(&handled, 1);
}

static void install(int flags)
{
    struct sigaction action = {.sa_handler = handle, .sa_flags = flags};

    sigemptyset(&action.sa_mask);
    assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
}

static void *wait_for_one(void *argument)
{
    struct waiter *waiter = argument;
    struct ibv_cq *cq;
    void *unused;

    atomic_store(&waiter->begun, true);
    waiter->status = waiter->channel != NULL ? ibv_get_cq_event(waiter->channel, &cq, &unused)
                                             : ibv_get_async_event(waiter->context, &waiter->event);
    waiter->error = errno;
    if (waiter->status == 0 && waiter->channel != NULL)
        ibv_ack_cq_events(cq, 1);
    if (waiter->status == 0 && waiter->channel == NULL)
        ibv_ack_async_event(&waiter->event);
    atomic_store(&waiter->ended, true);
    return NULL;
}

/* Starts a thread that waits, and sends it a signal whose handler has these flags. */
static void signal_it(struct waiter *waiter, pthread_t *thread, int flags)
{
    const unsigned before = atomic_load(&handled);

    install(flags);
    assert_int_equal(pthread_create(thread, NULL, wait_for_one, waiter), 0);
    while (!atomic_load(&waiter->begun))
        usleep(100);
    usleep(20000); /* it sleeps */
    assert_int_equal(pthread_kill(*thread, SIGUSR1), 0);
    while (atomic_load(&handled) == before)
        usleep(100);
    usleep(20000); /* and sleeps on, or not */
}

static void completion_events(void **state)
{
    struct ibv_context *context = open_one();
    struct ibv_comp_channel *channel = ibv_create_comp_channel(context);
    struct ibv_cq *cq = ibv_create_cq(context, 10, NULL, channel, 0);
    struct ibv_pd *pd = ibv_alloc_pd(context);
    struct ibv_recv_wr receive = {.wr_id = 1}, *bad;
    struct ibv_qp_attr error = {.qp_state = IBV_QPS_ERR};
    struct ibv_qp_init_attr attr;
    struct ibv_qp *qp;
    pthread_t thread;

    (void)state;
    assert_non_null(cq);
    attr = init_attr(cq, IBV_QPT_RC);
    qp = ibv_create_qp(pd, &attr);
    assert_non_null(qp);
    assert_int_equal(to_init(qp), 0);
    assert_int_equal(ibv_post_recv(qp, &receive, &bad), 0);
    assert_int_equal(ibv_req_notify_cq(cq, 0), 0);
    struct waiter first = {.context = context, .channel = channel}, second = first;
    signal_it(&first, &thread, 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(first.status, -1);
    assert_int_equal(first.error, EINTR);

    signal_it(&second, &thread, SA_RESTART);
    assert_false(atomic_load(&second.ended));
    assert_int_equal(ibv_modify_qp(qp, &error, IBV_QP_STATE), 0); /* flushes the receive */
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(second.status, 0);
    assert_int_equal(ibv_destroy_qp(qp), 0);
    assert_int_equal(ibv_destroy_cq(cq), 0);
    assert_int_equal(ibv_destroy_comp_channel(channel), 0);
    assert_int_equal(ibv_dealloc_pd(pd), 0);
    assert_int_equal(ibv_close_device(context), 0);
}

static void asynchronous_events(void **state)
{
    struct bench *bench = open_bench(IBV_QPT_RC, IBV_MTU_1024, NULL);
    struct ibv_qp_attr drain = {.qp_state = IBV_QPS_SQD, .en_sqd_async_notify = 1};
    struct waiter first = {.context = bench->context}, second = first;
    pthread_t thread;

    (void)state;
    signal_it(&first, &thread, 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(first.status, -1);
    assert_int_equal(first.error, EINTR);

    signal_it(&second, &thread, SA_RESTART);
    assert_false(atomic_load(&second.ended));
    assert_int_equal(
        ibv_modify_qp(bench->end[0].qp, &drain, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(second.status, 0);
    assert_int_equal(second.event.event_type, IBV_EVENT_SQ_DRAINED);
    close_bench(bench, false);
}

/*
 * A program opens a device and then blocks a signal, to fetch it with sigwait(): it waits until the
 * program does, though the library has a thread that had no such order.
 */
static void blocked_signals(void **state)
{
    static const int numbers[] = {SIGUSR1, SIGTERM, SIGINT, SIGCHLD, SIGALRM};
    struct ibv_context *context = open_one();
    const struct timespec at_once = {0};
    const struct sigaction action = {.sa_handler = handle};
    struct sigaction old;
    sigset_t set, before;

    (void)state;
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        const unsigned handled_before = atomic_load(&handled);

        sigemptyset(&set);
        sigaddset(&set, numbers[i]);
        assert_int_equal(sigaction(numbers[i], &action, &old), 0);
        assert_int_equal(pthread_sigmask(SIG_BLOCK, &set, &before), 0);
        assert_int_equal(kill(getpid(), numbers[i]), 0);
        usleep(20000);
        assert_int_equal(atomic_load(&handled), handled_before);
        assert_int_equal(sigtimedwait(&set, NULL, &at_once), numbers[i]);
        assert_int_equal(pthread_sigmask(SIG_SETMASK, &before, NULL), 0);
        assert_int_equal(sigaction(numbers[i], &old, NULL), 0);
    }
    assert_int_equal(ibv_close_device(context), 0);
}

/* Opening a device leaves the program's own mask as it was. */
static void own_mask(void **state)
{
    sigset_t set, before, after;

    (void)state;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    assert_int_equal(pthread_sigmask(SIG_SETMASK, &set, &before), 0);
    assert_int_equal(ibv_close_device(open_one()), 0);
    assert_int_equal(pthread_sigmask(SIG_SETMASK, &before, &after), 0);
    for (int number = 1; number < SIGRTMIN; number++)
        assert_int_equal(sigismember(&after, number), number == SIGUSR2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocked_signals),
        cmocka_unit_test(own_mask),
        cmocka_unit_test(completion_events),
        cmocka_unit_test(asynchronous_events),
    };

    setenv("OCHE_DEVICE", "127.34.0.9", 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
