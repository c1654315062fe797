/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the queue pair that takes datagrams for a service (IBTA sec 12.11). Each request gets one
 * reply. A repeated request gets the same reply, until the program forgets the request.
 */
#include "core/cm/cm.h"

#include "core/cm/parts.h"

bool oche_cm_ask(struct oche_cm *cm, oche_time now, struct oche_cm_conn *conn,
                 const uint8_t *local_gid, const uint8_t *remote_gid,
                 struct oche_cm_message *message, uint8_t response_timeout, uint8_t retries)
{
    if (conn->state != OCHE_CM_IDLE)
        return false;
    cm_enter(cm, conn, local_gid, remote_gid);
    conn->active = true;
    conn->tid = cm->hooks.random(cm->hooks.context);
    conn->state = OCHE_CM_SIDR_SENT;
    cm_address(conn, OCHE_CM_SIDR_REQ, message);
    oche_cm_write(message, conn->last);
    cm_send_repeatedly(cm, now, conn, response_timeout, retries);
    return true;
}

bool oche_cm_tell(struct oche_cm *cm, oche_time now, struct oche_cm_conn *conn,
                  struct oche_cm_message *message)
{
    (void)now;
    if (conn->state != OCHE_CM_SIDR_RCVD)
        return false;
    conn->state = OCHE_CM_SIDR_TOLD;
    cm_half_open_leave(cm, conn);
    cm_address(conn, OCHE_CM_SIDR_REP, message);
    message->local_id = conn->remote_id; /* SIDR has no other ID */
    oche_cm_write(message, conn->answer);
    cm_send(cm, conn, conn->answer);
    return true;
}

static void refuse(struct oche_cm *cm, const uint8_t *local_gid, const uint8_t *remote_gid,
                   const struct oche_cm_message *request, uint16_t status)
{
    struct oche_cm_message message = {.kind = OCHE_CM_SIDR_REP,
                                      .tid = request->tid,
                                      .local_id = request->local_id,
                                      .service_id = request->service_id,
                                      .status = (uint8_t)status};
    uint8_t mad[OCHE_MAD_BYTES];

    oche_cm_write(&message, mad);
    cm_send_to(cm, local_gid, remote_gid, mad);
}

void cm_sidr_req(struct oche_cm *cm, oche_time now, const uint8_t *local_gid,
                 const uint8_t *remote_gid, const uint8_t *mad,
                 const struct oche_cm_message *message, bool waited)
{
    struct oche_cm_conn *conn = cm_by_remote(cm, message->local_id, remote_gid, true);
    uint16_t status = 0;

    if (conn != NULL) {
        cm->stats.duplicates++;
        if (conn->state == OCHE_CM_SIDR_TOLD)
            cm_send(cm, conn, conn->answer);
        return;
    }
    if (cm_half_open_full(cm)) {
        cm->stats.crowded++;
        return;
    }
    conn = cm->hooks.incoming(cm->hooks.context, local_gid, remote_gid, message, &status);
    if (conn == NULL) {
        if (status == OCHE_CM_SIDR_UNSUPPORTED && !waited &&
            cm_grace_keep(cm, now, local_gid, remote_gid, mad))
            return;
        cm->stats.refused++;
        if (status != 0)
            refuse(cm, local_gid, remote_gid, message, status);
        return;
    }
    cm_enter(cm, conn, local_gid, remote_gid);
    cm_enter_remote(cm, conn, message->local_id);
    conn->tid = message->tid;
    conn->state = OCHE_CM_SIDR_RCVD;
    cm_half_open_enter(cm, conn);
    cm_tell(cm, conn, OCHE_CM_REQUESTED, message);
}

void cm_sidr_rep(struct oche_cm *cm, const uint8_t *remote_gid,
                 const struct oche_cm_message *message)
{
    struct oche_cm_conn *conn = cm_by_id(cm, message->local_id);

    if (conn == NULL) {
        cm->stats.unknown++;
        return;
    }
    if (memcmp(conn->remote_gid, remote_gid, OCHE_CM_GID_BYTES) != 0 || conn->tid != message->tid) {
        cm->stats.strangers++;
        return;
    }
    if (conn->state != OCHE_CM_SIDR_SENT) {
        cm->stats.out_of_place++;
        return;
    }
    cm_leave(cm, conn);
    cm_tell(cm, conn, message->status == OCHE_CM_SIDR_OK ? OCHE_CM_ANSWERED : OCHE_CM_REJECTED,
            message);
}
