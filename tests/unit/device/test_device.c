/* SPDX-License-Identifier: Apache-2.0 */
/* Two devices over loopback: each operation, each transport, IP version and way of sending. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/cc/cc.h"
#include "device/internal.h"
#include "tests/support/losing.h"
#include "tests/unit/device/pair.h"

#define BYTES (PAIR_MEMORY - 3) /* the last packet has a pad */

static void expect_success(struct oche_completion done, uint64_t wr_id)
{
    assert_int_equal(done.status, OCHE_STATUS_SUCCESS);
    assert_int_equal(done.wr_id, wr_id);
}

/* WRITE, READ and SEND one MiB in one message each, and compare. */
static void move_bytes(struct pair *pair, struct end *a, struct end *b)
{
    static const uint8_t opcodes[] = {OCHE_WORK_SEND, OCHE_WORK_SEND_IMM, OCHE_WORK_WRITE,
                                      OCHE_WORK_WRITE_IMM, OCHE_WORK_READ};
    struct oche_send_work work;

    for (unsigned seed = 1; seed <= sizeof(opcodes); seed++) {
        const uint8_t opcode = opcodes[seed - 1];
        const bool read = opcode == OCHE_WORK_READ;
        struct oche_completion done;

        end_fill(read ? b : a, seed);
        end_fill(read ? a : b, 0);
        if (opcode != OCHE_WORK_WRITE && !read)
            post_receive(b, seed, 0, BYTES);
        work = work_between(a, b, opcode, 0, BYTES);
        assert_int_equal(oche_device_post_send(a->device, a->qp, &work), 0);
        done = pump(pair, a);
        if (a->cq == b->cq && done.opcode >= OCHE_DONE_RECV) /* one queue for both */
            done = pump(pair, a);
        else if (opcode != OCHE_WORK_WRITE && !read)
            expect_success(pump(pair, b), seed);
        expect_success(done, work.wr_id);
        assert_memory_equal(a->memory, b->memory, BYTES);
        assert_int_equal(read ? a->memory[BYTES] : b->memory[BYTES], 0);
    }
}

static struct oche_device_stats stats_of(struct end *end)
{
    struct oche_device_stats stats;

    oche_device_stats(end->device, &stats);
    return stats;
}

static uint64_t wrong_of(const struct oche_device_stats *stats)
{
    uint64_t wrong = 0;

    for (unsigned i = 0; i < OCHE_WIRE_ERROR_COUNT; i++)
        wrong += stats->wrong[i];
    return wrong;
}

static void run_pair(const struct oche_device_config *config)
{
    struct oche_device_stats stats;
    struct pair pair;

    pair_open(&pair, config, OCHE_TRANSPORT_RC);
    pair_be_patient(&pair); /* nothing is lost, but a busy machine may keep what is sent */
    move_bytes(&pair, &pair.a, &pair.b);
    move_bytes(&pair, &pair.b, &pair.a);
    stats = stats_of(&pair.a);
    assert_int_equal(wrong_of(&stats), 0);
    assert_int_equal(stats.strangers + stats.send_errors + stats.unexpected_ip_ids, 0);
    assert_true(stats.sent_packets > 4 * BYTES / 1024);
    if (stats.gso)
        assert_true(stats.sent_datagrams * 8 < stats.sent_packets);
    else
        assert_int_equal(stats.sent_datagrams, stats.sent_packets);
    pair_close(&pair);
}

static void with_offloads(void **state)
{
    (void)state;
    run_pair(&(struct oche_device_config){.strict_ip_id = true});
}

static void without_gso(void **state)
{
    (void)state;
    run_pair(&(struct oche_device_config){.no_gso = true, .strict_ip_id = true});
}

static void without_gro(void **state)
{
    (void)state;
    run_pair(&(struct oche_device_config){.no_gro = true, .strict_ip_id = true});
}

static void with_another_port(void **state)
{
    (void)state;
    run_pair(&(struct oche_device_config){.port = 14791});
}

/* ::1 is the only IPv6 address of loopback: the device talks to itself. */
static void over_ipv6(void **state)
{
    struct oche_error error;
    struct oche_device *device =
        oche_device_open(&(struct oche_device_config){.address = "::1"}, &error);
    struct end a, b;
    struct pair pair;

    (void)state;
    if (device == NULL) {
        print_message("no IPv6 here: %s\n", error.text);
        skip();
    }
    assert_true(oche_device_close(device));
    end_open(&a, &(struct oche_device_config){.seed = 1}, "::1", 0);
    b = a;
    ends_connect(&a, &b, OCHE_TRANSPORT_RC, 4096);
    b.memory = a.memory + PAIR_MEMORY / 2;
    pair = (struct pair){.a = a};
    for (unsigned i = 0; i < PAIR_MEMORY / 2; i++)
        a.memory[i] = (uint8_t)(i * 7 + i / 256);
    for (unsigned i = 0; i < 2; i++) {
        const uint8_t opcode = i == 0 ? OCHE_WORK_WRITE : OCHE_WORK_READ;
        struct oche_send_work work = work_between(&a, &b, opcode, 0, PAIR_MEMORY / 2);

        assert_int_equal(oche_device_post_send(a.device, a.qp, &work), 0);
        expect_success(pump(&pair, &a), work.wr_id);
        assert_memory_equal(a.memory, b.memory, PAIR_MEMORY / 2);
        memset(a.memory, 0, PAIR_MEMORY / 2); /* and read it back */
    }
    assert_int_equal(stats_of(&a).wrong[OCHE_WIRE_ICRC], 0);
    end_close(&a);
}

static void atomics(void **state)
{
    struct pair pair;
    struct oche_send_work work;
    uint64_t value = 40;

    (void)state;
    pair_open(&pair, &(struct oche_device_config){.seed = 1}, OCHE_TRANSPORT_RC);
    memcpy(pair.b.memory, &value, 8);
    for (unsigned step = 0; step < 4; step++) {
        static const struct {
            uint8_t opcode;
            uint64_t swap_add, compare, before, after;
        } steps[] = {
            {OCHE_WORK_FETCH_ADD, 2, 0, 40, 42},
            {OCHE_WORK_COMPARE_SWAP, 7, 41, 42, 42},
            {OCHE_WORK_COMPARE_SWAP, 7, 42, 42, 7},
            {OCHE_WORK_FETCH_ADD, UINT64_MAX, 0, 7, 6},
        };

        work = work_between(&pair.a, &pair.b, steps[step].opcode, 0, 8);
        work.swap_add = steps[step].swap_add;
        work.compare = steps[step].compare;
        assert_int_equal(oche_device_post_send(pair.a.device, pair.a.qp, &work), 0);
        expect_success(pump(&pair, &pair.a), work.wr_id);
        memcpy(&value, pair.a.memory, 8);
        assert_int_equal(value, steps[step].before);
        memcpy(&value, pair.b.memory, 8);
        assert_int_equal(value, steps[step].after);
    }
    pair_close(&pair);
}

static void unreliable(void **state)
{
    struct pair pair;
    struct oche_send_work work;
    struct oche_completion done;

    (void)state;
    pair_open(&pair, &(struct oche_device_config){.seed = 1}, OCHE_TRANSPORT_UC);
    end_fill(&pair.a, 5);
    for (uint8_t opcode = OCHE_WORK_SEND; opcode <= OCHE_WORK_WRITE_IMM; opcode++) {
        if (opcode == OCHE_WORK_WRITE)
            continue; /* nobody would be told */
        end_fill(&pair.b, 0);
        post_receive(&pair.b, 9, 0, 20000);
        work = work_between(&pair.a, &pair.b, opcode, 0, 20000);
        assert_int_equal(oche_device_post_send(pair.a.device, pair.a.qp, &work), 0);
        expect_success(pump(&pair, &pair.a), work.wr_id);
        done = pump(&pair, &pair.b);
        expect_success(done, 9);
        assert_int_equal(done.bytes, 20000);
        assert_int_equal(done.has_imm, opcode != OCHE_WORK_SEND);
        assert_memory_equal(pair.a.memory, pair.b.memory, 20000);
        assert_int_equal(pair.b.memory[20000], 0);
    }
    pair_close(&pair);
}

/* One packet in twenty is lost, in each direction at each end: RC hides it. */
static void with_losses(void **state)
{
    const struct oche_device_config config = {.links = losing(OCHE_LINK_BOTH, 25000), .seed = 7};
    struct oche_device_stats a, b;
    struct pair pair;

    (void)state;
    pair_open(&pair, &config, OCHE_TRANSPORT_RC);
    for (unsigned round = 0; round < 3; round++) {
        end_fill(&pair.a, round + 1);
        for (uint32_t at = 0; at < PAIR_MEMORY; at += 16384) {
            struct oche_send_work work = work_between(
                &pair.a, &pair.b, round == 2 ? OCHE_WORK_READ : OCHE_WORK_WRITE, at, 16384);

            if (round == 1) { /* the other way */
                work = work_between(&pair.b, &pair.a, OCHE_WORK_WRITE, at, 16384);
                assert_int_equal(oche_device_post_send(pair.b.device, pair.b.qp, &work), 0);
                expect_success(pump(&pair, &pair.b), work.wr_id);
                continue;
            }
            assert_int_equal(oche_device_post_send(pair.a.device, pair.a.qp, &work), 0);
            expect_success(pump(&pair, &pair.a), work.wr_id);
        }
        assert_memory_equal(pair.a.memory, pair.b.memory, PAIR_MEMORY);
    }
    a = stats_of(&pair.a);
    b = stats_of(&pair.b);
    assert_true(a.dropped_sent > 20 && a.dropped_received > 20);
    assert_true(b.dropped_sent > 20 && b.dropped_received > 20);
    assert_true(a.nic.retransmitted_packets > 20);
    assert_int_equal(wrong_of(&a) + wrong_of(&b), 0);
    pair_close(&pair);
}

/* A message leaves before its memory is unregistered, though no thread has made progress. */
static void unregistered_at_once(void **state)
{
    struct oche_send_work work;
    struct pair pair;

    (void)state;
    pair_open(&pair, &(struct oche_device_config){0}, OCHE_TRANSPORT_RC);
    pair_be_patient(&pair);
    end_fill(&pair.a, 1);
    work = work_between(&pair.a, &pair.b, OCHE_WORK_WRITE, 0, 2000);
    assert_int_equal(oche_qp_post_send(pair.a.qp, &work), 0);
    assert_true(oche_device_deregister(pair.a.device, pair.a.key));
    expect_success(pump(&pair, &pair.a), work.wr_id);
    assert_memory_equal(pair.b.memory, pair.a.memory, 2000);
    pair_close(&pair);
}

/* With ECN a device sends ECT(0), and the receiver sees it; DCQCN's control packets pass, too. */
static void traffic_classes(void **state)
{
    struct oche_device_config config = {.cc = oche_cc_find("dcqcn"), .seed = 1};
    struct pair pair;

    (void)state;
    assert_non_null(config.cc);
    pair_open(&pair, &config, OCHE_TRANSPORT_RC);
    move_bytes(&pair, &pair.a, &pair.b);
    assert_int_equal(stats_of(&pair.a).nic.cnps_received, 0);
    pair_close(&pair);
}

static void not_openable(void **state)
{
    static const struct {
        struct oche_device_config config;
        const char *why;
    } cases[] = {
        {{.address = NULL}, "(none): not an IP address; 192.0.2.1 or 2001:db8::1 is"},
        {{.address = "host"}, "host: not an IP address; 192.0.2.1 or 2001:db8::1 is"},
        {{.address = "0.0.0.0"}, "0.0.0.0: one address of this host is needed, the ICRC covers it"},
        {{.address = "198.51.100.77"},
         "198.51.100.77: UDP port 4791: Cannot assign requested address"},
        {{.address = "127.9.9.9", .mtu_bytes = 9001},
         "127.9.9.9: MTU of 9001 bytes; 64 to 9000 are possible"},
        {{.address = "127.9.9.9", .mtu_bytes = 63},
         "127.9.9.9: MTU of 63 bytes; 64 to 9000 are possible"},
        {{.address = "127.9.9.9", .port = 14799, .capture = "/nowhere/x"}, "/nowhere/x: "},
    };
    char address[32];
    struct oche_error error;
    struct oche_device *first;
    struct oche_device_config config = {.address = loopback_address(address, 9)};

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(cases); i++) {
        assert_null(oche_device_open(&cases[i].config, &error));
        if (strncmp(error.text, cases[i].why, strlen(cases[i].why)) != 0)
            fail_msg("\"%s\" is not \"%s\"", error.text, cases[i].why);
    }
    first = oche_device_open(&config, &error);
    assert_non_null(first);
    assert_null(oche_device_open(&config, &error));
    assert_non_null(strstr(error.text, "UDP port 4791: Address already in use"));
    assert_true(oche_device_close(first));
}

static void refused(void **state)
{
    const struct oche_qp_config qp = {.mtu_bytes = 4097, .send_depth = 16};
    struct oche_qp_connection nobody = {.remote_address = 5, .remote_qpn = 17, .ack_timeout = 1};
    struct pair pair;
    struct end *a = &pair.a;

    (void)state;
    pair_open(&pair, &(struct oche_device_config){.max_regions = 2, .max_peers = 3},
              OCHE_TRANSPORT_RC);
    assert_null(oche_device_create_qp(a->device, &qp));
    assert_int_equal(oche_device_peer(a->device, "no address"), UINT32_MAX);
    assert_int_equal(oche_device_peer(a->device, "::1"), UINT32_MAX);
    assert_int_equal(oche_device_peer(a->device, "224.0.0.1"), UINT32_MAX);
    assert_int_equal(oche_device_peer(a->device, a->address), 0);
    assert_int_equal(oche_device_peer(a->device, pair.b.address), 1);
    assert_int_equal(oche_device_peer(a->device, "192.0.2.1"), 2);
    assert_int_equal(oche_device_peer(a->device, "192.0.2.2"), UINT32_MAX);
    assert_int_not_equal(oche_device_register(a->device, a->memory, 100, 0), 0);
    assert_int_equal(oche_device_register(a->device, a->memory, 100, 0), 0);
    assert_true(oche_device_deregister(a->device, a->key));
    assert_false(oche_device_deregister(a->device, a->key));
    assert_false(oche_device_connect(a->device, a->qp, &nobody)); /* connected already */
    oche_device_destroy_qp(a->device, a->qp);
    ends_connect(a, &pair.b, OCHE_TRANSPORT_RC, 1024);
    oche_qp_fail(a->qp, 0);
    oche_qp_reset(a->qp);
    assert_false(oche_device_connect(a->device, a->qp, &nobody)); /* not in the table */
    nobody.remote_address = 1;
    assert_true(oche_device_connect(a->device, a->qp, &nobody));
    oche_device_destroy_qp(a->device, a->qp);
    oche_device_destroy_cq(a->device, a->cq);
    pair_close(&pair);
}

/*
 * A process that was stopped for longer than its ACK timeout finds the ACK in its socket, behind
 * more than a receive takes: nothing is sent again.
 */
static void ack_behind_others(void **state)
{
    struct oche_send_work work;
    struct pair pair;

    (void)state;
    pair_open(&pair, &(struct oche_device_config){.no_gso = true, .no_gro = true},
              OCHE_TRANSPORT_RC);
    work = work_between(&pair.b, &pair.a, OCHE_WORK_WRITE, 0, 1024);
    for (unsigned i = 0; i < 3 * OCHE_SOCKET_IN; i++)
        assert_int_equal(oche_device_post_send(pair.b.device, pair.b.qp, &work), 0);
    for (unsigned i = 0; i < 10; i++)
        oche_device_progress(pair.b.device);
    work = work_between(&pair.a, &pair.b, OCHE_WORK_WRITE, 0, 1024);
    assert_int_equal(oche_device_post_send(pair.a.device, pair.a.qp, &work), 0);
    oche_device_progress(pair.a.device);
    for (unsigned i = 0; i < 10; i++) { /* until its ACK has left, which may wait for data */
        usleep(1000);
        oche_device_progress(pair.b.device);
    }
    expect_success(pump(&pair, &pair.a), work.wr_id);
    assert_int_equal(oche_qp_timeouts(pair.a.qp), 0);
    pair_close(&pair);
}

/* A child of a fork closes what the device has open, and nothing else. */
static void left_by_child(void **state)
{
    struct pair pair;
    int status, left = 0;
    pid_t child;

    (void)state;
    pair_open(&pair, &(struct oche_device_config){.seed = 1}, OCHE_TRANSPORT_RC);
    if (fcntl(0, F_GETFD) < 0)
        assert_int_equal(open("/dev/null", O_RDONLY), 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        int fds[4];

        memcpy(fds, pair.a.device->source_ports.fds, sizeof(fds));
        oche_device_leave(pair.a.device);
        for (unsigned i = 0; i < 4; i++)
            left += fcntl(fds[i], F_GETFD) >= 0;
        _exit(fcntl(0, F_GETFD) < 0 || left > 0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    pair_close(&pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(with_offloads),
        cmocka_unit_test(without_gso),
        cmocka_unit_test(without_gro),
        cmocka_unit_test(with_another_port),
        cmocka_unit_test(over_ipv6),
        cmocka_unit_test(atomics),
        cmocka_unit_test(unreliable),
        cmocka_unit_test(with_losses),
        cmocka_unit_test(unregistered_at_once),
        cmocka_unit_test(traffic_classes),
        cmocka_unit_test(not_openable),
        cmocka_unit_test(refused),
        cmocka_unit_test(left_by_child),
        cmocka_unit_test(ack_behind_others),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
