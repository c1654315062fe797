/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of ExpressPass at hosts; those of ports are fabric/credit_shaper.h's. */
#ifndef OCHE_SIM_ENDPOINT_EXPRESSPASS_PARAMS_H
#define OCHE_SIM_ENDPOINT_EXPRESSPASS_PARAMS_H

#include "core/param.h"

enum oche_xpass_feedback_kind { OCHE_XPASS_AUTHORS_CODE, OCHE_XPASS_PAPER };

struct oche_xpass_params {
    uint64_t payload_bytes; /* of a full frame */
    uint32_t feedback;      /* enum oche_xpass_feedback_kind */
    double alpha;           /* initial rate, as a share of the most */
    double w_initial, w_least, w_most, w_step;
    double target_loss;   /* 0: see oche_xpass_target_loss */
    double jitter;        /* of the time between credits, to both sides */
    uint64_t size_jitter; /* bytes that a credit is longer by, at most */
    oche_time rto;        /* without an answer to a request, without a credit */
    oche_time stop_timeout;
    oche_time idle; /* without data, while more is to be made */
};

extern const struct oche_param_table oche_xpass_table;

/* NULL, or what is wrong and what would be right. `params` is a struct oche_xpass_params. */
const char *oche_xpass_check(const void *params);

/* The share of credits that may be lost; by the authors' code: at a rate near 0. */
double oche_xpass_target_loss(const struct oche_xpass_params *params);

#endif
