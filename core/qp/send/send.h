/* SPDX-License-Identifier: Apache-2.0 */
/* The sending half of a queue pair, for the other rooms. */
#ifndef OCHE_CORE_QP_SEND_SEND_H
#define OCHE_CORE_QP_SEND_SEND_H

#include "core/qp/qp_internal.h"

/* ---- requests that leave ---- */

/* Why the request stream sends nothing now. */
enum requester_wait {
    REQUESTER_GO,
    REQUESTER_STATE,
    REQUESTER_NO_WORK,
    REQUESTER_DRAINING,
    REQUESTER_RNR,
    REQUESTER_WINDOW,
    REQUESTER_CC_WINDOW,
    REQUESTER_DEPTH,
    REQUESTER_PACED,
    REQUESTER_FENCE,
    REQUESTER_ORDER,
    REQUESTER_CREDITS,
    REQUESTER_LOCAL_ERROR,
    REQUESTER_RESEND,
    REQUESTER_WAITS
};
enum requester_wait requester_wait(const struct oche_qp *qp);
/*
 * Fills in the next packet of the request stream. Returns false if it turns out that there is none.
 */
bool requester_transmit(struct oche_qp *qp, struct oche_packet *packet, oche_time now);
/* Notes that packet `psn` asks for an ACK because congestion control wants one. */
void requester_asked(struct oche_qp *qp, uint32_t psn, oche_time now);
/* Returns the frame size of the packet that would leave next, to be counted in the backlog. */
uint32_t requester_next_frame_bytes(const struct oche_qp *qp);
/*
 * If there is a next work request of a UD queue pair, gives its traffic class to the queue pair,
 * which must not be queued.
 */
void datagram_take_class(struct oche_qp *qp);

/* ---- answers that arrive ---- */

/*
 * True if the PSN of an ACK or a NAK shows that the packet is the peer's and not an old one: it
 * answers an outstanding packet, or repeats the last answer.
 */
bool completer_psn_ok(const struct oche_qp *qp, const struct oche_packet *packet);
/* True if a SACK names only packets that are outstanding. */
bool completer_sack_ok(const struct oche_qp *qp, const struct oche_packet *packet);
void completer_receive(struct oche_qp *qp, const struct oche_packet *packet,
                       const struct oche_opcode_row *row, oche_time now);
void completer_ack_timeout(struct oche_qp *qp, oche_time now);
/* Sends again what is outstanding, which late_repeat has put off. */
void completer_repeat(struct oche_qp *qp, enum oche_resent cause, bool spends, oche_time now);
void completer_rnr_over(struct oche_qp *qp, oche_time now);
/*
 * True if the PSN that the peer expects next, as it says, can be the one: at most one past what we
 * have sent, and not long acknowledged.
 */
bool sender_may_expect(const struct oche_qp *qp, uint32_t psn);
/* Returns how a packet that is no request fits what is outstanding. */
enum oche_fit sender_fit(const struct oche_qp *qp, const struct oche_packet *packet);

/* ---- pacing ---- */

/*
 * To be called when a data packet leaves: computes when the next one may leave. `burst`: the next
 * one may leave at once.
 */
void pacer_sent(struct oche_qp *qp, oche_time now, uint32_t line_bytes, bool burst);
/* Applies the current rate of congestion control and the rate limit. */
void pacer_update_rate(struct oche_qp *qp, oche_time now);
/* Returns when a queue pair that was not queued may send. */
oche_time pacer_due(const struct oche_qp *qp, oche_time now);
/* Sets the size of a full packet. With extensions a full packet is one header longer. */
void pacer_set_full_packet(struct oche_qp *qp);

/* ---- life ---- */

/* Returns where the sending half's memory ends that begins at `from`, offsets in the queue pair. */
size_t sender_place(const struct oche_nic *nic, const struct oche_qp_config *config, size_t from);
/* Sets up this half of a new queue pair, whose memory is zeroed. */
void sender_create(struct oche_qp *qp, const struct oche_qp_config *config, size_t from);
/* Sets what does not follow from the configuration to its state in RESET. */
void sender_clear(struct oche_qp *qp);
/* The connection's MTU is known. */
void sender_begin(struct oche_qp *qp);
/* Sets timeouts and retries, which may change later. */
void sender_set_retries(struct oche_qp *qp, const struct oche_qp_connection *connection);
/* The peer knows the extensions; `rx` is the receiving half of recovery. */
void sender_extend(struct oche_qp *qp, struct oche_recovery_rx *rx);
/* The connection's first PSN, window, rates and timeouts are known. */
void sender_connect(struct oche_qp *qp, const struct oche_qp_connection *connection);
/*
 * Completes all work requests as flushed. If `status` is not OCHE_STATUS_SUCCESS, work request
 * `index` completes with `status` instead.
 */
void sender_flush(struct oche_qp *qp, uint32_t index, enum oche_status status, oche_time now);
/* Traces the work that was posted since the last call. */
void sender_notice_posts(struct oche_qp *qp, oche_time now);
/* Releases the windows that posted work binds. */
void sender_forget_binds(struct oche_qp *qp);
/* A queue pair has been reset: the rate is that of the line again. */
void sender_reset_rate(struct oche_qp *qp);

/* ---- questions ---- */

/* Returns why the queue pair fails if work request `index` completes with `status`. */
enum oche_cause sender_cause(const struct oche_qp *qp, uint32_t index, enum oche_status status);
/* Returns the ring index of the oldest work request that has not completed. */
uint32_t sender_oldest(const struct oche_qp *qp);
/* True if no message of ours is acknowledged in part. */
bool sender_is_between_messages(const struct oche_qp *qp);
/* True if all posted work that the NIC has seen has completed. */
bool sender_is_done(const struct oche_qp *qp);
/* True if work has started, or has completed, since the reset. */
bool sender_has_worked(const struct oche_qp *qp);
/* Payload bytes in flight. */
uint64_t sender_flight_bytes(const struct oche_qp *qp);
/* Fills in what the sending half knows of losses. */
void sender_losses(const struct oche_qp *qp, struct oche_qp_losses *losses);
/* oche_qp_room_wanted and oche_qp_hold_at, for OCHE_HELD_READS. */
uint32_t sender_room_wanted(const struct oche_qp *qp);
void sender_hold_at(struct oche_qp *qp, uint8_t *memory, uint32_t bytes);

#endif
