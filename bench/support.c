/* SPDX-License-Identifier: Apache-2.0 */
/* Builds, runs and times a world. */
#include "bench/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

const struct oche_param_table bench_no_params = {.count = 0};

#define ENOUGH_PORTS 32 /* size for which the default buffer has headroom, and a shared part */

_Noreturn void oche_panic(const char *file, int line, const char *what)
{
    fprintf(stderr, "%s:%d: %s\n", file, line, what);
    abort();
}

double bench_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

long bench_peak_mib(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss / 1024;
}

double bench_processor_seconds(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

static void *defaults(const struct oche_param_table *table)
{
    void *values = calloc(1, table->struct_bytes + 1);

    if (values == NULL)
        oche_panic(__FILE__, __LINE__, "out of memory");
    oche_param_defaults(table, values);
    return values;
}

void bench_buffer(struct oche_world_config *config, uint64_t ports)
{
    if (ports > ENOUGH_PORTS)
        config->switches.buffer_bytes = config->switches.buffer_bytes * ports / ENOUGH_PORTS;
}

void bench_topology(struct oche_world_config *config, const char *name, uint64_t value)
{
    const struct oche_param *param = oche_param_find(config->topology->table, name);

    if (param == NULL)
        oche_panic(__FILE__, __LINE__, name);
    oche_param_set(param, (void *)(uintptr_t)config->topology_params,
                   (union oche_value){.u = value});
}

void bench_config(struct oche_world_config *config, const char *topology,
                  const struct oche_workload_type *workload, const void *params)
{
    struct oche_workload_config *workloads = calloc(1, sizeof(*workloads));

    workloads->type = workload;
    workloads->params = params;
    *config = (struct oche_world_config){
        .seed = 1,
        .threads = 1,
        .topology = oche_topology_type_find(topology),
        .cc = oche_cc_find("dcqcn"),
        .recovery = oche_recovery_find("go_back_n"),
        .workloads = workloads,
        .workload_count = 1,
    };
    config->topology_params = defaults(config->topology->table);
    config->cc_params = defaults(&config->cc->table);
    config->recovery_params = defaults(&config->recovery->table);
    oche_param_defaults(&oche_run_params, &config->run);
    config->run.duration = 10 * OCHE_MS;
    oche_param_defaults(&oche_measure_params, &config->measure);
    oche_param_defaults(&oche_loss_params, &config->loss);
    oche_param_defaults(&oche_switch_params, &config->switches);
    oche_param_defaults(&oche_host_params, &config->hosts);
    config->hosts.mtu_bytes = 1000;
    bench_topology(config, "delay", OCHE_US);
}

struct mark {
    oche_time warmup;
    double time;
    uint64_t hops;
};

/* Starts the clock when warm-up is over. */
static void report(void *context, const struct oche_progress *progress)
{
    struct mark *mark = context;

    if (mark->time == 0 && progress->now >= mark->warmup) {
        mark->time = bench_seconds();
        mark->hops = progress->hops;
    }
}

static uint64_t marks_of(const struct oche_world_totals *totals)
{
    uint64_t marks = 0;

    for (unsigned i = 0; i < OCHE_PLACES; i++)
        marks += totals->marks[i];
    return marks;
}

static uint64_t drops_of(const struct oche_world_totals *totals)
{
    uint64_t drops = 0;

    for (unsigned i = 0; i < OCHE_DROP_CAUSES; i++)
        drops += totals->drops[i];
    return drops;
}

/* Ends the program if the run had no marks or no CNPs, or had drops. */
static void check(const struct oche_world_config *config, const struct oche_world_totals *totals)
{
    if (marks_of(totals) > 0 && totals->nic.cnps_received > 0 && drops_of(totals) == 0 &&
        config->switches.pfc)
        return;
    fflush(stdout);
    fprintf(stderr, "not the work that is to be measured: marks and CNPs must be above zero, "
                    "drops zero, PFC on\n");
    exit(1);
}

static struct oche_world *make_world(const struct oche_world_config *config)
{
    struct oche_error error;
    struct oche_world *world = oche_world_create(config, &error);

    if (world != NULL)
        return world;
    fprintf(stderr, "%s\n", error.text);
    exit(2);
}

void bench_run(const struct oche_world_config *config, const char *label)
{
    struct mark mark = {.warmup = config->run.warmup};
    struct oche_world_totals totals;
    double start = bench_seconds();
    struct oche_world *world = make_world(config);
    double setup = bench_seconds() - start;

    oche_world_run(world, report, &mark);
    double took = bench_seconds() - mark.time;
    oche_world_totals(world, &totals);
    printf("%s: %.2f M packet-hops/s, %ld MiB  (set-up %.2f s, run %.1f s, %.2f events a hop,",
           label, (double)(totals.hops - mark.hops) / took / 1e6, bench_peak_mib(), setup, took,
           (double)totals.events / (double)totals.hops);
    printf(" marks %llu, CNPs %llu, PAUSEs %llu, drops %llu,",
           (unsigned long long)marks_of(&totals), (unsigned long long)totals.nic.cnps_received,
           (unsigned long long)totals.pauses_sent, (unsigned long long)drops_of(&totals));
    printf(" goodput %.1f Gbit/s a host, hash %016llx)\n",
           (double)oche_rate_of(totals.nic.delivered_bytes, totals.measured) / 1e9 /
               oche_world_topology(world)->host_count,
           (unsigned long long)totals.hash);
    oche_world_free(world);
    check(config, &totals);
}

void bench_table_head(void)
{
    printf("  hosts  memory, MiB  KiB a host  set-up, s  M packet-hops  processor s  ns a hop  "
           "hash\n");
}

void bench_table_row(const struct oche_world_config *config)
{
    struct oche_world_totals totals;
    double start = bench_processor_seconds();
    struct oche_world *world = make_world(config);
    double begun = bench_processor_seconds();
    const uint32_t hosts = oche_world_topology(world)->host_count;

    oche_world_run(world, NULL, NULL);
    double took = bench_processor_seconds() - begun;

    oche_world_totals(world, &totals);
    printf("%7u  %11ld  %10.1f  %9.2f  %13.1f  %11.1f  %8.0f  %016llx\n", hosts, bench_peak_mib(),
           (double)bench_peak_mib() * 1024 / hosts, begun - start, (double)totals.hops / 1e6, took,
           took * 1e9 / (double)totals.hops, (unsigned long long)totals.hash);
    oche_world_free(world);
    check(config, &totals);
}
