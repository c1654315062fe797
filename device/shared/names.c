/* SPDX-License-Identifier: Apache-2.0 */
#include "device/shared/names.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "device/host/private_folder.h"
#include "device/shared/reuseport.h"

/*
 * Ranges of the file. A service's range begins at a multiple of SERVICE_BYTES, and its length
 * encodes the process's slot. So a process that finds it locked also learns the slot. Two ranges of
 * one process never touch, as the kernel would join them.
 */
#define UNUSED        OCHE_SLOTS /* behind the slots: locked while the file is being removed */
#define MANAGERS      (2 * OCHE_SLOTS)   /* a byte for each process that has a queue pair 1 */
#define SERVICES      (INT64_C(1) << 62) /* services are from here on */
#define SERVICE_BYTES (2 * OCHE_SLOTS)   /* at most OCHE_SLOTS of them are held */
#define SERVICE_BITS  55                 /* bits of a service's place */
#define PREFIX        "net-"
#define MOST_NAMES    1024         /* entries of a folder that are read */
#define TRIES         1000         /* while another process removes the file … */
#define FIRST_TRIES   50           /* … for a second at most */
#define FIRST_PAUSE   (100 * 1000) /* ns */
#define PAUSE         (1000 * 1000)

/* Missing in old headers. */
#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE 71
#endif

static const struct place {
    const char *path;
    bool of_namespace; /* the path contains the user namespace as well */
} places[] = {{"/dev/shm/oche-%u", false},    {"/tmp/oche-%u", false},
              {"/run/user/%u/oche", false},   {"/run/oche-%u", false},
              {"/dev/shm/oche-%u-%lu", true}, {"/tmp/oche-%u-%lu", true}};
enum { PLACES = OCHE_COUNT_OF(places) };
/* The inode's number of the first user namespace: the kernel's PROC_USER_INIT_INO. */
#define FIRST_USER_NAMESPACE 0xeffffffdu

/* ---- locks ---- */

static struct flock range(off_t start, off_t bytes)
{
    return (struct flock){
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = start, .l_len = bytes};
}

/*
 * Locks a range; `bytes` 0: up to the end. Returns false, with errno, if another process has a part
 * of it.
 */
static bool take(int file, off_t start, off_t bytes)
{
    struct flock lock = range(start, bytes);

    return fcntl(file, F_OFD_SETLK, &lock) == 0;
}

static void give(int file, off_t start, off_t bytes)
{
    struct flock lock = range(start, bytes);

    lock.l_type = F_UNLCK;
    if (fcntl(file, F_OFD_SETLK, &lock) != 0)
        return; /* closing the descriptor unlocks the ranges */
}

/* True if another process has locked a part of the range; *found is then that lock. */
static bool is_locked(int file, off_t start, off_t bytes, struct flock *found)
{
    *found = range(start, bytes);
    return fcntl(file, F_OFD_GETLK, found) == 0 && found->l_type != F_UNLCK;
}

/* ---- the file ---- */

/*
 * Writes the number of our network namespace: its cookie, which is unique until the next boot.
 * Kernels before 5.14 have none; there it is the inode's number.
 */
static bool network_of(int socket, char *text, size_t bytes)
{
    uint64_t cookie;
    socklen_t size = sizeof(cookie);
    struct stat about;

    if (getsockopt(socket, SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &size) == 0)
        snprintf(text, bytes, "%" PRIu64, cookie);
    else if (stat("/proc/thread-self/ns/net", &about) == 0)
        snprintf(text, bytes, "i%" PRIu64, (uint64_t)about.st_ino);
    else
        return false;
    return true;
}

/* True if the path still leads to this file. */
static bool is_current(int file, const char *path)
{
    struct stat ours, there;

    return fstat(file, &ours) == 0 && lstat(path, &there) == 0 && ours.st_dev == there.st_dev &&
           ours.st_ino == there.st_ino;
}

/* Opens a file of names. Returns a descriptor, or -1 with errno. */
static int open_file(const char *path, int flags)
{
    const int file = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | flags, 0600);
    struct stat about;

    if (file < 0 || (fstat(file, &about) == 0 && S_ISREG(about.st_mode)))
        return file;
    close(file);
    errno = EPERM;
    return -1;
}

/* Writes the path of a slot's inbox. Returns false if it is too long. */
static bool inbox_path(const char *path, unsigned slot, char *text, size_t bytes)
{
    return (size_t)snprintf(text, bytes, "%s.%u", path, slot) < bytes;
}

/* Removes the file, all of whose ranges we have locked, and all inboxes. */
static void remove_all(const char *path)
{
    char inbox[PATH_MAX];

    for (unsigned slot = 0; slot < OCHE_SLOTS; slot++)
        if (inbox_path(path, slot, inbox, sizeof(inbox)))
            unlink(inbox);
    unlink(path);
}

/* Removes the file if it is unused. */
static void remove_unused(int file, const char *path)
{
    if (take(file, 0, 0) && is_current(file, path))
        remove_all(path);
}

/* Removes the files of killed processes from the folder, except `own`. */
static void sweep(const char *folder, const char *own)
{
    DIR *names = opendir(folder);
    const struct dirent *entry;
    char path[PATH_MAX];

    if (names == NULL)
        return;
    for (unsigned i = 0; i < MOST_NAMES && (entry = readdir(names)) != NULL; i++) {
        const int bytes = snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
        int file;

        if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) != 0 || entry->d_type == DT_SOCK ||
            (size_t)bytes >= sizeof(path) || strcmp(path, own) == 0 ||
            (file = open_file(path, 0)) < 0)
            continue;
        remove_unused(file, path);
        close(file);
    }
    closedir(names);
}

/* ---- slots ---- */

/* Takes a free slot. Returns false if there is none, or if somebody is removing the file. */
static bool take_slot(struct oche_names *names)
{
    for (unsigned slot = 0; slot < OCHE_SLOTS; slot++)
        if (take(names->file, slot, 1)) {
            names->slot = slot;
            return true;
        }
    return false;
}

/* True if another process removes the file just now, or has just done so. */
static bool is_being_removed(const struct oche_names *names)
{
    struct flock found;

    return is_locked(names->file, UNUSED, 1, &found) || !is_current(names->file, names->path);
}

/* Notes the file's identity. */
static void note_file(struct oche_names *names)
{
    struct stat about = {0};

    OCHE_MUST(fstat(names->file, &about) == 0);
    names->device = about.st_dev;
    names->inode = about.st_ino;
}

/*
 * True if the descriptor is still our file's. If the program has reused it, it must be left alone.
 */
static bool is_ours(const struct oche_names *names, struct stat *about)
{
    return names->file >= 0 && fstat(names->file, about) == 0 && about->st_dev == names->device &&
           about->st_ino == names->inode;
}

static void close_file(struct oche_names *names)
{
    const int error = errno;
    struct stat about;

    if (is_ours(names, &about))
        close(names->file);
    names->file = -1;
    errno = error;
}

/*
 * Opens the file, and makes it if it is missing. Returns false with errno; ENOENT: it was removed
 * just now. *made: the file is new.
 */
static bool open_or_make(struct oche_names *names, bool *made)
{
    int error;

    *made = (names->file = open_file(names->path, O_CREAT | O_EXCL)) >= 0;
    if (*made)
        return true;
    error = errno;
    names->file = open_file(names->path, 0);
    if (names->file < 0 && error != EEXIST)
        errno = error;
    return names->file >= 0;
}

/*
 * Opens the file and takes a slot: `wanted`, or any if it is OCHE_SLOTS. Returns false with errno;
 * EADDRINUSE: no slot is free. *made: the file is new.
 */
static bool open_and_take(struct oche_names *names, unsigned wanted, bool *made)
{
    for (unsigned tries = 0; tries < TRIES; tries++) {
        const struct timespec pause = {.tv_nsec = tries < FIRST_TRIES ? FIRST_PAUSE : PAUSE};
        bool taken;
        int error;

        if (tries > 0)
            nanosleep(&pause, NULL);
        if (!open_or_make(names, made)) {
            if (errno != ENOENT)
                return false;
            continue;
        }
        note_file(names);
        names->slot = wanted;
        taken = wanted < OCHE_SLOTS ? take(names->file, wanted, 1) : take_slot(names);
        error = errno == EAGAIN || errno == EACCES ? EADDRINUSE : errno;
        if (taken && is_current(names->file, names->path))
            return true;
        if (!taken && !is_being_removed(names)) {
            close_file(names);
            errno = error;
            return false;
        }
        close_file(names);
    }
    errno = ENOENT;
    return false;
}

/* Binds our inbox. Replaces the one of a killed process: the slot is ours. */
static bool bind_inbox(const struct oche_names *names, int inbox)
{
    struct sockaddr_un own;
    const socklen_t bytes = oche_names_inbox(names, names->slot, &own);

    if (unlink(own.sun_path) != 0 && errno != ENOENT)
        return false;
    return bind(inbox, (struct sockaddr *)&own, bytes) == 0;
}

/* ---- places ---- */

/* Writes the path of a place's folder. Returns false if the place does not exist here. */
static bool folder_of(unsigned place, char *folder, size_t bytes)
{
    unsigned long namespace = 0;
    struct stat about;

    if (places[place].of_namespace) {
        if (stat("/proc/self/ns/user", &about) != 0 || about.st_ino == FIRST_USER_NAMESPACE)
            return false;
        namespace = (unsigned long)about.st_ino;
    }
    snprintf(folder, bytes, places[place].path, (unsigned)geteuid(), namespace);
    return true;
}

/*
 * Writes a place's folder and file. Returns false if there is none, or an inbox's path would be too
 * long.
 */
static bool make_path(struct oche_names *names, unsigned place, const char *file, char *folder,
                      size_t bytes)
{
    char inbox[sizeof(((struct sockaddr_un *)0)->sun_path)];

    return folder_of(place, folder, bytes) &&
           (size_t)snprintf(names->path, sizeof(names->path), "%s/%s", folder, file) <
               sizeof(names->path) &&
           inbox_path(names->path, OCHE_SLOTS - 1, inbox, sizeof(inbox));
}

/* True if a process has a name in this place's file. */
static bool is_met_in(struct oche_names *names, unsigned place, const char *name)
{
    char folder[64];
    struct flock found;
    uid_t owner;
    int fd, file;
    bool met;

    if (!make_path(names, place, name, folder, sizeof(folder)))
        return false;
    fd = oche_folder_open(folder, geteuid(), &owner);
    if (fd < 0)
        return false;
    close(fd);
    if (!oche_folder_stays(folder) || (file = open_file(names->path, 0)) < 0)
        return false;
    met = is_locked(file, 0, OCHE_SLOTS, &found);
    close(file);
    return met;
}

/* Tries a place. Returns false with errno; EADDRINUSE: all its slots are taken. */
static bool try_place(struct oche_names *names, unsigned place, const char *name, unsigned wanted,
                      int inbox)
{
    char folder[64];
    bool made;
    int fd;

    if (!make_path(names, place, name, folder, sizeof(folder))) {
        errno = ENAMETOOLONG;
        return false;
    }
    fd = oche_folder_make(folder, geteuid());
    if (fd < 0)
        return false;
    close(fd);
    if (!oche_folder_stays(folder)) {
        errno = EPERM;
        return false;
    }
    if (!open_and_take(names, wanted, &made))
        return false;
    if (!bind_inbox(names, inbox)) {
        close_file(names);
        return false;
    }
    if (made)
        sweep(folder, names->path);
    return true;
}

/* Adds a place's fault to `why`. */
static void note_fault(struct oche_error *why, unsigned place, int error)
{
    char folder[64];

    if (!folder_of(place, folder, sizeof(folder)))
        return;
    oche_fail(why, "%s%s%s: %s", why->text, why->text[0] != '\0' ? "; " : "", folder,
              error == EPERM ? "is a link, another user's or open to others" : strerror(error));
}

static bool name_of(const struct oche_address *address, uint16_t port, int socket, char *name,
                    size_t bytes)
{
    char network[24], text[OCHE_ADDRESS_TEXT];

    if (!network_of(socket, network, sizeof(network)))
        return false;
    oche_address_print(address, text);
    return (size_t)snprintf(name, bytes, PREFIX "%s-%s-%u", network, text, port) < bytes;
}

/* Like oche_names_open, for the slot `wanted`; OCHE_SLOTS: for any slot. */
static enum oche_names_result open_names(struct oche_names *names,
                                         const struct oche_address *address, uint16_t port,
                                         unsigned wanted, int inbox, struct oche_error *error)
{
    struct oche_error why = {""};
    unsigned first = 0;
    char name[80];

    *names = (struct oche_names){.file = -1};
    if (!name_of(address, port, inbox, name, sizeof(name))) {
        oche_fail(error, "its network namespace cannot be told");
        return OCHE_NAMES_NOWHERE;
    }
    while (first < PLACES && !is_met_in(names, first, name))
        first++;
    for (unsigned place = first < PLACES ? first : 0; place < PLACES; place++) {
        if (try_place(names, place, name, wanted, inbox))
            return OCHE_NAMES_TAKEN;
        if (errno == EADDRINUSE) {
            oche_fail(error, "%u processes share it already", OCHE_SLOTS);
            return OCHE_NAMES_ALL_TAKEN;
        }
        note_fault(&why, place, errno);
        if (is_met_in(names, place, name))
            break; /* other processes use this folder, so no other folder will do */
    }
    *error = why;
    return OCHE_NAMES_NOWHERE;
}

enum oche_names_result oche_names_open(struct oche_names *names, const struct oche_address *address,
                                       uint16_t port, int inbox, struct oche_error *error)
{
    return open_names(names, address, port, OCHE_SLOTS, inbox, error);
}

void oche_names_close(struct oche_names *names)
{
    struct sockaddr_un own;
    struct stat about;

    if (!is_ours(names, &about))
        return;
    if (is_current(names->file, names->path)) {
        oche_names_inbox(names, names->slot, &own);
        unlink(own.sun_path);
        remove_unused(names->file, names->path);
    }
    give(names->file, 0, 0); /* a child that was just forked may still have the descriptor */
    close_file(names);
}

void oche_names_leave(struct oche_names *names)
{
    if (names->file >= 0)
        close_file(names);
}

bool oche_names_lost(const struct oche_names *names)
{
    struct stat about;

    return is_ours(names, &about) && about.st_nlink == 0;
}

bool oche_names_restore(struct oche_names *names, const struct oche_address *address, uint16_t port,
                        int inbox)
{
    struct oche_names anew;
    struct oche_error unused;

    if (open_names(&anew, address, port, names->slot, inbox, &unused) != OCHE_NAMES_TAKEN)
        return false;
    oche_names_leave(names);
    *names = anew;
    return true;
}

/* ---- names ---- */

bool oche_names_slot_taken(const struct oche_names *names, unsigned slot)
{
    struct flock found;

    return is_locked(names->file, slot, 1, &found);
}

socklen_t oche_names_inbox(const struct oche_names *names, unsigned slot, struct sockaddr_un *inbox)
{
    *inbox = (struct sockaddr_un){.sun_family = AF_UNIX};
    OCHE_MUST(inbox_path(names->path, slot, inbox->sun_path, sizeof(inbox->sun_path)));
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(inbox->sun_path) + 1);
}

/*
 * IDs are 64 bits. Two IDs with the same place must not both be in use; IDs of rdma_cm's ports have
 * different places.
 */
static off_t place_of(uint64_t id)
{
    const uint64_t folded = (id ^ id >> SERVICE_BITS) & ((UINT64_C(1) << SERVICE_BITS) - 1);

    return SERVICES + (off_t)(folded * SERVICE_BYTES);
}

bool oche_names_take_service(const struct oche_names *names, uint64_t id)
{
    if (take(names->file, place_of(id), names->slot + 1))
        return true;
    if (errno == EAGAIN || errno == EACCES)
        errno = EADDRINUSE;
    return false;
}

void oche_names_release_service(const struct oche_names *names, uint64_t id)
{
    give(names->file, place_of(id), SERVICE_BYTES);
}

int oche_names_service_slot(const struct oche_names *names, uint64_t id)
{
    struct flock found;

    if (!is_locked(names->file, place_of(id), 1, &found) || found.l_start != place_of(id) ||
        found.l_len < 1 || found.l_len > OCHE_SLOTS)
        return -1;
    return (int)found.l_len - 1;
}

bool oche_names_take_manager(const struct oche_names *names)
{
    return take(names->file, MANAGERS + names->slot, 1);
}

void oche_names_release_manager(const struct oche_names *names)
{
    give(names->file, MANAGERS + names->slot, 1);
}

int oche_names_manager_slot(const struct oche_names *names)
{
    struct flock found;

    if (!is_locked(names->file, MANAGERS, OCHE_SLOTS, &found) || found.l_start < MANAGERS)
        return -1;
    return (int)(found.l_start - MANAGERS);
}
