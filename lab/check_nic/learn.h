/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a profile of an adapter (sim/scenario/nic_file.h) from what a test of it has shown. */
#ifndef OCHE_LAB_CHECK_NIC_LEARN_H
#define OCHE_LAB_CHECK_NIC_LEARN_H

#include <stdio.h>

#include "lab/check_nic/check.h"
#include "lab/check_nic/test_file.h"

/*
 * Writes the profile of the end that receives the data; with the reaction to NACKs, which is the
 * sender's habit, if both ends have adapters of one name. Times at the switch become the adapter's
 * by the time on the links, each with `delay`. `source`: the file that was seen.
 */
void oche_nic_learn(const struct oche_nic_test *test, const struct oche_check_nic *check,
                    oche_time delay, const char *source, FILE *out);

#endif
