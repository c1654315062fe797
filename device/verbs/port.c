/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The open devices of this process: one port for each address, however often it was opened. Each
 * port has a thread, which makes progress while no other thread polls.
 *
 * The port's thread never competes with a thread that polls: on two cores two spinning threads
 * cause stalls of milliseconds. A thread that polls sets a flag. The port's thread naps for a
 * millisecond at a time. If the flag was not set in that time, it takes over until another thread
 * polls again: it sleeps in the kernel until there is something to do, and does it.
 *
 * Some applications rarely poll and watch their memory for a peer's writes (ib_write_lat). If the
 * port's thread finds packets that no other thread has received, it becomes eager: it waits for
 * packets all the time, and posted work leaves at once, sent by the thread that posts. This ends
 * when it has found no packets, or another thread polling, several times in a row.
 *
 * Processes of one user share an address (device/shared/sharing.h). If another user or 64 processes
 * have taken it, a process gets the first free address of 127.0.0.1 … 127.0.255.254 instead, and
 * prints a line: only processes on this host can reach it (open_somewhere).
 */
#include <inttypes.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "device/host/clock.h"
#include "device/host/critical_section.h"
#include "device/path/link_rate.h"
#include "device/verbs/internal.h"

/* the thread stops being eager after this many rounds without packets or with a poller */
#define EAGER             4
#define LOSSES_CHECK      (100 * OCHE_MS)
#define KEEP_NAMES        (250 * OCHE_MS)
#define POLLING           (3 * OCHE_US) /* a thread counts as polling for this long after a poll */
#define SUBSTITUTES       65534
#define MOST_SILENT       3               /* most lines of a process about silent peers */
#define LONGEST_LOCK_WAIT (300 * OCHE_MS) /* how long the process's end waits for each lock */

static struct oche_lock ports_lock = OCHE_LOCK_INITIALIZER;
static struct ov_port *ports OCHE_GUARDED_BY(ports_lock);
/*
 * The thread that gets ports_lock next has this one, so that others cannot overtake it: a thread
 * that opens and closes all the time would hold up a fork.
 */
static struct oche_lock next_lock = OCHE_LOCK_INITIALIZER;
/*
 * The thread that opens a device has this one, and takes it before ports_lock. It waits for other
 * processes without ports_lock (wait_without_ports), which forks need.
 */
static struct oche_lock opening_lock = OCHE_LOCK_INITIALIZER;

static void take_ports(void) OCHE_TAKES(ports_lock)
{
    oche_critical_enter();
    oche_lock_take(&next_lock);
    oche_lock_take(&ports_lock);
    oche_lock_release(&next_lock);
}

static void give_ports(void) OCHE_RELEASES(ports_lock)
{
    oche_lock_release(&ports_lock);
    oche_critical_leave();
}

/* ---- the thread ---- */

static void nap(struct ov_port *port, uint32_t call)
{
    const struct timespec limit = {.tv_nsec = OV_NAP / OCHE_NS};

    syscall(SYS_futex, &port->call, FUTEX_WAIT_PRIVATE, call, &limit, NULL, 0);
}

void ov_port_call_thread(struct ov_port *port)
{
    atomic_store_explicit(&port->active, false, memory_order_relaxed);
    atomic_fetch_add(&port->call, 1);
    syscall(SYS_futex, &port->call, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* True if other threads make progress, so that the port's thread need not make it. */
static bool others_make_progress(struct ov_port *port)
{
    return atomic_exchange_explicit(&port->active, false, memory_order_relaxed) ||
           atomic_load(&port->sleepers) > 0;
}

/*
 * True if another thread has just made progress. `own`: when the port's thread last made progress.
 */
static bool another_thread_polls(const struct ov_port *port, oche_time own)
{
    const oche_time last = oche_device_progressed(port->device);

    return last != own && oche_device_now(port->device) < last + POLLING;
}

/* The port's thread's check for datagrams that the kernel has dropped. */
struct losses {
    oche_time next;
    bool told, wanted; /* wanted: something has arrived since it last looked */
};

/*
 * Prints once that the receive buffer was too small, if that lost data: a program with queue pairs
 * that do not retransmit may wait for ever.
 */
static void check_losses(struct ov_port *port, struct losses *losses, oche_time now)
{
    uint32_t datagrams, bytes;
    char address[OCHE_ADDRESS_TEXT];

    if (losses->told || now < losses->next)
        return;
    losses->next = now + LOSSES_CHECK;
    losses->wanted = false;
    if (!oche_device_losses(port->device, &datagrams, &bytes) || datagrams == 0)
        return;
    oche_address_print(&port->address, address);
    ov_say("%s: the kernel has dropped %" PRIu32 " datagrams so far, as the receive buffer of "
           "%" PRIu32 " KiB was full: what UC and UD queue pairs lose is gone; a larger "
           "net.core.rmem_max helps",
           address, datagrams, bytes / 1024);
    losses->told = true;
}

/* Makes our names again if they were removed, also while no thread makes progress. */
static void keep_names(struct ov_port *port, oche_time *next, oche_time now)
{
    if (now < *next)
        return;
    *next = now + KEEP_NAMES;
    oche_device_restore_names(port->device);
}

/* Returns the longest time that the port's thread may sleep. */
static oche_time longest_sleep(const struct ov_port *port, unsigned patience,
                               const struct losses *losses, oche_time now)
{
    const oche_time view = oche_time_min(ov_view_wait(port, now), KEEP_NAMES);

    if (patience > 0)
        return OV_NAP;
    return losses->wanted && !losses->told ? oche_time_min(view, LOSSES_CHECK) : view;
}

static void *run(void *argument)
{
    struct ov_port *port = argument;
    struct losses losses = {0};
    unsigned patience = 0; /* above 0 while the thread is eager */
    oche_time own = 0, keep = 0;

    ov_view_open(port);
    while (!atomic_load(&port->stop)) {
        const uint32_t call = atomic_load(&port->call);
        const uint32_t since = oche_device_events(port->device);
        const oche_time now = oche_device_now(port->device);
        bool polled;
        unsigned packets;

        check_losses(port, &losses, now);
        ov_warn_retransmissions(port, now);
        ov_view_update(port, now);
        ov_health_update(port, now);
        keep_names(port, &keep, now);
        if (atomic_exchange_explicit(&port->answered, false, memory_order_relaxed))
            patience = 0;
        if ((patience == 0 || atomic_load(&port->sleepers) > 0) && others_make_progress(port)) {
            patience = 0;
            losses.wanted = true;
            if (atomic_exchange(&port->eager, false))
                oche_device_wake(port->device); /* others send the work posted since */
            nap(port, call);
            continue;
        }
        polled = another_thread_polls(port, own);
        packets = oche_device_progress_checked(port->device);
        own = oche_device_progressed(port->device);
        losses.wanted |= packets > 0;
        patience = packets > 0 && !polled ? EAGER : patience - (patience > 0);
        atomic_store(&port->eager, patience > 0);
        atomic_thread_fence(memory_order_seq_cst);
        if (packets > 0 && atomic_load(&port->sleepers) > 0)
            /* the packets may complete work that a sleeper waits for */
            oche_device_wake(port->device);
        if (packets == 0 && !atomic_load(&port->stop))
            oche_device_wait(port->device, since, longest_sleep(port, patience, &losses, now));
    }
    return NULL;
}

/* ---- opening ---- */

static bool try_open(struct ov_port *port, struct oche_device_config *config,
                     const struct oche_address *address, struct oche_error *error)
{
    char text[OCHE_ADDRESS_TEXT];

    oche_address_print(address, text);
    config->address = text;
    port->device = oche_device_open(config, error);
    port->address = *address;
    return port->device != NULL;
}

/*
 * True if some socket, such as the kernel's soft-RoCE's, has bound the port on all addresses, so
 * that we cannot bind it on any. Tested with an address that is never used as a substitute.
 */
static bool port_is_gone(void)
{
    const struct sockaddr_in address = {.sin_family = AF_INET,
                                        .sin_port = htons(OCHE_ROCE_UDP_PORT),
                                        .sin_addr = {htonl(UINT32_C(0x7ffffffe))}};
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool gone;

    if (fd < 0)
        return false;
    gone = bind(fd, (const struct sockaddr *)(const void *)&address, sizeof(address)) != 0 &&
           errno == EADDRINUSE;
    close(fd);
    return gone;
}

/* Prints the line once, as it is true for every device. */
static void print_port_taken(void)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;

    if (!atomic_flag_test_and_set(&said))
        ov_say("UDP port %d is taken on all addresses, as the kernel's soft-RoCE takes it: oche's "
               "devices cannot be beside it in one network namespace",
               OCHE_ROCE_UDP_PORT);
}

/* Opens the device on its own address or, if that is taken, on a free loopback address. */
static bool open_somewhere(struct ov_port *port, struct oche_device_config *config,
                           const struct ov_device *device)
{
    struct oche_address other = {.ip = {[10] = 0xff, 0xff, 127, 0, 0, 0}};
    char wanted[OCHE_ADDRESS_TEXT], got[OCHE_ADDRESS_TEXT];
    struct oche_error error, unused;

    if (try_open(port, config, &device->address, &error))
        return true;
    if (errno == EADDRINUSE && port_is_gone()) {
        print_port_taken();
        errno = EADDRINUSE;
        return false;
    }
    if (errno != EADDRINUSE || device->only || !oche_address_is_ipv4(&device->address)) {
        ov_say("%s", error.text);
        return false;
    }
    for (unsigned i = 1; i <= SUBSTITUTES; i++) {
        other.ip[14] = (uint8_t)(i >> 8);
        other.ip[15] = (uint8_t)i;
        if (memcmp(&other, &device->address, sizeof(other)) == 0)
            continue;
        if (try_open(port, config, &other, &unused)) {
            oche_address_print(&device->address, wanted);
            oche_address_print(&other, got);
            if (!device->loopback)
                ov_say("%s is in use by another process; this one has %s, for this host only",
                       wanted, got);
            return true;
        }
        if (errno != EADDRINUSE)
            break;
    }
    ov_say("%s", error.text);
    return false;
}

/* Prints the name of the capture's file if another device or process is using the given one. */
static void print_capture_name(const struct ov_port *port, const char *asked)
{
    const char *file = oche_device_capture(port->device);
    char address[OCHE_ADDRESS_TEXT];

    if (file == NULL || strcmp(file, asked) == 0)
        return;
    oche_address_print(&port->address, address);
    ov_say("OCHE_CAPTURE=%s is in use: what %s sends and receives goes to %s", asked, address,
           file);
}

static uint64_t wall_clock_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/*
 * Signals belong to the program: it may block one and fetch it with sigwait(), so the thread must
 * take none. Faults stay unblocked: they can only be the thread's own, and a program's crash report
 * should show them.
 */
static bool start_thread(struct ov_port *port)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
    sigset_t signals, before;
    bool started;

    sigfillset(&signals);
    for (size_t i = 0; i < OCHE_COUNT_OF(faults); i++)
        sigdelset(&signals, faults[i]);
    pthread_sigmask(SIG_BLOCK, &signals, &before);
    started = pthread_create(&port->thread, NULL, run, port) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

/* True for errors with which a program can do something. */
static bool is_actionable(int error)
{
    return error == EADDRINUSE || error == ENOMEM || error == EMFILE || error == ENFILE;
}

/* Returns the rate of the device's link; 0: unknown. */
static uint64_t line_rate_of(const struct ov_device *device)
{
    return device->loopback ? 0 : oche_link_rate(device->interface_index);
}

/* Called under the device's lock. */
static void print_silent_peer(void *context, const struct oche_address *peer)
{
    static _Atomic unsigned told;
    const struct ov_port *port = context;
    char address[OCHE_ADDRESS_TEXT];
    struct oche_device_stats stats;

    if (atomic_fetch_add(&told, 1) >= MOST_SILENT)
        return;
    oche_device_stats_now(port->device, &stats);
    oche_address_print(peer, address);
    if (stats.dropped_sent + stats.dropped_received > 0) {
        ov_say("nothing has come from %s: %" PRIu64 " packets were lost on purpose", address,
               stats.dropped_sent + stats.dropped_received);
        return;
    }
    ov_say(
        "nothing has come from %s: is UDP port %d open here and there, and its program running?%s",
        address, OCHE_ROCE_UDP_PORT,
        stats.source_ports > 1 ? " (behind a firewall that lets in answers alone: `oche exec "
                                 "--source-ports=1` at both ends)"
                               : "");
}

/*
 * Waits while oche_device_open has nothing open, so that a fork would find nothing half-open. Other
 * threads may close devices meanwhile, but open none.
 */
OCHE_UNCHECKED static void wait_without_ports(void *context, oche_time time)
{
    (void)context;
    give_ports();
    oche_clock_sleep(time);
    take_ports();
}

static struct ov_port *open_new(const struct ov_device *device) OCHE_NEEDS(ports_lock)
{
    struct ov_port *port = calloc(1, sizeof(*port));
    struct oche_device_config config = {.mtu_bytes = OV_MAX_MTU,
                                        .share = true,
                                        .max_qps = OV_MAX_QPS,
                                        .max_regions = OV_MAX_REGIONS,
                                        .max_peers = OV_MAX_PEERS,
                                        .completion_event = ov_completion_event,
                                        .completion_events_over = ov_completion_events_over,
                                        .cq_error = ov_cq_error,
                                        .qp_event = ov_qp_event,
                                        .silent_peer = print_silent_peer,
                                        .too_large = ov_say_too_large,
                                        .srq_limit = ov_srq_limit,
                                        .wait = wait_without_ports,
                                        .context = port};

    if (port == NULL)
        return ov_null(ENOMEM);
    config.line_rate_bps = line_rate_of(device);
    if (!ov_environment(&config) || !ov_poll_mode(&port->poll) ||
        !open_somewhere(port, &config, device)) {
        free(port);
        return ov_null(is_actionable(errno) ? errno : EINVAL);
    }
    print_capture_name(port, config.capture);
    pthread_mutex_init(&port->lock, NULL);
    port->wanted = device->address;
    port->strict = ov_is_strict();
    port->line_rate_bps = config.line_rate_bps;
    port->interface_index = device->interface_index;
    port->generation = atomic_load(&ov_generation);
    port->references = 1;
    port->wall_ns = wall_clock_ns() - oche_device_now(port->device) / OCHE_NS;
    if (!start_thread(port)) {
        oche_device_close(port->device);
        free(port);
        return ov_null(EAGAIN);
    }
    ov_exit_watch(config.capture != NULL || config.event_count > 0 || ov_wants_stats());
    port->next = ports;
    return ports = port;
}

struct ov_port *ov_port_open(const struct ov_device *device)
{
    struct ov_port *port;

    oche_critical_enter();
    oche_lock_take(&opening_lock);
    take_ports();
    for (port = ports; port != NULL; port = port->next)
        if (memcmp(&port->wanted, &device->address, sizeof(port->wanted)) == 0)
            break;
    if (port != NULL)
        port->references++;
    else
        port = open_new(device);
    give_ports();
    oche_lock_release(&opening_lock);
    oche_critical_leave();
    return port;
}

void ov_port_close(struct ov_port *port)
{
    struct ov_port **link;

    if (ov_foreign(port))
        return; /* the port belongs to the parent process */
    take_ports();
    if (--port->references > 0) {
        give_ports();
        return;
    }
    for (link = &ports; *link != port; link = &(*link)->next)
        continue;
    *link = port->next;
    atomic_store(&port->stop, true);
    ov_port_call_thread(port);
    oche_device_wake(port->device);
    pthread_join(port->thread, NULL);
    ov_view_close(port);
    ov_report_stats(port);
    ov_health_forget(port);
    if (!oche_device_close(port->device))
        ov_say("OCHE_CAPTURE: the capture is not whole");
    pthread_mutex_destroy(&port->lock);
    free(port);
    give_ports();
}

struct timespec ov_soon(void)
{
    struct timespec time;
    uint64_t ns;

    clock_gettime(CLOCK_REALTIME, &time);
    ns = (uint64_t)time.tv_nsec + LONGEST_LOCK_WAIT / OCHE_NS;
    time.tv_sec += (time_t)(ns / 1000000000);
    time.tv_nsec = (long)(ns % 1000000000);
    return time;
}

_Atomic bool ov_exiting;

/*
 * Calls a function for all devices, under their locks. Skips devices whose locks are taken;
 * `patient`: only after some time.
 */
static void for_all(void (*call)(struct oche_device *device), bool patient)
{
    const struct timespec end = patient ? ov_soon() : (struct timespec){0};

    oche_critical_enter();
    if (oche_lock_take_until(&ports_lock, &end)) {
        for (struct ov_port *port = ports; port != NULL; port = port->next)
            if (oche_device_lock_within(port->device, &end)) {
                call(port->device);
                oche_device_unlock(port->device);
            }
        oche_lock_release(&ports_lock);
    }
    oche_critical_leave();
}

void ov_ports_finish(bool patient)
{
    for_all(oche_device_finish, patient);
}

void ov_ports_resume(void)
{
    for_all(oche_device_resume, true);
}

static void end_capture(struct ov_port *port)
{
    const struct timespec end = ov_soon();
    bool locked;

    if (oche_device_capture(port->device) == NULL)
        return;
    locked = oche_device_lock_within(port->device, &end);
    oche_device_end_capture(port->device, locked);
    if (locked)
        oche_device_unlock(port->device);
}

/* If the lock stays taken, its thread has stopped for good. */
OCHE_UNCHECKED void ov_ports_report(void)
{
    static _Atomic bool told;
    struct timespec end = ov_soon();
    bool locked;

    if (atomic_exchange(&told, true))
        return;
    locked = oche_lock_take_until(&ports_lock, &end);
    for (struct ov_port *port = ports; port != NULL; port = port->next) {
        ov_report_stats(port);
        end_capture(port);
    }
    ov_report_connections();
    if (locked)
        oche_lock_release(&ports_lock);
    ov_others_report();
}

/*
 * When the program exits, sends due packets of the devices that are still open, and prints their
 * counters: perftest, for example, does not close its devices if it sends datagrams. A signal
 * handler that calls exit may have interrupted a thread that has a lock.
 */
static void __attribute__((destructor)) at_program_exit(void)
{
    if (oche_critical_depth > 0) {
        ov_exit_now();
    } else {
        atomic_store(&ov_exiting, true);
        ov_ports_finish(true);
    }
    ov_ports_report();
}

/*
 * Called before a fork, in the parent: waits until no other thread is opening or closing a device.
 * Otherwise the child would get a half-open device, and would not close its descriptors.
 */
void ov_ports_before_fork(void) OCHE_TAKES(ports_lock)
{
    take_ports();
    ov_views_before_fork();
}

/* Called after a fork, in the parent. */
void ov_ports_after_fork(void) OCHE_RELEASES(ports_lock)
{
    ov_views_after_fork();
    give_ports();
}

void ov_ports_in_child(void) OCHE_RELEASES(ports_lock)
{
    for (struct ov_port *port = ports; port != NULL; port = port->next) {
        oche_device_leave(port->device);
        ov_view_leave(port);
    }
    ports = NULL;
    ov_views_after_fork();
    /* threads that the child does not have may have taken these */
    next_lock = opening_lock = (struct oche_lock)OCHE_LOCK_INITIALIZER;
    give_ports();
}
