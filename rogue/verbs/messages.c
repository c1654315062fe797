/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages between libraries (docs/rogue.md#messages): a header, and the fields of the kind. A
 * message is not trusted until it names a queue pair of ours and its connection's token.
 */
#include <string.h>

#include "core/wire/bytes.h"
#include "rogue/verbs/internal.h"

#define MAGIC  UINT32_C(0x72677632) /* "rgv2" */
#define HEADER 24                   /* magic, kind, queue pair, limiter, 0, to, from, token */

static const uint8_t body_bytes[] = {
    [RV_ASK] = 40,   [RV_ANSWER] = 40, [RV_RESYNC] = ROGUE_RESYNC_BYTES,
    [RV_LIMIT] = 12, [RV_MOVE] = 12,   [RV_MOVED] = 12,
    [RV_GONE] = 0,
};

static bool asks(uint8_t kind)
{
    return kind == RV_ASK || kind == RV_ANSWER;
}

size_t rv_message_encode(const struct rv_message *message, uint8_t bytes[RV_MOST_MESSAGE])
{
    uint8_t *body = bytes + HEADER;

    memset(bytes, 0, RV_MOST_MESSAGE);
    oche_put32(bytes, MAGIC);
    bytes[4] = message->kind;
    bytes[5] = message->side;
    bytes[6] = message->limits_rates;
    oche_put32(bytes + 8, message->to_qpn);
    oche_put32(bytes + 12, message->from_qpn);
    oche_put64(bytes + 16, message->token);
    if (message->kind == RV_RESYNC) {
        rogue_resync_encode(&message->resync, body);
    } else if (asks(message->kind)) {
        oche_put32(body, message->shadow_qpn);
        oche_put32(body + 4, message->shadow_psn);
        oche_put64(body + 8, message->number);
        memcpy(body + 16, message->gid.raw, 16);
        oche_put64(body + 32, message->echo);
    } else if (message->kind != RV_GONE) {
        oche_put32(body, message->serial);
        oche_put64(body + 4, message->number);
    }
    return HEADER + (size_t)body_bytes[message->kind];
}

bool rv_message_decode(const uint8_t *bytes, size_t count, struct rv_message *message)
{
    const uint8_t *body = bytes + HEADER;

    if (count < HEADER || oche_get32(bytes) != MAGIC || bytes[4] < RV_ASK || bytes[4] > RV_GONE ||
        bytes[5] > 1 || bytes[6] > asks(bytes[4]) || bytes[7] != 0 ||
        count != HEADER + (size_t)body_bytes[bytes[4]])
        return false;
    *message = (struct rv_message){.kind = bytes[4],
                                   .side = bytes[5],
                                   .limits_rates = bytes[6] != 0,
                                   .to_qpn = oche_get32(bytes + 8),
                                   .from_qpn = oche_get32(bytes + 12),
                                   .token = oche_get64(bytes + 16)};
    switch (message->kind) {
    case RV_RESYNC:
        return rogue_resync_decode(body, ROGUE_RESYNC_BYTES, &message->resync);
    case RV_ASK:
    case RV_ANSWER:
        message->shadow_qpn = oche_get32(body);
        message->shadow_psn = oche_get32(body + 4);
        message->number = oche_get64(body + 8);
        memcpy(message->gid.raw, body + 16, 16);
        message->echo = oche_get64(body + 32);
        return message->shadow_qpn <= OCHE_PSN_MASK && message->shadow_psn <= OCHE_PSN_MASK &&
               message->number > 0;
    case RV_GONE:
        return true;
    default:
        message->serial = oche_get32(body);
        message->number = oche_get64(body + 4);
        return true;
    }
}

uint64_t rv_token(const struct rv_qp *qp)
{
    return qp->nonce + qp->peer.nonce;
}

void rv_tell(struct rv_qp *qp, struct rv_message *message)
{
    uint8_t bytes[RV_MOST_MESSAGE];

    message->to_qpn = qp->peer.qpn;
    message->from_qpn = qp->qps[0]->qp_num;
    message->token = rv_token(qp);
    rv_socket_send(&qp->peer.address, &qp->gid, bytes, rv_message_encode(message, bytes));
}

void rv_ask_count(struct rv_qp *qp, oche_time now)
{
    struct rv_message message = {
        .kind = RV_MOVE, .side = (uint8_t)qp->count_qp, .serial = qp->count_serial};

    rv_tell(qp, &message);
    qp->count_repeat = oche_time_add(now, rv_params(true)->resync_interval);
    if (++qp->count_tries > rv_params(true)->resync_tries)
        qp->trouble = IBV_WC_RETRY_EXC_ERR;
}

/* ---- messages of the peer's library ---- */

/* The peer continues on a queue pair, and asks how many messages have come so far. */
static void asked_to_move(struct rv_qp *qp, const struct rv_message *asked)
{
    struct rv_message answer = {.kind = RV_MOVED, .side = asked->side, .serial = asked->serial};

    if ((int32_t)(asked->serial - qp->moved_serial) < 0)
        return;
    if (asked->serial != qp->moved_serial) {
        rv_receives_take(qp);
        if (qp->receive_on != RV_NOWHERE && !qp->up[qp->receive_on] && qp->outstanding == 0)
            rv_receives_returned(qp, qp->receive_on);
        if (!qp->up[asked->side] || (qp->receive_on != RV_NOWHERE && qp->receive_on != asked->side))
            return; /* not yet: the peer asks again */
        if (qp->receive_on == RV_NOWHERE)
            rv_receives_move(qp, asked->side);
        qp->moved_serial = asked->serial;
        qp->moved_received = qp->received;
    }
    answer.number = qp->moved_received;
    rv_tell(qp, &answer);
}

static void told_count(struct rv_qp *qp, const struct rv_message *message)
{
    if (qp->count_known || message->serial != qp->count_serial ||
        message->number < qp->receives_ended || message->number > qp->receives_posted)
        return;
    qp->count_known = true;
    qp->count_tries = 0;
    qp->count_repeat = OCHE_NEVER;
    qp->peer_received = message->number;
    rogue_pump(qp->rogue, rv_now());
}

static void told_limit(struct rv_qp *qp, const struct rv_message *message)
{
    if ((int32_t)(message->serial - qp->peer_reads_serial[message->side]) <= 0)
        return;
    qp->peer_reads_serial[message->side] = message->serial;
    qp->reads_bps[message->side] = message->number;
    rv_apply_limit(qp, message->side);
}

static void told_gone(struct rv_qp *qp)
{
    if (!rogue_broken(qp->rogue))
        qp->trouble = IBV_WC_RETRY_EXC_ERR;
}

static void handle(struct rv_qp *qp, const struct rv_message *message)
{
    struct rv_message gone = {.kind = RV_GONE};

    if (qp->uc != NULL) { /* their libraries need no messages */
        rv_count(RV_STRANGERS);
        return;
    }
    rv_drain(qp);
    if (rogue_broken(qp->rogue)) {
        if (message->kind != RV_GONE)
            rv_tell(qp, &gone);
        return;
    }
    switch (message->kind) {
    case RV_RESYNC:
        rogue_told(qp->rogue, &message->resync, rv_now());
        break;
    case RV_LIMIT:
        told_limit(qp, message);
        break;
    case RV_MOVE:
        asked_to_move(qp, message);
        break;
    case RV_MOVED:
        told_count(qp, message);
        break;
    default:
        told_gone(qp);
        break;
    }
    rv_drain(qp);
}

/* Returns the queue pair of the message, locked, or NULL. Under rv_world.lock. */
static struct rv_qp *find(const struct rv_message *message, const struct sockaddr_in6 *from)
{
    bool about_peers = asks(message->kind);

    for (struct rv_qp *qp = rv_world.qps; qp != NULL; qp = qp->next) {
        if (qp->qps[0]->qp_num != message->to_qpn)
            continue;
        pthread_mutex_lock(&qp->lock);
        if (about_peers ? rv_owns(qp->context, &message->gid)
                        : qp->paired && qp->peer.qpn == message->from_qpn &&
                              message->token == rv_token(qp) &&
                              memcmp(&from->sin6_addr, &qp->peer.address.sin6_addr, 16) == 0)
            return qp;
        pthread_mutex_unlock(&qp->lock);
    }
    return NULL;
}

void rv_told(const struct sockaddr_in6 *from, const uint8_t *bytes, size_t count)
{
    struct rv_message message;
    struct rv_qp *qp;

    if (!rv_message_decode(bytes, count, &message)) {
        rv_count(RV_STRANGERS);
        return;
    }
    qp = find(&message, from);
    if (qp == NULL) {
        if (message.kind != RV_ASK) /* each process is asked */
            rv_count(RV_STRANGERS);
        return;
    }
    if (asks(message.kind))
        rv_asked(qp, &message, from);
    else
        handle(qp, &message);
    pthread_mutex_unlock(&qp->lock);
}
