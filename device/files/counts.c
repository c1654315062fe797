/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums the counters of devices; see counts.h. All views are read at once, at most ten times a
 * second: programs read many files one after the other, and processes write their views four times
 * a second.
 *
 * A process takes its counts along when it ends. So that a program that watches a counter does not
 * see it fall, the last counts that it has seen of a process stay in the sum, as long as it runs.
 */
#include "device/files/counts.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "device/files/contents.h"
#include "device/files/next.h"
#include "device/verbs/facts.h"
#include "device/verbs/identity.h"
#include "device/view/reader.h"

#define FRESH_NS UINT64_C(100000000)
#define MOST     1024 /* devices of processes, of which most have ended */

/* The counters of one process for one device. */
struct counted {
    char name[OCHE_VIEW_NAME_BYTES]; /* of the view: each is new */
    uint8_t ip[16];
    uint64_t network; /* the network namespace; 0: of this process */
    uint64_t values[OCHE_ADAPTER_COUNTERS];
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct counted *all; /* MOST of them have room */
static unsigned count;
static uint64_t read_ns; /* when views were read last; 0: never */

void oche_files_counts_in_child(void)
{
    mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    count = 0;
    read_ns = 0;
}

/* Notes counts, and forgets older ones of the same view. */
static void note(const char *name, const uint8_t ip[16], uint64_t network, const uint64_t *values)
{
    unsigned i = 0;

    if (all == NULL && (all = calloc(MOST, sizeof(*all))) == NULL)
        return;
    while (i < count && strcmp(all[i].name, name) != 0)
        i++;
    if (i == MOST)
        return;
    count += i == count;
    snprintf(all[i].name, sizeof(all[i].name), "%s", name);
    memcpy(all[i].ip, ip, sizeof(all[i].ip));
    all[i].network = network;
    memcpy(all[i].values, values, sizeof(all[i].values));
}

SHOWN void oche_files_counted(const char *name, const uint8_t ip[16], const uint64_t *values)
{
    pthread_mutex_lock(&mutex);
    note(name, ip, 0, values);
    pthread_mutex_unlock(&mutex);
}

/*
 * True for a view of this process. It must not be opened: closing it again would end the lock by
 * which others see that the process lives.
 */
static bool is_own(void *context, const char *name)
{
    (void)context;
    for (unsigned i = 0; i < count; i++)
        if (all[i].network == 0 && strcmp(all[i].name, name) == 0)
            return true;
    return false;
}

static void read_views(void)
{
    const char *given = secure_getenv("OCHE_VIEW");
    struct oche_views views;

    oche_views_read_others(&views, given != NULL && given[0] == '/' ? given : NULL, is_own, NULL);
    for (size_t i = 0; i < views.count; i++) {
        const struct oche_view *view = &views.entries[i]->view;

        note(views.entries[i]->name, view->address, view->network_namespace, view->adapter);
    }
    oche_views_free(&views);
}

static void refresh(void)
{
    struct timespec now;
    uint64_t now_ns;

    clock_gettime(CLOCK_MONOTONIC, &now);
    now_ns = (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
    if (read_ns != 0 && now_ns - read_ns < FRESH_NS)
        return;
    read_views();
    read_ns = now_ns;
}

/* ---- which file ---- */

const char *oche_files_counter_folder(enum oche_adapter_group group)
{
    return group == OCHE_ADAPTER_PORT ? "counters" : "hw_counters";
}

/* Finds the device by its name. */
static bool find_device(const char *name, uint8_t ip[16])
{
    const char *only = secure_getenv("OCHE_DEVICE");
    struct oche_identity *devices;
    struct oche_error unused;
    bool found = false;
    const int listed =
        oche_identities(only != NULL && only[0] != '\0' ? only : NULL, &devices, &unused);

    for (int i = 0; i < listed && !found; i++) {
        found = strcmp(devices[i].name, name) == 0;
        memcpy(ip, devices[i].address.ip, sizeof(devices[i].address.ip));
    }
    free(devices);
    return found;
}

static unsigned find_counter(const char *folder, const char *name)
{
    unsigned i = 0;

    while (i < OCHE_ADAPTER_COUNTERS &&
           (strcmp(oche_adapter_counter(i).name, name) != 0 ||
            strcmp(oche_files_counter_folder(oche_adapter_counter(i).group), folder) != 0))
        i++;
    return i;
}

static uint64_t network_namespace(void)
{
    struct stat about;

    return stat("/proc/thread-self/ns/net", &about) == 0 ? about.st_ino : 0;
}

static uint64_t sum_of(const uint8_t ip[16], unsigned counter)
{
    const uint64_t network = network_namespace();
    uint64_t sum = 0;

    pthread_mutex_lock(&mutex);
    refresh();
    for (unsigned i = 0; i < count; i++)
        if (memcmp(all[i].ip, ip, sizeof(all[i].ip)) == 0 &&
            (all[i].network == 0 || all[i].network == network))
            sum += all[i].values[counter];
    pthread_mutex_unlock(&mutex);
    return sum;
}

bool oche_files_count(const char *path, char *text, size_t bytes)
{
    char parent[OCHE_DEVICE_NAME], device[OCHE_DEVICE_NAME], folder[16], name[64];
    unsigned counter;
    uint8_t ip[16];
    int end = 0;

    /* the widths are those of the arrays */
    if (sscanf(path, OCHE_DEVICES_FOLDER "/%63[^/]/infiniband/%63[^/]/ports/1/%15[^/]/%63[^/]%n",
               parent, device, folder, name, &end) != 4 ||
        path[end] != '\0')
        return false;
    counter = find_counter(folder, name);
    if (counter == OCHE_ADAPTER_COUNTERS || !find_device(device, ip))
        return false;
    snprintf(text, bytes, "%" PRIu64 "\n", sum_of(ip, counter));
    return true;
}
