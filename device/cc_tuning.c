/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tunes the parameters of congestion control (oche_cc_advice.fit). When the device opens it uses
 * the line's rate, and later the round trips that queue pairs measure: of each connection the
 * shortest so far, and of these the longest.
 */
#include "core/cc/cc_advice.h"
#include "device/internal.h"

#define FIRST_INTERVAL (100 * OCHE_MS) /* between two looks until something was measured */
#define INTERVAL       OCHE_SEC        /* and then */
#define LONGEST_TRIP   (100 * OCHE_MS) /* longer ones are due to queues or stopped processes */

/* The adapter's habits replace some parameters. */
static void fit_adapter(struct oche_device *device)
{
    const struct oche_cc_scheme *cc = device->config.cc;

    oche_nic_habits_fit(&device->habits, &cc->table, device->cc_params, cc->check);
}

static void fit(struct oche_device *device)
{
    device->config.cc->advice->fit(device->cc_params, device->config.cc_free, &device->network);
    fit_adapter(device);
}

void device_tune_at_open(struct oche_device *device)
{
    device->tuning_at = OCHE_NEVER;
    fit_adapter(device);
    device->network = (struct oche_cc_network){.line_rate_bps = device->config.line_rate_bps};
    if (device->config.cc->advice == NULL || device->config.cc->advice->fit == NULL)
        return;
    fit(device);
    device->tuning_at = 0;
}

/* Returns the round trip to the farthest peer; 0: none was measured. */
static oche_time farthest(const struct oche_device *device) OCHE_NEEDS(device_lock)
{
    oche_time trip = 0;

    for (const struct owned *owned = device->qps; owned != NULL; owned = owned->next) {
        const oche_time least =
            oche_qp_least_rtt((const struct oche_qp *)(const void *)(owned + 1));
        if (least != OCHE_NEVER && least > trip)
            trip = least;
    }
    return oche_time_min(trip, LONGEST_TRIP);
}

void device_tune(struct oche_device *device, oche_time now)
{
    const oche_time trip = farthest(device), before = device->network.round_trip;

    device->tuning_at = now + (trip != 0 ? INTERVAL : FIRST_INTERVAL);
    if (trip == 0 || (trip <= before + before / 4 && before <= trip + trip / 4))
        return;
    device->network.round_trip = trip;
    fit(device);
}
