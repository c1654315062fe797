/* SPDX-License-Identifier: Apache-2.0 */
/* NVIDIA ConnectX-3, as RoGUE's authors found it. */
#include "core/nic/profile.h"

static const struct oche_nic_cell cells[] = {
    {"limiter_lag", {.u = 160000}, OCHE_EVIDENCE_PAPER, "RoGUE sec 3.3: up to 160KB"},
    {"resend_one_verb_at_a_time", {.u = true}, OCHE_EVIDENCE_PAPER, "RoGUE sec 5.2"},
};

const struct oche_nic_profile oche_nic_connectx3 = {
    .name = "connectx-3",
    .title = "NVIDIA ConnectX-3, 40 Gbit/s",
    .cells = cells,
    .count = OCHE_COUNT_OF(cells),
};
