/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `--pcap FILE[:PORT,…]`: captures what some ports of hosts and switches send and receive into one
 * file, which is complete or absent.
 */
#ifndef OCHE_CLI_RUN_TAPS_H
#define OCHE_CLI_RUN_TAPS_H

#include "params/error.h"
#include "sim/capture/capture.h"
#include "sim/topology/port_list.h"
#include "sim/world/config.h"

struct oche_taps {
    struct oche_capture *capture;
    char *path, *part; /* path: final name; part: its name while it is being written */
    bool has_part;     /* the file `part` exists, and this process made it */
    struct oche_port_list ports;
};

/*
 * Parses the argument, finds the ports in the topology of `config` (those of all hosts if none is
 * named and there are few), creates the file and puts the taps into `config`. Returns false, with
 * one line in `error`, on failure. `taps` must outlive the world.
 */
bool oche_taps_open(struct oche_taps *taps, const char *argument, struct oche_world_config *config,
                    struct oche_error *error);

/*
 * Gives the file its final name. Returns false, with an error, if the file is incomplete; then no
 * file is left.
 */
bool oche_taps_finish(struct oche_taps *taps, struct oche_error *error);

/*
 * Discards the capture and removes its file. May also be called after oche_taps_finish, or without
 * oche_taps_open.
 */
void oche_taps_abandon(struct oche_taps *taps);

#endif
