/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread of all sockets over RDMA in a process. It makes connections, ends those of closed
 * sockets after their data has arrived, makes progress for sockets that the kernel's poll or epoll
 * waits for, and probes peers that have been silent for seconds. It blocks all signals.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "device/rsocket/internal.h"
#include "device/rsocket/private.h"
#include "device/verbs/manager.h"

#define TICK_MS      500
#define PROBE_AFTER  (2 * OCHE_SEC)
#define MOST_READY   32
#define EXIT_WAIT    (5 * OCHE_SEC) /* for sent data, at the end of the program */
#define AT_ONCE_WAIT OCHE_SEC       /* … if the process ends by a signal or _exit */

static pthread_mutex_t start_lock = PTHREAD_MUTEX_INITIALIZER;
static struct rdma_event_channel *channel;
static int waiting = -1, wake = -1; /* an epoll and an eventfd */
static pthread_t thread;
static _Atomic bool ends;
static _Atomic unsigned watched; /* sockets that are in the epoll */

/* ---- connections ---- */

static int error_of(const struct rdma_cm_event *event)
{
    if (event->event == RDMA_CM_EVENT_REJECTED)
        return ECONNREFUSED;
    return event->status < 0 ? -event->status : ETIMEDOUT;
}

static void disconnected(struct rs_socket *s)
{
    pthread_mutex_lock(&s->lock);
    rs_progress(s); /* handles earlier arrivals */
    if (s->state == RS_CONNECTED)
        rs_lose(s, ECONNRESET);
    pthread_mutex_unlock(&s->lock);
}

/* Returns a socket that has to be closed, with a reference, or NULL. */
static struct rs_socket *handle(struct rdma_cm_event *event)
{
    struct rs_socket *s = event->id->context;

    if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST)
        return rs_take_request(event);
    if (s == NULL)
        return NULL;
    switch (event->event) {
    case RDMA_CM_EVENT_ESTABLISHED:
        rs_established(s, event);
        return NULL;
    case RDMA_CM_EVENT_REJECTED:
    case RDMA_CM_EVENT_UNREACHABLE:
    case RDMA_CM_EVENT_CONNECT_ERROR:
        return rs_refused(s, error_of(event)) ? s : NULL;
    case RDMA_CM_EVENT_DISCONNECTED:
        if (rs_refused(s, ECONNRESET))
            return s;
        disconnected(s);
        return NULL;
    default:
        return NULL;
    }
}

/* An identifier may go only when its events were acknowledged. */
static void take_events(void)
{
    struct rdma_cm_event *event;

    while (rdma_get_cm_event(channel, &event) == 0) {
        struct rdma_cm_id *id = event->id;
        const bool asked = event->event == RDMA_CM_EVENT_CONNECT_REQUEST;
        struct rs_socket *over = handle(event);

        rdma_ack_cm_event(event);
        if (asked && id->context == NULL)
            rdma_destroy_id(id);
        if (over == NULL)
            continue;
        rs_close(over);
        rs_put(over);
    }
}

/* ---- sockets that are watched ---- */

void rs_service_watch(struct rs_socket *s)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = s};

    if (s->channel == NULL || s->watching || s->state != RS_CONNECTED)
        return;
    rs_real_fcntl(s->channel->fd, F_SETFL, O_RDWR | O_NONBLOCK);
    rs_table_lock();
    s->references++; /* the epoll's reference; released when the channel leaves the epoll */
    rs_table_unlock();
    if (epoll_ctl(waiting, EPOLL_CTL_ADD, s->channel->fd, &event) != 0) {
        rs_table_lock();
        s->references--; /* not the last reference: the caller has one */
        rs_table_unlock();
        return;
    }
    s->watching = true;
    atomic_fetch_add(&watched, 1);
    while (!rs_arm(s))
        rs_progress(s);
    rs_rouse(s);
}

/* The caller gives back the epoll's reference. In the thread, under the socket's lock. */
static void unwatch(struct rs_socket *s)
{
    epoll_ctl(waiting, EPOLL_CTL_DEL, s->channel->fd, NULL);
    s->watching = false;
    atomic_fetch_sub(&watched, 1);
}

/* To be called after the last progress, which would make the devices' threads sleep again. */
static void rouse_watched(void)
{
    struct ibv_context *verbs = NULL;

    for (struct rs_socket *s = rs_next(NULL); s != NULL; s = rs_next(s)) {
        if (!s->watching || s->id->verbs == verbs)
            continue;
        verbs = s->id->verbs;
        rs_rouse(s);
    }
}

bool oche_rsocket_progress(bool sleeps)
{
    if (atomic_load(&watched) == 0)
        return false;
    for (struct rs_socket *s = rs_next(NULL); s != NULL; s = rs_next(s)) {
        if (!s->watching || pthread_mutex_trylock(&s->lock) != 0)
            continue;
        rs_progress(s);
        pthread_mutex_unlock(&s->lock);
    }
    if (sleeps)
        rouse_watched();
    return true;
}

/*
 * Makes progress for a watched socket. Returns true if its connection has ended, and it is not
 * watched any more.
 */
static bool make_progress(struct rs_socket *s)
{
    bool over;

    pthread_mutex_lock(&s->lock);
    do
        rs_progress(s);
    while (!rs_arm(s));
    over = s->closing && rs_close_step(s);
    if (over && s->watching) {
        unwatch(s);
    } else {
        over = false;
        rs_rouse(s);
    }
    pthread_mutex_unlock(&s->lock);
    return over;
}

/* ---- silent peers ---- */

/* Returns true if there is something to look at again. */
static bool tick(void)
{
    const oche_time now = rs_now();
    bool again = false;

    for (struct rs_socket *s = rs_next(NULL); s != NULL; s = rs_next(s)) {
        bool over = false;

        again = true;
        if (pthread_mutex_trylock(&s->lock) != 0)
            continue; /* another thread handles it */
        if (s->state == RS_CONNECTED && !s->lost) {
            rs_progress(s);
            if (now > s->heard + PROBE_AFTER)
                rs_probe(s);
            rs_progress(s);
        }
        if (s->closing && s->watching && rs_close_step(s)) {
            unwatch(s);
            over = true;
        }
        pthread_mutex_unlock(&s->lock);
        if (over)
            rs_put(s);
    }
    return again;
}

static void *run(void *argument)
{
    struct epoll_event ready[MOST_READY];
    oche_time next = 0;
    bool some = true;
    uint64_t count;

    (void)argument;
    while (!atomic_load(&ends)) {
        const int number = epoll_wait(waiting, ready, MOST_READY, some ? TICK_MS : -1);

        for (int i = 0; i < number; i++) {
            if (ready[i].data.ptr == &channel)
                take_events();
            else if (ready[i].data.ptr == &wake)
                next = read(wake, &count, sizeof(count)) > 0 ? 0 : next;
            else if (make_progress(ready[i].data.ptr))
                rs_put(ready[i].data.ptr);
        }
        if (rs_now() < next)
            continue;
        next = rs_now() + TICK_MS * OCHE_MS;
        some = tick();
    }
    return NULL;
}

/* ---- beginning and end ---- */

void rs_service_wake(void)
{
    const uint64_t one = 1;

    if (write(wake, &one, sizeof(one)) < 0)
        return; /* full: it will wake up */
}

static bool watch(int fd, void *what)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = what};

    return epoll_ctl(waiting, EPOLL_CTL_ADD, fd, &event) == 0;
}

static bool start(void)
{
    sigset_t every, before;
    int error;

    sigfillset(&every);
    pthread_sigmask(SIG_SETMASK, &every, &before);
    error = pthread_create(&thread, NULL, run, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return error == 0;
}

static bool make_all(void)
{
    waiting = epoll_create1(EPOLL_CLOEXEC);
    wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    channel = rdma_create_event_channel();
    return waiting >= 0 && wake >= 0 && channel != NULL &&
           rs_real_fcntl(channel->fd, F_SETFL, O_RDWR | O_NONBLOCK) == 0 &&
           watch(channel->fd, &channel) && watch(wake, &wake) && start();
}

static void drop_all(void)
{
    if (channel != NULL)
        rdma_destroy_event_channel(channel);
    if (waiting >= 0)
        rs_real_close(waiting);
    if (wake >= 0)
        rs_real_close(wake);
    channel = NULL;
    waiting = wake = -1;
}

/* The sockets belong to the parent; the child begins anew. */
static void in_child(void)
{
    pthread_mutex_init(&start_lock, NULL);
    if (waiting >= 0)
        rs_real_close(waiting);
    if (wake >= 0)
        rs_real_close(wake);
    channel = NULL;
    waiting = wake = -1;
    atomic_store(&watched, 0);
}

static bool some_are_closing(void)
{
    bool some = false;

    for (struct rs_socket *s = rs_next(NULL); s != NULL; s = rs_next(s)) {
        pthread_mutex_lock(&s->lock);
        some |= s->closing && s->watching && !rs_close_step(s);
        pthread_mutex_unlock(&s->lock);
    }
    return some;
}

/* Closes all sockets, and waits until the program's data has arrived. */
static void close_all(oche_time longest)
{
    const struct timespec nap = {.tv_nsec = 1000000};
    const oche_time until = rs_now() + longest;

    for (struct rs_socket *s = rs_next(NULL); s != NULL; s = rs_next(s)) {
        bool open;

        if (pthread_mutex_trylock(&s->lock) != 0)
            continue; /* the program has ended in the middle of a call */
        open = s->state == RS_CONNECTED && !s->closing;
        pthread_mutex_unlock(&s->lock);
        if (open)
            rs_close(s);
    }
    while (some_are_closing() && rs_now() < until)
        nanosleep(&nap, NULL);
}

/*
 * At the end of the program by a signal or _exit: as below, but only a short time if a peer does
 * not read.
 */
static void end_at_once(void)
{
    if (channel != NULL && !atomic_load(&ends))
        close_all(AT_ONCE_WAIT);
}

struct rdma_event_channel *rs_service_start(void)
{
    static bool watched_forks, watches_end;
    struct rdma_event_channel *started;
    int error = 0;

    pthread_mutex_lock(&start_lock);
    if (channel == NULL) {
        if (!watches_end)
            oche_at_end(end_at_once); /* before device/cm's, which ends the connections */
        watches_end = true;
        if (!watched_forks)
            watched_forks = pthread_atfork(NULL, NULL, in_child) == 0;
        if (!make_all()) {
            error = errno;
            drop_all();
        }
    } else {
        rs_service_wake(); /* there may be another socket to handle */
    }
    started = channel;
    pthread_mutex_unlock(&start_lock);
    errno = error;
    return started;
}

/*
 * At the end of the program its data still arrives, and its peers read to the end, as with TCP in
 * the kernel. Runs before device/cm's, which ends the connections.
 */
__attribute__((destructor)) static void end(void)
{
    if (channel == NULL)
        return;
    close_all(EXIT_WAIT);
    atomic_store(&ends, true);
    rs_service_wake();
    pthread_join(thread, NULL);
}
