/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The results of one run in one SQLite file. The file is written under a temporary name, in one
 * transaction, and renamed when it is complete; a run that fails leaves no file. store/run.sql has
 * the tables and describes them.
 *
 * Times are in picoseconds, sizes in bytes, rates in bits per second; OCHE_NEVER is stored as NULL.
 * Only metrics differ: they are in s, bps, bytes, count and ratio. `PRAGMA user_version` is
 * OCHE_RESULTS_SCHEMA.
 *
 * Schema 3 had no metrics; in their place, the table counters(entity, name, value) had sums under
 * the entity "all". For one version, a view called counters still shows these sums
 * (store/old_counters.sql).
 */
#ifndef OCHE_STORE_STORE_H
#define OCHE_STORE_STORE_H

#include "core/base.h"
#include "params/error.h"

#define OCHE_RESULTS_SCHEMA 4

struct oche_results;

struct oche_results_flow {
    uint64_t id;
    uint32_t workload, src, dst;
    uint64_t bytes;
    oche_time started;   /* OCHE_NEVER: not started */
    oche_time delivered; /* when the last byte arrived at the receiver; OCHE_NEVER: not delivered */
    /* when the sender got the last acknowledgement; OCHE_NEVER: not completed */
    oche_time completed;
    /* time from start to delivery if the flow had the network for itself; 0: unknown */
    oche_time ideal;
    uint64_t retransmitted_packets, timeouts;
    const char *status; /* "completed", "unfinished", "failed: …" */
    bool measured;      /* false: the flow started during warm-up */
    oche_time held;     /* time held by PAUSEs at the one port of its path that was held longest */
    oche_time lost;     /* time lost to PAUSEs that began elsewhere */
    const char *root;   /* the port where most of `lost` began; NULL: none */
    bool victim;        /* `lost` is a large part of the flow's duration */
    const char *verb;   /* "write", "send" or "read" */
};

/* A node of the forest of PAUSEs: a hot spot, or a port that was held because of its parent. */
struct oche_results_pause {
    uint32_t id, parent; /* `parent`: id of a node added before, or UINT32_MAX for a hot spot */
    const char *port;    /* name of the port; NULL: unknown */
    uint32_t cls, depth;
    uint64_t pauses;
    /* `held`: how long the port was held; `first`, `last`: OCHE_NEVER if the port was not held */
    oche_time held, first, last;
    /* for a hot spot: number of nodes below it; number of hosts that sent through it */
    uint32_t ports, senders;
    bool returns; /* the port waits for itself, in a cycle */
};

struct oche_results_link {
    uint32_t a, b;               /* ids of the nodes at its ends */
    const char *port_a, *port_b; /* the ports at its ends: "host3", "tor0:host3" */
    uint64_t rate_bps;           /* in each direction */
    oche_time delay;
};

/* Counts over the packets of one flow that arrived. */
struct oche_results_way {
    uint64_t flow, packets, links, shortest, deflections;
};

/* A port on the path of a deflected flow. */
struct oche_results_path {
    uint32_t flow, hop, node;
    bool ordinary; /* on the path given by the routes, without lane and tokens; else on the actual
                      path */
    bool deflected;
    const char *port;
    uint32_t lane, tokens;
    oche_time time; /* when the message was deflected here; OCHE_NEVER: it was not */
};

/* Congestion at the ports of one kind of link, as sums over these ports. */
struct oche_results_congestion {
    const char *place;
    uint64_t ports, packets, marks;
    oche_time queueing, paused;
    double worst;           /* mean queueing time per packet at the worst port, in picoseconds */
    const char *worst_port; /* name of the worst port; NULL: no packet left any port */
    uint64_t queue_most;    /* bytes in the longest queue at one port; OCHE_NEVER: unknown */
};

/* A deflection: a switch sent a message by another port than the routes say. */
struct oche_results_deflection {
    oche_time time;
    uint32_t flow, node; /* `flow`: UINT32_MAX if unknown; `node`: the switch */
    /* ports of the switch: where the packet came in, and where it left */
    const char *in_port, *port;
    uint32_t lane, tokens; /* lane in which the packet left, and tokens left to the message */
};

/* A job (sim/graph/job.h). OCHE_NEVER, of any number: unknown. */
struct oche_results_job {
    uint32_t job; /* number of the workload */
    const char *title;
    uint32_t ranks;
    uint64_t bytes;
    oche_time start, end;
    uint64_t last_rank;
    oche_time late;
};

/* A repetition of a job or, if `name` is set, a phase of one. */
struct oche_results_repetition {
    uint32_t job, repetition, phase;
    const char *name; /* of the phase */
    oche_time begin, end;
    uint32_t last_rank;
};

#define OCHE_RESULTS_ACTIVITIES 4
struct oche_results_span {
    uint32_t job, rank;
    oche_time begin, end;
    oche_time times[OCHE_RESULTS_ACTIVITIES]; /* calculates, sends, receives, waits */
};

#define OCHE_RESULTS_PART ".part" /* appended to `path` while the file is unfinished */

/*
 * Begins the results file `path`. Only oche_results_finish replaces an existing file of that name,
 * and only if it has results of a run, of any schema, or is empty. Returns NULL, with the error
 * "path: what is wrong; …", if it has other contents or the file cannot be written.
 */
struct oche_results *oche_results_create(const char *path, struct oche_error *error);

/*
 * Functions that add rows. The first failure (such as a full disk) is kept and reported by
 * oche_results_finish; rows added after it are ignored.
 */
void oche_results_info(struct oche_results *results, const char *key, const char *value);
void oche_results_parameter(struct oche_results *results, const char *key, const char *value,
                            const char *unit, bool given);
/* Adds an override of the command line; they are added in order. */
void oche_results_override(struct oche_results *results, const char *assignment);
/* Adds the file that a parameter names. */
void oche_results_file(struct oche_results *results, const char *key, const char *path,
                       uint64_t digest);
/* Adds a metric. `value` must not be NAN, and each name may be added only once. */
void oche_results_metric(struct oche_results *results, const char *name, const char *unit,
                         const char *help, double value);
void oche_results_flow(struct oche_results *results, const struct oche_results_flow *flow);
void oche_results_pause(struct oche_results *results, const struct oche_results_pause *pause);
void oche_results_way(struct oche_results *results, const struct oche_results_way *way);
void oche_results_path(struct oche_results *results, const struct oche_results_path *path);
void oche_results_congestion(struct oche_results *results,
                             const struct oche_results_congestion *congestion);
void oche_results_deflection(struct oche_results *results,
                             const struct oche_results_deflection *deflection);
void oche_results_job(struct oche_results *results, const struct oche_results_job *job);
/* Adds a rank of a job. `host`: id of its node; `end` OCHE_NEVER: it has not ended. */
void oche_results_rank(struct oche_results *results, uint32_t job, uint32_t rank, uint32_t host,
                       oche_time end, oche_time busy);
void oche_results_repetition(struct oche_results *results,
                             const struct oche_results_repetition *repetition);
void oche_results_span(struct oche_results *results, const struct oche_results_span *span);
/* Adds one port of a deadlock. Ports are added in the order in which each waits for the next. */
void oche_results_deadlock(struct oche_results *results, uint32_t position, const char *port,
                           uint32_t cls);
void oche_results_counter(struct oche_results *results, const char *entity, const char *name,
                          uint64_t value);
/*
 * Adds a series that has no values yet. Returns its number, which the functions that add values
 * need.
 */
uint32_t oche_results_series(struct oche_results *results, const char *name, const char *entity,
                             const char *unit);
void oche_results_point(struct oche_results *results, uint32_t series, oche_time time,
                        double value);
/*
 * Adds a histogram without buckets; `unit` is the unit of the buckets' limits, `weight` the unit of
 * their weights. Returns its number, which oche_results_bucket needs.
 */
uint32_t oche_results_histogram(struct oche_results *results, const char *name, const char *entity,
                                const char *unit, const char *weight);
/* Adds the bucket [low, high) to a histogram; high OCHE_NEVER: the bucket has no upper limit. */
void oche_results_bucket(struct oche_results *results, uint32_t histogram, uint64_t low,
                         uint64_t high, uint64_t weight);

/*
 * Adds a node of the network. `pod`: number of the group that the node belongs to; UINT32_MAX:
 * none. Nodes must be added before links.
 */
void oche_results_node(struct oche_results *results, uint32_t id, const char *name,
                       const char *kind, uint32_t pod);
void oche_results_link(struct oche_results *results, const struct oche_results_link *link);

/*
 * Writes flows.csv, series.csv, metrics.csv and counters.csv into `folder`, each completely or not
 * at all. Must be called before oche_results_finish. Returns false, with an error, if that fails.
 */
bool oche_results_csv(struct oche_results *results, const char *folder, struct oche_error *error);

/*
 * Gives the file its final name. Returns false, with an error, if anything failed since
 * oche_results_create; then no file is left.
 */
bool oche_results_finish(struct oche_results *results, struct oche_error *error);

/* Discards the run's results and removes the unfinished file. */
void oche_results_abandon(struct oche_results *results);

/* Makes a folder and its missing parents. Returns false, with an error, if that fails. */
bool oche_results_folder(const char *path, struct oche_error *error);

#endif
