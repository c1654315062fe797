/* SPDX-License-Identifier: Apache-2.0 */
/* Messages that arrive: finds the connection that a message belongs to, and handles the message. */
#include "core/cm/cm.h"

#include "core/cm/parts.h"

/* One message that has arrived. */
struct arrived {
    struct oche_cm *cm;
    oche_time now;
    const uint8_t *local_gid, *remote_gid;
    const uint8_t *mad;
    const struct oche_cm_message *message;
    bool waited; /* a REQ that was kept for a while */
};

/* ---- REQ ---- */

/* Refuses a message that belongs to no connection of ours: a REQ, or an answer to a REQ. */
static void refuse(const struct arrived *in, enum oche_cm_about about, uint16_t reason)
{
    struct oche_cm_message message = {.kind = OCHE_CM_REJ,
                                      .tid = in->message->tid,
                                      .local_id = in->message->remote_id,
                                      .remote_id = in->message->local_id,
                                      .about = (uint8_t)about,
                                      .reason = reason};
    uint8_t mad[OCHE_MAD_BYTES];

    oche_cm_write(&message, mad);
    cm_send_to(in->cm, in->local_gid, in->remote_gid, mad);
}

/* A REQ that we know. */
static void request_again(const struct arrived *in, struct oche_cm_conn *conn)
{
    struct oche_cm_message message = {.about = OCHE_CM_ABOUT_REQ,
                                      .service_timeout = CM_MOST_SERVICE};

    in->cm->stats.duplicates++;
    switch (conn->state) {
    case OCHE_CM_REQ_RCVD: /* the program has not decided, so the peer should wait for it */
        conn->waited = true;
        cm_write_and_send(in->cm, conn, OCHE_CM_MRA, &message, conn->answer);
        return;
    case OCHE_CM_REP_SENT:
        cm_send(in->cm, conn, conn->last);
        return;
    case OCHE_CM_TIMEWAIT:
        refuse(in, OCHE_CM_ABOUT_REQ, OCHE_CM_REASON_STALE);
        return;
    default:
        return;
    }
}

/* Returns why a REQ cannot be answered with a REP, or 0. */
static uint16_t what_is_wrong(const struct oche_cm_message *message)
{
    if (message->transport != OCHE_CM_RC && message->transport != OCHE_CM_UC)
        return OCHE_CM_REASON_INVALID_TRANSPORT;
    if (message->mtu < 1 || message->mtu > 5)
        return OCHE_CM_REASON_INVALID_MTU;
    return message->qpn <= OCHE_CM_QPN ? OCHE_CM_REASON_NO_QP : 0;
}

/*
 * The peer uses a queue pair again that we hold for connected, so it may have forgotten us; or the
 * REQ is forged. If we have its confirmation of our REP, we ask for it again: a peer that knows the
 * connection confirms again, and it goes on. A connection that we have asked for ends, as with
 * Linux.
 */
static void doubt(const struct arrived *in, struct oche_cm_conn *conn)
{
    refuse(in, OCHE_CM_ABOUT_REQ, OCHE_CM_REASON_STALE);
    if (conn->state != OCHE_CM_ESTABLISHED || conn->timer_link != NULL)
        return; /* its own timer will end it */
    if (conn->active)
        oche_cm_disconnect(in->cm, in->now, conn);
    else
        cm_send_repeatedly(in->cm, in->now, conn, OCHE_CM_RESPONSE_TIMEOUT, 0);
}

static void take_req(const struct arrived *in)
{
    const struct oche_cm_message *message = in->message;
    struct oche_cm *cm = in->cm;
    uint16_t reason = what_is_wrong(message);
    struct oche_cm_conn *conn = cm_by_remote(cm, message->local_id, in->remote_gid, false);

    if (conn != NULL) {
        request_again(in, conn);
        return;
    }
    conn = cm_by_qpn(cm, message->qpn, in->remote_gid);
    if (reason == 0 && conn != NULL) {
        doubt(in, conn);
        return;
    }
    if (reason == 0 && cm_half_open_full(cm)) {
        cm->stats.crowded++;
        return;
    }
    conn = reason != 0 ? NULL
                       : cm->hooks.incoming(cm->hooks.context, in->local_gid, in->remote_gid,
                                            message, &reason);
    if (conn == NULL) {
        if (reason == OCHE_CM_REASON_INVALID_SERVICE && !in->waited &&
            cm_grace_keep(cm, in->now, in->local_gid, in->remote_gid, in->mad))
            return;
        cm->stats.refused++;
        if (reason != 0)
            refuse(in, OCHE_CM_ABOUT_REQ, reason);
        return;
    }
    cm_enter(cm, conn, in->local_gid, in->remote_gid);
    cm_enter_remote(cm, conn, message->local_id);
    cm_enter_qpn(cm, conn, message->qpn);
    conn->tid = message->tid;
    conn->state = OCHE_CM_REQ_RCVD;
    cm_half_open_enter(cm, conn);
    cm_tell(cm, conn, OCHE_CM_REQUESTED, message);
}

void cm_answer_kept(struct oche_cm *cm, oche_time now, const uint8_t *local_gid,
                    const uint8_t *remote_gid, const uint8_t *mad)
{
    struct oche_cm_message message;
    const struct arrived in = {.cm = cm,
                               .now = now,
                               .local_gid = local_gid,
                               .remote_gid = remote_gid,
                               .mad = mad,
                               .message = &message,
                               .waited = true};

    if (oche_cm_read(mad, OCHE_MAD_BYTES, &message) != OCHE_CM_OK)
        return;
    if (message.kind == OCHE_CM_REQ)
        take_req(&in);
    else
        cm_sidr_req(cm, now, local_gid, remote_gid, mad, &message, true);
}

/* ---- REP, RTU, MRA ---- */

static void take_rep(const struct arrived *in, struct oche_cm_conn *conn)
{
    struct oche_cm *cm = in->cm;

    if (conn->state == OCHE_CM_ESTABLISHED && conn->active) {
        cm->stats.duplicates++; /* the RTU was lost */
        cm_send(cm, conn, conn->answer);
        return;
    }
    if (conn->state != OCHE_CM_REQ_SENT) {
        cm->stats.out_of_place++;
        return;
    }
    cm_stop_timer(cm, conn);
    cm_enter_remote(cm, conn, in->message->local_id);
    cm_enter_qpn(cm, conn, in->message->qpn);
    conn->state = OCHE_CM_REP_RCVD;
    cm_tell(cm, conn, OCHE_CM_ANSWERED, in->message);
}

static void take_rtu(const struct arrived *in, struct oche_cm_conn *conn)
{
    struct oche_cm *cm = in->cm;

    if (conn->state == OCHE_CM_ESTABLISHED && !conn->active) {
        cm->stats.duplicates++;
        cm_stop_timer(cm, conn); /* if the peer was asked whether it knows the connection */
        return;
    }
    if (conn->state != OCHE_CM_REP_SENT) {
        cm->stats.out_of_place++;
        return;
    }
    cm_stop_timer(cm, conn);
    cm_half_open_leave(cm, conn);
    conn->state = OCHE_CM_ESTABLISHED;
    cm_tell(cm, conn, OCHE_CM_CONNECTED, in->message);
}

/* The peer wants time. What we repeat is not repeated until then; it is given up as much later. */
static void take_mra(const struct arrived *in, struct oche_cm_conn *conn)
{
    const uint8_t timeout = in->message->service_timeout;
    const oche_time more = oche_cm_time(timeout < CM_MOST_SERVICE ? timeout : CM_MOST_SERVICE);

    if (conn->state != OCHE_CM_REQ_SENT && conn->state != OCHE_CM_REP_SENT) {
        in->cm->stats.out_of_place++;
        return;
    }
    if (!conn->waited) /* only once, as it would never end otherwise */
        conn->until = oche_time_add(conn->until, more);
    conn->waited = true;
    conn->wait = conn->longest_wait;
    const oche_time next = oche_time_add(in->now, oche_time_add(more, conn->wait));

    cm_start_timer(in->cm, conn, next < conn->until ? next : conn->until);
}

/* ---- REJ ---- */

static void take_rej(const struct arrived *in, struct oche_cm_conn *conn)
{
    struct oche_cm *cm = in->cm;

    switch (conn->state) {
    case OCHE_CM_REQ_SENT:
    case OCHE_CM_REQ_RCVD:
    case OCHE_CM_REP_SENT:
    case OCHE_CM_REP_RCVD:
        cm_leave(cm, conn);
        cm_tell(cm, conn, OCHE_CM_REJECTED, in->message);
        return;
    case OCHE_CM_ESTABLISHED:
    case OCHE_CM_DREQ_SENT:
        cm_linger(cm, in->now, conn);
        cm_tell(cm, conn, OCHE_CM_DISCONNECTED, in->message);
        return;
    default:
        cm->stats.out_of_place++;
        return;
    }
}

/* ---- DREQ, DREP ---- */

static void answer_dreq(const struct arrived *in)
{
    struct oche_cm_message message = {.kind = OCHE_CM_DREP,
                                      .tid = in->message->tid,
                                      .local_id = in->message->remote_id,
                                      .remote_id = in->message->local_id};
    uint8_t mad[OCHE_MAD_BYTES];

    oche_cm_write(&message, mad);
    cm_send_to(in->cm, in->local_gid, in->remote_gid, mad);
}

static void take_dreq(const struct arrived *in, struct oche_cm_conn *conn)
{
    struct oche_cm *cm = in->cm;

    if (in->message->qpn != conn->local_qpn) {
        cm->stats.out_of_place++;
        return;
    }
    switch (conn->state) {
    case OCHE_CM_REP_SENT:
    case OCHE_CM_ESTABLISHED:
        cm_stop_timer(cm, conn);
        cm_half_open_leave(cm, conn);
        conn->tid = in->message->tid;
        conn->state = OCHE_CM_DREQ_RCVD;
        cm_tell(cm, conn, OCHE_CM_DISCONNECTED, in->message);
        return;
    case OCHE_CM_DREQ_SENT: /* both sides end the connection at the same time */
        answer_dreq(in);
        cm_linger(cm, in->now, conn);
        cm_tell(cm, conn, OCHE_CM_DISCONNECTED, in->message);
        return;
    case OCHE_CM_TIMEWAIT:
        cm->stats.duplicates++;
        answer_dreq(in);
        return;
    case OCHE_CM_DREQ_RCVD:
        cm->stats.duplicates++;
        return;
    default:
        cm->stats.out_of_place++;
        return;
    }
}

static void take_drep(const struct arrived *in, struct oche_cm_conn *conn)
{
    if (conn->state != OCHE_CM_DREQ_SENT) {
        in->cm->stats.out_of_place++;
        return;
    }
    cm_linger(in->cm, in->now, conn);
    cm_tell(in->cm, conn, OCHE_CM_DISCONNECTED, in->message);
}

/* ---- all ---- */

/*
 * Returns the connection that a message is about, or NULL. The peer of a REQ_SENT has no number
 * yet. A peer that gives up its REQ may not know ours. All but a DREQ, which begins a transaction,
 * have the transaction of what they answer, 64 bits that who does not see our messages cannot know.
 */
static struct oche_cm_conn *find(const struct arrived *in)
{
    const struct oche_cm_message *message = in->message;
    struct oche_cm_conn *conn = message->kind == OCHE_CM_REJ && message->remote_id == 0
                                    ? cm_by_remote(in->cm, message->local_id, in->remote_gid, false)
                                    : cm_by_id(in->cm, message->remote_id);

    if (conn == NULL)
        return NULL;
    if (memcmp(conn->remote_gid, in->remote_gid, OCHE_CM_GID_BYTES) != 0 ||
        memcmp(conn->local_gid, in->local_gid, OCHE_CM_GID_BYTES) != 0 ||
        (conn->state != OCHE_CM_REQ_SENT && conn->remote_id != message->local_id) ||
        (message->kind != OCHE_CM_DREQ && conn->tid != message->tid)) {
        in->cm->stats.strangers++;
        return NULL;
    }
    return conn;
}

/* A message about no connection of ours. */
static void take_unknown(const struct arrived *in)
{
    in->cm->stats.unknown++;
    if (in->message->kind == OCHE_CM_DREQ)
        answer_dreq(in);
    else if (in->message->kind == OCHE_CM_REP)
        refuse(in, OCHE_CM_ABOUT_REP, OCHE_CM_REASON_INVALID_ID);
}

static void take_known(const struct arrived *in, struct oche_cm_conn *conn)
{
    switch (in->message->kind) {
    case OCHE_CM_REP:
        take_rep(in, conn);
        return;
    case OCHE_CM_RTU:
        take_rtu(in, conn);
        return;
    case OCHE_CM_MRA:
        take_mra(in, conn);
        return;
    case OCHE_CM_REJ:
        take_rej(in, conn);
        return;
    case OCHE_CM_DREQ:
        take_dreq(in, conn);
        return;
    default:
        take_drep(in, conn);
        return;
    }
}

void oche_cm_arrive(struct oche_cm *cm, oche_time now, const uint8_t *local_gid,
                    const uint8_t *remote_gid, const uint8_t *mad, size_t bytes)
{
    struct oche_cm_message message;
    const enum oche_cm_error error = oche_cm_read(mad, bytes, &message);
    const struct arrived in = {.cm = cm,
                               .now = now,
                               .local_gid = local_gid,
                               .remote_gid = remote_gid,
                               .mad = mad,
                               .message = &message};
    struct oche_cm_conn *conn;

    if (error != OCHE_CM_OK) {
        cm->stats.wrong[error]++;
        return;
    }
    cm->stats.received[message.kind - OCHE_CM_REQ]++;
    if (message.kind == OCHE_CM_REQ) {
        take_req(&in);
        return;
    }
    if (message.kind == OCHE_CM_SIDR_REQ) {
        cm_sidr_req(cm, now, local_gid, remote_gid, mad, &message, false);
        return;
    }
    if (message.kind == OCHE_CM_SIDR_REP) {
        cm_sidr_rep(cm, remote_gid, &message);
        return;
    }
    const uint64_t strangers = cm->stats.strangers;

    conn = find(&in);
    if (conn != NULL)
        take_known(&in, conn);
    else if (cm->stats.strangers == strangers)
        take_unknown(&in);
}
