/* SPDX-License-Identifier: Apache-2.0 */
/*
 * With a connection for each flow, a run has far more connections than are in use at a time. An end
 * whose flows are over lingers, so that it can answer duplicates and messages; then its queue
 * pairs, completion queue and library serve another end. The state that it would need to go on is
 * kept: PSNs and epochs.
 *
 * There is no timer for parking: whenever an end is opened, other ends whose time has come are
 * parked. So parking changes no order of events. Where packets may be lost, ends linger for several
 * ACK timeouts, because the ACK of the last flow may be among them.
 */
#include "core/qp/nic.h"
#include "sim/endpoint/rogue/rogue_host.h"

#define LINGER   OCHE_MS
#define TIMEOUTS 4 /* so many series of them, where packets may be lost */
#define AT_ONCE  4 /* ends that are looked at when one is opened */

static const struct oche_connection *connection_of(const struct oche_rogue_end *end)
{
    return &end->rogue->host->flows->connections[end->connection];
}

static bool is_source(const struct oche_rogue_end *end)
{
    return connection_of(end)->src == end->rogue->host->address;
}

/*
 * False if this host's end of the connection cannot be parked. Then it cannot be among the parked
 * ends.
 */
static bool may_be_parked(const struct oche_rogue *rogue, uint32_t number)
{
    const struct oche_connection *connection = &rogue->host->flows->connections[number];

    if (connection->src == rogue->host->address)
        return connection->posted == connection->count;
    return rogue->params->verb == OCHE_ROGUE_WRITES && connection->delivered == connection->count;
}

struct oche_rogue_end *oche_rogue_find_parked(const struct oche_rogue *rogue, uint32_t connection)
{
    if (!may_be_parked(rogue, connection))
        return NULL;
    for (struct oche_rogue_end *end = rogue->ends; end != NULL; end = end->next)
        if (end->connection == connection)
            return end->parts == NULL ? end : NULL;
    return NULL;
}

uint64_t oche_rogue_switches(const struct oche_rogue *rogue, uint32_t connection)
{
    for (const struct oche_rogue_end *end = rogue->ends; end != NULL; end = end->next)
        if (end->connection == connection)
            return end->parked_switches +
                   (end->library == NULL ? 0 : rogue_counts_of(end->library)->switches);
    return 0;
}

/* True if the end has had all flows. Of READs the responder's end does not know. */
static bool has_had_all(const struct oche_rogue_end *end)
{
    const struct oche_connection *connection = connection_of(end);

    if (is_source(end))
        return end->reported == connection->count;
    return end->rogue->params->verb == OCHE_ROGUE_WRITES &&
           connection->delivered == connection->count;
}

static oche_time park_time(const struct oche_rogue *rogue, oche_time now)
{
    const struct oche_host_shared *shared = rogue->host->shared;
    oche_time timeouts = 0;

    for (uint64_t i = 0; shared->lossy && i < TIMEOUTS * (rogue->params->hardware_retries + 1); i++)
        timeouts = oche_time_add(timeouts, shared->params->ack_timeout);
    return oche_time_add(now, oche_time_add(LINGER, timeouts));
}

void oche_rogue_flows_over(struct oche_rogue_end *end, oche_time now)
{
    struct oche_rogue *rogue = end->rogue;

    if (end->over || !has_had_all(end))
        return;
    end->over = true;
    end->park_after = park_time(rogue, now);
    end->next_over = NULL;
    if (rogue->over_tail != NULL)
        rogue->over_tail->next_over = end;
    else
        rogue->over_head = end;
    rogue->over_tail = end;
}

/* True if nothing is under way, and nothing that the peer may still say needs an answer. */
static bool is_idle(const struct oche_rogue_end *end)
{
    if (end->waits || oche_rogue_awaits_host(end) || oche_rogue_has_turn(end) ||
        rogue_broken(end->library) || !rogue_idle(end->library) || !rogue_quiet(end->library) ||
        rogue_next(end->library) != OCHE_NEVER)
        return false;
    for (unsigned qp = 0; qp < 2; qp++)
        if (oche_qp_state(end->qps[qp]) != OCHE_QP_RTS || !oche_qp_idle(end->qps[qp]))
            return false;
    return true;
}

static void add_counts(struct rogue_counts *to, const struct rogue_counts *from)
{
    uint64_t *sums = (void *)to;
    const uint64_t *more = (const void *)from;

    for (size_t i = 0; i < sizeof(*to) / sizeof(*sums); i++)
        sums[i] += more[i];
}

/* Returns the list of unused parts of this end's size. */
static struct oche_rogue_parts **unused_of(const struct oche_rogue_end *end)
{
    unsigned size = (unsigned)__builtin_ctz(oche_rogue_depth(end->rogue, end->connection));

    OCHE_MUST(size < OCHE_ROGUE_SIZES);
    return &end->rogue->unused[size];
}

static void park(struct oche_rogue_end *end)
{
    struct oche_rogue *rogue = end->rogue;
    struct oche_rogue_parts **unused = unused_of(end);

    end->parked_switches += rogue_counts_of(end->library)->switches;
    end->parked_active = (uint8_t)rogue_active(end->library);
    add_counts(&rogue->parked_counts, rogue_counts_of(end->library));
    for (unsigned qp = 0; qp < 2; qp++) {
        struct oche_qp_losses psns;

        oche_qp_losses(end->qps[qp], &psns);
        end->parked[qp].send_psn = psns.next;
        end->parked[qp].recv_psn = psns.epsn;
        end->parked[qp].epoch = rogue_epoch(end->library, qp);
        end->retransmitted += oche_qp_retransmitted_packets(end->qps[qp]);
        end->timeouts += oche_qp_timeouts(end->qps[qp]);
        oche_qp_destroy(end->qps[qp]);
        end->qps[qp] = NULL;
    }
    *(struct oche_rogue_parts **)end->parts = *unused;
    *unused = end->parts;
    end->parts = NULL;
    end->library = NULL;
    end->cq = NULL;
}

/* Parks ends whose time has come. An end that is not idle then has to wait once more. */
static void park_some(struct oche_rogue *rogue, oche_time now)
{
    struct oche_rogue_end *end;

    for (unsigned i = 0; i < AT_ONCE && (end = rogue->over_head) != NULL && end->park_after <= now;
         i++) {
        rogue->over_head = end->next_over;
        if (rogue->over_head == NULL)
            rogue->over_tail = NULL;
        end->over = false;
        if (is_idle(end))
            park(end);
        else
            oche_rogue_flows_over(end, now);
    }
}

struct oche_rogue_parts *oche_rogue_take_parts(struct oche_rogue_end *end, oche_time now)
{
    struct oche_rogue *rogue = end->rogue;
    struct oche_rogue_parts **unused = unused_of(end);
    struct oche_rogue_parts *parts;

    park_some(rogue, now);
    if (*unused == NULL)
        return oche_arena_take(&rogue->host->shard->arena, oche_rogue_parts_bytes(end));
    parts = *unused;
    *unused = *(struct oche_rogue_parts **)parts;
    return parts;
}
