/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds keys that a scenario gives and that have no effect because of other keys: switch.kmin where
 * switch.ecn is false. The column `needs` of the parameter tables says which keys need which.
 */
#ifndef OCHE_SIM_SCENARIO_IDLE_KEYS_H
#define OCHE_SIM_SCENARIO_IDLE_KEYS_H

#include "sim/scenario/scenario.h"

#define OCHE_IDLE_KEYS_MOST 16

/* Sentences for the user, without a full stop: "switch.kmin has no effect here: …". */
struct oche_idle_keys {
    unsigned count;
    char text[OCHE_IDLE_KEYS_MOST][256];
};

/* `scenario` must not be `refused`. Keys beyond OCHE_IDLE_KEYS_MOST are left out. */
void oche_idle_keys_find(const struct oche_scenario *scenario, struct oche_idle_keys *idle);

#endif
