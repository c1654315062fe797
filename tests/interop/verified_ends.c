/* SPDX-License-Identifier: Apache-2.0 */
/* See verified.h. */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "tests/interop/verified.h"

#define LIMIT 100 /* seconds for the whole run */
#define QKEY  0x11223344
#define MUST(what)                                                                                 \
    do {                                                                                           \
        if (!(what))                                                                               \
            verified_fail("%s: %m", #what);                                                        \
    } while (0)

void verified_fail(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    printf("verified: ");
    vprintf(format, arguments);
    printf("\n");
    va_end(arguments);
    fflush(stdout);
    _exit(1);
}

/* ---- TCP ---- */

static void meet(struct verified *v)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                                   .ai_family = v->server == NULL ? AF_INET6 : AF_UNSPEC,
                                   .ai_flags = v->server == NULL ? AI_PASSIVE : 0};
    struct addrinfo *found;
    char port[8];
    int fd, yes = 1;

    snprintf(port, sizeof(port), "%d", v->port);
    MUST(getaddrinfo(v->server, port, &hints, &found) == 0);
    MUST((fd = socket(found->ai_family, SOCK_STREAM, 0)) >= 0);
    if (v->server != NULL) {
        while (connect(fd, found->ai_addr, found->ai_addrlen) != 0) {
            /* the server does not listen yet; LIMIT ends the attempts */
            MUST(errno == ECONNREFUSED);
            usleep(20000);
        }
        v->tcp = fd;
    } else {
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
        MUST(bind(fd, found->ai_addr, found->ai_addrlen) == 0);
        MUST(listen(fd, 1) == 0);
        MUST((v->tcp = accept(fd, NULL, NULL)) >= 0);
        close(fd);
    }
    freeaddrinfo(found);
}

static void swap(struct verified *v, const void *mine, void *theirs, size_t count)
{
    MUST(send(v->tcp, mine, count, MSG_NOSIGNAL) == (ssize_t)count);
    MUST(recv(v->tcp, theirs, count, MSG_WAITALL) == (ssize_t)count);
}

void verified_barrier(struct verified *v)
{
    char theirs;

    swap(v, "b", &theirs, 1);
}

/* ---- verbs ---- */

static void open_device(struct verified *v)
{
    int count;
    struct ibv_device **list = ibv_get_device_list(&count);

    MUST(list != NULL);
    for (int i = 0; i < count && v->context == NULL; i++)
        if (v->device == NULL || strcmp(ibv_get_device_name(list[i]), v->device) == 0)
            v->context = ibv_open_device(list[i]);
    MUST(v->context != NULL);
    ibv_free_device_list(list);
}

static void make_objects(struct verified *v)
{
    uint32_t largest = v->depth * 8;
    size_t bytes;

    for (unsigned i = 0; i < v->size_count; i++)
        largest = v->sizes[i] > largest ? v->sizes[i] : largest;
    v->slot_bytes = (largest + 40 + GUARD + 4095) & ~4095u;
    bytes = (size_t)v->slot_bytes * v->depth;
    MUST((v->memory = aligned_alloc(4096, bytes)) != NULL);
    memset(v->memory, 0xee, bytes);
    MUST((v->pd = ibv_alloc_pd(v->context)) != NULL);
    MUST((v->mr = ibv_reg_mr(v->pd, v->memory, bytes,
                             IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                                 IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)) != NULL);
    MUST((v->cq = ibv_create_cq(v->context, (int)v->depth * 4, NULL, NULL, 0)) != NULL);
    if (v->srq) {
        struct ibv_srq_init_attr attr = {.attr = {.max_wr = v->depth, .max_sge = 1}};

        MUST((v->shared = ibv_create_srq(v->pd, &attr)) != NULL);
    }
}

static enum ibv_mtu mtu_code(unsigned bytes)
{
    enum ibv_mtu code = IBV_MTU_256;

    while (code < IBV_MTU_4096 && 128u << code < bytes)
        code++;
    return code;
}

static struct ibv_ah_attr path_to(const struct verified *v)
{
    struct ibv_ah_attr attr = {.is_global = 1, .port_num = 1};

    attr.grh.hop_limit = 64;
    attr.grh.sgid_index = (uint8_t)v->gid_index;
    memcpy(&attr.grh.dgid, v->theirs.gid, sizeof(v->theirs.gid));
    return attr;
}

static void create_qp(struct verified *v)
{
    struct ibv_qp_init_attr init = {
        .send_cq = v->cq,
        .recv_cq = v->cq,
        .srq = v->shared,
        .cap = {v->depth, v->depth, 1, 1, 0},
        .qp_type = v->type,
    };
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY};
    const int access = v->type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS;

    MUST((v->qp = ibv_create_qp(v->pd, &init)) != NULL);
    attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
    if (v->type == IBV_QPT_RC)
        attr.qp_access_flags |= IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
    MUST(ibv_modify_qp(v->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | access) == 0);
}

static void connect_qp(struct verified *v)
{
    struct ibv_qp_attr attr = {
        .qp_state = IBV_QPS_RTR,
        .path_mtu = mtu_code(v->mtu),
        .dest_qp_num = v->theirs.qpn,
        .rq_psn = v->theirs.psn,
        .max_dest_rd_atomic = v->reads,
        .min_rnr_timer = 12,
        .ah_attr = path_to(v),
    };
    int mask = IBV_QP_STATE;

    if (v->type != IBV_QPT_UD)
        mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
    if (v->type == IBV_QPT_RC)
        mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
    MUST(ibv_modify_qp(v->qp, &attr, mask) == 0);
    attr = (struct ibv_qp_attr){
        .qp_state = IBV_QPS_RTS,
        .timeout = v->timeout,
        .retry_cnt = 7,
        .rnr_retry = 7,
        .sq_psn = v->ours.psn,
        .max_rd_atomic = v->reads,
    };
    mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
    if (v->type == IBV_QPT_RC)
        mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
    MUST(ibv_modify_qp(v->qp, &attr, mask) == 0);
    if (v->type == IBV_QPT_UD) {
        struct ibv_ah_attr path = path_to(v);

        MUST((v->ah = ibv_create_ah(v->pd, &path)) != NULL);
    }
}

void verified_open(struct verified *v)
{
    union ibv_gid gid;

    alarm(LIMIT);
    open_device(v);
    make_objects(v);
    create_qp(v);
    MUST(ibv_query_gid(v->context, 1, v->gid_index, &gid) == 0);
    v->ours = (struct verified_end){.address = (uintptr_t)v->memory,
                                    .rkey = v->mr->rkey,
                                    .qpn = v->qp->qp_num,
                                    .psn = (uint32_t)(v->qp->qp_num * 2654435761u) & 0xffffff};
    memcpy(v->ours.gid, &gid, sizeof(v->ours.gid));
    meet(v);
    swap(v, &v->ours, &v->theirs, sizeof(v->ours));
    connect_qp(v);
    verified_barrier(v);
}

void verified_close(struct verified *v)
{
    verified_barrier(v); /* until then the other side may need answers */
    if (v->ah != NULL)
        ibv_destroy_ah(v->ah);
    MUST(ibv_destroy_qp(v->qp) == 0);
    if (v->shared != NULL)
        MUST(ibv_destroy_srq(v->shared) == 0);
    MUST(ibv_destroy_cq(v->cq) == 0);
    MUST(ibv_dereg_mr(v->mr) == 0);
    MUST(ibv_dealloc_pd(v->pd) == 0);
    MUST(ibv_close_device(v->context) == 0);
    free(v->memory);
    close(v->tcp);
}

/* ---- posting and polling ---- */

static struct ibv_sge piece_of(const struct verified *v, const void *bytes, uint32_t count)
{
    return (struct ibv_sge){.addr = (uintptr_t)bytes, .length = count, .lkey = v->mr->lkey};
}

void verified_receive(struct verified *v, unsigned id, uint8_t *bytes, uint32_t count)
{
    struct ibv_sge piece = piece_of(v, bytes, count);
    struct ibv_recv_wr *bad, wr = {.wr_id = id, .sg_list = &piece, .num_sge = 1};

    if (v->shared != NULL)
        MUST(ibv_post_srq_recv(v->shared, &wr, &bad) == 0);
    else
        MUST(ibv_post_recv(v->qp, &wr, &bad) == 0);
}

static void post(struct verified *v, struct ibv_send_wr *wr, const void *bytes, uint32_t count)
{
    struct ibv_sge piece = piece_of(v, bytes, count);
    struct ibv_send_wr *bad;

    wr->sg_list = &piece;
    wr->num_sge = 1;
    wr->send_flags = IBV_SEND_SIGNALED;
    MUST(ibv_post_send(v->qp, wr, &bad) == 0);
}

void verified_send(struct verified *v, unsigned id, uint8_t *bytes, uint32_t count)
{
    struct ibv_send_wr wr = {.wr_id = id, .imm_data = htonl(id)};

    if (v->operation == OPERATION_WRITE_IMM) {
        wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
        wr.wr.rdma.remote_addr = v->theirs.address + (uint64_t)(bytes - v->memory);
        wr.wr.rdma.rkey = v->theirs.rkey;
    } else {
        wr.opcode = v->immediate ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND;
    }
    if (v->type == IBV_QPT_UD) {
        wr.wr.ud.ah = v->ah;
        wr.wr.ud.remote_qpn = v->theirs.qpn;
        wr.wr.ud.remote_qkey = QKEY;
    }
    post(v, &wr, bytes, count);
}

static void remote(struct verified *v, enum ibv_wr_opcode opcode, unsigned id, uint8_t *bytes,
                   uint32_t count, int64_t offset)
{
    struct ibv_send_wr wr = {.wr_id = id, .opcode = opcode};

    wr.wr.rdma.remote_addr = v->theirs.address + (uint64_t)offset;
    wr.wr.rdma.rkey = v->theirs.rkey;
    post(v, &wr, bytes, count);
}

void verified_write(struct verified *v, unsigned id, uint8_t *bytes, uint32_t count, int64_t offset)
{
    remote(v, IBV_WR_RDMA_WRITE, id, bytes, count, offset);
}

void verified_read(struct verified *v, unsigned id, uint8_t *bytes, uint32_t count, int64_t offset)
{
    remote(v, IBV_WR_RDMA_READ, id, bytes, count, offset);
}

void verified_atomic(struct verified *v, unsigned id, const uint64_t *result, int64_t offset,
                     uint64_t compare, uint64_t operand)
{
    const bool add = v->operation == OPERATION_ADD;
    struct ibv_send_wr wr = {
        .wr_id = id, .opcode = add ? IBV_WR_ATOMIC_FETCH_AND_ADD : IBV_WR_ATOMIC_CMP_AND_SWP};

    wr.wr.atomic.remote_addr = v->theirs.address + (uint64_t)offset;
    wr.wr.atomic.rkey = v->theirs.rkey;
    wr.wr.atomic.compare_add = add ? operand : compare;
    wr.wr.atomic.swap = operand;
    post(v, &wr, result, sizeof(*result));
}

static uint64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

bool verified_poll_for(struct verified *v, struct ibv_wc *wc, unsigned ms)
{
    const uint64_t end = now_ms() + ms;
    int count;

    while ((count = ibv_poll_cq(v->cq, 1, wc)) == 0) {
        if (ms > 0 && now_ms() > end)
            return false;
        usleep(20);
    }
    if (count < 0 || wc->status != IBV_WC_SUCCESS)
        verified_fail("completion of %llu: %s", (unsigned long long)wc->wr_id,
                      count < 0 ? "none" : ibv_wc_status_str(wc->status));
    return true;
}

void verified_poll(struct verified *v, struct ibv_wc *wc)
{
    verified_poll_for(v, wc, 0);
}
