/* SPDX-License-Identifier: Apache-2.0 */
/* Two NICs and a virtual link between them; see pair.h. */
#include "tests/support/pair.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/recovery/go_back_n.h"
#include "core/wire/aeth.h"
#include "core/wire/opcode.h"
#include "tests/support/pair_bytes.h"
#include "tests/support/pair_check.h"

#define CONTROL_CLASS 0
#define DATA_CLASS    1
#define SALT_STEP     977u /* offset of pair_fill()'s pattern for each salt */

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            oche_panic(__FILE__, __LINE__, #condition);                                            \
        }                                                                                          \
    } while (0)

static void idle_start(struct oche_cc_flow *flow, oche_time now)
{
    (void)now;
    flow->rate_bps = flow->line_rate_bps;
    flow->window_bytes = UINT64_MAX;
}

const struct oche_cc_scheme pair_cc_idle = {
    .name = "idle",
    .transports = OCHE_CC_RC | OCHE_CC_UC,
    .start = idle_start,
};

/* ---- port hooks; the context is the side ---- */

static struct pair_side *hook_side(void *context)
{
    struct pair_hooks *c = context;

    return &c->pair->side[c->side];
}

static void on_read(void *context, const struct oche_region *region, uint64_t offset, void *to,
                    uint32_t bytes)
{
    (void)context;
    CHECK(offset + bytes <= region->length);
    memcpy(to, (uint8_t *)region->base + offset, bytes);
}

static void on_write(void *context, const struct oche_region *region, uint64_t offset,
                     const void *from, uint32_t bytes)
{
    (void)context;
    CHECK(offset + bytes <= region->length);
    memcpy((uint8_t *)region->base + offset, from, bytes);
}

static uint64_t on_atomic(void *context, const struct oche_region *region, uint64_t offset,
                          bool compare_swap, uint64_t compare, uint64_t swap_add)
{
    uint64_t old, new;

    (void)context;
    CHECK(offset + 8 <= region->length && offset % 8 == 0);
    memcpy(&old, (uint8_t *)region->base + offset, 8);
    if (compare_swap)
        new = old == compare ? swap_add : old;
    else
        new = old + swap_add;
    memcpy((uint8_t *)region->base + offset, &new, 8);
    return old;
}

static void on_delivered(void *context, struct oche_qp *qp, uint32_t bytes, bool last,
                         oche_time now)
{
    struct pair_side *side = hook_side(context);

    (void)qp;
    (void)now;
    side->delivered_bytes += bytes;
    side->delivered_messages += last;
}

static struct oche_qp *on_unknown_qp(void *context, const struct oche_packet *packet, oche_time now)
{
    struct pair_hooks *c = context;
    uint32_t index = (packet->dest_qpn - PAIR_QPN) / 2;

    (void)now;
    if (!c->pair->options.unknown_qp || c->side != 1 || index >= PAIR_QPS)
        return NULL;
    pair_connect(c->pair, 1, index);
    return c->pair->side[1].qp[index];
}

static void on_completion_event(void *context, struct oche_cq *cq)
{
    struct pair_side *side = hook_side(context);

    (void)cq;
    side->events++;
    if (side->post_at_event != NULL)
        side->posted_at_event = oche_qp_post_send(side->qp[0], side->post_at_event);
    side->post_at_event = NULL;
}

static void on_cq_error(void *context, struct oche_cq *cq)
{
    (void)cq;
    hook_side(context)->cq_errors++;
}

static void on_timed_out(void *context, struct oche_qp *qp, oche_time now)
{
    struct pair_side *side = hook_side(context);

    (void)now;
    side->timeouts++;
    oche_qp_losses(qp, &side->at_timeout);
}

static void on_qp_error(void *context, struct oche_qp *qp, enum oche_status status)
{
    (void)qp;
    hook_side(context)->errors++;
    hook_side(context)->error = status;
}

/* Returns the sender, as the IP header does in reality. */
static void on_grh(void *context, const struct oche_packet *packet, uint8_t grh[OCHE_GRH_BYTES])
{
    (void)context;
    memset(grh, 0xee, OCHE_GRH_BYTES);
    memcpy(grh, &packet->src, sizeof(packet->src));
}

static void on_qp_event(void *context, struct oche_qp *qp, enum oche_qp_event event)
{
    (void)qp;
    hook_side(context)->qp_events[event]++;
}

static void on_srq_limit(void *context, struct oche_srq *srq)
{
    (void)srq;
    hook_side(context)->srq_limits++;
}

static void on_wants_room(void *context, struct oche_qp *qp)
{
    (void)qp;
    hook_side(context)->wishes++;
}

static const struct oche_nic_port pair_port = {
    .wants_room = on_wants_room,
    .qp_event = on_qp_event,
    .srq_limit = on_srq_limit,
    .grh = on_grh,
    .read = on_read,
    .write = on_write,
    .atomic = on_atomic,
    .delivered = on_delivered,
    .unknown_qp = on_unknown_qp,
    .completion_event = on_completion_event,
    .cq_error = on_cq_error,
    .timed_out = on_timed_out,
    .qp_error = on_qp_error,
};

static const struct oche_nic_port pair_port_no_payload = {
    .delivered = on_delivered,
    .unknown_qp = on_unknown_qp,
    .completion_event = on_completion_event,
    .cq_error = on_cq_error,
    .timed_out = on_timed_out,
    .qp_error = on_qp_error,
};

/* ---- creation ---- */

static void *take(struct pair *pair, size_t bytes)
{
    return blocks_take(pair->options.blocks, bytes);
}

static void *memory(struct pair *pair, size_t bytes)
{
    return memset(take(pair, bytes), 0xa5, bytes); /* no code may rely on zeroed memory */
}

static uint64_t or_default(uint64_t value, uint64_t preset)
{
    return value == 0 ? preset : value;
}

static void set_defaults(struct pair_options *o)
{
    o->cc = o->cc == NULL ? &pair_cc_idle : o->cc;
    o->line_rate_bps = or_default(o->line_rate_bps, 100 * OCHE_GBPS);
    o->delay = or_default(o->delay, OCHE_US);
    o->mtu = (uint32_t)or_default(o->mtu, PAIR_MTU);
    o->send_depth = (uint32_t)or_default(o->send_depth, 16);
    o->recv_depth = (uint32_t)or_default(o->recv_depth, 16);
    o->max_sge = (uint32_t)or_default(o->max_sge, 4);
    o->responder_resources = (uint32_t)or_default(o->responder_resources, 4);
    o->initiator_depth = (uint32_t)or_default(o->initiator_depth, 4);
    o->qps = (uint32_t)or_default(o->qps, 1);
    o->ack_every = (uint32_t)or_default(o->ack_every, 1);
    o->ack_timeout = or_default(o->ack_timeout, 500 * OCHE_US);
    o->retry_count = (uint32_t)or_default(o->retry_count, 7);
    o->rnr_retry = (uint32_t)or_default(o->rnr_retry, 7);
    o->min_rnr_timer = (uint32_t)or_default(o->min_rnr_timer, 1);
    o->ecn_threshold = or_default(o->ecn_threshold, OCHE_NEVER);
    o->nak_interval = or_default(o->nak_interval, 5 * OCHE_US);
    o->in_flight = (uint32_t)or_default(o->in_flight, PAIR_IN_FLIGHT);
    if (o->access == 0)
        o->access = OCHE_ACCESS_LOCAL_WRITE | OCHE_ACCESS_REMOTE_WRITE | OCHE_ACCESS_REMOTE_READ |
                    OCHE_ACCESS_REMOTE_ATOMIC;
}

static void open_side(struct pair *pair, int which)
{
    struct pair_side *side = &pair->side[which];
    const struct pair_options *o = &pair->options;
    const struct oche_recovery_scheme *recovery = &oche_recovery_go_back_n;
    const void *recovery_params = &pair->recovery_params;

    if (o->recovery != NULL) {
        recovery = o->recovery;
        recovery_params = o->own_recovery_params;
    }
    if (which == 1 && o->peer_recovery != NULL) {
        recovery = o->peer_recovery;
        recovery_params = o->peer_recovery_params;
    }
    side->hooks = (struct pair_hooks){.pair = pair, .side = which};
    oche_trace_init(&side->trace, (uint32_t)which, side->ring, 64);
    struct oche_nic_config config = {
        .address = 100 + (uint32_t)which,
        .shared_addresses = o->groups ? 200 : 0,
        .line_rate_bps = o->line_rate_bps,
        .gap_bytes = OCHE_GAP_BYTES,
        .ipv6 = o->ipv6,
        .control_class = CONTROL_CLASS,
        .acks_with_data = o->acks_with_data,
        .max_qps = PAIR_QPS,
        .max_regions = PAIR_REGIONS,
        .ecn_threshold_bytes = o->ecn_threshold,
        .deflection = o->deflection,
        .spread = o->spread,
        .habits = which == 0 ? &o->habits : &o->peer_habits,
        .most_repeats = o->most_repeats,
        .most_ahead = o->most_ahead,
        .peer_qpn_bits = o->peer_qpn_bits,
        .seed = o->seed,
        .cc = which == 1 && o->peer_cc != NULL ? o->peer_cc : o->cc,
        .cc_params = which == 1 && o->peer_cc != NULL ? o->peer_cc_params : o->cc_params,
        .recovery = recovery,
        .recovery_params = recovery_params,
        .port = o->no_payload ? &pair_port_no_payload : &pair_port,
        .port_context = &side->hooks,
        .trace = &side->trace,
    };
    side->nic_memory = memory(pair, oche_nic_bytes(&config));
    side->nic = oche_nic_create(side->nic_memory, &config);
    side->cq_memory = take(pair, oche_cq_bytes(PAIR_CQ)); /* large, and written before it is read */
    side->cq = oche_cq_create(side->cq_memory, PAIR_CQ);
    if (which == 1 && o->srq_depth > 0) {
        struct oche_srq_config shared = {
            .depth = o->srq_depth, .max_sge = o->max_sge, .pd = PAIR_PD};
        side->srq_memory = memory(pair, oche_srq_bytes(&shared));
        side->srq = oche_srq_create(side->nic, side->srq_memory, &shared);
        CHECK(side->srq != NULL);
    }
    side->memory = o->memory[which];
    if (side->memory == NULL)
        side->memory = calloc(1, PAIR_MEMORY);
    CHECK(side->memory != NULL);
    side->classes = UINT8_MAX;
    struct oche_region region = {
        .va = PAIR_VA,
        .length = PAIR_MEMORY,
        .key = PAIR_KEY,
        .access = OCHE_ACCESS_LOCAL_WRITE | OCHE_ACCESS_REMOTE_WRITE | OCHE_ACCESS_REMOTE_READ |
                  OCHE_ACCESS_MW_BIND | OCHE_ACCESS_REMOTE_ATOMIC,
        .pd = PAIR_PD,
        .base = side->memory,
    };
    bool added = oche_nic_add_region(side->nic, &region);
    CHECK(added);
}

struct oche_qp_config pair_qp_config(const struct pair *pair, int side, uint32_t index)
{
    const struct pair_options *o = &pair->options;

    return (struct oche_qp_config){
        .qpn = PAIR_QPN + (uint32_t)side + 2 * index,
        .transport = (uint8_t)o->transport,
        .traffic_class = DATA_CLASS,
        .pkey = 0xffff,
        .pd = PAIR_PD,
        .mtu_bytes = o->mtu,
        .send_depth = o->send_depth,
        .recv_depth = o->recv_depth,
        .srq = pair->side[side].srq,
        .qkey = PAIR_QKEY,
        .responder_resources = o->responder_resources == UINT32_MAX ? 0 : o->responder_resources,
        .initiator_depth = o->initiator_depth == UINT32_MAX ? 0 : o->initiator_depth,
        .access = o->access == UINT32_MAX ? 0 : o->access,
        .max_send_sge = o->max_sge,
        .max_recv_sge = o->max_sge,
        .groups = o->groups,
        .windows = true,
        .max_inline_bytes = 64,
        .end_to_end_credits = o->credits,
        .send_cq = pair->side[side].cq,
        .recv_cq = pair->side[side].cq,
    };
}

struct oche_qp_connection pair_connection(const struct pair *pair, int side, uint32_t index)
{
    const struct pair_options *o = &pair->options;
    uint32_t psn[2] = {o->first_psn, oche_psn_add(o->first_psn, 1000)};

    return (struct oche_qp_connection){
        .remote_address = 101 - (uint32_t)side,
        .remote_qpn = PAIR_QPN + 1 - (uint32_t)side + 2 * index,
        .send_psn = psn[side],
        .recv_psn = psn[1 - side],
        .udp_source_port = 0xc000,
        .flow_hash = 42 + index,
        .ack_every_packets = o->ack_every,
        .window_packets = o->window_packets,
        .window_grows = o->window_grows,
        .ack_timeout = o->ack_timeout,
        .retry_count = o->retry_count == UINT32_MAX - 1 ? 0 : o->retry_count,
        .rnr_retry = o->rnr_retry == UINT32_MAX - 1 ? 0 : o->rnr_retry,
        .min_rnr_timer = (uint8_t)o->min_rnr_timer,
        .extensions = o->extensions,
    };
}

void pair_connect(struct pair *pair, int which, uint32_t index)
{
    struct pair_side *side = &pair->side[which];
    struct oche_qp_config config = pair_qp_config(pair, which, index);
    struct oche_qp_connection connection = pair_connection(pair, which, index);

    const size_t bytes = oche_qp_bytes(side->nic, &config);

    side->qp_memory[index] =
        memory(pair, bytes + 2 * ((size_t)pair->options.held_bytes + pair->options.held_later));
    config.held_bytes = pair->options.held_bytes;
    config.held = config.held_bytes > 0 ? (uint8_t *)side->qp_memory[index] + bytes : NULL;
    config.held_reads_bytes = config.held_bytes;
    config.held_reads = config.held != NULL ? config.held + config.held_bytes : NULL;
    side->later[index] = config.held != NULL ? config.held_reads + config.held_bytes : NULL;
    side->qp[index] = oche_qp_create(side->nic, side->qp_memory[index], &config);
    CHECK(side->qp[index] != NULL);
    bool ready = oche_qp_init(side->qp[index], pair->now) &&
                 oche_qp_ready_to_receive(side->qp[index], &connection, pair->now) &&
                 oche_qp_ready_to_send(side->qp[index], pair->now);
    CHECK(ready);
}

struct pair *pair_open(const struct pair_options *options)
{
    struct pair *pair = calloc(1, sizeof(*pair));

    CHECK(pair != NULL);
    if (options != NULL)
        pair->options = *options;
    set_defaults(&pair->options);
    pair->recovery_params.nak_interval = pair->options.nak_interval;
    pair->recovery_params.nak_exception = true;
    pair->random = oche_random_stream(pair->options.seed, "pair faults", 0);
    struct blocks *blocks = blocks_or_shared(pair->options.blocks);
    const size_t in_flight = pair->options.in_flight;

    pair->pool = blocks_take(blocks, in_flight * sizeof(*pair->pool));
    pair->free = blocks_take(blocks, in_flight * sizeof(*pair->free));
    pair->heap = blocks_take(blocks, in_flight * sizeof(*pair->heap));
    if (pair->options.bytes)
        pair->wires = blocks_take(blocks, in_flight * PAIR_WIRE_BYTES);
    for (uint32_t i = 0; i < pair->options.in_flight; i++)
        pair->free[i] = pair->options.in_flight - 1 - i;
    pair->free_count = pair->options.in_flight;
    pair->now = OCHE_US;
    open_side(pair, 0);
    open_side(pair, 1);
    for (uint32_t i = 0; i < pair->options.qps && !pair->options.no_connect; i++) {
        pair_connect(pair, 0, i);
        if (!pair->options.unknown_qp)
            pair_connect(pair, 1, i);
    }
    return pair;
}

/* Every retransmission had exactly one cause. */
static void check_causes(const struct oche_nic *nic)
{
    uint64_t sum = 0;

    for (unsigned cause = 0; cause < OCHE_RESENT_CAUSES; cause++)
        sum += oche_nic_resent(nic, (enum oche_resent)cause);
    OCHE_MUST(sum == oche_nic_stats(nic)->retransmitted_packets);
}

void pair_close(struct pair *pair)
{
    struct blocks *blocks = pair->options.blocks;

    for (int s = 0; s < 2; s++) {
        struct pair_side *side = &pair->side[s];
        check_causes(side->nic);
        for (uint32_t i = 0; i < PAIR_QPS; i++) {
            if (side->qp[i] != NULL)
                oche_qp_destroy(side->qp[i]);
            blocks_give(blocks, side->qp_memory[i]);
        }
        blocks_give(blocks, side->nic_memory);
        blocks_give(blocks, side->cq_memory);
        blocks_give(blocks, side->srq_memory);
        if (pair->options.memory[s] == NULL)
            free(side->memory);
    }
    blocks = blocks_or_shared(blocks);
    blocks_give(blocks, pair->pool);
    blocks_give(blocks, pair->wires);
    blocks_give(blocks, pair->free);
    blocks_give(blocks, pair->heap);
    free(pair);
}

/* ---- the link ---- */

static bool before(const struct pair *pair, uint32_t a, uint32_t b)
{
    const struct pair_packet *x = &pair->pool[a], *y = &pair->pool[b];

    return x->arrives != y->arrives ? x->arrives < y->arrives : x->order < y->order;
}

static void heap_push(struct pair *pair, uint32_t index)
{
    uint32_t at = pair->heap_count++;

    while (at > 0 && before(pair, index, pair->heap[(at - 1) / 2])) {
        pair->heap[at] = pair->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    pair->heap[at] = index;
}

static uint32_t heap_pop(struct pair *pair)
{
    uint32_t top = pair->heap[0], last = pair->heap[--pair->heap_count], at = 0;

    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= pair->heap_count)
            break;
        if (child + 1 < pair->heap_count && before(pair, pair->heap[child + 1], pair->heap[child]))
            child++;
        if (!before(pair, pair->heap[child], last))
            break;
        pair->heap[at] = pair->heap[child];
        at = child;
    }
    pair->heap[at] = last;
    return top;
}

static enum pair_fate decide(struct pair *pair, int from, const struct oche_packet *packet)
{
    const struct pair_options *o = &pair->options;
    const enum pair_fate ruled = pair->fate != NULL ? pair->fate(pair, from, packet) : PAIR_PASS;

    if (ruled != PAIR_PASS)
        return ruled;
    const uint32_t per_mille[] = {
        [PAIR_DROP] = o->drop,     [PAIR_TWICE] = o->twice, [PAIR_LATE] = o->late,
        [PAIR_DAMAGE] = o->damage, [PAIR_TRIM] = o->trim,
    };
    if (o->drop + o->twice + o->late + o->damage + o->trim == 0)
        return PAIR_PASS;
    uint64_t draw = oche_random_below(&pair->random, 1000);
    for (unsigned fate = PAIR_DROP; fate <= PAIR_TRIM; draw -= per_mille[fate++])
        if (draw < per_mille[fate])
            return (enum pair_fate)fate;
    return PAIR_PASS;
}

/* Counts what the test compares with the NIC's own counters. */
static void count_out(struct pair_side *side, const struct oche_packet *packet)
{
    side->out_payload += packet->payload_bytes;
    if ((oche_opcodes[packet->opcode].flags & OCHE_OP_HAS(AETH)) == 0)
        return;
    side->out_naks += oche_aeth_kind(oche_aeth_syndrome(packet)) == OCHE_AETH_NAK;
    side->out_rnr_naks += oche_aeth_kind(oche_aeth_syndrome(packet)) == OCHE_AETH_RNR;
}

static uint8_t *wire_of(const struct pair *pair, uint32_t index)
{
    return pair->wires == NULL ? NULL : pair->wires + (size_t)index * PAIR_WIRE_BYTES;
}

/* Puts a copy of `p` on the link, directly behind `p`. */
static void put_again(struct pair *pair, const struct pair_packet *p)
{
    CHECK(pair->free_count > 0);
    uint32_t again = pair->free[--pair->free_count];
    struct pair_packet *q = &pair->pool[again];

    *q = *p;
    q->packet.payload = q->payload;
    q->wire = wire_of(pair, again);
    if (q->wire != NULL)
        memcpy(q->wire, p->wire, p->wire_bytes);
    q->order = pair->order++;
    q->arrives += pair_late(pair, 8);
    heap_push(pair, again);
}

/* Takes a packet that has arrived off the link. Returns false if there is none. */
static bool take_off_link(struct pair *pair, struct pair_packet *p, struct oche_packet *packet)
{
    *packet = p->packet;
    if (p->wire == NULL)
        return true;
    if (!pair_bytes_decode(packet, p->wire, p->wire_bytes)) {
        CHECK(p->damaged);
        pair->damaged++;
        return false;
    }
    CHECK(pair_bytes_same(&p->packet, packet));
    return true;
}

static void put_on_link(struct pair *pair, uint32_t index, int from)
{
    struct pair_packet *p = &pair->pool[index];
    oche_time on_line =
        oche_time_of_bytes(p->packet.frame_bytes + OCHE_GAP_BYTES, pair->options.line_rate_bps);
    enum pair_fate fate;

    pair->sent++;
    pair->side[from].busy_until = pair->now + on_line;
    if (pair->tap != NULL)
        pair->tap(pair, from, &p->packet);
    count_out(&pair->side[from], &p->packet);
    fate = decide(pair, from, &p->packet);
    pair->faults += fate != PAIR_PASS;
    p->wire = wire_of(pair, index);
    if (p->wire != NULL)
        p->wire_bytes = pair_bytes_encode(&p->packet, pair->options.ipv6, p->wire);
    p->damaged = fate == PAIR_DAMAGE;
    if (p->damaged)
        pair_bytes_damage(&pair->random, pair->options.ipv6, pair->options.peer_recovery != NULL,
                          p->wire, p->wire_bytes);
    if (fate == PAIR_TRIM && pair_bytes_trim(&p->packet, DATA_CLASS + 1))
        p->wire = NULL;
    else if (fate == PAIR_TRIM)
        pair->faults--;
    p->to = (uint8_t)(1 - from);
    p->order = pair->order++;
    p->arrives = pair->now + on_line + pair->options.delay;
    if (p->packet.traffic_class == DATA_CLASS)
        p->arrives += pair->options.data_delay;
    if (fate == PAIR_LATE)
        p->arrives += pair->options.late_by > 0 ? pair->options.late_by : pair_late(pair, 20);
    if (fate == PAIR_DROP) {
        pair->free[pair->free_count++] = index;
        return;
    }
    heap_push(pair, index);
    if (fate == PAIR_TWICE)
        put_again(pair, p);
}

static bool transmit(struct pair *pair, int from)
{
    struct pair_side *side = &pair->side[from];

    CHECK(pair->free_count > 0);
    uint32_t index = pair->free[pair->free_count - 1];
    struct pair_packet *p = &pair->pool[index];
    struct oche_packet *out = &p->packet;
    out->payload = p->payload;
    if (oche_nic_transmit(side->nic, pair->now, pair->now, side->classes, &out, 1) == 0)
        return false;
    pair->free_count--;
    CHECK(out->frame_bytes == oche_packet_frame_bytes(out, pair->options.ipv6));
    put_on_link(pair, index, from);
    return true;
}

/* Returns when a side has its next event of its own. */
static oche_time side_next(const struct pair *pair, int which)
{
    const struct pair_side *side = &pair->side[which];
    oche_time next = oche_nic_next(side->nic, side->classes);
    oche_time timer = oche_nic_next_timer(side->nic);

    if (next < side->busy_until)
        next = side->busy_until;
    return oche_time_min(next, timer);
}

bool pair_step(struct pair *pair, oche_time until)
{
    oche_time next = oche_time_min(side_next(pair, 0), side_next(pair, 1));

    if (pair->heap_count > 0)
        next = oche_time_min(next, pair->pool[pair->heap[0]].arrives);
    if (next == OCHE_NEVER || next > until)
        return false;
    if (next > pair->now)
        pair->now = next;
    while (pair->heap_count > 0 && pair->pool[pair->heap[0]].arrives <= pair->now) {
        uint32_t index = heap_pop(pair);
        struct pair_packet *p = &pair->pool[index];
        struct oche_packet packet;
        if (take_off_link(pair, p, &packet)) {
            if (packet.kind != OCHE_PACKET_TRIMMED)
                pair->side[p->to].in_payload += packet.payload_bytes;
            if (pair->arrival != NULL)
                pair->arrival(pair, p->to, &packet);
            pair_receive(pair, p->to, &packet);
        }
        pair->free[pair->free_count++] = index;
    }
    for (int s = 0; s < 2; s++) {
        struct pair_side *side = &pair->side[s];
        if (oche_nic_next_timer(side->nic) <= pair->now)
            oche_nic_expire(side->nic, pair->now);
        if (side->busy_until <= pair->now)
            transmit(pair, s);
    }
    pair_check(pair);
    return true;
}

void pair_run(struct pair *pair, oche_time until)
{
    while (pair_step(pair, until))
        ;
    pair->now = until;
}

oche_time pair_run_quiet(struct pair *pair)
{
    oche_time limit = pair->now + 1000 * OCHE_SEC;
    uint64_t steps = 0;

    while (pair_step(pair, limit))
        CHECK(++steps < 100000000);
    CHECK(pair->now < limit);
    return pair->now;
}

void pair_dump(const struct pair *pair)
{
    for (int s = 0; s < 2; s++) {
        const struct oche_trace *trace = &pair->side[s].trace;
        uint64_t first = trace->count > 64 ? trace->count - 64 : 0;
        for (uint64_t i = first; i < trace->count; i++) {
            const struct oche_trace_record *r = &trace->ring[i & trace->mask];
            fprintf(stderr, "%d %lu.%06lu us qpn %x %s %lx %lx\n", s,
                    (unsigned long)(r->time / OCHE_US), (unsigned long)(r->time % OCHE_US), r->qpn,
                    oche_trace_name(r->kind), (unsigned long)r->a, (unsigned long)r->b);
        }
    }
}

/* ---- work ---- */

struct oche_send_work pair_work(enum oche_work_opcode opcode, uint64_t wr_id, uint32_t offset,
                                uint32_t remote_offset, uint32_t length)
{
    return (struct oche_send_work){
        .wr_id = wr_id,
        .opcode = (uint8_t)opcode,
        .flags = OCHE_WORK_SIGNALED,
        .sge_count = 1,
        .remote_va = PAIR_VA + remote_offset,
        .rkey = PAIR_KEY,
        .sge[0] = {.va = PAIR_VA + offset, .length = length, .lkey = PAIR_KEY},
    };
}

struct oche_destination pair_destination(int from, uint32_t index)
{
    return (struct oche_destination){
        .address = 101 - (uint32_t)from,
        .qpn = PAIR_QPN + 1 - (uint32_t)from + 2 * index,
        .qkey = PAIR_QKEY,
        .flow_hash = 77,
        .tag = 99,
        .udp_source_port = 0xd000,
        .traffic_class = 1,
    };
}

void pair_post(struct pair *pair, int side, const struct oche_send_work *work)
{
    int error = oche_qp_post_send(pair->side[side].qp[0], work);

    CHECK(error == 0);
}

void pair_post_recv(struct pair *pair, int side, uint64_t wr_id, uint32_t offset, uint32_t length)
{
    struct oche_recv_work work = {
        .wr_id = wr_id,
        .sge_count = 1,
        .sge[0] = {.va = PAIR_VA + offset, .length = length, .lkey = PAIR_KEY},
    };
    int error = oche_qp_post_recv(pair->side[side].qp[0], &work);

    CHECK(error == 0);
}

struct oche_completion pair_expect(struct pair *pair, int side, uint64_t wr_id,
                                   enum oche_status status)
{
    struct oche_completion done = {0};
    unsigned count = oche_cq_poll(pair->side[side].cq, &done, 1);

    if (count != 1 || done.wr_id != wr_id || done.status != status)
        fprintf(stderr, "completion: %u, wr_id %lu status %d; want wr_id %lu status %d\n", count,
                (unsigned long)done.wr_id, done.status, (unsigned long)wr_id, status);
    CHECK(count == 1 && done.wr_id == wr_id && done.status == status);
    return done;
}

void pair_expect_none(struct pair *pair, int side)
{
    struct oche_completion done;
    unsigned count = oche_cq_poll(pair->side[side].cq, &done, 1);

    CHECK(count == 0);
}

struct oche_packet pair_packet(const struct pair *pair, int from, uint8_t opcode, uint32_t psn,
                               uint16_t payload_bytes)
{
    return (struct oche_packet){
        .src = 100 + (uint32_t)from,
        .dst = 101 - (uint32_t)from,
        .dest_qpn = PAIR_QPN + 1 - (uint32_t)from,
        .psn = psn,
        .frame_bytes = (uint16_t)oche_frame_bytes(opcode, payload_bytes, pair->options.ipv6),
        .payload_bytes = payload_bytes,
        .udp_source_port = 0xc000,
        .pkey = 0xffff,
        .opcode = opcode,
        .bth = OCHE_BTH_ACKREQ,
    };
}

static uint8_t pattern_at(uint32_t i)
{
    return (uint8_t)(i * UINT32_C(0x9e3779b1) >> 19);
}

/* Tests fill whole memories thousands of times; these copy from a table. */
static const uint8_t *pattern(void)
{
    static uint8_t table[PAIR_MEMORY + UINT8_MAX * SALT_STEP];
    static bool made;

    for (uint32_t i = 0; !made && i < sizeof(table); i++)
        table[i] = pattern_at(i);
    made = true;
    return table;
}

void pair_fill(struct pair *pair, int side, uint32_t offset, uint32_t length, uint8_t salt)
{
    uint8_t *memory = pair->side[side].memory;

    if (length == PAIR_MEMORY)
        memcpy(memory, pattern() + salt * SALT_STEP, length);
    else
        for (uint32_t i = offset; i < offset + length; i++)
            memory[i] = pattern_at(i + salt * SALT_STEP);
}
