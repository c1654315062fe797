/* SPDX-License-Identifier: Apache-2.0 */
/* Processes that run windows together. */
#include "sim/network/ranks.h"

#include <stdlib.h>
#include <string.h>

#include "sim/engine/big_memory.h"
#include "sim/engine/turn.h"
#include "sim/network/rank_packets.h"
#include "sim/network/windows.h"

#define MOST_WINDOWS 256 /* that a rank runs by itself between reports */

enum flag { ASKED = 1 << 0, INTERRUPTED = 1 << 1 };

/*
 * Gives the trace records of other ranks' nodes back, which are a tenth of a large network's
 * memory: their traces are only told. The first node's are where all begin (oche_network_free).
 */
static void keep_own_records(struct oche_network *network)
{
    const uint64_t each = network->nodes[0].trace.mask + 1;
    struct oche_trace_record *records = network->nodes[0].trace.ring, *next;
    uint64_t own = 0;

    for (uint32_t n = 0; n < network->node_count; n++)
        own += oche_network_has(network, n);
    free(records);
    records = next = oche_big_memory((own + 1) * each * sizeof(*records));
    for (uint32_t n = 0; n < network->node_count; n++) {
        struct oche_trace *trace = &network->nodes[n].trace;

        trace->ring = n == 0 ? records : next;
        if (n == 0 || oche_network_has(network, n))
            next += each;
    }
}

void oche_ranks_create(struct oche_network *network, struct oche_flows *flows,
                       struct oche_rank_mail *mail)
{
    struct oche_ranks *ranks = calloc(1, sizeof(*ranks));

    OCHE_GOT(ranks != NULL);
    OCHE_MUST(mail->count == network->shard_count);
    *ranks = (struct oche_ranks){.mail = mail,
                                 .rank = mail->rank,
                                 .count = mail->count,
                                 .network = network,
                                 .flows = flows,
                                 .out = calloc(mail->count, sizeof(*ranks->out)),
                                 .in = calloc(mail->count, sizeof(*ranks->in)),
                                 .same = calloc(mail->count, sizeof(*ranks->same)),
                                 .reports = calloc(mail->count, sizeof(*ranks->reports))};
    OCHE_GOT(ranks->out != NULL && ranks->in != NULL && ranks->same != NULL &&
             ranks->reports != NULL);
    network->shards[ranks->rank].flow_notes = &ranks->notes;
    network->ranks = ranks;
    keep_own_records(network);
    oche_flows_pass_by(flows, network);
}

void oche_ranks_free(struct oche_ranks *ranks)
{
    if (ranks == NULL)
        return;
    for (uint32_t r = 0; r < ranks->count; r++) {
        free(ranks->out[r].at);
        free(ranks->in[r].at);
    }
    free(ranks->out);
    free(ranks->in);
    free(ranks->same);
    free(ranks->reports);
    free(ranks->notes.list);
    free(ranks);
}

/* ---- exchanges ---- */

static uint64_t exchange(struct oche_ranks *ranks, const struct oche_rank_bytes *out)
{
    const uint64_t begun = oche_clock_ns();
    uint64_t bytes = 0;

    for (uint32_t r = 0; r < ranks->count; r++) {
        bytes += r == ranks->rank ? 0 : out[r].count;
        ranks->in[r].count = ranks->in[r].read = 0;
    }
    ranks->mail->exchange(ranks->mail, out, ranks->in);
    ranks->counts.waited_ns += oche_clock_ns() - begun;
    return bytes;
}

struct oche_rank_bytes *oche_ranks_to(struct oche_ranks *ranks, uint32_t to)
{
    return &ranks->out[to];
}

struct oche_rank_bytes *oche_ranks_from(struct oche_ranks *ranks, uint32_t from)
{
    return &ranks->in[from];
}

/* Ends an exchange: messages to others are empty again, and that to oneself has come. */
static void finish(struct oche_ranks *ranks, uint32_t own)
{
    const struct oche_rank_bytes came = ranks->in[ranks->rank];

    ranks->in[ranks->rank] = ranks->out[own];
    ranks->out[own] = came;
    for (uint32_t r = 0; r < ranks->count; r++)
        ranks->out[r].count = 0;
}

void oche_ranks_exchange(struct oche_ranks *ranks)
{
    ranks->counts.checks++;
    ranks->counts.check_bytes += exchange(ranks, ranks->out);
    finish(ranks, ranks->rank);
}

void oche_ranks_share(struct oche_ranks *ranks)
{
    for (uint32_t r = 0; r < ranks->count; r++)
        ranks->same[r] = ranks->out[0];
    ranks->counts.checks++;
    ranks->counts.check_bytes += exchange(ranks, ranks->same);
    finish(ranks, 0);
}

/* ---- sums ---- */

/* Adds to a value of 8 bytes another rank's, of any alignment. */
typedef void add(void *value, const void *other);

static void add_whole(void *value, const void *other)
{
    uint64_t more;

    memcpy(&more, other, sizeof(more));
    *(uint64_t *)value += more;
}

static void add_real(void *value, const void *other)
{
    double more;

    memcpy(&more, other, sizeof(more));
    *(double *)value += more;
}

static void sum_of_all(struct oche_ranks *ranks, void *values, size_t count, add *add_other)
{
    if (ranks == NULL || count == 0)
        return;
    oche_rank_put(oche_ranks_to(ranks, 0), values, 8 * count);
    oche_ranks_share(ranks);
    for (uint32_t r = 0; r < ranks->count; r++)
        for (size_t i = 0; r != ranks->rank && i < count; i++)
            add_other((char *)values + 8 * i, oche_rank_take(&ranks->in[r], 8));
}

void oche_ranks_sum(struct oche_ranks *ranks, uint64_t *values, size_t count)
{
    sum_of_all(ranks, values, count, add_whole);
}

void oche_ranks_sum_reals(struct oche_ranks *ranks, double *values, size_t count)
{
    sum_of_all(ranks, values, count, add_real);
}

bool oche_ranks_any(struct oche_ranks *ranks, bool here)
{
    uint64_t sum = here;

    oche_ranks_sum(ranks, &sum, 1);
    return sum > 0;
}

void oche_ranks_sum_counts(struct oche_ranks *ranks)
{
    struct oche_rank_counts *sum = &ranks->of_all;
    const struct oche_rank_counts own = ranks->counts;

    oche_rank_put(oche_ranks_to(ranks, 0), &own, sizeof(own));
    oche_ranks_share(ranks);
    *sum = (struct oche_rank_counts){.windows = own.windows, .checks = own.checks};
    for (uint32_t r = 0; r < ranks->count; r++) {
        struct oche_rank_counts of;

        oche_rank_get(&ranks->in[r], &of, sizeof(of));
        sum->packets += of.packets;
        sum->bytes += of.bytes;
        sum->most = of.most > sum->most ? of.most : sum->most;
        sum->check_bytes += of.check_bytes;
        sum->waited_ns += of.waited_ns;
    }
}

/* ---- reports ---- */

/* Takes over the counters of the other ranks, and adds them up. */
static struct oche_rank_sum sum_up(struct oche_ranks *ranks)
{
    struct oche_rank_sum sum = {.soonest = OCHE_NEVER, .others = OCHE_NEVER};
    oche_time crosses_from = OCHE_NEVER;

    for (uint32_t r = 0; r < ranks->count; r++) {
        const struct oche_rank_report *report = &ranks->reports[r];
        struct oche_shard *shard = &ranks->network->shards[r];

        if (r != ranks->rank) {
            shard->flows_completed = report->flows;
            shard->awaited_completed = report->awaited;
            shard->hops = report->hops;
            shard->handled_events = report->events;
            shard->windows = report->windows;
            shard->pool.taken = report->taken;
        }
        sum.end = oche_time_max(sum.end, report->end);
        sum.flags |= report->flags;
        sum.flows += report->flows;
        sum.awaited += report->awaited;
        crosses_from = oche_time_min(crosses_from, report->crosses_from);
        sum.others =
            oche_time_min(sum.others, report->next < sum.soonest ? sum.soonest : report->next);
        if (report->next < sum.soonest) {
            sum.first = r;
            sum.soonest = report->next;
        }
    }
    sum.soonest = oche_time_min(sum.soonest, crosses_from);
    sum.others = oche_time_min(sum.others, crosses_from);
    ranks->interrupted = (sum.flags & INTERRUPTED) != 0;
    return sum;
}

static struct oche_rank_report report_on(struct oche_ranks *ranks, oche_time end)
{
    const struct oche_window_checks *checks = &ranks->network->checks;
    struct oche_shard *shard = &ranks->network->shards[ranks->rank];
    const bool interrupted = checks->interrupt != NULL && *checks->interrupt != 0;
    struct oche_rank_report report = {
        .end = end,
        .next = oche_events_next_time(&shard->events),
        .crosses_from = shard->crosses_from,
        .flows = shard->flows_completed,
        .awaited = shard->awaited_completed,
        .hops = shard->hops,
        .events = shard->handled_events,
        .windows = shard->windows,
        .taken = shard->pool.taken - shard->kept_packets,
        .mishaps = shard->mishaps.lost_count + shard->mishaps.timed_out_count,
        .flags = interrupted ? ASKED | INTERRUPTED : 0,
    };

    if (report.mishaps > 0 || (checks->windows > 0 && ranks->unchecked >= checks->windows))
        report.flags |= ASKED;
    shard->crosses_from = OCHE_NEVER;
    return report;
}

static uint32_t rank_of(const struct oche_ranks *ranks, uint32_t host)
{
    return ranks->network->nodes[host].shard;
}

/* Returns how many notes are for the rank; puts them, if `bytes` is not NULL. */
static uint32_t put_notes(const struct oche_ranks *ranks, uint32_t to,
                          struct oche_rank_bytes *bytes)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < ranks->notes.count; i++) {
        const struct oche_flow_note *note = &ranks->notes.list[i];
        const struct oche_flow_plan *plan = &ranks->flows->plan[note->flow];

        if (rank_of(ranks, plan->src) != to && rank_of(ranks, plan->dst) != to)
            continue;
        count++;
        if (bytes != NULL)
            oche_rank_put(bytes, note, sizeof(*note));
    }
    return count;
}

static void put_all(struct oche_ranks *ranks, oche_time end)
{
    struct oche_shard *shard = &ranks->network->shards[ranks->rank];
    struct oche_rank_report report = report_on(ranks, end);

    for (uint32_t to = 0; to < ranks->count; to++) {
        struct oche_mailbox *box = &shard->outbox[shard->side * ranks->count + to];
        struct oche_rank_bytes *bytes = &ranks->out[to];

        if (to == ranks->rank)
            continue;
        report.packets = box->count;
        report.notes = put_notes(ranks, to, NULL);
        oche_rank_put(bytes, &report, sizeof(report));
        put_notes(ranks, to, bytes);
        oche_rank_packets_put(shard, box, ranks->flows, bytes);
        ranks->counts.packets += report.packets;
        if (bytes->count > ranks->counts.most)
            ranks->counts.most = bytes->count;
    }
    ranks->notes.count = 0;
    ranks->reports[ranks->rank] = report;
}

static void take_all(struct oche_ranks *ranks)
{
    struct oche_shard *shard = &ranks->network->shards[ranks->rank];

    for (uint32_t from = 0; from < ranks->count; from++) {
        struct oche_rank_report *report = &ranks->reports[from];
        struct oche_rank_bytes *bytes = &ranks->in[from];

        if (from == ranks->rank)
            continue;
        oche_rank_get(bytes, report, sizeof(*report));
        for (uint32_t i = 0; i < report->notes; i++) {
            struct oche_flow_note note;

            oche_rank_get(bytes, &note, sizeof(note));
            oche_flow_notes_apply(ranks->flows, ranks->network, &note);
        }
        oche_rank_packets_get(shard, ranks->flows, bytes, report->packets);
    }
}

/* Sends the report on the window that ends at `end` to the other ranks, and receives theirs. */
static void tell(struct oche_ranks *ranks, oche_time end)
{
    put_all(ranks, end);
    ranks->counts.windows++;
    ranks->counts.bytes += exchange(ranks, ranks->out);
    for (uint32_t r = 0; r < ranks->count; r++)
        ranks->out[r].count = 0;
    take_all(ranks);
    ranks->sum = sum_up(ranks);
}

bool oche_ranks_have_mishaps(const struct oche_ranks *ranks)
{
    for (uint32_t r = 0; r < ranks->count; r++)
        if (ranks->reports[r].mishaps > 0)
            return true;
    return false;
}

/* ---- windows ---- */

/* Runs the next window. Returns the end of the last one that it ran. */
static oche_time run_window(struct oche_ranks *ranks, oche_time until)
{
    const struct oche_rank_sum *sum = &ranks->sum; /* sum of the window before */
    struct oche_network *network = ranks->network;
    struct oche_shard *shard = &network->shards[ranks->rank];
    const oche_time end = oche_window_end(network, sum->soonest, until);
    const uint64_t before = shard->windows;
    oche_time limit = end, ran;

    if (ranks->rank == sum->first && sum->others >= end)
        limit = oche_time_min(oche_window_limit(network, sum->others, end, until),
                              oche_time_add(end, MOST_WINDOWS * network->window));
    ran = oche_windows_run(shard, end, limit, sum->flows - shard->flows_completed,
                           sum->awaited - shard->awaited_completed);
    ranks->unchecked += shard->windows - before;
    return ran;
}

void oche_ranks_run(struct oche_ranks *ranks, oche_time until, oche_network_check *check,
                    void *context)
{
    struct oche_network *network = ranks->network;
    const struct oche_rank_sum *sum = &ranks->sum;

    if (!ranks->told)
        tell(ranks, network->now);
    ranks->told = true; /* what is done between two calls adds no event, so these reports hold */
    while (network->now < until) {
        if (sum->soonest >= until) {
            network->now = until;
            return;
        }
        tell(ranks, run_window(ranks, until));
        network->now = sum->end;
        bool due = (sum->flags & ASKED) || sum->end == until ||
                   oche_windows_due(&network->checks, sum->end, sum->flows, sum->awaited);

        if (!due || check == NULL)
            continue;
        ranks->unchecked = 0;
        if (check(context, network->now))
            return;
    }
}
