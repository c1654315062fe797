/* SPDX-License-Identifier: Apache-2.0 */
/* NVIDIA ConnectX-6 VPI with its registers at their defaults. */
#include "core/nic/profile.h"

static const struct oche_nic_cell cells[] = {
    {"timeouts",
     {.u = OCHE_TIMEOUTS_CONNECTX6},
     OCHE_EVIDENCE_MEASURED,
     "CX6-report, tables A1 and A2 (nics.md#connectx-6)"},
    {"vendor_errors",
     {.u = OCHE_VENDOR_ERRORS_CONNECTX},
     OCHE_EVIDENCE_MEASURED,
     "CX6-CX5-report, firmware 20.40.1000, 100 trials a fault (nics.md#errors)"},
    {"checks_each_packet",
     {.u = true},
     OCHE_EVIDENCE_MEASURED,
     "CX6-CX5-report, firmware 20.40.1000: of 4 KB 2 KB inside the region are written"},
    {"nak_brings_cnp",
     {.u = true},
     OCHE_EVIDENCE_CODE,
     "Lumina, check_nack_trigger_cnp; where NP and slow restart are on, the default"},
};

const struct oche_nic_profile oche_nic_connectx6 = {
    .name = "connectx-6",
    .title = "NVIDIA ConnectX-6 VPI, firmware 20.43.4100, registers at their defaults",
    .cells = cells,
    .count = OCHE_COUNT_OF(cells),
};
