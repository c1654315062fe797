/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures TCP sockets: throughput and processor time by size of message, and the time of a small
 * message. tools/bench-tcp compares the device with them (DCQCN sec 2.1, Fig 1).
 *
 *     build/bench/bench_wire_tcp stream ADDRESS BYTES CONNECTIONS SECONDS
 *     build/bench/bench_wire_tcp ping ADDRESS BYTES ROUNDS sleep|spin
 *
 * Each end is a process. stream: every connection has a thread at each end; one send() has BYTES,
 * and one recv() takes at most as many. Sockets sleep, and the kernel's segmentation offload is on.
 * Prints Gbit/s, and the nanoseconds of processor time per KiB of the sender and the receiver. The
 * kernel's work for a process, which with loopback includes both ends' protocol, counts for the
 * process that causes it. ping: a message there and back on a connection that is warm, without
 * Nagle's algorithm. Prints the mean and the median of half a round trip, in microseconds.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WARM_UP          2000 /* rounds */
#define MOST_BYTES       (UINT32_C(64) << 20)
#define MOST_CONNECTIONS 64
#define MOST_ROUNDS      1000000

/* One end's share of a stream. */
struct end {
    int fd;
    size_t bytes; /* of a message */
    uint64_t moved;
};

static double deadline; /* of senders, in the time of now() */

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

/* Seconds of processor time that this process has used, its own and the kernel's for it. */
static double used(void)
{
    struct rusage usage;

    if (getrusage(RUSAGE_SELF, &usage) != 0)
        fail("getrusage");
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

/* Makes a connection of two sockets of this process: ends[0] sends, ends[1] receives. */
static void connect_pair(struct in_addr address, int ends[2])
{
    const int listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = address};
    socklen_t bytes = sizeof(at);

    ends[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listening < 0 || ends[0] < 0 || bind(listening, (struct sockaddr *)&at, bytes) != 0 ||
        listen(listening, 1) != 0 || getsockname(listening, (struct sockaddr *)&at, &bytes) != 0 ||
        connect(ends[0], (struct sockaddr *)&at, bytes) != 0)
        fail("connection");
    ends[1] = accept(listening, NULL, NULL);
    if (ends[1] < 0 || close(listening) != 0)
        fail("connection");
    for (int i = 0; i < 2; i++)
        if (setsockopt(ends[i], IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) != 0)
            fail("TCP_NODELAY");
}

/* ---- stream ---- */

static void *give(void *context)
{
    struct end *end = context;
    uint8_t *message = calloc(1, end->bytes);

    if (message == NULL)
        fail("memory");
    while (now() < deadline) {
        for (size_t at = 0; at < end->bytes;) {
            const ssize_t count = send(end->fd, message + at, end->bytes - at, MSG_NOSIGNAL);

            if (count < 0)
                fail("send");
            at += (size_t)count;
        }
        end->moved += end->bytes;
    }
    shutdown(end->fd, SHUT_WR);
    free(message);
    return NULL;
}

static void *take(void *context)
{
    struct end *end = context;
    uint8_t *message = calloc(1, end->bytes);
    ssize_t count;

    if (message == NULL)
        fail("memory");
    while ((count = recv(end->fd, message, end->bytes, 0)) > 0)
        end->moved += (uint64_t)count;
    if (count < 0)
        fail("recv");
    free(message);
    return NULL;
}

/* Runs a thread for each end. Returns the bytes that all have moved, and sets *seconds_used. */
static uint64_t run_ends(struct end *ends, unsigned count, void *(*run)(void *),
                         double *seconds_used)
{
    pthread_t threads[MOST_CONNECTIONS];
    const double before = used();
    uint64_t moved = 0;

    for (unsigned i = 0; i < count; i++)
        if ((errno = pthread_create(&threads[i], NULL, run, &ends[i])) != 0)
            fail("thread");
    for (unsigned i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
        moved += ends[i].moved;
    }
    *seconds_used = used() - before;
    return moved;
}

static void stream(struct in_addr address, size_t bytes, unsigned count, double seconds)
{
    struct end givers[MOST_CONNECTIONS] = {0}, takers[MOST_CONNECTIONS] = {0};
    double start, elapsed, took, taken;
    uint64_t sent, received;
    int said[2];
    pid_t child;

    if (pipe(said) != 0)
        fail("pipe");
    for (unsigned i = 0; i < count; i++) {
        int ends[2];

        connect_pair(address, ends);
        givers[i] = (struct end){.fd = ends[0], .bytes = bytes};
        takers[i] = (struct end){.fd = ends[1], .bytes = bytes};
    }
    child = fork();
    if (child < 0)
        fail("fork");
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (unsigned i = 0; i < count; i++)
            close(givers[i].fd); /* or the end of the stream would never be seen */
        received = run_ends(takers, count, take, &taken);
        if (write(said[1], &received, sizeof(received)) != sizeof(received) ||
            write(said[1], &taken, sizeof(taken)) != sizeof(taken))
            fail("pipe");
        exit(0);
    }
    close(said[1]);
    for (unsigned i = 0; i < count; i++)
        close(takers[i].fd);
    start = now();
    deadline = start + seconds;
    sent = run_ends(givers, count, give, &took);
    if (read(said[0], &received, sizeof(received)) != sizeof(received) ||
        read(said[0], &taken, sizeof(taken)) != sizeof(taken) || received != sent) {
        fprintf(stderr, "the receiver did not get what was sent\n");
        exit(1);
    }
    elapsed = now() - start; /* until the last byte was received */
    waitpid(child, NULL, 0);
    printf("stream %.3f Gbit/s, %.2f %.2f ns/KiB\n", (double)sent * 8 / elapsed / 1e9,
           took * 1e9 * 1024 / (double)sent, taken * 1e9 * 1024 / (double)sent);
}

/* ---- ping ---- */

/* Receives a whole message. With `flags` MSG_DONTWAIT it polls, so that it keeps its core. */
static void take_message(int fd, uint8_t *message, size_t bytes, int flags)
{
    unsigned tries = 0;

    for (size_t at = 0; at < bytes;) {
        const ssize_t count = recv(fd, message + at, bytes - at, flags);

        if (count == 0 || (count < 0 && errno != EAGAIN))
            fail("recv");
        if (count > 0)
            at += (size_t)count;
        else if (++tries % 64 == 0)
            sched_yield(); /* the other process may need this core */
    }
}

static void give_message(int fd, const uint8_t *message, size_t bytes)
{
    if (send(fd, message, bytes, MSG_NOSIGNAL) != (ssize_t)bytes)
        fail("send");
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void ping(struct in_addr address, size_t bytes, unsigned rounds, int flags)
{
    uint8_t *message = calloc(1, bytes);
    double *halves = calloc(rounds, sizeof(*halves)), sum = 0;
    int ends[2];
    pid_t child;

    if (message == NULL || halves == NULL)
        fail("memory");
    connect_pair(address, ends);
    child = fork();
    if (child < 0)
        fail("fork");
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (unsigned i = 0; i < WARM_UP + rounds; i++) {
            take_message(ends[1], message, bytes, flags);
            give_message(ends[1], message, bytes);
        }
        exit(0);
    }
    for (unsigned i = 0; i < WARM_UP + rounds; i++) {
        const double start = now();

        give_message(ends[0], message, bytes);
        take_message(ends[0], message, bytes, flags);
        if (i >= WARM_UP) {
            halves[i - WARM_UP] = (now() - start) / 2 * 1e6;
            sum += halves[i - WARM_UP];
        }
    }
    waitpid(child, NULL, 0);
    qsort(halves, rounds, sizeof(halves[0]), compare);
    printf("ping %.3f %.3f us\n", sum / rounds, halves[rounds / 2]);
    free(halves);
    free(message);
}

/* ---- arguments ---- */

static _Noreturn void usage(void)
{
    fprintf(stderr, "usage: bench_wire_tcp stream ADDRESS BYTES CONNECTIONS SECONDS\n"
                    "       bench_wire_tcp ping ADDRESS BYTES ROUNDS sleep|spin\n");
    exit(2);
}

/* Returns a number of 1 to `most`. */
static unsigned long number(const char *text, unsigned long most)
{
    char *end;
    const unsigned long value = strtoul(text, &end, 10);

    if (text[0] < '0' || text[0] > '9' || *end != '\0' || value == 0 || value > most) {
        fprintf(stderr, "bench_wire_tcp: %s: a number of 1 to %lu is needed\n", text, most);
        exit(2);
    }
    return value;
}

int main(int argc, char **argv)
{
    struct in_addr address;

    if (argc != 6 || inet_pton(AF_INET, argv[2], &address) != 1)
        usage();
    if (strcmp(argv[1], "stream") == 0) {
        stream(address, number(argv[3], MOST_BYTES), (unsigned)number(argv[4], MOST_CONNECTIONS),
               (double)number(argv[5], 60));
    } else if (strcmp(argv[1], "ping") == 0 &&
               (strcmp(argv[5], "sleep") == 0 || strcmp(argv[5], "spin") == 0)) {
        ping(address, number(argv[3], MOST_BYTES), (unsigned)number(argv[4], MOST_ROUNDS),
             strcmp(argv[5], "spin") == 0 ? MSG_DONTWAIT : 0);
    } else {
        usage();
    }
    return 0;
}
