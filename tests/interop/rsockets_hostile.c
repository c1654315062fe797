/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A peer of a socket over RDMA that violates the protocol. A wrong hello is refused; a wrong
 * message later ends the connection with EPROTO. The server is a socket of ours, the peer has a
 * queue pair of its own. Each case ends in bounded time, and the next one works.
 */
#include "tests/support/test.h"

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rdma/rdma_cma.h>
#include <rdma/rsocket.h>

#include "device/rsocket/wire.h"

#define ADDRESS "127.34.0.12"

struct peer {
    struct rdma_cm_id *id;
    struct rs_hello server; /* the server's hello */
    struct ibv_mr *mr;
    uint8_t memory[65536];
};

static int listener;
static struct peer peer;

static struct sockaddr_in address(void)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)(20000 + getpid() % 10000))};

    inet_pton(AF_INET, ADDRESS, &to.sin_addr);
    return to;
}

static struct rs_hello own_hello(void)
{
    return (struct rs_hello){
        .credits = 100,
        .places = {.address = (uintptr_t)peer.memory, .key = peer.mr->rkey, .length = 2},
        .buffer = {.address = (uintptr_t)peer.memory + 64, .key = peer.mr->rkey, .length = 32768}};
}

/* Connects with these bytes as private data. Returns false if the server has refused. */
static bool connect_with(const uint8_t *hello, uint8_t bytes)
{
    struct rdma_conn_param param = {
        .private_data = hello, .private_data_len = bytes, .retry_count = 7, .rnr_retry_count = 7};

    if (rdma_connect(peer.id, &param) != 0)
        return false;
    assert_null(rs_hello_read(peer.id->event->param.conn.private_data,
                              peer.id->event->param.conn.private_data_len, &peer.server));
    return true;
}

static int begin(void **state)
{
    struct sockaddr_in to = address();
    struct ibv_qp_init_attr attr = {
        .cap = {.max_send_wr = 64, .max_recv_wr = 64, .max_send_sge = 1, .max_recv_sge = 1},
        .qp_type = IBV_QPT_RC,
        .sq_sig_all = 1};

    (void)state;
    memset(&peer, 0, sizeof(peer));
    assert_int_equal(rdma_create_id(NULL, &peer.id, NULL, RDMA_PS_TCP), 0);
    assert_int_equal(rdma_resolve_addr(peer.id, NULL, (struct sockaddr *)&to, 1000), 0);
    assert_int_equal(rdma_resolve_route(peer.id, 1000), 0);
    assert_int_equal(rdma_create_qp(peer.id, NULL, &attr), 0);
    peer.mr = ibv_reg_mr(peer.id->pd, peer.memory, sizeof(peer.memory),
                         IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    assert_non_null(peer.mr);
    for (int i = 0; i < 64; i++) {
        struct ibv_recv_wr work = {.num_sge = 0}, *bad;

        assert_int_equal(ibv_post_recv(peer.id->qp, &work, &bad), 0);
    }
    return 0;
}

static int end(void **state)
{
    (void)state;
    rdma_destroy_qp(peer.id);
    ibv_dereg_mr(peer.mr);
    rdma_destroy_id(peer.id);
    return 0;
}

/* Returns the server's end of the connection. */
static int accepted(void)
{
    uint8_t hello[RS_HELLO_BYTES];
    const struct rs_hello own = own_hello();
    int server;

    rs_hello_write(&own, hello);
    assert_true(connect_with(hello, sizeof(hello)));
    server = raccept(listener, NULL, NULL);
    assert_true(server >= 0);
    return server;
}

static void write_to(const struct rs_place *place, uint64_t offset, uint32_t bytes,
                     uint32_t immediate)
{
    struct ibv_sge piece = {.addr = (uintptr_t)peer.memory, .length = bytes, .lkey = peer.mr->lkey};
    struct ibv_send_wr work = {.sg_list = &piece,
                               .num_sge = bytes > 0,
                               .opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
                               .imm_data = htobe32(immediate),
                               .wr.rdma = {place->address + offset, place->key}};
    struct ibv_send_wr *bad;

    assert_int_equal(ibv_post_send(peer.id->qp, &work, &bad), 0);
}

/* Returns the errno with which the server's next rrecv fails, or 0. */
static int error_at(int server)
{
    struct pollfd one = {.fd = server, .events = POLLIN};
    static uint8_t got[1 << 20];
    ssize_t some;

    do {
        assert_true(rpoll(&one, 1, 10000) == 1);
        some = rrecv(server, got, sizeof(got), 0);
    } while (some > 0);
    return some < 0 ? errno : 0;
}

/* ---- what it says at first ---- */

static void refused(const uint8_t *hello, uint8_t bytes)
{
    struct pollfd one = {.fd = listener, .events = POLLIN};

    assert_false(connect_with(hello, bytes));
    assert_int_equal(errno, ECONNREFUSED);
    assert_int_equal(rpoll(&one, 1, 0), 0);
}

static void no_hello(void **state)
{
    (void)state;
    refused(NULL, 0);
}

static void other_version(void **state)
{
    uint8_t hello[RS_HELLO_BYTES];
    const struct rs_hello own = own_hello();

    (void)state;
    rs_hello_write(&own, hello);
    hello[0] = 2;
    refused(hello, sizeof(hello));
}

static void no_credits(void **state)
{
    uint8_t hello[RS_HELLO_BYTES];
    struct rs_hello own = own_hello();

    (void)state;
    own.credits = 0;
    rs_hello_write(&own, hello);
    refused(hello, sizeof(hello));
}

static void no_memory(void **state)
{
    uint8_t hello[RS_HELLO_BYTES];
    struct rs_hello own = own_hello();

    (void)state;
    own.buffer.address = UINT64_MAX;
    rs_hello_write(&own, hello);
    refused(hello, sizeof(hello));
}

/* ---- what it sends later ---- */

static void ends_with(uint64_t offset, uint32_t bytes, uint32_t immediate)
{
    const int server = accepted();

    write_to(&peer.server.buffer, offset, bytes, immediate);
    assert_int_equal(error_at(server), EPROTO);
    assert_int_equal(error_at(server), 0);
    assert_int_equal(rsend(server, "x", 1, 0), -1);
    assert_int_equal(errno, EPROTO);
    rclose(server);
}

static void honest(void **state)
{
    const int server = accepted();
    char got[8];

    (void)state;
    memcpy(peer.memory, "honestly", 8);
    write_to(&peer.server.buffer, 0, 8, rs_immediate(RS_MESSAGE_DATA, 8));
    assert_int_equal(rrecv(server, got, 8, MSG_WAITALL), 8);
    assert_memory_equal(got, "honestly", 8);
    write_to(&peer.server.buffer, 0, 0, rs_immediate(RS_MESSAGE_CONTROL, RS_CONTROL_SHUTDOWN));
    assert_int_equal(rrecv(server, got, 8, 0), 0);
    rclose(server);
}

static void says_more_than_it_wrote(void **state)
{
    (void)state;
    ends_with(0, 8, rs_immediate(RS_MESSAGE_DATA, 9));
}

static void says_all(void **state)
{
    (void)state;
    ends_with(0, 0, rs_immediate(RS_MESSAGE_DATA, RS_MOST_VALUE));
}

static void says_nothing(void **state)
{
    (void)state;
    ends_with(0, 0, rs_immediate(RS_MESSAGE_DATA, 0));
}

static void reserved_messages(void **state)
{
    (void)state;
    ends_with(0, 0, UINT32_C(1) << 29);
}

static void unknown_control(void **state)
{
    (void)state;
    ends_with(0, 0, rs_immediate(RS_MESSAGE_CONTROL, 77));
}

static void iomap_that_is_not_there(void **state)
{
    (void)state;
    ends_with(0, 0, rs_immediate(RS_MESSAGE_IOMAP, 0));
}

/* A place of a wrong size, and one that has no bytes: the list is in the server's table. */
static void bad_places(void **state)
{
    int server = accepted();

    (void)state;
    write_to(&peer.server.places, 16, 8, rs_immediate(RS_MESSAGE_CREDIT, 200));
    assert_int_equal(error_at(server), EPROTO);
    rclose(server);
    end(NULL);
    begin(NULL);
    server = accepted();
    memset(peer.memory, 0, 16);
    write_to(&peer.server.places, 16, 16, rs_immediate(RS_MESSAGE_CREDIT, 200));
    assert_int_equal(error_at(server), EPROTO);
    rclose(server);
}

/* More places than the list has, each of them sound. */
static void many_places(void **state)
{
    const int server = accepted();
    const struct rs_place place = {.address = 4096, .key = 1, .length = 4096};

    (void)state;
    rs_place_write(&place, false, peer.memory);
    write_to(&peer.server.places, 16, 16, rs_immediate(RS_MESSAGE_CREDIT, 200));
    write_to(&peer.server.places, 0, 16, rs_immediate(RS_MESSAGE_CREDIT, 200));
    assert_int_equal(error_at(server), EPROTO);
    rclose(server);
}

/* Places outside any region: the server's writes fail, and it notices. */
static void foreign_places(void **state)
{
    uint8_t hello[RS_HELLO_BYTES];
    struct rs_hello own = own_hello();
    int server;

    (void)state;
    own.buffer.address = 4096;
    rs_hello_write(&own, hello);
    assert_true(connect_with(hello, sizeof(hello)));
    server = raccept(listener, NULL, NULL);
    assert_int_equal(rsend(server, "x", 1, 0), 1);
    assert_int_equal(error_at(server), ECONNRESET);
    rclose(server);
}

/* Data after it has said that nothing follows. The server may find the end before the data. */
static void after_the_end(void **state)
{
    const int server = accepted();
    int error;

    (void)state;
    write_to(&peer.server.buffer, 0, 0, rs_immediate(RS_MESSAGE_CONTROL, RS_CONTROL_SHUTDOWN));
    write_to(&peer.server.buffer, 0, 8, rs_immediate(RS_MESSAGE_DATA, 8));
    for (unsigned i = 0; (error = error_at(server)) == 0 && i < 10000; i++)
        usleep(1000);
    assert_int_equal(error, EPROTO);
    rclose(server);
}

/* It sends on although nothing is read. */
static void beyond_the_ring(void **state)
{
    const int server = accepted();
    struct pollfd one = {.fd = server, .events = POLLERR};
    const uint32_t half = peer.server.buffer.length, piece = 32768;

    (void)state;
    for (uint32_t i = 0; i <= 2 * half / piece && i < 60; i++)
        write_to(&peer.server.buffer, i * (uint64_t)piece % (2 * half), piece,
                 rs_immediate(RS_MESSAGE_DATA, piece));
    assert_int_equal(rpoll(&one, 1, 10000), 1);
    assert_true((one.revents & POLLERR) != 0);
    rclose(server);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        CASE(no_hello),
        CASE(other_version),
        CASE(no_credits),
        CASE(no_memory),
        CASE(honest),
        CASE(says_more_than_it_wrote),
        CASE(says_all),
        CASE(says_nothing),
        CASE(reserved_messages),
        CASE(unknown_control),
        CASE(iomap_that_is_not_there),
        CASE(bad_places),
        CASE(many_places),
        CASE(foreign_places),
        CASE(after_the_end),
        CASE(beyond_the_ring),
        CASE(honest),
    };
    const struct sockaddr_in at = address();

    setenv("OCHE_DEVICE", ADDRESS, 0);
    listener = rsocket(AF_INET, SOCK_STREAM, 0);
    if (listener < 0 || rbind(listener, (const struct sockaddr *)&at, sizeof(at)) != 0 ||
        rlisten(listener, 5) != 0)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
