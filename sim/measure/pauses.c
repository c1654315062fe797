/* SPDX-License-Identifier: Apache-2.0 */
/* PAUSE by tier; see the header. */
#include "sim/measure/pauses.h"

#include <string.h>

void oche_pause_by_kind(const struct oche_topology *topology,
                        const struct oche_switch_port_stats *stats,
                        struct oche_pause_sum sums[OCHE_NODE_KINDS])
{
    memset(sums, 0, OCHE_NODE_KINDS * sizeof(*sums));
    for (uint32_t n = 0; n < oche_topology_nodes(topology); n++) {
        struct oche_pause_sum *sum = &sums[topology->nodes[n].kind];

        for (uint32_t p = 0; p < topology->nodes[n].port_count; p++) {
            const struct oche_switch_port_stats *port = &stats[topology->nodes[n].first_port + p];

            for (uint32_t cls = 0; cls < OCHE_CLASSES; cls++) {
                sum->sent += port->pauses_sent[cls];
                sum->received += port->pauses_received[cls];
                sum->sent_time += port->pause_sent_time[cls];
                sum->received_time += port->paused_time[cls];
                if (port->paused_time[cls] > sum->longest_held)
                    sum->longest_held = port->paused_time[cls];
            }
        }
    }
}
