/* SPDX-License-Identifier: Apache-2.0 */
/* Telemetry of each egress port; see the header. */
#include "fabric/int_stamp.h"

#include "core/wire/telemetry.h"
#include "fabric/switch.h"

static const struct oche_param table[] = {
    {OCHE_PARAM_AS("least_queue", struct oche_int_stamp_params, least_queue_bytes),
     OCHE_IS_BYTES(0, 0, 1 << 30), .where = "our choice (HPCC-sim: 0)",
     .help = "queues below this are reported as empty"},
};

static const struct oche_param_table params = OCHE_PARAM_TABLE(table, struct oche_int_stamp_params);

enum { RECORDS, FULL, COUNTERS };

static const struct oche_switch_counter counters[COUNTERS] = {
    [RECORDS] = {"records", "records that ports have added to data packets", false},
    [FULL] = {"full", "data packets that had no room for one more record", false},
};

struct port {
    uint64_t rate_bps;
    uint64_t sent_bytes, queued_bytes; /* on the line, with gaps */
};

struct int_stamp {
    const struct oche_int_stamp_params *params;
    uint64_t counted[COUNTERS];
    struct port port[];
};

static size_t state_bytes(const struct oche_switch_config *config, const void *values)
{
    (void)values;
    return sizeof(struct int_stamp) + config->port_count * sizeof(struct port);
}

static void create(void *state, const struct oche_switch_config *config, const void *values)
{
    struct int_stamp *stamp = state;

    stamp->params = values;
    for (uint32_t i = 0; i < config->port_count; i++)
        stamp->port[i].rate_bps = config->ports[i].rate_bps;
}

static void enqueue(void *state, struct oche_switch *sw, unsigned number,
                    struct oche_packet *packet, oche_time now)
{
    struct int_stamp *stamp = state;

    (void)sw, (void)now;
    stamp->port[number].queued_bytes += packet->frame_bytes + OCHE_GAP_BYTES;
}

static void dequeue(void *state, struct oche_switch *sw, unsigned number,
                    struct oche_packet *packet, oche_time now)
{
    struct int_stamp *stamp = state;
    struct port *port = &stamp->port[number];
    const uint32_t bytes = packet->frame_bytes + OCHE_GAP_BYTES;

    (void)sw;
    port->queued_bytes -= bytes;
    if (oche_has_telemetry(packet)) {
        const bool some = port->queued_bytes >= stamp->params->least_queue_bytes;
        const struct oche_hop hop = {
            .rate_bps = port->rate_bps,
            .sent_bytes = port->sent_bytes,
            .queue_bytes = some ? port->queued_bytes : 0,
            .time_ns = (uint32_t)(now / OCHE_NS),
        };

        stamp->counted[oche_telemetry_add(oche_telemetry_of(packet), &hop) ? RECORDS : FULL]++;
    }
    port->sent_bytes += bytes;
}

static void discard(void *state, struct oche_switch *sw, unsigned number,
                    const struct oche_packet *packet)
{
    struct int_stamp *stamp = state;

    (void)sw;
    stamp->port[number].queued_bytes -= packet->frame_bytes + OCHE_GAP_BYTES;
}

static void read_counters(const void *state, uint64_t *values)
{
    const struct int_stamp *stamp = state;

    for (unsigned i = 0; i < COUNTERS; i++)
        values[i] = stamp->counted[i];
}

static void reset_counters(void *state)
{
    struct int_stamp *stamp = state;

    for (unsigned i = 0; i < COUNTERS; i++)
        stamp->counted[i] = 0;
}

const struct oche_switch_mechanism oche_int_stamp = {
    .name = "int_stamp",
    .help = "telemetry in data packets; congestion_control: hpcc brings it (hpcc.md#int)",
    .params = &params,
    .rnic_only = true,
    .only_for = "hpcc",
    .state_bytes = state_bytes,
    .create = create,
    .enqueue = enqueue,
    .dequeue = dequeue,
    .discard = discard,
    .counters = counters,
    .counter_count = COUNTERS,
    .read_counters = read_counters,
    .reset_counters = reset_counters,
};
