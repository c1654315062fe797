/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A connection's flows. Each flow is one verb, or several verbs of congestion_control.verb_bytes.
 * The address to which a verb writes tells the receiver the flow and the byte of the flow, so it
 * notices what a shadow delivers a second time.
 */
#include "sim/endpoint/rogue/rogue_host.h"

static struct oche_connection *connection_of(const struct oche_rogue_end *end)
{
    return &end->rogue->host->flows->connections[end->connection];
}

static uint32_t flow_at(const struct oche_rogue_end *end, uint32_t index)
{
    return end->rogue->host->flows->order[connection_of(end)->first + index];
}

void oche_rogue_post(struct oche_rogue_end *end, oche_time now)
{
    struct oche_connection *connection = connection_of(end);
    uint64_t most = end->rogue->params->verb_bytes;
    const bool reads = end->rogue->params->verb == OCHE_ROGUE_READS;

    if (connection->src != end->rogue->host->address)
        return;
    while (end->posting < connection->queued) {
        uint32_t number = flow_at(end, end->posting);
        uint64_t left = end->rogue->host->flows->plan[number].bytes - end->posting_bytes;
        uint64_t bytes = most == 0 || left < most ? left : most;
        struct rogue_verb verb = {.id = number,
                                  .user = end->posting_bytes,
                                  .bytes = (uint32_t)bytes,
                                  .kind = reads ? ROGUE_READ : ROGUE_WRITE,
                                  .signaled = bytes == left};
        if (!rogue_post(end->library, &verb, now))
            return; /* there will be room when a verb has ended */
        end->posting_bytes += bytes;
        if (bytes == left) {
            end->posting_bytes = 0;
            end->posting++;
            connection->posted = end->posting;
        }
    }
    if (rogue_broken(end->library) && end->reported < end->ended)
        oche_rogue_wait_for_poll(end); /* the posted message has ended at once */
}

void oche_rogue_verb_ended(struct oche_rogue_end *end, const struct rogue_verb *verb,
                           enum rogue_outcome outcome, int status)
{
    if (outcome != ROGUE_DONE && end->first_failed == UINT32_MAX) {
        end->first_failed = end->ended;
        end->status = outcome == ROGUE_FAILED ? status : OCHE_STATUS_FLUSHED;
    }
    end->ended += verb->signaled; /* only the last verb of a flow is signaled */
}

/* Returns how many verbs the application makes of the flow that is to be reported next. */
static uint64_t verbs_to_report(const struct oche_rogue_end *end)
{
    uint64_t bytes = end->rogue->host->flows->plan[flow_at(end, end->reported)].bytes;
    uint64_t most = end->rogue->params->verb_bytes;

    return most == 0 ? 1 : (bytes + most - 1) / most;
}

/*
 * True if the next flow may be reported, when its verbs have ended. On UC a verb ends when it has
 * left, but a flow only when its last batch has been answered.
 */
static bool is_answered(const struct oche_rogue_end *end)
{
    return end->rogue->params->library.transport == ROGUE_RC || rogue_quiet(end->library) ||
           rogue_verbs_answered(end->library) >= end->reported_verbs + verbs_to_report(end);
}

void oche_rogue_sent_again(const struct oche_rogue_end *end, uint64_t *retransmitted,
                           uint64_t *timeouts)
{
    *retransmitted += end->retransmitted;
    *timeouts += end->timeouts;
    for (unsigned i = 0; i < 2; i++) {
        *retransmitted += oche_qp_retransmitted_packets(end->qps[i]);
        *timeouts += oche_qp_timeouts(end->qps[i]);
    }
}

void oche_rogue_report(struct oche_rogue_end *end, oche_time now)
{
    struct oche_host *host = end->rogue->host;

    while (end->reported < end->ended && is_answered(end)) {
        uint32_t number = flow_at(end, end->reported);
        enum oche_status status = OCHE_STATUS_SUCCESS;
        uint64_t again = 0, timeouts = 0;
        if (end->reported >= end->first_failed)
            status = end->reported == end->first_failed ? (enum oche_status)end->status
                                                        : OCHE_STATUS_FLUSHED;
        oche_rogue_sent_again(end, &again, &timeouts);
        end->reported_verbs += verbs_to_report(end);
        end->reported++;
        if (end->rogue->params->verb == OCHE_ROGUE_READS && status == OCHE_STATUS_SUCCESS)
            oche_host_flow_delivered(host, end->connection, now);
        oche_host_flow_completed(host, number, status, again, timeouts, now);
        oche_host_start(host, host->flows->plan[number].then_same_source, now);
    }
    oche_rogue_post(end, now);
    oche_rogue_note_time(end);
    oche_rogue_flows_over(end, now);
}

/*
 * UC: bytes of flow `number` have come, so what has not come of the flows before it will not. They
 * stay incomplete, and what they would have started does not start.
 */
static void pass_over(struct oche_rogue_end *end, uint32_t number)
{
    struct oche_host *host = end->rogue->host;

    while (flow_at(end, connection_of(end)->delivered) != number) {
        uint32_t lost = oche_host_flow_passed_over(host, end->connection);

        end->rogue->missing_bytes += host->flows->plan[lost].bytes - end->arrived;
        end->arrived = 0;
    }
}

/* True if all of the flow has come, or nothing of it is waited for any more. */
static bool is_over(const struct oche_rogue_end *end, uint32_t number)
{
    const struct oche_flow_received *received = &end->rogue->host->flows->received[number];

    return connection_of(end)->delivered == connection_of(end)->count ||
           received->delivered != OCHE_NEVER || received->arrived || received->passed_over;
}

void oche_rogue_arrived(struct oche_rogue_end *end, uint64_t va, uint32_t bytes, oche_time now)
{
    struct oche_rogue *rogue = end->rogue;
    struct oche_host *host = rogue->host;
    uint32_t number = (uint32_t)(va >> 32), offset = (uint32_t)va;
    bool over = is_over(end, number);

    if (bytes == 0) /* an answer, which belongs to no flow */
        return;
    if (!over && rogue->params->library.transport == ROGUE_UC)
        pass_over(end, number);
    if (over || number != flow_at(end, connection_of(end)->delivered) ||
        (uint64_t)offset + bytes <= end->arrived) {
        rogue->doubled_bytes += bytes;
        return;
    }
    if (offset < end->arrived) /* a shadow may cut a verb elsewhere */
        rogue->doubled_bytes += end->arrived - offset;
    else
        rogue->missing_bytes += offset - end->arrived;
    end->arrived = (uint64_t)offset + bytes;
    if (end->arrived < host->flows->plan[number].bytes)
        return;
    end->arrived = 0;
    oche_host_flow_arrived(host, end->connection, now);
    oche_rogue_flows_over(end, now);
}
