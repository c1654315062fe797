/* SPDX-License-Identifier: Apache-2.0 */
/* `--pcap FILE[:node,…]`: which hosts' links are captured, and the file, whole or not there. */
#ifndef OCHE_CLI_RUN_TAPS_H
#define OCHE_CLI_RUN_TAPS_H

#include "params/error.h"
#include "sim/capture/capture.h"
#include "sim/world/config.h"

struct oche_taps {
    struct oche_capture *capture;
    char *path, *part; /* where it goes, where it is written */
    uint32_t *nodes;
};

/*
 * Reads the argument, finds the hosts in the topology of `config` (all of them if none is named
 * and there are few), makes the file and puts the taps into `config`. False and one line in
 * `error` otherwise. `taps` must outlive the world.
 */
bool oche_taps_open(struct oche_taps *taps, const char *argument, struct oche_world_config *config,
                    struct oche_error *error);

/* Moves the file into place. False and an error if it is not whole; then nothing is there. */
bool oche_taps_finish(struct oche_taps *taps, struct oche_error *error);

/* Forgets the capture; nothing is left behind. Also after a finish, or without an open. */
void oche_taps_abandon(struct oche_taps *taps);

#endif
