/* SPDX-License-Identifier: Apache-2.0 */
/* Two queue pairs of one device, connected to each other. */
#include "tests/interop/verbs_bench.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* ---- making a connection ---- */

struct ibv_context *open_one(void)
{
    int count;
    struct ibv_device **list = ibv_get_device_list(&count);
    struct ibv_context *context;

    assert_non_null(list);
    assert_int_equal(count, 1); /* OCHE_DEVICE names one device */
    assert_null(list[1]);
    context = ibv_open_device(list[0]);
    ibv_free_device_list(list);
    assert_non_null(context);
    return context;
}

struct ibv_ah_attr address_of(const struct bench *bench)
{
    return (struct ibv_ah_attr){.is_global = 1, .port_num = 1, .grh.dgid = bench->gid};
}

int to_init(struct ibv_qp *qp)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
                               .port_num = 1,
                               .qp_access_flags = ACCESS | IBV_ACCESS_MW_BIND,
                               .qkey = QKEY};

    return ibv_modify_qp(qp, &attr,
                         IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
                             (qp->qp_type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS));
}

int to_rtr(const struct bench *bench, struct ibv_qp *qp, uint32_t dest, enum ibv_mtu mtu)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR,
                               .path_mtu = mtu,
                               .dest_qp_num = dest,
                               .rq_psn = 77,
                               .max_dest_rd_atomic = 4,
                               .min_rnr_timer = 12,
                               .ah_attr = address_of(bench)};
    int mask = IBV_QP_STATE;

    if (qp->qp_type != IBV_QPT_UD)
        mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
    if (qp->qp_type == IBV_QPT_RC)
        mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
    return ibv_modify_qp(qp, &attr, mask);
}

int to_rts(struct ibv_qp *qp)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS,
                               .timeout = 14,
                               .retry_cnt = 7,
                               .rnr_retry = 7,
                               .sq_psn = 77,
                               .max_rd_atomic = 4};
    int mask = IBV_QP_STATE | IBV_QP_SQ_PSN;

    if (qp->qp_type == IBV_QPT_RC)
        mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
    return ibv_modify_qp(qp, &attr, mask);
}

struct ibv_qp_init_attr init_attr(struct ibv_cq *cq, enum ibv_qp_type type)
{
    return (struct ibv_qp_init_attr){.send_cq = cq,
                                     .recv_cq = cq,
                                     .cap = {.max_send_wr = 16,
                                             .max_recv_wr = 16,
                                             .max_send_sge = 4,
                                             .max_recv_sge = 4,
                                             .max_inline_data = 64},
                                     .qp_type = type};
}

struct bench *make_bench(enum ibv_qp_type type, struct ibv_srq *srq)
{
    struct bench *bench = calloc(1, sizeof(*bench));

    assert_non_null(bench);
    bench->context = srq != NULL ? srq->context : open_one();
    assert_int_equal(ibv_query_gid(bench->context, 1, 0, &bench->gid), 0);
    bench->pd = srq != NULL ? srq->pd : ibv_alloc_pd(bench->context);
    assert_non_null(bench->pd);
    for (int i = 0; i < 2; i++) {
        struct end *end = &bench->end[i];
        struct ibv_qp_init_attr init;
        end->cq = ibv_create_cq(bench->context, 64, NULL, NULL, 0);
        assert_non_null(end->cq);
        init = init_attr(end->cq, type);
        init.srq = srq;
        end->qp = ibv_create_qp(bench->pd, &init);
        assert_non_null(end->qp);
        assert_true(init.cap.max_send_wr >= 16);
        end->memory = calloc(1, BYTES);
        end->mr = ibv_reg_mr(bench->pd, end->memory, BYTES, ACCESS);
        assert_non_null(end->mr);
        assert_int_equal(to_init(end->qp), 0);
    }
    return bench;
}

void connect_bench(struct bench *bench, enum ibv_mtu mtu)
{
    for (int i = 0; i < 2; i++) {
        assert_int_equal(to_rtr(bench, bench->end[i].qp, bench->end[1 - i].qp->qp_num, mtu), 0);
        assert_int_equal(to_rts(bench->end[i].qp), 0);
    }
}

struct bench *open_bench(enum ibv_qp_type type, enum ibv_mtu mtu, struct ibv_srq *srq)
{
    struct bench *bench = make_bench(type, srq);

    connect_bench(bench, mtu);
    return bench;
}

void close_bench(struct bench *bench, bool keep)
{
    for (int i = 0; i < 2; i++) {
        assert_int_equal(ibv_destroy_cq(bench->end[i].cq), EBUSY);
        assert_int_equal(ibv_destroy_qp(bench->end[i].qp), 0);
        assert_int_equal(ibv_destroy_cq(bench->end[i].cq), 0);
        assert_int_equal(ibv_dealloc_pd(bench->pd), EBUSY);
        assert_int_equal(ibv_dereg_mr(bench->end[i].mr), 0);
        free(bench->end[i].memory);
    }
    if (!keep) {
        assert_int_equal(ibv_dealloc_pd(bench->pd), 0);
        assert_int_equal(ibv_close_device(bench->context), 0);
    }
    free(bench);
}

/* ---- work ---- */

struct ibv_sge sge_of(const struct end *end, uint32_t offset, uint32_t length)
{
    return (struct ibv_sge){(uintptr_t)end->memory + offset, length, end->mr->lkey};
}

struct ibv_wc wait_for(struct ibv_cq *cq)
{
    const time_t end = time(NULL) + 30;
    struct ibv_wc wc;
    int count;

    while ((count = ibv_poll_cq(cq, 1, &wc)) == 0) {
        assert_true(time(NULL) < end);
        usleep(POLL_US);
    }
    assert_int_equal(count, 1);
    return wc;
}

struct ibv_wc expect(struct ibv_cq *cq, uint64_t wr_id, enum ibv_wc_status status)
{
    struct ibv_wc wc = wait_for(cq);

    if (wc.wr_id != wr_id || wc.status != status)
        print_error("completion of %llu: %s\n", (unsigned long long)wc.wr_id,
                    ibv_wc_status_str(wc.status));
    assert_int_equal(wc.wr_id, wr_id);
    assert_int_equal(wc.status, status);
    return wc;
}

void post(struct end *end, struct ibv_send_wr *wr)
{
    struct ibv_send_wr *bad = NULL;

    assert_int_equal(ibv_post_send(end->qp, wr, &bad), 0);
}

void post_recv(struct end *end, uint64_t wr_id, uint32_t offset, uint32_t length)
{
    struct ibv_sge sge = sge_of(end, offset, length);
    struct ibv_recv_wr wr = {.wr_id = wr_id, .sg_list = &sge, .num_sge = 1}, *bad;

    assert_int_equal(ibv_post_recv(end->qp, &wr, &bad), 0);
}

void fill(uint8_t *memory, uint32_t bytes, unsigned seed)
{
    for (uint32_t i = 0; i < bytes; i++) {
        seed = seed * 1103515245 + 12345;
        memory[i] = (uint8_t)(seed >> 16);
    }
}

struct ibv_send_wr remote(enum ibv_wr_opcode opcode, uint64_t wr_id, struct ibv_sge *sge,
                          const struct end *to, uint32_t offset)
{
    struct ibv_send_wr wr = {.wr_id = wr_id,
                             .sg_list = sge,
                             .num_sge = 1,
                             .opcode = opcode,
                             .send_flags = IBV_SEND_SIGNALED};

    wr.wr.rdma.remote_addr = (uintptr_t)to->memory + offset;
    wr.wr.rdma.rkey = to->mr->rkey;
    return wr;
}

/* ---- workers ---- */

void start_worker(struct worker *worker, void *(*run)(void *))
{
    assert_int_equal(pthread_create(&worker->thread, NULL, run, worker), 0);
}

void join_worker(struct worker *worker, unsigned least_rounds)
{
    atomic_store(&worker->stop, true);
    assert_int_equal(pthread_join(worker->thread, NULL), 0);
    assert_int_equal(worker->wrong, 0);
    assert_true(worker->rounds >= least_rounds);
}
