/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A capture of what a device sends and receives: nanosecond pcap of raw IP packets, through
 * libpcap. The IP and UDP headers are those that the kernel makes, rebuilt; the rest is the very
 * bytes. Packets are shown as the link would carry them, not as the kernel's large datagrams.
 */
#ifndef OCHE_DEVICE_CAPTURE_H
#define OCHE_DEVICE_CAPTURE_H

#include "device/address.h"

struct oche_capture;

/* Makes the file, or replaces it. NULL, and a line in `error`, when that is not possible. */
struct oche_capture *oche_capture_open(const char *path, oche_time now, char *error,
                                       size_t error_bytes);
/* Adds a packet: `header` with its lengths set, and BTH to ICRC; at device time `now`. */
void oche_capture_write(struct oche_capture *capture, const struct oche_ip_header *header,
                        const uint8_t *bytes, uint32_t count, oche_time now);
/* Ends the file. False: it is not whole (the disk is full, …). */
bool oche_capture_close(struct oche_capture *capture);

#endif
