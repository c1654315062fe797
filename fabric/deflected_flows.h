/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The deflected flow table of a switch (Dart sec IV-A): which messages it has sent another way, so
 * that all their packets go that way. A content-addressable memory of few entries: the whole key is
 * compared, with all entries at once, so no flow is taken for another one and none is forgotten. A
 * full table takes nothing new, an entry is never overwritten.
 *
 * The key is (destination, destination queue pair, tokens left when the packet comes in). Without
 * the tokens a message that comes back to a switch on its way round would find its own entry, and
 * END would free it before the packets ahead of END are round for the last time. The lane that
 * REFERENCE D18 has in their place tells the visits apart only where each way round changes lanes;
 * tokens always do, since nothing comes back without a deflection, and each takes one.
 *
 * An entry that no packet has used for `ageing` is free again (D19): the END packet was lost. Where
 * senders do not wait for an acknowledgement between messages, entries outlive END by `hold`, so
 * that a message which follows too closely goes the same way (D18, D20).
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
    uint16_t port;    /* by which its packets leave, */
    uint8_t lane;     /* and in which lane */
    bool used, ended; /* ended: END has passed, and no START since */
    oche_time last;   /* packet */
};

struct oche_deflected_flows {
    oche_time ageing; /* OCHE_NEVER: entries do not age */
    oche_time hold;   /* after END */
    uint32_t capacity, count;
    uint32_t peak; /* most entries at a time, since the last reset by the owner */
    uint64_t aged; /* entries that were given up so, likewise */
    struct oche_deflected_flow entries[];
};

size_t oche_deflected_bytes(uint32_t capacity);
/* `table` has oche_deflected_bytes(capacity) zeroed bytes. */
void oche_deflected_init(struct oche_deflected_flows *table, uint32_t capacity, oche_time ageing,
                         oche_time hold);

/* The entry of this key, not used by that; NULL: there is none, or it has aged. */
struct oche_deflected_flow *oche_deflected_look(struct oche_deflected_flows *table,
                                                const struct oche_deflected_key *key,
                                                oche_time now);
/* A packet has used it. */
static inline void oche_deflected_use(struct oche_deflected_flow *entry, oche_time now)
{
    entry->last = now;
    entry->ended = false;
}
/* A new entry for a key that has none; NULL: the table is full. The caller sets port and lane. */
struct oche_deflected_flow *oche_deflected_add(struct oche_deflected_flows *table,
                                               const struct oche_deflected_key *key, oche_time now);
/* END has passed at the time of the last oche_deflected_use or _add: frees the entry, in time. */
void oche_deflected_end(struct oche_deflected_flows *table, struct oche_deflected_flow *entry);
/* Gives up what has aged by `now`: for whoever wants to know how many there are. */
void oche_deflected_age(struct oche_deflected_flows *table, oche_time now);

#endif
