/* SPDX-License-Identifier: Apache-2.0 */
/*
 * READs. The responder sends responses only after a request, in order, and restarts where a
 * repeated request says. The requester repeats a request for exactly what is missing, up to the end
 * of the message; no response that it could take comes twice.
 *
 * Requests behind the repeated one may be repeated with it. A repeated request without a gap before
 * it is a timeout.
 */
#include <stdlib.h>

#include "lab/check_nic/judges.h"

/* ---- the responder ---- */

#define RESPONDER_WRONG(at, psn, ...)                                                              \
    oche_nic_wrong(of, OCHE_JUDGE_RESPONDER, state->stream, at, psn, __VA_ARGS__)

struct responder {
    uint32_t stream;
    uint32_t next, asked; /* PSN of the next response; and the one behind all that were asked for */
    uint32_t restarts;    /* repeated requests that have not been answered */
    uint32_t restart, restart_end; /* PSNs: where they begin, and the one behind the last */
    size_t restart_at;
};

static void responder_request(struct responder *state, size_t at,
                              const struct oche_seen_packet *packet)
{
    const uint32_t end = oche_psn_add(packet->psn, packet->span);

    if (oche_psn_diff(packet->psn, state->asked) >= 0) {
        state->asked = end;
        return;
    }
    if (state->restarts > 0 && packet->psn == state->restart_end) {
        state->restart_end = end; /* it belongs to the one before */
        return;
    }
    if (state->restarts == 0 || packet->psn != state->restart)
        state->restarts = 0;
    state->restarts++;
    state->restart = packet->psn;
    state->restart_end = end;
    state->restart_at = at;
}

static void responder_data(const struct oche_nic_case *of, struct responder *state, size_t at)
{
    const struct oche_seen_packet *packet = &of->trace->packets[at];
    const uint32_t psn = oche_nic_relative(of, state->stream, packet->psn);

    if (oche_psn_diff(packet->psn, state->asked) >= 0) {
        RESPONDER_WRONG(at, packet->psn, "a response with PSN %u, which nobody asked for", psn);
    } else if (state->restarts > 0 && packet->psn == state->restart) {
        state->restarts--;
        if (packet->number != 0)
            oche_nic_sample(&of->check->latencies[1][OCHE_LATENCY_REACTION],
                            packet->when - of->trace->packets[state->restart_at].when);
    } else if (packet->psn != state->next) {
        RESPONDER_WRONG(at, packet->psn, "a response with PSN %u; the next one is %u", psn,
                        oche_nic_relative(of, state->stream, state->next));
    }
    state->next = oche_psn_add(packet->psn, 1);
}

void oche_nic_judge_responder(const struct oche_nic_case *of, uint32_t stream)
{
    const uint32_t first = of->trace->streams[stream].first;
    struct responder responder = {.stream = stream, .next = first, .asked = first};
    struct responder *state = &responder;
    uint32_t highest = first;

    of->check->verdicts[OCHE_JUDGE_RESPONDER].judged = true;
    for (size_t k = 0; k < of->count; k++) {
        const size_t i = of->list[k];
        const struct oche_seen_packet *packet = &of->trace->packets[i];

        if (packet->kind == OCHE_SEEN_READ_REQUEST)
            responder_request(state, i, packet);
        if (packet->kind != OCHE_SEEN_DATA)
            continue;
        responder_data(of, state, i);
        if (oche_psn_diff(state->next, highest) > 0)
            highest = state->next;
    }
    if (oche_psn_diff(highest, state->asked) < 0)
        RESPONDER_WRONG(SIZE_MAX, highest, "%u responses were sent; %u were asked for",
                        oche_nic_relative(of, stream, highest),
                        oche_nic_relative(of, stream, state->asked));
}

/* ---- the requester ---- */

#define REQUESTER_WRONG(at, psn, ...)                                                              \
    oche_nic_wrong(of, OCHE_JUDGE_REQUESTER, state->stream, at, psn, __VA_ARGS__)

struct request {
    uint32_t psn, end;
};

struct requester {
    uint32_t stream;
    uint32_t asked, expected;
    uint32_t repeated_end; /* PSN behind the last repeated request */
    bool lost;             /* a gap was seen since the last request */
    bool repeats;          /* the request before was a repeated one */
    size_t gap_at;
    struct request *list; /* all requests, without repeats */
    size_t count, room;
};

static void add_request(struct requester *state, uint32_t psn, uint32_t end)
{
    if (state->count == state->room) {
        state->room = state->room == 0 ? 64 : 2 * state->room;
        state->list = realloc(state->list, state->room * sizeof(*state->list));
        OCHE_GOT(state->list != NULL);
    }
    state->list[state->count++] = (struct request){.psn = psn, .end = end};
    state->asked = end;
}

/* Returns the request that asked for the PSN first, or NULL. */
static const struct request *find_request(const struct requester *state, uint32_t psn)
{
    for (size_t i = state->count; i > 0; i--)
        if (oche_psn_diff(psn, state->list[i - 1].psn) >= 0)
            return oche_psn_diff(psn, state->list[i - 1].end) < 0 ? &state->list[i - 1] : NULL;
    return NULL;
}

static void requester_repeat(const struct oche_nic_case *of, struct requester *state, size_t at)
{
    const struct oche_seen_packet *packet = &of->trace->packets[at];
    const uint32_t end = oche_psn_add(packet->psn, packet->span);
    const struct request *whole = find_request(state, packet->psn);
    const bool follows = state->repeats && packet->psn == state->repeated_end;

    of->check->counters.duplicate_request++;
    if (whole == NULL || end != whole->end || (packet->psn != state->expected && !follows)) {
        const struct request *missing = find_request(state, state->expected);

        REQUESTER_WRONG(
            at, packet->psn, "the repeated request asks for PSN %u to %u; missing are %u to %u",
            oche_nic_relative(of, state->stream, packet->psn),
            oche_nic_relative(of, state->stream, oche_psn_add(end, OCHE_PSN_MASK)),
            oche_nic_relative(of, state->stream, state->expected),
            oche_nic_relative(
                of, state->stream,
                oche_psn_add(missing != NULL ? missing->end : state->asked, OCHE_PSN_MASK)));
    } else if (!follows && state->lost) {
        of->check->counters.implied_nak_seq_err++;
        oche_nic_sample(&of->check->latencies[1][OCHE_LATENCY_GENERATION],
                        packet->when - of->trace->packets[state->gap_at].when);
    } else if (!follows) {
        of->check->counters.local_ack_timeout_err++;
    }
    state->lost = false;
    state->repeats = true;
    state->repeated_end = end;
}

static void requester_request(const struct oche_nic_case *of, struct requester *state, size_t at)
{
    const struct oche_seen_packet *packet = &of->trace->packets[at];

    if (oche_psn_diff(packet->psn, state->asked) < 0) {
        requester_repeat(of, state, at);
        return;
    }
    if (packet->psn != state->asked)
        REQUESTER_WRONG(at, packet->psn, "a request with PSN %u; the next one is %u",
                        oche_nic_relative(of, state->stream, packet->psn),
                        oche_nic_relative(of, state->stream, state->asked));
    state->repeats = false;
    add_request(state, packet->psn, oche_psn_add(packet->psn, packet->span));
}

static void requester_data(const struct oche_nic_case *of, struct requester *state, size_t at)
{
    const struct oche_seen_packet *packet = &of->trace->packets[at];
    const int32_t ahead = oche_psn_diff(packet->psn, state->expected);

    if (!oche_seen_delivered(packet))
        return;
    if (ahead == 0) {
        state->expected = oche_psn_add(packet->psn, 1);
        state->lost = false;
    } else if (ahead < 0) {
        REQUESTER_WRONG(at, packet->psn, "the response with PSN %u arrives twice",
                        oche_nic_relative(of, state->stream, packet->psn));
    } else if (!state->lost) {
        state->lost = true;
        state->gap_at = at;
    }
}

void oche_nic_judge_requester(const struct oche_nic_case *of, uint32_t stream)
{
    const uint32_t first = of->trace->streams[stream].first;
    struct requester requester = {.stream = stream, .asked = first, .expected = first};
    struct requester *state = &requester;

    of->check->verdicts[OCHE_JUDGE_REQUESTER].judged = true;
    for (size_t k = 0; k < of->count; k++) {
        const size_t i = of->list[k];
        const struct oche_seen_packet *packet = &of->trace->packets[i];

        if (packet->kind == OCHE_SEEN_DATA)
            requester_data(of, state, i);
        else if (packet->kind == OCHE_SEEN_READ_REQUEST)
            requester_request(of, state, i);
    }
    if (of->expected->packets > 0 &&
        state->asked != oche_psn_add(first, (uint32_t)of->expected->packets))
        REQUESTER_WRONG(SIZE_MAX, state->asked, "%u packets were asked for, not %u",
                        oche_nic_relative(of, stream, state->asked),
                        (uint32_t)of->expected->packets);
    else if (state->expected != state->asked)
        REQUESTER_WRONG(SIZE_MAX, state->expected, "only %u of %u packets have arrived at the end",
                        oche_nic_relative(of, stream, state->expected),
                        oche_nic_relative(of, stream, state->asked));
    free(state->list);
}
