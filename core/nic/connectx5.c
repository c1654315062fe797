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
    {"checks_each_packet",
     {.u = true},
     OCHE_EVIDENCE_MEASURED,
     "CX6-CX5-report, firmware 16.35.8002: of 4 KB 2 KB inside the region are written"},
    {"nak_brings_cnp",
     {.u = true},
     OCHE_EVIDENCE_CODE,
     "Lumina, check_nack_trigger_cnp; where NP and slow restart are on, the default"},
    {"cnp_interval",
     {.u = 4 * OCHE_US},
     OCHE_EVIDENCE_DOCUMENTED,
     "mlxconfig of an MCX555A-ECA: MIN_TIME_BETWEEN_CNPS 4"},
    {"ect_always", {.u = true}, OCHE_EVIDENCE_MEASURED, "simllm ANOM-06: whatever the TOS"},
    {"ingress_buffer", {.u = 262016}, OCHE_EVIDENCE_DOCUMENTED, "simllm, rnic_hw_profile"},
    {"drain_rate",
     {.u = 96600 * OCHE_MBPS},
     OCHE_EVIDENCE_FITTED,
     "simllm: a lone flow loses packets above 94 Gbit/s"},
    {"ingress_mark", {.u = 131008}, OCHE_EVIDENCE_FITTED, "simllm: half of the buffer"},
};

const struct oche_nic_profile oche_nic_connectx5 = {
    .name = "connectx-5",
    .title = "NVIDIA ConnectX-5 Ex, 100 Gbit/s",
    .cells = cells,
    .count = OCHE_COUNT_OF(cells),
};
