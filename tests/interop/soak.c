/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One process of a soak: queue pairs (RC, also with a shared receive queue, and UC) to each of
 * several other processes, and datagrams, with all operations and sizes at random and every byte
 * checked, at a limited rate, for as long as soak.py wants, which starts the processes, tells them
 * of each other, and kills some. A verbs program for any libibverbs.
 *     soak [OPTION…] NODE
 * Lines on standard input, and what they are answered by on standard output:
 *     link PEER EPOCH         makes queue pairs: "ends PEER EPOCH …", what the peer must know
 *     meet PEER EPOCH …       connects them to the peer's ends: "ready PEER EPOCH"
 *     go PEER EPOCH           messages may be sent
 *     drop PEER EPOCH         gives up queue pairs that are not used yet: "broken PEER EPOCH"
 *     stop                    nothing new is sent: "idle" when all that was posted is completed
 *     quit                    the end, with status 0
 * By itself: "failed PEER EPOCH ROLE STATUS MS" when a queue pair fails, and how long after the
 * peer's last answer; "broken PEER EPOCH" when all of the peer's have and all work has come back,
 * which is then forgotten; "counts …" every second; "FAILED: …" and status 1 when something is
 * wrong: data, order, a completion, or work that takes longer than it may.
 */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/interop/soak.h"

#define POLLED       16
#define AT_ONCE      16   /* attempts to send; most of them find no free slot */
#define MESSAGE_COST 2048 /* bytes that each message counts for, besides its own */
#define FLUSH_LIMIT  10.0 /* seconds until all work of a failed link has come back */
#define LINE         2048
#define SLEEP_MS     2

static struct soak soak = {
    .rate = 4e6, .limit = 30, .timeout = 16, .retries = 7, .largest = 3000001};

/* ---- what soak.py hears ---- */

static void say(const char *prefix, const char *format, va_list arguments)
{
    char line[LINE];
    size_t length = (size_t)snprintf(line, sizeof(line), "%s", prefix);

    length += (size_t)vsnprintf(line + length, sizeof(line) - length - 1, format, arguments);
    length = length < sizeof(line) - 2 ? length : sizeof(line) - 2;
    line[length] = '\n';
    if (write(STDOUT_FILENO, line, length + 1) < 0)
        _exit(1); /* the starting process is gone */
}

void soak_say(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    say("", format, arguments);
    va_end(arguments);
}

void soak_fail(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    say("FAILED: ", format, arguments);
    va_end(arguments);
    _exit(1);
}

double soak_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void say_counts(const struct soak *s)
{
    static const char *const names[COUNTS] = {
        "SEND", "SEND_IMM", "WRITE", "WRITE_IMM", "READ", "FETCH_ADD", "COMPARE_SWAP", "UC", "UD"};
    char line[LINE - 64];
    size_t at = 0;

    for (unsigned i = 0; i < COUNTS; i++)
        at += (size_t)snprintf(line + at, sizeof(line) - at, " %s %" PRIu64 " %s_bytes %" PRIu64,
                               names[i], s->messages[i], names[i], s->bytes[i]);
    soak_say("counts sent_uc %" PRIu64 " sent_ud %" PRIu64 " foreign %" PRIu64 " slowest_ms %.0f%s",
             s->sent_uc, s->sent_ud, s->foreign, 1000 * s->slowest, line);
}

/* ---- what soak.py says ---- */

static void obey_link(const char *word, struct soak_link *link, unsigned epoch, const char *rest)
{
    char ends[1024];

    if (strcmp(word, "link") == 0) {
        MUST(link->state == LINK_DOWN);
        link->epoch = epoch;
        soak_make(&soak, link);
        soak_print_ends(&soak, link, ends, sizeof(ends));
        soak_say("ends %u %u %s", link->peer, epoch, ends);
        return;
    }
    MUST(link->epoch == epoch && link->state != LINK_DOWN);
    if (strcmp(word, "meet") == 0) {
        soak_meet(&soak, link, rest);
        soak_say("ready %u %u", link->peer, epoch);
    } else if (strcmp(word, "go") == 0) {
        MUST(link->state == LINK_READY);
        link->state = LINK_LIVE;
        for (unsigned role = 0; role < ROLES; role++)
            link->queues[role].progress = soak_now();
    } else if (strcmp(word, "drop") == 0) {
        MUST(link->state < LINK_LIVE);
        soak_unmake(link);
        soak_say("broken %u %u", link->peer, epoch);
    } else {
        soak_fail("%s: what is that", word);
    }
}

static void obey(const char *line)
{
    char word[16];
    unsigned peer, epoch;
    int at = 0;

    if (strcmp(line, "stop") == 0) {
        soak.stopping = true;
    } else if (strcmp(line, "quit") == 0) {
        soak.quitting = true;
    } else {
        MUST(sscanf(line, "%15s %u %u%n", word, &peer, &epoch, &at) == 3 && peer < PEERS);
        obey_link(word, &soak.links[peer], epoch, line + at);
    }
}

static void hear(void)
{
    static char text[LINE];
    static size_t count;
    const ssize_t got = read(STDIN_FILENO, text + count, sizeof(text) - count);
    char *end;

    if (got == 0)
        soak_fail("the script is gone");
    if (got < 0) {
        MUST(errno == EAGAIN || errno == EINTR);
        return;
    }
    count += (size_t)got;
    while ((end = memchr(text, '\n', count)) != NULL) {
        *end = '\0';
        obey(text);
        count -= (size_t)(end + 1 - text);
        memmove(text, end + 1, count);
    }
    MUST(count < sizeof(text));
}

/* ---- work ---- */

static void poll_completions(void)
{
    struct ibv_wc done[POLLED];
    int count;

    while ((count = ibv_poll_cq(soak.cq, POLLED, done)) > 0)
        for (int i = 0; i < count; i++)
            soak_completed(&soak, &done[i]);
    MUST(count == 0);
}

/* Adds what may be sent since the last call; a pause is not made up for. */
static void earn(void)
{
    static double last;
    const double now = soak_now();

    soak.tokens += last > 0 ? (now - last) * soak.rate : 0;
    if (soak.tokens > soak.rate / 10)
        soak.tokens = soak.rate / 10;
    last = now;
}

/* Queue pairs take turns at random; one in eight messages is a datagram. */
static void send_some(void)
{
    for (unsigned i = 0; i < AT_ONCE && soak.tokens > 0 && !soak.stopping; i++) {
        struct soak_link *link;
        int64_t bytes;

        soak.random = soak.random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        link = &soak.links[(soak.random >> 60) % PEERS];
        if (link->state != LINK_LIVE)
            continue;
        bytes = (soak.random >> 32) % 8 == 0
                    ? soak_post_datagram(&soak, link)
                    : soak_post_message(&soak, &link->queues[(soak.random >> 40) % ROLES]);
        if (bytes >= 0)
            soak.tokens -= (double)(bytes + MESSAGE_COST);
    }
    for (unsigned i = 0; i < PEERS; i++)
        soak_post_others(&soak, &soak.links[i]);
}

/* All reliable queue pairs of a link have failed: ends its other queue pairs, too. */
static void end_link(struct soak_link *link)
{
    bool back = true;

    if (link->state == LINK_LIVE) {
        for (unsigned role = 0; role < RELIABLE; role++)
            if (!link->queues[role].failed)
                return;
        link->state = LINK_FAILING;
        link->since = soak_now();
        soak_end_queue(&link->queues[ROLE_UC]);
    }
    for (unsigned role = 0; role < ROLES; role++)
        back &=
            link->queues[role].first == link->queues[role].last && link->queues[role].receives == 0;
    if (back) {
        soak_unmake(link);
        soak_say("broken %u %u", link->peer, link->epoch);
    } else if (soak_now() - link->since > FLUSH_LIMIT) {
        for (unsigned role = 0; role < ROLES; role++)
            soak_say("role %u: work %u, receives %u", role,
                     link->queues[role].last - link->queues[role].first,
                     link->queues[role].receives);
        soak_fail("work with node %u does not come back", link->peer);
    }
}

/* Fails if something takes too long. Returns how much work is under way. */
static unsigned look_after(struct soak_link *link)
{
    unsigned left = 0;

    for (unsigned role = 0; link->state >= LINK_LIVE && role < ROLES; role++) {
        const struct soak_queue *queue = &link->queues[role];
        const struct soak_posted *oldest = &queue->posted[queue->first % DEPTH];

        left += queue->last - queue->first + queue->credit_due;
        if (queue->first != queue->last && soak_now() - oldest->at > soak.limit)
            soak_fail("stuck: work %d %" PRIu32 " (next %" PRIu32 ") with node %u, role %u, after "
                      "%.1f s",
                      (int)oldest->work, oldest->number, queue->next, link->peer, role,
                      soak_now() - oldest->at);
    }
    return left;
}

static void take_events(void)
{
    struct ibv_async_event event;

    while (ibv_get_async_event(soak.context, &event) == 0) {
        const enum ibv_event_type type = event.event_type;

        ibv_ack_async_event(&event);
        if (type != IBV_EVENT_COMM_EST && type != IBV_EVENT_QP_LAST_WQE_REACHED)
            soak_fail("event: %s", ibv_event_type_str(type));
    }
    MUST(errno == EAGAIN);
}

/* Waits for something to do, a few milliseconds at most. */
static void rest(void)
{
    struct pollfd fds[] = {{.fd = STDIN_FILENO, .events = POLLIN},
                           {.fd = soak.channel->fd, .events = POLLIN}};
    struct ibv_cq *cq;
    void *context;

    MUST(ibv_req_notify_cq(soak.cq, 0) == 0);
    poll_completions();
    poll(fds, 2, SLEEP_MS);
    if (fds[1].revents == 0)
        return;
    MUST(ibv_get_cq_event(soak.channel, &cq, &context) == 0);
    ibv_ack_cq_events(cq, 1);
}

static void run(void)
{
    double told = 0;
    bool idle = false;

    while (!soak.quitting) {
        unsigned left = soak.datagrams_posted;

        hear();
        poll_completions();
        earn();
        send_some();
        for (unsigned i = 0; i < PEERS; i++) {
            if (soak.links[i].state >= LINK_LIVE)
                end_link(&soak.links[i]);
            left += look_after(&soak.links[i]);
        }
        take_events();
        if (soak_now() - told > 1) {
            say_counts(&soak);
            told = soak_now();
        }
        if (soak.stopping && left == 0 && !idle) {
            say_counts(&soak);
            soak_say("idle");
            idle = true;
        }
        rest();
    }
}

/* ---- the command line ---- */

static error_t parse(int key, char *argument, struct argp_state *state)
{
    switch (key) {
    case 'b':
        soak.largest = (uint32_t)strtoul(argument, NULL, 10);
        return 0;
    case 'r':
        soak.rate = strtod(argument, NULL);
        return 0;
    case 'l':
        soak.limit = strtod(argument, NULL);
        return 0;
    case 'u':
        soak.timeout = (uint8_t)atoi(argument);
        return 0;
    case 'n':
        soak.retries = (uint8_t)atoi(argument);
        return 0;
    case 'd':
        soak.doubled = true;
        return 0;
    case 's':
        soak.random = strtoull(argument, NULL, 10);
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num > 0)
            argp_usage(state);
        soak.node = (unsigned)atoi(argument);
        return 0;
    case ARGP_KEY_END:
        if (state->arg_num != 1 || soak.largest < RECEIVE_BYTES || soak.rate <= 0)
            argp_usage(state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void no_waiting(int fd)
{
    MUST(fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) == 0);
}

int main(int argc, char **argv)
{
    static const struct argp_option known[] = {
        {"largest", 'b', "BYTES", 0, "of a message (3000001)", 0},
        {"rate", 'r', "BYTES", 0, "that are sent a second, about (4e6)", 0},
        {"limit", 'l', "SECONDS", 0, "that work may take (30)", 0},
        {"timeout", 'u', "N", 0, "of 4.096 us times 2^N (16)", 0},
        {"retries", 'n', "N", 0, "(7)", 0},
        {"doubled", 'd', 0, 0,
         "the path doubles and delays packets, which UC may take for new ones", 0},
        {"seed", 's', "N", 0, "which queue pair sends when (0)", 0},
        {0},
    };
    static const struct argp argp = {.options = known, .parser = parse, .args_doc = "NODE"};

    argp_parse(&argp, argc, argv, 0, NULL, NULL);
    for (unsigned i = 0; i < PEERS; i++)
        soak.links[i].peer = i;
    soak_open(&soak);
    no_waiting(STDIN_FILENO);
    no_waiting(soak.context->async_fd);
    soak_say("up");
    run();
    soak_close(&soak);
    return 0;
}
