/* SPDX-License-Identifier: Apache-2.0 */
/* Intel E810, as Lumina's tests expect it. */
#include "core/nic/profile.h"

static const struct oche_nic_cell cells[] = {
    {"nak_brings_cnp", {.u = false}, OCHE_EVIDENCE_CODE, "Lumina, check_nack_trigger_cnp"},
    {"cnp_interval", {.u = 0}, OCHE_EVIDENCE_CODE, "Lumina: cannot be set, its checker takes 0"},
};

const struct oche_nic_profile oche_nic_e810 = {
    .name = "e810",
    .title = "Intel E810",
    .cells = cells,
    .count = OCHE_COUNT_OF(cells),
};
