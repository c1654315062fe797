/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a test of adapters in the simulator; see simulate.h. */
#include "lab/check_nic/simulate.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "params/nic.h"
#include "params/text_stream.h"
#include "sim/network/network.h"
#include "sim/scenario/scenario.h"
#include "sim/topology/port_list.h"
#include "sim/world/world.h"

#define MOST_UNACKNOWLEDGED 64
#define ROUND_TRIPS         4 /* for what is under way when the last message is over */

/* ---- the scenario ---- */

static void write_adapter(FILE *out, const char *host, const struct oche_nic_end *end)
{
    char text[OCHE_NIC_TEXT_BYTES];
    struct oche_nic_habits habits = end->habits;
    bool fits;

    if (habits.cnp_interval == OCHE_NEVER)
        habits.cnp_interval = 0; /* as the judges expect it */
    fits = oche_nic_write(&habits, text, sizeof(text));
    OCHE_MUST(fits);
    fprintf(out, "  - {hosts: %s, nic: \"%s\"}\n", host, text);
}

/* DCQCN; a sender that does not react keeps its rate, which CNPs cannot lower then. */
static void write_scheme(FILE *out, const struct oche_nic_test *test)
{
    const bool reads = oche_nic_test_reads(test);
    const struct oche_nic_end *sender = reads ? &test->responder : &test->requester;

    if (!oche_nic_receiver(test)->notifies)
        fprintf(out, "congestion_control: none\n");
    else if (!sender->reacts)
        fprintf(out, "congestion_control: {name: dcqcn, min_rate_fraction: 1}\n");
    else
        fprintf(out, "congestion_control: dcqcn\n");
}

static void write_traffic(FILE *out, const struct oche_nic_test *test)
{
    static const char *const verbs[] = {"write", "send", "read"};

    /* A pair names whom data leaves first: of READs that is the responder. */
    const char *pair = oche_nic_test_reads(test) ? "host1>host0" : "host0>host1";

    fprintf(out, "workload:\n");
    for (uint64_t i = 0; i < test->num_qps; i++)
        fprintf(out,
                "  - {type: transfers, pairs: \"%s\", bytes: %" PRIu64 "B, messages: %" PRIu64
                ", outstanding: %" PRIu64 ", tenant: %" PRIu64 ", verb: %s}\n",
                pair, test->message_bytes, test->messages, test->outstanding, i, verbs[test->verb]);
}

/* Returns the scenario of the test (malloc'd), without its events. */
static char *scenario_of(const struct oche_nic_test *test, oche_time delay)
{
    /* A message's last packet asks for an ACK, and in a long one each 64th: ACKs are few. */
    const uint64_t ack_every = MOST_UNACKNOWLEDGED;
    char *text = NULL;
    size_t bytes;
    FILE *out = oche_text_stream_open(&text, &bytes);

    fprintf(out,
            "topology: {type: star, hosts: 2, host_rate: %" PRIu64 "bps, delay: %" PRIu64 "ps}\n",
            test->port_bps, delay);
    fprintf(out, "switch: {pfc: false, kmin: 16MB, kmax: 16MB}\n"); /* no queue is as long */
    fprintf(out,
            "host: {mtu: %" PRIu64 "B, ack_timeout: %" PRIu64 "ns, retry_count: %" PRIu64
            ", connections: per_pair, ack_every: %" PRIu64 "}\n",
            test->mtu_bytes, UINT64_C(4096) << test->timeout_exponent, test->retries, ack_every);
    fprintf(out, "nics:\n");
    write_adapter(out, "host0", &test->requester);
    write_adapter(out, "host1", &test->responder);
    write_scheme(out, test);
    fprintf(out, "recovery: {name: go_back_n, nak_interval: never}\n");
    write_traffic(out, test);
    oche_text_stream_close(out);
    return text;
}

/* ---- the run ---- */

struct tap {
    struct oche_nic_watch *watch;
    uint64_t number;
    oche_time last; /* when the last packet was seen */
};

/* The network's tap. Sent is called before an event acts, so also for what is lost. */
static void see(void *context, uint32_t port, const struct oche_packet *packet, oche_time start,
                bool sent)
{
    struct tap *tap = context;

    (void)port;
    if (!sent || packet->kind != OCHE_PACKET_ROCE)
        return;
    tap->last = start;
    oche_nic_watch_see(tap->watch, packet, start, ++tap->number,
                       packet->ecn == OCHE_ECN_CE ? OCHE_SEEN_MARKED : OCHE_SEEN_PASSED);
}

/* Finds the switch's two ports. */
static bool find_ports(const struct oche_world_config *config, struct oche_port_list *ports,
                       struct oche_error *error)
{
    struct oche_topology topology;
    bool found;

    if (!config->topology->build(config->topology_params, &topology, error))
        return false;
    found = oche_port_list_find(&topology, "tor0:host0, tor0:host1", OCHE_PORTS_OF_SWITCHES, ports,
                                error);
    oche_topology_free(&topology);
    return found;
}

static bool can_simulate(const struct oche_nic_test *test, const char *path,
                         struct oche_error *error)
{
    if (test->verb == OCHE_NIC_SEND_READ)
        return oche_fail(error,
                         "%s: traffic.rdma-verb: send_read is judged in captures alone (--pcap); "
                         "write send, write or read",
                         path);
    if (test->barrier)
        return oche_fail(error,
                         "%s: traffic.barrier-sync: queue pairs that wait for each other are "
                         "judged in captures alone (--pcap); write false",
                         path);
    if (test->timeout_exponent == 0)
        return oche_fail(
            error, "%s: traffic.min-retransmit-timeout: 0 waits for ever; write 1 to 31", path);
    return true;
}

/* Returns how long an adapter may still keep an answer after the last message. */
static oche_time answers_of(const struct oche_nic_habits *habits)
{
    oche_time sum =
        habits->nak_delay + habits->nak_reaction + habits->read_nak_delay + habits->cnp_delay;

    if (habits->cnp_interval != OCHE_NEVER)
        sum = oche_time_add(sum, habits->cnp_interval);
    if (habits->drain_bps > 0)
        sum =
            oche_time_add(sum, oche_time_of_bytes(habits->ingress_buffer_bytes, habits->drain_bps));
    return sum;
}

/* Returns how long after the last message packets may still be due: late answers, and their way. */
static oche_time still_due(const struct oche_nic_test *test, oche_time delay)
{
    const oche_time way = 2 * (delay + oche_time_of_bytes(2 * test->mtu_bytes, test->port_bps));

    return oche_time_add(ROUND_TRIPS * 2 * way, oche_time_add(answers_of(&test->requester.habits),
                                                              answers_of(&test->responder.habits)));
}

/* The simulated time is that of the last message, or of an answer that came after it. */
static void run(struct oche_world *world, const struct tap *tap,
                struct oche_nic_simulated *simulated)
{
    struct oche_world_totals totals;

    oche_world_run(world, NULL, NULL);
    oche_world_totals(world, &totals);
    simulated->failed = totals.flows_failed;
    simulated->took = oche_world_over_at(world) == OCHE_NEVER
                          ? totals.measured
                          : oche_time_max(oche_world_over_at(world), tap->last);
    simulated->counted = totals.nic;
}

bool oche_nic_simulate(const struct oche_nic_test *test, const char *path, oche_time delay,
                       struct oche_nic_watch *watch, struct oche_nic_simulated *simulated,
                       struct oche_error *error)
{
    struct tap tap = {.watch = watch};
    struct oche_port_list ports = {.ports = NULL};
    struct oche_scenario *scenario;
    struct oche_world *world = NULL;
    char *text;

    if (!can_simulate(test, path, error))
        return false;
    text = scenario_of(test, delay);
    scenario = oche_scenario_parse(path, text, strlen(text), error);
    if (scenario != NULL && find_ports(&scenario->config, &ports, error)) {
        if (test->event_count > 0)
            scenario->config.scripted = (struct oche_events_params){
                .file = path,
                .port = oche_nic_test_reads(test) ? "tor0:host0" : "tor0:host1",
            };
        scenario->config.run_on = still_due(test, delay);
        scenario->config.tap = see;
        scenario->config.tap_context = &tap;
        scenario->config.tap_ports = ports.ports;
        scenario->config.tap_port_count = ports.count;
        world = oche_world_create(&scenario->config, error);
    }
    if (world != NULL) {
        run(world, &tap, simulated);
        oche_world_free(world);
    }
    oche_port_list_free(&ports);
    if (scenario != NULL)
        oche_scenario_close(scenario);
    free(text);
    return world != NULL;
}
