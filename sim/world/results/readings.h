/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is read of hosts and switches after a run: from the devices or, with ranks, from what all
 * have told. After the run each rank tells rank 0, node by node, what its devices have counted, and
 * all that it has written of flows, connections, ports and links; rank 0 writes it where one
 * process would have written it. So whoever reads a world after the run reads rank 0's as he reads
 * that of one process, and no other rank's. Then no rank needs its devices any more, and none keeps
 * them: results take memory, too.
 */
#ifndef OCHE_SIM_WORLD_RESULTS_READINGS_H
#define OCHE_SIM_WORLD_RESULTS_READINGS_H

#include "fabric/registry.h"
#include "sim/network/ranks.h"
#include "sim/world/internal.h"
#include "sim/world/results/packed_counters.h"

/* A host's counters are since the beginning of the run, those of its port since warm-up. */
struct oche_host_reading {
    struct oche_nic_stats nic;
    uint64_t counted[OCHE_MOST_COUNTERS]; /* counters of its scheme */
    uint64_t late_packets, corrupt_bytes;
    struct oche_switch_port_stats port; /* PAUSEs alone */
    struct oche_slow_host_stats slow;
    uint64_t paused; /* at the end: 1 if any class is paused */
};

struct oche_port_reading {
    struct oche_switch_port_stats stats;
    uint64_t paused; /* classes, as a mask */
};

struct oche_switch_reading {
    uint64_t occupied_bytes;
    uint64_t mechanisms[OCHE_MOST_MECHANISMS][OCHE_MOST_MECHANISM_COUNTERS];
};

/* The reports of all ranks: packed readings by host, by port (global number) and by switch. */
struct oche_world_gathered {
    const uint64_t **hosts, **ports, **switches;
    struct oche_packed_store store;
    struct oche_rtt_chunk **rtts; /* by host */
    uint64_t *arrived;            /* by flow: bytes of the message that is being received */
    uint64_t pauses_unnoted;
    struct oche_arena arena; /* of rtts */
    bool all;                /* is told: there are no devices any more */
};

static inline bool oche_world_has(const struct oche_world *world, uint32_t node)
{
    return oche_network_has(&world->network, node);
}

/* True if this process has switch `number`. */
static inline bool oche_world_has_switch(const struct oche_world *world, uint32_t number)
{
    return oche_world_has(world, world->topology.host_count + number);
}

void oche_world_read_host(const struct oche_world *world, uint32_t host,
                          struct oche_host_reading *reading);
/* `number` is the number of the switch, `port` the port's number in the switch. */
void oche_world_read_port(const struct oche_world *world, uint32_t number, uint32_t port,
                          struct oche_port_reading *reading);
void oche_world_read_switch(const struct oche_world *world, uint32_t number,
                            struct oche_switch_reading *reading);
/* Returns the bytes that have arrived at the flow's receiver of the message that is received. */
uint64_t oche_world_read_arrived(const struct oche_world *world, uint32_t flow);

/* To be called by all ranks when the run is over: rank 0 gets what the others have. */
void oche_world_gather(struct oche_world *world);
void oche_world_gathered_free(struct oche_world *world);

/* gather_jobs.c: for that. Tell what jobs' ranks have noted, and which flows a source has made. */
void oche_world_tell_jobs(struct oche_world *world);
void oche_world_tell_made_places(struct oche_world *world, uint32_t source);

#endif
