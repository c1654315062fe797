/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of lines in a topology file decides nothing that has a name, in networks in which no
 * two links need be alike: with other rates and delays everywhere, mixed ToRs, parallel links and
 * above 256 hosts. So no host, port or switch stands for all others.
 *
 *   nodes   hosts and switches in another order: all is the same by name, to the picosecond: what
 *           is derived from the network, the remarks, every flow, when it began and ended, every
 *           counter of every host and port, every metric. Addresses are other ones, and so is the
 *           trace hash. The scenarios name hosts by name or at random, as a number means a place
 *           in the file: transfers by number, receiver_host, a shift, the first N senders.
 *   links   links in another order, too, and their ends. Ports are then other ones, by which ECMP
 *           chooses and which decides between packets of the same picosecond, so that another
 *           world runs. But what is derived from the network is the same, and all flows that the
 *           workload has: between which hosts, how large, when they start, how many there are.
 *
 * usage: test_line_order [NUMBER]     that network alone
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lab/measures/metrics.h"
#include "sim/scenario/scenario.h"
#include "sim/world/derived.h"
#include "sim/world/internal.h"
#include "tests/property/uneven_network.h"
#include "tests/support/seeds.h"
#include "tests/support/test.h"

#define NETWORKS      320
#define NETWORKS_LONG 2000
#define NAME_BYTES    OCHE_PORT_NAME_BYTES

/* The facts about a world, one per line. Facts about nodes are in the order of the nodes' names. */
struct account {
    char *derived, *planned, *result;
};

/* ---- what is derived before the run ---- */

static void print_bytes(FILE *out, const char *what, const void *bytes, size_t count)
{
    const unsigned char *at = bytes;

    fprintf(out, "%s ", what);
    for (size_t i = 0; i < count; i++)
        fprintf(out, "%02x", at[i]);
    fprintf(out, "\n");
}

static void print_derived(const struct oche_world *world, const struct oche_world_config *config,
                          FILE *out)
{
    static const char *const keys[] = {"switch.kmin",      "switch.kmax",      "switch.headroom",
                                       "switch.buffer",    "host.ack_timeout", "measure.interval",
                                       "switch.xon_offset"};
    const struct oche_recovery_network network = oche_world_recovery_network(world);
    struct oche_unfit unfit;

    fprintf(out, "round trip %llu packets %llu ack_timeout %llu empty %llu until %llu\n",
            (unsigned long long)network.round_trip, (unsigned long long)network.packets,
            (unsigned long long)oche_world_host_params(world)->ack_timeout,
            (unsigned long long)oche_world_empty_rtt(world),
            (unsigned long long)oche_world_until(world));
    if (config->recovery != NULL)
        print_bytes(out, "recovery", oche_world_fitted_recovery(world),
                    config->recovery->table.struct_bytes);
    if (config->endpoint != NULL)
        print_bytes(out, "endpoint", oche_world_fitted_endpoint(world),
                    config->endpoint->table->struct_bytes);
    for (size_t i = 0; i < OCHE_COUNT_OF(keys); i++) {
        char text[256] = "";

        oche_world_derived(world, keys[i], text, sizeof(text));
        fprintf(out, "%s %s\n", keys[i], text);
    }
    oche_unfit_take(&unfit, world);
    for (unsigned i = 0; i < unfit.count; i++)
        fprintf(out, "%s\n", unfit.text[i]);
}

static const char *name_of(const struct oche_world *world, uint32_t node)
{
    return world->topology.nodes[node].name;
}

/* All flows, whether the run comes to them or not. */
static void print_planned(const struct oche_world *world, FILE *out)
{
    struct oche_flow_walk walk = oche_flow_walk(&world->flows);
    const struct oche_flow_plan *plan;

    while ((plan = oche_flow_walk_next(&walk)) != NULL)
        fprintf(out, "flow %u %s>%s %llu bytes at %llu supply %llu group %u\n", walk.number,
                name_of(world, plan->src), name_of(world, plan->dst),
                (unsigned long long)plan->bytes, (unsigned long long)plan->start,
                (unsigned long long)plan->supply_bps, plan->group);
    fprintf(out, "%llu are awaited\n", (unsigned long long)world->awaited);
}

/* ---- what comes of it ---- */

static void print_flows(const struct oche_world *world, FILE *out)
{
    const struct oche_flows *flows = &world->flows;

    for (OCHE_EACH_MADE_FLOW(i, flows))
        fprintf(out, "flow %u %s>%s started %llu completed %llu failed %u delivered %llu\n", i,
                name_of(world, flows->plan[i].src), name_of(world, flows->plan[i].dst),
                (unsigned long long)flows->sent[i].started,
                (unsigned long long)flows->sent[i].completed, flows->sent[i].failed,
                (unsigned long long)flows->received[i].delivered);
}

static void print_nodes(const struct oche_world *world, FILE *out)
{
    const struct oche_topology *topology = &world->topology;
    struct oche_switch_port_stats *stats = calloc(world->network.port_count + 1, sizeof(*stats));

    assert_non_null(stats);
    oche_world_port_stats(world, stats);
    for (uint32_t place = 0; place < oche_topology_nodes(topology); place++) {
        uint32_t node = oche_topology_at_place(topology, place);

        for (uint32_t port = 0; port < topology->nodes[node].port_count; port++) {
            uint32_t number = topology->nodes[node].first_port + port;
            char name[NAME_BYTES];

            oche_topology_port_name(topology, node, port, name, sizeof(name));
            fprintf(out, "port %s line %llu ", name,
                    (unsigned long long)oche_world_line_bytes(world, number));
            print_bytes(out, "stats", &stats[number], sizeof(stats[number]));
        }
        if (node < topology->host_count) {
            struct oche_nic_stats nic;

            oche_world_host_stats(world, node, &nic);
            fprintf(out, "host %s ", name_of(world, node));
            print_bytes(out, "stats", &nic, sizeof(nic));
        }
    }
    free(stats);
}

/* Sums over hosts and ports are in the order of their numbers, so the last digits may differ. */
static void print_metric(void *context, const char *name, const char *unit, double value)
{
    if (strstr(name, "wall") == NULL && strstr(name, "speed") == NULL)
        fprintf(context, "%s %.11g %s\n", name, value, unit);
}

static void print_result(struct oche_world *world, FILE *out)
{
    struct oche_outcome outcome;

    oche_world_run(world, NULL, NULL);
    fprintf(out, "end %d at %llu\n", (int)oche_world_ended(world),
            (unsigned long long)world->network.now);
    print_flows(world, out);
    print_nodes(world, out);
    oche_outcome_take(&outcome, world, "", 1);
    oche_metrics_each(&outcome, print_metric, out);
    fprintf(out, "%s\n", outcome.remark);
    oche_outcome_free(&outcome);
}

/* ---- comparing ---- */

static struct account account_of(struct uneven_network *network, enum uneven_order order)
{
    char path[64], text[UNEVEN_TEXT_BYTES + sizeof(path)];
    struct account account = {.derived = NULL};
    struct oche_error error;
    size_t bytes;
    FILE *out;

    uneven_network_write(network, order, path);
    char *at = strstr(network->text, "%s");

    snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - network->text), network->text, path,
             at + 2);
    struct oche_scenario *scenario = oche_scenario_parse("s.yaml", text, strlen(text), &error);

    if (scenario == NULL)
        fail_msg("test_line_order %llu: %s", (unsigned long long)network->number, error.text);
    struct oche_world *world = oche_world_create(&scenario->config, &error);

    if (world != NULL) {
        out = open_memstream(&account.derived, &bytes);
        print_derived(world, &scenario->config, out);
        fclose(out);
        out = open_memstream(&account.planned, &bytes);
        print_planned(world, out);
        fclose(out);
        out = open_memstream(&account.result, &bytes);
        if (order != UNEVEN_ALL_SHUFFLED)
            print_result(world, out);
        fclose(out);
    } else {
        account.derived = strdup(error.text);
        account.planned = strdup("");
        account.result = strdup("");
    }
    oche_world_free(world);
    oche_scenario_close(scenario);
    unlink(path);
    return account;
}

static void free_account(struct account *account)
{
    free(account->derived);
    free(account->planned);
    free(account->result);
}

/* Fails with the first line that differs. */
static void assert_same(const struct uneven_network *network, const char *what, const char *a,
                        const char *b)
{
    if (strcmp(a, b) == 0)
        return;
    while (*a == *b) {
        const char *next_a = strchr(a, '\n'), *next_b = strchr(b, '\n');

        if (next_a == NULL || next_b == NULL || next_a - a != next_b - b ||
            memcmp(a, b, (size_t)(next_a - a)) != 0)
            break;
        a = next_a + 1;
        b = next_b + 1;
    }
    fail_msg(
        "test_line_order %llu: %s differs by the order of lines: \"%.*s\" and \"%.*s\", in\n%s",
        (unsigned long long)network->number, what, (int)strcspn(a, "\n"), a, (int)strcspn(b, "\n"),
        b, network->text);
}

struct sums {
    uint64_t networks, refused, many_hosts, flows;
};

static void run(uint64_t number, struct sums *sums)
{
    struct uneven_network network;

    uneven_network_make(&network, number);
    struct account made = account_of(&network, UNEVEN_AS_MADE);
    struct account nodes = account_of(&network, UNEVEN_NODES_SHUFFLED);
    struct account all = account_of(&network, UNEVEN_ALL_SHUFFLED);

    assert_same(&network, "what is derived", made.derived, nodes.derived);
    assert_same(&network, "a flow", made.planned, nodes.planned);
    assert_same(&network, "a result", made.result, nodes.result);
    assert_same(&network, "with links, what is derived", made.derived, all.derived);
    assert_same(&network, "with links, a flow", made.planned, all.planned);
    sums->networks++;
    sums->refused += made.result[0] == '\0';
    sums->many_hosts += network.host_count > 256;
    for (const char *at = made.result; (at = strstr(at, "\nflow ")) != NULL; at++)
        sums->flows++;
    free_account(&made);
    free_account(&nodes);
    free_account(&all);
    uneven_network_free(&network);
}

static void test_all(void **state)
{
    const uint64_t count = seeds_of(getenv("OCHE_LONG") != NULL ? NETWORKS_LONG : NETWORKS);
    struct sums sums = {0};

    (void)state;
    for (uint64_t number = 0; number < count; number++)
        run(number, &sums);
    print_message("of %llu networks %llu are refused and %llu have more than 256 hosts; %llu flows "
                  "have started\n",
                  (unsigned long long)sums.networks, (unsigned long long)sums.refused,
                  (unsigned long long)sums.many_hosts, (unsigned long long)sums.flows);
    assert_true(sums.refused < sums.networks / 4 + 1);
    if (seeds_show_all())
        assert_true(sums.many_hosts > 0 || count < 8);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all)};

    if (argc == 2) {
        struct sums sums = {0};

        run(strtoull(argv[1], NULL, 10), &sums);
        printf("%llu flows have started%s\n", (unsigned long long)sums.flows,
               sums.refused > 0 ? "; refused" : "");
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
