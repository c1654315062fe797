/* SPDX-License-Identifier: Apache-2.0 */
/* The opcode table's rows. Facts from rocev2.md#opcodes; an opcode is added by adding a row. */
#include "core/wire/opcode.h"

#define ROW(opcode, text, service_, operation_, flags_, first, second)                             \
    ROW3(opcode, text, service_, operation_, flags_, first, second, NONE)
#define ROW3(opcode, text, service_, operation_, flags_, first, second, third)                     \
    [OCHE_##opcode] = {                                                                            \
        .name = (text),                                                                            \
        .flags = ((flags_) | OCHE_OP_HAS(first) | OCHE_OP_HAS(second) | OCHE_OP_HAS(third)) &      \
                 ~OCHE_OP_HAS(NONE),                                                               \
        .service = OCHE_SERVICE_##service_,                                                        \
        .operation = OCHE_OPERATION_##operation_,                                                  \
        .headers = {OCHE_HEADER_##first, OCHE_HEADER_##second, OCHE_HEADER_##third},               \
        .header_bytes = OCHE_##first##_BYTES + OCHE_##second##_BYTES + OCHE_##third##_BYTES,       \
    }

/*
 * Groups of flags that repeat. A request takes a PSN of its own; a response has the PSN of its
 * request.
 */
#define REQUEST  (OCHE_OP_REQUEST | OCHE_OP_TAKES_PSN)
#define DATA     (REQUEST | OCHE_OP_PAYLOAD)
#define RESPONSE (OCHE_OP_RESPONSE)
#define FIRST    (OCHE_OP_FIRST)
#define MIDDLE   (OCHE_OP_MIDDLE)
#define LAST     (OCHE_OP_LAST)
#define ONLY     (OCHE_OP_ONLY)
#define TAKE     (OCHE_OP_TAKES_RECV)
#define END      (OCHE_OP_ENDS_RECV)

const struct oche_opcode_row oche_opcodes[OCHE_OPCODES] = {
    ROW(RC_SEND_FIRST, "RC SEND FIRST", RC, SEND, DATA | FIRST | TAKE, NONE, NONE),
    ROW(RC_SEND_MIDDLE, "RC SEND MIDDLE", RC, SEND, DATA | MIDDLE, NONE, NONE),
    ROW(RC_SEND_LAST, "RC SEND LAST", RC, SEND, DATA | LAST | END, NONE, NONE),
    ROW(RC_SEND_LAST_IMM, "RC SEND LAST IMM", RC, SEND, DATA | LAST | END, IMM, NONE),
    ROW(RC_SEND_ONLY, "RC SEND ONLY", RC, SEND, DATA | ONLY | TAKE | END, NONE, NONE),
    ROW(RC_SEND_ONLY_IMM, "RC SEND ONLY IMM", RC, SEND, DATA | ONLY | TAKE | END, IMM, NONE),
    ROW(RC_WRITE_FIRST, "RC WRITE FIRST", RC, WRITE, DATA | FIRST, RETH, NONE),
    ROW(RC_WRITE_MIDDLE, "RC WRITE MIDDLE", RC, WRITE, DATA | MIDDLE, NONE, NONE),
    ROW(RC_WRITE_LAST, "RC WRITE LAST", RC, WRITE, DATA | LAST, NONE, NONE),
    ROW(RC_WRITE_LAST_IMM, "RC WRITE LAST IMM", RC, WRITE, DATA | LAST | TAKE | END, IMM, NONE),
    ROW(RC_WRITE_ONLY, "RC WRITE ONLY", RC, WRITE, DATA | ONLY, RETH, NONE),
    ROW(RC_WRITE_ONLY_IMM, "RC WRITE ONLY IMM", RC, WRITE, DATA | ONLY | TAKE | END, RETH, IMM),
    ROW(RC_READ_REQUEST, "RC READ REQUEST", RC, READ, REQUEST | ONLY, RETH, NONE),
    ROW(RC_READ_RESPONSE_FIRST, "RC READ RESPONSE FIRST", RC, READ,
        RESPONSE | FIRST | OCHE_OP_PAYLOAD, AETH, NONE),
    ROW(RC_READ_RESPONSE_MIDDLE, "RC READ RESPONSE MIDDLE", RC, READ,
        RESPONSE | MIDDLE | OCHE_OP_PAYLOAD, NONE, NONE),
    ROW(RC_READ_RESPONSE_LAST, "RC READ RESPONSE LAST", RC, READ, RESPONSE | LAST | OCHE_OP_PAYLOAD,
        AETH, NONE),
    ROW(RC_READ_RESPONSE_ONLY, "RC READ RESPONSE ONLY", RC, READ, RESPONSE | ONLY | OCHE_OP_PAYLOAD,
        AETH, NONE),
    ROW(RC_ACK, "RC ACK", RC, ACK, RESPONSE | ONLY, AETH, NONE),
    ROW(RC_ATOMIC_ACK, "RC ATOMIC ACK", RC, ATOMIC_ACK, RESPONSE | ONLY, AETH, ATOMIC_ACK),
    ROW(RC_COMPARE_SWAP, "RC COMPARE SWAP", RC, COMPARE_SWAP, REQUEST | ONLY, ATOMIC, NONE),
    ROW(RC_FETCH_ADD, "RC FETCH ADD", RC, FETCH_ADD, REQUEST | ONLY, ATOMIC, NONE),
    ROW(RC_SEND_LAST_INV, "RC SEND LAST INV", RC, SEND, DATA | LAST | END, IETH, NONE),
    ROW(RC_SEND_ONLY_INV, "RC SEND ONLY INV", RC, SEND, DATA | ONLY | TAKE | END, IETH, NONE),

    ROW(UC_SEND_FIRST, "UC SEND FIRST", UC, SEND, DATA | FIRST | TAKE, NONE, NONE),
    ROW(UC_SEND_MIDDLE, "UC SEND MIDDLE", UC, SEND, DATA | MIDDLE, NONE, NONE),
    ROW(UC_SEND_LAST, "UC SEND LAST", UC, SEND, DATA | LAST | END, NONE, NONE),
    ROW(UC_SEND_LAST_IMM, "UC SEND LAST IMM", UC, SEND, DATA | LAST | END, IMM, NONE),
    ROW(UC_SEND_ONLY, "UC SEND ONLY", UC, SEND, DATA | ONLY | TAKE | END, NONE, NONE),
    ROW(UC_SEND_ONLY_IMM, "UC SEND ONLY IMM", UC, SEND, DATA | ONLY | TAKE | END, IMM, NONE),
    ROW(UC_WRITE_FIRST, "UC WRITE FIRST", UC, WRITE, DATA | FIRST, RETH, NONE),
    ROW(UC_WRITE_MIDDLE, "UC WRITE MIDDLE", UC, WRITE, DATA | MIDDLE, NONE, NONE),
    ROW(UC_WRITE_LAST, "UC WRITE LAST", UC, WRITE, DATA | LAST, NONE, NONE),
    ROW(UC_WRITE_LAST_IMM, "UC WRITE LAST IMM", UC, WRITE, DATA | LAST | TAKE | END, IMM, NONE),
    ROW(UC_WRITE_ONLY, "UC WRITE ONLY", UC, WRITE, DATA | ONLY, RETH, NONE),
    ROW(UC_WRITE_ONLY_IMM, "UC WRITE ONLY IMM", UC, WRITE, DATA | ONLY | TAKE | END, RETH, IMM),

    ROW(UD_SEND_ONLY, "UD SEND ONLY", UD, SEND, DATA | ONLY | TAKE | END, DETH, NONE),
    ROW(UD_SEND_ONLY_IMM, "UD SEND ONLY IMM", UD, SEND, DATA | ONLY | TAKE | END, DETH, IMM),

    ROW(CNP, "CNP", CNP, NONE, ONLY, CNP, NONE),

    ROW(RC_WRITE_MIDDLE_AT, "RC WRITE MIDDLE AT", RC_EXTENDED, WRITE, DATA | MIDDLE, RETH, NONE),
    ROW(RC_WRITE_LAST_AT, "RC WRITE LAST AT", RC_EXTENDED, WRITE, DATA | LAST, RETH, NONE),
    ROW(RC_WRITE_LAST_IMM_AT, "RC WRITE LAST IMM AT", RC_EXTENDED, WRITE, DATA | LAST | TAKE | END,
        RETH, IMM),
    ROW(RC_SEND_FIRST_AT, "RC SEND FIRST AT", RC_EXTENDED, SEND, DATA | FIRST | TAKE, PLACE, NONE),
    ROW(RC_SEND_MIDDLE_AT, "RC SEND MIDDLE AT", RC_EXTENDED, SEND, DATA | MIDDLE, PLACE, NONE),
    ROW(RC_SEND_LAST_AT, "RC SEND LAST AT", RC_EXTENDED, SEND, DATA | LAST | END, PLACE, NONE),
    ROW(RC_SEND_LAST_IMM_AT, "RC SEND LAST IMM AT", RC_EXTENDED, SEND, DATA | LAST | END, PLACE,
        IMM),
    ROW(RC_SEND_ONLY_AT, "RC SEND ONLY AT", RC_EXTENDED, SEND, DATA | ONLY | TAKE | END, PLACE,
        NONE),
    ROW(RC_SEND_ONLY_IMM_AT, "RC SEND ONLY IMM AT", RC_EXTENDED, SEND, DATA | ONLY | TAKE | END,
        PLACE, IMM),
    ROW(RC_SEND_LAST_INV_AT, "RC SEND LAST INV AT", RC_EXTENDED, SEND, DATA | LAST | END, PLACE,
        IETH),
    ROW(RC_SEND_ONLY_INV_AT, "RC SEND ONLY INV AT", RC_EXTENDED, SEND, DATA | ONLY | TAKE | END,
        PLACE, IETH),
    ROW(RC_SACK, "RC SACK", RC_EXTENDED, ACK, RESPONSE | ONLY, AETH, SACK),

    ROW(RC_ACK_SHARE, "RC ACK SHARE", RC_EXTENDED, ACK, RESPONSE | ONLY, AETH, SHARE),
    ROW(SHARE, "SHARE", SCHEME, NONE, ONLY, SHARE, NONE),

    ROW(RC_ACK_RATE, "RC ACK RATE", RC_EXTENDED, ACK, RESPONSE | ONLY, AETH, RATE),
    ROW(RATE, "RATE", SCHEME, NONE, ONLY, RATE, NONE),

    ROW(RC_ACK_INT, "RC ACK INT", RC_EXTENDED, ACK, RESPONSE | ONLY, AETH, INT),
    ROW(RC_TRIM_NACK, "RC TRIM NACK", RC_EXTENDED, ACK, RESPONSE | ONLY, TRIM, NONE),

    ROW(RC_SEND_FIRST_GROUP, "RC SEND FIRST GROUP", RC_EXTENDED, SEND, DATA | FIRST | TAKE, GROUP,
        NONE),
    ROW(RC_SEND_ONLY_GROUP, "RC SEND ONLY GROUP", RC_EXTENDED, SEND, DATA | ONLY | TAKE | END,
        GROUP, NONE),
    ROW(RC_SEND_ONLY_IMM_GROUP, "RC SEND ONLY IMM GROUP", RC_EXTENDED, SEND,
        DATA | ONLY | TAKE | END, IMM, GROUP),
    ROW(RC_WRITE_FIRST_GROUP, "RC WRITE FIRST GROUP", RC_EXTENDED, WRITE, DATA | FIRST, RETH,
        GROUP),
    ROW(RC_WRITE_ONLY_GROUP, "RC WRITE ONLY GROUP", RC_EXTENDED, WRITE, DATA | ONLY, RETH, GROUP),
    ROW3(RC_WRITE_ONLY_IMM_GROUP, "RC WRITE ONLY IMM GROUP", RC_EXTENDED, WRITE,
         DATA | ONLY | TAKE | END, RETH, IMM, GROUP),
};

const char *oche_opcode_name(uint8_t opcode)
{
    const char *name = oche_opcodes[opcode].name;

    return name != NULL ? name : "opcode ?";
}

const char *oche_header_name(enum oche_header header)
{
    static const char *const names[OCHE_HEADERS] = {
        [OCHE_HEADER_NONE] = "none",
        [OCHE_HEADER_RETH] = "RETH",
        [OCHE_HEADER_ATOMIC] = "AtomicETH",
        [OCHE_HEADER_AETH] = "AETH",
        [OCHE_HEADER_ATOMIC_ACK] = "AtomicAckETH",
        [OCHE_HEADER_IMM] = "ImmDt",
        [OCHE_HEADER_IETH] = "IETH",
        [OCHE_HEADER_DETH] = "DETH",
        [OCHE_HEADER_CNP] = "reserved",
        [OCHE_HEADER_SCHEME] = "scheme",
        [OCHE_HEADER_PLACE] = "place",
        [OCHE_HEADER_SACK] = "SACK",
        [OCHE_HEADER_SHARE] = "share",
        [OCHE_HEADER_RATE] = "rate",
        [OCHE_HEADER_TRIM] = "trim",
        [OCHE_HEADER_INT] = "INT",
        [OCHE_HEADER_GROUP] = "group",
    };

    return header < OCHE_HEADERS ? names[header] : "?";
}
