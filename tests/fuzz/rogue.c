/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer target: any messages from a peer's RoGUE library, and immediate data, while a program
 * posts verbs and queue pairs fail. Every verb must end once and in order, nothing may be posted on
 * a queue pair that is in error, and a message that is read must be written as it was.
 * tools/fuzz 60 rogue runs it.
 *
 * The real files are rogue/ and rogue/verbs/messages.c; what those need of the library is at the
 * end of this file.
 */
#include "rogue/verbs/internal.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/target.h"

#define MOST_STEPS 400
#define DEPTH      16
#define MOST_LEFT  4096 /* pieces on a queue pair */
#define TOKEN      UINT64_C(0x0123456789abcdef)

/* A queue pair of the NIC: what is posted on it, oldest first. */
struct nic_qp {
    bool error;
    uint64_t numbers[MOST_LEFT];
    bool signaled[MOST_LEFT];
    unsigned first, end;
};

static struct nic_qp nic[2];
static struct rogue_params params;
static struct rv_qp qp;
static oche_time now;
static uint64_t posted, ended;
static bool failed;
static const char *wrong;

static void must(bool holds, const char *what)
{
    if (!holds && wrong == NULL)
        wrong = what;
}

/* ---- the driver ---- */

static bool post(void *context, unsigned side, const struct rogue_piece *piece)
{
    struct nic_qp *one = &nic[side];

    (void)context;
    if (one->end - one->first == DEPTH || one->end == MOST_LEFT)
        return false;
    must(one->error == (piece->number == ROGUE_MARKER), "posted on a queue pair in error");
    one->numbers[one->end] = piece->number;
    one->signaled[one->end++] = piece->signaled;
    return true;
}

static void limit(void *context, unsigned side, uint64_t bps)
{
    (void)context;
    must(side < 2 && bps > 0, "a limit of nothing");
}

static uint64_t line_bytes(void *context, const struct rogue_piece *piece, uint64_t *last_packet)
{
    (void)context;
    *last_packet = piece->bytes % 1024 + 60;
    return piece->bytes + 60;
}

static void end_verb(void *context, const struct rogue_verb *verb, enum rogue_outcome outcome,
                     int status)
{
    (void)context;
    (void)status;
    must(verb->id == ended && ended < posted, "a verb ended twice or out of order");
    must(!failed || outcome == ROGUE_FLUSHED, "a verb ended well after one that failed");
    failed = failed || outcome != ROGUE_DONE;
    ended++;
}

static void fail(void *context, unsigned side)
{
    (void)context;
    nic[side].error = true;
}

static void restart(void *context, unsigned side, uint32_t send_psn, uint32_t recv_psn)
{
    (void)context;
    must(nic[side].error, "a queue pair that works was restarted");
    must(nic[side].first == nic[side].end, "restarted before all was flushed");
    must(send_psn <= OCHE_PSN_MASK && recv_psn <= OCHE_PSN_MASK, "a PSN of more than 24 bits");
    nic[side].error = false;
    nic[side].first = nic[side].end = 0;
}

static uint32_t new_psn(void *context, unsigned side, uint32_t epoch)
{
    (void)context;
    return UINT32_C(0xab000000) + epoch * 16 + side;
}

static void answer(void *context, uint32_t imm)
{
    (void)context;
    (void)imm;
}

static void tell(void *context, const struct rogue_resync *message)
{
    (void)context;
    must(message->qp < 2 && message->token == TOKEN, "told something else");
}

static const struct rogue_port port = {.post = post,
                                       .limit = limit,
                                       .limit_reads = limit,
                                       .line_bytes = line_bytes,
                                       .ended = end_verb,
                                       .fail = fail,
                                       .restart = restart,
                                       .new_psn = new_psn,
                                       .answer = answer,
                                       .tell = tell};

/* ---- steps ---- */

static void post_verb(struct fuzz_input *input)
{
    const uint8_t what = fuzz_byte(input);
    const bool uc = params.transport == ROGUE_UC;
    const struct rogue_verb verb = {.id = posted,
                                    .bytes = (uint32_t)fuzz_number(input, 2) << what % 8,
                                    .kind = (uint8_t)(uc ? ROGUE_WRITE : what / 8 % 4),
                                    .signaled = what >= 128};

    posted++;
    if (!rogue_post(qp.rogue, &verb, now))
        posted--;
}

/* The next completion of a queue pair, if there is one. */
static void complete(unsigned side, bool lose)
{
    struct nic_qp *one = &nic[side];
    struct rogue_completion done = {.qp = side, .completed = now};
    unsigned at = one->first;

    if (at == one->end)
        return;
    lose = lose && !one->error && params.transport == ROGUE_RC;
    while (!one->error && !lose && at + 1 < one->end && !one->signaled[at])
        at++;
    if (!one->error && !lose && !one->signaled[at])
        return;
    done.number = one->numbers[at];
    done.success = !one->error && !lose;
    done.lost = lose;
    done.flushed = one->error;
    done.status = done.success ? 0 : lose ? 12 : 5;
    one->first = at + 1;
    one->error |= lose;
    rogue_completed(qp.rogue, &done, now);
}

/* A message as the peer's library would send it, with any values. */
static void told(struct fuzz_input *input)
{
    const struct sockaddr_in6 from = {.sin6_family = AF_INET6};
    const uint8_t what = fuzz_byte(input), values = fuzz_byte(input);
    uint8_t bytes[RV_MOST_MESSAGE];
    struct rv_message message = {.kind = (uint8_t)(RV_ASK + what % RV_GONE),
                                 .side = what / 8 % 2,
                                 .from_qpn = 2,
                                 .to_qpn = 1,
                                 .token = TOKEN,
                                 .serial = values,
                                 .number = fuzz_number(input, values % 9)};

    message.limits_rates = message.kind <= RV_ANSWER && what >= 128;
    message.shadow_qpn = (uint32_t)message.number;

    message.resync =
        (struct rogue_resync){.kind = (uint8_t)(1 + values % 3),
                              .qp = message.side,
                              .epoch = rogue_epoch(qp.rogue, message.side) + values / 4 % 4 - 1,
                              .psn = (uint32_t)message.number & OCHE_PSN_MASK,
                              .token = TOKEN};
    rv_told(&from, bytes, rv_message_encode(&message, bytes));
}

/* Bytes without any known content. */
static void heard(struct fuzz_input *input)
{
    const struct sockaddr_in6 from = {.sin6_family = AF_INET6};
    uint8_t again[RV_MOST_MESSAGE];
    struct rv_message message;
    size_t count;
    const uint8_t *bytes = fuzz_bytes(input, fuzz_byte(input), &count);

    if (rv_message_decode(bytes, count, &message))
        must(rv_message_encode(&message, again) == count && memcmp(again, bytes, count) == 0,
             "a message is written in another way than it was read");
    rv_told(&from, bytes, count);
}

static void step(struct fuzz_input *input)
{
    const uint8_t what = fuzz_byte(input);

    switch (what % 8) {
    case 0:
        post_verb(input);
        break;
    case 1:
        complete(what / 8 % 2, what >= 224);
        break;
    case 2:
        told(input);
        break;
    case 3:
        heard(input);
        break;
    case 4:
        rogue_immediate(qp.rogue, (uint32_t)fuzz_number(input, 4), what >= 128, now - what, now);
        break;
    case 5:
        now += (oche_time)fuzz_byte(input) << what / 8;
        break;
    case 6:
        now = rogue_next(qp.rogue) > now && rogue_next(qp.rogue) != OCHE_NEVER
                  ? rogue_next(qp.rogue)
                  : now;
        rogue_expire(qp.rogue, now);
        break;
    default:
        rogue_pump(qp.rogue, now);
        break;
    }
}

static void begin(uint8_t what)
{
    struct rogue_config config = {.params = &params,
                                  .port = &port,
                                  .token = TOKEN,
                                  .status_lost = 12,
                                  .line_rate_bps = 10 * OCHE_GBPS,
                                  .peer_line_rate_bps = (what % 8 + 1) * OCHE_GBPS,
                                  .mtu_bytes = 1024,
                                  .depth = DEPTH,
                                  .replay_atomics = what >= 128};
    static struct ibv_qp first = {.qp_num = 1}, second = {.qp_num = 3};

    memset(nic, 0, sizeof(nic));
    now = OCHE_SEC;
    posted = ended = 0;
    failed = false;
    wrong = NULL;
    oche_param_defaults(&rogue_param_table, &params);
    params.transport = what / 8 % 2 == 0 ? ROGUE_RC : ROGUE_UC;
    params.hold_ends = what / 16 % 2 == 0;
    params.first_batch = what / 32 % 2;
    qp = (struct rv_qp){.qps = {&first, &second},
                        .peer = {.qpn = 2},
                        .nonce = TOKEN,
                        .paired = true,
                        .receives_posted = 100,
                        .receive_on = what / 64 < 2 ? what / 64 % 2 : RV_NOWHERE,
                        .up = {true, true},
                        .lock = PTHREAD_MUTEX_INITIALIZER};
    qp.rogue = rogue_connection_create(malloc(rogue_connection_bytes(&config)), &config);
    rogue_set_retry_count(qp.rogue, what % 8);
    rv_world.qps = &qp;
}

const char *fuzz_input(const uint8_t *bytes, size_t count)
{
    struct fuzz_input input = {bytes, count};

    begin(fuzz_byte(&input));
    for (unsigned i = 0; i < MOST_STEPS && input.left > 0 && wrong == NULL; i++)
        step(&input);
    rogue_fail(qp.rogue, 5);
    must(ended == posted, "a verb never ended");
    free(qp.rogue);
    return wrong;
}

/* ---- functions of the library that messages.c needs ---- */

struct rv_world rv_world = {.lock = PTHREAD_MUTEX_INITIALIZER};

oche_time rv_now(void)
{
    return now;
}

const struct rogue_params *rv_params(bool paired)
{
    (void)paired;
    return &params;
}

void rv_count(enum rv_event event)
{
    (void)event;
}

void rv_drain(struct rv_qp *own)
{
    (void)own;
}

bool rv_owns(const struct rv_context *context, const union ibv_gid *gid)
{
    (void)context;
    return gid->raw[0] == 0;
}

void rv_asked(struct rv_qp *own, const struct rv_message *message, const struct sockaddr_in6 *from)
{
    (void)own;
    (void)from;
    must(message->shadow_qpn <= OCHE_PSN_MASK && message->shadow_psn <= OCHE_PSN_MASK,
         "a number of more than 24 bits");
}

void rv_apply_limit(struct rv_qp *own, unsigned side)
{
    (void)own;
    must(side < 2, "a limit of a third queue pair");
}

void rv_receives_take(struct rv_qp *own)
{
    (void)own;
}

void rv_receives_move(struct rv_qp *own, unsigned side)
{
    must(side < 2, "receives on a third queue pair");
    own->receive_on = side;
}

void rv_receives_returned(struct rv_qp *own, unsigned side)
{
    if (own->receive_on == side)
        own->receive_on = RV_NOWHERE;
}

void rv_socket_send(const struct sockaddr_in6 *to, const union ibv_gid *from, const uint8_t *bytes,
                    size_t count)
{
    struct rv_message message;

    (void)to;
    (void)from;
    must(rv_message_decode(bytes, count, &message), "what is told cannot be read");
}
