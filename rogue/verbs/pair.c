/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finding the peer's library. The application's peer is known by its address and its first queue
 * pair's number. An end that becomes ready to receive asks all ports of the address where a library
 * may be. The process that has the queue pair answers, in any state. An end that becomes ready to
 * send waits for the answer.
 *
 * Anybody can ask in another's name, so a question is answered but changes nothing. Each end takes
 * the peer's data only from the answer to its own question. The answer repeats the number that went
 * to the peer's address and nowhere else. Each end has a different number for each possible peer,
 * as it answers to all while it is not connected.
 */
#include <arpa/inet.h>
#include <string.h>
#include <time.h>

#include "core/wire/bytes.h"
#include "rogue/verbs/internal.h"
#include "rogue/verbs/siphash.h"

#define TRIES       8
#define TRIES_HEARD 40             /* of a peer that has asked, so it has a library */
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

/* True if this is the peer that the application has named. */
static bool is_peer(const struct rv_qp *qp, uint32_t qpn, const void *address)
{
    return qpn == qp->attr.dest_qp_num && qp->attr.ah_attr.is_global &&
           memcmp(qp->attr.ah_attr.grh.dgid.raw, address, 16) == 0;
}

/* A number that is made for one peer is one of these. */
enum { NONCE, PSN };

static uint64_t number_for(const struct rv_qp *qp, const void *address, uint32_t qpn, uint32_t what)
{
    uint8_t bytes[24];

    memcpy(bytes, address, 16);
    oche_put32(bytes + 16, qpn);
    oche_put32(bytes + 20, what);
    return rv_siphash(qp->secret, bytes, sizeof(bytes));
}

static uint32_t psn_for(const struct rv_qp *qp, const void *address, uint32_t qpn)
{
    return (uint32_t)number_for(qp, address, qpn, PSN) & OCHE_PSN_MASK;
}

/* A message for the peer that has this queue pair at this address. */
static struct rv_message own_data(const struct rv_qp *qp, enum rv_message_kind kind,
                                  const void *address, uint32_t qpn)
{
    bool none = qp->alone || !rv_wants_peer(qp);

    return (struct rv_message){.kind = (uint8_t)kind,
                               .to_qpn = qpn,
                               .from_qpn = qp->qps[0]->qp_num,
                               .token = number_for(qp, address, qpn, NONCE),
                               .shadow_qpn = none ? 0 : qp->qps[qp->uc == NULL]->qp_num,
                               .shadow_psn = psn_for(qp, address, qpn),
                               .number = qp->line_rate_bps,
                               .limits_rates = qp->context->limits_rates};
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

static void answer(struct rv_qp *qp, const struct rv_message *asked, const struct sockaddr_in6 *to)
{
    struct rv_message message = own_data(qp, RV_ANSWER, &to->sin6_addr, asked->from_qpn);
    uint8_t bytes[RV_MOST_MESSAGE];

    message.echo = asked->token;
    memcpy(message.gid.raw, &to->sin6_addr, sizeof(message.gid.raw));
    rv_socket_send(to, &asked->gid, bytes, rv_message_encode(&message, bytes));
}

/* Notes that the peer seems to have a library. The ASK may be forged. */
static void hear(struct rv_qp *qp, const struct rv_message *asked, const struct sockaddr_in6 *from)
{
    qp->heard = true;
    qp->heard_qpn = asked->from_qpn;
    qp->heard_address = from->sin6_addr;
    if (qp->state == IBV_QPS_RTR && qp->asks < TRIES && qp->ask_again == OCHE_NEVER)
        qp->ask_again = rv_now();
}

static void asked(struct rv_qp *qp, const struct rv_message *message,
                  const struct sockaddr_in6 *from)
{
    if (message->shadow_qpn == 0 || qp->ended || !is_of_our_kind(qp, message))
        return;
    if (qp->state >= IBV_QPS_RTR && !is_peer(qp, message->from_qpn, &from->sin6_addr))
        return;
    if (qp->paired && qp->peer.nonce != message->token)
        return; /* the peer's queue pair has had a reset, ours has not */
    if (!qp->paired && !qp->alone)
        hear(qp, message, from);
    answer(qp, message, from);
}

static void answered(struct rv_qp *qp, const struct rv_message *message,
                     const struct sockaddr_in6 *from)
{
    if (qp->state < IBV_QPS_RTR || message->echo != qp->nonce ||
        !is_peer(qp, message->from_qpn, &from->sin6_addr)) {
        rv_count(RV_STRANGERS);
        return;
    }
    if (qp->paired || qp->alone || qp->state != IBV_QPS_RTR)
        return;
    if (message->shadow_qpn == 0 || !is_of_our_kind(qp, message)) {
        qp->alone = true;
        pthread_cond_broadcast(&qp->answered);
        return;
    }
    qp->peer = (struct rv_peer){.address = *from,
                                .qpn = message->from_qpn,
                                .shadow_qpn = message->shadow_qpn,
                                .shadow_psn = message->shadow_psn,
                                .nonce = message->token,
                                .line_rate_bps = message->number,
                                .limits_rates = message->limits_rates};
    qp->ask_again = OCHE_NEVER;
    rv_pair(qp);
}

void rv_asked(struct rv_qp *qp, const struct rv_message *message, const struct sockaddr_in6 *from)
{
    if (message->kind == RV_ASK)
        asked(qp, message, from);
    else
        answered(qp, message, from);
}

/* ---- asking ---- */

static void ask(struct rv_qp *qp)
{
    const union ibv_gid *whom = &qp->attr.ah_attr.grh.dgid;
    struct rv_message message = own_data(qp, RV_ASK, whom->raw, qp->attr.dest_qp_num);
    struct sockaddr_in6 to = {.sin6_family = AF_INET6};
    uint8_t bytes[RV_MOST_MESSAGE];
    struct ibv_gid_entry entry;
    size_t count;

    message.gid = *whom;
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

/* True if a possible peer has asked. */
static bool has_heard_of_peer(const struct rv_qp *qp)
{
    return qp->heard && is_peer(qp, qp->heard_qpn, &qp->heard_address);
}

static oche_time wait_after(unsigned asks)
{
    return asks < 4 ? oche_time_min(FIRST_WAIT << asks, LONGEST) : LONGEST;
}

void rv_begin_asking(struct rv_qp *qp)
{
    const uint8_t *whom = qp->attr.ah_attr.grh.dgid.raw;

    qp->nonce = number_for(qp, whom, qp->attr.dest_qp_num, NONCE);
    qp->shadow_psn = psn_for(qp, whom, qp->attr.dest_qp_num);
    if (!qp->attr.ah_attr.is_global || !rv_wants_peer(qp))
        return;
    ask(qp); /* the answer comes while the application continues */
    qp->asks = 1;
    if (has_heard_of_peer(qp))
        qp->ask_again = oche_time_add(rv_now(), FIRST_WAIT);
}

void rv_ask_again(struct rv_qp *qp, oche_time now)
{
    if (qp->ask_again > now)
        return;
    if (qp->state == IBV_QPS_RTR && !qp->paired && !qp->alone && qp->asks < TRIES) {
        ask(qp);
        qp->ask_again = oche_time_add(now, wait_after(qp->asks++));
    } else {
        qp->ask_again = OCHE_NEVER;
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
    static union ibv_gid silent; /* the last silent address */
    static oche_time silent_until;
    static pthread_mutex_t silent_lock = PTHREAD_MUTEX_INITIALIZER;
    const union ibv_gid *whom = &qp->attr.ah_attr.grh.dgid;
    unsigned tries = qp->attr.ah_attr.is_global ? TRIES : 0;

    if (!rv_wants_peer(qp)) {
        qp->alone = true;
        return;
    }
    pthread_mutex_lock(&silent_lock);
    if (tries > 0 && rv_now() < silent_until && memcmp(&silent, whom, sizeof(silent)) == 0)
        tries = 1;
    pthread_mutex_unlock(&silent_lock);
    qp->asks = TRIES; /* the thread need not */
    for (unsigned i = 0; !qp->paired && !qp->alone; i++) {
        if (i >= (has_heard_of_peer(qp) ? TRIES_HEARD : tries))
            break;
        ask(qp);
        wait_for_answer(qp, rv_now() + wait_after(i));
    }
    if (qp->paired)
        return;
    qp->alone = true;
    pthread_mutex_lock(&silent_lock);
    if (silent_until == 0 && qp->uc == NULL)
        rv_say("rogue: the peer has no RoGUE, or one of another version: its connections have no "
               "shadow queue pairs");
    silent = *whom;
    silent_until = rv_now() + SILENT_LONG;
    pthread_mutex_unlock(&silent_lock);
}
