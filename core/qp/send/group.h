/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first packet of a message names the group of senders that the message belongs to (Dart sec
 * III-D: look-ahead). It does so if the application has given a group, the scheme wants groups
 * (oche_cc_flow.names_groups) and the peer knows the extensions. Queue pairs without groups pay one
 * test per message.
 */
#ifndef OCHE_CORE_QP_SEND_GROUP_H
#define OCHE_CORE_QP_SEND_GROUP_H

#include "core/qp/send/sender.h"

/* Does the work of group_of for a queue pair that has send_groups. */
const struct oche_group *group_find(const struct oche_qp *qp, uint8_t opcode);
void group_put(const struct oche_qp *qp, struct oche_packet *packet);

/*
 * Returns the group that the next packet will name, or NULL. That packet is the first of its
 * message and has the opcode `opcode`.
 */
static inline const struct oche_group *group_of(const struct oche_qp *qp, uint8_t opcode)
{
    return OCHE_LIKELY(snd(qp)->send_groups == NULL) ? NULL : group_find(qp, opcode);
}

/*
 * If the packet has a group, writes the group into the packet and changes the packet's opcode and
 * length.
 */
static inline void group_name(const struct oche_qp *qp, struct oche_packet *packet)
{
    if (OCHE_UNLIKELY(snd(qp)->send_groups != NULL))
        group_put(qp, packet);
}

#endif
