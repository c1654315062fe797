/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of other programs as schedules: formats are found, operations and dependencies are as the
 * file says, and collective operations have tags of their own.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/graph/schedule_file.h"
#include "tests/support/test.h"

#define SIMAI                                                                                      \
    "HYBRID_TRANSFORMER model_parallel_NPU_group: 2 all_gpus: 4\n2\n"                              \
    "a -1 10 ALLREDUCE 8 20 NONE 0 30 ALLREDUCE 8 5\nb -1 1 NONE 0 2 NONE 0 3 NONE 0 0\n"
#define LINES                                                                                      \
    "{\"op\": \"calc\", \"rank\": 0, \"ns\": 7, \"id\": \"c\", \"cpu\": 1}\n"                      \
    "{\"op\": \"send\", \"rank\": 0, \"to\": 1, \"bytes\": 9, \"tag\": 3, \"after_start\": "       \
    "\"c\"}\n"                                                                                     \
    "{\"op\": \"recv\", \"rank\": 1, \"from\": \"any\", \"bytes\": 9, \"tag\": \"any\", \"id\": "  \
    "5}\n"                                                                                         \
    "{\"op\": \"all_reduce\", \"ranks\": [1, 2], \"bytes\": 8, \"after\": 5}\n"

static char path[] = "/tmp/oche-schedule-XXXXXX";

static void write_file(const char *text)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static struct oche_schedule_reading usual(void)
{
    struct oche_schedule_reading reading;

    oche_param_defaults(&oche_schedule_reading_table, &reading);
    return reading;
}

static struct oche_goal open_it(const char *text, struct oche_schedule_file *about)
{
    const struct oche_schedule_reading reading = usual();
    struct oche_error error;
    struct oche_goal goal;

    write_file(text);
    if (!oche_schedule_open(&goal, path, &reading, about, &error))
        fail_msg("%s", error.text);
    return goal;
}

static void formats(void **state)
{
    static const struct {
        const char *text, *name;
    } files[] = {{"num_ranks 1\nrank 0 {\ncalc 5\n}\n", "GOAL"},
                 {"Nodes 2\nConnections 1\n0->1 start 0 size 5\n", "htsim's connection matrix"},
                 {SIMAI, "SimAI's workload"},
                 {"\xef\xbb\xbf" SIMAI, "SimAI's workload"},
                 {"\n  # a comment\n" LINES, "JSON lines"},
                 {"\xef\xbb\xbf\r\n " LINES, "JSON lines"}};
    struct oche_schedule_file about;

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(files); i++) {
        struct oche_goal goal = open_it(files[i].text, &about);

        assert_true(oche_schedule_is_one(path));
        assert_string_equal(about.format, files[i].name);
        assert_int_equal(about.eager, i >= 2);
        oche_goal_close(&goal);
    }
    write_file("src,dst,bytes,start\n0,1,10KB,0\n");
    assert_false(oche_schedule_is_one(path));
}

static void json_lines(void **state)
{
    struct oche_schedule_file about;
    struct oche_goal goal = open_it(LINES, &about);
    struct oche_goal_op op;

    (void)state;
    assert_int_equal(goal.ranks, 3);
    assert_int_equal(goal.rank[0].count, 2);
    op = oche_goal_op(&goal.rank[0], 0);
    assert_true(op.type == OCHE_GOAL_CALC && op.size == 7 && op.cpu == 1);
    assert_true(op.start_count == 1 && op.end_count == 0);
    assert_int_equal(oche_goal_successor(&goal.rank[0], op.start_first), 1);
    op = oche_goal_op(&goal.rank[0], 1);
    assert_true(op.type == OCHE_GOAL_SEND && op.size == 9 && op.peer == 1 && op.tag == 3);
    op = oche_goal_op(&goal.rank[1], 0);
    assert_true(op.type == OCHE_GOAL_RECV && op.peer == OCHE_GOAL_ANY && op.tag == OCHE_GOAL_ANY);
    assert_int_equal(oche_goal_successor(&goal.rank[1], op.end_first), 1);
    /* Rank 2 does not wait, and all of the operation has tags from 2^31 on, and its own cpu. */
    assert_int_equal(oche_goal_op(&goal.rank[2], 0).dependencies, 0);
    for (uint32_t i = 0; i < goal.rank[2].count; i++) {
        op = oche_goal_op(&goal.rank[2], i);
        assert_true(op.cpu == 2 && (op.type == OCHE_GOAL_CALC || (op.peer == 1 && op.tag >> 31)));
    }
    oche_goal_close(&goal);
}

/* The calculations of a rank, in the order of the layers; the last operation is not waited for. */
static void simai(void **state)
{
    static const uint64_t times[] = {10, 1, 2, 3, 20, 30};
    struct oche_schedule_file about;
    struct oche_goal goal = open_it(SIMAI, &about);

    (void)state;
    assert_int_equal(goal.ranks, 4);
    for (uint32_t rank = 0; rank < 4; rank++) {
        uint32_t next = 0, updates = 0, peers = 0;

        for (uint32_t i = 0; i < goal.rank[rank].count; i++) {
            const struct oche_goal_op op = oche_goal_op(&goal.rank[rank], i);

            if (op.type != OCHE_GOAL_CALC)
                peers |= 1U << op.peer;
            else if (op.cpu == 0)
                assert_int_equal(op.size, times[next++]);
            else
                updates += op.size == 5;
        }
        assert_int_equal(next, OCHE_COUNT_OF(times));
        assert_int_equal(updates, 2);
        assert_int_equal(peers, 1U << (rank ^ 1) | 1U << (rank ^ 2));
    }
    oche_goal_close(&goal);
}

static void tags(void **state)
{
    const struct oche_collective of = {.algorithm = OCHE_DIRECT, .ranks = 4, .chunks = 1000};
    uint32_t next = 0;

    (void)state;
    assert_int_equal(oche_schedule_tags(&next, 50, &of), 50);
    assert_int_equal(oche_schedule_tags(&next, 50, &of), 1050);
    next = OCHE_GOAL_ANY - 1001;
    assert_int_equal(oche_schedule_tags(&next, 50, &of), OCHE_GOAL_ANY - 1001);
    assert_int_equal(oche_schedule_tags(&next, 50, &of), 50); /* begins again */
    next = OCHE_GOAL_ANY - 1000;
    assert_int_equal(oche_schedule_tags(&next, 50, &of), 50);
}

static void remarks(void **state)
{
    struct oche_schedule_file about = {.format = ""};

    (void)state;
    oche_schedule_remark(&about, "%u nodes", 5);
    oche_schedule_remark(&about, "%s", "others");
    assert_string_equal(about.remark, "5 nodes; others");
    for (unsigned i = 0; i < 100; i++)
        oche_schedule_remark(&about, "again and again");
    assert_int_equal(strlen(about.remark), OCHE_SCHEDULE_REMARK_BYTES - 1);
}

/* An operation that the algorithm cannot do is done by another one; the remark says so. */
static void others(void **state)
{
    struct oche_schedule_reading reading = usual();
    struct oche_schedule_file about;
    struct oche_error error;
    struct oche_goal goal;

    (void)state;
    write_file(LINES);
    reading.algorithm = OCHE_DIRECT;
    assert_true(oche_schedule_open(&goal, path, &reading, &about, &error));
    assert_string_equal(about.remark, "all_reduce is not done by direct, but by ring");
    oche_goal_close(&goal);
    reading.most_ops = 8;
    assert_false(oche_schedule_open(&goal, path, &reading, &about, &error));
    assert_non_null(strstr(error.text, ":4: up to here there are more than 8 operations"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats), cmocka_unit_test(json_lines), cmocka_unit_test(simai),
        cmocka_unit_test(tags),    cmocka_unit_test(remarks),    cmocka_unit_test(others),
    };
    const int file = mkstemp(path);
    int status;

    if (file < 0)
        return 1;
    close(file);
    status = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return status;
}
