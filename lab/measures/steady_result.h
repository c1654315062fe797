/* SPDX-License-Identifier: Apache-2.0 */
/* The outcome of a run with --until-stable (lab/measures/steady.h). */
#ifndef OCHE_LAB_MEASURES_STEADY_RESULT_H
#define OCHE_LAB_MEASURES_STEADY_RESULT_H

#include "core/base.h"
#include "lab/measures/batch_means.h"

enum oche_steady_state {
    OCHE_STEADY_STABLE,
    OCHE_STEADY_SHORT,      /* fewer batches than are needed */
    OCHE_STEADY_FEW_FLOWS,  /* a batch has fewer flows than its value needs */
    OCHE_STEADY_ZERO,       /* the mean is 0, so a relative bound is undefined */
    OCHE_STEADY_CORRELATED, /* batches depend on each other too much, or there is a trend */
    OCHE_STEADY_BRIEF,      /* batches are shorter than flows */
    OCHE_STEADY_WIDE,       /* the interval is wider than requested */
};

struct oche_steady_result {
    char metric[192]; /* "": no metric was judged */
    double within;    /* the requested half width of the interval over the mean */
    enum oche_steady_state state;
    /* `interval.batches` is always valid, the rest unless the state is SHORT or FEW_FLOWS. */
    struct oche_batch_means interval;
    oche_time life;  /* mean flow time of a delivered byte; 0: no byte was delivered */
    oche_time batch; /* length of a batch */
    /* flows in a batch; flows that a batch needs; 0: not of flows */
    uint32_t fewest_flows, least_flows;
};

#endif
