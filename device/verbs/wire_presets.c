/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The schemes' values for the wire. IRN's timeouts are made for adapters and a round trip of 24 us.
 * Here a process may be away for tens of milliseconds, and the queue before a slow port is unknown.
 * So selective repeat measures its timeouts. Its window is as large as possible, since congestion
 * control has its own. Early timeouts, frequent on a busy machine, are undone; so are losses that
 * were reordering. Given values and presets stay.
 */
#include "core/recovery/psn_bitmap.h"
#include "core/recovery/selective_repeat.h"
#include "device/verbs/internal.h"

#define RTO_LOW  (100 * OCHE_MS) /* shortest timeout beyond the round trip */
#define RTO_HIGH (200 * OCHE_MS) /* until one is known; Linux's least timeout of TCP */
#define RTO_MOST OCHE_SEC        /* a stopped process is no long path */
#define CATCH_UP 25              /* percent of a window, after a wait for a processor */
#define PROBE    (200 * OCHE_MS) /* while the peer is silent */

void ov_wire_presets(struct oche_cc_choice *cc, struct oche_recovery_choice *choice)
{
    const struct oche_param_table *table = &choice->recovery->table;
    struct oche_selective_repeat_params *params = (void *)&choice->params;

    if (oche_param_find(&cc->cc->table, "undo") != NULL)
        oche_param_fit(&cc->cc->table, &cc->params, cc->free, "undo", true);
    if (oche_param_find(&cc->cc->table, "catch_up_percent") != NULL)
        oche_param_fit(&cc->cc->table, &cc->params, cc->free, "catch_up_percent", CATCH_UP);
    if (choice->recovery != &oche_recovery_selective_repeat)
        return;
    if (oche_param_is_free(table, choice->free, "rto"))
        params->rto = OCHE_SELECTIVE_RTO_MEASURED;
    oche_param_fit(table, params, choice->free, "rto_low", RTO_LOW);
    oche_param_fit(table, params, choice->free, "rto_high", RTO_HIGH);
    oche_param_fit(table, params, choice->free, "rto_most", RTO_MOST);
    oche_param_fit(table, params, choice->free, "probe", PROBE);
    oche_param_fit(table, params, choice->free, "undo", true);
    if (oche_param_is_free(table, choice->free, "reorder"))
        params->reorder = OCHE_SELECTIVE_REORDER_RACK;
    oche_param_fit(table, params, choice->free, "window", OCHE_PSN_BITMAP_BITS);
}
