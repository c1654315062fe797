/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/cm_pair.h"

#include <string.h>

#include "tests/support/test.h"

static void send(void *context, const uint8_t *local_gid, const uint8_t *remote_gid,
                 const uint8_t *mad)
{
    struct cm_pair_end *end = context;
    struct cm_pair *pair = end->pair;
    const unsigned from = (unsigned)(end - pair->ends);
    struct oche_cm_message message;
    unsigned copies = 1;

    assert_memory_equal(local_gid, end->gid, OCHE_CM_GID_BYTES);
    assert_memory_equal(remote_gid, pair->ends[!from].gid, OCHE_CM_GID_BYTES);
    assert_int_equal(oche_cm_read(mad, OCHE_MAD_BYTES, &message), OCHE_CM_OK);
    if (end->dead || (pair->filter != NULL && !pair->filter(pair, from, &message)))
        return;
    if (oche_random_below(&pair->random, 100) < pair->lose_percent)
        return;
    if (oche_random_below(&pair->random, 100) < pair->repeat_percent)
        copies = 2;
    for (unsigned i = 0; i < CM_PAIR_MESSAGES && copies > 0; i++) {
        struct cm_pair_message *place = &pair->messages[i];

        if (place->used)
            continue;
        place->used = true;
        place->to = !from;
        place->at = pair->now + pair->delay +
                    (pair->reorder ? oche_random_below(&pair->random, 4 * pair->delay + 1) : 0);
        memcpy(place->from_gid, end->gid, OCHE_CM_GID_BYTES);
        memcpy(place->mad, mad, OCHE_MAD_BYTES);
        copies--;
    }
    assert_int_equal(copies, 0);
}

static struct cm_pair_conn *fresh(struct cm_pair_end *end)
{
    for (unsigned i = 0; i < CM_PAIR_CONNS; i++)
        if (!end->conns[i].used) {
            end->conns[i] = (struct cm_pair_conn){.end = end, .used = true};
            end->conns[i].conn.owner = &end->conns[i];
            return &end->conns[i];
        }
    fail_msg("%d connections are not enough", CM_PAIR_CONNS);
    return NULL;
}

static struct oche_cm_conn *incoming(void *context, const uint8_t *local_gid,
                                     const uint8_t *remote_gid,
                                     const struct oche_cm_message *request, uint16_t *reason)
{
    struct cm_pair_end *end = context;

    assert_memory_equal(local_gid, end->gid, OCHE_CM_GID_BYTES);
    assert_memory_equal(remote_gid, end->pair->ends[end == end->pair->ends].gid, OCHE_CM_GID_BYTES);
    if (end->plan == CM_PAIR_REFUSE) {
        *reason = request->kind == OCHE_CM_REQ ? OCHE_CM_REASON_INVALID_SERVICE
                                               : OCHE_CM_SIDR_UNSUPPORTED;
        return NULL;
    }
    return &fresh(end)->conn;
}

static void requested(struct cm_pair_end *end, struct cm_pair_conn *conn,
                      const struct oche_cm_message *request)
{
    struct oche_cm_message answer = {.qpn = 0x200 + (uint32_t)(conn - end->conns),
                                     .starting_psn = 7,
                                     .private_bytes = 3,
                                     .local_response_timeout = request->local_response_timeout,
                                     .max_cm_retries = request->max_cm_retries};

    memcpy(answer.private_data, "yes", 3);
    if (request->kind == OCHE_CM_SIDR_REQ) {
        answer.status = end->plan == CM_PAIR_REJECT ? OCHE_CM_SIDR_REJECTED : OCHE_CM_SIDR_OK;
        if (end->plan != CM_PAIR_WAIT)
            assert_true(oche_cm_tell(&end->cm, end->pair->now, &conn->conn, &answer));
    } else if (end->plan == CM_PAIR_ACCEPT) {
        assert_true(oche_cm_accept(&end->cm, end->pair->now, &conn->conn, &answer));
    } else if (end->plan == CM_PAIR_REJECT) {
        answer.reason = OCHE_CM_REASON_CONSUMER;
        memcpy(answer.private_data, "no!", 3);
        assert_true(oche_cm_reject(&end->cm, end->pair->now, &conn->conn, &answer));
    }
}

static void event(void *context, struct oche_cm_conn *core, const struct oche_cm_news *news)
{
    struct cm_pair_end *end = context;
    struct cm_pair_conn *conn = core->owner;
    struct oche_cm_message message = {.private_bytes = 0};

    assert_ptr_equal(conn->end, end);
    assert_true(conn->used && conn->event_count < CM_PAIR_EVENTS);
    conn->events[conn->event_count++] = news->event;
    if (news->message != NULL) {
        conn->reason = news->message->reason;
        memcpy(conn->private_data, news->message->private_data, sizeof(conn->private_data));
    }
    if (news->event == OCHE_CM_REQUESTED)
        requested(end, conn, news->message);
    else if (news->event == OCHE_CM_ANSWERED && core->state == OCHE_CM_REP_RCVD && !end->no_rtu)
        assert_true(oche_cm_confirm(&end->cm, end->pair->now, core, &message));
    else if (news->event == OCHE_CM_DISCONNECTED && core->state == OCHE_CM_DREQ_RCVD &&
             !end->keeps_dreq)
        assert_true(oche_cm_disconnect(&end->cm, end->pair->now, core));
}

static uint64_t draw(void *context)
{
    return oche_random_u64(&((struct cm_pair_end *)context)->random);
}

void cm_pair_init(struct cm_pair *pair, uint64_t seed)
{
    memset(pair, 0, sizeof(*pair));
    pair->delay = OCHE_MS;
    pair->random = oche_random_stream(seed, "cm wire", 0);
    for (unsigned i = 0; i < 2; i++) {
        struct cm_pair_end *end = &pair->ends[i];
        const struct oche_cm_hooks hooks = {
            .send = send, .incoming = incoming, .event = event, .random = draw, .context = end};

        end->pair = pair;
        end->gid[15] = (uint8_t)(10 + i);
        end->random = oche_random_stream(seed, "cm end", i);
        oche_cm_init(&end->cm, &hooks, 100 + i, 1 + i, 6);
    }
}

struct cm_pair_conn *cm_pair_connect(struct cm_pair *pair, uint32_t qpn)
{
    struct cm_pair_conn *conn = fresh(&pair->ends[0]);
    struct oche_cm_message request = {.service_id = oche_cma_service(OCHE_CMA_TCP, 7174),
                                      .qpn = qpn,
                                      .mtu = 5,
                                      .remote_response_timeout = OCHE_CM_RESPONSE_TIMEOUT,
                                      .local_response_timeout = OCHE_CM_RESPONSE_TIMEOUT,
                                      .max_cm_retries = OCHE_CM_RETRIES};

    assert_true(oche_cm_connect(&pair->ends[0].cm, pair->now, &conn->conn, pair->ends[0].gid,
                                pair->ends[1].gid, &request));
    return conn;
}

struct cm_pair_conn *cm_pair_nth(struct cm_pair *pair, unsigned end, unsigned n)
{
    for (unsigned i = 0; i < CM_PAIR_CONNS; i++)
        if (pair->ends[end].conns[i].used && n-- == 0)
            return &pair->ends[end].conns[i];
    return NULL;
}

/* Returns the message that arrives first, or NULL. */
static struct cm_pair_message *first_message(struct cm_pair *pair)
{
    struct cm_pair_message *first = NULL;

    for (unsigned i = 0; i < CM_PAIR_MESSAGES; i++)
        if (pair->messages[i].used && (first == NULL || pair->messages[i].at < first->at))
            first = &pair->messages[i];
    return first;
}

void cm_pair_run(struct cm_pair *pair, oche_time until)
{
    for (;;) {
        struct cm_pair_message *message = first_message(pair);
        oche_time at = message != NULL ? message->at : OCHE_NEVER;

        for (unsigned i = 0; i < 2; i++) {
            const oche_time due = oche_cm_due(&pair->ends[i].cm);

            at = due < at ? due : at;
        }
        if (at == OCHE_NEVER || at > until)
            break;
        pair->now = at > pair->now ? at : pair->now;
        for (unsigned i = 0; i < 2; i++)
            oche_cm_tick(&pair->ends[i].cm, pair->now);
        if (message != NULL && message->at <= pair->now) {
            struct cm_pair_message copy = *message;
            struct cm_pair_end *end = &pair->ends[copy.to];

            message->used = false;
            if (!end->dead)
                oche_cm_arrive(&end->cm, pair->now, end->gid, copy.from_gid, copy.mad,
                               sizeof(copy.mad));
        }
    }
    pair->now = until != OCHE_NEVER && until > pair->now ? until : pair->now;
}

bool cm_pair_had(const struct cm_pair_conn *conn, const enum oche_cm_event *events, unsigned count)
{
    return conn != NULL && conn->event_count == count &&
           memcmp(conn->events, events, count * sizeof(*events)) == 0;
}
