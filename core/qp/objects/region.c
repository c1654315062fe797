/* SPDX-License-Identifier: Apache-2.0 */
/* Memory regions: the table of keys, the checks, and copying bytes through lists of SGEs. */
#include <string.h>

#include "core/qp/objects/objects.h"

/* ---- the tables ---- */

/* Offsets of the parts of the tables from their beginning. */
struct layout {
    size_t map, at, parts, free, end;
};

static struct layout layout_of(uint32_t count)
{
    struct layout l = {0};

    l.map = oche_place(&l.end, map_capacity(count) * sizeof(struct map_entry), sizeof(uint64_t));
    l.at = oche_place(&l.end, (size_t)count * sizeof(struct oche_region), sizeof(uint64_t));
    l.parts = oche_place(&l.end, (size_t)count * sizeof(struct region_part), sizeof(uint64_t));
    l.free = oche_place(&l.end, (size_t)count * sizeof(uint32_t), sizeof(uint32_t));
    l.end = oche_lines(l.end);
    return l;
}

size_t oche_regions_bytes(uint32_t count)
{
    return layout_of(count).end;
}

void regions_init(struct regions *regions, void *memory, uint32_t count)
{
    const struct layout l = layout_of(count);
    uint8_t *base = memory;

    map_init(&regions->map, base + l.map, count);
    regions->at = (void *)(base + l.at);
    regions->parts = (void *)(base + l.parts);
    slots_init(&regions->slots, (void *)(base + l.free), count);
}

uint32_t oche_nic_regions_left(const struct oche_nic *nic)
{
    return nic->regions.slots.most - slots_taken(&nic->regions.slots);
}

uint32_t oche_nic_max_regions(const struct oche_nic *nic)
{
    return nic->regions.slots.most;
}

void oche_nic_move_regions(struct oche_nic *nic, void *memory, uint32_t count)
{
    const struct regions old = nic->regions;
    struct regions *now = &nic->regions;

    OCHE_MUST(count >= old.slots.most);
    regions_init(now, memory, count);
    for (size_t i = 0; i <= old.map.mask; i++)
        if (old.map.entries[i].slot != NO_SLOT)
            map_add(&now->map, old.map.entries[i].key, old.map.entries[i].slot);
    now->slots.fresh = old.slots.fresh;
    now->slots.free_count = old.slots.free_count;
    memcpy(now->at, old.at, old.slots.fresh * sizeof(old.at[0]));
    memcpy(now->parts, old.parts, old.slots.fresh * sizeof(old.parts[0]));
    memcpy(now->slots.free, old.slots.free, old.slots.free_count * sizeof(old.slots.free[0]));
}

/* ---- regions ---- */

/*
 * True if a key is free. A window may later be bound with any key that differs from its first key
 * in the lowest byte only, so a window reserves all these keys: none of them may belong to another
 * region or window.
 */
static bool key_is_free(const struct oche_nic *nic, uint32_t key, bool of_window)
{
    const uint32_t first = key & WINDOW_KEYS;

    if (nic->windows == NULL && !of_window)
        return key != 0 && map_find(&nic->regions.map, key) == NO_SLOT;
    for (uint32_t i = 0; i <= ~WINDOW_KEYS; i++) {
        const uint32_t slot = map_find(&nic->regions.map, first + i);
        if (slot != NO_SLOT &&
            (of_window || first + i == key || nic->regions.parts[slot].window != NULL))
            return false;
    }
    return of_window ? first != 0 : key != 0;
}

uint32_t region_add(struct oche_nic *nic, const struct oche_region *region, bool of_window)
{
    bool fresh;

    if (oche_nic_regions_left(nic) == 0 || !key_is_free(nic, region->key, of_window))
        return NO_SLOT;
    uint32_t slot = slots_take(&nic->regions.slots, &fresh);
    nic->regions.at[slot] = *region;
    nic->regions.parts[slot] = (struct region_part){0};
    map_add(&nic->regions.map, region->key, slot);
    return slot;
}

void region_remove(struct oche_nic *nic, uint32_t key)
{
    const uint32_t slot = map_find(&nic->regions.map, key);

    OCHE_MUST(slot != NO_SLOT);
    slots_give(&nic->regions.slots, slot);
    map_remove(&nic->regions.map, key);
}

bool oche_nic_add_region(struct oche_nic *nic, const struct oche_region *region)
{
    if (region->length > UINT64_MAX - region->va || region->pd == NOBODYS_PD)
        return false;
    return region_add(nic, region, false) != NO_SLOT;
}

/* Returns the slot of a region that is not a window and has no window bound to it, or NO_SLOT. */
static uint32_t find_unbound(const struct oche_nic *nic, uint32_t key)
{
    uint32_t slot = map_find(&nic->regions.map, key);

    if (slot == NO_SLOT || nic->regions.parts[slot].window != NULL ||
        nic->regions.parts[slot].windows > 0)
        return NO_SLOT;
    return slot;
}

bool oche_nic_change_region(struct oche_nic *nic, const struct oche_region *region)
{
    uint32_t slot = find_unbound(nic, region->key);

    if (slot == NO_SLOT || region->length > UINT64_MAX - region->va || region->pd == NOBODYS_PD)
        return false;
    nic->regions.at[slot] = *region;
    return true;
}

bool oche_nic_remove_region(struct oche_nic *nic, uint32_t key)
{
    if (find_unbound(nic, key) == NO_SLOT)
        return false;
    region_remove(nic, key);
    return true;
}

/* True if the region has the access rights and contains the range. */
static inline bool allows(const struct oche_region *region, uint64_t va, uint64_t length,
                          uint32_t access)
{
    if ((region->access & access) != access)
        return false;
    return va >= region->va && length <= region->length &&
           va - region->va <= region->length - length;
}

const struct oche_region *region_check(const struct oche_nic *nic, uint32_t pd, uint32_t key,
                                       uint64_t va, uint64_t length, uint32_t access)
{
    uint32_t slot = map_find(&nic->regions.map, key);

    if (slot == NO_SLOT)
        return NULL;
    const struct oche_region *region = &nic->regions.at[slot];
    return region->pd == pd && allows(region, va, length, access) ? region : NULL;
}

const struct oche_region *region_check_remote(const struct oche_qp *qp, uint32_t key, uint64_t va,
                                              uint64_t length, uint32_t access)
{
    const struct oche_nic *nic = qp->nic;
    uint32_t slot = map_find(&nic->regions.map, key);

    if (slot == NO_SLOT)
        return NULL;
    const struct oche_region *region = &nic->regions.at[slot];
    if (OCHE_UNLIKELY(region->pd != qp->pd) && !window_open(qp, slot))
        return NULL;
    return allows(region, va, length, access) ? region : NULL;
}

bool region_check_sges(const struct oche_nic *nic, uint32_t pd, const struct oche_sge *sge,
                       uint32_t count, uint32_t access)
{
    for (uint32_t i = 0; i < count; i++)
        if (sge[i].length > 0 &&
            region_check(nic, pd, sge[i].lkey, sge[i].va, sge[i].length, access) == NULL)
            return false;
    return true;
}

/* Returns the SGE that holds byte `offset` of the list, and makes `offset` relative to it. */
static uint32_t seek_sge(const struct oche_sge *sge, uint32_t count, uint32_t *offset)
{
    uint32_t i = 0;

    while (i < count && *offset >= sge[i].length)
        *offset -= sge[i++].length;
    return i;
}

bool region_gather(const struct oche_qp *qp, const struct oche_sge *sge, uint32_t count,
                   uint32_t offset, void *to, uint32_t bytes)
{
    const struct oche_nic *nic = qp->nic;
    uint8_t *at = to;

    for (uint32_t i = seek_sge(sge, count, &offset); bytes > 0; i++, offset = 0) {
        if (i == count)
            return false;
        uint32_t part = sge[i].length - offset < bytes ? sge[i].length - offset : bytes;
        if (part == 0)
            continue;
        uint64_t va = sge[i].va + offset;
        const struct oche_region *region = region_check(nic, qp->pd, sge[i].lkey, va, part, 0);
        if (region == NULL)
            return false;
        nic->port->read(nic->port_context, region, va - region->va, at, part);
        at += part;
        bytes -= part;
    }
    return true;
}

bool region_scatter(const struct oche_nic *nic, uint32_t pd, const struct oche_sge *sge,
                    uint32_t count, uint32_t offset, const void *from, uint32_t bytes)
{
    const struct oche_nic_port *port = nic->port;
    const uint8_t *at = from;

    for (uint32_t i = seek_sge(sge, count, &offset); bytes > 0; i++, offset = 0) {
        if (i == count)
            return false;
        uint32_t part = sge[i].length - offset < bytes ? sge[i].length - offset : bytes;
        if (part == 0)
            continue;
        uint64_t va = sge[i].va + offset;
        const struct oche_region *region =
            region_check(nic, pd, sge[i].lkey, va, part, OCHE_ACCESS_LOCAL_WRITE);
        if (region == NULL)
            return false;
        (port->write_posted != NULL ? port->write_posted : port->write)(nic->port_context, region,
                                                                        va - region->va, at, part);
        at += part;
        bytes -= part;
    }
    return true;
}
