/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An incast: sixteen hosts of one switch send 50 MB each, all at once, to a seventeenth host. Links
 * of 100 Gbit/s and 1 µs, packets of 1000 bytes, an ACK per packet, DCQCN and PFC. With few nodes
 * and long queues, this shows the cost of a single busy port.
 */
#include "bench/support.h"

#define SENDERS       16
#define MESSAGE_BYTES UINT64_C(50000000)

static bool incast(const void *params, const struct oche_workload_facts *facts,
                   struct oche_flow_list *list, struct oche_error *error)
{
    (void)params;
    (void)error;
    for (uint32_t i = 1; i <= SENDERS; i++)
        oche_flow_list_add(list, facts->number, i, 0, MESSAGE_BYTES, 0);
    return true;
}

static const struct oche_workload_type incast_type = {
    .name = "bench", .table = &bench_no_params, .generate = incast};

int main(void)
{
    struct oche_world_config config;

    bench_config(&config, "star", &incast_type, NULL);
    bench_topology(&config, "hosts", SENDERS + 1);
    bench_topology(&config, "host_rate", 100 * OCHE_GBPS);
    config.run.duration = OCHE_SEC;
    bench_run(&config, "incast 16:1 of 50 MB");
    return 0;
}
