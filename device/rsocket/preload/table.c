/* SPDX-License-Identifier: Apache-2.0 */
/* The state of descriptors. Other files have no entry; finding that out takes no lock. */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "device/host/lock.h"
#include "device/rsocket/preload/internal.h"

struct registration {
    struct registration *next;
    int epoll;
    struct epoll_event event;
};

enum kind {
    NOTHING,
    RDMA,
    PARENTS,
};

static _Atomic uint8_t kinds[RP_MOST];
static _Atomic(struct rp_listener *) listeners[RP_MOST];
static struct oche_lock lock = OCHE_LOCK_INITIALIZER;
static struct registration *registrations[RP_MOST] OCHE_GUARDED_BY(lock);
/* How many a descriptor has: who finds none needs no lock. */
static _Atomic uint32_t registered[RP_MOST];

/*
 * True in the thread that forks, which has the lock: handlers of other libraries may run before
 * ours in the child, and close descriptors.
 */
static __thread bool forks;
static pid_t process;

OCHE_UNCHECKED static void take_lock(void) OCHE_TAKES(lock)
{
    if (!forks)
        oche_lock_take(&lock);
}

OCHE_UNCHECKED static void drop_lock(void) OCHE_RELEASES(lock)
{
    if (!forks)
        oche_lock_release(&lock);
}

bool rp_is_own_process(void)
{
    return getpid() == process;
}

static bool is_known(int descriptor)
{
    return descriptor >= 0 && descriptor < RP_MOST;
}

struct rp_listener *rp_listener_of(int descriptor)
{
    return is_known(descriptor) ? atomic_load(&listeners[descriptor]) : NULL;
}

bool rp_set_listener(int descriptor, const struct rp_listener *listener)
{
    struct rp_listener *copy = NULL, *before;

    if (!is_known(descriptor))
        return false;
    if (listener != NULL) {
        copy = malloc(sizeof(*copy));
        if (copy == NULL)
            return false;
        *copy = *listener;
    }
    before = atomic_exchange(&listeners[descriptor], copy);
    free(before);
    return true;
}

int rp_kernel_socket(int descriptor)
{
    const struct rp_listener *listener = rp_listener_of(descriptor);

    return listener != NULL ? listener->tcp : descriptor;
}

void rp_note_rdma(int descriptor, bool rdma)
{
    if (is_known(descriptor))
        atomic_store(&kinds[descriptor], rdma ? RDMA : NOTHING);
}

bool rp_is_parents(int descriptor)
{
    static _Atomic bool told;

    if (!is_known(descriptor) || atomic_load(&kinds[descriptor]) != PARENTS)
        return false;
    if (!atomic_exchange(&told, true))
        rp_say("a connection over RDMA belongs to the process that made it, not to its child");
    errno = EPERM;
    return true;
}

bool rp_is_rdma(int descriptor)
{
    return oche_rsocket_is(descriptor);
}

/* ---- epoll ---- */

static struct registration **find(int epoll, int descriptor)
{
    struct registration **link = &registrations[descriptor];

    while (*link != NULL && (*link)->epoll != epoll)
        link = &(*link)->next;
    return link;
}

void rp_note_epoll(int epoll, int operation, int descriptor, const struct epoll_event *event)
{
    struct registration **link, *one;

    if (!is_known(descriptor))
        return;
    take_lock();
    link = find(epoll, descriptor);
    one = *link;
    if (operation == EPOLL_CTL_DEL && one != NULL) {
        *link = one->next;
        free(one);
        atomic_fetch_sub(&registered[descriptor], 1);
    } else if (operation != EPOLL_CTL_DEL && event != NULL) {
        if (one == NULL) {
            one = *link = calloc(1, sizeof(*one));
            atomic_fetch_add(&registered[descriptor], one != NULL);
        }
        if (one != NULL) {
            one->epoll = epoll;
            one->event = *event;
        }
    }
    drop_lock();
}

/* Returns true if the descriptor is in an epoll. */
static bool for_all(int descriptor, int operation)
{
    bool any;

    if (!is_known(descriptor))
        return false;
    take_lock();
    any = registrations[descriptor] != NULL;
    for (struct registration *one = registrations[descriptor]; one != NULL; one = one->next)
        rp_real()->epoll_ctl(one->epoll, operation, descriptor, &one->event);
    drop_lock();
    return any;
}

void rp_leave_epolls(int descriptor)
{
    for_all(descriptor, EPOLL_CTL_DEL);
}

void rp_join_epolls(int descriptor)
{
    if (for_all(descriptor, EPOLL_CTL_ADD))
        oche_rsocket_watch(descriptor);
}

void rp_forget(int descriptor)
{
    if (!is_known(descriptor))
        return;
    atomic_store(&kinds[descriptor], NOTHING);
    /*
     * Threads of our libraries close descriptors with locks that a fork takes after this one. Their
     * descriptors are in no epoll of the program.
     */
    if (atomic_load(&registered[descriptor]) == 0)
        return;
    take_lock();
    while (registrations[descriptor] != NULL) {
        struct registration *one = registrations[descriptor];

        registrations[descriptor] = one->next;
        free(one);
        atomic_fetch_sub(&registered[descriptor], 1);
    }
    drop_lock();
}

/* ---- fork ---- */

/*
 * The listener's descriptor is TCP's socket again. The parent shares that socket, which stays
 * non-blocking: the parent must not wait for TCP only.
 */
static void leave_to_tcp(int descriptor)
{
    struct rp_listener *listener = rp_listener_of(descriptor);
    const int flags = rp_real()->fcntl(descriptor, F_GETFD);

    rp_real()->dup3(listener->tcp, descriptor, (flags & FD_CLOEXEC) != 0 ? O_CLOEXEC : 0);
    rp_real()->close(listener->tcp);
    rp_real()->close(listener->rdma);
    listener->tcp = descriptor;
    listener->rdma = -1;
}

static void before_fork(void) OCHE_TAKES(lock)
{
    oche_lock_take(&lock);
    forks = true;
}

static void in_parent(void) OCHE_RELEASES(lock)
{
    forks = false;
    oche_lock_release(&lock);
}

static void in_child(void) OCHE_RELEASES(lock)
{
    process = getpid();
    forks = false;
    oche_lock_release(&lock);
    for (int i = 0; i < RP_MOST; i++) {
        if (atomic_load(&kinds[i]) == RDMA)
            atomic_store(&kinds[i], PARENTS);
        if (rp_listener_of(i) != NULL && rp_listener_of(i)->rdma >= 0)
            leave_to_tcp(i);
    }
}

__attribute__((constructor)) static void watch_forks(void)
{
    process = getpid();
    pthread_atfork(before_fork, in_parent, in_child);
}
