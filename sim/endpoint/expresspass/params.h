/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of ExpressPass at hosts; those of ports are in fabric/credit_shaper.h. */
#ifndef OCHE_SIM_ENDPOINT_EXPRESSPASS_PARAMS_H
#define OCHE_SIM_ENDPOINT_EXPRESSPASS_PARAMS_H

#include "core/param.h"

enum oche_xpass_feedback_kind { OCHE_XPASS_AUTHORS_CODE, OCHE_XPASS_PAPER };

struct oche_xpass_params {
    uint64_t payload_bytes; /* of a full frame */
    uint32_t feedback;      /* enum oche_xpass_feedback_kind */
    double alpha;           /* initial rate, as a share of the highest */
    double w_initial, w_least, w_most, w_step;
    double target_loss;   /* 0: see oche_xpass_target_loss */
    double jitter;        /* of the time between credits, in both directions, as a share of it */
    uint64_t size_jitter; /* a credit is up to this many bytes longer */
    oche_time rto;        /* timeout of a REQUEST without an answer, or without a credit */
    oche_time stop_timeout;
    oche_time idle; /* time without data before credits are stopped, while more is to be produced */
};

extern const struct oche_param_table oche_xpass_table;

/*
 * Returns NULL, or what is wrong and what would be right. `params` is a struct oche_xpass_params.
 */
const char *oche_xpass_check(const void *params);

/*
 * Returns the share of credits that may be lost; with the authors' code, the share at a rate near
 * 0.
 */
double oche_xpass_target_loss(const struct oche_xpass_params *params);

#endif
