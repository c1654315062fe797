/* SPDX-License-Identifier: Apache-2.0 */
/* Credits at a switch; see the header. */
#include "fabric/ib_credits.h"

#include "fabric/chips.h"

#include "fabric/switch_state.h"
#include "fabric/text.h"

static const struct oche_param params[] = {
    {OCHE_PARAM_AS("buffer", struct oche_ib_credits_params, buffer_bytes),
     OCHE_IS_BYTES(65536, 2 * OCHE_IB_BLOCK_BYTES, OCHE_IB_MOST_BLOCKS *OCHE_IB_BLOCK_BYTES),
     .where = "ib-cc.md#credits",
     .help = "of a class (a VL) at the receiving end of every link; whole blocks of 64 bytes"},
    {OCHE_PARAM_AS("update", struct oche_ib_credits_params, update_bytes),
     OCHE_IS_BYTES(0, 0, OCHE_IB_MOST_BLOCKS *OCHE_IB_BLOCK_BYTES), .where = "our choice",
     .help = "a flow control packet is sent when this much of the buffer has become free; "
             "0: a quarter of the buffer"},
    {OCHE_PARAM(struct oche_ib_credits_params, interval), OCHE_IS_TIME(0, 0, OCHE_SEC),
     .where = "IBTA sec 7.9",
     .help = "a flow control packet leaves at least so often; 0: every 65,536 symbol times of a "
             "link of four lanes"},
};

static const struct oche_param_table table =
    OCHE_PARAM_TABLE(params, struct oche_ib_credits_params);

static const struct oche_switch_counter counters[OCHE_IB_CREDITS_COUNTERS] = {
    [OCHE_IB_CREDITS_FCPS] = {"fcps", "frames of flow control packets that switches sent", false},
    [OCHE_IB_CREDITS_WAITS] = {"waits", "times that a switch's queue began to wait for credits",
                               false},
    [OCHE_IB_CREDITS_PEAK] = {"peak",
                              "most that one class held of the packets that one port of a switch "
                              "had let in, in whole blocks of 64 bytes",
                              true, .bytes = true},
};

struct credit_port {
    struct oche_ib_link link;
    oche_time interval;
    uint8_t waiting; /* mask of the classes that wait for credits */
};

struct ib_credits {
    const struct oche_ib_credits_params *params;
    uint32_t port_count;
    uint8_t class_count;
    oche_time step, next; /* the timer's interval; when the timer is next due */
    uint64_t counted[OCHE_IB_CREDITS_COUNTERS];
    struct credit_port ports[];
};

oche_time oche_ib_credits_interval(const struct oche_ib_credits_params *values, uint64_t rate_bps)
{
    return values->interval != 0 ? values->interval
                                 : oche_time_of_bytes(OCHE_IB_FCP_INTERVAL_BYTES, rate_bps);
}

/* ---- creation ---- */

static size_t state_bytes(const struct oche_switch_config *config, const void *values)
{
    (void)values;
    return sizeof(struct ib_credits) + config->port_count * sizeof(struct credit_port);
}

static void create(void *state, const struct oche_switch_config *config, const void *values)
{
    struct ib_credits *credits = state;
    oche_time least = OCHE_NEVER;

    credits->params = values;
    credits->port_count = config->port_count;
    credits->class_count = config->class_count;
    for (uint32_t i = 0; i < config->port_count; i++) {
        struct credit_port *port = &credits->ports[i];

        oche_ib_link_init(&port->link, config->class_count, credits->params->buffer_bytes,
                          credits->params->update_bytes);
        port->interval = oche_ib_credits_interval(values, config->ports[i].rate_bps);
        least = oche_time_min(least, port->interval);
    }
    credits->step = least > 1 ? least / 2 : 1;
    credits->next = credits->step;
}

static const char *check(const void *values)
{
    const struct oche_ib_credits_params *p = values;

    if (p->interval != 0 && p->interval < OCHE_US)
        return "interval: flow control packets would fill the link; at least 1us, or 0";
    return NULL;
}

static bool fits(const struct oche_switch_config *config, const void *values,
                 struct oche_error *error)
{
    const struct oche_ib_credits_params *p = values;
    uint64_t size_of_vl = p->buffer_bytes / OCHE_IB_BLOCK_BYTES * OCHE_IB_BLOCK_BYTES;
    uint64_t frame = (uint64_t)oche_ib_blocks(config->mtu_frame_bytes) * OCHE_IB_BLOCK_BYTES;
    uint64_t all = p->buffer_bytes * config->port_count * config->class_count;

    if (size_of_vl < 2 * frame)
        return oche_fabric_refuse(
            error, "buffer: # bytes; would be right: at least two packets of # bytes, #",
            (uint64_t[]){p->buffer_bytes, frame, 2 * frame});
    if (p->update_bytes > size_of_vl - frame)
        return oche_fabric_refuse(
            error,
            "update: # bytes may never become free while a packet of # waits; would be right: at "
            "most #",
            (uint64_t[]){p->update_bytes, frame, size_of_vl - frame});
    if (all > oche_switch_memory(config))
        return oche_fabric_refuse(
            error,
            "buffer: # bytes for each of # ports and # classes are more than switch.buffer, # "
            "bytes; "
            "would be right: at most #, or a larger switch.buffer",
            (uint64_t[]){p->buffer_bytes, config->port_count, config->class_count,
                         oche_switch_memory(config),
                         oche_switch_memory(config) / config->port_count / config->class_count});
    if (config->params->port_buffer_bytes != 0)
        return oche_fabric_refuse(
            error,
            "buffer: makes all # classes lossless, and switch.port_buffer, # bytes, limits lossy "
            "ones; would be right: switch.port_buffer: 0",
            (uint64_t[]){config->class_count, config->params->port_buffer_bytes});
    return true;
}

/* ---- the packet path ---- */

static unsigned class_of(const struct ib_credits *credits, const struct oche_packet *packet)
{
    return packet->traffic_class < credits->class_count ? packet->traffic_class : 0;
}

/* Notes whether the first packet of the queue, of `bytes` bytes, must wait for credits. */
static void set_waiting(struct ib_credits *credits, struct oche_switch *sw, unsigned number,
                        unsigned cls, uint32_t bytes)
{
    struct credit_port *port = &credits->ports[number];
    bool waits = oche_ib_blocks(bytes) > oche_ib_credit(&port->link, cls);

    if (waits == (port->waiting >> cls & 1))
        return;
    credits->counted[OCHE_IB_CREDITS_WAITS] += waits;
    port->waiting ^= (uint8_t)(1U << cls);
    oche_switch_hold(sw, number, port->waiting);
}

/*
 * Notes whether the queue's present first packet must wait for credits. An empty queue does not
 * wait.
 */
static void look(struct ib_credits *credits, struct oche_switch *sw, unsigned number, unsigned cls)
{
    const struct oche_egress *egress = oche_switch_egress(sw, number);
    bool empty = !(egress->waiting >> cls & 1);

    set_waiting(credits, sw, number, cls, empty ? 0 : oche_egress_first(egress, cls)->frame_bytes);
}

static bool admit(void *state, struct oche_switch *sw, unsigned number,
                  const struct oche_packet *packet)
{
    const struct ib_credits *credits = state;
    const struct oche_ib_link *link = &credits->ports[packet->ingress_port].link;
    unsigned in_cls = oche_switch_in_class(sw, packet, class_of(credits, packet));

    (void)number;
    return oche_ib_has_room(link, in_cls, oche_ib_blocks(packet->frame_bytes));
}

static void note_peak(struct ib_credits *credits, const struct oche_ib_vl *vl)
{
    uint64_t held = (uint64_t)vl->held * OCHE_IB_BLOCK_BYTES;

    if (held > credits->counted[OCHE_IB_CREDITS_PEAK])
        credits->counted[OCHE_IB_CREDITS_PEAK] = held;
}

static void enqueue(void *state, struct oche_switch *sw, unsigned number,
                    struct oche_packet *packet, oche_time now)
{
    struct ib_credits *credits = state;
    struct oche_ib_link *link = &credits->ports[packet->ingress_port].link;
    unsigned cls = class_of(credits, packet), in_cls = oche_switch_in_class(sw, packet, cls);

    (void)now;
    oche_ib_arrived(link, in_cls, oche_ib_blocks(packet->frame_bytes));
    note_peak(credits, &link->vl[in_cls]);
    if (!(oche_switch_egress(sw, number)->waiting >> cls & 1))
        set_waiting(credits, sw, number, cls, packet->frame_bytes);
}

static void dequeue(void *state, struct oche_switch *sw, unsigned number,
                    struct oche_packet *packet, oche_time now)
{
    struct ib_credits *credits = state;
    unsigned cls = class_of(credits, packet), in_cls = oche_switch_in_class(sw, packet, cls);
    uint16_t blocks = oche_ib_blocks(packet->frame_bytes);

    (void)now;
    oche_ib_sent(&credits->ports[number].link, cls, blocks);
    look(credits, sw, number, cls);
    if (oche_ib_freed(&credits->ports[packet->ingress_port].link, in_cls, blocks))
        oche_switch_frame_waits(sw, packet->ingress_port);
}

static void discard(void *state, struct oche_switch *sw, unsigned number,
                    const struct oche_packet *packet)
{
    struct ib_credits *credits = state;
    unsigned cls = class_of(credits, packet), in_cls = oche_switch_in_class(sw, packet, cls);

    look(credits, sw, number, cls);
    if (oche_ib_freed(&credits->ports[packet->ingress_port].link, in_cls,
                      oche_ib_blocks(packet->frame_bytes)))
        oche_switch_frame_waits(sw, packet->ingress_port);
}

static void dropped(void *state, struct oche_switch *sw, unsigned in_port, unsigned in_cls,
                    const struct oche_packet *packet)
{
    struct ib_credits *credits = state;

    if (oche_ib_passed(&credits->ports[in_port].link, in_cls, oche_ib_blocks(packet->frame_bytes)))
        oche_switch_frame_waits(sw, in_port);
}

/* ---- FCPs ---- */

static void frame_arrived(void *state, struct oche_switch *sw, unsigned number,
                          const struct oche_packet *frame, oche_time now)
{
    struct ib_credits *credits = state;

    (void)now;
    if (oche_ib_take(&credits->ports[number].link, frame))
        oche_switch_frame_waits(sw, number);
    for (unsigned cls = 0; cls < credits->class_count; cls++)
        look(credits, sw, number, cls);
}

static void frame_take(void *state, struct oche_switch *sw, unsigned number,
                       struct oche_packet *frame, oche_time now)
{
    struct ib_credits *credits = state;

    (void)sw;
    credits->counted[OCHE_IB_CREDITS_FCPS]++;
    oche_ib_fill(&credits->ports[number].link, frame, now);
}

static oche_time next(const void *state)
{
    const struct ib_credits *credits = state;

    return credits->next;
}

/*
 * Called at every half interval: sends the FCPs that would be late if they waited for the next
 * call.
 */
static void expire(void *state, struct oche_switch *sw, oche_time now)
{
    struct ib_credits *credits = state;

    credits->next = (now / credits->step + 1) * credits->step;
    for (uint32_t number = 0; number < credits->port_count; number++) {
        struct credit_port *port = &credits->ports[number];

        if (port->link.told + port->interval >= credits->next)
            continue;
        oche_ib_tell_all(&port->link);
        oche_switch_frame_waits(sw, number);
    }
}

static void read_counters(const void *state, uint64_t *values)
{
    const struct ib_credits *credits = state;

    for (unsigned i = 0; i < OCHE_IB_CREDITS_COUNTERS; i++)
        values[i] = credits->counted[i];
}

static void reset_counters(void *state)
{
    struct ib_credits *credits = state;

    for (unsigned i = 0; i < OCHE_IB_CREDITS_COUNTERS; i++)
        credits->counted[i] = 0;
    for (uint32_t port = 0; port < credits->port_count; port++)
        for (unsigned cls = 0; cls < credits->class_count; cls++)
            note_peak(credits, &credits->ports[port].link.vl[cls]);
}

const struct oche_switch_mechanism oche_ib_credits = {
    .name = "ib_credits",
    .help = "links have InfiniBand's credit-based flow control, in place of PFC",
    .params = &table,
    .rnic_only = true,
    .flow_control = true,
    .check = check,
    .fits = fits,
    .state_bytes = state_bytes,
    .create = create,
    .admit = admit,
    .enqueue = enqueue,
    .dequeue = dequeue,
    .discard = discard,
    .dropped = dropped,
    .frame_arrived = frame_arrived,
    .frame_take = frame_take,
    .next = next,
    .expire = expire,
    .counters = counters,
    .counter_count = OCHE_IB_CREDITS_COUNTERS,
    .read_counters = read_counters,
    .reset_counters = reset_counters,
};
