/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parameter table. ns2-xpass is the authors' simulator; expresspass.md lists the values in this
 * simulator and the values that the paper is said to use (Cho et al., SIGCOMM 2017).
 */
#include "sim/endpoint/expresspass/params.h"

static const char *const feedbacks[] = {
    [OCHE_XPASS_AUTHORS_CODE] = "code", [OCHE_XPASS_PAPER] = "paper", NULL};

static const struct oche_param params[] = {
    {OCHE_PARAM_AS("payload", struct oche_xpass_params, payload_bytes),
     OCHE_IS_BYTES(1460, 64, 8900), .where = "expresspass.md#credits",
     .help = "payload of a full frame; the share of links that credits get follows from it"},
    {OCHE_PARAM(struct oche_xpass_params, feedback),
     OCHE_IS_CHOICE(OCHE_XPASS_AUTHORS_CODE, feedbacks),
     .where = "ns2-xpass; ExpressPass sec 3.2; expresspass.md#feedback",
     .help = "how a receiver sets a flow's credit rate: as the authors' simulator, or their paper"},
    {OCHE_PARAM(struct oche_xpass_params, alpha), OCHE_IS_REAL(0.5, 0.0001, 1),
     .where = "ns2-xpass; expresspass.md#parameters",
     .help = "credit rate at first, as a share of the highest that the receiver's link "
             "allows"},
    {OCHE_PARAM(struct oche_xpass_params, w_initial), OCHE_IS_REAL(0.5, 0.0001, 1),
     .where = "ExpressPass sec 3.2; ns2-xpass; expresspass.md#parameters",
     .help = "aggressiveness at first"},
    {OCHE_PARAM(struct oche_xpass_params, w_least), OCHE_IS_REAL(0.01, 0.0001, 1),
     .where = "ExpressPass sec 3.2; ns2-xpass; expresspass.md#feedback",
     .help = "least aggressiveness: losses of credits halve it down to this"},
    {OCHE_PARAM(struct oche_xpass_params, w_most), OCHE_IS_REAL(0.5, 0.0001, 1),
     .where = "ExpressPass sec 3.2; ns2-xpass; expresspass.md#feedback",
     .help = "most aggressiveness: it grows up to this without losses"},
    {OCHE_PARAM(struct oche_xpass_params, w_step), OCHE_IS_REAL(0.05, 0, 1),
     .where = "ns2-xpass; expresspass.md#parameters",
     .help = "feedback code: growth in each good round trip that follows another"},
    {OCHE_PARAM(struct oche_xpass_params, target_loss), OCHE_IS_REAL(0, 0, 0.9),
     .where = "ns2-xpass; ExpressPass sec 3.2; expresspass.md#feedback",
     .help = "share of credits that may be lost before a flow slows down; with feedback: "
             "code it is multiplied by the unused share of the full rate; 0: 0.125 with "
             "code, 0.1 with paper"},
    {OCHE_PARAM(struct oche_xpass_params, jitter), OCHE_IS_REAL(0.1, 0, 0.9),
     .where = "expresspass.md#jitter",
     .help = "credits come earlier or later by up to this share of the time between two"},
    {OCHE_PARAM(struct oche_xpass_params, size_jitter), OCHE_IS_BYTES(0, 0, 64),
     .where = "ExpressPass sec 3.1; expresspass.md#jitter",
     .help = "a credit is longer than the least frame by up to this, at random"},
    {OCHE_PARAM(struct oche_xpass_params, rto), OCHE_IS_TIME(100 * OCHE_MS, OCHE_US, 60 * OCHE_SEC),
     .where = "ns2-xpass; expresspass.md#parameters",
     .help = "a sender that gets no credits for this long asks again; a receiver that gets "
             "no data stops"},
    {OCHE_PARAM(struct oche_xpass_params, stop_timeout),
     OCHE_IS_TIME(2 * OCHE_MS, OCHE_US, 60 * OCHE_SEC),
     .where = "ns2-xpass; expresspass.md#stop-timeout",
     .help = "a request to stop credits is sent again if it is not answered in this time"},
    {OCHE_PARAM(struct oche_xpass_params, idle), OCHE_IS_TIME(100 * OCHE_US, 0, 60 * OCHE_SEC),
     .where = "our choice; expresspass.md#idle",
     .help = "a sender whose application has made nothing new for this long stops its credits"},
};

const struct oche_param_table oche_xpass_table = OCHE_PARAM_TABLE(params, struct oche_xpass_params);

const char *oche_xpass_check(const void *values)
{
    const struct oche_xpass_params *p = values;

    if (p->w_least > p->w_most)
        return "w_least: is above w_most; make it at most that";
    if (p->w_initial < p->w_least || p->w_initial > p->w_most)
        return "w_initial: is not between w_least and w_most; make it one of them, or in between";
    return NULL;
}

double oche_xpass_target_loss(const struct oche_xpass_params *p)
{
    if (p->target_loss > 0)
        return p->target_loss;
    return p->feedback == OCHE_XPASS_PAPER ? 0.1 : 0.125;
}
