/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shutting down and closing. Closing does not wait, unless SO_LINGER asks for it: the thread ends
 * the connection when all sent data has arrived, and the peer knows that it was the last.
 */
#include "device/cm/internal.h"
#include "device/rsocket/internal.h"

#define CLOSE_WAIT (30 * OCHE_SEC) /* for a peer that does not read */

/* ---- shutdown ---- */

static bool has_control(const struct rs_socket *s)
{
    return s->lost || s->controls < RS_CONTROLS;
}

/* Under the lock. Returns 0 or an errno. */
static int shut_sending(struct rs_socket *s)
{
    const bool last = s->receive_shut || s->peer_done;
    int error;

    if (s->send_shut || s->lost || s->peer_gone) {
        s->send_shut = true;
        return 0;
    }
    s->send_shut = true;
    error = rs_wait(s, has_control, true, 0);
    if (error != 0)
        return error;
    s->disconnect_sent = last;
    rs_send_control(s, last ? RS_CONTROL_DISCONNECT : RS_CONTROL_SHUTDOWN);
    return 0;
}

static int shut(struct rs_socket *s, int how)
{
    int error = 0;

    if (how != SHUT_RD && how != SHUT_WR && how != SHUT_RDWR)
        return EINVAL;
    if (s->state == RS_LISTENING || s->state != RS_CONNECTED)
        return ENOTCONN;
    if (how != SHUT_WR) {
        s->receive_shut = true;
        rs_inflow_read(&s->in, s->in.filled); /* the program will not read these bytes */
    }
    if (how != SHUT_RD)
        error = shut_sending(s);
    rs_progress(s);
    rs_kick(s);
    return error;
}

int rshutdown(int socket, int how)
{
    struct rs_socket *s = rs_get(socket);
    int error;

    if (s == NULL)
        return -1;
    pthread_mutex_lock(&s->lock);
    error = shut(s, how);
    pthread_mutex_unlock(&s->lock);
    rs_put(s);
    return cm_result(error);
}

/* ---- close ---- */

bool rs_close_step(struct rs_socket *s)
{
    rs_progress(s);
    if (s->state != RS_CONNECTED || s->lost)
        return true;
    if (!s->disconnect_sent && !s->peer_gone)
        s->disconnect_sent = rs_send_control(s, RS_CONTROL_DISCONNECT);
    rs_progress(s);
    if (s->lost || rs_now() > s->close_by)
        return true;
    return s->sends == 0 && (s->disconnect_done || s->peer_gone);
}

/* Closes sockets that were not accepted. */
static void close_unaccepted(struct rs_socket *listener)
{
    for (struct rs_socket *s = rs_next(NULL); s != NULL; s = rs_next(s)) {
        bool ours;

        rs_table_lock();
        ours = s->listener == listener;
        rs_table_unlock();
        if (!ours || !rs_detach(s))
            continue;
        rs_close(s);
        rs_put(s);
    }
}

void rs_close(struct rs_socket *s)
{
    struct rdma_cm_id *unconnected = NULL;
    bool listens;

    pthread_mutex_lock(&s->lock);
    if (s->closing) {
        pthread_mutex_unlock(&s->lock);
        return;
    }
    listens = s->state == RS_LISTENING;
    rs_table_lock();
    s->closing = true; /* requests are rejected from now on */
    rs_table_unlock();
    s->close_by = rs_now() + CLOSE_WAIT;
    if (s->in.filled > 0) /* the program will not read these bytes */
        rs_inflow_read(&s->in, s->in.filled);
    if (s->linger_on && s->linger_s == 0 && s->state == RS_CONNECTED)
        rs_lose(s, ECONNRESET);
    if (!rs_close_step(s))
        rs_service_watch(s);
    rs_kick(s);
    if (s->state == RS_NEW || s->state == RS_BOUND || listens) {
        unconnected = s->id;
        s->id = NULL;
    }
    pthread_mutex_unlock(&s->lock);
    if (unconnected != NULL)
        rdma_destroy_id(unconnected); /* at once, as its port has to be free */
    if (listens)
        close_unaccepted(s);
    rs_service_wake();
}

static bool is_closed(const struct rs_socket *s)
{
    return s->lost || (s->sends == 0 && s->disconnect_done);
}

/* Waits until sent data has arrived, if the program asked for that. Under the lock. */
static void linger(struct rs_socket *s)
{
    if (!s->linger_on || s->linger_s == 0 || s->state != RS_CONNECTED || s->peer_gone)
        return;
    if (shut_sending(s) == 0)
        rs_wait(s, s->disconnect_sent ? is_closed : rs_all_sent, true, s->linger_s * 1000);
}

int rclose(int socket)
{
    struct rs_socket *s = rs_get(socket);
    bool last;

    if (s == NULL)
        return -1;
    /* under the lock: ready.c must not write to another file with this number */
    pthread_mutex_lock(&s->lock);
    last = rs_leave(s, socket);
    if (last)
        linger(s);
    pthread_mutex_unlock(&s->lock);
    if (last)
        rs_close(s);
    rs_put(s);
    return 0;
}
