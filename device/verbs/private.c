/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The private interface between libibverbs and its drivers (private_names.h). Programs such as
 * perftest are linked with two drivers, libmlx5 and libefa, which would not load without these
 * names. Some functions here only return an error; they are never called, because none of our
 * devices is one that these drivers serve.
 *
 * Once the system's library is loaded (system.c), its drivers are linked with these names too, but
 * their calls must reach that library. So each name is a jump (private_jump.S) through a pointer
 * kept here. A driver registers itself when it is loaded. If that happens before the system's
 * library is loaded, the registration is kept, and passed to the library later if the version is
 * the same. ibv_query_gid_type works for our devices, too, as ibv_devinfo calls it (query.c).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/verbs/find_library.h"
#include "device/verbs/internal.h"
#include "device/verbs/private_names.h"

#define REGISTER "verbs_register_driver_" /* followed by the version */
#define SETTING  "verbs_allow_disassociate_destroy"

/* ---- while there is no library to pass calls on to ---- */

static intptr_t refuse(void)
{
    return errno = EOPNOTSUPP;
}

static intptr_t minus_one(void)
{
    return -1;
}

static intptr_t nothing(void)
{
    return 0;
}

static void *no_pointer(void)
{
    return ov_null(EOPNOTSUPP);
}

/* ---- where each name leads ---- */

typedef void function(void);

#pragma GCC visibility push(hidden)
#define SLOT(name, otherwise)                                                                      \
    extern function *ov_slot_##name;                                                               \
    function *ov_slot_##name = (function *)(otherwise);
OV_PRIVATE_NAMES(SLOT)
OV_PRIVATE_OWN(SLOT)
#undef SLOT
#pragma GCC visibility pop

/* ---- drivers that have registered ---- */

struct driver {
    const void *table;
    unsigned version;
    struct driver *next;
};

typedef void register_driver(const void *table);

static struct oche_lock lock = OCHE_LOCK_INITIALIZER;
static struct driver *first OCHE_GUARDED_BY(lock), **last OCHE_GUARDED_BY(lock) = &first;
/* version of the library that gets the calls; 0: none yet */
static unsigned passed_on OCHE_GUARDED_BY(lock);
static register_driver *pass_on OCHE_GUARDED_BY(lock);
static const bool *setting;

static void register_version(unsigned version, const void *table)
{
    struct driver *driver;

    oche_lock_take(&lock);
    if (passed_on != 0) {
        if (passed_on == version)
            pass_on(table);
    } else if ((driver = malloc(sizeof(*driver))) != NULL) {
        *driver = (struct driver){.table = table, .version = version};
        *last = driver;
        last = &driver->next;
    }
    oche_lock_release(&lock);
}

#define REGISTERS(version, unused)                                                                 \
    register_driver verbs_register_driver_##version;                                               \
    void verbs_register_driver_##version(const void *table)                                        \
    {                                                                                              \
        register_version(version, table);                                                          \
    }
REGISTERS(34, )
OV_PRIVATE_LATER(REGISTERS, )
#undef REGISTERS

/*
 * For drivers older than libmlx5 and libefa. Does nothing, as in rdma-core, which has dropped their
 * interface.
 */
void ibv_register_driver(void);
void ibv_register_driver(void)
{
}

extern bool ov_allow_disassociate_destroy
    __attribute__((visibility("hidden"))); /* private_jump.S */

/* ---- the system's library ---- */

/*
 * Returns the version of the library's private interface; 0: an unknown one. Sets *found to the
 * function that registers a driver.
 */
static unsigned version_of(void *library, register_driver **found)
{
#define VERSION(version, unused) version,
    static const unsigned versions[] = {34, OV_PRIVATE_LATER(VERSION, )};
#undef VERSION

    for (size_t i = 0; i < OCHE_COUNT_OF(versions); i++) {
        char name[sizeof(REGISTER) + 12];
        void *symbol;

        snprintf(name, sizeof(name), REGISTER "%u", versions[i]);
        symbol = ov_library_symbol(library, name);
        if (symbol == NULL)
            continue;
        memcpy(found, &symbol, sizeof(symbol));
        return versions[i];
    }
    return 0;
}

bool ov_private_fits(void *library)
{
    register_driver *unused;

    return version_of(library, &unused) != 0;
}

void ov_private_pass_on(void *library)
{
    struct driver *driver;
    void *symbol;

#define SLOT(name, otherwise)                                                                      \
    if ((symbol = ov_library_symbol(library, #name)) != NULL)                                      \
        memcpy(&ov_slot_##name, &symbol, sizeof(symbol));
    OV_PRIVATE_NAMES(SLOT)
#undef SLOT
    oche_lock_take(&lock);
    passed_on = version_of(library, &pass_on);
    setting = ov_library_symbol(library, SETTING);
    while ((driver = first) != NULL) {
        if (driver->version == passed_on)
            pass_on(driver->table);
        first = driver->next;
        free(driver);
    }
    last = &first;
    oche_lock_release(&lock);
}

/*
 * Copies the setting from the library's variable to ours, where drivers read it. The two may be the
 * same variable, depending on whether ours is visible to the library.
 */
void ov_private_settings(void)
{
    if (setting != NULL && *setting)
        ov_allow_disassociate_destroy = true;
}

/* ---- files of sysfs ---- */

/* Reads the first line of a file, without the newline. Returns its length, or -1. */
int ibv_read_sysfs_file(const char *dir, const char *file, char *buf, size_t size)
{
    char path[IBV_SYSFS_PATH_MAX + 128];
    FILE *from;
    size_t count;

    if (size == 0 || snprintf(path, sizeof(path), "%s/%s", dir, file) >= (int)sizeof(path))
        return -1;
    from = fopen(path, "re");
    if (from == NULL)
        return -1;
    count = fread(buf, 1, size, from);
    fclose(from);
    if (count == 0)
        return -1;
    if (buf[count - 1] == '\n')
        count--;
    else if (count == size)
        count = size - 1;
    buf[count] = '\0';
    return (int)count;
}
