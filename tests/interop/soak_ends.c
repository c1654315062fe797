/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects of a process of the soak, and of its links. A link's memory is one region:
 *
 *     credits   a word for each queue pair: how many of our messages the peer has checked
 *     words     one for each: what the peer's atomics count in
 *     results   of our atomics
 *     rings     one for each: where the peer writes; UC's are slots
 *     reads     buffers of our READs
 *     receives  buffers of SENDs to queue pairs that have their own
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/interop/soak.h"

#define PAGE 4096u

struct role {
    enum ibv_qp_type type;
    enum ibv_mtu mtu;
    bool shared;
};

static const struct role roles[ROLES] = {
    [ROLE_SHORT] = {IBV_QPT_RC, IBV_MTU_1024, false},
    [ROLE_LONG] = {IBV_QPT_RC, IBV_MTU_4096, false},
    [ROLE_TINY] = {IBV_QPT_RC, IBV_MTU_256, false},
    [ROLE_SHARED] = {IBV_QPT_RC, IBV_MTU_1024, true},
    [ROLE_UC] = {IBV_QPT_UC, IBV_MTU_1024, false},
};

bool soak_is_reliable(unsigned role)
{
    return role < RELIABLE;
}

/* ---- places ---- */

uint32_t soak_ring_bytes(const struct soak *s)
{
    return 2 * ((s->largest + PAGE - 1) / PAGE * PAGE);
}

volatile uint64_t *soak_credit(const struct soak_link *link, unsigned role)
{
    return (volatile uint64_t *)(void *)(link->memory + soak_credit_offset(role));
}

uint64_t soak_credit_offset(unsigned role)
{
    return 8 * role;
}

uint64_t soak_word_offset(unsigned role)
{
    return 8 * (ROLES + role);
}

uint64_t *soak_result(const struct soak_link *link, unsigned role, uint32_t number)
{
    return (uint64_t *)(void *)link->memory + 2 * ROLES + role * WINDOW + number % WINDOW;
}

uint64_t soak_ring_offset(const struct soak *s, unsigned role)
{
    return PAGE + (uint64_t)soak_ring_bytes(s) * role;
}

/* Returns where the memory behind all rings except UC's begins. */
static uint64_t behind_rings(const struct soak *s)
{
    return soak_ring_offset(s, ROLE_UC) + UC_SLOTS * RECEIVE_BYTES;
}

uint8_t *soak_read_buffer(const struct soak *s, const struct soak_link *link, unsigned role,
                          uint32_t read)
{
    return link->memory + behind_rings(s) +
           (uint64_t)(soak_ring_bytes(s) / 2) * (role * READS + read % READS);
}

uint8_t *soak_receive_buffer(const struct soak *s, const struct soak_link *link, unsigned role,
                             unsigned number)
{
    return soak_read_buffer(s, link, RELIABLE, 0) +
           (uint64_t)RECEIVE_BYTES * (role * RECEIVES + number);
}

static uint64_t memory_bytes(const struct soak *s, const struct soak_link *link)
{
    return (uint64_t)(soak_receive_buffer(s, link, ROLES, 0) - link->memory);
}

/* ---- a process ---- */

/* Makes the table of bytes, equal in every process. No two places of it look alike. */
static void make_table(struct soak *s)
{
    const size_t bytes = soak_ring_bytes(s) / 2 + TABLE_MORE;
    uint64_t state = 1;

    MUST((s->table = aligned_alloc(PAGE, bytes)) != NULL);
    for (size_t at = 0; at < bytes; at += 8) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        memcpy(s->table + at, &state, 8);
    }
    MUST((s->table_mr = ibv_reg_mr(s->pd, s->table, bytes, IBV_ACCESS_REMOTE_READ)) != NULL);
}

static void make_shared(struct soak *s)
{
    struct ibv_srq_init_attr attr = {.attr = {.max_wr = SHARED, .max_sge = 1}};
    const size_t bytes = SHARED * (size_t)SHARED_BYTES;

    MUST((s->srq = ibv_create_srq(s->pd, &attr)) != NULL);
    MUST((s->shared = aligned_alloc(PAGE, bytes)) != NULL);
    memset(s->shared, 0xee, bytes);
    MUST((s->shared_mr = ibv_reg_mr(s->pd, s->shared, bytes, IBV_ACCESS_LOCAL_WRITE)) != NULL);
    for (unsigned i = 0; i < SHARED; i++)
        soak_post_shared(s, i);
}

static void make_datagrams(struct soak *s)
{
    struct ibv_qp_init_attr init = {
        .send_cq = s->cq,
        .recv_cq = s->cq,
        .srq = s->srq,
        .cap = {.max_send_wr = DEPTH, .max_send_sge = 1},
        .qp_type = IBV_QPT_UD,
    };
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY};

    MUST((s->datagrams = ibv_create_qp(s->pd, &init)) != NULL);
    MUST(ibv_modify_qp(s->datagrams, &attr,
                       IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY) == 0);
    attr.qp_state = IBV_QPS_RTR;
    MUST(ibv_modify_qp(s->datagrams, &attr, IBV_QP_STATE) == 0);
    attr.qp_state = IBV_QPS_RTS;
    MUST(ibv_modify_qp(s->datagrams, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN) == 0);
}

void soak_open(struct soak *s)
{
    struct ibv_device **list = ibv_get_device_list(NULL);

    MUST(list != NULL && list[0] != NULL);
    MUST((s->context = ibv_open_device(list[0])) != NULL);
    ibv_free_device_list(list);
    MUST(ibv_query_gid(s->context, 1, 0, &s->gid) == 0);
    MUST((s->pd = ibv_alloc_pd(s->context)) != NULL);
    MUST((s->channel = ibv_create_comp_channel(s->context)) != NULL);
    MUST((s->cq = ibv_create_cq(s->context, PEERS * ROLES * (DEPTH + RECEIVES), NULL, s->channel,
                                0)) != NULL);
    make_table(s);
    make_shared(s);
    make_datagrams(s);
}

void soak_close(struct soak *s)
{
    for (unsigned i = 0; i < PEERS; i++)
        soak_unmake(&s->links[i]);
    MUST(ibv_destroy_qp(s->datagrams) == 0);
    MUST(ibv_destroy_srq(s->srq) == 0);
    MUST(ibv_destroy_cq(s->cq) == 0);
    MUST(ibv_destroy_comp_channel(s->channel) == 0);
    MUST(ibv_dereg_mr(s->shared_mr) == 0);
    MUST(ibv_dereg_mr(s->table_mr) == 0);
    MUST(ibv_dealloc_pd(s->pd) == 0);
    MUST(ibv_close_device(s->context) == 0);
    free(s->shared);
    free(s->table);
}

/* ---- a link ---- */

static void make_queue(struct soak *s, struct soak_link *link, unsigned role)
{
    struct soak_queue *queue = &link->queues[role];
    struct ibv_qp_init_attr init = {
        .send_cq = s->cq,
        .recv_cq = s->cq,
        .srq = roles[role].shared ? s->srq : NULL,
        .cap = {DEPTH, roles[role].shared ? 0 : RECEIVES, 2, 1, 8},
        .qp_type = roles[role].type,
    };
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};

    *queue = (struct soak_queue){.link = link, .role = role};
    MUST((queue->qp = ibv_create_qp(s->pd, &init)) != NULL);
    queue->psn = (queue->qp->qp_num * 2654435761u) >> 8;
    attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
    if (soak_is_reliable(role))
        attr.qp_access_flags |= IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
    MUST(ibv_modify_qp(queue->qp, &attr,
                       IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) == 0);
    for (unsigned i = 0; !roles[role].shared && i < RECEIVES; i++)
        soak_post_receive(s, queue, i);
}

void soak_make(struct soak *s, struct soak_link *link)
{
    const size_t bytes = (memory_bytes(s, link) + PAGE - 1) / PAGE * PAGE;

    MUST((link->memory = aligned_alloc(PAGE, bytes)) != NULL);
    memset(link->memory, 0xee, bytes);
    memset(link->memory, 0, PAGE);
    MUST((link->mr = ibv_reg_mr(s->pd, link->memory, bytes,
                                IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                                    IBV_ACCESS_REMOTE_ATOMIC)) != NULL);
    for (unsigned role = 0; role < ROLES; role++)
        make_queue(s, link, role);
    link->state = LINK_MADE;
}

void soak_print_ends(const struct soak *s, const struct soak_link *link, char *to, size_t bytes)
{
    size_t at =
        (size_t)snprintf(to, bytes, "%016" PRIx64 "%016" PRIx64 " %" PRIx64 " %x %" PRIx64 " %x %x",
                         be64toh(s->gid.global.subnet_prefix), be64toh(s->gid.global.interface_id),
                         (uint64_t)(uintptr_t)link->memory, link->mr->rkey,
                         (uint64_t)(uintptr_t)s->table, s->table_mr->rkey, s->datagrams->qp_num);

    for (unsigned role = 0; role < ROLES && at < bytes; role++)
        at += (size_t)snprintf(to + at, bytes - at, " %x %x", link->queues[role].qp->qp_num,
                               link->queues[role].psn);
    MUST(at < bytes);
}

static void connect_queue(const struct soak *s, struct soak_queue *queue,
                          const struct ibv_ah_attr *path)
{
    struct ibv_qp_attr attr = {
        .qp_state = IBV_QPS_RTR,
        .path_mtu = roles[queue->role].mtu,
        .dest_qp_num = queue->remote_qpn,
        .rq_psn = queue->remote_psn,
        .max_dest_rd_atomic = 4,
        .min_rnr_timer = 8,
        .ah_attr = *path,
    };
    const bool reliable = soak_is_reliable(queue->role);
    int mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;

    if (reliable)
        mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
    MUST(ibv_modify_qp(queue->qp, &attr, mask) == 0);
    attr = (struct ibv_qp_attr){
        .qp_state = IBV_QPS_RTS,
        .timeout = s->timeout,
        .retry_cnt = s->retries,
        .rnr_retry = 7,
        .sq_psn = queue->psn,
        .max_rd_atomic = 4,
    };
    mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
    if (reliable)
        mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
    MUST(ibv_modify_qp(queue->qp, &attr, mask) == 0);
}

void soak_meet(struct soak *s, struct soak_link *link, const char *ends)
{
    struct ibv_ah_attr path = {.is_global = 1, .port_num = 1};
    uint64_t prefix, id;
    int at = 0;

    MUST(sscanf(ends, "%16" SCNx64 "%16" SCNx64 " %" SCNx64 " %x %" SCNx64 " %x %x%n", &prefix, &id,
                &link->remote.memory, &link->remote.memory_key, &link->remote.table,
                &link->remote.table_key, &link->datagram_qpn, &at) == 7);
    path.grh.hop_limit = 64;
    path.grh.dgid.global.subnet_prefix = htobe64(prefix);
    path.grh.dgid.global.interface_id = htobe64(id);
    for (unsigned role = 0; role < ROLES; role++) {
        struct soak_queue *queue = &link->queues[role];
        int more = 0;

        ends += at;
        MUST(sscanf(ends, " %x %x%n", &queue->remote_qpn, &queue->remote_psn, &more) == 2);
        at = more;
        connect_queue(s, queue, &path);
    }
    MUST((link->ah = ibv_create_ah(s->pd, &path)) != NULL);
    link->datagram_next = 0;
    link->state = LINK_READY;
}

void soak_end_queue(struct soak_queue *queue)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

    MUST(ibv_modify_qp(queue->qp, &attr, IBV_QP_STATE) == 0);
}

void soak_unmake(struct soak_link *link)
{
    if (link->state == LINK_DOWN)
        return;
    for (unsigned role = 0; role < ROLES; role++)
        MUST(ibv_destroy_qp(link->queues[role].qp) == 0);
    if (link->ah != NULL)
        MUST(ibv_destroy_ah(link->ah) == 0);
    MUST(ibv_dereg_mr(link->mr) == 0);
    free(link->memory);
    link->ah = NULL;
    link->state = LINK_DOWN;
}
