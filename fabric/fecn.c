/* SPDX-License-Identifier: Apache-2.0 */
/* InfiniBand's marking; see the header. */
#include "fabric/fecn.h"

#include "core/random.h"
#include "fabric/switch_state.h"

#define WEIGHTS        16
#define BPS_PER_BYTE   62500 /* buffer: 16 KB for each Gbit/s, so that the least weight is 1 KB */
#define BPS_PER_PACKET (8 * OCHE_GBPS) /* marking_rate: the packets of 1 KB of a microsecond */

static const char *const victim_masks[] = {
    [OCHE_FECN_VICTIMS_HOSTS] = "hosts",
    [OCHE_FECN_VICTIMS_NONE] = "none",
    [OCHE_FECN_VICTIMS_ALL] = "all",
    NULL,
};

static const struct oche_param params[] = {
    OCHE_PRESET_ROW_AT(struct oche_fecn_params, "ib-cc.md#deployed"),
    {OCHE_PARAM(struct oche_fecn_params, threshold), OCHE_IS_COUNT(WEIGHTS - 1, 0, WEIGHTS - 1),
     .where = "ib-cc.md#threshold",
     .help = "Threshold, a weight: 0 never marks, 15 marks most eagerly; marks above "
             "(16 - threshold)/16 of buffer"},
    {OCHE_PARAM(struct oche_fecn_params, marking_rate), OCHE_IS_COUNT(0, 0, UINT16_MAX),
     .automatic = true, .where = "ib-cc.md#marking-rate",
     .help = "Marking_Rate: packets that could be marked between two that are, in the mean; auto: "
             "1 for each 8Gbps of the port"},
    {OCHE_PARAM(struct oche_fecn_params, packet_size), OCHE_IS_BYTES(512, 0, 255 * 64),
     .where = "ib-cc.md#packet-size",
     .help = "Packet_Size: smaller packets are not marked; in the field, units of 64 bytes"},
    {OCHE_PARAM_AS("buffer", struct oche_fecn_params, buffer_bytes),
     OCHE_IS_BYTES(65536, 1024, 0x7fffffff), .automatic = true, .where = "our choice",
     .help = "the queue that thresholds are parts of; as much as ib_credits.buffer; auto: that or, "
             "if links have no credits, 16KB for each Gbps of the port"},
    {OCHE_PARAM(struct oche_fecn_params, victim_mask), OCHE_IS_CHOICE(0, victim_masks),
     .where = "ib-cc.md#victim-mask",
     .help = "Victim_Mask: ports that mark also while they wait for leave to send: those to hosts, "
             "none or all"},
};

static const struct oche_deployed in_use[] = {
    {"marking_rate", {.u = OCHE_NEVER}},
    {"buffer", {.u = OCHE_NEVER}},
};

static const struct oche_param_table table =
    OCHE_PARAM_TABLE_DEPLOYED(params, struct oche_fecn_params, in_use);

static const struct oche_switch_counter counters[OCHE_FECN_COUNTERS] = {
    [OCHE_FECN_MARKED] = {"marked", "packets that switches marked", false},
    [OCHE_FECN_VICTIMS] = {"victims",
                           "packets above the threshold that were not marked, as their port "
                           "was a victim",
                           false},
};

struct fecn_port {
    uint64_t queue;
    uint32_t marking_rate;
    bool marks_as_victim;
};

struct fecn {
    const struct oche_fecn_params *params;
    struct oche_random random;
    uint8_t class_count;
    uint64_t counted[OCHE_FECN_COUNTERS];
    struct fecn_port ports[];
};

uint64_t oche_fecn_buffer(const struct oche_fecn_params *values,
                          const struct oche_ib_credits_params *credits, uint64_t rate_bps)
{
    if (values->buffer_bytes != OCHE_NEVER)
        return values->buffer_bytes;
    return credits != NULL ? credits->buffer_bytes : rate_bps / BPS_PER_BYTE;
}

uint64_t oche_fecn_rate(const struct oche_fecn_params *values, uint64_t rate_bps)
{
    return values->marking_rate != OCHE_NEVER ? values->marking_rate : rate_bps / BPS_PER_PACKET;
}

uint64_t oche_fecn_queue(const struct oche_fecn_params *values,
                         const struct oche_ib_credits_params *credits, uint64_t rate_bps)
{
    if (values->threshold == 0)
        return OCHE_NEVER;
    return oche_fecn_buffer(values, credits, rate_bps) * (WEIGHTS - values->threshold) / WEIGHTS;
}

/* Returns the parameters of the links' credits; NULL: they have none. */
static const struct oche_ib_credits_params *credits_of(const struct oche_switch_config *config)
{
    for (uint32_t i = 0; i < config->mechanism_count; i++)
        if (config->mechanisms[i] == &oche_ib_credits)
            return config->mechanism_params[i];
    return NULL;
}

static size_t state_bytes(const struct oche_switch_config *config, const void *values)
{
    (void)values;
    return sizeof(struct fecn) + config->port_count * sizeof(struct fecn_port);
}

static void create(void *state, const struct oche_switch_config *config, const void *values)
{
    const struct oche_ib_credits_params *credits = credits_of(config);
    struct fecn *fecn = state;
    uint32_t mask;

    fecn->params = values;
    mask = fecn->params->victim_mask;
    fecn->random = oche_random_stream(config->seed, "fecn", config->node);
    fecn->class_count = config->class_count;
    for (uint32_t port = 0; port < config->port_count; port++)
        fecn->ports[port] = (struct fecn_port){
            .queue = oche_fecn_queue(values, credits, config->ports[port].rate_bps),
            .marking_rate = (uint32_t)oche_fecn_rate(values, config->ports[port].rate_bps),
            .marks_as_victim =
                mask == OCHE_FECN_VICTIMS_ALL || (mask == OCHE_FECN_VICTIMS_HOSTS &&
                                                  config->ports[port].place == OCHE_PLACE_TO_HOST),
        };
}

static void enqueue(void *state, struct oche_switch *sw, unsigned port, struct oche_packet *packet,
                    oche_time now)
{
    struct fecn *fecn = state;
    const struct oche_egress *egress = oche_switch_egress(sw, port);
    const struct fecn_port *own = &fecn->ports[port];
    unsigned cls = packet->traffic_class < fecn->class_count ? packet->traffic_class : 0;

    (void)now;
    if (!oche_ecn_capable(packet) || packet->frame_bytes < fecn->params->packet_size ||
        oche_switch_class_bytes(sw, egress, cls) <= own->queue)
        return;
    if ((egress->paused >> cls & 1) && !own->marks_as_victim) {
        fecn->counted[OCHE_FECN_VICTIMS]++;
        return;
    }
    if (own->marking_rate > 0 && oche_random_below(&fecn->random, own->marking_rate + 1) != 0)
        return;
    fecn->counted[OCHE_FECN_MARKED] += oche_switch_mark(sw, port, packet);
}

static void read_counters(const void *state, uint64_t *values)
{
    const struct fecn *fecn = state;

    for (unsigned i = 0; i < OCHE_FECN_COUNTERS; i++)
        values[i] = fecn->counted[i];
}

static void reset_counters(void *state)
{
    struct fecn *fecn = state;

    for (unsigned i = 0; i < OCHE_FECN_COUNTERS; i++)
        fecn->counted[i] = 0;
}

const struct oche_switch_mechanism oche_fecn = {
    .name = "fecn",
    .help = "switches mark as InfiniBand's do; comes with congestion_control: ib_cc",
    .params = &table,
    .rnic_only = true,
    .only_for = "ib_cc",
    .marks = true,
    .state_bytes = state_bytes,
    .create = create,
    .enqueue = enqueue,
    .counters = counters,
    .counter_count = OCHE_FECN_COUNTERS,
    .read_counters = read_counters,
    .reset_counters = reset_counters,
};
