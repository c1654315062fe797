/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ports that are down in this process, on demand (`oche fault … port-down`). The verbs library says
 * so by oche_files_port_changed (device/verbs/facts.h); a tree that exists is changed.
 */
#ifndef OCHE_DEVICE_FILES_STATE_H
#define OCHE_DEVICE_FILES_STATE_H

#include <stdbool.h>

#include "device/path/address.h"

bool oche_files_port_is_up(const struct oche_address *address);

/* In a forked child: threads that it does not have may have held the lock. */
void oche_files_states_in_child(void);

#endif
