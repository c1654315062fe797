/* SPDX-License-Identifier: Apache-2.0 */
/* The units of metrics: the unit chooses how a table shows a value. */
#include <math.h>
#include <stdio.h>

#include "lab/measures/metric_table.h"

static struct oche_figure time_figure(double seconds)
{
    return oche_figure_time((oche_time)llround(seconds * (double)OCHE_SEC));
}

static struct oche_figure rate_figure(double bps)
{
    return oche_figure_rate((uint64_t)bps);
}

static struct oche_figure bytes_figure(double bytes)
{
    return oche_figure_bytes((uint64_t)bytes);
}

static struct oche_figure count_figure(double count)
{
    return oche_figure_value(count, oche_metric_units[COUNT].name);
}

static struct oche_figure index_figure(double value)
{
    struct oche_figure figure;

    snprintf(figure.text, sizeof(figure.text), "%.3f", value);
    return figure;
}

const struct unit_row oche_metric_units[UNITS] = {
    [SECONDS] = {"s", time_figure},         [BPS] = {"bps", rate_figure},
    [BYTES] = {"bytes", bytes_figure},      [COUNT] = {"count", count_figure},
    [RATIO] = {"ratio", oche_figure_ratio}, [SHARE] = {"ratio", oche_figure_share},
    [INDEX] = {"ratio", index_figure},
};
