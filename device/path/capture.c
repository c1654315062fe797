/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes packets of a device to a capture file.
 *
 * The format is pcap's, in the byte order of this machine. It is written without libpcap, since
 * programs that use the library should not have to load more libraries. Records are collected in
 * memory. Whole records go to the file, at the latest when the device's lock is released
 * (device.c). So whatever ends the process, even SIGKILL, the file lacks only packets that were
 * being handled. If the thread that has the lock has stopped for good, another one writes the
 * records in memory (process_exit.c).
 *
 * A process holds a lock (flock) on the file that it writes, which the kernel releases when the
 * process ends. So a file that another process is writing is left alone. Files that this process
 * has finished have no lock, so they are remembered by name.
 */
#include "device/path/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/wire/bytes.h"
#include "core/wire/codec.h"
#include "device/host/lock.h"
#include "params/error.h"

#define MAGIC         0xa1b23c4d /* pcap, with times in nanoseconds */
#define LINKTYPE_RAW  101        /* packets begin with their IP header */
#define SNAP_BYTES    65535
#define RECORD_BYTES  (SNAP_BYTES + sizeof(struct record_header))
#define WAITING_BYTES (4 * RECORD_BYTES)
#define NAMES         1000 /* most names that are tried */

/* The header of a pcap file. */
struct file_header {
    uint32_t magic;
    uint16_t major, minor;
    uint32_t unused[2];
    uint32_t snap_bytes, link_type;
};

/* The header of each packet in a pcap file. */
struct record_header {
    uint32_t seconds, nanoseconds; /* since 1970 */
    uint32_t captured, count;      /* bytes of the packet: in the file, and on the wire */
};

struct oche_capture {
    uint64_t epoch_ns; /* time since 1970 of device time 0 */
    uint64_t packets;
    struct written *file;
    int fd;
    bool regular; /* a regular file: parts of it can be written again */
    bool ended;   /* later packets are discarded */
    _Atomic bool failed;
    _Atomic int64_t at; /* offset of `waiting` in the file */
    size_t filled;
    _Atomic size_t whole; /* bytes of whole records in `waiting` */
    uint8_t bytes[SNAP_BYTES];
    uint8_t waiting[WAITING_BYTES];
};

/* A file that this process is writing, or has written packets to. */
struct written {
    struct written *next;
    char path[PATH_MAX];
};

static struct oche_lock written_lock = OCHE_LOCK_INITIALIZER;
static struct written *written OCHE_GUARDED_BY(written_lock);

/* ---- names ---- */

/*
 * Makes the n-th name for a file: FILE.pcap, FILE-WHO.pcap, FILE-WHO-PID.pcap, FILE-WHO-PID-2.pcap
 * …
 */
static bool name_file(const char *path, const char *who, unsigned n, char name[PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    const char *base = slash != NULL ? slash + 1 : path;
    const char *dot = base[0] != '\0' ? strrchr(base + 1, '.') : NULL;
    const int stem = dot != NULL ? (int)(dot - path) : (int)strlen(path);
    char pid[16] = "", number[16] = "";

    if (n > 1)
        snprintf(pid, sizeof(pid), "-%d", (int)getpid());
    if (n > 2)
        snprintf(number, sizeof(number), "-%u", n - 1);
    return snprintf(name, PATH_MAX, "%.*s%s%s%s%s%s", stem, path, n > 0 ? "-" : "",
                    n > 0 ? who : "", pid, number, dot != NULL ? dot : "") < PATH_MAX;
}

static bool is_written(const char *name) OCHE_NEEDS(written_lock)
{
    const struct written *file = written;

    while (file != NULL && strcmp(file->path, name) != 0)
        file = file->next;
    return file != NULL;
}

/*
 * True if a link of this name is the system's (/dev/stdout, /dev/fd/1). Below /dev there are also
 * folders that everybody may write to (/dev/shm).
 */
static bool is_systems(const char *name)
{
    if (strncmp(name, "/dev/fd/", 8) == 0)
        return strchr(name + 8, '/') == NULL;
    return strncmp(name, "/dev/", 5) == 0 && strchr(name + 5, '/') == NULL;
}

/*
 * True if the file is another user's, who could read the capture. Root may own pipes and devices.
 */
static bool is_anothers(const struct stat *status)
{
    return status->st_uid != geteuid() && (S_ISREG(status->st_mode) || status->st_uid != 0);
}

/* True if a pipe or a device of another user has the name: to open a pipe waits for its reader. */
static bool is_anothers_pipe(const char *name)
{
    struct stat status;

    return lstat(name, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISLNK(status.st_mode) &&
           is_anothers(&status);
}

/*
 * Opens, locks and empties the file. Returns -1 with errno. EWOULDBLOCK: another process is writing
 * it. Another user may have placed it there: ELOOP: a symbolic link; EMLINK: a second name of some
 * file of ours, which would be emptied; EPERM: another user's file.
 */
static int open_file(const char *name)
{
    const int follow = is_systems(name) ? 0 : O_NOFOLLOW;
    int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666), error;
    const bool is_new = fd >= 0;
    struct stat status;

    if (!is_new && errno == EEXIST) {
        errno = EPERM;
        if (follow == 0 || !is_anothers_pipe(name))
            fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC | follow, 0666);
    }
    if (fd < 0)
        return -1;
    if (fstat(fd, &status) != 0 || (!is_new && follow != 0 && is_anothers(&status))) {
        close(fd);
        errno = EPERM;
        return -1;
    }
    if (!S_ISREG(status.st_mode))
        return fd; /* a pipe or a terminal: nothing to lock or empty */
    if (!is_new && follow != 0 && status.st_nlink > 1) {
        close(fd);
        errno = EMLINK;
        return -1;
    }
    if ((flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) && ftruncate(fd, 0) == 0)
        return fd;
    error = errno;
    close(fd);
    errno = error;
    return -1;
}

/*
 * Tries the possible names in order and opens the first file that nobody else is writing. Returns
 * -1, with a line in `error`, if all are being written or a file cannot be opened.
 */
static int choose_file(const char *path, const char *who, struct written *file,
                       struct oche_error *error)
{
    int fd = -1;

    oche_lock_take(&written_lock);
    errno = ENAMETOOLONG;
    snprintf(file->path, sizeof(file->path), "%s", path);
    for (unsigned n = 0; fd < 0 && n < NAMES && name_file(path, who, n, file->path); n++) {
        if (is_written(file->path))
            continue;
        fd = open_file(file->path);
        if (fd < 0 && errno != EWOULDBLOCK)
            break;
    }
    if (fd < 0) {
        oche_fail(error, "%s: %s", file->path,
                  errno == ELOOP    ? "a symbolic link, which captures do not follow"
                  : errno == EPERM  ? "another user's file, which captures do not write to"
                  : errno == EMLINK ? "a file with another name, which captures do not write to"
                                    : strerror(errno));
    } else {
        file->next = written;
        written = file;
    }
    oche_lock_release(&written_lock);
    return fd;
}

static void forget(struct written *file)
{
    struct written **link = &written;

    oche_lock_take(&written_lock);
    while (*link != file)
        link = &(*link)->next;
    *link = file->next;
    oche_lock_release(&written_lock);
    free(file);
}

/* ---- the capture ---- */

/* Adds bytes to those that wait; there is room for them. */
static void add(struct oche_capture *capture, const void *bytes, size_t count)
{
    memcpy(capture->waiting + capture->filled, bytes, count);
    capture->filled += count;
}

static void record_is_whole(struct oche_capture *capture)
{
    atomic_store_explicit(&capture->whole, capture->filled, memory_order_release);
}

/* Writes to the file. Returns false if that fails; then the file is as it was. */
static bool put(struct oche_capture *capture, const uint8_t *bytes, size_t count)
{
    const int64_t begin = atomic_load(&capture->at);
    size_t done = 0;

    while (done < count) {
        const ssize_t now = capture->regular ? pwrite(capture->fd, bytes + done, count - done,
                                                      begin + (int64_t)done)
                                             : write(capture->fd, bytes + done, count - done);

        if (now < 0 && errno == EINTR)
            continue;
        if (now <= 0) /* the disk is full, …: no part of a record stays; false in any case */
            return capture->regular && ftruncate(capture->fd, begin) > 0;
        done += (size_t)now;
    }
    return true;
}

void oche_capture_flush(struct oche_capture *capture)
{
    const size_t count = atomic_load_explicit(&capture->whole, memory_order_acquire);

    if (count == 0)
        return;
    if (!capture->ended && !atomic_load(&capture->failed) && !put(capture, capture->waiting, count))
        atomic_store(&capture->failed, true);
    /* In this order: a signal between the two must not write it twice. */
    atomic_store(&capture->whole, 0);
    atomic_fetch_add(&capture->at, (int64_t)count);
    capture->filled = 0;
}

void oche_capture_end(struct oche_capture *capture)
{
    oche_capture_flush(capture);
    capture->ended = true;
}

void oche_capture_rescue(struct oche_capture *capture)
{
    const size_t count = atomic_load_explicit(&capture->whole, memory_order_acquire);

    if (count > 0 && capture->regular && !atomic_load(&capture->failed))
        put(capture, capture->waiting, count);
}

/* Takes `fd` over, and writes the file's header. */
static void begin(struct oche_capture *capture, int fd)
{
    const struct file_header header = {.magic = MAGIC,
                                       .major = 2,
                                       .minor = 4,
                                       .snap_bytes = SNAP_BYTES,
                                       .link_type = LINKTYPE_RAW};
    struct stat status;

    capture->fd = fd;
    capture->regular = fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
    add(capture, &header, sizeof(header));
    record_is_whole(capture);
    oche_capture_flush(capture);
}

/*
 * Ends writing. If packets were written, the file's name stays in the list of written files, and
 * later captures avoid it.
 */
static void release(struct oche_capture *capture)
{
    if (capture->fd >= 0)
        close(capture->fd);
    if (capture->packets == 0)
        forget(capture->file);
    free(capture);
}

struct oche_capture *oche_capture_open(const char *path, const struct oche_address *address,
                                       oche_time now, struct oche_error *error)
{
    struct oche_capture *capture = calloc(1, sizeof(*capture));
    struct written *file = calloc(1, sizeof(*file));
    char who[OCHE_ADDRESS_TEXT];
    struct timespec wall;
    int fd;

    if (capture == NULL || file == NULL) {
        oche_fail(error, "%s: out of memory", path);
        free(capture);
        free(file);
        return NULL;
    }
    oche_address_print(address, who);
    for (char *at = who; *at != '\0'; at++)
        *at = *at == ':' ? '_' : *at;
    fd = choose_file(path, who, file, error);
    if (fd < 0) {
        free(capture);
        free(file);
        return NULL;
    }
    capture->file = file;
    begin(capture, fd);
    clock_gettime(CLOCK_REALTIME, &wall);
    capture->epoch_ns = (uint64_t)wall.tv_sec * 1000000000 + (uint64_t)wall.tv_nsec - now / OCHE_NS;
    return capture;
}

const char *oche_capture_path(const struct oche_capture *capture)
{
    return capture->file->path;
}

/* Returns the checksum of an IPv4 header whose checksum field is 0. */
static uint16_t ipv4_checksum(const uint8_t *ip)
{
    uint32_t sum = 0;

    for (unsigned i = 0; i < OCHE_IPV4_BYTES; i += 2)
        sum += oche_get16(ip + i);
    while (sum > 0xffff)
        sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t)~sum;
}

void oche_capture_write(struct oche_capture *capture, const struct oche_ip_header *header,
                        const uint8_t *bytes, uint32_t count, oche_time now)
{
    const uint64_t ns = capture->epoch_ns + now / OCHE_NS;
    const uint32_t all = header->count + count;
    uint8_t *out = capture->bytes;
    const struct record_header record = {
        .seconds = (uint32_t)(ns / 1000000000),
        .nanoseconds = (uint32_t)(ns % 1000000000),
        .captured = all,
        .count = all,
    };

    if (all > SNAP_BYTES)
        return; /* longer than any packet */
    memcpy(out, header->bytes, header->count);
    memcpy(out + header->count, bytes, count);
    if (header->count == OCHE_IPV4_BYTES + OCHE_UDP_BYTES)
        oche_put16(out + 10, ipv4_checksum(out));
    else
        oche_put16(out + OCHE_IPV6_BYTES + 6, oche_udp_checksum(out));
    if (sizeof(capture->waiting) - capture->filled < RECORD_BYTES)
        oche_capture_flush(capture);
    add(capture, &record, sizeof(record));
    add(capture, out, all);
    record_is_whole(capture);
    capture->packets++;
}

void oche_capture_leave(struct oche_capture *capture)
{
    close(capture->fd);
    capture->fd = -1;
    capture->filled = 0;
    atomic_store(&capture->whole, 0);
}

bool oche_capture_close(struct oche_capture *capture)
{
    bool whole;

    oche_capture_flush(capture);
    whole = !atomic_load(&capture->failed);
    release(capture);
    return whole;
}
