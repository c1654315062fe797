/* SPDX-License-Identifier: Apache-2.0 */
/* SONiC's watchdog for PAUSE storms; see the header. */
#include "fabric/pfc_watchdog.h"

#include "fabric/switch_state.h"
#include "fabric/text.h"

#define LEAST OCHE_US /* of all times; SONiC's is 100 ms, longer than most simulations */

static const char *const actions[] = {
    [OCHE_PFC_WATCHDOG_DROP] = "drop",
    [OCHE_PFC_WATCHDOG_FORWARD] = "forward",
    [OCHE_PFC_WATCHDOG_ALERT] = "alert",
    NULL,
};

static const struct oche_param params[] = {
    {OCHE_PARAM(struct oche_pfc_watchdog_params, detection_time),
     OCHE_IS_TIME(200 * OCHE_MS, LEAST, 5 * OCHE_SEC), .where = "SONiC; rocev2.md#pfc-watchdog",
     .help = "PAUSE and no packet sent for so long are a storm; SONiC takes 100ms to 5s"},
    {OCHE_PARAM(struct oche_pfc_watchdog_params, restoration_time),
     OCHE_IS_TIME(200 * OCHE_MS, LEAST, 60 * OCHE_SEC), .where = "SONiC; rocev2.md#pfc-watchdog",
     .help = "the queue is restored after so long without PAUSE; SONiC takes 100ms to 60s"},
    {OCHE_PARAM(struct oche_pfc_watchdog_params, poll_interval),
     OCHE_IS_TIME(200 * OCHE_MS, LEAST, OCHE_SEC), .where = "SONiC; rocev2.md#pfc-watchdog",
     .help = "time between two looks at the queues, which are at its multiples; at most the "
             "other two; SONiC takes 100ms to 1s"},
    {OCHE_PARAM(struct oche_pfc_watchdog_params, action),
     OCHE_IS_CHOICE(OCHE_PFC_WATCHDOG_DROP, actions), .where = "SONiC; rocev2.md#pfc-watchdog",
     .help = "at a storm: drop the queue's packets and those to come, forward them in spite of "
             "the PAUSE, or alert: only count"},
};

static const struct oche_param_table table =
    OCHE_PARAM_TABLE(params, struct oche_pfc_watchdog_params);

static const struct oche_switch_counter counters[OCHE_PFC_WATCHDOG_COUNTERS] = {
    [OCHE_PFC_WATCHDOG_DETECTED] = {"detected", "PAUSE storms that watchdogs detected", false},
    [OCHE_PFC_WATCHDOG_RESTORED] = {"restored", "queues restored after a storm", false},
    [OCHE_PFC_WATCHDOG_TX_PACKETS] = {"tx_packets", "packets sent by queues in a storm", false},
    [OCHE_PFC_WATCHDOG_TX_DROPPED] = {"tx_dropped",
                                      "packets dropped that were in or for a queue in a storm",
                                      false},
    [OCHE_PFC_WATCHDOG_RX_DROPPED] = {"rx_dropped",
                                      "packets dropped that came from the sender of a storm, in "
                                      "the class of the storm",
                                      false},
};

/* The watch on one class of a port. */
struct watched {
    oche_time paused; /* how long the class had been paused in all at the last poll */
    oche_time left;   /* without storm: until it is one; in a storm: until it is over */
};

struct watched_port {
    uint8_t storms; /* mask of the classes in a storm */
    /* Masks of the classes with an event since the last poll. */
    uint8_t sent;  /* a packet left */
    uint8_t heard; /* a PFC frame for the class arrived */
    struct watched classes[OCHE_CLASSES];
};

struct pfc_watchdog {
    const struct oche_pfc_watchdog_params *params;
    uint8_t class_count;
    uint8_t lossless; /* mask of the classes that are watched */
    uint32_t port_count;
    /* The next poll; OCHE_NEVER: no port is paused, and there is no storm, so nothing to see. */
    oche_time next;
    uint64_t counted[OCHE_PFC_WATCHDOG_COUNTERS];
    struct watched_port ports[];
};

static const char *check(const void *values)
{
    const struct oche_pfc_watchdog_params *own = values;

    if (own->poll_interval > own->detection_time)
        return "poll_interval: is above detection_time; make it at most that";
    if (own->poll_interval > own->restoration_time)
        return "poll_interval: is above restoration_time; make it at most that";
    return NULL;
}

static bool ends_pauses(const void *values)
{
    const struct oche_pfc_watchdog_params *own = values;

    return own->action != OCHE_PFC_WATCHDOG_ALERT;
}

static bool fits(const struct oche_switch_config *config, const void *values,
                 struct oche_error *error)
{
    (void)values;
    if (oche_switch_has_flow_control(config))
        return oche_fabric_refuse(error,
                                  "action: no PAUSE to watch: links have credits in place of PFC; "
                                  "leave one of the two mechanisms out",
                                  NULL);
    if (!config->params->pfc)
        return oche_fabric_refuse(error,
                                  "action: no PAUSE to watch: switch.pfc is false; leave the "
                                  "mechanism out, or change that",
                                  NULL);
    if (config->lossless_classes == 0)
        return oche_fabric_refuse(error,
                                  "action: no PAUSE to watch: these hosts have no lossless class; "
                                  "leave the mechanism out",
                                  NULL);
    return true;
}

static size_t state_bytes(const struct oche_switch_config *config, const void *values)
{
    (void)values;
    return sizeof(struct pfc_watchdog) + config->port_count * sizeof(struct watched_port);
}

static void create(void *state, const struct oche_switch_config *config, const void *values)
{
    struct pfc_watchdog *dog = state;

    dog->params = values;
    dog->class_count = config->class_count;
    dog->lossless = config->lossless_classes;
    dog->port_count = config->port_count;
    dog->next = OCHE_NEVER;
    for (uint32_t port = 0; port < config->port_count; port++)
        for (unsigned cls = 0; cls < OCHE_CLASSES; cls++)
            dog->ports[port].classes[cls].left = dog->params->detection_time;
}

/* ---- packets and frames ---- */

static unsigned class_of(const struct pfc_watchdog *dog, const struct oche_packet *packet)
{
    return packet->traffic_class < dog->class_count ? packet->traffic_class : 0;
}

static bool admit(void *state, struct oche_switch *sw, unsigned port,
                  const struct oche_packet *packet)
{
    struct pfc_watchdog *dog = state;
    unsigned cls = class_of(dog, packet);

    if (dog->params->action != OCHE_PFC_WATCHDOG_DROP)
        return true;
    if (dog->ports[packet->ingress_port].storms >> oche_switch_in_class(sw, packet, cls) & 1) {
        dog->counted[OCHE_PFC_WATCHDOG_RX_DROPPED]++;
        return false;
    }
    if (dog->ports[port].storms >> cls & 1) {
        dog->counted[OCHE_PFC_WATCHDOG_TX_DROPPED]++;
        return false;
    }
    return true;
}

static void dequeue(void *state, struct oche_switch *sw, unsigned number,
                    struct oche_packet *packet, oche_time now)
{
    struct pfc_watchdog *dog = state;
    struct watched_port *port = &dog->ports[number];
    unsigned cls = class_of(dog, packet);

    (void)sw;
    (void)now;
    port->sent |= (uint8_t)(1U << cls);
    dog->counted[OCHE_PFC_WATCHDOG_TX_PACKETS] += port->storms >> cls & 1;
}

/* Returns the time of the first poll after `now`. */
static oche_time poll_after(const struct pfc_watchdog *dog, oche_time now)
{
    return (now / dog->params->poll_interval + 1) * dog->params->poll_interval;
}

/* Starts to poll, if no poll is due. Without PAUSE a poll would see nothing. */
static void wake(struct pfc_watchdog *dog, oche_time now)
{
    if (dog->next != OCHE_NEVER)
        return;
    dog->next = poll_after(dog, now);
    for (uint32_t port = 0; port < dog->port_count; port++)
        dog->ports[port].sent = 0;
}

static void pause_arrived(void *state, unsigned port, const struct oche_packet *frame,
                          oche_time now)
{
    struct pfc_watchdog *dog = state;

    for (unsigned cls = 0; cls < OCHE_CLASSES; cls++)
        if (oche_pfc_has(frame, cls))
            dog->ports[port].heard |= (uint8_t)(1U << cls);
    wake(dog, now);
}

/* ---- polls ---- */

/* Makes the port ignore PAUSE in the classes that are in a storm, if that is the action. */
static void obey_or_not(struct pfc_watchdog *dog, struct oche_switch *sw, unsigned port,
                        oche_time now)
{
    if (dog->params->action != OCHE_PFC_WATCHDOG_FORWARD)
        return;
    oche_switch_ignore_pause(sw, port, dog->ports[port].storms);
    oche_switch_call(sw, port, now);
}

static void begin_storm(struct pfc_watchdog *dog, struct oche_switch *sw, unsigned number,
                        unsigned cls, oche_time now)
{
    struct watched_port *port = &dog->ports[number];

    port->storms |= (uint8_t)(1U << cls);
    dog->counted[OCHE_PFC_WATCHDOG_DETECTED]++;
    port->classes[cls].left = dog->params->restoration_time;
    if (dog->params->action == OCHE_PFC_WATCHDOG_DROP)
        dog->counted[OCHE_PFC_WATCHDOG_TX_DROPPED] += oche_switch_discard(sw, number, cls, now);
    obey_or_not(dog, sw, number, now);
}

static void end_storm(struct pfc_watchdog *dog, struct oche_switch *sw, unsigned number,
                      unsigned cls, oche_time now)
{
    struct watched_port *port = &dog->ports[number];

    port->storms &= (uint8_t) ~(1U << cls);
    dog->counted[OCHE_PFC_WATCHDOG_RESTORED]++;
    port->classes[cls].left = dog->params->detection_time;
    obey_or_not(dog, sw, number, now);
}

/*
 * Counts an interval towards `*left`, or starts again from `whole`. Returns true when nothing is
 * left.
 */
static bool count_down(oche_time *left, bool counts, oche_time interval, oche_time whole)
{
    if (!counts) {
        *left = whole;
        return false;
    }
    if (*left <= interval)
        return true;
    *left -= interval;
    return false;
}

static void poll_class(struct pfc_watchdog *dog, struct oche_switch *sw, unsigned number,
                       unsigned cls, oche_time now)
{
    const struct oche_pfc_watchdog_params *own = dog->params;
    const struct oche_pause *pause = &sw->pauses[number];
    struct watched_port *port = &dog->ports[number];
    struct watched *watched = &port->classes[cls];
    oche_time paused = oche_pause_time_ever(pause, cls, now);
    bool stuck = paused - watched->paused >= own->poll_interval && !(port->sent >> cls & 1) &&
                 (oche_switch_egress(sw, number)->waiting >> cls & 1);
    bool storm = port->storms >> cls & 1;

    watched->paused = paused;
    if (!storm) {
        if (count_down(&watched->left, stuck, own->poll_interval, own->detection_time))
            begin_storm(dog, sw, number, cls, now);
    } else if (own->action == OCHE_PFC_WATCHDOG_ALERT) {
        if (!stuck)
            end_storm(dog, sw, number, cls, now);
    } else {
        bool quiet = !((port->heard | pause->mask) >> cls & 1);

        if (count_down(&watched->left, quiet, own->poll_interval, own->restoration_time))
            end_storm(dog, sw, number, cls, now);
    }
}

static oche_time next(const void *state)
{
    const struct pfc_watchdog *dog = state;

    return dog->next;
}

static void expire(void *state, struct oche_switch *sw, oche_time now)
{
    struct pfc_watchdog *dog = state;
    bool busy = false;

    for (uint32_t number = 0; number < dog->port_count; number++) {
        struct watched_port *port = &dog->ports[number];

        for (uint8_t left = dog->lossless; left != 0; left &= (uint8_t)(left - 1))
            poll_class(dog, sw, number, (unsigned)__builtin_ctz(left), now);
        port->sent = 0;
        port->heard = 0;
        busy |= port->storms != 0 || sw->pauses[number].count > 0;
    }
    dog->next = busy ? poll_after(dog, now) : OCHE_NEVER;
}

/* ---- counters ---- */

static void read_counters(const void *state, uint64_t *values)
{
    const struct pfc_watchdog *dog = state;

    for (unsigned i = 0; i < OCHE_PFC_WATCHDOG_COUNTERS; i++)
        values[i] = dog->counted[i];
}

static void reset_counters(void *state)
{
    struct pfc_watchdog *dog = state;

    for (unsigned i = 0; i < OCHE_PFC_WATCHDOG_COUNTERS; i++)
        dog->counted[i] = 0;
}

const struct oche_switch_mechanism oche_pfc_watchdog = {
    .name = "pfc_watchdog",
    .help = "switches detect PAUSE storms, and give up the queues that they hold, as SONiC does",
    .params = &table,
    .check = check,
    .ends_pauses = ends_pauses,
    .fits = fits,
    .state_bytes = state_bytes,
    .create = create,
    .admit = admit,
    .dequeue = dequeue,
    .pause_arrived = pause_arrived,
    .next = next,
    .expire = expire,
    .counters = counters,
    .counter_count = OCHE_PFC_WATCHDOG_COUNTERS,
    .read_counters = read_counters,
    .reset_counters = reset_counters,
};
