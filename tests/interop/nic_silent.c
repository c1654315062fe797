/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A WRITE of 64 bytes that nothing answers, because its packets are lost or the peer's queue pair
 * is in error, and when and how it fails.
 *
 *     nic_silent PORT [error]             the peer; error: its queue pair goes to ERR first
 *     nic_silent PORT ADDRESS T R         prints "STATUS VENDOR_ERR MILLISECONDS"
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define BYTES 64

struct end {
    union ibv_gid gid;
    uint64_t address;
    uint32_t qpn, rkey;
};

static void need(int truth, const char *what)
{
    if (truth)
        return;
    perror(what);
    exit(1);
}

static double now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static int meet(const char *port, const char *peer)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
    int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;

    if (peer != NULL) {
        need(inet_pton(AF_INET, peer, &address.sin_addr) == 1, peer);
        need(connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0, "connect");
        return fd;
    }
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    need(bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0, "bind");
    need(listen(fd, 1) == 0, "listen");
    puts("listening");
    fflush(stdout);
    return accept(fd, NULL, NULL);
}

static void to_rts(struct ibv_qp *qp, const struct end *peer, int timeout, int retries)
{
    struct ibv_qp_attr attr = {
        .qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = IBV_ACCESS_REMOTE_WRITE};

    need(ibv_modify_qp(qp, &attr,
                       IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) == 0,
         "INIT");
    attr = (struct ibv_qp_attr){
        .qp_state = IBV_QPS_RTR,
        .path_mtu = IBV_MTU_1024,
        .dest_qp_num = peer->qpn,
        .min_rnr_timer = 12,
        .ah_attr = {.is_global = 1, .port_num = 1, .grh = {.dgid = peer->gid, .hop_limit = 64}}};
    need(ibv_modify_qp(qp, &attr,
                       IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                           IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) == 0,
         "RTR");
    attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS,
                                .timeout = (uint8_t)timeout,
                                .retry_cnt = (uint8_t)retries,
                                .rnr_retry = 7};
    need(ibv_modify_qp(qp, &attr,
                       IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                           IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC) == 0,
         "RTS");
}

static void write_once(struct ibv_qp *qp, struct ibv_cq *cq, struct ibv_mr *mr,
                       const struct end *peer)
{
    struct ibv_sge sge = {(uintptr_t)mr->addr, BYTES, mr->lkey};
    struct ibv_send_wr wr = {.sg_list = &sge,
                             .num_sge = 1,
                             .opcode = IBV_WR_RDMA_WRITE,
                             .send_flags = IBV_SEND_SIGNALED,
                             .wr.rdma = {peer->address, peer->rkey}},
                       *bad;
    struct ibv_wc wc;
    double begun = now_ms();
    int got;

    need(ibv_post_send(qp, &wr, &bad) == 0, "ibv_post_send");
    while ((got = ibv_poll_cq(cq, 1, &wc)) == 0)
        usleep(100);
    need(got == 1, "ibv_poll_cq");
    printf("%d %#x %.1f\n", wc.status, wc.vendor_err, now_ms() - begun);
}

int main(int argc, char **argv)
{
    struct ibv_device **devices = ibv_get_device_list(NULL);
    char *memory = calloc(1, 4096);
    struct end mine = {.address = (uintptr_t)memory}, theirs;
    int client = argc > 3, fd;
    char done;

    need(argc > 1 && devices != NULL && devices[0] != NULL, "no device");
    struct ibv_context *context = ibv_open_device(devices[0]);
    need(context != NULL, "ibv_open_device");
    struct ibv_pd *pd = ibv_alloc_pd(context);
    struct ibv_mr *mr =
        ibv_reg_mr(pd, memory, 4096, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    struct ibv_cq *cq = ibv_create_cq(context, 16, NULL, NULL, 0);
    struct ibv_qp_init_attr init = {
        .send_cq = cq,
        .recv_cq = cq,
        .qp_type = IBV_QPT_RC,
        .cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1}};
    struct ibv_qp *qp = ibv_create_qp(pd, &init);

    need(mr != NULL && qp != NULL && ibv_query_gid(context, 1, 0, &mine.gid) == 0, "a queue pair");
    mine.qpn = qp->qp_num;
    mine.rkey = mr->rkey;
    fd = meet(argv[1], client ? argv[2] : NULL);
    need(write(fd, &mine, sizeof(mine)) == sizeof(mine), "write");
    need(recv(fd, &theirs, sizeof(theirs), MSG_WAITALL) == sizeof(theirs), "recv");
    to_rts(qp, &theirs, client ? atoi(argv[3]) : 14, client ? atoi(argv[4]) : 7);
    if (argc == 3) {
        struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

        need(ibv_modify_qp(qp, &attr, IBV_QP_STATE) == 0, "ERR");
    }
    /* both are ready */
    need(write(fd, "r", 1) == 1 && recv(fd, &done, 1, MSG_WAITALL) == 1, "the peer");
    if (client)
        write_once(qp, cq, mr, &theirs);
    else
        need(recv(fd, &done, 1, MSG_WAITALL) >= 0, "the end");
    ibv_destroy_qp(qp);
    ibv_close_device(context);
    return 0;
}
