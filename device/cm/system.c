/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads the system's librdmacm (system.h) at most once, and only if the system's libibverbs is
 * loaded beside ours: both libraries serve the same devices.
 *
 * OCHE_REAL_RDMACM names the library's file; if it is empty, no library is loaded. If it is not
 * set, the library is searched for in the same way as libibverbs.
 */
#include "device/cm/system.h"

#include "device/cm/internal.h"
#include "device/verbs/find_library.h"

extern const char oche_rdmacm_library[];
const char oche_rdmacm_library[] = OCHE_VERSION;

struct cm_system cm_system;
_Thread_local bool cm_in_system;

static struct oche_lock lock = OCHE_LOCK_INITIALIZER;
static bool tried OCHE_GUARDED_BY(lock), there OCHE_GUARDED_BY(lock), refused OCHE_GUARDED_BY(lock);

static bool take(void *library, struct oche_error *why)
{
    static const struct ov_library_name names[] = {
#define NAME(name) {#name, offsetof(struct cm_system, name), true},
        CM_SYSTEM_NAMES(NAME)
#undef NAME
    };

    return ov_library_take(library, names, OCHE_COUNT_OF(names), &cm_system,
                           "librdmacm of rdma-core 34 or later", why);
}

static void hold(void) OCHE_TAKES(lock)
{
    oche_lock_take(&lock);
}

static void release(void) OCHE_RELEASES(lock)
{
    oche_lock_release(&lock);
}

/* Under the lock. */
static void find(void) OCHE_NEEDS(lock)
{
    static const struct ov_library what = {.name = "librdmacm.so.1",
                                           .variable = "OCHE_REAL_RDMACM",
                                           .marker = "oche_rdmacm_library",
                                           .own = oche_rdmacm_library,
                                           .take = take};
    const char *named = secure_getenv(what.variable);
    struct oche_error why;

    tried = true;
    if (named != NULL && named[0] == '\0')
        return;
    pthread_atfork(hold, release, release);
    there = (named != NULL ? ov_library_load_named(&what, named, &why)
                           : ov_library_search(&what, &why)) != NULL;
    refused = named != NULL && !there;
    if (refused)
        cm_say("%s", why.text);
    else if (!there && why.text[0] != '\0')
        cm_say("the system's RDMA devices have no connections by address: %s", why.text);
}

bool cm_system_load(bool *loaded)
{
    bool verbs, good = oche_manager_load_system(&verbs);

    oche_lock_take(&lock);
    if (good && verbs && !tried)
        find();
    good = good && !refused;
    *loaded = there;
    oche_lock_release(&lock);
    if (!good)
        errno = EINVAL;
    return good;
}
