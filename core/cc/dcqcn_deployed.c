/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DCQCN as NICs in use have it: mode nic, with the numbers of ConnectX and of the simulator that
 * HPCC's authors published (dcqcn.md#deployed). What depends on the line's rate is `auto`: a
 * sender then needs as many bytes to win back its rate on a line of 400 Gbit/s as on one of 25.
 */
#include "core/cc/dcqcn.h"

#define NIC_TIMER    (300 * OCHE_US)  /* the increase timer of a NIC … */
#define NIC_LINE_BPS (25 * OCHE_GBPS) /* … with a line of this rate */
#define LINE_TO_RAI  2000
#define LINE_TO_RHAI 1000
#define NIC_MODE     2 /* of the names of `mode` */

const struct oche_deployed dcqcn_deployed[DCQCN_DEPLOYED_COUNT] = {
    {"mode", {.u = NIC_MODE}},
    {"alpha_interval", {.u = OCHE_US}},
    {"timer", {.u = OCHE_NEVER}},
    {"fast_recovery_steps", {.u = 1}},
    {"rai", {.u = OCHE_NEVER}},
    {"rhai", {.u = OCHE_NEVER}},
    {"cnp_interval", {.u = 4 * OCHE_US}},
};

oche_time dcqcn_timer_of(const struct dcqcn_params *params, uint64_t line_bps)
{
    if (params->timer != OCHE_NEVER)
        return params->timer;
    return line_bps <= NIC_LINE_BPS ? NIC_TIMER : NIC_TIMER * NIC_LINE_BPS / line_bps;
}

uint64_t dcqcn_rai_of(const struct dcqcn_params *params, uint64_t line_bps)
{
    return params->rai != OCHE_NEVER ? params->rai : line_bps / LINE_TO_RAI;
}

uint64_t dcqcn_rhai_of(const struct dcqcn_params *params, uint64_t line_bps)
{
    return params->rhai != OCHE_NEVER ? params->rhai : line_bps / LINE_TO_RHAI;
}
