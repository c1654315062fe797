/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A verbs program that commands.py runs by oche exec: two queue pairs of one device, connected to
 * each other, and data by SEND, WRITE and READ, with waits on a completion channel. An operation
 * that fails gives one line and status 1. Otherwise it prints how much has arrived, byte for byte.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES    50000
#define ACCESS   (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)
#define LIMIT_MS 15000
#define ENDS     2

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_comp_channel *channel;
static struct ibv_cq *cq;
static struct ibv_mr *mr;
static struct ibv_qp *qps[ENDS];
static union ibv_gid gid;
static uint8_t memory[4 * BYTES];

static _Noreturn void give_up(const char *what, int error)
{
    fprintf(stderr, "verbs_client: %s: %s\n", what, strerror(error));
    exit(1);
}

#define WORKS(call)                                                                                \
    do {                                                                                           \
        const int works_error = (call);                                                            \
        if (works_error != 0)                                                                      \
            give_up(#call, works_error > 0 ? works_error : errno);                                 \
    } while (0)
#define GIVEN(made)                                                                                \
    do {                                                                                           \
        if ((made) == NULL)                                                                        \
            give_up(#made, errno);                                                                 \
    } while (0)

static void open_device(void)
{
    struct ibv_device **list;
    int count;

    GIVEN(list = ibv_get_device_list(&count));
    if (count != 1)
        give_up("no device", ENODEV);
    GIVEN(context = ibv_open_device(list[0]));
    ibv_free_device_list(list);
    WORKS(ibv_query_gid(context, 1, 0, &gid));
    GIVEN(pd = ibv_alloc_pd(context));
    GIVEN(channel = ibv_create_comp_channel(context));
    GIVEN(cq = ibv_create_cq(context, 16, NULL, channel, 0));
    GIVEN(mr = ibv_reg_mr(pd, memory, sizeof(memory), ACCESS));
}

static void make_qp(unsigned end)
{
    struct ibv_qp_init_attr init = {
        .send_cq = cq,
        .recv_cq = cq,
        .cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
        .qp_type = IBV_QPT_RC};
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = ACCESS};

    GIVEN(qps[end] = ibv_create_qp(pd, &init));
    WORKS(ibv_modify_qp(qps[end], &attr,
                        IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
}

static void connect_qp(unsigned end)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR,
                               .path_mtu = IBV_MTU_1024,
                               .dest_qp_num = qps[!end]->qp_num,
                               .rq_psn = 7,
                               .max_dest_rd_atomic = 1,
                               .min_rnr_timer = 12,
                               .ah_attr = {.is_global = 1, .port_num = 1, .grh.dgid = gid}};

    WORKS(ibv_modify_qp(qps[end], &attr,
                        IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                            IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER));
    attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS,
                                .timeout = 14,
                                .retry_cnt = 5,
                                .rnr_retry = 7,
                                .sq_psn = 7,
                                .max_rd_atomic = 1};
    WORKS(ibv_modify_qp(qps[end], &attr,
                        IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
                            IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC));
}

/* Sleeps until so many completions have come. */
static void await(unsigned count)
{
    struct ibv_wc wc;

    while (count > 0) {
        struct pollfd ready = {.fd = channel->fd, .events = POLLIN};
        struct ibv_cq *of;
        void *own;
        int got;

        WORKS(ibv_req_notify_cq(cq, 0));
        while (count > 0 && (got = ibv_poll_cq(cq, 1, &wc)) > 0) {
            if (wc.status != IBV_WC_SUCCESS) {
                fprintf(stderr, "verbs_client: a completion: %s\n", ibv_wc_status_str(wc.status));
                exit(1);
            }
            count--;
        }
        if (count == 0)
            return;
        got = poll(&ready, 1, LIMIT_MS);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            give_up("no completion", got < 0 ? errno : ETIMEDOUT);
        if (ibv_get_cq_event(channel, &of, &own) != 0) {
            if (errno == EINTR)
                continue;
            give_up("ibv_get_cq_event", errno);
        }
        ibv_ack_cq_events(cq, 1);
    }
}

static void move(enum ibv_wr_opcode opcode, unsigned from, unsigned to, unsigned completions)
{
    struct ibv_sge sge = {.addr = (uintptr_t)memory + from, .length = BYTES, .lkey = mr->lkey};
    struct ibv_sge into = {.addr = (uintptr_t)memory + to, .length = BYTES, .lkey = mr->lkey};
    struct ibv_recv_wr receive = {.sg_list = &into, .num_sge = 1}, *bad_receive;
    struct ibv_send_wr work = {.sg_list = &sge,
                               .num_sge = 1,
                               .opcode = opcode,
                               .send_flags = IBV_SEND_SIGNALED,
                               .wr.rdma = {.remote_addr = (uintptr_t)memory + to,
                                           .rkey = mr->rkey}},
                       *bad;

    if (opcode == IBV_WR_RDMA_READ) {
        sge.addr = (uintptr_t)memory + to;
        work.wr.rdma.remote_addr = (uintptr_t)memory + from;
    }
    if (opcode == IBV_WR_SEND)
        WORKS(ibv_post_recv(qps[1], &receive, &bad_receive));
    WORKS(ibv_post_send(qps[0], &work, &bad));
    await(completions);
    if (memcmp(memory + from, memory + to, BYTES) != 0)
        give_up("other bytes arrived", EPROTO);
}

int main(void)
{
    for (unsigned i = 0; i < BYTES; i++)
        memory[i] = (uint8_t)(i * 7 + i / 256);
    open_device();
    for (unsigned end = 0; end < ENDS; end++)
        make_qp(end);
    for (unsigned end = 0; end < ENDS; end++)
        connect_qp(end);
    move(IBV_WR_SEND, 0, BYTES, 2);
    move(IBV_WR_RDMA_WRITE, BYTES, 2 * BYTES, 1);
    move(IBV_WR_RDMA_READ, 2 * BYTES, 3 * BYTES, 1);
    for (unsigned end = 0; end < ENDS; end++)
        WORKS(ibv_destroy_qp(qps[end]));
    WORKS(ibv_dereg_mr(mr));
    WORKS(ibv_destroy_cq(cq));
    WORKS(ibv_destroy_comp_channel(channel));
    WORKS(ibv_dealloc_pd(pd));
    WORKS(ibv_close_device(context));
    if (printf("%d bytes arrived\n", 3 * BYTES) < 0 || fflush(stdout) != 0)
        give_up("standard output", errno);
    return 0;
}
