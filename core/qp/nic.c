/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The NIC: its memory, and where an arriving packet goes. Arriving packets are not trusted: a
 * packet reaches the queue pair that it names only if it comes from the queue pair's peer and
 * belongs to the queue pair's transport.
 */
#include <string.h>

#include "core/cc/cc_counting.h"
#include "core/cc/cc_headers.h"
#include "core/qp/congestion.h"
#include "core/qp/late.h"
#include "core/qp/qp_internal.h"
#include "core/qp/receive/receive.h"
#include "core/qp/send/losses.h"
#include "core/qp/send/send.h"
#include "core/wire/cnp.h"

/* ---- making ---- */

struct layout {
    size_t cc_state, qp_map, qps, free_slots, timer_entries, timer_positions, pacing_entries,
        pacing_positions, regions, peer_map, peers, peer_states, free_peers, wanting, destinations,
        cc_tables, end;
    size_t peer_state_stride;
};

size_t oche_nic_table_bytes(const struct oche_nic_config *config)
{
    const struct oche_cc_scheme *cc = config->cc;

    return cc->nic == NULL || cc->nic->tables_bytes == NULL
               ? 0
               : cc->nic->tables_bytes(config->cc_params, config->max_qps);
}

static size_t nic_peer_state_bytes(const struct oche_nic_config *config)
{
    const struct oche_cc_scheme *cc = config->cc;

    return cc->nic == NULL || cc->nic->peer_bytes == NULL ? 0
                                                          : cc->nic->peer_bytes(config->cc_params);
}

/*
 * Like oche_place, but a large part gets cache lines of its own, and a small part lies within one
 * line.
 */
static size_t place(size_t *end, size_t bytes)
{
    size_t at = oche_place(end, 0, sizeof(uint64_t));

    if (bytes < OCHE_CACHE_LINE && at % OCHE_CACHE_LINE + bytes <= OCHE_CACHE_LINE)
        return oche_place(end, bytes, sizeof(uint64_t));
    return oche_place(end, bytes < OCHE_CACHE_LINE ? bytes : oche_lines(bytes), OCHE_CACHE_LINE);
}

static struct layout layout_of(const struct oche_nic_config *config)
{
    struct layout l = {.end = sizeof(struct oche_nic)};
    size_t qps = config->max_qps;
    size_t timers = qps + 1; /* one more: congestion control's timer for the whole NIC */
    size_t peer_bytes = nic_peer_state_bytes(config);
    uint32_t peers = peer_bytes > 0 ? config->max_qps : 0;

    l.peer_state_stride = oche_lines(peer_bytes);
    /* The parts that every packet touches come first, side by side. */
    l.cc_state = place(&l.end, config->cc->nic_state_bytes);
    l.qp_map = place(&l.end, map_growing_capacity(config->max_qps) * sizeof(struct map_entry));
    l.qps = place(&l.end, qps * sizeof(struct oche_qp *));
    l.timer_positions = place(&l.end, timers * sizeof(uint32_t));
    l.pacing_positions = place(&l.end, qps * sizeof(uint32_t));
    l.timer_entries = place(&l.end, timers * sizeof(struct heap_entry));
    l.pacing_entries = place(&l.end, qps * sizeof(struct heap_entry));
    l.peer_states = place(&l.end, peers * l.peer_state_stride);
    l.wanting = place(&l.end, config->cc->nic != NULL ? qps * sizeof(void *) : 0);
    l.free_slots = place(&l.end, qps * sizeof(uint32_t));
    l.regions = place(&l.end, oche_regions_bytes(config->max_regions));
    l.peer_map = place(&l.end, map_growing_capacity(peers) * sizeof(struct map_entry));
    l.peers = place(&l.end, peers * sizeof(struct peer));
    l.free_peers = place(&l.end, peers * sizeof(uint32_t));
    l.destinations = place(&l.end, late_table_bytes(config->habits));
    l.cc_tables = oche_lines(l.end);
    if (config->tables == NULL)
        l.end = l.cc_tables + oche_nic_table_bytes(config);
    l.end = oche_lines(l.end);
    return l;
}

size_t oche_nic_bytes(const struct oche_nic_config *config)
{
    return layout_of(config).end;
}

/* Returns the bits of OCHE_BTH_SHOWN that tell what this NIC can do. */
static uint8_t shown_by(const struct oche_nic_config *config)
{
    const struct oche_cc_scheme *cc = config->cc;
    bool extends = config->recovery->extend != NULL || cc->headers != NULL;

    return (uint8_t)((extends           ? OCHE_BTH_EXTENSIONS
                      : cc->cnp != NULL ? OCHE_BTH_CNP_PSN
                                        : 0) |
                     (config->recovery->whole_messages ? OCHE_BTH_RESTARTS : 0));
}

struct oche_nic *oche_nic_create(void *memory, const struct oche_nic_config *config)
{
    struct layout l = layout_of(config);
    struct oche_nic *nic = memory;
    uint8_t *base = memory;
    uint32_t peers = nic_peer_state_bytes(config) > 0 ? config->max_qps : 0;

    OCHE_MUST(config->line_rate_bps > 0 && config->control_class < OCHE_CLASSES);
    OCHE_MUST(config->gap_bytes <= 1000);
    OCHE_MUST(config->port != NULL && config->trace != NULL && config->recovery != NULL);
    memset(nic, 0, sizeof(*nic));
    nic->config = *config;
    nic->port = config->port;
    nic->port_context = config->port_context;
    nic->cc = config->cc;
    nic->recovery = config->recovery;
    nic->trace = config->trace;
    nic->address = config->address;
    nic->ipv6 = config->ipv6;
    nic->trailer_bytes = (uint8_t)oche_cc_trailer_bytes(config->cc);
    nic->telemetry = config->cc->headers != NULL && config->cc->headers->telemetry;
    nic->control_class = config->control_class;
    nic->late = late_wanted(config->habits);
    nic->destinations = (void *)(base + l.destinations);
    memset(nic->destinations, 0, late_table_bytes(config->habits));
    nic->shows = shown_by(config);
    nic->gap_bytes = (uint16_t)config->gap_bytes;
    nic->ecn_threshold_bytes = config->ecn_threshold_bytes;
    nic->pace_credit = oche_time_of_bytes(PACE_CREDIT_BYTES, config->line_rate_bps);
    map_init_growing(&nic->qp_map, base + l.qp_map, config->max_qps);
    nic->qps = (void *)(base + l.qps);
    slots_init(&nic->slots, (void *)(base + l.free_slots), config->max_qps);
    /* The heaps' slots are set up when queue pairs take them. */
    heap_init(&nic->timers, (void *)(base + l.timer_entries), (void *)(base + l.timer_positions),
              0);
    heap_init_slot(&nic->timers, config->max_qps);
    heap_init(&nic->pacing, (void *)(base + l.pacing_entries), (void *)(base + l.pacing_positions),
              0);
    regions_init(&nic->regions, base + l.regions, config->max_regions);
    map_init_growing(&nic->peer_map, base + l.peer_map, peers);
    nic->peers = (void *)(base + l.peers);
    nic->peer_states = base + l.peer_states;
    nic->peer_state_stride = l.peer_state_stride;
    slots_init(&nic->peer_slots, (void *)(base + l.free_peers), peers);
    nic->cc_nic = (struct oche_cc_nic){
        .wanting = (void *)(base + l.wanting),
        .touched = &nic->cc_touched,
        .timer = OCHE_NEVER,
        .address = config->address,
        .shared_addresses = config->shared_addresses,
        .max_peers = config->max_qps,
        .peer_state = congestion_peer_state,
        .line_rate_bps = config->line_rate_bps,
        .received_line_bytes = &nic->received_line_bytes,
        .params = config->cc_params,
        .state = base + l.cc_state,
        .tables = config->tables != NULL ? config->tables : base + l.cc_tables,
        .trace = config->trace,
    };
    memset(nic->cc_nic.state, 0, config->cc->nic_state_bytes);
    if (config->cc->nic != NULL) {
        nic->sender_line = config->cc->nic->sender_line;
        nic->receiver_line = config->cc->nic->receiver_line;
        if (config->cc->nic->start != NULL)
            config->cc->nic->start(&nic->cc_nic);
    }
    return nic;
}

uint32_t oche_nic_senders(const struct oche_nic *nic, uint32_t *addresses, uint32_t most,
                          uint32_t *version)
{
    return nic->cc->counting->senders(nic->cc_nic.state, addresses, most, version);
}

uint64_t oche_nic_received_line_bytes(const struct oche_nic *nic)
{
    return nic->received_line_bytes;
}

struct oche_qp *oche_nic_find_qp(struct oche_nic *nic, uint32_t qpn)
{
    uint32_t slot = map_find(&nic->qp_map, qpn);

    return slot == NO_SLOT ? NULL : nic->qps[slot];
}

/* ---- counting ---- */

static const char *const reject_names[OCHE_REJECT_CAUSES] = {
    [OCHE_REJECT_NO_QP] = "no such queue pair",
    [OCHE_REJECT_QP_STATE] = "queue pair not ready",
    [OCHE_REJECT_WRONG_PEER] = "source is not the peer",
    [OCHE_REJECT_OPCODE] = "opcode or syndrome not known here",
    [OCHE_REJECT_PKEY] = "partition key",
    [OCHE_REJECT_LENGTH] = "payload length",
    [OCHE_REJECT_SEQUENCE] = "middle of a message without its start",
    [OCHE_REJECT_PSN] = "response to nothing outstanding",
    [OCHE_REJECT_DUPLICATE_GONE] = "duplicate no longer remembered",
    [OCHE_REJECT_NOT_READY] = "no receive posted",
    [OCHE_REJECT_INVALID_REQUEST] = "invalid request",
    [OCHE_REJECT_ACCESS] = "remote access",
    [OCHE_REJECT_OPERATION] = "receive cannot be used",
    [OCHE_REJECT_PLACEMENT] = "behind a gap and not right",
    [OCHE_REJECT_QKEY] = "queue key",
    [OCHE_REJECT_CNP] = "CNP or share that does not name the PSN that comes next",
    [OCHE_REJECT_REPEATS] = "READ repeated too often",
    [OCHE_REJECT_AHEAD] = "request too far ahead",
};

const char *oche_reject_name(enum oche_reject cause)
{
    return cause < OCHE_REJECT_CAUSES ? reject_names[cause] : "?";
}

const struct oche_nic_stats *oche_nic_stats(const struct oche_nic *nic)
{
    return &nic->stats;
}

const struct oche_counters *oche_nic_counters(const struct oche_nic *nic, const void **state)
{
    *state = nic->cc_nic.state;
    return nic->cc->counters;
}

uint64_t oche_nic_rejected(const struct oche_nic *nic, enum oche_reject cause)
{
    return cause < OCHE_REJECT_CAUSES ? nic->rejected[cause] : 0;
}

static const char *const resent_names[OCHE_RESENT_CAUSES] = {
    [OCHE_RESENT_NAK] = "NAK",
    [OCHE_RESENT_SELECTIVE] = "SACK",
    [OCHE_RESENT_TIMEOUT] = "timeout",
    [OCHE_RESENT_NOT_READY] = "receiver not ready",
    [OCHE_RESENT_RESPONSES] = "responses missing",
    [OCHE_RESENT_TWICE] = "last packet twice",
    [OCHE_RESENT_ASKED] = "READ asked again",
    [OCHE_RESENT_TRIMMED] = "trimmed",
};

const char *oche_resent_name(enum oche_resent cause)
{
    return cause < OCHE_RESENT_CAUSES ? resent_names[cause] : "?";
}

uint64_t oche_nic_resent(const struct oche_nic *nic, enum oche_resent cause)
{
    return cause < OCHE_RESENT_CAUSES ? nic->resent[cause] : 0;
}

bool oche_nic_counts(const struct oche_nic *nic, struct oche_cc_senders *senders)
{
    if (nic->cc->counting == NULL)
        return false;
    *senders = nic->cc->counting->counts(nic->cc_nic.state);
    return true;
}

enum oche_cc_marks oche_nic_marks(const struct oche_nic *nic)
{
    const struct oche_cc_nic_hooks *hooks = nic->cc->nic;

    return hooks != NULL && hooks->marks != NULL ? hooks->marks(nic->cc_nic.state)
                                                 : OCHE_CC_MARKS_ANSWERED;
}

void nic_reject(struct oche_nic *nic, struct oche_qp *qp, enum oche_reject cause,
                const struct oche_packet *packet, oche_time now)
{
    OCHE_MUST(cause < OCHE_REJECT_CAUSES);
    nic->stats.rejected_packets++;
    nic->stats.no_receive += cause == OCHE_REJECT_NOT_READY;
    nic->stats.access_refused += cause == OCHE_REJECT_ACCESS;
    nic->rejected[cause]++;
    oche_trace_emit(nic->trace, now, OCHE_TRACE_REJECTED, qp == NULL ? 0 : qp->qpn, cause,
                    packet->psn);
}

/* ---- prefetching ---- */

/*
 * The kinds of events for which cache lines are prefetched. Each kind needs other lines of a queue
 * pair.
 */
enum fetch { FETCH_TRANSMIT, FETCH_REQUEST, FETCH_RESPONSE };

static inline void fetch_line(const void *line)
{
    __builtin_prefetch(line, 1);
}

static void fetch_qp(const struct oche_nic *nic, const struct oche_qp *qp, enum fetch fetch)
{
    const char *cc_state = (const char *)(qp + 1);

    fetch_line(qp);
    if (fetch != FETCH_REQUEST) {
        fetch_line(qp->snd);
        fetch_line(qp->snd + OCHE_CACHE_LINE);
    }
    if (fetch == FETCH_REQUEST)
        fetch_line(qp->rcv);
    if (fetch == FETCH_TRANSMIT) {
        fetch_line(qp->snd + 2 * OCHE_CACHE_LINE);
        fetch_line(cc_state + nic->sender_line);
    }
    fetch_line(&qp->flow);
    if (fetch == FETCH_REQUEST)
        fetch_line(cc_state + nic->receiver_line);
}

void oche_nic_fetch(const struct oche_nic *nic, const struct oche_packet *packet, unsigned step)
{
    switch (step) {
    case 0:
        __builtin_prefetch(nic);
        fetch_line(&nic->ecn_threshold_bytes);
        fetch_line(&nic->timers);
        fetch_line((const char *)&nic->timers + OCHE_CACHE_LINE);
        fetch_line(&nic->doorbell);
        fetch_line(&nic->stats);
        fetch_line(nic + 1); /* behind struct oche_nic: congestion control's state, small tables */
        break;
    case 1:
        if (packet != NULL && packet->ext != 0)
            __builtin_prefetch(&packet->payload); /* the extension line */
        if (packet != NULL)
            __builtin_prefetch(&nic->qp_map.entries[map_home(&nic->qp_map, packet->dest_qpn)]);
        fetch_line(nic->pacing.entries);
        fetch_line(nic->timers.entries);
        fetch_line(nic->timers.position);
        fetch_line(nic->pacing.position);
        __builtin_prefetch(nic->qps);
        break;
    case 2:
        if (packet != NULL) {
            uint32_t slot = map_find(&nic->qp_map, packet->dest_qpn);
            bool response = oche_opcode_has(packet->opcode, OCHE_OP_RESPONSE);
            if (slot != NO_SLOT)
                fetch_qp(nic, nic->qps[slot], response ? FETCH_RESPONSE : FETCH_REQUEST);
        } else if (nic->ready_classes != 0) {
            fetch_qp(nic, nic->ready[__builtin_ctz(nic->ready_classes)].head, FETCH_TRANSMIT);
        } else if (nic->pacing.count > 0) {
            fetch_qp(nic, nic->qps[nic->pacing.entries[0].slot], FETCH_TRANSMIT);
        }
        break;
    }
}

/* ---- arrival ---- */

/* True for a CNP that the peer cannot have sent, as it does not name the PSN that comes next. */
static bool is_forged(const struct oche_qp *qp, const struct oche_packet *cnp)
{
    uint32_t psn;

    return qp->cnp_psns && (!oche_cnp_get_psn(cnp, &psn) || !sender_may_expect(qp, psn));
}

static void receive_cnp(struct oche_qp *qp, const struct oche_packet *packet, oche_time now)
{
    struct oche_nic *nic = qp->nic;

    if (OCHE_UNLIKELY(is_forged(qp, packet))) {
        nic_reject(nic, qp, OCHE_REJECT_CNP, packet, now);
        return;
    }
    nic->stats.cnps_received++;
    qp_trace(qp, now, OCHE_TRACE_CNP_ARRIVED, 0, 0);
    nic->stats.cnps_ignored += !congestion_cnp(qp, packet, now);
}

static struct oche_qp *find_or_make(struct oche_nic *nic, const struct oche_packet *packet,
                                    const struct oche_opcode_row *row, oche_time now)
{
    uint32_t slot = map_find(&nic->qp_map, packet->dest_qpn);

    if (OCHE_LIKELY(slot != NO_SLOT))
        return nic->qps[slot];
    if (!(row->flags & OCHE_OP_REQUEST) || nic->port->unknown_qp == NULL)
        return NULL;
    return nic->port->unknown_qp(nic->port_context, packet, now);
}

/*
 * True if a queue pair that is in no sending state may receive: only in RTR. The first packet from
 * the peer in RTR is reported to the driver as an event.
 */
static OCHE_NOINLINE bool may_receive(struct oche_qp *qp, const struct oche_packet *packet,
                                      enum oche_qp_state state)
{
    if (state != OCHE_QP_RTR)
        return false;
    if (qp->established || qp->transport == OCHE_TRANSPORT_UD ||
        packet->src != qp->remote_address || !qp_pkey_matches(packet->pkey, qp->pkey) ||
        oche_opcode(packet->opcode)->service != qp->transport)
        return true;
    qp->established = true;
    qp_tell(qp, OCHE_QP_EVENT_ESTABLISHED);
    return true;
}

/*
 * Handles a packet of a congestion-control scheme. It has no PSN of its own, so it tells nothing
 * about the peer's extensions. Exception: UC, where a receiver of data sends nothing else. On RC
 * its PSN is the one that the peer expects next, as in a CNP. A packet with another PSN must not
 * change our rate.
 */
static void receive_own(struct oche_qp *qp, const struct oche_packet *packet, oche_time now)
{
    qp_heard(qp, packet, qp->transport == OCHE_TRANSPORT_UC);
    if (!qp->flow.extended)
        nic_reject(qp->nic, qp, OCHE_REJECT_OPCODE, packet, now);
    else if (qp->transport == OCHE_TRANSPORT_RC && !sender_may_expect(qp, packet->psn))
        nic_reject(qp->nic, qp, OCHE_REJECT_CNP, packet, now);
    else
        congestion_own(qp, packet, now); /* packets of other schemes are ignored */
}

/*
 * True if a packet of the extended RC may be processed: the peer has shown that it knows them, or
 * this packet does. If it is a request, the responder's check of the PSN comes before all that
 * extensions allow.
 */
static bool may_be_extended(struct oche_qp *qp, const struct oche_packet *packet,
                            const struct oche_opcode_row *row)
{
    if (OCHE_LIKELY(qp->flow.extended))
        return true;
    if (!(packet->bth_reserved & qp->nic->shows & OCHE_BTH_EXTENSIONS))
        return false;
    if (row->flags & OCHE_OP_REQUEST)
        return true;
    qp_heard(qp, packet, completer_psn_ok(qp, packet));
    return qp->flow.extended;
}

/*
 * Handles a packet whose opcode does not belong to the queue pair's plain transport. Returns true
 * if the caller must process the packet as usual.
 */
static bool receive_special(struct oche_qp *qp, const struct oche_packet *packet,
                            const struct oche_opcode_row *row, oche_time now)
{
    if (row->service == OCHE_SERVICE_UD && qp->transport == OCHE_TRANSPORT_UD) {
        datagram_receive(qp, packet, row, now);
        return false;
    }
    if (packet->opcode == OCHE_CNP) {
        receive_cnp(qp, packet, now);
        return false;
    }
    if (row->service == OCHE_SERVICE_SCHEME) {
        receive_own(qp, packet, now);
        return false;
    }
    if (row->service != OCHE_SERVICE_RC_EXTENDED || qp->transport != OCHE_TRANSPORT_RC ||
        !may_be_extended(qp, packet, row)) {
        nic_reject(qp->nic, qp, OCHE_REJECT_OPCODE, packet, now);
        return false;
    }
    if (row->flags & OCHE_OP_HAS(TRIM)) {
        losses_trimmed(qp, packet, now);
        return false;
    }
    if ((row->flags & OCHE_OP_HAS(SACK)) && !completer_sack_ok(qp, packet)) {
        nic_reject(qp->nic, qp, OCHE_REJECT_PSN, packet, now);
        return false;
    }
    return true;
}

void oche_nic_receive(struct oche_nic *nic, const struct oche_packet *packet, oche_time now)
{
    const struct oche_opcode_row *row = oche_opcode(packet->opcode);
    struct oche_qp *qp = find_or_make(nic, packet, row, now);

    if (OCHE_UNLIKELY(qp == NULL)) {
        nic_reject(nic, NULL, OCHE_REJECT_NO_QP, packet, now);
        return;
    }
    enum oche_qp_state state = qp_state(qp);
    if (OCHE_UNLIKELY((unsigned)state - OCHE_QP_RTS > OCHE_QP_SQE - OCHE_QP_RTS) &&
        !may_receive(qp, packet, state)) {
        nic_reject(nic, qp, OCHE_REJECT_QP_STATE, packet, now);
        return;
    }
    if (OCHE_UNLIKELY(packet->src != qp->remote_address) && qp->transport != OCHE_TRANSPORT_UD) {
        nic_reject(nic, qp, OCHE_REJECT_WRONG_PEER, packet, now);
        return;
    }
    if (OCHE_UNLIKELY(!qp_pkey_matches(packet->pkey, qp->pkey))) {
        nic_reject(nic, qp, OCHE_REJECT_PKEY, packet, now);
        return;
    }
    nic->received_line_bytes += packet->frame_bytes + (uint64_t)nic->gap_bytes;
    if (OCHE_UNLIKELY(packet->kind == OCHE_PACKET_TRIMMED)) {
        response_trimmed(qp, packet, now);
        return;
    }
    if (OCHE_UNLIKELY(row->service != qp->transport) && !receive_special(qp, packet, row, now))
        return;
    if (row->flags & OCHE_OP_REQUEST)
        responder_receive(qp, packet, row, now);
    else if (row->flags & OCHE_OP_RESPONSE)
        completer_receive(qp, packet, row, now);
    else
        nic_reject(nic, qp, OCHE_REJECT_OPCODE, packet, now);
}
