/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulator's bench: a fat tree in which every host sends 2 MB messages back to back to one
 * other host (a random permutation). Packets of 1000 bytes, links of 100 Gbit/s and 1 µs, an ACK
 * per packet, DCQCN and PFC, the default measures; 5 ms after 1 ms of warm-up. Prints packet-hops
 * per second: a hop is the transmission of one packet (data or control) on one link.
 *
 *     bench_fat_tree [K [THREADS [DURATION_US]]]       K ports a switch, K^3/4 hosts
 *     bench_fat_tree --long
 *     bench_fat_tree --table
 * Without arguments: 128 and 1024 hosts, 1024 with two threads, and 8192, each shorter, which all
 * take a minute where 1024 hosts make 3 M packet-hops a second. --long: each for 5 ms after 1 ms,
 * in some fifteen minutes, and the table. With K above 32 warm-up is 10 µs, since a millisecond of
 * 65,536 hosts takes an hour.
 *
 * --table: what a host and a packet-hop cost in networks of 128 to 65,536 hosts: memory, set-up,
 * and processor time. Each host sends 64 KB to another, all at once, the hosts of small networks
 * several times one after the other; until all is delivered.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/support.h"

#define MESSAGE_BYTES   UINT64_C(2000000)
#define WARMUP_US       1000
#define AFTER_US        5000
#define LARGE_K         32 /* above it warm-up is shorter: */
#define LARGE_WARMUP_US 10
#define TABLE_BYTES     UINT64_C(64000)
#define TABLE_FLOWS     8192 /* minimum number of flows in a network of the table */

struct work {
    uint64_t bytes;    /* bytes of a message */
    uint32_t messages; /* messages of a host; 0: as many as fit into the run */
};

/* Each host sends to the next host of a random cycle. */
static bool permutation(const void *params, const struct oche_workload_facts *facts,
                        struct oche_flow_list *list, struct oche_error *error)
{
    struct oche_random random = oche_random_stream(facts->seed, "bench permutation", 0);
    const struct work *work = params;
    uint32_t hosts = facts->host_count, messages = work->messages;
    uint32_t *cycle = malloc(hosts * sizeof(*cycle));

    (void)error;
    if (messages == 0)
        messages = (uint32_t)(facts->duration /
                              oche_time_of_bytes(work->bytes, facts->rates.kinds[0].link_bps)) +
                   1;
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
                                   work->bytes, m == 0 ? 0 : OCHE_NEVER);
            if (m > 0)
                list->plan[flow - 1].then_same_source = flow;
        }
    free(cycle);
    return true;
}

static const struct oche_workload_type permutation_type = {
    .name = "bench", .table = &bench_no_params, .generate = permutation};

/* Fills in the configuration of a fat tree; `work` must outlive it. */
static void configure(struct oche_world_config *config, const struct work *work, uint64_t k)
{
    bench_config(config, "fat_tree", &permutation_type, work);
    bench_topology(config, "k", k);
    bench_topology(config, "link_rate", 100 * OCHE_GBPS);
    bench_buffer(config, k);
}

/* A run of the bench. */
struct plan {
    uint64_t k;
    uint32_t threads;
    uint64_t warmup_us, after_us;
};

static void run(const struct plan *plan)
{
    static const struct work work = {.bytes = MESSAGE_BYTES};
    const uint64_t k = plan->k;
    struct oche_world_config config;
    char label[96];

    configure(&config, &work, k);
    config.threads = plan->threads;
    config.run.warmup = plan->warmup_us * OCHE_US;
    config.run.duration = config.run.warmup + plan->after_us * OCHE_US;
    int used = snprintf(label, sizeof(label), "hosts=%llu", (unsigned long long)(k * k * k / 4));
    if (plan->threads > 1)
        used += snprintf(label + used, sizeof(label) - (size_t)used, " threads=%u", plan->threads);
    snprintf(label + used, sizeof(label) - (size_t)used, " %llu+%llu us",
             (unsigned long long)plan->warmup_us, (unsigned long long)plan->after_us);
    bench_run(&config, label);
}

static void run_row(const struct plan *plan)
{
    const uint64_t hosts = plan->k * plan->k * plan->k / 4;
    const struct work work = {
        .bytes = TABLE_BYTES,
        .messages = hosts < TABLE_FLOWS ? (uint32_t)((TABLE_FLOWS + hosts - 1) / hosts) : 1};
    struct oche_world_config config;

    configure(&config, &work, plan->k);
    config.threads = plan->threads;
    config.run.duration = 0;
    bench_table_row(&config);
}

/*
 * Calls `one` in a new process, so that its peak memory is that of this run. Returns false if it
 * failed.
 */
static bool alone(void (*one)(const struct plan *plan), struct plan plan)
{
    int status = 0;

    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        one(&plan);
        exit(0);
    }
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static bool run_all(bool longer)
{
    static const struct plan short_ones[] = {
        {8, 1, 1000, 4000}, {16, 1, 300, 700}, {16, 2, 300, 700}, {32, 1, 100, 200}};
    bool fine = true;

    for (size_t i = 0; fine && i < OCHE_COUNT_OF(short_ones); i++) {
        struct plan plan = short_ones[i];

        if (longer) {
            plan.warmup_us = WARMUP_US;
            plan.after_us = AFTER_US;
        }
        fine = alone(run, plan);
    }
    return fine;
}

static bool print_table(void)
{
    static const uint64_t ks[] = {8, 10, 16, 32, 64};
    bool fine = true;

    bench_table_head();
    for (size_t i = 0; fine && i < OCHE_COUNT_OF(ks); i++)
        fine = alone(run_row, (struct plan){.k = ks[i], .threads = 1});
    return fine;
}

int main(int argc, char **argv)
{
    const bool longer = argc == 2 && strcmp(argv[1], "--long") == 0;

    if (argc == 2 && strcmp(argv[1], "--table") == 0)
        return print_table() ? 0 : 1;
    if (argc == 1 || longer)
        return run_all(longer) && (!longer || print_table()) ? 0 : 1;
    struct plan plan = {.k = strtoull(argv[1], NULL, 10),
                        .threads = argc > 2 ? (uint32_t)atoi(argv[2]) : 1,
                        .after_us = argc > 3 ? strtoull(argv[3], NULL, 10) : AFTER_US};

    plan.warmup_us = plan.k > LARGE_K ? LARGE_WARMUP_US : WARMUP_US;
    run(&plan);
    return 0;
}
