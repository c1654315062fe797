/* SPDX-License-Identifier: Apache-2.0 */
/* Dart's look-ahead at a receiving NIC; see the header. */
#include "core/cc/dart/look_ahead.h"

#define NONE UINT32_MAX

/* ---- memory ---- */

/* Returns how many groups can fit at most; each has at least two senders. */
static uint32_t group_count(uint32_t capacity)
{
    return capacity / 2;
}

size_t oche_look_ahead_bytes(uint32_t capacity)
{
    return oche_lines(capacity * sizeof(struct oche_look_entry)) +
           oche_lines(group_count(capacity) * sizeof(struct oche_look_group)) +
           oche_lines(map_capacity(group_count(capacity)) * sizeof(struct map_entry));
}

void oche_look_ahead_init(struct oche_look_ahead *look, void *memory, uint32_t capacity,
                          oche_time timeout)
{
    uint32_t groups = group_count(capacity);
    uint8_t *at = memory;

    *look = (struct oche_look_ahead){
        .capacity = capacity,
        .free_entries = capacity,
        .free_entry = capacity > 0 ? 0 : NONE,
        .free_group = groups > 0 ? 0 : NONE,
        .oldest = NONE,
        .newest = NONE,
        .timeout = timeout,
    };
    look->entries = (void *)at;
    at += oche_lines(capacity * sizeof(struct oche_look_entry));
    look->groups = (void *)at;
    at += oche_lines(groups * sizeof(struct oche_look_group));
    map_init(&look->map, at, groups);
    for (uint32_t i = 0; i < capacity; i++)
        look->entries[i].next = i + 1 < capacity ? i + 1 : NONE;
    for (uint32_t i = 0; i < groups; i++)
        look->groups[i].newer = i + 1 < groups ? i + 1 : NONE;
}

/* ---- groups ---- */

static uint32_t group_make(struct oche_look_ahead *look, uint32_t id, oche_time now)
{
    uint32_t slot = look->free_group;

    OCHE_MUST(slot != NONE);
    struct oche_look_group *group = &look->groups[slot];
    look->free_group = group->newer;
    *group = (struct oche_look_group){
        .id = id, .first = NONE, .older = look->newest, .newer = NONE, .since = now};
    if (look->newest != NONE)
        look->groups[look->newest].newer = slot;
    else
        look->oldest = slot;
    look->newest = slot;
    map_add(&look->map, id, slot);
    return slot;
}

/*
 * Forgets the group, so that those of its senders that have not begun no longer count. Returns true
 * if the AUSS has changed.
 */
static bool group_drop(struct oche_look_ahead *look, struct oche_auss *auss, uint32_t slot)
{
    struct oche_look_group *group = &look->groups[slot];
    bool changed = false;

    for (uint32_t i = group->first; i != NONE;) {
        struct oche_look_entry *entry = &look->entries[i];
        uint32_t next = entry->next;

        changed |= oche_auss_forget(auss, &entry->member);
        entry->next = look->free_entry;
        look->free_entry = i;
        look->free_entries++;
        i = next;
    }
    if (group->older != NONE)
        look->groups[group->older].newer = group->newer;
    else
        look->oldest = group->newer;
    if (group->newer != NONE)
        look->groups[group->newer].older = group->older;
    else
        look->newest = group->older;
    map_remove(&look->map, group->id);
    group->newer = look->free_group;
    look->free_group = slot;
    return changed;
}

/*
 * Makes room for `count` senders, if necessary by forgetting groups that wait for no sender any
 * more.
 */
static bool make_room(struct oche_look_ahead *look, struct oche_auss *auss, uint32_t count,
                      oche_time now, bool *changed)
{
    if (count > look->capacity)
        return false;
    while (look->free_entries < count || look->free_group == NONE) {
        if (oche_time_add(look->groups[look->oldest].since, look->timeout) > now)
            return false;
        *changed |= group_drop(look, auss, look->oldest);
    }
    return true;
}

static struct oche_look_entry *find(const struct oche_look_ahead *look, uint32_t slot,
                                    uint32_t sender)
{
    for (uint32_t i = look->groups[slot].first; i != NONE; i = look->entries[i].next)
        if (look->entries[i].address == sender)
            return &look->entries[i];
    return NULL;
}

/* ---- lists ---- */

/* Checks a list. Returns OCHE_LOOK_INSERTED if the list is valid. */
static enum oche_look judge(const struct oche_group *group, uint32_t sender,
                            const struct oche_look_facts *facts)
{
    bool has_sender = false;

    for (uint32_t i = 0; i < group->count; i++) {
        uint32_t address = oche_group_member(group, i);
        if (address >= facts->shared_addresses)
            return OCHE_LOOK_UNKNOWN;
        if (address == facts->own || (i > 0 && address <= oche_group_member(group, i - 1)))
            return OCHE_LOOK_WRONG;
        has_sender |= address == sender;
    }
    return has_sender ? OCHE_LOOK_INSERTED : OCHE_LOOK_WRONG;
}

/* Inserts a group. All its senders are waited for, except `begun`, which has begun. */
static bool insert(struct oche_look_ahead *look, struct oche_auss *auss,
                   const struct oche_group *list, uint32_t begun,
                   const struct oche_look_facts *facts, oche_time now)
{
    struct oche_look_group *group = &look->groups[group_make(look, list->id, now)];
    bool changed = false;

    for (uint32_t i = 0; i < list->count; i++) {
        uint32_t slot = look->free_entry, address = oche_group_member(list, i);
        struct oche_look_entry *entry = &look->entries[slot];

        look->free_entry = entry->next;
        look->free_entries--;
        *entry = (struct oche_look_entry){
            .address = address, .next = group->first, .begun = address == begun};
        group->first = slot;
        oche_auss_member_init(&entry->member, look->timeout);
        entry->member.ahead = true;
        if (entry->begun)
            continue;
        group->waiting++;
        changed |= oche_auss_begin(auss, &entry->member, address,
                                   facts->weight(facts->params, address), now);
    }
    return changed;
}

/* Notes that the entry's sender has begun: it is no longer waited for. */
static void begin(struct oche_look_ahead *look, struct oche_auss *auss, uint32_t slot,
                  struct oche_look_entry *entry, bool *changed)
{
    entry->begun = true;
    *changed |= oche_auss_forget(auss, &entry->member);
    if (--look->groups[slot].waiting == 0)
        *changed |= group_drop(look, auss, slot);
}

/*
 * Decides what to do with a list, and does it. Exception: a new group (OCHE_LOOK_INSERTED) is not
 * inserted here.
 */
static enum oche_look take(struct oche_look_ahead *look, struct oche_auss *auss,
                           const struct oche_group *group, uint32_t sender, bool begins,
                           const struct oche_look_facts *facts, oche_time now, bool *changed)
{
    enum oche_look verdict = group->count > 0 ? judge(group, sender, facts) : OCHE_LOOK_GONE;
    uint32_t slot = map_find(&look->map, group->id);
    struct oche_look_entry *entry = slot == NO_SLOT ? NULL : find(look, slot, sender);

    if (verdict != OCHE_LOOK_INSERTED && verdict != OCHE_LOOK_GONE)
        return verdict;
    if (entry != NULL && !entry->begun) {
        if (!begins)
            return OCHE_LOOK_AWAITED;
        begin(look, auss, slot, entry, changed);
        return OCHE_LOOK_BEGUN;
    }
    if (verdict == OCHE_LOOK_GONE)
        return verdict;
    if (slot != NO_SLOT && entry == NULL)
        return OCHE_LOOK_STRANGER;
    if (slot != NO_SLOT)
        /* a new incast reuses the id: forget the old group */
        *changed |= group_drop(look, auss, slot);
    if (group->count == 1)
        return OCHE_LOOK_ALONE;
    return make_room(look, auss, group->count, now, changed) ? OCHE_LOOK_INSERTED : OCHE_LOOK_FULL;
}

bool oche_look_ahead_take(struct oche_look_ahead *look, struct oche_auss *auss,
                          const struct oche_group *group, uint32_t sender, bool begins,
                          const struct oche_look_facts *facts, oche_time now)
{
    bool changed = false;
    enum oche_look verdict = take(look, auss, group, sender, begins, facts, now, &changed);

    look->seen[verdict]++;
    if (verdict == OCHE_LOOK_INSERTED)
        changed |= insert(look, auss, group, begins ? sender : NONE, facts, now);
    return changed;
}
