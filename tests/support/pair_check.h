/* SPDX-License-Identifier: Apache-2.0 */
/* Invariants of a pair's NICs and queue pairs (core/qp/check.h), checked during the run. */
#ifndef OCHE_TESTS_SUPPORT_PAIR_CHECK_H
#define OCHE_TESTS_SUPPORT_PAIR_CHECK_H

#include "tests/support/pair.h"

/*
 * Must be called after each step. Checks the invariants at some steps, to save time. Ends the test
 * with a message if one does not hold.
 */
void pair_check(struct pair *pair);

#endif
