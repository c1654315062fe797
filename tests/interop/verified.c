/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One operation between two hosts, each byte of which is checked: a verbs program like others, for
 * any libibverbs, so that ours can be one side and Linux's soft-RoCE the other.
 *     verified [OPTION…] OPERATION [SERVER]
 * The server is passive: it takes messages, or has the memory that is written, read or counted in.
 * OPERATION: send, send_imm, write, write_imm, read, add, swap. Without SERVER it is the server,
 * and serves one client with the same options. Ends with a line that says what was done, and status
 * 0 if all that arrived was right and, but with --lossy, all did.
 */
#include <argp.h>
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/interop/verified.h"

#define WORDS 8 /* that atomics count in */

static struct verified v = {.device = NULL,
                            .port = 18600,
                            .type = IBV_QPT_RC,
                            .mtu = 1024,
                            .count = 40,
                            .depth = 16,
                            .reads = 16,
                            .timeout = 14,
                            .sizes = {1, 3, 1023, 1024, 1025, 4097, 100001},
                            .size_count = 7};

/* ---- what a message is ---- */

static uint32_t size_of(unsigned message)
{
    return v.sizes[message % v.size_count];
}

static uint8_t *slot(unsigned message)
{
    return v.memory + (size_t)(message % v.depth) * v.slot_bytes;
}

static uint8_t expected(unsigned message, size_t at)
{
    return (uint8_t)(message * 131 + at * 7 + (at >> 8) * 13 + 1);
}

static void fill(unsigned message, uint8_t *bytes)
{
    for (size_t at = 0; at < size_of(message); at++)
        bytes[at] = expected(message, at);
}

static void check(unsigned message, const uint8_t *bytes, const char *where)
{
    for (size_t at = 0; at < size_of(message); at++)
        if (bytes[at] != expected(message, at))
            verified_fail("message %u of %u bytes, %s: byte %zu is %u, not %u", message,
                          size_of(message), where, at, bytes[at], expected(message, at));
    v.checked++;
}

/* Checks that the memory behind a message's bytes is unchanged. */
static void check_behind(unsigned message, const uint8_t *bytes)
{
    for (size_t at = size_of(message); at < size_of(message) + GUARD; at++)
        if (bytes[at] != 0xee)
            verified_fail("message %u of %u bytes: byte %zu, behind it, was written to", message,
                          size_of(message), at);
}

static void clear(unsigned message)
{
    memset(slot(message), 0xee, v.slot_bytes);
}

/* ---- SEND ---- */

static void post_receive(unsigned message)
{
    if (!v.slow)
        clear(message);
    verified_receive(&v, message, slot(message), v.slot_bytes);
}

/* Checks the message of a completion; returns its number. */
static unsigned received(const struct ibv_wc *wc, unsigned next)
{
    const uint8_t *bytes = slot((unsigned)wc->wr_id);
    const bool numbered = (wc->wc_flags & IBV_WC_WITH_IMM) != 0;
    const unsigned message = numbered ? ntohl(wc->imm_data) : next;
    const uint32_t before = v.type == IBV_QPT_UD ? 40 : 0;

    if (numbered != v.immediate)
        verified_fail("message %u: an immediate value, or none", next);
    if (message >= v.count || (v.type == IBV_QPT_RC && message != next))
        verified_fail("message %u came for %u", message, next);
    if (wc->opcode == IBV_WC_RECV_RDMA_WITH_IMM) {
        bytes = slot(message);
    } else if (wc->byte_len != size_of(message) + before) {
        verified_fail("message %u: %u bytes, not %u", message, wc->byte_len,
                      size_of(message) + before);
    }
    if (v.type == IBV_QPT_UD && wc->src_qp != v.theirs.qpn)
        verified_fail("message %u came from queue pair %x", message, wc->src_qp);
    check(message, bytes + before, "received");
    if (!v.lossy) /* a WRITE's receive was another one if some are lost */
        check_behind(message, bytes + before);
    return message;
}

/* Receives come late, one at a time: a client must be told that the receiver is not ready. */
static void take_slowly(void)
{
    for (unsigned next = 0; next < v.count; next++) {
        struct ibv_wc wc;

        usleep(3000);
        post_receive(next);
        verified_poll(&v, &wc);
        received(&wc, next);
        clear(next); /* a WRITE with immediate data arrives before its receive is posted */
    }
}

static void take(void)
{
    unsigned next = 0, posted = 0, got = 0;

    while (next < v.count) {
        const unsigned end = next + v.depth / 2 < v.count ? next + v.depth / 2 : v.count;
        struct ibv_wc wc;

        while (posted < got + v.depth)
            post_receive(posted++);
        verified_barrier(&v); /* the client sends half of these messages */
        if (v.lossy)
            /* the client has sent them; late packets are received for a while */
            verified_barrier(&v);
        for (; next < end; next++) {
            if (!verified_poll_for(&v, &wc, v.lossy ? 200 : 0))
                break; /* the rest is lost */
            got++;
            received(&wc, next);
        }
        next = end;
    }
}

static void give(void)
{
    for (unsigned message = 0; message < v.count; message++) {
        struct ibv_wc wc;

        if (!v.slow && message % (v.depth / 2) == 0)
            verified_barrier(&v);
        fill(message, slot(message));
        verified_send(&v, message, slot(message), size_of(message));
        if (message % (v.depth / 2) != v.depth / 2 - 1 && message + 1 < v.count)
            continue;
        for (unsigned i = 0; i <= message % (v.depth / 2); i++)
            verified_poll(&v, &wc);
        if (v.lossy)
            verified_barrier(&v);
    }
}

/* ---- WRITE and READ: rounds of half the slots ---- */

static void each_round(void (*before)(unsigned), void (*after)(unsigned), void (*between)(unsigned))
{
    for (unsigned first = 0; first < v.count; first += v.depth / 2) {
        const unsigned end = first + v.depth / 2 < v.count ? first + v.depth / 2 : v.count;

        for (unsigned message = first; message < end; message++)
            before(message);
        verified_barrier(&v);
        for (unsigned message = first; message < end && between != NULL; message++)
            between(message);
        for (unsigned message = first; message < end && between != NULL; message++) {
            struct ibv_wc wc;

            verified_poll(&v, &wc);
        }
        verified_barrier(&v);
        if (v.type == IBV_QPT_UC)
            usleep(200000); /* nothing says when it has arrived */
        for (unsigned message = first; message < end; message++)
            after(message);
    }
}

static void nothing(unsigned message)
{
    (void)message;
}

static void fill_slot(unsigned message)
{
    fill(message, slot(message));
}

static void check_slot(unsigned message)
{
    check(message, slot(message), "in memory");
    check_behind(message, slot(message));
}

static void write_slot(unsigned message)
{
    verified_write(&v, message, slot(message), size_of(message), slot(message) - v.memory);
}

static void read_slot(unsigned message)
{
    verified_read(&v, message, slot(message), size_of(message), slot(message) - v.memory);
}

/* ---- atomics: eight words, each used in turn, so that all answers are known ---- */

static uint64_t *word(unsigned i)
{
    return (uint64_t *)(void *)(v.memory + 8 * i);
}

/* Returns the operand of operation `i`: the number to add or to store. Every third exchange
 * compares with a wrong value, and must leave the word unchanged. */
static uint64_t operand(unsigned i)
{
    return UINT64_C(0x0101010101010101) * (i % 200) + i + 1;
}

static uint64_t after(unsigned i, uint64_t before)
{
    if (v.operation == OPERATION_ADD)
        return before + operand(i);
    return i % 3 == 2 ? before : operand(i);
}

static void count(void)
{
    const uint64_t *results = (const uint64_t *)(const void *)(v.memory + v.slot_bytes);
    uint64_t values[WORDS] = {0};

    verified_barrier(&v);
    for (unsigned first = 0; first < v.count; first += v.depth / 2) {
        const unsigned end = first + v.depth / 2 < v.count ? first + v.depth / 2 : v.count;
        uint64_t planned[WORDS];

        memcpy(planned, values, sizeof(planned));
        for (unsigned i = first; i < end; i++) {
            const bool wrong = v.operation == OPERATION_SWAP && i % 3 == 2;

            verified_atomic(&v, i, &results[i % v.depth], i % WORDS * 8,
                            planned[i % WORDS] + (wrong ? 1 : 0), operand(i));
            planned[i % WORDS] = after(i, planned[i % WORDS]);
        }
        for (unsigned i = first; i < end; i++) {
            struct ibv_wc wc;

            verified_poll(&v, &wc);
        }
        for (unsigned i = first; i < end; i++) {
            if (results[i % v.depth] != values[i % WORDS])
                verified_fail("atomic %u: answered %llx, not %llx", i,
                              (unsigned long long)results[i % v.depth],
                              (unsigned long long)values[i % WORDS]);
            values[i % WORDS] = after(i, values[i % WORDS]);
            v.checked++;
        }
    }
    verified_barrier(&v);
}

static void be_counted_in(void)
{
    uint64_t values[WORDS] = {0};

    memset(v.memory, 0, WORDS * 8);
    verified_barrier(&v);
    verified_barrier(&v);
    for (unsigned i = 0; i < v.count; i++)
        values[i % WORDS] = after(i, values[i % WORDS]);
    for (unsigned i = 0; i < WORDS; i++)
        if (*word(i) != values[i])
            verified_fail("word %u is %llx, not %llx", i, (unsigned long long)*word(i),
                          (unsigned long long)values[i]);
    v.checked = v.count;
}

/* ---- from the outside ---- */

static void serve(void)
{
    switch (v.operation) {
    case OPERATION_SEND:
    case OPERATION_WRITE_IMM:
        (v.slow ? take_slowly : take)();
        return;
    case OPERATION_WRITE:
        each_round(clear, check_slot, NULL);
        return;
    case OPERATION_READ:
        each_round(fill_slot, nothing, NULL);
        v.checked = v.count;
        return;
    default:
        be_counted_in();
    }
}

static void ask(void)
{
    switch (v.operation) {
    case OPERATION_SEND:
    case OPERATION_WRITE_IMM:
        give();
        v.checked = v.count;
        return;
    case OPERATION_WRITE:
        each_round(fill_slot, nothing, write_slot);
        v.checked = v.count;
        return;
    case OPERATION_READ:
        each_round(clear, check_slot, read_slot);
        return;
    default:
        count();
    }
}

static void parse_sizes(char *list, struct argp_state *state)
{
    v.size_count = 0;
    for (char *word = strtok(list, ","); word != NULL; word = strtok(NULL, ",")) {
        if (v.size_count == SIZES)
            argp_error(state, "at most %d sizes", SIZES);
        v.sizes[v.size_count++] = (uint32_t)strtoul(word, NULL, 0);
    }
}

static void parse_type(const char *name, struct argp_state *state)
{
    if (strcmp(name, "rc") != 0 && strcmp(name, "uc") != 0 && strcmp(name, "ud") != 0)
        argp_error(state, "%s: one of rc, uc, ud", name);
    v.type = name[0] == 'r' ? IBV_QPT_RC : name[1] == 'c' ? IBV_QPT_UC : IBV_QPT_UD;
}

static void parse_operation(const char *name, struct argp_state *state)
{
    static const struct {
        const char *name;
        enum operation operation;
        bool immediate;
    } known[] = {
        {"send", OPERATION_SEND, false},   {"send_imm", OPERATION_SEND, true},
        {"write", OPERATION_WRITE, false}, {"write_imm", OPERATION_WRITE_IMM, true},
        {"read", OPERATION_READ, false},   {"add", OPERATION_ADD, false},
        {"swap", OPERATION_SWAP, false},
    };

    for (unsigned i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strcmp(known[i].name, name) == 0) {
            v.operation = known[i].operation;
            v.immediate = known[i].immediate;
            return;
        }
    argp_error(state, "%s: no operation", name);
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    switch (key) {
    case 'd':
        v.device = argument;
        return 0;
    case 'g':
        v.gid_index = atoi(argument);
        return 0;
    case 'p':
        v.port = atoi(argument);
        return 0;
    case 'c':
        parse_type(argument, state);
        return 0;
    case 'm':
        v.mtu = (unsigned)atoi(argument);
        return 0;
    case 'n':
        v.count = (unsigned)atoi(argument);
        return 0;
    case 'o':
        v.reads = (uint8_t)atoi(argument);
        return 0;
    case 'u':
        v.timeout = (uint8_t)atoi(argument);
        return 0;
    case 's':
        parse_sizes(argument, state);
        return 0;
    case 'r':
        v.srq = true;
        return 0;
    case 'w':
        v.slow = true;
        return 0;
    case 'l':
        v.lossy = true;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num > 1)
            argp_usage(state);
        if (state->arg_num == 0)
            parse_operation(argument, state);
        else
            v.server = argument;
        return 0;
    case ARGP_KEY_END:
        if (state->arg_num < 1)
            argp_usage(state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int main(int argc, char **argv)
{
    static const struct argp_option known[] = {
        {"device", 'd', "NAME", 0, "by default the first", 0},
        {"gid", 'g', "INDEX", 0, "of the address (0)", 0},
        {"port", 'p', "N", 0, "of TCP, where the two meet (18600)", 0},
        {"transport", 'c', "rc, uc, ud", 0, "(rc)", 0},
        {"mtu", 'm', "BYTES", 0, "of the path (1024)", 0},
        {"count", 'n', "N", 0, "messages, or atomics (40)", 0},
        {"reads", 'o', "N", 0, "READs and atomics that are outstanding (16)", 0},
        {"timeout", 'u', "N", 0, "of 4.096 us times 2^N (14)", 0},
        {"sizes", 's', "LIST", 0, "in bytes, of messages in turn", 0},
        {"srq", 'r', 0, 0, "the server's receives are shared", 0},
        {"slow", 'w', 0, 0, "the server's receives come too late", 0},
        {"lossy", 'l', 0, 0, "UC, UD: some may be missing", 0},
        {0},
    };
    static const struct argp argp = {
        .options = known, .parser = parse, .args_doc = "OPERATION [SERVER]"};

    argp_parse(&argp, argc, argv, 0, NULL, &v);
    verified_open(&v);
    if (v.server == NULL)
        serve();
    else
        ask();
    verified_close(&v);
    if (v.checked < v.count && !v.lossy)
        verified_fail("%u of %u are checked", v.checked, v.count);
    if (v.checked < v.count / 2)
        verified_fail("only %u of %u arrived", v.checked, v.count);
    printf("verified: %u of %u right\n", v.checked, v.count);
    return 0;
}
