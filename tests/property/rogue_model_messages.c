/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The model's protocol against receiving a message twice, as in rogue/verbs. An answer is valid
 * only once the peer's failed queue pair takes no more packets. Repeated questions get the same
 * answer.
 */
#include "tests/property/rogue_model.h"
#include "tests/support/test.h"

#define AGAIN (300 * OCHE_US)

static const struct model_verb *verb_of(const struct model_end *end, const struct rogue_verb *verb)
{
    return &end->verbs[verb->id];
}

/* Sends a question or an answer; it may be lost. */
static void send(struct model_end *end, struct model_event event)
{
    struct model *model = end->model;

    if (model->faults.silence || model_chance(model, model->faults.message_loss))
        return;
    event.at = model->now + OCHE_US + model_below(model, 50 * OCHE_US);
    event.end = (uint8_t)(1 - end->number);
    model_schedule(model, event);
}

static void ask(struct model_end *end)
{
    struct model_messages *m = &end->messages;

    m->asking = true;
    send(end, (struct model_event){.kind = MODEL_ASKED,
                                   .qp = (uint8_t)m->qp,
                                   .serial = m->serial,
                                   .epoch = rogue_epoch(end->rogue, 1 - m->qp)});
    model_schedule(end->model, (struct model_event){.at = end->model->now + AGAIN,
                                                    .kind = MODEL_ASK_AGAIN,
                                                    .end = (uint8_t)end->number,
                                                    .serial = m->serial});
}

bool model_messages_wait(struct model_end *end, unsigned qp, const struct rogue_verb *verb)
{
    struct model_messages *m = &end->messages;
    uint32_t epoch = rogue_epoch(end->rogue, qp);

    if (qp != m->qp || epoch != m->epoch) {
        m->qp = qp;
        m->epoch = epoch;
        m->serial++;
        m->known = m->asking = false;
    }
    if (m->known || (verb->kind != ROGUE_SEND && m->posted == m->ended))
        return false;
    if (!m->asking)
        ask(end);
    return true;
}

bool model_messages_have(const struct model_end *end, const struct rogue_verb *verb)
{
    return (verb->kind == ROGUE_SEND || verb->kind == ROGUE_WRITE) &&
           verb_of(end, verb)->messages_before < end->messages.peer_received;
}

static void asked(struct model_end *end, const struct model_event *event)
{
    struct model_messages *m = &end->messages;
    const struct model_qp *failed = &end->qps[1 - event->qp];

    if (rogue_broken(end->rogue) || (int32_t)(event->serial - m->told_serial) < 0)
        return;
    if (event->serial != m->told_serial) {
        /* Too early if the failed queue pair could still receive. */
        if (end->qps[event->qp].error ||
            (!failed->error && rogue_epoch(end->rogue, 1 - event->qp) != event->epoch))
            return;
        m->told_serial = event->serial;
        m->told_received = m->received;
    }
    send(end, (struct model_event){
                  .kind = MODEL_COUNTED, .serial = event->serial, .number = m->told_received});
}

static void counted(struct model_end *end, const struct model_event *event)
{
    struct model_messages *m = &end->messages;

    if (m->known || event->serial != m->serial || rogue_broken(end->rogue))
        return;
    MODEL_MUST(end->model, event->number >= m->ended && event->number <= m->posted);
    m->known = true;
    m->tries = 0;
    m->peer_received = event->number;
    rogue_pump(end->rogue, end->model->now);
}

void model_messages_event(struct model_end *end, const struct model_event *event)
{
    switch (event->kind) {
    case MODEL_ASKED:
        asked(end, event);
        break;
    case MODEL_COUNTED:
        counted(end, event);
        break;
    default:
        if (end->messages.known || end->messages.serial != event->serial ||
            rogue_broken(end->rogue))
            return;
        if (++end->messages.tries > end->params.resync_tries)
            rogue_fail(end->rogue, end->config.status_lost);
        else
            ask(end);
    }
}
