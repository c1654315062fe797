/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The results of one run: one SQLite file. It is written beside its final place, in one
 * transaction, and moved there when it is complete; a run that fails leaves nothing behind.
 * store/run.sql has the tables and describes them.
 *
 * Times are picoseconds, sizes bytes, rates bits per second; "never" is NULL. Metrics alone are in
 * s, bps, bytes, count and ratio. `PRAGMA user_version` is OCHE_RESULTS_SCHEMA.
 *
 * Schema 3 had no metrics; in their place counters(entity, name, value) had sums under the entity
 * "all". A view of that name shows them still (store/old_counters.sql), for one version.
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
    oche_time delivered; /* when the receiver had the last byte; or OCHE_NEVER */
    oche_time completed; /* when it was acknowledged at the sender; or OCHE_NEVER */
    oche_time ideal;     /* from start to delivery if it were alone; 0: unknown */
    uint64_t retransmitted_packets, timeouts;
    const char *status; /* "completed", "unfinished", "failed: …" */
    bool measured;      /* false: it started during warm-up */
    oche_time held;     /* by PAUSEs, at the port of its path that was held longest */
    oche_time lost;     /* to PAUSEs that began elsewhere, mainly at */
    const char *root;   /* this port; NULL: none */
    bool victim;        /* `lost` is a large part of its time */
};

/*
 * A node of the forest of PAUSEs: a hot spot, or a port that was held because of the node above it.
 */
struct oche_results_pause {
    uint32_t id, parent; /* parent: the id of an earlier node, or UINT32_MAX */
    const char *port;    /* NULL: unknown */
    uint32_t cls, depth;
    uint64_t pauses;
    oche_time held, first, last; /* first, last: OCHE_NEVER if it was not held */
    uint32_t ports, senders;     /* for a hot spot: nodes below it, hosts that sent by it */
    bool returns;                /* it waits for itself */
};

struct oche_results_link {
    uint32_t a, b;               /* nodes */
    const char *port_a, *port_b; /* the ports at its ends: "host3", "tor0:host3" */
    uint64_t rate_bps;           /* in each direction */
    oche_time delay;
};

/* About the packets of a flow that arrived. */
struct oche_results_way {
    uint64_t flow, packets, links, shortest, deflections;
};

/* A port on the path of a deflected flow. */
struct oche_results_path {
    uint32_t flow, hop, node;
    bool ordinary; /* path given by the routes; it has no lane and no tokens */
    bool deflected;
    const char *port;
    uint32_t lane, tokens;
    oche_time time; /* of the deflection, or OCHE_NEVER */
};

/* About the ports of one kind of link. */
struct oche_results_congestion {
    const char *place;
    uint64_t ports, packets, marks;
    oche_time queueing, paused;
    double worst;           /* ps */
    const char *worst_port; /* NULL: nothing left there */
    uint64_t queue_most;    /* OCHE_NEVER: unknown */
};

/* A deflection: a message that a switch sent another way. */
struct oche_results_deflection {
    oche_time time;
    uint32_t flow, node;        /* flow: UINT32_MAX if unknown */
    const char *in_port, *port; /* of the switch: where the packet came in, and where it left */
    uint32_t lane, tokens;      /* lane in which it left, and tokens left */
};

#define OCHE_RESULTS_PART ".part" /* appended to the name of an unfinished file */

/*
 * Begins `path` (an existing file is replaced at the end). Returns NULL, with "path: what is wrong;
 * …", if it cannot be written.
 */
struct oche_results *oche_results_create(const char *path, struct oche_error *error);

/*
 * Functions that add rows. The first failure (such as a full disk) is kept and reported by
 * oche_results_finish; rows added after it are ignored.
 */
void oche_results_info(struct oche_results *results, const char *key, const char *value);
void oche_results_parameter(struct oche_results *results, const char *key, const char *value,
                            const char *unit, bool given);
/* One that is not NAN, each name once. */
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
/* The ports of a deadlock, in the order in which they wait. */
void oche_results_deadlock(struct oche_results *results, uint32_t position, const char *port,
                           uint32_t cls);
void oche_results_counter(struct oche_results *results, const char *entity, const char *name,
                          uint64_t value);
/* Names a series; returns its number. */
uint32_t oche_results_series(struct oche_results *results, const char *name, const char *entity,
                             const char *unit);
void oche_results_point(struct oche_results *results, uint32_t series, oche_time time,
                        double value);
/* Names a histogram; `unit` is that of low and high, `weight` that of the weights. */
uint32_t oche_results_histogram(struct oche_results *results, const char *name, const char *entity,
                                const char *unit, const char *weight);
/* Adds a bucket [low, high); high OCHE_NEVER: open. */
void oche_results_bucket(struct oche_results *results, uint32_t histogram, uint64_t low,
                         uint64_t high, uint64_t weight);

/*
 * `pod`: the same for nodes that belong together; UINT32_MAX: none. Nodes must be added before
 * links.
 */
void oche_results_node(struct oche_results *results, uint32_t id, const char *name,
                       const char *kind, uint32_t pod);
void oche_results_link(struct oche_results *results, const struct oche_results_link *link);

/*
 * Writes flows.csv, series.csv, metrics.csv and counters.csv into `folder`, each whole or not at
 * all. Before oche_results_finish. False and an error if that fails.
 */
bool oche_results_csv(struct oche_results *results, const char *folder, struct oche_error *error);

/*
 * Moves the file into place. Returns false, with an error, if anything failed; then no file is
 * left.
 */
bool oche_results_finish(struct oche_results *results, struct oche_error *error);

/* Discards the run; nothing is left behind. */
void oche_results_abandon(struct oche_results *results);

/* Makes a folder and those above it. Returns false, with an error, if that fails. */
bool oche_results_folder(const char *path, struct oche_error *error);

#endif
