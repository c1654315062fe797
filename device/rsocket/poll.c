/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rpoll and rselect, for sockets over RDMA and other descriptors mixed. A socket that is connected
 * is waited for at its completion channel, any other at its own descriptor (ready.c), which the
 * thread keeps up to date.
 */
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>

#include "device/rsocket/internal.h"

#define SPIN     (20 * OCHE_US)
#define NAP_MS   1000
#define ON_STACK 64

/* Checks one socket. Returns its events; *at is where to wait for others. */
static short check_socket(struct rs_socket *s, short wanted, bool sleeps, int *at)
{
    short events;

    pthread_mutex_lock(&s->lock);
    rs_progress(s);
    if (sleeps && s->state == RS_CONNECTED && s->channel != NULL) {
        while (!rs_arm(s))
            rs_progress(s);
        *at = s->channel->fd;
    } else {
        *at = s->descriptor;
    }
    events = rs_events(s);
    pthread_mutex_unlock(&s->lock);
    return events & (short)(wanted | POLLERR | POLLHUP);
}

/*
 * Checks all sockets once; `sleeps`: fills `places` with descriptors to wait for. Returns the
 * number with events, or -1 with errno.
 */
static int check_all(struct pollfd *fds, nfds_t count, struct pollfd *places, bool sleeps)
{
    bool others = false;
    int ready = 0;

    for (nfds_t i = 0; i < count; i++) {
        struct rs_socket *s = rs_get(fds[i].fd);

        places[i] = fds[i];
        places[i].revents = 0;
        if (s == NULL) {
            others |= fds[i].fd >= 0;
            continue;
        }
        fds[i].revents = check_socket(s, fds[i].events, sleeps, &places[i].fd);
        rs_put(s);
        /* a change of any kind wakes one that is not connected: it may be connected then */
        places[i].events = places[i].fd == fds[i].fd ? POLLIN | POLLOUT : POLLIN;
        ready += fds[i].revents != 0;
    }
    if (!others)
        return ready;
    for (nfds_t i = 0; i < count; i++) {
        struct pollfd one = {.fd = fds[i].fd, .events = fds[i].events};
        struct rs_socket *s = rs_get(fds[i].fd);

        if (s != NULL) {
            rs_put(s);
            continue;
        }
        fds[i].revents = 0;
        if (fds[i].fd >= 0 && rs_real_poll(&one, 1, 0) < 0)
            return -1;
        fds[i].revents = one.revents;
        ready += one.revents != 0;
    }
    return ready;
}

/*
 * Makes the devices' threads continue. Called after the last progress, which would make them nap
 * again; once for consecutive sockets of a device.
 */
static void rouse_all(const struct pollfd *fds, const struct pollfd *places, nfds_t count)
{
    struct ibv_context *verbs = NULL;

    for (nfds_t i = 0; i < count; i++) {
        struct rs_socket *s = places[i].fd != fds[i].fd ? rs_get(fds[i].fd) : NULL;

        if (s == NULL)
            continue;
        pthread_mutex_lock(&s->lock);
        if (s->id != NULL && s->id->verbs != verbs) {
            verbs = s->id->verbs;
            rs_rouse(s);
        }
        pthread_mutex_unlock(&s->lock);
        rs_put(s);
    }
}

/* Returns for how long to sleep at most. */
static int patience(int timeout_ms, oche_time started, oche_time now)
{
    const oche_time end = started + (oche_time)timeout_ms * OCHE_MS;

    if (timeout_ms < 0)
        return NAP_MS;
    if (now >= end)
        return 0;
    return end - now < NAP_MS * OCHE_MS ? (int)((end - now + OCHE_MS - 1) / OCHE_MS) : NAP_MS;
}

static int poll_all(struct pollfd *fds, nfds_t count, struct pollfd *places, int timeout_ms)
{
    const oche_time started = rs_now();
    int ready;

    for (;;) {
        const oche_time now = rs_now();
        const bool sleeps = timeout_ms != 0 && now - started > SPIN;

        ready = check_all(fds, count, places, sleeps);
        if (ready != 0 || timeout_ms == 0 ||
            (timeout_ms > 0 && now >= started + (oche_time)timeout_ms * OCHE_MS))
            return ready;
        if (sleeps)
            rouse_all(fds, places, count);
        if (sleeps && rs_real_poll(places, count, patience(timeout_ms, started, now)) < 0)
            return -1;
    }
}

int rpoll(struct pollfd *fds, nfds_t nfds, int timeout)
{
    struct pollfd few[ON_STACK], *places = few;
    bool ours = false;
    int ready;

    for (nfds_t i = 0; i < nfds && !ours; i++) {
        struct rs_socket *s = rs_get(fds[i].fd);

        ours = s != NULL;
        if (s != NULL)
            rs_put(s);
    }
    if (!ours)
        return rs_real_poll(fds, nfds, timeout);
    if (nfds > ON_STACK) {
        places = calloc(nfds, sizeof(*places));
        if (places == NULL)
            return -1;
    }
    ready = poll_all(fds, nfds, places, timeout);
    if (places != few)
        free(places);
    return ready;
}

/* ---- select ---- */

static bool is_set(int fd, const fd_set *set)
{
    return set != NULL && FD_ISSET(fd, set);
}

/* Fills one entry for each descriptor of the sets. Returns how many. */
static nfds_t entries_of(int nfds, const fd_set *readfds, const fd_set *writefds,
                         const fd_set *exceptfds, struct pollfd *fds)
{
    nfds_t count = 0;

    for (int fd = 0; fd < nfds; fd++) {
        const short events =
            (short)((is_set(fd, readfds) ? POLLIN : 0) | (is_set(fd, writefds) ? POLLOUT : 0) |
                    (is_set(fd, exceptfds) ? POLLPRI : 0));

        if (events != 0)
            fds[count++] = (struct pollfd){.fd = fd, .events = events};
    }
    return count;
}

/* Sets the descriptor's bit if a wanted event was seen. Returns 1 if it sets the bit. */
static int put(const struct pollfd *entry, short wanted, short seen, fd_set *set)
{
    if (set == NULL || (entry->events & wanted) == 0 || (entry->revents & seen) == 0)
        return 0;
    FD_SET(entry->fd, set);
    return 1;
}

int rselect(int nfds, fd_set *readfds, fd_set *writefds, fd_set *exceptfds, struct timeval *timeout)
{
    struct pollfd fds[FD_SETSIZE];
    int timeout_ms = -1, ready, set = 0;
    nfds_t count;

    if (nfds < 0 || nfds > FD_SETSIZE)
        return rs_error(EINVAL);
    if (timeout != NULL)
        timeout_ms = timeout->tv_sec > 2000000
                         ? 2000000000
                         : (int)(timeout->tv_sec * 1000 + (timeout->tv_usec + 999) / 1000);
    count = entries_of(nfds, readfds, writefds, exceptfds, fds);
    ready = rpoll(fds, count, timeout_ms);
    if (ready < 0)
        return ready;
    if (readfds != NULL)
        FD_ZERO(readfds);
    if (writefds != NULL)
        FD_ZERO(writefds);
    if (exceptfds != NULL)
        FD_ZERO(exceptfds);
    for (nfds_t i = 0; i < count && ready > 0; i++) {
        if ((fds[i].revents & POLLNVAL) != 0)
            return rs_error(EBADF);
        set += put(&fds[i], POLLIN, POLLIN | POLLHUP | POLLERR, readfds);
        set += put(&fds[i], POLLOUT, POLLOUT | POLLERR, writefds);
        set += put(&fds[i], POLLPRI, POLLPRI, exceptfds);
    }
    return set;
}
