/* SPDX-License-Identifier: Apache-2.0 */
/* The program's calls: connect, accept, confirm, reject, disconnect, forget. */
#include "core/cm/cm.h"

#include "core/cm/parts.h"

bool oche_cm_connect(struct oche_cm *cm, oche_time now, struct oche_cm_conn *conn,
                     const uint8_t *local_gid, const uint8_t *remote_gid,
                     struct oche_cm_message *message)
{
    if (conn->state != OCHE_CM_IDLE)
        return false;
    cm_enter(cm, conn, local_gid, remote_gid);
    conn->active = true;
    conn->local_qpn = message->qpn;
    conn->tid = cm->hooks.random(cm->hooks.context);
    conn->state = OCHE_CM_REQ_SENT;
    message->ca_guid = cm->ca_guid;
    cm_address(conn, OCHE_CM_REQ, message);
    oche_cm_write(message, conn->last);
    cm_send_repeatedly(cm, now, conn, message->remote_response_timeout, message->max_cm_retries);
    return true;
}

bool oche_cm_accept(struct oche_cm *cm, oche_time now, struct oche_cm_conn *conn,
                    struct oche_cm_message *message)
{
    if (conn->state != OCHE_CM_REQ_RCVD)
        return false;
    conn->state = OCHE_CM_REP_SENT;
    cm_half_open_answered(cm, conn);
    conn->local_qpn = message->qpn;
    message->ca_guid = cm->ca_guid;
    cm_address(conn, OCHE_CM_REP, message);
    oche_cm_write(message, conn->last);
    cm_send_repeatedly(cm, now, conn, message->local_response_timeout, message->max_cm_retries);
    return true;
}

bool oche_cm_confirm(struct oche_cm *cm, oche_time now, struct oche_cm_conn *conn,
                     struct oche_cm_message *message)
{
    (void)now;
    if (conn->state != OCHE_CM_REP_RCVD)
        return false;
    conn->state = OCHE_CM_ESTABLISHED;
    cm_write_and_send(cm, conn, OCHE_CM_RTU, message, conn->answer);
    return true;
}

static uint8_t about_what(const struct oche_cm_conn *conn)
{
    switch (conn->state) {
    case OCHE_CM_REQ_RCVD:
        return OCHE_CM_ABOUT_REQ;
    case OCHE_CM_REP_RCVD:
        return OCHE_CM_ABOUT_REP;
    default:
        return OCHE_CM_ABOUT_OTHER;
    }
}

bool oche_cm_reject(struct oche_cm *cm, oche_time now, struct oche_cm_conn *conn,
                    struct oche_cm_message *message)
{
    uint8_t mad[OCHE_MAD_BYTES];

    (void)now;
    if (conn->state != OCHE_CM_REQ_RCVD && conn->state != OCHE_CM_REP_RCVD &&
        conn->state != OCHE_CM_REP_SENT)
        return false;
    message->about = about_what(conn);
    cm_write_and_send(cm, conn, OCHE_CM_REJ, message, mad);
    cm_leave(cm, conn);
    return true;
}

bool oche_cm_established(struct oche_cm *cm, struct oche_cm_conn *conn)
{
    if (conn->state != OCHE_CM_REP_SENT)
        return false;
    cm_stop_timer(cm, conn);
    cm_half_open_leave(cm, conn);
    conn->state = OCHE_CM_ESTABLISHED;
    return true;
}

static void send_dreq(struct oche_cm *cm, oche_time now, struct oche_cm_conn *conn)
{
    struct oche_cm_message message = {.qpn = conn->remote_qpn};

    cm_half_open_leave(cm, conn);
    conn->state = OCHE_CM_DREQ_SENT;
    cm_address(conn, OCHE_CM_DREQ, &message);
    oche_cm_write(&message, conn->last);
    cm_send_repeatedly(cm, now, conn, OCHE_CM_RESPONSE_TIMEOUT, OCHE_CM_RETRIES);
}

static void send_drep(struct oche_cm *cm, struct oche_cm_conn *conn)
{
    struct oche_cm_message message = {.private_bytes = 0};

    cm_write_and_send(cm, conn, OCHE_CM_DREP, &message, conn->answer);
}

bool oche_cm_disconnect(struct oche_cm *cm, oche_time now, struct oche_cm_conn *conn)
{
    switch (conn->state) {
    case OCHE_CM_ESTABLISHED:
    case OCHE_CM_REP_SENT:
        send_dreq(cm, now, conn);
        return true;
    case OCHE_CM_DREQ_RCVD:
        send_drep(cm, conn);
        cm_linger(cm, now, conn);
        return true;
    default:
        return false;
    }
}

/* Tells a peer that may wait for us, or take us for connected, that nothing comes any more. */
static void part(struct oche_cm *cm, struct oche_cm_conn *conn)
{
    struct oche_cm_message message = {.reason = OCHE_CM_REASON_CONSUMER};
    uint8_t mad[OCHE_MAD_BYTES];

    switch (conn->state) {
    case OCHE_CM_REQ_SENT: /* the peer may have our REQ, and knows us by our number alone */
        message.reason = OCHE_CM_REASON_TIMEOUT;
        message.about = OCHE_CM_ABOUT_REQ;
        message.info_bytes = sizeof(cm->ca_guid);
        for (unsigned i = 0; i < sizeof(cm->ca_guid); i++)
            message.info[i] = (uint8_t)(cm->ca_guid >> (56 - 8 * i));
        cm_write_and_send(cm, conn, OCHE_CM_REJ, &message, mad);
        return;
    case OCHE_CM_REQ_RCVD:
    case OCHE_CM_REP_RCVD:
    case OCHE_CM_REP_SENT:
        message.about = about_what(conn);
        cm_write_and_send(cm, conn, OCHE_CM_REJ, &message, mad);
        return;
    case OCHE_CM_ESTABLISHED:
        message.qpn = conn->remote_qpn;
        cm_write_and_send(cm, conn, OCHE_CM_DREQ, &message, mad);
        return;
    case OCHE_CM_DREQ_RCVD:
        send_drep(cm, conn);
        return;
    case OCHE_CM_SIDR_RCVD:
        message.status = OCHE_CM_SIDR_REJECTED;
        oche_cm_tell(cm, 0, conn, &message);
        return;
    default:
        return;
    }
}

void oche_cm_forget(struct oche_cm *cm, oche_time now, struct oche_cm_conn *conn)
{
    (void)now;
    if (conn->state == OCHE_CM_IDLE)
        return;
    part(cm, conn);
    cm_leave(cm, conn);
}
