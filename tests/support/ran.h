/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a scenario's text to its end, for tests that read the world afterwards. */
#ifndef OCHE_TESTS_SUPPORT_RAN_H
#define OCHE_TESTS_SUPPORT_RAN_H

#include <string.h>

#include "sim/scenario/scenario.h"
#include "sim/world/world.h"
#include "tests/support/test.h"

struct ran {
    struct oche_scenario *scenario;
    struct oche_world *world;
    struct oche_world_totals totals;
};

/* Runs the scenario. The test fails if it is refused. `series`: see config.auto_series. */
static inline struct ran ran_open(const char *text, bool series, uint32_t threads)
{
    struct oche_error error;
    struct ran ran = {.scenario = oche_scenario_parse("s.yaml", text, strlen(text), &error)};

    if (ran.scenario == NULL)
        fail_msg("%s", error.text);
    ran.scenario->config.auto_series = series;
    ran.scenario->config.threads = threads;
    ran.world = oche_world_create(&ran.scenario->config, &error);
    if (ran.world == NULL)
        fail_msg("%s", error.text);
    oche_world_run(ran.world, NULL, NULL);
    oche_world_totals(ran.world, &ran.totals);
    return ran;
}

static inline void ran_close(struct ran *ran)
{
    oche_world_free(ran->world);
    oche_scenario_close(ran->scenario);
}

#endif
