/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a device for `oche stat`: the counters of `--stats`, and its queue pairs. */
#include <string.h>

#include "core/cm/mad.h"
#include "device/internal.h"
#include "device/view/format.h"

/* Bytes of the headers of Ethernet, IP and UDP. */
#define HEADER_BYTES(ipv6) (14 + ((ipv6) ? 40 : 20) + 8)

/* Twice in a row: once, a thread may be about to ring the doorbell. */
#define HUNG_CHECKS 2
#define HUNG_PACING (60 * OCHE_SEC) /* useful rates are higher */

/* Counts the addresses in use. Index 0, this device, holds one reference itself. */
static uint32_t count_peers(const struct oche_peers *peers)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < peers->count; i++)
        count += peers->peers[i].references > (i == 0);
    return count;
}

static void describe_qp(const struct oche_device *device, const struct oche_qp *qp,
                        struct oche_view_qp *out) OCHE_NEEDS(device_lock)
{
    const uint64_t line = device->config.line_rate_bps;
    struct oche_qp_view view;

    oche_qp_look(qp, &view);
    *out = (struct oche_view_qp){
        .qpn = view.qpn,
        .remote_qpn = view.remote_qpn,
        .rate_bps = !device->paces && view.rate_bps >= line ? UINT64_MAX : view.rate_bps,
        .window_bytes = view.window_bytes,
        .flight_bytes = view.flight_bytes,
        .retransmitted_packets = view.retransmitted_packets,
        .timeouts = view.timeouts,
        .transport = view.transport,
        .state = view.state};
    if (view.remote_qpn != 0 && view.remote_address < device->peers.count)
        memcpy(out->peer, device->peers.peers[view.remote_address].address.ip, sizeof(out->peer));
}

/*
 * Counts a queue pair as hung if it has work but no timer, or only a timer that is more than a
 * minute away. That is a fault of ours, and `oche stat` should show it.
 */
static void note_hang(struct oche_device *device, struct owned *owned, const struct oche_qp *qp,
                      oche_time now) OCHE_NEEDS(device_lock)
{
    oche_time when;
    const enum oche_wake wake = oche_qp_wake(qp, &when);
    const bool paced = wake == OCHE_WAKE_PACING || wake == OCHE_WAKE_READ_PACING;

    if (wake != OCHE_WAKE_NEVER && !(paced && when > now + HUNG_PACING))
        owned->hung_checks = 0;
    else if (owned->hung_checks < HUNG_CHECKS && ++owned->hung_checks == HUNG_CHECKS)
        device->stats.hung++;
}

/* The newest queue pairs come first. The connection manager's queue pair is left out. */
static void list_qps(struct oche_device *device, struct oche_view *view) OCHE_NEEDS(device_lock)
{
    const oche_time now = oche_device_now(device);

    view->listed = 0;
    for (struct owned *owned = device->qps; owned != NULL; owned = owned->next) {
        const struct oche_qp *qp = (const struct oche_qp *)(const void *)(owned + 1);

        if (oche_qp_number(qp) == OCHE_CM_QPN)
            continue;
        if (view->listed == OCHE_VIEW_QPS)
            break;
        note_hang(device, owned, qp, now);
        describe_qp(device, qp, &view->qp[view->listed++]);
    }
    view->qps = device->qp_count;
}

/* Received packets that were invalid, apart from those with a wrong ICRC. */
static uint64_t malformed(const struct oche_device_stats *stats)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < OCHE_WIRE_ERROR_COUNT; i++)
        sum += i != OCHE_WIRE_OK && i != OCHE_WIRE_ICRC ? stats->wrong[i] : 0;
    return sum;
}

static void fill_simple(const struct oche_device_stats *s, uint64_t *counters)
{
    const uint64_t values[OCHE_VIEW_SIMPLE] = {
        [OCHE_VIEW_SENT_PACKETS] = s->sent_packets,
        [OCHE_VIEW_SENT_DATAGRAMS] = s->sent_datagrams,
        [OCHE_VIEW_SENT_BYTES] = s->nic.data_bytes_sent,
        [OCHE_VIEW_RECEIVED_PACKETS] = s->received_packets,
        [OCHE_VIEW_RECEIVED_DATAGRAMS] = s->received_datagrams,
        [OCHE_VIEW_RECEIVED_BYTES] = s->nic.data_bytes_received,
        [OCHE_VIEW_STRANGERS] = s->strangers,
        [OCHE_VIEW_DELIVERED_BYTES] = s->nic.delivered_bytes,
        [OCHE_VIEW_DELIVERED_MESSAGES] = s->nic.delivered_messages,
        [OCHE_VIEW_SOCKET_FULL] = s->send_full,
        [OCHE_VIEW_PASSED_ON] = s->passed_on,
        [OCHE_VIEW_TAKEN_OVER] = s->taken_over,
        [OCHE_VIEW_TIMEOUTS] = s->nic.timeouts,
        [OCHE_VIEW_NAKS_SENT] = s->nic.naks_sent,
        [OCHE_VIEW_NAKS_RECEIVED] = s->nic.naks_received,
        [OCHE_VIEW_RNR_NAKS_SENT] = s->nic.rnr_naks_sent,
        [OCHE_VIEW_RNR_NAKS_RECEIVED] = s->nic.rnr_naks_received,
        [OCHE_VIEW_DUPLICATES] = s->nic.duplicate_packets,
        [OCHE_VIEW_OUT_OF_ORDER] = s->nic.out_of_order_packets,
        [OCHE_VIEW_KEPT] = s->nic.placed_packets,
        [OCHE_VIEW_ACKS_SENT] = s->nic.acks_sent,
        [OCHE_VIEW_ACKS_RECEIVED] = s->nic.acks_received,
        [OCHE_VIEW_ACKS_HELD] = s->held,
        [OCHE_VIEW_ACKS_HELD_IN_VAIN] = s->held_in_vain,
        [OCHE_VIEW_CNPS_SENT] = s->nic.cnps_sent,
        [OCHE_VIEW_CNPS_RECEIVED] = s->nic.cnps_received,
        [OCHE_VIEW_MARKS_RECEIVED] = s->nic.ce_received,
        [OCHE_VIEW_MARKS_MADE] = s->nic.ce_marked,
        [OCHE_VIEW_SCHEME_SENT] = s->nic.cc_packets_sent,
        [OCHE_VIEW_SCHEME_RECEIVED] = s->nic.cc_packets_received,
        [OCHE_VIEW_HUNG] = s->hung,
    };

    memcpy(counters, values, sizeof(values));
}

static void fill_causes(const struct oche_device *device, const struct oche_device_stats *s,
                        uint64_t *counters) OCHE_NEEDS(device_lock)
{
    uint64_t *resent = counters + OCHE_VIEW_RESENT_AT, *dropped = counters + OCHE_VIEW_DROPPED_AT;

    for (unsigned i = 0; i < OCHE_RESENT_CAUSES; i++)
        resent[i] = oche_nic_resent(device->nic, (enum oche_resent)i);
    for (unsigned i = 0; i < OCHE_REJECT_CAUSES; i++)
        dropped[i] = oche_nic_rejected(device->nic, (enum oche_reject)i);
    dropped[OCHE_VIEW_DROP_MALFORMED] = malformed(s);
    dropped[OCHE_VIEW_DROP_ICRC] = s->wrong[OCHE_WIRE_ICRC];
    dropped[OCHE_VIEW_DROP_PORT] = s->strange_ports;
    dropped[OCHE_VIEW_DROP_KERNEL] = s->kernel_drops;
    dropped[OCHE_VIEW_DROP_NOT_SENT] = s->send_errors;
    dropped[OCHE_VIEW_DROP_PASSING] = s->pass_lost + s->pass_refused;
    dropped[OCHE_VIEW_DROP_TEST] = s->dropped_sent + s->dropped_received;
}

static void fill_scheme(const struct oche_device *device, struct oche_view *view)
    OCHE_NEEDS(device_lock)
{
    struct oche_cc_senders senders;
    const void *state;
    const struct oche_counters *counters = oche_nic_counters(device->nic, &state);

    memset(view->scheme, 0, sizeof(view->scheme));
    if (counters != NULL)
        oche_counters_add(counters, state, view->scheme);
    view->senders_counted = view->senders_told = OCHE_VIEW_NOBODY;
    if (!oche_nic_counts(device->nic, &senders))
        return;
    view->senders_counted = senders.counted;
    view->senders_told = senders.told;
}

static void fill_adapter(const struct oche_device *device, const struct oche_device_stats *s,
                         uint64_t *adapter)
{
    const uint64_t headers = HEADER_BYTES(device->socket.ipv6);
    const struct oche_adapter_port port = {.sent_packets = s->sent_packets,
                                           .sent_bytes = s->sent_bytes + headers * s->sent_packets,
                                           .received_packets = s->received_packets,
                                           .received_bytes =
                                               s->received_bytes + headers * s->received_packets,
                                           .wrong_icrc = s->wrong[OCHE_WIRE_ICRC]};

    for (unsigned i = 0; i < OCHE_ADAPTER_COUNTERS; i++)
        adapter[i] = oche_adapter_count(i, &s->nic, &port);
}

static void copy_name(char *to, size_t bytes, const char *from)
{
    memset(to, 0, bytes);
    memcpy(to, from, strnlen(from, bytes - 1));
}

OCHE_UNCHECKED void oche_device_counters_now(struct oche_device *device, uint64_t *counters)
{
    struct oche_device_stats stats;

    oche_device_stats_now(device, &stats);
    fill_simple(&stats, counters);
    fill_causes(device, &stats, counters);
}

void oche_device_snapshot(struct oche_device *device, struct oche_view *view)
{
    struct oche_device_stats stats;

    view->line_rate_bps = device->paces ? device->config.line_rate_bps : 0;
    memcpy(view->address, device->address.ip, sizeof(view->address));
    copy_name(view->cc, sizeof(view->cc), device->config.cc->name);
    copy_name(view->recovery, sizeof(view->recovery), device->config.recovery->name);
    oche_device_lock(device);
    view->open_ns = oche_device_now(device) / OCHE_NS;
    list_qps(device, view);
    oche_device_stats_now(device, &stats);
    fill_simple(&stats, view->counters);
    fill_causes(device, &stats, view->counters);
    fill_adapter(device, &stats, view->adapter);
    fill_scheme(device, view);
    view->peers = count_peers(&device->peers);
    oche_device_unlock(device);
}
