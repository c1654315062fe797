/* SPDX-License-Identifier: Apache-2.0 */
#include "store/folder_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

bool oche_folder_lock(const char *folder, int *lock, struct oche_error *reason)
{
    *lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*lock < 0 || flock(*lock, LOCK_EX | LOCK_NB) == 0)
        return true;
    const bool taken = errno == EWOULDBLOCK;

    oche_folder_unlock(*lock);
    *lock = -1;
    return !taken ||
           oche_fail(reason, "another oche is writing there; wait for it, or give another --out");
}

void oche_folder_unlock(int lock)
{
    if (lock >= 0)
        close(lock);
}
