/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profiles of real adapters: what is known of one, as values of habits (habits.h), each with its
 * source. A habit that no row gives is the ideal RNIC's. One file a profile, and a line in
 * core/nic/meson.build.
 *
 * A profile describes one firmware on one testbed: it is a set of claims, not a norm.
 */
#ifndef OCHE_CORE_NIC_PROFILE_H
#define OCHE_CORE_NIC_PROFILE_H

#include "core/nic/habits.h"

OCHE_C_BEGIN

/* How well a fact is known. */
enum oche_evidence {
    OCHE_EVIDENCE_DOCUMENTED, /* by the vendor */
    OCHE_EVIDENCE_MEASURED,   /* on hardware, by others; the source says by whom */
    OCHE_EVIDENCE_CODE,       /* from public code, a driver or a test */
    OCHE_EVIDENCE_PAPER,      /* from a paper */
    OCHE_EVIDENCE_FITTED,     /* to what was measured, by us or others */
    OCHE_EVIDENCE_ASSUMED,
    OCHE_EVIDENCES
};
const char *oche_evidence_name(enum oche_evidence evidence);

/* A value of a habit. */
struct oche_nic_cell {
    const char *key; /* of oche_nic_habits_table */
    union oche_value value;
    enum oche_evidence evidence;
    const char *source;
};

struct oche_nic_profile {
    const char *name;  /* "connectx-6" */
    const char *title; /* adapter and firmware, one line */
    const struct oche_nic_cell *cells;
    size_t count;
};

extern const struct oche_nic_profile *const oche_nic_profiles[];
extern const size_t oche_nic_profile_count;

/* Returns the profile called `name`, or NULL. */
const struct oche_nic_profile *oche_nic_profile_find(const char *name);

/* Sets the habits of the profile; habits that it does not give stay as they are. */
void oche_nic_profile_apply(const struct oche_nic_profile *profile, struct oche_nic_habits *habits);

/* Returns the profile's cell for a key, or NULL. */
const struct oche_nic_cell *oche_nic_profile_cell(const struct oche_nic_profile *profile,
                                                  const char *key);

OCHE_C_END

#endif
