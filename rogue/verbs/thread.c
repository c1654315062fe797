/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process's thread: messages of other libraries, timers, and completions that the application
 * does not poll for. It sleeps while nothing is under way. While something is, it checks every
 * millisecond whether somebody polls. If nobody does, or the application waits for an event, each
 * completion wakes the thread.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "rogue/verbs/internal.h"

#define TICK    OCHE_MS
#define AT_ONCE 16

struct rv_world rv_world = {
    .lock = PTHREAD_MUTEX_INITIALIZER, .epoll = -1, .wake = -1, .socket = -1};
static _Atomic bool sleeps; /* for longer than a tick */
static pthread_t thread;
static _Atomic bool runs; /* the thread */
static enum { NEW, RUNS, FAILED } state;
static pthread_mutex_t state_lock = PTHREAD_MUTEX_INITIALIZER;

void rv_thread_wake(void)
{
    const uint64_t one = 1;

    if (atomic_exchange(&sleeps, false) && write(rv_world.wake, &one, sizeof(one)) < 0)
        errno = 0;
}

void rv_thread_wake_now(void)
{
    const uint64_t one = 1;

    atomic_store(&sleeps, false);
    if (write(rv_world.wake, &one, sizeof(one)) < 0)
        errno = 0;
}

bool rv_thread_watch(int fd, void *what)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = what};

    return epoll_ctl(rv_world.epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

static void take_messages(void)
{
    struct sockaddr_in6 from;
    uint8_t bytes[RV_MOST_MESSAGE];
    ssize_t count;

    while ((count = rv_socket_receive(&from, bytes, sizeof(bytes))) >= 0) {
        pthread_mutex_lock(&rv_world.lock);
        if ((size_t)count <= sizeof(bytes))
            rv_told(&from, bytes, (size_t)count);
        else
            rv_count(RV_STRANGERS);
        pthread_mutex_unlock(&rv_world.lock);
    }
}

static bool is_armed(struct rv_cq *cq)
{
    pthread_mutex_lock(&cq->lock);
    bool armed = cq->armed && cq->channel != NULL;
    pthread_mutex_unlock(&cq->lock);
    return armed;
}

/*
 * Handles a queue pair. The thread needs an event for the next completion if the application waits
 * for one, or if nobody has polled since the last time. `anyhow`: even if somebody polls.
 * Returns false if there is nothing to do, or somebody polls.
 */
static bool look_after(struct rv_qp *qp, bool anyhow)
{
    bool waited_for = is_armed(qp->send_cq) || is_armed(qp->recv_cq);

    if (!waited_for && (!qp->busy || (!anyhow && atomic_exchange(&qp->polled, false))))
        return false;
    rv_hidden_arm(qp);
    rv_drain(qp);
    return true;
}

/* Completions of hidden CQs have come, and the application may not be polling for them. */
static void take_events(struct rv_context *context)
{
    struct ibv_cq *cq;
    void *cq_context;

    pthread_mutex_lock(&rv_world.lock);
    while (context->hidden != NULL &&
           rv_next.get_cq_event(context->hidden, &cq, &cq_context) == 0) {
        rv_next.ack_cq_events(cq, 1); /* from here on the CQ may be destroyed */
        for (struct rv_qp *qp = rv_world.qps; qp != NULL; qp = qp->next)
            if (qp->hidden_send == cq || qp->hidden_recv == cq) {
                pthread_mutex_lock(&qp->lock);
                if (qp->uc != NULL)
                    rv_uc_event(qp);
                look_after(qp, qp->uc != NULL && !qp->active);
                pthread_mutex_unlock(&qp->lock);
            }
    }
    pthread_mutex_unlock(&rv_world.lock);
}

/* Returns the next timer of the queue pair. `ours`: the application does not poll. */
static oche_time next_of(const struct rv_qp *qp, bool ours)
{
    oche_time next = qp->active ? oche_time_add(rv_now(), TICK) : OCHE_NEVER;

    next = oche_time_min(next, qp->ask_again);
    if (qp->rogue == NULL || qp->ended)
        return next;
    next = oche_time_min(next, rogue_next(qp->rogue));
    if (ours)
        next = oche_time_min(next, rv_paced_until(qp));
    return oche_time_min(next, qp->count_repeat);
}

/* Handles timers. Returns when the next one ends. */
static oche_time run_timers(void)
{
    oche_time next = OCHE_NEVER, now = rv_now();

    pthread_mutex_lock(&rv_world.lock);
    for (struct rv_qp *qp = rv_world.qps; qp != NULL; qp = qp->next) {
        pthread_mutex_lock(&qp->lock);
        bool ours = look_after(qp, false);
        rv_ask_again(qp, now);
        if (qp->rogue != NULL && !qp->ended) {
            if (qp->count_repeat <= now)
                rv_ask_count(qp, now);
            if (rogue_next(qp->rogue) <= now)
                rogue_expire(qp->rogue, now);
            else
                rogue_pump(qp->rogue, now);
            rv_settle(qp);
            if (qp->uc != NULL)
                rv_drain(qp); /* if no work is under way any more, it requests an event */
        }
        next = oche_time_min(next, next_of(qp, ours));
        pthread_mutex_unlock(&qp->lock);
    }
    pthread_mutex_unlock(&rv_world.lock);
    return next;
}

/* Waits until `next`, or an event. Returns the number of events, 0 to AT_ONCE. */
static int wait_until(oche_time next, struct epoll_event *events)
{
    struct pollfd all = {.fd = rv_world.epoll, .events = POLLIN}; /* epoll_wait has milliseconds */
    oche_time now = rv_now(), wait = next > now ? next - now : 0;
    struct timespec limit = {.tv_sec = (time_t)(wait / OCHE_SEC),
                             .tv_nsec = (long)(wait % OCHE_SEC / OCHE_NS)};

    if (ppoll(&all, 1, next == OCHE_NEVER ? NULL : &limit, NULL) <= 0)
        return 0;
    return epoll_wait(rv_world.epoll, events, AT_ONCE, 0);
}

static void *run(void *unused)
{
    struct epoll_event events[AT_ONCE];

    (void)unused;
    for (;;) {
        uint64_t woken;
        int count;
        oche_time next;
        atomic_store(&sleeps, true); /* work that begins from here on wakes the thread */
        next = run_timers();
        if (next <= rv_now() + TICK)
            atomic_store(&sleeps, false);
        count = wait_until(next, events);
        atomic_store(&sleeps, false);
        for (int i = 0; i < count; i++) {
            if (events[i].data.ptr == &rv_world.socket)
                take_messages();
            else if (events[i].data.ptr != &rv_world.wake)
                take_events(events[i].data.ptr);
            else if (read(rv_world.wake, &woken, sizeof(woken)) < 0)
                errno = 0;
        }
    }
    return NULL;
}

/* Signals are for the program; the thread takes only those of its own faults. */
static bool start_thread(void)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
    sigset_t signals, before;
    bool started;

    sigfillset(&signals);
    for (size_t i = 0; i < OCHE_COUNT_OF(faults); i++)
        sigdelset(&signals, faults[i]);
    pthread_sigmask(SIG_BLOCK, &signals, &before);
    started = pthread_create(&thread, NULL, run, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

static bool start(void)
{
    bool started;

    rv_world.epoll = epoll_create1(EPOLL_CLOEXEC);
    rv_world.wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (rv_world.epoll < 0 || rv_world.wake < 0 || !rv_socket_open() ||
        !rv_thread_watch(rv_world.wake, &rv_world.wake) ||
        !rv_thread_watch(rv_world.socket, &rv_world.socket))
        return false;
    started = start_thread();
    if (started) {
        pthread_setname_np(thread, "oche-rogue");
        atomic_store(&runs, true);
    }
    return started;
}

oche_time rv_thread_time(void)
{
    clockid_t clock;
    struct timespec taken;

    if (!atomic_load(&runs) || pthread_getcpuclockid(thread, &clock) != 0 ||
        clock_gettime(clock, &taken) != 0)
        return 0;
    return (uint64_t)taken.tv_sec * OCHE_SEC + (uint64_t)taken.tv_nsec * OCHE_NS;
}

bool rv_thread_start(void)
{
    pthread_mutex_lock(&state_lock);
    if (state == NEW)
        state = start() ? RUNS : FAILED;
    pthread_mutex_unlock(&state_lock);
    return state == RUNS;
}

/*
 * A child has neither the thread nor, by the rules of verbs, its parent's queue pairs. If it opens
 * a device of its own, it starts anew: with a thread, and a socket on another port. The parent's
 * locks are in their last state, perhaps held.
 */
void rv_thread_leave(void)
{
    static const pthread_mutex_t open = PTHREAD_MUTEX_INITIALIZER;

    if (rv_world.socket >= 0)
        close(rv_world.socket);
    if (rv_world.wake >= 0)
        close(rv_world.wake);
    if (rv_world.epoll >= 0)
        close(rv_world.epoll);
    rv_world = (struct rv_world){.lock = open, .epoll = -1, .wake = -1, .socket = -1};
    state_lock = open;
    state = NEW;
    atomic_store(&sleeps, false);
    atomic_store(&runs, false);
}
