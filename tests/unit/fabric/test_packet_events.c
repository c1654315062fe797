/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scripted events: Lumina's counter, streams and their numbers, packets that are overtaken, events
 * that are wrong, and random packets against a model that is written as Lumina's switch is.
 */
#include "tests/support/test.h"

#include <stdlib.h>
#include <string.h>

#include "core/random.h"
#include "core/wire/opcode.h"
#include "fabric/packet_events.h"

#define BASE UINT32_C(0xfffffb) /* the first PSN: the PSN after the fifth is 0 */

static struct oche_packet_events *events_of(const struct oche_packet_event *list, uint32_t count)
{
    const size_t bytes = oche_packet_events_bytes(list, count);
    void *memory = malloc(bytes);

    assert_non_null(memory);
    memset(memory, 0xa5, bytes);
    for (uint32_t i = 0; i < count; i++)
        assert_true(oche_packet_event_valid(&list[i]));
    return oche_packet_events_create(memory, list, count);
}

#define EVENTS(...)                                                                                \
    events_of((struct oche_packet_event[]){__VA_ARGS__},                                           \
              OCHE_COUNT_OF(((struct oche_packet_event[]){__VA_ARGS__})))
#define DROP(qpn_, psn_, iter_)                                                                    \
    {                                                                                              \
        .qpn = (qpn_), .psn = (psn_), .iter = (iter_), .type = OCHE_PACKET_EVENT_DROP              \
    }

/* The packet `number` of a connection, counted from BASE. Returns the type of its event, or -1. */
static int see(struct oche_packet_events *events, uint32_t qpn, uint8_t opcode, uint32_t number)
{
    const struct oche_packet packet = {
        .src = 1, .dst = 2, .dest_qpn = qpn, .opcode = opcode, .psn = oche_psn_add(BASE, number)};
    const struct oche_packet_event *event = oche_packet_events_see(events, &packet);

    if (event != NULL)
        assert_int_equal(event->psn, number);
    return event != NULL ? (int)event->type : -1;
}

/* The same for a message's packets from `first` to `last` of 0 … `end`. Returns dropped ones. */
static uint64_t write_packets(struct oche_packet_events *events, uint32_t qpn, uint32_t first,
                              uint32_t last, uint32_t end)
{
    uint64_t dropped = 0;

    for (uint32_t i = first; i <= last; i++) {
        const uint8_t opcode = i == 0     ? OCHE_RC_WRITE_FIRST
                               : i == end ? OCHE_RC_WRITE_LAST
                                          : OCHE_RC_WRITE_MIDDLE;

        dropped |= (uint64_t)(see(events, qpn, opcode, i) == OCHE_PACKET_EVENT_DROP) << i;
    }
    return dropped;
}

/* A message of 20 packets: 5 is lost in two passes, and 7 in the third. */
static void passes(void **state)
{
    struct oche_packet_events *events =
        EVENTS(DROP(0, 5, 2), DROP(0, 7, 3), DROP(0, 5, 1), DROP(0, 0, 2));

    (void)state;
    assert_int_equal(write_packets(events, 17, 0, 19, 19), 1 << 5);
    assert_int_equal(write_packets(events, 17, 5, 19, 19), 1 << 5);
    assert_int_equal(write_packets(events, 17, 5, 12, 19), 1 << 7);
    assert_int_equal(write_packets(events, 17, 7, 19, 19), 0);
    free(events);
}

/* The last packet is lost, and sent again after a timeout; the next message begins with 1. */
static void a_message_begins_anew(void **state)
{
    struct oche_packet_events *events = EVENTS(DROP(0, 3, 1), DROP(0, 3, 2), DROP(0, 4, 1),
                                               DROP(0, 4, 2), DROP(0, 6, 1), DROP(0, 6, 3));

    (void)state;
    assert_int_equal(write_packets(events, 17, 0, 3, 3), 1 << 3);
    assert_int_equal(write_packets(events, 17, 3, 3, 3), 1 << 3);
    assert_int_equal(write_packets(events, 17, 3, 3, 3), 0);
    assert_int_equal(see(events, 17, OCHE_RC_WRITE_ONLY, 4), OCHE_PACKET_EVENT_DROP); /* iter 1 */
    assert_int_equal(see(events, 17, OCHE_RC_WRITE_ONLY, 4), OCHE_PACKET_EVENT_DROP);
    assert_int_equal(see(events, 17, OCHE_RC_WRITE_ONLY, 4), -1);
    assert_int_equal(see(events, 17, OCHE_RC_WRITE_FIRST, 5), -1); /* expected: iter 1 */
    assert_int_equal(see(events, 17, OCHE_RC_WRITE_LAST, 6), OCHE_PACKET_EVENT_DROP);
    /* Another PSN at a message's beginning does not set it to 1. */
    assert_int_equal(see(events, 17, OCHE_RC_WRITE_FIRST, 5), -1);
    assert_int_equal(see(events, 17, OCHE_RC_WRITE_FIRST, 5), -1);
    assert_int_equal(see(events, 17, OCHE_RC_WRITE_LAST, 6), OCHE_PACKET_EVENT_DROP);
    free(events);
}

/* An event happens once, although its packet has the same counter again. */
static void once(void **state)
{
    struct oche_packet_events *events = EVENTS(DROP(0, 1, 1), DROP(0, 0, 2), DROP(1, 9, 1));
    struct oche_packet_event_counts counts;

    (void)state;
    assert_int_equal(see(events, 17, OCHE_RC_SEND_ONLY, 0), -1);
    assert_int_equal(see(events, 17, OCHE_RC_SEND_ONLY, 1), OCHE_PACKET_EVENT_DROP);
    oche_packet_events_counts(events, &counts);
    assert_int_equal(counts.by_type[OCHE_PACKET_EVENT_DROP], 1);
    assert_int_equal(counts.never, 2);
    assert_int_equal(counts.first_left, 1);
    assert_int_equal(oche_packet_events_at(events, counts.first_left)->iter, 2);
    assert_int_equal(see(events, 17, OCHE_RC_SEND_ONLY, 0), OCHE_PACKET_EVENT_DROP);
    assert_int_equal(see(events, 17, OCHE_RC_SEND_ONLY, 1), -1); /* expected: iter 1 again */
    oche_packet_events_counts(events, &counts);
    assert_int_equal(counts.by_type[OCHE_PACKET_EVENT_DROP], 2);
    assert_int_equal(counts.never, 1);
    assert_int_equal(counts.first_left, 2);
    assert_int_equal(oche_packet_events_at(events, 2)->qpn, 1);
    free(events);
}

/* What is no data of RC or UC has no events, and begins no stream. */
static void other_packets(void **state)
{
    static const uint8_t opcodes[] = {OCHE_RC_ACK,          OCHE_RC_SACK,      OCHE_CNP,
                                      OCHE_RC_READ_REQUEST, OCHE_RC_FETCH_ADD, OCHE_RC_ATOMIC_ACK,
                                      OCHE_UD_SEND_ONLY,    OCHE_RATE,         0x7f};
    struct oche_packet_events *events = EVENTS(DROP(0, 0, 1));
    struct oche_packet other = {.opcode = OCHE_RC_WRITE_ONLY, .psn = BASE};

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(opcodes); i++)
        assert_int_equal(see(events, 17, opcodes[i], 0), -1);
    for (uint8_t kind = OCHE_PACKET_PFC; kind <= OCHE_PACKET_XPASS; kind++) {
        other.kind = kind;
        assert_null(oche_packet_events_see(events, &other));
    }
    assert_int_equal(see(events, 17, OCHE_UC_WRITE_ONLY_IMM, 0), OCHE_PACKET_EVENT_DROP);
    assert_int_equal(see(events, 18, OCHE_UC_WRITE_ONLY_IMM, 0), -1); /* no event is for qpn 1 */
    free(events);
}

/* Streams are numbered as their data is first seen; requests and READ responses are two. */
static void numbers(void **state)
{
    struct oche_packet_events *events =
        EVENTS(DROP(2, 1, 1), DROP(0, 1, 1), DROP(3, 0, 1), DROP(1, 0, 1));
    struct oche_packet packet = {
        .src = 7, .dst = 2, .dest_qpn = 900, .psn = 70, .opcode = OCHE_RC_SEND_ONLY};

    (void)state;
    assert_int_equal(see(events, 900, OCHE_RC_SEND_ONLY, 0), -1);          /* 0 */
    assert_int_equal(see(events, 5, OCHE_RC_SEND_ONLY, 0), 0);             /* 1 */
    assert_int_equal(see(events, 900, OCHE_RC_READ_RESPONSE_ONLY, 0), -1); /* 2 */
    assert_non_null(oche_packet_events_see(events, &packet));              /* 3: other sender */
    assert_int_equal(see(events, 900, OCHE_RC_SEND_ONLY, 1), 0);
    assert_int_equal(see(events, 5, OCHE_RC_SEND_ONLY, 1), -1);
    assert_int_equal(see(events, 900, OCHE_RC_READ_RESPONSE_ONLY, 1), 0);
    packet.dst = 3; /* the fifth */
    assert_null(oche_packet_events_see(events, &packet));
    free(events);
}

/* PSNs that READs take, or operations between READs, are no jump. */
static void mixed_operations(void **state)
{
    struct oche_packet_events *events =
        EVENTS(DROP(0, 9, 1), DROP(0, 10, 2), DROP(1, 14, 1), DROP(1, 15, 2), DROP(0, 11, 3));

    (void)state;
    assert_int_equal(see(events, 17, OCHE_RC_WRITE_ONLY, 0), -1);
    assert_int_equal(see(events, 17, OCHE_RC_READ_REQUEST, 1), -1); /* takes 1 … 8 */
    assert_int_equal(see(events, 17, OCHE_RC_WRITE_ONLY, 9), 0);
    assert_int_equal(see(events, 17, OCHE_RC_FETCH_ADD, 10), -1);
    assert_int_equal(see(events, 17, OCHE_RC_WRITE_ONLY, 11), -1);  /* iter 1 */
    assert_int_equal(see(events, 17, OCHE_RC_READ_REQUEST, 1), -1); /* again: 2 */
    assert_int_equal(see(events, 17, OCHE_RC_WRITE_MIDDLE, 11), 0); /* begins nothing: 3 */
    assert_int_equal(see(events, 18, OCHE_RC_READ_RESPONSE_FIRST, 0), -1);
    assert_int_equal(see(events, 18, OCHE_RC_READ_RESPONSE_LAST, 1), -1);
    assert_int_equal(see(events, 18, OCHE_RC_READ_RESPONSE_FIRST, 13), -1);
    assert_int_equal(see(events, 18, OCHE_RC_READ_RESPONSE_MIDDLE, 14), 0);
    assert_int_equal(see(events, 18, OCHE_RC_READ_RESPONSE_LAST, 15), -1);
    /* Repeated from the middle, as a READ of the rest. */
    assert_int_equal(see(events, 18, OCHE_RC_READ_RESPONSE_FIRST, 14), -1);
    assert_int_equal(see(events, 18, OCHE_RC_READ_RESPONSE_LAST, 15), 0);
    free(events);
}

/* Packets of their stream overtake those that are kept; dropped ones do not. */
static void overtaken(void **state)
{
    struct oche_packet_events *events =
        EVENTS({.psn = 1, .iter = 1, .type = OCHE_PACKET_EVENT_REORDER, .overtake = 3},
               {.psn = 2, .iter = 1, .type = OCHE_PACKET_EVENT_REORDER, .overtake = 2},
               {.psn = 3, .iter = 1, .type = OCHE_PACKET_EVENT_DELAY, .delay = OCHE_US},
               DROP(0, 4, 1), {.psn = 5, .iter = 1, .type = OCHE_PACKET_EVENT_DUPLICATE},
               {.psn = 8, .iter = 1, .type = OCHE_PACKET_EVENT_REORDER, .overtake = 1});
    struct oche_packet_event_counts counts;
    int one, two, eight;

    (void)state;
    assert_int_equal(see(events, 17, OCHE_UC_SEND_ONLY, 0), -1);
    assert_int_equal(see(events, 17, OCHE_UC_SEND_ONLY, 1), OCHE_PACKET_EVENT_REORDER);
    oche_packet_events_keep(events, &one);
    assert_null(oche_packet_events_release(events));
    assert_int_equal(see(events, 17, OCHE_UC_SEND_ONLY, 2), OCHE_PACKET_EVENT_REORDER);
    oche_packet_events_keep(events, &two);
    assert_int_equal(see(events, 17, OCHE_UC_SEND_ONLY, 3), OCHE_PACKET_EVENT_DELAY);
    assert_int_equal(see(events, 17, OCHE_UC_SEND_ONLY, 4), OCHE_PACKET_EVENT_DROP);
    assert_int_equal(see(events, 18, OCHE_UC_SEND_ONLY, 0), -1);
    assert_int_equal(see(events, 18, OCHE_UC_SEND_ONLY, 1), -1);
    assert_int_equal(see(events, 17, OCHE_RC_ACK, 4), -1);
    assert_int_equal(see(events, 17, OCHE_UC_SEND_ONLY, 5), OCHE_PACKET_EVENT_DUPLICATE);
    assert_null(oche_packet_events_release(events)); /* it counts once */
    oche_packet_events_counts(events, &counts);
    assert_int_equal(counts.kept, 2);
    assert_ptr_equal(oche_packet_events_kept(events, 1), &two);
    assert_int_equal(see(events, 17, OCHE_UC_SEND_ONLY, 6), -1);
    assert_ptr_equal(oche_packet_events_release(events), &two);
    assert_null(oche_packet_events_release(events));
    assert_int_equal(see(events, 17, OCHE_UC_SEND_ONLY, 7), -1);
    assert_ptr_equal(oche_packet_events_release(events), &one);
    assert_null(oche_packet_events_release(events));
    assert_int_equal(see(events, 17, OCHE_UC_SEND_ONLY, 8), OCHE_PACKET_EVENT_REORDER);
    oche_packet_events_keep(events, &eight);
    oche_packet_events_counts(events, &counts);
    assert_int_equal(counts.kept, 1);
    assert_int_equal(counts.by_type[OCHE_PACKET_EVENT_REORDER], 3);
    assert_int_equal(counts.never, 0);
    free(events);
}

static void wrong_events(void **state)
{
    static const struct oche_packet_event wrong[] = {
        {.qpn = 65536, .iter = 1},
        {.psn = 1 << 24, .iter = 1},
        {.iter = 0},
        {.iter = 65536},
        {.iter = 1, .type = OCHE_PACKET_EVENT_TYPES},
        {.iter = 1, .type = OCHE_PACKET_EVENT_DELAY},
        {.iter = 1, .type = OCHE_PACKET_EVENT_DELAY, .delay = 3600 * OCHE_SEC + 1},
        {.iter = 1, .type = OCHE_PACKET_EVENT_DELAY, .delay = 1, .overtake = 1},
        {.iter = 1, .type = OCHE_PACKET_EVENT_DROP, .delay = 1},
        {.iter = 1, .type = OCHE_PACKET_EVENT_REORDER},
        {.iter = 1, .type = OCHE_PACKET_EVENT_REORDER, .overtake = 65536},
        {.iter = 1, .type = OCHE_PACKET_EVENT_ECN, .overtake = 1},
    };

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(wrong); i++)
        if (oche_packet_event_valid(&wrong[i]))
            fail_msg("%zu is valid", i);
    assert_string_equal(oche_packet_event_by(OCHE_PACKET_EVENT_DELAY)->name, "by");
    assert_null(oche_packet_event_by(OCHE_PACKET_EVENT_DROP));
    assert_null(oche_packet_event_by(OCHE_PACKET_EVENT_TYPES));
}

/* ---- random packets ---- */

#define STREAMS 40
#define LIST    300

/* Lumina's register: the next PSN, and the counter. */
struct model {
    uint32_t next, iter;
    bool used;
    uint32_t number, first;
};

static int model_see(struct model *model, uint32_t *used, const struct oche_packet *packet,
                     const struct oche_packet_event *list, bool *happened)
{
    if (!model->used)
        *model = (struct model){
            .used = true, .number = (*used)++, .first = packet->psn, .next = packet->psn};
    if (packet->psn != model->next)
        model->iter++;
    else if (packet->opcode == OCHE_RC_SEND_FIRST || model->iter == 0)
        model->iter = 1;
    model->next = (packet->psn + 1) % (1 << 24);
    for (int i = 0; i < LIST; i++)
        if (list[i].qpn == model->number && list[i].iter == model->iter && !happened[i] &&
            (packet->psn + (1 << 24) - model->first) % (1 << 24) == list[i].psn) {
            happened[i] = true;
            return i;
        }
    return -1;
}

static void random_packets(uint64_t seed)
{
    struct oche_random random = oche_random_stream(seed, "packet events", 0);
    static struct oche_packet_event list[LIST];
    struct model models[STREAMS] = {{0}};
    bool happened[LIST] = {false};
    uint32_t used = 0, hits = 0;

    for (uint32_t i = 0; i < LIST;) {
        bool same = false;

        list[i] = (struct oche_packet_event){.qpn = oche_random_below(&random, STREAMS / 2),
                                             .psn = oche_random_below(&random, 20),
                                             .iter = oche_random_below(&random, 3) + 1,
                                             .type = OCHE_PACKET_EVENT_ECN};
        for (uint32_t j = 0; j < i; j++)
            same |= oche_packet_event_same(&list[i], &list[j]);
        i += !same;
    }
    struct oche_packet_events *events = events_of(list, LIST);

    for (uint32_t n = 0; n < 5000; n++) {
        const uint32_t which = (uint32_t)oche_random_below(&random, STREAMS);
        struct model *model = &models[which];
        const bool jump = oche_random_below(&random, 8) == 0;
        struct oche_packet packet = {.src = which % 3, .dst = which % 2, .dest_qpn = which / 6};

        packet.psn = !model->used ? (uint32_t)oche_random_below(&random, 1 << 24)
                     : jump ? (model->first + (uint32_t)oche_random_below(&random, 20)) % (1 << 24)
                            : model->next;
        packet.opcode =
            oche_random_below(&random, 4) == 0 ? OCHE_RC_SEND_FIRST : OCHE_RC_SEND_MIDDLE;
        const int expected = model_see(model, &used, &packet, list, happened);
        const struct oche_packet_event *got = oche_packet_events_see(events, &packet);

        if ((got == NULL) != (expected < 0) ||
            (got != NULL && !oche_packet_event_same(got, &list[expected])))
            fail_msg("seed %llu: packet %u", (unsigned long long)seed, n);
        hits += got != NULL;
    }
    assert_true(hits > LIST / 4);
    free(events);
}

static void as_lumina(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 50; seed++)
        random_packets(seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passes),    cmocka_unit_test(a_message_begins_anew),
        cmocka_unit_test(once),      cmocka_unit_test(other_packets),
        cmocka_unit_test(numbers),   cmocka_unit_test(mixed_operations),
        cmocka_unit_test(overtaken), cmocka_unit_test(wrong_events),
        cmocka_unit_test(as_lumina),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
