/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deadlocks are reported if and only if there are any. The worlds are random rings of switches with
 * chords, whose routes send some destinations the long way round; flows, buffers and thresholds are
 * random, too. If a deadlock is reported, the routes allow it, its ports follow one another, and
 * none of them sends what it holds in the next 100 ms. Otherwise every flow is delivered.
 *
 * In some worlds switches deflect with few lanes, and messages follow one another (dart.md#d18).
 * Packets may then turn up more often than there are lanes, so deadlocks are possible there, too.
 *
 * usage: test_deadlock [NUMBER]     that world alone
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/random.h"
#include "fabric/iofd.h"
#include "fabric/switch_state.h"
#include "sim/world/internal.h"
#include "tests/support/seeds.h"
#include "tests/support/small_world.h"
#include "tests/support/test.h"

#define WORLDS         90
#define LEAST_DEADLOCK 20
#define LEAST_PAUSED   15 /* worlds that pause, could deadlock, and do not */
#define MOST_FLOWS     24

static char topology_path[] = "/tmp/oche-deadlock-topology-XXXXXX";
static char routes_path[] = "/tmp/oche-deadlock-routes-XXXXXX";

struct world {
    struct oche_random random;
    struct small_world small;
    unsigned switches, hosts; /* hosts: of a switch */
    bool slow;                /* switches are far apart, so PAUSEs take long */
    struct oche_flow_plan flows[MOST_FLOWS];
    uint32_t flow_count;
    uint64_t number;
    struct oche_iofd_params iofd;
    const struct oche_switch_mechanism *mechanisms[1];
    const void *mechanism_params[1];
};

static uint64_t below(struct world *world, uint64_t n)
{
    return oche_random_below(&world->random, n);
}

static void write_link(struct world *world, FILE *file, const char *kind_a, unsigned a, unsigned b,
                       uint64_t least_ns, uint64_t most_ns)
{
    fprintf(file, "link %s%u s%u %lluGbps %lluns\n", kind_a, a, b,
            (unsigned long long)((world->slow ? 1 : 10) * (1 + below(world, 4))),
            (unsigned long long)(least_ns + below(world, most_ns - least_ns)));
}

static void write_topology(struct world *world)
{
    FILE *file = fopen(topology_path, "w");
    uint64_t least = world->slow ? 50000 : 500, most = world->slow ? 300000 : 3500;

    assert_non_null(file);
    for (unsigned s = 0; s < world->switches; s++)
        fprintf(file, "switch s%u\n", s);
    for (unsigned h = 0; h < world->switches * world->hosts; h++) {
        fprintf(file, "host h%u\n", h);
        write_link(world, file, "h", h, h / world->hosts, 1000, 1001);
    }
    for (unsigned s = 0; s < world->switches; s++)
        write_link(world, file, "s", s, (s + 1) % world->switches, least, most);
    if (world->switches > 3 && below(world, 2) == 0)
        write_link(world, file, "s", 0, 2, least, most);
    assert_int_equal(fclose(file), 0);
}

/* To most destinations all switches send round the ring in one direction: there are no loops. */
static void write_routes(struct world *world)
{
    FILE *file = fopen(routes_path, "w");
    unsigned n = world->switches;

    assert_non_null(file);
    for (unsigned to = 0; to < n; to++) {
        unsigned way = (unsigned)below(world, 6);
        unsigned step = way < 4 ? 1 : n - 1;

        for (unsigned at = 0; at < n; at++)
            if (at != to && (way < 5 || to == 0))
                fprintf(file, "s%u s%u s%u\n", at, to, (at + step) % n);
    }
    assert_int_equal(fclose(file), 0);
}

static void make_flows(struct world *world)
{
    uint64_t all = world->switches * world->hosts, most = world->slow ? 12000000 : 3000000;

    world->flow_count = (uint32_t)(world->switches + below(world, MOST_FLOWS - world->switches));
    for (uint32_t i = 0; i < world->flow_count; i++) {
        uint32_t src = (uint32_t)below(world, all);
        uint32_t dst = (uint32_t)((src + 1 + below(world, all - 1)) % all);

        world->flows[i] =
            small_flow(src, dst, 1000 + below(world, most), below(world, 50 * OCHE_US));
    }
}

static bool deflects(const struct world *world)
{
    return !world->slow && world->number % 4 == 1;
}

static void add_deflection(struct world *world)
{
    struct oche_world_config *config = &world->small.config;

    oche_param_defaults(&oche_iofd_params, &world->iofd);
    world->iofd.order = OCHE_IOFD_FOLLOW;
    world->iofd.tokens = 1 + below(world, 3);
    world->iofd.threshold_bytes = below(world, 20000);
    world->iofd.short_bytes = 1 + below(world, 3000000);
    world->iofd.entries = 64;
    world->mechanisms[0] = &oche_iofd;
    world->mechanism_params[0] = &world->iofd;
    config->mechanisms = world->mechanisms;
    config->mechanism_params = world->mechanism_params;
    config->mechanism_count = 1;
    config->switches.pfc_priorities = 0;
    config->switches.buffer_bytes += 2000000;
}

static void make_world(struct world *world, uint64_t number)
{
    struct oche_world_config *config = &world->small.config;

    world->number = number;
    world->random = oche_random_stream(5, "deadlock", number);
    world->switches = (unsigned)(3 + below(world, 4));
    world->hosts = (unsigned)(1 + below(world, 2));
    world->slow = below(world, 3) == 0;
    write_topology(world);
    write_routes(world);
    make_flows(world);
    small_world_init(&world->small, "from_file", below(world, 4) == 0 ? "dcqcn" : "none",
                     "go_back_n");
    small_world_topology_file(&world->small, topology_path);
    config->routes.file = routes_path;
    config->seed = number;
    config->threads =
        below(world, 8) == 0 ? 2 : 1; /* two of them are slow: one world takes seconds */
    config->run.duration = 20 * OCHE_SEC;
    config->run.stop_when_done = false;
    config->hosts.ack_timeout = world->slow ? 500 * OCHE_MS : 5 * OCHE_MS;
    config->switches.pfc_priorities = 2;
    config->switches.buffer_bytes = (world->slow ? 4000000 : 400000) + below(world, 2000000);
    config->switches.threshold =
        below(world, 2) == 0 ? OCHE_THRESHOLD_DYNAMIC : OCHE_THRESHOLD_STATIC;
    config->switches.beta = 0.25 * (double)(1 + below(world, 16));
    config->switches.xoff_bytes = 5000 + below(world, 100000);
    config->hosts.ack_priority = below(world, 4) > 0;
    if (deflects(world))
        add_deflection(world);
}

/*
 * Returns the first packet of the class at a port of the circle. (The port may still send packets
 * of other classes.)
 */
static const struct oche_packet *first_at(const struct oche_world *world, uint32_t port,
                                          unsigned cls)
{
    uint32_t node = oche_topology_node_of_port(&world->topology, port);
    const struct oche_egress *egress =
        oche_switch_egress(world->switches[node - world->topology.host_count],
                           port - world->topology.nodes[node].first_port);

    assert_true(egress->waiting >> cls & 1);
    return oche_egress_first(egress, cls);
}

static void assert_for_ever(struct world *random)
{
    struct oche_world *world = random->small.world;
    const struct oche_deadlock *deadlock = oche_world_deadlock(world);
    struct oche_route_faults faults;
    const struct oche_packet *first[64];

    assert_true(oche_world_find_route_faults(world, &faults));
    assert_true(faults.circle.count > 0);
    assert_int_equal(faults.lost_flows, 0);
    oche_route_faults_free(&faults);
    assert_true(deadlock->circle.count >= 2 && deadlock->circle.count < 64);
    assert_true(deadlock->noticed - deadlock->since > OCHE_DEADLOCK_PATIENCE);
    for (uint32_t i = 0; i < deadlock->circle.count; i++) {
        uint32_t next = deadlock->circle.ports[(i + 1) % deadlock->circle.count];

        assert_int_equal(world->topology.ports[deadlock->circle.ports[i]].peer,
                         oche_topology_node_of_port(&world->topology, next));
        if (!deflects(random)) /* the circle may pass several lanes */
            first[i] = first_at(world, deadlock->circle.ports[i], deadlock->cls);
    }
    oche_network_run(&world->network, world->network.now + 100 * OCHE_MS, NULL, NULL);
    for (uint32_t i = 0; !deflects(random) && i < deadlock->circle.count; i++)
        if (first_at(world, deadlock->circle.ports[i], deadlock->cls) != first[i])
            fail_msg("test_deadlock %llu: a port of the deadlock has sent",
                     (unsigned long long)random->number);
}

struct count {
    unsigned deadlocks, paused;
    uint64_t deflections;
};

static void run(uint64_t number, struct count *count)
{
    struct world world;
    struct oche_route_faults faults;

    make_world(&world, number);
    small_world_run(&world.small, world.flows, world.flow_count);
    if (oche_world_deadlock(world.small.world) != NULL) {
        count->deadlocks++;
        assert_for_ever(&world);
    } else {
        if (world.small.totals.flows_completed != world.flow_count ||
            world.small.totals.any_port_paused)
            fail_msg("test_deadlock %llu: %llu of %u flows, and no deadlock",
                     (unsigned long long)number,
                     (unsigned long long)world.small.totals.flows_completed, world.flow_count);
        count->paused += oche_world_find_route_faults(world.small.world, &faults) &&
                         world.small.totals.pauses_sent > 0;
        oche_route_faults_free(&faults);
    }
    if (deflects(&world))
        count->deflections += world.small.totals.mechanisms[0][OCHE_IOFD_DEFLECTIONS];
    small_world_free(&world.small);
}

static void test_random(void **state)
{
    struct count count = {0};

    (void)state;
    for (uint64_t number = 0; number < seeds_of(WORLDS); number++)
        run(number, &count);
    print_message("%u of %u worlds deadlock, %u more pause and could; %llu deflections\n",
                  count.deadlocks, (unsigned)seeds_of(WORLDS), count.paused,
                  (unsigned long long)count.deflections);
    assert_true(count.deflections >= seeds_least(10));
    assert_true(count.deadlocks >= seeds_least(LEAST_DEADLOCK));
    assert_true(count.paused >= seeds_least(LEAST_PAUSED));
}

static int remove_files(void **state)
{
    (void)state;
    unlink(topology_path);
    return unlink(routes_path);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};
    int topology = mkstemp(topology_path), routes = mkstemp(routes_path);

    if (topology < 0 || routes < 0)
        return 1;
    close(topology);
    close(routes);
    if (argc == 2) {
        struct count count = {0};

        run(strtoull(argv[1], NULL, 10), &count);
        printf("%s\n", count.deadlocks > 0 ? "deadlock" : "none");
        remove_files(NULL);
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, remove_files);
}
