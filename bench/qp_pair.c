/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The RNIC alone: pairs of hosts that WRITE, with an ACK per packet and no network in between.
 * Prints the time for one data packet: to transmit the packet, receive it, build its ACK and
 * receive the ACK. Also prints the cost with Dart as a multiple of the cost with DCQCN, and the
 * limit for this multiple. With few pairs all state is in the first-level cache, with many pairs
 * none is. Each round visits every pair once, as the events of a simulation visit hosts. As in a
 * simulation, memory is on huge pages, and congestion control's tables are kept apart.
 *
 * The schemes take turns, and the lowest time of each scheme counts, since other load on the
 * machine can only increase times.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "core/qp/nic.h"
#include "core/recovery/go_back_n.h"

#define LINE    (100 * OCHE_GBPS)
#define MTU     1000
#define MESSAGE (2 * 1000 * 1000)
#define PACKETS 500000
#define LONG    4 /* times as many packets with --long */
#define TURNS   3
#define BAR     1.3
#define HUGE    ((size_t)2 << 20)
#define PACKET  (82 * OCHE_NS) /* slightly more than a packet's time on the line */

_Noreturn void oche_panic(const char *file, int line, const char *what)
{
    fprintf(stderr, "%s:%d: %s\n", file, line, what);
    abort();
}

struct host {
    struct oche_nic *nic;
    struct oche_cq *cq;
    struct oche_trace trace;
    struct oche_trace_record ring[16];
    struct oche_qp **qps;
};

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* The memory of one run, allocated side by side. Untouched pages cost nothing. */
struct pool {
    char *memory;
    size_t bytes, used;
};

static struct pool near, far;

static void pool_open(struct pool *pool, size_t bytes)
{
    pool->bytes = (bytes + HUGE - 1) / HUGE * HUGE;
    pool->used = 0;
    pool->memory = aligned_alloc(HUGE, pool->bytes);
    if (pool->memory == NULL)
        abort();
    madvise(pool->memory, pool->bytes,
            MADV_HUGEPAGE); /* if this fails, the bench is slower, but runs */
}

static void *take(struct pool *pool, size_t bytes)
{
    void *m = pool->memory + pool->used;

    pool->used += (bytes + OCHE_CACHE_LINE - 1) / OCHE_CACHE_LINE * OCHE_CACHE_LINE;
    if (pool->used > pool->bytes)
        abort();
    memset(m, 0, bytes);
    return m;
}

static const struct oche_nic_port port = {0};

static void open_host(struct host *host, uint32_t address, uint32_t qps,
                      const struct oche_cc_scheme *cc, const void *cc_params,
                      const struct oche_go_back_n_params *recovery)
{
    struct oche_nic_config config = {
        .address = address,
        .line_rate_bps = LINE,
        .gap_bytes = OCHE_GAP_BYTES,
        .max_qps = qps,
        .max_regions = 1,
        .ecn_threshold_bytes = OCHE_NEVER,
        .cc = cc,
        .cc_params = cc_params,
        .recovery = &oche_recovery_go_back_n,
        .recovery_params = recovery,
        .port = &port,
        .trace = &host->trace,
    };
    struct oche_region all = {.length = UINT64_C(1) << 40, .key = 1, .access = 15, .pd = 1};

    oche_trace_init(&host->trace, address, host->ring, 16);
    config.tables = take(&far, oche_nic_table_bytes(&config));
    host->nic = oche_nic_create(take(&near, oche_nic_bytes(&config)), &config);
    host->cq = oche_cq_create(take(&near, oche_cq_bytes(64)), 64);
    host->qps = take(&near, qps * sizeof(host->qps[0]));
    if (!oche_nic_add_region(host->nic, &all))
        abort();
    for (uint32_t i = 0; i < qps; i++) {
        struct oche_qp_config qp = {
            .qpn = 16 + i,
            .traffic_class = 1,
            .pkey = 0xffff,
            .pd = 1,
            .mtu_bytes = MTU,
            .send_depth = 2,
            .access = 15,
            .send_cq = host->cq,
        };
        struct oche_qp_connection to = {
            .remote_address = address ^ 1,
            .remote_qpn = 16 + i,
            .ack_every_packets = 1,
            .ack_timeout = 10 * OCHE_MS,
            .retry_count = 7,
        };
        host->qps[i] = oche_qp_create(host->nic, take(&near, oche_qp_bytes(host->nic, &qp)), &qp);
        if (host->qps[i] == NULL || !oche_qp_init(host->qps[i], 0) ||
            !oche_qp_ready_to_receive(host->qps[i], &to, 0) ||
            !oche_qp_ready_to_send(host->qps[i], 0))
            abort();
    }
}

static void post_more(struct host *host, uint32_t qps)
{
    struct oche_completion done;

    while (oche_cq_poll(host->cq, &done, 1) > 0) {
        struct oche_send_work work = {.opcode = OCHE_WORK_WRITE,
                                      .flags = OCHE_WORK_SIGNALED,
                                      .sge_count = 1,
                                      .rkey = 1,
                                      .sge[0] = {.length = MESSAGE, .lkey = 1}};
        if (done.status != OCHE_STATUS_SUCCESS ||
            oche_qp_post_send(host->qps[(done.qpn - 16) % qps], &work) != 0)
            abort();
    }
}

/* Moves one data packet from `a` to `b`, and its ACK back. Returns 0 if `a` sends nothing, else 1.
 */
static uint64_t exchange(struct host *a, struct host *b, struct oche_packet *packet, oche_time now)
{
    if (oche_nic_next_timer(a->nic) <= now)
        oche_nic_expire(a->nic, now);
    if (oche_nic_next_timer(b->nic) <= now)
        oche_nic_expire(b->nic, now);
    if (oche_nic_transmit(a->nic, now, now, 0xff, &packet, 1) == 0)
        return 0;
    oche_nic_receive(b->nic, packet, now + OCHE_US);
    if (oche_nic_transmit(b->nic, now + OCHE_US, now + OCHE_US, 0xff, &packet, 1) == 0)
        return 1; /* no ACK now; the ACK of a later packet covers this one */
    oche_nic_receive(a->nic, packet, now + 2 * OCHE_US);
    return 1;
}

static void open_all(struct host *hosts, uint32_t pairs, uint32_t qps, uint64_t limit_bps,
                     const struct oche_cc_scheme *cc, const void *cc_params,
                     const struct oche_go_back_n_params *recovery, oche_time now)
{
    const struct oche_send_work work = {.opcode = OCHE_WORK_WRITE,
                                        .flags = OCHE_WORK_SIGNALED,
                                        .sge_count = 1,
                                        .rkey = 1,
                                        .sge[0] = {.length = MESSAGE, .lkey = 1}};

    for (uint32_t i = 0; i < 2 * pairs; i++)
        open_host(&hosts[i], i, qps, cc, cc_params, recovery);
    for (uint32_t i = 0; i < pairs * qps; i++) {
        struct oche_qp *qp = hosts[2 * (i / qps)].qps[i % qps];
        if (limit_bps > 0)
            oche_qp_set_rate_limit(qp, limit_bps, now);
        if (oche_qp_post_send(qp, &work) != 0)
            abort();
    }
}

/* Returns the time per data packet, in nanoseconds. */
static double run(const char *scheme, uint32_t pairs, uint32_t qps, uint64_t limit_bps,
                  uint64_t wanted)
{
    const struct oche_cc_scheme *cc = oche_cc_find(scheme);
    struct oche_go_back_n_params recovery = {.nak_interval = 500 * OCHE_US, .nak_exception = true};
    uint64_t packets = 0;
    oche_time now = 10 * OCHE_US;
    double start = 0;

    pool_open(&near, HUGE + (size_t)pairs * (16 + 8 * (size_t)qps) * 1024);
    pool_open(&far, HUGE + (size_t)pairs * 256 * 1024);
    struct host *hosts = take(&near, 2 * pairs * sizeof(*hosts));
    struct oche_packet *packet = take(&near, sizeof(*packet));
    void *cc_params = take(&near, cc->table.struct_bytes + 1);
    oche_param_defaults(&cc->table, cc_params);
    open_all(hosts, pairs, qps, limit_bps, cc, cc_params, &recovery, now);
    while (packets < wanted + wanted / 4) {
        if (start == 0 && packets >= wanted / 4)
            start = seconds();
        now += PACKET;
        for (uint32_t i = 0; i < pairs; i++) {
            struct host *a = &hosts[2 * i];
            packets += exchange(a, a + 1, packet, now);
            post_more(a, qps);
        }
    }
    double ns = (seconds() - start) * 1e9 / (double)wanted;
    free(near.memory);
    free(far.memory);
    return ns;
}

static void compare(uint32_t pairs, uint32_t qps, uint64_t limit_bps, uint64_t packets)
{
    double dcqcn = 1e9, dart = 1e9;

    for (int turn = 0; turn < TURNS; turn++) {
        double ns = run("dcqcn", pairs, qps, limit_bps, packets);
        dcqcn = ns < dcqcn ? ns : dcqcn;
        ns = run("dart", pairs, qps, limit_bps, packets);
        dart = ns < dart ? ns : dart;
    }
    printf("qp_pair: %4u pairs of hosts, %2u queue pairs each, %s: dcqcn %4.0f, dart %4.0f ns a "
           "packet: %.2f times; the bar is %.1f: %s\n",
           pairs, qps, limit_bps > 0 ? "paced    " : "line rate", dcqcn, dart, dart / dcqcn, BAR,
           dart <= BAR * dcqcn ? "met" : "not met");
    fflush(stdout);
}

/*
 * Without arguments runs everything, with --long for longer; with arguments, for counting
 * instructions: SCHEME PAIRS QPS LIMITED PACKETS
 */
int main(int argc, char **argv)
{
    static const uint32_t pairs[] = {1, 512, 2048};
    const uint64_t packets = argc == 2 && strcmp(argv[1], "--long") == 0 ? LONG * PACKETS : PACKETS;

    if (argc == 6) {
        uint32_t qps = (uint32_t)atoi(argv[3]);
        uint64_t limit = atoi(argv[4]) == 0 ? 0 : LINE / (qps == 1 ? 1 : qps + 2) / 10 * 9;
        printf("qp_pair: %.0f ns a packet\n",
               run(argv[1], (uint32_t)atoi(argv[2]), qps, limit, strtoull(argv[5], NULL, 10)));
        return 0;
    }
    printf("qp_pair:    1 pair of hosts without congestion control: %.0f ns a packet\n",
           run("none", 1, 1, 0, packets));
    for (unsigned i = 0; i < OCHE_COUNT_OF(pairs); i++) {
        compare(pairs[i], 1, 0, packets);
        compare(pairs[i], 1, LINE / 10 * 9, packets);
        if (pairs[i] <= 512)
            compare(pairs[i], 16, LINE / 18, packets);
    }
    return 0;
}
