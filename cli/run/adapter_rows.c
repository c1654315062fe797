/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/adapter_rows.h"

#include "core/qp/adapter_counters.h"
#include "lab/measures/metrics.h"

static const char metric[] = "adapter.COUNTER";

static bool is_wanted(const struct oche_outcome *outcomes, size_t count,
                      const struct oche_rows_shown *shown)
{
    bool any = false, profiles = shown->all;

    for (size_t i = 0; i < count; i++) {
        any |= outcomes[i].has_adapters;
        profiles |= outcomes[i].has_profiles;
    }
    return any && profiles;
}

static bool has_any(const struct oche_outcome *outcomes, size_t count, unsigned which)
{
    for (size_t i = 0; i < count; i++)
        if (oche_metric_value(&outcomes[i], metric, which) > 0)
            return true;
    return false;
}

bool oche_adapter_rows(struct oche_table *table, const struct oche_outcome *outcomes, size_t count,
                       struct oche_rows_shown *shown, bool begun)
{
    for (unsigned which = 0; is_wanted(outcomes, count, shown) && which < OCHE_ADAPTER_HW_COUNTERS;
         which++) {
        const struct oche_adapter_counter counter = oche_adapter_counter(which);

        if (!counter.counted || counter.of_port)
            continue;
        if (!has_any(outcomes, count, which) && !shown->all) {
            shown->hidden++;
            continue;
        }
        if (!begun)
            oche_table_rule(table);
        begun = true;
        oche_table_cell(table, "%s", counter.name);
        for (size_t i = 0; i < count; i++)
            oche_table_cell(
                table, "%s",
                oche_metric_figure(metric, oche_metric_value(&outcomes[i], metric, which)).text);
    }
    return begun;
}
