/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pairs of features that no world can have, and why. A missed pair that is not listed here is a gap
 * of the generator. A listed pair that occurs nevertheless is reported.
 */
#include <string.h>

#include "tests/swarm/coverage.h"

static const char one_way[] = "from each switch one way leads to a host: nowhere to deflect to";
static const char names[] = "the routes of tests/swarm/files name other switches";
static const char tiers[] = "topologies call their tiers so, or do not have them";
static const char no_pause[] = "links with credits have no PAUSE";
static const char rnics[] = "the mechanism is for queue pairs, and these hosts have none";
static const char marking[] = "the scheme needs switches that mark";
static const char unmarked[] = "its packets are not ECN-capable";
static const char no_cnps[] = "the scheme has no CNPs";
static const char one_scheme[] = "the mechanism is of use to one scheme only";
static const char both_ways[] =
    "the scheme needs both directions on one way, and failures change it";
static const char lossless[] = "link credits make all classes lossless, and that limits lossy ones";

/* Names, separated by bars: any of the first list excludes any of the second. */
static const struct {
    const char *some, *others, *why;
} pairs[] = {
    {"|topology=star|topology=dumbbell|topology=parking_lot|", "|saw=deflections|", one_way},
    {"|topology=star|topology=from_file|", "|routes.file|", names},
    {"|tier=leaf|tier=spine|",
     "|topology=star|topology=dumbbell|topology=parking_lot|topology=clos|topology=fat_tree|"
     "topology=from_file|tier=tor|tier=agg|tier=core|tier=aggregation|",
     tiers},
    {"|tier=tor|", "|topology=leaf_spine|", tiers},
    {"|tier=agg|",
     "|topology=star|topology=dumbbell|topology=parking_lot|topology=leaf_spine|topology=from_file|"
     "tier=aggregation|",
     tiers},
    {"|tier=core|",
     "|topology=star|topology=dumbbell|topology=parking_lot|topology=leaf_spine|topology=from_file|"
     "tier=aggregation|",
     tiers},
    {"|tier=aggregation|", "|routes.file|", names},
    {"|tier=aggregation|",
     "|topology=star|topology=dumbbell|topology=parking_lot|topology=leaf_spine|topology=clos|"
     "topology=fat_tree|",
     tiers},
    {"|switch.pfc|", "|saw=pauses|saw=deadlock|", "without PFC no PAUSEs"},
    {"|topology=star|", "|saw=deadlock|", "one switch does not wait for itself"},
    {"|congestion_control=expresspass|mechanism=credit_shaper|", "|saw=pauses|saw=deadlock|",
     "its classes are lossy"},
    {"|congestion_control=expresspass|mechanism=credit_shaper|", "|saw=failed_flows|",
     "its senders ask for ever"},
    {"|switch.port_buffer|", "|saw=pauses|saw=deadlock|", "it needs lossy classes, and all are"},
    {"|switch.ecn|", "|saw=marks|saw=cnps|", "switches do not mark"},
    {"|switch.ecn|",
     "|congestion_control=dcqcn|congestion_control=dart|congestion_control=ib_cc|"
     "congestion_control=nscc|congestion_control=dctcp|mechanism=fecn|",
     marking},
    {"|switch.port_buffer|", "|mechanism=ib_credits|saw=waits_for_credit|", lossless},
    {"|mechanism=iofd|mechanism=ib_credits|saw=deflections|saw=waits_for_credit|",
     "|congestion_control=dctcp|congestion_control=rogue|congestion_control=tcp|"
     "congestion_control=expresspass|mechanism=credit_shaper|",
     rnics},
    {"|host.feedback_jitter|", "|congestion_control=expresspass|mechanism=credit_shaper|",
     "the scheme has no ACKs and CNPs to hold"},
    {"|events.file|events.port|",
     "|congestion_control=dctcp|congestion_control=expresspass|congestion_control=tcp|"
     "mechanism=credit_shaper|",
     "they are for queue pairs, and these hosts have none"},
    {"|host.priority_upto|",
     "|congestion_control=dctcp|congestion_control=expresspass|congestion_control=rogue|"
     "congestion_control=tcp|mechanism=credit_shaper|",
     "it is for queue pairs, and these hosts have none"},
    {"|congestion_control=none|congestion_control=rcp|congestion_control=timely|"
     "congestion_control=swift|congestion_control=hpcc|mechanism=int_stamp|"
     "congestion_control=timely_patched|congestion_control=rogue|congestion_control=tcp|"
     "congestion_control=expresspass|mechanism=rcp_rate|mechanism=credit_shaper|",
     "|saw=marks|saw=cnps|", unmarked},
    {"|congestion_control=dctcp|", "|saw=cnps|", no_cnps},
    {"|congestion_control=expresspass|mechanism=credit_shaper|", "|saw=cuts|", both_ways},
    {"|mechanism=int_stamp|",
     "|congestion_control=none|congestion_control=dcqcn|congestion_control=dart|"
     "congestion_control=ib_cc|congestion_control=nscc|congestion_control=timely|"
     "congestion_control=timely_patched|"
     "congestion_control=dctcp|congestion_control=rcp|congestion_control=rogue|"
     "congestion_control=swift|congestion_control=cubic|"
     "congestion_control=tcp|congestion_control=expresspass|mechanism=credit_shaper|"
     "mechanism=fecn|",
     one_scheme},
    {"|mechanism=rcp_rate|",
     "|congestion_control=none|congestion_control=swift|congestion_control=hpcc|"
     "mechanism=int_stamp|"
     "congestion_control=dcqcn|congestion_control=dart|"
     "congestion_control=ib_cc|congestion_control=nscc|congestion_control=timely|"
     "congestion_control=timely_patched|"
     "congestion_control=dctcp|congestion_control=expresspass|congestion_control=rogue|"
     "congestion_control=tcp|mechanism=credit_shaper|mechanism=fecn|",
     one_scheme},
    {"|mechanism=credit_shaper|",
     "|congestion_control=none|congestion_control=swift|congestion_control=hpcc|"
     "mechanism=int_stamp|"
     "congestion_control=dcqcn|congestion_control=dart|"
     "congestion_control=ib_cc|congestion_control=nscc|congestion_control=timely|"
     "congestion_control=timely_patched|"
     "congestion_control=dctcp|congestion_control=rcp|congestion_control=rogue|"
     "congestion_control=tcp|mechanism=fecn|",
     one_scheme},
    {"|mechanism=fecn|",
     "|congestion_control=none|congestion_control=swift|congestion_control=hpcc|"
     "mechanism=int_stamp|"
     "congestion_control=dcqcn|congestion_control=dart|"
     "congestion_control=rcp|congestion_control=timely|congestion_control=timely_patched|"
     "congestion_control=nscc|congestion_control=dctcp|congestion_control=expresspass|"
     "congestion_control=rogue|congestion_control=tcp|",
     one_scheme},
    {"|slow_receivers.hosts|slow_receivers.drain_rate|slow_receivers.buffer|slow_receivers.xoff|"
     "slow_receivers.xon|pause_storms.hosts|pause_storms.at|pause_storms.until|"
     "pause_storms.priorities|pause_storms.quanta|",
     "|mechanism=ib_credits|saw=waits_for_credit|", no_pause},
    {"|pause_storms.hosts|pause_storms.at|pause_storms.until|pause_storms.priorities|"
     "pause_storms.quanta|",
     "|switch.pfc|congestion_control=expresspass|mechanism=credit_shaper|switch.port_buffer|",
     "nobody obeys a PAUSE"},
    {"|mechanism=pfc_watchdog|",
     "|switch.pfc|switch.port_buffer|mechanism=ib_credits|saw=waits_for_credit|"
     "congestion_control=expresspass|mechanism=credit_shaper|",
     "it watches PAUSEs, and there are none"},
    {"|twin=longer|", "|saw=every_flow_end|", "it goes on where flows have not ended"},
    {"|saw=pauses|saw=deadlock|", "|saw=waits_for_credit|mechanism=ib_credits|",
     "link credits take the place of PFC"},
};

static bool has(const char *list, const char *name)
{
    size_t length = strlen(name);

    for (const char *at = list; (at = strstr(at, name)) != NULL; at++)
        if (at > list && at[-1] == '|' && at[length] == '|')
            return true;
    return false;
}

const char *coverage_impossible(const char *a, const char *b)
{
    for (size_t i = 0; i < OCHE_COUNT_OF(pairs); i++)
        if ((has(pairs[i].some, a) && has(pairs[i].others, b)) ||
            (has(pairs[i].some, b) && has(pairs[i].others, a)))
            return pairs[i].why;
    return NULL;
}
