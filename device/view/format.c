/* SPDX-License-Identifier: Apache-2.0 */
/* The table of counters; check.c seals and checks. */
#include "device/view/format.h"

/* clang-format off */
static const struct oche_view_row simple[OCHE_VIEW_SIMPLE] = {
    [OCHE_VIEW_SENT_PACKETS] = {"sent_packets", NULL, "RoCEv2 packets sent, of all kinds"},
    [OCHE_VIEW_SENT_DATAGRAMS] = {"sent_datagrams", NULL,
        "UDP datagrams given to the kernel; one may hold several packets"},
    [OCHE_VIEW_SENT_BYTES] = {"sent_bytes", NULL, "payload sent, with what was sent again"},
    [OCHE_VIEW_RECEIVED_PACKETS] = {"received_packets", NULL,
        "RoCEv2 packets received, with those that were dropped"},
    [OCHE_VIEW_RECEIVED_DATAGRAMS] = {"received_datagrams", NULL,
        "UDP datagrams received; one may hold several packets"},
    [OCHE_VIEW_RECEIVED_BYTES] = {"received_bytes", NULL,
        "payload received, with duplicates and what came behind a gap"},
    [OCHE_VIEW_STRANGERS] = {"stranger_datagrams", NULL,
        "of the datagrams received, those from an address that nothing here is connected with"},
    [OCHE_VIEW_DELIVERED_BYTES] = {"delivered_bytes", NULL, "payload delivered in order"},
    [OCHE_VIEW_DELIVERED_MESSAGES] = {"delivered_messages", NULL, "messages delivered whole"},
    [OCHE_VIEW_SOCKET_FULL] = {"socket_full", NULL,
        "packets that waited, as a socket's send buffer was full"},
    [OCHE_VIEW_PASSED_ON] = {"passed_on_packets", NULL,
        "packets passed on to the process of this address that they are for"},
    [OCHE_VIEW_TAKEN_OVER] = {"taken_over_packets", NULL,
        "packets that another process of this address passed on to this one"},
    [OCHE_VIEW_TIMEOUTS] = {"timeouts", NULL, "times that an ACK did not come in time"},
    [OCHE_VIEW_NAKS_SENT] = {"naks_sent", NULL, "NAKs sent, as packets were missing or wrong"},
    [OCHE_VIEW_NAKS_RECEIVED] = {"naks_received", NULL, "NAKs received"},
    [OCHE_VIEW_RNR_NAKS_SENT] = {"rnr_naks_sent", NULL,
        "NAKs sent as the program had posted no receive"},
    [OCHE_VIEW_RNR_NAKS_RECEIVED] = {"rnr_naks_received", NULL,
        "NAKs received as the peer's program had posted no receive"},
    [OCHE_VIEW_DUPLICATES] = {"duplicate_packets", NULL, "requests that had arrived before"},
    [OCHE_VIEW_OUT_OF_ORDER] = {"out_of_order_packets", NULL,
        "packets that arrived behind a gap, as others were lost or overtaken"},
    [OCHE_VIEW_KEPT] = {"kept_packets", NULL,
        "of those out of order, packets kept until the gap was closed"},
    [OCHE_VIEW_ACKS_SENT] = {"acks_sent", NULL, "ACKs sent"},
    [OCHE_VIEW_ACKS_RECEIVED] = {"acks_received", NULL, "ACKs and READ data received"},
    [OCHE_VIEW_ACKS_HELD] = {"acks_held", NULL,
        "times that ACKs waited for data to leave with"},
    [OCHE_VIEW_ACKS_HELD_IN_VAIN] = {"acks_held_in_vain", NULL,
        "times that ACKs waited for data and none came"},
    [OCHE_VIEW_CNPS_SENT] = {"cnps_sent", NULL,
        "congestion notifications sent, as marked packets arrived"},
    [OCHE_VIEW_CNPS_RECEIVED] = {"cnps_received", NULL,
        "congestion notifications received: a switch has marked our packets"},
    [OCHE_VIEW_MARKS_RECEIVED] = {"marks_received", NULL,
        "data packets that arrived with a switch's mark (ECN: CE)"},
    [OCHE_VIEW_MARKS_MADE] = {"marks_made", NULL, "data packets that this device marked itself"},
    [OCHE_VIEW_SCHEME_SENT] = {"scheme_packets_sent", NULL,
        "packets of the congestion control's own sent, without CNPs"},
    [OCHE_VIEW_SCHEME_RECEIVED] = {"scheme_packets_received", NULL,
        "packets of the congestion control's own received, without CNPs"},
    [OCHE_VIEW_HUNG] = {"hung_queue_pairs", NULL,
        "queue pairs with work that nothing would ever wake, a fault of oche: please report it"},
};

static const char *const drops[OCHE_VIEW_DROPS] = {
    [OCHE_VIEW_DROP_MALFORMED] = "malformed",
    [OCHE_VIEW_DROP_ICRC] = "wrong ICRC",
    [OCHE_VIEW_DROP_PORT] = "peer's other port",
    [OCHE_VIEW_DROP_KERNEL] = "by the kernel",
    [OCHE_VIEW_DROP_NOT_SENT] = "not sent",
    [OCHE_VIEW_DROP_PASSING] = "between processes",
    [OCHE_VIEW_DROP_TEST] = "on purpose",
};
/* clang-format on */

struct oche_view_row oche_view_row(unsigned counter)
{
    if (counter < OCHE_VIEW_SIMPLE)
        return simple[counter];
    if (counter < OCHE_VIEW_DROPPED_AT)
        return (struct oche_view_row){
            "resent_packets", oche_resent_name((enum oche_resent)(counter - OCHE_VIEW_RESENT_AT)),
            "packets sent again, by what made them leave again"};
    counter -= OCHE_VIEW_DROPPED_AT;
    return (struct oche_view_row){
        "dropped_packets",
        counter < OCHE_REJECT_CAUSES ? oche_reject_name((enum oche_reject)counter) : drops[counter],
        "packets dropped, by cause"};
}

const char *oche_view_connection_name(enum oche_view_connections kind)
{
    static const char *const names[OCHE_VIEW_CONNECTIONS] = {
        [OCHE_VIEW_BY_CM] = "rdma_cm",
        [OCHE_VIEW_SOCKETS_RDMA] = "sockets_rdma",
        [OCHE_VIEW_SOCKETS_TCP] = "sockets_tcp",
    };

    return names[kind];
}
