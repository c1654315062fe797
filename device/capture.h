/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A capture of what a device sends and receives: nanosecond pcap of raw IP packets, through
 * libpcap. The IP and UDP headers are those that the kernel makes, rebuilt; the rest is the very
 * bytes. Packets are shown as the link would carry them, not as the kernel's large datagrams.
 */
#ifndef OCHE_DEVICE_CAPTURE_H
#define OCHE_DEVICE_CAPTURE_H

#include "device/address.h"
#include "params/error.h"

struct oche_capture;

/*
 * Makes the file, or replaces one that an earlier process left. If another process is writing it,
 * or this one has written packets to it, it is FILE-ADDRESS.pcap instead of FILE.pcap; if that is
 * so, too, FILE-ADDRESS-PID.pcap, … -PID-2.pcap (in IPv6 addresses _ is for :). NULL, and a line in
 * `error`, when that is not possible.
 */
struct oche_capture *oche_capture_open(const char *path, const struct oche_address *address,
                                       oche_time now, struct oche_error *error);
/* Its name, as it came to be. */
const char *oche_capture_path(const struct oche_capture *capture);
/* Adds a packet: `header` with its lengths set, and BTH to ICRC; at device time `now`. */
void oche_capture_write(struct oche_capture *capture, const struct oche_ip_header *header,
                        const uint8_t *bytes, uint32_t count, oche_time now);
/*
 * In a forked child: what it has a copy of and not written yet is the parent's to write, so the
 * child's goes nowhere. The descriptor stays taken, as the C library may still write to it.
 */
void oche_capture_leave(struct oche_capture *capture);
/* Ends the file. False: it is not whole (the disk is full, …). */
bool oche_capture_close(struct oche_capture *capture);

#endif
