/* SPDX-License-Identifier: Apache-2.0 */
/* The objects of a program that tries wrong calls on one device: made before its tests, unmade
 * after them. */
#ifndef OCHE_TESTS_INTEROP_VERBS_OBJECTS_H
#define OCHE_TESTS_INTEROP_VERBS_OBJECTS_H

#include "tests/interop/verbs_bench.h"

extern struct ibv_context *context;
extern struct ibv_pd *pd;
extern struct ibv_cq *cq; /* a CQ of 10 entries */
extern uint8_t memory[8192];

/* For cmocka_run_group_tests. */
int open_all(void **state);
int close_all(void **state);

#endif
