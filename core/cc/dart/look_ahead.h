/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dart's look-ahead at a receiving NIC (ToN 2020, sec III-D): the first message of an incast that
 * arrives names all of its senders, and they count as active from then on, before they have sent
 * anything. There is one look-ahead for each AUSS (auss.h), in which each sender that is waited for
 * is a member of its own.
 *
 *   - When a sender's own message arrives, it replaces the awaited member (dart.md#d14). It is
 *     matched by group and sender, so nothing counts twice, in whatever order the messages come.
 *   - A sender whose message of the group has not come within the timeout no longer counts
 *     (dart.md#d13). The group is remembered until all have begun or its place is needed, so a late
 *     message makes no sender count again.
 *   - A sender that begins once more in a group begins a new incast with the same id.
 *   - A message whose first packet is kept behind a gap begins later, but its list counts from now
 *     on: the sender is waited for like the others.
 *
 * Lists come from the network and are not trusted: the number of places limits what is kept, and a
 * list is entered as a whole or not at all. The work for a list is O(its senders).
 */
#ifndef OCHE_CORE_CC_DART_LOOK_AHEAD_H
#define OCHE_CORE_CC_DART_LOOK_AHEAD_H

#include "core/cc/dart/auss.h"
#include "core/wire/extension.h"

/* The result of a list. */
enum oche_look {
    OCHE_LOOK_INSERTED, /* a new group: its senders now count */
    OCHE_LOOK_BEGUN,    /* a known group: its sender is no longer waited for */
    OCHE_LOOK_ALONE,    /* no other sender in the group */
    /* a known group; its sender will begin later and is already waited for: no change */
    OCHE_LOOK_AWAITED,
    OCHE_LOOK_GONE, /* no list was sent, and the group no longer waits for the sender */
    /* The list is not used. Reasons: */
    OCHE_LOOK_WRONG,    /* not in rising order, without the packet's sender, or with ourselves */
    OCHE_LOOK_UNKNOWN,  /* contains an address that does not exist here */
    OCHE_LOOK_STRANGER, /* the group is known, but the sender is not in it */
    OCHE_LOOK_FULL,     /* there is no room for the group */
    OCHE_LOOKS
};
const char *oche_look_name(enum oche_look look);

struct oche_look_entry {
    struct oche_auss_member member;
    uint32_t address;
    uint32_t next; /* next entry of the same group, or next free entry */
    bool begun;    /* the sender's own message has arrived */
};

struct oche_look_group {
    uint32_t id, first;    /* first: index of the group's first entry */
    uint32_t waiting;      /* number of entries that have not begun */
    uint32_t older, newer; /* neighbours in order of age; free groups are linked by `newer` */
    oche_time since;
};

struct oche_look_ahead {
    struct oche_look_entry *entries;
    struct oche_look_group *groups;
    struct map map; /* id to group */
    uint32_t free_entry, free_entries, free_group;
    uint32_t oldest, newest;
    uint32_t capacity; /* number of entries */
    oche_time timeout;
    uint64_t seen[OCHE_LOOKS]; /* lists, by result */
};

/* How to interpret addresses. */
struct oche_look_facts {
    uint32_t own,
        shared_addresses; /* own: our own address; valid addresses are below shared_addresses */
    uint32_t (*weight)(const void *params, uint32_t address); /* returns 1 or more */
    const void *params;
};

/* Returns the memory for `capacity` senders in all groups; capacity may be 0. */
size_t oche_look_ahead_bytes(uint32_t capacity);
void oche_look_ahead_init(struct oche_look_ahead *look, void *memory, uint32_t capacity,
                          oche_time timeout);

/*
 * Handles a message of `sender` that names `group`. `begins` is true if the message has begun, and
 * so counts as a member of its own. If false, it will begin later; another call, with an empty list
 * (count 0), then reports this. Returns true if the AUSS has changed.
 */
bool oche_look_ahead_take(struct oche_look_ahead *look, struct oche_auss *auss,
                          const struct oche_group *group, uint32_t sender, bool begins,
                          const struct oche_look_facts *facts, oche_time now);

#endif
