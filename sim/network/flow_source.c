/* SPDX-License-Identifier: Apache-2.0 */
/* Draws the flows of sources. */
#include "sim/network/flow_source.h"

#include <stdlib.h>

uint32_t oche_flow_source_next_made(const struct oche_flow_source *source, uint32_t from)
{
    if (source->at == NULL)
        return from < source->made ? from : source->count;
    while (from < source->count) {
        const uint64_t bits = source->made_places[from / 64] >> from % 64;

        if (bits != 0) {
            from += (uint32_t)__builtin_ctzll(bits);
            break;
        }
        from = (from / 64 + 1) * 64;
    }
    return from < source->count ? from : source->count;
}

struct oche_flow_source oche_flow_source_copy(const struct oche_flow_source *source)
{
    struct oche_flow_source copy = *source;

    if (copy.at == NULL)
        return copy;
    copy.made = 0;
    const bool drawn = oche_flow_source_draw(&copy);
    OCHE_MUST(drawn);
    return copy;
}

bool oche_flow_source_draw(struct oche_flow_source *source)
{
    struct oche_flow_plan *flow = &source->flow;
    uint32_t next = source->first + source->made + 1; /* the number of the flow after this one */

    if (source->at != NULL) {
        if (source->made == source->count)
            return false;
        source->at(source, source->made, flow);
    } else if (source->draw == NULL ? source->made == source->count : !source->draw(source)) {
        return false;
    }
    if (source->chain) {
        if (source->made > 0)
            flow->start = OCHE_NEVER;
        flow->then_same_source = next < source->first + source->count ? next : OCHE_NO_FLOW;
    }
    flow->priority = flow->bytes <= source->priority_bytes;
    source->made++;
    return true;
}

uint32_t oche_flow_source_count(const struct oche_flow_source *source)
{
    struct oche_flow_source copy = *source;

    if (source->draw == NULL)
        return source->count;
    while (oche_flow_source_draw(&copy))
        continue;
    return copy.made;
}

struct oche_flow_source *oche_flow_sources_find(const struct oche_flow_sources *sources,
                                                uint32_t number)
{
    uint32_t low = 0, high = sources->count; /* sources before `low` begin at `number` or earlier */

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (sources->list[middle].first <= number)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || number - sources->list[low - 1].first >= sources->list[low - 1].count)
        return NULL;
    return &sources->list[low - 1];
}

void oche_flow_sources_free(struct oche_flow_sources *sources)
{
    for (uint32_t i = 0; i < sources->context_count; i++)
        sources->contexts[i].release(sources->contexts[i].context);
    free(sources->contexts);
    free(sources->list);
    *sources = (struct oche_flow_sources){.count = 0};
}
