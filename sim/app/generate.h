/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the types of workload: errors, common parameters, random orders of hosts. */
#ifndef OCHE_SIM_APP_GENERATE_H
#define OCHE_SIM_APP_GENERATE_H

#include "params/error.h"
#include "sim/app/app.h"
#include "sim/app/sender_pool.h"

#define OCHE_WORKLOAD_MAX_FLOWS UINT32_C(100000000) /* most flows of one workload */

/*
 * The parameters that every workload has. DCQCN sec 3.1 leaves the initial rate to local policy;
 * this parameter sets it. `verb` is set in the list by who calls `generate`.
 */
#define OCHE_PARAM_INITIAL_RATE(type)                                                              \
    {OCHE_PARAM(struct type, initial_rate), OCHE_IS_BPS(0, 0, 1000 * OCHE_GBPS),                   \
     .where = "DCQCN sec 3.1",                                                                     \
     .help = "of each queue pair's sender, on the line; 0, or more than the line: line rate, "     \
             "or what congestion control begins with"},                                            \
        {OCHE_PARAM(struct type, tenant), OCHE_IS_COUNT(0, 0, UINT8_MAX),                          \
         .needs = "congestion_control=dart", .where = "Dart sec III-E",                            \
         .help =                                                                                   \
             "tenant that the flows belong to, for congestion control that knows tenants (dart)"}, \
    {                                                                                              \
        OCHE_PARAM(struct type, verb), OCHE_IS_CHOICE(OCHE_VERB_WRITE, oche_verb_names),           \
            .help = "what moves a flow's data: a WRITE or SEND of its sender, or a READ that its " \
                    "receiver posts at the flow's start"                                           \
    }

/* A sender and a receiver. */
struct oche_host_pair {
    uint32_t src, dst;
};

/* The rate that `load` is relative to. */
enum oche_load_of { OCHE_LOAD_OF_HOST, OCHE_LOAD_OF_UPLINK };
extern const char *const oche_load_of_names[];

/* Writes "no memory for N flows"; returns false. */
bool oche_workload_no_memory(const struct oche_flow_list *list, struct oche_error *error);

/* True if the parameter `start` is before the end of the run; else writes an error. */
bool oche_workload_starts(oche_time start, const struct oche_workload_facts *facts,
                          struct oche_error *error);

/* True if there are at least two hosts; else writes an error. */
bool oche_workload_has_hosts(const struct oche_workload_facts *facts, struct oche_error *error);

/*
 * True if there are uplinks, or the load does not refer to uplinks; else writes an error about
 * `load_of`.
 */
bool oche_workload_has_load(enum oche_load_of of, const struct oche_workload_facts *facts,
                            struct oche_error *error);

/* Returns the rates of a host. */
const struct oche_host_rate *oche_workload_rate(const struct oche_workload_facts *facts,
                                                uint32_t host);
/* Returns the rate of the slower one of two hosts' links. */
uint64_t oche_workload_pair_bps(const struct oche_workload_facts *facts, uint32_t src,
                                uint32_t dst);

/*
 * Returns the mean payload rate, in bits per second, that a host with rates `host` must offer to
 * use the fraction `load` of the rate that `of` names. With `headers`, headers and gaps of full
 * packets count as load.
 */
double oche_workload_offered_bps(double load, enum oche_load_of of, bool headers,
                                 const struct oche_workload_facts *facts,
                                 const struct oche_host_rate *host);
/* Returns the sum over all hosts. */
double oche_workload_offered_by_all(double load, enum oche_load_of of, bool headers,
                                    const struct oche_workload_facts *facts);

/*
 * Returns the random stream of this workload for `purpose` and one entity (a host or round number,
 * below 2^32).
 */
struct oche_random oche_workload_stream(const struct oche_workload_facts *facts,
                                        const char *purpose, uint64_t entity);

/*
 * Returns a uniform value in [0, most], with `most` below UINT64_MAX. Takes one draw, even if
 * `most` is 0.
 */
uint64_t oche_workload_jitter(struct oche_random *random, uint64_t most);

/*
 * Hosts in the order of names, which is the one in which hosts are drawn and streams are named
 * (oche_topology_at_place): the host at a place, and the place of a host.
 */
uint32_t oche_workload_host_at(const struct oche_workload_facts *facts, uint32_t place);
uint32_t oche_workload_place_of(const struct oche_workload_facts *facts, uint32_t host);

/* Returns a host, all equally likely. Takes one draw. */
uint32_t oche_workload_any_host(const struct oche_workload_facts *facts,
                                struct oche_random *random);
/* Returns a host other than `host`, all equally likely. Takes one draw. */
uint32_t oche_workload_other_host(const struct oche_workload_facts *facts,
                                  struct oche_random *random, uint32_t host);

/*
 * True if at least `pairs` different pairs of hosts (sender and receiver) exist; else writes an
 * error about `pairs`.
 */
bool oche_workload_has_pairs(uint64_t pairs, const struct oche_workload_facts *facts,
                             struct oche_error *error);

/*
 * Draws `count` pairs, no two the same; at least so many must exist. Each has a random stream of
 * its own. Returns them, to be released with free(); NULL without memory.
 */
struct oche_host_pair *oche_workload_draw_pairs(const struct oche_workload_facts *facts,
                                                const char *purpose, uint64_t count);

/* Returns the sender that the pool has drawn as number i (from 0) for this receiver. */
uint32_t oche_workload_sender(const struct oche_workload_facts *facts,
                              const struct oche_sender_pool *pool, uint32_t receiver, uint32_t i);

/* Puts 0 … count-1 into `order`, in random order. */
void oche_workload_shuffle(struct oche_random *random, uint32_t *order, uint32_t count);
/* Puts all hosts into `order`, in random order. */
void oche_workload_shuffle_hosts(const struct oche_workload_facts *facts,
                                 struct oche_random *random, uint32_t *order);

/*
 * Returns a number of messages that is enough for a closed loop which lasts the whole run: the
 * number of messages of `bytes` that a link of `rate_bps` (oche_workload_pair_bps) carries, one
 * after the other, from `start` to the end of the run if nothing else uses it, plus one.
 */
uint64_t oche_workload_enough(const struct oche_workload_facts *facts, oche_time start,
                              uint64_t bytes, uint64_t rate_bps);
/*
 * Returns an upper limit of the sum of oche_workload_enough over all hosts, with one loop per host.
 */
uint64_t oche_workload_enough_for_all(const struct oche_workload_facts *facts, oche_time start,
                                      uint64_t bytes);

/*
 * Adds `messages` flows from src to dst, the first at `start`, each later one when the previous one
 * is acknowledged. Returns false without memory.
 */
bool oche_workload_chain(struct oche_flow_list *list, const struct oche_workload_facts *facts,
                         uint32_t src, uint32_t dst, uint64_t bytes, oche_time start,
                         uint64_t messages);

#endif
