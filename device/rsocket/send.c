/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sending: bytes are copied into the ring, from which an RDMA WRITE takes them to the peer's ring.
 * Few bytes go into the work request itself. A call that may wait returns when all is in the ring.
 */
#include <string.h>

#include "device/rsocket/internal.h"

/* A call's position in the program's pieces. */
struct cursor {
    const struct iovec *piece;
    size_t offset; /* into *piece */
};

static void copy_out(struct cursor *at, uint8_t *to, size_t bytes)
{
    while (bytes > 0) {
        const size_t here = at->piece->iov_len - at->offset;
        const size_t some = bytes < here ? bytes : here;

        memcpy(to, (const uint8_t *)at->piece->iov_base + at->offset, some);
        to += some;
        bytes -= some;
        at->offset += some;
        if (at->offset == at->piece->iov_len) {
            at->piece++;
            at->offset = 0;
        }
    }
}

/* Returns the largest size of the next message. *few: it does not need the ring. */
static uint32_t most_now(const struct rs_socket *s, size_t left, bool *few)
{
    const uint32_t to_the_end = s->send_bytes - s->send_head, room = rs_send_room(s);
    uint32_t most = rs_outflow_room(&s->out);

    most = most < RS_MOST_MESSAGE ? most : RS_MOST_MESSAGE;
    most = left < most ? (uint32_t)left : most;
    *few = most <= s->inline_bytes && most <= RS_INLINE_BYTES;
    if (*few)
        return most;
    most = most < to_the_end ? most : to_the_end;
    return most < room ? most : room;
}

/* Sends one message. Returns its bytes; 0: the connection is lost. */
static uint32_t send_message(struct rs_socket *s, struct cursor *at, size_t left)
{
    bool few;
    const uint32_t bytes = most_now(s, left, &few);
    const uint32_t immediate = rs_immediate(RS_MESSAGE_DATA, bytes);
    uint8_t copy[RS_INLINE_BYTES];
    struct rs_place to;
    int error;

    if (bytes == 0)
        return 0;
    to = rs_outflow_take(&s->out, bytes);
    s->sends++;
    if (few) {
        copy_out(at, copy, bytes);
        error = rs_post_write(s, &to, copy, bytes, 0, rs_work_id(RS_WORK_DATA, 0), &immediate);
    } else {
        uint8_t *from = s->send_ring + s->send_head;

        copy_out(at, from, bytes);
        s->send_head = (s->send_head + bytes) % s->send_bytes;
        s->send_used += bytes;
        error = rs_post_write(s, &to, from, bytes, s->send_mr->lkey,
                              rs_work_id(RS_WORK_DATA, bytes), &immediate);
    }
    if (error != 0) {
        rs_lose(s, error);
        return 0;
    }
    return bytes;
}

/* Returns 0, or the errno with which sending ends. */
static int refusal(struct rs_socket *s)
{
    if (s->error != 0) {
        const int error = s->error;

        s->error = 0;
        return error;
    }
    if (s->send_shut)
        return EPIPE;
    if (s->peer_gone || s->lost)
        return s->send_error != 0 ? s->send_error : ECONNRESET;
    return 0;
}

static bool is_connected(const struct rs_socket *s)
{
    return s->state != RS_CONNECTING;
}

/* Waits until data may be sent at all. Returns 0 or an errno. */
static int ready_to_send(struct rs_socket *s, bool wait)
{
    int error = 0;

    if (s->state == RS_CONNECTING)
        error = rs_wait(s, is_connected, wait, s->send_timeout_ms);
    if (error != 0)
        return error;
    if (s->state != RS_CONNECTED)
        return s->error != 0 ? refusal(s) : ENOTCONN;
    return s->mappings != NULL ? rs_iomaps_send(s, wait) : 0;
}

ssize_t rs_send(struct rs_socket *s, const struct iovec *pieces, size_t count, int flags)
{
    struct cursor at = {.piece = pieces};
    size_t total = 0, done = 0;
    bool wait;
    int error;

    for (size_t i = 0; i < count; i++)
        total += pieces[i].iov_len;
    pthread_mutex_lock(&s->lock);
    wait = !s->nonblocking && (flags & MSG_DONTWAIT) == 0;
    error = ready_to_send(s, wait);
    while (error == 0 && done < total) {
        if (!rs_can_write(s))
            error = rs_wait(s, rs_can_write, wait, s->send_timeout_ms);
        if (error == 0)
            error = refusal(s);
        while (at.piece->iov_len == 0)
            at.piece++;
        if (error == 0)
            done += send_message(s, &at, total - done);
    }
    rs_progress(s); /* posted work leaves now */
    if (s->watched && error == EAGAIN)
        rs_ready_show(s, false);
    pthread_mutex_unlock(&s->lock);
    return done > 0 || error == 0 ? (ssize_t)done : rs_error(error);
}

/* ---- the calls ---- */

static ssize_t send_by(int descriptor, const struct iovec *pieces, size_t count, int flags)
{
    struct rs_socket *s = rs_get(descriptor);
    ssize_t sent;

    if (s == NULL)
        return -1;
    sent = rs_send(s, pieces, count, flags);
    rs_put(s);
    return sent;
}

ssize_t rsend(int socket, const void *buf, size_t len, int flags)
{
    const struct iovec piece = {.iov_base = (void *)(uintptr_t)buf, .iov_len = len};

    return send_by(socket, &piece, 1, flags);
}

ssize_t rsendto(int socket, const void *buf, size_t len, int flags,
                const struct sockaddr *dest_addr, socklen_t addrlen)
{
    if (dest_addr != NULL || addrlen != 0)
        return rs_error(EISCONN);
    return rsend(socket, buf, len, flags);
}

ssize_t rsendmsg(int socket, const struct msghdr *msg, int flags)
{
    if (msg->msg_control != NULL && msg->msg_controllen > 0)
        return rs_error(EOPNOTSUPP);
    return send_by(socket, msg->msg_iov, msg->msg_iovlen, flags);
}

ssize_t rwrite(int socket, const void *buf, size_t count)
{
    return rsend(socket, buf, count, 0);
}

ssize_t rwritev(int socket, const struct iovec *iov, int iovcnt)
{
    if (iovcnt < 0)
        return rs_error(EINVAL);
    return send_by(socket, iov, (size_t)iovcnt, 0);
}
