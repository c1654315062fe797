/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pingpong over a reliable connection: `pingpong PORT` waits, `pingpong PORT ADDRESS` calls. The
 * page docs/rogue.md changes it; rogue_page.py runs it before and after.
 */
#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ROUNDS 200
#define BYTES  100000

struct end {
    union ibv_gid gid;
    uint32_t qpn;
};

static void need(int truth, const char *what)
{
    if (truth)
        return;
    perror(what);
    exit(1);
}

/* Returns a socket that is connected to the other side. */
static int meet(const char *port, const char *server)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
    int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;

    if (server != NULL) {
        need(inet_pton(AF_INET, server, &address.sin_addr) == 1, server);
        need(connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0, "connect");
        return fd;
    }
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    need(bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0, "bind");
    need(listen(fd, 1) == 0, "listen");
    return accept(fd, NULL, NULL);
}

/* Swaps the sides' data. Each waits here for the other. */
static void swap(int fd, const struct end *mine, struct end *theirs)
{
    need(write(fd, mine, sizeof(*mine)) == sizeof(*mine), "write");
    need(recv(fd, theirs, sizeof(*theirs), MSG_WAITALL) == sizeof(*theirs), "recv");
}

static void change(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
    need(ibv_modify_qp(qp, attr, mask) == 0, "modify_qp");
}

static void connect_qp(struct ibv_qp *qp, const struct end *peer)
{
    struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT, .port_num = 1};
    struct ibv_qp_attr rtr = {.qp_state = IBV_QPS_RTR,
                              .path_mtu = IBV_MTU_1024,
                              .dest_qp_num = peer->qpn,
                              .min_rnr_timer = 12,
                              .ah_attr = {.is_global = 1, .port_num = 1, .grh.dgid = peer->gid}};
    struct ibv_qp_attr rts = {
        .qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7};

    change(qp, &init, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
    change(qp, &rtr,
           IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
               IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
    change(qp, &rts,
           IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
               IBV_QP_MAX_QP_RD_ATOMIC);
}

static void send_one(struct ibv_qp *qp, struct ibv_sge *sge)
{
    struct ibv_send_wr wr = {.sg_list = sge,
                             .num_sge = 1,
                             .opcode = IBV_WR_SEND,
                             .send_flags = IBV_SEND_SIGNALED},
                       *bad;

    need(ibv_post_send(qp, &wr, &bad) == 0, "ibv_post_send");
}

static void receive_one(struct ibv_qp *qp, struct ibv_sge *sge)
{
    struct ibv_recv_wr wr = {.sg_list = sge, .num_sge = 1}, *bad;

    need(ibv_post_recv(qp, &wr, &bad) == 0, "ibv_post_recv");
}

static void complete(struct ibv_cq *cq, int count)
{
    struct ibv_wc wc;

    while (count > 0)
        if (ibv_poll_cq(cq, 1, &wc) > 0) {
            need(wc.status == IBV_WC_SUCCESS, ibv_wc_status_str(wc.status));
            count--;
        }
}

int main(int argc, char **argv)
{
    static char out[BYTES], in[BYTES];
    struct ibv_device **devices = ibv_get_device_list(NULL);
    struct ibv_context *context = ibv_open_device(devices[0]);
    struct ibv_pd *pd = ibv_alloc_pd(context);
    struct ibv_mr *out_mr = ibv_reg_mr(pd, out, BYTES, 0);
    struct ibv_mr *in_mr = ibv_reg_mr(pd, in, BYTES, IBV_ACCESS_LOCAL_WRITE);
    struct ibv_cq *cq = ibv_create_cq(context, 8, NULL, NULL, 0);
    struct ibv_qp_init_attr attr = {
        .send_cq = cq,
        .recv_cq = cq,
        .qp_type = IBV_QPT_RC,
        .cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1}};
    struct ibv_qp *qp = ibv_create_qp(pd, &attr);
    struct ibv_sge out_sge = {(uintptr_t)out, BYTES, out_mr->lkey};
    struct ibv_sge in_sge = {(uintptr_t)in, BYTES, in_mr->lkey};
    struct end mine = {.qpn = qp->qp_num}, theirs;
    int calls = argc > 2, fd = meet(argv[1], calls ? argv[2] : NULL);

    need(ibv_query_gid(context, 1, 0, &mine.gid) == 0, "ibv_query_gid");
    swap(fd, &mine, &theirs);
    connect_qp(qp, &theirs);
    receive_one(qp, &in_sge);
    swap(fd, &mine, &theirs);
    for (int round = 0; round < ROUNDS; round++) {
        memset(out, round + 1, BYTES);
        if (calls)
            send_one(qp, &out_sge);
        complete(cq, calls ? 2 : 1); /* the caller's own message, and the other side's */
        need(in[0] == (char)(round + 1) && memcmp(in, in + 1, BYTES - 1) == 0, "the data");
        if (round + 1 < ROUNDS)
            receive_one(qp, &in_sge);
        if (!calls) {
            send_one(qp, &out_sge);
            complete(cq, 1);
        }
    }
    swap(fd, &mine, &theirs);
    ibv_destroy_qp(qp);
    ibv_destroy_cq(cq);
    ibv_dereg_mr(out_mr);
    ibv_dereg_mr(in_mr);
    ibv_dealloc_pd(pd);
    ibv_close_device(context);
    ibv_free_device_list(devices);
    printf("%d messages each way\n", ROUNDS);
    return 0;
}
