/* SPDX-License-Identifier: Apache-2.0 */
/* Two RNICs back to back: a WRITE of 1 MB over a link that loses every 200th packet. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/qp/nic.h"
#include "core/wire/extension.h"

#define BYTES 1000000
#define MTU   1024

struct host {
    struct oche_nic *nic;
    struct oche_cq *cq;
    struct oche_qp *qp;
    struct oche_trace trace;
    struct oche_trace_record ring[16];
    oche_time free; /* the port is, from then on */
    char memory[BYTES];
};

void oche_panic(const char *file, int line, const char *what)
{
    fprintf(stderr, "%s:%d: %s\n", file, line, what);
    abort();
}

static void *fresh(size_t bytes)
{
    void *memory = aligned_alloc(OCHE_CACHE_LINE, oche_lines(bytes));

    return memory == NULL ? (abort(), NULL) : memset(memory, 0, oche_lines(bytes));
}

/* A scheme's parameters as they are in equipment in use. */
static void *defaults(const struct oche_param_table *table)
{
    void *params = fresh(table->struct_bytes + 1);

    oche_param_preset(table, OCHE_PRESET_DEPLOYED, params);
    return params;
}

static void read_memory(void *context, const struct oche_region *region, uint64_t offset, void *to,
                        uint32_t bytes)
{
    (void)context;
    memcpy(to, (char *)region->base + offset, bytes);
}

static void write_memory(void *context, const struct oche_region *region, uint64_t offset,
                         const void *from, uint32_t bytes)
{
    (void)context;
    memcpy((char *)region->base + offset, from, bytes);
}

static const struct oche_nic_port port = {.read = read_memory, .write = write_memory};

static void open_host(struct host *host, uint32_t address, const char *cc, const char *recovery)
{
    struct oche_nic_config config = {.address = address,
                                     .line_rate_bps = 100 * OCHE_GBPS,
                                     .gap_bytes = OCHE_GAP_BYTES,
                                     .max_qps = 1,
                                     .max_regions = 1,
                                     .ecn_threshold_bytes = OCHE_NEVER,
                                     .cc = oche_cc_find(cc),
                                     .recovery = oche_recovery_find(recovery),
                                     .port = &port,
                                     .trace = &host->trace};
    struct oche_region region = {.length = BYTES, .key = 7, .pd = 1, .base = host->memory};
    struct oche_qp_config qp = {
        .qpn = 2, .pd = 1, .mtu_bytes = MTU, .send_depth = 4, .access = OCHE_ACCESS_REMOTE_WRITE};
    struct oche_qp_connection to = {.remote_address = 1 - address,
                                    .remote_qpn = 2,
                                    .ack_every_packets = 16,
                                    .ack_timeout = 100 * OCHE_US,
                                    .retry_count = 7,
                                    .extensions = true};

    region.access = OCHE_ACCESS_LOCAL_WRITE | OCHE_ACCESS_REMOTE_WRITE;
    oche_trace_init(&host->trace, address, host->ring, 16);
    config.cc_params = defaults(&config.cc->table);
    config.recovery_params = defaults(&config.recovery->table);
    host->nic = oche_nic_create(fresh(oche_nic_bytes(&config)), &config);
    host->cq = qp.send_cq = qp.recv_cq = oche_cq_create(fresh(oche_cq_bytes(4)), 4);
    host->qp = oche_qp_create(host->nic, fresh(oche_qp_bytes(host->nic, &qp)), &qp);
    if (!oche_nic_add_region(host->nic, &region) || !oche_qp_init(host->qp, 0) ||
        !oche_qp_ready_to_receive(host->qp, &to, 0) || !oche_qp_ready_to_send(host->qp, 0))
        abort();
}

/* Sends what the host has to send now to the other one; returns when it will have more. */
static oche_time turn(struct host *host, struct host *other, oche_time now)
{
    static unsigned sent;
    uint8_t payload[MTU];
    struct oche_packet packet = {.payload = payload}, *out = &packet;
    oche_time next;

    oche_nic_expire(host->nic, now);
    if (host->free <= now && oche_nic_transmit(host->nic, now, now, 0xff, &out, 1) == 1) {
        uint32_t bytes = oche_packet_frame_bytes(&packet, false) + OCHE_GAP_BYTES;

        host->free = now + oche_time_of_bytes(bytes, 100 * OCHE_GBPS);
        if (++sent % 200 != 0)
            oche_nic_receive(other->nic, &packet, now);
    }
    next = oche_nic_next(host->nic, 0xff);
    if (next < host->free) /* the port is busy until then; timers do not wait for it */
        next = oche_time_min(host->free, oche_nic_next_timer(host->nic));
    return next > now ? next : now + 1;
}

int main(int argc, char **argv)
{
    const char *cc = argc > 1 ? argv[1] : "dcqcn", *recovery = argc > 2 ? argv[2] : "go_back_n";
    struct host *host = fresh(2 * sizeof(*host));
    struct oche_send_work work = {
        .opcode = OCHE_WORK_WRITE, .flags = OCHE_WORK_SIGNALED, .rkey = 7};
    struct oche_completion done;
    oche_time now = 0;

    if (oche_cc_find(cc) == NULL || oche_recovery_find(recovery) == NULL) {
        fprintf(stderr, "two_nics: there is no scheme %s, or no recovery %s\n", cc, recovery);
        return 2;
    }
    for (uint32_t i = 0; i < 2; i++)
        open_host(&host[i], i, cc, recovery);
    memset(host[0].memory, 'x', BYTES);
    work.sge_count = 1;
    work.sge[0] = (struct oche_sge){.length = BYTES, .lkey = 7};
    if (oche_qp_post_send(host[0].qp, &work) != 0)
        return 1;
    for (oche_time next = 0; oche_cq_poll(host[0].cq, &done, 1) == 0;) {
        now = next;
        next = turn(&host[0], &host[1], now);
        next = oche_time_min(next, turn(&host[1], &host[0], now));
    }
    printf("%s: %.1f us, %llu packets sent again, data %s\n",
           done.status == OCHE_STATUS_SUCCESS ? "done" : "failed", (double)now / OCHE_US,
           (unsigned long long)oche_nic_stats(host[0].nic)->retransmitted_packets,
           memcmp(host[0].memory, host[1].memory, BYTES) == 0 ? "equal" : "not equal");
    return 0;
}
