/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a scenario and judges it by rules that hold for every world (rules.c), and by twins. A twin
 * is a run that is computed in another way and must give the same results.
 */
#ifndef OCHE_TESTS_SWARM_JUDGE_H
#define OCHE_TESTS_SWARM_JUDGE_H

#include "sim/scenario/scenario.h"
#include "sim/world/world.h"

enum swarm_twin {
    TWIN_NONE,       /* the run itself: one thread, packets as structs */
    TWIN_TWO,        /* two threads */
    TWIN_THREE,      /* three threads */
    TWIN_BYTES,      /* every packet crosses links as bytes */
    TWIN_PAYLOAD,    /* with payload, which is checked */
    TWIN_UNMEASURED, /* without what is measured; the trace must be the same */
    TWIN_CAPTURED,   /* with a capture of all hosts' links */
    TWIN_LONGER,     /* runs for longer; unfinished flows must make progress */
    TWIN_UNSAMPLED,  /* without the time series that runs keep by default */
    TWIN_RANKS,      /* two to four processes */
    TWINS
};
extern const char *const swarm_twin_names[TWINS];

/* Events seen in a world, as bits. */
enum swarm_event_seen {
    SAW_PAUSES,
    SAW_DROPS,
    SAW_LOSSES, /* on links, by the section `loss` */
    SAW_CUTS,   /* on links that went down */
    SAW_RETRANSMISSIONS,
    SAW_TIMEOUTS,
    SAW_MARKS,
    SAW_CNPS,
    SAW_DEFLECTIONS,
    SAW_WAITS_FOR_CREDIT,
    SAW_FAILED_FLOWS,
    SAW_DEADLOCK,
    SAW_EVERY_FLOW_END,
    SWARM_EVENTS_SEEN
};
extern const char *const swarm_event_names[SWARM_EVENTS_SEEN];

enum swarm_kind {
    SWARM_FINE,
    SWARM_REFUSED, /* the reader refuses it; `text` is its message */
    SWARM_LONG,    /* stopped at time `stopped`, at the limit of events */
    SWARM_FINDING  /* `rule` is broken; `text` says how */
};

struct swarm_verdict {
    enum swarm_kind kind;
    enum swarm_twin twin;
    char rule[32];
    char text[1024];
    oche_time stopped;
    uint64_t hops, events;
    uint32_t twins;      /* the twins that have run, as a mask; some are too long */
    uint32_t saw;        /* of enum swarm_event_seen */
    uint32_t mechanisms; /* the mechanisms of its switches, as a mask over oche_switch_mechanisms */
    bool done;           /* every flow ended */
};

/*
 * Judges the run itself, of at most `most_events` events, and the twins in the mask `twins`.
 * Returns true if the world is fine.
 */
#define SWARM_MOST_EVENTS 250000
bool swarm_judge(const char *yaml, size_t bytes, uint32_t twins, uint64_t most_events,
                 struct swarm_verdict *verdict);

/* Returns how many flows a scenario plans; SWARM_NO_FLOWS: the scenario is refused. */
#define SWARM_NO_FLOWS UINT64_MAX
uint64_t swarm_flows(const char *yaml, size_t bytes, struct swarm_verdict *verdict);

/* Writes a finding. Returns false. */
bool swarm_finding(struct swarm_verdict *verdict, const char *rule, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The input of a rule: a world that has run, and the events that were seen on the way. */
struct swarm_run {
    struct oche_scenario *scenario;
    struct oche_world *world;
    struct oche_world_totals totals;
    const char *rule; /* the first rule that was broken during the run */
    char broken[256]; /* how it was broken; "": no rule was */
};

/*
 * adapters.c: true if some adapter has a habit that rules about single senders do not know: it
 * sends NAKs late, or repeats late; its timeouts are not those that were asked for.
 */
bool swarm_has_late_naks(const struct oche_world *world);
bool swarm_has_own_timeouts(const struct oche_world *world);

/* single_path.c: true if there is one path between any two hosts. */
bool swarm_ways_are_single(const struct oche_world_config *config);

/* events_seen.c: returns the events that a run had, as bits. */
uint32_t swarm_saw(const struct swarm_run *run);

/* rules.c: judges one run, without comparing it with others. */
bool swarm_rules(const struct swarm_run *run, struct swarm_verdict *verdict);
/* Every queue pair with work has something that will wake it (core/qp/wake.c). */
bool swarm_none_hangs(const struct oche_world *world, struct swarm_verdict *verdict);
/* The invariants of NICs, queue pairs and switches hold (core/qp/check.h, fabric/invariants.h). */
bool swarm_none_is_broken(const struct oche_world *world, struct swarm_verdict *verdict);
/* True if no event will ever happen again. */
bool swarm_is_silent(const struct oche_world *world);
/*
 * Notes (malloc'd) how far the flows have come. Compares with the notes of a shorter run:
 * unfinished flows must have made progress.
 */
uint64_t *swarm_note_arrived(const struct swarm_run *run);
bool swarm_all_came_on(const struct oche_world *world, const uint64_t *before);
bool swarm_comes_on(const struct swarm_run *longer, const uint64_t *before,
                    struct swarm_verdict *verdict);

/* watch.c: watches the trace of all nodes. One thread only. */
struct swarm_watch;
struct swarm_watch *swarm_watch_start(struct swarm_run *run);
void swarm_watch_end(struct swarm_watch *watch); /* the run is over */
void swarm_watch_free(struct swarm_watch *watch);

/* measures.c: computes measures a second time. Returns false, with a text, if they differ. */
struct oche_outcome;
bool swarm_measures(struct oche_world *world, const struct oche_outcome *outcome, char *text,
                    size_t room);

/* digest.c: lists all counts of a run, for comparison with a twin. */
struct swarm_digest;
struct swarm_digest *swarm_digest_take(struct swarm_run *run);
void swarm_digest_free(struct swarm_digest *digest);
bool swarm_digest_same(const struct swarm_digest *one, const struct swarm_digest *other,
                       struct swarm_verdict *verdict);
/*
 * Returns the name of a metric that is not finite, or of a share outside [0, 1], and its value;
 * NULL: there is none.
 */
const char *swarm_digest_strange(const struct swarm_digest *digest);

/* slow_hosts.c */
/*
 * Slow receivers: no more arrives than drains, a buffer holds no more than its size, and with
 * headroom for PFC it drops nothing. Storms pause all the time.
 */
bool swarm_slow_hosts(const struct swarm_run *run, bool lossless, struct swarm_verdict *verdict);
/* Returns when the last storm is over, and every buffer that was full at `last` has drained. */
oche_time swarm_slow_until(const struct oche_world *world, oche_time last);

#endif
