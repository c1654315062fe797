/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dart's look-ahead at a receiving NIC (ToN 2020, sec III-D): the first message that arrives of an
 * incast names all senders of the incast. From then on they count as active, although most have
 * sent nothing yet. There is one look-ahead for each AUSS (auss.h); each sender that has still to
 * begin is a member of that AUSS.
 *
 *   - When a sender's own message arrives, the message's queue pair takes the place of that member
 *     (dart.md#d14). The two are matched by group and sender, so no message counts twice, in
 *     whatever order messages come.
 *   - A sender whose message of the group does not come within the timeout no longer counts
 *     (dart.md#d13). The group is remembered until all of its senders have begun or its place is
 *     needed, so a late message does not make the group's other senders count again.
 *   - If a sender begins a second time in a group, that is a new incast with the same id.
 *   - A message whose first packet is kept behind a gap begins later, but its list counts at once:
 *     until then its sender is a member like the other announced senders.
 *
 * Lists come from the network and are not trusted: the capacity limits how many senders are kept,
 * and a list is entered as a whole or not at all. The work for a list is proportional to its number
 * of senders.
 */
#ifndef OCHE_CORE_CC_DART_LOOK_AHEAD_H
#define OCHE_CORE_CC_DART_LOOK_AHEAD_H

#include "core/cc/dart/auss.h"
#include "core/wire/extension.h"

/* The result of a list of senders that has arrived. */
enum oche_look {
    OCHE_LOOK_INSERTED, /* a new group: its senders now count */
    OCHE_LOOK_BEGUN,    /* a known group: its sender is no longer waited for */
    OCHE_LOOK_ALONE,    /* no other sender in the group */
    /* a known group whose sender will begin later and is already waited for: no change */
    OCHE_LOOK_AWAITED,
    OCHE_LOOK_GONE, /* no list was sent, and the group no longer waits for the sender */
    /* The list is not used. Reasons: */
    OCHE_LOOK_WRONG,    /* not in rising order, the packet's sender is missing, or we are in it */
    OCHE_LOOK_UNKNOWN,  /* contains an address that does not exist here */
    OCHE_LOOK_STRANGER, /* the group is known, but the sender is not in it */
    OCHE_LOOK_FULL,     /* there is no room for the group */
    OCHE_LOOKS
};

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
    /* own: our own address; valid addresses are below shared_addresses */
    uint32_t own, shared_addresses;
    uint32_t (*weight)(const void *params, uint32_t address); /* returns 1 or more */
    const void *params;
};

/* Returns the memory for `capacity` senders in all groups; capacity may be 0. */
size_t oche_look_ahead_bytes(uint32_t capacity);
void oche_look_ahead_init(struct oche_look_ahead *look, void *memory, uint32_t capacity,
                          oche_time timeout);

/*
 * Handles a message of `sender` that names `group`. `begins` is true if the message has begun, so
 * that its queue pair is a member already. If false, the message begins later, and another call,
 * with an empty list (count 0), then reports that. Returns true if the AUSS has changed.
 */
bool oche_look_ahead_take(struct oche_look_ahead *look, struct oche_auss *auss,
                          const struct oche_group *group, uint32_t sender, bool begins,
                          const struct oche_look_facts *facts, oche_time now);

#endif
