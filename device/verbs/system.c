/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds and loads the system's libibverbs (system.h), once, and only if the kernel has RDMA
 * devices: without such devices, all this costs is three attempts to open a folder.
 *
 * The system's library is loaded into the same namespace of the dynamic linker as everything else,
 * so there is one errno and one malloc. It is loaded by its path, so it is distinct from ours,
 * although both have the same name. The drivers that it loads need libibverbs.so.1, for which the
 * dynamic linker takes the first library of that name, which is ours. So our library has the
 * private interface too, and passes these calls on (private.c). A separate namespace (dlmopen)
 * would avoid that. But it would contain a second libc, whose errno verbs called through pointers
 * would set; and a program that is itself linked with a driver, such as libmlx5, would have the
 * driver twice and not recognise the driver's devices.
 *
 * OCHE_REAL_VERBS names the library's file; if it is empty, no library is loaded. If it is not set,
 * the library is searched for where the dynamic linker would search for ours: in LD_LIBRARY_PATH,
 * then in the standard folders.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device/verbs/internal.h"
#include "params/error.h"

#define LIBRARY "libibverbs.so.1"
#define MARKER  "oche_verbs_library" /* exported, so that a copy of our library is recognised */
#define OWN     "it is oche's own, not the system's"

extern const char oche_verbs_library[];
const char oche_verbs_library[] = OCHE_VERSION;

const void *const ov_mark[32];
const struct ov_system *_Atomic ov_system;
_Thread_local bool ov_system_lists;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects what follows */
static struct ov_system functions;
static bool tried, refused;

static const struct {
    const char *name;
    size_t offset;
    bool needed;
} names[] = {
#define NEEDED(name) {#name, offsetof(struct ov_system, name), true},
#define LATER(name)  {#name, offsetof(struct ov_system, name), false},
    OV_SYSTEM_NEEDED(NEEDED) OV_SYSTEM_LATER(LATER)
#undef NEEDED
#undef LATER
};

/* ---- are there any devices? ---- */

static bool has_entry(const char *folder, const char *prefix)
{
    DIR *directory = opendir(folder);
    const struct dirent *entry;
    bool found = false;

    if (directory == NULL)
        return false;
    while (!found && (entry = readdir(directory)) != NULL)
        found = entry->d_name[0] != '.' && strncmp(entry->d_name, prefix, strlen(prefix)) == 0;
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

/* ---- one library ---- */

/*
 * Checks that the symbol is the library's own: dlsym also finds symbols of the libraries that
 * `library` needs, one of which may be ours.
 */
void *ov_system_symbol(void *library, const char *name)
{
    void *symbol = dlsym(library, name);
    const struct link_map *map, *of;
    Dl_info unused;

    if (symbol == NULL || dlinfo(library, RTLD_DI_LINKMAP, &map) != 0 ||
        dladdr1(symbol, &unused, (void **)&of, RTLD_DL_LINKMAP) == 0 || of != map)
        return NULL;
    return symbol;
}

/*
 * Finds the library's functions. Returns false, with the reason, if it lacks a function that every
 * libibverbs has.
 */
static bool take_functions(void *library, struct oche_error *why)
{
    for (size_t i = 0; i < OCHE_COUNT_OF(names); i++) {
        void *symbol = ov_system_symbol(library, names[i].name);

        if (symbol == NULL && names[i].needed)
            return oche_fail(why, "it is no libibverbs, as it has no %s", names[i].name);
        memcpy((uint8_t *)&functions + names[i].offset, &symbol, sizeof(symbol));
    }
    return true;
}

/* Loads the library at `path`. Returns NULL, with the reason, if it is not usable. */
static void *load(const char *path, struct oche_error *why)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    if (library == NULL) {
        const char *error = dlerror();
        const size_t length = strlen(path);

        if (strncmp(error, path, length) == 0 && strncmp(error + length, ": ", 2) == 0)
            error += length + 2;
        oche_fail(why, "%s", error);
        return NULL;
    }
    if (ov_system_symbol(library, MARKER) != NULL) {
        oche_fail(why, OWN);
    } else if (take_functions(library, why)) {
        if (ov_private_fits(library))
            return library;
        oche_fail(why, "its drivers want another interface than those of rdma-core 34 to 65");
    }
    dlclose(library);
    return NULL;
}

/* ---- where to find it ---- */

/*
 * Returns the folders where the dynamic linker searches for our library, to be released with
 * free(). NULL: they are not known.
 */
static Dl_serinfo *folders(void)
{
    Dl_info own;
    Dl_serinfo size, *all = NULL;
    void *handle;

    if (dladdr(oche_verbs_library, &own) == 0)
        return NULL;
    handle = dlopen(own.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (handle == NULL)
        return NULL;
    if (dlinfo(handle, RTLD_DI_SERINFOSIZE, &size) == 0 && (all = malloc(size.dls_size)) != NULL) {
        *all = size;
        if (dlinfo(handle, RTLD_DI_SERINFOSIZE, all) != 0 ||
            dlinfo(handle, RTLD_DI_SERINFO, all) != 0) {
            free(all);
            all = NULL;
        }
    }
    dlclose(handle);
    return all;
}

static bool is_ours(const char *path)
{
    Dl_info own;
    struct stat a, b;

    return dladdr(oche_verbs_library, &own) != 0 && stat(own.dli_fname, &a) == 0 &&
           stat(path, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/*
 * Loads the first usable library. Returns NULL if there is none; `why` then tells what is wrong
 * with the last library found, or is "" if none was found.
 */
static void *search(struct oche_error *why)
{
    Dl_serinfo *all = folders();
    char path[PATH_MAX];
    struct oche_error reason;
    void *library = NULL;

    why->text[0] = '\0';
    for (unsigned i = 0; all != NULL && i < all->dls_cnt && library == NULL; i++) {
        if (snprintf(path, sizeof(path), "%s/" LIBRARY, all->dls_serpath[i].dls_name) >=
                (int)sizeof(path) ||
            access(path, R_OK) != 0 || is_ours(path))
            continue;
        library = load(path, &reason);
        if (library == NULL)
            oche_fail(why, "%s: %s", path, reason.text);
    }
    free(all);
    return library;
}

static void *load_named(const char *path)
{
    char full[PATH_MAX];
    struct oche_error why;
    void *library = NULL;

    /* Load it by its full path: the dynamic linker would take a bare name to mean our library. */
    if (realpath(path, full) == NULL)
        oche_fail(&why, "%s", strerror(errno));
    else if (is_ours(full))
        oche_fail(&why, OWN);
    else
        library = load(full, &why);
    if (library == NULL)
        ov_say("OCHE_REAL_VERBS=%s: %s; the path of rdma-core's " LIBRARY " is meant, or nothing",
               path, why.text);
    return library;
}

/* ---- interface to other files ---- */

/*
 * Finds and loads the library. Called under the lock. A missing library is an error only if
 * OCHE_REAL_VERBS names it.
 */
static void find(void)
{
    const char *named = secure_getenv("OCHE_REAL_VERBS");
    struct oche_error why;
    void *library;

    if (named != NULL ? named[0] == '\0' : !kernel_has_devices())
        return;
    tried = true;
    if (named != NULL) {
        library = load_named(named);
        refused = library == NULL;
    } else {
        library = search(&why);
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

    pthread_mutex_lock(&lock);
    if (!tried)
        find();
    good = !refused;
    pthread_mutex_unlock(&lock);
    return good;
}

void ov_system_hold(void)
{
    pthread_mutex_lock(&lock);
}

void ov_system_release(void)
{
    pthread_mutex_unlock(&lock);
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
