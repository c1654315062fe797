/* SPDX-License-Identifier: Apache-2.0 */
/* One end of a link with credits; see the header. */
#include "fabric/ib_link.h"

#include <string.h>

void oche_ib_link_init(struct oche_ib_link *link, unsigned vl_count, uint64_t buffer_bytes,
                       uint64_t update_bytes)
{
    uint64_t size = buffer_bytes / OCHE_IB_BLOCK_BYTES;
    uint64_t update = update_bytes == 0 ? size / 4 : update_bytes / OCHE_IB_BLOCK_BYTES;

    OCHE_MUST(size > 0 && size <= OCHE_IB_MOST_BLOCKS && vl_count <= OCHE_CLASSES);
    memset(link, 0, sizeof(*link));
    link->size = (uint16_t)size;
    link->update = (uint16_t)(update > 0 ? update : 1);
    link->vl_count = (uint8_t)vl_count;
    for (unsigned vl = 0; vl < vl_count; vl++)
        link->vl[vl].limit = link->size;
}

bool oche_ib_owe(struct oche_ib_link *link, unsigned vl, uint16_t blocks)
{
    uint8_t bit = (uint8_t)(1U << vl);

    link->vl[vl].owed = (uint16_t)(link->vl[vl].owed + blocks);
    if (link->vl[vl].owed < link->update || (link->due & bit))
        return false;
    link->due |= bit;
    return true;
}

bool oche_ib_freed(struct oche_ib_link *link, unsigned vl, uint16_t blocks)
{
    OCHE_MUST(link->vl[vl].held >= blocks);
    link->vl[vl].held = (uint16_t)(link->vl[vl].held - blocks);
    return oche_ib_owe(link, vl, blocks);
}

bool oche_ib_passed(struct oche_ib_link *link, unsigned vl, uint16_t blocks)
{
    link->vl[vl].abr = (uint16_t)(link->vl[vl].abr + blocks) & OCHE_IB_COUNTER;
    return oche_ib_owe(link, vl, blocks);
}

void oche_ib_tell_all(struct oche_ib_link *link)
{
    link->due = (uint8_t)((1U << link->vl_count) - 1);
}

void oche_ib_fill(struct oche_ib_link *link, struct oche_packet *frame, oche_time now)
{
    uint8_t all = (uint8_t)((1U << link->vl_count) - 1);
    unsigned count = (unsigned)__builtin_popcount(link->due);

    OCHE_MUST(count > 0);
    *frame = (struct oche_packet){.when = now,
                                  .tag = frame->tag,
                                  .payload = frame->payload,
                                  .frame_bytes = (uint16_t)(count * OCHE_IB_FCP_BYTES),
                                  .kind = OCHE_PACKET_FCP,
                                  .traffic_class = OCHE_CLASSES - 1};
    for (uint8_t left = link->due; left != 0; left &= (uint8_t)(left - 1)) {
        unsigned number = (unsigned)__builtin_ctz(left);
        struct oche_ib_vl *vl = &link->vl[number];

        oche_fcp_set(frame, number, vl->fctbs,
                     (uint16_t)(vl->abr + link->size - vl->held) & OCHE_IB_COUNTER);
        vl->owed = 0;
    }
    if (link->due == all)
        link->told = now;
    link->due = 0;
}

bool oche_ib_take(struct oche_ib_link *link, const struct oche_packet *frame)
{
    bool due = false;

    for (unsigned number = 0; number < link->vl_count; number++) {
        struct oche_ib_vl *vl = &link->vl[number];

        if (!oche_fcp_has(frame, number))
            continue;
        uint16_t lost = (uint16_t)(frame->fcp.lane[number].fctbs - vl->abr) & OCHE_IB_COUNTER;

        vl->limit = frame->fcp.lane[number].fccl & OCHE_IB_COUNTER;
        vl->abr = frame->fcp.lane[number].fctbs & OCHE_IB_COUNTER;
        if (lost != 0 && lost <= OCHE_IB_MOST_BLOCKS)
            due |= oche_ib_owe(link, number, lost);
    }
    return due;
}
