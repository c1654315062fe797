/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making connections. The thread answers a listener's peers at once, as TCP does, so connecting
 * ends before the program accepts; an accepted socket is complete.
 */
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device/cm/internal.h"
#include "device/rsocket/internal.h"
#include "device/rsocket/private.h"
#include "device/verbs/manager.h"

/* 0.27 s, as often as retries are counted: a peer that is silent for two seconds is lost. */
#define ACK_TIMEOUT  16
#define MOST_RETRIES 7

/* ---- making ---- */

bool rs_make_id(struct rs_socket *s)
{
    struct rdma_event_channel *channel = rs_service_start();
    uint8_t timeout = ACK_TIMEOUT;

    if (channel == NULL || rdma_create_id(channel, &s->id, s, RDMA_PS_TCP) != 0)
        return false;
    rdma_set_option(s->id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &timeout, sizeof(timeout));
    return true;
}

int rsocket(int domain, int type, int protocol)
{
    const int kind = type & ~(SOCK_NONBLOCK | SOCK_CLOEXEC);
    struct rs_socket *s;
    int error = 0;

    if (domain != AF_INET && domain != AF_INET6)
        return rs_error(EAFNOSUPPORT);
    if (kind == SOCK_DGRAM) {
        cm_say("rsocket: SOCK_DGRAM is not supported over RDMA here, SOCK_STREAM is");
        return rs_error(EPROTONOSUPPORT);
    }
    if (kind != SOCK_STREAM || (protocol != 0 && protocol != IPPROTO_TCP))
        return rs_error(EPROTONOSUPPORT);
    s = rs_make((sa_family_t)domain);
    if (s == NULL)
        return -1;
    if (!rs_make_id(s) || !rs_ready_make(s))
        error = errno;
    else {
        s->nonblocking = (type & SOCK_NONBLOCK) != 0;
        if (s->nonblocking)
            rs_real_fcntl(s->descriptor, F_SETFL, O_RDWR | O_NONBLOCK);
        if ((type & SOCK_CLOEXEC) != 0)
            rs_real_fcntl(s->descriptor, F_SETFD, FD_CLOEXEC);
    }
    const int descriptor = s->descriptor;

    rs_put(s); /* its descriptor has a reference, too */
    errno = error;
    return error == 0 ? descriptor : -1;
}

/* ---- bind and listen ---- */

static int bind_socket(struct rs_socket *s, const struct sockaddr *address, socklen_t bytes)
{
    struct sockaddr_storage copy = {0};
    int one = 1;

    if (bytes > sizeof(copy) || bytes < sizeof(struct sockaddr_in) ||
        address->sa_family != s->family)
        return EINVAL;
    memcpy(&copy, address, bytes);
    if (s->closing || s->state != RS_NEW)
        return s->closing ? EBADF : EINVAL;
    if (s->reuse)
        rdma_set_option(s->id, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &one, sizeof(one));
    if (s->v6_only)
        rdma_set_option(s->id, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &one, sizeof(one));
    if (rdma_bind_addr(s->id, (struct sockaddr *)&copy) != 0)
        return errno;
    s->state = RS_BOUND;
    return 0;
}

int rbind(int socket, const struct sockaddr *addr, socklen_t addrlen)
{
    struct rs_socket *s = rs_get(socket);
    int error;

    if (s == NULL)
        return -1;
    pthread_mutex_lock(&s->lock);
    error = bind_socket(s, addr, addrlen);
    pthread_mutex_unlock(&s->lock);
    rs_put(s);
    return cm_result(error);
}

static int listen_socket(struct rs_socket *s, int backlog)
{
    const struct sockaddr_storage any = {.ss_family = s->family};
    int error = s->closing ? EBADF : 0;

    if (error == 0 && s->state == RS_NEW)
        error = bind_socket(s, (const struct sockaddr *)&any,
                            s->family == AF_INET ? sizeof(struct sockaddr_in)
                                                 : sizeof(struct sockaddr_in6));
    if (error != 0)
        return error;
    if (s->state != RS_BOUND && s->state != RS_LISTENING)
        return EINVAL;
    s->backlog = backlog > 0 && backlog < RS_BACKLOG ? (unsigned)backlog + 1 : RS_BACKLOG;
    if (s->state == RS_LISTENING)
        return 0;
    s->state = RS_LISTENING;
    if (rdma_listen(s->id, 0) != 0) {
        error = errno;
        s->state = RS_BOUND;
    }
    return error;
}

int rlisten(int socket, int backlog)
{
    struct rs_socket *s = rs_get(socket);
    int error;

    if (s == NULL)
        return -1;
    pthread_mutex_lock(&s->lock);
    error = listen_socket(s, backlog);
    rs_ready_show(s, false);
    pthread_mutex_unlock(&s->lock);
    rs_put(s);
    return cm_result(error);
}

/* ---- a peer asks ---- */

static void fill_param(struct rdma_conn_param *param, const uint8_t *hello)
{
    *param = (struct rdma_conn_param){.private_data = hello,
                                      .private_data_len = RS_HELLO_BYTES,
                                      .responder_resources = 1,
                                      .flow_control = 1,
                                      .retry_count = MOST_RETRIES,
                                      .rnr_retry_count = MOST_RETRIES};
}

static void inherit(struct rs_socket *s, const struct rs_socket *listener)
{
    s->want_send_bytes = listener->want_send_bytes;
    s->want_receive_bytes = listener->want_receive_bytes;
    s->inline_bytes = listener->inline_bytes;
    s->most_sends = listener->most_sends;
    s->most_receives = listener->most_receives;
    s->iomaps = listener->iomaps;
    s->no_delay = listener->no_delay;
    s->keepalive = listener->keepalive;
    s->keep_idle = listener->keep_idle;
    s->linger_on = listener->linger_on;
    s->linger_s = listener->linger_s;
    s->receive_timeout_ms = listener->receive_timeout_ms;
    s->send_timeout_ms = listener->send_timeout_ms;
}

/* Answers. Returns false if the request cannot be met. */
static bool answer(struct rs_socket *s, const struct rdma_conn_param *request)
{
    uint8_t hello[RS_HELLO_BYTES];
    struct rdma_conn_param param;

    if (!rs_pair_make(s) || !rs_hello_from(s, request->private_data, request->private_data_len))
        return false;
    rs_hello_of(s, hello);
    fill_param(&param, hello);
    s->state = RS_CONNECTING;
    return rdma_accept(s->id, &param) == 0;
}

/* Notes one that the program has not accepted. Returns false if there are too many. */
static bool note_pending(struct rs_socket *s, struct rs_socket *listener)
{
    bool room;

    rs_table_lock();
    room = !listener->closing && listener->pending < listener->backlog;
    if (room) {
        listener->pending++;
        s->listener = listener;
    }
    rs_table_unlock();
    return room;
}

struct rs_socket *rs_take_request(struct rdma_cm_event *event)
{
    struct rs_socket *listener = event->listen_id->context, *s = rs_make(listener->family);
    bool made;

    event->id->context = s;
    if (s == NULL) {
        rdma_reject(event->id, NULL, 0);
        return NULL;
    }
    s->id = event->id;
    pthread_mutex_lock(&listener->lock);
    inherit(s, listener);
    pthread_mutex_unlock(&listener->lock);
    pthread_mutex_lock(&s->lock);
    made = note_pending(s, listener) && answer(s, &event->param.conn);
    if (!made)
        rdma_reject(s->id, NULL, 0);
    pthread_mutex_unlock(&s->lock);
    if (made)
        return NULL;
    rs_detach(s);
    return s;
}

bool rs_detach(struct rs_socket *s)
{
    struct rs_socket *listener, **link;

    rs_table_lock();
    listener = s->listener;
    if (listener != NULL) {
        link = &listener->first;
        while (*link != NULL && *link != s)
            link = &(*link)->next;
        if (*link == s && (*link = s->next) == NULL)
            listener->last = link;
        listener->pending--;
        s->listener = NULL;
    }
    rs_table_unlock();
    return listener != NULL;
}

/* Makes the socket ready for accept. If its listener has ended, it is being closed. */
static void offer(struct rs_socket *s)
{
    struct rs_socket *listener;

    rs_table_lock();
    listener = s->listener;
    if (listener != NULL) {
        s->next = NULL;
        *listener->last = s;
        listener->last = &s->next;
        listener->references++;
    }
    rs_table_unlock();
    if (listener == NULL)
        return;
    pthread_mutex_lock(&listener->lock);
    rs_kick(listener);
    pthread_mutex_unlock(&listener->lock);
    rs_put(listener);
}

static bool is_passive(struct rs_socket *s)
{
    bool passive;

    rs_table_lock();
    passive = s->listener != NULL;
    rs_table_unlock();
    return passive;
}

void rs_established(struct rs_socket *s, const struct rdma_cm_event *event)
{
    const bool passive = is_passive(s);

    pthread_mutex_lock(&s->lock);
    if (s->closing || s->state != RS_CONNECTING) {
        pthread_mutex_unlock(&s->lock);
        return;
    }
    s->heard = rs_now();
    s->state = RS_CONNECTED;
    oche_manager_count(OCHE_VIEW_SOCKETS_RDMA);
    if (!passive &&
        !rs_hello_from(s, event->param.conn.private_data, event->param.conn.private_data_len)) {
        rs_lose(s, EPROTO);
        s->state = RS_FAILED;
    }
    if (s->watched)
        rs_service_watch(s);
    rs_progress(s);
    rs_kick(s);
    rs_ready_show(s, true);
    pthread_mutex_unlock(&s->lock);
    if (passive)
        offer(s);
}

void oche_rsocket_count_tcp(void)
{
    oche_manager_count(OCHE_VIEW_SOCKETS_TCP);
}

bool rs_refused(struct rs_socket *s, int error)
{
    bool over;

    pthread_mutex_lock(&s->lock);
    over = s->closing || s->state != RS_CONNECTING;
    if (!over) {
        s->state = RS_FAILED;
        s->error = s->send_error = error;
        rs_kick(s);
    }
    pthread_mutex_unlock(&s->lock);
    return !over && rs_detach(s);
}

/* ---- accept ---- */

static bool has_one(const struct rs_socket *s)
{
    return s->first != NULL;
}

/* Returns the next connection, with its reference, or NULL. */
static struct rs_socket *take_one(struct rs_socket *listener)
{
    struct rs_socket *s;

    rs_table_lock();
    s = listener->first;
    if (s != NULL) {
        listener->first = s->next;
        if (s->next == NULL)
            listener->last = &listener->first;
        listener->pending--;
        s->listener = NULL;
    }
    rs_table_unlock();
    return s;
}

int rs_address_out(const struct sockaddr *from, struct sockaddr *address, socklen_t *bytes)
{
    const socklen_t whole = cm_sockaddr_bytes(from);

    if (address == NULL || bytes == NULL)
        return 0;
    memcpy(address, from, *bytes < whole ? *bytes : whole);
    *bytes = whole;
    return 0;
}

/* Gives it a descriptor of the program's. Returns that, or -1 with errno. */
static int adopt(struct rs_socket *s)
{
    int descriptor = -1;

    pthread_mutex_lock(&s->lock);
    if (rs_ready_make(s)) {
        rs_ready_show(s, true);
        descriptor = s->descriptor;
    }
    pthread_mutex_unlock(&s->lock);
    return descriptor;
}

int raccept(int socket, struct sockaddr *addr, socklen_t *addrlen)
{
    struct rs_socket *listener = rs_get(socket), *s = NULL;
    int error = 0, descriptor;

    if (listener == NULL)
        return -1;
    pthread_mutex_lock(&listener->lock);
    if (listener->state != RS_LISTENING)
        error = EINVAL;
    while (error == 0 && (s = take_one(listener)) == NULL)
        error = rs_wait(listener, has_one, !listener->nonblocking, listener->receive_timeout_ms);
    rs_ready_show(listener, false);
    pthread_mutex_unlock(&listener->lock);
    rs_put(listener);
    if (error != 0)
        return rs_error(error);
    descriptor = adopt(s);
    error = errno;
    if (descriptor < 0)
        rs_close(s);
    rs_put(s);
    if (descriptor < 0)
        return rs_error(error);
    if (addr != NULL)
        rgetpeername(descriptor, addr, addrlen);
    return descriptor;
}

/* ---- connect ---- */

static int ask(struct rs_socket *s, const struct sockaddr *address)
{
    uint8_t hello[RS_HELLO_BYTES];
    struct sockaddr_storage to = {0};
    struct rdma_conn_param param;

    memcpy(&to, address, cm_sockaddr_bytes(address));
    if (rdma_resolve_addr(s->id, NULL, (struct sockaddr *)&to, 2000) != 0)
        return errno == ENODEV ? ENETUNREACH : errno;
    if (rdma_resolve_route(s->id, 2000) != 0)
        return errno == EINVAL ? ENETUNREACH : errno; /* the address was not resolved */
    if (!rs_pair_make(s))
        return errno;
    rs_hello_of(s, hello);
    fill_param(&param, hello);
    s->state = RS_CONNECTING;
    if (rdma_connect(s->id, &param) == 0)
        return 0;
    s->state = RS_BOUND;
    return errno;
}

/* Converts ::ffff:a.b.c.d to an IPv4 address. */
static const struct sockaddr *unmapped(const struct sockaddr *address, struct sockaddr_in *v4)
{
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)(const void *)address;

    if (address->sa_family != AF_INET6 || !IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr))
        return address;
    *v4 = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = v6->sin6_port};
    memcpy(&v4->sin_addr, v6->sin6_addr.s6_addr + 12, 4);
    return (const struct sockaddr *)(const void *)v4;
}

/* A socket that could not connect may try again, with an identifier and memory of its own. */
static int start_anew(struct rs_socket *s)
{
    struct rdma_cm_id *old = s->id;

    rs_pair_drop(s);
    s->id = NULL;
    s->error = s->send_error = 0;
    s->lost = false;
    s->sends = s->controls = 0;
    s->send_head = s->send_used = 0;
    s->probing = s->armed = false;
    s->state = RS_NEW;
    old->context = NULL;
    pthread_mutex_unlock(&s->lock);
    rdma_destroy_id(old);
    pthread_mutex_lock(&s->lock);
    return rs_make_id(s) ? 0 : errno;
}

static int start_connecting(struct rs_socket *s, const struct sockaddr *address, socklen_t bytes)
{
    struct sockaddr_in v4;

    if (s->closing)
        return EBADF;
    switch (s->state) {
    case RS_LISTENING:
        return EINVAL;
    case RS_CONNECTING:
        return EALREADY;
    case RS_CONNECTED:
        return EISCONN;
    default:
        break;
    }
    if (bytes < sizeof(struct sockaddr_in) ||
        (address->sa_family == AF_INET6 && bytes < sizeof(struct sockaddr_in6)))
        return EINVAL;
    if (address->sa_family != s->family)
        return EAFNOSUPPORT;
    if (s->state == RS_FAILED) {
        const int error = start_anew(s);

        if (error != 0)
            return error;
    }
    return ask(s, unmapped(address, &v4));
}

static bool is_decided(const struct rs_socket *s)
{
    return s->state != RS_CONNECTING;
}

/* Returns 0 or an errno. `limit_ms` 0: none. */
static int connect_socket(struct rs_socket *s, const struct sockaddr *address, socklen_t bytes,
                          bool wait, unsigned limit_ms)
{
    int error = start_connecting(s, address, bytes);

    if (error != 0)
        return error;
    rs_ready_show(s, false);
    if (!wait)
        return EINPROGRESS;
    error = rs_wait(s, is_decided, true, limit_ms);
    if (error != 0)
        return error == EAGAIN ? ETIMEDOUT : error;
    if (s->state == RS_CONNECTED)
        return 0;
    error = s->error != 0 ? s->error : ECONNREFUSED;
    s->error = 0;
    return error;
}

int rconnect(int socket, const struct sockaddr *addr, socklen_t addrlen)
{
    struct rs_socket *s = rs_get(socket);
    int error;

    if (s == NULL)
        return -1;
    pthread_mutex_lock(&s->lock);
    error = connect_socket(s, addr, addrlen, !s->nonblocking, s->send_timeout_ms);
    pthread_mutex_unlock(&s->lock);
    rs_put(s);
    return cm_result(error);
}

int oche_rsocket_connect(int descriptor, const struct sockaddr *address, socklen_t bytes,
                         unsigned limit_ms)
{
    struct rs_socket *s = rs_get(descriptor);
    int error;

    if (s == NULL)
        return -1;
    pthread_mutex_lock(&s->lock);
    error = connect_socket(s, address, bytes, true, limit_ms);
    pthread_mutex_unlock(&s->lock);
    rs_put(s);
    return cm_result(error);
}

bool oche_rsocket_reaches(const struct sockaddr *address, socklen_t bytes)
{
    struct sockaddr_storage to = {0};
    struct sockaddr_in v4;
    struct rdma_event_channel *channel;
    struct rdma_cm_id *id;
    bool reaches;

    if (bytes < sizeof(struct sockaddr_in) || bytes > sizeof(to))
        return false;
    memcpy(&to, address, bytes);
    address = unmapped((struct sockaddr *)&to, &v4);
    channel = rs_service_start();
    if (channel == NULL || rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) != 0)
        return false;
    reaches = rdma_resolve_addr(id, NULL, (struct sockaddr *)(uintptr_t)address, 2000) == 0 &&
              id->verbs != NULL;
    rdma_destroy_id(id);
    return reaches;
}
