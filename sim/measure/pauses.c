/* SPDX-License-Identifier: Apache-2.0 */
/* PAUSE by port and by tier; see the header. */
#include "sim/measure/pauses.h"

#include <string.h>

static struct oche_pause_row row_of(uint32_t node, uint32_t port, uint32_t cls,
                                    const struct oche_switch_port_stats *stats)
{
    return (struct oche_pause_row){.node = node,
                                   .port = port,
                                   .cls = cls,
                                   .sent = stats->pauses_sent[cls],
                                   .refreshes = stats->refreshes_sent[cls],
                                   .received = stats->pauses_received[cls],
                                   .sent_time = stats->pause_sent_time[cls],
                                   .received_time = stats->paused_time[cls]};
}

static bool is_empty(const struct oche_pause_row *row)
{
    return row->sent == 0 && row->refreshes == 0 && row->received == 0 && row->sent_time == 0 &&
           row->received_time == 0;
}

size_t oche_pause_rows(const struct oche_topology *topology,
                       const struct oche_switch_port_stats *stats, struct oche_pause_row *rows,
                       size_t room)
{
    size_t count = 0;

    for (uint32_t n = 0; n < oche_topology_nodes(topology); n++)
        for (uint32_t p = 0; p < topology->nodes[n].port_count; p++)
            for (uint32_t cls = 0; cls < OCHE_CLASSES; cls++) {
                struct oche_pause_row row =
                    row_of(n, p, cls, &stats[topology->nodes[n].first_port + p]);

                if (is_empty(&row))
                    continue;
                if (count < room)
                    rows[count] = row;
                count++;
            }
    return count;
}

void oche_pause_by_kind(const struct oche_topology *topology,
                        const struct oche_switch_port_stats *stats,
                        struct oche_pause_sum sums[OCHE_NODE_KINDS])
{
    memset(sums, 0, OCHE_NODE_KINDS * sizeof(*sums));
    for (uint32_t n = 0; n < oche_topology_nodes(topology); n++) {
        struct oche_pause_sum *sum = &sums[topology->nodes[n].kind];

        for (uint32_t p = 0; p < topology->nodes[n].port_count; p++)
            for (uint32_t cls = 0; cls < OCHE_CLASSES; cls++) {
                struct oche_pause_row row =
                    row_of(n, p, cls, &stats[topology->nodes[n].first_port + p]);

                sum->sent += row.sent;
                sum->received += row.received;
                sum->sent_time += row.sent_time;
                sum->received_time += row.received_time;
                if (row.received_time > sum->longest_held)
                    sum->longest_held = row.received_time;
            }
    }
}
