/* SPDX-License-Identifier: Apache-2.0 */
/* Credits at a switch; see the header. */
#include "fabric/credit_shaper.h"

#include "fabric/credit_bucket.h"
#include "fabric/switch_state.h"

static const struct oche_param params[] = {
    {OCHE_PARAM(struct oche_credit_shaper_params, queue), OCHE_IS_COUNT(10, 1, 1000),
     .where = "expresspass.md#credit-queue",
     .help = "credits that may wait at a port; the authors' scripts say 8, their default is 10"},
    {OCHE_PARAM(struct oche_credit_shaper_params, burst), OCHE_IS_COUNT(2, 1, 1000),
     .where = "ExpressPass sec 3.1; expresspass.md#burst",
     .help = "credits that may leave at once after a pause; 1 loses rate wherever a credit must "
             "wait for a packet that is being sent"},
};

static const struct oche_param_table table =
    OCHE_PARAM_TABLE(params, struct oche_credit_shaper_params);

static const struct oche_switch_counter counters[OCHE_CREDIT_SHAPER_COUNTERS] = {
    [OCHE_CREDIT_SHAPER_CREDITS] = {"credits",
                                    "credits that switches passed on, counted at each switch",
                                    false},
    [OCHE_CREDIT_SHAPER_DROPPED] =
        {"dropped", "credits that switches dropped because their credit queue was full", false},
    [OCHE_CREDIT_SHAPER_QUEUE_PEAK] = {"queue_peak", "most credits that waited at one port", true},
};

struct credit_port {
    struct oche_credit_bucket bucket;
    uint32_t waiting; /* number of credits in the queue */
    bool held;        /* true: no credit may leave before oche_credit_bucket_next */
    bool timed;       /* true: a credit waits for the switch's timer */
};

struct credit_shaper {
    const struct oche_credit_shaper_params *params;
    uint8_t cls; /* the class of credits */
    uint32_t port_count;
    oche_time next; /* when the first timed port may send a credit; OCHE_NEVER: no port is timed */
    uint64_t counted[OCHE_CREDIT_SHAPER_COUNTERS];
    struct credit_port ports[];
};

static size_t state_bytes(const struct oche_switch_config *config, const void *values)
{
    (void)values;
    return sizeof(struct credit_shaper) + config->port_count * sizeof(struct credit_port);
}

static void create(void *state, const struct oche_switch_config *config, const void *values)
{
    struct credit_shaper *shaper = state;

    shaper->params = values;
    shaper->cls = (uint8_t)(config->class_count - 1);
    shaper->port_count = config->port_count;
    shaper->next = OCHE_NEVER;
    for (uint32_t port = 0; port < config->port_count; port++)
        oche_credit_bucket_init(&shaper->ports[port].bucket, config->ports[port].rate_bps,
                                config->answer_frame_bytes + OCHE_GAP_BYTES,
                                config->mtu_frame_bytes + OCHE_GAP_BYTES,
                                (uint32_t)shaper->params->burst);
}

static bool admit(void *state, struct oche_switch *sw, unsigned port,
                  const struct oche_packet *packet)
{
    struct credit_shaper *shaper = state;

    (void)sw;
    if (packet->traffic_class != shaper->cls || shaper->ports[port].waiting < shaper->params->queue)
        return true;
    shaper->counted[OCHE_CREDIT_SHAPER_DROPPED]++;
    return false;
}

/* Sets the timer for a credit that waits for the bucket. */
static void set_timer(struct credit_shaper *shaper, struct credit_port *port)
{
    port->timed = true;
    shaper->next = oche_time_min(shaper->next, oche_credit_bucket_next(&port->bucket));
}

static void enqueue(void *state, struct oche_switch *sw, unsigned number,
                    struct oche_packet *packet, oche_time now)
{
    struct credit_shaper *shaper = state;
    struct credit_port *port = &shaper->ports[number];

    if (packet->traffic_class != shaper->cls)
        return;
    if (++port->waiting > shaper->counted[OCHE_CREDIT_SHAPER_QUEUE_PEAK])
        shaper->counted[OCHE_CREDIT_SHAPER_QUEUE_PEAK] = port->waiting;
    if (!port->held || port->timed)
        return;
    if (oche_credit_bucket_next(&port->bucket) > now) {
        set_timer(shaper, port);
        return;
    }
    port->held = false;
    oche_switch_hold(sw, number, 0);
}

static void dequeue(void *state, struct oche_switch *sw, unsigned number,
                    struct oche_packet *packet, oche_time now)
{
    struct credit_shaper *shaper = state;
    struct credit_port *port = &shaper->ports[number];

    if (packet->traffic_class != shaper->cls)
        return;
    shaper->counted[OCHE_CREDIT_SHAPER_CREDITS]++;
    OCHE_MUST(port->waiting > 0);
    port->waiting--;
    oche_credit_bucket_take(&port->bucket, packet->frame_bytes + OCHE_GAP_BYTES, now);
    if (oche_credit_bucket_next(&port->bucket) <= now)
        return;
    port->held = true;
    oche_switch_hold(sw, number, (uint8_t)(1U << shaper->cls));
    if (port->waiting > 0)
        set_timer(shaper, port);
}

static void discard(void *state, struct oche_switch *sw, unsigned number,
                    const struct oche_packet *packet)
{
    struct credit_shaper *shaper = state;

    (void)sw;
    OCHE_MUST(packet->traffic_class != shaper->cls || shaper->ports[number].waiting > 0);
    shaper->ports[number].waiting -= packet->traffic_class == shaper->cls;
}

static oche_time next(const void *state)
{
    const struct credit_shaper *shaper = state;

    return shaper->next;
}

static void expire(void *state, struct oche_switch *sw, oche_time now)
{
    struct credit_shaper *shaper = state;

    shaper->next = OCHE_NEVER;
    for (uint32_t number = 0; number < shaper->port_count; number++) {
        struct credit_port *port = &shaper->ports[number];
        oche_time due = oche_credit_bucket_next(&port->bucket);

        if (!port->timed)
            continue;
        if (due > now) {
            shaper->next = oche_time_min(shaper->next, due);
            continue;
        }
        port->timed = port->held = false;
        oche_switch_hold(sw, number, 0);
        oche_switch_call(sw, number, now);
    }
}

static void read_counters(const void *state, uint64_t *values)
{
    const struct credit_shaper *shaper = state;

    for (unsigned i = 0; i < OCHE_CREDIT_SHAPER_COUNTERS; i++)
        values[i] = shaper->counted[i];
}

static void reset_counters(void *state)
{
    struct credit_shaper *shaper = state;

    for (unsigned i = 0; i < OCHE_CREDIT_SHAPER_COUNTERS; i++)
        shaper->counted[i] = 0;
    for (uint32_t port = 0; port < shaper->port_count; port++)
        if (shaper->ports[port].waiting > shaper->counted[OCHE_CREDIT_SHAPER_QUEUE_PEAK])
            shaper->counted[OCHE_CREDIT_SHAPER_QUEUE_PEAK] = shaper->ports[port].waiting;
}

const struct oche_switch_mechanism oche_credit_shaper = {
    .name = "credit_shaper",
    .help = "ports limit the credits of ExpressPass; comes with congestion_control: expresspass",
    .params = &table,
    .only_for = "expresspass",
    .state_bytes = state_bytes,
    .create = create,
    .admit = admit,
    .enqueue = enqueue,
    .dequeue = dequeue,
    .discard = discard,
    .next = next,
    .expire = expire,
    .counters = counters,
    .counter_count = OCHE_CREDIT_SHAPER_COUNTERS,
    .read_counters = read_counters,
    .reset_counters = reset_counters,
};
