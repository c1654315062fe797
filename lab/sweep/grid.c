/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the axes of a grid, numbers its points, and gives the overrides of each point. */
#include "lab/sweep/grid.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/fluid/outcome.h"
#include "lab/measures/unfit.h"
#include "params/error.h"
#include "params/text_stream.h"
#include "params/units.h"
#include "sim/scenario/scenario.h"
#include "sim/world/world.h"

#define EXAMPLE "write it as loss.probability=0.1%,1%"

static void free_axis(struct oche_axis *axis)
{
    for (size_t i = 0; i < axis->count; i++)
        free(axis->values[i]);
    free(axis->values);
    free(axis->key);
}

/*
 * Adds the values in `text` to the axis. Returns NULL on success, else the error. `again`: a value
 * may be repeated.
 */
static const char *add_values(struct oche_axis *axis, const char *text, bool again)
{
    for (;;) {
        size_t length = oche_value_length(text);
        char *value = strndup(text, length);

        OCHE_GOT(value != NULL);
        axis->values = realloc(axis->values, (axis->count + 1) * sizeof(*axis->values));
        OCHE_GOT(axis->values != NULL);
        axis->values[axis->count++] = value;
        if (length == 0)
            return "has an empty value; " EXAMPLE;
        for (size_t i = 0; !again && i + 1 < axis->count; i++)
            if (strcmp(axis->values[i], value) == 0)
                return "has the same value twice; leave one out";
        if (text[length] == '\0')
            return NULL;
        text += length + 1;
    }
}

static const char *wrong_with_key(const struct oche_grid *grid, const char *key)
{
    if (strcmp(key, "seed") == 0)
        return "seeds are what --repeat is for; write --repeat 10, and --set seed=7 to begin "
               "elsewhere";
    for (size_t i = 0; i < grid->axis_count; i++)
        if (strcmp(grid->axes[i].key, key) == 0)
            return "varied twice; give all values in one --vary";
    for (size_t i = 0; i < grid->set_count; i++)
        if (strncmp(grid->sets[i], key, strlen(key)) == 0 && grid->sets[i][strlen(key)] == '=')
            return "both set and varied; leave out --set";
    return NULL;
}

bool oche_grid_add_axis(struct oche_grid *grid, const char *argument, struct oche_error *error)
{
    const char *equals = strchr(argument, '='), *wrong = "has no key or no values; " EXAMPLE;
    struct oche_axis axis = {.count = 0};

    if (grid->axis_count == OCHE_GRID_MAX_AXES)
        wrong = "one too many; at most 16";
    else if (equals != NULL && equals != argument) {
        axis.key = strndup(argument, (size_t)(equals - argument));
        OCHE_GOT(axis.key != NULL);
        wrong = wrong_with_key(grid, axis.key);
        if (wrong == NULL)
            wrong = add_values(&axis, equals + 1, grid->zipped);
    }
    if (wrong != NULL) {
        oche_fail(error, "--vary %s: %s", argument, wrong);
        free_axis(&axis);
        return false;
    }
    grid->axes = realloc(grid->axes, (grid->axis_count + 1) * sizeof(*grid->axes));
    OCHE_GOT(grid->axes != NULL);
    grid->axes[grid->axis_count++] = axis;
    return true;
}

bool oche_grid_check_zip(const struct oche_grid *grid, struct oche_error *error)
{
    if (!grid->zipped)
        return true;
    if (grid->axis_count < 2)
        return oche_fail(error, "--zip: takes the values of several axes together; give at least "
                                "two --vary");
    for (size_t i = 1; i < grid->axis_count; i++)
        if (grid->axes[i].count != grid->axes[0].count)
            return oche_fail(error, "--zip: %s has %zu values and %s %zu; give as many of each",
                             grid->axes[0].key, grid->axes[0].count, grid->axes[i].key,
                             grid->axes[i].count);
    return true;
}

void oche_grid_free(struct oche_grid *grid)
{
    for (size_t i = 0; i < grid->set_count; i++)
        free(grid->sets[i]);
    for (size_t i = 0; grid->invalid != NULL && i < oche_grid_combinations(grid); i++)
        free(grid->invalid[i]);
    free(grid->invalid);
    for (size_t i = 0; i < grid->remark_count; i++)
        free(grid->remarks[i].text);
    free(grid->remarks);
    for (size_t i = 0; i < grid->axis_count; i++)
        free_axis(&grid->axes[i]);
    free(grid->axes);
    free(grid->sets);
    free(grid->scenario);
    free(grid->name);
    free(grid->description);
    *grid = (struct oche_grid){.repeats = 1};
}

/* ---- numbers ---- */

size_t oche_grid_combinations(const struct oche_grid *grid)
{
    size_t count = 1;

    if (grid->zipped)
        return grid->axis_count > 0 ? grid->axes[0].count : 1;
    for (size_t i = 0; i < grid->axis_count; i++) {
        if (__builtin_mul_overflow(count, grid->axes[i].count, &count))
            return SIZE_MAX;
    }
    return count;
}

size_t oche_grid_points(const struct oche_grid *grid)
{
    size_t count = oche_grid_combinations(grid);

    return __builtin_mul_overflow(count, grid->repeats, &count) ? SIZE_MAX : count;
}

struct oche_grid_place oche_grid_place(const struct oche_grid *grid, size_t point)
{
    struct oche_grid_place place = {.repeat = (uint32_t)(point % grid->repeats)};

    point /= grid->repeats;
    if (grid->zipped) {
        OCHE_MUST(point < oche_grid_combinations(grid));
        for (size_t i = 0; i < grid->axis_count; i++)
            place.value[i] = point;
        return place;
    }
    for (size_t i = grid->axis_count; i-- > 0;) {
        place.value[i] = point % grid->axes[i].count;
        point /= grid->axes[i].count;
    }
    OCHE_MUST(point == 0);
    return place;
}

size_t oche_grid_number(const struct oche_grid *grid, const struct oche_grid_place *place)
{
    size_t number = 0;

    for (size_t i = 0; i < grid->axis_count; i++) {
        OCHE_MUST(place->value[i] < grid->axes[i].count);
        if (grid->zipped)
            number = place->value[i];
        else
            number = number * grid->axes[i].count + place->value[i];
    }
    OCHE_MUST(place->repeat < grid->repeats);
    return number * grid->repeats + place->repeat;
}

uint64_t oche_grid_seed(const struct oche_grid *grid, size_t point)
{
    return grid->seed_base + point % grid->repeats;
}

/* ---- overrides ---- */

char **oche_grid_sets(const struct oche_grid *grid, size_t point, size_t *count)
{
    struct oche_grid_place place = oche_grid_place(grid, point);
    char **sets = calloc(grid->set_count + grid->axis_count + 1, sizeof(*sets));

    OCHE_GOT(sets != NULL);
    *count = 0;
    for (size_t i = 0; i < grid->set_count; i++) {
        sets[*count] = strdup(grid->sets[i]);
        OCHE_GOT(sets[(*count)++] != NULL);
    }
    for (size_t i = 0; i < grid->axis_count; i++)
        OCHE_GOT(asprintf(&sets[(*count)++], "%s=%s", grid->axes[i].key,
                          grid->axes[i].values[place.value[i]]) >= 0);
    OCHE_GOT(asprintf(&sets[(*count)++], "seed=%" PRIu64, oche_grid_seed(grid, point)) >= 0);
    return sets;
}

void oche_grid_sets_free(char **sets, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(sets[i]);
    free(sets);
}

/* ---- checking ---- */

/* Reads the scenario of the point's combination, without the point's seed. */
static struct oche_scenario *read_combination(const struct oche_grid *grid, size_t point,
                                              struct oche_mistakes *mistakes)
{
    size_t count;
    char **sets = oche_grid_sets(grid, point, &count);
    struct oche_scenario *scenario = oche_scenario_read(
        &(struct oche_scenario_input){
            .name = grid->scenario, .sets = (const char *const *)sets, .set_count = count - 1},
        mistakes);

    oche_grid_sets_free(sets, count);
    return scenario;
}

/* The same, with the first mistake as the error. */
static struct oche_scenario *open_combination(const struct oche_grid *grid, size_t point,
                                              struct oche_error *error)
{
    struct oche_mistakes mistakes;
    struct oche_scenario *scenario = read_combination(grid, point, &mistakes);

    if (scenario == NULL)
        *error = mistakes.kept[0].error;
    return scenario;
}

/*
 * If the error is about an override from an axis, makes the message name --vary instead of --set.
 */
static void name_option(const struct oche_grid *grid, struct oche_error *error)
{
    static const char set[] = "--set ";

    if (strncmp(error->text, set, strlen(set)) != 0)
        return;
    for (size_t i = 0; i < grid->axis_count; i++) {
        const char *key = grid->axes[i].key, *rest = error->text + strlen(set);

        if (strncmp(rest, key, strlen(key)) == 0 && rest[strlen(key)] == '=') {
            char *renamed = NULL;

            OCHE_GOT(asprintf(&renamed, "--vary %s", rest) >= 0);
            oche_fail(error, "%s", renamed);
            free(renamed);
            return;
        }
    }
}

/* Digest of a combination. Combinations with the same parameters have the same digest. */
struct digest {
    uint64_t hash;
    size_t combination;
};

/* FNV-1a over a text and its terminating 0. */
static void mix(uint64_t *hash, const char *text)
{
    do {
        *hash = (*hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    } while (*text++ != '\0');
}

static void mix_parameter(void *context, const char *key, const char *value, const char *unit,
                          bool given)
{
    (void)unit;
    (void)given;
    mix(context, key);
    mix(context, value);
}

/* Remarks on one combination. */
struct remarks {
    struct oche_unfit unfit;
    struct oche_idle_keys idle;
};

/*
 * Checks one combination. If `hash` is not NULL, sets it to the combination's digest, and `remarks`
 * to the settings that do not fit or have no effect.
 */
static bool check_combination(const struct oche_grid *grid, size_t point, uint64_t *hash,
                              struct remarks *remarks, struct oche_error *error)
{
    struct oche_error message;
    struct oche_scenario *scenario = open_combination(grid, point, error);

    if (scenario == NULL)
        return false;
    struct oche_world *world = oche_world_create(&scenario->config, &message);

    if (world == NULL)
        oche_scenario_place(scenario, message.text, error);
    bool fine = world != NULL && oche_fluid_outcome_check(scenario, error);

    if (hash != NULL) {
        *hash = UINT64_C(0xcbf29ce484222325);
        oche_bindings_each(&scenario->bindings, mix_parameter, hash);
        remarks->unfit.count = 0;
        if (world != NULL)
            oche_unfit_take(&remarks->unfit, world);
        oche_idle_keys_find(scenario, &remarks->idle);
    }
    oche_world_free(world);
    oche_scenario_close(scenario);
    return fine;
}

static int compare_digests(const void *a, const void *b)
{
    const struct digest *x = a, *y = b;

    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return x->combination < y->combination ? -1 : 1;
}

/*
 * True if two combinations give the same run: two values of an axis are equal, or one of the keys
 * has no effect.
 */
static bool is_same_run(const struct oche_grid *grid, size_t a, size_t b, struct oche_error *error)
{
    struct oche_scenario *x = open_combination(grid, a * grid->repeats, error);
    struct oche_scenario *y = open_combination(grid, b * grid->repeats, error);

    OCHE_MUST(x != NULL && y != NULL); /* this cannot fail: both were opened before */
    bool same = oche_bindings_same(&x->bindings, &y->bindings);

    oche_scenario_close(x);
    oche_scenario_close(y);
    return same;
}

/* Reports two combinations that give the same run, with the values in which they differ. */
static void tell_same_run(const struct oche_grid *grid, size_t a, size_t b,
                          struct oche_error *error)
{
    struct oche_grid_place x = oche_grid_place(grid, a * grid->repeats);
    struct oche_grid_place y = oche_grid_place(grid, b * grid->repeats);
    char *text = NULL;
    size_t bytes;
    FILE *out = oche_text_stream_open(&text, &bytes);
    const char *between = "--vary ";

    for (size_t i = 0; i < grid->axis_count; i++) {
        const struct oche_axis *axis = &grid->axes[i];

        if (x.value[i] == y.value[i])
            continue;
        fprintf(out, "%s%s=%s,%s", between, axis->key, axis->values[x.value[i]],
                axis->values[y.value[i]]);
        between = " --vary ";
    }
    oche_text_stream_close(out);
    oche_fail(error, "%s: both come to the same run; leave one out, or what overrides them", text);
    free(text);
}

/* Returns false, with an error, if two combinations give the same run. Sorts the digests. */
static bool are_distinct(const struct oche_grid *grid, struct digest *digests, size_t count,
                         struct oche_error *error)
{
    qsort(digests, count, sizeof(*digests), compare_digests);
    for (size_t i = 1; i < count; i++) {
        size_t a = digests[i - 1].combination, b = digests[i].combination;

        if (digests[i - 1].hash != digests[i].hash || !is_same_run(grid, a, b, error))
            continue;
        tell_same_run(grid, a, b, error);
        return false;
    }
    return true;
}

bool oche_grid_open(struct oche_grid *grid, struct oche_error *error)
{
    const size_t points = oche_grid_points(grid);

    OCHE_MUST(grid->repeats > 0);
    if (points > OCHE_GRID_MAX_POINTS)
        return oche_fail(error, "more than %d points; vary fewer values, or repeat less",
                         OCHE_GRID_MAX_POINTS);
    struct oche_scenario *scenario = read_combination(grid, 0, &grid->mistakes);
    struct oche_error why;

    for (size_t i = grid->repeats; grid->skip_invalid && scenario == NULL && i < points;
         i += grid->repeats)
        scenario = open_combination(grid, i, &why);
    if (scenario == NULL) {
        for (size_t i = 0; i < oche_mistakes_kept(&grid->mistakes); i++)
            name_option(grid, &grid->mistakes.kept[i].error);
        *error = grid->mistakes.kept[0].error;
        return false;
    }
    grid->mistakes.count = 0;
    free(grid->name);
    free(grid->description);
    grid->seed_base = scenario->config.seed;
    grid->name = strdup(scenario->name);
    grid->description = scenario->description != NULL ? strdup(scenario->description) : NULL;
    OCHE_GOT(grid->name != NULL);
    oche_scenario_close(scenario);
    if (grid->seed_base > OCHE_MOST_SEED - (grid->repeats - 1))
        return oche_fail(
            error, "seed: %" PRIu64 " leaves no room for %" PRIu32 " repeats; give a smaller seed",
            grid->seed_base, grid->repeats);
    return true;
}

bool oche_grid_check_points(const struct oche_grid *grid, const size_t *points, size_t count,
                            const struct oche_grid_watch *watch, struct oche_error *error)
{
    for (size_t i = 0; i < count; i++) {
        if (watch != NULL && !watch->go_on(watch->context)) {
            error->text[0] = '\0';
            return false;
        }
        if (!check_combination(grid, points[i], NULL, NULL, error)) {
            name_option(grid, error);
            return false;
        }
    }
    return true;
}

static void leave_out(struct oche_grid *grid, size_t combination, const char *why)
{
    if (grid->invalid == NULL)
        grid->invalid = calloc(oche_grid_combinations(grid), sizeof(*grid->invalid));
    OCHE_GOT(grid->invalid != NULL);
    grid->invalid[combination] = strdup(why);
    OCHE_GOT(grid->invalid[combination] != NULL);
    grid->invalid_count++;
}

static struct oche_grid_remark *find_remark(struct oche_grid *grid, const char *text)
{
    const size_t key = strcspn(text, ":") + 1; /* "switch.kmin:", "switch.kmin has no effect:" */

    for (size_t i = 0; i < grid->remark_count; i++)
        if (strncmp(grid->remarks[i].text, text, key) == 0)
            return &grid->remarks[i];
    return NULL;
}

static void keep_remark(struct oche_grid *grid, size_t combination, const char *text, bool idle)
{
    struct oche_grid_remark *remark = find_remark(grid, text);

    if (remark == NULL) {
        const size_t bytes = (grid->remark_count + 1) * sizeof(*grid->remarks);

        grid->remarks = realloc(grid->remarks, bytes);
        OCHE_GOT(grid->remarks != NULL);
        remark = &grid->remarks[grid->remark_count++];
        *remark =
            (struct oche_grid_remark){.text = strdup(text), .first = combination, .idle = idle};
        OCHE_GOT(remark->text != NULL);
    }
    remark->count++;
}

/* Notes the remarks on one combination. */
static void keep_remarks(struct oche_grid *grid, size_t combination, const struct remarks *remarks)
{
    for (unsigned i = 0; i < remarks->unfit.count; i++)
        keep_remark(grid, combination, remarks->unfit.text[i], false);
    for (unsigned i = 0; i < remarks->idle.count; i++)
        keep_remark(grid, combination, remarks->idle.text[i], true);
}

/* True if the remark begins with the key of an axis. */
static bool is_of_axis(const struct oche_grid *grid, const char *text)
{
    for (size_t i = 0; i < grid->axis_count; i++) {
        const size_t length = strlen(grid->axes[i].key);

        if (strncmp(text, grid->axes[i].key, length) == 0 && text[length] == ' ')
            return true;
    }
    return false;
}

/* Drops fixed keys that have an effect in one of the `valid` combinations: they are for that one.
 */
static void drop_remarks(struct oche_grid *grid, size_t valid)
{
    size_t kept = 0;

    for (size_t i = 0; i < grid->remark_count; i++) {
        struct oche_grid_remark *remark = &grid->remarks[i];

        if (remark->idle && remark->count < valid && !is_of_axis(grid, remark->text))
            free(remark->text);
        else
            grid->remarks[kept++] = *remark;
    }
    grid->remark_count = kept;
}

bool oche_grid_check(struct oche_grid *grid, struct oche_error *error)
{
    if (!oche_grid_open(grid, error))
        return false;
    const size_t count = oche_grid_combinations(grid);
    struct digest *digests = calloc(count, sizeof(*digests));
    struct remarks remarks;
    size_t valid = 0;
    bool ok = true;

    OCHE_GOT(digests != NULL);
    for (size_t i = 0; ok && i < count; i++) {
        digests[valid].combination = i;
        ok = check_combination(grid, i * grid->repeats, &digests[valid].hash, &remarks, error);
        valid += ok;
        if (ok)
            keep_remarks(grid, i, &remarks);
        if (ok)
            continue;
        name_option(grid, error);
        ok = grid->skip_invalid;
        if (ok)
            leave_out(grid, i, error->text);
    }
    drop_remarks(grid, valid);
    ok = ok && valid > 0 && are_distinct(grid, digests, valid, error);
    free(digests);
    return ok;
}

const char *oche_grid_invalid(const struct oche_grid *grid, size_t point)
{
    return grid->invalid != NULL ? grid->invalid[point / grid->repeats] : NULL;
}
