/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options and addresses. Options that tune TCP, which programs set without a check, are accepted
 * and have no effect over RDMA.
 */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>

#include "device/rsocket/preload/internal.h"

static bool tunes_tcp(int level, int name)
{
    static const struct {
        int level, name;
    } options[] = {{IPPROTO_TCP, TCP_QUICKACK},
                   {IPPROTO_TCP, TCP_CORK},
                   {IPPROTO_TCP, TCP_USER_TIMEOUT},
                   {IPPROTO_TCP, TCP_KEEPINTVL},
                   {IPPROTO_TCP, TCP_KEEPCNT},
                   {IPPROTO_TCP, TCP_NOTSENT_LOWAT},
                   {IPPROTO_TCP, TCP_DEFER_ACCEPT},
                   {IPPROTO_TCP, TCP_LINGER2},
                   {IPPROTO_IP, IP_TOS},
                   {IPPROTO_IPV6, IPV6_TCLASS},
                   {SOL_SOCKET, SO_PRIORITY},
                   {SOL_SOCKET, SO_RCVLOWAT},
                   {SOL_SOCKET, SO_MAX_PACING_RATE}};

    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
        if (options[i].level == level && options[i].name == name)
            return true;
    return false;
}

int setsockopt(int descriptor, int level, int name, const void *value, socklen_t bytes)
{
    if (!rp_is_rdma(descriptor))
        return rp_is_parents(descriptor)
                   ? -1
                   : rp_real()->setsockopt(rp_kernel_socket(descriptor), level, name, value, bytes);
    if (tunes_tcp(level, name))
        return 0;
    return rsetsockopt(descriptor, level, name, value, bytes);
}

/* Programs that show statistics ask for this. Values without a meaning over RDMA are zero. */
static int tcp_info(int descriptor, void *value, socklen_t *bytes)
{
    struct tcp_info info = {.tcpi_state = TCP_ESTABLISHED};
    int segment = 0;
    socklen_t segment_bytes = sizeof(segment);

    rgetsockopt(descriptor, IPPROTO_TCP, TCP_MAXSEG, &segment, &segment_bytes);
    info.tcpi_snd_mss = info.tcpi_rcv_mss = (uint32_t)segment;
    *bytes = *bytes < sizeof(info) ? *bytes : (socklen_t)sizeof(info);
    memcpy(value, &info, *bytes);
    return 0;
}

int getsockopt(int descriptor, int level, int name, void *restrict value, socklen_t *restrict bytes)
{
    if (!rp_is_rdma(descriptor))
        return rp_is_parents(descriptor)
                   ? -1
                   : rp_real()->getsockopt(rp_kernel_socket(descriptor), level, name, value, bytes);
    if (level == IPPROTO_TCP && name == TCP_INFO)
        return tcp_info(descriptor, value, bytes);
    return rgetsockopt(descriptor, level, name, value, bytes);
}

int getsockname(int descriptor, struct sockaddr *restrict address, socklen_t *restrict bytes)
{
    if (rp_is_rdma(descriptor))
        return rgetsockname(descriptor, address, bytes);
    if (rp_is_parents(descriptor))
        return -1;
    return rp_real()->getsockname(rp_kernel_socket(descriptor), address, bytes);
}

int getpeername(int descriptor, struct sockaddr *restrict address, socklen_t *restrict bytes)
{
    if (rp_is_rdma(descriptor))
        return rgetpeername(descriptor, address, bytes);
    if (rp_is_parents(descriptor))
        return -1;
    return rp_real()->getpeername(rp_kernel_socket(descriptor), address, bytes);
}
