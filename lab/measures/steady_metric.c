/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/measures/steady_metric.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/measures/metrics.h"
#include "lab/measures/size_rows.h"
#include "params/text_stream.h"

#define LEAST_ABOVE 10 /* flows that a batch needs: above its percentile, or in its mean */

/* ---- names ---- */

/*
 * Returns the part of the name between `head` and the last word, and sets *thousandths to that
 * word's percentile; NULL if the name does not begin with `head`, or ends in none of these words.
 * The result is in `text`.
 */
static const char *subject_of(const char *name, const char *head, uint32_t *thousandths, char *text,
                              size_t text_bytes)
{
    const size_t before = strlen(head);

    if (strncmp(name, head, before) != 0)
        return NULL;
    *thousandths = 0;
    for (unsigned p = 0; p < OCHE_PERCENTILES + 1; p++) {
        const char *word = p < OCHE_PERCENTILES ? oche_percentile_names[p] : "mean";
        const size_t length = strlen(name), last = strlen(word);

        if (length < before + 2 + last || strcmp(name + length - last, word) != 0 ||
            name[length - last - 1] != '.' || length - before - last > text_bytes)
            continue;
        snprintf(text, text_bytes, "%.*s", (int)(length - before - last - 1), name + before);
        *thousandths = p < OCHE_PERCENTILES ? oche_percentile_thousandths[p] : 0;
        return text;
    }
    return NULL;
}

/* Finds the range of sizes. Ranges of one size ("of_8KB") are known only after the run. */
static bool find_size(struct oche_steady_metric *metric, const char *size)
{
    char text[OCHE_METRIC_NAME_BYTES];

    for (unsigned row = 0; row < OCHE_OUTCOME_EXACT; row++) {
        if (strcmp(oche_size_row_name(NULL, row, text, sizeof(text)), size) != 0)
            continue;
        metric->from = row < OCHE_OUTCOME_SIZES ? oche_completion_sizes[row] : 0;
        metric->to = row + 1 < OCHE_OUTCOME_SIZES ? oche_completion_sizes[row + 1]
                     : row == OCHE_OUTCOME_SHORT  ? OCHE_SHORT_BYTES
                                                  : UINT64_MAX;
        return true;
    }
    return false;
}

static char *sizes_text(void)
{
    char *list = NULL, text[OCHE_METRIC_NAME_BYTES];
    size_t bytes;
    FILE *out = oche_text_stream_open(&list, &bytes);

    for (unsigned row = 0; row < OCHE_OUTCOME_EXACT; row++)
        fprintf(out, "%s%s", row > 0 ? ", " : "",
                oche_size_row_name(NULL, row, text, sizeof(text)));
    oche_text_stream_close(out);
    return list;
}

static bool find_flows(struct oche_steady_metric *metric, const char *name, const char *size,
                       struct oche_error *error)
{
    if (find_size(metric, size)) {
        const uint32_t above = 1000 - metric->thousandths;

        metric->least_samples =
            metric->thousandths == 0 ? LEAST_ABOVE : (LEAST_ABOVE * 1000 + above - 1) / above;
        return true;
    }
    char *sizes = sizes_text();

    oche_fail(error, "%s: sizes here are %s", name, sizes);
    free(sizes);
    return false;
}

static bool find_queue(struct oche_steady_metric *metric, const char *name, const char *port,
                       const struct oche_world *world, struct oche_error *error)
{
    const uint32_t count = oche_world_watch_count(world);
    const char *watched = NULL;

    for (metric->watch = 0; metric->watch < count; metric->watch++) {
        oche_world_watch(world, metric->watch, &watched);
        if (strcmp(watched, port) == 0)
            return true;
    }
    if (count == 0)
        return oche_fail(error, "%s: no queue is watched; set measure.queues=%s", name, port);
    oche_world_watch(world, 0, &watched);
    return oche_fail(error, "%s: %s is not in measure.queues; %s is", name, port, watched);
}

static bool find_place(struct oche_steady_metric *metric, const char *name,
                       const struct oche_world *world, struct oche_error *error)
{
    const struct oche_topology *topology = oche_world_topology(world);

    for (uint32_t n = 0; n < oche_topology_nodes(topology); n++)
        for (uint32_t p = 0; p < topology->nodes[n].port_count; p++) {
            char full[OCHE_METRIC_NAME_BYTES];

            metric->place = (unsigned)oche_topology_place(topology, n, p);
            snprintf(full, sizeof(full), "utilisation.%s.mean", oche_place_key(metric->place));
            if (strcmp(full, name) == 0)
                return true;
        }
    return oche_fail(error, "%s: this topology has no ports there", name);
}

bool oche_steady_metric_find(struct oche_steady_metric *metric, const char *name,
                             const struct oche_world *world, struct oche_error *error)
{
    static const struct {
        const char *head;
        enum oche_steady_kind kind;
    } heads[] = {{"utilisation.", OCHE_STEADY_UTILISATION},
                 {"queue.", OCHE_STEADY_QUEUE},
                 {"fct.", OCHE_STEADY_FCT},
                 {"slowdown.", OCHE_STEADY_SLOWDOWN}};
    char text[OCHE_METRIC_NAME_BYTES];

    *metric = (struct oche_steady_metric){.kind = OCHE_STEADY_GOODPUT};
    if (!oche_metric_check(name, error))
        return false;
    if (strcmp(name, "goodput") == 0)
        return true;
    for (size_t i = 0; i < OCHE_COUNT_OF(heads); i++) {
        const char *subject =
            subject_of(name, heads[i].head, &metric->thousandths, text, sizeof(text));

        metric->kind = heads[i].kind;
        if (subject == NULL)
            continue;
        if (metric->kind == OCHE_STEADY_UTILISATION)
            return find_place(metric, name, world, error);
        if (metric->kind == OCHE_STEADY_QUEUE)
            return find_queue(metric, name, subject, world, error);
        return find_flows(metric, name, subject, error);
    }
    return oche_fail(
        error,
        "%s: has no mean that a longer run makes more certain; give one of " OCHE_STEADY_METRICS,
        name);
}

/* ---- counters over time ---- */

static double delivered_bytes(const struct oche_world *world)
{
    uint64_t sum = 0;

    for (uint32_t host = 0; host < oche_world_topology(world)->host_count; host++) {
        struct oche_nic_stats nic;

        oche_world_host_stats(world, host, &nic);
        sum += nic.delivered_bytes;
    }
    return (double)sum;
}

/* Returns the mean busy time of the links from a place, in ps. */
static double carried_time(const struct oche_world *world, unsigned place)
{
    const struct oche_topology *topology = oche_world_topology(world);
    double sum = 0;
    uint32_t count = 0;

    for (uint32_t n = 0; n < oche_topology_nodes(topology); n++)
        for (uint32_t p = 0; p < topology->nodes[n].port_count; p++) {
            if ((unsigned)oche_topology_place(topology, n, p) != place)
                continue;
            uint64_t bytes = oche_world_line_bytes(world, topology->nodes[n].first_port + p);

            sum += (double)bytes * 8 * (double)OCHE_SEC /
                   (double)oche_topology_port_link(topology, n, p)->rate_bps;
            count++;
        }
    return sum / (double)count;
}

struct oche_steady_mark oche_steady_mark(const struct oche_steady_metric *metric,
                                         const struct oche_world *world)
{
    struct oche_steady_mark mark = {.at = oche_world_network(world)->now};

    if (metric->kind == OCHE_STEADY_GOODPUT)
        mark.sum = delivered_bytes(world);
    if (metric->kind == OCHE_STEADY_UTILISATION)
        mark.sum = carried_time(world, metric->place);
    if (metric->kind != OCHE_STEADY_QUEUE)
        return mark;
    const char *name;
    const struct oche_queue_watch *watch = oche_world_watch(world, metric->watch, &name);

    mark.byte_time = oche_queue_byte_time_at(watch, mark.at);
    mark.time = malloc(watch->steps * sizeof(*mark.time));
    OCHE_GOT(mark.time != NULL);
    for (uint32_t step = 0; step < watch->steps; step++)
        mark.time[step] = oche_queue_time_at(watch, mark.at, step);
    return mark;
}

/* Returns the mean or the percentile of a queue between two marks, in bytes. */
static double queue_value(const struct oche_steady_metric *metric,
                          const struct oche_queue_watch *watch, const struct oche_steady_mark *from,
                          const struct oche_steady_mark *to)
{
    const oche_time all = to->at - from->at;
    const uint64_t rank = oche_percentile_rank(all, metric->thousandths);
    oche_time below = 0;
    uint32_t step = 0;

    if (metric->thousandths == 0)
        return oche_queue_mean(to->byte_time - from->byte_time, all);
    for (; step + 1 < watch->steps; step++) {
        below += to->time[step] - from->time[step];
        if (below >= rank)
            break;
    }
    return (double)(step * watch->step_bytes);
}

/* ---- flows ---- */

struct sample {
    uint32_t batch;
    double value;
};

static int compare(const void *a, const void *b)
{
    const struct sample *x = a, *y = b;

    if (x->batch != y->batch)
        return x->batch < y->batch ? -1 : 1;
    return (x->value > y->value) - (x->value < y->value);
}

/*
 * Returns the batch during which `time` is, by the batches' marks; `count`: `time` is in no batch.
 */
static uint32_t batch_of(const struct oche_steady_mark *marks, uint32_t count, oche_time time)
{
    uint32_t low = 0, high = count;

    if (time < marks[0].at || time >= marks[count].at)
        return count;
    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;

        if (marks[middle].at <= time)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Takes the flows that oche_flow_completion counts, in the batch in which each was delivered. */
static size_t take_samples(const struct oche_steady_metric *metric, struct oche_world *world,
                           const struct oche_steady_mark *marks, uint32_t count,
                           struct sample *samples)
{
    const struct oche_flows *flows = oche_world_flows(world);
    const oche_time warmup = oche_world_config(world)->run.warmup;
    size_t taken = 0;

    for (OCHE_EACH_MADE_FLOW(i, flows)) {
        const oche_time start = flows->sent[i].started, end = flows->received[i].delivered;
        const uint64_t bytes = flows->plan[i].bytes;

        if (start == OCHE_NEVER || start < warmup || end == OCHE_NEVER ||
            flows->sent[i].failed != 0 || bytes < metric->from || bytes >= metric->to)
            continue;
        const uint32_t batch = batch_of(marks, count, end);
        const double time = (double)(end - start);

        if (batch < count)
            samples[taken++] =
                (struct sample){.batch = batch,
                                .value = metric->kind == OCHE_STEADY_FCT
                                             ? time / (double)OCHE_SEC
                                             : time / (double)oche_world_ideal_time(world, i)};
    }
    return taken;
}

oche_time oche_steady_flow_life(const struct oche_world *world)
{
    const struct oche_flows *flows = oche_world_flows(world);
    double bytes = 0, weighted = 0;

    for (OCHE_EACH_MADE_FLOW(i, flows)) {
        const oche_time start = flows->sent[i].started, end = flows->received[i].delivered;

        if (start == OCHE_NEVER || end == OCHE_NEVER)
            continue;
        bytes += (double)flows->plan[i].bytes;
        weighted += (double)flows->plan[i].bytes * (double)(end - start);
    }
    return bytes > 0 ? (oche_time)(weighted / bytes) : 0;
}

/* Returns the mean or the percentile of the values of a batch, which are in ascending order. */
static double flows_value(const struct oche_steady_metric *metric, const struct sample *samples,
                          size_t count)
{
    double sum = 0;

    if (metric->thousandths > 0)
        return samples[oche_percentile_rank(count, metric->thousandths) - 1].value;
    for (size_t i = 0; i < count; i++)
        sum += samples[i].value;
    return sum / (double)count;
}

static uint32_t flows_values(const struct oche_steady_metric *metric, struct oche_world *world,
                             const struct oche_steady_mark *marks, uint32_t count, double *values)
{
    struct sample *samples =
        malloc(((size_t)oche_flows_made(oche_world_flows(world)) + 1) * sizeof(*samples));
    uint32_t fewest = UINT32_MAX;

    OCHE_GOT(samples != NULL);
    const size_t all = take_samples(metric, world, marks, count, samples);

    qsort(samples, all, sizeof(*samples), compare);
    for (size_t batch = 0, at = 0; batch < count; batch++) {
        size_t end = at;

        while (end < all && samples[end].batch == batch)
            end++;
        values[batch] = end > at ? flows_value(metric, samples + at, end - at) : 0;
        if (end - at < fewest)
            fewest = (uint32_t)(end - at);
        at = end;
    }
    free(samples);
    return fewest;
}

uint32_t oche_steady_values(const struct oche_steady_metric *metric, struct oche_world *world,
                            const struct oche_steady_mark *marks, uint32_t count, double *values)
{
    const char *name;

    if (oche_steady_metric_of_flows(metric))
        return flows_values(metric, world, marks, count, values);
    for (uint32_t i = 0; i < count; i++) {
        const struct oche_steady_mark *from = &marks[i], *to = &marks[i + 1];
        const double all = (double)(to->at - from->at);

        if (metric->kind == OCHE_STEADY_QUEUE)
            values[i] =
                queue_value(metric, oche_world_watch(world, metric->watch, &name), from, to);
        else if (metric->kind == OCHE_STEADY_UTILISATION)
            values[i] = (to->sum - from->sum) / all;
        else
            values[i] = (to->sum - from->sum) * 8 * (double)OCHE_SEC / all;
    }
    return UINT32_MAX;
}
