/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The deflected flow table of a switch (Dart sec IV-A): which messages it has deflected, so that
 * all their packets take the same path. It models a content-addressable memory of few entries: the
 * whole key is compared with all entries at once, so no flow is taken for another one and none is
 * forgotten. A full table accepts no new entry; an entry is never overwritten.
 *
 * The key is (destination, destination queue pair, tokens left when the packet comes in). Without
 * the tokens a message that comes back to a switch would find its own entry, and END would free the
 * entry before the packets ahead of END have made their last round. The lane that dart.md#d18
 * uses instead distinguishes the visits only if each round changes lanes; tokens always do, since a
 * message comes back only after a deflection, and each deflection takes one.
 *
 * An entry that no packet has used for `ageing` is freed (dart.md#d19): the END packet was lost. If
 * senders do not wait for an acknowledgement between messages, entries outlive END by `hold`, so
 * that a message that follows too closely takes the same path (dart.md#d18, #d20).
 */
#ifndef OCHE_FABRIC_DEFLECTED_FLOWS_H
#define OCHE_FABRIC_DEFLECTED_FLOWS_H

#include "core/base.h"

struct oche_deflected_key {
    uint32_t dst, dest_qpn;
    uint8_t tokens;
};

struct oche_deflected_flow {
    struct oche_deflected_key key;
    uint16_t port;    /* the port by which the message's packets leave */
    uint8_t lane;     /* the lane in which they leave */
    bool used, ended; /* used: the entry is taken; ended: END has passed, and no START since */
    oche_time last;   /* when a packet last used the entry */
};

struct oche_deflected_flows {
    oche_time ageing; /* OCHE_NEVER: entries do not age */
    oche_time hold;   /* how long an entry stays after END */
    uint32_t capacity, count;
    uint32_t peak; /* most entries in use at a time since the owner last reset this member */
    uint64_t aged; /* entries freed by ageing since the owner last reset this member */
    struct oche_deflected_flow entries[];
};

size_t oche_deflected_bytes(uint32_t capacity);
/* Makes an empty table in `table`, which has oche_deflected_bytes(capacity) zeroed bytes. */
void oche_deflected_init(struct oche_deflected_flows *table, uint32_t capacity, oche_time ageing,
                         oche_time hold);

/*
 * Returns the entry of a key, or NULL if the key has no entry or its entry has aged. Does not count
 * as use by a packet.
 */
struct oche_deflected_flow *oche_deflected_look(struct oche_deflected_flows *table,
                                                const struct oche_deflected_key *key,
                                                oche_time now);
/* Notes that a packet uses the entry at `now`. */
static inline void oche_deflected_use(struct oche_deflected_flow *entry, oche_time now)
{
    entry->last = now;
    entry->ended = false;
}
/*
 * Adds an entry for a key that has none, or returns NULL if the table is full. The caller sets the
 * entry's port and lane.
 */
struct oche_deflected_flow *oche_deflected_add(struct oche_deflected_flows *table,
                                               const struct oche_deflected_key *key, oche_time now);
/*
 * Notes that END has passed, at the time of the last oche_deflected_use or _add. The entry is freed
 * at once, or after `hold` if that is not 0.
 */
void oche_deflected_end(struct oche_deflected_flows *table, struct oche_deflected_flow *entry);
/* Frees the entries that have aged by `now`, so that `count` is up to date. */
void oche_deflected_age(struct oche_deflected_flows *table, oche_time now);

#endif
