/* SPDX-License-Identifier: Apache-2.0 */
/* NVIDIA ConnectX-4, as RoGUE's authors found it. */
#include "core/nic/profile.h"

static const struct oche_nic_cell cells[] = {
    {"limiter_lag", {.u = 160000}, OCHE_EVIDENCE_PAPER, "RoGUE sec 3.3: up to 160KB"},
};

const struct oche_nic_profile oche_nic_connectx4 = {
    .name = "connectx-4",
    .title = "NVIDIA ConnectX-4",
    .cells = cells,
    .count = OCHE_COUNT_OF(cells),
};
