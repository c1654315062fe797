/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds and loads the system's library with the same name as one of our libraries: libibverbs.so.1
 * (system.c) and librdmacm.so.1 (device/cm/system.c), each of which has this code.
 *
 * Both are in the same namespace of the dynamic linker. The system's is loaded by its path, so it
 * is distinct from ours, although both have the same name: the dynamic linker compares a name
 * without a slash with the names of loaded libraries, and a path with their files.
 */
#ifndef OCHE_DEVICE_VERBS_FIND_LIBRARY_H
#define OCHE_DEVICE_VERBS_FIND_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

#include "params/error.h"

#pragma GCC visibility push(hidden)

struct ov_library {
    const char *name;     /* name of the library's file, and its soname */
    const char *variable; /* the environment variable that names the file */
    const char *marker;   /* a variable that ours exports, so that a copy of ours is recognised */
    const void *own;      /* address of the marker in our library */
    /*
     * Finds the needed functions of a library. Returns false, with the reason, if it is not usable.
     */
    bool (*take)(void *library, struct oche_error *why);
};

/*
 * Returns the address of a name that the library itself defines; NULL: it does not define the name.
 */
void *ov_library_symbol(void *library, const char *name);

/* A function of the library, and the place of its address in a struct of such addresses. */
struct ov_library_name {
    const char *name;
    size_t offset;
    bool needed; /* a library without it is rejected */
};

/*
 * Finds the library's functions. Returns false, with the reason, if it lacks a needed one; `kind`
 * describes the expected library.
 */
bool ov_library_take(void *library, const struct ov_library_name *names, size_t count,
                     void *functions, const char *kind, struct oche_error *why);

/*
 * Loads the first usable library in the folders where the dynamic linker searches for ours. Returns
 * NULL if there is none; `why` then has the fault of the last library found, or is "".
 */
void *ov_library_search(const struct ov_library *what, struct oche_error *why);

/* Loads the file that the user has named. Returns NULL, with a whole message, if that fails. */
void *ov_library_load_named(const struct ov_library *what, const char *path,
                            struct oche_error *why);

#pragma GCC visibility pop

#endif
