/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections that someone has asked for and not confirmed. Anybody can make us keep those, so
 * there are not more than a number of them. Where one more is asked for, that which has waited
 * longest for its peer's confirmation is given up: a peer that is there confirms in less than a
 * second, so who is not there goes first.
 */
#include "core/cm/cm.h"

#include "core/cm/parts.h"

bool cm_half_open_full(const struct oche_cm *cm)
{
    return cm->half_open_count >= cm->most_half_open && cm->unconfirmed == NULL;
}

static void give_up_oldest(struct oche_cm *cm)
{
    struct oche_cm_conn *oldest = cm->unconfirmed;
    struct oche_cm_message message = {.reason = OCHE_CM_REASON_NO_RESOURCES,
                                      .about = OCHE_CM_ABOUT_OTHER};
    uint8_t mad[OCHE_MAD_BYTES];

    cm->stats.displaced++;
    cm_write_and_send(cm, oldest, OCHE_CM_REJ, &message, mad);
    cm_leave(cm, oldest);
    cm_tell(cm, oldest, OCHE_CM_UNCONFIRMED, NULL);
}

void cm_half_open_enter(struct oche_cm *cm, struct oche_cm_conn *conn)
{
    if (cm->half_open_count >= cm->most_half_open)
        give_up_oldest(cm);
    conn->half_open = true;
    cm->half_open_count++;
}

void cm_half_open_answered(struct oche_cm *cm, struct oche_cm_conn *conn)
{
    conn->next_unconfirmed = NULL;
    conn->unconfirmed_link = cm->last_unconfirmed;
    *cm->last_unconfirmed = conn;
    cm->last_unconfirmed = &conn->next_unconfirmed;
}

void cm_half_open_leave(struct oche_cm *cm, struct oche_cm_conn *conn)
{
    if (!conn->half_open)
        return;
    conn->half_open = false;
    cm->half_open_count--;
    if (conn->unconfirmed_link == NULL)
        return;
    *conn->unconfirmed_link = conn->next_unconfirmed;
    if (conn->next_unconfirmed != NULL)
        conn->next_unconfirmed->unconfirmed_link = conn->unconfirmed_link;
    else
        cm->last_unconfirmed = conn->unconfirmed_link;
    conn->next_unconfirmed = NULL;
    conn->unconfirmed_link = NULL;
}
