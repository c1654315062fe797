/* SPDX-License-Identifier: Apache-2.0 */
/* A switch's ports, as text: "32", "16x400Gbps@300m,64x100Gbps@3m". */
#ifndef OCHE_CLI_BUFFERS_PORTS_H
#define OCHE_CLI_BUFFERS_PORTS_H

#include "cli/buffers/sizes.h"
#include "params/error.h"

/*
 * Parses a cable length, "100m" or "1.5km", into metres. Returns false, with the reason, if the
 * text is neither.
 */
bool oche_buffers_length(const char *text, double *metres, struct oche_error *why);
/* Returns the propagation delay of the cable in one direction. */
oche_time oche_buffers_delay(double metres);
/* Returns the length of a cable with that propagation delay, in metres. */
double oche_buffers_cable_m(oche_time delay);

/*
 * Parses kinds of ports, separated by commas. Each is COUNT, optionally followed by xRATE and
 * @LENGTH. Without xRATE the rate is left at 0, without @LENGTH the delay at OCHE_NEVER. Returns
 * false, with the reason, on failure.
 */
bool oche_buffers_ports(const char *text, struct oche_buffers_input *input, struct oche_error *why);

#endif
