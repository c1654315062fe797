/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For rogue_forger.py, under `oche exec --rogue`: somebody sends messages between libraries
 * (docs/rogue.md#messages) that he should not, before a connection is made.
 *
 *     rogue_forger named           asks both queue pairs in the other one's name, while they are in
 *                                  INIT; then they send to each other, with packets that are lost
 *     rogue_forger blind PEER ASKER
 *                                  sends from the peer's address, where no library is, and does
 *                                  not see what is sent there; asks from an address of his own
 *     rogue_forger peer PEER       sees it, and answers as the peer's library would, if not at once
 */
#include <arpa/inet.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "tests/interop/verbs_bench.h"

#define FIRST_PORT  4793
#define PORTS       4 /* where the library of this process may be */
#define PEERS_PORT  4833
#define PEERS_QPN   0x4711
#define HEADER      24
#define BYTES_OF_IT (HEADER + 40)
#define OWN_NUMBER  UINT64_C(0x1122334455667788)
#define ROUNDS      60
#define WRITTEN     100 /* bytes: each has an ACK to wait for */

enum { ASK = 1, ANSWER };

static char **words;

static void put(uint8_t *bytes, uint64_t value, unsigned count)
{
    while (count-- > 0) {
        bytes[count] = (uint8_t)value;
        value >>= 8;
    }
}

static uint64_t get(const uint8_t *bytes, unsigned count)
{
    uint64_t value = 0;

    while (count-- > 0)
        value = value << 8 | *bytes++;
    return value;
}

/* A socket at an IPv4 address. */
static int socket_at(const struct in_addr *address, uint16_t port)
{
    struct sockaddr_in name = {
        .sin_family = AF_INET, .sin_addr = *address, .sin_port = htons(port)};
    int fd = socket(AF_INET, SOCK_DGRAM, 0);

    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&name, sizeof(name)), 0);
    return fd;
}

static struct in_addr address_from(const char *text)
{
    struct in_addr address;

    assert_int_equal(inet_pton(AF_INET, text, &address), 1);
    return address;
}

static struct in_addr address_of_device(const struct bench *bench)
{
    struct in_addr address;

    memcpy(&address, bench->gid.raw + 12, sizeof(address));
    return address;
}

/* Sends to the libraries at the device's address, in the name of a queue pair of the peer. */
static void forge(const struct bench *bench, int fd, uint8_t kind, uint32_t to, uint32_t from,
                  uint64_t number, uint64_t echo)
{
    struct sockaddr_in where = {.sin_family = AF_INET, .sin_addr = address_of_device(bench)};
    uint8_t bytes[BYTES_OF_IT] = "rgv2";

    bytes[4] = kind;
    bytes[6] = 1; /* its device has a limiter */
    put(bytes + 8, to, 4);
    put(bytes + 12, from, 4);
    put(bytes + 16, number, 8);
    put(bytes + HEADER, 0x5555, 4);                   /* the shadow's number */
    put(bytes + HEADER + 4, 0x777, 4);                /* its first PSN */
    put(bytes + HEADER + 8, UINT64_C(1000000000), 8); /* the line rate */
    memcpy(bytes + HEADER + 16, bench->gid.raw, 16);
    put(bytes + HEADER + 32, echo, 8);
    for (uint16_t port = FIRST_PORT; port < FIRST_PORT + PORTS; port++) {
        where.sin_port = htons(port);
        assert_int_equal(
            sendto(fd, bytes, sizeof(bytes), 0, (struct sockaddr *)&where, sizeof(where)),
            sizeof(bytes));
    }
}

/* Waits for a message of this kind. Returns false if none comes in time. */
static bool comes(int fd, uint8_t kind, uint8_t bytes[BYTES_OF_IT], int limit_ms)
{
    struct pollfd readable = {.fd = fd, .events = POLLIN};

    while (poll(&readable, 1, limit_ms) == 1)
        if (recv(fd, bytes, BYTES_OF_IT, 0) >= HEADER && bytes[4] == kind)
            return true;
    return false;
}

static void send_both_ways(struct bench *bench)
{
    for (uint64_t round = 0; round < ROUNDS; round++)
        for (int i = 0; i < 2; i++) {
            struct end *own = &bench->end[i], *peer = &bench->end[1 - i];
            struct ibv_sge sge = sge_of(own, 0, WRITTEN);
            struct ibv_send_wr wr = remote(IBV_WR_RDMA_WRITE, round, &sge, peer, WRITTEN);
            fill(own->memory, WRITTEN, (unsigned)round);
            post(own, &wr);
            expect(own->cq, round, IBV_WC_SUCCESS);
            assert_memory_equal(peer->memory + WRITTEN, own->memory, WRITTEN);
        }
}

static void named(void)
{
    struct bench *bench = make_bench(IBV_QPT_RC, NULL);
    struct in_addr address = address_of_device(bench);
    uint8_t bytes[BYTES_OF_IT];
    int fd = socket_at(&address, 0);

    for (int i = 0; i < 2; i++) {
        forge(bench, fd, ASK, bench->end[i].qp->qp_num, bench->end[1 - i].qp->qp_num, OWN_NUMBER,
              0);
        assert_true(comes(fd, ANSWER, bytes, 5000)); /* the library has accepted the message */
    }
    connect_bench(bench, IBV_MTU_1024);
    send_both_ways(bench);
    close(fd);
    close_bench(bench, false);
}

/* Brings a queue pair to RTR, with a peer at address PEER whose part the test plays. */
static int to_rtr_at(struct bench *bench, const struct in_addr *peer)
{
    struct bench there = {0};

    there.gid.raw[10] = there.gid.raw[11] = 0xff;
    memcpy(there.gid.raw + 12, peer, sizeof(*peer));
    return to_rtr(&there, bench->end[0].qp, PEERS_QPN, IBV_MTU_1024);
}

static void blind(void)
{
    struct bench *bench = make_bench(IBV_QPT_RC, NULL);
    struct in_addr peer = address_from(words[2]), asker = address_from(words[3]);
    uint32_t qpn = bench->end[0].qp->qp_num;
    int from_peer = socket_at(&peer, 0), own = socket_at(&asker, 0);
    uint8_t bytes[BYTES_OF_IT];
    uint64_t learned;

    forge(bench, own, ASK, qpn, PEERS_QPN, OWN_NUMBER, 0);
    assert_true(comes(own, ANSWER, bytes, 5000)); /* the library does not know its peer yet */
    learned = get(bytes + 16, 8);
    assert_int_equal(get(bytes + HEADER + 32, 8), OWN_NUMBER);
    for (int before = 1; before >= 0; before--) {
        forge(bench, from_peer, ASK, qpn, PEERS_QPN, OWN_NUMBER, 0);
        forge(bench, from_peer, ANSWER, qpn, PEERS_QPN, OWN_NUMBER, learned);
        forge(bench, from_peer, ANSWER, qpn, PEERS_QPN, OWN_NUMBER, OWN_NUMBER);
        forge(bench, from_peer, ANSWER, qpn, PEERS_QPN, OWN_NUMBER, 0);
        if (before)
            assert_int_equal(to_rtr_at(bench, &peer), 0);
    }
    assert_int_equal(to_rts(bench->end[0].qp), 0);
    close(from_peer);
    close(own);
    close_bench(bench, false);
}

static void peer(void)
{
    struct bench *bench = make_bench(IBV_QPT_RC, NULL);
    struct in_addr address = address_from(words[2]);
    int fd = socket_at(&address, PEERS_PORT);
    uint8_t bytes[BYTES_OF_IT];

    assert_int_equal(to_rtr_at(bench, &address), 0);
    assert_true(comes(fd, ASK, bytes, 5000));
    assert_int_equal(get(bytes + 8, 4), PEERS_QPN);
    /*
     * As if the answer was lost: an end that gets an ASK asks again, even if it never sends data.
     */
    assert_false(comes(fd, ASK, bytes, 200));
    forge(bench, fd, ASK, bench->end[0].qp->qp_num, PEERS_QPN, OWN_NUMBER, 0);
    assert_true(comes(fd, ASK, bytes, 5000));
    forge(bench, fd, ANSWER, bench->end[0].qp->qp_num, PEERS_QPN, OWN_NUMBER, get(bytes + 16, 8));
    assert_int_equal(to_rts(bench->end[0].qp), 0);
    close(fd);
    close_bench(bench, false);
}

static void test(void **state)
{
    (void)state;
    if (strcmp(words[1], "named") == 0)
        named();
    else if (strcmp(words[1], "blind") == 0)
        blind();
    else
        peer();
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test)};

    words = argv;
    return argc < 2 ? 2 : cmocka_run_group_tests(tests, NULL, NULL);
}
