/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads on one device: two post on two queue pairs while a third polls. A thread that sleeps in
 * oche_device_wait wakes whenever it should. In the suite "threads" (ThreadSanitizer).
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "device/internal.h"
#include "tests/support/losing.h"
#include "tests/unit/device/pair.h"

#define POSTERS      2
#define SLOTS        8
#define SLOT_BYTES   8192
#define POSTER_BYTES (SLOTS * SLOT_BYTES)
#define POSTER_WORKS 1000

struct poster {
    struct pair *pair;
    struct oche_qp *qp;
    unsigned number;
    _Atomic unsigned completed;
    unsigned failed;
};

/* Returns word `at` of message `work` of a poster. */
static uint64_t word_of(unsigned poster, unsigned work, unsigned at)
{
    return (uint64_t)poster << 60 | (uint64_t)work << 20 | at;
}

static void write_slot(const struct poster *poster, unsigned work, uint8_t *slot)
{
    for (unsigned i = 0; i < SLOT_BYTES / 8; i++) {
        const uint64_t word = word_of(poster->number, work, i);

        memcpy(slot + i * 8, &word, 8);
    }
}

static void *post(void *argument)
{
    struct poster *poster = argument;
    struct end *a = &poster->pair->a, *b = &poster->pair->b;

    for (unsigned i = 0; i < POSTER_WORKS; i++) {
        const uint32_t offset = poster->number * POSTER_BYTES + i % SLOTS * SLOT_BYTES;
        struct oche_send_work work = work_between(a, b, OCHE_WORK_WRITE, offset, SLOT_BYTES);

        work.wr_id = poster->number;
        while (i - atomic_load_explicit(&poster->completed, memory_order_acquire) >= SLOTS) {
            usleep(10);
            if (i % 3 == 0)
                oche_device_progress(a->device); /* anybody may */
        }
        write_slot(poster, i, a->memory + offset);
        poster->failed += oche_device_post_send(a->device, poster->qp, &work) != 0;
    }
    return NULL;
}

/* The third thread: progress on both devices, and all completions. */
static void poll_all(struct pair *pair, struct poster *posters)
{
    const oche_time start = oche_device_now(pair->a.device);
    struct oche_completion done[16];
    unsigned missing = POSTERS * POSTER_WORKS;

    while (missing > 0) {
        const unsigned packets =
            oche_device_progress(pair->a.device) + oche_device_progress(pair->b.device);
        const unsigned count = oche_cq_poll(pair->a.cq, done, 16);

        for (unsigned i = 0; i < count; i++) {
            assert_int_equal(done[i].status, OCHE_STATUS_SUCCESS);
            assert_in_range(done[i].wr_id, 0, POSTERS - 1);
            atomic_fetch_add_explicit(&posters[done[i].wr_id].completed, 1, memory_order_release);
        }
        missing -= count;
        if (packets == 0 && count == 0)
            usleep(10);
        if (oche_device_now(pair->a.device) - start > 30 * OCHE_SEC)
            fail_msg("%u completions are missing", missing);
    }
}

static void two_post_a_third_polls(void **state)
{
    struct poster posters[POSTERS] = {{0}};
    pthread_t threads[POSTERS];
    struct pair pair;

    (void)state;
    pair_open(&pair, &(struct oche_device_config){.seed = 1}, OCHE_TRANSPORT_RC);
    for (unsigned i = 0; i < POSTERS; i++) {
        if (i > 0) /* pair_open made the first */
            ends_connect(&pair.a, &pair.b, OCHE_TRANSPORT_RC, 1024);
        pair_be_patient(&pair); /* one thread polls b; on a busy machine it may be kept waiting */
        posters[i] = (struct poster){.pair = &pair, .qp = pair.a.qp, .number = i};
    }
    for (unsigned i = 0; i < POSTERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, post, &posters[i]), 0);
    poll_all(&pair, posters);
    for (unsigned i = 0; i < POSTERS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(posters[i].failed, 0);
        for (unsigned work = POSTER_WORKS - SLOTS; work < POSTER_WORKS; work++) {
            uint8_t want[SLOT_BYTES];

            write_slot(&posters[i], work, want);
            assert_memory_equal(pair.b.memory + i * POSTER_BYTES + work % SLOTS * SLOT_BYTES, want,
                                SLOT_BYTES);
        }
    }
    pair_close(&pair);
}

/* ---- sleeping ---- */

struct sleeper {
    struct end *end;
    oche_time timeout;
    bool late; /* looks for events, and sleeps only after a while */
    _Atomic bool asleep, awake;
};

static void *sleep_once(void *argument)
{
    struct sleeper *sleeper = argument;

    const uint32_t since = oche_device_events(sleeper->end->device);

    atomic_store(&sleeper->asleep, true);
    if (sleeper->late)
        usleep(2000);
    oche_device_wait(sleeper->end->device, since, sleeper->timeout);
    atomic_store(&sleeper->awake, true);
    return NULL;
}

static void start_sleeper(pthread_t *thread, struct sleeper *sleeper)
{
    assert_int_equal(pthread_create(thread, NULL, sleep_once, sleeper), 0);
    while (!atomic_load(&sleeper->asleep))
        usleep(10);
    usleep(20000); /* the test holds also if it is not quite asleep yet */
    assert_false(atomic_load(&sleeper->awake));
}

static void timeouts(void **state)
{
    struct end end;
    oche_time start, took;

    (void)state;
    end_open(&end, &(struct oche_device_config){.seed = 1}, NULL, 1);
    start = oche_device_now(end.device);
    oche_device_wait(end.device, oche_device_events(end.device), 20 * OCHE_MS);
    took = oche_device_now(end.device) - start;
    assert_in_range(took, 20 * OCHE_MS, 5 * OCHE_SEC);
    end_close(&end);
}

static void woken(void **state)
{
    struct pair pair;
    struct oche_send_work work;
    pthread_t thread;

    (void)state;
    pair_open(&pair, &(struct oche_device_config){.seed = 1}, OCHE_TRANSPORT_RC);
    work = work_between(&pair.a, &pair.b, OCHE_WORK_WRITE, 0, 5000);
    for (unsigned by = 0; by < 3; by++) {
        struct sleeper sleeper = {.end = by == 2 ? &pair.b : &pair.a, .timeout = OCHE_NEVER};

        start_sleeper(&thread, &sleeper);
        if (by == 0) /* … somebody who says so */
            oche_device_wake(pair.a.device);
        else if (by == 1) /* … work that another thread posts */
            assert_int_equal(oche_device_post_send(pair.a.device, pair.a.qp, &work), 0);
        else /* … a packet */
            assert_true(oche_device_progress(pair.a.device) > 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
    }
    assert_int_equal(pump(&pair, &pair.a).status, OCHE_STATUS_SUCCESS);
    pair_close(&pair);
}

/* Sleeps through timers too: the ACK timer of a message that was lost whole. */
static void a_timer_ends_it(void **state)
{
    struct oche_device_config lossy = {.seed = 1, .links = losing(OCHE_LINK_OUT, 1000000)};
    struct oche_completion done;
    struct oche_send_work work;
    struct pair pair;
    unsigned waits = 0;
    oche_time start;

    (void)state;
    pair_open(&pair, &lossy, OCHE_TRANSPORT_RC);
    work = work_between(&pair.a, &pair.b, OCHE_WORK_WRITE, 0, 100);
    start = oche_device_now(pair.a.device);
    assert_int_equal(oche_device_post_send(pair.a.device, pair.a.qp, &work), 0);
    for (;; waits++) {
        const uint32_t since = oche_device_events(pair.a.device);

        oche_device_progress(pair.a.device);
        if (oche_cq_poll(pair.a.cq, &done, 1) == 1)
            break;
        oche_device_wait(pair.a.device, since, OCHE_NEVER);
    }
    assert_int_equal(done.status, OCHE_STATUS_RETRY_EXCEEDED);
    assert_true(oche_device_now(pair.a.device) - start >= 8 * 5 * OCHE_MS);
    assert_in_range(waits, 1, 200); /* 8 timers, of which a late wait may find two; no spinning */
    pair_close(&pair);
}

/* One thread sleeps without end while the other, which makes the progress, sets a timer. */
static void a_timer_that_another_set(void **state)
{
    struct oche_device_config lossy = {.seed = 1, .links = losing(OCHE_LINK_OUT, 1000000)};
    struct oche_send_work work;
    struct sleeper sleeper = {.timeout = OCHE_NEVER};
    struct pair pair;
    pthread_t thread;

    (void)state;
    pair_open(&pair, &lossy, OCHE_TRANSPORT_RC);
    sleeper.end = &pair.a;
    start_sleeper(&thread, &sleeper);
    work = work_between(&pair.a, &pair.b, OCHE_WORK_WRITE, 0, 100);
    assert_int_equal(oche_qp_post_send(pair.a.qp, &work), 0); /* wakes nobody */
    oche_device_progress(pair.a.device);
    assert_int_equal(pthread_join(thread, NULL), 0);
    pair_close(&pair);
}

/*
 * The same after another thread slept until an earlier timer, which is gone, as its queue pair was
 * reset.
 */
static void a_timer_after_one_that_is_gone(void **state)
{
    struct oche_device_config lossy = {.seed = 1, .links = losing(OCHE_LINK_OUT, 1000000)};
    struct sleeper first = {.timeout = 300 * OCHE_MS}, second = {.timeout = 5 * OCHE_SEC};
    struct oche_send_work work;
    pthread_t threads[2];
    struct oche_qp *qp;
    struct pair pair;

    (void)state;
    pair_open(&pair, &lossy, OCHE_TRANSPORT_RC);
    pair_be_patient(&pair);
    first.end = second.end = &pair.a;
    work = work_between(&pair.a, &pair.b, OCHE_WORK_WRITE, 0, 100);
    assert_int_equal(oche_qp_post_send(pair.a.qp, &work), 0);
    oche_device_progress(pair.a.device); /* sets a timer of a second */
    start_sleeper(&threads[0], &first);
    qp = pair.a.qp;
    ends_connect(&pair.a, &pair.b, OCHE_TRANSPORT_RC, 1024);
    pair_be_patient(&pair);
    oche_device_destroy_qp(pair.a.device, qp);
    start_sleeper(&threads[1], &second); /* there is no timer */
    assert_int_equal(pthread_join(threads[0], NULL), 0);
    assert_false(atomic_load(&second.awake));
    assert_int_equal(oche_qp_post_send(pair.a.qp, &work), 0);
    oche_device_progress(pair.a.device); /* and now there is, a later one */
    assert_int_equal(pthread_join(threads[1], NULL), 0);
    assert_true(oche_device_now(pair.a.device) < 4 * OCHE_SEC);
    pair_close(&pair);
}

/* One thread sleeps while another, which then goes away, finds no room in the socket. */
static void no_room_for_another(void **state)
{
    struct sleeper sleeper = {.timeout = 5 * OCHE_SEC};
    const struct oche_device_config config = {.seed = 1, .source_ports = 1};
    struct oche_send_work work;
    int ends[2], *fd, kept;
    struct pair pair;
    pthread_t thread;

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
    while (send(ends[0], "x", 1, MSG_DONTWAIT) == 1)
        continue;
    pair_open(&pair, &config, OCHE_TRANSPORT_UC); /* which has no timers */
    fd = &pair.a.device->source_ports.fds[0];
    kept = *fd;
    *fd = ends[0];
    sleeper.end = &pair.a;
    start_sleeper(&thread, &sleeper);
    work = work_between(&pair.a, &pair.b, OCHE_WORK_WRITE, 0, 100);
    assert_int_equal(oche_qp_post_send(pair.a.qp, &work), 0); /* wakes nobody */
    oche_device_progress(pair.a.device);
    assert_int_equal(transmit_full(pair.a.device), 1);
    assert_int_equal(pthread_join(thread, NULL), 0); /* to wait for room, too, from now on */
    assert_true(oche_device_now(pair.a.device) < 4 * OCHE_SEC);
    *fd = kept;
    pump_quiet(&pair);
    pair_close(&pair);
    close(ends[0]);
    close(ends[1]);
}

/* Three threads sleep, or are about to, when the progress of another makes a completion. */
static void three_wake(struct pair *pair)
{
    struct sleeper sleepers[3] = {{0}};
    const struct oche_send_work work = work_between(&pair->a, &pair->b, OCHE_WORK_SEND, 0, 100);
    pthread_t threads[3];

    post_receive(&pair->b, 1, 0, 100);
    oche_cq_arm(pair->b.cq, false);
    for (unsigned i = 0; i < 3; i++) {
        sleepers[i] = (struct sleeper){.end = &pair->b, .timeout = 30 * OCHE_SEC, .late = i == 0};
        assert_int_equal(pthread_create(&threads[i], NULL, sleep_once, &sleepers[i]), 0);
        while (!atomic_load(&sleepers[i].asleep))
            usleep(10);
    }
    assert_int_equal(oche_device_post_send(pair->a.device, pair->a.qp, &work), 0);
    assert_int_equal(pump(pair, &pair->b).status, OCHE_STATUS_SUCCESS);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(pump(pair, &pair->a).status, OCHE_STATUS_SUCCESS);
}

static void a_completion_that_another_makes(void **state)
{
    struct pair pair;

    (void)state;
    pair_open(&pair, &(struct oche_device_config){.seed = 1}, OCHE_TRANSPORT_RC);
    for (unsigned round = 0; round < 100; round++)
        three_wake(&pair);
    assert_true(oche_device_now(pair.a.device) < 20 * OCHE_SEC);
    pair_close(&pair);
}

static void *progress_in_turn(void *argument)
{
    struct end *end = argument;

    oche_device_progress_in_turn(end->device);
    return NULL;
}

/* A thread that waits for its turn returns when the work posted before has left. */
static void progress_while_another_makes_it(void **state)
{
    struct oche_completion done;
    struct oche_send_work work;
    pthread_t thread;
    struct pair pair;

    (void)state;
    pair_open(&pair, &(struct oche_device_config){.seed = 1}, OCHE_TRANSPORT_UC);
    work = work_between(&pair.a, &pair.b, OCHE_WORK_WRITE, 0, 100);
    oche_device_lock(pair.a.device);
    assert_int_equal(oche_device_post_send(pair.a.device, pair.a.qp, &work), 0);
    assert_int_equal(oche_device_progress(pair.a.device), 0);
    assert_int_equal(pthread_create(&thread, NULL, progress_in_turn, &pair.a), 0);
    usleep(20000); /* the test holds also if it has not begun yet */
    assert_int_equal(oche_cq_poll(pair.a.cq, &done, 1), 0);
    oche_device_unlock(pair.a.device);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(oche_cq_poll(pair.a.cq, &done, 1), 1); /* UC's work is done as it has left */
    pair_close(&pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_post_a_third_polls),
        cmocka_unit_test(timeouts),
        cmocka_unit_test(woken),
        cmocka_unit_test(a_timer_ends_it),
        cmocka_unit_test(a_timer_that_another_set),
        cmocka_unit_test(a_timer_after_one_that_is_gone),
        cmocka_unit_test(no_room_for_another),
        cmocka_unit_test(a_completion_that_another_makes),
        cmocka_unit_test(progress_while_another_makes_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
