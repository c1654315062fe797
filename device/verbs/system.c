/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds and loads the system's libibverbs (system.h), once, and only if the kernel has RDMA
 * devices. Otherwise the cost is three attempts to open a folder.
 *
 * The system's library is loaded into the same namespace of the dynamic linker as everything else,
 * so there is one errno and one malloc (find_library.c). The drivers that it loads need
 * libibverbs.so.1, and the dynamic linker gives them the first library of that name, ours. So our
 * library has the private interface, too, and passes these calls on (private.c).
 *
 * A separate namespace (dlmopen) would avoid that. But it would contain a second libc, and verbs
 * called through pointers would set that libc's errno. A program that is itself linked with a
 * driver, such as libmlx5, would have the driver twice and not recognise its devices.
 *
 * OCHE_REAL_VERBS names the library's file; if it is empty, no library is loaded. If it is not set,
 * the library is searched for.
 */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "device/verbs/find_library.h"
#include "device/verbs/internal.h"

extern const char oche_verbs_library[];
const char oche_verbs_library[] = OCHE_VERSION;

const void *const ov_mark[32];
const struct ov_system *_Atomic ov_system;
_Thread_local bool ov_system_lists, ov_only_theirs;

static struct oche_lock lock = OCHE_LOCK_INITIALIZER;
static struct ov_system functions;
static bool tried OCHE_GUARDED_BY(lock), refused OCHE_GUARDED_BY(lock);

static const struct ov_library_name names[] = {
#define NEEDED(name) {#name, offsetof(struct ov_system, name), true},
#define LATER(name)  {#name, offsetof(struct ov_system, name), false},
    OV_SYSTEM_NEEDED(NEEDED) OV_SYSTEM_LATER(LATER)
#undef NEEDED
#undef LATER
};

/* ---- are there any devices? ---- */

/* Our own devices do not count, which `oche exec --files` puts into these folders. */
static bool has_entry(const char *folder, const char *prefix)
{
    DIR *directory = opendir(folder);
    const struct dirent *entry;
    bool found = false;

    if (directory == NULL)
        return false;
    while (!found && (entry = readdir(directory)) != NULL)
        found = entry->d_name[0] != '.' && strncmp(entry->d_name, "oche", 4) != 0 &&
                strncmp(entry->d_name, prefix, strlen(prefix)) == 0;
    closedir(directory);
    return found;
}

static bool kernel_has_devices(void)
{
    const int before = errno;
    const bool found = has_entry("/sys/class/infiniband_verbs", "uverbs") ||
                       has_entry("/sys/class/infiniband", "") ||
                       has_entry("/dev/infiniband", "uverbs");

    errno = before;
    return found;
}

/* ---- the library ---- */

static bool take(void *library, struct oche_error *why)
{
    if (!ov_library_take(library, names, OCHE_COUNT_OF(names), &functions, "libibverbs", why))
        return false;
    return ov_private_fits(library) ||
           oche_fail(why, "its drivers want another interface than those of rdma-core 34 to 65");
}

static const struct ov_library what = {.name = "libibverbs.so.1",
                                       .variable = "OCHE_REAL_VERBS",
                                       .marker = "oche_verbs_library",
                                       .own = oche_verbs_library,
                                       .take = take};

/* ---- interface to other files ---- */

/*
 * Finds and loads the library. Called under the lock. A missing library is an error only if
 * OCHE_REAL_VERBS names it.
 */
static void find(void) OCHE_NEEDS(lock)
{
    const char *named = secure_getenv("OCHE_REAL_VERBS");
    struct oche_error why;
    void *library;

    if (named != NULL ? named[0] == '\0' : !kernel_has_devices())
        return;
    tried = true;
    if (named != NULL) {
        library = ov_library_load_named(&what, named, &why);
        refused = library == NULL;
        if (refused)
            ov_say("%s", why.text);
    } else {
        library = ov_library_search(&what, &why);
        if (library == NULL && why.text[0] != '\0')
            ov_say("the system's RDMA devices are not listed: %s", why.text);
    }
    if (library == NULL)
        return;
    ov_private_pass_on(library);
    if (atomic_load(&ov_fork_wanted))
        functions.ibv_fork_init();
    atomic_store_explicit(&ov_system, &functions, memory_order_release);
}

bool ov_system_load(void)
{
    bool good;

    oche_lock_take(&lock);
    if (!tried)
        find();
    good = !refused;
    oche_lock_release(&lock);
    return good;
}

void ov_system_hold(void) OCHE_TAKES(lock)
{
    oche_lock_take(&lock);
}

void ov_system_release(void) OCHE_RELEASES(lock)
{
    oche_lock_release(&lock);
}

struct ibv_device **ov_system_devices(int *count)
{
    struct ibv_device **list = NULL;

    *count = 0;
    if (ov_system_loaded()) {
        list = ov_system->ibv_get_device_list(count);
        ov_private_settings();
    }
    return list;
}
