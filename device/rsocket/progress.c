/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Completions: sent data has arrived, or the peer has sent something. Each message is checked
 * against the peer's limits; a violation ends the connection with EPROTO.
 */
#include <poll.h>
#include <time.h>

#include "device/rsocket/internal.h"

#define BATCH         16
#define LEAST_TO_SEND 2048 /* bytes of the send ring that are free when a socket can be written */

oche_time rs_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return ((oche_time)now.tv_sec * 1000000000 + (oche_time)now.tv_nsec) * 1000;
}

/* ---- what can be done ---- */

bool rs_can_read(const struct rs_socket *s)
{
    return s->in.filled > 0 || s->peer_done || s->receive_shut || s->lost || s->error != 0 ||
           s->closing || s->state == RS_FAILED;
}

uint32_t rs_send_room(const struct rs_socket *s)
{
    return s->send_bytes - s->send_used;
}

static bool is_over(const struct rs_socket *s)
{
    return s->lost || s->send_shut || s->peer_gone || s->closing || s->state == RS_FAILED;
}

bool rs_can_write(const struct rs_socket *s)
{
    if (is_over(s))
        return true;
    return s->state == RS_CONNECTED && s->sends < s->most_sends &&
           rs_send_room(s) >= LEAST_TO_SEND && rs_outflow_room(&s->out) > 0;
}

bool rs_all_sent(const struct rs_socket *s)
{
    return s->lost || s->sends == 0;
}

short rs_events(const struct rs_socket *s)
{
    short events = 0;

    if (s->state == RS_LISTENING)
        return s->first != NULL ? POLLIN | POLLRDNORM : 0;
    if (s->state == RS_NEW || s->state == RS_BOUND)
        return POLLOUT | POLLWRNORM | POLLHUP;
    if (s->state == RS_CONNECTING)
        return 0;
    if (rs_can_read(s))
        events |= POLLIN | POLLRDNORM;
    if (rs_can_write(s))
        events |= POLLOUT | POLLWRNORM;
    if (s->peer_done || s->lost)
        events |= POLLRDHUP;
    if (s->in.filled == 0 && (s->peer_gone || s->lost || (s->peer_done && s->send_shut)))
        events |= POLLHUP;
    if (s->error != 0)
        events |= POLLERR;
    return events;
}

/* ---- the end of a connection ---- */

void rs_lose(struct rs_socket *s, int error)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

    if (s->lost)
        return;
    s->lost = true;
    /* the peer has announced its end, so all data is here */
    if (!s->peer_gone && !s->closing)
        s->error = error;
    if (s->send_error == 0)
        s->send_error = s->peer_gone ? ECONNRESET : error;
    if (s->qp != NULL)
        ibv_modify_qp(s->qp, &attr, IBV_QP_STATE);
    rs_kick(s);
}

/* ---- what arrives ---- */

static bool take_credit(struct rs_socket *s, uint32_t value, uint32_t written)
{
    const uint32_t at = (s->out.current + s->out.count) % RS_PLACES;
    struct rs_place place;

    rs_outflow_credits(&s->out, value);
    if (written == 0)
        return true;
    if (written != RS_PLACE_BYTES)
        return false;
    place = rs_place_read(s->table + at * RS_PLACE_BYTES, s->swap);
    return rs_outflow_granted(&s->out, &place);
}

static bool take_control(struct rs_socket *s, uint32_t value)
{
    switch (value) {
    case RS_CONTROL_DISCONNECT:
        s->peer_done = s->peer_gone = true;
        return true;
    case RS_CONTROL_SHUTDOWN:
        s->peer_done = true;
        return true;
    default:
        return value == RS_CONTROL_KEEPALIVE;
    }
}

/* Returns false if the peer must not send this. */
static bool take_message(struct rs_socket *s, uint32_t immediate, uint32_t written)
{
    const uint32_t value = rs_immediate_value(immediate);

    switch (rs_immediate_message(immediate)) {
    case RS_MESSAGE_DATA:
        if (s->peer_done || value != written || !rs_inflow_arrived(&s->in, value))
            return false;
        if (s->receive_shut || s->closing)
            rs_inflow_read(&s->in, s->in.filled); /* the program will not read these bytes */
        return true;
    case RS_MESSAGE_CREDIT:
        return take_credit(s, value, written);
    case RS_MESSAGE_IOMAP:
        return value < s->iomaps && rs_inflow_counted(&s->in);
    case RS_MESSAGE_CONTROL:
        return take_control(s, value);
    default:
        return false;
    }
}

static void arrived(struct rs_socket *s, const struct ibv_wc *wc)
{
    if (wc->status != IBV_WC_SUCCESS)
        return; /* flushed, as the queue pair is in error */
    if ((wc->wc_flags & IBV_WC_WITH_IMM) == 0 || wc->opcode != IBV_WC_RECV_RDMA_WITH_IMM ||
        !take_message(s, be32toh(wc->imm_data), wc->byte_len)) {
        rs_lose(s, EPROTO);
        return;
    }
    if (!s->lost && !rs_post_receive(s))
        rs_lose(s, errno);
}

static int error_of(enum ibv_wc_status status)
{
    switch (status) {
    case IBV_WC_RETRY_EXC_ERR:
    case IBV_WC_RNR_RETRY_EXC_ERR:
        return ETIMEDOUT;
    default:
        return ECONNRESET;
    }
}

static void sent(struct rs_socket *s, const struct ibv_wc *wc)
{
    switch ((enum rs_work)(wc->wr_id >> 32)) {
    case RS_WORK_DATA:
        s->sends--;
        s->send_used -= (uint32_t)wc->wr_id;
        break;
    case RS_WORK_DISCONNECT:
        s->disconnect_done = true;
        s->controls--;
        break;
    case RS_WORK_CONTROL:
        s->controls--;
        break;
    default:
        s->probing = false;
        break;
    }
    if (wc->status != IBV_WC_SUCCESS)
        rs_lose(s, error_of(wc->status));
}

/* ---- what is sent without data ---- */

static const struct rs_place nowhere;

bool rs_send_control(struct rs_socket *s, enum rs_control control)
{
    const uint32_t immediate = rs_immediate(RS_MESSAGE_CONTROL, control);
    const bool last = control == RS_CONTROL_DISCONNECT;
    int error;

    if (s->lost || s->controls == RS_CONTROLS)
        return s->lost;
    s->controls++;
    error = rs_post_write(s, &nowhere, NULL, 0, 0,
                          rs_work_id(last ? RS_WORK_DISCONNECT : RS_WORK_CONTROL, 0), &immediate);
    if (error != 0)
        rs_lose(s, error);
    return true;
}

void rs_probe(struct rs_socket *s)
{
    int error;

    if (s->lost || s->probing || s->sends > 0)
        return;
    s->probing = true;
    error = rs_post_write(s, &nowhere, NULL, 0, 0, rs_work_id(RS_WORK_PROBE, 0), NULL);
    if (error != 0)
        rs_lose(s, error);
}

/* Informs the peer of free places and credits. */
static void give_places(struct rs_socket *s)
{
    uint32_t offset, entry, immediate, length = 0;
    uint8_t bytes[RS_PLACE_BYTES];
    struct rs_place to = nowhere;
    int error;

    if (s->state != RS_CONNECTED || s->lost || s->peer_done || s->controls == RS_CONTROLS ||
        !rs_inflow_should_give(&s->in))
        return;
    if (rs_inflow_give(&s->in, &offset, &entry)) {
        const struct rs_place place = {.address = (uintptr_t)(s->receive_ring + offset),
                                       .key = s->receive_mr->rkey,
                                       .length = s->in.half};

        rs_place_write(&place, s->swap, bytes);
        length = RS_PLACE_BYTES;
        to.address = s->list.address + entry * RS_PLACE_BYTES;
        to.key = s->list.key;
    }
    immediate = rs_immediate(RS_MESSAGE_CREDIT, s->in.limit);
    s->controls++;
    error = rs_post_write(s, &to, bytes, length, 0, rs_work_id(RS_WORK_CONTROL, 0), &immediate);
    if (error != 0)
        rs_lose(s, error);
}

/* ---- all of it ---- */

void rs_progress(struct rs_socket *s)
{
    struct ibv_wc wc[BATCH];
    bool heard = false;
    int count;

    if (s->cq == NULL || s->state == RS_CONNECTING) /* the peer's limits are not known yet */
        return;
    do {
        give_places(s);
        count = ibv_poll_cq(s->cq, BATCH, wc);
        for (int i = 0; i < count; i++) {
            heard |= wc[i].status == IBV_WC_SUCCESS;
            if (wc[i].wr_id >> 32 == RS_WORK_RECEIVE)
                arrived(s, &wc[i]);
            else
                sent(s, &wc[i]);
        }
    } while (count == BATCH);
    if (count < 0)
        rs_lose(s, EIO);
    if (heard) {
        s->heard = rs_now();
        give_places(s);
        pthread_cond_broadcast(&s->changed);
    }
    if (s->watched)
        rs_ready_show(s, heard);
}
