/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of Go-Back-0, for callers that set them without a scenario file. */
#ifndef OCHE_CORE_RECOVERY_GO_BACK_0_H
#define OCHE_CORE_RECOVERY_GO_BACK_0_H

#include "core/recovery/recovery.h"

struct oche_go_back_0_params {
    oche_time nak_interval;
    bool nak_exception;
};

extern const struct oche_recovery_scheme oche_recovery_go_back_0;

#endif
