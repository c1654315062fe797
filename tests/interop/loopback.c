/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two processes, two devices, one RC queue pair between them: WRITE, READ and SEND of so many bytes
 * each, and every byte is checked. Status 0 if all is right.
 *     loopback [OPTION…] ADDRESS ADDRESS
 * The process of the first address drives; the other one answers, and checks what it was given.
 * With --hopeless the first WRITE must end with "retry exceeded", and not a byte be delivered.
 * With --kill the answering process is killed in the middle of it: the driver must get "retry
 * exceeded" in the configured time, and nothing of the dead one be left.
 */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <unistd.h>

#include "core/random.h"
#include "device/device.h"
#include "tests/interop/exchange.h"
#include "tests/support/losing.h"
#include "params/scheme.h"
#include "params/units.h"

#define IN_FLIGHT  16  /* messages at most */
#define RECEIVES   64  /* posted at a time */
#define SPINS      200 /* of nothing to do, before sleeping */
#define LIMIT_S    120
#define ALL_ACCESS (OCHE_ACCESS_LOCAL_WRITE | OCHE_ACCESS_REMOTE_WRITE | OCHE_ACCESS_REMOTE_READ)

enum phase { PHASE_WRITE = 'w', PHASE_READ = 'r', PHASE_SEND = 's', PHASE_BYE = 'b' };

struct options {
    const char *addresses[2];
    const char *capture; /* capture of the driving process */
    /* address that both sides use for the other one: a proxy's; NULL: the other side's own */
    const char *via;
    const char *netns; /* namespace of the answering process; NULL: the same */
    uint64_t bytes, message;
    uint32_t mtu, drop_ppm, buffer, in_flight, ack_every, retries;
    uint64_t seed;
    oche_time ack_timeout;
    struct oche_recovery_choice schemes[2];
    struct oche_cc_choice congestion;
    uint64_t line_rate_bps; /* 0: the device's default */
    bool hopeless, only_write, share, kill, lenient;
    pid_t child;
    unsigned address_count;
};

struct side {
    const struct options *options;
    const char *name;
    int out_of_band;
    struct oche_device *device;
    struct oche_cq *cq;
    struct oche_qp *qp;
    uint8_t *memory;
    uint32_t key;
    struct endpoint peer;
    unsigned idle;
};

_Noreturn void oche_panic(const char *file, int line, const char *what)
{
    fprintf(stderr, "%s:%d: broken invariant: %s\n", file, line, what);
    abort();
}

__attribute__((format(printf, 2, 3))) static _Noreturn void fail(const struct side *side,
                                                                 const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    fprintf(stderr, "%s: ", side->name);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    exit(1);
}

/* ---- memory ---- */

static uint64_t word_at(enum phase phase, uint64_t index)
{
    return oche_mix64(index * 8 + (uint64_t)phase);
}

static void fill(struct side *side, enum phase phase)
{
    for (uint64_t i = 0; i < side->options->bytes / 8; i++) {
        const uint64_t word = word_at(phase, i);

        memcpy(side->memory + i * 8, &word, 8);
    }
}

static void check(const struct side *side, enum phase phase)
{
    for (uint64_t i = 0; i < side->options->bytes / 8; i++) {
        const uint64_t word = word_at(phase, i);

        if (memcmp(side->memory + i * 8, &word, 8) != 0)
            fail(side, "phase %c: wrong bytes at %" PRIu64, phase, i * 8);
    }
}

/* ---- setting up ---- */

static void enter_netns(const struct side *side)
{
    const int fd = open(side->options->netns, O_RDONLY | O_CLOEXEC);

    if (fd < 0 || setns(fd, CLONE_NEWNET) != 0)
        fail(side, "%s: %s", side->options->netns, strerror(errno));
    close(fd);
}

static void open_side(struct side *side, unsigned index)
{
    const struct options *options = side->options;
    const struct oche_recovery_choice *scheme = &options->schemes[index];
    const struct oche_device_config config = {
        .address = options->addresses[index],
        .mtu_bytes = options->mtu,
        .seed = options->seed + index,
        /* loss of packets on one way, half of it at each end */
        .links = options->drop_ppm > 0 ? losing(OCHE_LINK_BOTH, options->drop_ppm / 2) : NULL,
        .strict_ip_id = !options->lenient,
        .receive_buffer_bytes = options->buffer,
        .share = options->share,
        .capture = index == 0 ? options->capture : NULL,
        .recovery = scheme->recovery,
        .recovery_params = scheme->recovery != NULL ? &scheme->params : NULL,
        .cc = options->congestion.cc,
        .cc_params = options->congestion.cc != NULL ? &options->congestion.params : NULL,
        .line_rate_bps = options->line_rate_bps,
    };
    struct oche_qp_config qp = {
        .transport = OCHE_TRANSPORT_RC,
        .mtu_bytes = options->mtu,
        .send_depth = IN_FLIGHT,
        .recv_depth = RECEIVES,
        .responder_resources = 16,
        .initiator_depth = 16,
        .access = ALL_ACCESS,
    };
    struct oche_error error;

    side->device = oche_device_open(&config, &error);
    if (side->device == NULL)
        fail(side, "%s", error.text);
    side->memory = calloc(1, options->bytes);
    if (side->memory == NULL)
        fail(side, "out of memory");
    side->key = oche_device_register(side->device, side->memory, options->bytes, ALL_ACCESS);
    side->cq = qp.send_cq = qp.recv_cq = oche_device_create_cq(side->device, 256);
    side->qp = oche_device_create_qp(side->device, &qp);
    if (side->key == 0 || side->qp == NULL)
        fail(side, "cannot make a queue pair");
}

static void connect_side(struct side *side, unsigned index)
{
    struct endpoint mine = {
        .va = (uint64_t)(uintptr_t)side->memory,
        .bytes = side->options->bytes,
        .rkey = side->key,
        .qpn = oche_qp_number(side->qp),
        .psn = 0xfff000 + index * 77,
        .window_packets = oche_device_window_packets(side->device, side->options->mtu),
    };
    struct oche_qp_connection connection = {
        .send_psn = mine.psn,
        .ack_every_packets = side->options->ack_every,
        .ack_timeout = side->options->ack_timeout,
        .retry_count = side->options->retries,
        .rnr_retry = UINT32_MAX,
        .min_rnr_timer = 1,
    };

    snprintf(mine.address, sizeof(mine.address), "%s", side->options->addresses[index]);
    if (!exchange_endpoints(side->out_of_band, &mine, &side->peer))
        fail(side, "the other process has gone");
    connection.remote_address = oche_device_peer(
        side->device, side->options->via != NULL ? side->options->via : side->peer.address);
    connection.remote_qpn = side->peer.qpn;
    connection.recv_psn = side->peer.psn;
    connection.window_packets = side->peer.window_packets;
    if (!oche_device_connect(side->device, side->qp, &connection))
        fail(side, "cannot connect");
}

/* ---- moving ---- */

/* Makes progress once, sleeping a little when there has been none for a while. */
static void progress(struct side *side)
{
    const uint32_t since = oche_device_events(side->device);

    if (oche_device_progress(side->device) > 0)
        side->idle = 0;
    else if (++side->idle > SPINS)
        oche_device_wait(side->device, since, OCHE_MS); /* the other socket is not watched */
}

/* Makes progress until the other says something. */
static char hear(struct side *side)
{
    int step;

    while ((step = exchange_hear(side->out_of_band)) == 0)
        progress(side);
    if (step < 0)
        fail(side, "the other process has gone");
    return (char)step;
}

static void say(struct side *side, enum phase step)
{
    if (!exchange_say(side->out_of_band, (char)step))
        fail(side, "the other process has gone");
}

static unsigned poll_completions(struct side *side, struct oche_completion *done, unsigned max)
{
    const unsigned count = oche_cq_poll(side->cq, done, max);

    for (unsigned i = 0; i < count; i++)
        if (done[i].status != OCHE_STATUS_SUCCESS)
            fail(side, "work %" PRIu64 " ended with status %u", done[i].wr_id, done[i].status);
    return count;
}

static void post_message(struct side *side, uint8_t opcode, uint64_t index)
{
    const uint64_t offset = index * side->options->message;
    const struct oche_send_work work = {
        .wr_id = index,
        .opcode = opcode,
        .flags = OCHE_WORK_SIGNALED,
        .sge_count = 1,
        .remote_va = side->peer.va + offset,
        .rkey = side->peer.rkey,
        .sge = {{.va = (uint64_t)(uintptr_t)side->memory + offset,
                 .length = (uint32_t)side->options->message,
                 .lkey = side->key}},
    };

    if (oche_device_post_send(side->device, side->qp, &work) != 0)
        fail(side, "cannot post message %" PRIu64, index);
}

static void post_receive(struct side *side, uint64_t index)
{
    const struct oche_recv_work work = {
        .wr_id = index,
        .sge_count = 1,
        .sge = {{.va = (uint64_t)(uintptr_t)side->memory + index * side->options->message,
                 .length = (uint32_t)side->options->message,
                 .lkey = side->key}},
    };

    if (oche_qp_post_recv(side->qp, &work) != 0)
        fail(side, "cannot post receive %" PRIu64, index);
}

/* All messages of one phase, some at a time, completed in order. */
static void drive(struct side *side, enum phase phase, uint8_t opcode)
{
    const uint64_t messages = side->options->bytes / side->options->message;
    const oche_time start = oche_device_now(side->device);
    struct oche_completion done[IN_FLIGHT];
    uint64_t posted = 0, completed = 0;

    while (completed < messages) {
        for (; posted < messages && posted - completed < side->options->in_flight; posted++)
            post_message(side, opcode, posted);
        progress(side);
        for (unsigned i = 0, count = poll_completions(side, done, IN_FLIGHT); i < count; i++)
            if (done[i].wr_id != completed++)
                fail(side, "phase %c: completions out of order", phase);
    }
    printf("%-5s %8.2f Gbit/s\n",
           phase == PHASE_WRITE  ? "WRITE"
           : phase == PHASE_READ ? "READ"
                                 : "SEND",
           (double)oche_rate_of(side->options->bytes, oche_device_now(side->device) - start) / 1e9);
}

static void drive_all(struct side *side)
{
    fill(side, PHASE_WRITE);
    drive(side, PHASE_WRITE, OCHE_WORK_WRITE);
    say(side, PHASE_WRITE);
    hear(side); /* the message has been checked and replaced */
    if (side->options->only_write) {
        say(side, PHASE_BYE);
        return;
    }
    drive(side, PHASE_READ, OCHE_WORK_READ);
    check(side, PHASE_READ);
    fill(side, PHASE_SEND);
    say(side, PHASE_READ);
    hear(side); /* receives are posted */
    drive(side, PHASE_SEND, OCHE_WORK_SEND);
    hear(side); /* the message has been checked */
    say(side, PHASE_BYE);
}

/* A message that would start again and again must end with an error of the driver. */
static void drive_hopeless(struct side *side)
{
    struct oche_completion done;

    fill(side, PHASE_WRITE);
    post_message(side, OCHE_WORK_WRITE, 0);
    while (oche_cq_poll(side->cq, &done, 1) == 0)
        progress(side);
    if (done.status != OCHE_STATUS_RETRY_EXCEEDED)
        fail(side, "ended with status %u", done.status);
    printf("retry exceeded\n");
    say(side, PHASE_BYE);
}

static void answer_hopeless(struct side *side)
{
    struct oche_device_stats stats;

    hear(side);
    oche_device_stats(side->device, &stats);
    printf("%" PRIu64 " bytes received, %" PRIu64 " delivered, %" PRIu64 " NAKs\n",
           stats.nic.data_bytes_received, stats.nic.delivered_bytes, stats.nic.naks_sent);
    if (stats.nic.delivered_bytes > 0)
        fail(side, "some of it was delivered");
}

/* ---- a peer that is killed ---- */

/* Everything of the dead process must be free: its address, or its slot on the shared address. */
static void check_nothing_left(const struct side *side)
{
    struct side next = {.options = side->options, .name = "successor"};

    open_side(&next, 1);
    if (side->options->share && oche_qp_number(next.qp) >> 18 != side->peer.qpn >> 18)
        fail(&next, "has not the slot of the one that was killed");
    oche_device_close(next.device);
    free(next.memory);
}

/* Keeps writing; kills the other after a while, and looks at what becomes of the rest. */
static void drive_kill(struct side *side)
{
    const struct options *options = side->options;
    const uint64_t messages = options->bytes / options->message;
    const oche_time configured = options->ack_timeout * (options->retries + 1);
    struct oche_completion done;
    uint64_t posted = 0, completed = 0, flushed = 0;
    oche_time killed = 0, found = 0;

    fill(side, PHASE_WRITE);
    while (found == 0 || completed < posted) {
        for (; found == 0 && posted - completed < options->in_flight; posted++)
            post_message(side, OCHE_WORK_WRITE, posted % messages);
        progress(side);
        while (oche_cq_poll(side->cq, &done, 1) == 1) {
            if (++completed == 50 && kill(options->child, SIGKILL) == 0)
                killed = oche_device_now(side->device);
            flushed += done.status == OCHE_STATUS_FLUSHED;
            if (done.status == OCHE_STATUS_RETRY_EXCEEDED && found == 0 && killed != 0)
                found = oche_device_now(side->device);
            else if (done.status != (found != 0 ? OCHE_STATUS_FLUSHED : OCHE_STATUS_SUCCESS))
                fail(side, "ended with status %u", done.status);
        }
    }
    printf("retry exceeded %" PRIu64 " ms after the other was killed, %" PRIu64 " flushed\n",
           (found - killed) / OCHE_MS, flushed);
    /* The last acknowledgement may have come a little after the kill; the standard allows 4 times
     * the timeout, and the machine may be busy. */
    if (found - killed < options->ack_timeout * options->retries ||
        found - killed > 4 * configured + OCHE_SEC)
        fail(side, "%u retries of %" PRIu64 " ms were configured", options->retries,
             options->ack_timeout / OCHE_MS);
    check_nothing_left(side);
}

/* The other process: receives every message and checks it. */
static void answer_all(struct side *side)
{
    const uint64_t messages = side->options->bytes / side->options->message;
    struct oche_completion done[RECEIVES];
    uint64_t posted = 0, received = 0;

    hear(side);
    check(side, PHASE_WRITE);
    fill(side, PHASE_READ);
    say(side, PHASE_READ);
    hear(side);
    if (side->options->only_write)
        return;
    memset(side->memory, 0, side->options->bytes);
    for (; posted < messages && posted < RECEIVES; posted++)
        post_receive(side, posted);
    say(side, PHASE_SEND);
    while (received < messages) {
        progress(side);
        for (unsigned i = 0, count = poll_completions(side, done, RECEIVES); i < count; i++) {
            if (done[i].wr_id != received++ || done[i].bytes != side->options->message)
                fail(side, "receive %" PRIu64 " is not what it should be", done[i].wr_id);
            if (posted < messages)
                post_receive(side, posted++);
        }
    }
    check(side, PHASE_SEND);
    say(side, PHASE_SEND);
    hear(side);
}

static void judge(struct side *side)
{
    struct oche_device_stats stats;
    uint64_t wrong = 0;

    oche_device_stats(side->device, &stats);
    for (unsigned i = 0; i < OCHE_WIRE_ERROR_COUNT; i++)
        wrong += stats.wrong[i];
    printf("%s: sent %" PRIu64 " packets in %" PRIu64 " datagrams, received %" PRIu64 " in %" PRIu64
           "; dropped %" PRIu64 " + %" PRIu64 ", retransmitted %" PRIu64 ", timeouts %" PRIu64
           ", NAKs %" PRIu64 ", kept %" PRIu64 ", RNR %" PRIu64 "\n",
           side->name, stats.sent_packets, stats.sent_datagrams, stats.received_packets,
           stats.received_datagrams, stats.dropped_sent, stats.dropped_received,
           stats.nic.retransmitted_packets, stats.nic.timeouts, stats.nic.naks_sent,
           stats.nic.placed_packets, stats.nic.rnr_naks_sent);
    if (side->options->congestion.cc != NULL)
        printf("%s: rate in the end %.3f Gbit/s\n", side->name,
               (double)oche_qp_rate_bps(side->qp) / 1e9);
    if (side->options->share)
        printf("%s: passed on %" PRIu64 ", taken over %" PRIu64 ", lost on that way %" PRIu64 "\n",
               side->name, stats.passed_on, stats.taken_over, stats.pass_lost);
    if (side->options->via != NULL) { /* the proxy damages packets: the script looks at how many */
        printf("%s: wrong %" PRIu64 ", doubtful %" PRIu64 "\n", side->name, wrong,
               stats.doubtful_ip_ids);
        wrong = stats.unexpected_ip_ids = 0;
    }
    if (wrong + stats.unexpected_ip_ids + stats.strangers + stats.send_errors > 0)
        fail(side, "packets were wrong");
    if (side->options->drop_ppm > 0 && stats.dropped_sent + stats.dropped_received == 0)
        fail(side, "nothing was dropped");
    if (!oche_device_close(side->device))
        fail(side, "%s is not whole", side->options->capture);
}

static void run(const struct options *options, unsigned index, int out_of_band)
{
    struct side side = {
        .options = options, .name = index == 0 ? "driver" : "answerer", .out_of_band = out_of_band};

    alarm(LIMIT_S);
    if (index == 1 && options->netns != NULL)
        enter_netns(&side);
    open_side(&side, index);
    connect_side(&side, index);
    if (index == 0)
        hear(&side); /* the other side is ready to receive */
    else
        say(&side, PHASE_BYE);
    if (options->kill && index == 1)
        for (;;) /* until it is killed */
            progress(&side);
    if (options->kill)
        drive_kill(&side);
    else if (options->hopeless)
        index == 0 ? drive_hopeless(&side) : answer_hopeless(&side);
    else
        index == 0 ? drive_all(&side) : answer_all(&side);
    judge(&side);
    free(side.memory);
}

/* ---- arguments ---- */

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct options *options = state->input;
    struct oche_error error;

    switch (key) {
    case 'b':
        options->bytes = strtoull(argument, NULL, 0);
        return 0;
    case 'm':
        options->message = strtoull(argument, NULL, 0);
        return 0;
    case 'u':
        options->mtu = (uint32_t)strtoul(argument, NULL, 0);
        return 0;
    case 'd':
        options->drop_ppm = (uint32_t)strtoul(argument, NULL, 0);
        return 0;
    case 'r':
        options->buffer = (uint32_t)strtoul(argument, NULL, 0);
        return 0;
    case 's':
        options->seed = strtoull(argument, NULL, 0);
        return 0;
    case 'c':
        options->capture = argument;
        return 0;
    case 'n':
        options->netns = argument;
        return 0;
    case 'R':
        if (!oche_recovery_parse(&options->schemes[0], argument, &error))
            argp_error(state, "--recovery: %s", error.text);
        options->schemes[1] = options->schemes[0];
        return 0;
    case 'P':
        if (!oche_recovery_parse(&options->schemes[1], argument, &error))
            argp_error(state, "--peer-recovery: %s", error.text);
        return 0;
    case 'C':
        if (!oche_cc_parse(&options->congestion, argument, &error))
            argp_error(state, "--congestion: %s", error.text);
        return 0;
    case 'l':
        options->line_rate_bps = strtoull(argument, NULL, 0) * OCHE_GBPS;
        return 0;
    case 'w':
        options->only_write = true;
        return 0;
    case 't':
        if (!oche_time_parse(argument, &options->ack_timeout, &error))
            argp_error(state, "--ack-timeout: %s", error.text);
        return 0;
    case 'a':
        options->ack_every = (uint32_t)strtoul(argument, NULL, 0);
        return 0;
    case 'y':
        options->retries = (uint32_t)strtoul(argument, NULL, 0);
        return 0;
    case 'f':
        options->in_flight = (uint32_t)strtoul(argument, NULL, 0);
        return 0;
    case 'V':
        options->via = argument;
        return 0;
    case 'L':
        options->lenient = true;
        return 0;
    case 'S':
        options->share = true;
        return 0;
    case 'K':
        options->kill = true;
        return 0;
    case 'H':
        options->hopeless = true;
        return 0;
    case ARGP_KEY_ARG:
        if (options->address_count == 2)
            argp_error(state, "two addresses");
        options->addresses[options->address_count++] = argument;
        return 0;
    case ARGP_KEY_END:
        if (options->address_count < 2)
            argp_error(state, "two addresses");
        if (options->message == 0 || options->bytes % options->message != 0 ||
            options->message % 8 != 0)
            argp_error(state, "bytes must be a multiple of message, message of 8");
        if (options->in_flight < 1 || options->in_flight > IN_FLIGHT)
            argp_error(state, "1 to %u messages in flight", IN_FLIGHT);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int main(int argc, char **argv)
{
    static const struct argp_option known[] = {
        {"bytes", 'b', "N", 0, "of each operation (64 MiB)", 0},
        {"message", 'm', "N", 0, "bytes of a message (1 MiB)", 0},
        {"mtu", 'u', "N", 0, "payload bytes of a packet (4096)", 0},
        {"drop", 'd', "N", 0, "packets of a million that are lost on the way (0)", 0},
        {"buffer", 'r', "N", 0, "bytes of the sockets' receive buffers (8 MiB)", 0},
        {"seed", 's', "N", 0, "of what is lost (1)", 0},
        {"capture", 'c', "FILE", 0, "what the driving process sends and receives", 0},
        {"recovery", 'R', "NAME[,KEY=VALUE…]", 0, "of both (go_back_n)", 0},
        {"peer-recovery", 'P', "NAME[,KEY=VALUE…]", 0, "of the answering one; after --recovery", 0},
        {"congestion", 'C', "NAME[,KEY=VALUE…]", 0, "congestion control of both (none)", 0},
        {"line-rate", 'l', "N", 0, "Gbit/s that the line is said to have (100)", 0},
        {"only-write", 'w', NULL, 0, "neither READ nor SEND", 0},
        {"ack-timeout", 't', "TIME", 0, "(20ms)", 0},
        {"ack-every", 'a', "N", 0, "packets of a message (16)", 0},
        {"retries", 'y', "N", 0, "(20)", 0},
        {"in-flight", 'f', "N", 0, "messages (16)", 0},
        {"hopeless", 'H', NULL, 0, "one WRITE, which must end with retry exceeded", 0},
        {"via", 'V', "ADDRESS", 0, "of a proxy, which each takes for the other", 0},
        {"lenient", 'L', NULL, 0, "as to IP identifications, as devices are by default", 0},
        {"share", 'S', NULL, 0, "the addresses, which may be the same one", 0},
        {"kill", 'K', NULL, 0, "the other process, in the middle of a transfer", 0},
        {"netns", 'n', "FILE", 0, "network namespace of the answering process", 0},
        {0},
    };
    static const struct argp argp = {
        .options = known, .parser = parse, .args_doc = "ADDRESS ADDRESS"};
    struct options options = {.bytes = 64 << 20,
                              .message = 1 << 20,
                              .mtu = 4096,
                              .seed = 1,
                              .ack_timeout = 20 * OCHE_MS,
                              .ack_every = 16,
                              .retries = 20,
                              .in_flight = IN_FLIGHT};
    int sockets[2], status;
    pid_t child;

    argp_parse(&argp, argc, argv, 0, NULL, &options);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
        return 2;
    fflush(stdout);
    child = fork();
    if (child < 0)
        return 2;
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(sockets[0]);
        run(&options, 1, sockets[1]);
        return 0;
    }
    close(sockets[1]);
    options.child = child;
    run(&options, 0, sockets[0]);
    if (waitpid(child, &status, 0) != child || status != (options.kill ? SIGKILL : 0))
        return 1;
    return 0;
}
