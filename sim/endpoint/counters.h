/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All tables of counters (core/counter.h): first the tables of congestion-control schemes, then the
 * tables of endpoints.
 */
#ifndef OCHE_SIM_ENDPOINT_COUNTERS_H
#define OCHE_SIM_ENDPOINT_COUNTERS_H

#include "core/counter.h"

/*
 * Returns table `number`, counted from 0, or NULL if there are fewer tables. A table that several
 * schemes share appears once.
 */
const struct oche_counters *oche_counters_at(unsigned number);

#endif
