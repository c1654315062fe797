/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small world, captured at every host: 8 to 1 incast of 100 KB under DCQCN and PFC, with payload;
 * one packet in 500 is lost. Prints the RNICs' counters, for a comparison with the capture.
 *
 * usage: simulated_capture FILE ipv4|ipv6
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/cc/cc.h"
#include "core/recovery/recovery.h"
#include "sim/capture/capture.h"
#include "sim/world/world.h"

#define HOSTS 9

void oche_panic(const char *file, int line, const char *what)
{
    fprintf(stderr, "%s:%d: %s\n", file, line, what);
    abort();
}

static void set(const struct oche_param_table *table, void *values, const char *name,
                uint64_t value)
{
    const struct oche_param *param = oche_param_find(table, name);

    OCHE_MUST(param != NULL);
    oche_param_set(param, values, (union oche_value){.u = value});
}

static void *defaults(const struct oche_param_table *table)
{
    void *values = calloc(1, table->struct_bytes + 1);

    OCHE_MUST(values != NULL);
    oche_param_defaults(table, values);
    return values;
}

static void print_totals(const struct oche_world *world, const struct oche_capture *capture)
{
    struct oche_world_totals totals;

    oche_world_totals(world, &totals);
    printf("completed %" PRIu64 "\n", totals.flows_completed);
    printf("corrupt %" PRIu64 "\n", totals.corrupt_bytes);
    printf("frames %" PRIu64 "\n", oche_capture_frames(capture));
    printf("skipped %" PRIu64 "\n", oche_capture_skipped(capture));
    printf("data_sent %" PRIu64 "\n", totals.nic.data_packets_sent);
    printf("data_received %" PRIu64 "\n", totals.nic.data_packets_received);
    printf("retransmitted %" PRIu64 "\n", totals.nic.retransmitted_packets);
    printf("cnps_sent %" PRIu64 "\n", totals.nic.cnps_sent);
    printf("cnps_received %" PRIu64 "\n", totals.nic.cnps_received);
    printf("naks_sent %" PRIu64 "\n", totals.nic.naks_sent);
    printf("naks_received %" PRIu64 "\n", totals.nic.naks_received);
    printf("ce_received %" PRIu64 "\n", totals.nic.ce_received);
    printf("pauses_received %" PRIu64 "\n", totals.pauses_received_by_hosts);
}

int main(int argc, char **argv)
{
    static const uint32_t taps[HOSTS] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    const struct oche_topology_type *star = oche_topology_type_find("star");
    const struct oche_workload_type *incast = oche_workload_type_find("incast");
    struct oche_world_config config = {.seed = 1, .threads = 1};
    struct oche_workload_config workload = {.type = incast};
    void *topology, *flows, *cc, *recovery;
    struct oche_capture *capture;
    struct oche_world *world;
    struct oche_error error = {"usage: simulated_capture FILE ipv4|ipv6"};

    capture = argc == 3 ? oche_capture_create(argv[1], &error) : NULL;
    if (capture == NULL) {
        fprintf(stderr, "%s\n", error.text);
        return 2;
    }
    topology = defaults(star->table);
    set(star->table, topology, "hosts", HOSTS);
    flows = defaults(incast->table);
    set(incast->table, flows, "degree", HOSTS - 1);
    set(incast->table, flows, "bytes", 100000);
    workload.params = flows;
    oche_param_defaults(&oche_run_params, &config.run);
    config.run.duration = 20 * OCHE_MS;
    config.run.warmup = 0;
    config.run.payload = true;
    oche_param_defaults(&oche_measure_params, &config.measure);
    oche_param_defaults(&oche_loss_params, &config.loss);
    config.loss.probability = 1.0 / 512;
    oche_param_defaults(&oche_host_params, &config.hosts);
    config.hosts.ipv6 = strcmp(argv[2], "ipv6") == 0;
    oche_param_defaults(&oche_switch_params, &config.switches);
    config.switches.threshold = OCHE_THRESHOLD_STATIC;
    config.switches.xoff_bytes = 20000;
    config.topology = star;
    config.topology_params = topology;
    config.cc = oche_cc_find("dcqcn");
    config.cc_params = cc = defaults(&config.cc->table);
    config.recovery = oche_recovery_find("go_back_n");
    config.recovery_params = recovery = defaults(&config.recovery->table);
    config.workloads = &workload;
    config.workload_count = 1;
    config.tap = oche_capture_tap;
    config.tap_context = capture;
    config.tap_ports = taps;
    config.tap_port_count = HOSTS;

    world = oche_world_create(&config, &error);
    if (world == NULL) {
        fprintf(stderr, "%s\n", error.text);
        return 2;
    }
    oche_capture_attach(capture, oche_world_network(world));
    oche_world_run(world, NULL, NULL);
    print_totals(world, capture);
    oche_world_free(world);
    free(topology);
    free(flows);
    free(cc);
    free(recovery);
    if (oche_capture_finish(capture, &error))
        return 0;
    fprintf(stderr, "%s\n", error.text);
    return 1;
}
