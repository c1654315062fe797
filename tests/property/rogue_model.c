/* SPDX-License-Identifier: Apache-2.0 */
/* Two NICs and a message channel, below the two ends of a RoGUE connection. */
#include "tests/property/rogue_model.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/test.h"

#define MOST_STEPS  400000
#define LOST_STATUS 12
#define OTHER_ERROR 9
#define FLUSHED     5

uint64_t model_below(struct model *model, uint64_t n)
{
    return oche_random_below(&model->random, n);
}

bool model_chance(struct model *model, double p)
{
    return model->now < model->faults.until && oche_random_unit(&model->random) < p;
}

/* ---- events, earliest first ---- */

static bool comes_before(const struct model_event *a, const struct model_event *b)
{
    return a->at != b->at ? a->at < b->at : a->order < b->order;
}

void model_schedule(struct model *model, struct model_event event)
{
    unsigned at = model->heap_count++;

    MODEL_MUST(model, at < MODEL_EVENTS);
    event.order = model->order++;
    for (; at > 0 && comes_before(&event, &model->heap[(at - 1) / 2]); at = (at - 1) / 2)
        model->heap[at] = model->heap[(at - 1) / 2];
    model->heap[at] = event;
}

static struct model_event take(struct model *model)
{
    struct model_event first = model->heap[0], last = model->heap[--model->heap_count];
    unsigned at = 0, child;

    while ((child = 2 * at + 1) < model->heap_count) {
        if (child + 1 < model->heap_count &&
            comes_before(&model->heap[child + 1], &model->heap[child]))
            child++;
        if (!comes_before(&model->heap[child], &last))
            break;
        model->heap[at] = model->heap[child];
        at = child;
    }
    model->heap[at] = last;
    return first;
}

/* ---- the NIC ---- */

static struct model_qp *peer_of(struct model_end *end, unsigned qp)
{
    return &end->model->ends[1 - end->number].qps[qp];
}

static void complete(struct model_end *end, unsigned number, struct rogue_completion done)
{
    struct model *model = end->model;
    struct model_qp *qp = &end->qps[number];
    oche_time at = model->now + model_below(model, 30 * OCHE_US);

    MODEL_MUST(model, qp->last - qp->first < 2 * MODEL_DEPTH);
    done.qp = number;
    done.completed = model->now;
    qp->completions[qp->last++ % (2 * MODEL_DEPTH)] =
        (struct model_completion){.done = done, .slots = 1 + qp->silent};
    qp->silent = 0;
    if (at < qp->newest)
        at = qp->newest;
    qp->newest = at;
    model_schedule(model, (struct model_event){.at = at,
                                               .kind = MODEL_COMPLETED,
                                               .end = (uint8_t)end->number,
                                               .qp = (uint8_t)number});
}

/* `bytes` of a piece have arrived at their place; `all`: the piece is completely executed. */
static void deliver(struct model_end *end, const struct model_piece *piece, uint32_t bytes,
                    bool all)
{
    struct model_verb *verb = &end->verbs[piece->id];
    uint64_t from = verb->base + piece->piece.offset;
    uint64_t to = from + bytes + (all && piece->piece.last);

    if (piece->empty) /* the data arrived before */
        return;
    MODEL_MUST(end->model, from <= end->frontier); /* executed in order */
    if (verb->kind == ROGUE_SEND && all) {
        verb->executed++;
        MODEL_MUST(end->model, verb->executed == 1); /* received exactly once */
        end->model->ends[1 - end->number].messages.received++;
    }
    if (to > end->frontier)
        end->frontier = to;
    if (verb->kind == ROGUE_ATOMIC && all) {
        verb->executed++;
        MODEL_MUST(end->model, verb->executed == 1 || end->config.replay_atomics);
    }
}

static void flush_all(struct model_end *end, unsigned number)
{
    struct model_qp *qp = &end->qps[number];

    while (qp->head != qp->tail) {
        const struct model_piece *piece = &qp->queue[qp->head++ % (2 * MODEL_DEPTH)];
        complete(end, number,
                 (struct rogue_completion){
                     .number = piece->piece.number, .status = FLUSHED, .flushed = true});
    }
}

/* Part of a piece is in flight, and arrives after its queue pair has failed. */
static void haunt(struct model_end *end, unsigned number, const struct model_piece *piece,
                  uint32_t bytes, bool all)
{
    struct model *model = end->model;

    model->ghosts++;
    model_schedule(model, (struct model_event){.at = model->now + model_below(model, 3 * OCHE_MS),
                                               .kind = MODEL_GHOST,
                                               .end = (uint8_t)end->number,
                                               .qp = (uint8_t)number,
                                               .generation = peer_of(end, number)->generation,
                                               .number = piece->id,
                                               .offset = piece->piece.offset,
                                               .bytes = bytes,
                                               .last = piece->piece.last,
                                               .all = all});
}

/*
 * The peer takes the piece only if its queue pair has neither failed nor restarted meanwhile; after
 * a failure it has new PSNs. Otherwise its program has received no message behind the piece, so it
 * does not know that the memory is free. The sender's program must not assume this either, unless
 * verbs end at once (hold_ends: false).
 */
static void appear(struct model_end *end, const struct model_event *event)
{
    const struct model_piece piece = {.id = event->number,
                                      .piece = {.offset = event->offset, .last = event->last}};
    const struct model_qp *peer = peer_of(end, event->qp);

    if (peer->error || peer->generation != event->generation)
        return;
    const struct model_verb *verb = &end->verbs[event->number];
    end->model->ghosts_accepted++;
    end->model->ghosts_after_end += verb->ended && !end->failed;
    MODEL_MUST(end->model, !end->params.hold_ends || !verb->ended || end->failed);
    MODEL_MUST(end->model,
               verb->kind != ROGUE_WRITE ||
                   end->model->ends[1 - end->number].messages.received <= verb->messages_before);
    deliver(end, &piece, event->bytes, event->all);
}

/* Delivers a random part of the current piece, possibly all of it. */
static void deliver_some(struct model_end *end, unsigned number, const struct model_piece *piece)
{
    struct model *model = end->model;
    uint64_t part = model_below(model, 3);
    uint32_t bytes = piece->piece.bytes;

    if (part == 2 || piece->empty)
        return;
    if (part == 1)
        bytes = (uint32_t)model_below(model, (uint64_t)bytes + 1);
    model->partial += part == 1;
    if (model->faults.ghosts && end->verbs[piece->id].kind != ROGUE_READ)
        haunt(end, number, piece, bytes, part == 0);
    else
        deliver(end, piece, bytes, part == 0);
}

static void begin_next(struct model_end *end, unsigned number)
{
    struct model *model = end->model;
    struct model_qp *qp = &end->qps[number];

    if (qp->error || qp->head == qp->tail)
        return;
    model_schedule(model,
                   (struct model_event){.at = model->now + 1 + model_below(model, 20 * OCHE_US),
                                        .kind = MODEL_EXECUTED,
                                        .end = (uint8_t)end->number,
                                        .qp = (uint8_t)number,
                                        .generation = qp->generation});
}

static void piece_failed(struct model_end *end, unsigned number, const struct model_piece *piece,
                         int status)
{
    struct model_qp *qp = &end->qps[number];

    qp->error = true;
    qp->by_itself = true;
    end->model->at_once += peer_of(end, number)->error && peer_of(end, number)->by_itself;
    qp->generation++;
    complete(end, number,
             (struct rogue_completion){
                 .number = piece->piece.number, .status = status, .lost = status == LOST_STATUS});
    flush_all(end, number);
}

/* The piece at the head of the queue has been sent; its answer is due. */
static void executed(struct model_end *end, unsigned number)
{
    struct model *model = end->model;
    struct model_qp *qp = &end->qps[number];
    const struct model_qp *peer = peer_of(end, number);
    const struct model_piece piece = qp->queue[qp->head++ % (2 * MODEL_DEPTH)];

    if (peer->error || peer->recv_psn != qp->send_psn || peer->send_psn != qp->recv_psn) {
        piece_failed(end, number, &piece, LOST_STATUS); /* no queue pair receives it */
    } else if (model_chance(model, model->faults.error)) {
        piece_failed(end, number, &piece, OTHER_ERROR);
    } else if (model_chance(model, model->faults.piece_loss)) {
        model->losses++;
        deliver_some(end, number, &piece);
        piece_failed(end, number, &piece, LOST_STATUS);
    } else {
        deliver(end, &piece, piece.piece.bytes, true);
        if (piece.piece.signaled)
            complete(end, number,
                     (struct rogue_completion){.number = piece.piece.number, .success = true});
        else
            qp->silent++;
        begin_next(end, number);
    }
}

/* ---- the library's port ---- */

/* The peer's queue pair is ready for this one, or was, before it failed again. */
static bool peer_has_started(struct model_end *end, unsigned number)
{
    const struct model_end *peer = &end->model->ends[1 - end->number];
    const struct model_qp *qp = &end->qps[number], *peers = &peer->qps[number];

    return rogue_epoch(peer->rogue, number) > rogue_epoch(end->rogue, number) ||
           (qp->send_psn == peers->recv_psn && qp->recv_psn == peers->send_psn);
}

static bool post(void *context, unsigned number, const struct rogue_piece *piece)
{
    struct model_end *end = context;
    struct model *model = end->model;
    struct model_qp *qp = &end->qps[number];
    bool marker = piece->number == ROGUE_MARKER;
    const struct model_verb *of = &end->verbs[piece->verb->id];

    MODEL_MUST(model, marker || (number == rogue_active(end->rogue) && !qp->known));
    MODEL_MUST(model, !marker || (qp->error && piece->bytes == 0));
    MODEL_MUST(model, marker || peer_has_started(end, number));
    MODEL_MUST(model, !rogue_broken(end->rogue));
    if (!marker && model_messages_wait(end, number, piece->verb))
        return false;
    if (qp->slots == end->send_queue) {
        model->refused_posts++;
        return false;
    }
    qp->slots++;
    MODEL_MUST(model, qp->slots <= end->config.depth + marker);
    model->markers += marker;
    struct model_piece *queued = &qp->queue[qp->tail++ % (2 * MODEL_DEPTH)];
    *queued = (struct model_piece){.piece = *piece, .id = piece->verb->id};
    queued->piece.verb = NULL;
    queued->empty = !marker && model_messages_have(end, piece->verb);
    model->messages_kept += queued->empty;
    if (piece->verb->kind == ROGUE_SEND && end->messages.posted <= of->messages_before)
        end->messages.posted = of->messages_before + 1;
    if (qp->error)
        flush_all(end, number);
    else if (qp->tail - qp->head == 1)
        begin_next(end, number);
    return true;
}

static void limit(void *context, unsigned qp, uint64_t bps)
{
    struct model_end *end = context;

    MODEL_MUST(end->model, qp == rogue_active(end->rogue) && !end->qps[qp].known);
    MODEL_MUST(end->model, bps >= end->params.least_rate && bps <= end->config.line_rate_bps);
}

static uint64_t line_bytes(void *context, const struct rogue_piece *piece, uint64_t *last_packet)
{
    (void)context;
    *last_packet = piece->bytes + 78;
    return piece->bytes + 78;
}

static void ended(void *context, const struct rogue_verb *verb, enum rogue_outcome outcome,
                  int status)
{
    struct model_end *end = context;
    struct model *model = end->model;

    MODEL_MUST(model, verb->id == end->ended && end->ended < end->posted);
    struct model_verb *of = &end->verbs[end->ended++];
    MODEL_MUST(model, !of->ended);
    of->ended = true;
    end->messages.ended += of->kind == ROGUE_SEND;
    if (end->messages.posted < end->messages.ended)
        end->messages.posted = end->messages.ended;
    if (outcome == ROGUE_DONE) {
        MODEL_MUST(model, !end->failed && status == 0);
        MODEL_MUST(model, end->frontier >= of->base + of->bytes + 1);
        MODEL_MUST(model, of->kind != ROGUE_ATOMIC || of->executed > 0);
    } else {
        bool first = !end->failed && !of->late;
        MODEL_MUST(model, (outcome == ROGUE_FAILED) == first && (status != 0) == first);
        end->failed = true;
    }
}

static void fail_qp(void *context, unsigned number)
{
    struct model_end *end = context;
    struct model_qp *qp = &end->qps[number];

    qp->known = true;
    if (qp->error)
        return;
    if (qp->head != qp->tail && end->model->now < end->model->faults.until)
        deliver_some(end, number, &qp->queue[qp->head % (2 * MODEL_DEPTH)]);
    qp->error = true;
    qp->generation++;
    flush_all(end, number);
}

static void restart(void *context, unsigned number, uint32_t send_psn, uint32_t recv_psn)
{
    struct model_end *end = context;
    struct model_qp *qp = &end->qps[number];

    MODEL_MUST(end->model, qp->error);
    MODEL_MUST(end->model, qp->known);
    MODEL_MUST(end->model, qp->first == qp->last && qp->head == qp->tail); /* rogue.md#r13 */
    qp->error = qp->known = qp->by_itself = false;
    qp->send_psn = send_psn;
    qp->recv_psn = recv_psn;
    qp->slots = qp->silent = 0;
    qp->generation++;
}

static uint32_t new_psn(void *context, unsigned qp, uint32_t epoch)
{
    struct model_end *end = context;

    (void)qp;
    (void)epoch;
    return (uint32_t)oche_random_u64(&end->model->random);
}

static void send(struct model *model, unsigned to, const struct rogue_resync *message,
                 oche_time delay)
{
    model_schedule(model, (struct model_event){.at = model->now + delay,
                                               .kind = MODEL_HEARD,
                                               .end = (uint8_t)to,
                                               .message = *message});
}

static void tell(void *context, const struct rogue_resync *message)
{
    struct model_end *end = context;
    struct model *model = end->model;

    MODEL_MUST(model, message->token == end->config.token && message->qp < 2);
    end->told[end->told_count++ % MODEL_TOLD] = *message;
    while (!model->faults.silence && !model_chance(model, model->faults.message_loss)) {
        bool late = model_chance(model, 0.2);
        send(model, 1 - end->number, message,
             OCHE_US + model_below(model, late ? 5 * OCHE_MS : 20 * OCHE_US));
        if (!model_chance(model, model->faults.message_double))
            break;
    }
}

static const struct rogue_port port = {
    .post = post,
    .limit = limit,
    .limit_reads = limit,
    .line_bytes = line_bytes,
    .ended = ended,
    .fail = fail_qp,
    .restart = restart,
    .new_psn = new_psn,
    .tell = tell,
};

/* ---- making and running ---- */

void model_init(struct model *model, uint64_t seed)
{
    memset(model, 0, sizeof(*model));
    model->seed = seed;
    model->random = oche_random_stream(seed, "rogue worlds", 0);
    model->faults.close = OCHE_NEVER;
    uint64_t token = oche_random_u64(&model->random);
    for (unsigned i = 0; i < 2; i++) {
        struct model_end *end = &model->ends[i];

        end->model = model;
        end->number = i;
        oche_param_defaults(&rogue_param_table, &end->params);
        end->config = (struct rogue_config){
            .params = &end->params,
            .port = &port,
            .context = end,
            .token = token,
            .status_lost = LOST_STATUS,
            .line_rate_bps = 10 * OCHE_GBPS,
            .peer_line_rate_bps = 10 * OCHE_GBPS,
            .mtu_bytes = 1024,
            .depth = MODEL_DEPTH,
        };
        end->messages.known = true;
    }
}

void model_add_verb(struct model_end *end, enum rogue_verb_kind kind, uint32_t bytes, bool signaled)
{
    MODEL_MUST(end->model, end->verb_count < MODEL_VERBS);
    end->verbs[end->verb_count++] = (struct model_verb){
        .bytes = bytes,
        .kind = (uint8_t)kind,
        .signaled = signaled,
        .base = end->end,
        .messages_before = end->message_count,
    };
    end->message_count += kind == ROGUE_SEND;
    end->end += bytes + 1;
}

void model_open(struct model *model)
{
    for (unsigned i = 0; i < 2; i++) {
        struct model_end *end = &model->ends[i];
        void *memory = malloc(rogue_connection_bytes(&end->config));

        assert_non_null(memory);
        end->rogue = rogue_connection_create(memory, &end->config);
        model_schedule(model, (struct model_event){.kind = MODEL_POSTING, .end = (uint8_t)i});
    }
    if (model->faults.forgery > 0)
        model_schedule(model, (struct model_event){.kind = MODEL_FORGERY});
    if (model->faults.close != OCHE_NEVER)
        model_schedule(model, (struct model_event){.at = model->faults.close,
                                                   .kind = MODEL_CLOSE,
                                                   .end = (uint8_t)model_below(model, 2)});
}

void model_close(struct model *model)
{
    for (unsigned i = 0; i < 2; i++)
        free(model->ends[i].rogue);
}

static void post_some(struct model_end *end)
{
    struct model *model = end->model;
    uint64_t count = 1 + model_below(model, 10);

    while (end->posted < end->verb_count && count-- > 0) {
        struct model_verb *of = &end->verbs[end->posted];
        struct rogue_verb verb = {.id = end->posted,
                                  .bytes = of->bytes,
                                  .kind = of->kind,
                                  .signaled = of->signaled,
                                  .whole = of->bytes < 200 || of->kind == ROGUE_SEND};
        end->posted++;
        of->late = rogue_broken(end->rogue);
        if (!rogue_post(end->rogue, &verb, model->now)) {
            end->posted--;
            break;
        }
    }
    if (end->posted < end->verb_count)
        model_schedule(model,
                       (struct model_event){.at = model->now + model_below(model, 200 * OCHE_US),
                                            .kind = MODEL_POSTING,
                                            .end = (uint8_t)end->number});
}

static void poll(struct model_end *end, unsigned number)
{
    struct model_qp *qp = &end->qps[number];

    MODEL_MUST(end->model, qp->first != qp->last);
    struct model_completion next = qp->completions[qp->first++ % (2 * MODEL_DEPTH)];

    qp->slots -= next.slots;
    qp->known |= !next.done.success;
    rogue_completed(end->rogue, &next.done, end->model->now);
}

/* A stranger who has heard earlier messages, but does not know the token. */
static void forge(struct model *model)
{
    unsigned to = (unsigned)model_below(model, 2);
    const struct model_end *from = &model->ends[1 - to];
    unsigned known = from->told_count < MODEL_TOLD ? from->told_count : MODEL_TOLD;
    struct rogue_resync message = {.kind = (uint8_t)model_below(model, 5),
                                   .qp = (uint8_t)model_below(model, 4),
                                   .epoch = rogue_epoch(model->ends[to].rogue, 0),
                                   .psn = (uint32_t)model_below(model, 1 << 24),
                                   .token = oche_random_u64(&model->random)};

    message.epoch += (uint32_t)model_below(model, 4) - 1;
    if (known > 0 && model_below(model, 2) == 0) {
        message = from->told[model_below(model, known)];
        model->late_replays++;
    } else if (model_below(model, 2) == 0) {
        /* the token is right, but the message is impossible */
        message.token = from->config.token;
        message.qp |= 2;
    }
    model->forged++;
    rogue_told(model->ends[to].rogue, &message, model->now);
    if (model_chance(model, 1))
        model_schedule(
            model, (struct model_event){
                       .at = model->now + model_below(model, (oche_time)((double)OCHE_MS /
                                                                         model->faults.forgery)),
                       .kind = MODEL_FORGERY});
}

/* The application closes its end during the run. Its driver may inform the peer. */
static void close_end(struct model_end *end)
{
    struct model *model = end->model;

    rogue_fail(end->rogue, OTHER_ERROR);
    MODEL_MUST(model, end->ended == end->posted);
    if (model->faults.farewell)
        model_schedule(model, (struct model_event){.at = model->now + model_below(model, OCHE_MS),
                                                   .kind = MODEL_GONE,
                                                   .end = (uint8_t)(1 - end->number)});
}

static void handle(struct model *model, const struct model_event *event)
{
    struct model_end *end = &model->ends[event->end];

    switch (event->kind) {
    case MODEL_EXECUTED:
        if (event->generation == end->qps[event->qp].generation)
            executed(end, event->qp);
        break;
    case MODEL_COMPLETED:
        poll(end, event->qp);
        break;
    case MODEL_HEARD:
        rogue_told(end->rogue, &event->message, model->now);
        break;
    case MODEL_POSTING:
        post_some(end);
        break;
    case MODEL_FORGERY:
        forge(model);
        break;
    case MODEL_GHOST:
        appear(end, event);
        break;
    case MODEL_CLOSE:
        close_end(end);
        break;
    case MODEL_GONE:
        rogue_fail(end->rogue, LOST_STATUS);
        break;
    default:
        model_messages_event(end, event);
    }
}

void model_run(struct model *model)
{
    for (;;) {
        oche_time timers[2] = {rogue_next(model->ends[0].rogue), rogue_next(model->ends[1].rogue)};
        oche_time timer = oche_time_min(timers[0], timers[1]);

        MODEL_MUST(model, model->steps++ < MOST_STEPS);
        if (model->heap_count > 0 && model->heap[0].at <= timer) {
            struct model_event event = take(model);
            MODEL_MUST(model, event.at >= model->now);
            model->now = event.at;
            handle(model, &event);
        } else if (timer != OCHE_NEVER) {
            model->now = timer > model->now ? timer : model->now;
            rogue_expire(model->ends[timers[0] <= timers[1] ? 0 : 1].rogue, model->now);
        } else {
            return;
        }
    }
}
