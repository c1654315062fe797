/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What ranks did, and the phases of collective operations, against numbers worked out by hand, and
 * for any number of threads. Keeping them does not change the run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/graph/job.h"
#include "tests/support/ran.h"

#define RING                                                                                       \
    "topology: {type: star, hosts: 8, host_rate: 80Gbps, delay: 1us}\ncongestion_control: none\n"  \
    "workload: {type: collective, operation: all_reduce, algorithm: ring, bytes: 800KB, "          \
    "repeat: 3, compute: 50us, chunks: 1}\n"

static const struct oche_job *job_of(const struct ran *ran)
{
    return oche_world_jobs(ran->world)->list[0];
}

static oche_time sum_of(const struct oche_job *job, uint32_t rank, enum oche_activity activity)
{
    oche_time sum = 0;

    for (uint32_t i = 0; i < job->timeline.spans; i++)
        sum += oche_timeline_spans(&job->timeline, rank)[i][activity];
    return sum;
}

/* Each rank's time is noted from its begin to its end, and calculations have theirs. */
static void test_all_time_is_noted(void **state)
{
    struct ran ran = ran_open(RING, true, 1);
    const struct oche_job *job = job_of(&ran);

    (void)state;
    assert_int_equal(job->timeline.rows, 8);
    for (uint32_t i = 0; i < 8; i++) {
        oche_time all = 0;

        for (unsigned k = 0; k < OCHE_ACTIVITIES; k++)
            all += sum_of(job, i, k);
        assert_int_equal(all, job->results[i].ended);
        assert_int_equal(sum_of(job, i, OCHE_CALCULATES), 150 * OCHE_US);
        assert_int_equal(sum_of(job, i, OCHE_CALCULATES), job->results[i].busy);
        assert_true(sum_of(job, i, OCHE_SENDS) > 3 * 14 * 10 * OCHE_US);
    }
    ran_close(&ran);
}

/*
 * A message of 1 MB and its answer, each 100 us alone at 80 Gbit/s. Before it the receiver waits
 * for 30 us, and for headers and delays; the sender sends until it has the ACK, and then gets the
 * answer.
 */
static void test_there_and_back(void **state)
{
    static const char goal[] = "num_ranks 2\nrank 0 {\na: calc 30000\nb: send 1000000b to 1 tag 1\n"
                               "b requires a\nc: recv 1000000b from 1 tag 2\nc requires a\n}\n"
                               "rank 1 {\na: recv 1000000b from 0 tag 1\n"
                               "b: send 1000000b to 0 tag 2\nb requires a\n}\n";
    char path[] = "/tmp/oche-goal-XXXXXX", text[300];
    const int file = mkstemp(path);

    (void)state;
    assert_true(file >= 0 && write(file, goal, strlen(goal)) == (ssize_t)strlen(goal));
    close(file);
    snprintf(text, sizeof(text),
             "topology: {type: star, hosts: 2, host_rate: 80Gbps, delay: 1us}\n"
             "congestion_control: none\nworkload: {type: schedule, file: %s}\n",
             path);
    struct ran ran = ran_open(text, true, 1);
    const struct oche_job *job = job_of(&ran);

    assert_int_equal(sum_of(job, 1, OCHE_RECEIVES), 100 * OCHE_US);
    assert_int_equal(sum_of(job, 1, OCHE_WAITS), job->results[1].ended - 100 * OCHE_US);
    assert_in_range(sum_of(job, 1, OCHE_WAITS), 32 * OCHE_US, 42 * OCHE_US);
    assert_int_equal(sum_of(job, 0, OCHE_CALCULATES), 30 * OCHE_US);
    assert_in_range(sum_of(job, 0, OCHE_SENDS), 102 * OCHE_US, 115 * OCHE_US);
    assert_int_equal(sum_of(job, 0, OCHE_RECEIVES), 100 * OCHE_US);
    assert_in_range(sum_of(job, 0, OCHE_WAITS), 1, 10 * OCHE_US);
    assert_int_equal(job->phases, 0);
    ran_close(&ran);
    unlink(path);
}

/* Seven steps of 100 KB at 80 Gbit/s make a phase; the second one begins where the first ends. */
static void test_phases(void **state)
{
    struct ran ran = ran_open(RING, true, 1);
    const struct oche_job *job = job_of(&ran);

    (void)state;
    assert_int_equal(job->phases, 2);
    for (uint32_t i = 0; i < 3; i++) {
        struct oche_job_part all, half[2];

        assert_true(oche_job_repetition(job, i, &all));
        assert_true(oche_job_phase(job, i, 0, &half[0]) && oche_job_phase(job, i, 1, &half[1]));
        assert_int_equal(half[0].begun, all.begun);
        assert_int_equal(half[1].ended, all.ended);
        assert_in_range(half[1].begun, half[0].begun + 70 * OCHE_US, half[0].ended);
        for (unsigned k = 0; k < 2; k++)
            assert_in_range(half[k].ended - half[k].begun, 7 * 12 * OCHE_US, 7 * 16 * OCHE_US);
    }
    ran_close(&ran);
}

static void test_any_number_of_threads(void **state)
{
    struct ran one = ran_open(RING, true, 1), none = ran_open(RING, false, 1);
    const struct oche_job *job = job_of(&one);
    const struct oche_timeline *line = &job->timeline;

    (void)state;
    assert_int_equal(one.totals.hash, none.totals.hash);
    assert_int_equal(job_of(&none)->timeline.rows, 0);
    assert_int_equal(job_of(&none)->phases, 0);
    for (uint32_t threads = 2; threads <= 4; threads++) {
        struct ran many = ran_open(RING, true, threads);
        const struct oche_job *other = job_of(&many);

        assert_memory_equal(line->lengths, other->timeline.lengths, 8 * sizeof(*line->lengths));
        assert_memory_equal(line->times, other->timeline.times,
                            8 * line->spans * sizeof(*line->times));
        assert_memory_equal(job->phase_begun, other->phase_begun, 8 * 3 * 2 * sizeof(oche_time));
        assert_memory_equal(job->phase_ended, other->phase_ended, 8 * 3 * 2 * sizeof(oche_time));
        ran_close(&many);
    }
    ran_close(&none);
    ran_close(&one);
}

/* A rank that never ends is noted until the run ends, and a repetition that has not is left out. */
static void test_of_a_run_that_is_cut(void **state)
{
    struct ran ran = ran_open(RING "duration: 300us\n", true, 1);
    const struct oche_job *job = job_of(&ran);
    struct oche_job_part part;

    (void)state;
    for (uint32_t i = 0; i < 8; i++) {
        oche_time all = 0;

        for (unsigned k = 0; k < OCHE_ACTIVITIES; k++)
            all += sum_of(job, i, k);
        assert_int_equal(all, 300 * OCHE_US);
    }
    assert_false(oche_job_repetition(job, 1, &part));
    ran_close(&ran);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_time_is_noted),
        cmocka_unit_test(test_there_and_back),
        cmocka_unit_test(test_phases),
        cmocka_unit_test(test_any_number_of_threads),
        cmocka_unit_test(test_of_a_run_that_is_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
