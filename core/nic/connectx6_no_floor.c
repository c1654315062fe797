/* SPDX-License-Identifier: Apache-2.0 */
/* NVIDIA ConnectX-6 VPI that takes short timeouts. */
#include "core/nic/profile.h"

static const struct oche_nic_cell cells[] = {
    {"timeouts",
     {.u = OCHE_TIMEOUTS_CONNECTX6},
     OCHE_EVIDENCE_MEASURED,
     "CX6-report, table B (nics.md#connectx-6)"},
    {"min_ack_timeout_limit_disabled",
     {.u = true},
     OCHE_EVIDENCE_MEASURED,
     "CX6-report, table B; the first expiry is the median for each timeout"},
    {"vendor_errors",
     {.u = OCHE_VENDOR_ERRORS_CONNECTX},
     OCHE_EVIDENCE_MEASURED,
     "CX6-CX5-report, firmware 20.40.1000, 100 trials a fault (nics.md#errors)"},
    {"nak_brings_cnp",
     {.u = true},
     OCHE_EVIDENCE_CODE,
     "Lumina, check_nack_trigger_cnp; where NP and slow restart are on, the default"},
};

const struct oche_nic_profile oche_nic_connectx6_no_floor = {
    .name = "connectx-6-no-floor",
    .title = "NVIDIA ConnectX-6 VPI, firmware 20.43.4100, min_ack_timeout_limit_disabled",
    .cells = cells,
    .count = OCHE_COUNT_OF(cells),
};
