/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of Improved Go-Back-N, for callers that set them without a scenario file. */
#ifndef OCHE_CORE_RECOVERY_IMPROVED_GO_BACK_N_H
#define OCHE_CORE_RECOVERY_IMPROVED_GO_BACK_N_H

#include "core/recovery/recovery.h"

struct oche_improved_go_back_n_params {
    oche_time nak_interval;
    bool nak_exception;
    bool send_twice, check_epsn, check_last;
};

extern const struct oche_recovery_scheme oche_recovery_improved_go_back_n;

#endif
