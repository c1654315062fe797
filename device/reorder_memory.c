/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory for payloads that arrive behind a gap. Programs may wait for the last byte of a message in
 * memory, so payloads are written there in order only. A queue pair has little of this memory at
 * first, and gets more after a payload had no room; that one is dropped and retransmitted. Pages
 * are used only when something is stored.
 */
#include <sys/mman.h>

#include "device/internal.h"

#define FIRST_BYTES (UINT32_C(64) << 10)
#define MOST_BYTES  (UINT32_C(4) << 20) /* 4,096 packets of 1 KB */

static uint8_t *map_memory(uint32_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return memory != MAP_FAILED ? memory : NULL;
}

static void unmap_memory(struct reorder_memory *current)
{
    if (current->memory != NULL)
        munmap(current->memory, current->bytes);
    *current = (struct reorder_memory){0};
}

bool device_reorder_create(const struct oche_device *device, struct oche_qp_config *config,
                           void *object)
{
    const struct oche_cc_scheme *cc = device->config.cc;
    struct reorder_memory *current = device_owned(object)->reorder;

    if (config->transport != OCHE_TRANSPORT_RC ||
        (device->config.recovery->placed == NULL && (cc == NULL || !cc->windows_reads)))
        return true;
    for (unsigned kind = 0; kind < OCHE_HELD_KINDS; kind++) {
        current[kind] =
            (struct reorder_memory){.memory = map_memory(FIRST_BYTES), .bytes = FIRST_BYTES};
        if (current[kind].memory == NULL)
            return false;
    }
    config->held = current[OCHE_HELD_REQUESTS].memory;
    config->held_reads = current[OCHE_HELD_READS].memory;
    config->held_bytes = config->held_reads_bytes = FIRST_BYTES;
    return true;
}

void device_reorder_note_full(void *context, struct oche_qp *qp)
{
    struct oche_device *device = context;
    struct owned *owned = device_owned(qp);

    if (owned->reorder_full)
        return;
    owned->reorder_full = true;
    owned->next_full = device->first_full;
    device->first_full = owned;
}

/*
 * Gives the queue pair the memory that it lacked, MOST_BYTES at most. If there is none, its packets
 * are still dropped and retransmitted.
 */
static void grow(struct oche_qp *qp, enum oche_held_kind kind)
{
    struct reorder_memory *current = &device_owned(qp)->reorder[kind], more = *current;
    const uint32_t wanted = oche_qp_room_wanted(qp, kind);

    while (more.bytes < wanted && more.bytes < MOST_BYTES)
        more.bytes *= 2;
    if (more.bytes == current->bytes || (more.memory = map_memory(more.bytes)) == NULL)
        return;
    oche_qp_hold_at(qp, kind, more.memory, more.bytes);
    unmap_memory(current);
    *current = more;
}

void device_reorder_grow(struct oche_device *device)
{
    struct owned *owned;

    while ((owned = device->first_full) != NULL) {
        device->first_full = owned->next_full;
        owned->reorder_full = false;
        for (unsigned kind = 0; kind < OCHE_HELD_KINDS; kind++)
            grow((struct oche_qp *)(void *)(owned + 1), kind);
    }
}

void device_reorder_free(struct oche_device *device, struct owned *owned)
{
    struct owned **link = &device->first_full;

    while (owned->reorder_full && *link != owned)
        link = &(*link)->next_full;
    if (owned->reorder_full)
        *link = owned->next_full;
    for (unsigned kind = 0; kind < OCHE_HELD_KINDS; kind++)
        unmap_memory(&owned->reorder[kind]);
}
