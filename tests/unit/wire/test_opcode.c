/* SPDX-License-Identifier: Apache-2.0 */
/* The opcode table against rocev2.md#opcodes, repeated here without the table's macros. */
#include <string.h>

#include "core/qp/work.h"
#include "core/wire/opcode.h"
#include "tests/support/test.h"

_Static_assert((int)OCHE_SERVICE_RC == (int)OCHE_TRANSPORT_RC, "services begin as transports");
_Static_assert((int)OCHE_SERVICE_UC == (int)OCHE_TRANSPORT_UC, "services begin as transports");
_Static_assert((int)OCHE_SERVICE_UD > (int)OCHE_TRANSPORT_UD, "a datagram is no queue pair's");
_Static_assert((int)OCHE_SERVICE_CNP > (int)OCHE_TRANSPORT_UD, "nor is a CNP");

/*
 * what: F first, M middle, L last, O only; q request, s response, - neither; p payload, n none;
 * receive work: t takes one, e ends one.
 */
static const struct expected {
    uint8_t opcode;
    const char *name, *headers;
    uint8_t header_bytes;
    const char *what;
} expected[] = {
    {0x00, "RC SEND FIRST", "", 0, "Fqpt"},
    {0x01, "RC SEND MIDDLE", "", 0, "Mqp"},
    {0x02, "RC SEND LAST", "", 0, "Lqpe"},
    {0x03, "RC SEND LAST IMM", "ImmDt", 4, "Lqpe"},
    {0x04, "RC SEND ONLY", "", 0, "Oqpte"},
    {0x05, "RC SEND ONLY IMM", "ImmDt", 4, "Oqpte"},
    {0x06, "RC WRITE FIRST", "RETH", 16, "Fqp"},
    {0x07, "RC WRITE MIDDLE", "", 0, "Mqp"},
    {0x08, "RC WRITE LAST", "", 0, "Lqp"},
    {0x09, "RC WRITE LAST IMM", "ImmDt", 4, "Lqpte"},
    {0x0a, "RC WRITE ONLY", "RETH", 16, "Oqp"},
    {0x0b, "RC WRITE ONLY IMM", "RETH ImmDt", 20, "Oqpte"},
    {0x0c, "RC READ REQUEST", "RETH", 16, "Oqn"},
    {0x0d, "RC READ RESPONSE FIRST", "AETH", 4, "Fsp"},
    {0x0e, "RC READ RESPONSE MIDDLE", "", 0, "Msp"},
    {0x0f, "RC READ RESPONSE LAST", "AETH", 4, "Lsp"},
    {0x10, "RC READ RESPONSE ONLY", "AETH", 4, "Osp"},
    {0x11, "RC ACK", "AETH", 4, "Osn"},
    {0x12, "RC ATOMIC ACK", "AETH AtomicAckETH", 12, "Osn"},
    {0x13, "RC COMPARE SWAP", "AtomicETH", 28, "Oqn"},
    {0x14, "RC FETCH ADD", "AtomicETH", 28, "Oqn"},
    {0x16, "RC SEND LAST INV", "IETH", 4, "Lqpe"},
    {0x17, "RC SEND ONLY INV", "IETH", 4, "Oqpte"},
    {0x20, "UC SEND FIRST", "", 0, "Fqpt"},
    {0x21, "UC SEND MIDDLE", "", 0, "Mqp"},
    {0x22, "UC SEND LAST", "", 0, "Lqpe"},
    {0x23, "UC SEND LAST IMM", "ImmDt", 4, "Lqpe"},
    {0x24, "UC SEND ONLY", "", 0, "Oqpte"},
    {0x25, "UC SEND ONLY IMM", "ImmDt", 4, "Oqpte"},
    {0x26, "UC WRITE FIRST", "RETH", 16, "Fqp"},
    {0x27, "UC WRITE MIDDLE", "", 0, "Mqp"},
    {0x28, "UC WRITE LAST", "", 0, "Lqp"},
    {0x29, "UC WRITE LAST IMM", "ImmDt", 4, "Lqpte"},
    {0x2a, "UC WRITE ONLY", "RETH", 16, "Oqp"},
    {0x2b, "UC WRITE ONLY IMM", "RETH ImmDt", 20, "Oqpte"},
    {0x64, "UD SEND ONLY", "DETH", 8, "Oqpte"},
    {0x65, "UD SEND ONLY IMM", "DETH ImmDt", 12, "Oqpte"},
    {0x81, "CNP", "reserved", 16, "O-n"},
    {0xc0, "RC WRITE MIDDLE AT", "RETH", 16, "Mqp"},
    {0xc1, "RC WRITE LAST AT", "RETH", 16, "Lqp"},
    {0xc2, "RC WRITE LAST IMM AT", "RETH ImmDt", 20, "Lqpte"},
    {0xc3, "RC SEND FIRST AT", "place", 8, "Fqpt"},
    {0xc4, "RC SEND MIDDLE AT", "place", 8, "Mqp"},
    {0xc5, "RC SEND LAST AT", "place", 8, "Lqpe"},
    {0xc6, "RC SEND LAST IMM AT", "place ImmDt", 12, "Lqpe"},
    {0xc7, "RC SEND ONLY AT", "place", 8, "Oqpte"},
    {0xc8, "RC SEND ONLY IMM AT", "place ImmDt", 12, "Oqpte"},
    {0xd0, "RC SEND LAST INV AT", "place IETH", 12, "Lqpe"},
    {0xd1, "RC SEND ONLY INV AT", "place IETH", 12, "Oqpte"},
    {0xc9, "RC SACK", "AETH SACK", 16, "Osn"},
    {0xca, "RC ACK SHARE", "AETH share", 8, "Osn"},
    {0xcb, "SHARE", "share", 4, "O-n"},
    {0xcc, "RC ACK RATE", "AETH rate", 12, "Osn"},
    {0xcd, "RATE", "rate", 8, "O-n"},
    {0xce, "RC ACK INT", "AETH INT", 48, "Osn"},
    {0xcf, "RC TRIM NACK", "trim", 4, "Osn"},
    {0xd8, "RC SEND FIRST GROUP", "group", 8, "Fqpt"},
    {0xd9, "RC SEND ONLY GROUP", "group", 8, "Oqpte"},
    {0xda, "RC SEND ONLY IMM GROUP", "ImmDt group", 12, "Oqpte"},
    {0xdb, "RC WRITE FIRST GROUP", "RETH group", 24, "Fqp"},
    {0xdc, "RC WRITE ONLY GROUP", "RETH group", 24, "Oqp"},
    {0xdd, "RC WRITE ONLY IMM GROUP", "RETH ImmDt group", 28, "Oqpte"},
};
#define EXPECTED (sizeof expected / sizeof expected[0])

static uint32_t flags_of(const char *what)
{
    uint32_t flags = 0;

    for (; *what != '\0'; what++) {
        switch (*what) {
        case 'F':
            flags |= OCHE_OP_FIRST;
            break;
        case 'M':
            flags |= OCHE_OP_MIDDLE;
            break;
        case 'L':
            flags |= OCHE_OP_LAST;
            break;
        case 'O':
            flags |= OCHE_OP_FIRST | OCHE_OP_LAST;
            break;
        case 'q':
            flags |= OCHE_OP_REQUEST | OCHE_OP_TAKES_PSN;
            break;
        case 's':
            flags |= OCHE_OP_RESPONSE;
            break;
        case 'p':
            flags |= OCHE_OP_PAYLOAD;
            break;
        case 't':
            flags |= OCHE_OP_TAKES_RECV;
            break;
        case 'e':
            flags |= OCHE_OP_ENDS_RECV;
            break;
        default:
            break;
        }
    }
    return flags;
}

static void rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < EXPECTED; i++) {
        const struct oche_opcode_row *row = oche_opcode(expected[i].opcode);
        const uint32_t low = (UINT32_C(1) << OCHE_OP_HEADER_SHIFT) - 1;
        uint32_t header_flags = 0;
        char headers[64] = "";

        assert_string_equal(oche_opcode_name(expected[i].opcode), expected[i].name);
        for (unsigned h = 0; h < OCHE_MAX_HEADERS; h++) {
            if (row->headers[h] == OCHE_HEADER_NONE)
                continue;
            if (headers[0] != '\0')
                strcat(headers, " ");
            strcat(headers, oche_header_name((enum oche_header)row->headers[h]));
            header_flags |= UINT32_C(1) << (OCHE_OP_HEADER_SHIFT + row->headers[h]);
        }
        assert_string_equal(headers, expected[i].headers);
        assert_int_equal(row->flags & ~low, header_flags);
        assert_int_equal(row->header_bytes, expected[i].header_bytes);
        assert_int_equal(row->flags & low, flags_of(expected[i].what));
        assert_in_range(OCHE_BTH_BYTES + row->header_bytes, 0, OCHE_MAX_HEADER_BYTES);
    }
}

static void nothing_else(void **state)
{
    size_t rows_there = 0;

    (void)state;
    for (unsigned opcode = 0; opcode < OCHE_OPCODES; opcode++) {
        const struct oche_opcode_row *row = oche_opcode((uint8_t)opcode);

        if (row->name != NULL) {
            rows_there++;
            continue;
        }
        assert_string_equal(oche_opcode_name((uint8_t)opcode), "opcode ?");
        assert_int_equal(row->flags, 0);
        assert_int_equal(row->header_bytes, 0);
    }
    assert_int_equal(rows_there, EXPECTED);
}

static void services(void **state)
{
    (void)state;
    for (unsigned opcode = 0; opcode < 0x20; opcode++) {
        const struct oche_opcode_row *rc = oche_opcode((uint8_t)opcode);
        const struct oche_opcode_row *uc = oche_opcode((uint8_t)(opcode + OCHE_UC_OF_RC));

        if (rc->name != NULL)
            assert_int_equal(rc->service, OCHE_SERVICE_RC);
        if (uc->name == NULL)
            continue;
        assert_int_equal(uc->service, OCHE_SERVICE_UC);
        assert_int_equal(uc->flags, rc->flags);
        assert_int_equal(uc->operation, rc->operation);
        assert_string_equal(uc->name + 2, rc->name + 2);
    }
    assert_int_equal(oche_opcode(OCHE_UD_SEND_ONLY)->service, OCHE_SERVICE_UD);
    assert_int_equal(oche_opcode(OCHE_CNP)->service, OCHE_SERVICE_CNP);
    assert_int_equal(oche_opcode(OCHE_CNP)->operation, OCHE_OPERATION_NONE);
    assert_int_equal(oche_opcode(OCHE_SHARE)->service, OCHE_SERVICE_SCHEME);
    assert_int_equal(oche_opcode(OCHE_SHARE)->operation, OCHE_OPERATION_NONE);
    assert_int_equal(oche_opcode(OCHE_RATE)->service, OCHE_SERVICE_SCHEME);
    assert_int_equal(oche_opcode(OCHE_RC_ACK)->operation, OCHE_OPERATION_ACK);
    assert_int_equal(oche_opcode(OCHE_RC_READ_REQUEST)->operation, OCHE_OPERATION_READ);
    assert_int_equal(oche_opcode(OCHE_RC_READ_RESPONSE_LAST)->operation, OCHE_OPERATION_READ);
    assert_int_equal(oche_opcode(OCHE_RC_WRITE_LAST)->operation, OCHE_OPERATION_WRITE);
    assert_int_equal(oche_opcode(OCHE_RC_SEND_LAST)->operation, OCHE_OPERATION_SEND);
    assert_int_equal(oche_opcode(OCHE_RC_ATOMIC_ACK)->operation, OCHE_OPERATION_ATOMIC_ACK);
    assert_true(oche_opcode_has(OCHE_RC_ACK, OCHE_OP_RESPONSE | OCHE_OP_HAS(AETH)));
    assert_false(oche_opcode_has(OCHE_RC_SEND_LAST, OCHE_OP_ONLY));
}

/* An extended row equals the plain one except for its header. */
static void extended(void **state)
{
    static const uint8_t twins[][2] = {
        {OCHE_RC_WRITE_MIDDLE, OCHE_RC_WRITE_MIDDLE_AT},
        {OCHE_RC_WRITE_LAST, OCHE_RC_WRITE_LAST_AT},
        {OCHE_RC_WRITE_LAST_IMM, OCHE_RC_WRITE_LAST_IMM_AT},
        {OCHE_RC_SEND_FIRST, OCHE_RC_SEND_FIRST_AT},
        {OCHE_RC_SEND_MIDDLE, OCHE_RC_SEND_MIDDLE_AT},
        {OCHE_RC_SEND_LAST, OCHE_RC_SEND_LAST_AT},
        {OCHE_RC_SEND_LAST_IMM, OCHE_RC_SEND_LAST_IMM_AT},
        {OCHE_RC_SEND_ONLY, OCHE_RC_SEND_ONLY_AT},
        {OCHE_RC_SEND_ONLY_IMM, OCHE_RC_SEND_ONLY_IMM_AT},
        {OCHE_RC_SEND_LAST_INV, OCHE_RC_SEND_LAST_INV_AT},
        {OCHE_RC_SEND_ONLY_INV, OCHE_RC_SEND_ONLY_INV_AT},
        {OCHE_RC_ACK, OCHE_RC_SACK},
        {OCHE_RC_ACK, OCHE_RC_ACK_SHARE},
        {OCHE_RC_ACK, OCHE_RC_ACK_RATE},
        {OCHE_RC_ACK, OCHE_RC_ACK_INT},
    };

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(twins); i++) {
        const struct oche_opcode_row *plain = oche_opcode(twins[i][0]);
        const struct oche_opcode_row *more = oche_opcode(twins[i][1]);
        const uint32_t low = (UINT32_C(1) << OCHE_OP_HEADER_SHIFT) - 1;

        assert_int_equal(more->service, OCHE_SERVICE_RC_EXTENDED);
        assert_int_equal(more->operation, plain->operation);
        assert_int_equal(more->flags & low, plain->flags & low);
        assert_true(oche_opcode_has(twins[i][1], plain->flags));
        assert_true(more->header_bytes > plain->header_bytes);
    }
    for (unsigned opcode = 0; opcode < OCHE_SCHEME_OPCODES; opcode++)
        assert_int_not_equal(oche_opcode((uint8_t)opcode)->service, OCHE_SERVICE_RC_EXTENDED);
}

/* 62 + FCS, 1082 + FCS, … are the lengths in the captures of tests/golden. */
static void frame_bytes(void **state)
{
    (void)state;
    assert_int_equal(oche_frame_bytes(OCHE_RC_ACK, 0, false), 66);
    assert_int_equal(oche_frame_bytes(OCHE_RC_ACK, 0, true), 86);
    assert_int_equal(oche_frame_bytes(OCHE_RC_SEND_FIRST, 1024, false), 1086);
    assert_int_equal(oche_frame_bytes(OCHE_RC_WRITE_FIRST, 1024, false), 1102);
    assert_int_equal(oche_frame_bytes(OCHE_RC_COMPARE_SWAP, 0, false), 90);
    assert_int_equal(oche_frame_bytes(OCHE_RC_SEND_ONLY, 5, false), 70);
    assert_int_equal(oche_frame_bytes(OCHE_RC_SEND_LAST, 0, false), 64); /* 62: padded */
    assert_int_equal(oche_frame_bytes(OCHE_CNP, 0, false), 78);
    assert_int_equal(oche_transport_bytes(OCHE_UD_SEND_ONLY, 256), 12 + 8 + 256 + 4);
    for (uint32_t n = 0; n < 9; n++)
        assert_int_equal((n + oche_pad_bytes(n)) % 4 + (oche_pad_bytes(n) > 3), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows),     cmocka_unit_test(nothing_else), cmocka_unit_test(services),
        cmocka_unit_test(extended), cmocka_unit_test(frame_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
