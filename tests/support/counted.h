/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: reads a value of a table of counters (core/counter.h) by its name. */
#ifndef OCHE_TESTS_SUPPORT_COUNTED_H
#define OCHE_TESTS_SUPPORT_COUNTED_H

#include <string.h>

#include "core/counter.h"
#include "tests/support/test.h"

/* Fails the test if the table has no such row. */
static inline uint64_t counted(const struct oche_counters *counters, const uint64_t *values,
                               const char *name)
{
    assert_non_null(counters);
    for (unsigned i = 0; i < counters->count; i++)
        if (strcmp(counters->rows[i].name, name) == 0)
            return values[i];
    fail_msg("%s counts no %s", counters->prefix, name);
    return 0;
}

/* Fails the test if the table lacks texts, or counts outside `state_bytes`. */
static inline void check_counters(const struct oche_counters *counters, size_t state_bytes)
{
    assert_true(counters->prefix != NULL && counters->prefix[0] != '\0');
    assert_in_range(counters->count, 1, OCHE_MOST_COUNTERS);
    for (unsigned i = 0; i < counters->count; i++) {
        const struct oche_counter *row = &counters->rows[i];

        assert_true(row->name != NULL && row->name[0] != '\0');
        assert_true(row->help != NULL && row->help[0] != '\0');
        assert_true(row->value != NULL || row->offset + sizeof(uint64_t) <= state_bytes);
        assert_true(row->value != NULL || row->offset % sizeof(uint64_t) == 0);
        for (unsigned k = 0; k < i; k++)
            assert_string_not_equal(row->name, counters->rows[k].name);
    }
}

#endif
