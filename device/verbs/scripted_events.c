/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scripted events of arriving packets (OCHE_EVENTS, device/link/event_text.h): reads them, and
 * prints at the end what they have done. An event that never happened is printed without
 * OCHE_STATS, too: its line in the user's file is probably wrong.
 */
#include "device/link/event_text.h"
#include "device/verbs/internal.h"

bool ov_read_events(const char *text, struct oche_device_config *config)
{
    static struct oche_packet_event list[OCHE_MOST_PACKET_EVENTS];
    struct oche_error error;

    if (text == NULL)
        return true;
    config->events = list;
    if (oche_event_text_read(text, list, &config->event_count, &error))
        return true;
    ov_say("OCHE_EVENTS: %s", error.text);
    return false;
}

/* As ov_report_stats, without the lock if a stopped thread has it for ever. */
OCHE_UNCHECKED void ov_report_events(struct ov_port *port)
{
    struct oche_packet_event_counts counts;
    struct oche_packet_event first_left;
    struct oche_device_stats stats;
    char text[OCHE_EVENT_REPORT_BYTES], address[OCHE_ADDRESS_TEXT];
    struct timespec end;
    bool locked;

    if (!oche_device_event_counts_now(port->device, &counts, &first_left))
        return;
    end = ov_soon();
    locked = oche_device_lock_within(port->device, &end);
    oche_device_event_counts_now(port->device, &counts, &first_left);
    oche_device_stats_now(port->device, &stats);
    if (locked)
        oche_device_unlock(port->device);
    if (stats.received_packets + stats.dropped_received == 0)
        return; /* the program did not use this device */
    if (!ov_wants_stats() && counts.never == 0 && counts.kept == 0)
        return;
    oche_event_text_report(&counts, &first_left, text);
    oche_address_print(&port->address, address);
    ov_say("%s: scripted events: %s", address, text);
}
