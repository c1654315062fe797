/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells once when more than a tenth of what is sent is sent again: then a network that loses
 * packets, or a scheme that does not suit it, costs more than a user would think.
 */
#include <inttypes.h>

#include "device/verbs/internal.h"

#define PERIOD OCHE_SEC
#define FEWEST 1000 /* packets of which a tenth says something */

void ov_look_for_repeats(struct ov_port *port, oche_time now)
{
    struct ov_repeats *repeats = &port->repeats;
    char address[OCHE_ADDRESS_TEXT];
    struct oche_device_stats stats;
    uint64_t sent, again;

    if (repeats->told || now < repeats->due)
        return;
    repeats->due = now + PERIOD;
    oche_device_stats(port->device, &stats);
    sent = stats.nic.data_packets_sent - repeats->sent;
    again = stats.nic.retransmitted_packets - repeats->again;
    if (sent < FEWEST)
        return;
    repeats->sent += sent;
    repeats->again += again;
    if (again <= sent / 10)
        return;
    oche_address_print(&port->address, address);
    ov_say("%s: of %" PRIu64 " packets %" PRIu64 " were sent again: the network loses packets, and "
           "%s with %s pays more for that than it should; the defaults (--cc=cubic "
           "--recovery=selective_repeat) are made for it, and oche stat tells the causes",
           address, sent, again, ov_recovery(), ov_cc());
    repeats->told = true;
}
