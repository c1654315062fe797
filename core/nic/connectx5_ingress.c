/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVIDIA ConnectX-5 Ex as simllm measured it: a receiver that cannot take what comes sends CNPs by
 * itself, far fewer than its register allows (docs/papers/nics.md#cnps).
 */
#include "core/nic/profile.h"

static const struct oche_nic_cell cells[] = {
    {"timeouts",
     {.u = OCHE_TIMEOUTS_DOUBLING},
     OCHE_EVIDENCE_MEASURED,
     "linux-rdma/perftest#251: 2, 4, 8, 16 ms whatever -u is; RoGUE sec 5.2"},
    {"nak_brings_cnp",
     {.u = true},
     OCHE_EVIDENCE_CODE,
     "Lumina, check_nack_trigger_cnp; where NP and slow restart are on, the default"},
    {"cnp_interval",
     {.u = 3530 * OCHE_US},
     OCHE_EVIDENCE_FITTED,
     "simllm ANOM-16: 283 CNPs a second for each congested queue pair"},
    {"ect_always", {.u = true}, OCHE_EVIDENCE_MEASURED, "simllm ANOM-06: whatever the TOS"},
    {"vendor_errors",
     {.u = OCHE_VENDOR_ERRORS_CONNECTX},
     OCHE_EVIDENCE_MEASURED,
     "CX6-CX5-report, firmware 16.35.8002, 100 trials a fault (nics.md#errors)"},
    {"ingress_buffer", {.u = 262016}, OCHE_EVIDENCE_DOCUMENTED, "simllm, rnic_hw_profile"},
    {"drain_rate",
     {.u = 96600 * OCHE_MBPS},
     OCHE_EVIDENCE_FITTED,
     "simllm: a lone flow loses packets above 94 Gbit/s"},
    {"ingress_mark", {.u = 131008}, OCHE_EVIDENCE_FITTED, "simllm: half of the buffer"},
};

const struct oche_nic_profile oche_nic_connectx5_ingress = {
    .name = "connectx-5-ingress",
    .title =
        "NVIDIA ConnectX-5 Ex, 100 Gbit/s, with the CNPs that a full receiver was seen to send",
    .cells = cells,
    .count = OCHE_COUNT_OF(cells),
};
