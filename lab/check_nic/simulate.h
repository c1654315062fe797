/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a test of adapters in the simulator: two hosts, a switch with the events, and a watch at the
 * switch. Without PFC and without marks but those of the events, as in Lumina.
 */
#ifndef OCHE_LAB_CHECK_NIC_SIMULATE_H
#define OCHE_LAB_CHECK_NIC_SIMULATE_H

#include "core/qp/nic.h"
#include "lab/check_nic/test_file.h"
#include "lab/check_nic/watch.h"

/* Results of the run beside its packets. */
struct oche_nic_simulated {
    uint64_t failed; /* messages that were given up after the last retry */
    oche_time took;
    struct oche_nic_stats counted; /* by both adapters */
};

/*
 * Simulates the test of the file `path`. `delay`: of each of the two links. Returns false, with one
 * line in `error`, if the test cannot be simulated.
 */
bool oche_nic_simulate(const struct oche_nic_test *test, const char *path, oche_time delay,
                       struct oche_nic_watch *watch, struct oche_nic_simulated *simulated,
                       struct oche_error *error);

#endif
