/* SPDX-License-Identifier: Apache-2.0 */
/* A hash table from runs to their results, which are kept as text. */
#include "lab/reproduce/pool.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "params/text_stream.h"

struct pooled {
    char *key;
    char *text; /* the result as oche_point_write writes it */
    size_t bytes;
};

struct oche_pool {
    void *tree;     /* root of a tree made by tsearch; each entry is a run with its result */
    void *expected; /* root of a tree of runs that are expected, without results */
};

struct oche_pool *oche_pool_create(void)
{
    struct oche_pool *pool = calloc(1, sizeof(*pool));

    OCHE_GOT(pool != NULL);
    return pool;
}

static void free_entry(void *node)
{
    struct pooled *entry = node;

    free(entry->key);
    free(entry->text);
    free(entry);
}

void oche_pool_free(struct oche_pool *pool)
{
    if (pool == NULL)
        return;
    tdestroy(pool->tree, free_entry);
    tdestroy(pool->expected, free);
    free(pool);
}

static int compare_entries(const void *a, const void *b)
{
    const struct pooled *x = a, *y = b;

    return strcmp(x->key, y->key);
}

/*
 * True if the order of two overrides matters: one sets a section and the other a key in it, or both
 * set the same key.
 */
static bool order_matters(const char *a, const char *b)
{
    const char *shorter = strcspn(a, "=") < strcspn(b, "=") ? a : b;
    const char *longer = shorter == a ? b : a;
    size_t length = strcspn(shorter, "=");

    return strncmp(shorter, longer, length) == 0 &&
           (longer[length] == '=' || longer[length] == '.' || longer[length] == '[');
}

/*
 * Sorts overrides alphabetically, since figures may have the same overrides in different orders.
 * Overrides whose order matters stay in their order.
 */
static void sort_sets(char **sets, size_t count)
{
    for (size_t i = 1; i < count; i++)
        for (size_t j = i;
             j > 0 && strcmp(sets[j - 1], sets[j]) > 0 && !order_matters(sets[j - 1], sets[j]);
             j--) {
            char *other = sets[j];

            sets[j] = sets[j - 1];
            sets[j - 1] = other;
        }
}

/* Returns the text that identifies a run: the scenario's path and the overrides (malloc'd). */
static char *key_of(const struct oche_grid *grid, size_t point)
{
    size_t count, bytes;
    char **sets = oche_grid_sets(grid, point, &count), *key = NULL;
    FILE *out = oche_text_stream_open(&key, &bytes);

    sort_sets(sets, count);
    fprintf(out, "%s", grid->scenario);
    for (size_t i = 0; i < count; i++)
        fprintf(out, "\n%s", sets[i]);
    oche_text_stream_close(out);
    oche_grid_sets_free(sets, count);
    return key;
}

static int compare_keys(const void *a, const void *b)
{
    return strcmp(a, b);
}

bool oche_pool_expect(struct oche_pool *pool, const struct oche_grid *grid, size_t point)
{
    char *key = key_of(grid, point);
    char **there = tsearch(key, &pool->expected, compare_keys);

    OCHE_GOT(there != NULL);
    if (*there == key)
        return true;
    free(key);
    return false;
}

static struct pooled *find(const struct oche_pool *pool, const struct oche_grid *grid, size_t point)
{
    struct pooled wanted = {.key = key_of(grid, point)};
    struct pooled **found = tfind(&wanted, &pool->tree, compare_entries);

    free(wanted.key);
    return found != NULL ? *found : NULL;
}

bool oche_pool_has(const struct oche_pool *pool, const struct oche_grid *grid, size_t point)
{
    return find(pool, grid, point) != NULL;
}

void oche_pool_put(struct oche_pool *pool, const struct oche_grid *grid, size_t point,
                   const struct oche_point_result *result)
{
    struct pooled *entry = calloc(1, sizeof(*entry));

    OCHE_GOT(entry != NULL);
    entry->key = key_of(grid, point);
    FILE *out = oche_text_stream_open(&entry->text, &entry->bytes);

    OCHE_MUST(oche_point_write(result, out)); /* it is memory that grows */
    oche_text_stream_close(out);
    struct pooled **there = tsearch(entry, &pool->tree, compare_entries);

    OCHE_GOT(there != NULL);
    if (*there != entry)
        free_entry(entry); /* the pool already has a result of this run */
}

bool oche_pool_get(const struct oche_pool *pool, const struct oche_grid *grid, size_t point,
                   struct oche_point_result *result)
{
    struct pooled *entry = find(pool, grid, point);

    if (entry == NULL)
        return false;
    FILE *in = fmemopen(entry->text, entry->bytes, "r");

    OCHE_GOT(in != NULL);
    OCHE_MUST(oche_point_read(result, in));
    fclose(in);
    return true;
}
