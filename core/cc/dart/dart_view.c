/* SPDX-License-Identifier: Apache-2.0 */
/* The current state of a Dart NIC (dart.c), as one tenant's senders see it. */
#include "core/cc/dart/dart_state.h"

struct oche_cc_senders dart_counts(const void *nic_state)
{
    const struct dart_nic *d = nic_state;
    struct oche_cc_senders senders = {.told = d->sets[0].said->told};

    for (uint32_t i = 0; i < d->set_count; i++)
        senders.counted += d->sets[i].auss.count;
    senders.counted += d->elsewhere.senders; /* senders of the port's other NICs */
    if (d->set_count > 1)                    /* each tenant is told another n, in fractions */
        senders.told = senders.counted;
    return senders;
}

struct oche_dart_view oche_dart_look_at(const void *nic_state, uint32_t tenant)
{
    const struct dart_nic *d = nic_state;
    const struct dart_set *set = &d->sets[tenant < d->set_count ? tenant : 0];

    return (struct oche_dart_view){.state = d->state,
                                   .senders = set->auss.count,
                                   .told = set->said->told,
                                   .timeouts = set->auss.timeouts,
                                   .updates = d->updates,
                                   .not_come = set->auss.ahead_timeouts,
                                   .groups = set->look.seen[OCHE_LOOK_INSERTED],
                                   .void_groups = d->void_groups + dart_void_lists(set)};
}
