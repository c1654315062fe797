/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/measures/same_runs.h"

#include <stdlib.h>
#include <string.h>

struct numbered {
    uint64_t hash;
    size_t number;
};

static int compare(const void *a, const void *b)
{
    const struct numbered *x = a, *y = b;

    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return x->number < y->number ? -1 : 1;
}

size_t oche_same_runs(const uint64_t *hashes, size_t count, size_t *first)
{
    struct numbered *sorted = calloc(count + 1, sizeof(*sorted));
    size_t same = 0;

    OCHE_GOT(sorted != NULL);
    for (size_t i = 0; i < count; i++)
        sorted[i] = (struct numbered){hashes[i], i};
    qsort(sorted, count, sizeof(*sorted), compare);
    for (size_t i = 0; i < count; i++) {
        const bool repeats = i > 0 && sorted[i].hash != 0 && sorted[i].hash == sorted[i - 1].hash;

        first[sorted[i].number] = repeats ? first[sorted[i - 1].number] : sorted[i].number;
        same += repeats;
    }
    free(sorted);
    return same;
}

const char *oche_same_runs_verdict(const char *key)
{
    const bool measures = strncmp(key, "measure.", strlen("measure.")) == 0 ||
                          strcmp(key, "warmup") == 0 || strcmp(key, "model") == 0;

    return measures ? "changes only what is measured" : "made no difference here";
}
