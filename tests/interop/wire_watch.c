/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watches a switch's ports and writes what RoCEv2 packets pass, with the kernel's time stamps:
 *     wire_watch LONG SHORT > RECORDS
 * LONG and SHORT are the ports of two senders. A record is two numbers of 64 bits: nanoseconds, and
 * what << 32 | value:
 *     1  data from LONG, its bytes          3  a share for LONG, the number of senders in it
 *     2  data from SHORT, its bytes         4  an acknowledgement for SHORT, its opcode
 * Ends with SIGTERM, and says then how many packets the kernel could not show it.
 */
#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define AT_ONCE      64
#define SNAP         80 /* bytes of a packet, from its Ethernet header on */
#define HEADERS      42 /* Ethernet, IPv4, UDP */
#define BTH          12
#define ROCE_PORT    4791
#define ACK          0x11
#define ACK_SHARE    0xca
#define SHARE        0xcb
#define OF_DATAGRAMS 0x60 /* the upper three bits: connection managers' packets */
#define A_DATUM      300  /* bytes of a packet that carries data, or more */

enum what { DATA_OF_LONG = 1, DATA_OF_SHORT, SHARE_FOR_LONG, ACK_FOR_SHORT };

static volatile sig_atomic_t stopped;

static void stop(int signal)
{
    (void)signal;
    stopped = 1;
}

static void put(const struct timespec *time, enum what what, uint32_t value)
{
    const uint64_t record[2] = {(uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_nsec,
                                (uint64_t)what << 32 | value};

    fwrite(record, sizeof(record), 1, stdout);
}

static uint32_t number_at(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 8 | bytes[1];
}

/* Writes a record if the packet is one that matters. `length`: of the whole packet. */
static void look(const uint8_t *bytes, uint32_t length, const struct sockaddr_ll *from,
                 const int ports[2], const struct timespec *time)
{
    const bool out = from->sll_pkttype == PACKET_OUTGOING, is_long = from->sll_ifindex == ports[0];
    const uint8_t opcode = bytes[HEADERS];

    if (!is_long && from->sll_ifindex != ports[1])
        return;
    if (length < HEADERS + BTH + 8 || number_at(bytes + 12) != ETH_P_IP || bytes[23] != 17 ||
        number_at(bytes + 36) != ROCE_PORT)
        return;
    if (!out && length >= A_DATUM && (opcode & 0xe0) != OF_DATAGRAMS)
        put(time, is_long ? DATA_OF_LONG : DATA_OF_SHORT, length);
    if (out && is_long && opcode == ACK_SHARE)
        put(time, SHARE_FOR_LONG, number_at(bytes + HEADERS + BTH + 4));
    if (out && is_long && opcode == SHARE)
        put(time, SHARE_FOR_LONG, number_at(bytes + HEADERS + BTH));
    if (out && !is_long && (opcode == ACK || opcode == ACK_SHARE))
        put(time, ACK_FOR_SHORT, opcode);
}

static void take(int fd, const int ports[2])
{
    static uint8_t bytes[AT_ONCE][SNAP];
    static union {
        struct cmsghdr align;
        uint8_t bytes[CMSG_SPACE(sizeof(struct timespec))];
    } control[AT_ONCE];
    struct sockaddr_ll from[AT_ONCE];
    struct mmsghdr messages[AT_ONCE];
    struct iovec pieces[AT_ONCE];
    int count;

    for (unsigned i = 0; i < AT_ONCE; i++) {
        pieces[i] = (struct iovec){.iov_base = bytes[i], .iov_len = SNAP};
        messages[i] = (struct mmsghdr){.msg_hdr = {.msg_name = &from[i],
                                                   .msg_namelen = sizeof(from[i]),
                                                   .msg_iov = &pieces[i],
                                                   .msg_iovlen = 1,
                                                   .msg_control = &control[i],
                                                   .msg_controllen = sizeof(control[i])}};
    }
    count = recvmmsg(fd, messages, AT_ONCE, MSG_TRUNC | MSG_WAITFORONE, NULL);
    for (int i = 0; i < count; i++) {
        const struct cmsghdr *c = CMSG_FIRSTHDR(&messages[i].msg_hdr);
        struct timespec time;

        if (c == NULL || c->cmsg_type != SCM_TIMESTAMPNS)
            continue;
        memcpy(&time, CMSG_DATA(c), sizeof(time));
        look(bytes[i], messages[i].msg_len, &from[i], ports, &time);
    }
}

int main(int argc, char **argv)
{
    const int yes = 1, room = 64 << 20;
    const struct sigaction action = {.sa_handler = stop};
    struct tpacket_stats stats = {0};
    socklen_t bytes = sizeof(stats);
    int ports[2];

    if (argc != 3)
        return 2;
    for (int i = 0; i < 2; i++)
        ports[i] = (int)if_nametoindex(argv[i + 1]);
    const int fd = socket(AF_PACKET, SOCK_RAW, htons(ETH_P_ALL));
    if (fd < 0 || ports[0] == 0 || ports[1] == 0 ||
        setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &yes, sizeof(yes)) != 0) {
        perror("wire_watch");
        return 1;
    }
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room)) != 0)
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
    sigaction(SIGTERM, &action, NULL);
    fprintf(stderr, "ready\n");
    while (!stopped)
        take(fd, ports);
    getsockopt(fd, SOL_PACKET, PACKET_STATISTICS, &stats, &bytes);
    fprintf(stderr, "missed %u\n", stats.tp_drops);
    return fflush(stdout) == 0 ? 0 : 1;
}
