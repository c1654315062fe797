/* SPDX-License-Identifier: Apache-2.0 */
/* The schemes that choose a packet's path: oblivious, bitmap, reps, mixed. */
#include "tests/support/test.h"

#include <stdlib.h>
#include <string.h>

#include "core/paths/paths.h"

#define PATHS 16

struct chooser {
    const struct oche_path_scheme *scheme;
    uint32_t paths;
    void *state;
    oche_time now;
};

static const struct oche_path_scheme *find(const char *name)
{
    for (uint32_t i = 0; oche_path_choices[i] != NULL; i++)
        if (strcmp(oche_path_choices[i], name) == 0)
            return oche_path_scheme(i);
    fail_msg("no scheme %s", name);
    return NULL;
}

static void begin(struct chooser *chooser, const char *name, uint32_t paths, uint64_t seed)
{
    *chooser = (struct chooser){.scheme = find(name), .paths = paths};
    const size_t bytes = chooser->scheme->state_bytes(paths);

    chooser->state = malloc(bytes);
    assert_non_null(chooser->state);
    memset(chooser->state, 0xa5, bytes);
    chooser->scheme->start(chooser->state, paths, oche_random_stream(seed, "test", 1));
}

static uint32_t next(struct chooser *chooser)
{
    const uint32_t path = chooser->scheme->choose(chooser->state, chooser->now);

    assert_true(path < chooser->paths);
    return path;
}

static void hear(struct chooser *chooser, uint32_t path, enum oche_path_news news)
{
    chooser->scheme->hear(chooser->state, path, news, chooser->now);
}

static void test_names(void **context)
{
    (void)context;
    assert_string_equal(oche_path_choices[0], "ecmp");
    assert_null(oche_path_scheme(0));
    assert_false(find("oblivious")->hears);
    assert_null(find("oblivious")->hear);
    assert_true(find("bitmap")->hears && find("reps")->hears && find("mixed")->hears);
}

/* Each round of oblivious and of bitmap without news has each path once; rounds differ. */
static void test_rounds(void **context)
{
    static const char *const names[] = {"oblivious", "bitmap"};

    (void)context;
    for (unsigned i = 0; i < OCHE_COUNT_OF(names); i++) {
        for (uint32_t paths = 2; paths <= OCHE_MOST_PATHS; paths *= 2) {
            uint32_t first[40];
            bool differ = false;
            struct chooser chooser;

            begin(&chooser, names[i], paths, 1);
            for (unsigned round = 0; round < OCHE_COUNT_OF(first); round++) {
                char seen[OCHE_MOST_PATHS] = {0};

                for (uint32_t n = 0; n < paths; n++) {
                    const uint32_t path = next(&chooser);

                    first[round] = n == 0 ? path : first[round];
                    assert_int_equal(seen[path]++, 0);
                }
                differ |= first[round] != first[0];
            }
            assert_true(differ);
            free(chooser.state);
        }
    }
}

/* Returns in how many of `rounds` times as many choices as there are paths, the path was taken. */
static unsigned taken(struct chooser *chooser, uint32_t path, unsigned rounds)
{
    unsigned count = 0;

    for (unsigned n = 0; n < rounds * chooser->paths; n++)
        count += next(chooser) == path;
    return count;
}

/*
 * A path is passed over once for each unit of its penalty, and then taken again: 1 for a mark, 4
 * for a loss, 15 for a timeout, and 15 in all.
 */
static void test_penalties(void **context)
{
    static const struct {
        enum oche_path_news news;
        unsigned times, passed;
    } cases[] = {{OCHE_PATH_GOOD, 3, 0},    {OCHE_PATH_MARKED, 1, 1}, {OCHE_PATH_MARKED, 3, 3},
                 {OCHE_PATH_LOST, 1, 4},    {OCHE_PATH_LOST, 2, 8},   {OCHE_PATH_TIMEOUT, 1, 15},
                 {OCHE_PATH_TIMEOUT, 2, 15}};

    (void)context;
    for (unsigned i = 0; i < OCHE_COUNT_OF(cases); i++) {
        unsigned choices = 0;
        struct chooser chooser;

        begin(&chooser, "bitmap", 64, 3);
        for (unsigned n = 0; n < cases[i].times; n++)
            hear(&chooser, 7, cases[i].news);
        while (next(&chooser) != 7)
            choices++;
        /* each time it is passed over, a round has one choice less */
        assert_in_range(choices, cases[i].passed * 63, cases[i].passed * 63 + 63);
        assert_in_range(taken(&chooser, 7, 10), 9, 11);
        free(chooser.state);
    }
}

/*
 * A choice may pass over several paths; only the first of them loses a unit. The first two of the
 * walk have a unit each. The first choice passes over both, and the second round still lacks the
 * second path.
 */
static void test_one_unit_a_choice(void **context)
{
    unsigned of[64] = {0};
    struct chooser chooser;

    (void)context;
    begin(&chooser, "bitmap", 64, 3);
    const uint32_t first = next(&chooser), second = next(&chooser);

    free(chooser.state);
    begin(&chooser, "bitmap", 64, 3);
    hear(&chooser, first, OCHE_PATH_MARKED);
    hear(&chooser, second, OCHE_PATH_MARKED);
    for (unsigned n = 0; n < 62; n++)
        of[next(&chooser)]++;
    assert_int_equal(of[first] + of[second], 0);
    for (unsigned n = 0; n < 63; n++)
        of[next(&chooser)]++;
    assert_int_equal(of[first], 1);
    assert_int_equal(of[second], 0);
    free(chooser.state);
}

/* If all paths are bad, one is taken, and each in its turn. */
static void test_all_are_bad(void **context)
{
    struct chooser chooser;
    unsigned of[PATHS] = {0};

    (void)context;
    begin(&chooser, "bitmap", PATHS, 3);
    for (uint32_t path = 0; path < PATHS; path++)
        hear(&chooser, path, OCHE_PATH_TIMEOUT);
    for (unsigned n = 0; n < 14 * PATHS; n++)
        of[next(&chooser)]++;
    for (uint32_t path = 0; path < PATHS; path++)
        assert_true(of[path] > 0);
    free(chooser.state);
}

/* Each good path is taken once more, the oldest first, of the last eight. */
static void test_reps_takes_again(void **context)
{
    struct chooser chooser;
    unsigned of[PATHS] = {0};

    (void)context;
    begin(&chooser, "reps", PATHS, 5);
    for (unsigned n = 0; n < 1600; n++)
        of[next(&chooser)]++;
    for (uint32_t path = 0; path < PATHS; path++)
        assert_in_range(of[path], 60, 140); /* at random: 100, and a standard deviation of 10 */
    hear(&chooser, 3, OCHE_PATH_GOOD);
    hear(&chooser, 5, OCHE_PATH_MARKED);
    hear(&chooser, 6, OCHE_PATH_LOST);
    hear(&chooser, 9, OCHE_PATH_GOOD);
    assert_int_equal(next(&chooser), 3);
    assert_int_equal(next(&chooser), 9);
    for (uint32_t path = 0; path < 10; path++)
        hear(&chooser, path, OCHE_PATH_GOOD);
    for (uint32_t path = 2; path < 10; path++)
        assert_int_equal(next(&chooser), path);
    free(chooser.state);
}

/*
 * A timeout freezes the ring for 10 ms: it goes round, whether its paths were taken or not. Then it
 * is empty, and 16 choices are drawn although there is news.
 */
static void test_reps_freezes(void **context)
{
    struct chooser chooser;
    unsigned others = 0;

    (void)context;
    begin(&chooser, "reps", 256, 5);
    hear(&chooser, 30, OCHE_PATH_GOOD);
    hear(&chooser, 31, OCHE_PATH_GOOD);
    assert_int_equal(next(&chooser), 30);
    hear(&chooser, 99, OCHE_PATH_TIMEOUT);
    for (unsigned n = 0; n < 20; n++)
        assert_int_equal(next(&chooser), 30 + n % 2);
    chooser.now = 10 * OCHE_MS;
    hear(&chooser, 77, OCHE_PATH_GOOD); /* the first thing afterwards: the ring is emptied before */
    for (unsigned n = 0; n < 16; n++)
        others += next(&chooser) != 77;
    assert_true(others >= 14);
    assert_int_equal(next(&chooser), 77);
    hear(&chooser, 99, OCHE_PATH_TIMEOUT);
    assert_int_equal(next(&chooser), 77);
    free(chooser.state);
}

/* Good paths in order, each once; else without those of bad news. Its list has PATHS places. */
static void test_mixed(void **context)
{
    struct chooser chooser;

    (void)context;
    begin(&chooser, "mixed", PATHS, 5);
    hear(&chooser, 4, OCHE_PATH_TIMEOUT);
    for (unsigned n = 0; n < 100; n++)
        assert_true(next(&chooser) != 4);
    for (unsigned n = 0; n < 2 * PATHS; n++)
        hear(&chooser, n < PATHS ? (5 + n) % PATHS : 1, OCHE_PATH_GOOD);
    for (unsigned n = 0; n < PATHS; n++)
        assert_int_equal(next(&chooser), (5 + n) % PATHS);
    assert_true(next(&chooser) != 4); /* news of good packets takes no penalty away */
    free(chooser.state);
}

static void test_ports(void **context)
{
    (void)context;
    for (uint32_t base = 0xc000; base <= 0xffff; base += 0x555)
        for (uint32_t path = 0; path < OCHE_MOST_PATHS; path += 11) {
            const uint16_t port = oche_path_port((uint16_t)base, path);

            assert_true(port >= 0xc000);
            assert_int_equal(oche_path_of_port((uint16_t)base, port), path);
        }
    assert_int_equal(oche_path_port(0xffff, 0), 0xffff);
    assert_int_equal(oche_path_port(0xffff, 1), 0xc000);
    assert_int_equal(oche_path_hash(77, 0xc123, 0xc123), 77);
    assert_true(oche_path_hash(77, 0xc123, 0xc124) != 77);
}

/* Any port with the remainder of a path's names it, as on the wire. */
static void test_remainders(void **state)
{
    (void)state;
    for (uint32_t base = 0xc000; base <= 0xffff; base += 0x155)
        for (uint32_t paths = 2; paths <= 64; paths *= 2)
            for (uint32_t path = 0; path < paths; path++) {
                const uint32_t port = oche_path_port((uint16_t)base, path);

                for (uint32_t same = 0xc000 + port % paths; same <= 0xffff; same += paths * 97)
                    assert_int_equal(oche_path_of_remainder((uint16_t)base, (uint16_t)same, paths),
                                     path);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),        cmocka_unit_test(test_rounds),
        cmocka_unit_test(test_penalties),    cmocka_unit_test(test_one_unit_a_choice),
        cmocka_unit_test(test_all_are_bad),  cmocka_unit_test(test_reps_takes_again),
        cmocka_unit_test(test_reps_freezes), cmocka_unit_test(test_mixed),
        cmocka_unit_test(test_ports),        cmocka_unit_test(test_remainders),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
