/* SPDX-License-Identifier: Apache-2.0 */
/* The receiving half of a queue pair, for the other rooms. */
#ifndef OCHE_CORE_QP_RECEIVE_RECEIVE_H
#define OCHE_CORE_QP_RECEIVE_RECEIVE_H

#include "core/qp/qp_internal.h"

/* ---- arriving requests ---- */

void responder_receive(struct oche_qp *qp, const struct oche_packet *packet,
                       const struct oche_opcode_row *row, oche_time now);
void datagram_receive(struct oche_qp *qp, const struct oche_packet *packet,
                      const struct oche_opcode_row *row, oche_time now);
/* The rest of a request packet has arrived, which a switch has trimmed; a NACK may follow. */
void response_trimmed(struct oche_qp *qp, const struct oche_packet *packet, oche_time now);
/* Runs recovery's timer of the receiver half if it is due. */
void responder_timer(struct oche_qp *qp, oche_time now);
/* Returns when that timer is due, or OCHE_NEVER. */
oche_time receiver_timer_due(const struct oche_qp *qp);
/* Returns how a request packet fits what is expected next. */
enum oche_fit receiver_fit(const struct oche_qp *qp, const struct oche_packet *packet);

/* ---- answers ---- */

void response_ask_ack(struct oche_qp *qp);
bool response_data_waits(const struct oche_qp *qp);
uint32_t response_next_frame_bytes(const struct oche_qp *qp);
bool response_transmit(struct oche_qp *qp, struct oche_packet *packet, oche_time now);
bool response_control_waits(const struct oche_qp *qp);
/* Returns the traffic class in which the next control packet leaves. */
uint8_t response_control_class(const struct oche_qp *qp);
bool response_transmit_control(struct oche_qp *qp, struct oche_packet *packet, oche_time now);

/* ---- life ---- */

/* True if the receiving half can be as the configuration says. */
bool receiver_config_ok(const struct oche_qp_config *config);
/* Returns where the receiving half's memory ends that begins at `from`, offsets in the queue pair.
 */
size_t receiver_place(const struct oche_nic *nic, const struct oche_qp_config *config, size_t from);
/* Sets up this half of a new queue pair, whose memory is zeroed. */
void receiver_create(struct oche_qp *qp, const struct oche_qp_config *config, size_t from);
/* Sets what does not follow from the configuration to its state in RESET. */
void receiver_clear(struct oche_qp *qp);
/* The queue pair goes away. */
void receiver_destroy(struct oche_qp *qp);
/* The connection's first PSN and its MTU are known. */
void receiver_connect(struct oche_qp *qp, const struct oche_qp_connection *connection);
/* Sets what the connection says about RNR NAKs, which may change later. */
void receiver_set_retries(struct oche_qp *qp, const struct oche_qp_connection *connection);
/* Answers no more. Returns true if a NAK that reports a fatal error has still to leave. */
bool receiver_stop(struct oche_qp *qp);
/*
 * Makes the oldest receive the one that fails in receiver_flush. Returns false if there is none, or
 * only those of a shared receive queue, which belong to no queue pair.
 */
bool receiver_blame_oldest(struct oche_qp *qp);
/*
 * Completes all receives as flushed. If `status` is not OCHE_STATUS_SUCCESS, a receive in progress
 * completes with `status` instead.
 */
void receiver_flush(struct oche_qp *qp, enum oche_status status, oche_time now);

/* ---- questions ---- */

/* Recovery's half, for its hook `extend`; NULL if packets behind a gap are not kept. */
struct oche_recovery_rx *receiver_extension(struct oche_qp *qp);
/* The peer's recovery has whole_messages, too. */
void receiver_peer_restarts(struct oche_qp *qp);
/* True if no message has arrived in part. */
bool receiver_is_between_messages(const struct oche_qp *qp);
/* True if the peer has ever sent data on this connection. */
bool receiver_has_heard(const struct oche_qp *qp);
/* True if a receive has been completed since the reset. */
bool receiver_has_worked(const struct oche_qp *qp);
/* Fills in what the receiving half knows of losses. */
void receiver_losses(const struct oche_qp *qp, struct oche_qp_losses *losses);
/* oche_qp_room_wanted and oche_qp_hold_at, for OCHE_HELD_REQUESTS. */
uint32_t receiver_room_wanted(const struct oche_qp *qp);
void receiver_hold_at(struct oche_qp *qp, uint8_t *memory, uint32_t bytes);
/* True if the queue pair takes its receives from a shared queue. */
bool receiver_shares(const struct oche_qp *qp);

#endif
