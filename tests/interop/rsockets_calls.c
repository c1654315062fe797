/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sockets over RDMA, call by call, both ends in one process: connecting (also without waiting),
 * sending all sizes, half closes, what polls say, threads that share a socket, many sockets,
 * mapped memory, and a peer that is killed.
 */
#include "tests/support/test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <rdma/rsocket.h>

#define ADDRESS "127.34.0.11"
#define MANY    64

static const char *self; /* this program, for a process of its own */
/* a different port for each process, since the test of another build may run at the same time */
static uint16_t first_port;

struct ends {
    int listener, client, server;
};

static struct sockaddr_in address_of(uint16_t port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};

    inet_pton(AF_INET, ADDRESS, &address.sin_addr);
    return address;
}

static int listen_at(uint16_t port)
{
    const struct sockaddr_in address = address_of(port);
    const int listener = rsocket(AF_INET, SOCK_STREAM, 0);

    assert_true(listener >= 0);
    assert_int_equal(rbind(listener, (const struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(rlisten(listener, MANY), 0);
    return listener;
}

static int connect_to(uint16_t port)
{
    const struct sockaddr_in address = address_of(port);
    const int client = rsocket(AF_INET, SOCK_STREAM, 0);

    assert_true(client >= 0);
    assert_int_equal(rconnect(client, (const struct sockaddr *)&address, sizeof(address)), 0);
    return client;
}

/* Connecting ends before anybody accepts, so one thread can do both. */
static struct ends connected(void)
{
    struct ends ends = {.listener = listen_at(first_port)};

    ends.client = connect_to(first_port);
    ends.server = raccept(ends.listener, NULL, NULL);
    assert_true(ends.server >= 0);
    return ends;
}

static void close_all(const struct ends *ends)
{
    rclose(ends->client);
    rclose(ends->server);
    rclose(ends->listener);
}

static short events_of(int socket, short wanted, int timeout_ms)
{
    struct pollfd one = {.fd = socket, .events = wanted};

    assert_true(rpoll(&one, 1, timeout_ms) >= 0);
    return one.revents;
}

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Bytes of a stream, by their place. */
static uint8_t byte_at(size_t place)
{
    return (uint8_t)(place * 31 + (place >> 8) * 7 + (place >> 16));
}

/* ---- connecting ---- */

static void names(void **state)
{
    const struct ends ends = connected();
    struct sockaddr_in own, peer, expected = address_of(first_port);
    socklen_t bytes = sizeof(own);

    (void)state;
    assert_int_equal(rgetpeername(ends.client, (struct sockaddr *)&peer, &bytes), 0);
    assert_memory_equal(&peer, &expected, sizeof(peer));
    assert_int_equal(rgetsockname(ends.client, (struct sockaddr *)&own, &bytes), 0);
    assert_int_equal(rgetpeername(ends.server, (struct sockaddr *)&peer, &bytes), 0);
    assert_int_equal(own.sin_port, peer.sin_port);
    assert_int_equal(own.sin_addr.s_addr, peer.sin_addr.s_addr);
    assert_int_equal(rgetpeername(ends.listener, (struct sockaddr *)&peer, &bytes), -1);
    assert_int_equal(errno, ENOTCONN);
    close_all(&ends);
    assert_int_equal(rgetpeername(ends.client, (struct sockaddr *)&peer, &bytes), -1);
    assert_int_equal(errno, EBADF);
}

static void without_waiting(void **state)
{
    const struct sockaddr_in address = address_of(first_port),
                             nobody = address_of((uint16_t)(first_port + 1));
    const int listener = listen_at(first_port);
    int client = rsocket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), error = -1;
    socklen_t bytes = sizeof(error);

    (void)state;
    assert_int_equal(rfcntl(listener, F_SETFL, O_NONBLOCK), 0);
    assert_int_equal(raccept(listener, NULL, NULL), -1);
    assert_int_equal(errno, EAGAIN);
    assert_int_equal(rconnect(client, (const struct sockaddr *)&address, sizeof(address)), -1);
    assert_int_equal(errno, EINPROGRESS);
    assert_int_equal(events_of(client, POLLOUT, 5000), POLLOUT);
    assert_int_equal(rgetsockopt(client, SOL_SOCKET, SO_ERROR, &error, &bytes), 0);
    assert_int_equal(error, 0);
    assert_int_equal(events_of(listener, POLLIN, 5000), POLLIN);
    const int server = raccept(listener, NULL, NULL);

    assert_true(server >= 0);
    assert_int_equal(events_of(listener, POLLIN, 0), 0);
    rclose(server);
    rclose(client);
    client = rsocket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    assert_int_equal(rconnect(client, (const struct sockaddr *)&nobody, sizeof(nobody)), -1);
    assert_int_equal(errno, EINPROGRESS);
    assert_true((events_of(client, POLLOUT, 5000) & POLLOUT) != 0);
    assert_int_equal(rgetsockopt(client, SOL_SOCKET, SO_ERROR, &error, &bytes), 0);
    assert_int_equal(error, ECONNREFUSED);
    rclose(client);
    rclose(listener);
}

/* One that was refused may try again; a port that is taken cannot be taken twice. */
static void again(void **state)
{
    const struct sockaddr_in address = address_of(first_port);
    const int client = rsocket(AF_INET, SOCK_STREAM, 0), other = rsocket(AF_INET, SOCK_STREAM, 0);
    int listener;

    (void)state;
    assert_int_equal(rconnect(client, (const struct sockaddr *)&address, sizeof(address)), -1);
    assert_int_equal(errno, ECONNREFUSED);
    listener = listen_at(first_port);
    assert_int_equal(rbind(other, (const struct sockaddr *)&address, sizeof(address)), -1);
    assert_int_equal(errno, EADDRINUSE);
    assert_int_equal(rconnect(client, (const struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(rconnect(client, (const struct sockaddr *)&address, sizeof(address)), -1);
    assert_int_equal(errno, EISCONN);
    rclose(other);
    rclose(client);
    rclose(listener);
}

/* ---- data ---- */

struct stream {
    int socket;
    size_t bytes, most; /* bytes: in all; most: at most in one call */
    bool failed;
};

static void *send_stream(void *argument)
{
    struct stream *stream = argument;
    uint8_t *piece = malloc(stream->most);
    uint64_t seed = stream->most;

    for (size_t done = 0; done < stream->bytes && !stream->failed;) {
        size_t some;
        ssize_t sent;

        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
        some = 1 + (size_t)(seed >> 33) % stream->most;
        some = some < stream->bytes - done ? some : stream->bytes - done;
        for (size_t i = 0; i < some; i++)
            piece[i] = byte_at(done + i);
        sent = rsend(stream->socket, piece, some, 0);
        stream->failed = sent != (ssize_t)some;
        done += some;
    }
    free(piece);
    return NULL;
}

static void *receive_stream(void *argument)
{
    struct stream *stream = argument;
    uint8_t *piece = malloc(stream->most);

    for (size_t done = 0; done < stream->bytes && !stream->failed;) {
        const ssize_t some = rrecv(stream->socket, piece, stream->most, 0);

        stream->failed = some <= 0;
        for (ssize_t i = 0; i < some; i++)
            stream->failed |= piece[i] != byte_at(done + (size_t)i);
        done += some > 0 ? (size_t)some : 0;
    }
    free(piece);
    return NULL;
}

/* Both directions of one connection at the same time. Each end has a thread for each direction. */
static void both_ways(size_t bytes, size_t most)
{
    const struct ends ends = connected();
    struct stream streams[4] = {{ends.client, bytes, most, false},
                                {ends.server, bytes, most, false},
                                {ends.server, bytes, most, false},
                                {ends.client, bytes, most, false}};
    pthread_t threads[4];

    for (int i = 0; i < 4; i++) {
        void *(*run)(void *) = i % 2 == 0 ? send_stream : receive_stream;

        assert_int_equal(pthread_create(&threads[i], NULL, run, &streams[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        assert_false(streams[i].failed);
    }
    close_all(&ends);
}

static void streams(void **state)
{
    (void)state;
    both_ways(30000, 3);
    both_ways(2000000, 300);
    both_ways(20000000, 5000);
    both_ways(60000000, 3000000);
}

/* Also with the least memory and the smallest number of messages. */
static void small_buffers(void **state)
{
    struct ends ends = {.listener = listen_at(first_port)};
    const int bytes = 4096, messages = 16;
    const struct sockaddr_in address = address_of(first_port);
    struct stream there, back;
    pthread_t thread;

    (void)state;
    ends.client = rsocket(AF_INET, SOCK_STREAM, 0);
    for (int i = 0; i < 2; i++) {
        const int socket = i == 0 ? ends.listener : ends.client;

        rsetsockopt(socket, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
        rsetsockopt(socket, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
        rsetsockopt(socket, SOL_RDMA, RDMA_SQSIZE, &messages, sizeof(messages));
        rsetsockopt(socket, SOL_RDMA, RDMA_RQSIZE, &messages, sizeof(messages));
    }
    assert_int_equal(rconnect(ends.client, (const struct sockaddr *)&address, sizeof(address)), 0);
    ends.server = raccept(ends.listener, NULL, NULL);
    there = (struct stream){ends.client, 3000000, 10000, false};
    back = (struct stream){ends.server, 3000000, 10000, false};
    pthread_create(&thread, NULL, send_stream, &there);
    receive_stream(&back);
    pthread_join(thread, NULL);
    assert_false(there.failed || back.failed);
    close_all(&ends);
}

static void flags(void **state)
{
    const struct ends ends = connected();
    char got[16] = "";
    struct iovec pieces[2] = {{.iov_base = got, .iov_len = 3}, {.iov_base = got + 3, .iov_len = 8}};
    struct iovec sent[3] = {{"ab", 2}, {"", 0}, {"cdefgh", 6}};

    (void)state;
    assert_int_equal(rrecv(ends.server, got, 1, MSG_DONTWAIT), -1);
    assert_int_equal(errno, EAGAIN);
    assert_int_equal(rwritev(ends.client, sent, 3), 8);
    assert_int_equal(events_of(ends.server, POLLIN, 5000), POLLIN);
    assert_int_equal(rrecv(ends.server, got, 4, MSG_PEEK), 4);
    assert_memory_equal(got, "abcd", 4);
    assert_int_equal(rrecv(ends.server, got, 1, 0), 1);
    assert_int_equal(rreadv(ends.server, pieces, 2), 7);
    assert_memory_equal(got, "bcdefgh", 7);
    assert_int_equal(rsend(ends.client, "12", 2, 0), 2);
    assert_int_equal(rsend(ends.client, "345", 3, 0), 3);
    assert_int_equal(rrecv(ends.server, got, 5, MSG_WAITALL), 5);
    assert_memory_equal(got, "12345", 5);
    close_all(&ends);
}

/* A non-blocking sender stops when the peer's memory is full, and can continue later. */
static void full(void **state)
{
    const struct ends ends = connected();
    static uint8_t piece[65536];
    size_t sent = 0, got = 0;
    ssize_t some;

    (void)state;
    assert_int_equal(rfcntl(ends.client, F_SETFL, O_NONBLOCK), 0);
    for (int idle = 0; idle < 20;) {
        some = rsend(ends.client, piece, sizeof(piece), 0);
        if (some < 0) {
            assert_int_equal(errno, EAGAIN);
            idle++;
            usleep(1000);
        } else {
            sent += (size_t)some;
            idle = 0;
        }
    }
    assert_true(sent > 100000 && sent < 10000000);
    assert_int_equal(events_of(ends.client, POLLOUT, 20), 0);
    while (got < sent) {
        some = rrecv(ends.server, piece, sizeof(piece), 0);
        assert_true(some > 0);
        got += (size_t)some;
    }
    assert_int_equal(events_of(ends.client, POLLOUT, 5000), POLLOUT);
    close_all(&ends);
}

/* ---- the end ---- */

static void half_close(void **state)
{
    const struct ends ends = connected();
    char got[8];

    (void)state;
    assert_int_equal(rsend(ends.client, "question", 8, 0), 8);
    assert_int_equal(rshutdown(ends.client, SHUT_WR), 0);
    assert_int_equal(rsend(ends.client, "x", 1, 0), -1);
    assert_int_equal(errno, EPIPE);
    assert_int_equal(rrecv(ends.server, got, 8, MSG_WAITALL), 8);
    assert_int_equal(rrecv(ends.server, got, 8, 0), 0);
    assert_int_equal(events_of(ends.server, POLLIN, 0), POLLIN);
    assert_int_equal(rsend(ends.server, "answer", 6, 0), 6);
    assert_int_equal(rclose(ends.server), 0);
    assert_int_equal(rrecv(ends.client, got, 6, MSG_WAITALL), 6);
    assert_int_equal(rrecv(ends.client, got, 6, 0), 0);
    rclose(ends.client);
    rclose(ends.listener);
}

static void shut_both(void **state)
{
    const struct ends ends = connected();
    char got[8];

    (void)state;
    assert_int_equal(rshutdown(ends.client, SHUT_RDWR), 0);
    assert_int_equal(rrecv(ends.client, got, 1, 0), 0);
    assert_int_equal(rrecv(ends.server, got, 1, 0), 0);
    assert_true((events_of(ends.server, POLLIN, 0) & POLLHUP) != 0);
    assert_int_equal(rsend(ends.server, "x", 1, 0), -1);
    assert_int_equal(errno, ECONNRESET);
    close_all(&ends);
}

static void shut_reading(void **state)
{
    const struct ends ends = connected();
    struct stream there = {ends.client, 5000000, 100000, false};
    char got;

    (void)state;
    assert_int_equal(rshutdown(ends.server, SHUT_RD), 0);
    assert_int_equal(rrecv(ends.server, &got, 1, 0), 0);
    rfcntl(ends.server, F_SETFL, O_NONBLOCK);
    rsetsockopt(ends.client, SOL_SOCKET, SO_SNDTIMEO, &(struct timeval){.tv_sec = 10},
                sizeof(struct timeval));
    send_stream(&there); /* data that is never read does not stop the sender */
    assert_false(there.failed);
    close_all(&ends);
}

/* Data arrives although the sender closes right after sending. */
static void close_at_once(void **state)
{
    struct ends ends = connected();
    struct stream there = {ends.client, 600000, 100000, false};
    struct stream back = {ends.server, 600000, 7777, false};
    uint8_t got;

    (void)state;
    send_stream(&there);
    assert_int_equal(rclose(ends.client), 0);
    usleep(100000);
    receive_stream(&back);
    assert_false(there.failed || back.failed);
    assert_int_equal(rrecv(ends.server, &got, 1, 0), 0);
    rclose(ends.server);
    rclose(ends.listener);
}

/* Closing a listener rejects connections that wait to be accepted. Its port is free at once. */
static void close_listener(void **state)
{
    const int listener = listen_at(first_port), client = connect_to(first_port);
    char got;

    (void)state;
    rclose(listener);
    assert_true(rrecv(client, &got, 1, 0) <= 0);
    rclose(client);
    rclose(listen_at(first_port));
}

static void *receive_one(void *argument)
{
    char got;
    const ssize_t received = rrecv(*(int *)argument, &got, 1, 0);

    return (void *)(intptr_t)(received < 0 ? -errno : (int)received);
}

/* Returns what a thread that waited in rrecv was told. */
static int told_after(int *socket, pthread_t thread, double started)
{
    void *result;

    (void)socket;
    pthread_join(thread, &result);
    assert_true(seconds() - started < 3);
    return (int)(intptr_t)result;
}

static void close_under_a_thread(void **state)
{
    struct ends ends = connected();
    pthread_t thread;
    double started;

    (void)state;
    pthread_create(&thread, NULL, receive_one, &ends.client);
    usleep(100000);
    started = seconds();
    rshutdown(ends.client, SHUT_RD);
    assert_int_equal(told_after(&ends.client, thread, started), 0);
    pthread_create(&thread, NULL, receive_one, &ends.server);
    usleep(100000);
    started = seconds();
    rclose(ends.server);
    assert_int_equal(told_after(&ends.server, thread, started), -EBADF);
    rclose(ends.client);
    rclose(ends.listener);
}

/* ---- waiting ---- */

static void mixed_poll(void **state)
{
    const struct ends ends = connected();
    int ends_of_pipe[2];
    struct pollfd all[4];
    double started;

    (void)state;
    assert_int_equal(pipe(ends_of_pipe), 0);
    all[0] = (struct pollfd){.fd = ends_of_pipe[0], .events = POLLIN};
    all[1] = (struct pollfd){.fd = ends.server, .events = POLLIN};
    all[2] = (struct pollfd){.fd = -1, .events = POLLIN, .revents = 7};
    all[3] = (struct pollfd){.fd = ends.listener, .events = POLLIN};
    started = seconds();
    assert_int_equal(rpoll(all, 4, 50), 0);
    assert_true(seconds() - started > 0.045);
    assert_int_equal(all[2].revents, 0);
    assert_int_equal(write(ends_of_pipe[1], "x", 1), 1);
    assert_int_equal(rpoll(all, 4, 5000), 1);
    assert_int_equal(all[0].revents, POLLIN);
    assert_int_equal(rsend(ends.client, "y", 1, 0), 1);
    usleep(10000);
    assert_int_equal(rpoll(all, 4, 5000), 2);
    assert_int_equal(all[1].revents, POLLIN);
    const int second = connect_to(first_port);

    assert_int_equal(events_of(ends.listener, POLLIN, 5000), POLLIN);
    assert_int_equal(rpoll(all, 4, 5000), 3);
    assert_int_equal(all[3].revents, POLLIN);
    rclose(second);
    close(ends_of_pipe[0]);
    close(ends_of_pipe[1]);
    close_all(&ends);
}

static void *write_later(void *argument)
{
    usleep(50000);
    if (rsend(*(int *)argument, "z", 1, 0) != 1)
        return argument;
    return NULL;
}

/* A thread that sleeps in rselect, and in rpoll, is woken by what arrives. */
static void woken(void **state)
{
    struct ends ends = connected();
    struct timeval limit = {.tv_sec = 10};
    pthread_t thread;
    void *failed;
    fd_set in, out;
    char got;

    (void)state;
    pthread_create(&thread, NULL, write_later, &ends.client);
    FD_ZERO(&in);
    FD_ZERO(&out);
    FD_SET(ends.server, &in);
    assert_int_equal(rselect(ends.server + 1, &in, &out, NULL, &limit), 1);
    assert_true(FD_ISSET(ends.server, &in));
    pthread_join(thread, &failed);
    assert_null(failed);
    assert_int_equal(rrecv(ends.server, &got, 1, 0), 1);
    pthread_create(&thread, NULL, write_later, &ends.client);
    assert_int_equal(events_of(ends.server, POLLIN, 10000), POLLIN);
    pthread_join(thread, &failed);
    assert_null(failed);
    close_all(&ends);
}

static void timeouts(void **state)
{
    const struct ends ends = connected();
    struct timeval limit = {.tv_usec = 50000};
    const double started = seconds();
    char got;

    (void)state;
    assert_int_equal(rsetsockopt(ends.server, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)), 0);
    assert_int_equal(rrecv(ends.server, &got, 1, 0), -1);
    assert_int_equal(errno, EAGAIN);
    assert_true(seconds() - started > 0.045 && seconds() - started < 3);
    close_all(&ends);
}

/* ---- many, and others ---- */

static void many(void **state)
{
    const int listener = listen_at(first_port);
    int clients[MANY], servers[MANY];
    struct pollfd all[MANY];
    char got;

    (void)state;
    for (int i = 0; i < MANY; i++)
        clients[i] = connect_to(first_port);
    for (int i = 0; i < MANY; i++)
        assert_true((servers[i] = raccept(listener, NULL, NULL)) >= 0);
    for (int i = 0; i < MANY; i++) {
        char number = (char)i;

        assert_int_equal(rsend(clients[i], &number, 1, 0), 1);
        all[i] = (struct pollfd){.fd = servers[i], .events = POLLIN};
    }
    for (int i = 0; i < MANY; i++) {
        assert_true(rpoll(all, MANY, 5000) > 0);
        assert_int_equal(rrecv(servers[i], &got, 1, 0), 1);
        assert_int_equal(got, i);
    }
    for (int i = 0; i < MANY; i++) {
        rclose(clients[i]);
        assert_int_equal(rrecv(servers[i], &got, 1, 0), 0);
        rclose(servers[i]);
    }
    rclose(listener);
}

static void mapped(void **state)
{
    const int listener = listen_at(first_port), entries = 2;
    const struct sockaddr_in address = address_of(first_port);
    static uint8_t memory[100000], bytes[100000];
    struct ends ends = {.listener = listener};
    char got;

    (void)state;
    ends.client = rsocket(AF_INET, SOCK_STREAM, 0);
    rsetsockopt(ends.client, SOL_RDMA, RDMA_IOMAPSIZE, &entries, sizeof(entries));
    rsetsockopt(listener, SOL_RDMA, RDMA_IOMAPSIZE, &entries, sizeof(entries));
    assert_int_equal(rconnect(ends.client, (const struct sockaddr *)&address, sizeof(address)), 0);
    ends.server = raccept(listener, NULL, NULL);
    assert_int_equal(riowrite(ends.client, bytes, 10, 0, 0), 0); /* nothing is mapped yet */
    assert_int_equal(riomap(ends.server, memory, sizeof(memory), PROT_WRITE, 0, 5000), 5000);
    assert_int_equal(rsend(ends.server, "m", 1, 0), 1);
    assert_int_equal(rrecv(ends.client, &got, 1, 0), 1);
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = byte_at(i);
    assert_int_equal(riowrite(ends.client, bytes, sizeof(bytes), 5000, 0), sizeof(bytes));
    assert_int_equal(rsend(ends.client, "w", 1, 0), 1); /* arrives after the shutdown */
    assert_int_equal(rrecv(ends.server, &got, 1, 0), 1);
    assert_memory_equal(memory, bytes, sizeof(bytes));
    assert_int_equal(riounmap(ends.server, memory, 5), -1);
    assert_int_equal(riounmap(ends.server, memory, sizeof(memory)), 0);
    close_all(&ends);
}

static void copies(void **state)
{
    const struct ends ends = connected();
    const int copy = rfcntl(ends.client, F_DUPFD_CLOEXEC, 0);
    char got;

    (void)state;
    assert_true(copy >= 0 && copy != ends.client);
    rclose(ends.client);
    assert_int_equal(rsend(copy, "x", 1, 0), 1);
    assert_int_equal(rrecv(ends.server, &got, 1, 0), 1);
    rclose(copy);
    assert_int_equal(rrecv(ends.server, &got, 1, 0), 0);
    rclose(ends.server);
    rclose(ends.listener);
}

static void options(void **state)
{
    const struct ends ends = connected();
    int value = 1;
    socklen_t bytes = sizeof(value);

    (void)state;
    assert_int_equal(rsetsockopt(ends.client, IPPROTO_TCP, TCP_NODELAY, &value, bytes), 0);
    value = 0;
    assert_int_equal(rgetsockopt(ends.client, IPPROTO_TCP, TCP_NODELAY, &value, &bytes), 0);
    assert_int_equal(value, 1);
    assert_int_equal(rgetsockopt(ends.client, IPPROTO_TCP, TCP_MAXSEG, &value, &bytes), 0);
    assert_true(value >= 256);
    assert_int_equal(rgetsockopt(ends.client, SOL_SOCKET, SO_TYPE, &value, &bytes), 0);
    assert_int_equal(value, SOCK_STREAM);
    assert_int_equal(rsetsockopt(ends.client, SOL_SOCKET, 9999, &value, bytes), -1);
    assert_int_equal(errno, ENOPROTOOPT);
    assert_int_equal(rsetsockopt(ends.client, SOL_SOCKET, SO_LINGER, &value, bytes), -1);
    assert_int_equal(errno, EINVAL);
    close_all(&ends);
    assert_int_equal(rsocket(AF_INET, SOCK_RAW, 0), -1);
    assert_int_equal(rsocket(AF_UNIX, SOCK_STREAM, 0), -1);
    assert_int_equal(errno, EAFNOSUPPORT);
}

/* ---- a peer that is killed ---- */

/* In a process of its own: accepts, and then does nothing. */
static int be_killed(void)
{
    const int listener = listen_at((uint16_t)(first_port + 2));

    if (write(STDOUT_FILENO, "ready\n", 6) != 6 || raccept(listener, NULL, NULL) < 0)
        return 1;
    for (;;)
        pause();
}

static void killed(void **state)
{
    int ready[2], client;
    char line[8], port[8], got;
    double started;
    pid_t child;

    (void)state;
    assert_int_equal(pipe(ready), 0);
    child = fork();
    if (child == 0) {
        dup2(ready[1], STDOUT_FILENO);
        snprintf(port, sizeof(port), "%u", first_port);
        execl(self, self, "killed", port, (char *)NULL);
        _exit(127);
    }
    assert_true(read(ready[0], line, sizeof(line)) > 0);
    client = connect_to((uint16_t)(first_port + 2));
    assert_int_equal(rsend(client, "x", 1, 0), 1);
    usleep(100000);
    kill(child, SIGKILL);
    started = seconds();
    assert_int_equal(rrecv(client, &got, 1, 0), -1); /* without having sent anything since */
    assert_true(errno == ETIMEDOUT || errno == ECONNRESET);
    assert_true(seconds() - started < 15);
    assert_int_equal(rrecv(client, &got, 1, 0), 0);
    assert_int_equal(rsend(client, "x", 1, 0), -1);
    rclose(client);
    waitpid(child, NULL, 0);
    close(ready[0]);
    close(ready[1]);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),
        cmocka_unit_test(without_waiting),
        cmocka_unit_test(again),
        cmocka_unit_test(flags),
        cmocka_unit_test(streams),
        cmocka_unit_test(small_buffers),
        cmocka_unit_test(full),
        cmocka_unit_test(half_close),
        cmocka_unit_test(shut_both),
        cmocka_unit_test(shut_reading),
        cmocka_unit_test(close_at_once),
        cmocka_unit_test(close_listener),
        cmocka_unit_test(close_under_a_thread),
        cmocka_unit_test(mixed_poll),
        cmocka_unit_test(woken),
        cmocka_unit_test(timeouts),
        cmocka_unit_test(many),
        cmocka_unit_test(mapped),
        cmocka_unit_test(copies),
        cmocka_unit_test(options),
        cmocka_unit_test(killed),
    };

    setenv("OCHE_DEVICE", ADDRESS, 0);
    self = argv[0];
    first_port = (uint16_t)(20000 + getpid() % 10000);
    if (argc == 3 && strcmp(argv[1], "killed") == 0) {
        first_port = (uint16_t)atoi(argv[2]);
        return be_killed();
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
