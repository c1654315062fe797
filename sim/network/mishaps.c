/* SPDX-License-Identifier: Apache-2.0 */
/* The lists of lost packets and timeouts. */
#include "sim/network/mishaps.h"

#include <stdlib.h>

#include "core/wire/aeth.h"
#include "core/wire/opcode.h"

#define FIRST_CAPACITY 64

/* Makes room for one more entry at the end of a list. */
static void *room(void *list, uint32_t count, uint32_t *capacity, size_t bytes)
{
    if (count < *capacity)
        return list;
    *capacity = *capacity == 0 ? FIRST_CAPACITY : *capacity * 2;
    list = *capacity < count ? NULL : realloc(list, *capacity * bytes);
    if (list == NULL)
        oche_panic(__FILE__, __LINE__, "out of memory for a list of lost packets");
    return list;
}

/* Sets the kind of a lost packet. Returns false if the packet is of no interest. */
static bool kind_of(const struct oche_packet *packet, uint32_t *kind)
{
    const struct oche_opcode_row *row;

    if (packet->kind == OCHE_PACKET_TRIMMED) {
        *kind = OCHE_LOST_DATA;
        return true;
    }
    if (packet->kind != OCHE_PACKET_ROCE)
        return false;
    row = oche_opcode(packet->opcode);
    if (row->flags & OCHE_OP_REQUEST) {
        *kind = OCHE_LOST_DATA;
        return true;
    }
    if (row->operation != OCHE_OPERATION_ACK)
        return false;
    uint8_t syndrome = oche_aeth_syndrome(packet);
    *kind = syndrome == OCHE_SYNDROME_NAK_SEQUENCE ? OCHE_LOST_NAK : OCHE_LOST_ACK;
    return *kind == OCHE_LOST_NAK || oche_aeth_kind(syndrome) == OCHE_AETH_ACK;
}

void oche_mishaps_lost(struct oche_mishaps *mishaps, const struct oche_packet *packet,
                       oche_time now)
{
    struct oche_lost_packet lost = {.time = now, .qpn = packet->dest_qpn, .psn = packet->psn};

    if (!kind_of(packet, &lost.kind))
        return;
    mishaps->lost = room(mishaps->lost, mishaps->lost_count, &mishaps->lost_capacity, sizeof(lost));
    mishaps->lost[mishaps->lost_count++] = lost;
}

void oche_mishaps_timed_out(struct oche_mishaps *mishaps, const struct oche_qp *qp, oche_time now)
{
    struct oche_timed_out timed_out = {.time = now, .qpn = oche_qp_number(qp)};

    oche_qp_losses(qp, &timed_out.sender);
    mishaps->timed_out = room(mishaps->timed_out, mishaps->timed_out_count,
                              &mishaps->timed_out_capacity, sizeof(timed_out));
    mishaps->timed_out[mishaps->timed_out_count++] = timed_out;
}

void oche_mishaps_make_room(struct oche_mishaps *mishaps, uint32_t lost, uint32_t timed_out)
{
    while (mishaps->lost_capacity < lost)
        mishaps->lost = room(mishaps->lost, mishaps->lost_capacity, &mishaps->lost_capacity,
                             sizeof(*mishaps->lost));
    while (mishaps->timed_out_capacity < timed_out)
        mishaps->timed_out = room(mishaps->timed_out, mishaps->timed_out_capacity,
                                  &mishaps->timed_out_capacity, sizeof(*mishaps->timed_out));
}

static int compare_lost(const void *left, const void *right)
{
    const struct oche_lost_packet *a = left, *b = right;

    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    if (a->qpn != b->qpn)
        return a->qpn < b->qpn ? -1 : 1;
    return a->psn != b->psn ? (a->psn < b->psn ? -1 : 1) : (int)a->kind - (int)b->kind;
}

static int compare_timed_out(const void *left, const void *right)
{
    const struct oche_timed_out *a = left, *b = right;

    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return a->qpn < b->qpn ? -1 : a->qpn > b->qpn;
}

void oche_mishaps_sort(struct oche_mishaps *mishaps)
{
    if (mishaps->lost_count > 1)
        qsort(mishaps->lost, mishaps->lost_count, sizeof(*mishaps->lost), compare_lost);
    if (mishaps->timed_out_count > 1)
        qsort(mishaps->timed_out, mishaps->timed_out_count, sizeof(*mishaps->timed_out),
              compare_timed_out);
}

void oche_mishaps_clear(struct oche_mishaps *mishaps)
{
    mishaps->lost_count = mishaps->timed_out_count = 0;
    mishaps->lost_taken = mishaps->timed_out_taken = 0;
}

void oche_mishaps_free(struct oche_mishaps *mishaps)
{
    free(mishaps->lost);
    free(mishaps->timed_out);
    *mishaps = (struct oche_mishaps){0};
}
