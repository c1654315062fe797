/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host latencies below the library (sim/network/host_latency.h): its posts reach the NIC later, and
 * it has completions later. The NIC's time stamp of a completion is the time at which the NIC has
 * written it, which is after the data that belongs to it.
 */
#include "core/qp/nic.h"
#include "sim/endpoint/rogue/rogue_host.h"

/* A work request on its way to the NIC. */
struct oche_rogue_posted {
    struct oche_rogue_posted *next; /* in rogue->unused_posted */
    struct oche_rogue_end *end;     /* NULL: of the datagrams' queue pair */
    unsigned qp;
    uint32_t restarts; /* of the queue pair before the post */
    struct oche_send_work work;
    struct oche_destination to; /* of a datagram */
};

/* ---- posts ---- */

static struct oche_rogue_posted *take_posted(struct oche_rogue *rogue)
{
    struct oche_rogue_posted *posted = rogue->unused_posted;

    if (posted == NULL)
        return oche_arena_take(&rogue->host->shard->arena, sizeof(*posted));
    rogue->unused_posted = posted->next;
    return posted;
}

/* Returns when the NIC has work that is posted now. */
static oche_time at_nic(const struct oche_rogue *rogue, const struct oche_send_work *work)
{
    const bool sends =
        work->opcode != OCHE_WORK_READ && work->sge_count > 0 && work->sge[0].length > 0;

    return rogue->now + oche_latency_of_post(rogue->host->latency, sends);
}

static void defer(struct oche_rogue *rogue, struct oche_rogue_posted *posted, oche_time until)
{
    oche_host_defer(rogue->host, &(struct oche_deferred){
                                     .until = until, .object = posted, .kind = OCHE_DEFERRED_POST});
}

bool oche_rogue_post_work(struct oche_rogue_end *end, unsigned qp,
                          const struct oche_send_work *work)
{
    struct oche_rogue *rogue = end->rogue;

    if (OCHE_LIKELY(rogue->host->latency == NULL))
        return oche_qp_post_send(end->qps[qp], work) == 0;
    if (oche_qp_send_room(end->qps[qp]) <= end->on_way[qp])
        return false;
    struct oche_rogue_posted *posted = take_posted(rogue);

    *posted = (struct oche_rogue_posted){
        .end = end, .qp = qp, .restarts = end->restarts[qp], .work = *work};
    /* an empty WRITE is not before the data that was posted before it */
    end->at_nic[qp] = oche_time_max(end->at_nic[qp], at_nic(rogue, work));
    end->on_way[qp]++;
    defer(rogue, posted, end->at_nic[qp]);
    return true;
}

void oche_rogue_post_datagram(struct oche_rogue *rogue, const struct oche_send_work *work)
{
    /* if there is no room, the datagram is lost, and repeated later */
    if (OCHE_LIKELY(rogue->host->latency == NULL)) {
        oche_qp_post_send(rogue->datagrams, work);
        return;
    }
    struct oche_rogue_posted *posted = take_posted(rogue);

    *posted = (struct oche_rogue_posted){.work = *work, .to = *work->to};
    posted->work.to = &posted->to;
    defer(rogue, posted, at_nic(rogue, work));
}

/* The NIC has what was posted, unless the queue pair has been reset meanwhile. */
static void reach_nic(struct oche_rogue *rogue, struct oche_rogue_posted *posted)
{
    struct oche_rogue_end *end = posted->end;

    if (end == NULL) {
        oche_qp_post_send(rogue->datagrams, &posted->work);
    } else if (posted->restarts == end->restarts[posted->qp]) {
        const int failed = oche_qp_post_send(end->qps[posted->qp], &posted->work);

        OCHE_MUST(failed == 0);
        end->on_way[posted->qp]--;
    }
    posted->next = rogue->unused_posted;
    rogue->unused_posted = posted;
}

void oche_rogue_forget_posts(struct oche_rogue_end *end, unsigned qp)
{
    end->restarts[qp]++;
    end->on_way[qp] = 0;
    end->at_nic[qp] = 0;
}

bool oche_rogue_awaits_host(const struct oche_rogue_end *end)
{
    return end->on_way[0] > 0 || end->on_way[1] > 0 || end->look_at != OCHE_NEVER;
}

/* ---- completions ---- */

oche_time oche_rogue_written(const struct oche_rogue *rogue, const struct oche_completion *done)
{
    const bool has_data =
        done->status == OCHE_STATUS_SUCCESS &&
        (done->opcode == OCHE_DONE_READ || (done->opcode >= OCHE_DONE_RECV && done->bytes > 0));

    return rogue->host->latency == NULL || !has_data ? done->time
                                                     : done->time + rogue->host->latency->dma;
}

static oche_time known_at(const struct oche_rogue *rogue, const struct oche_completion *done)
{
    return oche_rogue_written(rogue, done) + rogue->host->latency->completion;
}

unsigned oche_rogue_take_completions(const struct oche_rogue *rogue, struct oche_cq *cq,
                                     struct oche_completion *out, unsigned max)
{
    uint32_t count;

    if (OCHE_LIKELY(rogue->host->latency == NULL))
        return oche_cq_poll(cq, out, max);
    const struct oche_completion *first = oche_cq_peek(cq, &count);

    return first == NULL || known_at(rogue, first) > rogue->now ? 0 : oche_cq_poll(cq, out, 1);
}

void oche_rogue_await_completions(struct oche_rogue *rogue, struct oche_cq *cq,
                                  struct oche_rogue_end *end)
{
    oche_time *look_at = end == NULL ? &rogue->datagrams_look_at : &end->look_at;
    uint32_t count;
    const struct oche_completion *first =
        rogue->host->latency == NULL ? NULL : oche_cq_peek(cq, &count);

    if (first == NULL) {
        oche_cq_arm(cq, false);
        return;
    }
    if (*look_at != OCHE_NEVER)
        return;
    *look_at = oche_time_max(rogue->now, known_at(rogue, first));
    oche_host_defer(rogue->host, &(struct oche_deferred){.until = *look_at,
                                                         .object = end,
                                                         .kind = OCHE_DEFERRED_COMPLETION});
}

/* ---- for the host ---- */

void oche_rogue_deferred(void *state, const struct oche_deferred *due, oche_time now)
{
    struct oche_rogue *rogue = state;
    struct oche_rogue_end *end = due->object;

    rogue->now = now;
    if (due->kind == OCHE_DEFERRED_POST) {
        reach_nic(rogue, due->object);
        return;
    }
    if (end == NULL) {
        rogue->datagrams_look_at = OCHE_NEVER;
        rogue->datagram_waits = true;
    } else {
        end->look_at = OCHE_NEVER;
        oche_rogue_wait_for_poll(end);
    }
    oche_rogue_poll(rogue, now);
}

/* Rates of READs travel as empty WRITEs on the queue pairs of the READs, and stay in order. */
bool oche_rogue_reads_memory(const void *state, const struct oche_packet *packet)
{
    const struct oche_rogue *rogue = state;

    return rogue->params->verb == OCHE_ROGUE_READS && packet->kind == OCHE_PACKET_ROCE &&
           packet->dest_qpn >= OCHE_FIRST_QPN && oche_opcode_has(packet->opcode, OCHE_OP_REQUEST);
}
