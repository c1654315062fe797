/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer target: any bytes as a sequence of events into a pair of queue pairs. tools/fuzz 60
 * qp_events runs it; replay.c does so without libFuzzer.
 */
#include "tests/fuzz/qp_events_check.h"
#include "tests/fuzz/target.h"

const char *fuzz_input(const uint8_t *bytes, size_t count)
{
    return qp_events_check(bytes, count);
}
