/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a scenario and its twins. */
#include "tests/swarm/judge.h"

#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/capture/capture.h"
#include "sim/network/network.h"
#include "tests/support/rank_sockets.h"
#include "tests/support/seeds.h"

#define FILE_NAME         "swarm.yaml"
#define MOST_EVENTS_ON    400000 /* limit of the twin that runs longer, */
#define TIMES_ON          8      /* or this many times the run's own limit, if that is less */
#define MOST_EVENTS_APART 12000  /* limit of a run that is repeated with threads; */
#define FEW_EVENTS_APART  600    /* of runs with more, only one in ONE_APART is repeated */
#define ONE_APART         16
#define MOST_ROWS_APART   200 /* time series: if there are more, default ones are left out, */
#define FEW_ROWS_APART    40  /* or if there are more than these, where there are many worlds */
#define REPEATS           4   /* runs of a world that may leak */
#define LEAST_LEAK        512 /* bytes: the sizes of blocks vary a little */
#define MOST_RSS_KB       1000000
#define PACKET_BYTES      256 /* bytes of a packet in flight */
#define MOST_FLOWS        2000
#define LOOKS_A_CHECK     16             /* windows between two checks for hung queue pairs */
#define LEAST_ON          (2 * OCHE_SEC) /* least time that the longer twin goes on */

const char *const swarm_twin_names[TWINS] = {"alone",     "two_threads", "three_threads", "bytes",
                                             "payload",   "unmeasured",  "captured",      "longer",
                                             "unsampled", "ranks"};

bool swarm_finding(struct swarm_verdict *verdict, const char *rule, const char *format, ...)
{
    va_list arguments;

    if (verdict->kind == SWARM_FINDING)
        return false;
    verdict->kind = SWARM_FINDING;
    snprintf(verdict->rule, sizeof(verdict->rule), "%s", rule);
    va_start(arguments, format);
    vsnprintf(verdict->text, sizeof(verdict->text), format, arguments);
    va_end(arguments);
    return false;
}

/*
 * True if the message is a refusal: one line with a file (the scenario, or one that it names) and a
 * reason.
 */
static bool refuse(struct swarm_verdict *verdict, const char *message)
{
    bool placed = strncmp(message, FILE_NAME ":", 11) == 0 || strncmp(message, "../files/", 9) == 0;

    if (!placed || strchr(message, '\n') != NULL || strlen(message) < 24 ||
        strstr(message, ": ") == NULL)
        return swarm_finding(verdict, "refusal", "not one line with file and reason: \"%s\"",
                             message);
    verdict->kind = SWARM_REFUSED;
    snprintf(verdict->text, sizeof(verdict->text), "%s", message);
    return false;
}

/* Like refuse, for a scenario that can be read but for which no world can be made. */
static bool refuse_world(struct swarm_verdict *verdict, const struct oche_scenario *scenario,
                         const struct oche_error *error)
{
    struct oche_error place = {""};

    oche_scenario_place(scenario, error->text, &place);
    refuse(verdict, place.text);
    if (strstr(place.text, "to take the same way") && swarm_ways_are_single(&scenario->config))
        swarm_finding(verdict, "symmetry", "there is but one way: %s", place.text);
    return false;
}

uint64_t swarm_flows(const char *yaml, size_t bytes, struct swarm_verdict *verdict)
{
    struct oche_error error = {""};
    uint64_t count = SWARM_NO_FLOWS;
    struct oche_scenario *scenario = oche_scenario_parse(FILE_NAME, yaml, bytes, &error);

    *verdict = (struct swarm_verdict){.kind = SWARM_FINE};
    if (scenario == NULL) {
        refuse(verdict, error.text);
        return count;
    }
    struct oche_world *world = oche_world_create(&scenario->config, &error);

    if (world != NULL) {
        count = oche_world_flows(world)->count;
    } else {
        refuse_world(verdict, scenario, &error);
    }
    oche_world_free(world);
    oche_scenario_close(scenario);
    return count;
}

/* ---- one run ---- */

struct limit {
    const struct oche_world *world;
    const uint64_t *before; /* stop when all flows have made progress since; NULL: do not stop */
    uint64_t most;
    uint64_t looks;
    struct swarm_verdict *verdict;
    sigjmp_buf out;
    oche_time stopped;
};

static void look(void *context, const struct oche_progress *progress)
{
    struct limit *limit = context;

    if (limit->looks++ % LOOKS_A_CHECK == 0 && swarm_none_hangs(limit->world, limit->verdict))
        swarm_none_is_broken(limit->world, limit->verdict);
    if (oche_network_events(oche_world_network(limit->world)) <= limit->most &&
        (limit->before == NULL || !swarm_all_came_on(limit->world, limit->before)))
        return;
    limit->stopped = progress->now;
    siglongjmp(limit->out, 1);
}

/*
 * Runs in one thread, until the limit of events or until all flows have made progress. Returns
 * false if the run was stopped.
 */
static bool run_limited(struct oche_world *world, uint64_t most, const uint64_t *before,
                        struct swarm_verdict *verdict)
{
    static struct limit limit;

    limit = (struct limit){.world = world, .before = before, .most = most, .verdict = verdict};
    if (sigsetjmp(limit.out, 0) != 0) {
        verdict->stopped = limit.stopped;
        return false;
    }
    oche_world_run(world, look, &limit);
    return true;
}

static struct oche_capture *capture_all(struct oche_world_config *config, uint32_t **ports,
                                        char *path, struct oche_error *error)
{
    struct oche_topology topology;

    sprintf(path, "/dev/shm/swarm.%d.pcap", (int)getpid());
    struct oche_capture *capture = oche_capture_create(path, error);

    if (capture == NULL || !config->topology->build(config->topology_params, &topology, error))
        return NULL;
    *ports = calloc(topology.host_count, sizeof(**ports));
    for (uint32_t i = 0; i < topology.host_count; i++)
        (*ports)[i] = topology.nodes[i].first_port;
    config->tap_port_count = topology.host_count;
    config->tap_ports = *ports;
    config->tap = oche_capture_tap;
    config->tap_context = capture;
    oche_topology_free(&topology);
    return capture;
}

/* Results of the first run. The runs with other settings are compared with these. */
struct first {
    uint64_t most;        /* limit of events */
    bool early;           /* it ended before its duration was over */
    oche_time deadlocked; /* when a deadlock was noticed; OCHE_NEVER: there is none */
    bool timed;           /* it has a duration */
    struct swarm_digest *digest;
    uint64_t packets;  /* packets that links can hold */
    uint64_t rows;     /* samples of its time series; threads stop at each sample */
    bool auto_rows;    /* kept because measure.interval is auto */
    uint64_t *arrived; /* the result of swarm_note_arrived; NULL: all flows have ended */
};

static bool has_few_rows(const struct first *first)
{
    return first->rows < (first->most < SWARM_MOST_EVENTS ? FEW_ROWS_APART : MOST_ROWS_APART);
}

static void prepare(struct oche_world_config *config, enum swarm_twin twin,
                    const struct first *first)
{
    config->auto_series = true;
    config->in_order =
        twin == TWIN_NONE; /* rules watch all nodes in order of time; twins run node by node */
    switch (twin) {
    case TWIN_TWO:
    case TWIN_THREE:
        config->threads = twin == TWIN_TWO ? 2 : 3;
        config->together = twin == TWIN_TWO;
        config->auto_series = has_few_rows(first);
        break;
    case TWIN_RANKS:
        config->auto_series = has_few_rows(first);
        break;
    case TWIN_BYTES:
        config->run.bytes = true;
        break;
    case TWIN_PAYLOAD:
        config->run.payload = true;
        break;
    case TWIN_UNMEASURED:
        oche_param_defaults(&oche_measure_params, &config->measure);
        config->auto_series = false;
        config->run.warmup = 0;
        break;
    case TWIN_UNSAMPLED:
        config->auto_series = false;
        break;
    case TWIN_LONGER:
        config->run.stop_when_done = true;
        config->measure.interval = 0;
        break;
    default:
        break;
    }
}

static uint64_t events_on(uint64_t most)
{
    return TIMES_ON * most < MOST_EVENTS_ON ? TIMES_ON * most : MOST_EVENTS_ON;
}

/* Runs the world of `run`, with a capture if `capture` is not NULL. */
static bool run_world(struct swarm_run *run, enum swarm_twin twin, struct oche_capture *capture,
                      const struct first *first, struct swarm_verdict *verdict)
{
    bool longer = twin == TWIN_LONGER, ran = true;
    struct oche_rank_mail *mail = run->scenario->config.mail;

    if (capture != NULL)
        oche_capture_attach(capture, oche_world_network(run->world));
    if (longer) /* only now, when workloads have planned exactly what they did before */
        run->scenario->config.run.duration =
            oche_time_add(10 * run->scenario->config.run.duration, LEAST_ON);
    if (twin == TWIN_NONE || longer)
        ran = run_limited(run->world, longer ? events_on(first->most) : first->most,
                          longer ? first->arrived : NULL, verdict);
    else
        oche_world_run(run->world, NULL, NULL);
    if (mail != NULL)
        rank_sockets_close((struct rank_sockets *)mail);
    oche_world_totals(run->world, &run->totals);
    if (!ran && verdict->kind != SWARM_FINDING)
        verdict->kind = SWARM_LONG;
    return ran && verdict->kind != SWARM_FINDING;
}

/* ---- the run itself and its twins ---- */

static bool all_ended(const struct swarm_run *run)
{
    return run->totals.flows_completed + run->totals.flows_failed == run->totals.flows;
}

static bool is_early(const struct swarm_run *run)
{
    oche_time duration = run->scenario->config.run.duration;

    return duration == 0 || oche_world_network(run->world)->now < duration;
}

/* Returns when a deadlock was noticed, or OCHE_NEVER. */
static oche_time deadlocked(const struct swarm_run *run)
{
    const struct oche_deadlock *deadlock = oche_world_deadlock(run->world);

    return deadlock != NULL ? deadlock->noticed : OCHE_NEVER;
}

/* Long links can hold many packets: a host that resends each microsecond fills them. */
static uint64_t packets_on_links(const struct oche_world *world)
{
    const struct oche_topology *topology = oche_world_topology(world);
    uint64_t bits = 0;

    for (uint32_t i = 0; i < topology->link_count; i++) {
        const struct oche_topology_link *link = &topology->links[i];

        bits += (uint64_t)(2e-12 * (double)link->rate_bps * (double)link->delay);
    }
    return bits / (8 * OCHE_MIN_FRAME_BYTES);
}

static bool judge_first(struct swarm_run *run, struct first *first, struct swarm_verdict *verdict)
{
    verdict->hops = run->totals.hops;
    verdict->events = run->totals.events;
    verdict->done = all_ended(run);
    verdict->saw = swarm_saw(run);
    for (unsigned i = 0; oche_switch_mechanisms[i] != NULL; i++)
        verdict->mechanisms |= (uint32_t)run->totals.has_mechanism[i] << i;
    if (oche_world_series_count(run->world) > 0)
        first->rows = oche_world_series(run->world, 0).count;
    first->auto_rows = oche_world_config(run->world)->measure.interval == OCHE_NEVER;
    first->packets = packets_on_links(run->world);
    first->early = is_early(run);
    first->deadlocked = deadlocked(run);
    first->timed = run->scenario->config.run.duration > 0;
    first->digest = swarm_digest_take(run);
    first->arrived = verdict->done ? NULL : swarm_note_arrived(run);
    const char *strange = swarm_digest_strange(first->digest);

    if (strange != NULL)
        return swarm_finding(verdict, "metrics", "%s", strange);
    return swarm_rules(run, verdict);
}

/*
 * A deadlock lasts, so both runs report it, even if one of them stops earlier. There are two
 * exceptions: links that fail later discard the packets in it, and a run ends when all of its flows
 * have.
 */
static bool tells_the_same(const struct swarm_run *run, const struct first *first,
                           struct swarm_verdict *verdict)
{
    const struct oche_world_config *config = oche_world_config(run->world);
    oche_time here = deadlocked(run), there = first->deadlocked;
    bool ended = here == OCHE_NEVER ? is_early(run) : first->early;

    if ((here == OCHE_NEVER) == (there == OCHE_NEVER) || ended)
        return true;
    for (uint32_t i = 0; i < config->failure_count; i++)
        if (config->failures[i].at >= oche_time_min(here, there))
            return true;
    return swarm_finding(verdict, "unmeasured", "a deadlock at %llu ps, which the %s does not tell",
                         (unsigned long long)oche_time_min(here, there),
                         here == OCHE_NEVER ? "twin" : "run itself");
}

/*
 * True if READs may keep nothing behind a gap because of payload, and something was lost: a known
 * gap (ROADMAP.md).
 */
static bool forgets_reads(const struct swarm_run *run)
{
    const struct oche_world_config *config = oche_world_config(run->world);
    uint64_t lost = run->totals.lost_packets;
    bool reads = false;

    for (unsigned i = 0; i < OCHE_DROP_CAUSES; i++)
        lost += run->totals.drops[i];
    for (OCHE_EACH_MADE_FLOW(i, oche_world_flows(run->world)))
        reads = reads || oche_world_flows(run->world)->plan[i].verb == OCHE_VERB_READ;
    return config->run.payload && reads && lost > 0 && config->endpoint == NULL &&
           config->cc->windows_reads;
}

static bool judge_twin(struct swarm_run *run, enum swarm_twin twin, const struct first *first,
                       struct swarm_verdict *verdict)
{
    if (twin == TWIN_LONGER)
        return swarm_comes_on(run, first->arrived, verdict);
    /* Windows end where samples are taken, and runs that stop early stop at the end of a window. */
    if (twin == TWIN_UNMEASURED && (first->early || is_early(run)))
        return tells_the_same(run, first, verdict);
    struct swarm_digest *digest = swarm_digest_take(run);
    bool same = forgets_reads(run) || swarm_digest_same(first->digest, digest, verdict);

    swarm_digest_free(digest);
    if (run->totals.corrupt_bytes > 0)
        return swarm_finding(verdict, "payload", "%llu bytes are not those that were sent",
                             (unsigned long long)run->totals.corrupt_bytes);
    return same;
}

static bool run_one(const char *yaml, size_t bytes, enum swarm_twin twin, struct first *first,
                    struct swarm_verdict *verdict)
{
    struct oche_error error = {""};
    struct swarm_run run = {.broken = ""};
    struct swarm_watch *watch = NULL;
    struct oche_capture *capture = NULL;
    uint32_t *nodes = NULL;
    char path[64] = "";
    struct oche_scenario *scenario = oche_scenario_parse(FILE_NAME, yaml, bytes, &error);
    struct rank_sockets ranks;
    bool fine = true;

    verdict->twin = twin;
    if (scenario == NULL)
        return refuse(verdict, error.text);
    prepare(&scenario->config, twin, first);
    if (twin == TWIN_RANKS) {
        rank_sockets_open(&ranks, 2 + (uint32_t)(bytes % 3));
        scenario->config.mail = &ranks.mail;
        scenario->config.run.payload = bytes % 2 == 0; /* payload also crosses links */
    }
    if (twin == TWIN_CAPTURED)
        capture = capture_all(&scenario->config, &nodes, path, &error);
    run.scenario = scenario;
    run.world = oche_world_create(&scenario->config, &error);
    if (run.world == NULL) {
        if (twin == TWIN_NONE)
            fine = refuse_world(verdict, scenario, &error);
    } else if (twin == TWIN_NONE && oche_world_flows(run.world)->count > MOST_FLOWS) {
        verdict->kind = SWARM_LONG;
        verdict->stopped = scenario->config.run.duration / 4 + OCHE_US;
        fine = false;
    } else {
        if (twin == TWIN_NONE)
            watch = swarm_watch_start(&run);
        fine = run_world(&run, twin, capture, first, verdict);
        if (fine && watch != NULL)
            swarm_watch_end(watch);
        if (fine)
            fine = twin == TWIN_NONE ? judge_first(&run, first, verdict)
                                     : judge_twin(&run, twin, first, verdict);
        else if (twin != TWIN_NONE)
            fine = true, verdict->kind = SWARM_FINE;
    }
    swarm_watch_free(watch);
    oche_world_free(run.world);
    if (capture != NULL) {
        if (!oche_capture_finish(capture, &error))
            fine = swarm_finding(verdict, "capture", "%s", error.text);
        unlink(path);
    }
    free(nodes);
    oche_scenario_close(scenario);
    return fine;
}

/* Threads wait for each other every few events, which is slow. */
static bool is_worth(enum swarm_twin twin, const struct first *first,
                     const struct swarm_verdict *verdict)
{
    if (twin == TWIN_LONGER)
        return first->arrived != NULL && first->timed;
    if (twin != TWIN_TWO && twin != TWIN_THREE && twin != TWIN_RANKS)
        return true;
    if (first->most < SWARM_MOST_EVENTS && verdict->events > FEW_EVENTS_APART &&
        verdict->events % ONE_APART != 0)
        return false;
    return verdict->events < MOST_EVENTS_APART &&
           (first->auto_rows || first->rows < MOST_ROWS_APART);
}

static bool run_all(const char *yaml, size_t bytes, uint32_t twins, uint64_t most_events,
                    uint64_t *packets, struct swarm_verdict *verdict)
{
    struct first first = {.most = most_events};

    *verdict = (struct swarm_verdict){.kind = SWARM_FINE};
    bool fine = run_one(yaml, bytes, TWIN_NONE, &first, verdict);

    for (enum swarm_twin twin = TWIN_TWO; fine && twin < TWINS; twin++)
        if ((twins >> twin & 1) && is_worth(twin, &first, verdict)) {
            verdict->twins |= 1U << twin;
            fine = run_one(yaml, bytes, twin, &first, verdict);
        }
    *packets = first.packets;
    swarm_digest_free(first.digest);
    free(first.arrived);
    return fine;
}

static size_t allocated(void)
{
    struct mallinfo2 info = mallinfo2();

    return info.uordblks + info.hblkhd;
}

/* Returns a number of kilobytes that the kernel reports of this process; 0: unknown. */
static long status_of(const char *name)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[128];
    long value = 0;

    while (file != NULL && fgets(line, sizeof(line), file) != NULL)
        if (strncmp(line, name, strlen(name)) == 0)
            value = strtol(line + strlen(name), NULL, 10);
    if (file != NULL)
        fclose(file);
    return value;
}

/* Resets the peak of memory. */
static void forget_peak(void)
{
    if (status_of("VmRSS:") > MOST_RSS_KB / 4)
        malloc_trim(0);
    FILE *file = fopen("/proc/self/clear_refs", "w");

    if (file == NULL)
        return;
    fputs("5", file);
    fclose(file);
}

static bool is_modest(uint64_t packets, struct swarm_verdict *verdict)
{
    long peak = status_of("VmHWM:");
    const long most = MOST_RSS_KB + (long)(packets * PACKET_BYTES / 1024);

#ifdef SEEDS_SANITIZED
    return true; /* sanitizers need far more */
#endif
    return peak < most || swarm_finding(verdict, "memory", "%ld MB were needed", peak / 1000);
}

bool swarm_judge(const char *yaml, size_t bytes, uint32_t twins, uint64_t most_events,
                 struct swarm_verdict *verdict)
{
    size_t before = allocated(), after;
    uint64_t packets;

    forget_peak();
    if (!run_all(yaml, bytes, twins, most_events, &packets, verdict) ||
        !is_modest(packets, verdict))
        return false;
    after = allocated();
    if (after <= before)
        return true;
    /*
     * Memory that is allocated once is not allocated in a second run. Memory that one thread
     * allocates and another frees may stay with that thread for its next request, up to a bound.
     */
    for (unsigned again = 0; again < REPEATS; again++) {
        size_t last = allocated();

        if (!run_all(yaml, bytes, twins, most_events, &packets, verdict))
            return swarm_finding(verdict, "again", "it runs, and then it does not: %s",
                                 verdict->text);
        if (allocated() <= last + LEAST_LEAK)
            return true;
    }
    verdict->twin = TWIN_NONE;
    return swarm_finding(verdict, "leak", "%zu bytes are not freed, and after %u more runs %zu",
                         after - before, REPEATS, allocated() - before);
}
