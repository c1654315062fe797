/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The announced senders at a Dart receiver, from the rules alone (Dart, ToN 2020, sec III-D;
 * dart.md#look-ahead, #d13 to #d15), for test_auss.c. Sets of hosts are bits; nothing is shared
 * with the implementation.
 *
 * The first message of a group announces all hosts of its list. If it waits behind a gap, it
 * announces its own sender, too. A host stops being announced with its own message of the group, or
 * at the timeout. Once all have sent, or one of them begins again, the group's number is free for
 * the next incast. A list with an error is ignored.
 */
#ifndef OCHE_TESTS_PROPERTY_AHEAD_ORACLE_H
#define OCHE_TESTS_PROPERTY_AHEAD_ORACLE_H

#include "core/base.h"

#define GROUPS 8 /* numbers of lists */

/* A group at one receiver, of one tenant. */
struct announced {
    bool known;
    uint32_t members, begun; /* hosts, as bits */
    oche_time until;
};

/* A list, as it was posted. */
struct list {
    uint32_t members;
    uint8_t bytes[2 * 32], count;
};

/* The host is announced there, and its message has not begun. */
static inline bool is_awaited(const struct announced *a, uint32_t from)
{
    return a->known && (a->members & ~a->begun) >> from & 1;
}

/* A message of `from` begins. It names the group, or named it when it was stored. */
static inline void member_begins(struct announced *a, uint32_t from)
{
    if (!is_awaited(a, from))
        return;
    a->begun |= 1u << from;
    a->known = a->begun != a->members;
}

/*
 * A message of `from` to `self` names the list. It begins, or waits behind a gap. `hosts`: the
 * number of hosts.
 */
static inline void announce(struct announced *a, const struct list *list, uint32_t from,
                            bool begins, uint32_t self, uint32_t hosts, oche_time now,
                            oche_time timeout)
{
    if (!(list->members >> from & 1) || (list->members >> self & 1) || list->members >> hosts)
        return;
    if (a->known && !(a->members >> from & 1))
        return;
    if (!is_awaited(a, from))
        *a = (struct announced){
            .known = list->count > 1, .members = list->members, .until = now + timeout};
    if (begins)
        member_begins(a, from);
}

static inline uint32_t still_announced(const struct announced *a, oche_time now)
{
    return a->known && now < a->until ? a->members & ~a->begun : 0;
}

#endif
