/* SPDX-License-Identifier: Apache-2.0 */
/* NVIDIA ConnectX-4 Lx, as Lumina's tests expect it. */
#include "core/nic/profile.h"

static const struct oche_nic_cell cells[] = {
    {"nak_brings_cnp", {.u = false}, OCHE_EVIDENCE_CODE, "Lumina, check_nack_trigger_cnp"},
};

const struct oche_nic_profile oche_nic_connectx4lx = {
    .name = "connectx-4-lx",
    .title = "NVIDIA ConnectX-4 Lx",
    .cells = cells,
    .count = OCHE_COUNT_OF(cells),
};
