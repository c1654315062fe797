/* SPDX-License-Identifier: Apache-2.0 */
/* Statements about the half of a queue pair that receives requests and answers them. */
#include "core/qp/check_internal.h"
#include "core/qp/receive/placement.h"
#include "core/qp/receive/receive.h"
#include "core/qp/scheduler.h"

static bool psns_are_24_bits(const struct oche_qp *qp)
{
    return is_psn(rcv(qp)->rx.epsn) && is_psn(rcv(qp)->rx.message_start) && is_psn(rcv(qp)->msn) &&
           is_psn(rcv(qp)->last_ack_psn);
}

static bool message_start_is_not_later(const struct oche_qp *qp)
{
    return qp->transport != OCHE_TRANSPORT_RC ||
           oche_psn_diff(rcv(qp)->rx.epsn, rcv(qp)->rx.message_start) >= 0;
}

static bool between_messages_nothing_is_begun(const struct oche_qp *qp)
{
    return rcv(qp)->operation != OCHE_OPERATION_NONE || rcv(qp)->message_bytes == 0 ||
           rcv(qp)->rx.message_start == rcv(qp)->rx.epsn;
}

static bool write_fits_its_length(const struct oche_qp *qp)
{
    return rcv(qp)->operation != OCHE_OPERATION_WRITE ||
           rcv(qp)->message_bytes < rcv(qp)->write_length;
}

static bool send_fits_its_receive(const struct oche_qp *qp)
{
    return rcv(qp)->operation != OCHE_OPERATION_SEND ||
           (rcv(qp)->recv_taken &&
            rcv(qp)->message_bytes <= recv_at(qp, rcv(qp)->recv_head)->length);
}

static bool receives_are_in_order(const struct oche_qp *qp)
{
    if (rcv(qp)->srq != NULL || rcv(qp)->recv_mask == UINT32_MAX)
        return true;
    const uint32_t posted = atomic_load_explicit(&qp->posted_recvs, memory_order_acquire);
    const uint32_t all = posted - rcv(qp)->recv_head;
    return all <= rcv(qp)->recv_mask + 1 && rcv(qp)->recv_tail - rcv(qp)->recv_head <= all;
}

static bool retired_is_head(const struct oche_qp *qp)
{
    return atomic_load_explicit(&rcv(qp)->retired_recvs, memory_order_acquire) ==
           rcv(qp)->recv_head;
}

static bool held_is_not_executed(const struct oche_qp *qp)
{
    /* the expected packet itself is held if there was no receive for it in its turn */
    return !(qp->flags & QP_HOLDS) ||
           (oche_psn_diff(rcv(qp)->placed_end, rcv(qp)->rx.epsn) > 0 &&
            (uint32_t)oche_psn_diff(rcv(qp)->placed_end, rcv(qp)->rx.epsn) <=
                rcv(qp)->placed_mask + 1);
}

static bool active_responses_are_counted(const struct oche_qp *qp)
{
    uint32_t active = 0;

    for (uint32_t i = 0; i < rcv(qp)->response_count; i++)
        active += rcv(qp)->responses[i].active;
    return active == rcv(qp)->active_responses && qp->responding == (active > 0);
}

static bool no_active_response_before_the_first(const struct oche_qp *qp)
{
    if (!qp->responding)
        return true;
    const uint32_t span = rcv(qp)->response_next - rcv(qp)->response_first;
    return span >= 1 && span <= rcv(qp)->response_count &&
           rcv(qp)->responses[rcv(qp)->response_first & (rcv(qp)->response_count - 1)].active;
}

static bool responses_are_within_their_request(const struct oche_qp *qp)
{
    for (uint32_t i = 0; i < rcv(qp)->response_count; i++) {
        const struct response *one = &rcv(qp)->responses[i];
        const uint32_t end = oche_psn_add(one->last_psn, 1);

        if (one->active && one->operation == OCHE_OPERATION_READ &&
            (!is_psn_within(one->first_psn, one->next_psn, end) ||
             !is_psn_within(one->next_psn, one->end_psn, end) ||
             !is_psn_within(one->first_psn, one->high_psn, end)))
            return false;
    }
    return true;
}

static bool requests_come_before_epsn(const struct oche_qp *qp)
{
    for (uint32_t i = 0; i < rcv(qp)->response_count; i++)
        if (rcv(qp)->responses[i].active &&
            oche_psn_diff(rcv(qp)->responses[i].last_psn, rcv(qp)->rx.epsn) >= 0)
            return false;
    return true;
}

static bool nak_names_a_psn(const struct oche_qp *qp)
{
    return !(qp->control & CONTROL_NAK) || is_psn(rcv(qp)->nak_psn);
}

static bool second_ack_follows_a_first(const struct oche_qp *qp)
{
    return !(qp->control & CONTROL_ACK_AGAIN) || (qp->control & CONTROL_ACK);
}

static bool answers_are_listed(const struct oche_qp *qp)
{
    return !response_control_waits(qp) || (qp->flags & QP_LISTED);
}

static bool data_is_queued(const struct oche_qp *qp)
{
    return !response_data_waits(qp) || scheduler_has(qp);
}

static bool recovery_timer_is_set(const struct oche_qp *qp)
{
    return is_timed(qp, rcv(qp)->rx.timer);
}

const struct qp_statement qp_receive_statements[] = {
    {"the receiver's PSNs have 24 bits", psns_are_24_bits},
    {"the arriving message begins at the expected PSN or before", message_start_is_not_later},
    {"between messages nothing is begun", between_messages_nothing_is_begun},
    {"a WRITE in progress lacks bytes", write_fits_its_length},
    {"a SEND in progress has a receive with room", send_fits_its_receive},
    {"receive ring: head <= tail <= posted", receives_are_in_order},
    {"the program sees the oldest receive that is not over", retired_is_head},
    {"packets that are held have not been executed, and are within reach", held_is_not_executed},
    {"active responses are counted", active_responses_are_counted},
    {"the first active response is active", no_active_response_before_the_first},
    {"a response sends nothing outside of its request", responses_are_within_their_request},
    {"a request that is answered has arrived", requests_come_before_epsn},
    {"a NAK's PSN has 24 bits", nak_names_a_psn},
    {"a second ACK follows a first", second_ack_follows_a_first},
    {"answers that wait are in the control list", answers_are_listed},
    {"READ data that waits is queued", data_is_queued},
    {"the NIC's timer covers recovery's timer", recovery_timer_is_set},
    {NULL, NULL},
};
