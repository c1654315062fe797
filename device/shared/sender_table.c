/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of senders; see the header. */
#include "device/shared/sender_table.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC       UINT32_C(0x6f636573)
#define SIZE        (F_SEAL_SHRINK | F_SEAL_GROW)
#define PLACES      (2 * OCHE_SENDERS_MOST) /* of the hash table; a power of two */
#define SILENCE     (3 * OCHE_SEC)          /* longer than an active message may be silent */
#define READ_TRIES  3                       /* while the table changes */
#define FIRST_PRIME UINT64_C(0x9e3779b97f4a7c15)

/*
 * `version` is odd while the senders change, as in a seqlock. All members are atomic, as another
 * process may write anything at any time.
 */
struct sender_memory {
    uint32_t magic;
    _Atomic uint32_t version, count;
    _Atomic uint64_t bytes;
    _Atomic uint64_t ids[OCHE_SENDERS_PER_TABLE];
};

/*
 * Seals our table, which we have mapped: no other process can write to it, even with the
 * descriptor. Kernels before 5.1 can only seal its size.
 */
static bool seal(int fd)
{
    return fcntl(fd, F_ADD_SEALS, SIZE | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL) == 0 ||
           (errno == EINVAL && fcntl(fd, F_ADD_SEALS, SIZE | F_SEAL_SEAL) == 0);
}

bool oche_sender_table_open(struct oche_sender_table *table)
{
    *table = (struct oche_sender_table){
        .fd = memfd_create("oche-senders", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
    table->ids = calloc(OCHE_SENDERS_PER_TABLE, sizeof(*table->ids));
    table->counted = calloc(PLACES, sizeof(*table->counted));
    if (table->fd < 0 || table->ids == NULL || table->counted == NULL ||
        ftruncate(table->fd, sizeof(*table->own)) != 0) {
        oche_sender_table_close(table);
        return false;
    }
    void *memory =
        mmap(NULL, sizeof(*table->own), PROT_READ | PROT_WRITE, MAP_SHARED, table->fd, 0);
    if (memory == MAP_FAILED) {
        oche_sender_table_close(table);
        return false;
    }
    madvise(memory, sizeof(*table->own), MADV_DONTFORK); /* a child process must not write to it */
    table->own = memory;
    table->own->magic = MAGIC;
    if (seal(table->fd))
        return true;
    oche_sender_table_close(table);
    return false;
}

void oche_sender_table_close(struct oche_sender_table *table)
{
    if (table->own != NULL)
        munmap(table->own, sizeof(*table->own));
    if (table->fd >= 0)
        close(table->fd);
    free(table->ids);
    free(table->counted);
    *table = (struct oche_sender_table){.fd = -1};
}

static uint64_t mixed(uint64_t value)
{
    value = (value ^ value >> 31) * FIRST_PRIME;
    return value ^ value >> 29;
}

uint64_t oche_sender_id(const struct oche_address *address, unsigned slot)
{
    uint64_t words[2];

    _Static_assert(sizeof(words) <= sizeof(*address), "an address has 16 bytes");
    memcpy(words, address, sizeof(words));
    return mixed(mixed(words[0]) ^ mixed(words[1] + slot + 1)) | 1; /* 0 is a free place */
}

/* ---- ours ---- */

void oche_sender_table_publish(struct oche_sender_table *table, const uint64_t *ids, uint32_t count)
{
    struct sender_memory *own = table->own;
    const uint32_t version = atomic_load_explicit(&own->version, memory_order_relaxed);

    if (count > OCHE_SENDERS_PER_TABLE)
        count = OCHE_SENDERS_PER_TABLE;
    atomic_store_explicit(&own->version, version + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    for (uint32_t i = 0; i < count; i++)
        atomic_store_explicit(&own->ids[i], ids[i], memory_order_relaxed);
    atomic_store_explicit(&own->count, count, memory_order_relaxed);
    atomic_store_explicit(&own->version, version + 2, memory_order_release);
    table->own_count = count;
    table->stale = true;
}

void oche_sender_table_set_bytes(struct oche_sender_table *table, uint64_t bytes)
{
    atomic_store_explicit(&table->own->bytes, bytes, memory_order_relaxed);
}

/* ---- those of others ---- */

/*
 * True if `fd` is memory with the sealed size of a table. Readers check every number in it, so any
 * process may be able to write to it.
 */
static bool is_table(int fd, struct stat *status)
{
    const int seals = fcntl(fd, F_GET_SEALS);

    return seals >= 0 && (seals & SIZE) == SIZE && fstat(fd, status) == 0 &&
           status->st_size == (off_t)sizeof(struct sender_memory);
}

void oche_sender_view_open(struct oche_sender_view *view, int fd, oche_time now)
{
    struct stat status;
    void *memory = MAP_FAILED;

    if (is_table(fd, &status) && (view->table == NULL || view->inode != status.st_ino))
        memory = mmap(NULL, sizeof(*view->table), PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    if (memory == MAP_FAILED)
        return;
    oche_sender_view_close(view);
    *view = (struct oche_sender_view){
        .table = memory, .inode = status.st_ino, .version = 1, .lively = now};
    view->bytes = atomic_load_explicit(&view->table->bytes, memory_order_relaxed);
}

void oche_sender_view_close(struct oche_sender_view *view)
{
    if (view->table != NULL)
        munmap((void *)(uintptr_t)view->table, sizeof(*view->table));
    *view = (struct oche_sender_view){.table = NULL};
}

uint64_t oche_sender_view_update(struct oche_sender_table *table, struct oche_sender_view *view,
                                 oche_time now, uint64_t most)
{
    const uint64_t bytes = atomic_load_explicit(&view->table->bytes, memory_order_relaxed);
    const uint64_t more = bytes - view->bytes;
    const bool changed =
        atomic_load_explicit(&view->table->version, memory_order_acquire) != view->version;

    table->stale |= changed;
    if (changed || more != 0) {
        table->stale |= view->silent;
        view->silent = false;
        view->lively = now;
    } else if (!view->silent && now - view->lively >= SILENCE) {
        table->stale = view->silent = true;
    }
    view->bytes = bytes;
    return more <= most ? more : most;
}

/*
 * Copies the senders of another table. Returns how many; UINT32_MAX if they change all the time.
 * The next look finds then that they have changed.
 */
static uint32_t read_table(struct oche_sender_view *view, uint64_t *ids)
{
    const struct sender_memory *table = view->table;

    for (unsigned tries = 0; tries < READ_TRIES; tries++) {
        const uint32_t version = atomic_load_explicit(&table->version, memory_order_acquire);
        uint32_t count = atomic_load_explicit(&table->count, memory_order_relaxed);

        if (count > OCHE_SENDERS_PER_TABLE)
            count = OCHE_SENDERS_PER_TABLE;
        for (uint32_t i = 0; i < count; i++)
            ids[i] = atomic_load_explicit(&table->ids[i], memory_order_relaxed);
        atomic_thread_fence(memory_order_acquire);
        if ((version & 1) == 0 &&
            atomic_load_explicit(&table->version, memory_order_relaxed) == version) {
            view->version = version;
            return count;
        }
    }
    view->version = 1;
    return UINT32_MAX;
}

/* Adds a sender. Returns true if it is new. */
static bool add(struct oche_sender_table *table, uint64_t id)
{
    size_t place = mixed(id) & (PLACES - 1);

    for (id |= 1; table->counted[place] != 0; place = (place + 1) & (PLACES - 1))
        if (table->counted[place] == id)
            return false;
    table->counted[place] = id;
    return true;
}

uint32_t oche_sender_table_count_others(struct oche_sender_table *table,
                                        struct oche_sender_view *const *views, unsigned count)
{
    uint32_t total = table->own_count;

    memset(table->counted, 0, PLACES * sizeof(*table->counted));
    table->stale = false;
    for (uint32_t i = 0; i < table->own_count; i++)
        add(table, atomic_load_explicit(&table->own->ids[i], memory_order_relaxed));
    for (unsigned i = 0; i < count; i++) {
        const uint32_t senders = views[i]->silent ? 0 : read_table(views[i], table->ids);

        table->stale |= senders == UINT32_MAX;
        for (uint32_t k = 0; k < senders && senders != UINT32_MAX && total < OCHE_SENDERS_MOST; k++)
            total += add(table, table->ids[k]);
    }
    return total - table->own_count;
}
