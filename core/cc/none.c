/* SPDX-License-Identifier: Apache-2.0 */
/*
 * No congestion control: every queue pair always sends at line rate, or at its initial rate if it
 * was given one. PFC or loss recovery has to handle the congestion. This is the "PFC only" baseline
 * of DCQCN sec 2.2 and 6.
 */
#include "core/cc/cc.h"

static void none_start(struct oche_cc_flow *flow, oche_time now)
{
    (void)now;
    flow->rate_bps = flow->initial_rate_bps;
    flow->window_bytes = UINT64_MAX;
}

const struct oche_cc_scheme oche_cc_none = {
    .name = "none",
    .paper = "no congestion control: line rate (or the initial rate), no window",
    .needs = OCHE_CC_NEEDS_NOTHING,
    .transports = OCHE_CC_RC | OCHE_CC_UC | OCHE_CC_UD,
    .runs_on_wire = true,
    .start = none_start,
};
