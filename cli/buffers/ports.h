/* SPDX-License-Identifier: Apache-2.0 */
/* What a switch's ports are, as one writes it: "32", "16x400Gbps@300m,64x100Gbps@3m". */
#ifndef OCHE_CLI_BUFFERS_PORTS_H
#define OCHE_CLI_BUFFERS_PORTS_H

#include "cli/buffers/sizes.h"
#include "params/error.h"

/* "100m", "1.5km", as metres of cable. False, and why, if it is neither. */
bool oche_buffers_length(const char *text, double *metres, struct oche_error *why);
/* How long light takes for it, one way. */
oche_time oche_buffers_delay(double metres);

/*
 * Kinds of ports, separated by commas: COUNT, then xRATE and @LENGTH where they are not those of
 * all. Such a rate is left at 0, such a delay at OCHE_NEVER. False, and why, if it is none.
 */
bool oche_buffers_ports(const char *text, struct oche_buffers_input *input, struct oche_error *why);

#endif
