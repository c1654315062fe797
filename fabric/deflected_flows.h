/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The deflected flow table of a switch (Dart sec IV-A): which messages it has deflected, so that
 * all their packets take the same path. It models a content-addressable memory of few entries: the
 * whole key is compared with all entries at once, so no flow is taken for another one and none is
 * forgotten. A full table accepts no new entry; an entry is never overwritten.
 *
 * The key is (destination, destination queue pair, tokens left when the packet comes in). The
 * tokens distinguish the visits of a message that comes back to a switch: a message comes back only
 * after a deflection, and each deflection takes a token. Without the tokens all visits would share
 * one entry, which END would free on its first visit, before the packets ahead of END have made
 * their last round. The packet's lane could not distinguish the visits, because a message may come
 * back in the same lane (dart.md#d18).
 *
 * An entry that no packet has used for `ageing` is freed, because its END packet must have been
 * lost (dart.md#d19). If senders do not wait for an acknowledgement between messages, an entry
 * stays for `hold` after END, so that a message that follows too closely takes the same path
 * (dart.md#d18, #d20).
 *
 * With `lingers`, messages follow one another along the entries (dart.md#d18). Then an entry does
 * not age while PFC has paused its port in its lane, or while packets of it wait at the port, and
 * its age counts from the time when its last packet left the port. An entry that was given up is
 * remembered until its place is needed, so that packets that come too late can be counted.
 */
#ifndef OCHE_FABRIC_DEFLECTED_FLOWS_H
#define OCHE_FABRIC_DEFLECTED_FLOWS_H

#include "core/base.h"

struct oche_switch;

struct oche_deflected_key {
    uint32_t dst, dest_qpn;
    uint8_t tokens;
};

struct oche_deflected_flow {
    struct oche_deflected_key key;
    uint16_t port;    /* the port by which the message's packets leave */
    uint8_t lane;     /* the lane in which they leave */
    bool used, ended; /* used: the entry is in use; ended: END has passed, and no START after it */
    bool gone;        /* not in use; the entry was given up, and its key is still known */
    oche_time last;   /* when a packet last used the entry or, with `lingers`, left the port */
    /* With `lingers`. */
    uint32_t waiting; /* packets that use the entry and wait at the port */
    oche_time paused; /* total time for which the port's lane had been paused before `last` */
};

struct oche_deflected_flows {
    oche_time ageing; /* OCHE_NEVER: entries do not age */
    oche_time hold;   /* how long an entry stays after END */
    bool lingers;     /* set by the owner: see above */
    uint32_t capacity, count;
    uint32_t gone; /* entries with `gone` */
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
 * as use by a packet. `sw`, the table's switch, is used with `lingers` only; this holds for all
 * functions here.
 */
struct oche_deflected_flow *oche_deflected_look(struct oche_deflected_flows *table,
                                                const struct oche_switch *sw,
                                                const struct oche_deflected_key *key,
                                                oche_time now);
/* Notes that a packet uses the entry at `now`. */
void oche_deflected_use(const struct oche_deflected_flows *table, const struct oche_switch *sw,
                        struct oche_deflected_flow *entry, oche_time now);
/*
 * Adds an entry for a key that has none, leading to `port` in `lane`, or returns NULL if the table
 * is full.
 */
struct oche_deflected_flow *oche_deflected_add(struct oche_deflected_flows *table,
                                               const struct oche_switch *sw,
                                               const struct oche_deflected_flow *flow,
                                               oche_time now);
/*
 * Notes that END has passed, at the time of the last oche_deflected_use or _add. The entry is freed
 * at once or, if `hold` is not 0, after `hold`.
 */
void oche_deflected_end(struct oche_deflected_flows *table, struct oche_deflected_flow *entry);
/* Frees the entry: no packet will follow it. */
void oche_deflected_release(struct oche_deflected_flows *table, struct oche_deflected_flow *entry);
/* Frees the entries that have aged by `now`, so that `count` is up to date. */
void oche_deflected_age(struct oche_deflected_flows *table, const struct oche_switch *sw,
                        oche_time now);
/* Frees the key's entry, if it has one, and forgets the key: no packet will follow the entry. */
void oche_deflected_forget(struct oche_deflected_flows *table,
                           const struct oche_deflected_key *key);
/* True if the key's entry was given up and its place has not been needed since; with `lingers`. */
bool oche_deflected_gone(const struct oche_deflected_flows *table,
                         const struct oche_deflected_key *key);
/*
 * With `lingers`: a packet with this key joins the queue of `port`, is sent from there, or is lost
 * there. Nothing happens if the key has no entry with that port.
 */
void oche_deflected_queued(struct oche_deflected_flows *table, const struct oche_deflected_key *key,
                           unsigned port);
void oche_deflected_left(struct oche_deflected_flows *table, const struct oche_switch *sw,
                         const struct oche_deflected_key *key, unsigned port, oche_time now);
void oche_deflected_lost(struct oche_deflected_flows *table, const struct oche_deflected_key *key,
                         unsigned port);

#endif
