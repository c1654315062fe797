/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A profile of an adapter of one's own, as a file of YAML:
 *
 *     like: connectx-5            # where it begins; without this line: ideal
 *     title: the adapters of rack 7
 *     timeouts: as_asked          # habits, as `oche nic ideal` lists them
 *     limiter_lag: {value: 40KB, class: measured, source: our laboratory}
 */
#ifndef OCHE_SIM_SCENARIO_NIC_FILE_H
#define OCHE_SIM_SCENARIO_NIC_FILE_H

#include "core/nic/habits.h"
#include "params/error.h"

/* True if `text` names a file, not a profile. */
bool oche_nic_is_file(const char *text);

/* Reads what oche_nic_parse reads or, if `text` ends in .yaml, a file. Errors are one line. */
bool oche_nic_read(struct oche_nic_habits *habits, const char *text, struct oche_error *error);

#endif
