/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of peers: an array, a hash table of its indices, and a queue of those that are free
 * again.
 */
#include "device/path/peers.h"

#include <string.h>

#include "core/random.h"
#include "device/host/pages.h"

bool oche_peers_create(struct oche_peers *peers, uint32_t max)
{
    uint32_t slots = 2;

    while (slots < 2 * max)
        slots *= 2;
    *peers = (struct oche_peers){.max = max, .mask = slots - 1};
    peers->peers = oche_pages_take(max * sizeof(peers->peers[0]));
    peers->table = oche_pages_take(slots * sizeof(peers->table[0]));
    if (peers->peers != NULL && peers->table != NULL)
        return true;
    oche_peers_destroy(peers);
    return false;
}

void oche_peers_destroy(struct oche_peers *peers)
{
    oche_pages_free(peers->peers, peers->max * sizeof(peers->peers[0]));
    oche_pages_free(peers->table, ((size_t)peers->mask + 1) * sizeof(peers->table[0]));
    *peers = (struct oche_peers){0};
}

/* Returns the slot where an address belongs if that is free. */
static uint32_t home_of(const struct oche_peers *peers, const struct oche_address *address)
{
    uint64_t words[2];

    memcpy(words, address->ip, sizeof(words));
    return (uint32_t)oche_mix64(words[0] ^ oche_mix64(words[1])) & peers->mask;
}

/* Returns the table's slot that holds the address, or the free slot where the address belongs. */
static uint32_t slot_of(const struct oche_peers *peers, const struct oche_address *address)
{
    uint32_t slot = home_of(peers, address);

    while (peers->table[slot] != 0 &&
           memcmp(peers->peers[peers->table[slot] - 1].address.ip, address->ip, 16) != 0)
        slot = (slot + 1) & peers->mask;
    return slot;
}

uint32_t oche_peers_find(const struct oche_peers *peers, const struct oche_address *address)
{
    return peers->table[slot_of(peers, address)] - 1; /* 0 - 1 is OCHE_NO_PEER */
}

/* Returns an index that is free, or OCHE_NO_PEER. */
static uint32_t take_index(struct oche_peers *peers)
{
    uint32_t index, before = 0;

    if (peers->count < peers->max)
        return peers->count++;
    for (uint32_t at = peers->first_free; at != 0;
         before = at, at = peers->peers[index].next_free) {
        index = at - 1;
        if (peers->busy != NULL && peers->busy(peers->busy_context, index))
            continue;
        if (before == 0)
            peers->first_free = peers->peers[index].next_free;
        else
            peers->peers[before - 1].next_free = peers->peers[index].next_free;
        if (peers->last_free == at)
            peers->last_free = before;
        return index;
    }
    return OCHE_NO_PEER;
}

static bool is_loopback(const struct oche_address *address)
{
    static const uint8_t ipv6[16] = {[15] = 1};

    if (oche_address_is_ipv4(address))
        return address->ip[12] == 127;
    return memcmp(address->ip, ipv6, sizeof(ipv6)) == 0;
}

uint32_t oche_peers_add(struct oche_peers *peers, const struct oche_address *address, uint16_t port)
{
    const uint32_t slot = slot_of(peers, address);
    struct oche_peer *peer;
    uint32_t index = peers->table[slot] - 1;

    if (index == OCHE_NO_PEER) {
        index = take_index(peers);
        if (index == OCHE_NO_PEER)
            return OCHE_NO_PEER;
        peer = &peers->peers[index];
        *peer = (struct oche_peer){.address = *address};
        /* the device itself is the first peer */
        peer->is_local = index == 0 || is_loopback(address);
        peer->socket_address_bytes = oche_address_to_socket(address, port, &peer->socket_address);
        peers->table[slot] = index + 1;
    }
    peers->peers[index].references++;
    return index;
}

void oche_peers_skip(struct oche_peers *peers)
{
    OCHE_MUST(peers->count < peers->max);
    peers->peers[peers->count++] = (struct oche_peer){0};
}

/*
 * Empties a slot. Later entries move into it if a search would no longer find them: an entry moves
 * if its own slot is not between the empty slot and its present slot.
 */
static void empty_slot(struct oche_peers *peers, uint32_t slot)
{
    uint32_t at = slot;

    for (;;) {
        uint32_t home;

        peers->table[slot] = 0;
        do {
            at = (at + 1) & peers->mask;
            if (peers->table[at] == 0)
                return;
            home = home_of(peers, &peers->peers[peers->table[at] - 1].address);
        } while (((at - home) & peers->mask) < ((at - slot) & peers->mask));
        peers->table[slot] = peers->table[at];
        slot = at;
    }
}

void oche_peers_release(struct oche_peers *peers, uint32_t index)
{
    struct oche_peer *peer = &peers->peers[index];

    if (--peer->references > 0)
        return;
    empty_slot(peers, slot_of(peers, &peer->address));
    peer->next_free = 0;
    if (peers->last_free != 0)
        peers->peers[peers->last_free - 1].next_free = index + 1;
    else
        peers->first_free = index + 1;
    peers->last_free = index + 1;
}
