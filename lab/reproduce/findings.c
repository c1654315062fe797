/* SPDX-License-Identifier: Apache-2.0 */
/* Makes verdicts and curves from points. */
#include "lab/reproduce/findings.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/measures/metrics.h"
#include "lab/reproduce/measured.h"
#include "lab/reproduce/paper.h"
#include "lab/reproduce/words.h"

/* ---- judging ---- */

/*
 * Where a run lacks the time of an event and reports that it did not happen, the time is infinite:
 * never (lab/measures/metric_table.h).
 */
static void put_never(struct oche_sweep_store *store, const char *metric, double *values,
                      size_t total)
{
    const char *whether = oche_metric_or_never(metric);
    double *has;

    if (whether == NULL)
        return;
    has = malloc(total * sizeof(*has));
    OCHE_GOT(has != NULL);
    oche_sweep_store_values(store, whether, has, total);
    for (size_t i = 0; i < total; i++)
        if (isnan(values[i]) && !isnan(has[i]))
            values[i] = INFINITY;
    free(has);
}

/* Returns a metric of a combination, if it is measured. */
static bool take_measured(struct oche_findings *findings, size_t metric, const char *name,
                          const struct oche_combination *combination)
{
    const struct oche_measured *measured = oche_measured_of(findings->study, combination);

    if (measured == NULL)
        return false;
    double *values = malloc((combination->repeats + 1) * sizeof(*values));

    OCHE_GOT(values != NULL);
    oche_measured_values(measured, combination, name, values);
    for (uint32_t r = 0; r < combination->repeats; r++)
        oche_samples_put(findings->samples, metric, combination, r, values[r]);
    free(values);
    return true;
}

static void take_samples(struct oche_findings *findings, const struct oche_plan *plan,
                         struct oche_sweep_store *store)
{
    const struct oche_study *study = plan->study;
    size_t total = oche_grid_points(&plan->grid), count;
    const char *const *names = oche_samples_metrics(findings->samples, &count);
    double *values = malloc(total * sizeof(*values));

    OCHE_GOT(values != NULL);
    for (size_t m = 0; m < count; m++) {
        oche_sweep_store_values(store, names[m], values, total);
        put_never(store, names[m], values, total);
        for (size_t c = 0; c < study->combination_count; c++) {
            const struct oche_combination *combination = &study->combinations[c];

            if (take_measured(findings, m, names[m], combination))
                continue;
            for (uint32_t r = 0; r < combination->repeats; r++)
                oche_samples_put(findings->samples, m, combination, r,
                                 values[oche_plan_point(plan, combination, r)]);
        }
    }
    oche_samples_ready(findings->samples);
    free(values);
}

void oche_findings_make(struct oche_findings *findings, const struct oche_plan *plan,
                        struct oche_sweep_store *store)
{
    const struct oche_study *study = plan->study;

    *findings = (struct oche_findings){.study = study, .samples = oche_samples_create(study)};
    findings->judged = calloc(study->claim_count, sizeof(*findings->judged));
    findings->also = calloc(study->claim_count * study->also_count + 1, sizeof(*findings->also));
    OCHE_GOT(findings->judged != NULL && findings->also != NULL);
    take_samples(findings, plan, store);
    for (size_t c = 0; c < study->claim_count; c++) {
        findings->judged[c] = oche_judge(study, &study->claims[c], NULL, findings->samples);
        oche_tally_add(&findings->tally, study->claims[c].source, findings->judged[c].finding,
                       findings->judged[c].unsure);
        for (size_t a = 0; a < study->also_count; a++)
            findings->also[c * study->also_count + a] =
                oche_judge(study, &study->claims[c], &study->also[a], findings->samples);
    }
}

void oche_findings_free(struct oche_findings *findings)
{
    oche_samples_free(findings->samples);
    free(findings->judged);
    free(findings->also);
    *findings = (struct oche_findings){.study = NULL};
}

/* ---- claims ---- */

static double number_or_none(double value)
{
    return isfinite(value) ? value : NAN;
}

static void store_reading(const struct oche_reading *reading, const struct oche_judgement *judged,
                          uint32_t claim, struct oche_sweep_store *store)
{
    oche_sweep_store_reading(
        store, claim,
        &(struct oche_sweep_reading){.label = reading->label,
                                     .measured = number_or_none(judged->measured),
                                     .low = number_or_none(judged->low),
                                     .high = number_or_none(judged->high),
                                     .verdict = oche_finding_name(judged->finding)});
}

/* Returns the labels of the claim's quantities: "H4, least; H1, most"; "" if it has none. */
static const char *quantities_of(const struct oche_study *study, const struct oche_claim *claim)
{
    const char *labels = claim->quantity != NULL ? claim->quantity->label : "";

    for (size_t i = 1; i < claim->at_count && claim->each != NULL; i++)
        labels = oche_document_print(study->document, "%s; %s", labels, claim->each[i]->label);
    return labels;
}

static void store_claim(const struct oche_findings *findings, size_t number,
                        struct oche_sweep_store *store)
{
    static const char *const interval_names[] = {[OCHE_INTERVAL_NONE] = "",
                                                 [OCHE_INTERVAL_T] = "t",
                                                 [OCHE_INTERVAL_BOOTSTRAP] = "bootstrap"};
    const struct oche_study *study = findings->study;
    const struct oche_claim *claim = &study->claims[number];
    const struct oche_judgement *judged = &findings->judged[number];
    const struct oche_words published = oche_published_words(study, claim);
    const struct oche_words tolerance = oche_tolerance_words(study, claim);
    const char *unit = oche_claim_unit(study, claim), *condition = "";

    for (size_t i = 0; i < claim->at_count && (i == 0 || claim->each == NULL); i++)
        condition = oche_document_print(study->document, "%s%s%s", condition, i > 0 ? "; " : "",
                                        oche_condition_text(study, &claim->at[i]));
    uint32_t row = oche_sweep_store_claim(
        store, &(struct oche_sweep_claim){.name = claim->name,
                                          .text = claim->text,
                                          .quantity = quantities_of(study, claim),
                                          .condition = condition,
                                          .published = claim->published,
                                          .published_text = published.text,
                                          .unit = strcmp(unit, "factor") == 0 ? "ratio" : unit,
                                          .place = claim->place,
                                          .tolerance = tolerance.text,
                                          .confidence = claim->confidence,
                                          .source = oche_source_names[claim->source],
                                          .measured = number_or_none(judged->measured),
                                          .low = number_or_none(judged->low),
                                          .high = number_or_none(judged->high),
                                          .spread = number_or_none(oche_judgement_spread(judged)),
                                          .verdict = oche_finding_name(judged->finding),
                                          .explanation = claim->explanation,
                                          .interval = interval_names[judged->interval],
                                          .unsure = judged->unsure});

    for (size_t a = 0; a < study->also_count && judged->finding != OCHE_FINDING_NOT_JUDGED; a++)
        store_reading(&study->also[a], &findings->also[number * study->also_count + a], row, store);
}

/* ---- curves ---- */

/*
 * Computes a quantity's number and interval at one combination, by judging a claim that the paper
 * does not make. The verdict of the result means nothing.
 */
static struct oche_judgement number_at(const struct oche_findings *findings,
                                       const struct oche_quantity *quantity,
                                       struct oche_condition *at)
{
    const struct oche_claim claim = {.kind = oche_claim_kind_find("value"),
                                     .quantity = quantity,
                                     .at = at,
                                     .at_count = 1,
                                     .tolerance = {.reproduced = INFINITY, .in_shape = INFINITY},
                                     .along = OCHE_ANY,
                                     .name = quantity->name};

    return oche_judge(findings->study, &claim, NULL, findings->samples);
}

struct curve {
    const struct oche_findings *findings;
    const struct oche_plot *plot;
    uint32_t of; /* the plot's number in the results file */
    struct oche_sweep_store *store;
    const struct oche_quantity *quantity;
    /* condition of the curve; the value of `along` is set for each point */
    struct oche_condition at;
    uint32_t number;
    bool begun;
    const char *label;
};

static void store_curve_point(struct curve *curve, double x)
{
    const struct oche_plot *plot = curve->plot;
    const struct oche_study *study = curve->findings->study;
    struct oche_judgement judged = number_at(curve->findings, curve->quantity, &curve->at);

    if (!isfinite(judged.measured) || (strcmp(plot->x_scale, "log") == 0 && !(x > 0)))
        return;
    if (!curve->begun)
        curve->number = oche_sweep_store_curve(
            curve->store, &(struct oche_sweep_curve){.plot = curve->of,
                                                     .label = curve->label,
                                                     .kind = "measured",
                                                     .x_name = plot->x_name,
                                                     .y_name = plot->y_name,
                                                     .x_unit = plot->along != OCHE_ANY
                                                                   ? study->axes[plot->along].unit
                                                                   : "count",
                                                     .y_unit = curve->quantity->unit});
    curve->begun = true;
    oche_sweep_store_curve_point(curve->store, curve->number, x, judged.measured,
                                 number_or_none(judged.low), number_or_none(judged.high));
}

/* Returns the values of an axis that are numbers, in ascending order (malloc'd). */
static size_t *ascending(const struct oche_study_axis *axis, size_t *count)
{
    size_t *order = malloc(axis->count * sizeof(*order));

    OCHE_GOT(order != NULL);
    *count = 0;
    for (size_t i = 0; i < axis->count; i++) {
        size_t at = *count;

        if (isnan(axis->values[i].number))
            continue;
        ++*count;

        for (; at > 0 && axis->values[order[at - 1]].number > axis->values[i].number; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    return order;
}

static void store_curve(struct curve *curve)
{
    const struct oche_study *study = curve->findings->study;
    size_t along = curve->plot->along;

    if (along == OCHE_ANY) {
        store_curve_point(curve, 0);
        return;
    }
    const struct oche_study_axis *axis = &study->axes[along];
    size_t count, *order = ascending(axis, &count);

    for (size_t i = 0; i < count; i++) {
        curve->at.axis[along] = (struct oche_condition_term){.values = &order[i], .count = 1};
        store_curve_point(curve, axis->values[order[i]].number);
    }
    curve->at.axis[along] = (struct oche_condition_term){.count = 0};
    free(order);
}

/*
 * Stores one curve for each quantity and each value of `by`: in the figure's reading, then in each
 * other reading.
 */
static void store_curves(const struct oche_findings *findings, const struct oche_plot *plot,
                         uint32_t number, const struct oche_reading *reading,
                         struct oche_sweep_store *store)
{
    const struct oche_study *study = findings->study;
    size_t curves = plot->by != OCHE_ANY ? study->axes[plot->by].count : 1;
    struct oche_condition_term *terms = calloc(study->axis_count + 1, sizeof(*terms));
    size_t zero = 0;

    OCHE_GOT(terms != NULL);
    for (size_t q = 0; q < plot->quantity_count; q++)
        for (size_t b = 0; b < curves; b++) {
            const char *label = plot->by != OCHE_ANY ? study->axes[plot->by].values[b].label
                                                     : plot->quantities[q]->label;
            struct curve curve = {.findings = findings,
                                  .plot = plot,
                                  .of = number,
                                  .store = store,
                                  .quantity = plot->quantities[q],
                                  .at.axis = terms,
                                  .label = label};

            for (size_t a = 0; a < study->axis_count; a++) {
                terms[a] = plot->at.axis[a];
                if (reading != NULL && reading->at.axis[a].count > 0)
                    terms[a] = reading->at.axis[a];
                if (terms[a].count == 0)
                    terms[a] = (struct oche_condition_term){.values = &zero, .count = 1};
            }
            if (plot->by != OCHE_ANY)
                terms[plot->by] = (struct oche_condition_term){.values = &b, .count = 1};
            if (plot->by != OCHE_ANY && plot->quantity_count > 1)
                curve.label = oche_document_print(study->document, "%s, %s", label,
                                                  plot->quantities[q]->label);
            if (reading != NULL)
                curve.label =
                    oche_document_print(study->document, "%s (%s)", curve.label, reading->label);
            store_curve(&curve);
        }
    free(terms);
}

static void store_published(const struct oche_study *study, const struct oche_plot *plot,
                            uint32_t of, struct oche_sweep_store *store)
{
    for (size_t i = 0; i < plot->published_count; i++) {
        const struct oche_published_curve *published = &plot->published[i];
        uint32_t number = oche_sweep_store_curve(
            store, &(struct oche_sweep_curve){
                       .plot = of,
                       .label = published->label,
                       .kind = "published",
                       .x_name = plot->x_name,
                       .y_name = plot->y_name,
                       .x_unit = plot->along != OCHE_ANY ? study->axes[plot->along].unit : "count",
                       .y_unit = plot->quantities[0]->unit});

        for (size_t p = 0; p < published->count; p++)
            oche_sweep_store_curve_point(store, number, published->points[p][0],
                                         published->points[p][1], NAN, NAN);
    }
}

/*
 * True if the reading gives another place of the figure (`at`). A reading that only replaces values
 * has no curves of its own: its replacements are values of an axis, which have theirs.
 */
static bool gives_values(const struct oche_study *study, const struct oche_reading *reading)
{
    for (size_t a = 0; a < study->axis_count; a++)
        if (reading->at.axis[a].count > 0)
            return true;
    return false;
}

static void store_plot(const struct oche_findings *findings, const struct oche_plot *plot,
                       struct oche_sweep_store *store)
{
    const struct oche_study *study = findings->study;
    uint32_t number =
        oche_sweep_store_plot(store, &(struct oche_sweep_plot){.title = plot->title,
                                                               .x_name = plot->x_name,
                                                               .x_scale = plot->x_scale,
                                                               .y_name = plot->y_name,
                                                               .y_scale = plot->y_scale});

    store_curves(findings, plot, number, NULL, store);
    for (size_t a = 0; a < study->also_count; a++)
        if (gives_values(study, &study->also[a]))
            store_curves(findings, plot, number, &study->also[a], store);
    store_published(study, plot, number, store);
}

/* ---- storing everything ---- */

static void store_facts(const struct oche_study *study, const char *tolerances_commit,
                        struct oche_sweep_store *store)
{
    const struct {
        const char *key, *value;
    } facts[] = {
        {"paper", study->paper != NULL ? study->paper->name : ""},
        {"paper_title", study->paper != NULL ? study->paper->title : ""},
        {"figure", study->name},
        {"title", study->title},
        {"place", study->place},
        {"mode", study->quick ? "quick" : "full"},
        {"tolerances_commit", tolerances_commit},
    };

    for (size_t i = 0; i < OCHE_COUNT_OF(facts); i++)
        oche_sweep_store_info(store, facts[i].key, facts[i].value);
}

bool oche_findings_store(const struct oche_findings *findings, const char *tolerances_commit,
                         struct oche_sweep_store *store, struct oche_error *error)
{
    const struct oche_study *study = findings->study;

    oche_sweep_store_begin(store);
    oche_sweep_store_clear_figure(store);
    store_facts(study, tolerances_commit, store);
    for (size_t c = 0; c < study->claim_count; c++)
        store_claim(findings, c, store);
    for (size_t p = 0; p < study->plot_count; p++)
        store_plot(findings, &study->plots[p], store);
    for (size_t d = 0; d < study->difference_count; d++)
        oche_sweep_store_difference(store, study->differences[d]);
    return oche_sweep_store_commit(store, error);
}
