/* SPDX-License-Identifier: Apache-2.0 */
/* Events seen in worlds. A generator of idle worlds finds nothing. */
#include "fabric/ib_credits.h"
#include "fabric/iofd.h"
#include "tests/swarm/judge.h"

const char *const swarm_event_names[SWARM_EVENTS_SEEN] = {
    [SAW_PAUSES] = "pauses",
    [SAW_DROPS] = "drops",
    [SAW_LOSSES] = "losses",
    [SAW_CUTS] = "cuts",
    [SAW_RETRANSMISSIONS] = "retransmissions",
    [SAW_TIMEOUTS] = "timeouts",
    [SAW_MARKS] = "marks",
    [SAW_CNPS] = "cnps",
    [SAW_DEFLECTIONS] = "deflections",
    [SAW_WAITS_FOR_CREDIT] = "waits_for_credit",
    [SAW_FAILED_FLOWS] = "failed_flows",
    [SAW_DEADLOCK] = "deadlock",
    [SAW_EVERY_FLOW_END] = "every_flow_end",
};

/* Returns a counter of a mechanism; 0 if switches do not have the mechanism. */
static uint64_t counted(const struct swarm_run *run, const struct oche_switch_mechanism *mechanism,
                        unsigned row)
{
    for (size_t i = 0; oche_switch_mechanisms[i] != NULL; i++)
        if (oche_switch_mechanisms[i] == mechanism && run->totals.has_mechanism[i])
            return run->totals.mechanisms[i][row];
    return 0;
}

uint32_t swarm_saw(const struct swarm_run *run)
{
    const struct oche_world_totals *totals = &run->totals;
    uint64_t drops = 0, marks = 0;

    for (unsigned cause = 0; cause < OCHE_DROP_CAUSES; cause++)
        drops += totals->drops[cause];
    for (unsigned place = 0; place < OCHE_PLACES; place++)
        marks += totals->marks[place];
    const bool saw[SWARM_EVENTS_SEEN] = {
        [SAW_PAUSES] = totals->pauses_sent > 0,
        [SAW_DROPS] = drops > 0,
        [SAW_LOSSES] = totals->lost_packets > totals->cut_packets,
        [SAW_CUTS] = totals->cut_packets > 0,
        [SAW_RETRANSMISSIONS] = totals->nic.retransmitted_packets > 0,
        [SAW_TIMEOUTS] = totals->nic.timeouts > 0,
        [SAW_MARKS] = marks > 0,
        [SAW_CNPS] = totals->nic.cnps_received > 0,
        [SAW_DEFLECTIONS] = counted(run, &oche_iofd, OCHE_IOFD_DEFLECTIONS) > 0,
        [SAW_WAITS_FOR_CREDIT] = counted(run, &oche_ib_credits, OCHE_IB_CREDITS_WAITS) > 0,
        [SAW_FAILED_FLOWS] = totals->flows_failed > 0,
        [SAW_DEADLOCK] = oche_world_deadlock(run->world) != NULL,
        [SAW_EVERY_FLOW_END] = totals->flows_completed + totals->flows_failed == totals->flows,
    };
    uint32_t mask = 0;

    for (unsigned i = 0; i < SWARM_EVENTS_SEEN; i++)
        mask |= (uint32_t)saw[i] << i;
    return mask;
}
