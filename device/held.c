/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory for payloads that arrive behind a gap: programs may wait for the last byte of a message in
 * memory, so nothing is written there before its turn. A queue pair has little of it at first, and
 * gets more once something has come that had no room; until then that is dropped, and sent again
 * like what is lost. Its pages are used only when something is kept.
 */
#include <sys/mman.h>

#include "device/internal.h"

#define HELD_FIRST (UINT32_C(64) << 10)
#define HELD_MOST  (UINT32_C(4) << 20) /* 4,096 packets of 1 KB */

static uint8_t *map_held(uint32_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return memory != MAP_FAILED ? memory : NULL;
}

static void unmap_held(struct device_held *held)
{
    if (held->memory != NULL)
        munmap(held->memory, held->bytes);
    *held = (struct device_held){0};
}

bool device_held_make(const struct oche_device *device, struct oche_qp_config *config, void *object)
{
    const struct oche_cc_scheme *cc = device->config.cc;
    struct device_held *held = device_owned(object)->held;

    if (config->transport != OCHE_TRANSPORT_RC ||
        (device->config.recovery->placed == NULL && (cc == NULL || !cc->windows_reads)))
        return true;
    for (unsigned kind = 0; kind < OCHE_HELD_KINDS; kind++) {
        held[kind] = (struct device_held){.memory = map_held(HELD_FIRST), .bytes = HELD_FIRST};
        if (held[kind].memory == NULL)
            return false;
    }
    config->held = held[OCHE_HELD_REQUESTS].memory;
    config->held_reads = held[OCHE_HELD_READS].memory;
    config->held_bytes = config->held_reads_bytes = HELD_FIRST;
    return true;
}

void device_wants_room(void *context, struct oche_qp *qp)
{
    struct oche_device *device = context;
    struct owned *owned = device_owned(qp);

    if (owned->wants_room)
        return;
    owned->wants_room = true;
    owned->wants_next = device->wanting;
    device->wanting = owned;
}

/*
 * Gives the queue pair what it missed, as far as it may have that much. If there is no memory, its
 * packets go on being dropped and sent again.
 */
static void give_room(struct oche_qp *qp, enum oche_held_kind kind)
{
    struct device_held *held = &device_owned(qp)->held[kind], more = *held;
    const uint32_t wanted = oche_qp_room_wanted(qp, kind);

    while (more.bytes < wanted && more.bytes < HELD_MOST)
        more.bytes *= 2;
    if (more.bytes == held->bytes || (more.memory = map_held(more.bytes)) == NULL)
        return;
    oche_qp_hold_at(qp, kind, more.memory, more.bytes);
    unmap_held(held);
    *held = more;
}

void device_give_room(struct oche_device *device)
{
    struct owned *owned;

    while ((owned = device->wanting) != NULL) {
        device->wanting = owned->wants_next;
        owned->wants_room = false;
        for (unsigned kind = 0; kind < OCHE_HELD_KINDS; kind++)
            give_room((struct oche_qp *)(void *)(owned + 1), kind);
    }
}

void device_held_free(struct oche_device *device, struct owned *owned)
{
    struct owned **link = &device->wanting;

    while (owned->wants_room && *link != owned)
        link = &(*link)->wants_next;
    if (owned->wants_room)
        *link = owned->wants_next;
    for (unsigned kind = 0; kind < OCHE_HELD_KINDS; kind++)
        unmap_held(&owned->held[kind]);
}
