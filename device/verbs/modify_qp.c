/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ibv_modify_qp: checks attributes, keeps them for ibv_query_qp, and makes the core's connection
 * from them. transitions.c has the attributes that a state change needs. Path migration is not
 * supported: an alternate path is rejected.
 */
#include <string.h>

#include "device/verbs/internal.h"

#define MIN_WINDOW 4 /* packets */
/*
 * Access flags that a queue pair accepts. Only regions permit local writes and window binds, but
 * programs set these flags for queue pairs too.
 */
#define MEANT_ACCESS                                                                               \
    (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |                   \
     IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND | IBV_ACCESS_OPTIONAL_RANGE)

/* ---- checking ---- */

/* Returns 0, or an errno. */
static int check_values(const struct ov_qp *qp, const struct ibv_qp_attr *attr, int mask)
{
    if ((mask & IBV_QP_ALT_PATH) ||
        ((mask & IBV_QP_PATH_MIG_STATE) && attr->path_mig_state != IBV_MIG_MIGRATED)) {
        ov_unsupported(OV_ONCE_ALTERNATE_PATH);
        return EOPNOTSUPP;
    }
    if ((mask & IBV_QP_PORT) && attr->port_num != OV_PORT_NUM)
        return EINVAL;
    if ((mask & IBV_QP_PKEY_INDEX) && attr->pkey_index != 0)
        return EINVAL;
    if ((mask & IBV_QP_ACCESS_FLAGS) && (attr->qp_access_flags & ~(unsigned int)MEANT_ACCESS) != 0)
        return EINVAL;
    if ((mask & IBV_QP_AV) && !ov_ah_attr_ok(&attr->ah_attr))
        return EINVAL;
    if ((mask & IBV_QP_PATH_MTU) && !ov_path_mtu_ok(qp->port, attr->path_mtu))
        return EINVAL;
    if ((mask & IBV_QP_DEST_QPN) && attr->dest_qp_num > OCHE_PSN_MASK)
        return EINVAL;
    if (((mask & IBV_QP_TIMEOUT) && attr->timeout > 31) ||
        ((mask & IBV_QP_RETRY_CNT) && attr->retry_cnt > 7) ||
        ((mask & IBV_QP_RNR_RETRY) && attr->rnr_retry > 7) ||
        ((mask & IBV_QP_MIN_RNR_TIMER) && attr->min_rnr_timer > 31))
        return EINVAL;
    if (((mask & IBV_QP_MAX_QP_RD_ATOMIC) && attr->max_rd_atomic > OV_MAX_RD_ATOMIC) ||
        ((mask & IBV_QP_MAX_DEST_RD_ATOMIC) && attr->max_dest_rd_atomic > OV_MAX_RD_ATOMIC))
        return EINVAL;
    return 0;
}

/* ---- keeping ---- */

static void keep(struct ibv_qp_attr *kept, const struct ibv_qp_attr *attr, int mask)
{
#define KEEP(bit, field)                                                                           \
    if (mask & (bit))                                                                              \
    kept->field = attr->field
    KEEP(IBV_QP_EN_SQD_ASYNC_NOTIFY, en_sqd_async_notify);
    KEEP(IBV_QP_ACCESS_FLAGS, qp_access_flags);
    KEEP(IBV_QP_PKEY_INDEX, pkey_index);
    KEEP(IBV_QP_PORT, port_num);
    KEEP(IBV_QP_QKEY, qkey);
    KEEP(IBV_QP_AV, ah_attr);
    KEEP(IBV_QP_PATH_MTU, path_mtu);
    KEEP(IBV_QP_TIMEOUT, timeout);
    KEEP(IBV_QP_RETRY_CNT, retry_cnt);
    KEEP(IBV_QP_RNR_RETRY, rnr_retry);
    KEEP(IBV_QP_RQ_PSN, rq_psn);
    KEEP(IBV_QP_MAX_QP_RD_ATOMIC, max_rd_atomic);
    KEEP(IBV_QP_MIN_RNR_TIMER, min_rnr_timer);
    KEEP(IBV_QP_SQ_PSN, sq_psn);
    KEEP(IBV_QP_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic);
    KEEP(IBV_QP_DEST_QPN, dest_qp_num);
#undef KEEP
    kept->rq_psn &= OCHE_PSN_MASK;
    kept->sq_psn &= OCHE_PSN_MASK;
}

/* ---- the core's connection ---- */

static oche_time timeout_of(uint8_t code)
{
    return code == 0 ? OCHE_NEVER : (UINT64_C(4096) * OCHE_NS) << code;
}

static void set_connection(struct ov_qp *qp, uint32_t peer)
{
    const struct ibv_qp_attr *attr = &qp->attr;
    const bool datagrams = qp->qp.qp_type == IBV_QPT_UD;
    const uint32_t mtu = datagrams ? qp->largest_packet : UINT32_C(128) << attr->path_mtu;
    uint32_t window = oche_device_window_packets(qp->port->device, mtu) / 2;

    if (window < MIN_WINDOW)
        window = MIN_WINDOW;
    qp->connection = (struct oche_qp_connection){
        .remote_address = peer,
        .remote_qpn = attr->dest_qp_num,
        .send_psn = attr->sq_psn,
        .recv_psn = attr->rq_psn,
        .udp_source_port =
            ov_source_port(attr->ah_attr.grh.flow_label, qp->qp.qp_num, attr->dest_qp_num),
        .tag = attr->ah_attr.grh.traffic_class,
        .ack_every_packets = window / 4,
        .window_packets = window,
        .window_grows = true,
        .mtu_bytes = mtu,
    };
    qp->connection.flow_hash = qp->connection.udp_source_port;
    qp->group = qp->qp.qp_type == IBV_QPT_RC ? oche_device_group(qp->port->device, peer) : NULL;
}

/*
 * Timeouts from half a second on mean the longest absence of a peer: a stopped process, or one
 * without a processor, does not answer here, where an adapter would. Retransmission should be
 * faster. So it happens after an eighth of the timeout, and eight times as often; the peer is given
 * up at the same time as without. Selective repeat has its own timeouts.
 */
#define LONG_TIMEOUT 17
#define LONG_PARTS   8

/*
 * Shorter timeouts are made for adapters. An adapter's timer may take up to four times the timeout
 * (IBTA 9.7.6.1.3), and a program may wait for a processor for longer than a cable loses packets.
 * So a peer is given up after (retries + 1) timeouts; if that is less than PATIENCE, after up to
 * four times as long. A program that asks for at most one retry, as RoGUE does, wants to learn
 * early.
 */
#define PATIENCE     (2 * OCHE_SEC)
#define TIMER_FACTOR 4

static uint32_t patience_us(oche_time timeout, uint32_t retries)
{
    const oche_time asked = timeout == OCHE_NEVER ? OCHE_NEVER : timeout * (retries + 1);

    if (asked >= PATIENCE || retries <= 1)
        return 0; /* as asked */
    return (uint32_t)(oche_time_min(TIMER_FACTOR * asked, PATIENCE) / OCHE_US);
}

static void set_retries(struct ov_qp *qp)
{
    const struct ibv_qp_attr *attr = &qp->attr;
    const bool is_long =
        attr->timeout >= LONG_TIMEOUT && !oche_device_recovery_has_timeouts(qp->port->device);

    qp->connection.patience_us = patience_us(timeout_of(attr->timeout), attr->retry_cnt);
    qp->connection.ack_timeout = timeout_of(attr->timeout) / (is_long ? LONG_PARTS : 1);
    qp->connection.retry_count =
        is_long ? (attr->retry_cnt + 1u) * LONG_PARTS - 1 : attr->retry_cnt;
    qp->connection.rnr_retry = attr->rnr_retry == 7 ? UINT32_MAX : attr->rnr_retry;
    qp->connection.min_rnr_timer = attr->min_rnr_timer;
    qp->connection.send_psn = attr->sq_psn;
}

/* ---- the state change ---- */

/* Passes the changed attributes on to the core. Called under the device's lock. */
static void apply(struct ov_qp *qp, int mask)
{
    if (mask & IBV_QP_ACCESS_FLAGS)
        oche_qp_set_access(qp->core, ov_access_of(qp->attr.qp_access_flags));
    if (mask & IBV_QP_QKEY)
        oche_qp_set_qkey(qp->core, qp->attr.qkey);
    if (mask & IBV_QP_MAX_QP_RD_ATOMIC)
        oche_qp_set_initiator_depth(qp->core, qp->attr.max_rd_atomic);
    if (mask & (IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MIN_RNR_TIMER)) {
        set_retries(qp);
        oche_qp_set_retries(qp->core, &qp->connection);
    }
}

/*
 * Changes the core's state. Called under the device's lock. Returns false if the core has changed
 * its state itself.
 */
static bool move(struct ov_qp *qp, enum ibv_qp_state from, enum ibv_qp_state to)
    OCHE_NEEDS(device_lock)
{
    const oche_time now = oche_device_now(qp->port->device);

    switch (to) {
    case IBV_QPS_RESET:
        oche_device_send_acks(qp->port->device);
        oche_qp_reset(qp->core);
        return true;
    case IBV_QPS_ERR:
        oche_device_send_acks(qp->port->device);
        oche_qp_fail(qp->core, now);
        return true;
    case IBV_QPS_INIT:
        return from == IBV_QPS_INIT || oche_qp_init(qp->core, now);
    case IBV_QPS_RTR:
        oche_device_forget_ports(qp->core);
        return (qp->qp.qp_type != IBV_QPT_RC ||
                oche_qp_set_responder_resources(qp->core, qp->attr.max_dest_rd_atomic)) &&
               oche_qp_ready_to_receive(qp->core, &qp->connection, now);
    case IBV_QPS_RTS:
        if (from == IBV_QPS_RTR) {
            set_retries(qp);
            return oche_qp_ready_to_send_as(qp->core, &qp->connection, now);
        }
        return from == IBV_QPS_RTS || oche_qp_resume(qp->core, now);
    default:
        return from == IBV_QPS_SQD || oche_qp_drain(qp->core, now);
    }
}

void ov_qp_release_peer(struct ov_qp *qp)
{
    if (qp->has_peer)
        oche_device_release_peer(qp->port->device, qp->connection.remote_address);
    qp->has_peer = false;
}

/* The queue pair is now connected to the peer and keeps the reference; or gives it back. */
static void keep_peer(struct ov_qp *qp, uint32_t peer, bool connected)
{
    if (connected)
        qp->has_peer = true;
    else
        oche_device_release_peer(qp->port->device, peer);
}

static int modify(struct ov_qp *qp, const struct ibv_qp_attr *attr, int mask)
{
    const enum ibv_qp_state from = ov_qp_state_of(qp->core);
    const enum ibv_qp_state to = mask & IBV_QP_STATE ? attr->qp_state : from;
    const struct ibv_qp_attr before = qp->attr;
    uint32_t peer = 0;
    bool moved;
    int error;

    if ((mask & IBV_QP_CUR_STATE) && attr->cur_qp_state != from)
        return EINVAL;
    if (!ov_transition_ok(qp->qp.qp_type, from, to, mask))
        return EINVAL;
    error = check_values(qp, attr, mask);
    if (error != 0)
        return error;
    if ((mask & IBV_QP_AV) && from == IBV_QPS_SQD)
        return EOPNOTSUPP; /* a connection keeps its peer */
    if ((mask & IBV_QP_MAX_DEST_RD_ATOMIC) && from == IBV_QPS_SQD &&
        attr->max_dest_rd_atomic != qp->attr.max_dest_rd_atomic)
        return EOPNOTSUPP; /* a connection keeps its responder resources, which may be in use */
    if ((mask & IBV_QP_AV) && (peer = ov_peer_of(qp->port, &attr->ah_attr)) == UINT32_MAX)
        return errno;
    oche_device_lock(qp->port->device); /* ov_qp_event reads the same attributes */
    keep(&qp->attr, attr, mask);
    if (to == IBV_QPS_RTR)
        set_connection(qp, peer); /* not used for UD */
    moved = move(qp, from, to);
    if (moved)
        apply(qp, mask);
    else
        qp->attr = before;
    if (moved && to == IBV_QPS_RESET)
        memset(&qp->attr, 0, sizeof(qp->attr));
    oche_device_unlock(qp->port->device);
    if (mask & IBV_QP_AV)
        keep_peer(qp, peer, moved && to == IBV_QPS_RTR);
    if (!moved)
        return EINVAL;
    if (to == IBV_QPS_RESET)
        ov_qp_release_peer(qp);
    if (to == IBV_QPS_RESET)
        ov_strict_reset(qp);
    if (to == IBV_QPS_RESET) { /* remove the completions of the work that the queue pair had */
        ov_cq_forget_qp(ov_cq_of(qp->qp.send_cq), qp->qp.qp_num);
        ov_cq_forget_qp(ov_cq_of(qp->qp.recv_cq), qp->qp.qp_num);
    }
    qp->qp.state = to;
    ov_port_posted(qp->port); /* there may be something to send now */
    return 0;
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask)
{
    OV_PASS_ON(qp->context->device, ibv_modify_qp, qp, attr, attr_mask);

    struct ov_qp *own = ov_qp_of(qp);
    const bool may_reset = (attr_mask & IBV_QP_STATE) && attr->qp_state == IBV_QPS_RESET;
    int error = ov_refuses(own->port, OCHE_CALL_MODIFY_QP);

    if (error != 0)
        return error;
    pthread_mutex_lock(&own->state_lock);
    if (may_reset) { /* a reset empties the queues, so posting must wait */
        pthread_mutex_lock(&own->send_lock);
        pthread_mutex_lock(&own->recv_lock);
    }
    error = modify(own, attr, attr_mask);
    if (may_reset) {
        pthread_mutex_unlock(&own->recv_lock);
        pthread_mutex_unlock(&own->send_lock);
    }
    pthread_mutex_unlock(&own->state_lock);
    return error;
}
