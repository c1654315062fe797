/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A gap in the responses of a READ, with other work behind it. In every scheme all of it completes
 * without an ACK timeout, because the packets behind the gap show everything that is missing.
 */
#include "tests/support/test.h"

#include "core/recovery/selective_repeat.h"
#include "core/wire/aeth.h"
#include "core/wire/opcode.h"
#include "tests/unit/recovery/script.h"

static union {
    uint64_t align;
    uint8_t bytes[256];
} params;

static struct pair_options with(const struct oche_recovery_scheme *scheme)
{
    assert_true(scheme->table.struct_bytes <= sizeof(params));
    oche_param_defaults(&scheme->table, &params);
    return (struct pair_options){.recovery = scheme,
                                 .own_recovery_params = &params,
                                 .extensions = scheme->extend != NULL,
                                 .responder_resources = 8,
                                 .initiator_depth = 8};
}

/* READ data behind the gap is not kept, so it must be requested again. */
static void test_reads_behind(void **state)
{
    static const char *const losses[] = {"d0", "d1", "d4", "d1 d4", "d7", "d1 d7.2"};

    (void)state;
    for (size_t s = 0; s < oche_recovery_scheme_count; s++)
        for (size_t i = 0; i < OCHE_COUNT_OF(losses); i++) {
            const struct pair_options options = with(oche_recovery_schemes[s]);
            struct script script;
            script_open(&script, &options, losses[i]);
            for (uint64_t id = 1; id <= 3; id++)
                script_post(&script, OCHE_WORK_READ, id, 3);
            pair_run_quiet(script.pair);
            assert_int_equal(script_timeouts(&script), 0);
            for (uint64_t id = 1; id <= 3; id++)
                pair_expect(script.pair, 0, id, OCHE_STATUS_SUCCESS);
            script_close(&script);
        }
}

/* The ACK of a WRITE behind the READ came while the gap was open. */
static void test_writes_behind(void **state)
{
    static const char *const losses[] = {"d1", "d1 3", "d1 4", "d0 d2.2"};

    (void)state;
    for (size_t s = 0; s < oche_recovery_scheme_count; s++)
        for (size_t i = 0; i < OCHE_COUNT_OF(losses); i++) {
            const struct pair_options options = with(oche_recovery_schemes[s]);
            struct script script;
            script_open(&script, &options, losses[i]);
            script_post(&script, OCHE_WORK_READ, 1, 3);
            script_post(&script, OCHE_WORK_WRITE, 2, 1);
            script_post(&script, OCHE_WORK_SEND, 3, 2);
            pair_run_quiet(script.pair);
            assert_int_equal(script_timeouts(&script), 0);
            for (uint64_t id = 1; id <= 3; id++)
                pair_expect(script.pair, 0, id, OCHE_STATUS_SUCCESS);
            assert_int_equal(script.pair->side[1].delivered_bytes, 3 * PAIR_MTU);
            script_close(&script);
        }
}

/*
 * Selective repeat: 41 was kept and reported, but in its turn there is no receive for it. The
 * rejection comes while responses are missing, and has no effect then.
 */
static void test_refused_in_its_turn(void **state)
{
    const struct pair_options options = with(&oche_recovery_selective_repeat);
    const struct oche_send_work work = pair_work(OCHE_WORK_WRITE_IMM, 3, 0, 0, 10);
    struct script script;

    (void)state;
    script_open(&script, &options, "0 d2 d30");
    script_post(&script, OCHE_WORK_WRITE, 1, 1);
    script_post(&script, OCHE_WORK_READ, 2, 40);
    pair_post(script.pair, 0, &work);
    script_post(&script, OCHE_WORK_WRITE, 4, 1);
    pair_run(script.pair, script.pair->now + 60 * OCHE_US);
    pair_post_recv(script.pair, 1, 1, 0, 100);
    pair_run_quiet(script.pair);
    assert_int_equal(script_timeouts(&script), 0);
    for (uint64_t id = 1; id <= 4; id++)
        pair_expect(script.pair, 0, id, OCHE_STATUS_SUCCESS);
    pair_expect(script.pair, 1, 1, OCHE_STATUS_SUCCESS);
    script_close(&script);
}

struct link {
    uint32_t reads, writes; /* requests that side 0 has sent */
};

static void count_requests(struct pair *pair, int from, const struct oche_packet *packet)
{
    struct link *link = pair->context;

    (void)from;
    link->reads += packet->opcode == OCHE_RC_READ_REQUEST;
    link->writes += oche_opcode(packet->opcode)->operation == OCHE_OPERATION_WRITE;
}

static enum pair_fate lose(struct pair *pair, int from, const struct oche_packet *packet)
{
    (void)pair;
    (void)from;
    (void)packet;
    return PAIR_DROP;
}

/*
 * Selective repeat: a READ is about to be requested again, because a response is missing. A NAK for
 * the WRITE behind it is the first packet that shows the peer's extensions. Both are sent again.
 */
static void test_learned_meanwhile(void **state)
{
    struct pair_options options = with(&oche_recovery_selective_repeat);
    static uint8_t payload[PAIR_MTU];
    struct link link = {0};

    (void)state;
    options.extensions = false;
    options.ack_timeout = OCHE_NEVER;
    options.first_psn = 10;
    struct pair *pair = pair_open(&options);
    pair->context = &link;
    pair->tap = count_requests;
    pair->fate = lose;
    const struct oche_send_work read = pair_work(OCHE_WORK_READ, 1, 0, 0, 3 * PAIR_MTU);
    const struct oche_send_work write = pair_work(OCHE_WORK_WRITE, 2, 0, 0, 10);
    pair_post(pair, 0, &read);
    pair_post(pair, 0, &write);
    pair_run_quiet(pair);
    assert_int_equal(link.reads, 1);
    assert_int_equal(link.writes, 1);
    struct oche_packet response = pair_packet(pair, 1, OCHE_RC_READ_RESPONSE_MIDDLE, 11, PAIR_MTU);
    response.payload = payload;
    response.ext = OCHE_EXT_PAYLOAD;
    struct oche_packet nak = pair_packet(pair, 1, OCHE_RC_SACK, 13, 0);
    const struct oche_sack nothing = {.first = 13};
    nak.aeth = oche_aeth(OCHE_SYNDROME_NAK_SEQUENCE, 1);
    nak.bth_reserved = OCHE_BTH_EXTENSIONS;
    oche_sack_put(&nak, &nothing);
    oche_nic_receive(pair->side[0].nic, &response, pair->now);
    oche_nic_receive(pair->side[0].nic, &nak, pair->now);
    pair_run_quiet(pair);
    assert_int_equal(link.reads, 2);
    assert_int_equal(link.writes, 2);
    pair_close(pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads_behind),
        cmocka_unit_test(test_writes_behind),
        cmocka_unit_test(test_refused_in_its_turn),
        cmocka_unit_test(test_learned_meanwhile),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
