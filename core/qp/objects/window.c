/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory windows (IBTA 10.6.7). A window is a key for a part of a region. A work request binds the
 * window; a work request, or a SEND of the peer, invalidates it. A bound window is entered as a
 * region whose protection domain belongs to nobody, so that every access by its key is checked
 * here: a window of type 1 is open to all queue pairs of its domain, one of type 2 only to the
 * queue pair that has bound it. Windows of type 2 pass the checks of both 2A and 2B, because a
 * window, its region and its queue pair must belong to the same domain.
 */
#include "core/qp/objects/objects.h"

#define REMOTE_ACCESS                                                                              \
    (OCHE_ACCESS_REMOTE_WRITE | OCHE_ACCESS_REMOTE_READ | OCHE_ACCESS_REMOTE_ATOMIC)

struct oche_window {
    struct oche_nic *nic;
    struct oche_window *next, **link; /* the list of all windows of the NIC */
    void *user;
    uint32_t slot;        /* slot of the region that represents the window */
    uint32_t region_slot; /* for a bound window: slot of the region that contains it */
    uint32_t key, pd;
    uint32_t qpn; /* for a bound window of type 2: the queue pair that bound it */
    uint8_t type; /* enum oche_window_type */
    bool bound;
    _Atomic uint32_t posted; /* number of posted binds that have not completed */
};

/* ---- making ---- */

size_t oche_window_bytes(void)
{
    return sizeof(struct oche_window);
}

struct oche_window *oche_window_create(struct oche_nic *nic, void *memory,
                                       const struct oche_window_config *config)
{
    const struct oche_region closed = {.key = config->key, .pd = NOBODYS_PD};
    struct oche_window *window = memory;
    uint32_t slot;

    if (config->type > OCHE_WINDOW_TYPE_2 || config->pd == NOBODYS_PD)
        return NULL;
    slot = region_add(nic, &closed, true);
    if (slot == NO_SLOT)
        return NULL;
    *window = (struct oche_window){
        .nic = nic,
        .next = nic->windows,
        .link = &nic->windows,
        .user = config->user,
        .slot = slot,
        .key = config->key,
        .pd = config->pd,
        .type = config->type,
    };
    if (window->next != NULL)
        window->next->link = &window->next;
    nic->windows = window;
    nic->regions.parts[slot].window = window;
    return window;
}

static void unbind(struct oche_window *window)
{
    struct region_part *part = &window->nic->regions.parts[window->region_slot];

    if (window->bound) {
        OCHE_MUST(part->windows > 0);
        part->windows--;
    }
    window->bound = false;
}

bool oche_window_destroy(struct oche_window *window)
{
    if (atomic_load_explicit(&window->posted, memory_order_acquire) > 0)
        return false;
    unbind(window);
    region_remove(window->nic, window->key);
    *window->link = window->next;
    if (window->next != NULL)
        window->next->link = window->link;
    return true;
}

uint32_t oche_window_key(const struct oche_window *window)
{
    return window->key;
}

void *oche_window_user(const struct oche_window *window)
{
    return window->user;
}

/* ---- access ---- */

bool window_open(const struct oche_qp *qp, uint32_t slot)
{
    const struct oche_window *window = qp->nic->regions.parts[slot].window;

    return window != NULL && window->bound && window->pd == qp->pd &&
           (window->type == OCHE_WINDOW_TYPE_1 || window->qpn == qp->qpn);
}

/* ---- binding ---- */

void window_bind_posted(struct oche_window *window)
{
    atomic_fetch_add_explicit(&window->posted, 1, memory_order_relaxed);
}

void window_bind_over(struct oche_window *window)
{
    atomic_fetch_sub_explicit(&window->posted, 1, memory_order_release);
}

/* Checks the new key, and the other rules for a bind that depend on the window's type. */
static bool key_ok(const struct oche_window *window, const struct oche_bind *bind)
{
    if (((bind->rkey ^ window->key) & WINDOW_KEYS) != 0)
        return false;
    if (window->type == OCHE_WINDOW_TYPE_1)
        return !(bind->access & OCHE_ACCESS_ZERO_BASED);
    return !window->bound && bind->rkey != window->key && bind->length > 0;
}

/*
 * Returns the slot of the region to bind to, or NO_SLOT if the bind is not allowed for this region.
 */
static uint32_t find_region(const struct oche_qp *qp, const struct oche_bind *bind)
{
    const struct oche_nic *nic = qp->nic;
    const uint32_t changes = OCHE_ACCESS_REMOTE_WRITE | OCHE_ACCESS_REMOTE_ATOMIC;
    uint32_t slot = map_find(&nic->regions.map, bind->lkey);

    if (slot == NO_SLOT || (bind->access & ~(uint32_t)(REMOTE_ACCESS | OCHE_ACCESS_ZERO_BASED)))
        return NO_SLOT;
    uint32_t access = OCHE_ACCESS_MW_BIND;
    if (bind->access & changes)
        access |= OCHE_ACCESS_LOCAL_WRITE;
    if (region_check(nic, qp->pd, bind->lkey, bind->va, bind->length, access) == NULL)
        return NO_SLOT;
    return slot;
}

/* Opens the window onto a part of a region. */
static void open_onto(struct oche_window *window, const struct oche_bind *bind, uint32_t slot,
                      uint32_t qpn)
{
    struct oche_nic *nic = window->nic;
    const struct oche_region *whole = &nic->regions.at[slot];
    struct oche_region *part = &nic->regions.at[window->slot];

    OCHE_MUST(!window->bound && slot != window->slot);
    part->va = bind->access & OCHE_ACCESS_ZERO_BASED ? 0 : bind->va;
    part->length = bind->length;
    part->access = bind->access & REMOTE_ACCESS;
    part->base = whole->base == NULL ? NULL : (uint8_t *)whole->base + (bind->va - whole->va);
    nic->regions.parts[slot].windows++;
    window->region_slot = slot;
    window->qpn = qpn;
    window->bound = true;
}

bool window_bind(struct oche_qp *qp, const struct oche_bind *bind)
{
    struct oche_window *window = bind->window;
    struct oche_nic *nic = qp->nic;
    uint32_t slot = NO_SLOT;

    if (window->nic != nic || window->pd != qp->pd || !key_ok(window, bind))
        return false;
    if (bind->length > 0) {
        slot = find_region(qp, bind);
        if (slot == NO_SLOT)
            return false;
    }
    unbind(window);
    map_remove(&nic->regions.map, window->key);
    map_add(&nic->regions.map, bind->rkey, window->slot);
    window->key = nic->regions.at[window->slot].key = bind->rkey;
    if (slot != NO_SLOT)
        open_onto(window, bind, slot, qp->qpn);
    return true;
}

/* ---- invalidating ---- */

static struct oche_window *own_window(const struct oche_qp *qp, uint32_t key)
{
    uint32_t slot = map_find(&qp->nic->regions.map, key);

    if (slot == NO_SLOT || !window_open(qp, slot))
        return NULL;
    struct oche_window *window = qp->nic->regions.parts[slot].window;
    return window->type == OCHE_WINDOW_TYPE_2 ? window : NULL;
}

bool window_may_invalidate(const struct oche_qp *qp, uint32_t key)
{
    return own_window(qp, key) != NULL;
}

bool window_invalidate(struct oche_qp *qp, uint32_t key)
{
    struct oche_window *window = own_window(qp, key);

    if (window == NULL)
        return false;
    unbind(window);
    return true;
}

void windows_forget(struct oche_qp *qp)
{
    for (struct oche_window *window = qp->nic->windows; window != NULL; window = window->next)
        if (window->bound && window->type == OCHE_WINDOW_TYPE_2 && window->qpn == qp->qpn)
            unbind(window);
}
