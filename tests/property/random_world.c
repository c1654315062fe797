/* SPDX-License-Identifier: Apache-2.0 */
/* Random worlds that run: see the header. */
#include "tests/property/random_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/registry.h"
#include "tests/support/test.h"

/* Long enough for each of these worlds to deliver everything. The rest of the time is idle. */
#define DURATION (500 * OCHE_MS)

static struct oche_rank_mail *rank_mail;

void random_world_use_mail(struct oche_rank_mail *mail)
{
    rank_mail = mail;
}

static unsigned measured;

void random_world_measure(unsigned what)
{
    measured = what;
}

static void configure_measures(struct oche_world_config *config)
{
    config->measure.interval = measured == 0 ? 0 : measured == 1 ? 50 * OCHE_US : OCHE_NEVER;
    config->auto_series = measured == 2;
    config->measure.rates = measured > 0;
    if (measured != 1)
        return;
    config->measure.queues = "*";
    config->run.warmup = 30 * OCHE_US;
    config->run.duration = 20 * OCHE_MS; /* for few samples */
}

static bool generate(const void *params, const struct oche_workload_facts *facts,
                     struct oche_flow_list *list, struct oche_error *error)
{
    const struct random_scenario *scenario = params;

    (void)facts;
    (void)error;
    for (uint32_t f = 0; f < scenario->flow_count; f++) {
        const struct oche_flow_plan *flow = &scenario->flows[f];

        list->verb = flow->verb;
        oche_flow_list_add(list, 0, flow->src, flow->dst, flow->bytes, flow->start);
    }
    return true;
}

static const struct oche_param_table no_params = {.count = 0};
static const struct oche_workload_type flows_of_scenario = {
    .name = "flows of a random scenario",
    .table = &no_params,
    .generate = generate,
};

static void *defaults(const struct oche_param_table *table)
{
    void *params = calloc(1, table->struct_bytes + 1);

    assert_non_null(params);
    oche_param_defaults(table, params);
    return params;
}

static void configure(struct random_world *random, uint32_t threads)
{
    const struct random_scenario *scenario = random->scenario;
    struct oche_world_config *config = &random->config;

    *config = (struct oche_world_config){
        .seed = scenario->number,
        .threads = threads,
        .mail = rank_mail,
        .together = threads > 1 && (scenario->number + threads) % 2 == 0,
        .topology = scenario->topology_type,
        .topology_params = scenario->topology_params,
        .switches = scenario->switches,
        .cc = oche_cc_find(scenario->congestion_control),
        .recovery = oche_recovery_find("go_back_n"),
        .workloads = random->workloads,
        .workload_count = 1,
    };
    assert_true(config->cc != NULL && config->recovery != NULL);
    oche_param_defaults(&oche_run_params, &config->run);
    config->run.duration = DURATION;
    config->run.warmup = 0;
    config->run.stop_when_done = false;
    oche_param_defaults(&oche_measure_params, &config->measure);
    configure_measures(config);
    oche_param_defaults(&oche_loss_params, &config->loss);
    oche_param_defaults(&oche_host_params, &config->hosts);
    config->hosts.mtu_bytes = scenario->mtu_bytes;
    config->hosts.ack_every_packets = scenario->ack_every_packets;
    config->hosts.window_packets = scenario->window_packets;
    config->hosts.ack_timeout = OCHE_MS; /* short, so that worlds with drops end in time */
    config->hosts.pfc_response = scenario->host_pfc_response;
    config->hosts.feedback_jitter = scenario->feedback_jitter;
    config->hosts.connections =
        scenario->per_pair ? OCHE_CONNECTION_PER_PAIR : OCHE_CONNECTION_PER_FLOW;
    config->cc_params = random->cc_params = defaults(&config->cc->table);
    if (config->cc->switch_mechanism != NULL) {
        random->mechanism = oche_switch_mechanism_find(config->cc->switch_mechanism);
        assert_non_null(random->mechanism);
        random->mechanism_params = defaults(random->mechanism->params);
        config->mechanisms = &random->mechanism;
        config->mechanism_params = (const void *const *)&random->mechanism_params;
        config->mechanism_count = 1;
    }
    config->recovery_params = random->recovery_params = defaults(&config->recovery->table);
    random->workloads[0] =
        (struct oche_workload_config){.type = &flows_of_scenario, .params = scenario};
}

static void configure_until_done(struct random_world *random)
{
    struct oche_run_params *run = &random->config.run;
    const struct oche_workload_type *beside = oche_workload_type_find("background");

    run->duration = 0;
    run->stop_when_done = true;
    random->workloads[1].type = beside;
    random->workloads[1].params = random->beside_params = defaults(beside->table);
    random->config.workload_count += random->scenario->number % 2;
}

/* A progress report, which must change nothing. */
static void hear(void *context, const struct oche_progress *progress)
{
    oche_time *last = context;

    assert_true(progress->now >= *last);
    *last = progress->now;
}

static void run(struct random_world *random)
{
    const bool hears =
        rank_mail != NULL && rank_mail->rank == 0; /* as for the rank that runs at the terminal */
    oche_time last = 0;
    struct oche_error error = {""};
    const struct random_scenario *scenario = random->scenario;

    random->world = oche_world_create(&random->config, &error);
    if (random->world == NULL)
        fail_msg("scenario %llu, %s: %s", (unsigned long long)scenario->number, scenario->text,
                 error.text);
    oche_world_run(random->world, hears && scenario->number % 2 == 0 ? hear : NULL, &last);
    oche_world_totals(random->world, &random->totals);
}

void random_world_run(struct random_world *random, struct random_scenario *scenario,
                      uint32_t threads)
{
    memset(random, 0, sizeof(*random));
    random->scenario = scenario;
    configure(random, threads);
    run(random);
}

void random_world_run_until_done(struct random_world *random, struct random_scenario *scenario,
                                 uint32_t threads)
{
    memset(random, 0, sizeof(*random));
    random->scenario = scenario;
    configure(random, threads);
    configure_until_done(random);
    run(random);
}

void random_world_run_cut(struct random_world *random, struct random_scenario *scenario,
                          uint32_t threads)
{
    memset(random, 0, sizeof(*random));
    random->scenario = scenario;
    configure(random, threads);
    configure_until_done(random);
    random->config.workload_count = 1;
    random->config.hosts.ack_timeout = OCHE_NEVER; /* so that all flows end */
    snprintf(random->failed, sizeof(random->failed), "host%u", scenario->flows[0].dst);
    random->failure = (struct oche_failure_params){
        .link = random->failed, .at = 5 * OCHE_US, .until = OCHE_NEVER};
    random->config.failures = &random->failure;
    random->config.failure_count = 1;
    run(random);
}

void random_world_free(struct random_world *random)
{
    oche_world_free(random->world);
    free(random->cc_params);
    free(random->mechanism_params);
    free(random->recovery_params);
    free(random->beside_params);
    memset(random, 0, sizeof(*random));
}

uint64_t random_world_drops(const struct random_world *random)
{
    uint64_t drops = 0;

    for (unsigned cause = 0; cause < OCHE_DROP_CAUSES; cause++)
        drops += random->totals.drops[cause];
    return drops;
}

/* The text of a failure: it names the scenario, so that it can be run alone. */
#define ASSERT_BOOKS(random, left, right)                                                          \
    do {                                                                                           \
        if ((uint64_t)(left) != (uint64_t)(right))                                                 \
            fail_msg("test_losslessness %llu %g: " #left " is %llu, " #right " is %llu; %s",       \
                     (unsigned long long)(random)->scenario->number,                               \
                     (random)->scenario->switches.headroom_scale, (unsigned long long)(left),      \
                     (unsigned long long)(right), (random)->scenario->text);                       \
    } while (0)

static void assert_switches_empty(const struct random_world *random)
{
    const struct oche_topology *topology = oche_world_topology(random->world);

    for (uint32_t s = 0; s < topology->switch_count; s++) {
        const struct oche_switch *sw = oche_world_switch(random->world, s);

        ASSERT_BOOKS(random, oche_switch_occupied_bytes(sw), 0);
        for (uint32_t p = 0; p < topology->nodes[topology->host_count + s].port_count; p++) {
            ASSERT_BOOKS(random, oche_switch_queue_bytes(sw, p), 0);
            for (unsigned cls = 0; cls < RANDOM_SCENARIO_CLASSES; cls++) {
                ASSERT_BOOKS(random, oche_switch_ingress_bytes(sw, p, cls), 0);
                ASSERT_BOOKS(random, oche_switch_is_pausing(sw, p, cls), false);
                ASSERT_BOOKS(random, oche_switch_is_paused(sw, p, cls), false);
            }
        }
    }
}

void random_world_assert_books(const struct random_world *random)
{
    const struct oche_world_totals *totals = &random->totals;
    const struct oche_nic_stats *nic = &totals->nic;
    uint64_t sent = nic->data_packets_sent + nic->acks_sent + nic->naks_sent + nic->cnps_sent +
                    nic->cc_packets_sent;
    uint64_t received = nic->data_packets_received + nic->acks_received + nic->naks_received +
                        nic->cnps_received + nic->cc_packets_received;

    ASSERT_BOOKS(random, totals->flows_completed, random->scenario->flow_count);
    ASSERT_BOOKS(random, totals->flows_failed, 0);
    ASSERT_BOOKS(random, nic->delivered_bytes, random->scenario->flow_bytes);
    ASSERT_BOOKS(random, nic->delivered_messages, random->scenario->flow_count);
    ASSERT_BOOKS(random, totals->live_packets, 0);
    ASSERT_BOOKS(random, totals->rejected_packets, 0);
    ASSERT_BOOKS(random, sent, received + totals->late_packets + random_world_drops(random));
    ASSERT_BOOKS(random, totals->any_port_paused, false);
    ASSERT_BOOKS(random, oche_world_deadlock(random->world) != NULL, false);
    assert_switches_empty(random);
}
