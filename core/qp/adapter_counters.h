/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The counters that users of real adapters look at, by their names in sysfs, computed from what the
 * NIC counts (nic.h) and from what its driver counts of the port. Runs, `oche stat` and the files
 * of `oche exec --files` take names and values from this table, so they agree.
 *
 * The names are those of the kernel's mlx5 driver, of its ports' counters, and of soft-RoCE
 * (docs/counters.md#adapters).
 */
#ifndef OCHE_CORE_QP_ADAPTER_COUNTERS_H
#define OCHE_CORE_QP_ADAPTER_COUNTERS_H

#include "core/qp/nic.h"

OCHE_C_BEGIN

/* A driver's counters of a port; bytes are whole frames, from the Ethernet header to the ICRC. */
struct oche_adapter_port {
    uint64_t sent_packets, sent_bytes;
    uint64_t received_packets, received_bytes;
    uint64_t wrong_icrc; /* received packets whose ICRC was wrong */
};

enum oche_adapter_group {
    OCHE_ADAPTER_HW,       /* mlx5's, in hw_counters/ */
    OCHE_ADAPTER_SOFTROCE, /* soft-RoCE's, in hw_counters/, without those that mlx5 has, too */
    OCHE_ADAPTER_PORT,     /* of any port, in counters/ */
};

/* Rows of the table; those of a group stand together, in the order of the enum. */
#define OCHE_ADAPTER_COUNTERS    66
#define OCHE_ADAPTER_HW_COUNTERS 31

struct oche_adapter_counter {
    const char *name;
    enum oche_adapter_group group;
    bool counted;     /* false: always 0, as oche does not have what it counts */
    bool of_port;     /* computed from struct oche_adapter_port: not known in a simulation */
    const char *help; /* one line */
};
/* `which` is below OCHE_ADAPTER_COUNTERS. */
struct oche_adapter_counter oche_adapter_counter(unsigned which);

/* Returns the number of the row in OCHE_ADAPTER_HW with this name, or OCHE_ADAPTER_COUNTERS. */
unsigned oche_adapter_counter_named(const char *name);

/* Returns the counter's value. `port`: NULL if nothing of the port was counted. */
uint64_t oche_adapter_count(unsigned which, const struct oche_nic_stats *nic,
                            const struct oche_adapter_port *port);

OCHE_C_END

#endif
