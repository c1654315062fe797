/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The view of this process for `oche stat`. The port's thread writes it, four times a second
 * (device/view/writer.h); threads that post or poll do no work for it. If no file is possible, or
 * the user wants none (OCHE_VIEW=off), the program runs without. Also the lines of OCHE_STATS with
 * causes, from the same table.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device/verbs/internal.h"
#include "device/verbs/manager.h"
#include "device/view/writer.h"

#define PERIOD (250 * OCHE_MS)
#define LOOKS  (200 * OCHE_US) /* between looks for a request */

struct ov_view {
    struct oche_view_writer *writer;
    oche_time due;   /* of the next writing */
    oche_time looks; /* for a request, next */
};

/* ---- connections ---- */

static _Atomic uint64_t connections[OCHE_VIEW_CONNECTIONS];

void oche_manager_count(enum oche_view_connections kind)
{
    atomic_fetch_add_explicit(&connections[kind], 1, memory_order_relaxed);
}

static uint64_t connections_of(enum oche_view_connections kind)
{
    return atomic_load_explicit(&connections[kind], memory_order_relaxed);
}

void ov_report_connections(void)
{
    const uint64_t by_cm = connections_of(OCHE_VIEW_BY_CM),
                   rdma = connections_of(OCHE_VIEW_SOCKETS_RDMA),
                   tcp = connections_of(OCHE_VIEW_SOCKETS_TCP);

    if (ov_wants_stats() && by_cm + rdma + tcp > 0)
        ov_say("connections by rdma_cm %" PRIu64 ", of these of sockets %" PRIu64
               "; of sockets over TCP %" PRIu64,
               by_cm, rdma, tcp);
}

/* ---- causes ---- */

/* Prints the sum of a range of counters, and those that are not 0. */
static void print_range(const char *address, const char *what, const uint64_t *counters,
                        unsigned first, unsigned end)
{
    char text[900] = "";
    uint64_t sum = 0;
    size_t at = 0;

    for (unsigned i = first; i < end; i++) {
        if (counters[i] == 0 || at >= sizeof(text))
            continue;
        at += (size_t)snprintf(text + at, sizeof(text) - at, "%s %s %" PRIu64, sum > 0 ? "," : "",
                               oche_view_row(i).cause, counters[i]);
        sum += counters[i];
    }
    if (sum > 0)
        ov_say("%s: %s %" PRIu64 ":%s", address, what, sum, text);
}

void ov_report_causes(const char *address, const uint64_t *counters)
{
    print_range(address, "sent again", counters, OCHE_VIEW_RESENT_AT, OCHE_VIEW_DROPPED_AT);
    print_range(address, "dropped", counters, OCHE_VIEW_DROPPED_AT, OCHE_VIEW_COUNTERS);
    if (counters[OCHE_VIEW_HUNG] > 0)
        ov_say("%s: hung queue pairs %" PRIu64 ", a fault of oche: please report it", address,
               counters[OCHE_VIEW_HUNG]);
}

/* ---- the file ---- */

static uint64_t namespace_of(const char *path)
{
    struct stat about;

    return stat(path, &about) == 0 ? about.st_ino : 0;
}

/* Writes the process's arguments with blanks between them. */
static void read_arguments(char *text, size_t bytes)
{
    const int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    const ssize_t count = file >= 0 ? read(file, text, bytes - 1) : 0;

    if (file >= 0)
        close(file);
    text[count > 0 ? count : 0] = '\0';
    for (ssize_t i = 0; i + 1 < count; i++)
        if (text[i] == '\0')
            text[i] = ' ';
}

static void write_now(struct ov_port *port, struct ov_view *view)
{
    struct oche_view *shown = oche_view_writer_view(view->writer);

    for (unsigned i = 0; i < OCHE_VIEW_CONNECTIONS; i++)
        shown->connections[i] = connections_of((enum oche_view_connections)i);
    oche_device_snapshot(port->device, shown);
    oche_view_writer_write(view->writer);
    if (oche_files_counted != NULL)
        oche_files_counted(oche_view_writer_name(view->writer), shown->address, shown->adapter);
}

static void open_view(struct ov_port *port)
{
    struct ov_view *view;
    struct oche_view *shown;
    const char *folder;

    if (!ov_view_wanted(&folder) || (view = calloc(1, sizeof(*view))) == NULL)
        return;
    view->writer = oche_view_writer_open(folder);
    if (view->writer == NULL) {
        free(view);
        return;
    }
    shown = oche_view_writer_view(view->writer);
    shown->pid = (uint32_t)getpid();
    shown->network_namespace = namespace_of("/proc/thread-self/ns/net");
    shown->pid_namespace = namespace_of("/proc/self/ns/pid");
    snprintf(shown->command, sizeof(shown->command), "%s", program_invocation_short_name);
    read_arguments(shown->arguments, sizeof(shown->arguments));
    write_now(port, view);
    view->due = oche_device_now(port->device) + PERIOD;
    atomic_store(&port->view, view);
}

/* Of the thread that opens a view, and of a fork. */
static struct oche_lock opening = OCHE_LOCK_INITIALIZER;

void ov_view_open(struct ov_port *port)
{
    oche_lock_take(&opening);
    open_view(port);
    oche_lock_release(&opening);
}

/* Unchecked: two functions of one fork. */
OCHE_UNCHECKED void ov_views_before_fork(void)
{
    oche_lock_take(&opening);
}

OCHE_UNCHECKED void ov_views_after_fork(void)
{
    oche_lock_release(&opening);
}

/* Does what `oche fault` asks for, if it asks. */
static void take_requests(struct ov_port *port, struct ov_view *view)
{
    struct oche_control *control = oche_view_writer_control(view->writer);
    char text[OCHE_CONTROL_BYTES], answer[OCHE_CONTROL_BYTES];

    while (oche_control_take(control, text)) {
        ov_fault(port, text, answer, sizeof(answer));
        oche_control_answer(control, answer);
    }
    oche_device_watch(port->device, control->listens, control->asker);
}

void ov_view_update(struct ov_port *port, oche_time now)
{
    struct ov_view *view = atomic_load_explicit(&port->view, memory_order_relaxed);

    if (view == NULL)
        return;
    if (now >= view->looks) { /* two system calls */
        take_requests(port, view);
        view->looks = now + LOOKS;
    }
    if (now < view->due)
        return;
    write_now(port, view);
    view->due = now + PERIOD;
}

oche_time ov_view_wait(const struct ov_port *port, oche_time now)
{
    const struct ov_view *view = atomic_load_explicit(&port->view, memory_order_relaxed);

    if (view == NULL)
        return OCHE_NEVER;
    return view->due > now ? view->due - now : 0;
}

void ov_view_close(struct ov_port *port)
{
    struct ov_view *view = atomic_exchange(&port->view, NULL);

    if (view == NULL)
        return;
    oche_view_writer_close(view->writer);
    free(view);
}

void ov_view_leave(struct ov_port *port)
{
    const struct ov_view *view = atomic_load(&port->view);

    if (view != NULL)
        oche_view_writer_leave(view->writer);
}
