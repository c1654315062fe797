/* SPDX-License-Identifier: Apache-2.0 */
/* InfiniBand's marking; see the header. */
#include "fabric/fecn.h"

#include "core/random.h"
#include "fabric/switch_state.h"

#define WEIGHTS 16

static const char *const victim_masks[] = {
    [OCHE_FECN_VICTIMS_HOSTS] = "hosts",
    [OCHE_FECN_VICTIMS_NONE] = "none",
    [OCHE_FECN_VICTIMS_ALL] = "all",
    NULL,
};

static const struct oche_param params[] = {
    {OCHE_PARAM(struct oche_fecn_params, threshold), OCHE_IS_COUNT(WEIGHTS - 1, 0, WEIGHTS - 1),
     .where = "ib-cc.md#threshold",
     .help = "Threshold, a weight: 0 never marks, 15 marks most eagerly; marks above "
             "(16 - threshold)/16 of buffer"},
    {OCHE_PARAM(struct oche_fecn_params, marking_rate), OCHE_IS_COUNT(0, 0, UINT16_MAX),
     .where = "ib-cc.md#marking-rate",
     .help = "Marking_Rate: packets that could be marked between two that are, in the mean"},
    {OCHE_PARAM(struct oche_fecn_params, packet_size), OCHE_IS_BYTES(512, 0, 255 * 64),
     .where = "ib-cc.md#packet-size",
     .help = "Packet_Size: smaller packets are not marked; in the field, units of 64 bytes"},
    {OCHE_PARAM_AS("buffer", struct oche_fecn_params, buffer_bytes),
     OCHE_IS_BYTES(65536, 1024, 0x7fffffff), .where = "our choice",
     .help = "the queue that thresholds are parts of; as much as ib_credits.buffer"},
    {OCHE_PARAM(struct oche_fecn_params, victim_mask), OCHE_IS_CHOICE(0, victim_masks),
     .where = "ib-cc.md#victim-mask",
     .help = "Victim_Mask: ports that mark also while they wait for leave to send: those to hosts, "
             "none or all"},
};

static const struct oche_param_table table = OCHE_PARAM_TABLE(params, struct oche_fecn_params);

static const struct oche_switch_counter counters[OCHE_FECN_COUNTERS] = {
    [OCHE_FECN_MARKED] = {"marked", "packets that switches marked", false},
    [OCHE_FECN_VICTIMS] = {"victims",
                           "packets above the threshold that were not marked, as their port "
                           "was a victim",
                           false},
};

struct fecn {
    const struct oche_fecn_params *params;
    uint64_t queue;
    struct oche_random random;
    uint8_t class_count;
    uint64_t counted[OCHE_FECN_COUNTERS];
    bool marks_as_victim[];
};

uint64_t oche_fecn_queue(const struct oche_fecn_params *values)
{
    if (values->threshold == 0)
        return OCHE_NEVER;
    return values->buffer_bytes * (WEIGHTS - values->threshold) / WEIGHTS;
}

static size_t state_bytes(const struct oche_switch_config *config, const void *values)
{
    (void)values;
    return sizeof(struct fecn) + config->port_count * sizeof(bool);
}

static void create(void *state, const struct oche_switch_config *config, const void *values)
{
    struct fecn *fecn = state;
    uint32_t mask;

    fecn->params = values;
    mask = fecn->params->victim_mask;
    fecn->queue = oche_fecn_queue(values);
    fecn->random = oche_random_stream(config->seed, "fecn", config->node);
    fecn->class_count = config->class_count;
    for (uint32_t port = 0; port < config->port_count; port++)
        fecn->marks_as_victim[port] =
            mask == OCHE_FECN_VICTIMS_ALL ||
            (mask == OCHE_FECN_VICTIMS_HOSTS && config->ports[port].place == OCHE_PLACE_TO_HOST);
}

static void enqueue(void *state, struct oche_switch *sw, unsigned port, struct oche_packet *packet,
                    oche_time now)
{
    struct fecn *fecn = state;
    const struct oche_egress *egress = oche_switch_egress(sw, port);
    unsigned cls = packet->traffic_class < fecn->class_count ? packet->traffic_class : 0;

    (void)now;
    if (packet->ecn != OCHE_ECN_ECT0 && packet->ecn != OCHE_ECN_ECT1)
        return;
    if (packet->frame_bytes < fecn->params->packet_size ||
        oche_switch_class_bytes(sw, egress, cls) <= fecn->queue)
        return;
    if ((egress->paused >> cls & 1) && !fecn->marks_as_victim[port]) {
        fecn->counted[OCHE_FECN_VICTIMS]++;
        return;
    }
    if (fecn->params->marking_rate > 0 &&
        oche_random_below(&fecn->random, fecn->params->marking_rate + 1) != 0)
        return;
    packet->ecn = OCHE_ECN_CE;
    sw->cold[port].marks++;
    fecn->counted[OCHE_FECN_MARKED]++;
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
