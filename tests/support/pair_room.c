/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The link's last step: it brings a packet to a side. Then the driver gives the side more memory
 * for payloads behind a gap, if it lacked some. The link can also lose all packets.
 */
#include "tests/support/pair.h"

/* Gives held_later bytes to queue pairs that lacked room, once each. */
static void give_room(const struct pair *pair, struct pair_side *side)
{
    const uint32_t bytes = pair->options.held_later;

    side->wishes_seen = side->wishes;
    for (uint32_t i = 0; i < PAIR_QPS && bytes > 0; i++)
        for (unsigned kind = 0; kind < OCHE_HELD_KINDS; kind++) {
            const uint8_t bit = (uint8_t)(1u << kind);

            if (side->qp[i] == NULL || side->given[i] & bit ||
                oche_qp_room_wanted(side->qp[i], (enum oche_held_kind)kind) == 0)
                continue;
            side->given[i] |= bit;
            oche_qp_hold_at(side->qp[i], (enum oche_held_kind)kind, side->later[i] + kind * bytes,
                            bytes);
        }
}

void pair_receive(struct pair *pair, int to, const struct oche_packet *packet)
{
    struct pair_side *side = &pair->side[to];

    oche_nic_receive(side->nic, packet, pair->now);
    if (side->wishes != side->wishes_seen)
        give_room(pair, side);
}

void pair_inject(struct pair *pair, int from, const struct oche_packet *packet)
{
    pair_receive(pair, 1 - from, packet);
    pair_run_quiet(pair);
}

void pair_clear_link(struct pair *pair)
{
    while (pair->heap_count > 0)
        pair->free[pair->free_count++] = pair->heap[--pair->heap_count];
}
