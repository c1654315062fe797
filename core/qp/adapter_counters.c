/* SPDX-License-Identifier: Apache-2.0 */
#include "core/qp/adapter_counters.h"

#include <stddef.h>
#include <string.h>

/* All that counters are computed from. */
struct sources {
    struct oche_nic_stats nic;
    struct oche_adapter_port port;
    uint64_t writes; /* that were executed, or refused access */
};

/* The value: a member, without another one, over `divisor`. */
struct row {
    struct oche_adapter_counter counter;
    uint16_t plus, minus; /* offset in struct sources, and 1; 0: nothing */
    uint16_t divisor;     /* 0: 1 */
};

#define NIC(member)  (offsetof(struct sources, nic.member) + 1)
#define WRITES       (offsetof(struct sources, writes) + 1)
#define PORT(member) (offsetof(struct sources, port.member) + 1)
_Static_assert(sizeof(struct sources) < UINT16_MAX, "offsets are short");

#define ROW(group, name, port, help, ...)                                                          \
    {                                                                                              \
        {name, OCHE_ADAPTER_##group, true, port, help}, __VA_ARGS__                                \
    }
#define HW(name, help, ...)   ROW(HW, name, false, help, __VA_ARGS__)
#define SOFT(name, help, ...) ROW(SOFTROCE, name, false, help, __VA_ARGS__)
#define ZERO(group, name, help)                                                                    \
    {                                                                                              \
        .counter = { name, OCHE_ADAPTER_##group, false, false, help }                              \
    }

/* clang-format off */
static const struct row rows[OCHE_ADAPTER_COUNTERS] = {
    HW("local_ack_timeout_err",
       "ACK timeouts of the requester, without the adaptive ones",
       .plus = NIC(timeouts), .minus = NIC(adaptive_timeouts)),
    HW("roce_adp_retrans",
       "adaptive retransmissions, of adapters that make them (host.nic)",
       .plus = NIC(adaptive_timeouts)),
    HW("roce_adp_retrans_to",
       "requests given up after the last adaptive retransmission",
       .plus = NIC(adaptive_give_ups)),
    HW("roce_slow_restart",
       "timeouts after which an adapter lowered the rate (habit slow_restart)",
       .plus = NIC(slow_restarts)),
    HW("roce_slow_restart_cnps",
       "CNPs that these timeouts made inside the adapter, one each", .plus = NIC(slow_restarts)),
    ZERO(HW, "roce_slow_restart_trans", "changes of state to slow restart"),
    HW("packet_seq_err",
       "NAKs for a gap that made the requester send again",
       .plus = NIC(gap_naks_acted_on)),
    HW("out_of_sequence",
       "gaps in requests that the responder saw, as packets were lost or overtaken",
       .plus = NIC(gaps)),
    HW("implied_nak_seq_err",
       "gaps in responses to READs and atomics for which the requester asked again",
       .plus = NIC(response_gaps)),
    HW("duplicate_request",
       "request packets that had arrived before",
       .plus = NIC(duplicate_packets), .minus = NIC(duplicate_responses)),
    HW("rnr_nak_retry_err", "RNR NAKs received", .plus = NIC(rnr_naks_received)),
    HW("out_of_buffer", "packets dropped because no receive was posted", .plus = NIC(no_receive)),
    HW("resp_cqe_error", "receives that failed, with those flushed", .plus = NIC(failed_receives)),
    HW("resp_cqe_flush_error", "receives that were flushed", .plus = NIC(flushed_receives)),
    HW("req_cqe_error", "send requests that failed, with those flushed", .plus = NIC(failed_sends)),
    HW("req_cqe_flush_error", "send requests that were flushed", .plus = NIC(flushed_sends)),
    HW("resp_local_length_error",
       "receives that were too short for their message", .plus = NIC(short_receives)),
    HW("resp_remote_access_errors",
       "requests that the responder refused for their key, bounds or permission",
       .plus = NIC(access_refused)),
    HW("req_remote_access_errors",
       "send requests that failed as the peer refused access", .plus = NIC(sends_refused_access)),
    HW("req_remote_invalid_request",
       "send requests that failed as the peer found them invalid",
       .plus = NIC(sends_refused_invalid)),
    HW("req_transport_retries_exceeded",
       "send requests that failed as the peer did not answer", .plus = NIC(sends_unanswered)),
    HW("req_rnr_retries_exceeded",
       "send requests that failed as the peer posted no receive", .plus = NIC(sends_not_ready)),
    HW("rx_write_requests",
       "WRITEs that were executed, or refused access", .plus = WRITES),
    HW("rx_read_requests",
       "READs that were executed, or refused access", .plus = NIC(read_requests)),
    HW("rx_atomic_requests",
       "atomics that were executed, or refused access", .plus = NIC(atomic_requests)),
    ROW(HW, "rx_icrc_encapsulated", true,
        "packets received with a wrong ICRC", .plus = PORT(wrong_icrc)),
    HW("np_ecn_marked_roce_packets",
       "data packets received with a mark of congestion (CE)", .plus = NIC(ce_received)),
    HW("np_cnp_sent", "CNPs sent", .plus = NIC(cnps_sent)),
    HW("rp_cnp_handled",
       "CNPs received that the congestion control reacted to",
       .plus = NIC(cnps_received), .minus = NIC(cnps_ignored)),
    HW("rp_cnp_ignored",
       "CNPs received that the congestion control does not react to", .plus = NIC(cnps_ignored)),
    ZERO(HW, "rx_dct_connect", "connection requests of dynamically connected transport"),

    ZERO(SOFTROCE, "ack_deferred", "runs of soft-RoCE's completer that were deferred"),
    ZERO(SOFTROCE, "completer_retry_err", "retries of soft-RoCE's completer"),
    ZERO(SOFTROCE, "link_downed", "times that the link went down"),
    SOFT("out_of_seq_request", "as out_of_sequence", .plus = NIC(gaps)),
    ROW(SOFTROCE, "rcvd_pkts", true, "packets received", .plus = PORT(received_packets)),
    SOFT("rcvd_rnr_err", "RNR NAKs received", .plus = NIC(rnr_naks_received)),
    SOFT("rcvd_seq_err", "as packet_seq_err", .plus = NIC(gap_naks_acted_on)),
    ZERO(SOFTROCE, "rdma_recvs", "messages received"),
    ZERO(SOFTROCE, "rdma_sends", "messages sent"),
    SOFT("retry_exceeded_err",
         "as req_transport_retries_exceeded", .plus = NIC(sends_unanswered)),
    SOFT("retry_rnr_exceeded_err", "as req_rnr_retries_exceeded", .plus = NIC(sends_not_ready)),
    ZERO(SOFTROCE, "send_err", "packets that could not be sent"),
    SOFT("send_rnr_err", "RNR NAKs sent", .plus = NIC(rnr_naks_sent)),
    ROW(SOFTROCE, "sent_pkts", true, "packets sent", .plus = PORT(sent_packets)),

    ROW(PORT, "port_xmit_data", true,
        "bytes of frames sent, in units of four", .plus = PORT(sent_bytes), .divisor = 4),
    ROW(PORT, "port_rcv_data", true,
        "bytes of frames received, in units of four", .plus = PORT(received_bytes), .divisor = 4),
    ROW(PORT, "port_xmit_packets", true, "packets sent", .plus = PORT(sent_packets)),
    ROW(PORT, "port_rcv_packets", true, "packets received", .plus = PORT(received_packets)),
    ROW(PORT, "unicast_xmit_packets", true, "packets sent", .plus = PORT(sent_packets)),
    ROW(PORT, "unicast_rcv_packets", true, "packets received", .plus = PORT(received_packets)),
    ZERO(PORT, "multicast_xmit_packets", "multicast packets sent"),
    ZERO(PORT, "multicast_rcv_packets", "multicast packets received"),
    ZERO(PORT, "port_xmit_wait", "ticks in which data waited and nothing was sent"),
    ZERO(PORT, "port_xmit_discards", "packets that the port did not send"),
    ZERO(PORT, "port_rcv_errors", "packets received with an error"),
    ZERO(PORT, "port_rcv_remote_physical_errors", "packets received with an error of a switch"),
    ZERO(PORT, "port_rcv_switch_relay_errors", "packets that a switch could not pass on"),
    ZERO(PORT, "port_xmit_constraint_errors", "packets that the port was not allowed to send"),
    ZERO(PORT, "port_rcv_constraint_errors", "packets that the port was not allowed to receive"),
    ZERO(PORT, "local_link_integrity_errors", "times that local errors were too many"),
    ZERO(PORT, "excessive_buffer_overrun_errors", "times that buffers overran again and again"),
    ZERO(PORT, "symbol_error", "errors of the physical line"),
    ZERO(PORT, "link_error_recovery", "times that the link recovered from errors"),
    ZERO(PORT, "link_downed", "times that the link went down"),
    ZERO(PORT, "VL15_dropped", "packets of the subnet management that were dropped"),
};
/* clang-format on */

struct oche_adapter_counter oche_adapter_counter(unsigned which)
{
    OCHE_MUST(which < OCHE_ADAPTER_COUNTERS);
    return rows[which].counter;
}

unsigned oche_adapter_counter_named(const char *name)
{
    for (unsigned i = 0; i < OCHE_ADAPTER_HW_COUNTERS; i++)
        if (strcmp(rows[i].counter.name, name) == 0)
            return i;
    return OCHE_ADAPTER_COUNTERS;
}

static uint64_t member(const struct sources *sources, uint16_t offset)
{
    uint64_t value = 0;

    if (offset > 0)
        memcpy(&value, (const char *)sources + offset - 1, sizeof(value));
    return value;
}

uint64_t oche_adapter_count(unsigned which, const struct oche_nic_stats *nic,
                            const struct oche_adapter_port *port)
{
    struct sources sources = {.nic = *nic,
                              .writes = nic->delivered_messages - nic->delivered_sends +
                                        nic->refused_writes};
    const struct row *row = &rows[which];

    OCHE_MUST(which < OCHE_ADAPTER_COUNTERS);
    if (port != NULL)
        sources.port = *port;
    return (member(&sources, row->plus) - member(&sources, row->minus)) /
           (row->divisor > 0 ? row->divisor : 1);
}
