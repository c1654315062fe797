/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RoGUE's library over seeds: two ends above two unreliable NICs (rogue_model.h), with random verbs
 * of all kinds in both directions.
 *
 *   verbs      each ends exactly once, in order, and only after it was executed. Verbs are executed
 *              without gaps. Atomics are executed once, or the connection breaks. Messages are
 *              received once, whatever arrives late from a failed queue pair. After a WRITE has
 *              ended, or a message behind it has arrived, no copy of the WRITE arrives
 *   NIC        it has at most `depth` pieces, and none on a queue pair that failed or is inactive;
 *              no queue pair restarts before all of its completions (rogue.md#r13)
 *   the end    when faults are over both ends are idle, each queue pair is ready at both ends with
 *              the other's PSNs, and both count the same failures
 *   breaking   if there is no answer, on another error, or if an application closes its end during
 *              the run: one verb fails, and later ones are flushed
 *
 * usage: test_rogue SEED     that world alone
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/property/rogue_model.h"
#include "tests/support/seeds.h"
#include "tests/support/test.h"

#define WORLDS 1000

struct sums {
    uint64_t verbs, switches, replayed, markers, losses, partial, broken, refused, forged, both;
    uint64_t samples, at_once, kept, ghosts, accepted, after_end, closed;
};

static uint64_t below(struct model *model, uint64_t n)
{
    return oche_random_below(&model->random, n);
}

static bool coin(struct model *model)
{
    return below(model, 2) == 0;
}

static uint32_t any_bytes(struct model *model)
{
    switch (below(model, 6)) {
    case 0:
        return 0;
    case 1:
    case 2:
        return (uint32_t)below(model, 200);
    case 3:
        return (uint32_t)below(model, 70000);
    case 4:
        return UINT32_C(4096) << below(model, 5); /* whole segments */
    default:
        return (uint32_t)below(model, 400000);
    }
}

static void choose_params(struct model *model)
{
    static const uint64_t segments[] = {0, 4096, 10000, 16384};
    struct rogue_params *p = &model->ends[0].params;

    p->segment_bytes = segments[below(model, 4)];
    p->least_batches = 1 + below(model, 3);
    p->first_batch = (uint32_t)below(model, 2);
    p->initial_packets = 1 + below(model, 20);
    p->hold_off_bytes = coin(model) ? 160000 : 0;
    p->resync_interval = (50 + below(model, 2000)) * OCHE_US;
    p->clamp = coin(model);
    p->vegas_divisor = (uint32_t)below(model, 2);
    p->hold_ends = coin(model);
    p->fruitless_switches = below(model, 8) == 0 ? 1 + below(model, 5) : UINT32_MAX;
    if (below(model, 8) == 0)
        p->most_window = 0;
    model->ends[1].params = *p;
}

static void choose_verbs(struct model_end *end, bool atomics)
{
    struct model *model = end->model;
    unsigned count = (unsigned)below(model, MODEL_VERBS);
    uint64_t signals = below(model, 4); /* how many of three verbs are signaled */
    bool mixed = coin(model);
    enum rogue_verb_kind kind = (enum rogue_verb_kind)below(model, 3);

    for (unsigned i = 0; i < count; i++) {
        if (mixed)
            kind = (enum rogue_verb_kind)below(model, atomics ? 4 : 3);
        model_add_verb(end, kind, kind == ROGUE_ATOMIC ? 8 : any_bytes(model),
                       i == count - 1 || below(model, 3) < signals);
    }
}

/* Worlds in which connections may break: one in ten has errors, one in ten loses all messages. */
static void choose_faults(struct model *model)
{
    struct model_faults *faults = &model->faults;
    double worst = coin(model) ? 0.3 : 0.03;
    uint64_t kind = below(model, 10);

    faults->until = below(model, 30) * OCHE_MS;
    faults->piece_loss = worst * oche_random_unit(&model->random);
    faults->message_loss = coin(model) ? 0.7 * oche_random_unit(&model->random) : 0;
    faults->message_double = 0.5 * oche_random_unit(&model->random);
    faults->forgery = coin(model) ? 20 * oche_random_unit(&model->random) : 0;
    faults->error = kind == 0 ? 0.01 : 0;
    faults->silence = kind == 1;
    if (below(model, 8) == 0) {
        faults->close = below(model, 20 * OCHE_MS);
        faults->farewell = coin(model);
    }
    faults->ghosts = coin(model);
    for (unsigned i = 0; i < 2 && (faults->silence || faults->close != OCHE_NEVER); i++)
        model->ends[i].params.resync_tries = 1 + below(model, 10);
}

static void make(struct model *model, uint64_t seed)
{
    model_init(model, seed);
    choose_params(model);
    bool atomics = below(model, 4) == 0;
    for (unsigned i = 0; i < 2; i++) {
        struct model_end *end = &model->ends[i];

        end->config.depth = 4U << below(model, 5);
        end->config.replay_atomics = coin(model);
        /* a signal at least every depth / 2 pieces */
        end->send_queue = end->config.depth / 2 + (unsigned)below(model, end->config.depth);
        choose_verbs(end, atomics);
    }
    choose_faults(model);
    model_open(model);
}

/* Both ends know about the same failures, and both queue pairs work. */
static void assert_usable(struct model *model)
{
    const struct model_end *a = &model->ends[0], *b = &model->ends[1];

    for (unsigned qp = 0; qp < 2; qp++) {
        MODEL_MUST(model, rogue_epoch(a->rogue, qp) == rogue_epoch(b->rogue, qp));
        MODEL_MUST(model, !a->qps[qp].error && !b->qps[qp].error);
        MODEL_MUST(model, a->qps[qp].send_psn == b->qps[qp].recv_psn);
        MODEL_MUST(model, b->qps[qp].send_psn == a->qps[qp].recv_psn);
    }
}

static bool may_break(const struct model *model, const struct model_end *end)
{
    for (unsigned i = 0; i < end->verb_count; i++)
        if (end->verbs[i].kind == ROGUE_ATOMIC && !end->config.replay_atomics)
            return true;
    if (end->params.fruitless_switches < UINT32_MAX)
        return true;
    return model->faults.silence || model->faults.error > 0 || model->faults.close != OCHE_NEVER;
}

static void assert_ends(struct model *model)
{
    const struct model_end *a = &model->ends[0], *b = &model->ends[1];
    bool broken = rogue_broken(a->rogue) || rogue_broken(b->rogue);

    for (unsigned i = 0; i < 2; i++) {
        struct model_end *end = &model->ends[i];

        MODEL_MUST(model, end->ended == end->verb_count);
        MODEL_MUST(model, !end->failed || rogue_broken(end->rogue));
        MODEL_MUST(model, broken || rogue_idle(end->rogue));
        MODEL_MUST(model, end->failed || end->frontier == end->end);
        MODEL_MUST(model, rogue_next(end->rogue) == OCHE_NEVER);
    }
    MODEL_MUST(model, !broken || may_break(model, a) || may_break(model, b));
    if (!broken)
        assert_usable(model);
}

static void count(const struct model *model, struct sums *sums)
{
    bool both = true;

    for (unsigned i = 0; i < 2; i++) {
        const struct rogue_counts *counts = rogue_counts_of(model->ends[i].rogue);

        sums->verbs += model->ends[i].verb_count;
        sums->switches += counts->switches;
        sums->replayed += counts->replayed_pieces;
        sums->samples += counts->samples;
        sums->broken += rogue_broken(model->ends[i].rogue);
        both &= rogue_epoch(model->ends[0].rogue, i) > 0;
    }
    sums->markers += model->markers;
    sums->losses += model->losses;
    sums->partial += model->partial;
    sums->refused += model->refused_posts;
    sums->forged += model->forged;
    sums->both += both;
    sums->at_once += model->at_once;
    sums->kept += model->messages_kept;
    sums->ghosts += model->ghosts;
    sums->accepted += model->ghosts_accepted;
    sums->after_end += model->ghosts_after_end;
    sums->closed += model->faults.close != OCHE_NEVER;
}

static void run(uint64_t seed, struct sums *sums)
{
    static struct model model;

    make(&model, seed);
    model_run(&model);
    assert_ends(&model);
    count(&model, sums);
    model_close(&model);
}

static void print(const struct sums *sums)
{
    printf(
        "%llu verbs, %llu round trips, %llu losses (%llu within a piece), %llu switches, %llu "
        "pieces again, %llu worlds with both queue pairs, %llu markers, %llu posts refused, %llu "
        "messages forged, %llu ends broken, %llu worlds closed; %llu times both ends failed at "
        "once, "
        "%llu pieces not repeated, %llu late arrivals, %llu accepted, "
        "%llu of verbs that had ended\n",
        (unsigned long long)sums->verbs, (unsigned long long)sums->samples,
        (unsigned long long)sums->losses, (unsigned long long)sums->partial,
        (unsigned long long)sums->switches, (unsigned long long)sums->replayed,
        (unsigned long long)sums->both, (unsigned long long)sums->markers,
        (unsigned long long)sums->refused, (unsigned long long)sums->forged,
        (unsigned long long)sums->broken, (unsigned long long)sums->closed,
        (unsigned long long)sums->at_once, (unsigned long long)sums->kept,
        (unsigned long long)sums->ghosts, (unsigned long long)sums->accepted,
        (unsigned long long)sums->after_end);
}

static void worlds(void **state)
{
    struct sums sums = {0};

    (void)state;
    for (uint64_t seed = 1; seed <= seeds_of(WORLDS); seed++)
        run(seed, &sums);
    print(&sums);
    /* faults have happened */
    assert_true(sums.switches > seeds_least(8000));
    assert_true(sums.replayed > seeds_least(25000));
    assert_true(sums.partial > seeds_least(2500));
    assert_true(sums.both > seeds_least(400));
    assert_true(sums.markers > seeds_least(1000));
    assert_true(sums.refused > seeds_least(3000)); /* a few worlds have most of them */
    assert_true(sums.forged > seeds_least(50000));
    assert_true(sums.at_once > seeds_least(3000));
    assert_true(sums.kept > seeds_least(200));
    assert_true(sums.accepted > seeds_least(100));
    if (seeds_show_all())                             /* a twentieth of the worlds has none */
        assert_true(sums.after_end > seeds_least(1)); /* without hold_ends */
    assert_true(sums.closed > seeds_least(60));
    assert_true(sums.broken > seeds_least(150));
    assert_true(sums.broken < seeds_of(WORLDS));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(worlds)};

    if (argc == 2) {
        struct sums sums = {0};

        run(strtoull(argv[1], NULL, 10), &sums);
        print(&sums);
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
