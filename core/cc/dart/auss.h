/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Active Unique Sender Set of a receiving NIC (Dart, ToN 2020, sec III-B): who is sending now.
 * A sender is in it while at least one of its messages is active, and counts once, however many
 * messages and queue pairs it has; with weights, as often as its weight says.
 *
 *   member   whoever counts messages: a queue pair. The set trusts it to count each message once
 *            (cc.h, message_begins). What knows of messages before they come is a member of its
 *            own, with its own timeout.
 *   sender   the members of one address.
 *
 * Soft state: a member without a packet for its timeout no longer counts, and takes its sender out
 * if that has no other; it counts again with the next packet. So a sender that died is forgotten,
 * and one that only paused is not miscounted. Where the paper has a time by sender, here it is by
 * member: else new messages of a sender would keep alive what an earlier failure has left behind.
 *
 * All is O(1) a message (weights of new senders apart), but for looking for timeouts: a list by the
 * time at which a member is to be looked at, which packets do not move.
 */
#ifndef OCHE_CORE_CC_DART_AUSS_H
#define OCHE_CORE_CC_DART_AUSS_H

#include "core/base.h"
#include "core/qp/map.h"

#define OCHE_AUSS_NOBODY UINT32_MAX

struct oche_auss_member {
    oche_time last;    /* its last packet */
    uint32_t messages; /* active */
    uint32_t sender;   /* its slot, or OCHE_AUSS_NOBODY: it does not count now */
    struct oche_auss_member *earlier, *later;              /* by `look` */
    struct oche_auss_member *of_sender, *of_sender_before; /* others of the same sender */
    oche_time look; /* not timed out before then; valid while it counts */
    oche_time timeout;
    bool ahead; /* look_ahead.h's: nothing has come, and there is no queue pair to it */
};

struct oche_auss_sender {
    struct oche_auss_member *members; /* that count, the latest first */
    uint32_t address, weight;
    uint32_t messages; /* of its members */
    uint32_t place;    /* in `active` */
};

struct oche_auss {
    struct oche_auss_member *earliest, *latest;
    uint32_t count;          /* senders in it */
    uint64_t weight;         /* of them all */
    uint64_t timeouts;       /* members that fell silent, so far, but for those … */
    uint64_t ahead_timeouts; /* … that were `ahead` */
    uint32_t *active;        /* slots of the senders in it, in no order */
    struct oche_auss_sender *senders;
    uint32_t *free, free_count, capacity;
    struct map map; /* address to slot */
};

/* Memory for `capacity` senders: at most so many may be active. */
size_t oche_auss_bytes(uint32_t capacity);
void oche_auss_init(struct oche_auss *auss, void *memory, uint32_t capacity);

void oche_auss_member_init(struct oche_auss_member *member, oche_time timeout);

/*
 * A message of `address` begins, or has ended. Weight: 1 or more; of the sender that comes in. Each
 * returns whether the set has changed.
 */
bool oche_auss_begin(struct oche_auss *auss, struct oche_auss_member *member, uint32_t address,
                     uint32_t weight, oche_time now);
bool oche_auss_end(struct oche_auss *auss, struct oche_auss_member *member);
/* The member goes away with all that it counts. */
bool oche_auss_forget(struct oche_auss *auss, struct oche_auss_member *member);
/* It has timed out, and now it shows life. */
bool oche_auss_revive(struct oche_auss *auss, struct oche_auss_member *member, uint32_t address,
                      uint32_t weight, oche_time now);

/* A packet of the member's sender has come. True: it should be revived. */
static inline bool oche_auss_seen(struct oche_auss_member *member, oche_time now)
{
    member->last = now;
    return OCHE_UNLIKELY(member->messages > 0 && member->sender == OCHE_AUSS_NOBODY);
}

/* When to look for timeouts, at the latest; OCHE_NEVER: nobody counts. */
static inline oche_time oche_auss_next(const struct oche_auss *auss)
{
    return auss->earliest == NULL ? OCHE_NEVER : auss->earliest->look;
}

/* Takes out who has been silent for too long. */
bool oche_auss_expire(struct oche_auss *auss, oche_time now);

#endif
