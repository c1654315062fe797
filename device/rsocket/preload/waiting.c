/* SPDX-License-Identifier: Apache-2.0 */
/*
 * poll and select for sets with sockets over RDMA. Also epoll, which waits for their descriptors in
 * the kernel: here it makes these show the sockets' state.
 */
#include <signal.h>
#include <stdlib.h>

#include "device/rsocket/preload/internal.h"

#define SPIN_NS 20000

static bool some_are_rdma(const struct pollfd *fds, nfds_t count)
{
    for (nfds_t i = 0; i < count; i++)
        if (rp_is_rdma(fds[i].fd))
            return true;
    return false;
}

int poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
    return some_are_rdma(fds, count) ? rpoll(fds, count, timeout_ms)
                                     : rp_real()->poll(fds, count, timeout_ms);
}

/* Rounded up, as a wait must not be shorter than asked for. */
static int ms_of(const struct timespec *time)
{
    if (time == NULL)
        return -1;
    if (time->tv_sec > 2000000)
        return 2000000000;
    return (int)(time->tv_sec * 1000 + (time->tv_nsec + 999999) / 1000000);
}

int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask)
{
    sigset_t before;
    int result;

    if (!some_are_rdma(fds, count))
        return rp_real()->ppoll(fds, count, timeout, mask);
    if (mask != NULL)
        pthread_sigmask(SIG_SETMASK, mask, &before);
    result = rpoll(fds, count, ms_of(timeout));
    if (mask != NULL)
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    return result;
}

int __poll_chk(struct pollfd *fds, nfds_t count, int timeout_ms, size_t room);
int __ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
                const sigset_t *mask, size_t room);

static void check(nfds_t count, size_t room)
{
    if (room / sizeof(struct pollfd) >= count)
        return;
    rp_say("a buffer would overflow");
    abort();
}

int __poll_chk(struct pollfd *fds, nfds_t count, int timeout_ms, size_t room)
{
    check(count, room);
    return poll(fds, count, timeout_ms);
}

int __ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
                const sigset_t *mask, size_t room)
{
    check(count, room);
    return ppoll(fds, count, timeout, mask);
}

static bool set_has_rdma(int count, const fd_set *set)
{
    for (int i = 0; set != NULL && i < count && i < FD_SETSIZE; i++)
        if (FD_ISSET(i, set) && rp_is_rdma(i))
            return true;
    return false;
}

static bool sets_have_rdma(int count, const fd_set *in, const fd_set *out, const fd_set *except)
{
    return set_has_rdma(count, in) || set_has_rdma(count, out) || set_has_rdma(count, except);
}

int select(int count, fd_set *restrict in, fd_set *restrict out, fd_set *restrict except,
           struct timeval *restrict timeout)
{
    return sets_have_rdma(count, in, out, except)
               ? rselect(count, in, out, except, timeout)
               : rp_real()->select(count, in, out, except, timeout);
}

int pselect(int count, fd_set *restrict in, fd_set *restrict out, fd_set *restrict except,
            const struct timespec *restrict timeout, const sigset_t *restrict mask)
{
    struct timeval time, *limit = NULL;
    sigset_t before;
    int result;

    if (!sets_have_rdma(count, in, out, except))
        return rp_real()->pselect(count, in, out, except, timeout, mask);
    if (timeout != NULL) {
        time =
            (struct timeval){.tv_sec = timeout->tv_sec, .tv_usec = (timeout->tv_nsec + 999) / 1000};
        limit = &time;
    }
    if (mask != NULL)
        pthread_sigmask(SIG_SETMASK, mask, &before);
    result = rselect(count, in, out, except, limit);
    if (mask != NULL)
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    return result;
}

int epoll_ctl(int epoll, int operation, int descriptor, struct epoll_event *event)
{
    const int result = rp_real()->epoll_ctl(epoll, operation, descriptor, event);

    if (result != 0)
        return result;
    rp_note_epoll(epoll, operation, descriptor, event);
    if (operation != EPOLL_CTL_DEL && rp_is_rdma(descriptor))
        oche_rsocket_watch(descriptor);
    return 0;
}

/*
 * Polls for a little while: the peer may answer at once, and a polling thread needs no wake-up.
 * Returns the number of events; 0: the caller has to sleep.
 */
static int spin(int epoll, struct epoll_event *events, int most, int timeout_ms)
{
    struct timespec start, now;
    int count;

    if (!oche_rsocket_progress(false))
        return 0;
    clock_gettime(CLOCK_MONOTONIC, &start);
    do {
        count = rp_real()->epoll_wait(epoll, events, most, 0);
        if (count != 0 || timeout_ms == 0)
            return count;
        oche_rsocket_progress(false);
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - start.tv_sec) * 1000000000 + now.tv_nsec - start.tv_nsec < SPIN_NS);
    oche_rsocket_progress(true);
    return 0;
}

int epoll_wait(int epoll, struct epoll_event *events, int most, int timeout_ms)
{
    const int count = spin(epoll, events, most, timeout_ms);

    return count != 0 ? count : rp_real()->epoll_wait(epoll, events, most, timeout_ms);
}

int epoll_pwait(int epoll, struct epoll_event *events, int most, int timeout_ms,
                const sigset_t *mask)
{
    const int count = spin(epoll, events, most, timeout_ms);

    return count != 0 ? count : rp_real()->epoll_pwait(epoll, events, most, timeout_ms, mask);
}
