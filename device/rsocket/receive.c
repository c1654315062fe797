/* SPDX-License-Identifier: Apache-2.0 */
/* Receiving: bytes are copied out of the ring that the peer writes to. */
#include <string.h>

#include "device/rsocket/internal.h"

/*
 * Copies out of the ring. To leave the bytes there, the caller passes a copy of the socket's flow.
 */
static size_t copy_in(const struct rs_socket *s, struct rs_inflow *flow, uint8_t *to, size_t bytes)
{
    size_t done = 0;

    while (done < bytes && flow->filled > 0) {
        const uint32_t here = rs_inflow_readable(flow);
        const uint32_t some = bytes - done < here ? (uint32_t)(bytes - done) : here;

        if (to != NULL)
            memcpy(to + done, s->receive_ring + flow->tail, some);
        rs_inflow_read(flow, some);
        done += some;
    }
    return done;
}

/* Copies into the program's pieces from byte `done` of them on. Returns how many bytes. */
static size_t fill(struct rs_socket *s, const struct iovec *pieces, size_t count, size_t done,
                   int flags)
{
    struct rs_inflow peeked = s->in, *flow = (flags & MSG_PEEK) != 0 ? &peeked : &s->in;
    size_t copied = 0;

    for (size_t i = 0; i < count; i++) {
        size_t some;

        if (done >= pieces[i].iov_len) {
            done -= pieces[i].iov_len;
            continue;
        }
        some =
            copy_in(s, flow, (flags & MSG_TRUNC) != 0 ? NULL : (uint8_t *)pieces[i].iov_base + done,
                    pieces[i].iov_len - done);
        copied += some;
        if (some < pieces[i].iov_len - done)
            break;
        done = 0;
    }
    return copied;
}

static bool is_connected(const struct rs_socket *s)
{
    return s->state != RS_CONNECTING;
}

/* Returns the errno of a failed connection the first time that it is called, then 0. */
static int own_error(struct rs_socket *s)
{
    const int error = s->error;

    s->error = 0;
    return error;
}

ssize_t rs_receive(struct rs_socket *s, const struct iovec *pieces, size_t count, int flags)
{
    size_t total = 0, done = 0;
    bool wait, again = true;
    int error = 0;

    for (size_t i = 0; i < count; i++)
        total += pieces[i].iov_len;
    pthread_mutex_lock(&s->lock);
    wait = !s->nonblocking && (flags & MSG_DONTWAIT) == 0;
    if (s->state == RS_CONNECTING)
        error = rs_wait(s, is_connected, wait, s->receive_timeout_ms);
    if (error == 0 && s->state != RS_CONNECTED)
        error = s->error != 0 ? own_error(s) : ENOTCONN;
    while (error == 0 && again && done < total) {
        if (s->in.filled == 0)
            error = rs_wait(s, rs_can_read, wait, s->receive_timeout_ms);
        if (error != 0)
            break;
        again = s->in.filled > 0 && (flags & (MSG_WAITALL | MSG_PEEK)) == MSG_WAITALL;
        if (s->in.filled == 0 && !s->receive_shut)
            error = own_error(s); /* 0: the end */
        done += fill(s, pieces, count, done, flags);
    }
    if (rs_inflow_should_give(&s->in) || s->in.filled == 0)
        rs_progress(s);
    if (s->watched && s->in.filled == 0)
        rs_ready_show(s, false);
    pthread_mutex_unlock(&s->lock);
    return done > 0 || error == 0 ? (ssize_t)done : rs_error(error);
}

/* ---- the calls ---- */

static ssize_t receive_by(int descriptor, const struct iovec *pieces, size_t count, int flags)
{
    struct rs_socket *s = rs_get(descriptor);
    ssize_t received;

    if (s == NULL)
        return -1;
    received = rs_receive(s, pieces, count, flags);
    rs_put(s);
    return received;
}

ssize_t rrecv(int socket, void *buf, size_t len, int flags)
{
    const struct iovec piece = {.iov_base = buf, .iov_len = len};

    return receive_by(socket, &piece, 1, flags);
}

ssize_t rrecvfrom(int socket, void *buf, size_t len, int flags, struct sockaddr *src_addr,
                  socklen_t *addrlen)
{
    const ssize_t received = rrecv(socket, buf, len, flags);

    if (received >= 0 && src_addr != NULL && addrlen != NULL)
        rgetpeername(socket, src_addr, addrlen);
    return received;
}

ssize_t rrecvmsg(int socket, struct msghdr *msg, int flags)
{
    const ssize_t received = receive_by(socket, msg->msg_iov, msg->msg_iovlen, flags);

    if (received < 0)
        return received;
    msg->msg_namelen = 0;
    msg->msg_controllen = 0;
    msg->msg_flags = 0;
    return received;
}

ssize_t rread(int socket, void *buf, size_t count)
{
    return rrecv(socket, buf, count, 0);
}

ssize_t rreadv(int socket, const struct iovec *iov, int iovcnt)
{
    if (iovcnt < 0)
        return rs_error(EINVAL);
    return receive_by(socket, iov, (size_t)iovcnt, 0);
}
