/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Active Unique Sender Set of a receiving NIC (Dart, ToN 2020, sec III-B): the hosts that are
 * sending now. A sender is in the set while at least one of its messages is active. However many
 * messages and queue pairs a sender has, it counts once or, with weights, as much as its weight.
 *
 *   member   a queue pair, which reports each message to the set exactly once (cc.h,
 *            message_begins); or a sender that look-ahead has announced before its messages come
 *            (look_ahead.h). Each member has its own timeout.
 *   sender   all members of one address.
 *
 * The set is soft state. A member no longer counts when no packet of it has arrived for its
 * timeout; if the sender has no other member that counts, the sender leaves the set. The member
 * counts again with its next packet. So a sender that died is forgotten, and a sender that only
 * paused comes back. The paper has one timeout per sender. Here each member has one: otherwise a
 * message that a failure has interrupted would stay active as long as its sender sends other
 * messages.
 *
 * The work per message is O(1), except to look up the weight of a new sender. For timeouts there is
 * a list of the members, ordered by the time at which each is to be checked; a packet does not
 * change that time.
 */
#ifndef OCHE_CORE_CC_DART_AUSS_H
#define OCHE_CORE_CC_DART_AUSS_H

#include "core/base.h"
#include "core/qp/map.h"

#define OCHE_AUSS_NOBODY UINT32_MAX

struct oche_auss_member {
    oche_time last;    /* when the member's last packet arrived */
    uint32_t messages; /* number of active messages */
    uint32_t sender;   /* slot of the sender; OCHE_AUSS_NOBODY if the member does not count now */
    /* neighbours in the list ordered by `look` */
    struct oche_auss_member *earlier, *later;
    /* neighbours in the list of the sender's members */
    struct oche_auss_member *of_sender, *of_sender_before;
    oche_time look; /* when to check for a timeout; valid while the member counts */
    oche_time timeout;
    bool leaving; /* it has no active message, and counts until `look` */
    bool ahead; /* announced by look-ahead (look_ahead.h): nothing has arrived, and it has no queue
                   pair */
};

struct oche_auss_sender {
    struct oche_auss_member *members; /* list of the members that count, latest first */
    uint32_t address, weight;
    uint32_t messages; /* active messages of all members */
    uint32_t place;    /* index in `active` */
};

/* Members that count, by the time at which to look at each. */
struct oche_auss_list {
    struct oche_auss_member *earliest, *latest;
};

struct oche_auss {
    /*
     * staying: members with active messages; leaving: members that still count after their last
     * message
     */
    struct oche_auss_list staying, leaving;
    uint32_t count;          /* senders in the set */
    uint32_t changes;        /* how often a sender has entered or left the AUSS */
    uint64_t weight;         /* sum of the weights of the senders in the set */
    uint64_t timeouts;       /* members that have timed out so far, without `ahead` ones */
    uint64_t ahead_timeouts; /* members that have timed out so far while `ahead` */
    uint32_t *active;        /* slots of the senders in the set, in no order */
    struct oche_auss_sender *senders;
    uint32_t *free, free_count, capacity;
    struct map map; /* address to slot */
};

/* Returns the bytes of memory for a set of at most `capacity` active senders. */
size_t oche_auss_bytes(uint32_t capacity);
void oche_auss_init(struct oche_auss *auss, void *memory, uint32_t capacity);

void oche_auss_member_init(struct oche_auss_member *member, oche_time timeout);

/*
 * Count a message from `address` that begins, and a message that has ended. `weight` (1 or more) is
 * the sender's weight if the sender is new. Both return true if the set has changed.
 */
bool oche_auss_begin(struct oche_auss *auss, struct oche_auss_member *member, uint32_t address,
                     uint32_t weight, oche_time now);
bool oche_auss_end(struct oche_auss *auss, struct oche_auss_member *member);
/*
 * Like oche_auss_end. But after the member's last message, the member still counts until `until`,
 * or until another message begins. So a sender that sends one message after the other stays in the
 * set. `until` must not be earlier than in the previous call.
 */
void oche_auss_linger(struct oche_auss *auss, struct oche_auss_member *member, oche_time until);
/* Removes the member with all its messages. Returns true if the set has changed. */
bool oche_auss_forget(struct oche_auss *auss, struct oche_auss_member *member);
/*
 * Counts a member again that had timed out, because a packet of it has arrived. Returns true if the
 * set has changed.
 */
bool oche_auss_revive(struct oche_auss *auss, struct oche_auss_member *member, uint32_t address,
                      uint32_t weight, oche_time now);

/* A packet of the member's sender has arrived. Returns true if the member should be revived. */
static inline bool oche_auss_seen(struct oche_auss_member *member, oche_time now)
{
    member->last = now;
    return OCHE_UNLIKELY(member->messages > 0 && member->sender == OCHE_AUSS_NOBODY);
}

/* Returns the time by which to look for timeouts; OCHE_NEVER if no member counts. */
static inline oche_time oche_auss_next(const struct oche_auss *auss)
{
    const struct oche_auss_member *stays = auss->staying.earliest, *leaves = auss->leaving.earliest;
    const oche_time next = stays == NULL ? OCHE_NEVER : stays->look;

    return leaves == NULL ? next : oche_time_min(next, leaves->look);
}

/*
 * Stops counting members that have been silent for too long. Returns true if the set has changed.
 */
bool oche_auss_expire(struct oche_auss *auss, oche_time now);

#endif
