/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Papers: their own file, the parts that figures take from it, and which commit fixed the
 * tolerances.
 */
#include "lab/reproduce/paper.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lab/reproduce/pool.h"
#include "lab/reproduce/study.h"
#include "lab/reproduce/tolerances.h"
#include "tests/support/test.h"

static struct oche_error error;
static char folder[] = "/tmp/oche-papers-XXXXXX";

static const char paper_text[] = "title: T\nauthors: A\npublished: P\nfigures: [f]\n"
                                 "grids:\n"
                                 "  common:\n"
                                 "    set: {duration: 1ms}\n"
                                 "    vary: {recovery: {A: a, B: b}, loss.probability: [0, 1e-3]}\n"
                                 "    repeat: 5\n"
                                 "    quick: {repeat: 2}\n"
                                 "quantities:\n"
                                 "  speed: {metric: goodput, relative_to: {loss.probability: 0}}\n"
                                 "  other: {metric: goodput, relative_to: {host.mtu: 1}}\n"
                                 "differences: [one, two]\n";
static const char figure_text[] =
    "title: T\nplace: P\nscenario: s.yaml\n"
    "grids: [{from: [common], vary: {recovery: [B]}}]\n"
    "differences: [three]\n"
    "claims:\n"
    "  - {name: c, text: t, kind: value, quantity: speed, place: p, source: text, confidence: "
    "high,\n"
    "     at: {loss.probability: 1e-3}, published: 0.5,\n"
    "     tolerance: {absolute: 0.1, in_shape: 0.2}, explanation: e}\n";

/* ---- the paper's file ---- */

static void test_a_figure_takes_grids_and_quantities_of_its_paper(void **state)
{
    struct oche_paper *paper = oche_paper_parse("papers/p/paper.yaml", paper_text, &error);

    (void)state;
    if (paper == NULL)
        fail_msg("%s", error.text);
    assert_string_equal(paper->name, "p");
    assert_string_equal(paper->folder, "papers/p");
    struct oche_study *study =
        oche_study_parse(paper, "papers/p/figures/f.yaml", figure_text, false, &error);

    if (study == NULL)
        fail_msg("%s", error.text);
    assert_string_equal(study->name, "f");
    assert_string_equal(study->scenario, "papers/p/scenarios/s.yaml");
    assert_int_equal(study->combination_count, 2); /* B alone */
    assert_int_equal(study->repeats, 5);
    assert_int_equal(study->quantity_count, 1); /* the other has no axis here */
    assert_int_equal(study->difference_count, 3);
    assert_string_equal(study->differences[2], "three");
    oche_study_close(study);
    study = oche_study_parse(paper, "papers/p/figures/f.yaml", figure_text, true, &error);
    assert_int_equal(study->repeats, 2);
    oche_study_close(study);
    oche_paper_close(paper);
}

static void test_bad_papers_are_refused_with_their_line(void **state)
{
    static const struct {
        const char *text, *error;
    } rows[] = {
        {"title: T\n", "p/paper.yaml:1: has no \"authors\"; add authors: TEXT"},
        {"title: T\nauthors: A\npublished: P\n",
         "p/paper.yaml:1: figures: is not there; name them: [fig2, fig3]"},
        {"title: T\nauthors: A\npublished: P\nfigures: [../x]\n",
         "p/paper.yaml:4: figures: \"../x\" is not the name of a file without .yaml; write fig2"},
        {"title: T\nauthors: A\npublished: P\nfigures: [f]\ngrids: []\n",
         "p/paper.yaml:5: grids: is not a map; write NAME: {…} below it"},
        {"title: T\nauthors: A\npublished: P\nfigures: [f]\ngird: 1\n",
         "p/paper.yaml:5: gird: unknown key; did you mean \"grids\"?"},
    };

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(rows); i++) {
        assert_null(oche_paper_parse("p/paper.yaml", rows[i].text, &error));
        assert_string_equal(error.text, rows[i].error);
    }
}

/* A mistake in a part that a figure takes from its paper is reported with the paper's line. */
static void test_mistakes_in_the_paper_are_told_there(void **state)
{
    char *text = strdup(figure_text), *at = strstr(text, "speed");
    struct oche_paper *paper = oche_paper_parse("p/paper.yaml", paper_text, &error);

    (void)state;
    memcpy(at, "other", 5);
    assert_null(oche_study_parse(paper, "p/f.yaml", text, false, &error));
    assert_string_equal(error.text,
                        "p/paper.yaml:13: quantities.other.relative_to.host.mtu: \"host.mtu\" is "
                        "not varied in this figure; one of recovery, loss.probability");
    memcpy(at, "sped!", 5);
    assert_null(oche_study_parse(paper, "p/f.yaml", text, false, &error));
    assert_string_equal(error.text,
                        "p/f.yaml:7: claims[0].quantity: \"sped!\" is not a quantity; did "
                        "you mean \"speed\"? (speed, other)");
    oche_paper_close(paper);
    free(text);
}

/* ---- tolerances ---- */

static void write_file(const char *name, const char *text)
{
    char path[256];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

/* A shell command in the folder. git gets a user name and none of this machine's settings. */
static void shell(const char *command)
{
    char line[1024];

    snprintf(line, sizeof(line),
             "cd %s && export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null "
             "GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a "
             "GIT_COMMITTER_EMAIL=a@b && { %s; } >>log 2>&1",
             folder, command);
    if (system(line) != 0)
        fail_msg("%s", command);
}

static void head(char *name, size_t bytes)
{
    char line[512];

    snprintf(line, sizeof(line), "git -C %s rev-parse HEAD", folder);
    FILE *out = popen(line, "r");

    assert_non_null(out);
    assert_non_null(fgets(name, (int)bytes, out));
    name[strcspn(name, "\n")] = '\0';
    pclose(out);
}

static char *commit_now(void)
{
    struct oche_paper *paper = oche_paper_open(folder, "p", &error);

    if (paper == NULL)
        fail_msg("%s", error.text);
    struct oche_study *study = oche_study_open(paper, "f", false, &error);

    if (study == NULL)
        fail_msg("%s", error.text);
    char *commit = oche_tolerances_commit(study);

    oche_study_close(study);
    oche_paper_close(paper);
    return commit;
}

static void expect_commit(const char *wanted)
{
    char *commit = commit_now();

    assert_string_equal(commit, wanted);
    free(commit);
}

static char *replaced(const char *text, const char *from, const char *to)
{
    char *made = malloc(strlen(text) + strlen(to) + 1);

    assert_non_null(made);
    strcpy(made, text);
    char *at = strstr(made, from);

    assert_non_null(at);
    strcpy(at, to);
    strcat(at, strstr(text, from) + strlen(from));
    return made;
}

static void test_the_commit_is_the_one_since_which_claims_are_as_they_are(void **state)
{
    char first[64], second[64];
    char *explained = replaced(figure_text, "explanation: e", "explanation: because of this");
    char *wider = replaced(explained, "absolute: 0.1", "absolute: 0.15");
    char *reworded = replaced(wider, "text: t", "text: in other words");
    char *other_quantity =
        replaced(paper_text, "quantities:\n", "quantities:\n  more: {metric: naks}\n");

    (void)state;
    if (system("git --version >/dev/null 2>&1") != 0)
        skip();
    shell("git init -q . && mkdir -p p/figures");
    write_file("p/paper.yaml", paper_text);
    write_file("p/figures/f.yaml", figure_text);
    expect_commit(OCHE_NOT_COMMITTED);
    /* Figures were once beside paper.yaml. Their move changes no result. */
    shell("mv p/figures/f.yaml p && git add p && git commit -qm one");
    head(first, sizeof(first));
    shell("mkdir -p p/figures && git mv p/f.yaml p/figures && git commit -qm moved");
    expect_commit(first);
    /* Changes of an explanation, a reason or another figure have no effect … */
    write_file("p/figures/f.yaml", explained);
    expect_commit(first);
    shell("git commit -qam explained && echo >p/other && git add p && git commit -qm other");
    expect_commit(first);
    /* … but a tolerance has: it counts as not committed until it is committed. */
    write_file("p/figures/f.yaml", wider);
    expect_commit(OCHE_NOT_COMMITTED);
    shell("git commit -qam wider");
    head(second, sizeof(second));
    expect_commit(second);
    write_file("p/figures/f.yaml", reworded);
    shell("git commit -qam reworded");
    expect_commit(second);
    /* A quantity in the paper's file that only another figure's claims use has no effect … */
    write_file("p/paper.yaml", other_quantity);
    expect_commit(second);
    shell("git commit -qam quantity");
    expect_commit(second);
    /* … one of this figure does. */
    write_file("p/paper.yaml", "title: T\nauthors: A\npublished: P\nfigures: [f]\n"
                               "grids: {common: {vary: {recovery: {A: a, B: b},"
                               " loss.probability: [0, 1e-3]}}}\n"
                               "quantities: {speed: {metric: timeouts, over: naks}}\n");
    expect_commit(OCHE_NOT_COMMITTED);
    free(explained);
    free(wider);
    free(reworded);
    free(other_quantity);
}

static void test_without_git_the_installed_list_knows(void **state)
{
    char line[256];

    (void)state;
    shell("rm -rf .git p && mkdir -p p/figures");
    write_file("p/paper.yaml", paper_text);
    write_file("p/figures/f.yaml", figure_text);
    expect_commit(OCHE_NOT_COMMITTED);
    struct oche_paper *paper = oche_paper_open(folder, "p", &error);
    struct oche_study *study = oche_study_open(paper, "f", false, &error);

    snprintf(line, sizeof(line), "p/g 1111 0\np/f 2222 %016llx\n",
             (unsigned long long)study->digest);
    write_file("commits.txt", line);
    expect_commit("2222");
    snprintf(line, sizeof(line), "p/f 2222 %016llx\n", (unsigned long long)study->digest + 1);
    write_file("commits.txt", line); /* the file has been changed since */
    expect_commit(OCHE_NOT_COMMITTED);
    snprintf(line, sizeof(line), "p/f - %016llx\n", (unsigned long long)study->digest);
    write_file("commits.txt", line);
    expect_commit(OCHE_NOT_COMMITTED);
    write_file("commits.txt", "p/f\n\xff nonsense");
    expect_commit(OCHE_NOT_COMMITTED);
    oche_study_close(study);
    oche_paper_close(paper);
}

/* ---- the folder ---- */

static void test_papers_are_found_where_they_are_said_to_be(void **state)
{
    size_t count;
    char **names, *found;

    (void)state;
    unsetenv("OCHE_PAPERS");
    names = oche_papers_list(folder, &count, &error);
    assert_non_null(names);
    assert_int_equal(count, 1);
    assert_string_equal(names[0], "p");
    oche_papers_list_free(names, count);
    setenv("OCHE_PAPERS", folder, 1);
    found = oche_papers_folder(NULL, &error);
    assert_string_equal(found, folder);
    free(found);
    assert_null(oche_papers_folder("/nowhere/at/all", &error));
    assert_string_equal(error.text, "/nowhere/at/all: no such folder; name the papers' folder with "
                                    "--papers, or in OCHE_PAPERS");
    assert_null(oche_paper_open(folder, "q", &error));
    assert_non_null(strstr(error.text, "q: no such paper in "));
    assert_non_null(strstr(error.text, "; there are: p"));
    unsetenv("OCHE_PAPERS");
}

/* ---- the pool ---- */

static void test_the_pool_knows_a_run_by_what_was_run(void **state)
{
    char *sets[] = {(char *)(uintptr_t) "duration=1ms"};
    char *values[] = {(char *)(uintptr_t) "1", (char *)(uintptr_t) "2"};
    struct oche_axis axis = {.key = (char *)(uintptr_t) "x", .values = values, .count = 2};
    struct oche_grid grid = {.scenario = (char *)(uintptr_t) "s.yaml",
                             .sets = sets,
                             .set_count = 1,
                             .axes = &axis,
                             .axis_count = 1,
                             .repeats = 3,
                             .seed_base = 1};
    struct oche_metric metric = {.name = (char *)(uintptr_t) "goodput", .unit = "bps", .value = 5};
    struct oche_point_result result = {
        .status = OCHE_POINT_DONE, .metrics = &metric, .metric_count = 1, .seed = 1};
    struct oche_pool *pool = oche_pool_create();
    struct oche_point_result got;
    struct oche_grid other = grid;
    char *one_value[] = {values[1]};
    struct oche_axis narrow = {.key = axis.key, .values = one_value, .count = 1};

    (void)state;
    oche_pool_put(pool, &grid, 4, &result); /* x=2, second repeat */
    oche_pool_put(pool, &grid, 4, &result);
    assert_true(oche_pool_has(pool, &grid, 4));
    assert_false(oche_pool_has(pool, &grid, 3));
    assert_false(oche_pool_has(pool, &grid, 1));
    other.axes = &narrow; /* another grid, in which it is point 1 */
    assert_true(oche_pool_get(pool, &other, 1, &got));
    assert_true(oche_point_metric(&got, "goodput") == 5);
    oche_point_free(&got);
    assert_false(oche_pool_get(pool, &other, 2, &got));
    sets[0] = (char *)(uintptr_t) "duration=2ms";
    assert_false(oche_pool_has(pool, &grid, 4));
    oche_pool_free(pool);
}

/* In any order, unless one override is of a section and another one of a key in it. */
static void test_the_pool_knows_a_run_in_any_order(void **state)
{
    char *texts[] = {(char *)(uintptr_t) "warmup=1ms", (char *)(uintptr_t) "b={c: 1}",
                     (char *)(uintptr_t) "b.c=2", (char *)(uintptr_t) "duration=1ms"};
    char *sets[4];
    struct oche_grid grid = {.scenario = (char *)(uintptr_t) "s.yaml",
                             .sets = sets,
                             .set_count = 4,
                             .repeats = 1,
                             .seed_base = 1};
    struct oche_point_result result = {.status = OCHE_POINT_DONE, .seed = 1};
    struct oche_pool *pool = oche_pool_create();

    (void)state;
    memcpy(sets, texts, sizeof(sets));
    oche_pool_put(pool, &grid, 0, &result);
    sets[0] = texts[3];
    sets[3] = texts[0];
    assert_true(oche_pool_has(pool, &grid, 0));
    sets[1] = texts[2];
    sets[2] = texts[1];
    assert_false(oche_pool_has(pool, &grid, 0));
    oche_pool_free(pool);
}

static int set_up(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL;
}

static int tear_down(void **state)
{
    char line[64];

    (void)state;
    snprintf(line, sizeof(line), "rm -rf %s", folder);
    return system(line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_figure_takes_grids_and_quantities_of_its_paper),
        cmocka_unit_test(test_bad_papers_are_refused_with_their_line),
        cmocka_unit_test(test_mistakes_in_the_paper_are_told_there),
        cmocka_unit_test(test_the_commit_is_the_one_since_which_claims_are_as_they_are),
        cmocka_unit_test(test_without_git_the_installed_list_knows),
        cmocka_unit_test(test_papers_are_found_where_they_are_said_to_be),
        cmocka_unit_test(test_the_pool_knows_a_run_by_what_was_run),
        cmocka_unit_test(test_the_pool_knows_a_run_in_any_order),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
