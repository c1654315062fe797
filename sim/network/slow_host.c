/* SPDX-License-Identifier: Apache-2.0 */
/* Slow receivers and PAUSE storms; see the header. */
#include "sim/network/slow_host.h"

#include <string.h>

#include "fabric/pfc.h"
#include "sim/network/host_state.h"

/* The port in the record of a dropped packet; ports of switches and links have smaller numbers. */
#define DROPPED_BY_HOST (UINT64_C(1) << 34)

struct oche_slow_host {
    const struct oche_slow_host_config *config;
    struct oche_packet *head, *tail; /* the receive buffer */
    uint64_t bytes;
    oche_time
        drained; /* when the first packet will have left the buffer; OCHE_NEVER: it is empty */
    bool full;   /* it has been above xoff_bytes, and not yet down to xon_bytes */

    uint32_t storm;   /* number of the present storm; between storms, of the next one */
    uint8_t storming; /* classes that the storm pauses now */
    uint8_t told;     /* classes that the peer was last told to pause */
    bool refresh;     /* the PAUSE has to be repeated */
    oche_time refresh_at;

    struct oche_slow_host_stats stats;
    oche_time since[OCHE_CLASSES]; /* begin of the pause of each class in `told` */
    uint64_t sent[OCHE_CLASSES], refreshes[OCHE_CLASSES];
    oche_time total[OCHE_CLASSES]; /* ended pauses since the last reset, summed */
};

void oche_slow_host_start(struct oche_host *host, const struct oche_slow_host_config *config)
{
    host->slow = oche_arena_take(&host->shard->arena, sizeof(*host->slow));
    *host->slow =
        (struct oche_slow_host){.config = config, .drained = OCHE_NEVER, .refresh_at = OCHE_NEVER};
    host->notes |= OCHE_HOST_NOTES_SLOW;
}

/* ---- the receive buffer ---- */

static void drop(struct oche_host *host, struct oche_packet *packet, oche_time now)
{
    struct oche_slow_host *slow = host->slow;

    slow->stats.dropped_packets++;
    slow->stats.dropped_bytes += packet->frame_bytes;
    oche_trace_emit(oche_host_trace(host), now, OCHE_TRACE_DROPPED, packet->dest_qpn,
                    DROPPED_BY_HOST, packet->psn);
    if (host->shard->network->keep_mishaps)
        oche_mishaps_lost(&host->shard->mishaps, packet, now);
    oche_packet_return(&host->shard->pool, packet);
}

static oche_time drain_time(const struct oche_slow_host *slow, const struct oche_packet *packet)
{
    return oche_time_of_bytes(packet->frame_bytes, slow->config->drain_bps);
}

bool oche_slow_host_takes(struct oche_host *host, struct oche_packet *packet, oche_time now)
{
    struct oche_slow_host *slow = host->slow;
    const struct oche_slow_host_config *config = slow->config;

    if (!(config->waiting >> packet->traffic_class & 1))
        return false;
    if (slow->bytes + packet->frame_bytes > config->buffer_bytes) {
        drop(host, packet, now);
        return true;
    }
    if (slow->bytes > config->mark_bytes &&
        (packet->ecn == OCHE_ECN_ECT0 || packet->ecn == OCHE_ECN_ECT1))
        packet->ecn = OCHE_ECN_CE;
    packet->next = NULL;
    if (slow->head == NULL) {
        slow->head = packet;
        slow->drained = oche_time_add(now, drain_time(slow, packet));
    } else {
        slow->tail->next = packet;
    }
    slow->tail = packet;
    slow->bytes += packet->frame_bytes;
    if (slow->bytes > slow->stats.most_bytes)
        slow->stats.most_bytes = slow->bytes;
    slow->full = slow->full || slow->bytes > config->xoff_bytes;
    return true;
}

struct oche_packet *oche_slow_host_drain(struct oche_host *host, oche_time now)
{
    struct oche_slow_host *slow = host->slow;
    struct oche_packet *packet = slow->head;

    if (packet == NULL || slow->drained > now)
        return NULL;
    slow->head = packet->next;
    slow->bytes -= packet->frame_bytes;
    slow->full = slow->full && slow->bytes > slow->config->xon_bytes;
    slow->drained = slow->head == NULL ? OCHE_NEVER
                                       : oche_time_add(slow->drained, drain_time(slow, slow->head));
    return packet;
}

/* ---- PAUSEs ---- */

static uint8_t full_classes(const struct oche_slow_host *slow)
{
    return slow->full ? slow->config->lossless : 0;
}

static bool frame_is_due(const struct oche_host *host)
{
    const struct oche_slow_host *slow = host->slow;
    const struct oche_network *network = host->shard->network;

    return ((full_classes(slow) | slow->storming) != slow->told || slow->refresh) &&
           !network->extras[host->port - network->ports].down;
}

/* Adds a note for each class that is newly paused or resumed; see pause_notes.h. */
static void note_pauses(struct oche_host *host, uint8_t before, oche_time now)
{
    struct oche_shard *shard = host->shard;
    struct oche_node *node = &shard->network->nodes[host->address];

    if (node->pauses == NULL)
        node->pauses = oche_arena_take(&shard->arena, sizeof(*node->pauses));
    for (uint8_t left = before ^ host->slow->told; left != 0; left &= (uint8_t)(left - 1)) {
        unsigned cls = (unsigned)__builtin_ctz(left);

        /* It begins where packets now wait: at the port that the host holds. */
        oche_pause_notes_add(
            node->pauses,
            &(struct oche_pause_note){.time = now,
                                      .port = (uint32_t)(host->port - shard->network->ports),
                                      .cls = (uint8_t)cls,
                                      .on = host->slow->told >> cls & 1,
                                      .cause = host->port->peer,
                                      .cause_cls = (uint8_t)cls});
    }
}

/* Adds a pause or a resume of the class to the frame, if one is needed, and counts it. */
static void tell(struct oche_slow_host *slow, struct oche_packet *frame, unsigned cls,
                 uint16_t quanta, oche_time now)
{
    uint8_t bit = (uint8_t)(1U << cls);

    if (quanta > 0) {
        oche_pfc_set(frame, cls, quanta);
        if (slow->told & bit) {
            slow->refreshes[cls]++;
            return;
        }
        slow->told |= bit;
        slow->since[cls] = now;
        slow->sent[cls]++;
    } else if (slow->told & bit) {
        oche_pfc_set(frame, cls, 0);
        slow->told &= (uint8_t)~bit;
        slow->total[cls] += now - slow->since[cls];
    }
}

/* Returns the quanta that the class is to be paused for; 0: not at all. */
static uint16_t quanta_of(const struct oche_slow_host *slow, unsigned cls)
{
    if (full_classes(slow) >> cls & 1)
        return OCHE_PFC_MAX_QUANTA;
    return slow->storming >> cls & 1 ? slow->config->storms[slow->storm].quanta : 0;
}

bool oche_slow_host_send(struct oche_host *host, oche_time now)
{
    struct oche_slow_host *slow = host->slow;
    struct oche_shard *shard = host->shard;
    uint32_t number = (uint32_t)(host->port - shard->network->ports);
    uint16_t least = OCHE_PFC_MAX_QUANTA;
    uint8_t before = slow->told;

    if (!frame_is_due(host))
        return false;
    struct oche_packet *frame = oche_packet_take(&shard->pool);

    *frame = (struct oche_packet){.when = now,
                                  .tag = frame->tag,
                                  .payload = frame->payload,
                                  .frame_bytes = OCHE_MIN_FRAME_BYTES,
                                  .kind = OCHE_PACKET_PFC,
                                  .traffic_class = OCHE_CLASSES - 1};
    for (unsigned cls = 0; cls < OCHE_CLASSES; cls++) {
        uint16_t quanta = quanta_of(slow, cls);

        tell(slow, frame, cls, quanta, now);
        least = quanta > 0 && quanta < least ? quanta : least;
        if (oche_pfc_has(frame, cls))
            oche_trace_emit(oche_host_trace(host), now, OCHE_TRACE_PAUSE_SENT, 0, 0,
                            (uint64_t)cls << 16 | frame->pfc.quanta[cls]);
    }
    slow->refresh = false;
    slow->refresh_at =
        slow->told == 0
            ? OCHE_NEVER
            : now + oche_pause_duration(least, shard->network->extras[number].rate_bps) / 2;
    if (slow->told != before)
        note_pauses(host, before, now);
    oche_network_send(shard, &shard->network->ports[number], frame, now);
    return true;
}

void oche_slow_host_expire(struct oche_host *host, oche_time now)
{
    struct oche_slow_host *slow = host->slow;
    const struct oche_slow_host_config *config = slow->config;

    while (slow->storm < config->storm_count && config->storms[slow->storm].until <= now)
        slow->storm++;
    slow->storming = slow->storm < config->storm_count && config->storms[slow->storm].at <= now
                         ? config->storms[slow->storm].classes
                         : 0;
    if (slow->refresh_at > now)
        return;
    slow->refresh_at = OCHE_NEVER;
    slow->refresh = (full_classes(slow) | slow->storming) != 0;
}

oche_time oche_slow_host_next(struct oche_host *host)
{
    const struct oche_slow_host *slow = host->slow;
    oche_time next = oche_time_min(slow->drained, slow->refresh_at);

    if (frame_is_due(host))
        oche_network_want_done(host->shard, host->port);
    if (slow->storm == slow->config->storm_count)
        return next;
    const struct oche_pause_storm *storm = &slow->config->storms[slow->storm];

    return oche_time_min(next, slow->storming != 0 ? storm->until : storm->at);
}

void oche_slow_host_link_changed(struct oche_host *host, oche_time now)
{
    struct oche_slow_host *slow = host->slow;
    uint8_t before = slow->told;

    for (unsigned cls = 0; cls < OCHE_CLASSES; cls++)
        if (before >> cls & 1)
            slow->total[cls] += now - slow->since[cls];
    slow->told = 0;
    slow->refresh = false;
    slow->refresh_at = OCHE_NEVER;
    if (before != 0)
        note_pauses(host, before, now);
}

/* ---- counters ---- */

struct oche_slow_host_stats oche_slow_host_stats(const struct oche_host *host)
{
    return host->slow != NULL ? host->slow->stats : (struct oche_slow_host_stats){0};
}

void oche_slow_host_pauses(const struct oche_host *host, oche_time now,
                           struct oche_switch_port_stats *port)
{
    const struct oche_slow_host *slow = host->slow;

    for (unsigned cls = 0; slow != NULL && cls < OCHE_CLASSES; cls++) {
        port->pauses_sent[cls] = slow->sent[cls];
        port->refreshes_sent[cls] = slow->refreshes[cls];
        port->pause_sent_time[cls] =
            slow->total[cls] + (slow->told >> cls & 1 ? now - slow->since[cls] : 0);
    }
}

void oche_slow_host_reset(struct oche_host *host, oche_time now)
{
    struct oche_slow_host *slow = host->slow;

    if (slow == NULL)
        return;
    slow->stats = (struct oche_slow_host_stats){.most_bytes = slow->bytes};
    memset(slow->sent, 0, sizeof(slow->sent));
    memset(slow->refreshes, 0, sizeof(slow->refreshes));
    memset(slow->total, 0, sizeof(slow->total));
    for (unsigned cls = 0; cls < OCHE_CLASSES; cls++)
        slow->since[cls] = now;
}
