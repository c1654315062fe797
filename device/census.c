/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of senders; see the header. */
#include "device/census.h"

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
#define PLACES      (2 * CENSUS_MOST) /* of the hash table; a power of two */
#define SILENCE     (3 * OCHE_SEC)    /* longer than an active message may be silent */
#define READ_TRIES  3                 /* while the table changes */
#define FIRST_PRIME UINT64_C(0x9e3779b97f4a7c15)

/*
 * `version` is odd while the senders change, as in a seqlock. All members are atomic, as another
 * process may write anything at any time.
 */
struct census_table {
    uint32_t magic;
    _Atomic uint32_t version, count;
    _Atomic uint64_t bytes;
    _Atomic uint64_t ids[CENSUS_SENDERS];
};

/*
 * Seals our table, which we have mapped: nobody else can write there, whoever has the descriptor.
 * Kernels before 5.1 can seal its size alone.
 */
static bool seal(int fd)
{
    return fcntl(fd, F_ADD_SEALS, SIZE | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL) == 0 ||
           (errno == EINVAL && fcntl(fd, F_ADD_SEALS, SIZE | F_SEAL_SEAL) == 0);
}

bool oche_census_open(struct oche_census *census)
{
    *census =
        (struct oche_census){.fd = memfd_create("oche-senders", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
    census->ids = calloc(CENSUS_SENDERS, sizeof(*census->ids));
    census->counted = calloc(PLACES, sizeof(*census->counted));
    if (census->fd < 0 || census->ids == NULL || census->counted == NULL ||
        ftruncate(census->fd, sizeof(*census->own)) != 0) {
        oche_census_close(census);
        return false;
    }
    void *memory =
        mmap(NULL, sizeof(*census->own), PROT_READ | PROT_WRITE, MAP_SHARED, census->fd, 0);
    if (memory == MAP_FAILED) {
        oche_census_close(census);
        return false;
    }
    madvise(memory, sizeof(*census->own), MADV_DONTFORK); /* a child must not write there */
    census->own = memory;
    census->own->magic = MAGIC;
    if (seal(census->fd))
        return true;
    oche_census_close(census);
    return false;
}

void oche_census_close(struct oche_census *census)
{
    if (census->own != NULL)
        munmap(census->own, sizeof(*census->own));
    if (census->fd >= 0)
        close(census->fd);
    free(census->ids);
    free(census->counted);
    *census = (struct oche_census){.fd = -1};
}

static uint64_t mixed(uint64_t value)
{
    value = (value ^ value >> 31) * FIRST_PRIME;
    return value ^ value >> 29;
}

uint64_t oche_census_id(const struct oche_address *address, unsigned slot)
{
    uint64_t words[2];

    _Static_assert(sizeof(words) <= sizeof(*address), "an address has 16 bytes");
    memcpy(words, address, sizeof(words));
    return mixed(mixed(words[0]) ^ mixed(words[1] + slot + 1)) | 1; /* 0 is a free place */
}

/* ---- ours ---- */

void oche_census_publish(struct oche_census *census, const uint64_t *ids, uint32_t count)
{
    struct census_table *own = census->own;
    const uint32_t version = atomic_load_explicit(&own->version, memory_order_relaxed);

    if (count > CENSUS_SENDERS)
        count = CENSUS_SENDERS;
    atomic_store_explicit(&own->version, version + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    for (uint32_t i = 0; i < count; i++)
        atomic_store_explicit(&own->ids[i], ids[i], memory_order_relaxed);
    atomic_store_explicit(&own->count, count, memory_order_relaxed);
    atomic_store_explicit(&own->version, version + 2, memory_order_release);
    census->own_count = count;
    census->stale = true;
}

void oche_census_arrived(struct oche_census *census, uint64_t bytes)
{
    atomic_store_explicit(&census->own->bytes, bytes, memory_order_relaxed);
}

/* ---- those of others ---- */

/*
 * True if `fd` is memory whose size is a table's and stays so. That its owner alone can write there
 * is no concern of a reader, which trusts no number in it.
 */
static bool is_table(int fd, struct stat *status)
{
    const int seals = fcntl(fd, F_GET_SEALS);

    return seals >= 0 && (seals & SIZE) == SIZE && fstat(fd, status) == 0 &&
           status->st_size == (off_t)sizeof(struct census_table);
}

void oche_census_view_open(struct oche_census_view *view, int fd, oche_time now)
{
    struct stat status;
    void *memory = MAP_FAILED;

    if (is_table(fd, &status) && (view->table == NULL || view->inode != status.st_ino))
        memory = mmap(NULL, sizeof(*view->table), PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    if (memory == MAP_FAILED)
        return;
    oche_census_view_close(view);
    *view = (struct oche_census_view){
        .table = memory, .inode = status.st_ino, .version = 1, .lively = now};
    view->bytes = atomic_load_explicit(&view->table->bytes, memory_order_relaxed);
}

void oche_census_view_close(struct oche_census_view *view)
{
    if (view->table != NULL)
        munmap((void *)(uintptr_t)view->table, sizeof(*view->table));
    *view = (struct oche_census_view){.table = NULL};
}

uint64_t oche_census_look(struct oche_census *census, struct oche_census_view *view, oche_time now,
                          uint64_t most)
{
    const uint64_t bytes = atomic_load_explicit(&view->table->bytes, memory_order_relaxed);
    const uint64_t more = bytes - view->bytes;
    const bool changed =
        atomic_load_explicit(&view->table->version, memory_order_acquire) != view->version;

    census->stale |= changed;
    if (changed || more != 0) {
        census->stale |= view->silent;
        view->silent = false;
        view->lively = now;
    } else if (!view->silent && now - view->lively >= SILENCE) {
        census->stale = view->silent = true;
    }
    view->bytes = bytes;
    return more <= most ? more : most;
}

/*
 * Copies the senders of another table. Returns how many; UINT32_MAX if they change all the time.
 * The next look finds then that they have changed.
 */
static uint32_t read_table(struct oche_census_view *view, uint64_t *ids)
{
    const struct census_table *table = view->table;

    for (unsigned tries = 0; tries < READ_TRIES; tries++) {
        const uint32_t version = atomic_load_explicit(&table->version, memory_order_acquire);
        uint32_t count = atomic_load_explicit(&table->count, memory_order_relaxed);

        if (count > CENSUS_SENDERS)
            count = CENSUS_SENDERS;
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
static bool add(struct oche_census *census, uint64_t id)
{
    size_t place = mixed(id) & (PLACES - 1);

    for (id |= 1; census->counted[place] != 0; place = (place + 1) & (PLACES - 1))
        if (census->counted[place] == id)
            return false;
    census->counted[place] = id;
    return true;
}

uint32_t oche_census_count(struct oche_census *census, struct oche_census_view *const *views,
                           unsigned count)
{
    uint32_t total = census->own_count;

    memset(census->counted, 0, PLACES * sizeof(*census->counted));
    census->stale = false;
    for (uint32_t i = 0; i < census->own_count; i++)
        add(census, atomic_load_explicit(&census->own->ids[i], memory_order_relaxed));
    for (unsigned i = 0; i < count; i++) {
        const uint32_t senders = views[i]->silent ? 0 : read_table(views[i], census->ids);

        census->stale |= senders == UINT32_MAX;
        for (uint32_t k = 0; k < senders && senders != UINT32_MAX && total < CENSUS_MOST; k++)
            total += add(census, census->ids[k]);
    }
    return total - census->own_count;
}
