/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CNPs. Expected is one for each data packet that arrives with a mark and, of some adapters, for
 * each NACK; but none within the interval after the last expected one. The interval can hold for a
 * queue pair, for all queue pairs with one destination of CNPs, or for the whole port. The numbers
 * of CNPs, of each queue pair's or destination's or port's, say which it is.
 *
 * Marks are seen on their way to the receiver, NACKs and CNPs on their way back. So two of them may
 * be a little nearer to each other, or farther, than at the adapter: both numbers are allowed then.
 */
#include <stdlib.h>

#include "core/nic/habits.h"
#include "lab/check_nic/judges.h"

#define MOST_SLACK (500 * OCHE_NS)

/* Expectations for the CNPs that one interval is for. */
struct tally {
    bool any;            /* one was expected before */
    oche_time last[3];   /* with the interval, a shorter, a longer one: the last expected one */
    uint64_t count[3];   /* how many */
    uint64_t sent, seen; /* CNPs, and reasons for them */
};

/* Returns the tally's index: that of the first stream with the same queue pair, addresses, … */
static uint32_t key_of(const struct oche_nic_trace *trace, uint32_t stream, unsigned scope)
{
    const struct oche_seen_stream *own = &trace->streams[stream];

    if (scope == OCHE_CNP_SCOPE_QUEUE_PAIR)
        return stream;
    for (uint32_t i = 0; i < stream; i++) {
        const struct oche_seen_stream *other = &trace->streams[i];

        if (other->receiver == own->receiver &&
            (scope == OCHE_CNP_SCOPE_PORT || other->sender == own->sender))
            return i;
    }
    return stream;
}

static void expect(struct tally *tally, oche_time interval, oche_time now)
{
    const oche_time slack = oche_time_min(interval / 10, MOST_SLACK);
    const oche_time intervals[3] = {interval, interval - slack, interval + slack};

    tally->seen++;
    for (int i = 0; i < 3; i++) {
        if (tally->any && now - tally->last[i] < intervals[i])
            continue;
        tally->last[i] = now;
        tally->count[i]++;
    }
    tally->any = true;
}

static bool is_mark(const struct oche_seen_packet *packet)
{
    return packet->kind == OCHE_SEEN_DATA && packet->event == OCHE_SEEN_MARKED;
}

/* Compares numbers for one scope. Returns the index of the first CNP too many, or SIZE_MAX. */
static size_t compare(const struct oche_nic_case *of, bool naks, unsigned scope)
{
    const struct oche_nic_trace *trace = of->trace;
    struct oche_nic_cnps *cnps = &of->check->cnps;
    struct tally *tallies = calloc(trace->stream_count + 1, sizeof(*tallies));
    size_t over = SIZE_MAX;
    bool fits = true;

    OCHE_GOT(tallies != NULL);
    for (size_t i = 0; i < trace->count; i++) {
        const struct oche_seen_packet *packet = &trace->packets[i];
        struct tally *tally = &tallies[key_of(trace, packet->stream, scope)];

        if (is_mark(packet) || (naks && packet->kind == OCHE_SEEN_NAK))
            expect(tally, cnps->interval, packet->when);
        else if (packet->kind == OCHE_SEEN_CNP && ++tally->sent > tally->count[1] &&
                 over == SIZE_MAX)
            over = i;
    }
    for (uint32_t i = 0; i < trace->stream_count; i++) {
        const struct tally *tally = &tallies[i];
        const uint64_t a = tally->count[1], b = tally->count[2];

        fits = fits && tally->sent >= (a < b ? a : b) && tally->sent <= (a < b ? b : a);
        cnps->expected[naks][scope] += tally->count[0];
        cnps->suppressed[naks][scope] |= tally->count[0] < tally->seen;
    }
    cnps->fits[naks][scope] = fits;
    free(tallies);
    return over;
}

static void count(const struct oche_nic_case *of)
{
    struct oche_nic_cnps *cnps = &of->check->cnps;

    for (size_t i = 0; i < of->trace->count; i++) {
        const struct oche_seen_packet *packet = &of->trace->packets[i];

        cnps->sent += packet->kind == OCHE_SEEN_CNP;
        cnps->marks += is_mark(packet);
        cnps->naks += packet->kind == OCHE_SEEN_NAK;
    }
    of->check->counters.np_cnp_sent = cnps->sent;
    of->check->counters.np_ecn_marked_roce_packets = cnps->marks;
}

/* Measures from marks to their CNPs: of marks that come while a CNP is due, from the first. */
static void measure_delays(const struct oche_nic_case *of)
{
    const struct oche_nic_trace *trace = of->trace;
    oche_time *due = calloc(trace->stream_count + 1, sizeof(*due));

    OCHE_GOT(due != NULL);
    for (uint32_t i = 0; i < trace->stream_count; i++)
        due[i] = OCHE_NEVER;
    for (size_t i = 0; i < trace->count; i++) {
        const struct oche_seen_packet *packet = &trace->packets[i];

        if (is_mark(packet) && due[packet->stream] == OCHE_NEVER) {
            due[packet->stream] = packet->when;
        } else if (packet->kind == OCHE_SEEN_CNP) {
            if (due[packet->stream] != OCHE_NEVER)
                oche_nic_sample(&of->check->cnps.delays, packet->when - due[packet->stream]);
            due[packet->stream] = OCHE_NEVER;
        }
    }
    free(due);
}

/* True if a hypothesis about NACKs that the test allows fits some scope. */
static bool fits_at_all(const struct oche_nic_case *of)
{
    const enum oche_nic_answer answer = of->expected->nak_brings_cnp;

    for (int naks = 0; naks < 2; naks++)
        for (int scope = 0; scope < OCHE_NIC_SCOPES; scope++)
            if ((answer == OCHE_ANSWER_EITHER || (answer == OCHE_ANSWER_YES) == naks) &&
                of->check->cnps.fits[naks][scope])
                return true;
    return false;
}

static void none_expected(const struct oche_nic_case *of)
{
    for (size_t i = 0; i < of->trace->count; i++)
        if (of->trace->packets[i].kind == OCHE_SEEN_CNP)
            oche_nic_wrong(of, OCHE_JUDGE_CNPS, of->trace->packets[i].stream, i, 0,
                           "a CNP, though they are switched off");
}

void oche_nic_judge_cnps(const struct oche_nic_case *of)
{
    struct oche_nic_cnps *cnps = &of->check->cnps;
    const bool naks = of->expected->nak_brings_cnp == OCHE_ANSWER_YES;
    size_t over[2] = {SIZE_MAX, SIZE_MAX};

    count(of);
    of->check->verdicts[OCHE_JUDGE_CNPS].judged = cnps->sent + cnps->marks + cnps->naks > 0;
    cnps->interval = of->expected->cnp_interval;
    for (int with = 0; with < 2; with++)
        for (unsigned scope = OCHE_NIC_SCOPES; scope-- > 0;)
            over[with] = compare(of, with, scope); /* the last one is of queue pairs */
    measure_delays(of);
    if (!of->expected->cnps) {
        none_expected(of);
        return;
    }
    if (fits_at_all(of))
        return;
    oche_nic_wrong(of, OCHE_JUDGE_CNPS,
                   over[naks] != SIZE_MAX ? of->trace->packets[over[naks]].stream : 0, over[naks],
                   0, "%llu CNPs; expected %llu by queue pair, %llu by destination, %llu by port",
                   (unsigned long long)cnps->sent,
                   (unsigned long long)cnps->expected[naks][OCHE_CNP_SCOPE_QUEUE_PAIR],
                   (unsigned long long)cnps->expected[naks][OCHE_CNP_SCOPE_DESTINATION],
                   (unsigned long long)cnps->expected[naks][OCHE_CNP_SCOPE_PORT]);
}
