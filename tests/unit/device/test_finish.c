/* SPDX-License-Identifier: Apache-2.0 */
/*
 * oche_device_finish: what a device does before its process ends. The peer gets all that an adapter
 * would have sent by then, and memory that is no longer mapped does no harm.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "device/host/critical_section.h"
#include "device/internal.h"
#include "tests/unit/device/pair.h"

#define BYTES 256

static void finish(struct end *end)
{
    oche_device_lock(end->device);
    oche_device_finish(end->device);
    oche_device_unlock(end->device);
}

static void go_on(struct end *end)
{
    oche_device_lock(end->device);
    oche_device_resume(end->device);
    oche_device_unlock(end->device);
}

static void post_work(struct end *end, const struct oche_send_work *work)
{
    assert_int_equal(oche_device_post_send(end->device, end->qp, work), 0);
}

/* A message that is only posted is sent; one that has only arrived is acknowledged. */
static void posted_and_unread(void **state)
{
    struct oche_send_work work;
    struct oche_completion done;
    struct pair pair;

    (void)state;
    pair_open(&pair, &(struct oche_device_config){0}, OCHE_TRANSPORT_RC);
    pair_be_patient(&pair);
    end_fill(&pair.a, 1);
    work = work_between(&pair.a, &pair.b, OCHE_WORK_WRITE, 0, BYTES);
    post_work(&pair.a, &work);
    work = work_between(&pair.a, &pair.b, OCHE_WORK_READ, BYTES, BYTES);
    post_work(&pair.a, &work);
    finish(&pair.a);
    assert_int_equal(oche_cq_poll(pair.a.cq, &done, 1), 0);
    finish(&pair.b);
    assert_memory_equal(pair.b.memory, pair.a.memory, BYTES);
    oche_device_close(pair.b.device); /* it is gone: nothing more will come of it */
    pair.b.device = NULL;
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(pump(&pair, &pair.a).status, OCHE_STATUS_SUCCESS);
    free(pair.b.memory);
    end_close(&pair.a);
}

/* Messages go to and fro, so that ACKs are held; the last one of them by `a`. */
static void play(struct pair *pair)
{
    struct end *ends[2] = {&pair->a, &pair->b};

    for (unsigned i = 0; i < 10; i++) {
        struct end *from = ends[i % 2], *to = ends[(i + 1) % 2];
        const struct oche_send_work work = work_between(from, to, OCHE_WORK_SEND, 0, BYTES);

        post_receive(to, i, 0, BYTES);
        post_work(from, &work);
        while (pump(pair, to).opcode != OCHE_DONE_RECV)
            continue;
    }
}

static bool holds(const struct end *end)
{
    return end->device->ack_delay.until != 0;
}

static void held(void **state)
{
    const struct oche_device_config config = {0};
    struct pair pair;

    (void)state;
    pair_open(&pair, &config, OCHE_TRANSPORT_RC);
    pair_be_patient(&pair);
    pair.a.device->ack_delay.longest = pair.b.device->ack_delay.longest = 100 * OCHE_SEC;
    play(&pair);
    assert_true(holds(&pair.a));
    finish(&pair.a);
    assert_false(holds(&pair.a));
    while (pump(&pair, &pair.b).opcode != OCHE_DONE_SEND)
        continue;
    play(&pair); /* from now on it holds none … */
    assert_false(holds(&pair.a));
    go_on(&pair.a);
    play(&pair); /* … until it goes on */
    assert_true(holds(&pair.a));
    pair_close(&pair);
}

/* Registers separate memory as the end's region, in place of its present one. */
static void take_page(struct end *end, uint8_t **before)
{
    *before = end->memory;
    end->memory =
        mmap(NULL, PAIR_MEMORY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(end->memory, MAP_FAILED);
    end->key = oche_device_register(end->device, end->memory, PAIR_MEMORY,
                                    OCHE_ACCESS_LOCAL_WRITE | OCHE_ACCESS_REMOTE_WRITE |
                                        OCHE_ACCESS_REMOTE_READ | OCHE_ACCESS_REMOTE_ATOMIC);
    assert_int_not_equal(end->key, 0);
}

/* `sender`: the sender's memory is gone; otherwise the receiver's. */
static void unmapped(bool sender)
{
    const struct oche_device_config config = {0};
    struct oche_send_work work;
    struct pair pair;
    struct end *gone;
    uint8_t *before, zeros[BYTES] = {0};

    pair_open(&pair, &config, OCHE_TRANSPORT_RC);
    pair_be_patient(&pair);
    gone = sender ? &pair.a : &pair.b;
    take_page(gone, &before);
    work = work_between(&pair.a, &pair.b, OCHE_WORK_WRITE, 0, BYTES);
    post_work(&pair.a, &work);
    if (!sender) {
        work = work_between(&pair.a, &pair.b, OCHE_WORK_FETCH_ADD, 0, 8);
        post_work(&pair.a, &work);
        work = work_between(&pair.a, &pair.b, OCHE_WORK_READ, 0, BYTES);
        post_work(&pair.a, &work);
        post_receive(&pair.b, 1, 0, BYTES);
        work = work_between(&pair.a, &pair.b, OCHE_WORK_SEND, 0, BYTES);
        post_work(&pair.a, &work);
    }
    assert_int_equal(munmap(gone->memory, PAIR_MEMORY), 0);
    gone->memory = before;
    if (sender)
        memset(pair.b.memory, 0, BYTES);
    finish(&pair.a);
    finish(&pair.b);
    finish(&pair.a);
    if (sender) /* rather nothing than anything else */
        assert_memory_equal(pair.b.memory, zeros, BYTES);
    pair_close(&pair);
}

static void unmapped_at_sender(void **state)
{
    (void)state;
    unmapped(true);
}

static void unmapped_at_receiver(void **state)
{
    (void)state;
    unmapped(false);
}

/* A queue pair whose posted receive's memory is gone, and for which a message has arrived. */
static void unmapped_at_destroy(void **state)
{
    struct oche_send_work work;
    struct pair pair;
    uint8_t *before;

    (void)state;
    pair_open(&pair, &(struct oche_device_config){0}, OCHE_TRANSPORT_RC);
    pair_be_patient(&pair);
    take_page(&pair.b, &before);
    post_receive(&pair.b, 1, 0, BYTES);
    work = work_between(&pair.a, &pair.b, OCHE_WORK_SEND, 0, BYTES);
    post_work(&pair.a, &work);
    assert_true(oche_device_send_posted(pair.a.device));
    assert_int_equal(munmap(pair.b.memory, PAIR_MEMORY), 0);
    pair.b.memory = before;
    oche_device_destroy_qp(pair.b.device, pair.b.qp);
    pair.b.qp = NULL;
    pair_close(&pair);
}

static void *send_posted(void *argument)
{
    struct end *end = argument;
    const bool sent = oche_device_send_posted(end->device);

    assert_int_equal(oche_critical_depth,
                     0); /* whoever ends the process has no locks to wait for */
    return sent ? end : NULL;
}

/* Work that is posted leaves at once, unless another thread has the lock. */
static void sent_when_posted(void **state)
{
    struct oche_send_work work;
    struct pair pair;
    pthread_t thread;
    void *sent;

    (void)state;
    pair_open(&pair, &(struct oche_device_config){0}, OCHE_TRANSPORT_RC);
    pair_be_patient(&pair);
    end_fill(&pair.a, 1);
    work = work_between(&pair.a, &pair.b, OCHE_WORK_WRITE, 0, BYTES);
    post_work(&pair.a, &work);
    oche_device_lock(pair.a.device);
    assert_int_equal(pthread_create(&thread, NULL, send_posted, &pair.a), 0);
    assert_int_equal(pthread_join(thread, &sent), 0);
    assert_null(sent);
    oche_device_unlock(pair.a.device);
    assert_non_null(send_posted(&pair.a));
    finish(&pair.b);
    assert_memory_equal(pair.b.memory, pair.a.memory, BYTES);
    assert_int_equal(pump(&pair, &pair.a).status, OCHE_STATUS_SUCCESS);
    pair_close(&pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(posted_and_unread),    cmocka_unit_test(held),
        cmocka_unit_test(sent_when_posted),     cmocka_unit_test(unmapped_at_sender),
        cmocka_unit_test(unmapped_at_receiver), cmocka_unit_test(unmapped_at_destroy),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
