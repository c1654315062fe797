/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The wire's throughput over loopback: RC WRITEs of 64 KiB in packets of 4 KiB, from one process to
 * another, each on a core of its own; both ends compute the ICRC and copy the payload. Prints
 * payload Gbit/s and packets per datagram.
 *
 *     build/bench/bench_wire_loopback [seconds [message bytes [mtu]]]
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device/device.h"

#define IN_FLIGHT 16
#define SPINS     1000 /* empty polls before sleeping, in case the other end needs this core */

struct endpoint {
    uint64_t va;
    uint32_t key, qpn;
};

struct side {
    struct oche_device *device;
    struct oche_cq *cq;
    struct oche_qp *qp;
    uint8_t *memory;
    uint32_t message, mtu;
    struct endpoint mine, theirs;
    unsigned idle;
};

_Noreturn void oche_panic(const char *file, int line, const char *what)
{
    fprintf(stderr, "%s:%d: broken: %s\n", file, line, what);
    abort();
}

static _Noreturn void fail(const char *what)
{
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static const char *const addresses[2] = {"127.0.0.101", "127.0.0.102"};

static void set_up(struct side *side, unsigned index, int out_of_band)
{
    const size_t bytes = (size_t)IN_FLIGHT * side->message;
    const struct oche_device_config config = {.address = addresses[index], .mtu_bytes = side->mtu};
    struct oche_qp_config qp = {.transport = OCHE_TRANSPORT_RC,
                                .mtu_bytes = side->mtu,
                                .send_depth = IN_FLIGHT,
                                .access = OCHE_ACCESS_REMOTE_WRITE};
    struct oche_qp_connection connection = {
        .ack_every_packets = 64, .ack_timeout = 100 * OCHE_MS, .retry_count = 7};
    struct oche_error error;
    char ready;

    side->device = oche_device_open(&config, &error);
    if (side->device == NULL)
        fail(error.text);
    side->memory = calloc(1, bytes);
    side->cq = qp.send_cq = qp.recv_cq = oche_device_create_cq(side->device, 64);
    side->qp = oche_device_create_qp(side->device, &qp);
    side->mine = (struct endpoint){
        .va = (uint64_t)(uintptr_t)side->memory,
        .key = oche_device_register(side->device, side->memory, bytes, OCHE_ACCESS_REMOTE_WRITE),
        .qpn = oche_qp_number(side->qp)};
    if (send(out_of_band, &side->mine, sizeof(side->mine), 0) < 0 ||
        recv(out_of_band, &side->theirs, sizeof(side->theirs), MSG_WAITALL) < 0)
        fail("no exchange");
    connection.remote_address = oche_device_peer(side->device, addresses[1 - index]);
    connection.remote_qpn = side->theirs.qpn;
    connection.window_packets = oche_device_window_packets(side->device, side->mtu);
    if (!oche_device_connect(side->device, side->qp, &connection))
        fail("no connection");
    if (send(out_of_band, "", 1, 0) != 1 || recv(out_of_band, &ready, 1, MSG_WAITALL) != 1)
        fail("no exchange");
}

static void progress(struct side *side)
{
    const uint32_t since = oche_device_events(side->device);

    if (oche_device_progress(side->device) > 0)
        side->idle = 0;
    else if (++side->idle > SPINS)
        oche_device_wait(side->device, since, OCHE_SEC);
}

static void write_on(struct side *side, double seconds)
{
    const oche_time start = oche_device_now(side->device);
    const oche_time limit = (oche_time)(seconds * (double)OCHE_SEC);
    struct oche_completion done[IN_FLIGHT];
    struct oche_device_stats stats;
    uint64_t posted = 0, completed = 0;
    oche_time took;

    do {
        for (; posted - completed < IN_FLIGHT; posted++) {
            const uint64_t offset = posted % IN_FLIGHT * side->message;
            const struct oche_send_work work = {.opcode = OCHE_WORK_WRITE,
                                                .flags = OCHE_WORK_SIGNALED,
                                                .sge_count = 1,
                                                .remote_va = side->theirs.va + offset,
                                                .rkey = side->theirs.key,
                                                .sge = {{.va = side->mine.va + offset,
                                                         .length = side->message,
                                                         .lkey = side->mine.key}}};

            if (oche_device_post_send(side->device, side->qp, &work) != 0)
                fail("cannot post");
        }
        progress(side);
        for (unsigned i = 0, count = oche_cq_poll(side->cq, done, IN_FLIGHT); i < count; i++) {
            if (done[i].status != OCHE_STATUS_SUCCESS)
                fail("a WRITE failed");
            completed++;
        }
        took = oche_device_now(side->device) - start;
    } while (took < limit);
    oche_device_stats(side->device, &stats);
    printf("wire loopback: WRITE %u B, MTU %u: %.2f Gbit/s, %.1f packets a datagram, "
           "%.2f %% retransmitted\n",
           side->message, side->mtu, (double)oche_rate_of(completed * side->message, took) / 1e9,
           (double)stats.sent_packets / (double)stats.sent_datagrams,
           100.0 * (double)stats.nic.retransmitted_packets / (double)stats.sent_packets);
}

int main(int argc, char **argv)
{
    struct side side = {.message = argc > 2 ? (uint32_t)atoi(argv[2]) : 65536,
                        .mtu = argc > 3 ? (uint32_t)atoi(argv[3]) : 4096};
    int sockets[2];
    pid_t child;

    if (side.message == 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0)
        return 2;
    child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        set_up(&side, 1, sockets[1]);
        for (;;) /* until the parent ends this process */
            progress(&side);
    }
    set_up(&side, 0, sockets[0]);
    write_on(&side, argc > 1 ? atof(argv[1]) : 2.0);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    return 0;
}
