/* SPDX-License-Identifier: Apache-2.0 */
#include "device/verbs/facts.h"

#include <inttypes.h>
#include <stdio.h>

enum { WIDTH_1X = 1, WIDTH_4X = 2, WIDTH_8X = 4 };
enum { SPEED_2_5 = 1, SPEED_5 = 2, SPEED_10 = 8, SPEED_25 = 32, SPEED_50 = 64, SPEED_100 = 128 };

/* Other rates are rounded up. */
static const struct oche_link_speed link_speeds[] = {
    {OCHE_GBPS, WIDTH_1X, SPEED_2_5, 1, "SDR", 2500 * OCHE_MBPS},
    {10 * OCHE_GBPS, WIDTH_1X, SPEED_10, 1, "FDR10", 10 * OCHE_GBPS},
    {20 * OCHE_GBPS, WIDTH_4X, SPEED_5, 4, "DDR", 20 * OCHE_GBPS},
    {25 * OCHE_GBPS, WIDTH_1X, SPEED_25, 1, "EDR", 25 * OCHE_GBPS},
    {40 * OCHE_GBPS, WIDTH_4X, SPEED_10, 4, "FDR10", 40 * OCHE_GBPS},
    {50 * OCHE_GBPS, WIDTH_1X, SPEED_50, 1, "HDR", 50 * OCHE_GBPS},
    {100 * OCHE_GBPS, WIDTH_4X, SPEED_25, 4, "EDR", 100 * OCHE_GBPS},
    {200 * OCHE_GBPS, WIDTH_4X, SPEED_50, 4, "HDR", 200 * OCHE_GBPS},
    {400 * OCHE_GBPS, WIDTH_4X, SPEED_100, 4, "NDR", 400 * OCHE_GBPS},
    {UINT64_MAX, WIDTH_8X, SPEED_100, 8, "NDR", 800 * OCHE_GBPS},
};

const struct oche_link_speed *oche_link_speed(uint64_t bps)
{
    const struct oche_link_speed *row = link_speeds;

    while (row->bps < (bps != 0 ? bps : OV_LINE_RATE))
        row++;
    return row;
}

void oche_link_speed_print(const struct oche_link_speed *speed, char *text, size_t bytes)
{
    const uint64_t halves = speed->shown_bps / (500 * OCHE_MBPS);

    snprintf(text, bytes, "%" PRIu64 "%s Gb/sec (%uX %s)", halves / 2, halves % 2 != 0 ? ".5" : "",
             (unsigned)speed->lanes, speed->generation);
}
