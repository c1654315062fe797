/* SPDX-License-Identifier: Apache-2.0 */
/* The list of profiles, made from the one in core/nic/meson.build, and what is read of them. */
#include "core/nic/profile.h"

#include <string.h>

#include "core/nic/profiles.h" /* made by Meson: OCHE_NIC_PROFILES is X(ideal) X(connectx6) … */

#define X(profile) extern const struct oche_nic_profile oche_nic_##profile;
OCHE_NIC_PROFILES
#undef X

const struct oche_nic_profile *const oche_nic_profiles[] = {
#define X(profile) &oche_nic_##profile,
    OCHE_NIC_PROFILES
#undef X
};

const size_t oche_nic_profile_count = OCHE_COUNT_OF(oche_nic_profiles);

static const char *const evidences[OCHE_EVIDENCES] = {[OCHE_EVIDENCE_DOCUMENTED] = "documented",
                                                      [OCHE_EVIDENCE_MEASURED] = "measured",
                                                      [OCHE_EVIDENCE_CODE] = "code",
                                                      [OCHE_EVIDENCE_PAPER] = "paper",
                                                      [OCHE_EVIDENCE_FITTED] = "fitted",
                                                      [OCHE_EVIDENCE_ASSUMED] = "assumed"};

const char *oche_evidence_name(enum oche_evidence evidence)
{
    return evidences[evidence];
}

const struct oche_nic_profile *oche_nic_profile_find(const char *name)
{
    for (size_t i = 0; i < oche_nic_profile_count; i++)
        if (strcmp(oche_nic_profiles[i]->name, name) == 0)
            return oche_nic_profiles[i];
    return NULL;
}

void oche_nic_profile_apply(const struct oche_nic_profile *profile, struct oche_nic_habits *habits)
{
    for (size_t i = 0; i < profile->count; i++) {
        const struct oche_param *param =
            oche_param_find(&oche_nic_habits_table, profile->cells[i].key);

        OCHE_MUST(param != NULL);
        oche_param_set(param, habits, profile->cells[i].value);
    }
}

const struct oche_nic_cell *oche_nic_profile_cell(const struct oche_nic_profile *profile,
                                                  const char *key)
{
    for (size_t i = 0; i < profile->count; i++)
        if (strcmp(profile->cells[i].key, key) == 0)
            return &profile->cells[i];
    return NULL;
}
