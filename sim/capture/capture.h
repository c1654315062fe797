/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a tap on some hosts' links would see, as a capture file: joins the network's tap to the
 * pcap writer.
 *
 *     capture = oche_capture_create(path, error, sizeof(error));
 *     config.tap = oche_capture_tap, config.tap_context = capture, config.tap_nodes = …
 *     world = oche_world_create(&config, …);
 *     oche_capture_attach(capture, oche_world_network(world));
 *     oche_world_run(…);
 *     oche_capture_close(capture, …);
 *
 * A frame has the MAC addresses of the two ends of its link, and each switch on its way took one
 * off its TTL, as routers do: so one capture of both ends of a flow can tell where a packet was
 * seen. Sent frames have the time at which they begin to leave, received ones that of arrival.
 */
#ifndef OCHE_SIM_CAPTURE_CAPTURE_H
#define OCHE_SIM_CAPTURE_CAPTURE_H

#include "params/error.h"
#include "sim/network/network.h"

struct oche_capture;

/* Makes the file, or replaces it. NULL, and one line in `error`, when that is not possible. */
struct oche_capture *oche_capture_create(const char *path, struct oche_error *error);
/* Before the run; the network must outlive the capture. */
void oche_capture_attach(struct oche_capture *capture, const struct oche_network *network);
/* The network's tap; `context` is the capture. */
oche_tap oche_capture_tap;
/* Frames in the file so far, and packets that have no bytes and were left out. */
uint64_t oche_capture_frames(const struct oche_capture *capture);
uint64_t oche_capture_skipped(const struct oche_capture *capture);
/* Ends the file and frees the capture. False, and one line in `error`, if it is not whole. */
bool oche_capture_close(struct oche_capture *capture, struct oche_error *error);

#endif
