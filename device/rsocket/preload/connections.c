/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "device/host/lock.h"
#include "device/rsocket/preload/internal.h"

#define ANSWER_MS  1000 /* a host that has not answered by then is asked by TCP */
#define SILENT_S   60   /* and uses TCP at once for that time */
#define MOST_HOSTS 64

static bool is_tcp(int descriptor, int *family)
{
    int type = 0, protocol = 0;
    socklen_t bytes = sizeof(type);
    const struct real *real = rp_real();

    return real->getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &bytes) == 0 &&
           type == SOCK_STREAM &&
           real->getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, family, &bytes) == 0 &&
           (*family == AF_INET || *family == AF_INET6) &&
           real->getsockopt(descriptor, SOL_SOCKET, SO_PROTOCOL, &protocol, &bytes) == 0 &&
           protocol == IPPROTO_TCP;
}

/* ---- hosts that do not answer ---- */

struct host {
    struct in6_addr address;
    time_t until;
};

static struct oche_lock silent_lock = OCHE_LOCK_INITIALIZER;
static struct host silent[MOST_HOSTS] OCHE_GUARDED_BY(silent_lock);
static unsigned next_silent OCHE_GUARDED_BY(silent_lock);

static struct in6_addr host_of(const struct sockaddr *address)
{
    struct in6_addr host = {.s6_addr = {[10] = 0xff, [11] = 0xff}};

    if (address->sa_family == AF_INET6)
        return ((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
    memcpy(host.s6_addr + 12, &((const struct sockaddr_in *)(const void *)address)->sin_addr, 4);
    return host;
}

static time_t seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

static bool is_silent(const struct sockaddr *address)
{
    const struct in6_addr host = host_of(address);
    const time_t now = seconds();
    bool found = false;

    oche_lock_take(&silent_lock);
    for (unsigned i = 0; i < MOST_HOSTS; i++)
        found |= silent[i].until > now && memcmp(&silent[i].address, &host, sizeof(host)) == 0;
    oche_lock_release(&silent_lock);
    return found;
}

static void note_silent(const struct sockaddr *address)
{
    oche_lock_take(&silent_lock);
    silent[next_silent] = (struct host){.address = host_of(address), .until = seconds() + SILENT_S};
    next_silent = (next_silent + 1) % MOST_HOSTS;
    oche_lock_release(&silent_lock);
}

/* ---- connect ---- */

/* The options of the TCP socket that also apply over RDMA. */
static void copy_options(int from, int to)
{
    static const struct {
        int level, name;
    } options[] = {{SOL_SOCKET, SO_KEEPALIVE}, {SOL_SOCKET, SO_LINGER},
                   {SOL_SOCKET, SO_RCVTIMEO},  {SOL_SOCKET, SO_SNDTIMEO},
                   {IPPROTO_TCP, TCP_NODELAY}, {IPPROTO_IPV6, IPV6_V6ONLY}};

    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        char value[64];
        socklen_t bytes = sizeof(value);

        if (rp_real()->getsockopt(from, options[i].level, options[i].name, value, &bytes) == 0)
            rsetsockopt(to, options[i].level, options[i].name, value, bytes);
    }
}

/* Binds it to the TCP socket's address, if that is bound. */
static void bind_alike(int tcp, int rdma)
{
    struct sockaddr_storage own;
    socklen_t bytes = sizeof(own);

    if (rp_real()->getsockname(tcp, (struct sockaddr *)&own, &bytes) == 0 &&
        ((struct sockaddr_in *)&own)->sin_port != 0)
        rbind(rdma, (struct sockaddr *)&own, bytes);
}

/* Connects over RDMA. Returns true if that is the descriptor's socket now. */
static bool connect_by_rdma(int descriptor, int family, const struct sockaddr *address,
                            socklen_t bytes)
{
    const int flags = rp_real()->fcntl(descriptor, F_GETFL);
    const int rdma = rsocket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (rdma < 0)
        return false;
    copy_options(descriptor, rdma);
    bind_alike(descriptor, rdma);
    if (oche_rsocket_connect(rdma, address, bytes, ANSWER_MS) != 0) {
        if (errno == ETIMEDOUT)
            note_silent(address);
        rclose(rdma);
        return false;
    }
    rfcntl(rdma, F_SETFL, (long)(flags & (O_NONBLOCK | O_RDWR)));
    rp_leave_epolls(descriptor);
    if (oche_rsocket_move(rdma, descriptor) != 0) {
        rp_join_epolls(descriptor);
        rclose(rdma);
        return false;
    }
    rp_note_rdma(descriptor, true);
    rp_join_epolls(descriptor);
    return true;
}

int connect(int descriptor, const struct sockaddr *address, socklen_t bytes)
{
    int family, result;
    bool tcp;

    if (rp_is_rdma(descriptor))
        return rconnect(descriptor, address, bytes);
    if (rp_is_parents(descriptor))
        return -1;
    tcp = address != NULL && bytes >= sizeof(struct sockaddr_in) && is_tcp(descriptor, &family) &&
          address->sa_family == family;
    if (tcp && !is_silent(address) && oche_rsocket_reaches(address, bytes) &&
        connect_by_rdma(descriptor, family, address, bytes))
        return 0;
    result = rp_real()->connect(descriptor, address, bytes);
    if (tcp && (result == 0 || errno == EINPROGRESS))
        oche_rsocket_count_tcp();
    return result;
}

/* ---- listen ---- */

/* Returns a socket over RDMA that listens where the TCP socket does, or -1. */
static int listen_by_rdma(int tcp, int family, int backlog)
{
    const int rdma = rsocket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    struct sockaddr_storage own;
    socklen_t bytes = sizeof(own);

    if (rdma < 0)
        return -1;
    copy_options(tcp, rdma);
    if (rp_real()->getsockname(tcp, (struct sockaddr *)&own, &bytes) == 0 &&
        rbind(rdma, (struct sockaddr *)&own, bytes) == 0 && rlisten(rdma, backlog) == 0)
        return rdma;
    rclose(rdma);
    return -1;
}

/* Puts an epoll of both in the descriptor's place. Returns false if that cannot be. */
static bool join(int descriptor, int rdma)
{
    const struct real *real = rp_real();
    struct epoll_event event = {.events = EPOLLIN};
    struct rp_listener both = {.rdma = rdma};
    const int flags = real->fcntl(descriptor, F_GETFL),
              close_flag = real->fcntl(descriptor, F_GETFD);
    const int epoll = epoll_create1(EPOLL_CLOEXEC);

    both.tcp = real->fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    both.nonblocking = (flags & O_NONBLOCK) != 0;
    if (epoll >= 0 && both.tcp >= 0 &&
        real->epoll_ctl(epoll, EPOLL_CTL_ADD, both.tcp, &event) == 0 &&
        real->epoll_ctl(epoll, EPOLL_CTL_ADD, rdma, &event) == 0 &&
        rp_set_listener(descriptor, &both)) {
        rp_leave_epolls(descriptor);
        real->fcntl(both.tcp, F_SETFL, flags | O_NONBLOCK);
        real->dup3(epoll, descriptor, (close_flag & FD_CLOEXEC) != 0 ? O_CLOEXEC : 0);
        real->close(epoll);
        rp_join_epolls(descriptor);
        return true;
    }
    if (epoll >= 0)
        real->close(epoll);
    if (both.tcp >= 0)
        real->close(both.tcp);
    return false;
}

int listen(int descriptor, int backlog)
{
    const struct rp_listener *both = rp_listener_of(descriptor);
    int family, rdma;

    if (both != NULL) {
        if (both->rdma >= 0)
            rlisten(both->rdma, backlog);
        return rp_real()->listen(both->tcp, backlog);
    }
    if (rp_real()->listen(descriptor, backlog) != 0)
        return -1;
    if (!is_tcp(descriptor, &family))
        return 0;
    rdma = listen_by_rdma(descriptor, family, backlog);
    if (rdma >= 0 && !join(descriptor, rdma))
        rclose(rdma);
    return 0;
}

/* ---- accept ---- */

static int accept_rdma(int rdma, struct sockaddr *address, socklen_t *bytes, int flags)
{
    const int made = raccept(rdma, address, bytes);

    if (made < 0)
        return made;
    rp_note_rdma(made, true);
    if ((flags & SOCK_NONBLOCK) != 0)
        rfcntl(made, F_SETFL, (long)(O_RDWR | O_NONBLOCK));
    if ((flags & SOCK_CLOEXEC) != 0)
        rfcntl(made, F_SETFD, (long)FD_CLOEXEC);
    return made;
}

/* Like the C library's accept4. Counts only TCP sockets. */
static int accept_tcp(int listener, struct sockaddr *address, socklen_t *bytes, int flags)
{
    const int made = rp_real()->accept4(listener, address, bytes, flags);
    int family;

    if (made >= 0 && is_tcp(made, &family))
        oche_rsocket_count_tcp();
    return made;
}

static bool is_none(int error)
{
    return error == EAGAIN || error == EWOULDBLOCK;
}

int accept4(int descriptor, struct sockaddr *address, socklen_t *bytes, int flags)
{
    const struct rp_listener *both = rp_listener_of(descriptor);
    struct pollfd ready = {.fd = descriptor, .events = POLLIN};

    if (both == NULL)
        return accept_tcp(descriptor, address, bytes, flags);
    for (;;) {
        int made = both->rdma >= 0 ? accept_rdma(both->rdma, address, bytes, flags) : -1;

        if (made >= 0 || (both->rdma >= 0 && !is_none(errno)))
            return made;
        made = accept_tcp(both->tcp, address, bytes, flags);
        if (made >= 0 || !is_none(errno) || both->nonblocking)
            return made;
        if (rp_real()->poll(&ready, 1, -1) < 0)
            return -1;
    }
}

int accept(int descriptor, struct sockaddr *address, socklen_t *bytes)
{
    return accept4(descriptor, address, bytes, 0);
}

int shutdown(int descriptor, int how)
{
    const struct rp_listener *both = rp_listener_of(descriptor);

    if (rp_is_rdma(descriptor))
        return rshutdown(descriptor, how);
    if (rp_is_parents(descriptor))
        return -1;
    return rp_real()->shutdown(both != NULL ? both->tcp : descriptor, how);
}
