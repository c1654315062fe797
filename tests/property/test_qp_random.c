/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every loss-recovery scheme, with each interesting set of parameters, under random work and random
 * faults (checks: qp_work.h). Each setting also runs at one end with every other one at the other
 * end. Either end may know extensions, independently of its recovery.
 *
 *     test_qp_random [RUNS]                 of each setting, and a few of each pair
 *     test_qp_random SETTING[/PEER] SEED    that one, with its events
 *     test_qp_random SETTING[/PEER] FIRST LAST
 */
#include "tests/property/qp_work.h"
#include "tests/support/seeds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUNS      70 /* of each setting; together they reach all events */
#define PAIR_RUNS 2  /* of each pair of settings; OCHE_LONG=yes: ten times as many */

#define MEASURED                                                                                   \
    "selective_repeat,rto=measured,rto_low=2ms,rto_high=4ms,rto_most=20ms,undo=true,window=4096"

/* "A" on both sides, or "A/B": A on side 0, B on side 1. */
static const struct setting {
    const char *text;
    bool silent; /* packets behind a gap never occur, so there is no NAK */
    bool places; /* packets behind a gap are stored */
} settings[] = {
    {"go_back_n"},
    {"go_back_n,nak_interval=5us"},
    {"go_back_n,nak_interval=20us,nak_exception=false"},
    {"go_back_n,nak_interval=never"},
    {"go_back_n,nak_interval=0"},
    {"go_back_0"},
    {"go_back_0,nak_interval=10us,nak_exception=false"},
    {"improved_go_back_n"},
    {"improved_go_back_n,nak_interval=20us"},
    {"improved_go_back_n,nak_interval=20us,nak_exception=false,check_last=true"},
    {"improved_go_back_n,nak_interval=20us,check_epsn=false"},
    {"improved_go_back_n,nak_interval=20us,send_twice=false"},
    {"improved_go_back_n,nak_interval=20us,send_twice=false,check_last=true"},
    {"selective_repeat", .places = true},
    {"selective_repeat,rto_low=30us,rto_high=100us", .places = true},
    {"selective_repeat,window=1", .silent = true},
    {"selective_repeat,window=7,rto_low=30us,rto_high=60us,few_packets=0", .places = true},
    {"selective_repeat,window=65", .places = true},
    {"selective_repeat,window=4096,few_packets=1000", .places = true},
    {"selective_repeat,memory=as_it_comes", .places = true},
    {"selective_repeat,window=20/selective_repeat,window=100", .places = true},
    {MEASURED, .places = true},
    {MEASURED ",reorder=rack",
     .places = true}, /* values of the wire, where times are 50 times as long */
    {"selective_repeat/go_back_n"},
    {"go_back_n,nak_interval=5us/selective_repeat,rto_low=30us"},
    {"selective_repeat/improved_go_back_n,nak_interval=20us"},
    {"go_back_n/improved_go_back_n,nak_interval=20us"},
};
#define SETTINGS OCHE_COUNT_OF(settings)

/*
 * Runs that once failed or were stuck: a receiver forgot packets that its peer did not repeat; with
 * READs in pieces recovery did not hear of skipped packets, so a READ was repeated without end, or
 * never.
 */
static const struct {
    const char *setting;
    uint64_t seed;
} mended[] = {
    {"go_back_0/go_back_n", 700011},
    {"go_back_0/go_back_n", 700013},
    {"go_back_n/go_back_0", 700001},
    {"go_back_0/improved_go_back_n", 800004},
    {"improved_go_back_n/go_back_0", 800002},
    {"go_back_0/selective_repeat", 800004},
    {"selective_repeat/go_back_0", 800002},
    {"selective_repeat/go_back_0", 800004},
    {MEASURED, 3700},
    {MEASURED, 6105},
    {MEASURED, 2095},
    {"selective_repeat", 443},
    {MEASURED, 420},
    {MEASURED ",reorder=rack", 1135},
    {MEASURED ",reorder=rack", 1505},
};

static char repeat[400]; /* the command that repeats the run */
static bool tells_events;

_Noreturn void oche_panic(const char *file, int line, const char *what)
{
    fprintf(stderr, "\n%s:%d: broken: %s\nto repeat: %s\n", file, line, what, repeat);
    exit(1);
}

static _Noreturn void refuse(const char *setting, const char *why)
{
    fprintf(stderr, "%s: %s\n", setting, why);
    exit(2);
}

static void parse(const char *setting, struct oche_recovery_choice of_side[2])
{
    char copy[300], again[300], *rest;
    struct oche_error error;

    if (strlen(setting) >= sizeof(copy))
        refuse(setting, "too long");
    strcpy(copy, setting);
    rest = strchr(copy, '/');
    if (rest != NULL)
        *rest++ = '\0';
    strcpy(again, rest != NULL ? rest : copy);
    if (!oche_recovery_parse(&of_side[0], copy, &error) ||
        !oche_recovery_parse(&of_side[1], again, &error))
        refuse(setting, error.text);
}

static bool run(const char *setting, uint64_t first, uint64_t last, struct qp_work_tally *tally)
{
    struct oche_recovery_choice of_side[2];
    char wrong[400];

    parse(setting, of_side);
    for (uint64_t seed = first; seed <= last; seed++) {
        snprintf(repeat, sizeof(repeat), "tests/property/test_qp_random '%s' %lu", setting,
                 (unsigned long)seed);
        if (!qp_work_run(of_side, seed, tells_events, tally, wrong, sizeof(wrong))) {
            printf("%s, seed %lu: %s\nto repeat: %s\n", setting, (unsigned long)seed, wrong,
                   repeat);
            return false;
        }
    }
    return true;
}

static void tell(const char *setting, const struct qp_work_tally *t)
{
    printf("%s: %lu runs, %lu works; %lu faults, %lu damaged; %lu timeouts, %lu NAKs, %lu RNR, "
           "%lu packets repeated, %lu placed; %lu CNPs, %lu extended packets; retries exceeded "
           "%lu, RNR %lu, flushed %lu\n",
           setting, (unsigned long)t->runs, (unsigned long)t->works, (unsigned long)t->faults,
           (unsigned long)t->damaged, (unsigned long)t->timeouts, (unsigned long)t->naks,
           (unsigned long)t->rnr_naks, (unsigned long)t->retransmitted, (unsigned long)t->placed,
           (unsigned long)t->cnps, (unsigned long)t->extended, (unsigned long)t->retry_exceeded,
           (unsigned long)t->rnr_exceeded, (unsigned long)t->flushed);
    fflush(stdout);
}

/* All events that connections must survive have happened. */
static bool worth_it(const struct setting *setting, const struct qp_work_tally *t)
{
    if (t->damaged > 0 && t->timeouts > 0 && (t->naks > 0 || setting->silent) && t->rnr_naks > 0 &&
        t->retransmitted > 0 && (t->placed > 0 || !setting->places) && t->retry_exceeded > 0 &&
        t->rnr_exceeded > 0 && t->flushed > 0 && t->cnps > 0 && t->extended > 0)
        return true;
    printf("%s: something never happened\n", setting->text);
    return false;
}

/* Each scheme has a setting. */
static bool complete(void)
{
    for (size_t i = 0; i < oche_recovery_scheme_count; i++) {
        const char *name = oche_recovery_schemes[i]->name;
        bool found = false;
        for (size_t s = 0; s < SETTINGS; s++)
            found |= strncmp(settings[s].text, name, strlen(name)) == 0;
        if (!found) {
            printf("%s: no setting\n", name);
            return false;
        }
    }
    return true;
}

static bool run_all(uint64_t runs)
{
    bool good = complete();

    for (size_t i = 0; i < SETTINGS; i++) {
        struct qp_work_tally tally = {0};
        bool passed = run(settings[i].text, 1, runs, &tally);
        tell(settings[i].text, &tally);
        good = good && passed && (runs < RUNS || worth_it(&settings[i], &tally));
    }
    return good;
}

/* Runs each pair of different settings, one at each end, with seeds of its own. */
static bool run_pairs(uint64_t runs)
{
    struct qp_work_tally tally = {0};
    uint64_t first = 1000000;

    for (size_t i = 0; i < OCHE_COUNT_OF(mended); i++)
        if (!run(mended[i].setting, mended[i].seed, mended[i].seed, &tally))
            return false;
    for (size_t a = 0; a < SETTINGS; a++)
        for (size_t b = 0; b < SETTINGS; b++) {
            char both[300];
            if (a == b || strchr(settings[a].text, '/') || strchr(settings[b].text, '/'))
                continue;
            snprintf(both, sizeof(both), "%s/%s", settings[a].text, settings[b].text);
            if (!run(both, first, first + runs - 1, &tally))
                return false;
            first += 1000;
        }
    tell("pairs", &tally);
    return true;
}

static bool both_forms(uint64_t runs)
{
    const char *form = getenv("OCHE_LONG");
    const uint64_t of_pairs =
        seeds_of(form != NULL && strcmp(form, "yes") == 0 ? 10 * PAIR_RUNS : PAIR_RUNS);
    const bool good = run_all(runs);

    return run_pairs(of_pairs) && good;
}

int main(int argc, char **argv)
{
    struct qp_work_tally tally = {0};

    if (argc <= 2)
        return !both_forms(argc == 2 ? strtoull(argv[1], NULL, 0) : seeds_of(RUNS));
    const uint64_t first = strtoull(argv[2], NULL, 0);
    const uint64_t last = argc > 3 ? strtoull(argv[3], NULL, 0) : first;

    tells_events = first == last;
    const bool good = run(argv[1], first, last, &tally);
    tell(argv[1], &tally);
    return !good;
}
