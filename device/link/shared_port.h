/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A port (fabric/link_port.h) that the processes of one address share, as they would share an
 * adapter's cable. It is in a file of their private folder (shared/names.h), which all of them map.
 * The first process makes it anew, whatever a killed one has left; the last one removes the file,
 * and whoever opens a port removes files that nobody has.
 *
 * A port without a file belongs to this process alone: its address is not shared, or the file
 * cannot be made.
 */
#ifndef OCHE_DEVICE_LINK_SHARED_PORT_H
#define OCHE_DEVICE_LINK_SHARED_PORT_H

#include "device/host/clock.h"
#include "fabric/link_port.h"

#define OCHE_SHARED_PORT_PATH 160
#define OCHE_SHARED_PORT_NAME "link-" /* beginning of the name of each file */

struct oche_shared_port {
    struct oche_shared_port_memory *memory; /* NULL: closed */
    size_t bytes;
    int file;         /* -1: the memory is this process's alone */
    oche_time offset; /* added to a device's time, it is the port's */
    bool stuck;       /* a process that has the lock was stopped */
    char path[OCHE_SHARED_PORT_PATH];
};

/*
 * Opens the port that is named by `path`, or makes it; NULL: a port of this process alone.
 * `packets` can wait on it. `clock` is the caller's. Returns false if there is no memory.
 */
bool oche_shared_port_open(struct oche_shared_port *port, const char *path, uint64_t packets,
                           const struct oche_clock *clock);
void oche_shared_port_close(struct oche_shared_port *port);
/* In a forked child: closes its copies. */
void oche_shared_port_leave(struct oche_shared_port *port);

/*
 * As the functions of fabric/link_port.h, with times of the caller's clock. If another process is
 * stopped while it has the port's lock, there is no room, and nothing waits.
 */
bool oche_shared_port_take(struct oche_shared_port *port, oche_time now, uint32_t frame_bytes,
                           uint32_t gap_bytes, uint64_t rate_bps, uint64_t queue_bytes,
                           struct oche_link_departure *departure);
uint64_t oche_shared_port_behind(struct oche_shared_port *port,
                                 const struct oche_link_departure *departure);

#endif
