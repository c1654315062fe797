/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of descriptors. Lookups of other files take no lock, as a preloaded library asks for
 * every descriptor of a program. A socket ends with its last reference: each of its descriptors has
 * one, each running call, its listener and its identifier.
 */
#include <stdlib.h>
#include <unistd.h>

#include "device/host/lock.h"
#include "device/rsocket/internal.h"
#include "device/rsocket/private.h"

#define PAGE  1024
#define PAGES 1024

typedef _Atomic(struct rs_socket *) slot;

static _Atomic(slot *) pages[PAGES];
static struct oche_lock lock = OCHE_LOCK_INITIALIZER;
static struct rs_socket *all OCHE_GUARDED_BY(lock);

void rs_table_lock(void) OCHE_TAKES(lock)
{
    oche_lock_take(&lock);
}

void rs_table_unlock(void) OCHE_RELEASES(lock)
{
    oche_lock_release(&lock);
}

static slot *find(int descriptor)
{
    slot *page;

    if (descriptor < 0 || descriptor >= PAGE * PAGES)
        return NULL;
    page = atomic_load_explicit(&pages[descriptor / PAGE], memory_order_acquire);
    return page != NULL ? page + descriptor % PAGE : NULL;
}

bool oche_rsocket_is(int descriptor)
{
    slot *at = find(descriptor);

    return at != NULL && atomic_load_explicit(at, memory_order_relaxed) != NULL;
}

struct rs_socket *rs_get(int descriptor)
{
    struct rs_socket *s = NULL;
    slot *at = find(descriptor);

    if (at != NULL && atomic_load_explicit(at, memory_order_relaxed) != NULL) {
        oche_lock_take(&lock);
        s = atomic_load_explicit(at, memory_order_relaxed);
        if (s != NULL)
            s->references++;
        oche_lock_release(&lock);
    }
    if (s == NULL)
        errno = EBADF;
    return s;
}

/* Destroys the identifier first, because this waits until its events have been handled. */
static void free_socket(struct rs_socket *s)
{
    if (s->id != NULL)
        rdma_destroy_id(s->id);
    s->id = NULL;
    rs_pair_drop(s);
    if (s->own_end >= 0)
        rs_ready_drop(s);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

void rs_put(struct rs_socket *s)
{
    const int error = errno; /* the errno of the call that had this reference */
    bool last;

    oche_lock_take(&lock);
    last = --s->references == 0;
    if (last) {
        *s->link_all = s->next_all;
        if (s->next_all != NULL)
            s->next_all->link_all = s->link_all;
    }
    oche_lock_release(&lock);
    if (last)
        free_socket(s);
    errno = error;
}

struct rs_socket *rs_make(sa_family_t family)
{
    struct rs_socket *s = calloc(1, sizeof(*s));
    pthread_condattr_t attributes;

    if (s == NULL)
        return NULL;
    s->family = family;
    s->descriptor = s->own_end = -1;
    s->references = 1;
    s->last = &s->first;
    s->backlog = RS_BACKLOG;
    s->want_send_bytes = RS_SEND_BYTES;
    s->want_receive_bytes = RS_RECEIVE_BYTES;
    s->inline_bytes = RS_INLINE_BYTES;
    s->most_sends = s->most_receives = RS_MESSAGES;
    pthread_mutex_init(&s->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&s->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    oche_lock_take(&lock);
    s->next_all = all;
    s->link_all = &all;
    if (all != NULL)
        all->link_all = &s->next_all;
    all = s;
    oche_lock_release(&lock);
    return s;
}

bool rs_enter(struct rs_socket *s, int descriptor)
{
    slot *page;

    if (descriptor < 0 || descriptor >= PAGE * PAGES) {
        errno = EMFILE;
        return false;
    }
    oche_lock_take(&lock);
    page = atomic_load_explicit(&pages[descriptor / PAGE], memory_order_relaxed);
    if (page == NULL && (page = calloc(PAGE, sizeof(*page))) != NULL)
        atomic_store_explicit(&pages[descriptor / PAGE], page, memory_order_release);
    if (page != NULL) {
        atomic_store_explicit(&page[descriptor % PAGE], s, memory_order_relaxed);
        s->references++;
        s->descriptors++;
        if (s->descriptor < 0)
            s->descriptor = descriptor;
    }
    oche_lock_release(&lock);
    return page != NULL;
}

/* Returns another descriptor of the socket, to replace the one that closes. Under the lock. */
static int other_of(const struct rs_socket *s)
{
    for (unsigned i = 0; i < PAGES; i++) {
        slot *page = atomic_load_explicit(&pages[i], memory_order_relaxed);

        for (unsigned j = 0; page != NULL && j < PAGE; j++)
            if (atomic_load_explicit(&page[j], memory_order_relaxed) == s)
                return (int)(i * PAGE + j);
    }
    return -1;
}

bool rs_leave(struct rs_socket *s, int descriptor)
{
    slot *at = find(descriptor);
    bool last = false;

    oche_lock_take(&lock);
    if (at != NULL && atomic_load_explicit(at, memory_order_relaxed) == s) {
        atomic_store_explicit(at, NULL, memory_order_relaxed);
        last = --s->descriptors == 0;
        if (s->descriptor == descriptor)
            s->descriptor = last ? -1 : other_of(s);
        s->references--; /* not the last reference: the caller has one */
        rs_real_close(descriptor);
    }
    oche_lock_release(&lock);
    return last;
}

struct rs_socket *rs_next(struct rs_socket *before)
{
    struct rs_socket *next;

    oche_lock_take(&lock);
    next = before == NULL ? all : before->next_all;
    if (next != NULL)
        next->references++;
    oche_lock_release(&lock);
    if (before != NULL)
        rs_put(before);
    return next;
}

/* ---- fork ---- */

static void before_fork(void) OCHE_TAKES(lock)
{
    oche_lock_take(&lock);
}

static void in_parent(void) OCHE_RELEASES(lock)
{
    oche_lock_release(&lock);
}

/*
 * The connections belong to the parent, so the child has none of these sockets. It has one thread,
 * and makes the lock anew.
 */
OCHE_UNCHECKED static void in_child(void)
{
    for (unsigned i = 0; i < PAGES; i++) {
        slot *page = atomic_load_explicit(&pages[i], memory_order_relaxed);

        for (unsigned j = 0; page != NULL && j < PAGE; j++)
            atomic_store_explicit(&page[j], NULL, memory_order_relaxed);
    }
    all = NULL;
    pthread_mutex_init(&lock.mutex, NULL);
}

__attribute__((constructor)) static void watch_forks(void)
{
    pthread_atfork(before_fork, in_parent, in_child);
}
