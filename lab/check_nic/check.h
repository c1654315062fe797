/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Judges the micro-behaviour of an adapter, as Lumina does (SIGCOMM 2023): whether its packets
 * follow Go-Back-N, how it asks for lost READ responses, how many CNPs it sends, and how long it
 * takes for each. All times are those at which packets passed the switch.
 */
#ifndef OCHE_LAB_CHECK_NIC_CHECK_H
#define OCHE_LAB_CHECK_NIC_CHECK_H

#include "lab/check_nic/trace.h"

enum oche_nic_judge {
    OCHE_JUDGE_SENDER,    /* Go-Back-N of WRITEs and SENDs */
    OCHE_JUDGE_RECEIVER,  /* its other end */
    OCHE_JUDGE_RESPONDER, /* READ responses */
    OCHE_JUDGE_REQUESTER, /* READ requests */
    OCHE_JUDGE_CNPS,
    OCHE_JUDGES
};

/* A verdict, with the first packet that contradicts the rules. */
struct oche_nic_verdict {
    bool judged; /* false: the trace has nothing to judge */
    bool wrong;
    char what[160]; /* WRONG: which rule, in words */
    size_t at;      /* index of the packet in the trace; SIZE_MAX: the end of the trace */
    uint32_t stream, psn;
};

enum oche_nic_latency {
    OCHE_LATENCY_GENERATION, /* from the first packet behind a gap to the NACK, or repeated READ */
    OCHE_LATENCY_REACTION,   /* from that to the retransmission */
    OCHE_LATENCY_RESENDING,  /* from a lost packet to its retransmission */
    OCHE_LATENCIES
};
struct oche_nic_samples {
    oche_time *list; /* sorted by oche_check_nic */
    size_t count, room;
};

/* For which CNPs together the least time between two holds: enum oche_cnp_scope has the order. */
#define OCHE_NIC_SCOPES 3
struct oche_nic_cnps {
    uint64_t sent, marks, naks;
    oche_time interval; /* that was judged with */
    /* With and without CNPs for NACKs ([1], [0]): whether the numbers of CNPs fit the scope. */
    bool fits[2][OCHE_NIC_SCOPES];
    uint64_t expected[2][OCHE_NIC_SCOPES];
    bool suppressed[2][OCHE_NIC_SCOPES]; /* the interval kept back at least one CNP */
    struct oche_nic_samples delays;      /* from a mark that nothing is pending for to the CNP */
};

/* Counters of adapters, by NVIDIA's names, as the trace shows them. */
struct oche_nic_counters {
    uint64_t packet_seq_err;        /* NACKs that the sender acted on */
    uint64_t local_ack_timeout_err; /* restarts without a reason in the trace */
    uint64_t out_of_sequence;       /* gaps in requests that the receiver saw */
    uint64_t implied_nak_seq_err;   /* gaps in READ responses that were asked for again */
    uint64_t duplicate_request;     /* READ requests that were repeated */
    uint64_t np_cnp_sent;
    uint64_t np_ecn_marked_roce_packets;
};

/* Three answers to a question about an adapter. */
enum oche_nic_answer { OCHE_ANSWER_NO, OCHE_ANSWER_YES, OCHE_ANSWER_EITHER };

/* Properties of the test that the judges need. */
struct oche_nic_expected {
    uint64_t packets; /* data packets of each stream, without repeats; 0: not known */
    bool cnps;        /* the receivers send CNPs */
    enum oche_nic_answer nak_brings_cnp;
    oche_time cnp_interval; /* least time between two CNPs */
    bool marks_itself;      /* the receiver may mark data in its own buffer, which nobody sees */
    bool exact_times;       /* those of a switch: a host's clock is read in batches */
};

struct oche_check_nic {
    struct oche_nic_verdict verdicts[OCHE_JUDGES];
    struct oche_nic_samples latencies[2][OCHE_LATENCIES]; /* [1]: of READs */
    struct oche_nic_cnps cnps;
    struct oche_nic_counters counters;
    uint64_t gaps_without_nak; /* gaps that the receiver saw and did not ask for */
    uint64_t own_cnps;         /* more CNPs than reasons, of an adapter that marks data itself */
};

/* Judges the trace. The caller frees the result with oche_nic_check_free. */
void oche_check_nic(const struct oche_nic_trace *trace, const struct oche_nic_expected *expected,
                    struct oche_check_nic *check);
void oche_nic_check_free(struct oche_check_nic *check);

/* Returns "go-back-N sender" and the like. */
const char *oche_nic_judge_name(enum oche_nic_judge judge);
/* True if a judge found something wrong. */
bool oche_nic_check_wrong(const struct oche_check_nic *check);
/* Returns the median; there is at least one sample. Of two in the middle, the smaller one. */
oche_time oche_nic_median(const struct oche_nic_samples *samples);

#endif
