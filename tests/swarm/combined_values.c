/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gives some drafts values that matter only in combination, as chance hardly ever draws them: a
 * headroom that full packets fill to its last byte, or samples of an endpoint's totals.
 */
#include <string.h>

#include "core/wire/opcode.h"
#include "sim/scenario/scenario.h"
#include "tests/swarm/plan.h"

#define MOST_FRAMES 6
#define SAMPLES     30

static const struct draft_part *part_of(const struct draft *draft, const char *section)
{
    for (uint32_t i = 0; i < draft->part_count; i++)
        if (strcmp(draft->parts[i].section->name, section) == 0)
            return &draft->parts[i];
    return NULL;
}

static uint64_t whole_of(struct draft *draft, const char *section, const char *key, uint64_t other)
{
    const struct draft_value *value = draft_find(draft, section, key);

    return value != NULL ? value->value.u : other;
}

/* A headroom of a few full packets from the middle of a message; too small for any link. */
static void fill_headroom(struct draft *draft, struct draw *draw)
{
    uint64_t mtu = whole_of(draft, "host", "mtu", 1024);
    bool ipv6 = whole_of(draft, "host", "ipv6", 0) != 0;

    if (draft_find(draft, "switch", "headroom_scale") != NULL || !draw_one_in(draw, 4))
        return;
    draft_set(draft, "switch", "headroom",
              (1 + draw_below(draw, MOST_FRAMES)) *
                  oche_frame_bytes(OCHE_RC_WRITE_MIDDLE, (uint32_t)mtu, ipv6));
}

/* Time series of RoGUE's gauges; some of these gauges are totals. */
static void sample_totals(struct draft *draft, struct draw *draw)
{
    const struct draft_part *scheme = part_of(draft, "congestion_control");
    uint64_t duration = whole_of(draft, "", "duration", OCHE_MS);

    if (scheme == NULL || strcmp(draft_variant_name(scheme), "rogue") != 0 || draw_one_in(draw, 3))
        return;
    draft_set(draft, "measure", "interval", duration / (2 + draw_below(draw, SAMPLES)) + 1);
    draft_set(draft, "measure", "rates", 1);
}

void draft_meet(struct draft *draft, struct draw *draw)
{
    if (draft_fills_queues(draw))
        fill_headroom(draft, draw);
    sample_totals(draft, draw);
}
