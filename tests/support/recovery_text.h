/* SPDX-License-Identifier: Apache-2.0 */
/* A loss-recovery scheme with its parameters in one word: "go_back_n:nak_interval=5us,…". */
#ifndef OCHE_TESTS_SUPPORT_RECOVERY_TEXT_H
#define OCHE_TESTS_SUPPORT_RECOVERY_TEXT_H

#include "core/recovery/recovery.h"

#define RECOVERY_PARAMS_BYTES 256 /* enough for the parameters of any scheme */

struct recovery_choice {
    const struct oche_recovery_scheme *scheme;
    union {
        uint64_t aligned;
        uint8_t bytes[RECOVERY_PARAMS_BYTES];
    } params;
};

/* Parameters that are not named have their defaults. False: `error` says what is wrong. */
bool recovery_text_parse(const char *text, struct recovery_choice *choice, char *error,
                         size_t error_bytes);

#endif
