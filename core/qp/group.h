/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A message's first packet names the group of senders that the message is part of (Dart sec III-D:
 * look-ahead), where the application has said so, the scheme wants it (oche_cc_flow.names_groups)
 * and the peer knows the extensions. Queue pairs without groups pay one test a message.
 */
#ifndef OCHE_CORE_QP_GROUP_H
#define OCHE_CORE_QP_GROUP_H

#include "core/qp/qp_internal.h"

/* group.c; only where there are send_groups. */
const struct oche_group *group_find(const struct oche_qp *qp, uint8_t opcode);
void group_put(const struct oche_qp *qp, struct oche_packet *packet);

/* The group that the next packet names, the first of its message, with `opcode`; or NULL. */
static inline const struct oche_group *group_of(const struct oche_qp *qp, uint8_t opcode)
{
    return OCHE_LIKELY(qp->send_groups == NULL) ? NULL : group_find(qp, opcode);
}

/* Puts it into that packet, which may get another opcode and more bytes. */
static inline void group_name(const struct oche_qp *qp, struct oche_packet *packet)
{
    if (OCHE_UNLIKELY(qp->send_groups != NULL))
        group_put(qp, packet);
}

#endif
