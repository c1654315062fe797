/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "rogue/param_rows.h"

#define LOWEST_RATE_OF_PAPER (10 * OCHE_GBPS)
#define SEGMENT              (UINT32_C(64) * 1024) /* at that rate */
#define LEAST_SEGMENT        (UINT32_C(8) * 1024)
#define BPS_PER_PACKET_BYTE  (10 * OCHE_MBPS) /* packet_bytes: 1 KB for each 10 Gbit/s */
#define LINE_TO_STEP         10               /* rate_step: 1 Gbit/s for each 10 Gbit/s */

const char *const rogue_transport_names[] = {"rc", "uc", NULL};
const char *const rogue_first_batch_names[] = {"window", "segment", NULL};
const char *const rogue_vegas_divisor_names[] = {"rtt", "base_rtt", NULL};

static const struct oche_param rows[] = {
    ROGUE_PARAM_ROWS,
};

const struct oche_deployed rogue_deployed[ROGUE_DEPLOYED_COUNT] = {
    {"packet_bytes", {.u = OCHE_NEVER}},
    {"rate_step", {.u = OCHE_NEVER}},
};

const struct oche_param_table rogue_param_table =
    OCHE_PARAM_TABLE_DEPLOYED(rows, struct rogue_params, rogue_deployed);

const char *rogue_params_check(const struct rogue_params *params)
{
    if (params->alpha > params->beta)
        return "alpha is above beta: the window would grow and shrink at once";
    return NULL;
}

const char *rogue_verbs_check(const char *text)
{
    static const char *const refused[][2] = {
        {"transport", "transport: not given here; it is what the program's queue pair is"},
        {"hardware_retries", "hardware_retries: only the simulator has it; here it is 1"},
        {"verb_bytes", "verb_bytes: only the simulator has it; here the program posts verbs"},
        {"verb", "verb: only the simulator has it; here the program posts verbs"},
        {"rtt_noise", "rtt_noise: only the simulator has it"},
    };

    for (; *text != '\0'; text += *text == ',') {
        size_t length = strcspn(text, ",");
        for (size_t i = 0; i < OCHE_COUNT_OF(refused); i++) {
            size_t name = strlen(refused[i][0]);
            if (strncmp(text, refused[i][0], name) == 0 && (name == length || text[name] == '='))
                return refused[i][1];
        }
        text += length;
    }
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

uint64_t rogue_packet_bytes(const struct rogue_params *params, uint64_t line_rate_bps,
                            uint32_t mtu_bytes)
{
    uint64_t bytes = params->packet_bytes;

    if (bytes == OCHE_NEVER)
        bytes = line_rate_bps / BPS_PER_PACKET_BYTE;
    else if (bytes > 0)
        return bytes;
    return bytes > mtu_bytes ? bytes : mtu_bytes;
}

uint64_t rogue_rate_step(const struct rogue_params *params, uint64_t line_rate_bps)
{
    return params->rate_step != OCHE_NEVER ? params->rate_step : line_rate_bps / LINE_TO_STEP;
}
