/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/measures/load.h"

#include <math.h>

static double rate(uint64_t bytes, oche_time window)
{
    return (double)bytes * 8 * (double)OCHE_SEC / (double)window;
}

void oche_load_take(struct oche_load *load, const struct oche_world *world)
{
    struct oche_world_load of;

    *load = (struct oche_load){.known = false};
    oche_world_load(world, &of);
    if (!of.known)
        return;
    *load = (struct oche_load){
        .known = true,
        .alone = of.alone,
        .stopped = of.stopped,
        .from = of.from,
        .until = of.until,
        .window = of.until - of.from,
        .flows = of.flows,
        .offered_bps = rate(of.offered_bytes, of.until - of.from),
        .delivered_bps = rate(of.delivered_bytes, of.until - of.from),
        .share = (double)of.delivered_bytes / (double)of.offered_bytes,
        .drain_s = NAN,
    };
    if (of.stopped && of.drained != OCHE_NEVER)
        load->drain_s =
            of.drained > of.until ? (double)(of.drained - of.until) / (double)OCHE_SEC : 0;
    oche_utilisation_by_place(oche_world_topology(world), oche_world_load_line_bytes(world),
                              load->window, load->utilisation);
}
