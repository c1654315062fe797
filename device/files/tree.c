/* SPDX-License-Identifier: Apache-2.0 */
/* Makes and removes the tree; see tree.h. */
#include "device/files/tree.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "core/base.h"
#include "device/files/contents.h"
#include "device/files/counts.h"
#include "device/files/kernel.h"
#include "device/files/state.h"
#include "device/files/sweep.h"
#include "device/view/place.h"
#include "params/local_rank.h"
#include "params/say.h"

#define MOST_NAMES 65536 /* entries of a folder that are read */
#define LONGEST    1024  /* bytes of a path in the tree */

_Atomic bool oche_tree_made;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char root[OCHE_TREE_BYTES]; /* "": there is none */
static pid_t owner;
static int lock_file = -1;
static struct stat lock_about;

void oche_files_say(const char *format, ...)
{
    va_list arguments;

    if (!oche_is_first_of_host())
        return;
    va_start(arguments, format);
    oche_say_line(format, arguments);
    va_end(arguments);
}

/* For the parts of core that parse a rate: a broken invariant. */
void oche_panic(const char *file, int line, const char *what)
{
    oche_files_say("%s:%d: broken invariant: %s; this is a bug", file, line, what);
    abort();
}

/* ---- making: the sink of contents.h ---- */

/* Makes the folders above `path`, which is in the tree. */
static bool make_above(char *path)
{
    for (char *slash = path + strlen(root) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = '\0';
        if (mkdir(path, 0755) != 0 && errno != EEXIST) {
            *slash = '/';
            return false;
        }
        *slash = '/';
    }
    return true;
}

static bool put_folder(void *context, const char *path)
{
    char whole[LONGEST];

    (void)context;
    snprintf(whole, sizeof(whole), "%s%s", root, path);
    return make_above(whole) && (mkdir(whole, 0755) == 0 || errno == EEXIST);
}

static bool put_file(void *context, const char *path, const char *text)
{
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW;
    char whole[LONGEST];
    bool written;
    int file;

    (void)context;
    snprintf(whole, sizeof(whole), "%s%s", root, path);
    file = kernel_openat(AT_FDCWD, whole, flags, 0444);
    if (file < 0 && errno == ENOENT && make_above(whole))
        file = kernel_openat(AT_FDCWD, whole, flags, 0444);
    if (file < 0)
        return false;
    written = write(file, text, strlen(text)) == (ssize_t)strlen(text);
    close(file);
    return written;
}

static bool put_link(void *context, const char *path, const char *target)
{
    char whole[LONGEST];

    (void)context;
    snprintf(whole, sizeof(whole), "%s%s", root, path);
    return symlink(target, whole) == 0 ||
           (errno == ENOENT && make_above(whole) && symlink(target, whole) == 0);
}

/* Adds links to the files that the kernel has in this folder, for those who list it. */
static void add_kernels(const char *folder)
{
    const int real = kernel_openat(AT_FDCWD, folder, O_RDONLY | O_DIRECTORY, 0);
    DIR *names = real >= 0 ? fdopendir(real) : NULL;
    const struct dirent *entry;
    char path[LONGEST], target[LONGEST];

    if (names == NULL)
        return;
    for (unsigned i = 0; i < MOST_NAMES && (entry = readdir(names)) != NULL; i++) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof(path), "%s%s/%s", root, folder, entry->d_name);
        snprintf(target, sizeof(target), "%s/%s", folder, entry->d_name);
        if (symlink(target, path) != 0 && errno != EEXIST)
            break;
    }
    closedir(names);
}

static bool fill(void)
{
    static const struct oche_files_sink sink = {
        .folder = put_folder, .file = put_file, .link = put_link};

    if (!put_link(NULL, "/loop", "loop") || !oche_files_contents(&sink))
        return false;
    add_kernels(OCHE_CLASS_FOLDER);
    add_kernels(OCHE_VERBS_FOLDER);
    add_kernels(OCHE_DEV_FOLDER);
    return true;
}

/* ---- the tree's own folder ---- */

/* Makes the lock's file, and takes the lock. */
static bool take_lock(void)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    char path[OCHE_TREE_BYTES + sizeof(OCHE_TREE_LOCK) + 1];

    snprintf(path, sizeof(path), "%s/" OCHE_TREE_LOCK, root);
    lock_file = kernel_openat(AT_FDCWD, path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    return lock_file >= 0 && fstat(lock_file, &lock_about) == 0 &&
           fcntl(lock_file, F_SETLK, &whole) == 0;
}

/*
 * Forgets the tree, and lets others remove it. The program may have closed the lock's descriptor,
 * as daemons close all, and may use its number for another file.
 */
static void forget(void)
{
    struct stat now;

    if (lock_file >= 0 && fstat(lock_file, &now) == 0 && now.st_dev == lock_about.st_dev &&
        now.st_ino == lock_about.st_ino)
        close(lock_file);
    lock_file = -1;
    root[0] = '\0';
    atomic_store(&oche_tree_made, false);
}

/* Names the tree: the path of the folder, `mark` and the process. */
static bool name_root(const char *path, const char *mark, const char *process)
{
    errno = ENAMETOOLONG;
    return (size_t)snprintf(root, sizeof(root), "%s/%s%s", path, mark, process) < sizeof(root);
}

/* Makes an empty tree with a lock. It has its name only with the lock, as others sweep. */
static bool make_empty(int folder, const char *path, const char *process)
{
    char making[OCHE_TREE_BYTES];

    if (!name_root(path, OCHE_TREE_MAKING, process) || mkdir(root, 0755) != 0 || !take_lock())
        return false;
    memcpy(making, root, sizeof(making));
    return name_root(path, OCHE_TREE_MARK, process) &&
           renameat(folder, strrchr(making, '/') + 1, folder, strrchr(root, '/') + 1) == 0;
}

/* Makes a tree in the folder with this path. Returns false with errno. */
static bool make_in(int folder, const char *path)
{
    char process[OCHE_VIEW_NAME_BYTES];
    uint64_t nonce;
    int error;

    if (getrandom(&nonce, sizeof(nonce), GRND_NONBLOCK) != sizeof(nonce))
        return false;
    oche_view_name(process, getpid(), nonce);
    if (make_empty(folder, path, process) && fill())
        return true;
    error = errno;
    if (root[0] != '\0')
        oche_tree_remove_from(folder, strrchr(root, '/') + 1);
    forget();
    errno = error;
    return false;
}

/* In a forked child, which does not have the lock. */
static void in_child(void)
{
    mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    oche_files_states_in_child();
    oche_files_counts_in_child();
    forget();
}

static void __attribute__((constructor)) watch_forks(void)
{
    pthread_atfork(NULL, NULL, in_child);
}

static int open_folder(char path[OCHE_TREE_BYTES])
{
    const char *given = secure_getenv("OCHE_VIEW");
    int folder = -1;

    if (given != NULL && given[0] == '/')
        folder = oche_view_own_folder(given, path, OCHE_TREE_BYTES);
    return folder >= 0 ? folder : oche_view_own_folder(NULL, path, OCHE_TREE_BYTES);
}

/* Makes a tree, and removes those left over. */
static bool make(void)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    char path[OCHE_TREE_BYTES];
    const int folder = open_folder(path);
    bool made = false;

    if (folder >= 0) {
        oche_tree_sweep(folder);
        made = make_in(folder, path);
        close(folder);
    }
    if (!made && !atomic_flag_test_and_set(&said))
        oche_files_say("--files: no folder can be written in which to put the devices' files "
                       "(/run/user/%u, /dev/shm, /tmp): %s; --view=FOLDER names another one",
                       (unsigned)geteuid(), strerror(errno));
    if (!made)
        return false;
    owner = getpid();
    atomic_store(&oche_tree_made, true);
    return true;
}

/* True if the process lives that has made the tree, by its lock. */
static bool is_held(const char *lock)
{
    const int file = kernel_openat(AT_FDCWD, lock, O_RDONLY | O_NOFOLLOW, 0);
    pid_t unused;
    const bool held = file >= 0 && oche_view_lives(file, &unused);

    if (file >= 0)
        close(file);
    return held;
}

/*
 * True if this process has a tree. Others remove it if the program has closed all descriptors. A
 * child of vfork has our memory: it uses its parent's tree, and the parent not the child's, which
 * is left over.
 */
static bool is_there(void)
{
    char lock[OCHE_TREE_BYTES + sizeof(OCHE_TREE_LOCK) + 1];
    struct stat about;

    if (root[0] == '\0')
        return false;
    snprintf(lock, sizeof(lock), "%s/" OCHE_TREE_LOCK, root);
    if (owner == getpid() ? kernel_lstat(lock, &about) == 0 : is_held(lock))
        return true;
    forget();
    return false;
}

bool oche_tree(char path[OCHE_TREE_BYTES])
{
    const int before = errno;
    bool found;

    pthread_mutex_lock(&mutex);
    found = is_there() || make();
    memcpy(path, root, OCHE_TREE_BYTES);
    pthread_mutex_unlock(&mutex);
    errno = before;
    return found;
}

/* Puts a new file in the place of an old one, so that nobody reads half of it. */
static bool exchange_file(void *context, const char *path, const char *text)
{
    char added[LONGEST], from[LONGEST + OCHE_TREE_BYTES], to[LONGEST + OCHE_TREE_BYTES];

    snprintf(added, sizeof(added), "%s.new", path);
    snprintf(from, sizeof(from), "%s%s", root, added);
    snprintf(to, sizeof(to), "%s%s", root, path);
    return put_file(context, added, text) && rename(from, to) == 0;
}

void oche_tree_show_state(const struct oche_address *address)
{
    static const struct oche_files_sink sink = {.file = exchange_file};

    pthread_mutex_lock(&mutex);
    if (atomic_load(&oche_tree_made) && is_there())
        oche_files_states(&sink, address);
    pthread_mutex_unlock(&mutex);
}

void oche_tree_renew(const char *path)
{
    char text[32];
    bool is_own;

    pthread_mutex_lock(&mutex);
    is_own = root[0] != '\0' && strncmp(path, root, strlen(root)) == 0 && is_there();
    if (is_own && oche_files_count(path + strlen(root), text, sizeof(text)))
        (void)exchange_file(NULL, path + strlen(root), text);
    pthread_mutex_unlock(&mutex);
}

/* Without the lock: a thread that was stopped for good may have it. */
void oche_tree_remove(void)
{
    if (!atomic_load(&oche_tree_made) || owner != getpid() || root[0] == '\0')
        return;
    oche_tree_remove_from(AT_FDCWD, root);
    atomic_store(&oche_tree_made, false);
}

static void __attribute__((destructor)) at_exit(void)
{
    oche_tree_remove();
}

bool oche_tree_cut(char *path)
{
    char *mark = path, *end;
    char name[OCHE_VIEW_NAME_BYTES];
    pid_t unused;

    while ((mark = strstr(mark, "/" OCHE_TREE_MARK)) != NULL) {
        mark += strlen("/" OCHE_TREE_MARK);
        end = mark + strcspn(mark, "/");
        if ((size_t)(end - mark) >= sizeof(name))
            continue;
        snprintf(name, sizeof(name), "%.*s", (int)(end - mark), mark);
        if (!oche_view_name_is(name, &unused))
            continue;
        if (*end == '\0')
            memcpy(path, "/", 2);
        else
            memmove(path, end, strlen(end) + 1);
        return true;
    }
    return false;
}
