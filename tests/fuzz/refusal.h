/* SPDX-License-Identifier: Apache-2.0 */
/* A rule for readers of schedules: a file is a schedule, or is rejected with one line. */
#ifndef OCHE_TESTS_FUZZ_REFUSAL_H
#define OCHE_TESTS_FUZZ_REFUSAL_H

#include <string.h>

#include "sim/graph/schedule_file.h"

#define FUZZ_MOST_OPS 20000

typedef bool fuzz_reader(struct oche_goal *goal, const char *path,
                         const struct oche_schedule_reading *reading,
                         struct oche_schedule_file *about, struct oche_error *error);

/* Reads the file. Returns NULL, or the broken rule. */
static inline const char *fuzz_reads(fuzz_reader *reader, const char *path,
                                     const struct oche_schedule_reading *reading)
{
    struct oche_schedule_file about = {.format = ""};
    struct oche_error error = {""};
    struct oche_goal goal;

    if (!reader(&goal, path, reading, &about, &error))
        return strchr(error.text, '\n') == NULL && strstr(error.text, ": ") != NULL
                   ? NULL
                   : "a file is rejected without a reason in one line";
    oche_goal_close(&goal);
    return strchr(about.remark, '\n') == NULL ? NULL : "a remark has two lines";
}

#endif
