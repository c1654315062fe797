/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notes of what becomes of flows. The hosts at both ends of a flow use and write what is known of
 * it (flow.h). If they are in different processes, each tells the other what it has written, by the
 * end of the window: no packet that follows from it can be there before.
 */
#ifndef OCHE_SIM_NETWORK_FLOW_NOTES_H
#define OCHE_SIM_NETWORK_FLOW_NOTES_H

#include "sim/network/flow.h"

struct oche_network;

enum oche_flow_event {
    OCHE_FLOW_STARTED,
    OCHE_FLOW_DELIVERED,
    OCHE_FLOW_PASSED,
    OCHE_FLOW_COMPLETED
};

struct oche_flow_note {
    oche_time time;
    uint32_t flow;
    uint8_t event;  /* enum oche_flow_event */
    uint8_t status; /* enum oche_status, of COMPLETED */
    uint16_t unused;
};

/* A growing list. */
struct oche_flow_notes {
    struct oche_flow_note *list;
    uint32_t count, capacity;
};

void oche_flow_notes_add(struct oche_flow_notes *notes, uint32_t flow, enum oche_flow_event event,
                         unsigned status, oche_time time);
/* Applies the notes that the host at the other end of the flow has written into the list. */
void oche_flow_notes_apply(struct oche_flows *flows, const struct oche_network *network,
                           const struct oche_flow_note *note);
/*
 * To be called before the run. Of flows with no end in this process nothing is heard until it is
 * over: they count as over, so that they do not stay in memory (flow_rest.c).
 */
void oche_flows_pass_by(struct oche_flows *flows, const struct oche_network *network);
/*
 * Makes flow `number`, and those before it of its source, if they are not made. Those with no
 * end in this process count as over.
 */
void oche_flows_make(struct oche_flows *flows, const struct oche_network *network, uint32_t number);

#endif
