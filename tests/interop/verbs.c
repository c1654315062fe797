/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verbs library as an application meets it, in one process: two queue pairs of one device,
 * connected to each other. Data is compared byte by byte, and every verb gets bad arguments, for
 * which it must return what the standard says.
 */
#include "tests/interop/verbs_bench.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "core/base.h"

/* ---- data ---- */

static void write_and_read(enum ibv_qp_type type, enum ibv_mtu mtu, uint32_t bytes)
{
    struct bench *bench = open_bench(type, mtu, NULL);
    struct end *a = &bench->end[0], *b = &bench->end[1];
    struct ibv_sge sge = sge_of(a, 100, bytes);
    struct ibv_send_wr wr = remote(IBV_WR_RDMA_WRITE_WITH_IMM, 1, &sge, b, 333);
    struct ibv_wc wc;

    fill(a->memory, BYTES, bytes + 1);
    wr.imm_data = htonl(0x12345678);
    post_recv(b, 9, 0, 0);
    post(a, &wr);
    assert_int_equal(expect(a->cq, 1, IBV_WC_SUCCESS).opcode, IBV_WC_RDMA_WRITE);
    wc = expect(b->cq, 9, IBV_WC_SUCCESS);
    assert_int_equal(wc.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
    assert_int_equal(wc.wc_flags, IBV_WC_WITH_IMM);
    assert_int_equal(ntohl(wc.imm_data), 0x12345678);
    assert_int_equal(wc.byte_len, bytes);
    assert_int_equal(wc.qp_num, b->qp->qp_num);
    assert_memory_equal(a->memory + 100, b->memory + 333, bytes);
    assert_int_equal(b->memory[332], 0);
    assert_int_equal(b->memory[333 + bytes], 0);
    if (type == IBV_QPT_RC) {
        struct ibv_sge into = sge_of(a, BYTES / 2, bytes);
        struct ibv_send_wr read = remote(IBV_WR_RDMA_READ, 2, &into, b, 333);
        memset(a->memory + BYTES / 2, 0, BYTES / 2);
        post(a, &read);
        assert_int_equal(expect(a->cq, 2, IBV_WC_SUCCESS).opcode, IBV_WC_RDMA_READ);
        assert_memory_equal(a->memory + BYTES / 2, b->memory + 333, bytes);
        assert_int_equal(a->memory[BYTES / 2 + bytes], 0);
    }
    close_bench(bench, false);
}

static void test_write_and_read(void **state)
{
    static const uint32_t sizes[] = {0, 1, 255, 256, 257, 4096, 4097, 65536, 500001};

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(sizes); i++) {
        write_and_read(IBV_QPT_RC, i % 2 == 0 ? IBV_MTU_256 : IBV_MTU_4096, sizes[i]);
        write_and_read(IBV_QPT_UC, i % 2 == 0 ? IBV_MTU_4096 : IBV_MTU_1024, sizes[i]);
    }
}

/* Several pieces on both sides; a part of it inline. */
static void test_send(void **state)
{
    struct bench *bench = open_bench(IBV_QPT_RC, IBV_MTU_1024, NULL);
    struct end *a = &bench->end[0], *b = &bench->end[1];
    struct ibv_sge out[3] = {sge_of(a, 0, 1000), sge_of(a, 5000, 1), sge_of(a, 9000, 2999)};
    struct ibv_sge in[2] = {sge_of(b, 7, 1500), sge_of(b, 100000, 5000)};
    struct ibv_recv_wr recv = {.wr_id = 5, .sg_list = in, .num_sge = 2}, *bad_recv;
    struct ibv_send_wr wr = {.wr_id = 6,
                             .sg_list = out,
                             .num_sge = 3,
                             .opcode = IBV_WR_SEND,
                             .send_flags = IBV_SEND_SIGNALED};
    uint8_t small[64];

    (void)state;
    fill(a->memory, BYTES, 3);
    assert_int_equal(ibv_post_recv(b->qp, &recv, &bad_recv), 0);
    post(a, &wr);
    expect(a->cq, 6, IBV_WC_SUCCESS);
    assert_int_equal(expect(b->cq, 5, IBV_WC_SUCCESS).byte_len, 4000);
    assert_memory_equal(b->memory + 7, a->memory, 1000);
    assert_int_equal(b->memory[1007], a->memory[5000]);
    assert_memory_equal(b->memory + 1008, a->memory + 9000, 499);
    assert_memory_equal(b->memory + 100000, a->memory + 9499, 2500);

    /* Inline: the memory need not be registered, and may be changed at once after the call. */
    fill(small, sizeof(small), 4);
    out[0] = (struct ibv_sge){.addr = (uintptr_t)small, .length = 40};
    out[1] = (struct ibv_sge){.addr = (uintptr_t)small + 40, .length = 24};
    wr.num_sge = 2;
    wr.send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE;
    post_recv(b, 7, 0, 64);
    post(a, &wr);
    memset(small, 0, sizeof(small));
    expect(a->cq, 6, IBV_WC_SUCCESS);
    expect(b->cq, 7, IBV_WC_SUCCESS);
    fill(small, sizeof(small), 4);
    assert_memory_equal(b->memory, small, sizeof(small));
    close_bench(bench, false);
}

static void test_atomics(void **state)
{
    struct bench *bench = open_bench(IBV_QPT_RC, IBV_MTU_1024, NULL);
    struct end *a = &bench->end[0], *b = &bench->end[1];
    struct ibv_sge sge = sge_of(a, 8, 8);
    struct ibv_send_wr wr = {.wr_id = 1,
                             .sg_list = &sge,
                             .num_sge = 1,
                             .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
                             .send_flags = IBV_SEND_SIGNALED};
    uint64_t *target = (uint64_t *)(void *)(b->memory + 64);
    uint64_t *old = (uint64_t *)(void *)(a->memory + 8);

    (void)state;
    *target = UINT64_C(0xfedcba9876543210);
    wr.wr.atomic.remote_addr = (uintptr_t)target;
    wr.wr.atomic.rkey = b->mr->rkey;
    wr.wr.atomic.compare_add = 0x1111;
    post(a, &wr);
    assert_int_equal(expect(a->cq, 1, IBV_WC_SUCCESS).opcode, IBV_WC_FETCH_ADD);
    assert_int_equal(*old, UINT64_C(0xfedcba9876543210));
    assert_int_equal(*target, UINT64_C(0xfedcba9876544321));
    wr.opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
    for (int round = 0; round < 2; round++) { /* the second time it does not compare equal */
        wr.wr.atomic.compare_add = UINT64_C(0xfedcba9876544321);
        wr.wr.atomic.swap = 42 + (uint64_t)round;
        post(a, &wr);
        assert_int_equal(expect(a->cq, 1, IBV_WC_SUCCESS).opcode, IBV_WC_COMP_SWAP);
        assert_int_equal(*old, round == 0 ? UINT64_C(0xfedcba9876544321) : 42);
        assert_int_equal(*target, 42);
    }
    wr.wr.atomic.remote_addr += 4; /* not aligned */
    post(a, &wr);
    expect(a->cq, 1, IBV_WC_REM_INV_REQ_ERR);
    close_bench(bench, false);
}

/* Zero-based and moved regions: addresses in work requests are the region's iova. */
static void test_iova(void **state)
{
    struct bench *bench = open_bench(IBV_QPT_RC, IBV_MTU_1024, NULL);
    struct end *a = &bench->end[0], *b = &bench->end[1];
    const uint64_t moved = UINT64_C(0x700000000000);
    struct ibv_mr *mr = ibv_reg_mr_iova(bench->pd, b->memory, BYTES, moved, ACCESS);
    struct ibv_mr *zero = ibv_reg_mr(bench->pd, b->memory, BYTES, ACCESS | IBV_ACCESS_ZERO_BASED);
    struct ibv_sge sge = sge_of(a, 0, 3000);
    struct ibv_send_wr wr = remote(IBV_WR_RDMA_WRITE, 1, &sge, b, 0);

    (void)state;
    assert_non_null(mr);
    assert_non_null(zero);
    fill(a->memory, 3000, 8);
    wr.wr.rdma.rkey = mr->rkey;
    wr.wr.rdma.remote_addr = moved + 50;
    post(a, &wr);
    expect(a->cq, 1, IBV_WC_SUCCESS);
    assert_memory_equal(b->memory + 50, a->memory, 3000);
    wr.wr.rdma.rkey = zero->rkey;
    wr.wr.rdma.remote_addr = 7000;
    post(a, &wr);
    expect(a->cq, 1, IBV_WC_SUCCESS);
    assert_memory_equal(b->memory + 7000, a->memory, 3000);
    assert_int_equal(ibv_dereg_mr(mr), 0);
    wr.wr.rdma.remote_addr = BYTES - 2999;
    post(a, &wr);
    expect(a->cq, 1, IBV_WC_REM_ACCESS_ERR);
    assert_int_equal(ibv_dereg_mr(zero), 0);
    close_bench(bench, false);
}

/* Both types of windows: the accesses that they allow, and the ways to close them. */
static void test_windows(void **state)
{
    struct bench *bench = open_bench(IBV_QPT_RC, IBV_MTU_1024, NULL);
    struct end *a = &bench->end[0], *b = &bench->end[1];
    struct ibv_mr *mr =
        ibv_reg_mr(bench->pd, b->memory, BYTES, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
    struct ibv_mw *one = ibv_alloc_mw(bench->pd, IBV_MW_TYPE_1);
    struct ibv_mw *two = ibv_alloc_mw(bench->pd, IBV_MW_TYPE_2);
    struct ibv_mw_bind bind = {.wr_id = 1,
                               .send_flags = IBV_SEND_SIGNALED,
                               .bind_info = {.mr = mr,
                                             .addr = (uintptr_t)b->memory + 1000,
                                             .length = 500,
                                             .mw_access_flags = IBV_ACCESS_REMOTE_WRITE}};
    struct ibv_send_wr bind_two = {
        .wr_id = 2, .opcode = IBV_WR_BIND_MW, .send_flags = IBV_SEND_SIGNALED};
    struct ibv_sge sge = sge_of(a, 0, 500);
    struct ibv_send_wr write = remote(IBV_WR_RDMA_WRITE, 3, &sge, b, 1000);
    struct ibv_send_wr send = {.wr_id = 4,
                               .sg_list = &sge,
                               .num_sge = 1,
                               .opcode = IBV_WR_SEND_WITH_INV,
                               .send_flags = IBV_SEND_SIGNALED};
    const uint32_t before = one->rkey;
    struct ibv_wc wc;

    (void)state;
    fill(a->memory, 500, 77);
    /* a window of this type cannot be bound by this verb */
    assert_int_equal(ibv_bind_mw(b->qp, two, &bind), EINVAL);
    assert_int_equal(ibv_bind_mw(b->qp, one, &bind), 0);
    assert_int_equal(one->rkey, ibv_inc_rkey(before));
    assert_int_equal(expect(b->cq, 1, IBV_WC_SUCCESS).opcode, IBV_WC_BIND_MW);
    assert_int_equal(ibv_dereg_mr(mr), EBUSY);
    write.wr.rdma.rkey = one->rkey;
    post(a, &write);
    expect(a->cq, 3, IBV_WC_SUCCESS);
    assert_memory_equal(b->memory + 1000, a->memory, 500);

    bind_two.bind_mw.mw = two;
    bind_two.bind_mw.rkey = ibv_inc_rkey(two->rkey);
    bind_two.bind_mw.bind_info = bind.bind_info;
    bind_two.bind_mw.bind_info.addr += 1000;
    post(b, &bind_two);
    expect(b->cq, 2, IBV_WC_SUCCESS);
    write.wr.rdma.rkey = bind_two.bind_mw.rkey;
    write.wr.rdma.remote_addr += 1000;
    post(a, &write);
    expect(a->cq, 3, IBV_WC_SUCCESS);
    assert_memory_equal(b->memory + 2000, a->memory, 500);

    /* The peer invalidates the window. */
    send.invalidate_rkey = bind_two.bind_mw.rkey;
    post_recv(b, 5, 5000, 500);
    post(a, &send);
    expect(a->cq, 4, IBV_WC_SUCCESS);
    wc = expect(b->cq, 5, IBV_WC_SUCCESS);
    assert_int_equal(wc.opcode, IBV_WC_RECV);
    assert_int_equal(wc.wc_flags, IBV_WC_WITH_INV);
    assert_int_equal(wc.invalidated_rkey, send.invalidate_rkey);
    assert_memory_equal(b->memory + 5000, a->memory, 500);
    post(a, &write);
    expect(a->cq, 3, IBV_WC_REM_ACCESS_ERR);
    assert_int_equal(ibv_dealloc_mw(one), 0);
    assert_int_equal(ibv_dealloc_mw(two), 0);
    assert_int_equal(ibv_dereg_mr(mr), 0);
    close_bench(bench, false);
}

static void test_datagrams(void **state)
{
    struct bench *bench = open_bench(IBV_QPT_UD, IBV_MTU_1024, NULL);
    struct end *a = &bench->end[0], *b = &bench->end[1];
    struct ibv_ah_attr address = address_of(bench);
    struct ibv_sge sge = sge_of(a, 0, 700);
    struct ibv_send_wr wr = {.wr_id = 1,
                             .sg_list = &sge,
                             .num_sge = 1,
                             .opcode = IBV_WR_SEND_WITH_IMM,
                             .imm_data = htonl(99),
                             .send_flags = IBV_SEND_SIGNALED};
    struct ibv_ah *back;
    struct ibv_wc wc;

    (void)state;
    wr.wr.ud.ah = ibv_create_ah(bench->pd, &address);
    assert_non_null(wr.wr.ud.ah);
    wr.wr.ud.remote_qpn = b->qp->qp_num;
    wr.wr.ud.remote_qkey = QKEY;
    fill(a->memory, 700, 5);
    post_recv(b, 2, 0, 740);
    post(a, &wr);
    assert_int_equal(expect(a->cq, 1, IBV_WC_SUCCESS).opcode, IBV_WC_SEND);
    wc = expect(b->cq, 2, IBV_WC_SUCCESS);
    assert_int_equal(wc.byte_len, 740);
    assert_int_equal(wc.src_qp, a->qp->qp_num);
    assert_int_equal(wc.wc_flags, IBV_WC_GRH | IBV_WC_WITH_IMM);
    assert_int_equal(wc.sl, 8 | 2); /* UDP, IPv4: UCX asks */
    assert_int_equal(ntohl(wc.imm_data), 99);
    assert_memory_equal(b->memory + 40, a->memory, 700);

    /* Makes the way back from the completion and the GRH. */
    back = ibv_create_ah_from_wc(bench->pd, &wc, (struct ibv_grh *)(void *)b->memory, 1);
    assert_non_null(back);
    assert_int_equal(ibv_destroy_ah(wr.wr.ud.ah), 0);
    wr.wr.ud.ah = back;
    wr.wr.ud.remote_qpn = wc.src_qp;
    sge = sge_of(b, 40, 100);
    post_recv(a, 3, 1000, 140);
    post(b, &wr);
    expect(b->cq, 1, IBV_WC_SUCCESS);
    expect(a->cq, 3, IBV_WC_SUCCESS);
    assert_memory_equal(a->memory + 1040, a->memory, 100);
    assert_int_equal(ibv_destroy_ah(back), 0);
    close_bench(bench, false);
}

static void test_shared_receive(void **state)
{
    struct ibv_context *context = open_one();
    struct ibv_pd *pd = ibv_alloc_pd(context);
    struct ibv_srq_init_attr init = {.attr = {.max_wr = 10, .max_sge = 2}};
    struct ibv_srq *srq = ibv_create_srq(pd, &init);
    struct ibv_srq_attr attr = {.srq_limit = 2};
    struct ibv_async_event event;
    struct bench *bench;

    (void)state;
    assert_non_null(srq);
    bench = open_bench(IBV_QPT_RC, IBV_MTU_1024, srq);
    assert_int_equal(ibv_destroy_srq(srq), EBUSY);
    for (int i = 0; i < 2; i++) { /* either queue pair may take either receive */
        struct ibv_sge sge = sge_of(&bench->end[0], 1000 * (uint32_t)(i + 1), 100);
        struct ibv_recv_wr wr = {.wr_id = 50, .sg_list = &sge, .num_sge = 1}, *bad;
        assert_int_equal(ibv_post_srq_recv(srq, &wr, &bad), 0);
        assert_int_equal(ibv_post_recv(bench->end[i].qp, &wr, &bad), EINVAL);
    }
    assert_int_equal(ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT), 0);
    assert_int_equal(ibv_query_srq(srq, &attr), 0);
    assert_int_equal(attr.srq_limit, 2);
    assert_true(attr.max_wr >= 10);
    for (int i = 0; i < 2; i++) {
        struct ibv_sge sge = sge_of(&bench->end[i], 0, 100);
        struct ibv_send_wr wr = {.wr_id = 1,
                                 .sg_list = &sge,
                                 .num_sge = 1,
                                 .opcode = IBV_WR_SEND,
                                 .send_flags = IBV_SEND_SIGNALED};
        fill(bench->end[i].memory, 100, 30 + (unsigned)i);
        post(&bench->end[i], &wr);
        expect(bench->end[i].cq, 1, IBV_WC_SUCCESS);
        expect(bench->end[1 - i].cq, 50, IBV_WC_SUCCESS);
        assert_memory_equal(bench->end[0].memory + 1000 * (i + 1), bench->end[i].memory, 100);
    }
    assert_int_equal(ibv_get_async_event(context, &event), 0);
    assert_int_equal(event.event_type, IBV_EVENT_SRQ_LIMIT_REACHED);
    assert_ptr_equal(event.element.srq, srq);
    ibv_ack_async_event(&event);
    close_bench(bench, true);
    assert_int_equal(ibv_destroy_srq(srq), 0);
    assert_int_equal(ibv_dealloc_pd(pd), 0);
    ibv_close_device(context);
}

/* ---- ibv_wr_*, extended completion queues ---- */

static void test_extended(void **state)
{
    struct bench *bench = open_bench(IBV_QPT_RC, IBV_MTU_1024, NULL);
    struct ibv_cq_init_attr_ex cq_attr = {
        .cqe = 10, .wc_flags = IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP};
    struct ibv_cq_ex *cq = ibv_create_cq_ex(bench->context, &cq_attr);
    struct ibv_qp_init_attr_ex init = {
        .qp_type = IBV_QPT_RC,
        .pd = bench->pd,
        .cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 2, .max_inline_data = 32},
        .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
        .send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_READ};
    struct end *b = &bench->end[1];
    struct ibv_poll_cq_attr poll_attr = {0};
    struct ibv_qp_ex *qp;
    uint64_t last = 0;
    int status;

    (void)state;
    assert_non_null(cq);
    init.send_cq = init.recv_cq = ibv_cq_ex_to_cq(cq);
    assert_null(ibv_qp_to_qp_ex(b->qp));
    qp = ibv_qp_to_qp_ex(ibv_create_qp_ex(bench->context, &init));
    assert_non_null(qp);
    assert_int_equal(to_init(&qp->qp_base), 0);
    /* Connected to itself. */
    assert_int_equal(to_rtr(bench, &qp->qp_base, qp->qp_base.qp_num, IBV_MTU_512), 0);
    assert_int_equal(to_rts(&qp->qp_base), 0);

    fill(b->memory, 2000, 12);
    ibv_wr_start(qp);
    qp->wr_id = 1;
    qp->wr_flags = IBV_SEND_SIGNALED;
    ibv_wr_rdma_write(qp, b->mr->rkey, (uintptr_t)b->memory + 10000);
    ibv_wr_set_sge(qp, b->mr->lkey, (uintptr_t)b->memory, 2000);
    qp->wr_id = 2;
    ibv_wr_rdma_write(qp, b->mr->rkey, (uintptr_t)b->memory + 20000);
    ibv_wr_set_inline_data(qp, b->memory + 5, 30);
    assert_int_equal(ibv_wr_complete(qp), 0);
    for (uint64_t id = 1; id <= 2; id++) {
        while ((status = ibv_start_poll(cq, &poll_attr)) == ENOENT)
            continue;
        assert_int_equal(status, 0);
        assert_int_equal(cq->wr_id, id);
        assert_int_equal(cq->status, IBV_WC_SUCCESS);
        assert_int_equal(ibv_wc_read_opcode(cq), IBV_WC_RDMA_WRITE);
        assert_int_equal(ibv_wc_read_qp_num(cq), qp->qp_base.qp_num);
        assert_true(ibv_wc_read_completion_ts(cq) >= last);
        last = ibv_wc_read_completion_ts(cq);
        assert_true(last > 0);
        ibv_end_poll(cq);
    }
    assert_memory_equal(b->memory + 10000, b->memory, 2000);
    assert_memory_equal(b->memory + 20000, b->memory + 5, 30);

    /* All or nothing: too much inline data, too many work requests, and an abort. */
    for (int round = 0; round < 3; round++) {
        ibv_wr_start(qp);
        ibv_wr_rdma_write(qp, b->mr->rkey, (uintptr_t)b->memory + 30000);
        ibv_wr_set_inline_data(qp, b->memory, 8);
        ibv_wr_rdma_write(qp, b->mr->rkey, (uintptr_t)b->memory + 30000);
        ibv_wr_set_inline_data(qp, b->memory, round == 0 ? 64 : 8);
        for (int i = 0; round == 1 && i < 20; i++)
            ibv_wr_rdma_write(qp, b->mr->rkey, (uintptr_t)b->memory + 30000);
        if (round == 2)
            ibv_wr_abort(qp);
        else
            assert_int_equal(ibv_wr_complete(qp), round == 0 ? EINVAL : ENOMEM);
        assert_int_equal(ibv_start_poll(cq, &poll_attr), ENOENT);
    }
    assert_int_equal(b->memory[30000], 0);
    assert_int_equal(ibv_destroy_qp(&qp->qp_base), 0);
    assert_int_equal(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
    close_bench(bench, false);
}

/* A window's key is that of a bind only when that is posted. */
static void test_refused_bind(void **state)
{
    struct bench *bench = open_bench(IBV_QPT_RC, IBV_MTU_1024, NULL);
    struct ibv_mw *mw = ibv_alloc_mw(bench->pd, IBV_MW_TYPE_2);
    struct ibv_mr *mr = ibv_reg_mr(bench->pd, bench->end[0].memory, BYTES,
                                   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
    struct ibv_mw_bind_info info = {.mr = mr,
                                    .addr = (uintptr_t)bench->end[0].memory,
                                    .length = 100,
                                    .mw_access_flags = IBV_ACCESS_REMOTE_READ};
    struct ibv_qp_init_attr_ex init = {
        .qp_type = IBV_QPT_RC,
        .pd = bench->pd,
        .send_cq = bench->end[0].cq,
        .recv_cq = bench->end[0].cq,
        .cap = {.max_send_wr = 2},
        .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
        .send_ops_flags = IBV_QP_EX_WITH_BIND_MW | IBV_QP_EX_WITH_SEND};
    struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(ibv_create_qp_ex(bench->context, &init));
    const uint32_t before = mw->rkey, after = ibv_inc_rkey(before);

    (void)state;
    assert_int_equal(to_init(&qp->qp_base), 0);
    for (int round = 0; round < 4; round++) {
        if (round == 1) {
            assert_int_equal(to_rtr(bench, &qp->qp_base, qp->qp_base.qp_num, IBV_MTU_512), 0);
            assert_int_equal(to_rts(&qp->qp_base), 0);
        }
        ibv_wr_start(qp);
        ibv_wr_bind_mw(qp, mw, after, &info);
        for (int i = 0; round == 1 && i < 2; i++) {
            ibv_wr_send(qp); /* the second one is too many */
            ibv_wr_set_sge(qp, mr->lkey, (uintptr_t)mr->addr, 1);
        }
        if (round == 2)
            ibv_wr_abort(qp);
        else
            assert_int_equal(ibv_wr_complete(qp), round == 0 ? EINVAL : round == 1 ? ENOMEM : 0);
        assert_int_equal(mw->rkey, round < 3 ? before : after);
    }
    assert_int_equal(ibv_destroy_qp(&qp->qp_base), 0);
    assert_int_equal(ibv_dealloc_mw(mw), 0);
    assert_int_equal(ibv_dereg_mr(mr), 0);
    close_bench(bench, false);
}

/* ---- events ---- */

static void test_events(void **state)
{
    struct bench *bench = open_bench(IBV_QPT_RC, IBV_MTU_1024, NULL);
    struct ibv_comp_channel *channel = ibv_create_comp_channel(bench->context);
    struct ibv_cq *cq = ibv_create_cq(bench->context, 8, bench, channel, 0), *got;
    struct ibv_qp_init_attr init = init_attr(cq, IBV_QPT_RC);
    struct ibv_qp *qp = ibv_create_qp(bench->pd, &init);
    struct end *b = &bench->end[1], own = {.qp = qp, .cq = cq, .memory = b->memory, .mr = b->mr};
    struct ibv_sge sge = sge_of(b, 0, 100);
    struct ibv_send_wr wr = remote(IBV_WR_RDMA_WRITE, 4, &sge, b, 5000);
    struct pollfd readable = {.events = POLLIN};
    void *context;

    (void)state;
    assert_non_null(cq);
    assert_int_equal(ibv_destroy_comp_channel(channel), EBUSY);
    assert_int_equal(to_init(qp), 0);
    assert_int_equal(to_rtr(bench, qp, qp->qp_num, IBV_MTU_512), 0);
    assert_int_equal(to_rts(qp), 0);
    readable.fd = channel->fd;
    for (int round = 0; round < 2; round++) { /* waiting by the descriptor; in the verb */
        assert_int_equal(ibv_req_notify_cq(cq, 0), 0);
        assert_int_equal(poll(&readable, 1, 0), 0);
        post(&own, &wr);
        if (round == 0) /* the program does not poll: the library's own thread makes progress */
            assert_int_equal(poll(&readable, 1, 30000), 1);
        assert_int_equal(ibv_get_cq_event(channel, &got, &context), 0);
        assert_ptr_equal(got, cq);
        assert_ptr_equal(context, bench);
        expect(cq, 4, IBV_WC_SUCCESS);
        ibv_ack_cq_events(cq, 1);
    }
    assert_int_equal(fcntl(channel->fd, F_SETFL, O_NONBLOCK), 0);
    assert_int_equal(ibv_get_cq_event(channel, &got, &context), -1);
    assert_int_equal(errno, EAGAIN);
    /* A wrong key ends a connection, and the responder gets an event. */
    struct ibv_async_event event;
    sge = sge_of(&bench->end[0], 0, 100);
    wr.wr.rdma.rkey ^= 0x5a5a5a5a;
    post(&bench->end[0], &wr);
    expect(bench->end[0].cq, 4, IBV_WC_REM_ACCESS_ERR);
    assert_int_equal(ibv_get_async_event(bench->context, &event), 0);
    assert_int_equal(event.event_type, IBV_EVENT_QP_ACCESS_ERR);
    assert_ptr_equal(event.element.qp, b->qp);
    ibv_ack_async_event(&event);
    assert_int_equal(ibv_destroy_qp(qp), 0);
    assert_int_equal(ibv_destroy_cq(cq), 0);
    assert_int_equal(ibv_destroy_comp_channel(channel), 0);
    close_bench(bench, false);
}

/* A packet for memory that is unmapped but still registered does no harm, as with an RNIC, which
 * pins it. This holds where the library's own thread takes the packet; a program that polls must
 * keep its memory. */
static void test_unmapped_receive(void **state)
{
    struct bench *bench = open_bench(IBV_QPT_RC, IBV_MTU_1024, NULL);
    struct ibv_comp_channel *channel = ibv_create_comp_channel(bench->context);
    struct ibv_cq *cq = ibv_create_cq(bench->context, 8, bench, channel, 0);
    struct ibv_qp_init_attr init = init_attr(cq, IBV_QPT_RC);
    struct ibv_qp *qp = ibv_create_qp(bench->pd, &init);
    const size_t bytes = 3 * (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct ibv_mr *mr = ibv_reg_mr(bench->pd, memory, bytes, IBV_ACCESS_LOCAL_WRITE);
    struct end own = {.qp = qp, .cq = cq, .memory = memory, .mr = mr};
    struct ibv_sge sge = sge_of(&bench->end[0], 0, 1000);
    struct ibv_send_wr wr = {
        .wr_id = 1, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = 0};
    struct pollfd readable = {.events = POLLIN, .fd = channel->fd};

    (void)state;
    assert_non_null(mr);
    assert_int_equal(to_init(qp), 0);
    assert_int_equal(to_rtr(bench, qp, qp->qp_num, IBV_MTU_1024), 0);
    assert_int_equal(to_rts(qp), 0);
    fill(bench->end[0].memory, 1000, 7);
    for (int round = 0; round < 2; round++) {
        post_recv(&own, 5, 0, 1000);
        assert_int_equal(ibv_req_notify_cq(cq, 0), 0);
        if (round == 1)
            assert_int_equal(munmap(memory, bytes), 0);
        post(&own, &wr);
        assert_int_equal(poll(&readable, 1, 30000), 1);
        assert_int_equal(expect(cq, 5, IBV_WC_SUCCESS).byte_len, 1000);
        if (round == 0)
            assert_memory_equal(memory, bench->end[0].memory, 1000);
        struct ibv_cq *got;
        void *context;
        assert_int_equal(ibv_get_cq_event(channel, &got, &context), 0);
        ibv_ack_cq_events(cq, 1);
    }
    assert_int_equal(ibv_destroy_qp(qp), 0);
    assert_int_equal(ibv_dereg_mr(mr), 0);
    assert_int_equal(ibv_destroy_cq(cq), 0);
    assert_int_equal(ibv_destroy_comp_channel(channel), 0);
    close_bench(bench, false);
}

/* A thread that makes progress for all, by polling a queue where nothing comes. */
struct poller {
    struct ibv_cq *cq;
    _Atomic bool stop;
};

static void *poll_another(void *argument)
{
    const struct poller *poller = argument;
    struct ibv_wc wc;

    while (!poller->stop)
        ibv_poll_cq(poller->cq, 1, &wc);
    return NULL;
}

/* A caller that does not wait, while another thread makes the event, gets all of it or nothing. */
static void test_events_at_once(void **state)
{
    struct bench *bench = open_bench(IBV_QPT_RC, IBV_MTU_1024, NULL);
    struct ibv_comp_channel *channel = ibv_create_comp_channel(bench->context);
    struct ibv_cq *cq = ibv_create_cq(bench->context, 8, NULL, channel, 0), *got;
    struct ibv_qp_init_attr init = init_attr(cq, IBV_QPT_RC);
    struct end *b = &bench->end[1];
    struct end own = {.qp = ibv_create_qp(bench->pd, &init), .cq = cq};
    struct ibv_sge sge = sge_of(b, 0, 100);
    struct ibv_send_wr wr = remote(IBV_WR_RDMA_WRITE, 4, &sge, b, 5000);
    struct poller poller = {.cq = bench->end[0].cq};
    struct pollfd readable = {.events = POLLIN, .fd = channel->fd};
    pthread_t thread;
    void *context;

    (void)state;
    assert_int_equal(to_init(own.qp), 0);
    assert_int_equal(to_rtr(bench, own.qp, own.qp->qp_num, IBV_MTU_512), 0);
    assert_int_equal(to_rts(own.qp), 0);
    assert_int_equal(fcntl(channel->fd, F_SETFL, O_NONBLOCK), 0);
    assert_int_equal(pthread_create(&thread, NULL, poll_another, &poller), 0);
    for (int round = 0; round < 20000; round++) {
        const time_t begun = time(NULL);

        assert_int_equal(ibv_req_notify_cq(cq, 0), 0);
        post(&own, &wr);
        while (ibv_get_cq_event(channel, &got, &context) != 0)
            if (time(NULL) > begun + 20)
                fail_msg("round %d: the event was lost", round);
        assert_int_equal(poll(&readable, 1, 0), 0);
        expect(cq, 4, IBV_WC_SUCCESS);
        ibv_ack_cq_events(cq, 1);
    }
    poller.stop = true;
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(ibv_destroy_qp(own.qp), 0);
    assert_int_equal(ibv_destroy_cq(cq), 0);
    assert_int_equal(ibv_destroy_comp_channel(channel), 0);
    close_bench(bench, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_write_and_read),   cmocka_unit_test(test_send),
        cmocka_unit_test(test_atomics),          cmocka_unit_test(test_iova),
        cmocka_unit_test(test_windows),          cmocka_unit_test(test_datagrams),
        cmocka_unit_test(test_shared_receive),   cmocka_unit_test(test_extended),
        cmocka_unit_test(test_refused_bind),     cmocka_unit_test(test_events),
        cmocka_unit_test(test_unmapped_receive), cmocka_unit_test(test_events_at_once),
    };

    setenv("OCHE_DEVICE", "127.34.0.1", 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
