/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations shared by the files of the connection manager. */
#ifndef OCHE_CORE_CM_PARTS_H
#define OCHE_CORE_CM_PARTS_H

#include <string.h>

#include "core/cm/cm.h"

/*
 * Upper limits for the times in a peer's message (17 s and 69 s); larger values are lowered to
 * these.
 */
#define CM_MOST_RESPONSE 22
#define CM_MOST_SERVICE  24
/* Lower limit for the same times (17 ms), because programs need that long to answer. */
#define CM_LEAST_RESPONSE 12
/* How long TIMEWAIT lasts, 0.54 s: twice Linux's packet life time of 0.27 s. */
#define CM_LINGER oche_cm_time(17)

/* ---- cm.c ---- */

/* Gives the connection a number and a transaction, and makes it findable by them. */
void cm_enter(struct oche_cm *cm, struct oche_cm_conn *conn, const uint8_t *local_gid,
              const uint8_t *remote_gid);
/* Makes it findable by the peer's number, once that is known. */
void cm_enter_remote(struct oche_cm *cm, struct oche_cm_conn *conn, uint32_t remote_id);
/* Makes it findable by the peer's queue pair. */
void cm_enter_qpn(struct oche_cm *cm, struct oche_cm_conn *conn, uint32_t remote_qpn);
/* Makes it IDLE, which nothing finds any more. */
void cm_leave(struct oche_cm *cm, struct oche_cm_conn *conn);

/* Return a connection with this number, and this address of its peer, or NULL. */
struct oche_cm_conn *cm_by_id(const struct oche_cm *cm, uint32_t local_id);
struct oche_cm_conn *cm_by_remote(const struct oche_cm *cm, uint32_t remote_id,
                                  const uint8_t *remote_gid, bool datagrams);
struct oche_cm_conn *cm_by_qpn(const struct oche_cm *cm, uint32_t remote_qpn,
                               const uint8_t *remote_gid);

/* Sends conn->last, and again until an answer stops the timer or `retries` have passed. */
void cm_send_repeatedly(struct oche_cm *cm, oche_time now, struct oche_cm_conn *conn,
                        uint8_t response_timeout, uint8_t retries);
void cm_send(struct oche_cm *cm, const struct oche_cm_conn *conn, const uint8_t *mad);
void cm_send_to(struct oche_cm *cm, const uint8_t *local_gid, const uint8_t *remote_gid,
                const uint8_t *mad);

/* Sets a message's kind, IDs and transaction to the connection's. */
void cm_address(const struct oche_cm_conn *conn, uint8_t kind, struct oche_cm_message *message);
/* Writes the message with the connection's IDs into `mad`, and sends it. */
void cm_write_and_send(struct oche_cm *cm, struct oche_cm_conn *conn, uint8_t kind,
                       struct oche_cm_message *message, uint8_t *mad);

/* The connection is over; TIMEWAIT begins. */
void cm_linger(struct oche_cm *cm, oche_time now, struct oche_cm_conn *conn);
void cm_tell(struct oche_cm *cm, struct oche_cm_conn *conn, enum oche_cm_event event,
             const struct oche_cm_message *message);

/* ---- timers.c ---- */

void cm_start_timer(struct oche_cm *cm, struct oche_cm_conn *conn, oche_time due);
void cm_stop_timer(struct oche_cm *cm, struct oche_cm_conn *conn);

/* ---- half_open.c ---- */

/* True if there are too many, and none of them can be given up. */
bool cm_half_open_full(const struct oche_cm *cm);
/* Counts a connection that a peer has asked for; another may be given up for it. */
void cm_half_open_enter(struct oche_cm *cm, struct oche_cm_conn *conn);
/* Our REP is under way, so the connection waits for the peer. */
void cm_half_open_answered(struct oche_cm *cm, struct oche_cm_conn *conn);
/* It is confirmed, or over. Does nothing if it was not half open. */
void cm_half_open_leave(struct oche_cm *cm, struct oche_cm_conn *conn);

/* ---- arrive.c ---- */

/* A REQ or SIDR REQ that was kept gets its answer now. */
void cm_answer_kept(struct oche_cm *cm, oche_time now, const uint8_t *local_gid,
                    const uint8_t *remote_gid, const uint8_t *mad);

/* ---- grace.c ---- */

/* Keeps a REQ for OCHE_CM_GRACE. Returns false if too many wait. */
bool cm_grace_keep(struct oche_cm *cm, oche_time now, const uint8_t *local_gid,
                   const uint8_t *remote_gid, const uint8_t *mad);
/* Returns when the first of them is due. */
oche_time cm_grace_due(const struct oche_cm *cm);
void cm_grace_tick(struct oche_cm *cm, oche_time now);

/* ---- sidr.c ---- */

/* `waited`: it was kept, and is not kept again. */
void cm_sidr_req(struct oche_cm *cm, oche_time now, const uint8_t *local_gid,
                 const uint8_t *remote_gid, const uint8_t *mad,
                 const struct oche_cm_message *message, bool waited);
void cm_sidr_rep(struct oche_cm *cm, const uint8_t *remote_gid,
                 const struct oche_cm_message *message);

#endif
