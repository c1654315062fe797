/* SPDX-License-Identifier: Apache-2.0 */
/* Notes of what becomes of flows. */
#include "sim/network/flow_notes.h"

#include <stdlib.h>

#include "sim/network/flow_internal.h"
#include "sim/network/ranks.h"

void oche_flow_notes_add(struct oche_flow_notes *notes, uint32_t flow, enum oche_flow_event event,
                         unsigned status, oche_time time)
{
    if (notes->count == notes->capacity) {
        notes->capacity = notes->capacity == 0 ? 256 : notes->capacity * 2;
        notes->list = realloc(notes->list, notes->capacity * sizeof(*notes->list));
        OCHE_GOT(notes->list != NULL);
    }
    notes->list[notes->count++] = (struct oche_flow_note){
        .time = time, .flow = flow, .event = (uint8_t)event, .status = (uint8_t)status};
}

/* Makes a flow of a source, or a listed one, count as over, if no end is in this process. */
static void pass_by(struct oche_flows *flows, const struct oche_network *network, uint32_t number,
                    const struct oche_flow_source *source)
{
    const struct oche_flow_plan *plan = &flows->plan[number];

    if (oche_network_has(network, plan->src) || oche_network_has(network, plan->dst))
        return;
    flows->sent[number].completed = 0;
    if (source != NULL && source->each)
        flows->connections[plan->connection].delivered = 1;
}

void oche_flows_pass_by(struct oche_flows *flows, const struct oche_network *network)
{
    for (OCHE_EACH_MADE_FLOW(i, flows))
        pass_by(flows, network, i, oche_flow_sources_find(&flows->sources, i));
}

void oche_flows_make(struct oche_flows *flows, const struct oche_network *network, uint32_t number)
{
    struct oche_flow_source *source = oche_flow_sources_find(&flows->sources, number);

    if (source != NULL && source->at != NULL) {
        oche_flows_make_at(flows, number);
        pass_by(flows, network, number, source);
        return;
    }
    while (source != NULL && source->first + source->made <= number) {
        oche_flows_make_next(flows, source);
        pass_by(flows, network, source->first + source->made - 1, source);
    }
}

void oche_flow_notes_apply(struct oche_flows *flows, const struct oche_network *network,
                           const struct oche_flow_note *note)
{
    const uint32_t flow = note->flow;

    OCHE_MUST(flow < flows->count);
    oche_flows_make(flows, network, flow);
    struct oche_connection *connection = &flows->connections[flows->plan[flow].connection];

    switch ((enum oche_flow_event)note->event) {
    case OCHE_FLOW_STARTED:
        OCHE_MUST(connection->queued < connection->count);
        flows->order[connection->first + connection->queued++] = flow;
        flows->sent[flow].started = note->time;
        break;
    case OCHE_FLOW_DELIVERED:
        connection->delivered++;
        flows->received[flow].delivered = note->time;
        break;
    case OCHE_FLOW_PASSED:
        connection->delivered++;
        flows->received[flow].passed_over = true;
        break;
    case OCHE_FLOW_COMPLETED:
        connection->completed++;
        flows->sent[flow].completed = note->time;
        flows->sent[flow].failed = note->status;
        break;
    }
}
