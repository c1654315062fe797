/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All reliable operations in one stream over a bad path, both ways at once: READs that are mostly a
 * few full packets and a short last one, atomics, SENDs and WRITEs. Each byte is checked. Each work
 * request must complete, and within what timeout and retries allow.
 *     mixed [OPTION…] [SERVER]
 * Both sides must have the same options. Without SERVER it is the server.
 */
#include <argp.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/interop/verified.h"

/* The slots of a side's memory. */
enum { SOURCE, TARGETS, WORD = TARGETS + 8, RECEIVES, OWN = RECEIVES + 16, SLOTS = OWN + 16 };

#define TARGET_COUNT   (WORD - TARGETS) /* that the peer writes to and reads back */
#define RECEIVE_COUNT  (OWN - RECEIVES)
#define MOST_UNDER_WAY (SLOTS - OWN)
#define LONGEST        10240
#define RECEIVE_ID     1000

enum kind { READ_SOURCE, READ_BACK, WRITE, SEND, ADD, KINDS };
static const char *const kind_names[KINDS] = {"READ", "READ of what was written", "WRITE", "SEND",
                                              "atomic"};

struct work {
    bool posted;
    enum kind kind;
    unsigned number, target;
    uint32_t length;
    uint64_t expected; /* atomic: the expected answer; READ_BACK: the WRITE whose bytes it reads */
    double at;
};

static struct verified v = {.port = 18600,
                            .type = IBV_QPT_RC,
                            .operation = OPERATION_ADD,
                            .mtu = 1024,
                            .count = 60,
                            .depth = SLOTS,
                            .reads = 16,
                            .timeout = 14,
                            .sizes = {LONGEST},
                            .size_count = 1};
static uint64_t seed = 1;
static unsigned under_way_most = 8;
static double limit; /* seconds that a work request may take */

static struct work works[MOST_UNDER_WAY];
static unsigned next, done, messages, atomics;
static struct {
    unsigned writer;  /* the number of the last WRITE to it, plus one; 0: none */
    unsigned readers; /* READs of it that are under way */
    uint32_t length;
} targets[TARGET_COUNT];

/* ---- what both sides know ---- */

static uint64_t mixed(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* `server`: of the server's work request. */
static uint64_t draw(bool server, unsigned number, unsigned what)
{
    return mixed(mixed(seed * 2 + server) + number * UINT64_C(16) + what);
}

static bool is_server(void)
{
    return v.server == NULL;
}

static enum kind kind_of(bool server, unsigned number)
{
    static const uint8_t kinds[] = {READ_SOURCE, READ_SOURCE, READ_SOURCE, READ_SOURCE, READ_BACK,
                                    WRITE,       WRITE,       SEND,        SEND,        ADD};

    return kinds[draw(server, number, 0) % sizeof(kinds)];
}

/* Up to nine packets and a short one; often 8 KiB and 32 bytes. */
static uint32_t length_of(bool server, unsigned number)
{
    const uint64_t x = draw(server, number, 1);

    if (kind_of(server, number) == ADD)
        return 8;
    if (x % 4 == 0)
        return 8224;
    return (uint32_t)(x >> 32) % (LONGEST / v.mtu) * v.mtu + 1 + (uint32_t)(x >> 8) % 40;
}

static uint8_t byte_of(bool server, unsigned number, uint32_t at)
{
    return (uint8_t)(number * 131 + at * 7 + (at >> 8) * 13 + server * 89u);
}

static void fill(uint8_t *bytes, bool server, unsigned number, uint32_t length)
{
    for (uint32_t at = 0; at < length; at++)
        bytes[at] = byte_of(server, number, at);
}

static void check(const uint8_t *bytes, bool server, unsigned number, uint32_t length,
                  const char *what)
{
    for (uint32_t at = 0; at < length; at++)
        if (bytes[at] != byte_of(server, number, at))
            verified_fail("%s %u of %u bytes: byte %u is %u, not %u", what, number, length, at,
                          bytes[at], byte_of(server, number, at));
    v.checked++;
}

static uint8_t *slot(unsigned index)
{
    return v.memory + (size_t)index * v.slot_bytes;
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- posting ---- */

static void post_receive(unsigned number)
{
    verified_receive(&v, RECEIVE_ID + number % RECEIVE_COUNT,
                     slot(RECEIVES + number % RECEIVE_COUNT), v.slot_bytes);
}

/*
 * READs of a place must be over before a WRITE to it is posted: they may be answered again after
 * the WRITE.
 */
static bool may_post(const struct work *work)
{
    return work->kind != WRITE || targets[work->target].readers == 0;
}

static void post_read(struct work *work, unsigned index, uint8_t *own)
{
    if (work->kind == READ_BACK && targets[work->target].writer > 0) {
        work->expected = targets[work->target].writer - 1;
        work->length = targets[work->target].length;
        targets[work->target].readers++;
        verified_read(&v, index, own, work->length, slot(TARGETS + work->target) - v.memory);
        return;
    }
    work->kind = READ_SOURCE;
    verified_read(&v, index, own, work->length, slot(SOURCE) - v.memory);
}

static void post(struct work *work)
{
    const unsigned index = (unsigned)(work - works);
    uint8_t *own = slot(OWN + index);

    work->posted = true;
    work->at = now();
    switch (work->kind) {
    case READ_SOURCE:
    case READ_BACK:
        memset(own, 0xee, v.slot_bytes);
        post_read(work, index, own);
        break;
    case WRITE:
        fill(own, is_server(), work->number, work->length);
        targets[work->target].writer = work->number + 1;
        targets[work->target].length = work->length;
        verified_write(&v, index, own, work->length, slot(TARGETS + work->target) - v.memory);
        break;
    case SEND:
        fill(own, is_server(), work->number, work->length);
        verified_send(&v, index, own, work->length);
        break;
    default:
        work->expected = atomics++;
        verified_atomic(&v, index, (uint64_t *)(void *)own, slot(WORD) - v.memory, 0, 1);
    }
}

static bool post_next(void)
{
    for (unsigned i = 0; i < under_way_most; i++) {
        struct work *work = &works[i];

        if (work->posted)
            continue;
        *work = (struct work){.kind = kind_of(is_server(), next),
                              .number = next,
                              .target = (unsigned)(draw(is_server(), next, 2) % TARGET_COUNT),
                              .length = length_of(is_server(), next)};
        if (!may_post(work))
            return false;
        post(work);
        next++;
        return true;
    }
    return false;
}

/* ---- completions ---- */

static void completed(struct work *work)
{
    uint64_t answer;
    const uint8_t *own = slot(OWN + (unsigned)(work - works));

    if (!work->posted)
        verified_fail("a completion of nothing");
    if (work->kind == READ_SOURCE)
        check(own, !is_server(), 0, work->length, "READ");
    if (work->kind == READ_BACK) {
        check(own, is_server(), (unsigned)work->expected, work->length, "READ of WRITE");
        targets[work->target].readers--;
    }
    memcpy(&answer, own, sizeof(answer));
    if (work->kind == ADD && answer != work->expected)
        verified_fail("atomic %u: answered %" PRIu64 ", not %" PRIu64, work->number, answer,
                      work->expected);
    work->posted = false;
    done++;
}

/* The peer's next message. */
static void received(const struct ibv_wc *wc)
{
    static unsigned of_peer;

    while (kind_of(!is_server(), of_peer) != SEND)
        of_peer++;
    if (wc->byte_len != length_of(!is_server(), of_peer))
        verified_fail("message %u has %u bytes, not %u", of_peer, wc->byte_len,
                      length_of(!is_server(), of_peer));
    check(slot((unsigned)wc->wr_id - RECEIVE_ID + RECEIVES), !is_server(), of_peer, wc->byte_len,
          "message");
    of_peer++;
    post_receive(messages++);
}

static void none_is_late(void)
{
    for (unsigned i = 0; i < under_way_most; i++)
        if (works[i].posted && now() - works[i].at > limit)
            verified_fail("hangs: %s %u of %u bytes is not done after %.1f s; %u are",
                          kind_names[works[i].kind], works[i].number, works[i].length,
                          now() - works[i].at, done);
}

static unsigned messages_of_peer(void)
{
    unsigned count = 0;

    for (unsigned i = 0; i < v.count; i++)
        count += kind_of(!is_server(), i) == SEND;
    return count;
}

static void run(void)
{
    const unsigned expected = messages_of_peer();
    double heard = now();

    while (done < v.count || messages < expected) {
        struct ibv_wc wc;

        while (next < v.count && post_next())
            ;
        if (!verified_poll_for(&v, &wc, 50)) {
            none_is_late();
            if (now() - heard > 4 * limit)
                verified_fail("hangs: %u of %u messages have come", messages, expected);
            continue;
        }
        heard = now();
        if (wc.wr_id >= RECEIVE_ID)
            received(&wc);
        else
            completed(&works[wc.wr_id]);
    }
}

/* ---- from the outside ---- */

static error_t parse(int key, char *argument, struct argp_state *state)
{
    switch (key) {
    case 'g':
        v.gid_index = atoi(argument);
        return 0;
    case 'p':
        v.port = atoi(argument);
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
    case 'q':
        under_way_most = (unsigned)atoi(argument);
        if (under_way_most == 0 || under_way_most > MOST_UNDER_WAY)
            argp_error(state, "%s: 1 to %d", argument, MOST_UNDER_WAY);
        return 0;
    case 's':
        seed = strtoull(argument, NULL, 0);
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num > 0)
            argp_usage(state);
        v.server = argument;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int main(int argc, char **argv)
{
    static const struct argp_option known[] = {
        {"gid", 'g', "INDEX", 0, "of the address (0)", 0},
        {"port", 'p', "N", 0, "of TCP, where the two meet (18600)", 0},
        {"mtu", 'm', "BYTES", 0, "of the path (1024)", 0},
        {"count", 'n', "N", 0, "work requests of each side (60)", 0},
        {"reads", 'o', "N", 0, "READs and atomics that are outstanding (16)", 0},
        {"timeout", 'u', "N", 0, "of 4.096 us times 2^N (14)", 0},
        {"queue", 'q', "N", 0, "work requests that are posted at a time (8)", 0},
        {"seed", 's', "N", 0, "of all that is drawn (1)", 0},
        {0},
    };
    static const struct argp argp = {.options = known, .parser = parse, .args_doc = "[SERVER]"};

    argp_parse(&argp, argc, argv, 0, NULL, NULL);
    limit = 4 * 8 * 4.096e-6 * (double)(UINT64_C(1) << v.timeout) + 8;
    verified_open(&v);
    fill(slot(SOURCE), is_server(), 0, v.slot_bytes);
    memset(slot(WORD), 0, 8);
    for (unsigned i = 0; i < RECEIVE_COUNT; i++)
        post_receive(i);
    verified_barrier(&v);
    run();
    verified_close(&v);
    printf("mixed: %u work requests and %u messages right\n", done, messages);
    return 0;
}
