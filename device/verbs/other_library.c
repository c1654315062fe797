/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A part of liboche-exit.so, which every program under `oche exec` loads, also those started by a
 * script. Prints a line if a program has a libibverbs or librdmacm other than oche's, and not
 * oche's: it then has no devices and no explanation. At its start this is due to a DT_RPATH or
 * another LD_LIBRARY_PATH, at its end to a dlopen by path. (For the program that `oche exec` itself
 * starts, cli/preflight.c checks this.)
 */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "params/local_rank.h"

static const char *const libraries[] = {"libibverbs.so", "librdmacm.so"};
#define LIBRARIES (sizeof(libraries) / sizeof(libraries[0]))

struct found {
    const char *folder; /* of oche's libraries; */
    int folder_bytes;   /* its length */
    bool ours[LIBRARIES];
    char other[LIBRARIES][PATH_MAX]; /* a path; empty: none */
};

static pid_t started; /* the process to name in the line; 0: it was printed */

/* True if the file is the one of this name beside us. */
static bool is_ours(const struct found *found, const char *path, const char *library)
{
    struct stat theirs, ours;
    char own[PATH_MAX + 32];

    snprintf(own, sizeof(own), "%.*s/%s.1", found->folder_bytes, found->folder, library);
    return stat(path, &theirs) != 0 || stat(own, &ours) != 0 ||
           (theirs.st_dev == ours.st_dev && theirs.st_ino == ours.st_ino);
}

/*
 * Must not call functions of <dlfcn.h>: dl_iterate_phdr holds a lock that a dlopen of another
 * thread waits for, while these functions wait for that dlopen.
 */
static int look_at(struct dl_phdr_info *object, size_t bytes, void *context)
{
    const char *slash = strrchr(object->dlpi_name, '/');
    struct found *found = context;

    (void)bytes;
    for (size_t i = 0; slash != NULL && i < LIBRARIES; i++) {
        if (strncmp(slash + 1, libraries[i], strlen(libraries[i])) != 0)
            continue;
        if (is_ours(found, object->dlpi_name, libraries[i]))
            found->ours[i] = true;
        else
            snprintf(found->other[i], sizeof(found->other[i]), "%s", object->dlpi_name);
    }
    return 0;
}

static void check_libraries(const char *why)
{
    struct found found = {0};
    const char *slash;
    Dl_info about;

    if (!oche_is_first_of_host() || dladdr((const void *)libraries, &about) == 0 ||
        about.dli_fname == NULL || (slash = strrchr(about.dli_fname, '/')) == NULL)
        return;
    found.folder = about.dli_fname;
    found.folder_bytes = (int)(slash - about.dli_fname);
    dl_iterate_phdr(look_at, &found);
    for (size_t i = 0; i < LIBRARIES; i++) {
        if (found.other[i][0] == '\0' || found.ours[i])
            continue;
        dprintf(STDERR_FILENO,
                "oche: %s has %s instead of oche's, so it does not have oche's "
                "devices: %s\n",
                program_invocation_short_name, found.other[i], why);
        started = 0;
        return;
    }
}

static void __attribute__((constructor)) at_start(void)
{
    started = getpid();
    check_libraries(
        "run `oche exec` on this program itself, which loads oche's first (a DT_RPATH or "
        "LD_LIBRARY_PATH leads to the other one)");
}

static void __attribute__((destructor)) at_end(void)
{
    if (started == getpid())
        check_libraries("it was opened by its path; open libibverbs.so.1 without a folder");
}
