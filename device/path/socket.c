/* SPDX-License-Identifier: Apache-2.0 */
/* The UDP sockets. */
#include "device/path/socket.h"
#include "device/host/pages.h"
#include "params/error.h"

#include <errno.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/sock_diag.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define IN_BYTES     65536 /* the longest datagram */
#define LARGE_BUFFER (64 << 20)

/* Ancillary data, aligned for struct cmsghdr. */
union control {
    struct cmsghdr align;
    uint8_t bytes[CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(int))];
};

struct oche_socket_scratch {
    unsigned ask; /* datagrams to ask for at the next receive */
    struct mmsghdr in[OCHE_SOCKET_IN], out[OCHE_SOCKET_OUT];
    struct iovec in_pieces[OCHE_SOCKET_IN];
    struct sockaddr_storage in_from[OCHE_SOCKET_IN];
    union control in_control[OCHE_SOCKET_IN], out_control[OCHE_SOCKET_OUT];
    uint8_t in_bytes[OCHE_SOCKET_IN][IN_BYTES];
};

static bool set(int fd, int level, int name, int value)
{
    return setsockopt(fd, level, name, &value, sizeof(value)) == 0;
}

/*
 * Sets the options that the ICRC and ECN depend on. Returns NULL, or the names of the options that
 * cannot be set; then the device cannot be opened.
 */
static const char *set_required(int fd, bool ipv6)
{
    if (ipv6 && !set(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1))
        return "IPV6_V6ONLY";
    if (ipv6)
        return set(fd, IPPROTO_IPV6, IPV6_RECVTCLASS, 1) &&
                       set(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_DO) &&
                       set(fd, IPPROTO_UDP, UDP_NO_CHECK6_RX, 1) /* soft-RoCE sends no checksums */
                   ? NULL
                   : "IPV6_RECVTCLASS, IPV6_MTU_DISCOVER, UDP_NO_CHECK6_RX";
    return set(fd, IPPROTO_IP, IP_RECVTOS, 1) &&
                   set(fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO)
               ? NULL
               : "IP_RECVTOS, IP_MTU_DISCOVER";
}

static uint32_t receive_bytes_of(int fd)
{
    int got = 0;
    socklen_t size = sizeof(got);

    getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &got, &size);
    return (uint32_t)got;
}

static uint32_t set_receive_buffer(int fd, uint32_t bytes)
{
    const int wanted = (int)bytes;

    if (!set(fd, SOL_SOCKET, SO_RCVBUFFORCE, wanted)) /* needs a privilege */
        set(fd, SOL_SOCKET, SO_RCVBUF, wanted);       /* up to net.core.rmem_max */
    return receive_bytes_of(fd);
}

void oche_socket_take_room(const struct oche_socket *of)
{
    /* The kernel allows net.core.rmem_max, and any size to privileged processes. */
    set(of->fd, SOL_SOCKET, SO_RCVBUF, INT_MAX / 2);
    if (receive_bytes_of(of->fd) < 2 * LARGE_BUFFER)
        set(of->fd, SOL_SOCKET, SO_RCVBUFFORCE, LARGE_BUFFER);
}

struct oche_socket_losses oche_socket_losses(const struct oche_socket *of)
{
    uint32_t info[SK_MEMINFO_VARS] = {0};
    socklen_t size = sizeof(info);

    if (getsockopt(of->fd, SOL_SOCKET, SO_MEMINFO, info, &size) != 0)
        return (struct oche_socket_losses){0};
    return (struct oche_socket_losses){.datagrams = info[SK_MEMINFO_DROPS],
                                       .buffer_bytes = info[SK_MEMINFO_RCVBUF]};
}

static void lay_out(struct oche_socket_scratch *scratch)
{
    scratch->ask = 1;
    for (unsigned i = 0; i < OCHE_SOCKET_IN; i++) {
        scratch->in_pieces[i] =
            (struct iovec){.iov_base = scratch->in_bytes[i], .iov_len = IN_BYTES};
        scratch->in[i].msg_hdr.msg_iov = &scratch->in_pieces[i];
        scratch->in[i].msg_hdr.msg_iovlen = 1;
        scratch->in[i].msg_hdr.msg_name = &scratch->in_from[i];
    }
}

static int udp_socket(bool ipv6)
{
    return socket(ipv6 ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
                  IPPROTO_UDP);
}

bool oche_socket_bind(int fd, const struct oche_address *address, uint16_t port)
{
    struct sockaddr_storage own;
    const socklen_t own_bytes = oche_address_to_socket(address, port, &own);

    return bind(fd, (struct sockaddr *)&own, own_bytes) == 0;
}

/* Makes the socket reject all packets. To be called before it is bound. */
static bool refuse_all(int fd)
{
    struct sock_filter code = BPF_STMT(BPF_RET | BPF_K, 0);
    const struct sock_fprog program = {.len = 1, .filter = &code};

    return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) == 0;
}

int oche_socket_open_sender(const struct oche_address *address)
{
    const bool ipv6 = !oche_address_is_ipv4(address);
    const int fd = udp_socket(ipv6);
    int why;

    if (fd < 0 || (set_required(fd, ipv6) == NULL && refuse_all(fd)))
        return fd;
    why = errno;
    close(fd);
    errno = why;
    return -1;
}

bool oche_socket_open(struct oche_socket *to_open, const struct oche_address *address,
                      uint16_t port, const struct oche_socket_options *options,
                      struct oche_error *error)
{
    const char *missing;
    int fd;

    *to_open = (struct oche_socket){.fd = -1, .ipv6 = !oche_address_is_ipv4(address)};
    fd = udp_socket(to_open->ipv6);
    if (fd < 0)
        return oche_fail(error, "no UDP socket: %s", strerror(errno));
    to_open->fd = fd;
    missing = set_required(fd, to_open->ipv6);
    if (missing != NULL) {
        oche_fail(error, "the socket cannot do %s: %s", missing, strerror(errno));
        oche_socket_close(to_open);
        return false;
    }
    if (options->shared && !set(fd, SOL_SOCKET, SO_REUSEPORT, 1)) {
        oche_fail(error, "the socket cannot do SO_REUSEPORT: %s", strerror(errno));
        oche_socket_close(to_open);
        return false;
    }
    if (!oche_socket_bind(fd, address, port)) {
        oche_fail(error, "UDP port %u: %s", port, strerror(errno));
        oche_socket_close(to_open);
        return false;
    }
    to_open->gso = !options->no_gso && set(fd, IPPROTO_UDP, UDP_SEGMENT, 0);
    to_open->gro = !options->no_gro && set(fd, IPPROTO_UDP, UDP_GRO, 1);
    to_open->receive_bytes = set_receive_buffer(fd, options->buffer_bytes);
    to_open->scratch = oche_pages_take(sizeof(*to_open->scratch));
    if (to_open->scratch == NULL) {
        oche_fail(error, "out of memory");
        oche_socket_close(to_open);
        return false;
    }
    lay_out(to_open->scratch);
    return true;
}

void oche_socket_close(struct oche_socket *to_close)
{
    if (to_close->fd >= 0)
        close(to_close->fd);
    oche_pages_free(to_close->scratch, sizeof(*to_close->scratch));
    to_close->fd = -1;
    to_close->scratch = NULL;
}

/* ---- receiving ---- */

static void read_control(struct msghdr *message, struct oche_datagram_in *in)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c != NULL; c = CMSG_NXTHDR(message, c)) {
        int value = 0;

        if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_TOS) {
            in->tos = *CMSG_DATA(c);
            continue;
        }
        if (c->cmsg_len < CMSG_LEN(sizeof(value)))
            continue;
        memcpy(&value, CMSG_DATA(c), sizeof(value));
        if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_TCLASS)
            in->tos = (uint8_t)value;
        else if (c->cmsg_level == IPPROTO_UDP && c->cmsg_type == UDP_GRO && value > 0)
            in->segment_bytes = (uint32_t)value;
    }
}

/*
 * Returns how many datagrams arrived, or -1. For a single datagram, recvmsg costs less than
 * recvmmsg.
 */
static int receive(int fd, struct mmsghdr *messages, unsigned most)
{
    ssize_t bytes;

    if (most > 1)
        return recvmmsg(fd, messages, most, MSG_DONTWAIT, NULL);
    bytes = recvmsg(fd, &messages->msg_hdr, MSG_DONTWAIT);
    messages->msg_len = (unsigned)bytes;
    return bytes < 0 ? -1 : 1;
}

static int send_some(int fd, struct mmsghdr *messages, unsigned count)
{
    if (count > 1)
        return sendmmsg(fd, messages, count, MSG_DONTWAIT);
    return sendmsg(fd, &messages->msg_hdr, MSG_DONTWAIT) < 0 ? -1 : 1;
}

unsigned oche_socket_receive(struct oche_socket *from, struct oche_datagram_in *in)
{
    struct oche_socket_scratch *scratch = from->scratch;
    unsigned count = 0;
    int got;

    for (unsigned i = 0; i < scratch->ask; i++) {
        struct msghdr *message = &scratch->in[i].msg_hdr;

        message->msg_namelen = sizeof(scratch->in_from[i]);
        message->msg_control = &scratch->in_control[i];
        message->msg_controllen = sizeof(scratch->in_control[i]);
    }
    got = receive(from->fd, scratch->in, scratch->ask);
    /*
     * If a datagram was there, the next receive asks for many; otherwise for one, which costs less.
     */
    scratch->ask = got > 0 ? OCHE_SOCKET_IN : 1;
    for (int i = 0; i < got; i++) {
        struct oche_datagram_in *one = &in[count];

        *one = (struct oche_datagram_in){
            .bytes = scratch->in_bytes[i],
            .count = scratch->in[i].msg_len,
            .segment_bytes = scratch->in[i].msg_len,
            .truncated = (scratch->in[i].msg_hdr.msg_flags & MSG_TRUNC) != 0,
        };
        read_control(&scratch->in[i].msg_hdr, one);
        count += oche_address_from_socket(&scratch->in_from[i], &one->from, &one->from_port);
    }
    return count;
}

/* ---- sending ---- */

static void *add_control(struct msghdr *message, struct cmsghdr **at, int level, int type,
                         size_t bytes)
{
    struct cmsghdr *c = *at;

    c->cmsg_level = level;
    c->cmsg_type = type;
    c->cmsg_len = CMSG_LEN(bytes);
    message->msg_controllen += CMSG_SPACE(bytes);
    *at = (struct cmsghdr *)(void *)((uint8_t *)c + CMSG_SPACE(bytes));
    return CMSG_DATA(c);
}

static void write_message(const struct oche_socket *by, const struct oche_datagram_out *out,
                          struct msghdr *message, union control *control)
{
    struct cmsghdr *at = &control->align;

    *message = (struct msghdr){
        .msg_name = (void *)(uintptr_t)out->to, /* sendmmsg does not write to msg_name */
        .msg_namelen = out->to_bytes,
        .msg_iov = out->pieces,
        .msg_iovlen = out->piece_count,
    };
    if (out->tos != 0) {
        const int tos = out->tos;
        const int level = by->ipv6 ? IPPROTO_IPV6 : IPPROTO_IP;

        memcpy(add_control(message, &at, level, by->ipv6 ? IPV6_TCLASS : IP_TOS, sizeof(tos)), &tos,
               sizeof(tos));
    }
    if (out->segment_bytes != 0)
        memcpy(add_control(message, &at, IPPROTO_UDP, UDP_SEGMENT, sizeof(out->segment_bytes)),
               &out->segment_bytes, sizeof(out->segment_bytes));
    if (message->msg_controllen > 0)
        message->msg_control = control;
}

enum oche_send_result oche_socket_send(struct oche_socket *by, int fd,
                                       struct oche_datagram_out *out, unsigned count,
                                       unsigned *sent)
{
    struct oche_socket_scratch *scratch = by->scratch;
    int status;

    for (unsigned i = 0; i < count; i++)
        write_message(by, &out[i], &scratch->out[i].msg_hdr, &scratch->out_control[i]);
    *sent = 0;
    while (*sent < count) {
        status = send_some(fd, scratch->out + *sent, count - *sent);
        if (status > 0) {
            *sent += (unsigned)status;
            continue;
        }
        if (errno == EINTR)
            continue;
        /* ENOBUFS: the kernel or the interface has no room now; the packets must not be lost. */
        if (errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS)
            return OCHE_SEND_FULL;
        if (out[*sent].segment_bytes != 0 && (errno == EIO || errno == EINVAL))
            return OCHE_SEND_NO_GSO;
        if (errno == EMSGSIZE)
            return OCHE_SEND_TOO_LARGE;
        return OCHE_SEND_ERROR;
    }
    return OCHE_SEND_DONE;
}
