/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulator's bench: a fat tree in which every host sends to one other (a random permutation)
 * and receives from one other, 2 MB messages back to back, 1000-byte packets, 100 Gbit/s and 1 µs
 * links, an ACK a packet, DCQCN and PFC, the default measures; 5 ms after 1 ms of warm-up. Prints
 * packet-hops a second: one packet, control included, leaving one transmitter onto one link.
 *
 *     bench_fat_tree [K [THREADS [DURATION_US]]]       K ports a switch, K^3/4 hosts
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "sim/world/world.h"

#define MESSAGE_BYTES UINT64_C(2000000)
#define WARMUP        OCHE_MS

_Noreturn void oche_panic(const char *file, int line, const char *what)
{
    fprintf(stderr, "%s:%d: %s\n", file, line, what);
    abort();
}

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Each host to the next in a random cycle; as many messages as could ever fit. */
static bool permutation(const void *params, const struct oche_workload_facts *facts,
                        struct oche_flow_list *list, char *error, size_t error_bytes)
{
    struct oche_random random = oche_random_stream(facts->seed, "bench permutation", 0);
    uint32_t hosts = facts->host_count;
    uint32_t *cycle = malloc(hosts * sizeof(*cycle));
    uint32_t messages =
        (uint32_t)(facts->duration / oche_time_of_bytes(MESSAGE_BYTES, facts->host_rate_bps)) + 1;

    (void)params;
    (void)error;
    (void)error_bytes;
    for (uint32_t i = 0; i < hosts; i++)
        cycle[i] = i;
    for (uint32_t i = hosts - 1; i > 0; i--) {
        uint32_t other = (uint32_t)oche_random_below(&random, i + 1), keep = cycle[i];
        cycle[i] = cycle[other];
        cycle[other] = keep;
    }
    for (uint32_t i = 0; i < hosts; i++)
        for (uint32_t m = 0; m < messages; m++) {
            uint32_t flow =
                oche_flow_list_add(list, facts->number, cycle[i], cycle[(i + 1) % hosts],
                                   MESSAGE_BYTES, m == 0 ? 0 : OCHE_NEVER);
            if (m > 0)
                list->plan[flow - 1].then_same_source = flow;
        }
    free(cycle);
    return true;
}

static const struct oche_workload_type permutation_type = {.name = "bench",
                                                           .generate = permutation};

static void set(const struct oche_param_table *table, void *values, const char *name, uint64_t to)
{
    const struct oche_param *param = oche_param_find(table, name);

    if (param == NULL) {
        fprintf(stderr, "no parameter %s\n", name);
        exit(2);
    }
    oche_param_set(param, values, (union oche_value){.u = to});
}

static long peak_mib(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss / 1024;
}

struct mark {
    double time;
    uint64_t hops;
};

/* When the warm-up is over, the clock starts. */
static void report(void *context, const struct oche_progress *progress)
{
    struct mark *mark = context;

    if (mark->hops == 0 && progress->now >= WARMUP)
        *mark = (struct mark){.time = seconds(), .hops = progress->hops};
}

int main(int argc, char **argv)
{
    uint64_t k = argc > 1 ? strtoull(argv[1], NULL, 10) : 16;
    uint32_t threads = argc > 2 ? (uint32_t)atoi(argv[2]) : 1;
    uint64_t after_us = argc > 3 ? strtoull(argv[3], NULL, 10) : 5000;
    double start = seconds();
    char error[512];
    struct mark mark = {0};

    const struct oche_topology_type *topology = oche_topology_type_find("fat_tree");
    void *topology_params = calloc(1, topology->table->struct_bytes);
    oche_param_defaults(topology->table, topology_params);
    set(topology->table, topology_params, "k", k);
    set(topology->table, topology_params, "link_rate", 100 * OCHE_GBPS);
    set(topology->table, topology_params, "delay", OCHE_US);
    const struct oche_cc_scheme *cc = oche_cc_find("dcqcn");
    void *cc_params = calloc(1, cc->table.struct_bytes);
    oche_param_defaults(&cc->table, cc_params);
    const struct oche_recovery_scheme *recovery = oche_recovery_find("go_back_n");
    void *recovery_params = calloc(1, recovery->table.struct_bytes);
    oche_param_defaults(&recovery->table, recovery_params);
    struct oche_workload_config workload = {.type = &permutation_type};
    struct oche_world_config config = {
        .seed = 1,
        .threads = threads,
        .topology = topology,
        .topology_params = topology_params,
        .cc = cc,
        .cc_params = cc_params,
        .recovery = recovery,
        .recovery_params = recovery_params,
        .workloads = &workload,
        .workload_count = 1,
    };
    oche_param_defaults(&oche_run_params, &config.run);
    oche_param_defaults(&oche_measure_params, &config.measure);
    oche_param_defaults(&oche_loss_params, &config.loss);
    oche_param_defaults(&oche_switch_params, &config.switches);
    oche_param_defaults(&oche_host_params, &config.hosts);
    config.run.warmup = WARMUP;
    config.run.duration = WARMUP + after_us * OCHE_US;
    config.hosts.mtu_bytes = 1000;
    struct oche_world *world = oche_world_create(&config, error, sizeof(error));
    if (world == NULL) {
        fprintf(stderr, "%s\n", error);
        return 2;
    }
    double setup = seconds() - start;
    oche_world_run(world, report, &mark);
    double took = seconds() - mark.time;
    struct oche_world_totals totals;
    oche_world_totals(world, &totals);
    uint64_t marks = 0, drops = 0;
    for (unsigned i = 0; i < OCHE_PLACES; i++)
        marks += totals.marks[i];
    for (unsigned i = 0; i < OCHE_DROP_CAUSES; i++)
        drops += totals.drops[i];
    printf("hosts=%u%s: %.2f M packet-hops/s, %ld MiB", oche_world_topology(world)->host_count,
           threads > 1 ? " threads=2" : "", (double)(totals.hops - mark.hops) / took / 1e6,
           peak_mib());
    printf("  (set-up %.2f s, run %.1f s, %.1f M events/s, marks %llu, CNPs %llu, PAUSEs %llu, "
           "drops %llu, goodput %.1f Gbit/s a host, hash %016llx)\n",
           setup, took, (double)totals.events / (double)totals.hops, (unsigned long long)marks,
           (unsigned long long)totals.nic.cnps_received, (unsigned long long)totals.pauses_sent,
           (unsigned long long)drops,
           (double)oche_rate_of(totals.nic.delivered_bytes, totals.measured) / 1e9 /
               oche_world_topology(world)->host_count,
           (unsigned long long)totals.hash);
    bool sound = marks > 0 && totals.nic.cnps_received > 0 && drops == 0 && config.switches.pfc;
    if (!sound)
        fprintf(stderr, "not the work that is to be measured: marks and CNPs must be above zero, "
                        "drops zero, PFC on\n");
    oche_world_free(world);
    free(topology_params);
    free(cc_params);
    free(recovery_params);
    return sound ? 0 : 1;
}
