/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RoGUE above simulated RNICs whose queue pairs fail at a chosen time. From a chosen packet on, all
 * packets of one host are lost until its NIC gives up. After that no packet is lost. For each
 * failure, a first run of the world finds out when the NIC gives up. The lost packets are data,
 * ACKs, READ requests or READ responses, sometimes also the first packets of the shadow and of the
 * resynchronisation.
 *
 *   resumes    if the shadow was ready, its first byte leaves within one round trip after the error
 *              completion: the round trip of an empty network if the connection has it to itself,
 *              else three of them
 *   bytes      every flow is delivered once and completes once; no byte is lost or wrong; only
 *              bytes that the shadow repeats arrive twice
 *   UC         each byte is sent once, no shadow takes over, and the window falls
 *
 * usage: test_rogue_shadow rc|uc SEED     that world alone
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/random.h"
#include "core/wire/opcode.h"
#include "rogue/internal.h"
#include "sim/endpoint/rogue/rogue_host.h"
#include "sim/world/internal.h"
#include "tests/support/seeds.h"
#include "tests/support/small_world.h"
#include "tests/support/test.h"

#define WORLDS           1000
#define UC_WORLDS        300
#define MOST_FLOWS       8
#define MOST_KILLS       3
#define FROM             0  /* the two hosts */
#define REQUESTS         40 /* READs: the first request of a shadow is not lost */
#define BUSY_ROUND_TRIPS 3
#define FOR_EVER         UINT64_C(1000000000)

/* Packets that one host's port loses, by their number. */
struct kill {
    uint64_t first, last;
};

/* The state of a connection, from the trace. */
struct watched {
    oche_time failed; /* when its queue pair failed; OCHE_NEVER: it has resumed since */
    unsigned shadow;  /* the host that must resume */
    uint64_t sent_bytes;
};

struct shadow_world {
    uint64_t seed;
    bool uc, reads, data_only;
    bool tries; /* this run finds out when a queue pair fails */
    bool alone; /* one connection, with the network to itself */
    struct oche_random random;
    struct small_world small;
    uint32_t to;
    oche_time rtt;
    struct oche_flow_plan flows[MOST_FLOWS];
    uint32_t flow_count;
    struct kill kills[MOST_KILLS];
    unsigned kill_count;
    char pattern[200];
    struct watched watched[MOST_FLOWS];
    unsigned delivered[MOST_FLOWS];
    uint64_t first_failure; /* packets that the port had sent; 0: none has failed since the last */
    uint64_t failures, resumed;
    oche_time slowest, last_loss;
};

struct sums {
    uint64_t failures, resumed, read_resumed, switches, replayed, doubled, kills, messages;
    /* UC: incomplete flows, and those of them with later flows */
    uint64_t unanswered_batches, timeouts, incomplete, after;
    oche_time slowest;
};

static uint64_t below(struct shadow_world *world, uint64_t n)
{
    return oche_random_below(&world->random, n);
}

static bool coin(struct shadow_world *world)
{
    return below(world, 2) == 0;
}

#define WORLD_MUST(world, condition)                                                               \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fail_msg("test_rogue_shadow %s %llu: %s", (world)->uc ? "uc" : "rc",                   \
                     (unsigned long long)(world)->seed, #condition);                               \
    } while (0)

/* ---- making ---- */

static void choose_params(struct shadow_world *world)
{
    static const uint64_t verbs[] = {0, 0, 1000, 16384, 100000};
    struct small_world *small = &world->small;

    small_world_cc(small, "hardware_retries", below(world, 4) == 0 ? 0 : 1);
    small_world_cc(small, "verb_bytes", verbs[below(world, 5)]);
    small_world_cc(small, "segment_bytes", coin(world) ? 65536 : 16384);
    small_world_cc(small, "first_batch", below(world, 2));
    small_world_cc(small, "hold_off_bytes", coin(world) ? 0 : 160000);
    small_world_cc(small, "keep_window", coin(world));
    small_world_cc(small, "resync_interval", (20 + below(world, 500)) * OCHE_US);
    small_world_cc(small, "transport", world->uc ? ROGUE_UC : ROGUE_RC);
    small_world_cc(small, "verb", world->reads ? OCHE_ROGUE_READS : OCHE_ROGUE_WRITES);
}

/* Flows of one host to the other, and some in the other direction. */
static void choose_flows(struct shadow_world *world)
{
    bool both_ways = !world->alone && coin(world);

    world->flow_count = 1 + (uint32_t)below(world, MOST_FLOWS);
    for (uint32_t i = 0; i < world->flow_count; i++) {
        bool back = both_ways && i > 0 && coin(world);
        uint64_t bytes = 1 + below(world, coin(world) ? 3000 : 300000);

        world->flows[i] = small_flow(back ? world->to : FROM, back ? FROM : world->to, bytes,
                                     below(world, 300 * OCHE_US));
    }
}

/* RC: loses what one of the hosts sends, data alone or everything. */
static void choose_port(struct shadow_world *world)
{
    bool far = coin(world);

    world->small.losses[0].port = !far ? "host0" : world->to == 2 ? "host2" : "host16";
    world->small.losses[0].pattern = world->pattern;
    world->data_only = coin(world);
}

static void on_event(void *context, uint32_t node, const struct oche_trace_record *record);

static void make(struct shadow_world *world, uint64_t seed, bool uc)
{
    static const char *const topologies[] = {"star", "dumbbell", "parking_lot", "leaf_spine"};
    uint32_t topology;

    *world = (struct shadow_world){
        .seed = seed, .uc = uc, .random = oche_random_stream(seed, "shadow worlds", 0)};
    topology = (uint32_t)below(world, 4);
    world->to = topology == 3 ? 16 : 2;
    small_world_init(&world->small, topologies[topology], "rogue", "go_back_n");
    struct oche_world_config *config = &world->small.config;
    config->seed = seed;
    config->run.duration = 4 * OCHE_SEC;
    config->run.payload = true;
    config->hosts.ack_timeout = (100 + below(world, 1000)) * OCHE_US;
    config->hosts.ack_every_packets = 1 + below(world, 16);
    world->alone = below(world, 3) > 0;
    config->hosts.connections =
        world->alone || coin(world) ? OCHE_CONNECTION_PER_PAIR : OCHE_CONNECTION_PER_FLOW;
    world->reads = !uc && below(world, 3) == 0;
    choose_params(world);
    choose_flows(world);
    choose_port(world);
    world->small.sink = on_event;
    world->small.sink_context = world;
}

/* ---- reading the trace ---- */

static struct oche_rogue_end *end_of(struct shadow_world *world, uint32_t connection)
{
    const struct oche_world *made = world->small.world;
    const struct oche_host *host = made->hosts[made->flows.connections[connection].src];

    return oche_rogue_find(oche_host_endpoint_state(host), connection);
}

static void on_failure(struct shadow_world *world, uint32_t connection, unsigned qp, oche_time now)
{
    const struct rogue_connection *library = end_of(world, connection)->library;
    const struct oche_loss *loss = world->small.loss_memory[0];

    world->failures++;
    if (world->first_failure == 0 && world->kill_count > 0 &&
        loss->count >= world->kills[world->kill_count - 1].first)
        world->first_failure = loss->count;
    /* An empty WRITE that announces the speed of READs may fail when all else is done. */
    if (library->sides[1 - qp].health == QP_READY && library->piece_done < library->piece_next)
        world->watched[connection] = (struct watched){.failed = now, .shadow = 1 - qp};
}

static void on_sent(struct shadow_world *world, uint32_t connection, unsigned qp, oche_time now)
{
    struct watched *watched = &world->watched[connection];

    if (watched->failed == OCHE_NEVER || qp != watched->shadow)
        return;
    oche_time took = now - watched->failed;
    if (!world->tries && took > (world->alone ? world->rtt : BUSY_ROUND_TRIPS * world->rtt))
        fail_msg("test_rogue_shadow rc %llu: %llu ns from the error completion to the shadow, the "
                 "round trip is %llu ns",
                 (unsigned long long)world->seed, (unsigned long long)(took / OCHE_NS),
                 (unsigned long long)(world->rtt / OCHE_NS));
    world->slowest = took > world->slowest ? took : world->slowest;
    world->resumed++;
    watched->failed = OCHE_NEVER;
}

static void on_event(void *context, uint32_t node, const struct oche_trace_record *record)
{
    struct shadow_world *world = context;
    const struct oche_flows *flows = &world->small.world->flows;
    uint32_t connection = oche_connection_of(record->qpn);

    if (record->qpn < OCHE_FIRST_QPN || connection >= flows->connection_count)
        return;
    if (world->rtt == 0)
        world->rtt = oche_world_empty_rtt(world->small.world);
    switch ((enum oche_trace_kind)record->kind) {
    case OCHE_TRACE_COMPLETED:
        if (record->b == OCHE_STATUS_RETRY_EXCEEDED && node == flows->connections[connection].src)
            on_failure(world, connection, oche_rogue_which(record->qpn), record->time);
        break;
    case OCHE_TRACE_DATA_SENT:
        world->watched[connection].sent_bytes += (uint32_t)record->b;
        if ((uint32_t)record->b > 0)
            on_sent(world, connection, oche_rogue_which(record->qpn), record->time);
        break;
    case OCHE_TRACE_DROPPED:
        world->last_loss = record->time;
        break;
    case OCHE_TRACE_FLOW_ENDED:
        world->delivered[record->a]++;
        break;
    default:
        break;
    }
}

/* ---- running ---- */

static void write_pattern(struct shadow_world *world)
{
    char *at = world->pattern, *end = world->pattern + sizeof(world->pattern);

    at += snprintf(at, (size_t)(end - at), "%s", world->data_only ? "data:" : "");
    for (unsigned i = 0; i < world->kill_count; i++)
        at += snprintf(at, (size_t)(end - at), "%s%llu-%llu", i > 0 ? "," : "",
                       (unsigned long long)world->kills[i].first,
                       (unsigned long long)world->kills[i].last);
}

static void run_once(struct shadow_world *world)
{
    write_pattern(world);
    world->first_failure = world->failures = world->resumed = 0;
    world->slowest = world->rtt = world->last_loss = 0;
    for (unsigned i = 0; i < MOST_FLOWS; i++) {
        world->watched[i] = (struct watched){.failed = OCHE_NEVER};
        world->delivered[i] = 0;
    }
    small_world_run(&world->small, world->flows, world->flow_count);
}

/* Returns how many additional packets are lost, of the shadow or of the resynchronisation. */
static uint64_t some_more(struct shadow_world *world)
{
    return world->reads || below(world, 3) > 0 ? 0 : 1 + below(world, 4);
}

/*
 * Adds a failure: loses everything from a packet on, notes when a queue pair fails, and stops then.
 * Returns false if that packet was never sent.
 */
static bool add_kill(struct shadow_world *world)
{
    uint64_t after = world->kill_count == 0 ? 0 : world->kills[world->kill_count - 1].last;
    struct kill *kill = &world->kills[world->kill_count++];

    kill->first = after + 1 + (world->reads ? REQUESTS : 0) + below(world, coin(world) ? 10 : 300);
    kill->last = FOR_EVER;
    world->tries = true;
    world->small.config.run.duration = 20 * OCHE_MS;
    run_once(world);
    small_world_end(&world->small);
    world->tries = false;
    world->small.config.run.duration = 4 * OCHE_SEC;
    if (world->first_failure == 0)
        world->kill_count--;
    else
        kill->last = world->first_failure + some_more(world);
    return world->first_failure > 0;
}

static uint64_t counted(const struct shadow_world *world, const char *name)
{
    const struct oche_world_totals *totals = &world->small.totals;

    assert_non_null(totals->counters);
    for (size_t i = 0; i < totals->counters->count; i++)
        if (strcmp(totals->counters->rows[i].name, name) == 0)
            return totals->counted[i];
    fail_msg("no counter %s", name);
    return 0;
}

static void assert_flows(struct shadow_world *world)
{
    const struct oche_flows *flows = &world->small.world->flows;

    for (OCHE_EACH_MADE_FLOW(i, flows)) {
        WORLD_MUST(world, world->delivered[i] == 1);
        WORLD_MUST(world, flows->received[i].delivered != OCHE_NEVER);
        WORLD_MUST(world, flows->sent[i].completed != OCHE_NEVER);
        WORLD_MUST(world, flows->sent[i].failed == 0);
    }
    WORLD_MUST(world, world->small.totals.corrupt_bytes == 0);
    WORLD_MUST(world, counted(world, "missing_bytes") == 0);
    /* A packet that arrived twice was posted twice. */
    WORLD_MUST(world, counted(world, "doubled_bytes") == 0 || world->failures > 0);
    WORLD_MUST(world, counted(world, "switches") <= world->failures);
}

static void run(uint64_t seed, struct sums *sums)
{
    static struct shadow_world world;

    make(&world, seed, false);
    unsigned kills = 1 + (unsigned)below(&world, MOST_KILLS);
    while (world.kill_count < kills && add_kill(&world))
        ;
    if (world.kill_count == 0) /* small flows: the first packet then */
        world.kills[world.kill_count++] = (struct kill){1, 1};
    run_once(&world);
    assert_flows(&world);
    for (unsigned i = 0; i < MOST_FLOWS; i++)
        WORLD_MUST(&world, world.watched[i].failed == OCHE_NEVER); /* each has resumed */
    sums->kills += world.kill_count;
    sums->failures += world.failures;
    sums->resumed += world.resumed;
    sums->read_resumed += world.reads ? world.resumed : 0;
    sums->slowest = world.slowest > sums->slowest ? world.slowest : sums->slowest;
    sums->switches += counted(&world, "switches");
    sums->replayed += counted(&world, "replayed_pieces");
    sums->doubled += counted(&world, "doubled_bytes");
    sums->messages += counted(&world, "resync_messages");
    small_world_free(&world.small);
}

/* Loses some packets of the sender, or all from one on. */
static void run_uc(uint64_t seed, struct sums *sums)
{
    static struct shadow_world world;
    uint64_t asked[MOST_FLOWS] = {0};

    make(&world, seed, true);
    world.small.losses[0].port = "host0";
    uint64_t first = 1 + below(&world, 300);
    bool for_ever = below(&world, 4) == 0;
    world.kills[world.kill_count++] =
        (struct kill){first, for_ever ? FOR_EVER : first + below(&world, 100)};
    run_once(&world);
    const struct oche_flows *flows = &world.small.world->flows;
    for (OCHE_EACH_MADE_FLOW(i, flows)) {
        WORLD_MUST(&world, flows->sent[i].completed != OCHE_NEVER);
        WORLD_MUST(&world, world.delivered[i] <= 1);
        /*
         * Flows that began after the last loss have arrived, even if earlier ones are incomplete.
         */
        if (flows->sent[i].started > world.last_loss)
            WORLD_MUST(&world, world.delivered[i] == 1);
        sums->incomplete += world.delivered[i] == 0;
        sums->after += world.delivered[i] == 0 && flows->received[i].passed_over;
        asked[flows->plan[i].connection] += flows->plan[i].bytes;
    }
    for (uint32_t i = 0; i < flows->connection_count; i++)
        WORLD_MUST(&world, world.watched[i].sent_bytes == asked[i]);
    WORLD_MUST(&world, world.failures == 0);
    WORLD_MUST(&world, counted(&world, "switches") == 0);
    WORLD_MUST(&world, counted(&world, "replayed_pieces") == 0);
    WORLD_MUST(&world, counted(&world, "doubled_bytes") == 0);
    WORLD_MUST(&world, world.small.totals.corrupt_bytes == 0);
    WORLD_MUST(&world,
               world.small.totals.lost_packets > 0 || counted(&world, "missing_bytes") == 0);
    sums->unanswered_batches += counted(&world, "unanswered_batches");
    sums->timeouts += counted(&world, "sample_timeouts");
    small_world_free(&world.small);
}

static void print(const struct sums *sums)
{
    printf("%llu queue pairs failed (%llu ranges of packets), %llu transfers resumed, %llu of "
           "READs, after %llu ns at most; %llu pieces again, %llu bytes twice\n",
           (unsigned long long)sums->failures, (unsigned long long)sums->kills,
           (unsigned long long)sums->resumed, (unsigned long long)sums->read_resumed,
           (unsigned long long)(sums->slowest / OCHE_NS), (unsigned long long)sums->replayed,
           (unsigned long long)sums->doubled);
}

static void the_shadow_resumes_in_a_round_trip(void **state)
{
    struct sums sums = {0};

    (void)state;
    for (uint64_t seed = 1; seed <= seeds_of(WORLDS); seed++)
        run(seed, &sums);
    print(&sums);
    /* faults have happened */
    assert_true(sums.failures > seeds_least(1000));
    assert_true(sums.resumed > seeds_least(900));
    assert_true(sums.read_resumed > seeds_least(250));
    assert_true(sums.doubled > seeds_least(5000000));
}

static void nothing_is_repeated_on_uc(void **state)
{
    struct sums sums = {0};

    (void)state;
    for (uint64_t seed = 1; seed <= seeds_of(UC_WORLDS); seed++)
        run_uc(seed, &sums);
    printf("UC: %llu batches lost, %llu timeouts, %llu flows incomplete, %llu with later ones\n",
           (unsigned long long)sums.unanswered_batches, (unsigned long long)sums.timeouts,
           (unsigned long long)sums.incomplete, (unsigned long long)sums.after);
    if (!seeds_show_all()) /* a thirtieth of the worlds has none with later ones */
        return;
    assert_true(sums.after > seeds_least(25));
    assert_true(sums.unanswered_batches > seeds_least(400));
    assert_true(sums.timeouts > seeds_least(100));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_shadow_resumes_in_a_round_trip),
                                       cmocka_unit_test(nothing_is_repeated_on_uc)};

    if (argc == 3) {
        struct sums sums = {0};

        (strcmp(argv[1], "uc") == 0 ? run_uc : run)(strtoull(argv[2], NULL, 10), &sums);
        print(&sums);
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
