/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVIDIA ConnectX-6 Dx, ConnectX-7 and BlueField. Their timeouts follow an adaptive profile; the
 * default one cannot be read, so nothing is said of it. `timeouts: adaptive` has one of your own.
 */
#include "core/nic/profile.h"

static const struct oche_nic_cell cells[] = {
    {"nak_brings_cnp",
     {.u = true},
     OCHE_EVIDENCE_MEASURED,
     "Incast benchmark report: 116,579 CNPs without a marked packet"},
    {"slow_restart",
     {.u = true},
     OCHE_EVIDENCE_MEASURED,
     "Incast benchmark report: as many roce_slow_restart_cnps as roce_adp_retrans"},
};

const struct oche_nic_profile oche_nic_connectx7 = {
    .name = "connectx-7",
    .title = "NVIDIA ConnectX-6 Dx, ConnectX-7, BlueField",
    .cells = cells,
    .count = OCHE_COUNT_OF(cells),
};
