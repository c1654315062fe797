/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A scenario: a YAML file and overrides, from which the configuration of a world is made. The
 * parameter tables of everything that has parameters define its keys.
 *
 *     name, description, seed, model, duration, warmup, …   at the root
 *     topology: {type: clos, …}
 *     switch: {…, tor: {…}}   host: {…}
 *     congestion_control: dcqcn      (or a map: {name: dcqcn, g: 1/256})
 *     recovery: go_back_n
 *     workload: [{type: poisson_cdf, load: 50%}, …]
 *     loss: {…}   failures: [{link: leaf0:spine1, at: 2ms}, …]   measure: {…}
 *     events: {file: events.yaml, port: tor0:host3}
 *     nics: [{hosts: "host2, host3", nic: connectx-5}]
 *     slow_receivers: [{hosts: host3, drain_rate: 10Gbps}, …]   pause_storms: [{…}, …]
 *     iofd: {…}                      and so on: a section for each mechanism of switches
 */
#ifndef OCHE_SIM_SCENARIO_SCENARIO_H
#define OCHE_SIM_SCENARIO_SCENARIO_H

#include "fabric/registry.h"
#include "params/error.h"
#include "params/mistakes.h"
#include "sim/scenario/bind.h"
#include "sim/world/config.h"

#define OCHE_MOST_SEED (UINT64_MAX - 1) /* as a parameter, UINT64_MAX means "never" */

/* A tier of switches, as topologies call it: a section within `switch`. */
struct oche_schema_tier {
    char name[32]; /* "switch.tor" */
    char help[200];
};

/* The sections that a scenario can have; entries of the registries are their variants. */
struct oche_schema {
    struct oche_section sections[16 + OCHE_MOST_MECHANISMS + OCHE_MOST_INNER_SECTIONS];
    size_t section_count;
    struct oche_schema_tier tiers[OCHE_MOST_INNER_SECTIONS];
    size_t tier_count;
    struct oche_variant topologies[32], workloads[32], schemes[64], recoveries[16];
};
void oche_schema_make(struct oche_schema *schema);

/* How a point of a sweep is computed. The fluid model is separate: a world simulates packets. */
enum oche_scenario_model {
    OCHE_MODEL_PACKETS,
    OCHE_MODEL_FLUID,
    OCHE_MODEL_BOTH, /* both, and the difference between their results */
};

struct oche_scenario {
    struct oche_document *document;
    struct oche_schema schema;
    struct oche_bindings bindings;
    const char *name;        /* as given, or the file's name without folder and extension */
    const char *description; /* or NULL */
    enum oche_scenario_model model;
    struct oche_world_config config; /* has 1 thread and no tap; points into this struct */
    const struct oche_switch_mechanism *mechanisms[OCHE_MOST_MECHANISMS];
    const void *mechanism_params[OCHE_MOST_MECHANISMS];
    bool refused; /* its sections do not fit together: only `bindings` may be used */
};

/* The sources of a scenario. */
struct oche_scenario_input {
    const char *name;        /* the file's name, for messages */
    const char *text;        /* contents of the file; NULL: the file is read */
    size_t bytes;            /* of `text` */
    const char *const *sets; /* overrides, applied in order */
    size_t set_count;
    /* If every value can be read and the sections do not fit together, return it as `refused`. */
    bool refused_too;
};

/*
 * Reads a scenario, applies the overrides, binds and checks. Returns NULL if anything is wrong; a
 * mistake is one line: "FILE:LINE: key: what is wrong; what would be right". Sets *mistakes to all
 * mistakes: first invalid overrides, then values that cannot be read, then, if all could be read,
 * values that contradict each other.
 */
struct oche_scenario *oche_scenario_read(const struct oche_scenario_input *input,
                                         struct oche_mistakes *mistakes);

/*
 * Reads the file `path` with `set_count` overrides. Returns NULL, with the first mistake in
 * `error`, if anything is wrong.
 */
struct oche_scenario *oche_scenario_open(const char *path, const char *const *sets,
                                         size_t set_count, struct oche_error *error);
/* As oche_scenario_open, but reads `text` from memory. Messages use `name` as the file's name. */
struct oche_scenario *oche_scenario_parse(const char *name, const char *text, size_t bytes,
                                          struct oche_error *error);
void oche_scenario_close(struct oche_scenario *scenario);

/*
 * Adds to a message of oche_world_create ("switch.kmin: …") the place in the file that it is about.
 */
void oche_scenario_place(const struct oche_scenario *scenario, const char *message,
                         struct oche_error *error);

#endif
