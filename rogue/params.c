/* SPDX-License-Identifier: Apache-2.0 */
#include "rogue/param_rows.h"

#define LOWEST_RATE_OF_PAPER (10 * OCHE_GBPS)
#define SEGMENT              (UINT32_C(64) * 1024) /* at that rate */
#define LEAST_SEGMENT        (UINT32_C(8) * 1024)

const char *const rogue_transport_names[] = {"rc", "uc", NULL};
const char *const rogue_first_batch_names[] = {"window", "segment", NULL};

static const struct oche_param rows[] = {
    ROGUE_PARAM_ROWS,
};

const struct oche_param_table rogue_param_table = OCHE_PARAM_TABLE(rows, struct rogue_params);

const char *rogue_params_check(const struct rogue_params *params)
{
    if (params->alpha > params->beta)
        return "alpha is above beta: the window would grow and shrink at once";
    return NULL;
}

uint32_t rogue_segment_bytes(const struct rogue_params *params, uint64_t line_rate_bps)
{
    if (params->segment_bytes > 0)
        return (uint32_t)params->segment_bytes;
    if (line_rate_bps < LOWEST_RATE_OF_PAPER) {
        uint64_t bytes = SEGMENT * line_rate_bps / LOWEST_RATE_OF_PAPER / 1024 * 1024;
        return bytes > LEAST_SEGMENT ? (uint32_t)bytes : LEAST_SEGMENT;
    }
    if (line_rate_bps < 25 * OCHE_GBPS)
        return SEGMENT;
    return line_rate_bps < 75 * OCHE_GBPS ? 128 * 1024 : 256 * 1024;
}
