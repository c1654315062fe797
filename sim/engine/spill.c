/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/engine/spill.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "core/base.h"

/* Left free on the disk, for results and for others. */
#define RESERVE_BYTES (UINT64_C(1) << 28)

void oche_spill_open(struct oche_spill *spill)
{
    const char *folder = secure_getenv("TMPDIR");

    *spill = (struct oche_spill){.file = -1};
    if (folder != NULL && folder[0] != '\0')
        spill->file = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (spill->file < 0)
        spill->file = open("/var/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

void oche_spill_close(struct oche_spill *spill)
{
    if (spill->file >= 0)
        close(spill->file);
    spill->file = -1;
}

/* Makes the piece smaller, so that it is whole pages. Returns how many bytes these have. */
static size_t whole_pages(char **memory, size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t first = (page - (uintptr_t)*memory % page) % page;

    if (bytes < first)
        return 0;
    *memory += first;
    return (bytes - first) / page * page;
}

/* True if the disk and the limit of a file's size (ulimit -f) have room for more. */
static bool has_room(const struct oche_spill *spill, size_t bytes)
{
    struct statvfs disk;
    struct rlimit limit;

    if (fstatvfs(spill->file, &disk) != 0 ||
        (uint64_t)disk.f_bavail * disk.f_frsize < bytes + RESERVE_BYTES)
        return false;
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && spill->bytes + bytes <= limit.rlim_cur;
}

static bool write_all(int file, const char *from, size_t bytes, size_t at)
{
    while (bytes > 0) {
        ssize_t written = pwrite(file, from, bytes, (off_t)at);

        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        from += written;
        at += (size_t)written;
        bytes -= (size_t)written;
    }
    return true;
}

bool oche_spill_move(struct oche_spill *spill, void *memory, size_t bytes)
{
    char *at = memory;
    void *moved;

    bytes = whole_pages(&at, bytes);
    if (spill->file < 0 || bytes == 0)
        return spill->file >= 0;
    if (!has_room(spill, bytes) || !write_all(spill->file, at, bytes, spill->bytes)) {
        oche_spill_close(spill); /* the disk is full: parts that were moved stay in the file */
        return false;
    }
    moved = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, spill->file, (off_t)spill->bytes);
    if (moved == MAP_FAILED) {
        oche_spill_close(spill);
        return false;
    }
    spill->bytes += bytes;
    if (mremap(moved, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, at) != MAP_FAILED)
        return true;
    /* mremap may have unmapped the old pages, so the file is mapped in their place. */
    munmap(moved, bytes);
    if (mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, spill->file,
             (off_t)(spill->bytes - bytes)) == MAP_FAILED)
        oche_panic(__FILE__, __LINE__, OCHE_OUT_OF_MEMORY);
    return true;
}

void oche_spill_rest(void *memory, size_t bytes)
{
    char *at = memory;

    bytes = whole_pages(&at, bytes);
    if (bytes > 0)
        madvise(at, bytes, MADV_DONTNEED); /* the file now has the data */
}
