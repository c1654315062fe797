/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calculation of DCQCN sec 4 (dcqcn.md#buffers), line by line with its numbers: headroom, PFC
 * thresholds, the longest queue at which ECN is sure to act first. The numbers come from fabric's
 * shared buffer, the code that the simulated switch uses too.
 */
#ifndef OCHE_CLI_BUFFERS_SIZES_H
#define OCHE_CLI_BUFFERS_SIZES_H

#include <stdio.h>

#include "core/base.h"
#include "params/figures.h"
#include "report/json.h"

#define OCHE_BUFFERS_MOST_PORTS  1024
#define OCHE_BUFFERS_MOST_KINDS  8
#define OCHE_BUFFERS_FRAME_EXTRA 18 /* Ethernet header and FCS, in bytes */
#define OCHE_BUFFERS_LEAST_RATE  OCHE_MBPS
#define OCHE_BUFFERS_MOST_RATE   (10000 * OCHE_GBPS)

/* A kind of ports: ports with equal links. */
struct oche_buffers_links {
    unsigned ports;
    uint64_t rate_bps;
    oche_time delay;
    double cable_m; /* cable length in metres that gives the delay; negative: not given */
};

struct oche_buffers_input {
    const char *chip;      /* name of the chip; NULL: none, the memory's size is given */
    const char *chip_note; /* remark on the chip; NULL: none */
    uint64_t buffer_bytes; /* OCHE_NEVER: that of the chip that oche_chip_for chooses */
    struct oche_buffers_links links[OCHE_BUFFERS_MOST_KINDS];
    unsigned kinds;      /* number of entries in `links`, at least 1 */
    unsigned ports;      /* number of ports of all kinds, at most OCHE_BUFFERS_MOST_PORTS */
    unsigned priorities; /* 0: as many as deployed switches are divided for */
    oche_time response;
    uint64_t mtu_bytes;
    /* headroom per port and priority; OCHE_NEVER: computed from the link */
    uint64_t headroom_bytes;
    double beta;         /* alpha times the priorities; 0: as many as those, alpha is 1 */
    bool by_beta;        /* with fewer priorities, beta stays the same and alpha changes */
    uint64_t kmin_bytes; /* kmin to check; OCHE_NEVER: none */
    uint64_t kmax_bytes; /* kmax to check, at least kmin; OCHE_NEVER: none */
    double pmax;         /* probability of a mark at kmax; negative: not given */
    uint64_t xoff_bytes; /* static PFC threshold to check; 0: none, the largest that fits */
};

/* Replaces automatic values by those of a scenario's switch with these ports. */
void oche_buffers_fill_in(struct oche_buffers_input *input);

/*
 * Prints the calculation; nothing in `input` is automatic. Returns true if the headroom and a given
 * xoff fit into the memory and kmin, if there is one, is sure to act before PFC: with the dynamic
 * threshold, or with the static one if xoff is given.
 */
bool oche_buffers_print_sizes(const struct oche_buffers_input *input, FILE *out);

/* Returns the calculation as an object. Sets *yes to the result of oche_buffers_print_sizes. */
struct json_object *oche_buffers_sizes_json(const struct oche_buffers_input *input, bool *yes);

/* Formats a number rounded down to tenths: "21,755.5". */
struct oche_figure oche_buffers_tenths(double value);

#endif
