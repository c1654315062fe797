/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the kernel; see route_mtu.h. */
#include "device/path/route_mtu.h"

#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define ANY_PORT 9 /* any port: no packet is sent to it */

uint32_t oche_interface_mtu(unsigned interface_index)
{
    struct ifreq request = {0};
    uint32_t mtu = 0;
    int fd;

    if (if_indextoname(interface_index, request.ifr_name) == NULL)
        return 0;
    fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return 0;
    if (ioctl(fd, SIOCGIFMTU, &request) == 0 && request.ifr_mtu > 0)
        mtu = (uint32_t)request.ifr_mtu;
    close(fd);
    return mtu;
}

/* A datagram socket that is connected knows its route, and sends nothing. */
uint32_t oche_route_mtu(const struct oche_address *from, const struct oche_address *to)
{
    const bool ipv4 = oche_address_is_ipv4(to);
    const int fd = socket(ipv4 ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct sockaddr_storage own, target;
    const socklen_t own_bytes = oche_address_to_socket(from, 0, &own);
    const socklen_t target_bytes = oche_address_to_socket(to, ANY_PORT, &target);
    int mtu = 0;
    socklen_t bytes = sizeof(mtu);

    if (fd < 0)
        return 0;
    if (bind(fd, (const struct sockaddr *)&own, own_bytes) != 0 ||
        connect(fd, (const struct sockaddr *)&target, target_bytes) != 0 ||
        getsockopt(fd, ipv4 ? IPPROTO_IP : IPPROTO_IPV6, ipv4 ? IP_MTU : IPV6_MTU, &mtu, &bytes) !=
            0)
        mtu = 0;
    close(fd);
    return mtu > 0 ? (uint32_t)mtu : 0;
}
