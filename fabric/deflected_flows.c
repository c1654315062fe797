/* SPDX-License-Identifier: Apache-2.0 */
/* The deflected flow table; see the header. */
#include "fabric/deflected_flows.h"

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

static bool is_old(const struct oche_deflected_flows *table,
                   const struct oche_deflected_flow *entry, oche_time now)
{
    oche_time limit = entry->ended ? table->hold : table->ageing;

    return limit != OCHE_NEVER && now - entry->last >= limit;
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
}

struct oche_deflected_flow *oche_deflected_look(struct oche_deflected_flows *table,
                                                const struct oche_deflected_key *key, oche_time now)
{
    for (uint32_t i = 0, seen = 0; seen < table->count; i++) {
        struct oche_deflected_flow *entry = &table->entries[i];

        if (!entry->used)
            continue;
        seen++;
        if (!same(&entry->key, key))
            continue;
        if (is_old(table, entry, now)) {
            give_up(table, entry);
            return NULL;
        }
        return entry;
    }
    return NULL;
}

void oche_deflected_age(struct oche_deflected_flows *table, oche_time now)
{
    for (uint32_t i = 0; i < table->capacity; i++)
        if (table->entries[i].used && is_old(table, &table->entries[i], now))
            give_up(table, &table->entries[i]);
}

struct oche_deflected_flow *oche_deflected_add(struct oche_deflected_flows *table,
                                               const struct oche_deflected_key *key, oche_time now)
{
    uint32_t i = 0;

    oche_deflected_age(table, now);
    if (table->count == table->capacity)
        return NULL;
    while (table->entries[i].used)
        i++;
    table->entries[i] = (struct oche_deflected_flow){.key = *key, .used = true, .last = now};
    table->count++;
    if (table->count > table->peak)
        table->peak = table->count;
    return &table->entries[i];
}

void oche_deflected_end(struct oche_deflected_flows *table, struct oche_deflected_flow *entry)
{
    entry->ended = true;
    if (table->hold == 0)
        remove_entry(table, entry);
}
