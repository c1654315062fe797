/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints a line once when more than a tenth of the packets are retransmissions: then a lossy
 * network, or an unsuitable scheme, costs more than a user would think.
 */
#include <inttypes.h>

#include "device/verbs/internal.h"

#define PERIOD OCHE_SEC
#define FEWEST 1000 /* fewest packets for a warning, so that a tenth of them is significant */
#define FEW    100  /* fewest packets after LONG */
#define LONG   (5 * OCHE_SEC)

void ov_warn_retransmissions(struct ov_port *port, oche_time now)
{
    struct ov_retransmissions *repeats = &port->retransmissions;
    char address[OCHE_ADDRESS_TEXT];
    struct oche_device_stats stats;
    const struct oche_nic *nic;
    uint64_t sent, again, left_out;

    if (repeats->told || now < repeats->due)
        return;
    repeats->due = now + PERIOD;
    oche_device_lock(port->device);
    nic = oche_device_nic(port->device);
    oche_device_stats_now(port->device, &stats);
    /*
     * Not counted: retransmissions for which no data of ours was lost. A READ's repeated request is
     * small, and has few packets beside it.
     */
    left_out = oche_nic_resent(nic, OCHE_RESENT_RESPONSES) +
               oche_nic_resent(nic, OCHE_RESENT_NOT_READY) +
               oche_nic_resent(nic, OCHE_RESENT_TWICE);
    oche_device_unlock(port->device);
    sent = stats.nic.data_packets_sent - repeats->sent;
    again = stats.nic.retransmitted_packets - left_out - repeats->again;
    if (sent < FEWEST && (sent < FEW || now < repeats->since + LONG))
        return;
    repeats->since = now;
    repeats->sent += sent;
    repeats->again += again;
    if (again <= sent / 10)
        return;
    oche_address_print(&port->address, address);
    if (stats.dropped_sent + stats.dropped_received > 0) {
        ov_say("%s: of %" PRIu64 " packets %" PRIu64
               " were sent again; packets are lost on purpose",
               address, sent, again);
        repeats->told = true;
        return;
    }
    ov_say("%s: of %" PRIu64 " packets %" PRIu64 " were sent again: the network loses packets%s; "
           "oche stat tells the causes",
           address, sent, again,
           ov_has_defaults() ? ""
                             : ", for which the defaults (--cc=cubic --recovery=selective_repeat) "
                               "are made");
    repeats->told = true;
}
