/* SPDX-License-Identifier: Apache-2.0 */
/* Studies and runs by hand. */
#include "tests/unit/lab/reproduce/make.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/test.h"

#define BEGINNING "title: T\nplace: P\nscenario: s.yaml\n"

struct oche_study *make_whole_study(const char *text, bool quick)
{
    char *whole = NULL;
    struct oche_error error = {""};

    assert_true(asprintf(&whole, BEGINNING "%s", text) > 0);
    struct oche_study *study = oche_study_parse(NULL, "papers/p/fig.yaml", whole, quick, &error);

    if (study == NULL)
        fail_msg("%s", error.text);
    free(whole);
    return study;
}

struct oche_study *make_study(const char *more)
{
    char *text = NULL;

    assert_true(asprintf(&text,
                         "grids:\n"
                         "  - vary:\n"
                         "      recovery: {A: go_back_n, B: {name: go_back_n, nak_interval: 1us},\n"
                         "                 C: {name: go_back_n, nak_interval: 2us}}\n"
                         "      loss.probability: [0, 1e-4, 1e-3, 1e-2]\n"
                         "    repeat: 4\n"
                         "quantities:\n"
                         "  speed: {metric: goodput}\n"
                         "  least: {metric: goodput, statistic: minimum}\n"
                         "  most: {metric: goodput, statistic: maximum}\n"
                         "  share: {metric: timeouts, over: naks, statistic: pooled}\n"
                         "%s",
                         more) > 0);
    struct oche_study *study = make_whole_study(text, false);

    free(text);
    return study;
}

static size_t value_named(const struct oche_study_axis *axis, const char *label)
{
    for (size_t v = 0; v < axis->count; v++)
        if (strcmp(axis->values[v].label, label) == 0)
            return v;
    fail_msg("no value %s of %s", label, axis->key);
    return 0;
}

void put_runs(struct oche_samples *samples, const struct oche_study *study, const char *metric,
              const char *scheme, const char *loss, const double *values)
{
    size_t value[2] = {value_named(&study->axes[0], scheme), value_named(&study->axes[1], loss)};
    const struct oche_combination *combination = oche_study_find(study, value);
    size_t count, m = 0;
    const char *const *names = oche_samples_metrics(samples, &count);

    assert_non_null(combination);
    while (m < count && strcmp(names[m], metric) != 0)
        m++;
    assert_true(m < count);
    for (uint32_t r = 0; r < combination->repeats; r++)
        oche_samples_put(samples, m, combination, r, values[r]);
}

void put_run(struct oche_samples *samples, const struct oche_study *study, const char *metric,
             const char *scheme, const char *loss, double value)
{
    put_runs(samples, study, metric, scheme, loss, (double[]){value, value, value, value});
}
