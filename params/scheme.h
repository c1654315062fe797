/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A congestion-control or a loss-recovery scheme with parameters, for the wire, as users write it:
 * dcqcn; improved_go_back_n,check_epsn=false; timely,t_low=5ms,t_high=50ms.
 */
#ifndef OCHE_PARAMS_SCHEME_H
#define OCHE_PARAMS_SCHEME_H

#include "core/cc/cc.h"
#include "core/recovery/recovery.h"
#include "params/error.h"

#define OCHE_SCHEME_NAMES_BYTES 500 /* enough for all names together */

/* The parameters of any scheme. */
union oche_scheme_params {
    uint64_t align;
    uint8_t bytes[512];
};

struct oche_cc_choice {
    const struct oche_cc_scheme *cc;
    union oche_scheme_params params;
    /* bit i: row i of the scheme's table was not given, nor a preset (oche_cc_advice.fit) */
    uint64_t free;
};

struct oche_recovery_choice {
    const struct oche_recovery_scheme *recovery;
    union oche_scheme_params params;
    uint64_t free; /* as above */
};

/*
 * Parses a scheme; parameters that are not given have their defaults. Returns false if `text` is
 * wrong; `error` tells what is wrong and what would be right.
 */
bool oche_cc_parse(struct oche_cc_choice *choice, const char *text, struct oche_error *error);
bool oche_recovery_parse(struct oche_recovery_choice *choice, const char *text,
                         struct oche_error *error);

/*
 * Parses KEY=VALUE,… alone, for a table whose struct fits into `params`. `name` is what errors call
 * the scheme.
 */
bool oche_params_parse(const char *name, const struct oche_param_table *table,
                       union oche_scheme_params *params, const char *text,
                       struct oche_error *error);

/*
 * Write the names that can be chosen, "a, b, c"; of congestion control only schemes that run on the
 * wire.
 */
const char *oche_cc_names(char *names, size_t bytes);
const char *oche_recovery_names(char *names, size_t bytes);

#endif
