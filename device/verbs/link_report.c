/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints at a device's end what its links have done to packets, and with which seed they do it
 * again: a test that fails once in a hundred runs can be repeated.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "device/link/report.h"
#include "device/verbs/internal.h"

#define TEXT_BYTES 512

/* Appends "NUMBER WHAT", unless the number is 0. */
static void add(char *text, uint64_t number, const char *what)
{
    const size_t length = strlen(text);

    if (number > 0)
        snprintf(text + length, TEXT_BYTES - length, "%s%" PRIu64 " %s", length > 0 ? ", " : "",
                 number, what);
}

/* As ov_report_stats, without the lock if a stopped thread has it for ever. */
OCHE_UNCHECKED void ov_report_links(struct ov_port *port)
{
    char text[TEXT_BYTES] = "", address[OCHE_ADDRESS_TEXT];
    struct oche_links_report report;
    struct timespec end;
    bool locked, any;

    end = ov_soon();
    locked = oche_device_lock_within(port->device, &end);
    any = oche_device_links_report_now(port->device, &report);
    if (locked)
        oche_device_unlock(port->device);
    if (!any)
        return;
    add(text, report.lost[OCHE_LINK_LOST], "lost by chance");
    add(text, report.lost[OCHE_LINK_LOST_BURST], "lost in bursts");
    add(text, report.lost[OCHE_LINK_LOST_QUEUE], "lost as the queue was full");
    add(text, report.lost[OCHE_LINK_LOST_DOWN], "lost as the link was down");
    add(text, report.damaged, "damaged");
    add(text, report.late, "late");
    add(text, report.twice, "twice");
    add(text, report.marked, "marked");
    if (text[0] == '\0')
        return;
    oche_address_print(&port->address, address);
    ov_say("%s: packets on its link, on purpose: %s; the same choices again: seed=%" PRIu64,
           address, text, report.seed);
}
