/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packet trimming: a data packet for which a port has no room is cut to its headers, and goes on in
 * the highest class. So the receiver learns at once what is missing, and asks for it
 * (load-balancing.md#trimming). Trimmed are data packets of requests on reliable queue pairs, whose
 * receivers know what to do with them. All others are dropped, as without the mechanism.
 *
 * SAI and SONiC have this as "packet trimming"; the page says which of their names is which key.
 * The rules beyond those are of uet-htsim (`compositequeue.cpp`).
 */
#include "core/random.h"
#include "core/wire/opcode.h"
#include "fabric/mechanism.h"
#include "fabric/switch_state.h"
#include "fabric/text.h"

#define AUTO_QUEUE_TIME (12 * OCHE_US)
#define LEAST_QUEUE     UINT64_C(20000)

enum victim { VICTIM_ARRIVING, VICTIM_EITHER };

struct trimming_params {
    uint64_t size_bytes, queue_bytes, trimmed_queue_bytes, burst;
    uint32_t victim;
};

static const char *const victims[] = {"arriving", "either", NULL};

static const struct oche_param params[] = {
    {OCHE_PARAM_AS("size", struct trimming_params, size_bytes), OCHE_IS_BYTES(128, 64, 1024),
     .where = "SAI; load-balancing.md#trimming",
     .help = "bytes of a trimmed packet's frame, from Ethernet header to FCS; more if its headers "
             "need more"},
    {OCHE_PARAM_AS("queue", struct trimming_params, queue_bytes),
     OCHE_IS_BYTES(OCHE_NEVER, 1000, 1 << 30), .automatic = true,
     .where = "load-balancing.md#trimming",
     .help = "packets that find more than this in their class at their port are trimmed; so are "
             "those that the shared buffer refuses; auto: what the port sends in 12us, at least "
             "20KB"},
    {OCHE_PARAM_AS("trimmed_queue", struct trimming_params, trimmed_queue_bytes),
     OCHE_IS_BYTES(OCHE_NEVER, 1000, 1 << 30), .automatic = true,
     .where = "uet-htsim; load-balancing.md#trimming",
     .help = "trimmed packets that find more than this in the highest class at their port are "
             "dropped; auto: twice `queue`"},
    {OCHE_PARAM(struct trimming_params, burst), OCHE_IS_COUNT(10, 1, 1000000),
     .where = "uet-htsim (100000); load-balancing.md#burst",
     .help = "while data waits at a port, at most so many trimmed packets leave in a row, then one "
             "of data"},
    {OCHE_PARAM(struct trimming_params, victim), OCHE_IS_CHOICE(VICTIM_ARRIVING, victims),
     .where = "SAI; uet-htsim; load-balancing.md#trimming",
     .help =
         "arriving: the packet that arrives is cut; either: by a coin this one or the last of the "
         "queue"},
};

static const struct oche_param_table table = OCHE_PARAM_TABLE(params, struct trimming_params);

enum { TRIMMED, LAST_HOP, DROPPED, COUNTERS };

static const struct oche_switch_counter counters[COUNTERS] = {
    [TRIMMED] = {"packets", "packets that were cut to their headers (SAI: TRIM_PACKETS)", false},
    [LAST_HOP] = {"last_hop", "packets of these that were on the way to their host", false},
    [DROPPED] = {"dropped",
                 "trimmed packets that were dropped, as their queue was full (SAI: "
                 "DROPPED_TRIM_PACKETS)",
                 false},
};

struct trimming_port {
    uint32_t queue_bytes, trimmed_queue_bytes;
    uint32_t in_a_row; /* trimmed packets that have left since data did, or had its turn */
    bool to_host;
};

struct trimming {
    const struct trimming_params *params;
    struct oche_random random;
    uint64_t counted[COUNTERS];
    unsigned highest; /* the class of trimmed packets */
    struct trimming_port port[];
};

static bool fits(const struct oche_switch_config *config, const void *values,
                 struct oche_error *error)
{
    (void)values;
    if (config->class_count < 2)
        return oche_fabric_refuse(
            error,
            "size: trimmed packets need a class of their own, and this switch "
            "has one class only; leave trimming out",
            NULL);
    if (config->lanes > 1)
        return oche_fabric_refuse(
            error,
            "size: a switch with lanes cannot trim; leave trimming out, or the "
            "mechanism that has lanes",
            NULL);
    if ((config->params->pfc && config->lossless_classes != 0) ||
        oche_switch_has_flow_control(config))
        return oche_fabric_refuse(
            error,
            "size: where PFC or credits keep packets from being lost, none are "
            "trimmed; switch.pfc: false, or leave trimming out",
            NULL);
    return true;
}

static size_t state_bytes(const struct oche_switch_config *config, const void *values)
{
    (void)values;
    return sizeof(struct trimming) + config->port_count * sizeof(struct trimming_port);
}

static uint32_t queue_of(const struct trimming_params *values, uint64_t rate_bps)
{
    if (values->queue_bytes != OCHE_NEVER)
        return (uint32_t)values->queue_bytes;
    const uint64_t bytes = oche_bytes_in_time(AUTO_QUEUE_TIME, rate_bps);

    return (uint32_t)(bytes < LEAST_QUEUE ? LEAST_QUEUE : bytes < 1 << 30 ? bytes : 1 << 30);
}

static void create(void *state, const struct oche_switch_config *config, const void *values)
{
    struct trimming *trimming = state;

    trimming->params = values;
    trimming->random = oche_random_stream(config->seed, "trimming", config->node);
    trimming->highest = config->class_count - 1U;
    for (uint32_t i = 0; i < config->port_count; i++) {
        const uint32_t queue = queue_of(values, config->ports[i].rate_bps);
        const uint64_t trimmed = trimming->params->trimmed_queue_bytes;

        trimming->port[i] = (struct trimming_port){
            .queue_bytes = queue,
            .trimmed_queue_bytes = trimmed != OCHE_NEVER ? (uint32_t)trimmed : 2 * queue,
            .to_host = config->ports[i].place == OCHE_PLACE_TO_HOST,
        };
    }
}

static bool has_room_for_trimmed(const struct trimming *trimming, const struct oche_switch *sw,
                                 unsigned port, uint32_t bytes)
{
    const struct oche_egress *egress = oche_switch_egress(sw, port);

    return oche_egress_class_bytes(egress, trimming->highest) + bytes <=
           trimming->port[port].trimmed_queue_bytes;
}

/*
 * True if there is room for the packet at the port: in its class, or among the trimmed packets. The
 * highest class has no other limit.
 */
static bool admit(void *state, struct oche_switch *sw, unsigned port,
                  const struct oche_packet *packet)
{
    const struct trimming *trimming = state;
    const unsigned cls = packet->traffic_class;

    if (packet->kind == OCHE_PACKET_TRIMMED)
        return has_room_for_trimmed(trimming, sw, port, packet->frame_bytes);
    return cls >= trimming->highest ||
           oche_egress_class_bytes(oche_switch_egress(sw, port), cls) + packet->frame_bytes <=
               trimming->port[port].queue_bytes;
}

/* True if the packet is one whose receiver can tell the sender that it was trimmed. */
static bool may_trim(const struct trimming *trimming, const struct oche_packet *packet)
{
    const uint32_t data = OCHE_OP_REQUEST | OCHE_OP_PAYLOAD;
    const struct oche_opcode_row *row = oche_opcode(packet->opcode);

    return packet->kind == OCHE_PACKET_ROCE && packet->traffic_class < trimming->highest &&
           (row->flags & data) == data && packet->payload_bytes > 0 &&
           packet->frame_bytes > trimming->params->size_bytes &&
           (row->service == OCHE_SERVICE_RC || row->service == OCHE_SERVICE_RC_EXTENDED);
}

/* Returns the frame's bytes without payload, ICRC and what follows it. */
static uint32_t headers_bytes(const struct oche_packet *packet)
{
    return packet->frame_bytes - packet->payload_bytes - oche_pad_bytes(packet->payload_bytes) -
           OCHE_ICRC_BYTES - oche_packet_trailer_bytes(packet);
}

/* The packet keeps all its headers, whatever the size. */
static void cut(struct trimming *trimming, unsigned port, struct oche_packet *packet)
{
    const uint32_t least = headers_bytes(packet), size = (uint32_t)trimming->params->size_bytes;

    packet->kind = OCHE_PACKET_TRIMMED;
    packet->traffic_class = (uint8_t)trimming->highest;
    packet->frame_bytes = (uint16_t)(size > least ? size : least);
    packet->ext &= (uint8_t) ~(OCHE_EXT_PAYLOAD | OCHE_EXT_LIST | OCHE_EXT_TRAILER);
    packet->aeth = trimming->port[port].to_host ? OCHE_TRIMMED_LAST_HOP : OCHE_TRIMMED_ON_THE_WAY;
    trimming->counted[TRIMMED]++;
    trimming->counted[LAST_HOP] += trimming->port[port].to_host;
}

/* True if a coin says that the last packet of the class's queue is cut in place of the new one. */
static bool takes_last(struct trimming *trimming, const struct oche_switch *sw, unsigned port,
                       unsigned cls)
{
    const struct oche_egress *egress = oche_switch_egress(sw, port);

    return trimming->params->victim == VICTIM_EITHER && (egress->waiting >> cls & 1) &&
           may_trim(trimming, oche_egress_last(egress, cls)) &&
           oche_buffer_has_lossy_room(&sw->buffer,
                                      oche_egress_class_bytes(egress, trimming->highest),
                                      (uint32_t)trimming->params->size_bytes) &&
           (oche_random_u64(&trimming->random) >> 63) != 0;
}

static struct oche_packet *trim(void *state, struct oche_switch *sw, unsigned port,
                                struct oche_packet *packet, oche_time now)
{
    struct trimming *trimming = state;

    if (packet->kind == OCHE_PACKET_TRIMMED) {
        trimming->counted[DROPPED]++;
        return NULL;
    }
    if (!may_trim(trimming, packet))
        return NULL;
    if (!has_room_for_trimmed(trimming, sw, port, (uint32_t)trimming->params->size_bytes)) {
        trimming->counted[DROPPED]++;
        return NULL;
    }
    if (takes_last(trimming, sw, port, packet->traffic_class))
        packet = oche_switch_take_last(sw, port, packet->traffic_class, now);
    cut(trimming, port, packet);
    return packet;
}

/*
 * Trimmed packets go first. If nothing else could leave, senders that send at once what was trimmed
 * could fill a port with headers for ever. So data has its turn after a burst of them.
 */
static void dequeue(void *state, struct oche_switch *sw, unsigned number,
                    struct oche_packet *packet, oche_time now)
{
    struct trimming *trimming = state;
    struct trimming_port *port = &trimming->port[number];
    const unsigned highest = trimming->highest;
    const uint8_t eligible = oche_egress_eligible(oche_switch_egress(sw, number));

    (void)now;
    if (packet->kind != OCHE_PACKET_TRIMMED) {
        if (packet->traffic_class < highest && port->in_a_row >= trimming->params->burst)
            oche_switch_hold(sw, number, 0);
        if (packet->traffic_class < highest)
            port->in_a_row = 0;
        return;
    }
    if (++port->in_a_row >= trimming->params->burst && (eligible & ((1U << highest) - 1)) != 0)
        oche_switch_hold(sw, number, (uint8_t)(1U << highest));
}

/* A packet is gone that could have had its turn. */
static void discard(void *state, struct oche_switch *sw, unsigned number,
                    const struct oche_packet *packet)
{
    struct trimming *trimming = state;

    (void)packet;
    if (trimming->port[number].in_a_row >= trimming->params->burst)
        oche_switch_hold(sw, number, 0);
    trimming->port[number].in_a_row = 0;
}

static void read_counters(const void *state, uint64_t *values)
{
    const struct trimming *trimming = state;

    for (unsigned i = 0; i < COUNTERS; i++)
        values[i] = trimming->counted[i];
}

static void reset_counters(void *state)
{
    struct trimming *trimming = state;

    for (unsigned i = 0; i < COUNTERS; i++)
        trimming->counted[i] = 0;
}

const struct oche_switch_mechanism oche_trimming = {
    .name = "trimming",
    .help = "cuts packets for which there is no room to their headers, in place of dropping them",
    .params = &table,
    .rnic_only = true,
    .fits = fits,
    .state_bytes = state_bytes,
    .create = create,
    .admit = admit,
    .trim = trim,
    .dequeue = dequeue,
    .discard = discard,
    .counters = counters,
    .counter_count = COUNTERS,
    .read_counters = read_counters,
    .reset_counters = reset_counters,
};
