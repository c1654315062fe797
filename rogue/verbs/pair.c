/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finding the peer's library. The application's peer is known by its address and its first queue
 * pair's number. Whoever gets ready asks every port of the address on which a library may be; the
 * process that has the queue pair answers, however far it has got, and remembers who asked. Who
 * gets ready to send waits for the answer. So each side has the other's data before it sends, or is
 * alone.
 */
#include <arpa/inet.h>
#include <string.h>
#include <time.h>

#include "rogue/verbs/internal.h"

#define TRIES       8
#define FIRST_WAIT  (10 * OCHE_MS) /* the later ones are longer */
#define LONGEST     (50 * OCHE_MS)
#define SILENT_LONG (10 * OCHE_SEC) /* peers of an address that was silent are asked once */

bool rv_owns(const struct rv_context *context, const union ibv_gid *gid)
{
    struct ibv_port_attr port;
    union ibv_gid own;

    if (ibv_query_port(context->context, 1, &port) != 0)
        return false;
    for (int i = 0; i < port.gid_tbl_len; i++)
        if (ibv_query_gid(context->context, 1, i, &own) == 0 &&
            memcmp(own.raw, gid->raw, sizeof(own.raw)) == 0)
            return true;
    return false;
}

bool rv_peer_fits(const struct rv_qp *qp)
{
    return qp->peer.qpn == qp->attr.dest_qp_num && qp->attr.ah_attr.is_global &&
           memcmp(qp->attr.ah_attr.grh.dgid.raw, &qp->peer.address.sin6_addr, 16) == 0;
}

static struct rv_message own_data(const struct rv_qp *qp, enum rv_message_kind kind,
                                  const union ibv_gid *whom)
{
    return (struct rv_message){.kind = (uint8_t)kind,
                               .from_qpn = qp->qps[0]->qp_num,
                               .token = qp->nonce,
                               .shadow_qpn = qp->alone ? 0 : qp->qps[qp->uc == NULL]->qp_num,
                               .shadow_psn = qp->shadow_psn,
                               .number = qp->line_rate_bps,
                               .limits_rates = qp->context->limits_rates,
                               .gid = *whom};
}

bool rv_wants_peer(const struct rv_qp *qp)
{
    return qp->uc != NULL || rv_params(true)->shadow;
}

/* An unreliable connection has no shadow, and names its queue pair instead. */
static bool is_of_our_kind(const struct rv_qp *qp, const struct rv_message *message)
{
    return (qp->uc != NULL) == (message->shadow_qpn == message->from_qpn);
}

static void keep(struct rv_qp *qp, const struct rv_message *message,
                 const struct sockaddr_in6 *from)
{
    qp->peer = (struct rv_peer){.known = true,
                                .address = *from,
                                .qpn = message->from_qpn,
                                .shadow_qpn = message->shadow_qpn,
                                .shadow_psn = message->shadow_psn,
                                .nonce = message->token,
                                .line_rate_bps = message->number,
                                .limits_rates = message->limits_rates};
}

static void answer(const struct rv_qp *qp, const struct rv_message *asked,
                   const struct sockaddr_in6 *to)
{
    uint8_t bytes[RV_MOST_MESSAGE];
    union ibv_gid whom;
    struct rv_message message;

    memcpy(whom.raw, &to->sin6_addr, sizeof(whom.raw));
    message = own_data(qp, RV_ANSWER, &whom);
    message.to_qpn = asked->from_qpn;
    rv_socket_send(to, &asked->gid, bytes, rv_message_encode(&message, bytes));
}

static void asked(struct rv_qp *qp, const struct rv_message *message,
                  const struct sockaddr_in6 *from)
{
    bool connected = qp->state >= IBV_QPS_RTR;

    if (message->shadow_qpn == 0 || qp->ended || !is_of_our_kind(qp, message))
        return;
    if (qp->paired && (qp->peer.nonce != message->token || qp->peer.qpn != message->from_qpn))
        return;
    if (!rv_wants_peer(qp))
        qp->alone = true; /* and says so */
    if (!qp->paired && !qp->alone) {
        keep(qp, message, from);
        if (connected && !rv_peer_fits(qp)) {
            qp->peer.known = false;
            return;
        }
        if (connected)
            rv_pair(qp);
    }
    answer(qp, message, from);
}

void rv_asked(struct rv_qp *qp, const struct rv_message *message, const struct sockaddr_in6 *from)
{
    if (message->kind == RV_ASK) {
        asked(qp, message, from);
        return;
    }
    if (qp->paired || qp->alone || qp->state != IBV_QPS_RTR)
        return;
    keep(qp, message, from);
    if (!rv_peer_fits(qp)) {
        qp->peer.known = false;
        return;
    }
    if (message->shadow_qpn != 0 && is_of_our_kind(qp, message)) {
        rv_pair(qp);
        return;
    }
    qp->peer.known = false;
    qp->alone = true;
    pthread_cond_broadcast(&qp->answered);
}

/* ---- asking ---- */

void rv_ask(struct rv_qp *qp)
{
    const union ibv_gid *whom = &qp->attr.ah_attr.grh.dgid;
    struct rv_message message = own_data(qp, RV_ASK, whom);
    struct sockaddr_in6 to = {.sin6_family = AF_INET6};
    uint8_t bytes[RV_MOST_MESSAGE];
    struct ibv_gid_entry entry;
    size_t count;

    message.to_qpn = qp->attr.dest_qp_num;
    count = rv_message_encode(&message, bytes);
    memcpy(&to.sin6_addr, whom->raw, sizeof(whom->raw));
    if (IN6_IS_ADDR_LINKLOCAL(&to.sin6_addr) &&
        ibv_query_gid_ex(qp->context->context, qp->attr.port_num, qp->attr.ah_attr.grh.sgid_index,
                         &entry, 0) == 0)
        to.sin6_scope_id = entry.ndev_ifindex;
    for (uint16_t i = 0; i < RV_PORTS; i++) {
        to.sin6_port = htons((uint16_t)(RV_FIRST_PORT + i));
        rv_socket_send(&to, &qp->gid, bytes, count);
    }
}

/* Waits for an answer. The lock is free meanwhile. */
static void wait_for_answer(struct rv_qp *qp, oche_time end)
{
    const struct timespec until = {.tv_sec = (time_t)(end / OCHE_SEC),
                                   .tv_nsec = (long)(end % OCHE_SEC / OCHE_NS)};

    while (!qp->paired && !qp->alone && rv_now() < end)
        pthread_cond_timedwait(&qp->answered, &qp->lock, &until);
}

void rv_find_peer(struct rv_qp *qp)
{
    static union ibv_gid silent; /* the address that was silent last */
    static oche_time silent_until;
    static pthread_mutex_t silent_lock = PTHREAD_MUTEX_INITIALIZER;
    const union ibv_gid *whom = &qp->attr.ah_attr.grh.dgid;
    oche_time wait = FIRST_WAIT;
    unsigned tries = qp->attr.ah_attr.is_global ? TRIES : 0;

    if (!rv_wants_peer(qp)) {
        qp->alone = true;
        return;
    }
    pthread_mutex_lock(&silent_lock);
    if (tries > 0 && rv_now() < silent_until && memcmp(&silent, whom, sizeof(silent)) == 0)
        tries = 1;
    pthread_mutex_unlock(&silent_lock);
    for (unsigned i = 0; i < tries && !qp->paired && !qp->alone; i++) {
        rv_ask(qp);
        wait_for_answer(qp, rv_now() + wait);
        wait = oche_time_min(2 * wait, LONGEST);
    }
    if (qp->paired)
        return;
    qp->alone = true;
    pthread_mutex_lock(&silent_lock);
    if (silent_until == 0 && qp->uc == NULL)
        rv_say("rogue: the peer has no RoGUE: its connections have no shadow queue pairs");
    silent = *whom;
    silent_until = rv_now() + SILENT_LONG;
    pthread_mutex_unlock(&silent_lock);
}
