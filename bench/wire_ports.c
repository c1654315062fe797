/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cost of source ports: processor time per packet, of both ends together. Two devices in one
 * thread WRITE 64 KiB at a time over loopback, with several numbers of ports and queue pairs, and
 * packets of 4 KiB and 1 KiB. Processor time is measured because other programs disturb it less
 * than elapsed time; the lowest of three turns counts.
 *
 *     build/bench/bench_wire_ports [--long]      --long: six times as many messages
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "device/device.h"

#define MESSAGE     65536
#define MESSAGES    500
#define LONG        6 /* times as many with --long */
#define WARM_UP     5 /* the first of so many parts of the messages is for warm-up */
#define TURNS       3
#define QPS         64
#define OUTSTANDING 64 /* messages in flight on all queue pairs; the socket buffer holds more */
#define DEPTH       16

struct end {
    struct oche_device *device;
    struct oche_cq *cq;
    struct oche_qp *qps[QPS];
    uint8_t *memory;
    uint32_t key;
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

static double processor_ns(void)
{
    struct timespec time;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void open_end(struct end *end, const char *address, uint32_t ports, unsigned qps,
                     uint32_t mtu, uint64_t seed)
{
    const struct oche_device_config config = {
        .address = address, .mtu_bytes = mtu, .share = true, .source_ports = ports, .seed = seed};
    struct oche_error error;

    end->device = oche_device_open(&config, &error);
    if (end->device == NULL)
        fail(error.text);
    end->memory = calloc(1, MESSAGE);
    end->key = oche_device_register(end->device, end->memory, MESSAGE,
                                    OCHE_ACCESS_LOCAL_WRITE | OCHE_ACCESS_REMOTE_WRITE);
    end->cq = oche_device_create_cq(end->device, 4 * OUTSTANDING);
    for (unsigned i = 0; i < qps; i++) {
        const struct oche_qp_config qp = {.transport = OCHE_TRANSPORT_RC,
                                          .mtu_bytes = mtu,
                                          .send_depth = DEPTH,
                                          .access = OCHE_ACCESS_REMOTE_WRITE,
                                          .send_cq = end->cq,
                                          .recv_cq = end->cq};

        end->qps[i] = oche_device_create_qp(end->device, &qp);
        if (end->qps[i] == NULL)
            fail("no queue pair");
    }
}

static void connect_to(struct end *end, const struct end *peer, const char *address, unsigned qps)
{
    for (unsigned i = 0; i < qps; i++) {
        const struct oche_qp_connection connection = {.remote_address =
                                                          oche_device_peer(end->device, address),
                                                      .remote_qpn = oche_qp_number(peer->qps[i]),
                                                      .ack_every_packets = 64,
                                                      .ack_timeout = OCHE_SEC,
                                                      .retry_count = 7};

        if (!oche_device_connect(end->device, end->qps[i], &connection))
            fail("no connection");
    }
}

static void post(const struct end *from, const struct end *to, uint64_t qp)
{
    const struct oche_send_work work = {
        .wr_id = qp,
        .opcode = OCHE_WORK_WRITE,
        .flags = OCHE_WORK_SIGNALED,
        .sge_count = 1,
        .remote_va = (uint64_t)(uintptr_t)to->memory,
        .rkey = to->key,
        .sge = {{(uint64_t)(uintptr_t)from->memory, MESSAGE, from->key}}};

    if (oche_device_post_send(from->device, from->qps[qp], &work) != 0)
        fail("nothing more can be posted");
}

/* Returns nanoseconds per packet; sets *shared to packets per datagram. */
static double measure(uint32_t ports, unsigned qps, uint32_t mtu, unsigned messages, double *shared)
{
    const unsigned warm_up = messages / WARM_UP;
    const unsigned depth = OUTSTANDING / qps < DEPTH ? OUTSTANDING / qps : DEPTH;
    struct oche_device_stats stats;
    struct oche_completion done[16];
    struct end a, b;
    double start = 0;
    unsigned completed = 0;

    open_end(&a, "127.0.0.101", ports, qps, mtu, 5);
    open_end(&b, "127.0.0.102", ports, qps, mtu, 6);
    connect_to(&a, &b, "127.0.0.102", qps);
    connect_to(&b, &a, "127.0.0.101", qps);
    for (unsigned i = 0; i < depth * qps; i++)
        post(&a, &b, i % qps);
    while (completed < messages) {
        unsigned count;

        oche_device_progress(a.device);
        oche_device_progress(b.device);
        count = oche_cq_poll(a.cq, done, 16);
        if (completed < warm_up && completed + count >= warm_up)
            start = processor_ns();
        completed += count;
        for (unsigned i = 0; i < count; i++) {
            if (done[i].status != OCHE_STATUS_SUCCESS)
                fail("a message failed");
            post(&a, &b, done[i].wr_id);
        }
    }
    start = processor_ns() - start;
    oche_device_stats(a.device, &stats);
    *shared = (double)stats.sent_packets / (double)stats.sent_datagrams;
    oche_device_close(a.device);
    oche_device_close(b.device);
    free(a.memory);
    free(b.memory);
    return start / ((double)(messages - warm_up) * (MESSAGE / mtu));
}

int main(int argc, char **argv)
{
    const bool longer = argc == 2 && strcmp(argv[1], "--long") == 0;
    const unsigned messages = longer ? LONG * MESSAGES : MESSAGES;
    static const uint32_t ports[] = {1, 2, 4, 8, 16}, mtus[] = {4096, 1024};
    static const unsigned qps[] = {1, 4, 16, 64};

    for (unsigned m = 0; m < 2; m++)
        for (unsigned q = 0; q < 4; q++) {
            double least[5], shared[5];

            for (unsigned turn = 0; turn < TURNS; turn++)
                for (unsigned p = 0; p < 5; p++) {
                    const double ns = measure(ports[p], qps[q], mtus[m], messages, &shared[p]);

                    least[p] = turn == 0 || ns < least[p] ? ns : least[p];
                }
            for (unsigned p = 0; p < 5; p++)
                printf("wire_ports: packets of %u, %2u queue pairs, %2u ports: %5.0f ns a packet, "
                       "%.2f times one port's; %4.1f packets a datagram\n",
                       mtus[m], qps[q], ports[p], least[p], least[p] / least[0], shared[p]);
        }
    return 0;
}
