/* SPDX-License-Identifier: Apache-2.0 */
/* The counters of a Dart NIC (dart.c), over all tenants. */
#include "core/cc/dart/dart_state.h"
#include "core/wire/opcode.h"

static uint64_t groups(const void *nic_state)
{
    const struct dart_nic *d = nic_state;
    uint64_t sum = 0;

    for (uint32_t i = 0; i < d->set_count; i++)
        sum += d->sets[i].look.seen[OCHE_LOOK_INSERTED];
    return sum;
}

static uint64_t not_come(const void *nic_state)
{
    const struct dart_nic *d = nic_state;
    uint64_t sum = 0;

    for (uint32_t i = 0; i < d->set_count; i++)
        sum += d->sets[i].auss.ahead_timeouts;
    return sum;
}

static uint64_t void_groups(const void *nic_state)
{
    const struct dart_nic *d = nic_state;
    uint64_t sum = d->void_groups;

    for (uint32_t i = 0; i < d->set_count; i++)
        sum += dart_void_lists(&d->sets[i]);
    return sum;
}

/* clang-format off */
static const struct oche_counter rows[] = {
    {.name = "updates", .offset = offsetof(struct dart_nic, updates_sent), .opcode = OCHE_SHARE,
     .label = "Dart: updates of the share sent",
     .help = "packets that told a sender its share between ACKs (updates)"},
    {.name = "share_acks", .offset = offsetof(struct dart_nic, share_acks),
     .opcode = OCHE_RC_ACK_SHARE,
     .label = "Dart: ACKs with a share",
     .help = "ACKs and NAKs that carried a share"},
    {.name = "groups", .value = groups,
     .label = "Dart: groups of senders announced",
     .help = "look-ahead: groups whose senders a receiver made to count"},
    {.name = "groups.not_come", .value = not_come,
     .label = "Dart: announced senders that did not begin in time",
     .help = "senders that were announced and did not begin in time"},
    {.name = "groups.told", .offset = offsetof(struct dart_nic, ahead_updates),
     .label = "Dart: idle senders told their share",
     .help = "idle senders that were told n when they were announced"},
    {.name = "groups.void", .value = void_groups,
     .label = "Dart: lists of senders not used",
     .help = "lists of senders that were void: wrong, unknown, another tenant's, or without place"},
};
/* clang-format on */

const struct oche_counters dart_counters = {"dart", rows, OCHE_COUNT_OF(rows)};
