/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of ExpressPass at hosts; fabric/credit_shaper.h has the parameters of ports. */
#ifndef OCHE_SIM_ENDPOINT_EXPRESSPASS_PARAMS_H
#define OCHE_SIM_ENDPOINT_EXPRESSPASS_PARAMS_H

#include "core/param.h"

enum oche_xpass_feedback_kind { OCHE_XPASS_AUTHORS_CODE, OCHE_XPASS_PAPER };

struct oche_xpass_params {
    uint64_t payload_bytes; /* payload of a full frame */
    uint32_t feedback;      /* enum oche_xpass_feedback_kind */
    double alpha;           /* initial rate, as a share of the highest */
    double w_initial, w_least, w_most, w_step;
    double target_loss;   /* 0: see oche_xpass_target_loss */
    double jitter;        /* the time between credits varies up or down by at most this share */
    uint64_t size_jitter; /* a credit is longer by a random 0 to size_jitter bytes */
    oche_time rto;        /* timeout if a REQUEST gets no answer, or credits are missing */
    oche_time stop_timeout;
    /* While a flow is still being produced: credits are stopped after this time without data. */
    oche_time idle;
};

extern const struct oche_param_table oche_xpass_table;

/* Returns an error message, or NULL if all is well. `params` is a struct oche_xpass_params. */
const char *oche_xpass_check(const void *params);

/*
 * Returns the target loss: the share of credits that may be lost. With the authors' formula, which
 * depends on the rate, this is the share at a rate near 0.
 */
double oche_xpass_target_loss(const struct oche_xpass_params *params);

#endif
