/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/app/flow_columns.h"

#include <string.h>

#define MOST_PORT  65535
#define MOST_WORDS 6

static const struct oche_flow_columns hpcc = {
    .count = 6,
    .column = {OCHE_FLOW_SRC, OCHE_FLOW_DST, OCHE_FLOW_GROUP, OCHE_FLOW_PORT, OCHE_FLOW_BYTES,
               OCHE_FLOW_START},
};
static const struct oche_flow_columns conweave = {
    .count = 5,
    .column = {OCHE_FLOW_SRC, OCHE_FLOW_DST, OCHE_FLOW_GROUP, OCHE_FLOW_BYTES, OCHE_FLOW_START},
};
static const struct oche_flow_columns ns3_rdma = {
    .count = 6,
    .column = {OCHE_FLOW_SRC, OCHE_FLOW_DST, OCHE_FLOW_GROUP, OCHE_FLOW_PACKETS, OCHE_FLOW_START,
               OCHE_FLOW_STOP},
    .in_packets = true,
};

/* True if the last three values can be a port, a size and a start. */
static bool can_be_hpcc(char *const last[3])
{
    uint64_t port, bytes;
    oche_time start;

    return oche_text_count(last[0], &port) && port <= MOST_PORT &&
           oche_text_bytes(last[1], &bytes) && oche_text_time(last[2], &start);
}

/* True if the last three values can be packets, a start and a stop. */
static bool can_be_ns3_rdma(char *const last[3])
{
    oche_time start, stop;
    uint64_t packets;

    return oche_text_count(last[0], &packets) && packets > 0 && oche_text_time(last[1], &start) &&
           oche_text_time(last[2], &stop) && start < stop;
}

bool oche_flow_columns_find(struct oche_text_input *input, uint64_t flows,
                            struct oche_flow_columns *columns)
{
    const struct oche_text_input here = *input;
    bool all_hpcc = true, all_ns3_rdma = true, first_hpcc = true, point = false;
    unsigned count = 0, first_line = 0;
    char *words[MOST_WORDS], *line;

    for (uint64_t i = 0; i < flows && (line = oche_text_next(input)) != NULL; i++) {
        unsigned found = oche_text_split(line, oche_text_separator(line), words, MOST_WORDS);

        if (i == 0) {
            count = found;
            first_line = input->line;
        }
        if (count != hpcc.count || found != hpcc.count)
            break; /* the reader of the lines reports the error */
        all_hpcc &= can_be_hpcc(&words[3]);
        all_ns3_rdma &= can_be_ns3_rdma(&words[3]);
        point |= strchr(words[4], '.') != NULL; /* 2.0 is a time rather than a size */
        if (i == 0)
            first_hpcc = all_hpcc || !all_ns3_rdma;
    }
    *input = here;
    if (count != 0 && count != hpcc.count && count != conweave.count) {
        input->line = first_line;
        return oche_text_fail(input, "%u values; " OCHE_FLOW_FORMATS, count);
    }
    if (count == hpcc.count && all_hpcc && all_ns3_rdma && !point) {
        input->line = first_line;
        return oche_text_fail(input, "a size and a start, as HPCC writes, or a start and a stop "
                                     "after a number of packets, as ns3-rdma does? write CSV, "
                                     "below src,dst,bytes,start");
    }
    /* If a line fits neither, the first one says which format is meant. */
    const bool packets = all_ns3_rdma || (!all_hpcc && !first_hpcc);

    *columns = count == conweave.count ? conweave : packets ? ns3_rdma : hpcc;
    return true;
}
