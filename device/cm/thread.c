/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one thread of the connection manager: waits for messages at every device's queue pair 1, and
 * for timers. It takes no part in a program's data, and blocks all signals.
 */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "device/cm/internal.h"
#include "device/verbs/manager.h"
#include "params/say.h"

#define MOST_READY 16
/*
 * The thread sleeps for this time after it has handled the most messages in a row: a flood leaves
 * the lock to programs' calls, and some of the processor.
 */
#define REST_NS 50000

static int waiting = -1, wake = -1; /* an epoll and an eventfd */
static pthread_t thread;
static bool stop OCHE_GUARDED_BY(cm_lock);

oche_time cm_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return ((oche_time)now.tv_sec * 1000000000 + (oche_time)now.tv_nsec) * 1000;
}

uint64_t cm_random(void)
{
    uint64_t random = 0;

    while (getrandom(&random, sizeof(random), 0) != sizeof(random))
        if (errno != EINTR)
            break; /* there are no devices without it: device/host/entropy.h */
    return random;
}

void cm_say(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    oche_say_line(format, arguments);
    va_end(arguments);
}

void oche_panic(const char *file, int line, const char *what)
{
    cm_say("%s:%d: broken invariant: %s", file, line, what);
    abort();
}

/* Returns for how many milliseconds to wait; -1: no timer runs. Under the lock. */
static int patience(void) OCHE_NEEDS(cm_lock)
{
    oche_time due = OCHE_NEVER;
    const oche_time now = cm_now();

    for (struct cm_device *device = cm_devices; device != NULL; device = device->next) {
        const oche_time next = oche_cm_due(&device->cm);

        due = next < due ? next : due;
    }
    if (due == OCHE_NEVER)
        return -1;
    if (due <= now)
        return 0;
    return (due - now) / OCHE_MS < 1000000 ? (int)((due - now) / OCHE_MS) + 1 : 1000000;
}

/* Handles messages, in turns. Returns true if there may be more. Under the lock. */
static bool take_messages(void) OCHE_NEEDS(cm_lock)
{
    bool more = false;

    for (struct cm_device *device = cm_devices; device != NULL; device = device->next)
        if (device->more) {
            cm_device_receive(device);
            more |= device->more;
        }
    return more;
}

static void rest(void)
{
    const struct timespec time = {.tv_nsec = REST_NS};

    nanosleep(&time, NULL);
}

static void run_timers(void) OCHE_NEEDS(cm_lock)
{
    for (struct cm_device *device = cm_devices; device != NULL; device = device->next)
        oche_cm_tick(&device->cm, cm_now());
}

static void *run(void *argument)
{
    struct epoll_event ready[MOST_READY];
    bool more = false;

    (void)argument;
    oche_lock_take(&cm_lock);
    while (!stop) {
        const int limit = more ? 0 : patience();
        uint64_t count;
        int number;

        oche_lock_release(&cm_lock);
        if (more)
            rest();
        number = epoll_wait(waiting, ready, MOST_READY, limit);
        oche_lock_take(&cm_lock);
        for (int i = 0; i < number && !stop; i++)
            if (ready[i].data.ptr != NULL)
                cm_device_woken(ready[i].data.ptr);
            else if (read(wake, &count, sizeof(count)) < 0)
                continue; /* another reader would be a mistake of the program's */
        more = !stop && take_messages();
        run_timers();
    }
    oche_lock_release(&cm_lock);
    return NULL;
}

/* Adds a descriptor to the epoll. */
static bool watch(int fd, void *what)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = what};

    return epoll_ctl(waiting, EPOLL_CTL_ADD, fd, &event) == 0;
}

bool cm_thread_watch(struct cm_device *device)
{
    return watch(device->channel->fd, device);
}

void cm_thread_wake(void)
{
    const uint64_t one = 1;

    if (wake >= 0 && write(wake, &one, sizeof(one)) < 0)
        return; /* full: it will wake up */
}

/* ---- beginning and end ---- */

/* The devices belong to the parent. The child has one thread, and may begin anew. */
OCHE_UNCHECKED static void after_fork(void)
{
    pthread_mutex_init(&cm_lock.mutex, NULL);
    cm_devices = NULL;
    if (waiting >= 0)
        close(waiting);
    if (wake >= 0)
        close(wake);
    waiting = wake = -1;
}

/* Returns false if the lock is held for long: a signal handler may have ended the program. */
static bool lock_in_time(void) OCHE_TRIES(cm_lock)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    return oche_lock_take_until(&cm_lock, &until);
}

/*
 * Informs peers once that the program's connections have ended, as the kernel does for a program
 * that just ends. Returns false if the lock stayed taken.
 */
static bool disconnect_peers(void)
{
    if (!lock_in_time())
        return false;
    if (stop) {
        oche_lock_release(&cm_lock);
        return true;
    }
    stop = true;
    for (struct cm_device *device = cm_devices; device != NULL; device = device->next)
        for (unsigned i = 0; i < OCHE_CM_BUCKETS; i++)
            while (device->cm.by_id[i] != NULL)
                oche_cm_forget(&device->cm, cm_now(), device->cm.by_id[i]);
    for (struct cm_device *device = cm_devices; device != NULL; device = device->next)
        cm_device_flush(device);
    oche_lock_release(&cm_lock);
    cm_thread_wake();
    return true;
}

static bool start(void)
{
    sigset_t all, before;
    int error;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&thread, NULL, run, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return error == 0;
}

/* At the end of the program by a signal or _exit. */
static void end_at_once(void)
{
    if (waiting >= 0)
        disconnect_peers();
}

bool cm_thread_start(void)
{
    static bool told_of_forks, told_of_ends;

    if (waiting >= 0)
        return true;
    if (!told_of_forks)
        told_of_forks = pthread_atfork(NULL, NULL, after_fork) == 0;
    if (!told_of_ends)
        oche_at_end(end_at_once);
    told_of_ends = true;
    stop = false;
    waiting = epoll_create1(EPOLL_CLOEXEC);
    wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    return waiting >= 0 && wake >= 0 && watch(wake, NULL) && start();
}

/*
 * At the end of the program by exit. Runs after device/rsocket/service.c, whose sockets end in
 * order.
 */
__attribute__((destructor(200))) static void end(void)
{
    if (waiting >= 0 && disconnect_peers())
        pthread_join(thread, NULL);
}
