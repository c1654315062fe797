/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The speed of UDP sockets without any protocol, over loopback, each end a process with a core of
 * its own. `make bench-wire` compares the wire's speed with this.
 *
 *     build/bench/bench_wire_raw [seconds]
 *
 * Stream: datagrams of 15 packets (UDP_SEGMENT, UDP_GRO), each with 4 KiB of payload and 28 bytes
 * of headers. Both ends compute a CRC of every packet; the sender copies the payload out of memory,
 * the receiver copies it in. The receiver answers each datagram with a count; the sender keeps
 * fewer datagrams in flight than the receiver's buffer holds, so none is lost. Ping-pong: 36 bytes
 * there and back; both ends poll without sleeping.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/udp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "device/path/crc.h"

#define HEADERS  28
#define PAYLOAD  4096
#define PACKET   (HEADERS + PAYLOAD)
#define PACKETS  15 /* per datagram */
#define MEMORY   (UINT32_C(16) << 20)
#define PING     36
#define WARM_UP  2000
#define ROUNDS   20000
#define PATIENCE 5 /* seconds without an answer: something was lost */

_Noreturn void oche_panic(const char *file, int line, const char *what)
{
    fprintf(stderr, "%s:%d: broken: %s\n", file, line, what);
    abort();
}

static _Noreturn void fail(const char *what)
{
    perror(what);
    exit(1);
}

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/*
 * Opens a socket on loopback. Sets *buffer to the size of its receive buffer as the kernel counts
 * it, which includes the kernel's own structures.
 */
static int open_socket(struct sockaddr_in *own, int *buffer)
{
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const int wanted = 8 << 20;
    socklen_t bytes = sizeof(*own), size = sizeof(*buffer);

    *own = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (fd < 0 || bind(fd, (struct sockaddr *)own, bytes) != 0 ||
        getsockname(fd, (struct sockaddr *)own, &bytes) != 0)
        fail("socket");
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &wanted, sizeof(wanted)) != 0)
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &wanted, sizeof(wanted));
    getsockopt(fd, SOL_SOCKET, SO_RCVBUF, buffer, &size);
    return fd;
}

/* Receives the next datagram without sleeping, so that this process keeps its core. */
static size_t spin_receive(int fd, void *bytes, size_t room)
{
    const double start = now();
    unsigned tries = 0;
    ssize_t count;

    while ((count = recv(fd, bytes, room, MSG_DONTWAIT)) < 0) {
        if (errno != EAGAIN || now() - start > PATIENCE)
            fail("no answer");
        if (++tries % 64 == 0)
            sched_yield(); /* the other process may need this core */
    }
    return (size_t)count;
}

/* ---- stream ---- */

static void take_stream(int fd)
{
    static uint8_t bytes[65536], memory[MEMORY];
    oche_crc32 *crc32 = oche_crc_choose(NULL);
    size_t at = 0;

    for (;;) {
        const size_t count = spin_receive(fd, bytes, sizeof(bytes));

        if (count < PACKET)
            return; /* a short datagram ends the stream */
        for (size_t i = 0; i + PACKET <= count; i += PACKET) {
            uint32_t wanted;

            memcpy(&wanted, bytes + i + PACKET - 4, 4);
            if (crc32(0, bytes + i, PACKET - 4) != wanted) {
                fprintf(stderr, "a wrong CRC\n");
                exit(1);
            }
            memcpy(memory + at, bytes + i + HEADERS - 4, PAYLOAD);
            at = (at + PAYLOAD) % MEMORY;
        }
        if (send(fd, "", 1, 0) != 1)
            fail("answer");
    }
}

static double give_stream(int fd, double seconds, unsigned window)
{
    static uint8_t bytes[PACKETS * PACKET], memory[MEMORY];
    oche_crc32 *crc32 = oche_crc_choose(NULL);
    const double start = now();
    uint64_t sent = 0, answered = 0;
    size_t at = 0;
    uint8_t answer;

    memset(memory, 7, sizeof(memory));
    while (now() - start < seconds) {
        for (size_t i = 0; i < sizeof(bytes); i += PACKET) {
            uint32_t crc;

            memcpy(bytes + i + HEADERS - 4, memory + at, PAYLOAD);
            at = (at + PAYLOAD) % MEMORY;
            crc = crc32(0, bytes + i, PACKET - 4);
            memcpy(bytes + i + PACKET - 4, &crc, 4);
        }
        while (sent - answered >= window)
            answered += spin_receive(fd, &answer, 1);
        if (send(fd, bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
            fail("send");
        sent++;
        while (recv(fd, &answer, 1, MSG_DONTWAIT) == 1)
            answered++;
    }
    while (answered < sent)
        answered += spin_receive(fd, &answer, 1);
    if (send(fd, "", 1, 0) != 1)
        fail("send");
    return (double)sent * PACKETS * PAYLOAD * 8 / (now() - start) / 1e9;
}

/* ---- ping-pong ---- */

static void echo(int fd)
{
    uint8_t bytes[PING];

    for (unsigned i = 0; i < WARM_UP + ROUNDS; i++)
        if (send(fd, bytes, spin_receive(fd, bytes, sizeof(bytes)), 0) < 0)
            fail("echo");
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Returns half of the median round-trip time, in microseconds. */
static double ping(int fd)
{
    static double halves[ROUNDS];
    uint8_t bytes[PING] = {0};

    for (unsigned i = 0; i < WARM_UP + ROUNDS; i++) {
        const double start = now();

        if (send(fd, bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
            fail("ping");
        spin_receive(fd, bytes, sizeof(bytes));
        if (i >= WARM_UP)
            halves[i - WARM_UP] = (now() - start) / 2 * 1e6;
    }
    qsort(halves, ROUNDS, sizeof(halves[0]), compare);
    return halves[ROUNDS / 2];
}

int main(int argc, char **argv)
{
    const double seconds = argc > 1 ? atof(argv[1]) : 2;
    const int on = 1, segment = PACKET, none = 0;
    struct sockaddr_in a, b;
    int buffer, unused;
    const int give = open_socket(&a, &unused), take = open_socket(&b, &buffer);
    /*
     * The kernel counts its own structures too: a packet takes about twice its size in the buffer.
     */
    const unsigned window = (unsigned)buffer / 2 / (PACKETS * PACKET);
    pid_t child;

    if (connect(give, (struct sockaddr *)&b, sizeof(b)) != 0 ||
        connect(take, (struct sockaddr *)&a, sizeof(a)) != 0 ||
        setsockopt(take, IPPROTO_UDP, UDP_GRO, &on, sizeof(on)) != 0)
        fail("connect");
    child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        take_stream(take);
        echo(take);
        return 0;
    }
    setsockopt(give, IPPROTO_UDP, UDP_SEGMENT, &segment, sizeof(segment));
    printf("raw stream     %6.2f Gbit/s\n", give_stream(give, seconds, window > 0 ? window : 1));
    setsockopt(give, IPPROTO_UDP, UDP_SEGMENT, &none, sizeof(none));
    printf("raw ping-pong  %6.2f us\n", ping(give));
    return waitpid(child, NULL, 0) == child ? 0 : 1;
}
