/* SPDX-License-Identifier: Apache-2.0 */
#include "core/qp/send/group.h"

/* Returns the opcode that does the same as `opcode` and also names a group, or 0. */
static uint8_t naming_opcode(uint8_t opcode)
{
    switch (opcode) {
    case OCHE_RC_SEND_FIRST:
        return OCHE_RC_SEND_FIRST_GROUP;
    case OCHE_RC_SEND_ONLY:
        return OCHE_RC_SEND_ONLY_GROUP;
    case OCHE_RC_SEND_ONLY_IMM:
        return OCHE_RC_SEND_ONLY_IMM_GROUP;
    case OCHE_RC_WRITE_FIRST:
        return OCHE_RC_WRITE_FIRST_GROUP;
    case OCHE_RC_WRITE_ONLY:
        return OCHE_RC_WRITE_ONLY_GROUP;
    case OCHE_RC_WRITE_ONLY_IMM:
        return OCHE_RC_WRITE_ONLY_IMM_GROUP;
    /*
     * for example an opcode that carries the payload's place: there is no room for a group as well
     */
    default:
        return 0;
    }
}

const struct oche_group *group_find(const struct oche_qp *qp, uint8_t opcode)
{
    if (!qp->flow.extended || !qp->flow.names_groups || naming_opcode(opcode) == 0)
        return NULL;
    return snd(qp)->send_groups[snd(qp)->send_next & snd(qp)->send_mask];
}

void group_put(const struct oche_qp *qp, struct oche_packet *packet)
{
    const struct oche_group *group = group_find(qp, packet->opcode);

    if (group == NULL)
        return;
    packet->opcode = naming_opcode(packet->opcode);
    oche_group_put(packet, group, qp->flow.tenant);
    packet->frame_bytes = oche_packet_frame_bytes(packet, qp->nic->ipv6);
}
