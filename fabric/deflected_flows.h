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
    uint16_t port;    /* the port by which its packets leave, */
    uint8_t lane;     /* and in which lane */
    bool used, ended; /* ended: END has passed, and no START after it */
    oche_time last;   /* time of the last packet */
};

struct oche_deflected_flows {
    oche_time ageing; /* OCHE_NEVER: entries do not age */
    oche_time hold;   /* after END */
    uint32_t capacity, count;
    uint32_t peak; /* most entries at a time, since the owner's last reset */
    uint64_t aged; /* entries freed by ageing, likewise */
    struct oche_deflected_flow entries[];
};

size_t oche_deflected_bytes(uint32_t capacity);
/* `table` has oche_deflected_bytes(capacity) zeroed bytes. */
void oche_deflected_init(struct oche_deflected_flows *table, uint32_t capacity, oche_time ageing,
                         oche_time hold);

/* Returns the entry of this key without using it; NULL: there is none, or it has aged. */
struct oche_deflected_flow *oche_deflected_look(struct oche_deflected_flows *table,
                                                const struct oche_deflected_key *key,
                                                oche_time now);
/* Notes that a packet uses the entry. */
static inline void oche_deflected_use(struct oche_deflected_flow *entry, oche_time now)
{
    entry->last = now;
    entry->ended = false;
}
/* Adds an entry for a key that has none. The caller sets port and lane. NULL: the table is full. */
struct oche_deflected_flow *oche_deflected_add(struct oche_deflected_flows *table,
                                               const struct oche_deflected_key *key, oche_time now);
/*
 * END has passed, at the time of the last oche_deflected_use or _add. Frees the entry, at once or
 * after `hold`.
 */
void oche_deflected_end(struct oche_deflected_flows *table, struct oche_deflected_flow *entry);
/* Frees what has aged by `now`, so that `count` is up to date. */
void oche_deflected_age(struct oche_deflected_flows *table, oche_time now);

#endif
