/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A peer that does not answer: vendor_err shows whether it has answered before. If no packet has
 * arrived from its address, a line is printed, once per address.
 */
#include "tests/interop/verbs_bench.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/qp/cause.h"

#define NOBODY 250 /* the last byte of an address without a program */

static char said[65536];

/* Runs this with standard error in a file, and reads what the library says. */
static void listen_to(void (*run)(struct bench *bench), struct bench *bench)
{
    char path[] = "/tmp/oche-causes-XXXXXX";
    const int file = mkstemp(path), before = dup(STDERR_FILENO);
    ssize_t count;

    assert_true(file >= 0 && before >= 0 && dup2(file, STDERR_FILENO) >= 0);
    run(bench);
    assert_true(dup2(before, STDERR_FILENO) >= 0);
    assert_int_equal(lseek(file, 0, SEEK_SET), 0);
    count = read(file, said, sizeof(said) - 1);
    assert_true(count >= 0);
    said[count] = '\0';
    close(before);
    close(file);
    assert_int_equal(unlink(path), 0);
}

static unsigned times_said(const char *text)
{
    unsigned times = 0;

    for (const char *at = said; (at = strstr(at, text)) != NULL; at++)
        times++;
    return times;
}

static void write_fails(struct bench *bench, enum oche_cause cause)
{
    struct ibv_sge sge = sge_of(&bench->end[0], 0, 100);
    struct ibv_send_wr wr = remote(IBV_WR_RDMA_WRITE, 5, &sge, &bench->end[1], 0);

    post(&bench->end[0], &wr);
    assert_int_equal(expect(bench->end[0].cq, 5, IBV_WC_RETRY_EXC_ERR).vendor_err, cause);
}

/* Two queue pairs with a peer that does not exist. */
static void ask_nobody(struct bench *bench)
{
    for (int i = 0; i < 2; i++) {
        struct ibv_qp_attr reset = {.qp_state = IBV_QPS_RESET};
        struct ibv_qp *qp = bench->end[0].qp;

        assert_int_equal(ibv_modify_qp(qp, &reset, IBV_QP_STATE), 0);
        assert_int_equal(to_init(qp), 0);
        assert_int_equal(to_rtr(bench, qp, bench->end[1].qp->qp_num, IBV_MTU_1024), 0);
        assert_int_equal(to_rts(qp), 0);
        write_fails(bench, OCHE_CAUSE_NEVER_ANSWERED);
    }
}

static void nothing_has_come(void **state)
{
    struct bench *bench = make_bench(IBV_QPT_RC, NULL);

    (void)state;
    bench->gid.raw[15] = NOBODY;
    listen_to(ask_nobody, bench);
    assert_int_equal(times_said("nothing has come from 127."), 1);
    assert_int_equal(times_said(": is UDP port 4791 open here and there"), 1);
    assert_int_equal(times_said("--source-ports=1"), 1);
    assert_int_equal(times_said("oche:"), 1);
    close_bench(bench, false);
}

/* The peer goes to RESET, and the bench's packets are dropped. */
static void lose_peer(struct bench *bench)
{
    struct ibv_sge sge = sge_of(&bench->end[0], 0, 100);
    struct ibv_send_wr wr = remote(IBV_WR_RDMA_WRITE, 4, &sge, &bench->end[1], 0);
    struct ibv_qp_attr reset = {.qp_state = IBV_QPS_RESET};

    post(&bench->end[0], &wr);
    assert_int_equal(expect(bench->end[0].cq, 4, IBV_WC_SUCCESS).vendor_err, OCHE_CAUSE_NONE);
    assert_int_equal(ibv_modify_qp(bench->end[1].qp, &reset, IBV_QP_STATE), 0);
    write_fails(bench, OCHE_CAUSE_SILENT);
}

static void answers_have_stopped(void **state)
{
    struct bench *bench = open_bench(IBV_QPT_RC, IBV_MTU_1024, NULL);

    (void)state;
    listen_to(lose_peer, bench);
    assert_string_equal(said, "");
    close_bench(bench, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_has_come),
                                       cmocka_unit_test(answers_have_stopped)};

    setenv("OCHE_DEVICE", "127.34.0.13", 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
