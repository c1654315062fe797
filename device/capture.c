/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes packets of a device to a capture file.
 *
 * A process holds a lock (flock) on the file that it writes; the kernel releases the lock however
 * the process dies. So a file that another process is writing is noticed, and left alone. No lock
 * remains on the files that this process has finished, so they are remembered by name.
 */
#include "device/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pcap/pcap.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/wire/bytes.h"
#include "core/wire/codec.h"
#include "params/error.h"

#define SNAP_BYTES 65535
#define NAMES      1000 /* most names that are tried */

struct oche_capture {
    pcap_t *pcap;
    pcap_dumper_t *dumper;
    uint64_t epoch_ns; /* time since 1970 of device time 0 */
    uint64_t packets;
    struct written *file;
    uint8_t bytes[SNAP_BYTES];
};

/* A file that this process is writing, or has written packets to. */
struct written {
    struct written *next;
    char path[PATH_MAX];
};

static pthread_mutex_t written_lock = PTHREAD_MUTEX_INITIALIZER;
static struct written *written;

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

static bool is_written(const char *name)
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
 * Opens and locks the file, and empties it. Returns -1 with errno, which is EWOULDBLOCK if another
 * process is writing it, and ELOOP if it is a symbolic link: somebody else may have put that there,
 * to have another file of ours emptied.
 */
static int open_file(const char *name)
{
    const int follow = is_systems(name) ? 0 : O_NOFOLLOW;
    const int fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC | follow, 0666);
    struct stat status;
    int error;

    if (fd < 0)
        return -1;
    if (fstat(fd, &status) == 0 && !S_ISREG(status.st_mode))
        return fd; /* a pipe or a terminal: nothing to lock or empty */
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

    pthread_mutex_lock(&written_lock);
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
                  errno == ELOOP ? "a symbolic link, which captures do not follow"
                                 : strerror(errno));
    } else {
        file->next = written;
        written = file;
    }
    pthread_mutex_unlock(&written_lock);
    return fd;
}

static void forget(struct written *file)
{
    struct written **link = &written;

    pthread_mutex_lock(&written_lock);
    while (*link != file)
        link = &(*link)->next;
    *link = file->next;
    pthread_mutex_unlock(&written_lock);
    free(file);
}

/* ---- the capture ---- */

/*
 * Makes libpcap write to `fd`, and takes `fd` over. Returns false, with a line in `error`, on
 * failure; `fd` is then closed.
 */
static bool open_pcap(struct oche_capture *capture, int fd, struct oche_error *error)
{
    FILE *to = fdopen(fd, "w");

    if (to == NULL) {
        close(fd);
        return oche_fail(error, "%s: %s", capture->file->path, strerror(errno));
    }
    capture->pcap =
        pcap_open_dead_with_tstamp_precision(DLT_RAW, SNAP_BYTES, PCAP_TSTAMP_PRECISION_NANO);
    if (capture->pcap != NULL)
        capture->dumper = pcap_dump_fopen(capture->pcap, to);
    if (capture->dumper != NULL)
        return true;
    fclose(to);
    return oche_fail(error, "%s: %s", capture->file->path,
                     capture->pcap != NULL ? pcap_geterr(capture->pcap) : "out of memory");
}

/*
 * Ends writing. If packets were written, the file's name stays in the list of written files, so
 * that no later capture overwrites the file.
 */
static void release(struct oche_capture *capture)
{
    if (capture->dumper != NULL)
        pcap_dump_close(capture->dumper);
    if (capture->pcap != NULL)
        pcap_close(capture->pcap);
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
    if (!open_pcap(capture, fd, error)) {
        release(capture);
        return NULL;
    }
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
    const struct pcap_pkthdr record = {
        .ts = {.tv_sec = (time_t)(ns / 1000000000), .tv_usec = (suseconds_t)(ns % 1000000000)},
        .caplen = all,
        .len = all,
    };

    if (all > SNAP_BYTES)
        return; /* no packet is that long */
    memcpy(out, header->bytes, header->count);
    memcpy(out + header->count, bytes, count);
    if (header->count == OCHE_IPV4_BYTES + OCHE_UDP_BYTES)
        oche_put16(out + 10, ipv4_checksum(out));
    else
        oche_put16(out + OCHE_IPV6_BYTES + 6, oche_udp_checksum(out));
    pcap_dump((u_char *)capture->dumper, &record, out);
    capture->packets++;
}

void oche_capture_leave(struct oche_capture *capture)
{
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    const int fd = fileno(pcap_dump_file(capture->dumper));

    if (nowhere < 0) {
        close(fd);
        return;
    }
    dup3(nowhere, fd, O_CLOEXEC);
    close(nowhere);
}

bool oche_capture_close(struct oche_capture *capture)
{
    const bool whole =
        pcap_dump_flush(capture->dumper) == 0 && ferror(pcap_dump_file(capture->dumper)) == 0;

    release(capture);
    return whole;
}
