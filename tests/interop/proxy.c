/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bad network between two devices: takes their packets on an address of its own, to which both
 * believe to be connected, and passes them on, some of them lost, twice, late, or damaged.
 *     proxy [OPTION…] OWN A B
 * As the ICRC covers addresses, a good packet gets a new one; damage is done after that, so the
 * ICRC shows it. Ends when standard input ends, and prints its counts.
 */
#include <argp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/random.h"
#include "core/wire/codec.h"
#include "core/wire/extension.h"
#include "core/wire/frame.h"
#include "core/wire/icrc.h"
#include "device/host/clock.h"
#include "device/path/address.h"
#include "device/path/crc.h"
#include "device/path/socket.h"

#define PORT       OCHE_ROCE_UDP_PORT
#define LATE       128 /* packets that wait at most */
#define MOST_BYTES 9216
#define LATEST     (300 * OCHE_US) /* the longest time that they wait */

#define JUMP 2000 /* packets between two jumps of a count */

enum { LOSE, DUPLICATE, REORDER, CORRUPT, FAULTS };

/* IP identifications, which the receiver learns from the ICRC alone. */
enum ids { ALWAYS_0, COUNTED, JUMPING, RANDOM };

struct late {
    oche_time when; /* 0: free */
    unsigned side;
    uint8_t tos;
    uint32_t count;
    uint8_t bytes[MOST_BYTES];
};

struct proxy {
    struct oche_socket socket;
    struct oche_address own, sides[2];
    struct sockaddr_storage to[2];
    socklen_t to_bytes[2];
    oche_crc32 *crc32;
    struct oche_clock clock;
    struct oche_random random;
    uint32_t ppm[FAULTS];
    uint64_t done[FAULTS], passed, strange, jumps;
    enum ids ids;
    uint16_t last_id[2];
    unsigned until_jump;
    struct late late[LATE];
    unsigned waiting;
};

_Noreturn void oche_panic(const char *file, int line, const char *what)
{
    fprintf(stderr, "%s:%d: broken invariant: %s\n", file, line, what);
    abort();
}

static bool happens(struct proxy *proxy, unsigned fault)
{
    if (oche_random_below(&proxy->random, 1000000) >= proxy->ppm[fault])
        return false;
    proxy->done[fault]++;
    return true;
}

static void send_on(struct proxy *proxy, unsigned side, uint8_t *bytes, uint32_t count, uint8_t tos)
{
    struct iovec piece = {.iov_base = bytes, .iov_len = count};
    struct oche_datagram_out out = {.to = &proxy->to[side],
                                    .to_bytes = proxy->to_bytes[side],
                                    .pieces = &piece,
                                    .piece_count = 1,
                                    .tos = tos};
    unsigned sent;

    /* A packet that cannot be sent counts as lost. */
    if (oche_socket_send(&proxy->socket, proxy->socket.fd, &out, 1, &sent) == OCHE_SEND_DONE)
        proxy->passed++;
}

/* The identification of the next packet to `side`. */
static uint16_t next_id(struct proxy *proxy, unsigned side)
{
    uint16_t *id = &proxy->last_id[side];

    if (proxy->ids == ALWAYS_0)
        return 0;
    if (proxy->ids == RANDOM || (proxy->ids == JUMPING && proxy->until_jump-- == 0)) {
        proxy->until_jump = JUMP;
        proxy->jumps++;
        return *id = (uint16_t)oche_random_u64(&proxy->random);
    }
    return ++*id;
}

/* The ICRC for the way from here to `side`. */
static void sign(struct proxy *proxy, unsigned side, uint8_t *bytes, uint32_t count)
{
    const uint32_t trailer = oche_bth_trailer_bytes(bytes);
    struct oche_span body = {.bytes = bytes, .count = count - OCHE_ICRC_BYTES - trailer};
    struct oche_ip_header header;
    struct oche_pseudo pseudo;

    oche_ip_header_make(&header, &proxy->own, &proxy->sides[side], PORT, PORT, 0);
    oche_pseudo_from_bytes(&pseudo, header.bytes);
    oche_pseudo_set_bytes(&pseudo, count);
    oche_pseudo_set_id(&pseudo, next_id(proxy, side));
    oche_icrc_put(bytes + body.count, oche_icrc(proxy->crc32, &pseudo, &body, 1));
}

/* A bit turned over, some bytes overwritten, or the end cut off. */
static uint32_t damage(struct proxy *proxy, uint8_t *bytes, uint32_t count)
{
    const uint32_t at = (uint32_t)oche_random_below(&proxy->random, count);

    switch (oche_random_below(&proxy->random, 4)) {
    case 0:
        return at > 0 ? at : 1;
    case 1:
        for (uint32_t i = at; i < count && i < at + 16; i++)
            bytes[i] = (uint8_t)oche_random_u64(&proxy->random);
        bytes[at] ^= 1; /* the random byte may have been equal */
        return count;
    default:
        bytes[at] ^= (uint8_t)(1 << oche_random_below(&proxy->random, 8));
        return count;
    }
}

/* Keeps a packet for later. False: too many wait. */
static bool delay(struct proxy *proxy, unsigned side, const uint8_t *bytes, uint32_t count,
                  uint8_t tos)
{
    for (unsigned i = 0; i < LATE; i++) {
        struct late *late = &proxy->late[i];

        if (late->when != 0)
            continue;
        late->when = oche_clock_now(&proxy->clock) + 1 + oche_random_below(&proxy->random, LATEST);
        late->side = side;
        late->tos = tos;
        late->count = count;
        memcpy(late->bytes, bytes, count);
        proxy->waiting++;
        return true;
    }
    return false;
}

static void pass(struct proxy *proxy, const struct oche_datagram_in *in)
{
    const unsigned side = memcmp(&in->from, &proxy->sides[0], sizeof(in->from)) == 0;
    uint8_t bytes[MOST_BYTES];
    uint32_t count = in->count;

    if ((side == 0 && memcmp(&in->from, &proxy->sides[1], sizeof(in->from)) != 0) ||
        count > sizeof(bytes) || count < 16 || count < 16 + oche_bth_trailer_bytes(in->bytes)) {
        proxy->strange++;
        return;
    }
    if (happens(proxy, LOSE))
        return;
    memcpy(bytes, in->bytes, count);
    sign(proxy, side, bytes, count);
    if (happens(proxy, DUPLICATE) && !delay(proxy, side, bytes, count, in->tos))
        send_on(proxy, side, bytes, count, in->tos);
    if (happens(proxy, CORRUPT))
        count = damage(proxy, bytes, count);
    if (!happens(proxy, REORDER) || !delay(proxy, side, bytes, count, in->tos))
        send_on(proxy, side, bytes, count, in->tos);
}

static void send_late(struct proxy *proxy)
{
    const oche_time now = oche_clock_now(&proxy->clock);

    for (unsigned i = 0; i < LATE && proxy->waiting > 0; i++) {
        struct late *late = &proxy->late[i];

        if (late->when == 0 || late->when > now)
            continue;
        late->when = 0;
        proxy->waiting--;
        send_on(proxy, late->side, late->bytes, late->count, late->tos);
    }
}

static void run(struct proxy *proxy)
{
    static struct oche_datagram_in in[OCHE_SOCKET_IN];
    struct pollfd fds[2] = {{.fd = proxy->socket.fd, .events = POLLIN},
                            {.fd = STDIN_FILENO, .events = POLLIN}};

    while (fds[1].revents == 0) {
        const unsigned count = oche_socket_receive(&proxy->socket, in);

        for (unsigned i = 0; i < count; i++)
            pass(proxy, &in[i]);
        send_late(proxy);
        if (count == 0)
            poll(fds, 2, proxy->waiting > 0 ? 0 : 100);
    }
}

static const char *const id_names[] = {"zero", "count", "jump", "random"};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct proxy *proxy = state->input;
    struct oche_address *address;

    switch (key) {
    case 'i':
        while (proxy->ids <= RANDOM && strcmp(argument, id_names[proxy->ids]) != 0)
            proxy->ids++;
        if (proxy->ids > RANDOM)
            argp_error(state, "%s: one of zero, count, jump, random", argument);
        return 0;
    case 'l':
    case 'd':
    case 'r':
    case 'c':
        proxy->ppm[key == 'l'   ? LOSE
                   : key == 'd' ? DUPLICATE
                   : key == 'r' ? REORDER
                                : CORRUPT] = (uint32_t)strtoul(argument, NULL, 0);
        return 0;
    case 's':
        proxy->random = oche_random_stream(strtoull(argument, NULL, 0), "proxy", 0);
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num > 2)
            argp_error(state, "three addresses");
        address = state->arg_num == 0 ? &proxy->own : &proxy->sides[state->arg_num - 1];
        if (!oche_address_parse(argument, address))
            argp_error(state, "%s: not an address", argument);
        return 0;
    case ARGP_KEY_END:
        if (state->arg_num != 3)
            argp_error(state, "three addresses");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int main(int argc, char **argv)
{
    static const struct argp_option known[] = {
        {"lose", 'l', "PPM", 0, "packets in a million (0), as all that follow", 0},
        {"duplicate", 'd', "PPM", 0, "come a second time, a little later", 0},
        {"reorder", 'r', "PPM", 0, "come late, by up to 0.3 ms", 0},
        {"corrupt", 'c', "PPM", 0, "have a wrong bit, wrong bytes, or no end", 0},
        {"ids", 'i', "KIND", 0, "IP identifications: zero (default), count, jump, random", 0},
        {"seed", 's', "N", 0, "of all that (1)", 0},
        {0},
    };
    static const struct argp argp = {.options = known, .parser = parse, .args_doc = "OWN A B"};
    const struct oche_socket_options options = {.no_gro = true, .buffer_bytes = 8 << 20};
    static struct proxy proxy;
    struct oche_error error;

    proxy.random = oche_random_stream(1, "proxy", 0);
    argp_parse(&argp, argc, argv, 0, NULL, &proxy);
    proxy.crc32 = oche_crc_choose(NULL);
    oche_clock_start(&proxy.clock);
    for (unsigned i = 0; i < 2; i++)
        proxy.to_bytes[i] = oche_address_to_socket(&proxy.sides[i], PORT, &proxy.to[i]);
    if (!oche_socket_open(&proxy.socket, &proxy.own, PORT, &options, &error)) {
        fprintf(stderr, "proxy: %s\n", error.text);
        return 2;
    }
    printf("ready\n");
    fflush(stdout);
    run(&proxy);
    printf("proxy: passed %llu, lost %llu, duplicated %llu, reordered %llu, corrupted %llu, "
           "strange %llu, jumps %llu\n",
           (unsigned long long)proxy.passed, (unsigned long long)proxy.done[LOSE],
           (unsigned long long)proxy.done[DUPLICATE], (unsigned long long)proxy.done[REORDER],
           (unsigned long long)proxy.done[CORRUPT], (unsigned long long)proxy.strange,
           (unsigned long long)proxy.jumps);
    oche_socket_close(&proxy.socket);
    return 0;
}
