/* SPDX-License-Identifier: Apache-2.0 */
/* Connections: their numbers, finding them, repeating messages, ending them. */
#include "core/cm/cm.h"

#include "core/cm/parts.h"
#include "core/random.h"

/* ---- finding ---- */

static unsigned bucket_of(const struct oche_cm *cm, uint32_t number)
{
    return (unsigned)(oche_mix64(cm->secret ^ number) % OCHE_CM_BUCKETS);
}

static bool is_datagram_state(uint8_t state)
{
    return state == OCHE_CM_SIDR_SENT || state == OCHE_CM_SIDR_RCVD || state == OCHE_CM_SIDR_TOLD;
}

static bool is_gid(const uint8_t *a, const uint8_t *b)
{
    return memcmp(a, b, OCHE_CM_GID_BYTES) == 0;
}

struct oche_cm_conn *cm_by_id(const struct oche_cm *cm, uint32_t local_id)
{
    struct oche_cm_conn *conn = cm->by_id[bucket_of(cm, local_id)];

    while (conn != NULL && conn->local_id != local_id)
        conn = conn->next_by_id;
    return conn;
}

struct oche_cm_conn *cm_by_remote(const struct oche_cm *cm, uint32_t remote_id,
                                  const uint8_t *remote_gid, bool datagrams)
{
    struct oche_cm_conn *conn = cm->by_remote[bucket_of(cm, remote_id)];

    while (conn != NULL && (conn->remote_id != remote_id || !is_gid(conn->remote_gid, remote_gid) ||
                            is_datagram_state(conn->state) != datagrams))
        conn = conn->next_by_remote;
    return conn;
}

struct oche_cm_conn *cm_by_qpn(const struct oche_cm *cm, uint32_t remote_qpn,
                               const uint8_t *remote_gid)
{
    struct oche_cm_conn *conn = cm->by_qpn[bucket_of(cm, remote_qpn)];

    while (conn != NULL &&
           (conn->remote_qpn != remote_qpn || !is_gid(conn->remote_gid, remote_gid)))
        conn = conn->next_by_qpn;
    return conn;
}

/* ---- coming and going ---- */

void oche_cm_init(struct oche_cm *cm, const struct oche_cm_hooks *hooks, uint64_t ca_guid,
                  uint32_t id_prefix, unsigned id_bits)
{
    *cm = (struct oche_cm){.hooks = *hooks, .ca_guid = ca_guid};
    cm->id_mask = id_bits == 0 ? 0 : UINT32_MAX << (32 - id_bits);
    cm->secret = hooks->random(hooks->context);
    cm->most_half_open = OCHE_CM_MOST_HALF_OPEN;
    cm->last_unconfirmed = &cm->unconfirmed;
    cm->id_prefix = id_bits == 0 ? 0 : id_prefix << (32 - id_bits);
}

/* Returns a number that no connection has, and that is not 0. */
static uint32_t draw_id(struct oche_cm *cm)
{
    uint32_t id;

    do
        id = cm->id_prefix | ((uint32_t)cm->hooks.random(cm->hooks.context) & ~cm->id_mask);
    while (id == 0 || cm_by_id(cm, id) != NULL);
    return id;
}

void cm_enter(struct oche_cm *cm, struct oche_cm_conn *conn, const uint8_t *local_gid,
              const uint8_t *remote_gid)
{
    struct oche_cm_conn **bucket;
    void *owner = conn->owner;

    *conn = (struct oche_cm_conn){.owner = owner, .linger = CM_LINGER};
    memcpy(conn->local_gid, local_gid, OCHE_CM_GID_BYTES);
    memcpy(conn->remote_gid, remote_gid, OCHE_CM_GID_BYTES);
    conn->local_id = draw_id(cm);
    bucket = &cm->by_id[bucket_of(cm, conn->local_id)];
    conn->next_by_id = *bucket;
    *bucket = conn;
}

void cm_enter_remote(struct oche_cm *cm, struct oche_cm_conn *conn, uint32_t remote_id)
{
    struct oche_cm_conn **bucket = &cm->by_remote[bucket_of(cm, remote_id)];

    conn->remote_id = remote_id;
    conn->next_by_remote = *bucket;
    *bucket = conn;
}

void cm_enter_qpn(struct oche_cm *cm, struct oche_cm_conn *conn, uint32_t remote_qpn)
{
    struct oche_cm_conn **bucket = &cm->by_qpn[bucket_of(cm, remote_qpn)];

    conn->remote_qpn = remote_qpn;
    conn->next_by_qpn = *bucket;
    *bucket = conn;
}

/* Takes the connection out of one bucket, if it is there. */
static void unlink_from(struct oche_cm_conn **at, size_t next_offset,
                        const struct oche_cm_conn *conn)
{
    while (*at != NULL && *at != conn)
        at = (struct oche_cm_conn **)(void *)((uint8_t *)*at + next_offset);
    if (*at != NULL)
        memcpy(at, (const uint8_t *)conn + next_offset, sizeof(*at));
}

void cm_leave(struct oche_cm *cm, struct oche_cm_conn *conn)
{
    cm_stop_timer(cm, conn);
    cm_half_open_leave(cm, conn);
    unlink_from(&cm->by_id[bucket_of(cm, conn->local_id)],
                offsetof(struct oche_cm_conn, next_by_id), conn);
    unlink_from(&cm->by_remote[bucket_of(cm, conn->remote_id)],
                offsetof(struct oche_cm_conn, next_by_remote), conn);
    unlink_from(&cm->by_qpn[bucket_of(cm, conn->remote_qpn)],
                offsetof(struct oche_cm_conn, next_by_qpn), conn);
    conn->state = OCHE_CM_IDLE;
}

/* ---- messages ---- */

void cm_send_to(struct oche_cm *cm, const uint8_t *local_gid, const uint8_t *remote_gid,
                const uint8_t *mad)
{
    cm->stats.sent[mad[17] - OCHE_CM_REQ]++;
    cm->hooks.send(cm->hooks.context, local_gid, remote_gid, mad);
}

void cm_send(struct oche_cm *cm, const struct oche_cm_conn *conn, const uint8_t *mad)
{
    cm_send_to(cm, conn->local_gid, conn->remote_gid, mad);
}

void cm_address(const struct oche_cm_conn *conn, uint8_t kind, struct oche_cm_message *message)
{
    message->kind = kind;
    message->tid = conn->tid;
    message->modifier = 0;
    message->local_id = conn->local_id;
    message->remote_id = conn->remote_id;
}

void cm_write_and_send(struct oche_cm *cm, struct oche_cm_conn *conn, uint8_t kind,
                       struct oche_cm_message *message, uint8_t *mad)
{
    cm_address(conn, kind, message);
    oche_cm_write(message, mad);
    cm_send(cm, conn, mad);
}

void cm_tell(struct oche_cm *cm, struct oche_cm_conn *conn, enum oche_cm_event event,
             const struct oche_cm_message *message)
{
    const struct oche_cm_news news = {.event = event, .message = message};

    cm->hooks.event(cm->hooks.context, conn, &news);
}

/* ---- timers ---- */

oche_time oche_cm_due(const struct oche_cm *cm)
{
    const oche_time kept = cm_grace_due(cm);

    return cm->timers != NULL && cm->timers->due < kept ? cm->timers->due : kept;
}

void cm_send_repeatedly(struct oche_cm *cm, oche_time now, struct oche_cm_conn *conn,
                        uint8_t response_timeout, uint8_t retries)
{
    if (response_timeout > CM_MOST_RESPONSE)
        response_timeout = CM_MOST_RESPONSE;
    if (response_timeout < CM_LEAST_RESPONSE)
        response_timeout = CM_LEAST_RESPONSE;
    conn->longest_wait = oche_cm_time(response_timeout);
    conn->wait = conn->longest_wait / 16;
    conn->until = oche_time_add(now, (retries + 1u) * conn->longest_wait);
    cm_send(cm, conn, conn->last);
    cm_start_timer(cm, conn, oche_time_add(now, conn->wait));
}

void cm_linger(struct oche_cm *cm, oche_time now, struct oche_cm_conn *conn)
{
    conn->state = OCHE_CM_TIMEWAIT;
    cm_start_timer(cm, conn, oche_time_add(now, conn->linger));
}

/* A repeated message got no answer in time. */
static void give_up(struct oche_cm *cm, oche_time now, struct oche_cm_conn *conn)
{
    switch (conn->state) {
    case OCHE_CM_REQ_SENT:
    case OCHE_CM_SIDR_SENT:
        cm_leave(cm, conn);
        cm_tell(cm, conn, OCHE_CM_UNREACHABLE, NULL);
        return;
    case OCHE_CM_REP_SENT:
        cm_leave(cm, conn);
        cm_tell(cm, conn, OCHE_CM_UNCONFIRMED, NULL);
        return;
    case OCHE_CM_ESTABLISHED: /* the peer does not know the connection: arrive.c */
        oche_cm_disconnect(cm, now, conn);
        return;
    default:
        cm_linger(cm, now, conn);
        cm_tell(cm, conn, OCHE_CM_DISCONNECTED, NULL);
        return;
    }
}

static void expire(struct oche_cm *cm, oche_time now, struct oche_cm_conn *conn)
{
    cm_stop_timer(cm, conn);
    if (conn->state == OCHE_CM_TIMEWAIT) {
        cm_leave(cm, conn);
        cm_tell(cm, conn, OCHE_CM_TIMEWAIT_OVER, NULL);
        return;
    }
    if (now >= conn->until) {
        give_up(cm, now, conn);
        return;
    }
    cm->stats.repeated++;
    cm_send(cm, conn, conn->last);
    conn->wait = 2 * conn->wait < conn->longest_wait ? 2 * conn->wait : conn->longest_wait;
    const oche_time next = oche_time_add(now, conn->wait);

    cm_start_timer(cm, conn, next < conn->until ? next : conn->until);
}

void oche_cm_tick(struct oche_cm *cm, oche_time now)
{
    cm_grace_tick(cm, now);
    while (cm->timers != NULL && cm->timers->due <= now)
        expire(cm, now, cm->timers);
}
