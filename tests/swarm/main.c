/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One generator of worlds: draws scenarios over everything that a scenario can have, runs them and
 * judges them. A process of its own runs them, so that a crash is a finding and not the end. A
 * world that breaks a rule is made as small as it goes, and printed as a scenario.
 *
 * usage: swarm [--seed N] [--worlds N] [--seconds N] [--out DIR] [--pairs] [--quiet] [--stop]
 *              [--write DIR]          those that are fine are written to DIR/SEED.yaml
 *        swarm FILE.yaml|FOLDER…     judges these, by all rules and twins
 *
 * Status: 0 no finding, 1 findings, 2 bad arguments.
 */
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <malloc.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/seeds.h"
#include "tests/swarm/coverage.h"
#include "tests/swarm/judge.h"
#include "tests/swarm/plan.h"
#include "tests/swarm/shrink.h"

#define WORLDS 600 /* without another word */
#ifdef SEEDS_SANITIZED
#define TIMES_LONG 2 /* with OCHE_LONG=yes */
#else
#define TIMES_LONG 20
#endif
#define MOST_MENDS     40  /* refusals of one draft before it is given up */
#define MOST_KINDS     64  /* of findings */
#define MOST_OF_KIND   3   /* findings that are made smaller */
#define MOST_TRIES     600 /* tries to make a finding smaller */
#define SHRINK_SECONDS 120
#ifdef SEEDS_SANITIZED
#define CPU_SECONDS 300
#else
#define CPU_SECONDS 60 /* seconds of one world; more is a hang */
#endif
#define WALL_SECONDS   900 /* the same, while it waits */
#define MOST_FLOWS     100
#define LEAST_DURATION (16 * OCHE_US)
#define LEAST_EVENTS   250 /* limit of events of a world; the exact limit is drawn */
#define MOST_EVENTS    10000
#define MOST_OF_LARGE  40000 /* events of a large world, which also has more flows */
#define FLOWS_OF_LARGE 800
#define TOO_DENSE      100000 /* if the shortest run has more flows, the draft is given up */
#define WAYS_AND_BACK  8  /* length of a large world, in multiples of the longest link's delay */
#define FOUND          10 /* status of a worker that stops at a finding */
#define EVERY_TWIN     (((1U << TWINS) - 1) & ~1U)

/* Shared by a worker and its parent. */
struct shared {
    uint64_t seed; /* the seed that is running */
    struct draft draft;
    uint32_t twins;
    struct swarm_verdict verdict;
    uint64_t worlds, done, cut, refused, given_up, hops;
    char panic[256];
    struct coverage coverage;
};

struct kind {
    char rule[32];
    enum swarm_twin twin;
    unsigned count;
};

struct options {
    uint64_t seed, worlds, seconds;
    const char *out, *write; /* NULL: not wanted */
    bool pairs, quiet, stop; /* stop at the first finding, without making it smaller */
};

static struct shared *shared;
static struct oche_schema schema;
static struct kind kinds[MOST_KINDS];
static unsigned kind_count, findings;

_Noreturn void oche_panic(const char *file, int line, const char *what)
{
    if (shared != NULL)
        snprintf(shared->panic, sizeof(shared->panic), "%s:%d: %s", file, line, what);
    abort();
}

/* ---- a worker ---- */

/* A process that runs worlds ends with its parent. It takes no huge pages, as worlds are small. */
static void be_worker(void)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (chdir(SWARM_FOLDER) != 0)
        perror(SWARM_FOLDER); /* scenarios name files relative to this folder */
    prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
}

static void limit_time(void)
{
    struct itimerval cpu = {.it_value.tv_sec = CPU_SECONDS};

    setitimer(ITIMER_PROF, &cpu, NULL);
    alarm(WALL_SECONDS);
}

static uint32_t draw_twins(struct draw *draw)
{
    uint32_t twins = draw_one_in(draw, 2) ? 1U << TWIN_LONGER : 0;

    for (int i = 0; i < 2; i++)
        twins |= 1U << (TWIN_TWO + draw_below(draw, TWINS - TWIN_TWO));
    return twins;
}

/* Returns how long packets and their answers travel, if paths are long. */
static uint64_t long_ways(const struct draw *draw)
{
    oche_time delay = 0;

    for (uint32_t i = 0; draw->large && i < draw->topology.link_count; i++)
        delay = oche_time_max(delay, draw->topology.links[i].delay);
    return WAYS_AND_BACK * delay;
}

/*
 * Shortens the run if the workloads would make too many flows; else keeps its drawn length. Returns
 * false if the reader refuses the draft, or, with the verdict SWARM_LONG, if even the shortest run
 * has too many flows.
 */
static bool settle_duration(char *yaml, uint64_t wanted, uint64_t most)
{
    uint64_t duration = wanted < LEAST_DURATION ? wanted : LEAST_DURATION;

    for (;;) {
        draft_set(&shared->draft, "", "duration", duration);
        uint64_t flows = swarm_flows(yaml, draft_write(&shared->draft, yaml), &shared->verdict);

        bool early = flows == SWARM_NO_FLOWS && duration < wanted &&
                     (strstr(shared->verdict.text, "end of the run") != NULL ||
                      strstr(shared->verdict.text, "less than duration") != NULL);

        if (flows == SWARM_NO_FLOWS && !early)
            return false;
        if (!early && flows > TOO_DENSE) {
            shared->verdict.kind = SWARM_LONG;
            return false;
        }
        if (duration == wanted)
            return true;
        if (flows > most && !early)
            return true;
        duration = duration > wanted / 4 ? wanted : 4 * duration;
    }
}

/* True if a workload would run far beyond the end of the run, as it lists all of its flows. */
static bool outlasts(const struct draft *draft, uint64_t duration)
{
    for (uint32_t i = 0; i < draft->part_count; i++)
        for (uint32_t v = 0; v < draft->parts[i].value_count; v++) {
            const struct draft_value *value = &draft->parts[i].values[v];

            if (strcmp(value->param->name, "stop") == 0 && value->value.u > 2 * duration)
                return true;
        }
    return false;
}

/* Removes the duration if the workloads then end by themselves, with few enough flows. */
static void try_until_done(char *yaml)
{
    const uint64_t duration = draft_find(&shared->draft, "", "duration")->value.u;

    if (outlasts(&shared->draft, duration))
        return;
    draft_set(&shared->draft, "", "duration", 0);
    if (swarm_flows(yaml, draft_write(&shared->draft, yaml), &shared->verdict) > MOST_FLOWS)
        draft_set(&shared->draft, "", "duration", duration);
}

/* Starts some workloads exactly at the end of warm-up, or just before it. */
static void start_at_warmup(struct draw *draw)
{
    const struct draft_value *start = draft_find(&shared->draft, "workload", "start");
    const struct draft_value *warmup = draft_find(&shared->draft, "", "warmup");

    if (start != NULL && warmup != NULL && start->value.u > 0 && draw_one_in(draw, 3))
        draft_set(&shared->draft, "", "warmup", start->value.u + draw_below(draw, 2));
}

/* Judges the draft. Draws another one if the reader refuses it, or if it runs for too long. */
static void run_seed(uint64_t seed, struct draw *draw)
{
    static char yaml[DRAFT_YAML_BYTES];
    struct swarm_verdict *verdict = &shared->verdict;
    bool settled = false;

    draw->random = oche_random_stream(seed, "swarm", 0);
    draft_plan(draw, seed);
    uint64_t most = (uint64_t)draw_scale(
        draw, draft_takes_time(draw) ? MOST_EVENTS / 2 : LEAST_EVENTS, MOST_EVENTS);

    if (draw->large)
        most = MOST_OF_LARGE;

    draft_draw(&shared->draft, draw);
    start_at_warmup(draw);
    draft_meet(&shared->draft, draw);
    shared->twins = draw_twins(draw);
    uint64_t wanted =
        oche_time_max(draft_find(&shared->draft, "", "duration")->value.u, long_ways(draw));
    const uint64_t flows = draw->large ? FLOWS_OF_LARGE : MOST_FLOWS;
    bool until_done = draw_one_in(draw, 6);

    for (int mend = 0; mend < MOST_MENDS; mend++) {
        limit_time();
        if (!settled && (settled = settle_duration(yaml, wanted, flows)) && until_done)
            try_until_done(yaml);
        if (!settled && verdict->kind == SWARM_LONG)
            break;
        if (settled &&
            swarm_judge(yaml, draft_write(&shared->draft, yaml), shared->twins, most, verdict)) {
            shared->worlds++;
            if (getenv("SWARM_DEBUG") != NULL)
                fprintf(stderr, "%sseed %llu: %llu hops, %llu us, saw %x\n", yaml,
                        (unsigned long long)seed, (unsigned long long)verdict->hops,
                        (unsigned long long)(draft_find(&shared->draft, "", "duration")->value.u /
                                             OCHE_US),
                        verdict->saw);
            shared->done += verdict->done;
            shared->hops += verdict->hops;
            coverage_count(&shared->coverage, &shared->draft, verdict);
            break;
        }
        if (verdict->kind == SWARM_FINDING)
            break;
        if (verdict->kind == SWARM_LONG) {
            shared->cut++;
            draft_set(&shared->draft, "", "duration", verdict->stopped / 4 * 3 + 1);
            continue;
        }
        shared->refused++;
        if (getenv("SWARM_DEBUG") != NULL)
            fprintf(stderr, "refused: %s\n", verdict->text);
        if (!draft_mend(&shared->draft, verdict->text, draw)) {
            if (getenv("SWARM_DEBUG") != NULL)
                fprintf(stderr, "cannot mend: %s\n", verdict->text);
            break;
        }
    }
    shared->given_up += verdict->kind == SWARM_REFUSED || verdict->kind == SWARM_LONG;
    oche_topology_free(&draw->topology);
}

/* Writes the world of `seed` as a scenario that `oche run` can read. */
static void write_world(const char *folder, uint64_t seed)
{
    static char yaml[DRAFT_YAML_BYTES];
    char path[512];

    snprintf(path, sizeof(path), "%s/%llu.yaml", folder, (unsigned long long)seed);
    FILE *file = fopen(path, "w");

    if (file == NULL) {
        perror(path);
        exit(2);
    }
    fwrite(yaml, 1, draft_write(&shared->draft, yaml), file);
    fclose(file);
}

/* Runs seeds until there is a finding, or the time is over. */
_Noreturn static void work(uint64_t end, time_t until, const char *write)
{
    struct draw draw = {.schema = &schema};

    be_worker();
    for (; shared->seed < end && (until == 0 || time(NULL) < until); shared->seed++) {
        run_seed(shared->seed, &draw);
        if (shared->verdict.kind == SWARM_FINDING)
            _exit(FOUND);
        if (write != NULL && shared->verdict.kind == SWARM_FINE)
            write_world(write, shared->seed);
    }
    _exit(0);
}

/* ---- findings ---- */

/* Waits for a worker. If a signal ended it, that is a finding. Returns its status. */
static int await(pid_t child)
{
    int status;

    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            exit(2);
    if (WIFEXITED(status))
        return WEXITSTATUS(status);
    int number = WTERMSIG(status);

    shared->verdict.kind = SWARM_FINE;
    if (number == SIGPROF || number == SIGALRM)
        swarm_finding(&shared->verdict, "hang", "no end after %d s", CPU_SECONDS);
    else if (number == SIGABRT && shared->panic[0] != '\0')
        swarm_finding(&shared->verdict, "assertion", "%s", shared->panic);
    else
        swarm_finding(&shared->verdict, "crash", "signal %d, %s", number, strsignal(number));
    return FOUND;
}

static bool judge_apart(const char *yaml, size_t bytes, uint32_t twins)
{
    shared->panic[0] = '\0';
    pid_t child = fork();

    if (child == 0) {
        be_worker();
        limit_time();
        if (getenv("SWARM_DEBUG") == NULL)
            fclose(stderr);
        _exit(swarm_judge(yaml, bytes, twins, SWARM_MOST_EVENTS, &shared->verdict) ? 0 : FOUND);
    }
    if (child < 0) {
        perror("fork");
        exit(2);
    }
    return await(child) != FOUND || shared->verdict.kind != SWARM_FINDING;
}

struct same {
    char rule[32], panic[256];
    enum swarm_twin twin;
    uint32_t twins;
    time_t until; /* then it is small enough */
};

/* A crash may be reported for another twin: the same rule is enough. */
static bool breaks(void *context, const struct draft *draft)
{
    static char yaml[DRAFT_YAML_BYTES];
    const struct same *same = context;
    size_t bytes = draft_write(draft, yaml);

    if (time(NULL) > same->until || judge_apart(yaml, bytes, same->twins))
        return false;
    return strcmp(shared->verdict.rule, same->rule) == 0 &&
           strcmp(shared->panic, same->panic) == 0 && shared->verdict.twin == same->twin;
}

static struct kind *kind_of(const struct swarm_verdict *verdict)
{
    for (unsigned i = 0; i < kind_count; i++)
        if (strcmp(kinds[i].rule, verdict->rule) == 0 && kinds[i].twin == verdict->twin)
            return &kinds[i];
    if (kind_count == MOST_KINDS)
        return &kinds[MOST_KINDS - 1];
    kinds[kind_count].twin = verdict->twin;
    memcpy(kinds[kind_count].rule, verdict->rule, sizeof(verdict->rule));
    return &kinds[kind_count++];
}

static void write_finding(const struct options *options, uint64_t seed, const char *what,
                          const char *yaml)
{
    char path[512];

    snprintf(path, sizeof(path), "%s/%s-%llu.yaml", options->out, shared->verdict.rule,
             (unsigned long long)seed);
    FILE *file = fopen(path, "w");

    if (file == NULL) {
        perror(path);
        return;
    }
    fprintf(file, "# SPDX-License-Identifier: Apache-2.0\n# %s\n%s", what, yaml);
    fclose(file);
    printf("repeat: tests/swarm/swarm %s\n", path);
}

/* Makes the finding smaller and prints it. */
static void report(const struct options *options, uint64_t seed)
{
    static char yaml[DRAFT_YAML_BYTES], what[1400];
    static struct draft smallest;
    struct swarm_verdict verdict = shared->verdict;
    struct same same = {.twin = verdict.twin,
                        .twins = (1U << verdict.twin) & EVERY_TWIN,
                        .until = time(NULL) + SHRINK_SECONDS};

    findings++;
    if (options->stop) {
        printf("seed %llu: %s, %s: %s\n", (unsigned long long)seed, verdict.rule,
               swarm_twin_names[verdict.twin], verdict.text);
        return;
    }
    if (kind_of(&verdict)->count++ >= MOST_OF_KIND)
        return;
    memcpy(same.rule, verdict.rule, sizeof(same.rule));
    memcpy(same.panic, shared->panic, sizeof(same.panic));
    smallest = shared->draft;
    if (!breaks(&same, &smallest))
        same.twins = EVERY_TWIN;
    unsigned tried = shrink(&smallest, breaks, &same, MOST_TRIES);

    same.until = time(NULL) + SHRINK_SECONDS;
    breaks(&same, &smallest);
    if (shared->verdict.kind != SWARM_FINDING)
        shared->verdict = verdict;
    snprintf(what, sizeof(what), "%s, %s: %s", shared->verdict.rule,
             swarm_twin_names[shared->verdict.twin], shared->verdict.text);
    draft_write(&smallest, yaml);
    printf("---- seed %llu (%u others tried): %s\n%s", (unsigned long long)seed, tried, what, yaml);
    printf("repeat: tests/swarm/swarm --seed %llu --worlds 1\n", (unsigned long long)seed);
    if (options->out != NULL)
        write_finding(options, seed, what, yaml);
    fflush(stdout);
}

static void print_summary(const struct options *options)
{
    printf("%llu worlds from seed %llu on, %llu of them to the last flow's end, %llu packet-hops; "
           "drafts refused %llu times, made shorter %llu times, %llu given up; %u findings\n",
           (unsigned long long)shared->worlds, (unsigned long long)options->seed,
           (unsigned long long)shared->done, (unsigned long long)shared->hops,
           (unsigned long long)shared->refused, (unsigned long long)shared->cut,
           (unsigned long long)shared->given_up, findings);
    for (unsigned i = 0; i < kind_count; i++)
        printf("  %6u  %s, %s\n", kinds[i].count, kinds[i].rule, swarm_twin_names[kinds[i].twin]);
}

static int swarm(const struct options *options)
{
    time_t until = options->seconds == 0 ? 0 : time(NULL) + (time_t)options->seconds;
    uint64_t end = options->seed + options->worlds;

    coverage_make(&shared->coverage, &schema);
    shared->seed = options->seed;
    setvbuf(stdout, NULL, _IOLBF, 0);
    while (shared->seed < end && (until == 0 || time(NULL) < until) &&
           !(options->stop && findings > 0)) {
        shared->panic[0] = '\0';
        fflush(stdout);
        pid_t child = fork();

        if (child == 0)
            work(end, until, options->write);
        if (child < 0) {
            perror("fork");
            return 2;
        }
        if (await(child) != FOUND)
            continue;
        report(options, shared->seed);
        shared->seed++;
    }
    if (!options->quiet)
        coverage_print(&shared->coverage, stdout, options->pairs);
    print_summary(options);
    return findings > 0;
}

/* ---- scenarios that are files ---- */

static int judge_file(const char *path)
{
    static char yaml[DRAFT_YAML_BYTES];
    FILE *file = fopen(path, "r");

    if (file == NULL) {
        perror(path);
        return 2;
    }
    size_t bytes = fread(yaml, 1, sizeof(yaml), file);

    fclose(file);
    if (!judge_apart(yaml, bytes, EVERY_TWIN)) {
        printf("%s: %s, %s: %s\n", path, shared->verdict.rule,
               swarm_twin_names[shared->verdict.twin], shared->verdict.text);
        return 1;
    }
    if (shared->verdict.kind != SWARM_FINE) {
        printf("%s: does not run to its end: %s\n", path, shared->verdict.text);
        return 2;
    }
    return 0;
}

/* Runs all scenarios of a folder. */
static int judge_folder(const char *folder)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, NULL, alphasort), status = 0;

    for (int i = 0; i < count; i++) {
        const char *extension = strrchr(entries[i]->d_name, '.');
        char path[1024];

        snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name);
        if (extension != NULL && strcmp(extension, ".yaml") == 0) {
            int one = judge_file(path);

            status = one > status ? one : status;
        }
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    return status;
}

static bool is_folder(const char *path)
{
    struct stat facts;

    return stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
}

static bool read_number(const char *text, uint64_t *number)
{
    char *end;

    errno = 0;
    *number = strtoull(text, &end, 10);
    return errno == 0 && end != text && *end == '\0' && text[0] != '-';
}

static bool read_options(struct options *options, int argc, char **argv)
{
    static const struct option known[] = {{"seed", required_argument, NULL, 's'},
                                          {"worlds", required_argument, NULL, 'w'},
                                          {"seconds", required_argument, NULL, 't'},
                                          {"out", required_argument, NULL, 'o'},
                                          {"pairs", no_argument, NULL, 'p'},
                                          {"quiet", no_argument, NULL, 'q'},
                                          {"stop", no_argument, NULL, 'x'},
                                          {"write", required_argument, NULL, 'f'},
                                          {0}};
    bool fine = true;

    for (int c; (c = getopt_long(argc, argv, "", known, NULL)) != -1;)
        switch (c) {
        case 's':
            fine &= read_number(optarg, &options->seed);
            break;
        case 'w':
            fine &= read_number(optarg, &options->worlds);
            break;
        case 't':
            fine &= read_number(optarg, &options->seconds);
            break;
        case 'o':
            options->out = optarg;
            break;
        case 'f':
            options->write = optarg;
            break;
        case 'p':
            options->pairs = true;
            break;
        case 'q':
            options->quiet = true;
            break;
        case 'x':
            options->stop = true;
            break;
        default:
            fine = false;
        }
    if (!fine)
        fprintf(stderr, "usage: swarm [--seed N] [--worlds N] [--seconds N] [--out DIR] [--pairs] "
                        "[--quiet] [--stop] [--write DIR] | swarm FILE.yaml…\n");
    return fine;
}

/* Freed memory that a thread keeps would count as a leak. */
static void keep_nothing(char **argv)
{
    static const char tunable[] = "glibc.malloc.tcache_count=0";
    const char *now = getenv("GLIBC_TUNABLES");

    if (now != NULL && strcmp(now, tunable) == 0)
        return;
    setenv("GLIBC_TUNABLES", tunable, 1);
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);

    if (length > 0) {
        path[length] = '\0';
        execv(path, argv);
    }
    perror("exec");
    exit(2);
}

int main(int argc, char **argv)
{
    const char *thorough = getenv("OCHE_LONG");
    struct options options = {.seed = 1, .worlds = seeds_of(WORLDS)};
    int status = 0;

    if (thorough != NULL && strcmp(thorough, "yes") == 0)
        options.worlds *= TIMES_LONG;
    keep_nothing(argv);
    /* The process keeps freed memory, as the next world needs as much. */
    mallopt(M_MMAP_THRESHOLD, 1000000000);
    mallopt(M_TRIM_THRESHOLD, 2000000000);
    mallopt(M_TOP_PAD, 16777216);

    if (!read_options(&options, argc, argv))
        return 2;
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        perror("mmap");
        return 2;
    }
    oche_schema_make(&schema);
    if (optind == argc)
        return swarm(&options);
    for (int i = optind; i < argc; i++) {
        int one = is_folder(argv[i]) ? judge_folder(argv[i]) : judge_file(argv[i]);

        status = one > status ? one : status;
    }
    return status;
}
