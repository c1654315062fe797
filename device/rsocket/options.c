/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses and options. Some options that programs set have no meaning here (such as
 * TCP_QUICKACK). They return ENOPROTOOPT, as in a kernel that does not know them.
 */
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "device/cm/internal.h"
#include "device/rsocket/internal.h"
#include "device/rsocket/private.h"

/* ---- addresses ---- */

/* Converts an IPv4 address to the form that an IPv6 socket uses. */
static void map_to_v6(const struct sockaddr *from, struct sockaddr_in6 *v6)
{
    const struct sockaddr_in *v4 = (const struct sockaddr_in *)(const void *)from;

    *v6 = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = v4->sin_port};
    v6->sin6_addr.s6_addr[10] = v6->sin6_addr.s6_addr[11] = 0xff;
    memcpy(v6->sin6_addr.s6_addr + 12, &v4->sin_addr, 4);
}

static int address_of(int descriptor, bool peer, struct sockaddr *address, socklen_t *bytes)
{
    struct rs_socket *s = rs_get(descriptor);
    struct sockaddr_storage found = {0};
    int error = 0;

    if (s == NULL)
        return -1;
    if (address == NULL || bytes == NULL) {
        rs_put(s);
        return rs_error(EFAULT);
    }
    pthread_mutex_lock(&s->lock);
    if (s->closing)
        error = EBADF;
    else if (peer && s->state != RS_CONNECTED)
        error = ENOTCONN;
    else
        memcpy(&found, peer ? &s->id->route.addr.dst_storage : &s->id->route.addr.src_storage,
               sizeof(found));
    if (found.ss_family == 0)
        found.ss_family = s->family;
    if (found.ss_family == AF_INET && s->family == AF_INET6) {
        struct sockaddr_in6 v6;

        map_to_v6((struct sockaddr *)&found, &v6);
        memcpy(&found, &v6, sizeof(v6));
    }
    pthread_mutex_unlock(&s->lock);
    rs_put(s);
    if (error != 0)
        return rs_error(error);
    return rs_address_out((struct sockaddr *)&found, address, bytes);
}

int rgetpeername(int socket, struct sockaddr *addr, socklen_t *addrlen)
{
    return address_of(socket, true, addr, addrlen);
}

int rgetsockname(int socket, struct sockaddr *addr, socklen_t *addrlen)
{
    return address_of(socket, false, addr, addrlen);
}

/* ---- setting ---- */

static bool number_of(const void *value, socklen_t bytes, int *number)
{
    if (value == NULL || bytes < sizeof(*number))
        return false;
    memcpy(number, value, sizeof(*number));
    return true;
}

/* Returns milliseconds; a time that is not zero becomes at least one. */
static bool time_of(const void *value, socklen_t bytes, uint32_t *ms)
{
    struct timeval time;

    if (value == NULL || bytes < sizeof(time))
        return false;
    memcpy(&time, value, sizeof(time));
    if (time.tv_sec < 0 || time.tv_usec < 0 || time.tv_usec > 999999)
        return false;
    if (time.tv_sec > 1000000)
        time.tv_sec = 1000000;
    *ms = (uint32_t)(time.tv_sec * 1000 + (time.tv_usec + 999) / 1000);
    return true;
}

static int set_linger(struct rs_socket *s, const void *value, socklen_t bytes)
{
    struct linger linger;

    if (value == NULL || bytes < sizeof(linger))
        return EINVAL;
    memcpy(&linger, value, sizeof(linger));
    s->linger_on = linger.l_onoff != 0;
    s->linger_s = linger.l_linger > 0 ? (uint32_t)linger.l_linger : 0;
    return 0;
}

static int set_socket(struct rs_socket *s, int name, const void *value, socklen_t bytes)
{
    int number;

    switch (name) {
    case SO_LINGER:
        return set_linger(s, value, bytes);
    case SO_RCVTIMEO:
        return time_of(value, bytes, &s->receive_timeout_ms) ? 0 : EDOM;
    case SO_SNDTIMEO:
        return time_of(value, bytes, &s->send_timeout_ms) ? 0 : EDOM;
    default:
        break;
    }
    if (!number_of(value, bytes, &number))
        return EINVAL;
    switch (name) {
    case SO_REUSEADDR:
        s->reuse = number != 0;
        return 0;
    case SO_KEEPALIVE:
        s->keepalive = number != 0;
        return 0;
    case SO_SNDBUF:
        s->want_send_bytes = number > 0 ? (uint32_t)number : 0;
        return 0;
    case SO_RCVBUF:
        if (s->cq == NULL) /* the peer gets it by other means */
            s->want_receive_bytes = number > 0 ? (uint32_t)number : 0;
        return 0;
    case SO_OOBINLINE:
        return 0; /* there is no urgent data */
    default:
        return ENOPROTOOPT;
    }
}

static int set_tcp(struct rs_socket *s, int name, const void *value, socklen_t bytes)
{
    int number;

    if (!number_of(value, bytes, &number))
        return EINVAL;
    switch (name) {
    case TCP_NODELAY: /* data is never delayed */
        s->no_delay = number != 0;
        return 0;
    case TCP_KEEPIDLE:
        s->keep_idle = number;
        return 0;
    case TCP_MAXSEG: /* a stream has no visible segments */
        s->max_segment = (uint32_t)number;
        return 0;
    default:
        return ENOPROTOOPT;
    }
}

static unsigned messages_of(int number)
{
    return number < RS_LEAST_MESSAGES  ? RS_LEAST_MESSAGES
           : number > RS_MOST_MESSAGES ? RS_MOST_MESSAGES
                                       : (unsigned)number;
}

/* Before the connection is made. */
static int set_rdma(struct rs_socket *s, int name, const void *value, socklen_t bytes)
{
    int number;

    if (name == RDMA_ROUTE)
        return EOPNOTSUPP;
    if (!number_of(value, bytes, &number) || number < 0 || s->cq != NULL)
        return EINVAL;
    switch (name) {
    case RDMA_SQSIZE:
        s->most_sends = messages_of(number);
        return 0;
    case RDMA_RQSIZE:
        s->most_receives = messages_of(number);
        return 0;
    case RDMA_INLINE:
        s->inline_bytes = number < RS_INLINE_BYTES ? (uint32_t)number : RS_INLINE_BYTES;
        return 0;
    case RDMA_IOMAPSIZE:
        s->iomaps = number < RS_MOST_IOMAPS ? (unsigned)number : RS_MOST_IOMAPS;
        return 0;
    default:
        return ENOPROTOOPT;
    }
}

static int set(struct rs_socket *s, int level, int name, const void *value, socklen_t bytes)
{
    int number;

    switch (level) {
    case SOL_SOCKET:
        return set_socket(s, name, value, bytes);
    case IPPROTO_TCP:
        return set_tcp(s, name, value, bytes);
    case SOL_RDMA:
        return set_rdma(s, name, value, bytes);
    case IPPROTO_IPV6:
        if (name != IPV6_V6ONLY || !number_of(value, bytes, &number))
            return ENOPROTOOPT;
        s->v6_only = number != 0;
        return 0;
    default:
        return ENOPROTOOPT;
    }
}

int rsetsockopt(int socket, int level, int optname, const void *optval, socklen_t optlen)
{
    struct rs_socket *s = rs_get(socket);
    int error;

    if (s == NULL)
        return -1;
    pthread_mutex_lock(&s->lock);
    error = set(s, level, optname, optval, optlen);
    pthread_mutex_unlock(&s->lock);
    rs_put(s);
    return cm_result(error);
}

/* ---- getting ---- */

static int take_error(struct rs_socket *s)
{
    const int error = s->error;

    s->error = 0;
    return error;
}

static int get_socket_number(struct rs_socket *s, int name, int *number)
{
    switch (name) {
    case SO_ERROR:
        rs_progress(s);
        *number = take_error(s);
        return 0;
    case SO_TYPE:
        *number = SOCK_STREAM;
        return 0;
    case SO_PROTOCOL:
        *number = IPPROTO_TCP;
        return 0;
    case SO_DOMAIN:
        *number = s->family;
        return 0;
    case SO_ACCEPTCONN:
        *number = s->state == RS_LISTENING;
        return 0;
    case SO_REUSEADDR:
        *number = s->reuse;
        return 0;
    case SO_KEEPALIVE:
        *number = s->keepalive;
        return 0;
    case SO_SNDBUF:
        *number = (int)(s->send_bytes != 0 ? s->send_bytes : s->want_send_bytes);
        return 0;
    case SO_RCVBUF:
        *number = (int)s->want_receive_bytes;
        return 0;
    case SO_OOBINLINE:
        *number = 1;
        return 0;
    default:
        return ENOPROTOOPT;
    }
}

static int get_number(struct rs_socket *s, int level, int name, int *number)
{
    if (level == SOL_SOCKET)
        return get_socket_number(s, name, number);
    if (level == IPPROTO_TCP && name == TCP_NODELAY)
        *number = s->no_delay;
    else if (level == IPPROTO_TCP && name == TCP_KEEPIDLE)
        *number = s->keep_idle;
    else if (level == IPPROTO_TCP && name == TCP_MAXSEG)
        *number = s->cq != NULL ? (int)cm_id_of(s->id)->path_mtu : 0;
    else if (level == IPPROTO_IPV6 && name == IPV6_V6ONLY)
        *number = s->v6_only;
    else if (level == SOL_RDMA && name == RDMA_SQSIZE)
        *number = (int)s->most_sends;
    else if (level == SOL_RDMA && name == RDMA_RQSIZE)
        *number = (int)s->most_receives;
    else if (level == SOL_RDMA && name == RDMA_INLINE)
        *number = (int)s->inline_bytes;
    else if (level == SOL_RDMA && name == RDMA_IOMAPSIZE)
        *number = (int)s->iomaps;
    else
        return ENOPROTOOPT;
    if (level == IPPROTO_TCP && name == TCP_MAXSEG)
        *number = 128 << *number; /* from enum ibv_mtu to bytes */
    return 0;
}

static int get(struct rs_socket *s, int level, int name, void *value, socklen_t *bytes)
{
    struct timeval time;
    struct linger linger = {.l_onoff = s->linger_on != 0, .l_linger = (int)s->linger_s};
    const uint32_t ms = name == SO_RCVTIMEO ? s->receive_timeout_ms : s->send_timeout_ms;
    const void *from;
    int number, error;
    socklen_t whole;

    if (level == SOL_SOCKET && name == SO_LINGER) {
        from = &linger;
        whole = sizeof(linger);
    } else if (level == SOL_SOCKET && (name == SO_RCVTIMEO || name == SO_SNDTIMEO)) {
        time = (struct timeval){.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000};
        from = &time;
        whole = sizeof(time);
    } else {
        error = get_number(s, level, name, &number);
        if (error != 0)
            return error;
        from = &number;
        whole = sizeof(number);
    }
    memcpy(value, from, *bytes < whole ? *bytes : whole);
    *bytes = *bytes < whole ? *bytes : whole;
    return 0;
}

int rgetsockopt(int socket, int level, int optname, void *optval, socklen_t *optlen)
{
    struct rs_socket *s = rs_get(socket);
    int error;

    if (s == NULL)
        return -1;
    if (optval == NULL || optlen == NULL) {
        rs_put(s);
        return rs_error(EFAULT);
    }
    pthread_mutex_lock(&s->lock);
    error = get(s, level, optname, optval, optlen);
    pthread_mutex_unlock(&s->lock);
    rs_put(s);
    return cm_result(error);
}

ssize_t oche_rsocket_pending(int descriptor)
{
    struct rs_socket *s = rs_get(descriptor);
    ssize_t pending;

    if (s == NULL)
        return -1;
    pthread_mutex_lock(&s->lock);
    rs_progress(s);
    pending = s->in.filled;
    pthread_mutex_unlock(&s->lock);
    rs_put(s);
    return pending;
}

/* ---- descriptors ---- */

int oche_rsocket_watch(int descriptor)
{
    struct rs_socket *s = rs_get(descriptor);

    if (s == NULL)
        return -1;
    pthread_mutex_lock(&s->lock);
    s->watched = true;
    rs_service_watch(s);
    rs_ready_show(s, false);
    pthread_mutex_unlock(&s->lock);
    rs_put(s);
    return 0;
}

int oche_rsocket_copied(int descriptor, int copy)
{
    struct rs_socket *s = rs_get(descriptor);
    bool entered;

    if (s == NULL)
        return -1;
    entered = rs_enter(s, copy);
    rs_put(s);
    return entered ? 0 : -1;
}

int oche_rsocket_move(int from, int to)
{
    struct rs_socket *s = rs_get(from);
    const int cloexec = rs_real_fcntl(to, F_GETFD, 0);
    int error = 0;

    if (s == NULL)
        return -1;
    pthread_mutex_lock(&s->lock);
    if (rs_real_dup3(from, to, cloexec > 0 && (cloexec & FD_CLOEXEC) != 0 ? O_CLOEXEC : 0) < 0 ||
        !rs_enter(s, to))
        error = errno;
    else
        rs_leave(s, from);
    pthread_mutex_unlock(&s->lock);
    rs_put(s);
    return cm_result(error);
}

static int set_flags(struct rs_socket *s, int descriptor, long flags)
{
    s->nonblocking = (flags & O_NONBLOCK) != 0;
    return rs_real_fcntl(descriptor, F_SETFL, flags);
}

int rfcntl(int socket, int cmd, ...)
{
    struct rs_socket *s = rs_get(socket);
    va_list arguments;
    long argument;
    int result;

    if (s == NULL)
        return -1;
    va_start(arguments, cmd);
    argument = va_arg(arguments, long); /* there may be none, and it is unused */
    va_end(arguments);
    pthread_mutex_lock(&s->lock);
    if (cmd == F_SETFL)
        result = set_flags(s, socket, (int)argument);
    else
        result = rs_real_fcntl(socket, cmd, argument);
    if (result >= 0 && (cmd == F_DUPFD || cmd == F_DUPFD_CLOEXEC) && !rs_enter(s, result)) {
        rs_real_close(result);
        result = -1;
    }
    pthread_mutex_unlock(&s->lock);
    rs_put(s);
    return result;
}
