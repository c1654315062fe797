/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/sweep/same_points.h"

#include <stdio.h>
#include <stdlib.h>

#include "lab/measures/same_runs.h"
#include "lab/sweep/grid_text.h"
#include "params/text_stream.h"

#define MOST_GROUPS 3 /* groups of combinations that are named */
#define MOST_NAMED  3 /* combinations that are named in a group */

struct finder {
    const struct oche_grid *grid;
    const uint64_t *hashes; /* of points */
    size_t combinations;
    uint64_t *digests; /* of combinations: of all their seeds; 0: a point has no hash */
    bool idle[OCHE_GRID_MAX_AXES];
    FILE *out;
};

/* ---- combinations ---- */

static uint64_t digest_of(const struct finder *finder, size_t combination)
{
    const uint32_t repeats = finder->grid->repeats;
    uint64_t digest = UINT64_C(0xcbf29ce484222325);

    for (uint32_t i = 0; i < repeats; i++) {
        const uint64_t hash = finder->hashes[combination * repeats + i];

        if (hash == 0)
            return 0;
        digest = (digest ^ hash) * UINT64_C(0x100000001b3);
        digest ^= digest >> 29;
    }
    return digest;
}

static struct oche_grid_place place_of(const struct finder *finder, size_t combination)
{
    return oche_grid_place(finder->grid, combination * finder->grid->repeats);
}

static size_t combination_at(const struct finder *finder, const struct oche_grid_place *place)
{
    return oche_grid_number(finder->grid, place) / finder->grid->repeats;
}

/* True if the combination can be run, but was not, or has no trace. */
static bool is_missing(const struct finder *finder, size_t combination)
{
    return finder->digests[combination] == 0 &&
           oche_grid_invalid(finder->grid, combination * finder->grid->repeats) == NULL;
}

/* ---- keys ---- */

/*
 * True if the combinations from `combination` on, which differ in one axis alone, are the same.
 * Adds to *pairs how many have another to compare with.
 */
static bool is_same_along(const struct finder *finder, size_t axis, size_t combination,
                          size_t *pairs)
{
    struct oche_grid_place place = place_of(finder, combination);
    uint64_t digest = 0;

    for (; place.value[axis] < finder->grid->axes[axis].count; place.value[axis]++) {
        const size_t at = combination_at(finder, &place);

        if (is_missing(finder, at))
            return false;
        if (finder->digests[at] == 0)
            continue;
        if (digest != 0 && digest != finder->digests[at])
            return false;
        *pairs += digest != 0;
        digest = finder->digests[at];
    }
    return true;
}

static bool is_idle(const struct finder *finder, size_t axis)
{
    size_t pairs = 0;

    if (finder->grid->zipped)
        return false; /* no two combinations differ in one key alone */
    for (size_t i = 0; i < finder->combinations; i++)
        if (place_of(finder, i).value[axis] == 0 && !is_same_along(finder, axis, i, &pairs))
            return false;
    return pairs > 0;
}

/* True if each combination gives the same run with every seed. */
static bool is_seed_idle(const struct finder *finder)
{
    const uint32_t repeats = finder->grid->repeats;
    bool any = false;

    for (size_t i = 0; i < finder->combinations; i++) {
        const uint64_t *hashes = &finder->hashes[i * repeats];

        if (is_missing(finder, i))
            return false;
        for (uint32_t j = 1; j < repeats; j++)
            if (hashes[j] != hashes[0])
                return false;
        any |= finder->digests[i] != 0;
    }
    return any && repeats > 1;
}

static void tell_keys(struct finder *finder)
{
    for (size_t i = 0; i < finder->grid->axis_count; i++) {
        const char *key = finder->grid->axes[i].key;

        finder->idle[i] = is_idle(finder, i);
        if (finder->idle[i])
            fprintf(finder->out,
                    "%s %s: with each of its values the runs are the same, packet for packet.\n",
                    key, oche_same_runs_verdict(key));
    }
    if (is_seed_idle(finder))
        fputs("The seed made no difference here: with each seed the runs are the same, packet for "
              "packet.\n",
              finder->out);
}

/* ---- other combinations ---- */

/*
 * True if the combination stands for those that differ from it only in keys that made no
 * difference: it is the first of them that has a trace.
 */
static bool stands_for_others(const struct finder *finder, size_t combination)
{
    struct oche_grid_place place = place_of(finder, combination);

    if (finder->digests[combination] == 0)
        return false;
    for (size_t i = 0; i < finder->grid->axis_count; i++) {
        const size_t value = place.value[i];

        for (place.value[i] = 0; finder->idle[i] && place.value[i] < value; place.value[i]++)
            if (finder->digests[combination_at(finder, &place)] != 0)
                return false;
        place.value[i] = value;
    }
    return true;
}

/* Prints combinations with the same trace as `start`; `next` leads from one to the next. */
static void tell_group(const struct finder *finder, size_t start, const size_t *next, size_t size)
{
    const bool several = finder->grid->axis_count > 1;
    size_t named = 0;

    for (size_t i = start; named < size && named < MOST_NAMED; i = next[i], named++) {
        char *label = oche_grid_values(finder->grid, i * finder->grid->repeats);

        fprintf(finder->out, "%s%s%s%s",
                named == 0          ? ""
                : named + 1 == size ? " and "
                                    : ", ",
                several ? "(" : "", label, several ? ")" : "");
        free(label);
    }
    if (size > named)
        fprintf(finder->out, " and %zu other%s", size - named, size - named == 1 ? "" : "s");
    fprintf(finder->out, " gave the same run, packet for packet%s.\n",
            finder->grid->repeats > 1 ? ", with every seed" : "");
}

static void tell_groups(const struct finder *finder)
{
    const size_t count = finder->combinations;
    uint64_t *digests = calloc(count, sizeof(*digests));
    size_t *first = calloc(count, sizeof(*first)), *next = calloc(count, sizeof(*next));
    size_t *last = calloc(count, sizeof(*last)), *sizes = calloc(count, sizeof(*sizes));
    size_t groups = 0;

    OCHE_GOT(digests != NULL && first != NULL && next != NULL && last != NULL && sizes != NULL);
    for (size_t i = 0; i < count; i++)
        digests[i] = stands_for_others(finder, i) ? finder->digests[i] : 0;
    oche_same_runs(digests, count, first);
    for (size_t i = 0; i < count; i++) {
        if (sizes[first[i]]++ > 0)
            next[last[first[i]]] = i;
        last[first[i]] = i;
    }
    for (size_t i = 0; i < count; i++)
        if (sizes[i] > 1 && groups++ < MOST_GROUPS)
            tell_group(finder, i, next, sizes[i]);
    if (groups > MOST_GROUPS)
        fprintf(finder->out, "%zu more group%s of combinations gave the same run.\n",
                groups - MOST_GROUPS, groups - MOST_GROUPS == 1 ? "" : "s");
    free(digests);
    free(first);
    free(next);
    free(last);
    free(sizes);
}

char *oche_same_points_text(const struct oche_grid *grid, const uint64_t *hashes)
{
    struct finder finder = {
        .grid = grid, .hashes = hashes, .combinations = oche_grid_combinations(grid)};
    char *text = NULL;
    size_t bytes;

    finder.digests = calloc(finder.combinations, sizeof(*finder.digests));
    OCHE_GOT(finder.digests != NULL);
    for (size_t i = 0; i < finder.combinations; i++)
        finder.digests[i] = digest_of(&finder, i);
    finder.out = oche_text_stream_open(&text, &bytes);
    tell_keys(&finder);
    tell_groups(&finder);
    oche_text_stream_close(finder.out);
    free(finder.digests);
    return text;
}
