/* SPDX-License-Identifier: Apache-2.0 */
/* Which answers belong to which data; see ways.h. */
#include "lab/check_nic/ways.h"

#include "core/random.h"
#include "core/wire/opcode.h"

static bool is_way(const struct oche_way *way, const struct oche_way *other)
{
    return way->dest_qpn == other->dest_qpn && way->src == other->src && way->dst == other->dst &&
           way->data == other->data && way->responses == other->responses;
}

/* Returns the number of the way like this one, which may be new, or OCHE_NO_WAY. */
static uint32_t number_of(struct oche_ways *ways, const struct oche_way *like)
{
    const uint32_t mask = OCHE_COUNT_OF(ways->table) - 1;
    const uint64_t key = (uint64_t)like->src << 40 ^ (uint64_t)like->dst << 28 ^
                         (uint64_t)like->dest_qpn << 2 ^ (uint64_t)like->data << 1 ^
                         (uint64_t)like->responses;
    uint32_t at = (uint32_t)oche_mix64(key) & mask;

    for (; ways->table[at] != 0; at = (at + 1) & mask)
        if (is_way(&ways->list[ways->table[at] - 1], like))
            return ways->table[at] - 1;
    if (ways->count == OCHE_MOST_WAYS)
        return OCHE_NO_WAY;
    ways->list[ways->count] = *like;
    ways->table[at] = ++ways->count;
    return ways->count - 1;
}

static void widen(struct oche_way *way, uint32_t psn)
{
    const uint32_t end = oche_psn_add(psn, 1);

    if (!way->any || oche_psn_diff(psn, way->first) < 0)
        way->first = psn;
    if (!way->any || oche_psn_diff(end, way->end) > 0)
        way->end = end;
    way->any = true;
}

uint32_t oche_ways_add(struct oche_ways *ways, const struct oche_packet *packet,
                       enum oche_seen_kind kind)
{
    const bool data = kind == OCHE_SEEN_DATA;
    const struct oche_way like = {
        .src = packet->src,
        .dst = packet->dst,
        .dest_qpn = packet->dest_qpn,
        .udp_source_port = packet->udp_source_port,
        .data = data,
        .responses = data && (oche_opcode(packet->opcode)->flags & OCHE_OP_RESPONSE) != 0,
        .stream = OCHE_NO_WAY,
    };
    const uint32_t number = number_of(ways, &like);

    if (number == OCHE_NO_WAY)
        return number;
    if (kind != OCHE_SEEN_CNP) /* its PSN is 0 */
        widen(&ways->list[number], packet->psn);
    ways->list[number].requests |= kind == OCHE_SEEN_READ_REQUEST;
    return number;
}

/* PSNs that are farther away are of data that was not seen. */
#define NEAR 4096

/* Returns how well the answers fit the data; 0: not at all. */
static unsigned fit(const struct oche_way *answers, const struct oche_way *data)
{
    int32_t before, behind;
    unsigned inside;

    if (!data->data || data->taken || answers->src != data->dst || answers->dst != data->src)
        return 0;
    if (answers->any && answers->requests != data->responses)
        return 0;
    before = oche_psn_diff(data->first, answers->first);
    behind = oche_psn_diff(answers->end, data->end);
    if (answers->any && (before > NEAR || behind > NEAR))
        return 0;
    inside = answers->any && before <= 0 && behind <= 1;
    return 1U + (answers->dest_qpn == data->dest_qpn) +
           2U * (answers->udp_source_port == data->udp_source_port) + 4U * inside;
}

#define BEST_FIT 8

static void find_data(struct oche_ways *ways, struct oche_way *answers, unsigned least)
{
    for (uint32_t i = 0; i < ways->count; i++) {
        struct oche_way *data = &ways->list[i];

        if (fit(answers, data) < least)
            continue;
        answers->stream = data->stream;
        data->taken = true;
        return;
    }
}

void oche_ways_match(struct oche_ways *ways)
{
    for (uint32_t i = 0; i < ways->count; i++)
        if (ways->list[i].data)
            ways->list[i].stream = ways->streams++;
    for (unsigned least = BEST_FIT; least > 0; least--) /* the surest ones first */
        for (uint32_t i = 0; i < ways->count; i++)
            if (!ways->list[i].data && ways->list[i].stream == OCHE_NO_WAY)
                find_data(ways, &ways->list[i], least);
}
