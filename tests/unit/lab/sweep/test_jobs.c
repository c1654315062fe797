/* SPDX-License-Identifier: Apache-2.0 */
/* Processes for points: all of them run, a crash costs only its own point, and stopping stops. */
#include "lab/sweep/jobs.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/test.h"

#define POINTS 12

struct seen {
    unsigned count[POINTS];
    enum oche_point_status status[POINTS];
    uint64_t hash[POINTS], seed[POINTS];
    char error[POINTS][256];
    unsigned ended, stop_after, most_running;
    size_t victim; /* to be killed as soon as it runs */
    bool killed;
    int signal_to_self;
};

static struct oche_grid make_grid(const char *set)
{
    struct oche_grid grid = {.scenario = strdup("tests/scenarios/pairs.yaml"), .repeats = 3};
    struct oche_error error;

    grid.sets = calloc(1, sizeof(*grid.sets));
    grid.sets[grid.set_count++] = strdup(set);
    assert_true(oche_grid_add_axis(&grid, "loss.probability=0,0.1%", &error));
    assert_true(oche_grid_add_axis(&grid, "workload[0].pairs=1,4", &error));
    if (!oche_grid_check(&grid, &error))
        fail_msg("%s", error.text);
    assert_int_equal(oche_grid_points(&grid), POINTS);
    return grid;
}

static bool done(void *context, size_t point, const struct oche_point_result *result)
{
    struct seen *seen = context;

    assert_in_range(point, 0, POINTS - 1);
    seen->count[point]++;
    seen->status[point] = result->status;
    seen->hash[point] = result->hash;
    seen->seed[point] = result->seed;
    if (result->error != NULL)
        snprintf(seen->error[point], sizeof(seen->error[point]), "%s", result->error);
    return ++seen->ended != seen->stop_after;
}

/* Returns the process of this point, or 0. Children carry its number as their name. */
static pid_t process_of(size_t point)
{
    char path[300], name[32], wanted[32];
    DIR *processes = opendir("/proc");
    pid_t found = 0;

    assert_non_null(processes);
    snprintf(wanted, sizeof(wanted), "point %zu", point);
    for (struct dirent *entry; found == 0 && (entry = readdir(processes)) != NULL;) {
        pid_t pid = atoi(entry->d_name);
        int parent = 0;

        snprintf(path, sizeof(path), "/proc/%d/stat", pid);
        FILE *file = pid > 0 ? fopen(path, "r") : NULL;

        if (file == NULL)
            continue;
        if (fscanf(file, "%*d (%31[^)]) %*c %d", name, &parent) == 2 && parent == getpid() &&
            strcmp(name, wanted) == 0)
            found = pid;
        fclose(file);
    }
    closedir(processes);
    return found;
}

static void tick(void *context, unsigned running)
{
    struct seen *seen = context;

    if (running > seen->most_running)
        seen->most_running = running;
    if (seen->signal_to_self != 0)
        kill(getpid(), seen->signal_to_self);
    if (seen->victim >= POINTS || seen->killed)
        return;
    pid_t victim = process_of(seen->victim);

    if (victim > 0)
        seen->killed = kill(victim, SIGKILL) == 0;
}

static void fill(size_t *points)
{
    for (size_t i = 0; i < POINTS; i++)
        points[i] = POINTS - 1 - i;
}

static void test_every_point_runs_once_and_comes_to_the_same(void **state)
{
    struct oche_grid grid = make_grid("duration=400us");
    size_t points[POINTS];
    struct seen one = {.victim = POINTS}, three = {.victim = POINTS};

    (void)state;
    fill(points);
    assert_true(oche_jobs_run(&grid, points, POINTS, 1, done, &one));
    assert_true(oche_jobs_run_watched(&grid, points, POINTS, 3, done, tick, &three));
    for (size_t i = 0; i < POINTS; i++) {
        assert_int_equal(one.count[i], 1);
        assert_int_equal(three.count[i], 1);
        assert_int_equal(one.status[i], OCHE_POINT_DONE);
        assert_true(one.hash[i] == three.hash[i]);
        assert_true(one.seed[i] == grid.seed_base + i % 3);
    }
    assert_true(three.most_running <= 3);
    assert_true(one.hash[0] != one.hash[6] && one.hash[0] != one.hash[3]);
    oche_grid_free(&grid);
}

static void test_one_that_is_killed_costs_itself(void **state)
{
    struct oche_grid grid = make_grid("duration=20s"); /* long enough to be caught */
    struct seen seen = {.victim = 5};
    size_t points[1] = {5};

    (void)state;
    assert_true(oche_jobs_run_watched(&grid, points, 1, 2, done, tick, &seen));
    assert_true(seen.killed);
    assert_int_equal(seen.count[5], 1);
    assert_int_equal(seen.status[5], OCHE_POINT_CRASHED);
    assert_true(seen.seed[5] == grid.seed_base + 2);
    assert_non_null(strstr(seen.error[5], "signal 9 (Killed)"));
    oche_grid_free(&grid);
}

static void test_stopping_leaves_nothing_running(void **state)
{
    struct oche_grid grid = make_grid("duration=400us");
    struct oche_grid slow = make_grid("duration=20s"); /* none is done before the signal */
    struct seen seen = {.victim = POINTS, .stop_after = 2}, interrupted = {.victim = POINTS};
    size_t points[POINTS];

    (void)state;
    fill(points);
    assert_false(oche_jobs_run(&grid, points, POINTS, 2, done, &seen));
    assert_int_equal(seen.ended, 2);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left */
    for (int i = 0; i < 3; i++) {
        interrupted.signal_to_self = (const int[]){SIGINT, SIGTERM, SIGHUP}[i];
        interrupted.ended = 0;
        signal(interrupted.signal_to_self, SIG_DFL); /* nohup's and the shell's & ignore them */
        assert_false(oche_jobs_run_watched(&slow, points, POINTS, 2, done, tick, &interrupted));
        assert_int_equal(interrupted.ended, 0);
        assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    }
    sigset_t mask;

    sigprocmask(SIG_SETMASK, NULL, &mask);
    assert_false(sigismember(&mask, SIGINT));
    oche_grid_free(&slow);
    oche_grid_free(&grid);
}

/* An input that becomes wrong after the check fails only that point. */
static void test_a_scenario_that_vanishes_fails_its_points(void **state)
{
    struct oche_grid grid = make_grid("duration=400us");
    struct seen seen = {.victim = POINTS};
    size_t points[2] = {0, 7};

    (void)state;
    free(grid.scenario);
    grid.scenario = strdup("tests/scenarios/none.yaml");
    assert_true(oche_jobs_run(&grid, points, 2, 0, done, &seen));
    assert_int_equal(seen.status[7], OCHE_POINT_FAILED);
    assert_non_null(strstr(seen.error[7], "none.yaml: cannot be read"));
    oche_grid_free(&grid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_point_runs_once_and_comes_to_the_same),
        cmocka_unit_test(test_one_that_is_killed_costs_itself),
        cmocka_unit_test(test_stopping_leaves_nothing_running),
        cmocka_unit_test(test_a_scenario_that_vanishes_fails_its_points),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
