/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The columns of flow files that begin with a count, as ns-3 programs read them. A line is one of
 *
 *     src dst pg dport size start      HPCC's
 *     src dst pg size start            ConWeave's
 *     src dst pg packets start stop    ns3-rdma's, the first simulator of DCQCN
 *
 * with sizes in bytes and times in seconds. The first and the last have the same number of columns:
 * only their values tell them apart, so every line is looked at.
 */
#ifndef OCHE_SIM_APP_FLOW_COLUMNS_H
#define OCHE_SIM_APP_FLOW_COLUMNS_H

#include "params/text_input.h"

enum oche_flow_column {
    OCHE_FLOW_SRC,
    OCHE_FLOW_DST,
    OCHE_FLOW_BYTES,
    OCHE_FLOW_START,
    OCHE_FLOW_CSV_NEEDED, /* the columns that CSV must have end here */
    OCHE_FLOW_VERB = OCHE_FLOW_CSV_NEEDED,
    OCHE_FLOW_CSV_COLUMNS, /* those that are read end here */
    OCHE_FLOW_GROUP = OCHE_FLOW_CSV_COLUMNS,
    OCHE_FLOW_PORT,
    OCHE_FLOW_PACKETS,
    OCHE_FLOW_STOP,
    OCHE_FLOW_UNUSED,
    OCHE_FLOW_COLUMNS
};

#define OCHE_FLOW_MOST_COLUMNS 64

struct oche_flow_columns {
    unsigned count; /* number of columns in a line */
    enum oche_flow_column column[OCHE_FLOW_MOST_COLUMNS];
    bool in_packets; /* ns3-rdma's */
};

/*
 * Finds the columns of the `flows` lines that follow `input`'s current line, which stays. Returns
 * false, with an error, if no format has that many columns, or if two formats fit.
 */
bool oche_flow_columns_find(struct oche_text_input *input, uint64_t flows,
                            struct oche_flow_columns *columns);

/* The three formats, for messages. */
#define OCHE_FLOW_FORMATS                                                                          \
    "\"src dst pg dport size start\" (HPCC), \"src dst pg size start\" (ConWeave) or "             \
    "\"src dst pg packets start stop\" (ns3-rdma)"

#endif
