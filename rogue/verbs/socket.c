/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The socket for datagrams between libraries: one a process, on the first free one of 64 ports, for
 * all addresses of the host, IPv4 and IPv6.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rogue/verbs/internal.h"

static bool bind_to(int fd, uint16_t port)
{
    const struct sockaddr_in6 any6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    const struct sockaddr_in any4 = {.sin_family = AF_INET, .sin_port = htons(port)};

    if (rv_world.ipv4_only)
        return bind(fd, (const struct sockaddr *)&any4, sizeof(any4)) == 0;
    return bind(fd, (const struct sockaddr *)&any6, sizeof(any6)) == 0;
}

bool rv_socket_open(void)
{
    const int flags = SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, no = 0;
    int fd = socket(AF_INET6, flags, 0);

    if (fd < 0) {
        rv_world.ipv4_only = true;
        fd = socket(AF_INET, flags, 0);
    } else {
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no));
    }
    for (uint16_t i = 0; fd >= 0 && i < RV_PORTS; i++)
        if (bind_to(fd, (uint16_t)(RV_FIRST_PORT + i))) {
            rv_world.socket = fd;
            return true;
        }
    rv_say("rogue: none of the UDP ports %d to %d is free", RV_FIRST_PORT,
           RV_FIRST_PORT + RV_PORTS - 1);
    if (fd >= 0)
        close(fd);
    return false;
}

/* A control message that gives a datagram its source address. */
static void set_source(struct msghdr *message, const union ibv_gid *from)
{
    struct cmsghdr *control = CMSG_FIRSTHDR(message);

    if (rv_world.ipv4_only) {
        struct in_pktinfo info = {0};
        memcpy(&info.ipi_spec_dst, from->raw + 12, 4);
        *control = (struct cmsghdr){
            .cmsg_level = IPPROTO_IP, .cmsg_type = IP_PKTINFO, .cmsg_len = CMSG_LEN(sizeof(info))};
        memcpy(CMSG_DATA(control), &info, sizeof(info));
        message->msg_controllen = CMSG_SPACE(sizeof(info));
    } else {
        struct in6_pktinfo info = {0};
        memcpy(&info.ipi6_addr, from->raw, 16);
        *control = (struct cmsghdr){.cmsg_level = IPPROTO_IPV6,
                                    .cmsg_type = IPV6_PKTINFO,
                                    .cmsg_len = CMSG_LEN(sizeof(info))};
        memcpy(CMSG_DATA(control), &info, sizeof(info));
        message->msg_controllen = CMSG_SPACE(sizeof(info));
    }
}

void rv_socket_send(const struct sockaddr_in6 *to, const union ibv_gid *from, const uint8_t *bytes,
                    size_t count)
{
    _Alignas(struct cmsghdr) uint8_t control[CMSG_SPACE(sizeof(struct in6_pktinfo))] = {0};
    struct iovec data = {.iov_base = (void *)(uintptr_t)bytes, .iov_len = count};
    struct sockaddr_in6 to6 = *to;
    struct sockaddr_in to4 = {.sin_family = AF_INET, .sin_port = to->sin6_port};
    struct msghdr message = {.msg_name = &to6,
                             .msg_namelen = sizeof(to6),
                             .msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof(control)};

    if (rv_world.ipv4_only) {
        memcpy(&to4.sin_addr, to->sin6_addr.s6_addr + 12, 4);
        message.msg_name = &to4;
        message.msg_namelen = sizeof(to4);
    }
    set_source(&message, from);
    if (sendmsg(rv_world.socket, &message, 0) < 0)
        errno = 0; /* the datagram is lost */
}

ssize_t rv_socket_receive(struct sockaddr_in6 *from, uint8_t *bytes, size_t most)
{
    struct sockaddr_storage any = {0};
    socklen_t length = sizeof(any);
    ssize_t count =
        recvfrom(rv_world.socket, bytes, most, MSG_TRUNC, (struct sockaddr *)&any, &length);

    if (any.ss_family == AF_INET6) {
        memcpy(from, &any, sizeof(*from));
        return count;
    }
    const struct sockaddr_in *from4 = (const struct sockaddr_in *)(const void *)&any;
    *from = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = from4->sin_port};
    from->sin6_addr.s6_addr[10] = from->sin6_addr.s6_addr[11] = 0xff;
    memcpy(from->sin6_addr.s6_addr + 12, &from4->sin_addr, 4);
    return count;
}
