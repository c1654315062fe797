/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A rule for the text of any scenario: it is rejected with one line, or makes a world, which runs
 * for a moment. Worlds that would be large are not made.
 */
#ifndef OCHE_TESTS_FUZZ_SMALL_WORLD_H
#define OCHE_TESTS_FUZZ_SMALL_WORLD_H

#include <string.h>

#include "sim/scenario/scenario.h"
#include "sim/world/world.h"

#define SMALL_COUNT    64  /* of anything, except the seed */
#define SMALL_TOPOLOGY 512 /* the product of a topology's counts */
#define SMALL_TIME     (20 * OCHE_US)
#define SMALL_DELAY    (2 * OCHE_US) /* a world runs for at least one */

/* True if `text` is an error message: one line, what is wrong and where. */
static inline bool small_world_refusal(const struct oche_error *error)
{
    return strchr(error->text, '\n') == NULL && strlen(error->text) > 8 &&
           strstr(error->text, ": ") != NULL;
}

/* Returns a parameter that counts objects. 0: this parameter does not count, or is `auto`. */
static inline uint64_t small_world_count(const struct oche_bound *bound,
                                         const struct oche_param *param)
{
    uint64_t value;

    if (param->unit != OCHE_UNIT_COUNT || strcmp(param->name, "seed") == 0)
        return 0;
    memcpy(&value, (const uint8_t *)bound->values + param->offset, sizeof(value));
    return value == UINT64_MAX ? 0 : value;
}

/* The product of all numbers says about how large a topology is; a fat tree has k^3 / 4 hosts. */
static inline bool small_world_topology_is_small(const struct oche_bound *bound)
{
    uint64_t all = 1;

    for (size_t i = 0; i < bound->table->count && all <= SMALL_TOPOLOGY; i++) {
        const struct oche_param *param = &bound->table->params[i];
        const uint64_t value = small_world_count(bound, param);

        if (value > SMALL_TOPOLOGY)
            return false;
        all *= value == 0 ? 1 : strcmp(param->name, "k") == 0 ? value * value * value / 4 : value;
    }
    return all <= SMALL_TOPOLOGY;
}

static inline bool small_world_is_small(const struct oche_bindings *bindings)
{
    for (size_t i = 0; i < bindings->count; i++) {
        const struct oche_bound *bound = &bindings->bound[i];

        if (strcmp(bound->section->name, "topology") == 0) {
            if (!small_world_topology_is_small(bound))
                return false;
            continue;
        }
        for (size_t k = 0; bound->table != NULL && k < bound->table->count; k++) {
            const struct oche_param *param = &bound->table->params[k];
            const uint64_t value = small_world_count(bound, param);

            if (value > SMALL_COUNT && value != param->preset.u)
                return false;
        }
    }
    return true;
}

/* Makes the world and lets it run to the end of its first window. Returns NULL or a broken rule. */
static inline const char *small_world_run(struct oche_scenario *scenario)
{
    static const volatile sig_atomic_t now = 1;
    struct oche_error error = {""}, place = {""};
    struct oche_world_totals totals;
    struct oche_world *world;
    const char *wrong = NULL;

    if (scenario->config.run.duration == 0 || scenario->config.run.duration > SMALL_TIME)
        scenario->config.run.duration = SMALL_TIME;
    world = oche_world_create(&scenario->config, &error);
    if (world == NULL) {
        oche_scenario_place(scenario, error.text, &place);
        return small_world_refusal(&place) ? NULL : "a world is refused without a reason";
    }
    if (oche_world_routes(world) != NULL &&
        oche_topology_smallest_delay(oche_world_routes(world)->topology) <= SMALL_DELAY) {
        oche_world_interrupt_by(world, &now);
        oche_world_run(world, NULL, NULL);
        oche_world_totals(world, &totals);
        if (totals.corrupt_bytes > 0 || (totals.rejected_packets > 0 && totals.flows_failed == 0))
            wrong = "packets were refused as invalid, or have other bytes";
    }
    oche_world_free(world);
    return wrong;
}

/* Reads a scenario and does all of that. `sets` are overrides. */
static inline const char *small_world_check(const char *text, size_t bytes, bool run)
{
    struct oche_error error = {""};
    struct oche_scenario *scenario = oche_scenario_parse("fuzz.yaml", text, bytes, &error);
    const char *wrong = NULL;

    if (scenario == NULL)
        return small_world_refusal(&error) ? NULL : "a scenario is refused without a reason";
    if (run && small_world_is_small(&scenario->bindings))
        wrong = small_world_run(scenario);
    oche_scenario_close(scenario);
    return wrong;
}

#endif
