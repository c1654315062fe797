/* SPDX-License-Identifier: Apache-2.0 */
/* No adapter: the RNIC of the standard, without habits. */
#include "core/nic/profile.h"

const struct oche_nic_profile oche_nic_ideal = {
    .name = "ideal",
    .title = "the RNIC of the standard; what no other profile says is as here",
};
