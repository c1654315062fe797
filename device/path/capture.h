/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A capture of a device's packets: nanosecond pcap of raw IP packets. The IP and UDP headers are
 * rebuilt as the kernel makes them; all other bytes are original. Packets are shown one by one, as
 * the link carries them, not as the large datagrams that the kernel gets.
 */
#ifndef OCHE_DEVICE_PATH_CAPTURE_H
#define OCHE_DEVICE_PATH_CAPTURE_H

#include "device/path/address.h"
#include "params/error.h"

struct oche_capture;

/*
 * Creates the file, or replaces one that an earlier process left. If another process is writing
 * FILE.pcap, or this process has written packets to it, the name becomes FILE-ADDRESS.pcap; if that
 * is taken too, FILE-ADDRESS-PID.pcap, … -PID-2.pcap (with _ for : in IPv6 addresses). Returns
 * NULL, with a line in `error`, on failure.
 */
struct oche_capture *oche_capture_open(const char *path, const struct oche_address *address,
                                       oche_time now, struct oche_error *error);
/* Returns the name that was chosen. */
const char *oche_capture_path(const struct oche_capture *capture);
/*
 * Adds a packet at device time `now`: `header` with its lengths set, and the bytes from BTH to
 * ICRC.
 */
void oche_capture_write(struct oche_capture *capture, const struct oche_ip_header *header,
                        const uint8_t *bytes, uint32_t count, oche_time now);
/*
 * Writes all added packets to the file. Calls for one capture must not overlap, except
 * oche_capture_rescue.
 */
void oche_capture_flush(struct oche_capture *capture);
/*
 * Like oche_capture_flush, for the last time, because the process is about to end. The kernel may
 * stop its threads anywhere, also while they write a record.
 */
void oche_capture_end(struct oche_capture *capture);
/*
 * Like oche_capture_flush, for a process that is about to end, if the thread that adds or flushes
 * was stopped for good. The file gets all whole records.
 */
void oche_capture_rescue(struct oche_capture *capture);
/*
 * To be called in a forked child: discards its copy of unwritten packets, and closes its
 * descriptor.
 */
void oche_capture_leave(struct oche_capture *capture);
/* Completes the file. Returns false if it is incomplete (the disk is full, …). */
bool oche_capture_close(struct oche_capture *capture);

#endif
