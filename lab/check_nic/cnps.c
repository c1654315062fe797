/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CNPs. Expected is one for each data packet that arrives with a mark and, of some adapters, for
 * each NACK; but none within the interval after the last expected one. The interval can hold for a
 * queue pair, for all queue pairs with one destination of CNPs, or for the whole port. The numbers
 * of CNPs, of each queue pair's or destination's or port's, say which it is; and, where times are
 * exact, no two of them may be nearer than the interval. No CNP comes before its reason.
 *
 * Marks are seen on their way to the receiver, NACKs and CNPs on their way back. So two of them may
 * be a little nearer to each other, or farther, than at the adapter: both numbers are allowed then.
 * A NACK that follows a mark may be of the same packet, and both have one CNP.
 */
#include <stdlib.h>

#include "core/nic/habits.h"
#include "lab/check_nic/judges.h"

#define MOST_SLACK (500 * OCHE_NS)
#define SOON       (100 * OCHE_MS) /* an adapter may make the NACK later; a host reads in batches */

/* Expectations for the CNPs that one interval is for. */
struct tally {
    bool any;            /* one was expected before */
    bool sent_any;       /* a CNP was sent before */
    bool marked;         /* the last reason was a mark, and no CNP came since */
    bool too_near;       /* two CNPs were nearer than the interval */
    oche_time last[3];   /* with the interval, a shorter, a longer one: the last expected one */
    oche_time last_sent; /* the last CNP */
    uint64_t count[3];   /* how many */
    uint64_t sent, seen; /* CNPs, and reasons for them */
    uint64_t merged;     /* NACKs that may be of a marked packet */
};

/* Fills in, by stream, the first stream with the same queue pair, addresses, … */
static void find_keys(const struct oche_nic_trace *trace, unsigned scope, uint32_t *keys)
{
    for (uint32_t stream = 0; stream < trace->stream_count; stream++) {
        const struct oche_seen_stream *own = &trace->streams[stream];
        uint32_t i = scope == OCHE_CNP_SCOPE_QUEUE_PAIR ? stream : 0;

        for (; i < stream; i++) {
            const struct oche_seen_stream *other = &trace->streams[i];

            if (other->receiver == own->receiver &&
                (scope == OCHE_CNP_SCOPE_PORT || other->sender == own->sender))
                break;
        }
        keys[stream] = i;
    }
}

static oche_time slack_of(oche_time interval)
{
    return oche_time_min(interval / 10, MOST_SLACK);
}

static void expect(struct tally *tally, oche_time interval, oche_time now)
{
    const oche_time slack = slack_of(interval);
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

static void see_cnp(struct tally *tally, oche_time interval, oche_time now)
{
    tally->too_near =
        tally->too_near ||
        (tally->sent_any && now - tally->last_sent + 2 * slack_of(interval) < interval);
    tally->sent_any = true;
    tally->last_sent = now;
    tally->marked = false;
    tally->sent++;
}

static bool is_mark(const struct oche_seen_packet *packet)
{
    return packet->kind == OCHE_SEEN_DATA && packet->event == OCHE_SEEN_MARKED;
}

/* Adds a packet to its tally. Returns true if it is the first CNP too many. */
static bool add(struct tally *tally, const struct oche_seen_packet *packet, oche_time interval,
                bool naks)
{
    if (packet->kind == OCHE_SEEN_CNP) {
        see_cnp(tally, interval, packet->when);
        return tally->sent > tally->count[1];
    }
    if (is_mark(packet)) {
        expect(tally, interval, packet->when);
        tally->marked = true;
    } else if (naks && packet->kind == OCHE_SEEN_NAK) {
        const uint64_t before = tally->count[0];

        expect(tally, interval, packet->when);
        tally->merged += tally->marked && tally->count[0] > before;
    }
    return false;
}

/* True if the numbers of the scope's CNPs are as they should be, and their times. */
static bool is_as_expected(const struct oche_nic_case *of, const struct tally *tally)
{
    const uint64_t a = tally->count[1], b = tally->count[2];
    const uint64_t least = a < b ? a : b;

    return tally->sent + tally->merged >= least && tally->sent <= (a < b ? b : a) &&
           !(tally->too_near && of->expected->exact_times);
}

/* Compares numbers for one scope. Returns the index of the first CNP too many, or SIZE_MAX. */
static size_t compare(const struct oche_nic_case *of, bool naks, unsigned scope)
{
    const struct oche_nic_trace *trace = of->trace;
    struct oche_nic_cnps *cnps = &of->check->cnps;
    struct tally *tallies = calloc(trace->stream_count + 1, sizeof(*tallies));
    uint32_t *keys = calloc(trace->stream_count + 1, sizeof(*keys));
    size_t over = SIZE_MAX;
    bool fits = true;

    OCHE_GOT(tallies != NULL && keys != NULL);
    find_keys(trace, scope, keys);
    for (size_t i = 0; i < trace->count; i++) {
        const struct oche_seen_packet *packet = &trace->packets[i];

        if (add(&tallies[keys[packet->stream]], packet, cnps->interval, naks) && over == SIZE_MAX)
            over = i;
    }
    for (uint32_t i = 0; i < trace->stream_count; i++) {
        const struct tally *tally = &tallies[i];

        fits = fits && is_as_expected(of, tally);
        cnps->expected[naks][scope] += tally->count[0];
        cnps->suppressed[naks][scope] |= tally->count[0] < tally->seen;
    }
    cnps->fits[naks][scope] = fits;
    free(tallies);
    free(keys);
    return over;
}

/* True if a NACK of the stream follows soon: the CNP that it brings may leave before it. */
static bool follows_soon(const struct oche_nic_case *of, size_t at, bool naks)
{
    const struct oche_nic_trace *trace = of->trace;
    const struct oche_seen_packet *cnp = &trace->packets[at];

    for (size_t i = at + 1; naks && i < trace->count; i++) {
        const struct oche_seen_packet *packet = &trace->packets[i];

        if (packet->when - cnp->when > SOON)
            return false;
        if (packet->stream == cnp->stream && packet->kind == OCHE_SEEN_NAK)
            return true;
    }
    return false;
}

/* Returns the index of the first CNP of a stream that has had as many as reasons; SIZE_MAX: none.
 */
static size_t without_reason(const struct oche_nic_case *of)
{
    const struct oche_nic_trace *trace = of->trace;
    const bool naks = of->expected->nak_brings_cnp != OCHE_ANSWER_NO;
    uint64_t *left = calloc(trace->stream_count + 1, sizeof(*left));
    size_t found = SIZE_MAX;

    OCHE_GOT(left != NULL);
    for (size_t i = 0; i < trace->count && found == SIZE_MAX; i++) {
        const struct oche_seen_packet *packet = &trace->packets[i];
        uint64_t *own = &left[packet->stream];

        if (is_mark(packet) || (naks && packet->kind == OCHE_SEEN_NAK))
            ++*own;
        else if (packet->kind == OCHE_SEEN_CNP && *own > 0)
            --*own;
        else if (packet->kind == OCHE_SEEN_CNP && !follows_soon(of, i, naks))
            found = i;
    }
    free(left);
    return found;
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

/*
 * Measures from marks to their CNPs: of a receiver that has nothing else to send a CNP for, and has
 * sent none for an interval.
 */
static void measure_delays(const struct oche_nic_case *of)
{
    const struct oche_nic_trace *trace = of->trace;
    const oche_time interval = of->check->cnps.interval;
    struct due {
        oche_time when, last; /* when: of the mark, or OCHE_NEVER; last: of the last CNP */
        uint32_t stream;
        bool any;
    } *due = calloc(trace->stream_count + 1, sizeof(*due));
    uint32_t *keys = calloc(trace->stream_count + 1, sizeof(*keys));

    OCHE_GOT(due != NULL && keys != NULL);
    find_keys(trace, OCHE_CNP_SCOPE_PORT, keys);
    for (uint32_t i = 0; i < trace->stream_count; i++)
        due[i].when = OCHE_NEVER;
    for (size_t i = 0; i < trace->count; i++) {
        const struct oche_seen_packet *packet = &trace->packets[i];
        struct due *port = &due[keys[packet->stream]];

        if (is_mark(packet) && port->when == OCHE_NEVER &&
            (!port->any || packet->when - port->last > interval + slack_of(interval))) {
            port->when = packet->when;
            port->stream = packet->stream;
        } else if (packet->kind == OCHE_SEEN_NAK) {
            port->when = OCHE_NEVER; /* the next CNP may be its */
        } else if (packet->kind == OCHE_SEEN_CNP) {
            if (port->when != OCHE_NEVER && port->stream == packet->stream)
                oche_nic_sample(&of->check->cnps.delays, packet->when - port->when);
            port->when = OCHE_NEVER;
            port->last = packet->when;
            port->any = true;
        }
    }
    free(due);
    free(keys);
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

/* `over`: index of the first CNP too many, or SIZE_MAX. */
static void wrong_numbers(const struct oche_nic_case *of, size_t over)
{
    const bool naks = of->expected->nak_brings_cnp == OCHE_ANSWER_YES;
    const struct oche_nic_cnps *cnps = &of->check->cnps;
    const uint64_t *expected = cnps->expected[naks];
    const size_t at = cnps->sent > expected[OCHE_CNP_SCOPE_QUEUE_PAIR] ? over : SIZE_MAX;

    oche_nic_wrong(of, OCHE_JUDGE_CNPS, at != SIZE_MAX ? of->trace->packets[at].stream : 0, at, 0,
                   "%llu CNPs%s; expected %llu by queue pair, %llu by destination, %llu by port",
                   (unsigned long long)cnps->sent,
                   cnps->sent == expected[OCHE_CNP_SCOPE_QUEUE_PAIR]
                       ? ", of wrong queue pairs or nearer than the interval"
                       : "",
                   (unsigned long long)expected[OCHE_CNP_SCOPE_QUEUE_PAIR],
                   (unsigned long long)expected[OCHE_CNP_SCOPE_DESTINATION],
                   (unsigned long long)expected[OCHE_CNP_SCOPE_PORT]);
}

void oche_nic_judge_cnps(const struct oche_nic_case *of)
{
    struct oche_nic_cnps *cnps = &of->check->cnps;
    const bool naks = of->expected->nak_brings_cnp == OCHE_ANSWER_YES;
    size_t over[2] = {SIZE_MAX, SIZE_MAX}, early;

    count(of);
    of->check->verdicts[OCHE_JUDGE_CNPS].judged = cnps->sent + cnps->marks + cnps->naks > 0;
    cnps->interval = of->expected->cnp_interval;
    for (int with = 0; with < 2; with++)
        for (unsigned scope = OCHE_NIC_SCOPES; scope-- > 0;)
            over[with] = compare(of, with, scope); /* the last one is of queue pairs */
    measure_delays(of);
    if (!of->expected->cnps) {
        of->check->verdicts[OCHE_JUDGE_CNPS].judged = cnps->sent > 0;
        none_expected(of);
        return;
    }
    early = without_reason(of);
    if (early == SIZE_MAX && fits_at_all(of))
        return;
    if (of->expected->marks_itself && over[naks] != SIZE_MAX) {
        of->check->verdicts[OCHE_JUDGE_CNPS].judged = false;
        of->check->own_cnps = cnps->sent - cnps->expected[naks][OCHE_CNP_SCOPE_QUEUE_PAIR];
        return;
    }
    if (early != SIZE_MAX) {
        oche_nic_wrong(of, OCHE_JUDGE_CNPS, of->trace->packets[early].stream, early, 0,
                       "a CNP without a mark or a NACK before it");
        return;
    }
    wrong_numbers(of, over[naks]);
}
