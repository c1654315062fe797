/* SPDX-License-Identifier: Apache-2.0 */
/* Names and values of metrics, made from their table (lab/measures/metric_table.c). */
#include "lab/measures/metrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/measures/metric_table.h"
#include "core/qp/adapter_counters.h"
#include "lab/measures/scheme_counters.h"
#include "lab/measures/size_rows.h"
#include "params/error.h"
#include "sim/measure/percentile.h"
#include "params/units.h"

#define MOST_NAMES 1024 /* most names with which a misspelt name is compared */

/* The word that stands for each subject in a pattern. */
static const char *const placeholders[SUBJECTS] = {[OF_RUN] = NULL,
                                                   [OF_SIZE] = "SIZE",
                                                   [OF_DELIVERED] = "SIZE",
                                                   [OF_PLACE] = "PLACE",
                                                   [OF_WHERE] = "WHERE",
                                                   [OF_SWITCH_WHERE] = "WHERE",
                                                   [OF_TIER] = "TIER",
                                                   [OF_PORT] = "PORT",
                                                   [OF_FLOW] = "N",
                                                   [OF_PAIR] = "N",
                                                   [OF_WORKLOAD] = "N",
                                                   [OF_RATED] = "N",
                                                   [OF_MECHANISM] = "MECHANISM.COUNTER",
                                                   [OF_SCHEME] = "SCHEME.COUNTER",
                                                   [OF_SCHEME_PACKETS] = "SCHEME.COUNTER",
                                                   [OF_ADAPTER] = "COUNTER"};

static const char *const place_names[OCHE_PLACES] = {[OCHE_PLACE_TO_HOST] = "tor_to_host",
                                                     [OCHE_PLACE_TOR_UP] = "tor_to_up",
                                                     [OCHE_PLACE_AGGREGATION] = "aggregation",
                                                     [OCHE_PLACE_CORE] = "core",
                                                     [OCHE_PLACE_HOST_NIC] = "host_nic"};

static const char *const tier_names[OCHE_NODE_KINDS] = {[OCHE_NODE_HOST] = "host",
                                                        [OCHE_NODE_TOR] = "tor",
                                                        [OCHE_NODE_AGGREGATION] = "aggregation",
                                                        [OCHE_NODE_CORE] = "core"};

const char *oche_place_key(unsigned place)
{
    OCHE_MUST(place < OCHE_PLACES);
    return place_names[place];
}

/* ---- values ---- */

static unsigned how_many(enum subject of, const struct oche_outcome *outcome)
{
    switch (of) {
    case OF_RUN:
        return 1;
    case OF_SIZE:
    case OF_DELIVERED:
        return OCHE_OUTCOME_ROWS;
    case OF_PLACE:
        return OCHE_PLACES;
    case OF_WHERE:
    case OF_SWITCH_WHERE:
        return OCHE_WHERES;
    case OF_TIER:
        return OCHE_NODE_KINDS;
    case OF_PORT:
        return outcome->queue_count;
    case OF_FLOW:
        return outcome->listed_count;
    case OF_PAIR:
        return outcome->pair_count;
    case OF_WORKLOAD:
        return outcome->by_workload.count;
    case OF_RATED:
        return outcome->rates.flows < OCHE_OUTCOME_LISTED ? outcome->rates.flows
                                                          : OCHE_OUTCOME_LISTED;
    case OF_MECHANISM:
        return OCHE_MOST_MECHANISMS * OCHE_MOST_MECHANISM_COUNTERS;
    case OF_SCHEME:
    case OF_SCHEME_PACKETS:
        return oche_scheme_counter_most();
    case OF_ADAPTER:
        return OCHE_ADAPTER_HW_COUNTERS;
    case SUBJECTS:
        break;
    }
    return 0;
}

/* Returns the counter of that number, or NULL if there is none. */
static const struct oche_switch_counter *counter_of(unsigned which,
                                                    const struct oche_switch_mechanism **mechanism)
{
    unsigned m = which / OCHE_MOST_MECHANISM_COUNTERS, c = which % OCHE_MOST_MECHANISM_COUNTERS;

    for (unsigned i = 0; i <= m; i++)
        if (oche_switch_mechanisms[i] == NULL)
            return NULL;
    *mechanism = oche_switch_mechanisms[m];
    return c < (*mechanism)->counter_count ? &(*mechanism)->counters[c] : NULL;
}

/* Returns the counter called "MECHANISM.COUNTER", or NULL. */
static const struct oche_switch_counter *counter_named(const char *name)
{
    const struct oche_switch_mechanism *mechanism;
    const char *dot = strchr(name, '.');

    for (unsigned i = 0; dot != NULL && i < OCHE_MOST_MECHANISMS * OCHE_MOST_MECHANISM_COUNTERS;
         i++) {
        const struct oche_switch_counter *counter = counter_of(i, &mechanism);

        if (counter != NULL && strncmp(mechanism->name, name, (size_t)(dot - name)) == 0 &&
            mechanism->name[dot - name] == '\0' && strcmp(counter->name, dot + 1) == 0)
            return counter;
    }
    return NULL;
}

/* Returns the unit of the metric called `name`, which the row describes. */
static const struct unit_row *unit_of(const struct metric *metric, const char *name)
{
    const struct oche_switch_counter *counter =
        metric->of == OF_MECHANISM ? counter_named(name) : NULL;

    return &oche_metric_units[counter != NULL && counter->bytes ? BYTES : metric->unit];
}

/*
 * Returns the counter's name, such as "dart.groups". Returns "" if there is no counter of that
 * number, or if the subject requires a counter of packets and this one counts something else.
 */
static const char *scheme_name(enum subject of, unsigned which, char *text, size_t text_bytes)
{
    const struct oche_counters *table;
    const struct oche_counter *counter = oche_scheme_counter(which, &table);

    if (counter == NULL || (of == OF_SCHEME_PACKETS && counter->opcode == 0))
        return "";
    return oche_scheme_counter_name(which, text, text_bytes);
}

/* Returns the counter's name, or "" if a run does not know it. */
static const char *adapter_name(unsigned which)
{
    const struct oche_adapter_counter counter = oche_adapter_counter(which);

    return counter.counted && !counter.of_port ? counter.name : "";
}

/* True if the run has this subject (the port, workload, … of number `which`). */
static bool is_there(enum subject of, const struct oche_outcome *outcome, unsigned which)
{
    const struct oche_switch_mechanism *mechanism;
    char text[OCHE_METRIC_NAME_BYTES];

    switch (of) {
    case OF_MECHANISM:
        return counter_of(which, &mechanism) != NULL &&
               outcome->totals.has_mechanism[which / OCHE_MOST_MECHANISM_COUNTERS];
    case OF_SCHEME:
    case OF_SCHEME_PACKETS:
        return scheme_name(of, which, text, sizeof(text))[0] != '\0' &&
               oche_scheme_counted(outcome, which);
    case OF_ADAPTER:
        return outcome->has_adapters && *adapter_name(which) != '\0';
    case OF_SIZE:
        return outcome->sizes[which].flows > 0 || which == OCHE_OUTCOME_SIZES;
    case OF_DELIVERED:
        return outcome->sizes[which].delivered > 0;
    case OF_PLACE:
        return outcome->utilisation[which].ports > 0;
    case OF_SWITCH_WHERE:
        return which != OCHE_WHERE_HOST_NIC && outcome->congestion[which].ports > 0;
    case OF_WHERE:
        return outcome->congestion[which].ports > 0;
    default:
        return true;
    }
}

/* True if the run meets the metric's `only_if`. */
static bool is_met(const struct metric *metric, const struct oche_outcome *outcome)
{
    const unsigned char *at = (const unsigned char *)outcome + metric->only_if.at;

    for (size_t i = 0; i < metric->only_if.bytes; i++)
        if (at[i] != 0)
            return true;
    return metric->only_if.bytes == 0;
}

/* Returns the array in which the metric's offsets count. */
static const char *base_of(enum subject of, const struct oche_outcome *outcome)
{
    if (of == OF_PORT)
        return (const char *)outcome->queues;
    if (of == OF_WORKLOAD)
        return (const char *)outcome->by_workload.workloads;
    return (const char *)outcome;
}

static uint64_t counter_at(const char *at)
{
    return *(const uint64_t *)(const void *)at;
}

static double real_at(const char *at)
{
    return *(const double *)(const void *)at;
}

/* Returns the sum of the source's values; for LONGEST, the largest value. */
static uint64_t gather(const struct source *source, const char *at)
{
    uint64_t all = 0;

    for (unsigned i = 0; i < source->count; i++) {
        const uint64_t one = counter_at(at + i * source->stride);

        all = source->kind == SUM ? all + one : one > all ? one : all;
    }
    return all;
}

static double mean_of(const struct oche_sorted_values *sorted)
{
    double sum = 0;

    for (size_t i = 0; i < sorted->count; i++)
        sum += sorted->values[i];
    return sorted->count == 0 ? NAN : sum / (double)sorted->count;
}

static double percentile_of(const struct oche_sorted_values *sorted, unsigned thousandths)
{
    return sorted->count == 0 ? NAN
                              : oche_percentile_real(sorted->values, sorted->count, thousandths);
}

static double made_of(const struct source *source, const struct oche_outcome *outcome,
                      const char *base, unsigned which)
{
    const double second = (double)OCHE_SEC;
    const char *at = base + source->at + which * source->stride;
    const char *over = base + source->over + which * source->over_stride;

    switch (source->kind) {
    case COUNTER:
        return (double)counter_at(at);
    case PICOSECONDS:
        return (double)counter_at(at) / second;
    case REAL:
        return real_at(at);
    case REAL_PICOSECONDS:
        return real_at(at) / second;
    case NOT_NEGATIVE:
        return real_at(at) < 0 ? NAN : real_at(at);
    case RATIO_OF:
    case PICOSECONDS_EACH:
        if (counter_at(over) == 0)
            return NAN;
        return (double)counter_at(at) / (double)counter_at(over) /
               (source->kind == RATIO_OF ? 1 : second);
    case SUM:
        return (double)gather(source, at);
    case LONGEST:
        return (double)gather(source, at) / second;
    case MEAN:
        return mean_of((const void *)at);
    case PERCENTILE:
        return percentile_of((const void *)at, source->thousandths);
    case COMPUTED:
        return source->compute(outcome);
    case COMPUTED_EACH:
        return source->compute_each(outcome, which);
    }
    return NAN;
}

/* Returns the metric's value; NAN if the run does not have it. */
static double value_of(const struct metric *metric, const struct oche_outcome *outcome,
                       unsigned which)
{
    if ((outcome->by_fluid && !metric->by_fluid) || which >= how_many(metric->of, outcome) ||
        !is_there(metric->of, outcome, which) || !is_met(metric, outcome))
        return NAN;
    return made_of(&metric->source, outcome, base_of(metric->of, outcome), which);
}

/* ---- names ---- */

/* Returns the text that stands for the subject in metrics' names. */
static const char *subject_name(enum subject of, const struct oche_outcome *outcome, unsigned which,
                                char *text, size_t text_bytes)
{
    const struct oche_switch_mechanism *mechanism;
    const struct oche_switch_counter *counter;

    switch (of) {
    case OF_MECHANISM:
        counter = counter_of(which, &mechanism);
        if (counter == NULL)
            return "";
        snprintf(text, text_bytes, "%s.%s", mechanism->name, counter->name);
        return text;
    case OF_SCHEME:
    case OF_SCHEME_PACKETS:
        return scheme_name(of, which, text, text_bytes);
    case OF_ADAPTER:
        return adapter_name(which);
    case OF_SIZE:
    case OF_DELIVERED:
        return oche_size_row_name(outcome, which, text, text_bytes);
    case OF_PLACE:
        return oche_place_key(which);
    case OF_WHERE:
    case OF_SWITCH_WHERE:
        return oche_where_key(which);
    case OF_TIER:
        return tier_names[which];
    case OF_PORT:
        return outcome->queues[which].name;
    case OF_FLOW:
    case OF_PAIR:
    case OF_WORKLOAD:
    case OF_RATED:
        snprintf(text, text_bytes, "%u", which);
        return text;
    case OF_RUN:
    case SUBJECTS:
        break;
    }
    return "";
}

/* Writes the metric's name, with `subject` in place of the placeholder. */
static void fill_name(const struct metric *metric, const char *subject, char *name,
                      size_t name_bytes)
{
    const char *hole = placeholders[metric->of];
    const char *at = hole != NULL ? strstr(metric->name, hole) : NULL;

    int length = at == NULL ? snprintf(name, name_bytes, "%s", metric->name)
                            : snprintf(name, name_bytes, "%.*s%s%s", (int)(at - metric->name),
                                       metric->name, subject, at + strlen(hole));

    OCHE_MUST(length > 0 && (size_t)length < name_bytes);
}

/* Writes the metric's name for subject number `which`. */
static void name_of(const struct metric *metric, const struct oche_outcome *outcome, unsigned which,
                    char *name, size_t name_bytes)
{
    char subject[OCHE_METRIC_NAME_BYTES];

    fill_name(metric, subject_name(metric->of, outcome, which, subject, sizeof(subject)), name,
              name_bytes);
}

void oche_metrics_each(const struct oche_outcome *outcome, oche_metric_visit *visit, void *context)
{
    char name[OCHE_METRIC_NAME_BYTES];

    for (size_t i = 0; i < oche_metric_count; i++) {
        const struct metric *metric = &oche_metric_table[i];

        for (unsigned which = 0; which < how_many(metric->of, outcome); which++) {
            const double value = value_of(metric, outcome, which);

            if (isnan(value))
                continue;
            name_of(metric, outcome, which, name, sizeof(name));
            visit(context, name, unit_of(metric, name)->name, value);
        }
    }
}

/* True if `text` (`length` bytes) can be the name of such a subject. */
static bool can_be(enum subject of, const char *text, size_t length)
{
    const struct oche_outcome none = {.queue_count = 0};
    char buffer[OCHE_METRIC_NAME_BYTES];

    if (of == OF_PORT)
        return length > 0;
    if (of == OF_FLOW || of == OF_PAIR || of == OF_WORKLOAD || of == OF_RATED) {
        size_t digits = strspn(text, "0123456789");

        return length > 0 && length <= 2 && digits >= length && (text[0] != '0' || length == 1);
    }
    if ((of == OF_SIZE || of == OF_DELIVERED) && oche_size_row_may_be(text, length))
        return true;
    for (unsigned which = 0; which < how_many(of, &none); which++) {
        const char *name = subject_name(of, &none, which, buffer, sizeof(buffer));

        if (strlen(name) == length && memcmp(name, text, length) == 0)
            return true;
    }
    return false;
}

static bool matches(const struct metric *metric, const char *name)
{
    const char *hole = placeholders[metric->of];
    const char *at = hole != NULL ? strstr(metric->name, hole) : NULL;

    if (at == NULL)
        return strcmp(metric->name, name) == 0;
    const size_t before = (size_t)(at - metric->name), length = strlen(name);
    const char *after = at + strlen(hole);
    const size_t rest = strlen(after);

    return length > before + rest && strncmp(name, metric->name, before) == 0 &&
           strcmp(name + length - rest, after) == 0 &&
           can_be(metric->of, name + before, length - before - rest);
}

static const struct metric *find(const char *name)
{
    for (size_t i = 0; i < oche_metric_count; i++)
        if (matches(&oche_metric_table[i], name))
            return &oche_metric_table[i];
    return NULL;
}

/* Returns the table's row called `row`, which may be a pattern; NULL if there is none. */
static const struct metric *find_row(const char *row)
{
    for (size_t i = 0; i < oche_metric_count; i++)
        if (strcmp(oche_metric_table[i].name, row) == 0)
            return &oche_metric_table[i];
    return NULL;
}

double oche_metric_value(const struct oche_outcome *outcome, const char *name, unsigned which)
{
    const struct metric *metric = find_row(name);
    char full[OCHE_METRIC_NAME_BYTES];

    if (metric != NULL)
        return value_of(metric, outcome, metric->of == OF_RUN ? 0 : which);
    metric = find(name);
    OCHE_MUST(metric != NULL);
    for (unsigned i = 0; i < how_many(metric->of, outcome); i++) {
        if (!is_there(metric->of, outcome, i))
            continue; /* a counter that there is not has no name */
        name_of(metric, outcome, i, full, sizeof(full));
        if (strcmp(full, name) == 0)
            return value_of(metric, outcome, i);
    }
    return NAN;
}

bool oche_metric_is_known(const char *name)
{
    return find_row(name) != NULL || find(name) != NULL;
}

struct oche_figure oche_metric_figure(const char *name, double value)
{
    const struct metric *metric = find_row(name) != NULL ? find_row(name) : find(name);

    OCHE_MUST(metric != NULL);
    return isnan(value) ? (struct oche_figure){OCHE_NO_FIGURE}
                        : unit_of(metric, name)->figure(value);
}

const char *oche_metric_help(const char *name)
{
    const struct metric *metric = find(name);

    if (metric == NULL)
        return NULL;
    return metric->of == OF_SCHEME      ? oche_scheme_counter_named(name)->help
           : metric->of == OF_MECHANISM ? counter_named(name)->help
           : metric->of == OF_ADAPTER
               ? oche_adapter_counter(oche_adapter_counter_named(strchr(name, '.') + 1)).help
               : metric->help;
}

const char *oche_metric_or_never(const char *name)
{
    const struct metric *metric = find(name);

    return metric != NULL ? metric->or_never : NULL;
}

const char *oche_metric_unit(const char *name)
{
    const struct metric *metric = find(name);

    return metric != NULL ? unit_of(metric, name)->name : NULL;
}

const char *oche_metric_unit_named(const char *unit)
{
    for (unsigned i = 0; i < UNITS; i++)
        if (strcmp(oche_metric_units[i].name, unit) == 0)
            return oche_metric_units[i].name;
    return NULL;
}

bool oche_metric_check(const char *name, struct oche_error *error)
{
    const struct oche_outcome none = {.queue_count = 0};
    char(*names)[OCHE_METRIC_NAME_BYTES] = NULL, subject[OCHE_METRIC_NAME_BYTES];
    const char *words[MOST_NAMES];
    size_t count = 0;

    if (find(name) != NULL)
        return true;
    names = calloc(MOST_NAMES, sizeof(*names));
    OCHE_GOT(names != NULL);
    for (size_t i = 0; i < oche_metric_count; i++)
        for (unsigned which = 0;
             which < how_many(oche_metric_table[i].of, &none) && count < MOST_NAMES; which++) {
            const char *of =
                subject_name(oche_metric_table[i].of, &none, which, subject, sizeof(subject));

            if (placeholders[oche_metric_table[i].of] != NULL && *of == '\0')
                continue;
            fill_name(&oche_metric_table[i], of, names[count], sizeof(names[count]));
            words[count] = names[count];
            count++;
        }
    const char *near = oche_nearest_word(name, words, count);

    oche_fail(error, "%s: no such metric; %s%s%s", name, near != NULL ? "perhaps " : "",
              near != NULL ? near : "",
              near != NULL ? "? oche sweep --metrics lists them"
                           : "oche sweep --metrics lists them");
    free(names);
    return false;
}

/* Prints the metric for each counter of each scheme or mechanism that it applies to. */
static void print_counters(FILE *out, const struct metric *metric)
{
    const struct oche_outcome none = {.queue_count = 0};
    char text[OCHE_METRIC_NAME_BYTES], name[OCHE_METRIC_NAME_BYTES];

    for (unsigned which = 0; which < how_many(metric->of, &none); which++) {
        const char *subject = subject_name(metric->of, &none, which, text, sizeof(text));

        if (*subject == '\0')
            continue;
        fill_name(metric, subject, name, sizeof(name));
        fprintf(out, "%-24s %-6s %s\n", name, oche_metric_unit(name), oche_metric_help(name));
    }
}

void oche_metrics_print(FILE *out)
{
    char text[OCHE_METRIC_NAME_BYTES];

    for (size_t i = 0; i < oche_metric_count; i++) {
        const struct metric *metric = &oche_metric_table[i];

        if (metric->of == OF_SCHEME || metric->of == OF_SCHEME_PACKETS ||
            metric->of == OF_MECHANISM || metric->of == OF_ADAPTER)
            print_counters(out, metric);
        else
            fprintf(out, "%-24s %-6s %s\n", metric->name, oche_metric_units[metric->unit].name,
                    metric->help);
    }
    fputs("\nSIZE:", out);
    for (unsigned which = 0; which < OCHE_OUTCOME_EXACT; which++)
        fprintf(out, " %s", oche_size_row_name(NULL, which, text, sizeof(text)));
    fprintf(out, " of_8KB (and so on, where flows have 2 to %u different sizes)",
            OCHE_OUTCOME_MOST_EXACT);
    fputs("\nPLACE:", out);
    for (unsigned p = 0; p < OCHE_PLACES; p++)
        fprintf(out, " %s", oche_place_key(oche_places_up[p]));
    fputs("\nWHERE:", out);
    for (unsigned where = 0; where < OCHE_WHERES; where++)
        fprintf(out, " %s", oche_where_key(where));
    fputs("\nTIER:", out);
    for (unsigned kind = 0; kind < OCHE_NODE_KINDS; kind++)
        fprintf(out, " %s", tier_names[kind]);
    fputs("\nPORT: a port in measure.queues, such as tor0:host0\n", out);
}
