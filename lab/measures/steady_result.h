/* SPDX-License-Identifier: Apache-2.0 */
/* The outcome of a run with --until-stable (lab/measures/steady.h). */
#ifndef OCHE_LAB_MEASURES_STEADY_RESULT_H
#define OCHE_LAB_MEASURES_STEADY_RESULT_H

#include "core/base.h"
#include "lab/measures/batch_means.h"

enum oche_steady_state {
    OCHE_STEADY_STABLE,
    OCHE_STEADY_SHORT,      /* fewer batches than are needed */
    OCHE_STEADY_FEW_FLOWS,  /* of some batch, fewer flows than its value needs */
    OCHE_STEADY_ZERO,       /* the mean is 0, of which no share can be taken */
    OCHE_STEADY_CORRELATED, /* batches depend on each other too much, or there is a trend */
    OCHE_STEADY_BRIEF,      /* batches are shorter than flows take */
    OCHE_STEADY_WIDE,       /* the interval is wider than was asked for */
};

struct oche_steady_result {
    char metric[192]; /* "": no metric was judged */
    double within;    /* half of the interval, over the mean, that was asked for */
    enum oche_steady_state state;
    /* `interval.batches` is always there, the rest unless the state is SHORT or FEW_FLOWS. */
    struct oche_batch_means interval;
    oche_time life;  /* for how long the flow of a delivered byte lasted, mean; 0: none was */
    oche_time batch; /* length of a batch */
    uint32_t fewest_flows, least_flows; /* of a batch; that a batch needs; 0: not of flows */
};

#endif
