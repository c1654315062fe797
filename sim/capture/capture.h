/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the frames that some ports send and receive to a capture file: connects the network's tap
 * to the pcap writer.
 *
 *     capture = oche_capture_create(path, &error);
 *     config.tap = oche_capture_tap, config.tap_context = capture, config.tap_ports = …
 *     world = oche_world_create(&config, …);
 *     oche_capture_attach(capture, oche_world_network(world));
 *     oche_world_run(…);
 *     oche_capture_finish(capture, …);
 *
 * A frame has the MAC addresses of the two ends of its link, and each switch on its path decrements
 * its TTL, as routers do. So in a capture of both ends of a flow one can see at which end a packet
 * was captured. The time of a sent frame is when it begins to leave; the time of a received frame
 * is when it arrives.
 */
#ifndef OCHE_SIM_CAPTURE_CAPTURE_H
#define OCHE_SIM_CAPTURE_CAPTURE_H

#include "params/error.h"
#include "sim/network/network.h"

struct oche_capture;

/* Creates or replaces the file. On failure returns NULL, with one line in `error`. */
struct oche_capture *oche_capture_create(const char *path, struct oche_error *error);
/* To be called before the run; the network must outlive the capture. */
void oche_capture_attach(struct oche_capture *capture, const struct oche_network *network);
/* The network's tap; `context` is the capture. */
oche_tap oche_capture_tap;
/*
 * Return the number of frames in the file so far, and the number of packets left out because they
 * have no byte format.
 */
uint64_t oche_capture_frames(const struct oche_capture *capture);
uint64_t oche_capture_skipped(const struct oche_capture *capture);
/*
 * Completes the file and frees the capture. Returns false, with one line in `error`, if the file is
 * incomplete.
 */
bool oche_capture_finish(struct oche_capture *capture, struct oche_error *error);

#endif
