/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A paper's figures and the tests' scenarios use the defaults of the papers, even if other defaults
 * change. The values of every combination of every figure have the digests in pinned.txt.
 * OCHE_PIN=yes writes that file anew instead. Use it only when a figure or a parameter's default in
 * a paper is meant to change.
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/reproduce/measured.h"
#include "lab/reproduce/paper.h"
#include "lab/reproduce/study.h"
#include "sim/scenario/scenario.h"
#include "tests/support/test.h"

#define PINNED    "tests/unit/lab/reproduce/pinned.txt"
#define SCENARIOS "tests/scenarios"
#define MOST_SETS 64

static struct oche_error error;
static char *found; /* the lines that pinned.txt should have */
static size_t found_bytes;

/* Keys that name the source of other values; they are no setting of the simulation. */
static bool tells_the_source(const char *key)
{
    size_t length = strlen(key);

    return strcmp(key, "defaults") == 0 || strcmp(key, "switch.chip") == 0 ||
           (length > 7 && strcmp(key + length - 7, ".preset") == 0);
}

static void mix(uint64_t *digest, const char *text)
{
    for (; *text != '\0'; text++)
        *digest = (*digest ^ (uint8_t)*text) * UINT64_C(0x100000001b3);
    *digest = (*digest ^ '\n') * UINT64_C(0x100000001b3);
}

static void mix_value(void *context, const char *key, const char *value, const char *unit,
                      bool given)
{
    (void)unit, (void)given;
    if (tells_the_source(key))
        return;
    mix(context, key);
    /* in reproductions, the subject of this test, `auto` keeps no series */
    mix(context, strcmp(key, "measure.interval") == 0 && strcmp(value, "auto") == 0 ? "0" : value);
}

static void mix_scenario(uint64_t *digest, const char *path, const char *const *sets, size_t count)
{
    struct oche_scenario *scenario = oche_scenario_open(path, sets, count, &error);

    if (scenario == NULL)
        fail_msg("%s", error.text);
    oche_bindings_each(&scenario->bindings, mix_value, digest);
    oche_scenario_close(scenario);
}

static void mix_combination(uint64_t *digest, const struct oche_study *study,
                            const struct oche_combination *combination)
{
    char *made[MOST_SETS];
    const char *sets[MOST_SETS];
    size_t count = 0, own;

    for (; count < study->set_count; count++)
        sets[count] = study->sets[count];
    own = count;
    assert_true(count + study->override_count + study->axis_count <= MOST_SETS);
    for (size_t o = 0; o < study->override_count; o++, count++)
        assert_true(asprintf(&made[count], "%s=%s", study->overrides[o].key,
                             study->overrides[o].text[combination->grid]) > 0);
    for (size_t a = 0; a < study->axis_count; a++, count++)
        assert_true(asprintf(&made[count], "%s=%s", study->axes[a].key,
                             study->axes[a].values[combination->value[a]].text) > 0);
    for (size_t i = own; i < count; i++)
        sets[i] = made[i];
    mix_scenario(digest, study->scenario, sets, count);
    for (size_t i = own; i < count; i++)
        free(made[i]);
}

static void add_figure(FILE *out, const struct oche_paper *paper, const char *figure)
{
    struct oche_study *study = oche_study_open(paper, figure, false, &error);
    uint64_t digest = UINT64_C(0xcbf29ce484222325);
    size_t run = 0;

    if (study == NULL)
        fail_msg("%s", error.text);
    for (size_t c = 0; c < study->combination_count; c++) {
        if (study->combinations[c].repeats == 0 ||
            oche_measured_of(study, &study->combinations[c]) != NULL)
            continue; /* that is measured has no scenario */
        mix_combination(&digest, study, &study->combinations[c]);
        run++;
    }
    fprintf(out, "%s/%s %zu %016" PRIx64 "\n", paper->name, figure, run, digest);
    oche_study_close(study);
}

static void add_papers(FILE *out)
{
    size_t count;
    char **names = oche_papers_list("papers", &count, &error);

    assert_non_null(names);
    for (size_t i = 0; i < count; i++) {
        struct oche_paper *paper = oche_paper_open("papers", names[i], &error);

        if (paper == NULL)
            fail_msg("%s", error.text);
        for (size_t f = 0; f < paper->figure_count; f++)
            add_figure(out, paper, paper->figures[f]);
        oche_paper_close(paper);
    }
    oche_papers_list_free(names, count);
}

static int is_scenario(const struct dirent *entry)
{
    return strstr(entry->d_name, ".yaml") != NULL;
}

static void add_scenarios(FILE *out)
{
    struct dirent **entries;
    int count = scandir(SCENARIOS, &entries, is_scenario, alphasort);

    assert_true(count > 0);
    for (int i = 0; i < count; i++) {
        uint64_t digest = UINT64_C(0xcbf29ce484222325);
        char path[512];

        snprintf(path, sizeof(path), SCENARIOS "/%s", entries[i]->d_name);
        mix_scenario(&digest, path, NULL, 0);
        fprintf(out, "%s 1 %016" PRIx64 "\n", path, digest);
        free(entries[i]);
    }
    free(entries);
}

static void find_all(void)
{
    FILE *out = open_memstream(&found, &found_bytes);

    assert_non_null(out);
    add_papers(out);
    add_scenarios(out);
    assert_int_equal(fclose(out), 0);
}

static void write_anew(void)
{
    FILE *file = fopen(PINNED, "w");

    assert_non_null(file);
    fputs("# SPDX-License-Identifier: Apache-2.0\n"
          "# Figure or scenario, its combinations, digest of the values they result in.\n"
          "# Written by OCHE_PIN=yes test_lab_reproduce_pinned.\n",
          file);
    fputs(found, file);
    assert_int_equal(fclose(file), 0);
}

static void test_figures_and_tests_have_the_values_they_had(void **state)
{
    char line[512], *rest = NULL;

    (void)state;
    find_all();
    if (getenv("OCHE_PIN") != NULL)
        write_anew();
    FILE *pinned = fopen(PINNED, "r");

    assert_non_null(pinned);
    char *next = strtok_r(found, "\n", &rest);

    while (fgets(line, sizeof(line), pinned) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '#')
            continue;
        assert_non_null(next);
        assert_string_equal(next, line);
        next = strtok_r(NULL, "\n", &rest);
    }
    assert_null(next);
    fclose(pinned);
    free(found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_figures_and_tests_have_the_values_they_had),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
