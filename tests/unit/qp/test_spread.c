/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A queue pair that spreads its packets over paths: the ports of its packets, which ACKs name a
 * path, marks, what a packet that leaves again says, and answers that are wrong.
 */
#include "tests/support/test.h"

#include <string.h>

#include "core/qp/send/sender.h"
#include "core/qp/spread.h"
#include "core/recovery/selective_repeat.h"
#include "tests/support/pair.h"

#define PATHS 8
#define BASE  0xc000 /* the queue pairs' own port */

/* A scheme that takes the paths in turn, and writes down what it hears. */
static struct {
    uint32_t next, choices;
    unsigned heard[4];
    uint32_t last_path, lost_path;
} book;

static size_t state_bytes(uint32_t count)
{
    return count;
}

static void start(void *state, uint32_t count, struct oche_random random)
{
    (void)random;
    memset(state, 0, count);
}

static uint32_t choose(void *state, oche_time now)
{
    (void)state;
    (void)now;
    book.choices++;
    return book.next++ % PATHS;
}

static void hear(void *state, uint32_t path, enum oche_path_news news, oche_time now)
{
    (void)state;
    (void)now;
    assert_true(path < PATHS);
    book.heard[news]++;
    book.last_path = path;
    if (news == OCHE_PATH_LOST)
        book.lost_path = path;
}

static const struct oche_path_scheme turns = {
    .hears = true, .state_bytes = state_bytes, .start = start, .choose = choose, .hear = hear};

/* Facts that the test notes of packets on the link. */
static struct {
    unsigned ports[PATHS], own, answers, other; /* data by path; other packets by port */
    uint16_t last_data_port, last_answer_port;
    uint8_t last_answer;
    uint32_t drop_psn; /* dropped once; UINT32_MAX: none */
    bool mark;         /* data gets CE */
} link;

static void tap(struct pair *pair, int from, const struct oche_packet *packet)
{
    (void)pair;
    if (packet->payload_bytes > 0 && from == 0) {
        const uint32_t path = oche_path_of_port(BASE, packet->udp_source_port);

        assert_true(path < PATHS);
        assert_int_equal(packet->flow_hash, oche_path_hash(42, BASE, packet->udp_source_port));
        link.ports[path]++;
        link.last_data_port = packet->udp_source_port;
        return;
    }
    if (from == 1 && (packet->bth_reserved & OCHE_BTH_PATH)) {
        link.answers++;
        link.last_answer_port = packet->udp_source_port;
        link.last_answer = packet->bth_reserved;
        return;
    }
    assert_false(packet->bth_reserved & (OCHE_BTH_PATH | OCHE_BTH_PATH_MARKED));
    assert_int_equal(packet->udp_source_port, BASE);
    link.other++;
}

static enum pair_fate fate(struct pair *pair, int from, const struct oche_packet *packet)
{
    (void)pair;
    if (from != 0 || packet->psn != link.drop_psn || packet->payload_bytes == 0)
        return PAIR_PASS;
    link.drop_psn = UINT32_MAX;
    return PAIR_DROP;
}

static struct pair *open_pair(const struct oche_recovery_scheme *recovery, bool any_recovery)
{
    static uint64_t params[64];
    struct pair_options options = {
        .recovery = recovery,
        .own_recovery_params = params,
        .extensions = true,
        .held_bytes = 256 * PAIR_MTU,
        .spread = {.scheme = &turns, .paths = PATHS, .any_recovery = any_recovery}};

    memset(&book, 0, sizeof(book));
    memset(&link, 0, sizeof(link));
    link.drop_psn = UINT32_MAX;
    assert_true(recovery->table.struct_bytes <= sizeof(params));
    oche_param_defaults(&recovery->table, params);
    struct pair *pair = pair_open(&options);

    pair->tap = tap;
    pair->fate = fate;
    return pair;
}

static void write_packets(struct pair *pair, unsigned packets)
{
    const struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 1, 0, 0, packets * PAIR_MTU);

    pair_post(pair, 0, &work);
    pair_run_quiet(pair);
    pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
}

/* Every data packet takes the path that the scheme chose, and its ACK names it. */
static void test_data_and_answers(void **context)
{
    struct pair *pair = open_pair(&oche_recovery_selective_repeat, false);

    (void)context;
    write_packets(pair, 4 * PATHS);
    for (unsigned path = 0; path < PATHS; path++)
        assert_int_equal(link.ports[path], 4);
    assert_true(link.answers > PATHS);
    assert_int_equal(link.last_answer_port, link.last_data_port);
    assert_int_equal(link.last_answer & OCHE_BTH_PATH_MARKED, 0);
    assert_int_equal(book.heard[OCHE_PATH_GOOD], link.answers);
    assert_int_equal(book.last_path, oche_path_of_port(BASE, link.last_data_port));
    pair_close(pair);
}

/* READs, in both directions, keep the queue pair's own port, and ACKs of nothing name no path. */
static void test_reads_keep_one_path(void **context)
{
    struct pair *pair = open_pair(&oche_recovery_selective_repeat, false);
    const struct oche_send_work work = pair_work(OCHE_WORK_READ, 1, 0, 0, 8 * PAIR_MTU);

    (void)context;
    pair_post(pair, 0, &work);
    pair_run_quiet(pair);
    pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
    assert_int_equal(book.choices, 0);
    assert_true(link.other >= 9);
    assert_int_equal(link.answers, 0);
    pair_close(pair);
}

/* Data asks for marks; a mark comes back with the path of the packet that had it. */
static void test_marks(void **context)
{
    struct pair *pair = open_pair(&oche_recovery_selective_repeat, false);
    struct oche_packet packet;

    (void)context;
    assert_int_equal(snd(pair->side[0].qp[0])->data_ecn, OCHE_ECN_ECT0);
    packet = pair_packet(pair, 0, OCHE_RC_SEND_ONLY, 0, 0);
    packet.opcode = OCHE_RC_WRITE_ONLY;
    packet.ext = OCHE_EXT_RETH;
    packet.reth = (struct oche_reth){.va = PAIR_VA, .rkey = PAIR_KEY, .dma_length = 0};
    packet.bth |= OCHE_BTH_ACKREQ;
    packet.bth_reserved = OCHE_BTH_EXTENSIONS;
    packet.ecn = OCHE_ECN_CE;
    packet.udp_source_port = BASE + 5;
    pair_inject(pair, 0, &packet);
    assert_int_equal(link.answers, 1);
    assert_int_equal(link.last_answer_port, BASE + 5);
    assert_true(link.last_answer & OCHE_BTH_PATH_MARKED);
    pair_close(pair);
}

/* A packet that is sent again because of a NAK, or a timeout, is news of the path it had. */
static void test_losses(void **context)
{
    struct pair *pair = open_pair(&oche_recovery_selective_repeat, false);

    (void)context;
    link.drop_psn = 3;
    write_packets(pair, PATHS);
    assert_int_equal(book.heard[OCHE_PATH_LOST], 1);
    assert_int_equal(book.lost_path, 3);
    assert_int_equal(book.heard[OCHE_PATH_TIMEOUT], 0);
    assert_int_equal(book.choices, PATHS + 1);
    link.drop_psn = 2 * PATHS - 1; /* the last packet: no NAK */
    write_packets(pair, PATHS);
    assert_int_equal(book.heard[OCHE_PATH_LOST], 1);
    assert_int_equal(book.heard[OCHE_PATH_TIMEOUT], 1);
    pair_close(pair);
}

/* A peer's answer with a port that is none of ours changes nothing. */
static void test_wrong_answers(void **context)
{
    struct pair *pair = open_pair(&oche_recovery_selective_repeat, false);
    unsigned right = 0;
    struct oche_packet ack = pair_packet(pair, 1, OCHE_RC_ACK, OCHE_PSN_MASK, 0);

    (void)context;
    ack.bth_reserved = OCHE_BTH_EXTENSIONS | OCHE_BTH_PATH | OCHE_BTH_PATH_MARKED;
    for (uint32_t port = 0; port <= UINT16_MAX; port += 3) {
        ack.udp_source_port = (uint16_t)port;
        pair_inject(pair, 1, &ack);
        right += port >= BASE && port < BASE + PATHS;
        assert_int_equal(book.heard[OCHE_PATH_MARKED], right);
    }
    ack.udp_source_port = BASE + 1;
    ack.bth_reserved = OCHE_BTH_EXTENSIONS;
    pair_inject(pair, 1, &ack); /* names no path */
    assert_int_equal(book.heard[OCHE_PATH_GOOD], 0);
    pair_close(pair);
}

/* With a recovery that takes what is overtaken for lost, one path; unless any recovery will do. */
static void test_other_recovery(void **context)
{
    const struct oche_recovery_scheme *go_back_n = oche_recovery_find("go_back_n");
    struct pair *pair = open_pair(go_back_n, false);

    (void)context;
    pair->tap = NULL;
    write_packets(pair, PATHS);
    assert_int_equal(book.choices, 0);
    pair_close(pair);
    pair = open_pair(go_back_n, true);
    write_packets(pair, PATHS);
    assert_int_equal(book.choices, PATHS);
    pair_close(pair);
}

/* On the wire a port names its path by its remainder; in the simulator it must be the path's own.
 */
static void test_remainders(void **context)
{
    struct pair *pair = open_pair(&oche_recovery_selective_repeat, false);
    struct oche_qp *qp = pair->side[0].qp[0];
    const struct oche_packet answer = {.bth_reserved = OCHE_BTH_PATH,
                                       .udp_source_port = BASE + 5 * PATHS + 3};

    (void)context;
    spread_heard(qp, &answer, 0);
    assert_int_equal(book.heard[OCHE_PATH_GOOD], 0);
    qp->nic->config.spread.by_remainder = true;
    spread_heard(qp, &answer, 0);
    assert_int_equal(book.heard[OCHE_PATH_GOOD], 1);
    assert_int_equal(book.last_path, 3);
    pair_close(pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_data_and_answers),
        cmocka_unit_test(test_reads_keep_one_path),
        cmocka_unit_test(test_marks),
        cmocka_unit_test(test_losses),
        cmocka_unit_test(test_wrong_answers),
        cmocka_unit_test(test_other_recovery),
        cmocka_unit_test(test_remainders),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
