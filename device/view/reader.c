/* SPDX-License-Identifier: Apache-2.0 */
#include "device/view/reader.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MOST_ENTRIES 2048
#define MOST_OF_ONE  256  /* entries read of a folder, so that root sees all users */
#define MOST_NAMES   8192 /* of a folder */
#define TRIES        3    /* to read a file that is being written */
#define PAUSE_NS     1000000

struct reading {
    struct oche_views *views;
    bool (*leave_out)(void *context, const char *name); /* NULL: all are read */
    void *context;
    bool failed; /* memory is out */
};

/* Returns how long ago the file was written, measured by the clock that file times use. */
static double silence_of(int file)
{
    struct timespec now;
    struct stat about;
    double seconds;

    if (fstat(file, &about) != 0 || clock_gettime(CLOCK_REALTIME, &now) != 0)
        return 0;
    seconds = (double)(now.tv_sec - about.st_mtim.tv_sec) +
              (double)(now.tv_nsec - about.st_mtim.tv_nsec) / 1e9;
    return seconds > 0 ? seconds : 0;
}

static enum oche_view_fault read_view(int file, struct oche_view *view)
{
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    enum oche_view_fault fault = OCHE_VIEW_TORN;

    for (unsigned i = 0; i < TRIES && fault == OCHE_VIEW_TORN; i++) {
        ssize_t count;

        if (i > 0)
            nanosleep(&pause, NULL);
        count = pread(file, view, sizeof(*view), 0);
        if (count < 0)
            return OCHE_VIEW_BAD;
        fault = oche_view_check(view, (size_t)count);
    }
    return fault;
}

/* Adds the view of a living process. Returns false if memory is out. */
static bool add(struct oche_views *views, int file, const char *name, uid_t owner, pid_t pid)
{
    struct oche_view_entry *entry = calloc(1, sizeof(*entry));
    struct oche_view_entry **all;
    enum oche_view_fault fault;

    if (entry == NULL)
        return false;
    fault = read_view(file, &entry->view);
    if (fault != OCHE_VIEW_GOOD) {
        views->other_versions += fault == OCHE_VIEW_OTHER_VERSION;
        views->unreadable += fault != OCHE_VIEW_OTHER_VERSION;
        free(entry);
        return true;
    }
    all = realloc(views->entries, (views->count + 1) * sizeof(*all));
    if (all == NULL) {
        free(entry);
        return false;
    }
    entry->user = owner;
    entry->is_elsewhere = pid == 0;
    entry->pid = pid != 0 ? pid : (pid_t)(entry->view.pid & INT32_MAX);
    entry->silent_s = silence_of(file);
    strcpy(entry->name, name);
    views->entries = all;
    all[views->count++] = entry;
    return true;
}

/* Returns true if it is the file of a living process. */
static bool look_at(struct reading *reading, int folder, const char *name, uid_t owner)
{
    pid_t pid;
    const bool is_left_out =
        reading->leave_out != NULL && reading->leave_out(reading->context, name);
    const int file =
        !is_left_out && oche_view_name_is(name, &pid) ? oche_view_open(folder, name, owner) : -1;

    if (file < 0)
        return false;
    const bool lives = oche_view_lives(file, &pid);

    if (!lives)
        oche_view_remove(folder, name);
    else if (!add(reading->views, file, name, owner, pid))
        reading->failed = true;
    close(file);
    return lives;
}

static void visit(void *context, int folder, uid_t owner)
{
    struct reading *reading = context;
    const int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *names = copy >= 0 ? fdopendir(copy) : NULL;
    const struct dirent *entry;
    unsigned looked = 0;

    if (names == NULL) {
        if (copy >= 0)
            close(copy);
        return;
    }
    for (unsigned i = 0;
         i < MOST_NAMES && looked < MOST_OF_ONE && reading->views->count < MOST_ENTRIES &&
         !reading->failed && (entry = readdir(names)) != NULL;
         i++)
        looked += look_at(reading, folder, entry->d_name, owner);
    closedir(names);
}

static bool same_process(const struct oche_view_entry *a, const struct oche_view_entry *b)
{
    return a->user == b->user && a->is_elsewhere == b->is_elsewhere && a->pid == b->pid &&
           (!a->is_elsewhere || a->view.pid_namespace == b->view.pid_namespace);
}

static int by_process(const void *one, const void *other)
{
    const struct oche_view_entry *a = *(struct oche_view_entry *const *)one;
    const struct oche_view_entry *b = *(struct oche_view_entry *const *)other;

    if (a->user != b->user)
        return a->user < b->user ? -1 : 1;
    if (a->is_elsewhere != b->is_elsewhere)
        return a->is_elsewhere ? 1 : -1;
    if (a->is_elsewhere && a->view.pid_namespace != b->view.pid_namespace)
        return a->view.pid_namespace < b->view.pid_namespace ? -1 : 1;
    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    if (a->view.network_namespace != b->view.network_namespace)
        return a->view.network_namespace < b->view.network_namespace ? -1 : 1;
    return memcmp(a->view.address, b->view.address, sizeof(a->view.address));
}

/* Sorts the views, and drops later ones of the same device: a process has each device once. */
static void sort(struct oche_views *views)
{
    size_t kept = 0;

    if (views->count > 0)
        qsort(views->entries, views->count, sizeof(views->entries[0]), by_process);
    for (size_t i = 0; i < views->count; i++) {
        struct oche_view_entry *entry = views->entries[i];
        const struct oche_view_entry *last = kept > 0 ? views->entries[kept - 1] : NULL;

        if (last != NULL && by_process(&last, &entry) == 0) {
            views->unreadable++;
            free(entry);
            continue;
        }
        entry->is_first = last == NULL || !same_process(entry, last);
        views->entries[kept++] = entry;
    }
    views->count = kept;
}

bool oche_views_read(struct oche_views *views, const char *given)
{
    return oche_views_read_others(views, given, NULL, NULL);
}

bool oche_views_read_others(struct oche_views *views, const char *given,
                            bool (*leave_out)(void *context, const char *name), void *context)
{
    struct reading reading = {.views = views, .leave_out = leave_out, .context = context};

    *views = (struct oche_views){0};
    oche_view_each_folder(given, visit, &reading);
    sort(views);
    return !reading.failed;
}

void oche_views_free(struct oche_views *views)
{
    for (size_t i = 0; i < views->count; i++)
        free(views->entries[i]);
    free(views->entries);
    *views = (struct oche_views){0};
}

const struct oche_view_entry *oche_views_before(const struct oche_views *earlier,
                                                const struct oche_view_entry *entry)
{
    for (size_t i = 0; i < earlier->count; i++) {
        const struct oche_view_entry *before = earlier->entries[i];

        if (before->user != entry->user || strcmp(before->name, entry->name) != 0)
            continue;
        if (before->view.open_ns > entry->view.open_ns)
            return NULL;
        for (unsigned c = 0; c < OCHE_VIEW_COUNTERS; c++)
            if (before->view.counters[c] > entry->view.counters[c])
                return NULL;
        return before;
    }
    return NULL;
}
