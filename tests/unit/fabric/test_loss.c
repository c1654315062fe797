/* SPDX-License-Identifier: Apache-2.0 */
/* Link loss: exact patterns, Bernoulli by counting, and rejected patterns. */
#include "tests/unit/fabric/rig.h"

#include <stdlib.h>
#include <string.h>

#include "core/wire/opcode.h"
#include "fabric/loss.h"
#include "fabric/text.h"

static struct oche_loss *loss_of(double probability, const char *pattern, uint64_t entity)
{
    struct oche_error why = {""};
    void *memory;

    if (!oche_loss_check(pattern, &why))
        fail_msg("%s", why.text);
    memory = malloc(oche_loss_bytes(pattern));
    assert_non_null(memory);
    memset(memory, 0xa5, oche_loss_bytes(pattern));
    return oche_loss_create(memory, probability, pattern, 1, entity);
}

/* Returns which of the packets 1 … 64 are lost, as bits; PSN = ordinal + `shift`. */
static uint64_t lost(const char *pattern, uint32_t shift)
{
    struct oche_loss *loss = loss_of(0, pattern, 1);
    uint64_t bits = 0;

    for (uint32_t i = 1; i <= 64; i++) {
        struct oche_packet packet = {.psn = i + shift, .payload_bytes = i % 2};
        struct oche_packet pause = {.psn = i + shift, .kind = OCHE_PACKET_PFC};

        assert_false(oche_loss_drop(loss, &pause));
        bits |= (uint64_t)oche_loss_drop(loss, &packet) << (i - 1);
    }
    assert_int_equal(loss->dropped, __builtin_popcountll(bits));
    free(loss);
    return bits;
}

static void patterns(void **state)
{
    (void)state;
    assert_int_equal(lost(NULL, 0), 0);
    assert_int_equal(lost("3,7,11", 0), 0x444);
    assert_int_equal(lost(" 3 , 7,11 ", 0), 0x444);
    assert_int_equal(lost("2-4", 100), 0xe);
    assert_int_equal(lost("1,60-70", 0), 0xf800000000000001);
    assert_int_equal(lost("every 8", 0), 0x8080808080808080);
    assert_int_equal(lost("every 32,1", 0), 0x8000000080000001);
    assert_int_equal(lost("psn 103-105, psn 107", 100), 0x5c);
    assert_int_equal(lost("psn 7, 7", 0), 0x40);
    /* The second packet with a payload (1, 3, 5, …) is lost, and every tenth. */
    assert_int_equal(lost("data: 2, every 10", 0),
                     UINT64_C(1) << 2 | UINT64_C(1) << 18 | UINT64_C(1) << 38 | UINT64_C(1) << 58);
    assert_int_equal(lost("data:psn 2-3", 0), 4);
}

static void acks_alone(void **state)
{
    struct oche_loss *loss = loss_of(0, "ack: 2", 1);
    struct oche_packet packets[] = {
        {.opcode = OCHE_RC_WRITE_ONLY, .payload_bytes = 100},
        {.opcode = OCHE_RC_ACK},
        {.opcode = OCHE_RC_READ_REQUEST},
        {.opcode = OCHE_RC_READ_RESPONSE_ONLY, .payload_bytes = 100},
        {.opcode = OCHE_CNP},
        {.opcode = OCHE_RC_SACK},
        {.opcode = OCHE_RC_ACK},
    };

    (void)state;
    for (unsigned i = 0; i < OCHE_COUNT_OF(packets); i++)
        if (oche_loss_drop(loss, &packets[i]) != (i == 5))
            fail_msg("packet %u", i);
    free(loss);
    loss = loss_of(0, "ack: every 1", 1);
    assert_true(oche_loss_drop(loss, &(struct oche_packet){.kind = OCHE_PACKET_TCP}));
    assert_false(
        oche_loss_drop(loss, &(struct oche_packet){.kind = OCHE_PACKET_TCP, .payload_bytes = 1}));
    assert_false(oche_loss_drop(loss, &(struct oche_packet){.kind = OCHE_PACKET_XPASS}));
    free(loss);
}

/*
 * The retransmission of a PSN passes. In overlapping lists each applies to its own first
 * transmission.
 */
static void first_only(void **state)
{
    struct oche_loss *loss = loss_of(0, "psn 5-6, psn 16777215", 1);
    struct oche_packet packet = {.psn = 5};

    (void)state;
    assert_true(oche_loss_drop(loss, &packet));
    assert_false(oche_loss_drop(loss, &packet));
    packet.psn = 0xffffff;
    assert_true(oche_loss_drop(loss, &packet));
    assert_false(oche_loss_drop(loss, &packet));
    packet.psn = 6;
    assert_true(oche_loss_drop(loss, &packet));
    free(loss);
    loss = loss_of(0, "psn 5, psn 5", 1);
    packet.psn = 5;
    assert_true(oche_loss_drop(loss, &packet)); /* both say so */
    assert_false(oche_loss_drop(loss, &packet));
    free(loss);
}

static void not_a_pattern(void **state)
{
    static const struct {
        const char *pattern, *wrong;
    } cases[] = {
        {"", "a number is missing at character 1"},
        {"3,", "a number is missing at character 3"},
        {"3 7", "a comma is missing at character 3"},
        {"0", "packets are counted from 1 at character 2"},
        {"9-3", "the range ends before it begins at character 4"},
        {"every", "a number is missing at character 6"},
        {"every 0", "every 0 means nothing at character 8"},
        {"psn 16777216", "a PSN has 24 bits at character 13"},
        {"psn 0-70000", "more than 65536 PSNs at character 12"},
        {"99999999999999999999", "the number is too large at character 10"},
        {"-1", "a number is missing at character 1"},
        {"data: x", "a number is missing at character 7"},
    };

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(cases); i++) {
        struct oche_error why = {""};
        char expected[200];

        assert_false(oche_loss_check(cases[i].pattern, &why));
        strcpy(expected, cases[i].wrong);
        strcat(expected, "; would be right: 3,7,10-19, or every 100, or psn 5");
        assert_string_equal(why.text, expected);
        assert_false(oche_loss_check(cases[i].pattern, NULL));
    }
}

/* However long the message, it stays within the text. */
static void errors_are_cut(void **state)
{
    struct oche_error error = {""};
    char whole[OCHE_ERROR_BYTES + 20] = "";

    (void)state;
    while (strlen(whole) < OCHE_ERROR_BYTES) {
        assert_false(oche_fabric_refuse_more(&error, "port #, ", (uint64_t[]){1234567}));
        strcat(whole, "port 1234567, ");
        assert_memory_equal(error.text, whole, strlen(error.text));
    }
    assert_int_equal(strlen(error.text), OCHE_ERROR_BYTES - 1);
    assert_false(oche_fabric_refuse(&error, "lanes: #", (uint64_t[]){3}));
    assert_string_equal(error.text, "lanes: 3");
}

static unsigned bernoulli(double probability, uint64_t entity)
{
    struct oche_loss *loss = loss_of(probability, NULL, entity);
    struct oche_packet packet = {.psn = 1};
    unsigned count = 0;

    for (unsigned i = 0; i < 1000000; i++)
        count += oche_loss_drop(loss, &packet);
    assert_int_equal(loss->dropped, count);
    free(loss);
    return count;
}

static void probability(void **state)
{
    unsigned first = bernoulli(0.01, 1);
    uint64_t memory[16];

    (void)state;
    assert_int_equal(bernoulli(0, 1), 0);
    assert_int_equal(bernoulli(1, 1), 1000000);
    assert_in_range(first, 10000 - 500, 10000 + 500); /* five standard deviations */
    assert_int_equal(bernoulli(0.01, 1), first);      /* deterministic */
    assert_int_not_equal(bernoulli(0.01, 2), first);  /* another link, another stream */
    expect_assert_failure(oche_loss_create(memory, 1.5, NULL, 1, 1));
}

/* A pattern does not change the random draws. */
static void independent(void **state)
{
    struct oche_loss *plain = loss_of(0.1, NULL, 9);
    struct oche_loss *both = loss_of(0.1, "every 3", 9);

    (void)state;
    for (unsigned i = 1; i <= 10000; i++) {
        struct oche_packet packet = {.psn = i};
        bool expected = oche_loss_drop(plain, &packet) || i % 3 == 0;

        assert_int_equal(oche_loss_drop(both, &packet), expected);
    }
    free(plain);
    free(both);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_are_cut), cmocka_unit_test(patterns),
        cmocka_unit_test(acks_alone),     cmocka_unit_test(first_only),
        cmocka_unit_test(not_a_pattern),  cmocka_unit_test(probability),
        cmocka_unit_test(independent),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
