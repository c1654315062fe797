/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting until a socket is ready. First the caller polls for some microseconds, since the peer may
 * answer at once; then it sleeps. One thread sleeps at the socket's completion channel and makes
 * progress itself. Others that wait for the same socket sleep until a thread that makes progress
 * has found something.
 */
#include <time.h>

#include "device/rsocket/internal.h"
#include "device/verbs/manager.h"

#define SPIN   (20 * OCHE_US)
#define NAP_MS 1000 /* then it looks at the time */

void rs_kick(struct rs_socket *s)
{
    atomic_fetch_add(&s->kicks, 1);
    pthread_cond_broadcast(&s->changed);
    if (s->waiting && s->channel != NULL)
        oche_manager_wake(s->id->verbs);
    if (s->watched || s->state != RS_CONNECTED)
        rs_ready_show(s, false);
}

void rs_rouse(const struct rs_socket *s)
{
    if (s->id != NULL && s->id->verbs != NULL)
        oche_manager_rouse(s->id->verbs);
}

bool rs_arm(struct rs_socket *s)
{
    struct ibv_cq *cq;
    void *context;

    if (s->armed) {
        if (!oche_manager_has_event(s->channel))
            return true;
        if (ibv_get_cq_event(s->channel, &cq, &context) == 0)
            ibv_ack_cq_events(cq, 1);
        s->armed = false;
        return false;
    }
    s->armed = ibv_req_notify_cq(s->cq, 0) == 0;
    return false; /* poll once more: a completion may have come before */
}

/* Sleeps until something has changed. Returns 0 or an errno. */
static int sleep_some(struct rs_socket *s, uint64_t limit_ns)
{
    const uint32_t since = atomic_load(&s->kicks);
    int error;

    if (s->cq == NULL || s->waiting || s->state != RS_CONNECTED) {
        struct timespec until;

        clock_gettime(CLOCK_MONOTONIC, &until);
        limit_ns += (uint64_t)until.tv_nsec;
        until.tv_sec += (time_t)(limit_ns / 1000000000);
        until.tv_nsec = (long)(limit_ns % 1000000000);
        pthread_cond_timedwait(&s->changed, &s->lock, &until);
        return 0;
    }
    if (!rs_arm(s))
        return 0;
    s->waiting = true;
    pthread_mutex_unlock(&s->lock);
    error = oche_manager_wait(s->channel, &s->kicks, since, limit_ns);
    pthread_mutex_lock(&s->lock);
    s->waiting = false;
    pthread_cond_broadcast(&s->changed); /* another one may wait in our place */
    return error;
}

int rs_wait(struct rs_socket *s, rs_test *test, bool wait, uint32_t timeout_ms)
{
    oche_time started = 0, now;
    int error = 0;

    for (;;) {
        uint64_t limit = NAP_MS * 1000000ULL;

        rs_progress(s);
        if (s->closing)
            return EBADF;
        if (test(s))
            return 0;
        if (!wait)
            return EAGAIN;
        if (error == EINTR)
            return error;
        now = rs_now();
        started = started == 0 ? now : started;
        if (timeout_ms > 0 && now - started >= timeout_ms * OCHE_MS)
            return EAGAIN;
        if (s->state == RS_CONNECTED && !s->waiting && now - started < SPIN) {
            pthread_mutex_unlock(&s->lock); /* others' turn */
            pthread_mutex_lock(&s->lock);
            continue;
        }
        if (timeout_ms > 0 && (started + timeout_ms * OCHE_MS - now) / OCHE_NS < limit)
            limit = (started + timeout_ms * OCHE_MS - now) / OCHE_NS;
        error = sleep_some(s, limit);
    }
}
