/* SPDX-License-Identifier: Apache-2.0 */
/* The deflected flow table; see the header. */
#include "fabric/deflected_flows.h"

#include "fabric/switch_state.h"

size_t oche_deflected_bytes(uint32_t capacity)
{
    return sizeof(struct oche_deflected_flows) +
           (size_t)capacity * sizeof(struct oche_deflected_flow);
}

void oche_deflected_init(struct oche_deflected_flows *table, uint32_t capacity, oche_time ageing,
                         oche_time hold)
{
    table->capacity = capacity;
    table->ageing = ageing;
    table->hold = hold;
}

static bool same(const struct oche_deflected_key *a, const struct oche_deflected_key *b)
{
    return a->dst == b->dst && a->dest_qpn == b->dest_qpn && a->tokens == b->tokens;
}

/* ---- age ---- */

/* Returns the total time for which the entry's lane has been paused at its port. */
static oche_time paused(const struct oche_switch *sw, const struct oche_deflected_flow *entry,
                        oche_time now)
{
    return oche_pause_time_ever(&sw->pauses[entry->port], entry->lane, now);
}

static void touch(const struct oche_deflected_flows *table, const struct oche_switch *sw,
                  struct oche_deflected_flow *entry, oche_time now)
{
    entry->last = now;
    if (table->lingers)
        entry->paused = paused(sw, entry, now);
}

static bool is_old(const struct oche_deflected_flows *table, const struct oche_switch *sw,
                   const struct oche_deflected_flow *entry, oche_time now)
{
    oche_time limit = entry->ended ? table->hold : table->ageing;
    oche_time stood = 0;

    if (limit == OCHE_NEVER || now - entry->last < limit)
        return false;
    if (table->lingers) {
        if (entry->waiting > 0)
            return false;
        stood = paused(sw, entry, now) - entry->paused;
    }
    return now - entry->last >= oche_time_add(limit, stood);
}

static void remove_entry(struct oche_deflected_flows *table, struct oche_deflected_flow *entry)
{
    OCHE_MUST(entry->used && table->count > 0);
    entry->used = false;
    table->count--;
}

static void give_up(struct oche_deflected_flows *table, struct oche_deflected_flow *entry)
{
    table->aged += !entry->ended;
    remove_entry(table, entry);
    if (!table->lingers)
        return;
    entry->gone = true;
    table->gone++;
}

void oche_deflected_age(struct oche_deflected_flows *table, const struct oche_switch *sw,
                        oche_time now)
{
    for (uint32_t i = 0; i < table->capacity; i++)
        if (table->entries[i].used && is_old(table, sw, &table->entries[i], now))
            give_up(table, &table->entries[i]);
}

/* ---- looking up ---- */

/* Returns the entry of a key, whatever its age, or NULL. */
static struct oche_deflected_flow *find(struct oche_deflected_flows *table,
                                        const struct oche_deflected_key *key)
{
    for (uint32_t i = 0, seen = 0; seen < table->count; i++) {
        struct oche_deflected_flow *entry = &table->entries[i];

        if (!entry->used)
            continue;
        seen++;
        if (same(&entry->key, key))
            return entry;
    }
    return NULL;
}

struct oche_deflected_flow *oche_deflected_look(struct oche_deflected_flows *table,
                                                const struct oche_switch *sw,
                                                const struct oche_deflected_key *key, oche_time now)
{
    struct oche_deflected_flow *entry = find(table, key);

    if (entry == NULL || !is_old(table, sw, entry, now))
        return entry;
    give_up(table, entry);
    return NULL;
}

/* Returns the place of a key whose entry was given up, or the table's capacity. */
static uint32_t find_gone(const struct oche_deflected_flows *table,
                          const struct oche_deflected_key *key)
{
    for (uint32_t i = 0, seen = 0; seen < table->gone; i++) {
        seen += table->entries[i].gone;
        if (table->entries[i].gone && same(&table->entries[i].key, key))
            return i;
    }
    return table->capacity;
}

bool oche_deflected_gone(const struct oche_deflected_flows *table,
                         const struct oche_deflected_key *key)
{
    return find_gone(table, key) < table->capacity;
}

/* ---- changes ---- */

void oche_deflected_use(const struct oche_deflected_flows *table, const struct oche_switch *sw,
                        struct oche_deflected_flow *entry, oche_time now)
{
    entry->ended = false;
    touch(table, sw, entry, now);
}

/* Returns a place that is not in use. Prefers the place whose former key may be forgotten first. */
static struct oche_deflected_flow *free_place(struct oche_deflected_flows *table)
{
    struct oche_deflected_flow *oldest = NULL;

    for (uint32_t i = 0; i < table->capacity; i++) {
        struct oche_deflected_flow *entry = &table->entries[i];

        if (entry->used)
            continue;
        if (!entry->gone)
            return entry;
        if (oldest == NULL || entry->last < oldest->last)
            oldest = entry;
    }
    OCHE_MUST(oldest != NULL);
    table->gone--;
    return oldest;
}

struct oche_deflected_flow *oche_deflected_add(struct oche_deflected_flows *table,
                                               const struct oche_switch *sw,
                                               const struct oche_deflected_flow *flow,
                                               oche_time now)
{
    struct oche_deflected_flow *entry;

    oche_deflected_age(table, sw, now);
    if (table->count == table->capacity)
        return NULL;
    entry = free_place(table);
    *entry = (struct oche_deflected_flow){
        .key = flow->key, .port = flow->port, .lane = flow->lane, .used = true};
    touch(table, sw, entry, now);
    table->count++;
    if (table->count > table->peak)
        table->peak = table->count;
    return entry;
}

void oche_deflected_end(struct oche_deflected_flows *table, struct oche_deflected_flow *entry)
{
    entry->ended = true;
    if (table->hold == 0)
        remove_entry(table, entry);
}

void oche_deflected_release(struct oche_deflected_flows *table, struct oche_deflected_flow *entry)
{
    remove_entry(table, entry);
}

void oche_deflected_forget(struct oche_deflected_flows *table, const struct oche_deflected_key *key)
{
    struct oche_deflected_flow *entry = find(table, key);
    uint32_t place = find_gone(table, key);

    if (entry != NULL)
        remove_entry(table, entry);
    if (place < table->capacity) {
        table->entries[place].gone = false;
        table->gone--;
    }
}

/* ---- packets at the port ---- */

/* Returns the key's entry if it leads to `port`, or NULL. */
static struct oche_deflected_flow *find_at(struct oche_deflected_flows *table,
                                           const struct oche_deflected_key *key, unsigned port)
{
    struct oche_deflected_flow *entry = find(table, key);

    return entry != NULL && entry->port == port ? entry : NULL;
}

void oche_deflected_queued(struct oche_deflected_flows *table, const struct oche_deflected_key *key,
                           unsigned port)
{
    struct oche_deflected_flow *entry = find_at(table, key, port);

    if (entry != NULL)
        entry->waiting++;
}

void oche_deflected_left(struct oche_deflected_flows *table, const struct oche_switch *sw,
                         const struct oche_deflected_key *key, unsigned port, oche_time now)
{
    struct oche_deflected_flow *entry = find_at(table, key, port);

    if (entry == NULL || entry->waiting == 0)
        return;
    entry->waiting--;
    touch(table, sw, entry, now);
}

void oche_deflected_lost(struct oche_deflected_flows *table, const struct oche_deflected_key *key,
                         unsigned port)
{
    struct oche_deflected_flow *entry = find_at(table, key, port);

    if (entry != NULL && entry->waiting > 0)
        entry->waiting--;
}
