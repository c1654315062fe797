/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queue pair 1 of a device in memory, and a connection manager behind it whose program accepts all
 * that asks: what the hostile peer of test_hostile_traffic.c floods.
 */
#ifndef OCHE_TESTS_UNIT_DEVICE_HOSTILE_MANAGER_H
#define OCHE_TESTS_UNIT_DEVICE_HOSTILE_MANAGER_H

#include <stdlib.h>
#include <string.h>

#include "core/cm/cm.h"
#include "device/internal.h"
#include "tests/support/test.h"

#define MANAGER_RECEIVES  64
#define MANAGER_BYTES     (OCHE_GRH_BYTES + OCHE_MAD_BYTES)
#define MANAGER_HALF_OPEN 64

struct manager {
    struct oche_cm cm;
    struct oche_device *device;
    struct oche_qp *qp;
    struct oche_cq *cq;
    uint32_t key;
    uint64_t replies, given_up;
    uint8_t gids[2][OCHE_CM_GID_BYTES]; /* ours and the peer's */
    uint8_t memory[MANAGER_RECEIVES * MANAGER_BYTES];
};

static inline void manager_send(void *context, const uint8_t *local_gid, const uint8_t *remote_gid,
                                const uint8_t *mad)
{
    (void)local_gid;
    (void)remote_gid;
    ((struct manager *)context)->replies += mad[17] == OCHE_CM_REP;
}

static inline struct oche_cm_conn *manager_incoming(void *context, const uint8_t *local_gid,
                                                    const uint8_t *remote_gid,
                                                    const struct oche_cm_message *request,
                                                    uint16_t *reason)
{
    (void)context;
    (void)local_gid;
    (void)remote_gid;
    (void)request;
    (void)reason;
    return calloc(1, sizeof(struct oche_cm_conn));
}

static inline void manager_event(void *context, struct oche_cm_conn *conn,
                                 const struct oche_cm_news *news)
{
    struct manager *manager = context;
    struct oche_cm_message answer = {
        .qpn = 0x300, .local_response_timeout = 20, .max_cm_retries = 15};

    if (news->event == OCHE_CM_REQUESTED) {
        oche_cm_accept(&manager->cm, oche_device_now(manager->device), conn, &answer);
        return;
    }
    manager->given_up++;
    oche_cm_forget(&manager->cm, 0, conn);
    free(conn);
}

static inline uint64_t manager_draw(void *context)
{
    struct manager *manager = context;

    return oche_entropy_u64(&manager->device->entropy);
}

static inline void manager_receive(struct manager *manager, uint64_t number)
{
    const struct oche_recv_work work = {
        .wr_id = number,
        .sge_count = 1,
        .sge = {{.va = (uint64_t)(uintptr_t)(manager->memory + number * MANAGER_BYTES),
                 .length = MANAGER_BYTES,
                 .lkey = manager->key}}};

    assert_int_equal(oche_qp_post_recv(manager->qp, &work), 0);
}

static inline struct manager *manager_open(struct oche_device *device)
{
    struct manager *manager = calloc(1, sizeof(*manager));
    const struct oche_cm_hooks hooks = {.send = manager_send,
                                        .incoming = manager_incoming,
                                        .event = manager_event,
                                        .random = manager_draw,
                                        .context = manager};
    const struct oche_qp_connection ready = {.ack_every_packets = 1, .window_packets = 1};
    struct oche_qp_config qp = {.pd = 1,
                                .qpn = OCHE_CM_QPN,
                                .transport = OCHE_TRANSPORT_UD,
                                .qkey = OCHE_CM_QKEY,
                                .mtu_bytes = 1024,
                                .send_depth = 1,
                                .recv_depth = MANAGER_RECEIVES};
    struct oche_region region = {
        .length = sizeof(manager->memory), .access = OCHE_ACCESS_LOCAL_WRITE, .pd = 1};

    assert_non_null(manager);
    manager->device = device;
    region.va = (uint64_t)(uintptr_t)manager->memory;
    region.base = manager->memory;
    assert_true(oche_device_add_region(device, &region));
    manager->key = region.key;
    manager->cq = oche_device_create_cq(device, 2 * MANAGER_RECEIVES);
    qp.send_cq = qp.recv_cq = manager->cq;
    manager->qp = oche_device_create_qp(device, &qp);
    assert_non_null(manager->qp);
    assert_true(oche_device_connect(device, manager->qp, &ready));
    for (uint64_t i = 0; i < MANAGER_RECEIVES; i++)
        manager_receive(manager, i);
    oche_cm_init(&manager->cm, &hooks, 1, 0, 0);
    manager->cm.most_half_open = MANAGER_HALF_OPEN;
    manager->gids[1][0] = 1;
    return manager;
}

/* Handles what has arrived. */
static inline void manager_progress(struct manager *manager)
{
    struct oche_completion done;

    while (oche_cq_poll(manager->cq, &done, 1) == 1) {
        assert_int_equal(done.status, OCHE_STATUS_SUCCESS);
        oche_cm_arrive(&manager->cm, oche_device_now(manager->device), manager->gids[0],
                       manager->gids[1],
                       manager->memory + done.wr_id * MANAGER_BYTES + OCHE_GRH_BYTES,
                       done.bytes - OCHE_GRH_BYTES);
        assert_true(manager->cm.half_open_count <= MANAGER_HALF_OPEN);
        manager_receive(manager, done.wr_id);
    }
}

static inline void manager_close(struct manager *manager)
{
    for (unsigned i = 0; i < OCHE_CM_BUCKETS; i++)
        while (manager->cm.by_id[i] != NULL) {
            struct oche_cm_conn *conn = manager->cm.by_id[i];

            oche_cm_forget(&manager->cm, 0, conn);
            free(conn);
        }
    free(manager);
}

#endif
