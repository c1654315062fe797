/* SPDX-License-Identifier: Apache-2.0 */
/* A switch's ports, as text: "32", "16x400Gbps@300m,64x100Gbps@3m". */
#ifndef OCHE_CLI_BUFFERS_PORTS_H
#define OCHE_CLI_BUFFERS_PORTS_H

#include "cli/buffers/sizes.h"
#include "params/error.h"

/* Parses "100m" or "1.5km" as metres of cable. Returns false, with the reason, if it is neither. */
bool oche_buffers_length(const char *text, double *metres, struct oche_error *why);
/* Returns the propagation delay, one way. */
oche_time oche_buffers_delay(double metres);

/*
 * Parses kinds of ports, separated by commas: COUNT, then xRATE and @LENGTH if they differ from
 * those of all ports. A rate that is not given is left at 0, a delay at OCHE_NEVER. Returns false,
 * with the reason, on failure.
 */
bool oche_buffers_ports(const char *text, struct oche_buffers_input *input, struct oche_error *why);

#endif
