/* SPDX-License-Identifier: Apache-2.0 */
/* NVIDIA ConnectX-5. */
#include "core/nic/profile.h"

static const struct oche_nic_cell cells[] = {
    {"timeouts",
     {.u = OCHE_TIMEOUTS_DOUBLING},
     OCHE_EVIDENCE_MEASURED,
     "linux-rdma/perftest#251: 2, 4, 8, 16 ms whatever -u is; RoGUE sec 5.2"},
    {"vendor_errors",
     {.u = OCHE_VENDOR_ERRORS_CONNECTX},
     OCHE_EVIDENCE_MEASURED,
     "CX6-CX5-report, firmware 16.35.8002, 100 trials a fault (nics.md#errors)"},
};

const struct oche_nic_profile oche_nic_connectx5 = {
    .name = "connectx-5",
    .title = "NVIDIA ConnectX-5 Ex, 100 Gbit/s",
    .cells = cells,
    .count = OCHE_COUNT_OF(cells),
};
