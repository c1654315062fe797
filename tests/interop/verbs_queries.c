/* SPDX-License-Identifier: Apache-2.0 */
/* Queries while work is under way: a queue pair's present state, and atomics. */
#include "tests/interop/verbs_bench.h"

#include <errno.h>
#include <stdlib.h>

#include "core/base.h"

#define FIRST_PSN 77 /* of both directions (verbs_bench.c) */

static struct ibv_qp_attr query(struct ibv_qp *qp)
{
    struct ibv_qp_init_attr init;
    struct ibv_qp_attr attr;

    assert_int_equal(ibv_query_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN, &init), 0);
    assert_int_equal(attr.cur_qp_state, attr.qp_state);
    assert_int_equal(attr.path_mig_state, IBV_MIG_MIGRATED);
    return attr;
}

static void psns_are(struct ibv_qp *qp, uint32_t sq_psn, uint32_t rq_psn)
{
    const struct ibv_qp_attr attr = query(qp);

    assert_int_equal(attr.sq_psn, sq_psn);
    assert_int_equal(attr.rq_psn, rq_psn);
}

/* PSNs go on with the packets, also those of a READ's answer, and are none after a reset. */
static void psns_of(enum ibv_qp_type type)
{
    struct bench *bench = make_bench(type, NULL);
    struct end *a = &bench->end[0], *b = &bench->end[1];
    struct ibv_sge sge = sge_of(a, 0, 2500), into = sge_of(a, 5000, 1500);
    struct ibv_send_wr write = remote(IBV_WR_RDMA_WRITE_WITH_IMM, 1, &sge, b, 0);
    struct ibv_send_wr read = remote(IBV_WR_RDMA_READ, 2, &into, b, 0);
    struct ibv_qp_attr reset = {.qp_state = IBV_QPS_RESET};

    psns_are(a->qp, 0, 0);
    connect_bench(bench, IBV_MTU_1024);
    psns_are(a->qp, FIRST_PSN, FIRST_PSN);
    post_recv(b, 9, 0, 0);
    post(a, &write);
    expect(a->cq, 1, IBV_WC_SUCCESS);
    expect(b->cq, 9, IBV_WC_SUCCESS);
    psns_are(a->qp, FIRST_PSN + 3, FIRST_PSN);
    psns_are(b->qp, FIRST_PSN, FIRST_PSN + 3);
    if (type == IBV_QPT_RC) {
        post(a, &read);
        expect(a->cq, 2, IBV_WC_SUCCESS);
        psns_are(a->qp, FIRST_PSN + 5, FIRST_PSN);
        psns_are(b->qp, FIRST_PSN, FIRST_PSN + 5);
    }
    assert_int_equal(ibv_modify_qp(a->qp, &reset, IBV_QP_STATE), 0);
    psns_are(a->qp, 0, 0);
    close_bench(bench, false);
}

static void test_psns(void **state)
{
    (void)state;
    psns_of(IBV_QPT_RC);
    psns_of(IBV_QPT_UC);
}

/* The PSN of the next packet is that of the wire, not of the ring: it wraps at 24 bits. */
static void test_psns_wrap(void **state)
{
    struct bench *bench = make_bench(IBV_QPT_RC, NULL);
    struct ibv_qp *qp = bench->end[0].qp;
    struct ibv_sge sge = sge_of(&bench->end[0], 0, 3000);
    struct ibv_send_wr write = remote(IBV_WR_RDMA_WRITE, 1, &sge, &bench->end[0], 4000);
    struct ibv_qp_attr to_rtr = {.qp_state = IBV_QPS_RTR,
                                 .path_mtu = IBV_MTU_1024,
                                 .dest_qp_num = qp->qp_num,
                                 .rq_psn = 0xffffff,
                                 .ah_attr = address_of(bench)};
    struct ibv_qp_attr to_send = {
        .qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7, .sq_psn = 0xffffff};

    (void)state;
    assert_int_equal(ibv_modify_qp(qp, &to_rtr,
                                   IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                                       IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
                                       IBV_QP_MIN_RNR_TIMER),
                     0);
    psns_are(qp, 0, 0xffffff);
    assert_int_equal(ibv_modify_qp(qp, &to_send,
                                   IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
                                       IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC),
                     0);
    post(&bench->end[0], &write);
    expect(bench->end[0].cq, 1, IBV_WC_SUCCESS);
    psns_are(qp, 2, 2);
    close_bench(bench, false);
}

/* Datagrams: the sender counts PSNs, and the receiver accepts any PSN. */
static void test_psns_of_datagrams(void **state)
{
    struct bench *bench = open_bench(IBV_QPT_UD, IBV_MTU_1024, NULL);
    struct end *a = &bench->end[0], *b = &bench->end[1];
    struct ibv_ah_attr to = address_of(bench);
    struct ibv_ah *ah = ibv_create_ah(bench->pd, &to);
    struct ibv_sge sge = sge_of(a, 0, 100);
    struct ibv_send_wr wr = {.wr_id = 1,
                             .sg_list = &sge,
                             .num_sge = 1,
                             .opcode = IBV_WR_SEND,
                             .send_flags = IBV_SEND_SIGNALED,
                             .wr.ud = {.ah = ah, .remote_qpn = b->qp->qp_num, .remote_qkey = QKEY}};

    (void)state;
    assert_non_null(ah);
    for (uint32_t i = 1; i <= 3; i++) {
        post_recv(b, 9, 0, 1000);
        post(a, &wr);
        expect(a->cq, 1, IBV_WC_SUCCESS);
        expect(b->cq, 9, IBV_WC_SUCCESS);
        assert_int_equal(query(a->qp).sq_psn, FIRST_PSN + i);
    }
    assert_int_equal(query(b->qp).rq_psn, 0);
    assert_int_equal(ibv_destroy_ah(ah), 0);
    close_bench(bench, false);
}

/* UCX 1.13 uses a device's atomics only if it says this; the second says what they are besides. */
static void test_atomics(void **state)
{
    struct ibv_context *context = open_one();
    struct ibv_device_attr_ex attr;

    (void)state;
    assert_int_equal(ibv_query_device_ex(context, NULL, &attr), 0);
    assert_int_equal(attr.orig_attr.atomic_cap, IBV_ATOMIC_HCA);
    assert_int_equal(attr.pci_atomic_caps.fetch_add, IBV_PCI_ATOMIC_OPERATION_8_BYTE_SIZE_SUP);
    assert_int_equal(attr.pci_atomic_caps.compare_swap, IBV_PCI_ATOMIC_OPERATION_8_BYTE_SIZE_SUP);
    assert_int_equal(ibv_close_device(context), 0);
}

/* The processor adds to a number while the peer does: nothing is lost. */
static void test_atomics_beside_the_processor(void **state)
{
    struct bench *bench = open_bench(IBV_QPT_RC, IBV_MTU_1024, NULL);
    struct end *a = &bench->end[0], *b = &bench->end[1];
    uint64_t *shared = (uint64_t *)(void *)(b->memory + 4096);
    struct ibv_sge sge = sge_of(a, 8, 8);
    struct ibv_send_wr add = remote(IBV_WR_ATOMIC_FETCH_AND_ADD, 1, &sge, b, 4096);
    uint64_t own = 0, theirs = 0;
    struct ibv_wc wc;

    (void)state;
    add.wr.atomic.remote_addr = (uintptr_t)shared;
    add.wr.atomic.rkey = b->mr->rkey;
    add.wr.atomic.compare_add = UINT64_C(1) << 32;
    while (theirs < 1000) { /* the library's thread executes some of the work */
        post(a, &add);
        for (int count = 0; count == 0; own++) {
            __atomic_fetch_add(shared, 1, __ATOMIC_SEQ_CST);
            if (own % 64 == 0)
                count = ibv_poll_cq(a->cq, 1, &wc);
        }
        assert_int_equal(wc.status, IBV_WC_SUCCESS);
        theirs++;
    }
    assert_int_equal(*shared, theirs << 32 | own);
    close_bench(bench, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_psns),
        cmocka_unit_test(test_psns_wrap),
        cmocka_unit_test(test_psns_of_datagrams),
        cmocka_unit_test(test_atomics),
        cmocka_unit_test(test_atomics_beside_the_processor),
    };

    setenv("OCHE_DEVICE", "127.34.0.12", 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
