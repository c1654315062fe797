/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that a peer may write to directly (riomap), and such writes (riowrite). A mapping is sent
 * to the peer before the next data, by an entry in its iomap. A riowrite needs no credit, and the
 * peer is not notified.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "device/rsocket/internal.h"

/* Returns an entry of the peer's iomap that no mapping has, or -1. */
static int free_entry(const struct rs_socket *s)
{
    for (int i = 0; i < (int)s->peer_iomap.length; i++) {
        const struct rs_mapping *mapping = s->mappings;

        while (mapping != NULL && mapping->entry != i)
            mapping = mapping->next;
        if (mapping == NULL)
            return i;
    }
    return -1;
}

static off_t map(struct rs_socket *s, void *memory, size_t bytes, int prot, off_t offset)
{
    struct rs_mapping *mapping;
    const bool writable = (prot & PROT_WRITE) != 0;
    const int entry = writable ? free_entry(s) : -1;

    if (s->state != RS_CONNECTED || (prot & ~(PROT_WRITE | PROT_NONE)) != 0 || bytes == 0 ||
        bytes > UINT32_MAX)
        return rs_error(EINVAL);
    if (writable && entry < 0)
        return rs_error(ENOMEM);
    mapping = calloc(1, sizeof(*mapping));
    if (mapping == NULL)
        return -1;
    mapping->mr =
        ibv_reg_mr(s->id->pd, memory, bytes,
                   IBV_ACCESS_LOCAL_WRITE | (writable ? (int)IBV_ACCESS_REMOTE_WRITE : 0));
    if (mapping->mr == NULL) {
        free(mapping);
        return -1;
    }
    mapping->entry = entry;
    mapping->told = !writable;
    mapping->offset = offset == -1 ? (uintptr_t)memory : (uint64_t)offset;
    mapping->next = s->mappings;
    s->mappings = mapping;
    return (off_t)mapping->offset;
}

off_t riomap(int socket, void *buf, size_t len, int prot, int flags, off_t offset)
{
    struct rs_socket *s = rs_get(socket);
    off_t at;

    (void)flags; /* none is defined */
    if (s == NULL)
        return -1;
    pthread_mutex_lock(&s->lock);
    at = map(s, buf, len, prot, offset);
    pthread_mutex_unlock(&s->lock);
    rs_put(s);
    return at;
}

static void drop(struct rs_mapping *mapping)
{
    ibv_dereg_mr(mapping->mr);
    free(mapping);
}

int riounmap(int socket, void *buf, size_t len)
{
    struct rs_socket *s = rs_get(socket);
    struct rs_mapping **link, *mapping;

    if (s == NULL)
        return -1;
    pthread_mutex_lock(&s->lock);
    link = &s->mappings;
    while (*link != NULL && ((*link)->mr->addr != buf || (*link)->mr->length != len))
        link = &(*link)->next;
    mapping = *link;
    if (mapping != NULL) {
        *link = mapping->next;
        drop(mapping);
    }
    pthread_mutex_unlock(&s->lock);
    rs_put(s);
    return mapping != NULL ? 0 : rs_error(EINVAL);
}

void rs_iomaps_drop(struct rs_socket *s)
{
    while (s->mappings != NULL) {
        struct rs_mapping *mapping = s->mappings;

        s->mappings = mapping->next;
        drop(mapping);
    }
}

/* ---- telling the peer ---- */

static bool can_send(const struct rs_socket *s)
{
    return s->lost || s->peer_gone || (s->sends < s->most_sends && rs_outflow_credit(&s->out));
}

static int send_mapping(struct rs_socket *s, struct rs_mapping *mapping)
{
    const struct rs_iomap iomap = {.offset = mapping->offset,
                                   .place = {.address = (uintptr_t)mapping->mr->addr,
                                             .key = mapping->mr->rkey,
                                             .length = (uint32_t)mapping->mr->length}};
    const struct rs_place to = {.address = s->peer_iomap.address +
                                           (uint64_t)mapping->entry * RS_IOMAP_BYTES,
                                .key = s->peer_iomap.key};
    const uint32_t immediate = rs_immediate(RS_MESSAGE_IOMAP, (uint32_t)mapping->entry);
    uint8_t bytes[RS_IOMAP_BYTES];

    rs_iomap_write(&iomap, s->swap, bytes);
    s->out.sent++;
    s->sends++;
    mapping->told = true;
    return rs_post_write(s, &to, bytes, sizeof(bytes), 0, rs_work_id(RS_WORK_DATA, 0), &immediate);
}

int rs_iomaps_send(struct rs_socket *s, bool wait)
{
    for (struct rs_mapping *mapping = s->mappings; mapping != NULL; mapping = mapping->next) {
        int error = 0;

        if (mapping->told)
            continue;
        if (!can_send(s))
            error = rs_wait(s, can_send, wait, s->send_timeout_ms);
        if (error == 0 && (s->lost || s->peer_gone))
            error = ECONNRESET;
        if (error == 0)
            error = send_mapping(s, mapping);
        if (error != 0)
            return error;
    }
    return 0;
}

/* ---- writing ---- */

/* Finds the peer's current mapping that has the offset. Returns false if there is none. */
static bool find(const struct rs_socket *s, uint64_t offset, struct rs_iomap *found)
{
    for (unsigned i = 0; i < s->iomaps; i++) {
        *found = rs_iomap_read(s->table + RS_PLACES * RS_PLACE_BYTES + i * RS_IOMAP_BYTES, s->swap);
        if (rs_place_is_sound(&found->place) && offset >= found->offset &&
            offset - found->offset < found->place.length)
            return true;
    }
    return false;
}

static bool can_write_direct(const struct rs_socket *s)
{
    return s->lost || s->peer_gone || s->send_shut ||
           (s->sends < s->most_sends && rs_send_room(s) > 0);
}

/* Writes some of the bytes. Returns how many, or 0 with *error. */
static uint32_t write_some(struct rs_socket *s, const uint8_t *from, size_t left, uint64_t offset,
                           int *error)
{
    const uint32_t to_the_end = s->send_bytes - s->send_head, room = rs_send_room(s);
    struct rs_iomap iomap;
    struct rs_place to;
    uint64_t most = left;
    uint32_t bytes;

    if (!find(s, offset, &iomap))
        return 0;
    most = most < RS_MOST_MESSAGE ? most : RS_MOST_MESSAGE;
    most = most < to_the_end ? most : to_the_end;
    most = most < room ? most : room;
    to = iomap.place;
    to.address += offset - iomap.offset;
    to.length -= (uint32_t)(offset - iomap.offset);
    bytes = (uint32_t)(most < to.length ? most : to.length);
    memcpy(s->send_ring + s->send_head, from, bytes);
    *error = rs_post_write(s, &to, s->send_ring + s->send_head, bytes, s->send_mr->lkey,
                           rs_work_id(RS_WORK_DATA, bytes), NULL);
    if (*error != 0)
        return 0;
    s->sends++;
    s->send_head = (s->send_head + bytes) % s->send_bytes;
    s->send_used += bytes;
    return bytes;
}

static size_t write_all(struct rs_socket *s, const uint8_t *from, size_t count, uint64_t offset,
                        bool wait, int *error)
{
    size_t done = 0;

    if (s->state != RS_CONNECTED)
        *error = ENOTCONN;
    else if (s->mappings != NULL)
        *error = rs_iomaps_send(s, wait);
    rs_progress(s);
    while (*error == 0 && done < count) {
        uint32_t some;

        if (!can_write_direct(s))
            *error = rs_wait(s, can_write_direct, wait, s->send_timeout_ms);
        if (*error == 0 && (s->lost || s->peer_gone || s->send_shut))
            *error = s->send_shut ? EPIPE : ECONNRESET;
        if (*error != 0)
            break;
        some = write_some(s, from + done, count - done, offset + done, error);
        if (some == 0)
            break; /* there is no mapping */
        done += some;
    }
    rs_progress(s);
    return done;
}

size_t riowrite(int socket, const void *buf, size_t count, off_t offset, int flags)
{
    struct rs_socket *s = rs_get(socket);
    size_t done;
    int error = 0;

    if (s == NULL)
        return (size_t)-1;
    pthread_mutex_lock(&s->lock);
    done = write_all(s, buf, count, (uint64_t)offset,
                     !s->nonblocking && (flags & MSG_DONTWAIT) == 0, &error);
    pthread_mutex_unlock(&s->lock);
    rs_put(s);
    return error == 0 || done > 0 ? done : (size_t)rs_error(error);
}
