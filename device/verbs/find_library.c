/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads a library of the system's that has the name of one of ours (find_library.h). Searches the
 * places where the dynamic linker finds ours: LD_LIBRARY_PATH, then the standard folders.
 */
#include "device/verbs/find_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OWN "it is oche's own, not the system's"

/*
 * Checks that the symbol is the library's own: dlsym also finds symbols of the libraries that it
 * needs, perhaps ours.
 */
void *ov_library_symbol(void *library, const char *name)
{
    void *symbol = dlsym(library, name);
    const struct link_map *map;
    Dl_info of;

    if (symbol == NULL || dlinfo(library, RTLD_DI_LINKMAP, &map) != 0 || dladdr(symbol, &of) == 0 ||
        strcmp(of.dli_fname, map->l_name) != 0)
        return NULL;
    return symbol;
}

bool ov_library_take(void *library, const struct ov_library_name *names, size_t count,
                     void *functions, const char *kind, struct oche_error *why)
{
    for (size_t i = 0; i < count; i++) {
        void *symbol = ov_library_symbol(library, names[i].name);

        if (symbol == NULL && names[i].needed)
            return oche_fail(why, "it is no %s, as it has no %s", kind, names[i].name);
        memcpy((uint8_t *)functions + names[i].offset, &symbol, sizeof(symbol));
    }
    return true;
}

/* Loads the library at `path`. Returns NULL, with the reason, if it is not usable. */
static void *load(const struct ov_library *what, const char *path, struct oche_error *why)
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
    if (ov_library_symbol(library, what->marker) != NULL)
        oche_fail(why, OWN);
    else if (what->take(library, why))
        return library;
    dlclose(library);
    return NULL;
}

/*
 * Returns the folders where the dynamic linker searches for our library, separated by colons, to be
 * released with free(). NULL: they are not known.
 */
#ifdef __GLIBC__
static char *folders(const struct ov_library *what)
{
    Dl_info own;
    Dl_serinfo size, *all = NULL;
    char *list = NULL;
    size_t bytes;
    FILE *to;
    void *handle;

    if (dladdr(what->own, &own) == 0)
        return NULL;
    handle = dlopen(own.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (handle == NULL)
        return NULL;
    if (dlinfo(handle, RTLD_DI_SERINFOSIZE, &size) == 0 && (all = malloc(size.dls_size)) != NULL) {
        *all = size;
        if (dlinfo(handle, RTLD_DI_SERINFOSIZE, all) == 0 &&
            dlinfo(handle, RTLD_DI_SERINFO, all) == 0 &&
            (to = open_memstream(&list, &bytes)) != NULL) {
            for (unsigned i = 0; i < all->dls_cnt; i++)
                fprintf(to, "%s%s", i > 0 ? ":" : "", all->dls_serpath[i].dls_name);
            fclose(to);
        }
    }
    free(all);
    dlclose(handle);
    return list;
}
#else
/* musl's linker cannot be asked. */
static char *folders(const struct ov_library *what)
{
    const char *first = getenv("LD_LIBRARY_PATH");
    char *list;

    (void)what;
    if (asprintf(&list, "%s%s/lib:/usr/local/lib:/usr/lib", first != NULL ? first : "",
                 first != NULL ? ":" : "") < 0)
        return NULL;
    return list;
}
#endif

static bool is_ours(const struct ov_library *what, const char *path)
{
    Dl_info own;
    struct stat a, b;

    return dladdr(what->own, &own) != 0 && stat(own.dli_fname, &a) == 0 && stat(path, &b) == 0 &&
           a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

void *ov_library_search(const struct ov_library *what, struct oche_error *why)
{
    char *list = folders(what), *rest = list, path[PATH_MAX];
    struct oche_error reason;
    void *library = NULL;

    why->text[0] = '\0';
    while (rest != NULL && library == NULL) {
        const char *folder = strsep(&rest, ":");

        if (*folder == '\0' ||
            snprintf(path, sizeof(path), "%s/%s", folder, what->name) >= (int)sizeof(path) ||
            access(path, R_OK) != 0 || is_ours(what, path))
            continue;
        library = load(what, path, &reason);
        if (library == NULL)
            oche_fail(why, "%s: %s", path, reason.text);
    }
    free(list);
    return library;
}

void *ov_library_load_named(const struct ov_library *what, const char *path, struct oche_error *why)
{
    char full[PATH_MAX];
    struct oche_error reason;
    void *library = NULL;

    /* By its full path: for a bare name the dynamic linker would find our library. */
    if (realpath(path, full) == NULL)
        oche_fail(&reason, "%s", strerror(errno));
    else if (is_ours(what, full))
        oche_fail(&reason, OWN);
    else
        library = load(what, full, &reason);
    if (library == NULL)
        oche_fail(why, "%s=%s: %s; the path of rdma-core's %s is meant, or nothing", what->variable,
                  path, reason.text, what->name);
    return library;
}
