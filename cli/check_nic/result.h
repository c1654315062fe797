/* SPDX-License-Identifier: Apache-2.0 */
/* The result of `oche check-nic`, and how it is printed. */
#ifndef OCHE_CLI_CHECK_NIC_RESULT_H
#define OCHE_CLI_CHECK_NIC_RESULT_H

#include "cli/check_nic/capture.h"
#include "lab/check_nic/check.h"
#include "lab/check_nic/simulate.h"
#include "lab/check_nic/test_file.h"
#include "lab/check_nic/watch.h"

struct oche_check_result {
    const char *path;      /* the test's file */
    char *const *captures; /* files; none: the test was simulated */
    size_t capture_count;
    struct oche_nic_test test;
    struct oche_check_capture capture;
    struct oche_nic_simulated simulated;
    struct oche_watched watched;
    struct oche_check_nic check;
};

/*
 * True if all verdicts are right, all messages arrived, each event happened, and a capture has all
 * packets of both directions.
 */
bool oche_check_is_right(const struct oche_check_result *result);
/* Returns "data" or "answers" if a capture has only packets of this kind, else NULL. */
const char *oche_check_one_direction(const struct oche_check_result *result);
/* Prints tables. `packets`: also a line for each packet. */
void oche_check_print(const struct oche_check_result *result, bool packets);
/* Prints one object of JSON. */
void oche_check_print_json(const struct oche_check_result *result, bool packets);
/* Returns "NACK generation" and the like; of READs there are other names. */
const char *oche_check_latency_name(unsigned latency, bool reads);
/* Returns "passed", "drop", "ecn" and "bit-error", the words of Lumina. */
const char *oche_check_event_name(unsigned event);
/* Counters of adapters, by the names that drivers have for them. */
struct oche_check_counter {
    const char *name;
    size_t offset; /* in struct oche_nic_counters */
};
extern const struct oche_check_counter oche_check_counters[];
extern const size_t oche_check_counter_count;
static inline uint64_t oche_check_counted(const struct oche_nic_counters *counters, size_t i)
{
    return *(const uint64_t *)((const char *)counters + oche_check_counters[i].offset);
}

#endif
