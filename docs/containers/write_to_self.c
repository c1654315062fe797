/* SPDX-License-Identifier: Apache-2.0 */
/* A queue pair that is connected to itself writes to its own memory; status 0: it arrived. */
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES 100000

static void must(int right, const char *what)
{
    if (!right) {
        fprintf(stderr, "write_to_self: %s failed\n", what);
        exit(1);
    }
}

static void connect_to_itself(struct ibv_context *context, struct ibv_qp *qp)
{
    struct ibv_qp_attr attr = {
        .qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = IBV_ACCESS_REMOTE_WRITE};
    union ibv_gid gid;

    must(!ibv_modify_qp(qp, &attr,
                        IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
         "INIT");
    must(!ibv_query_gid(context, 1, 0, &gid), "ibv_query_gid");
    attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTR,
                                .path_mtu = IBV_MTU_1024,
                                .dest_qp_num = qp->qp_num,
                                .max_dest_rd_atomic = 1,
                                .min_rnr_timer = 12,
                                .ah_attr = {.is_global = 1, .port_num = 1}};
    attr.ah_attr.grh.dgid = gid;
    attr.ah_attr.grh.hop_limit = 64;
    must(!ibv_modify_qp(qp, &attr,
                        IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                            IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
         "RTR");
    attr = (struct ibv_qp_attr){
        .qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7, .max_rd_atomic = 1};
    must(!ibv_modify_qp(qp, &attr,
                        IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                            IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC),
         "RTS");
}

int main(void)
{
    static char memory[2 * BYTES];
    struct ibv_device **list = ibv_get_device_list(NULL);
    must(list && list[0], "ibv_get_device_list");
    struct ibv_context *context = ibv_open_device(list[0]);
    must(context != NULL, "ibv_open_device");
    struct ibv_pd *pd = ibv_alloc_pd(context);
    struct ibv_cq *cq = ibv_create_cq(context, 8, NULL, NULL, 0);
    must(pd && cq, "ibv_create_cq");
    struct ibv_mr *mr =
        ibv_reg_mr(pd, memory, sizeof memory, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    must(mr != NULL, "ibv_reg_mr");
    struct ibv_qp_init_attr init = {
        .send_cq = cq,
        .recv_cq = cq,
        .qp_type = IBV_QPT_RC,
        .cap = {.max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1}};
    struct ibv_qp *qp = ibv_create_qp(pd, &init);
    must(qp != NULL, "ibv_create_qp");
    connect_to_itself(context, qp);

    memset(memory, 'x', BYTES);
    struct ibv_sge sge = {.addr = (uintptr_t)memory, .length = BYTES, .lkey = mr->lkey};
    struct ibv_send_wr write = {.opcode = IBV_WR_RDMA_WRITE,
                                .send_flags = IBV_SEND_SIGNALED,
                                .sg_list = &sge,
                                .num_sge = 1},
                       *bad;
    write.wr.rdma.remote_addr = (uintptr_t)memory + BYTES;
    write.wr.rdma.rkey = mr->rkey;
    must(!ibv_post_send(qp, &write, &bad), "ibv_post_send");
    struct ibv_wc wc;
    int count;
    while ((count = ibv_poll_cq(cq, 1, &wc)) == 0)
        ;
    must(count == 1 && wc.status == IBV_WC_SUCCESS, "the WRITE");
    must(!memcmp(memory, memory + BYTES, BYTES), "comparing");
    printf("%s: %d bytes written\n", ibv_get_device_name(list[0]), BYTES);

    ibv_destroy_qp(qp);
    ibv_destroy_cq(cq);
    ibv_dereg_mr(mr);
    ibv_dealloc_pd(pd);
    ibv_close_device(context);
    ibv_free_device_list(list);
    return 0;
}
