/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the format of a file. */
#include "sim/graph/schedule_file.h"

bool oche_schedule_is_one(const char *path)
{
    return oche_goal_is_schedule(path) || oche_htsim_is_matrix(path);
}

bool oche_schedule_open(struct oche_goal *goal, const char *path, struct oche_schedule_file *about,
                        struct oche_error *error)
{
    *about = (struct oche_schedule_file){.format = "GOAL"};
    if (oche_htsim_is_matrix(path))
        return oche_htsim_open_matrix(goal, path, about, error);
    return oche_goal_open(goal, path, error);
}
