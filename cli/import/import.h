/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of `oche import`. */
#ifndef OCHE_CLI_IMPORT_IMPORT_H
#define OCHE_CLI_IMPORT_IMPORT_H

#include "lab/loggops/loggops.h"
#include "params/error.h"
#include "params/input_file.h"
#include "sim/foreign/translation.h"
#include "sim/graph/schedule_file.h"

/* Kinds of files. */
enum oche_import_kind {
    OCHE_IMPORT_SCHEDULE,
    OCHE_IMPORT_TOPOLOGY,
    OCHE_IMPORT_FLOWS,
    OCHE_IMPORT_CDF,
    OCHE_IMPORT_NS3_CONFIG,
    OCHE_IMPORT_CONFIG_DB,
};

struct oche_import {
    const char *path;                     /* NULL: not given */
    const char *out;                      /* the scenario to write; NULL: none */
    struct oche_schedule_reading reading; /* of a schedule */
    struct {
        const char *key, *value;
    } set[16]; /* what of it was given */
    unsigned set_count;
    struct oche_loggops model;
    bool given_S;   /* the limit of eager sends was given */
    bool has_model; /* an option gave it */
    bool json;
    struct oche_input_file file; /* read, unless the file is a schedule */
    const char *format;          /* of the file, in words */
    struct oche_translation to;
    char *owned[2];       /* malloc'd paths that `named` may point to */
    const char *named[2]; /* files that the scenario names, which it must not replace */
    bool replaced;        /* the scenario's file was there before */
};

/* ---- recognise.c ---- */

/* Finds what a file is, by its content. Returns false, with an error, if it is nothing known. */
bool oche_import_recognise(struct oche_import *import, enum oche_import_kind *kind,
                           struct oche_error *error);

/* ---- one function a kind: fills `to` and `format`, or returns false with an error ---- */

bool oche_import_topology(struct oche_import *import, struct oche_error *error);
bool oche_import_flows(struct oche_import *import, struct oche_error *error);
bool oche_import_cdf(struct oche_import *import, struct oche_error *error);
bool oche_import_ns3_config(struct oche_import *import, struct oche_error *error);
bool oche_import_config_db(struct oche_import *import, struct oche_error *error);

/* schedule.c: reads and prints; with `out` writes a scenario. Returns the exit status. */
int oche_import_schedule(struct oche_import *import);

struct oche_topology;

/* Builds the topology of a file. Returns false, with an error, if it is wrong. */
bool oche_import_build(const char *path, struct oche_topology *network, struct oche_error *error);

/* ---- flow_list.c ---- */

/* The contents of a list of flows. */
struct oche_import_list {
    uint32_t flows, hosts;             /* hosts: one more than the highest number */
    uint64_t bytes, smallest, largest; /* payload of all flows, of one */
    oche_time first, last;             /* starts */
    char remark[400];
};

/*
 * Reads a list of flows between hosts of `network`; NULL: of a network of any size, whose hosts
 * are host0, host1 and so on. `mtu_bytes` is the size of a packet, for lists that count packets.
 */
bool oche_import_read_list(const char *path, const struct oche_topology *network,
                           uint32_t mtu_bytes, struct oche_import_list *list,
                           struct oche_error *error);
/* Notes what it has, as the file `shown`. */
void oche_import_note_list(struct oche_translation *to, const char *shown,
                           const struct oche_import_list *list);

/* ---- scenario.c ---- */

/*
 * Adds a network for so many hosts, as the file has none: a star, or with more than 64 hosts leaves
 * and spines. `rate_bps` 0: the default's.
 */
void oche_import_network(struct oche_translation *to, uint64_t hosts, uint64_t rate_bps);
/* The rate of that network's hosts if `rate_bps` is 0. */
#define OCHE_IMPORT_RATE       (100 * OCHE_GBPS)
#define OCHE_IMPORT_MOST_HOSTS 65536

/*
 * Adds a file that the scenario names, with its path relative to the scenario. Returns false, with
 * an error, if the path cannot be written there.
 */
bool oche_import_set_file(struct oche_import *import, const char *section, const char *key,
                          const char *from, const char *path, struct oche_error *error);
/*
 * Writes the scenario, if `out` is given, and checks before that `oche run` takes it. Returns
 * false, with an error and without a file, if not.
 */
bool oche_import_write(struct oche_import *import, struct oche_error *error);

/* ---- print.c ---- */

void oche_import_print(const struct oche_import *import);
void oche_import_print_json(const struct oche_import *import);
/* Prints which file was written. */
void oche_import_print_scenario(const struct oche_import *import);

#endif
