/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generated collective operations: each schedule ends, each rank sends the bytes that its algorithm
 * says, and nobody has a result before it can: what each receive stands for is followed through
 * dependencies and messages as a set of ranks.
 */
#include <stdio.h>
#include <stdlib.h>

#include "sim/graph/collective/collective.h"
#include "sim/graph/rank.h"
#include "tests/support/test.h"

#define MOST_RANKS 64 /* a set of ranks is a word */

/* A schedule on its way, all messages arriving at once. */
struct world {
    struct oche_goal goal;
    uint32_t *begins, *ends;
    struct oche_rank *ranks[MOST_RANKS];
    uint64_t *known[MOST_RANKS]; /* by operation: ranks whose data it stands for */
    uint64_t sent[MOST_RANKS];   /* bytes */
};

/* Puts all ranks at their beginning. */
static void prepare(struct world *world)
{
    for (uint32_t i = 0; i < world->goal.ranks; i++) {
        world->ranks[i] = oche_rank_create(&world->goal.rank[i]);
        world->known[i] = calloc(world->goal.rank[i].count, sizeof(uint64_t));
        world->sent[i] = 0;
        for (uint32_t k = 0; k < world->goal.rank[i].count; k++)
            world->known[i][k] = UINT64_C(1) << i;
    }
}

static void begin(struct world *world, const struct oche_collective *of)
{
    struct oche_error error;

    if (!oche_collective_make(of, &world->goal, &world->begins, &world->ends, &error))
        fail_msg("%s", error.text);
    assert_int_equal(world->goal.ranks, of->ranks);
    prepare(world);
}

static void release(struct world *world)
{
    for (uint32_t i = 0; i < world->goal.ranks; i++) {
        oche_rank_free(world->ranks[i]);
        free(world->known[i]);
    }
    free(world->begins);
    free(world->ends);
    oche_goal_close(&world->goal);
}

/* The operation has ended: what waits for it knows what it knows. */
static void end(struct world *world, uint32_t rank, uint32_t number)
{
    const struct oche_goal_rank *of = &world->goal.rank[rank];
    const struct oche_goal_op op = oche_goal_op(of, number);

    for (uint32_t i = 0; i < op.end_count; i++)
        world->known[rank][oche_goal_successor(of, op.end_first + i)] |= world->known[rank][number];
    oche_rank_started(world->ranks[rank], number);
    oche_rank_ended(world->ranks[rank], number);
}

/* A message and its receive have met. Handles of messages: sender and operation. */
static void meet(struct world *world, uint32_t handle, uint32_t receiver, uint32_t receive)
{
    const uint32_t sender = handle >> 24, send = handle & 0xffffff;
    const struct oche_goal_op from = oche_goal_op(&world->goal.rank[sender], send);

    assert_int_equal(from.size, oche_goal_op(&world->goal.rank[receiver], receive).size);
    world->known[receiver][receive] |= world->known[sender][send];
    end(world, receiver, receive);
}

static void do_op(struct world *world, uint32_t rank, uint32_t number)
{
    const struct oche_goal_op op = oche_goal_op(&world->goal.rank[rank], number);
    const uint32_t handle = rank << 24 | number;
    uint32_t other;

    switch (op.type) {
    case OCHE_GOAL_SEND:
        world->sent[rank] += op.size;
        other = oche_match_arrive(oche_rank_match(world->ranks[op.peer]), rank, op.tag, handle);
        if (other != OCHE_NO_MATCH)
            meet(world, handle, op.peer, other);
        end(world, rank, number);
        break;
    case OCHE_GOAL_RECV:
        other = oche_match_post(oche_rank_match(world->ranks[rank]), op.peer, op.tag, number);
        if (other != OCHE_NO_MATCH)
            meet(world, other, rank, number);
        break;
    default:
        end(world, rank, number);
    }
}

static void run(struct world *world)
{
    bool any = true;

    while (any) {
        any = false;
        for (uint32_t i = 0; i < world->goal.ranks; i++) {
            const uint32_t number = oche_rank_next(world->ranks[i]);

            if (number == OCHE_NO_MATCH)
                continue;
            any = true;
            do_op(world, i, number);
        }
    }
    for (uint32_t i = 0; i < world->goal.ranks; i++) {
        assert_true(oche_rank_is_done(world->ranks[i]));
        assert_int_equal(oche_match_unexpected(oche_rank_match(world->ranks[i])), 0);
    }
}

/* Returns the bytes that rank `rank` sends. */
static uint64_t bytes_of(const struct oche_collective *of, uint32_t rank)
{
    const uint64_t bytes = of->bytes, n = of->ranks;
    uint64_t halves = 0;

    switch (of->algorithm) {
    case OCHE_RING:
        if (of->operation == OCHE_BROADCAST)
            return rank + 1 < n ? bytes : 0;
        return bytes / n * (n - 1) * (of->operation == OCHE_ALL_REDUCE ? 2 : 1);
    case OCHE_HALVING_DOUBLING:
        for (uint64_t half = 2; half <= n; half *= 2)
            halves += bytes / half;
        return of->operation == OCHE_ALL_REDUCE ? 2 * halves : halves;
    case OCHE_DIRECT:
        return bytes / n * (n - 1);
    case OCHE_TREE:
        break; /* see check_tree */
    }
    return 0;
}

/* Between repetitions of a broadcast each rank tells rank 0 that it has all. */
static uint64_t answers(const struct oche_collective *of, uint32_t rank)
{
    return of->operation == OCHE_BROADCAST && rank > 0 ? of->repeat - 1 : 0;
}

/* All that a tree sends: each rank but the roots sends once up, and gets once from above. */
static void check_tree(const struct world *world, const struct oche_collective *of)
{
    const uint64_t each = of->bytes * (of->ranks - 1);
    uint64_t sum = 0;

    for (uint32_t i = 0; i < of->ranks; i++) {
        sum += world->sent[i];
        assert_in_range(world->sent[i], 0, of->bytes / 2 * 4);
    }
    if (of->operation == OCHE_ALL_REDUCE)
        assert_int_equal(sum, 2 * each);
    else
        assert_in_range(sum, each, each + of->bytes); /* and to the roots */
}

/* In a phase of halving or doubling all ranks send as far as its name says. */
static void check_distance(const struct oche_collective *of, uint32_t phase, uint32_t from,
                           uint32_t to)
{
    char name[OCHE_PHASE_NAME_BYTES], wanted[OCHE_PHASE_NAME_BYTES];
    const bool halves = of->operation != OCHE_ALL_GATHER;
    uint32_t all = 1, beyond, distance = from ^ to;

    while (all <= of->ranks / 2)
        all *= 2;
    beyond = all < of->ranks;
    oche_collective_phase_name(of, phase, name, sizeof(name));
    if (beyond && phase == 0)
        snprintf(wanted, sizeof(wanted), "from ranks beyond");
    else if (beyond && phase + 1 == oche_collective_phases(of))
        snprintf(wanted, sizeof(wanted), "to ranks beyond");
    else
        snprintf(wanted, sizeof(wanted), "%s, distance %u",
                 halves && all >> (phase - beyond) > 1 ? "halving" : "doubling", distance);
    assert_string_equal(name, wanted);
}

/* Each message is in a phase, and both halves of an all_reduce move as many bytes. */
static void check_phases(const struct world *world, const struct oche_collective *of)
{
    const uint32_t phases = oche_collective_phases(of);
    uint64_t bytes[64] = {0};

    assert_in_range(phases, 0, 64);
    for (uint32_t i = 0; i < of->ranks; i++)
        for (uint32_t k = 0; k < world->goal.rank[i].count; k++) {
            const struct oche_goal_op op = oche_goal_op(&world->goal.rank[i], k);
            const uint32_t phase = oche_collective_phase(of, op.tag);

            if (op.type != OCHE_GOAL_SEND)
                continue;
            if (phases == 0 || (of->operation == OCHE_BROADCAST && op.size == 1)) {
                assert_int_equal(phase, OCHE_NO_PHASE);
                continue;
            }
            assert_in_range(phase, 0, phases - 1);
            bytes[phase] += op.size;
            if (of->algorithm == OCHE_HALVING_DOUBLING)
                check_distance(of, phase, i, op.peer);
        }
    for (uint32_t i = 0; i < phases && of->operation == OCHE_ALL_REDUCE; i++) {
        assert_true(bytes[i] > 0);
        assert_int_equal(bytes[i], bytes[phases - 1 - i]);
    }
}

static void check(const struct oche_collective *of)
{
    const uint64_t all = of->ranks == MOST_RANKS ? UINT64_MAX : (UINT64_C(1) << of->ranks) - 1;
    const bool folded = of->algorithm == OCHE_HALVING_DOUBLING && (of->ranks & (of->ranks - 1));
    struct world world;

    begin(&world, of);
    run(&world);
    check_phases(&world, of);
    for (uint32_t i = 0; i < of->ranks; i++) {
        const struct oche_goal_rank *rank = &world.goal.rank[i];
        const uint32_t last = world.ends[(size_t)i * of->repeat + of->repeat - 1];

        assert_int_equal(last, rank->count - 1);
        assert_true(of->operation == OCHE_BROADCAST ? world.known[i][last] & 1
                                                    : world.known[i][last] == all);
        if (of->algorithm != OCHE_TREE && !folded)
            assert_int_equal(world.sent[i], of->repeat * bytes_of(of, i) + answers(of, i));
        /* Each chunk of the result is whole, not only one of them. */
        for (uint32_t k = 0; of->operation == OCHE_ALL_REDUCE && k < rank->count; k++) {
            const struct oche_goal_op op = oche_goal_op(rank, k);

            if (op.type == OCHE_GOAL_RECV && op.end_count == 1 &&
                oche_goal_successor(rank, op.end_first) == last)
                assert_true(world.known[i][k] == all);
        }
    }
    if (of->algorithm == OCHE_TREE && of->repeat == 1)
        check_tree(&world, of);
    release(&world);
}

static void all_end(void **state)
{
    static const uint32_t chunks[] = {1, 2, 5}, repeats[] = {1, 3};
    unsigned checked = 0;

    (void)state;
    for (unsigned a = 0; a < 4; a++)
        for (unsigned o = 0; o < 5; o++)
            for (uint32_t ranks = 2; ranks <= MOST_RANKS; ranks += ranks < 20 ? 1 : 11) {
                struct oche_collective of = {.operation = o,
                                             .algorithm = a,
                                             .ranks = ranks,
                                             .chunks = chunks[ranks % 3],
                                             .window = ranks % 4,
                                             .repeat = repeats[ranks / 3 % 2],
                                             .compute_ns = 10};

                of.bytes = 10ULL * 2 * 64 * ranks * of.chunks;
                if (oche_collective_unfit(&of) != NULL)
                    continue;
                check(&of);
                checked++;
            }
    assert_in_range(checked, 200, 1000);
}

/* Parts differ by a byte at most, and are all there. */
static void odd_sizes(void **state)
{
    (void)state;
    for (uint64_t bytes = 1; bytes < 40; bytes++) {
        struct oche_collective of = {.operation = OCHE_ALL_TO_ALL,
                                     .algorithm = OCHE_DIRECT,
                                     .ranks = 7,
                                     .bytes = bytes,
                                     .chunks = 3,
                                     .repeat = 1};
        uint64_t sum = 0, own = 0;
        struct world world;

        begin(&world, &of);
        run(&world);
        for (uint32_t i = 0; i < of.ranks; i++) {
            sum += world.sent[i];
            own += bytes * (i + 1) / 7 - bytes * i / 7;
        }
        assert_int_equal(sum, 7 * bytes - own);
        release(&world);
    }
}

/* Makes a schedule in which even and odd ranks each do the operation twice, last rank first. */
static void begin_groups(struct world *world, const struct oche_collective *of, uint32_t ranks)
{
    struct oche_error error;
    struct oche_goal_writer *writer = oche_goal_write_begin(ranks, &error);
    const uint32_t tags = (uint32_t)oche_collective_tags(of);
    uint32_t members[2][MOST_RANKS], most = 0, *ends = calloc(ranks, sizeof(*ends));

    for (uint32_t i = 0; i < ranks; i++)
        members[i % 2][of->ranks - 1 - i / 2] = i;
    for (uint32_t i = 0; i < ranks; i++) {
        struct oche_collective_place place = {.writer = writer,
                                              .members = members[i % 2],
                                              .index = of->ranks - 1 - i / 2,
                                              .first_tag = 7,
                                              .cpu = 1};
        uint32_t first, begin_of_second;

        oche_goal_write_op(writer, &(struct oche_goal_op){.type = OCHE_GOAL_CALC, .size = 5});
        oche_collective_add(of, &place, &first, &ends[i]);
        oche_goal_write_edge(writer, first, 0, false);
        place.first_tag += tags;
        first = ends[i];
        oche_collective_add(of, &place, &begin_of_second, &ends[i]);
        oche_goal_write_edge(writer, begin_of_second, first, false);
        most = oche_goal_write_count(writer) > most ? oche_goal_write_count(writer) : most;
        oche_goal_write_rank(writer, i);
    }
    assert_in_range(most, 2, 1 + 2 * oche_collective_most(of));
    if (!oche_goal_adopt(&world->goal, oche_goal_write_end(writer, &error), "groups", &error))
        fail_msg("%s", error.text);
    world->begins = NULL;
    world->ends = ends;
}

/* Operations among others: of some ranks in any order, and with tags of their own. */
static void among_others(void **state)
{
    unsigned checked = 0;

    (void)state;
    for (unsigned a = 0; a < 4; a++)
        for (unsigned o = 0; o < 5; o++)
            for (uint32_t ranks = 1; ranks <= 9; ranks++) {
                struct oche_collective of = {.operation = o,
                                             .algorithm = a,
                                             .ranks = ranks,
                                             .bytes = 1000ULL * ranks,
                                             .chunks = 3,
                                             .window = 2};
                struct world world;

                if (oche_collective_unfit(&of) != NULL)
                    continue;
                begin_groups(&world, &of, 2 * ranks);
                prepare(&world);
                run(&world);
                for (uint32_t i = 0; i < 2 * ranks; i++) {
                    const struct oche_goal_rank *rank = &world.goal.rank[i];
                    const uint64_t group = (i % 2 == 0 ? UINT64_C(0x15555) : UINT64_C(0x2aaaa)) &
                                           ((UINT64_C(1) << (2 * ranks)) - 1);
                    const uint64_t root = UINT64_C(1) << (2 * (ranks - 1) + i % 2);
                    const uint64_t known = world.known[i][world.ends[i]];

                    if (o == OCHE_BROADCAST)
                        assert_true((known & root) == root && (known & ~group) == 0);
                    else
                        assert_true(known == group);
                    for (uint32_t k = 0; k < rank->count; k++)
                        if (oche_goal_op(rank, k).type == OCHE_GOAL_SEND)
                            assert_in_range(oche_goal_op(rank, k).tag, 7,
                                            6 + 2 * oche_collective_tags(&of));
                }
                release(&world);
                checked++;
            }
    assert_in_range(checked, 60, 200);
}

/* Another algorithm does what one cannot do, and each message has bytes. */
static void adjusted(void **state)
{
    struct oche_collective of = {
        .operation = OCHE_ALL_TO_ALL, .algorithm = OCHE_TREE, .ranks = 4, .bytes = 8, .chunks = 4};

    (void)state;
    oche_collective_adjust(&of);
    assert_int_equal(of.algorithm, OCHE_DIRECT);
    assert_int_equal(of.chunks, 2);
    of = (struct oche_collective){.operation = OCHE_ALL_GATHER,
                                  .algorithm = OCHE_HALVING_DOUBLING,
                                  .ranks = 6,
                                  .bytes = 3,
                                  .chunks = 4};
    oche_collective_adjust(&of);
    assert_int_equal(of.algorithm, OCHE_RING);
    assert_int_equal(of.chunks, 1);
    of = (struct oche_collective){
        .operation = OCHE_ALL_REDUCE, .algorithm = OCHE_TREE, .ranks = 6, .bytes = 6, .chunks = 4};
    oche_collective_adjust(&of);
    assert_int_equal(of.algorithm, OCHE_TREE);
    assert_int_equal(of.chunks, 3);
}

static void bus_factors(void **state)
{
    const struct oche_collective reduce = {.operation = OCHE_ALL_REDUCE, .ranks = 4};
    const struct oche_collective gather = {.operation = OCHE_ALL_GATHER, .ranks = 4};
    const struct oche_collective broadcast = {.operation = OCHE_BROADCAST, .ranks = 4};

    (void)state;
    assert_true(oche_collective_bus_factor(&reduce) == 1.5);
    assert_true(oche_collective_bus_factor(&gather) == 0.75);
    assert_true(oche_collective_bus_factor(&broadcast) == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_end),  cmocka_unit_test(odd_sizes),   cmocka_unit_test(among_others),
        cmocka_unit_test(adjusted), cmocka_unit_test(bus_factors),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
