/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A loss-recovery or a congestion-control scheme with parameters, as an argument:
 * improved_go_back_n,check_epsn=false
 */
#ifndef OCHE_TESTS_SUPPORT_SCHEME_H
#define OCHE_TESTS_SUPPORT_SCHEME_H

#include "core/cc/cc.h"
#include "core/recovery/recovery.h"

union scheme_params {
    uint64_t align;
    uint8_t bytes[512];
};

struct scheme {
    const struct oche_recovery_scheme *recovery;
    union scheme_params params;
};

struct congestion_scheme {
    const struct oche_cc_scheme *cc;
    union scheme_params params;
};

/* Reads `text`, which it cuts to pieces. False: `error` says what is wrong. */
bool scheme_parse(struct scheme *scheme, char *text, char *error, size_t error_bytes);
bool congestion_parse(struct congestion_scheme *scheme, char *text, char *error,
                      size_t error_bytes);
/* Reads a time: 20ms, 500us, never. */
bool time_parse(const char *text, oche_time *time, char *error, size_t error_bytes);

#endif
