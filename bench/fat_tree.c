/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulator's bench: a fat tree in which every host sends 2 MB messages back to back to one
 * other host (a random permutation). Packets of 1000 bytes, links of 100 Gbit/s and 1 µs, an ACK
 * per packet, DCQCN and PFC, the default measures; 5 ms after 1 ms of warm-up. Prints packet-hops
 * per second: a hop is the transmission of one packet (data or control) on one link.
 *
 *     bench_fat_tree [K [THREADS [DURATION_US]]]       K ports a switch, K^3/4 hosts
 *     bench_fat_tree --long
 * Without arguments: 128 and 1024 hosts, 1024 with two threads, and 8192 for 0.6 ms after warm-up,
 * which all take some two minutes. --long: 8192 for 5 ms, too (some five minutes).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/support.h"

#define MESSAGE_BYTES UINT64_C(2000000)
#define AFTER_US      5000
#define SHORTER_US    600 /* of 8192 hosts, but for --long */

/* Each host sends to the next host of a random cycle; the messages fill the whole run. */
static bool permutation(const void *params, const struct oche_workload_facts *facts,
                        struct oche_flow_list *list, struct oche_error *error)
{
    struct oche_random random = oche_random_stream(facts->seed, "bench permutation", 0);
    uint32_t hosts = facts->host_count;
    uint32_t *cycle = malloc(hosts * sizeof(*cycle));
    uint32_t messages =
        (uint32_t)(facts->duration / oche_time_of_bytes(MESSAGE_BYTES, facts->host_rate_bps)) + 1;

    (void)params;
    (void)error;
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

static void run(uint64_t k, uint32_t threads, uint64_t after_us)
{
    struct oche_world_config config;
    char label[64];

    bench_config(&config, "fat_tree", &permutation_type);
    bench_topology(&config, "k", k);
    bench_topology(&config, "link_rate", 100 * OCHE_GBPS);
    config.threads = threads;
    config.run.warmup = OCHE_MS;
    config.run.duration = config.run.warmup + after_us * OCHE_US;
    int used = snprintf(label, sizeof(label), "hosts=%llu", (unsigned long long)(k * k * k / 4));
    if (threads > 1)
        snprintf(label + used, sizeof(label) - (size_t)used, " threads=%u", threads);
    bench_run(&config, label);
}

/*
 * Runs the bench in a new process, so that its peak memory is that of this run. Returns false if it
 * failed.
 */
static bool run_alone(uint64_t k, uint32_t threads, uint64_t after_us)
{
    int status = 0;

    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        run(k, threads, after_us);
        exit(0);
    }
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

int main(int argc, char **argv)
{
    const bool longer = argc == 2 && strcmp(argv[1], "--long") == 0;

    if (argc == 1 || longer)
        return run_alone(8, 1, AFTER_US) && run_alone(16, 1, AFTER_US) &&
                       run_alone(16, 2, AFTER_US) &&
                       run_alone(32, 1, longer ? AFTER_US : SHORTER_US)
                   ? 0
                   : 1;
    run(strtoull(argv[1], NULL, 10), argc > 2 ? (uint32_t)atoi(argv[2]) : 1,
        argc > 3 ? strtoull(argv[3], NULL, 10) : AFTER_US);
    return 0;
}
