/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks a program before it is run. A program gets oche's devices because the dynamic linker
 * takes libibverbs.so.1 from LD_LIBRARY_PATH. That has no effect, and causes no message, if
 *
 *   static     no dynamic linker takes part, or libibverbs alone is linked statically
 *   foreign    the program is for another machine or word size
 *   secure     it is setuid or the like, so the linker drops LD_LIBRARY_PATH; sudo drops it, too
 *   DT_RPATH   the program names folders that come before LD_LIBRARY_PATH: then the library is
 *              loaded first (LD_PRELOAD), by its path
 *   kernel     it asks the kernel's RDMA subsystem, by management datagrams, netlink, files or PCI
 *
 * A script is judged by its interpreter. Programs that the program starts are not checked here.
 * Each of them checks itself when it runs (device/verbs/other_library.c). So a static program that
 * does not use verbs (a shell, an init) is accepted.
 */
#include "cli/preflight.h"

#include <dirent.h>
#include <elf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "cli/elf_file.h"
#include "core/base.h"
#include "params/local_rank.h"

#define VERBS         "libibverbs.so.1"
#define RDMACM        "librdmacm.so.1"
#define CLASS         "/sys/class/infiniband"
#define MOST_OBJECTS  256 /* libraries of a program that are checked */
#define MOST_SCRIPTS  4   /* a script's interpreter may be a script */
#define LONGEST_START 512 /* of a script: bytes of its first line */

/* ---- which file runs ---- */

/* Finds the command as execvp does. Returns false if there is none. */
static bool find_command(const char *command, char path[PATH_MAX])
{
    const char *at = getenv("PATH");

    if (strchr(command, '/') != NULL)
        return snprintf(path, PATH_MAX, "%s", command) < PATH_MAX;
    for (; at != NULL && *at != '\0'; at += strcspn(at, ":"), at += *at == ':')
        if (snprintf(path, PATH_MAX, "%.*s/%s", (int)strcspn(at, ":"), at, command) < PATH_MAX &&
            access(path, X_OK) == 0)
            return true;
    return false;
}

/*
 * If `file` is a script, writes the path of its interpreter to `path`; that of `env` is what it is
 * to run. Returns false if it is none, or the interpreter cannot be found.
 */
static bool find_interpreter(const struct elf_file *file, char path[PATH_MAX])
{
    char line[LONGEST_START], *rest, *word, *base;
    const size_t count = file->count < sizeof(line) ? file->count : sizeof(line) - 1;

    memcpy(line, file->bytes, count);
    line[count] = '\0';
    line[strcspn(line, "\n")] = '\0';
    if (strncmp(line, "#!", 2) != 0 || (word = strtok_r(line + 2, " \t", &rest)) == NULL)
        return false;
    base = strrchr(word, '/');
    if (strcmp(base != NULL ? base + 1 : word, "env") == 0) {
        do
            word = strtok_r(NULL, " \t", &rest);
        while (word != NULL && (word[0] == '-' || strchr(word, '=') != NULL));
        return word != NULL && find_command(word, path);
    }
    return snprintf(path, PATH_MAX, "%s", word) < PATH_MAX;
}

/* ---- programs that ask the kernel ---- */

#define UMAD    "the kernel's RDMA subsystem (management datagrams, umad)"
#define NETLINK "the kernel's RDMA subsystem (netlink)"
#define FILES   "the kernel's RDMA subsystem (its files)"
#define PCI     "the PCI bus for adapters"
#define SHOWS   "`oche exec ibv_devinfo` shows them, `oche stat` what they do"
#define SUBNET  "there is no InfiniBand subnet to ask, " SHOWS
#define MST     "they have no firmware, " SHOWS
#define PUT     "with `oche exec --files` it finds them"

/*
 * Programs that are known by name, where their file mentions `mentions`. `reads`: it only reads
 * files that --files has.
 */
static const struct known {
    const char *name, *mentions, *asks, *instead;
    bool reads;
} known_programs[] = {
    {"rdma", "NETLINK_RDMA", NETLINK, "`oche stat -q` lists them with their queue pairs"},
    {"opensm", "libopensm", UMAD, "RoCE needs no subnet manager"},
    {"osmtest", "libopensm", UMAD, "RoCE needs no subnet manager"},
    {"srp_daemon", "libibumad", UMAD, "oche has no SRP"},
    {"ibsrpdm", "libibumad", UMAD, "oche has no SRP"},
    {"ibacm", "libibumad", UMAD, "programs connect by address without it"},
    {"ib_acme", "ib_acm", UMAD, "programs connect by address without it"},
    {"ibstat", "libibumad", FILES, PUT, true},
    {"ibstatus", CLASS, FILES, PUT, true},
    {"ibdev2netdev", CLASS, FILES, PUT, true},
    {"show_gids", CLASS, FILES, PUT, true},
    {"ibhosts", "ibnetdiscover", UMAD, SUBNET},
    {"ibswitches", "ibnetdiscover", UMAD, SUBNET},
    {"ibrouters", "ibnetdiscover", UMAD, SUBNET},
    {"ibnodes", "ibhosts", UMAD, SUBNET},
    {"ibidsverify", "ibnetdiscover", UMAD, SUBNET},
    {"ibfindnodesusing", "ibroute", UMAD, SUBNET},
    {"check_lft_balance", "dump_lfts", UMAD, SUBNET},
    {"dump_lfts", "dump_fts", UMAD, SUBNET},
    {"dump_mfts", "dump_fts", UMAD, SUBNET},
    {"mstflint", "infiniband", PCI, MST},
    {"mstconfig", "infiniband", PCI, MST},
    {"mstlink", "nfini", PCI, MST},
    {"mstmcra", "infiniband", PCI, MST},
    {"mstreg", "infiniband", PCI, MST},
    {"mstregdump", "infiniband", PCI, MST},
    {"mstvpd", "mst", PCI, MST},
    {"mstfwreset", "mst", PCI, MST},
    {"mstfwtrace", "mst", PCI, MST},
    {"mstcongestion", "mst", PCI, MST},
    {"mstmread", "mst", PCI, MST},
    {"mstmwrite", "mst", PCI, MST},
    {"mstmtserver", "mst", PCI, MST},
    {"mstprivhost", "mst", PCI, MST},
    {"mstresourceparse", "mst", PCI, MST},
    {"mstresourcedump", "mst", PCI, MST},
};

/* Libraries without which a program that is not linked with libibverbs can do nothing useful. */
static const char *const umad_libraries[] = {"libibumad.so.", "libibmad.so.", "libosmvendor.so."};

/* True if the kernel has RDMA devices that a program could use; those of --files are ours. */
static bool kernel_has_devices(void)
{
    DIR *folder = opendir(CLASS);
    const struct dirent *entry;
    bool found = false;

    while (folder != NULL && !found && (entry = readdir(folder)) != NULL)
        found = entry->d_name[0] != '.' && strncmp(entry->d_name, "oche", 4) != 0;
    if (folder != NULL)
        closedir(folder);
    return found;
}

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

static bool needs(const struct elf_file *file, const char *prefix)
{
    const char *name;

    for (unsigned i = 0; (name = elf_string(file, DT_NEEDED, i)) != NULL; i++)
        if (strncmp(name, prefix, strlen(prefix)) == 0)
            return true;
    return false;
}

/* `files`: the program finds the devices' files (--files). */
static bool asks_kernel(const struct elf_file *file, const char *name, bool files,
                        struct oche_error *line)
{
    for (size_t i = 0; i < OCHE_COUNT_OF(known_programs); i++) {
        const struct known *one = &known_programs[i];

        if (strcmp(name, one->name) == 0 && elf_mentions(file, one->mentions)) {
            if (one->reads && files)
                return false;
            oche_fail(line, "%s asks %s, which does not know oche's devices: %s", name, one->asks,
                      one->instead);
            return true;
        }
    }
    if (needs(file, "libibverbs.so."))
        return false;
    for (size_t i = 0; i < OCHE_COUNT_OF(umad_libraries); i++)
        if (needs(file, umad_libraries[i])) {
            oche_fail(line, "%s asks %s, which does not know oche's devices: %s", name, UMAD,
                      SHOWS);
            return true;
        }
    return false;
}

/* ---- programs whose dynamic linker ignores LD_LIBRARY_PATH ---- */

/* True if the file may be of a program that uses RDMA. */
static bool mentions_rdma(const struct elf_file *file)
{
    return elf_mentions(file, "infiniband") || elf_mentions(file, "libibverbs") ||
           elf_mentions(file, "librdmacm");
}

/* True if the file contains rdma-core's library: a message and a variable of all its versions. */
static bool contains_verbs(const struct elf_file *file)
{
    return elf_mentions(file, "libibverbs: Warning: ") && elf_mentions(file, "RDMAV_FORK_SAFE");
}

/* Returns why the kernel would run the file with other rights than ours; NULL: it would not. */
static const char *other_rights(const char *path)
{
    struct statvfs where;
    struct stat status;

    if (stat(path, &status) != 0 || statvfs(path, &where) != 0 || (where.f_flag & ST_NOSUID) != 0 ||
        prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
        return NULL;
    if ((status.st_mode & S_ISUID) != 0 && status.st_uid != getuid())
        return "is setuid";
    if ((status.st_mode & S_ISGID) != 0 && (status.st_mode & S_IXGRP) != 0 &&
        status.st_gid != getgid())
        return "is setgid";
    if (getuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0)
        return "has file capabilities";
    return NULL;
}

static bool drops_path(const char *path, const char *name, struct oche_error *line)
{
    static const char *const launchers[] = {"sudo", "doas", "pkexec"};
    const char *why;

    for (size_t i = 0; i < OCHE_COUNT_OF(launchers); i++)
        if (strcmp(base_of(path), launchers[i]) == 0) {
            oche_fail(line,
                      "%s removes LD_LIBRARY_PATH from what it runs, which then does not have "
                      "oche's devices: `%s oche exec -- PROGRAM` has them",
                      name, launchers[i]);
            return true;
        }
    why = other_rights(path);
    if (why != NULL)
        oche_fail(line,
                  "%s %s, so the system ignores LD_LIBRARY_PATH and it does not have oche's "
                  "devices: run a copy of it (cp), which has no such rights",
                  name, why);
    return why != NULL;
}

static bool cannot_load(const struct elf_file *file, const char *name, struct oche_error *line)
{
    if (file->kind == ELF_STATIC && elf_string(file, DT_NEEDED, 0) == NULL && mentions_rdma(file)) {
        oche_fail(line,
                  "%s is linked statically, so it does not have oche's devices: link it with the "
                  "shared " VERBS,
                  name);
        return true;
    }
    if (file->kind == ELF_DYNAMIC && !needs(file, "libibverbs.so.") && contains_verbs(file)) {
        oche_fail(line,
                  "%s has a libibverbs linked into it, so it does not have oche's devices: link it "
                  "with the shared " VERBS,
                  name);
        return true;
    }
    if (file->kind == ELF_FOREIGN && mentions_rdma(file)) {
        oche_fail(line,
                  "%s is a program of another machine or word size than oche, so it does not have "
                  "oche's devices: build it for this one",
                  name);
        return true;
    }
    return false;
}

/* ---- DT_RPATH ---- */

/* the program and its libraries, if found; those from `next` on are not checked yet */
struct walk {
    const char *folder; /* folder of oche's libraries */
    char *paths[MOST_OBJECTS];
    unsigned count, next;
    /* the program's list, because its libraries may use it, too; or NULL */
    char *main_rpath, *main_origin;
    struct preflight *found;
};

static bool is_same_file(const char *a, const char *b)
{
    struct stat of_a, of_b;

    return stat(a, &of_a) == 0 && stat(b, &of_b) == 0 && of_a.st_dev == of_b.st_dev &&
           of_a.st_ino == of_b.st_ino;
}

/*
 * Writes one entry of a list of folders to `folder`, with the object's own folder for $ORIGIN.
 * Returns the next entry; NULL: there is none left.
 */
static const char *next_folder(const char *list, const char *origin, char folder[PATH_MAX])
{
    static const char *const tokens[] = {"$ORIGIN", "${ORIGIN}"};
    const size_t count = strcspn(list, ":");
    size_t skip = 0;

    for (size_t i = 0; i < OCHE_COUNT_OF(tokens); i++)
        if (strncmp(list, tokens[i], strlen(tokens[i])) == 0)
            skip = strlen(tokens[i]);
    if (snprintf(folder, PATH_MAX, "%s%.*s", skip > 0 ? origin : "", (int)(count - skip),
                 list + skip) >= PATH_MAX)
        folder[0] = '\0';
    return list[count] == ':' ? list + count + 1 : NULL;
}

/* Looks for a library in the list of folders. Returns false if none has it. */
static bool find_in(const char *list, const char *origin, const char *name, char path[PATH_MAX])
{
    char folder[PATH_MAX];

    while (list != NULL) {
        list = next_folder(list, origin, folder);
        if (folder[0] != '\0' && snprintf(path, PATH_MAX, "%s/%s", folder, name) < PATH_MAX &&
            access(path, R_OK) == 0)
            return true;
    }
    return false;
}

/* True if the object would take this library from its own folders, and it is not ours. */
static bool brings(const struct walk *walk, const char *rpath, const char *origin, const char *name)
{
    char theirs[PATH_MAX], ours[PATH_MAX];

    return find_in(rpath, origin, name, theirs) &&
           snprintf(ours, sizeof(ours), "%s/%s", walk->folder, name) < (int)sizeof(ours) &&
           !is_same_file(theirs, ours);
}

static void add_object(struct walk *walk, const char *path)
{
    for (unsigned i = 0; i < walk->count; i++)
        if (strcmp(base_of(walk->paths[i]), base_of(path)) == 0)
            return;
    if (walk->count < MOST_OBJECTS && (walk->paths[walk->count] = strdup(path)) != NULL)
        walk->count++;
}

static void look_at(struct walk *walk, const struct elf_file *file, const char *path)
{
    static const char standard[] = "/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu:"
                                   "/lib/aarch64-linux-gnu:/usr/lib/aarch64-linux-gnu:"
                                   "/lib64:/usr/lib64:/lib:/usr/lib";
    const char *runpath = elf_string(file, DT_RUNPATH, 0), *name;
    const char *rpath = runpath == NULL ? elf_string(file, DT_RPATH, 0) : NULL;
    char origin[PATH_MAX], found[PATH_MAX];

    snprintf(origin, sizeof(origin), "%s", path);
    *(strrchr(origin, '/') != NULL ? strrchr(origin, '/') : origin) = '\0';
    if (rpath != NULL && walk->next == 0) {
        walk->main_rpath = strdup(rpath);
        walk->main_origin = strdup(origin);
    }
    walk->found->verbs |= brings(walk, rpath, origin, VERBS);
    walk->found->rdmacm |= brings(walk, rpath, origin, RDMACM);
    for (unsigned i = 0; (name = elf_string(file, DT_NEEDED, i)) != NULL; i++)
        if (find_in(rpath, origin, name, found) ||
            (runpath == NULL && walk->main_origin != NULL &&
             find_in(walk->main_rpath, walk->main_origin, name, found)) ||
            find_in(getenv("LD_LIBRARY_PATH"), "", name, found) ||
            find_in(runpath, origin, name, found) || find_in(standard, "", name, found))
            add_object(walk, found);
}

/* Finds out which libraries the program, or one of its libraries, takes from folders of its own. */
static void look_for_rpath(const char *path, const char *folder, struct preflight *found)
{
    struct walk walk = {.folder = folder, .found = found};
    char whole[PATH_MAX];

    if (realpath(path, whole) == NULL)
        return;
    add_object(&walk, whole);
    for (; walk.next < walk.count; walk.next++) {
        struct elf_file file;

        if (elf_open(&file, walk.paths[walk.next]))
            look_at(&walk, &file, walk.paths[walk.next]);
        elf_close(&file);
    }
    while (walk.count > 0)
        free(walk.paths[--walk.count]);
    free(walk.main_rpath);
    free(walk.main_origin);
}

/* ---- all ---- */

/* Judges the file that runs, and finds what it takes from its own folders. */
static bool judge(const struct elf_file *file, const char *path, const char *name,
                  const char *folder, struct preflight *found, struct oche_error *line)
{
    if (drops_path(path, name, line) || cannot_load(file, name, line))
        return false;
    if (file->kind == ELF_DYNAMIC)
        look_for_rpath(path, folder, found);
    return true;
}

bool oche_preflight(const char *command, const char *folder, bool files, struct preflight *found,
                    struct oche_error *line)
{
    const char *name = base_of(command);
    struct elf_file file;
    char path[PATH_MAX];
    bool able = true, more = true;

    *found = (struct preflight){false};
    if (!find_command(command, path))
        return true;
    for (unsigned scripts = 0; able && more && scripts < MOST_SCRIPTS; scripts++) {
        if (!elf_open(&file, path))
            return true;
        more = file.kind == ELF_NONE;
        if (!kernel_has_devices())
            able = !asks_kernel(&file, scripts == 0 ? name : base_of(path), files, line);
        if (able && more)
            more = find_interpreter(&file, path);
        else if (able)
            able = judge(&file, path, name, folder, found, line);
        elf_close(&file);
    }
    return able || !oche_is_first_of_host();
}
