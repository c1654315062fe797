/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the result of `oche check-nic` as tables. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/check_nic/result.h"
#include "params/printable.h"
#include "params/table.h"

const char *oche_check_latency_name(unsigned latency, bool reads)
{
    static const char *const names[2][OCHE_LATENCIES] = {
        {"NACK generation", "NACK reaction", "retransmission"},
        {"READ asked again", "answer to it", "retransmission (READ)"},
    };

    return names[reads][latency];
}

const char *oche_check_event_name(unsigned event)
{
    static const char *const names[] = {"passed", "drop", "ecn", "bit-error"};

    return names[event];
}

#define ROW(name)                                                                                  \
    {                                                                                              \
#name, offsetof(struct oche_nic_counters, name)                                            \
    }
const struct oche_check_counter oche_check_counters[] = {
    ROW(packet_seq_err),
    ROW(local_ack_timeout_err),
    ROW(out_of_sequence),
    ROW(implied_nak_seq_err),
    ROW(duplicate_request),
    ROW(np_cnp_sent),
    ROW(np_ecn_marked_roce_packets),
};
const size_t oche_check_counter_count = OCHE_COUNT_OF(oche_check_counters);

/* ---- the head ---- */

static void print_end(const char *role, const struct oche_nic_end *end)
{
    printf("%-10s %s", role, end->name);
    if (end->profile != NULL)
        printf(" (%s)", end->profile);
    printf("%s%s\n", end->notifies ? ", sends CNPs" : ", sends no CNPs",
           end->reacts ? ", reacts to CNPs" : "");
}

static void print_head(const struct oche_check_result *result)
{
    const struct oche_nic_test *test = &result->test;
    uint64_t events[4] = {0};
    char shown[256];

    oche_printable(result->path, shown, sizeof(shown));
    printf("%s: %" PRIu64 " queue pairs, %s, %" PRIu64 " x %" PRIu64 " bytes, MTU %" PRIu64 "\n",
           shown, test->num_qps, oche_nic_verb_name(test->verb), test->messages,
           test->message_bytes, test->mtu_bytes);
    print_end("requester", &test->requester);
    print_end("responder", &test->responder);
    for (size_t i = 0; i < result->watched.trace.count; i++)
        events[result->watched.trace.packets[i].event]++;
    printf("packets    %zu", result->watched.trace.count);
    for (unsigned i = 1; i < OCHE_COUNT_OF(events); i++)
        printf(", %s %" PRIu64, oche_check_event_name(i), events[i]);
    if (result->capture_count == 0)
        printf("; simulated, %.3f ms\n", (double)result->simulated.took / (double)OCHE_MS);
    else
        printf("; of %" PRIu64 " frames%s\n", result->capture.frames,
               result->capture.mirror ? ", mirrored by Lumina's switch" : "");
}

/* ---- packets ---- */

static void print_packets(const struct oche_nic_trace *trace)
{
    struct oche_table *table = oche_table_create(6);

    oche_table_cell(table, "packet");
    oche_table_cell(table, "us");
    oche_table_cell(table, "stream");
    oche_table_cell(table, "kind");
    oche_table_cell(table, "psn");
    oche_table_cell(table, "event");
    oche_table_rule(table);
    for (size_t i = 0; i < trace->count; i++) {
        const struct oche_seen_packet *packet = &trace->packets[i];
        const uint32_t first = trace->streams[packet->stream].first;

        if (packet->number == 0)
            oche_table_cell(table, "not seen");
        else
            oche_table_cell(table, "%" PRIu64, packet->number);
        oche_table_cell(table, "%.3f", (double)packet->when / (double)OCHE_US);
        oche_table_cell(table, "%u", packet->stream);
        oche_table_cell(table, "%s", oche_seen_kind_name(packet->kind));
        if (packet->kind == OCHE_SEEN_CNP)
            oche_table_cell(table, "-");
        else
            oche_table_cell(table, "%u", (packet->psn - first) & OCHE_PSN_MASK);
        oche_table_cell(table, "%s",
                        packet->event == 0 ? "" : oche_check_event_name(packet->event));
    }
    oche_table_print(table, stdout);
    oche_table_free(table);
    putchar('\n');
}

/* ---- verdicts ---- */

static void print_wrong(const struct oche_check_result *result, enum oche_nic_judge judge)
{
    const struct oche_nic_verdict *verdict = &result->check.verdicts[judge];
    const struct oche_nic_trace *trace = &result->watched.trace;

    printf("%-20s wrong: stream %u", oche_nic_judge_name(judge), verdict->stream);
    if (verdict->at == SIZE_MAX)
        printf(", at the end");
    else
        printf(", packet %" PRIu64 " at %.3f us", trace->packets[verdict->at].number,
               (double)trace->packets[verdict->at].when / (double)OCHE_US);
    printf(": %s\n", verdict->what);
}

static void print_cnps(const struct oche_check_result *result)
{
    static const char *const scopes[OCHE_NIC_SCOPES] = {"queue pair", "destination", "port"};
    const struct oche_nic_cnps *cnps = &result->check.cnps;
    const char *between = "";

    printf("%-20s right: %" PRIu64 " for %" PRIu64 " marks and %" PRIu64 " NACKs; fits one every "
           "%.3f us for each ",
           oche_nic_judge_name(OCHE_JUDGE_CNPS), cnps->sent, cnps->marks, cnps->naks,
           (double)cnps->interval / (double)OCHE_US);
    for (unsigned i = 0; i < OCHE_NIC_SCOPES; i++) {
        if (!cnps->fits[0][i] && !cnps->fits[1][i])
            continue;
        printf("%s%s", between, scopes[i]);
        if (cnps->naks > 0 && cnps->fits[0][i] != cnps->fits[1][i])
            printf(" (NACKs %s)", cnps->fits[1][i] ? "bring one" : "bring none");
        between = ", ";
    }
    putchar('\n');
}

static void print_verdicts(const struct oche_check_result *result)
{
    putchar('\n');
    for (int i = 0; i < OCHE_JUDGES; i++) {
        const enum oche_nic_judge judge = (enum oche_nic_judge)i;
        const struct oche_nic_verdict *verdict = &result->check.verdicts[i];

        if (verdict->wrong)
            print_wrong(result, judge);
        else if (!verdict->judged)
            printf("%-20s nothing to judge%s\n", oche_nic_judge_name(judge),
                   judge == OCHE_JUDGE_CNPS && !oche_nic_receiver(&result->test)->notifies
                       ? ": they are off (roce-parameters)"
                       : "");
        else if (judge == OCHE_JUDGE_CNPS && result->check.cnps.sent > 0)
            print_cnps(result);
        else
            printf("%-20s right\n", oche_nic_judge_name(judge));
    }
}

/* ---- latencies and counters ---- */

static void latency_row(struct oche_table *table, const char *name,
                        const struct oche_nic_samples *samples)
{
    const double us = (double)OCHE_US;

    if (samples->count == 0)
        return;
    oche_table_cell(table, "%s", name);
    oche_table_cell(table, "%zu", samples->count);
    oche_table_cell(table, "%.3f", (double)oche_nic_median(samples) / us);
    oche_table_cell(table, "%.3f", (double)samples->list[0] / us);
    oche_table_cell(table, "%.3f", (double)samples->list[samples->count - 1] / us);
}

static void print_latencies(const struct oche_check_nic *check)
{
    struct oche_table *table = oche_table_create(5);
    size_t samples = check->cnps.delays.count;

    oche_table_cell(table, "latency at the switch, us");
    oche_table_cell(table, "samples");
    oche_table_cell(table, "median");
    oche_table_cell(table, "least");
    oche_table_cell(table, "most");
    oche_table_rule(table);
    for (int reads = 0; reads < 2; reads++)
        for (unsigned i = 0; i < OCHE_LATENCIES; i++) {
            latency_row(table, oche_check_latency_name(i, reads), &check->latencies[reads][i]);
            samples += check->latencies[reads][i].count;
        }
    latency_row(table, "CNP after its mark", &check->cnps.delays);
    putchar('\n');
    if (samples > 0)
        oche_table_print(table, stdout);
    else
        printf("No latencies: nothing was lost, and no CNP followed a mark.\n");
    oche_table_free(table);
}

static void print_counters(const struct oche_nic_counters *counters)
{
    printf("\ncounters as adapters name them\n");
    for (size_t i = 0; i < oche_check_counter_count; i++)
        printf("  %-28s %10" PRIu64 "\n", oche_check_counters[i].name,
               oche_check_counted(counters, i));
}

/* ---- remarks ---- */

const char *oche_check_one_direction(const struct oche_check_result *result)
{
    const struct oche_nic_trace *trace = &result->watched.trace;

    if (result->capture_count == 0)
        return NULL;
    if (trace->count == 0)
        return result->watched.strangers > 0 ? "answers" : NULL;
    for (size_t i = 0; i < trace->count; i++)
        if (trace->packets[i].kind != OCHE_SEEN_DATA)
            return NULL;
    return result->watched.strangers == 0 ? "data" : NULL;
}

/* Remarks on the capture itself. */
static void print_capture_remarks(const struct oche_check_result *result)
{
    const struct oche_check_capture *capture = &result->capture;
    const char *direction = oche_check_one_direction(result);

    if (direction != NULL)
        printf("\nThe capture has one direction only: %s. Wrong verdicts are no fault of the "
               "adapter; capture both directions.\n",
               strcmp(direction, "data") == 0 ? "data without any answers"
                                              : "answers without any data");
    if (capture->cut > 0)
        printf("\n%" PRIu64 " packets were cut within their headers; capture with a snap length of "
               "at least 128 bytes. No verdict is safe.\n",
               capture->cut);
    if (capture->missing > 0)
        printf("\n%" PRIu64 " packets are missing in the capture, by the switch's numbers: no "
               "verdict is safe.\n",
               capture->missing);
    if (capture->earlier > 0)
        printf("\n%" PRIu64 " packets are earlier than those before them: latencies are not "
               "safe.\n",
               capture->earlier);
}

/* Names what a simulated adapter does as the ideal RNIC does, as nothing else is known of it. */
static void print_unknown(const struct oche_nic_end *end)
{
    const struct oche_nic_habits *habits = &end->habits;
    const struct {
        const char *name;
        bool ideal;
    } rows[] = {{"timeouts", habits->timeouts.kind == OCHE_TIMEOUTS_AS_ASKED},
                {"nak_delay", habits->nak_delay == 0},
                {"nak_reaction", habits->nak_reaction == 0},
                {"read_nak_delay", habits->read_nak_delay == 0},
                {"cnp_delay", habits->cnp_delay == 0}};
    const char *between = "";

    if (strcmp(end->name, "ideal") == 0)
        return;
    for (size_t i = 0; i < OCHE_COUNT_OF(rows); i++) {
        if (!rows[i].ideal)
            continue;
        if (between[0] == '\0')
            printf("\nOf %s these are as the ideal RNIC's: ", end->name);
        printf("%s%s", between, rows[i].name);
        between = ", ";
    }
    if (between[0] != '\0')
        printf(". A profile of your own can say more.\n");
}

/* Says so if the file's interval of CNPs is another than the adapter's. */
static void print_interval(const struct oche_nic_end *end)
{
    if (!end->notifies || end->own_interval == OCHE_NEVER ||
        end->own_interval == end->habits.cnp_interval)
        return;
    printf("\nmin-time-between-cnps: the file's %.3f us, in place of %.3f us that %s has.\n",
           (double)end->habits.cnp_interval / (double)OCHE_US,
           (double)end->own_interval / (double)OCHE_US, end->name);
}

static void print_remarks(const struct oche_check_result *result)
{
    const struct oche_watched *watched = &result->watched;

    print_capture_remarks(result);
    if (watched->events_seen < watched->events) {
        const struct oche_packet_event *event = &result->test.events[watched->first_left];

        printf("\n%" PRIu64 " of %" PRIu64
               " events did not happen; the first of them is qpn %" PRIu64 ", psn %" PRIu64
               ", iter %" PRIu64 ".\n",
               watched->events - watched->events_seen, watched->events, event->qpn, event->psn,
               event->iter);
    }
    if (result->capture_count == 0) {
        print_unknown(&result->test.requester);
        if (strcmp(result->test.requester.name, result->test.responder.name) != 0)
            print_unknown(&result->test.responder);
        print_interval(oche_nic_receiver(&result->test));
    }
    if (result->check.own_cnps > 0)
        printf("\nCNPs: %" PRIu64 " more than marks and NACKs explain. This adapter marks data in "
               "its own full buffer, which the switch does not see: no verdict.\n",
               result->check.own_cnps);
    if (result->check.gaps_without_nak > 0)
        printf("\n%" PRIu64 " gaps brought no NACK: a timeout was faster, or the receiver sends "
               "none.\n",
               result->check.gaps_without_nak);
    if (result->simulated.failed > 0)
        printf("\n%" PRIu64 " messages were given up after the last retry.\n",
               result->simulated.failed);
    if (watched->strangers > 0)
        printf("\n%" PRIu64 " packets were left out: answers without data in the capture, or of "
               "too many queue pairs.\n",
               watched->strangers);
    if (watched->contradicted > 0)
        printf("\nThe switch did something else to %" PRIu64 " packets than the test says.\n",
               watched->contradicted);
    if (result->capture_count == 0 && result->test.many_addresses)
        printf("\nmulti-gid: a host of the simulator has one address, so all queue pairs have the "
               "same destination.\n");
}

bool oche_check_is_right(const struct oche_check_result *result)
{
    return !oche_nic_check_wrong(&result->check) && result->simulated.failed == 0 &&
           result->watched.events_seen == result->watched.events && result->capture.missing == 0 &&
           result->capture.cut == 0 && oche_check_one_direction(result) == NULL &&
           result->watched.contradicted == 0;
}

void oche_check_print(const struct oche_check_result *result, bool packets)
{
    if (packets)
        print_packets(&result->watched.trace);
    print_head(result);
    print_verdicts(result);
    print_latencies(&result->check);
    print_counters(&result->check.counters);
    print_remarks(result);
}
