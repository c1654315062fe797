/* SPDX-License-Identifier: Apache-2.0 */
/* All tables of counters (core/counter.h) there are: those of schemes, then those of endpoints. */
#ifndef OCHE_SIM_ENDPOINT_COUNTERS_H
#define OCHE_SIM_ENDPOINT_COUNTERS_H

#include "core/counter.h"

/* Table `number`, from 0; schemes that share a table have it once. NULL: there are no more. */
const struct oche_counters *oche_counters_at(unsigned number);

#endif
