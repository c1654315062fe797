/* SPDX-License-Identifier: Apache-2.0 */
/* The Active Unique Sender Set; see the header. */
#include "core/cc/dart/auss.h"

#include <string.h>

/* ---- memory ---- */

size_t oche_auss_bytes(uint32_t capacity)
{
    return oche_lines(capacity * sizeof(struct oche_auss_sender)) +
           oche_lines(map_capacity(capacity) * sizeof(struct map_entry)) +
           2 * oche_lines(capacity * sizeof(uint32_t));
}

void oche_auss_init(struct oche_auss *auss, void *memory, uint32_t capacity)
{
    uint8_t *at = memory;

    *auss = (struct oche_auss){.capacity = capacity, .free_count = capacity};
    auss->senders = (void *)at;
    at += oche_lines(capacity * sizeof(struct oche_auss_sender));
    map_init(&auss->map, at, capacity);
    at += oche_lines(map_capacity(capacity) * sizeof(struct map_entry));
    auss->active = (void *)at;
    at += oche_lines(capacity * sizeof(uint32_t));
    auss->free = (void *)at;
    for (uint32_t i = 0; i < capacity; i++)
        auss->free[i] = capacity - 1 - i;
}

void oche_auss_member_init(struct oche_auss_member *member, oche_time timeout)
{
    *member = (struct oche_auss_member){.timeout = timeout, .sender = OCHE_AUSS_NOBODY};
}

/* ---- the list by time ---- */

/* The list that the member is in while it counts. */
static struct oche_auss_list *list_of(struct oche_auss *auss, const struct oche_auss_member *member)
{
    return member->leaving ? &auss->leaving : &auss->staying;
}

/* Inserts the member into its list, in order of `look`; its place is usually near the end. */
static void list_add(struct oche_auss *auss, struct oche_auss_member *member)
{
    struct oche_auss_list *list = list_of(auss, member);
    struct oche_auss_member *before = list->latest;

    while (before != NULL && before->look > member->look)
        before = before->earlier;
    member->earlier = before;
    member->later = before != NULL ? before->later : list->earliest;
    if (before != NULL)
        before->later = member;
    else
        list->earliest = member;
    if (member->later != NULL)
        member->later->earlier = member;
    else
        list->latest = member;
}

static void list_remove(struct oche_auss *auss, struct oche_auss_member *member)
{
    struct oche_auss_list *list = list_of(auss, member);

    if (member->earlier != NULL)
        member->earlier->later = member->later;
    else
        list->earliest = member->later;
    if (member->later != NULL)
        member->later->earlier = member->earlier;
    else
        list->latest = member->earlier;
}

/* Moves a member that counts to the other list, or to its place by another time. */
static void list_move(struct oche_auss *auss, struct oche_auss_member *member, bool leaving,
                      oche_time look)
{
    list_remove(auss, member);
    member->leaving = leaving;
    member->look = look;
    list_add(auss, member);
}

/* ---- senders ---- */

static uint32_t sender_enter(struct oche_auss *auss, uint32_t address, uint32_t weight)
{
    OCHE_MUST(auss->free_count > 0);
    uint32_t slot = auss->free[--auss->free_count];

    map_add(&auss->map, address, slot);
    auss->senders[slot] =
        (struct oche_auss_sender){.address = address, .weight = weight, .place = auss->count};
    auss->active[auss->count++] = slot;
    auss->weight += weight;
    auss->changes++;
    return slot;
}

static void sender_leave(struct oche_auss *auss, uint32_t slot)
{
    struct oche_auss_sender *sender = &auss->senders[slot];
    uint32_t last = auss->active[--auss->count];

    auss->active[sender->place] = last;
    auss->senders[last].place = sender->place;
    auss->weight -= sender->weight;
    map_remove(&auss->map, sender->address);
    auss->free[auss->free_count++] = slot;
    auss->changes++;
}

/* ---- members ---- */

/*
 * Makes the member count, with all of its messages. Returns true if its sender is new in the set.
 */
static bool count(struct oche_auss *auss, struct oche_auss_member *member, uint32_t address,
                  uint32_t weight, oche_time now)
{
    uint32_t slot = map_find(&auss->map, address);
    bool is_new = slot == NO_SLOT;

    if (is_new)
        slot = sender_enter(auss, address, weight);
    struct oche_auss_sender *sender = &auss->senders[slot];
    member->of_sender_before = NULL;
    member->of_sender = sender->members;
    if (sender->members != NULL)
        sender->members->of_sender_before = member;
    sender->members = member;
    sender->messages += member->messages;
    member->sender = slot;
    member->last = now;
    member->leaving = false;
    member->look = oche_time_add(now, member->timeout);
    list_add(auss, member);
    return is_new;
}

/* Stops counting the member. Returns true if its sender has left the set. */
static bool discount(struct oche_auss *auss, struct oche_auss_member *member)
{
    struct oche_auss_sender *sender = &auss->senders[member->sender];
    uint32_t slot = member->sender;

    list_remove(auss, member);
    if (member->of_sender_before != NULL)
        member->of_sender_before->of_sender = member->of_sender;
    else
        sender->members = member->of_sender;
    if (member->of_sender != NULL)
        member->of_sender->of_sender_before = member->of_sender_before;
    sender->messages -= member->messages;
    member->sender = OCHE_AUSS_NOBODY;
    if (sender->members != NULL)
        return false;
    sender_leave(auss, slot);
    return true;
}

/* ---- events ---- */

bool oche_auss_begin(struct oche_auss *auss, struct oche_auss_member *member, uint32_t address,
                     uint32_t weight, oche_time now)
{
    member->messages++;
    if (member->sender == OCHE_AUSS_NOBODY)
        return count(auss, member, address, weight, now);
    member->last = now;
    auss->senders[member->sender].messages++;
    if (member->leaving)
        list_move(auss, member, false, oche_time_add(now, member->timeout));
    return false;
}

bool oche_auss_end(struct oche_auss *auss, struct oche_auss_member *member)
{
    OCHE_MUST(member->messages > 0);
    if (member->sender != OCHE_AUSS_NOBODY && member->messages == 1)
        return oche_auss_forget(auss, member);
    member->messages--;
    if (member->sender != OCHE_AUSS_NOBODY)
        auss->senders[member->sender].messages--;
    return false;
}

void oche_auss_linger(struct oche_auss *auss, struct oche_auss_member *member, oche_time until)
{
    if (member->sender == OCHE_AUSS_NOBODY || member->messages != 1) {
        oche_auss_end(auss, member);
        return;
    }
    member->messages = 0;
    auss->senders[member->sender].messages--;
    list_move(auss, member, true, until);
}

bool oche_auss_forget(struct oche_auss *auss, struct oche_auss_member *member)
{
    bool left = member->sender != OCHE_AUSS_NOBODY && discount(auss, member);

    member->messages = 0;
    return left;
}

bool oche_auss_revive(struct oche_auss *auss, struct oche_auss_member *member, uint32_t address,
                      uint32_t weight, oche_time now)
{
    return count(auss, member, address, weight, now);
}

bool oche_auss_expire(struct oche_auss *auss, oche_time now)
{
    bool changed = false;

    while (auss->leaving.earliest != NULL && auss->leaving.earliest->look <= now)
        changed |= discount(auss, auss->leaving.earliest);
    while (auss->staying.earliest != NULL && auss->staying.earliest->look <= now) {
        struct oche_auss_member *member = auss->staying.earliest;
        oche_time due = oche_time_add(member->last, member->timeout);

        if (due <= now) {
            auss->timeouts += !member->ahead;
            auss->ahead_timeouts += member->ahead;
            changed |= discount(auss, member);
            continue;
        }
        list_move(auss, member, false, due);
    }
    return changed;
}
