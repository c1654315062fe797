/* SPDX-License-Identifier: Apache-2.0 */
/* The table of peers: an array, and a hash table of its indices. Peers are never removed. */
#include "device/peers.h"

#include <stdlib.h>
#include <string.h>

#include "core/random.h"

bool oche_peers_create(struct oche_peers *peers, uint32_t max)
{
    uint32_t slots = 2;

    while (slots < 2 * max)
        slots *= 2;
    *peers = (struct oche_peers){.max = max, .mask = slots - 1};
    peers->peers = calloc(max, sizeof(peers->peers[0]));
    peers->table = calloc(slots, sizeof(peers->table[0]));
    if (peers->peers != NULL && peers->table != NULL)
        return true;
    oche_peers_destroy(peers);
    return false;
}

void oche_peers_destroy(struct oche_peers *peers)
{
    free(peers->peers);
    free(peers->table);
    *peers = (struct oche_peers){0};
}

/* Returns the table's slot that holds the address, or the free slot where the address belongs. */
static uint32_t slot_of(const struct oche_peers *peers, const struct oche_address *address)
{
    uint64_t words[2];
    uint32_t slot;

    memcpy(words, address->ip, sizeof(words));
    slot = (uint32_t)oche_mix64(words[0] ^ oche_mix64(words[1])) & peers->mask;
    while (peers->table[slot] != 0 &&
           memcmp(peers->peers[peers->table[slot] - 1].address.ip, address->ip, 16) != 0)
        slot = (slot + 1) & peers->mask;
    return slot;
}

uint32_t oche_peers_find(const struct oche_peers *peers, const struct oche_address *address)
{
    return peers->table[slot_of(peers, address)] - 1; /* 0 - 1 is OCHE_NO_PEER */
}

uint32_t oche_peers_add(struct oche_peers *peers, const struct oche_address *address, uint16_t port)
{
    const uint32_t slot = slot_of(peers, address);
    struct oche_peer *peer;

    if (peers->table[slot] != 0)
        return peers->table[slot] - 1;
    if (peers->count == peers->max)
        return OCHE_NO_PEER;
    peer = &peers->peers[peers->count++];
    peer->address = *address;
    peer->socket_address_bytes = oche_address_to_socket(address, port, &peer->socket_address);
    peers->table[slot] = peers->count;
    return peers->count - 1;
}
