/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of a verbs program that fail on demand, as the user writes them: reg_mr=3 is the third
 * call, create_qp=2..4:EAGAIN the second to the fourth, post_send=100.. all from the hundredth on.
 * Calls are counted from 1.
 */
#ifndef OCHE_PARAMS_FAIL_RULES_H
#define OCHE_PARAMS_FAIL_RULES_H

#include <stddef.h>
#include <stdint.h>

#include "params/error.h"

/* The calls that can fail; variants of a call, such as ibv_reg_mr_iova, are the same call. */
enum oche_call {
    OCHE_CALL_OPEN_DEVICE,
    OCHE_CALL_ALLOC_PD,
    OCHE_CALL_REG_MR,
    OCHE_CALL_CREATE_CQ,
    OCHE_CALL_CREATE_COMP_CHANNEL,
    OCHE_CALL_CREATE_QP,
    OCHE_CALL_CREATE_SRQ,
    OCHE_CALL_CREATE_AH,
    OCHE_CALL_ALLOC_MW,
    OCHE_CALL_MODIFY_QP,
    OCHE_CALL_POST_SEND,
    OCHE_CALL_POST_RECV,
    OCHE_CALLS
};

struct oche_fail_rule {
    uint64_t first, last; /* numbers of the calls that fail; first 0: none */
    int error;            /* an errno */
};

struct oche_fail_rules {
    struct oche_fail_rule of[OCHE_CALLS];
};

/* Reads a list of rules, separated by commas. Returns false, with an error, if it is wrong. */
bool oche_fail_rules_parse(struct oche_fail_rules *rules, const char *text,
                           struct oche_error *error);

/* Returns a call's name, without "ibv_". */
const char *oche_call_name(enum oche_call call);
/* Writes all names, "a, b, c". Returns `names`. */
const char *oche_call_names(char *names, size_t bytes);

#endif
