/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of memory regions, which move to larger memory as regions are added (region.c). */
#ifndef OCHE_CORE_QP_OBJECTS_REGIONS_H
#define OCHE_CORE_QP_OBJECTS_REGIONS_H

#include "core/qp/map.h"
#include "core/qp/slots.h"
#include "core/qp/work.h"

struct oche_nic;
struct oche_window;

/* How memory windows use a region's slot. */
struct region_part {
    struct oche_window *window; /* the window that the slot belongs to, or NULL */
    uint32_t windows;           /* number of windows bound to the region */
};

/* All regions, including those of memory windows. */
struct regions {
    struct map map; /* from keys to slots */
    struct oche_region *at;
    struct region_part *parts; /* one for each region */
    struct slots slots;
};

/* Makes empty tables at `memory`, of oche_regions_bytes(count) bytes. */
void regions_init(struct regions *regions, void *memory, uint32_t count);

/* Returns the new region's slot. Returns NO_SLOT if its key is 0 or in use, or no slot is left. */
uint32_t region_add(struct oche_nic *nic, const struct oche_region *region, bool of_window);
void region_remove(struct oche_nic *nic, uint32_t key);

/*
 * True if the memory behind the address `va` is aligned to 8 bytes. A region may begin at any
 * address, so an aligned `va` does not imply that.
 */
static inline bool region_is_aligned(const struct oche_region *region, uint64_t va)
{
    return region->base == NULL || ((uintptr_t)region->base + (va - region->va)) % 8 == 0;
}

#endif
