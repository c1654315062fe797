/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Active Unique Sender Set of a receiving NIC (Dart, ToN 2020, sec III-B): the hosts that are
 * sending now. A sender is in the set while at least one of its messages is active. It counts once,
 * however many messages and queue pairs it has; with weights, it counts as its weight.
 *
 *   member   whoever counts messages: a queue pair. The set trusts it to count each message once
 *            (cc.h, message_begins). What knows of messages before they come is a member of its
 *            own, with its own timeout.
 *   sender   the members of one address.
 *
 * The set is soft state: a member without a packet for its timeout no longer counts, and its sender
 * leaves if it has no other; the member counts again with the next packet. So a sender that died is
 * forgotten, and one that only paused is not miscounted. The paper has a time per sender; here it
 * is per member, since otherwise a sender's new messages would keep alive what an earlier failure
 * has left behind.
 *
 * Everything is O(1) per message (except the weights of new senders). Timeouts use a list ordered
 * by the time at which a member is to be checked, which packets do not change.
 */
#ifndef OCHE_CORE_CC_DART_AUSS_H
#define OCHE_CORE_CC_DART_AUSS_H

#include "core/base.h"
#include "core/qp/map.h"

#define OCHE_AUSS_NOBODY UINT32_MAX

struct oche_auss_member {
    oche_time last;    /* when its last packet arrived */
    uint32_t messages; /* number of active messages */
    uint32_t sender;   /* the sender's slot, or OCHE_AUSS_NOBODY: the member does not count now */
    /* neighbours in the list ordered by `look` */
    struct oche_auss_member *earlier, *later;
    /* neighbours in the list of the sender's members */
    struct oche_auss_member *of_sender, *of_sender_before;
    oche_time look; /* when to check the member for a timeout; valid while it counts */
    oche_time timeout;
    bool ahead; /* announced by look-ahead (look_ahead.h): nothing has arrived, and it has no queue
                   pair */
};

struct oche_auss_sender {
    struct oche_auss_member *members; /* list of the members that count, latest first */
    uint32_t address, weight;
    uint32_t messages; /* active messages of all members */
    uint32_t place;    /* index in `active` */
};

struct oche_auss {
    struct oche_auss_member *earliest, *latest;
    uint32_t count;          /* senders in the set */
    uint64_t weight;         /* sum of the weights of the senders in the set */
    uint64_t timeouts;       /* members that timed out so far, except those … */
    uint64_t ahead_timeouts; /* … that were `ahead` */
    uint32_t *active;        /* slots of the senders in the set, in no order */
    struct oche_auss_sender *senders;
    uint32_t *free, free_count, capacity;
    struct map map; /* address to slot */
};

/* Returns the memory for `capacity` senders, which is the most that may be active. */
size_t oche_auss_bytes(uint32_t capacity);
void oche_auss_init(struct oche_auss *auss, void *memory, uint32_t capacity);

void oche_auss_member_init(struct oche_auss_member *member, oche_time timeout);

/*
 * Count a message of `address` that begins, and one that has ended. `weight` (1 or more) is used if
 * the sender is new. Both return true if the set has changed.
 */
bool oche_auss_begin(struct oche_auss *auss, struct oche_auss_member *member, uint32_t address,
                     uint32_t weight, oche_time now);
bool oche_auss_end(struct oche_auss *auss, struct oche_auss_member *member);
/* Removes the member with all its messages. Returns true if the set has changed. */
bool oche_auss_forget(struct oche_auss *auss, struct oche_auss_member *member);
/*
 * Counts a timed-out member again, since a packet of it has arrived. Returns true if the set has
 * changed.
 */
bool oche_auss_revive(struct oche_auss *auss, struct oche_auss_member *member, uint32_t address,
                      uint32_t weight, oche_time now);

/* A packet of the member's sender has arrived. Returns true if the member should be revived. */
static inline bool oche_auss_seen(struct oche_auss_member *member, oche_time now)
{
    member->last = now;
    return OCHE_UNLIKELY(member->messages > 0 && member->sender == OCHE_AUSS_NOBODY);
}

/* Returns when to look for timeouts, at the latest; OCHE_NEVER: no member counts. */
static inline oche_time oche_auss_next(const struct oche_auss *auss)
{
    return auss->earliest == NULL ? OCHE_NEVER : auss->earliest->look;
}

/*
 * Stops counting members that have been silent for too long. Returns true if the set has changed.
 */
bool oche_auss_expire(struct oche_auss *auss, oche_time now);

#endif
