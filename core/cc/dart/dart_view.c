/* SPDX-License-Identifier: Apache-2.0 */
/* Looking at a Dart NIC (dart.c): what it thinks now, and what it has counted. */
#include "core/cc/dart/dart_state.h"

struct oche_dart_view oche_dart_look_at(const void *nic_state, uint32_t tenant)
{
    const struct dart_nic *d = nic_state;
    const struct dart_set *set = &d->sets[tenant < d->set_count ? tenant : 0];
    struct oche_dart_view view = {.state = d->state,
                                  .senders = set->auss.count,
                                  .told = set->said->told,
                                  .timeouts = set->auss.timeouts,
                                  .updates = d->updates,
                                  .not_come = set->auss.ahead_timeouts,
                                  .groups = set->look.seen[OCHE_LOOK_INSERTED],
                                  .void_groups = d->void_groups};

    for (unsigned i = OCHE_LOOK_WRONG; i < OCHE_LOOKS; i++)
        view.void_groups += set->look.seen[i];
    return view;
}

void oche_dart_count(const void *nic_state, struct oche_cc_counts *sum)
{
    const struct dart_nic *d = nic_state;

    for (uint32_t i = 0; i < d->set_count; i++) {
        const struct dart_set *set = &d->sets[i];
        sum->stamped_acks += set->said->acks;
        sum->groups += set->look.seen[OCHE_LOOK_INSERTED];
        sum->not_come += set->auss.ahead_timeouts;
        for (unsigned look = OCHE_LOOK_WRONG; look < OCHE_LOOKS; look++)
            sum->void_groups += set->look.seen[look];
    }
    sum->void_groups += d->void_groups;
}
