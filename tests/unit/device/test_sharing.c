/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several devices on one address and port. Each gets the packets to its queue pairs, whatever the
 * kernel's program says, and in any order of opening and closing. Messages of others do not count.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device/internal.h"
#include "tests/support/crc.h"
#include "tests/unit/device/pair.h"

#define MESSAGE 40000

static const struct oche_device_config shared = {.share = true};

/* Open, and known to the others. */
static void take_slot(struct end *end, struct end *const *others, unsigned count)
{
    end_open(end, &shared, NULL, 1);
    for (unsigned i = 0; i < 2000; i++) {
        oche_device_progress(end->device);
        for (unsigned k = 0; k < count; k++)
            oche_device_progress(others[k]->device);
    }
}

static void progress_both(struct end *a, struct end *b, unsigned times)
{
    for (unsigned i = 0; i < times; i++) {
        oche_device_progress(a->device);
        oche_device_progress(b->device);
    }
}

static struct oche_device_stats stats_of(struct end *end)
{
    struct oche_device_stats stats;

    oche_device_stats(end->device, &stats);
    return stats;
}

/* Packets of either that took the long way, or were dropped there. */
static uint64_t astray(struct end *a, struct end *b)
{
    const struct oche_device_stats of_a = stats_of(a), of_b = stats_of(b);

    return of_a.passed_on + of_b.passed_on + of_a.pass_lost + of_b.pass_lost;
}

/* Writes and reads between two that are connected, and checks every byte. */
static void exchange(struct end *a, struct end *b, unsigned seed)
{
    struct pair pair = {.a = *a, .b = *b};
    struct oche_send_work work;

    end_fill(a, seed);
    end_fill(b, 0);
    work = work_between(a, b, OCHE_WORK_WRITE, 0, MESSAGE);
    assert_int_equal(oche_device_post_send(a->device, a->qp, &work), 0);
    assert_int_equal(pump(&pair, a).status, OCHE_STATUS_SUCCESS);
    assert_memory_equal(a->memory, b->memory, MESSAGE);
    end_fill(b, seed + 1);
    work = work_between(a, b, OCHE_WORK_READ, 64, MESSAGE);
    assert_int_equal(oche_device_post_send(a->device, a->qp, &work), 0);
    assert_int_equal(pump(&pair, a).status, OCHE_STATUS_SUCCESS);
    assert_memory_equal(a->memory + 64, b->memory + 64, MESSAGE);
    assert_int_equal(oche_nic_rejected(oche_device_nic(a->device), OCHE_REJECT_WRONG_PEER) +
                         oche_nic_rejected(oche_device_nic(b->device), OCHE_REJECT_WRONG_PEER),
                     0);
}

static void two(void **state)
{
    struct end a, b, *const first[] = {&a};

    (void)state;
    take_slot(&a, NULL, 0);
    take_slot(&b, first, 1);
    assert_int_not_equal(a.device->share.slot, b.device->share.slot);
    ends_connect(&a, &b, OCHE_TRANSPORT_RC, 1024);
    assert_int_not_equal(oche_qp_number(a.qp) >> OCHE_SLOT_SHIFT,
                         oche_qp_number(b.qp) >> OCHE_SLOT_SHIFT);
    exchange(&a, &b, 1);
    exchange(&b, &a, 3);
    assert_int_equal(astray(&a, &b), 0);
    end_close(&a);
    end_close(&b);
}

/* A socket closes, the last takes its place, a new one comes: nothing goes astray for long. */
static void comings_and_goings(void **state)
{
    struct end a, b, c, d, *others[3] = {&a, &b, &c};
    uint64_t before;

    (void)state;
    take_slot(&a, NULL, 0);
    take_slot(&b, others, 1);
    take_slot(&c, others, 2);
    ends_connect(&c, &b, OCHE_TRANSPORT_RC, 1024);
    exchange(&c, &b, 1);
    assert_int_equal(c.device->share.place, 2);
    end_close(&a);
    usleep(6000); /* not again so soon, says the code */
    progress_both(&b, &c, 3000);
    assert_int_equal(c.device->share.place, 0);
    before = astray(&b, &c);
    exchange(&c, &b, 3);
    assert_int_equal(astray(&b, &c), before);

    others[0] = &c;
    take_slot(&d, others, 2);
    assert_int_equal(d.device->share.slot, 0); /* a's */
    assert_int_equal(d.device->share.place, 2);
    before = astray(&b, &c) + astray(&c, &d);
    exchange(&b, &c, 5);
    ends_connect(&d, &c, OCHE_TRANSPORT_RC, 1024);
    exchange(&d, &c, 7);
    assert_int_equal(astray(&b, &c) + astray(&c, &d), before);
    end_close(&b);
    end_close(&c);
    end_close(&d);
}

/* Another process on the address, which makes progress until it is killed. */
static pid_t start_process(const char *address)
{
    int ready[2];
    char byte;
    pid_t child;

    assert_int_equal(pipe(ready), 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct end end;

        end_open(&end, &shared, address, 1);
        if (write(ready[1], "r", 1) != 1)
            _exit(1);
        for (unsigned i = 0; i < 60000; i++) {
            oche_device_progress(end.device);
            usleep(1000);
        }
        _exit(1);
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    return child;
}

/* Sends a packet to this process from `count` ports, each of which has a hash of its own. */
static void send_from_ports(const struct end *to, unsigned count)
{
    const uint8_t packet[24] = {[5] = (uint8_t)(to->device->share.slot << (8 - OCHE_SLOT_BITS))};
    struct sockaddr_storage address;
    const socklen_t bytes =
        oche_address_to_socket(&to->device->address, to->device->port, &address);

    for (unsigned i = 0; i < count; i++) {
        const int fd = socket(AF_INET, SOCK_DGRAM, 0);

        assert_true(fd >= 0);
        assert_int_equal(sendto(fd, packet, sizeof(packet), 0, (struct sockaddr *)&address, bytes),
                         sizeof(packet));
        close(fd);
    }
}

/*
 * A process is killed, so the last socket moves to its place, and another process is stopped. The
 * owner of the last socket finds that out by itself, and gets all its packets.
 */
static void killed_and_stopped(void **state)
{
    char address[32];
    const pid_t killed = start_process(loopback_address(address, 1));
    struct end stopped, last;
    uint64_t before;

    (void)state;
    end_open(&stopped, &shared, address, 1);
    end_open(&last, &shared, address, 1);
    progress_both(&stopped, &last, 2000);
    assert_int_equal(stopped.device->share.place, 1);
    assert_int_equal(last.device->share.place, 2);
    kill(killed, SIGKILL);
    assert_int_equal(waitpid(killed, NULL, 0), killed);
    for (unsigned ms = 0; ms < 10000 && last.device->share.place != 0; ms++) {
        oche_device_progress(last.device);
        usleep(1000);
    }
    assert_int_equal(last.device->share.place, 0);
    before = stats_of(&last).received_packets;
    send_from_ports(&last, 64);
    for (unsigned i = 0; i < 1000; i++)
        oche_device_progress(last.device);
    assert_int_equal(stats_of(&last).received_packets, before + 64);
    end_close(&stopped);
    end_close(&last);
}

/* A program that sends each packet to the wrong one of the two: the data is right all the same, and
 * the program is replaced. */
static void wrong_program(void **state)
{
    uint8_t crossed[OCHE_SLOTS];
    struct end a, b, *const first[] = {&a};
    uint64_t before;

    (void)state;
    take_slot(&a, NULL, 0);
    take_slot(&b, first, 1);
    ends_connect(&a, &b, OCHE_TRANSPORT_RC, 1024);
    memset(crossed, OCHE_PLACE_NONE, sizeof(crossed));
    crossed[a.device->share.slot] = b.device->share.place;
    crossed[b.device->share.slot] = a.device->share.place;
    usleep(6000);
    assert_true(oche_reuseport_install(a.device->socket.fd, crossed));
    exchange(&a, &b, 1);
    assert_true(stats_of(&a).passed_on > 0);
    assert_true(stats_of(&a).taken_over > 0 || stats_of(&b).taken_over > 0);
    usleep(6000);
    exchange(&a, &b, 3);
    progress_both(&a, &b, 3000);
    before = astray(&a, &b);
    exchange(&a, &b, 5);
    assert_int_equal(astray(&a, &b), before);
    end_close(&a);
    end_close(&b);
}

/* One datagram of packets to both, which the kernel steers by its first. */
static void mixed_datagram(void **state)
{
    enum { PACKETS = 12 };
    const struct oche_socket_options options = {.buffer_bytes = 1 << 20};
    struct end a, b, *const first[] = {&a};
    struct oche_packet packet = {.opcode = OCHE_RC_SEND_ONLY, .pkey = 0xffff, .payload_bytes = 8};
    struct oche_address from, to;
    struct sockaddr_storage device;
    struct oche_ip_header header;
    struct oche_pseudo pseudo;
    struct oche_socket stranger;
    uint8_t bytes[PACKETS * 24];
    struct iovec piece = {.iov_base = bytes, .iov_len = sizeof(bytes)};
    struct oche_datagram_out out = {
        .to = &device, .pieces = &piece, .piece_count = 1, .segment_bytes = 24};
    char text[32];
    struct oche_error error;
    unsigned sent;

    (void)state;
    take_slot(&a, NULL, 0);
    take_slot(&b, first, 1);
    assert_true(oche_address_parse(loopback_address(text, 2), &from));
    assert_true(oche_address_parse(a.address, &to));
    assert_true(oche_socket_open(&stranger, &from, 4791, &options, &error));
    out.to_bytes = oche_address_to_socket(&to, 4791, &device);
    oche_ip_header_make(&header, &from, &to, 4791, 4791, 0);
    for (uint16_t i = 0; i < PACKETS; i++) {
        const struct end *end = i % 4 == 3 ? &a : &b; /* three for b, one for a, … */

        packet.dest_qpn = ((uint32_t)end->device->share.slot << OCHE_SLOT_SHIFT) + 0x3fff;
        oche_ip_header_set_id(&header, i);
        oche_pseudo_from_bytes(&pseudo, header.bytes);
        assert_int_equal(oche_encode_transport(&packet, &pseudo, crc_zlib, bytes + i * 24, 24), 24);
    }
    assert_int_equal(oche_socket_send(&stranger, stranger.fd, &out, 1, &sent), OCHE_SEND_DONE);
    progress_both(&a, &b, 200);
    assert_int_equal(oche_nic_rejected(oche_device_nic(a.device), OCHE_REJECT_NO_QP), 3);
    assert_int_equal(oche_nic_rejected(oche_device_nic(b.device), OCHE_REJECT_NO_QP), 9);
    assert_int_equal(stats_of(&b).passed_on, 3);
    assert_int_equal(stats_of(&a).taken_over, 3);
    assert_int_equal(stats_of(&a).strangers, 3); /* the datagrams of one packet each */
    oche_socket_close(&stranger);
    end_close(&a);
    end_close(&b);
}

/* `count` packets that the kernel has given to `a`, and which are `b`'s. */
static void misled(struct end *a, const struct end *b, unsigned count)
{
    struct oche_datagram_in in = {.segment_bytes = 24, .from_port = 4791};
    struct oche_packet packet = {.opcode = OCHE_RC_SEND_ONLY,
                                 .pkey = 0xffff,
                                 .dest_qpn = (uint32_t)b->device->share.slot << OCHE_SLOT_SHIFT,
                                 .payload_bytes = 8};
    struct oche_ip_header header;
    struct oche_pseudo pseudo;
    uint8_t bytes[24];

    assert_true(oche_address_parse("127.9.9.9", &in.from));
    oche_ip_header_make(&header, &in.from, &a->device->address, 4791, 4791, 0);
    oche_pseudo_from_bytes(&pseudo, header.bytes);
    in.count = (uint32_t)oche_encode_transport(&packet, &pseudo, crc_zlib, bytes, sizeof(bytes));
    in.bytes = bytes;
    for (unsigned i = 0; i < count; i++)
        device_take(a->device, &in, oche_device_now(a->device));
}

/* One that does not look for a while gets its packets nevertheless; unless they are too many. */
static void full_queue(void **state)
{
    struct end a, b, *const first[] = {&a};
    uint64_t lost;

    (void)state;
    take_slot(&a, NULL, 0);
    take_slot(&b, first, 1);
    progress_both(&a, &b, 200);
    misled(&a, &b, 5000);
    assert_true(oche_sharing_has_queued(&a.device->share)); /* more than the kernel's queue takes */
    assert_int_equal(stats_of(&a).passed_on, 5000);
    progress_both(&a, &b, 2000);
    assert_false(oche_sharing_has_queued(&a.device->share));
    assert_int_equal(stats_of(&b).taken_over, 5000);
    assert_int_equal(stats_of(&a).pass_lost, 0);

    misled(&a, &b, 100000);
    lost = stats_of(&a).pass_lost;
    assert_in_range(lost, 1, 99999);
    for (unsigned i = 0; i < 10000 && oche_sharing_has_queued(&a.device->share); i++)
        progress_both(&a, &b, 100);
    progress_both(&a, &b, 200);
    assert_int_equal(stats_of(&b).taken_over + lost, 105000);

    misled(&a, &b, 1000); /* and one that is gone gets none, nor does who comes after it */
    assert_true(oche_sharing_has_queued(&a.device->share));
    end_close(&b);
    take_slot(&b, first, 1);
    progress_both(&a, &b, 200);
    assert_false(oche_sharing_has_queued(&a.device->share));
    assert_int_equal(stats_of(&b).taken_over, 0);
    assert_true(stats_of(&a).pass_lost > lost);
    end_close(&b);
    end_close(&a);
}

/* Packets to an unused slot find no queue pair, as with any unknown number. */
static void nobody(void **state)
{
    struct oche_datagram_in in = {.segment_bytes = 24, .from_port = 4791};
    struct oche_packet packet = {.opcode = OCHE_RC_SEND_ONLY,
                                 .pkey = 0xffff,
                                 .dest_qpn = 40u << OCHE_SLOT_SHIFT,
                                 .payload_bytes = 8};
    struct oche_ip_header header;
    struct oche_pseudo pseudo;
    uint8_t bytes[24];
    struct end a;

    (void)state;
    take_slot(&a, NULL, 0);
    assert_true(oche_address_parse("127.9.9.9", &in.from));
    oche_ip_header_make(&header, &in.from, &a.device->address, 4791, 4791, 0);
    oche_pseudo_from_bytes(&pseudo, header.bytes);
    in.count = (uint32_t)oche_encode_transport(&packet, &pseudo, crc_zlib, bytes, sizeof(bytes));
    in.bytes = bytes;
    for (unsigned passed_on = 0; passed_on < 2; passed_on++) {
        in.passed_on = passed_on == 1;
        assert_int_equal(device_take(a.device, &in, oche_device_now(a.device)), 1);
        assert_int_equal(oche_nic_rejected(oche_device_nic(a.device), OCHE_REJECT_NO_QP),
                         passed_on + 1);
    }
    assert_int_equal(stats_of(&a).passed_on + stats_of(&a).pass_lost, 0);
    end_close(&a);
}

/* Sends bytes to a device's inbox, as any process of the user's may. */
static bool say_to(const struct end *end, const void *bytes, size_t count)
{
    struct sockaddr_un inbox;
    const socklen_t inbox_bytes =
        oche_names_inbox(&end->device->share.names, end->device->share.slot, &inbox);
    const int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
    const bool said = sendto(fd, bytes, count, 0, (struct sockaddr *)&inbox, inbox_bytes) >= 0;

    close(fd);
    return said;
}

/* Messages of other processes are counted and have no effect. */
static void strange_messages(void **state)
{
    /* Begins like ours: right magic and version, packets, from slot 9. */
    uint8_t message[128] = {0x65, 0x68, 0x63, 0x6f, 2, 3, 9};
    struct end a;

    (void)state;
    take_slot(&a, NULL, 0);
    for (unsigned count = 0; count < 40; count += 8)
        assert_true(say_to(&a, message, count)); /* too short */
    message[5] = 77;                             /* no such kind */
    assert_true(say_to(&a, message, sizeof(message)));
    message[6] = 200; /* no such slot */
    assert_true(say_to(&a, message, sizeof(message)));
    oche_device_progress(a.device);
    for (unsigned i = 0; i < 20; i++)
        oche_device_progress(a.device);
    assert_int_equal(stats_of(&a).pass_refused, 7);
    message[5] = 3;
    message[6] = 9; /* packets of length 0 each: nothing, and no endless loop */
    assert_true(say_to(&a, message, sizeof(message)));
    for (unsigned i = 0; i < 20; i++)
        oche_device_progress(a.device);
    assert_int_equal(stats_of(&a).received_packets, 0);
    end_close(&a);
}

/* Random messages of our own user, many of them nearly right, do no harm. The data of a connection
 * meanwhile is right. */
static void random_messages(void **state)
{
    struct oche_random random = oche_random_stream(1, "messages", 0);
    struct end a, b, *const first[] = {&a};
    uint8_t message[400];

    (void)state;
    take_slot(&a, NULL, 0);
    take_slot(&b, first, 1);
    ends_connect(&a, &b, OCHE_TRANSPORT_RC, 1024);
    for (unsigned i = 0; i < 4000; i++) {
        const size_t count = oche_random_below(&random, sizeof(message));

        for (size_t k = 0; k < count; k++)
            message[k] = (uint8_t)oche_random_u64(&random);
        memcpy(message, (uint8_t[]){0x65, 0x68, 0x63, 0x6f, 2}, 5);
        message[5] = (uint8_t)oche_random_below(&random, 6); /* kind */
        message[6] &= OCHE_SLOTS - 1;                        /* slot */
        message[7] &= 0x1f;                                  /* place */
        if (i % 3 != 0) { /* packets in it, of a size that there is, to one of us */
            memset(message + 32, 0, 4);
            message[32] = (uint8_t)(8 + oche_random_below(&random, 60));
            message[40 + OCHE_SLOT_OFFSET] = (uint8_t)(i % 3 << 2);
        }
        assert_true(say_to(i % 2 ? &a : &b, message, count));
        progress_both(&a, &b, 20);
    }
    /* They gave wrong places; the processes find the right ones again. */
    usleep(6000);
    exchange(&a, &b, 1);
    assert_true(stats_of(&a).taken_over + stats_of(&b).taken_over > 500);
    assert_true(stats_of(&a).pass_refused + stats_of(&b).pass_refused > 100);
    end_close(&a);
    end_close(&b);
}

/* At most 64 share. A device that does not share is refused, and so is one beside such a device. */
static void limits(void **state)
{
    struct oche_device *devices[OCHE_SLOTS], *more;
    struct oche_qp_config qp = {
        .transport = OCHE_TRANSPORT_RC, .mtu_bytes = 1024, .send_depth = 1, .max_recv_sge = 1};
    char text[32];
    struct oche_error error;
    struct oche_device_config config = {.share = true,
                                        .address = loopback_address(text, 1),
                                        .receive_buffer_bytes = 1 << 16,
                                        .max_qps = 8,
                                        .max_regions = 8,
                                        .max_peers = 8};

    (void)state;
    for (unsigned i = 0; i < OCHE_SLOTS; i++) {
        devices[i] = oche_device_open(&config, &error);
        if (devices[i] == NULL)
            fail_msg("%u: %s", i, error.text);
        assert_int_equal(devices[i]->share.slot, i);
    }
    more = oche_device_open(&config, &error);
    assert_null(more);
    assert_int_equal(errno, EADDRINUSE);
    assert_non_null(strstr(error.text, "64 processes"));
    config.share = false;
    assert_null(oche_device_open(&config, &error));
    assert_int_equal(errno, EADDRINUSE);
    qp.qpn = (UINT32_C(1) << OCHE_SLOT_SHIFT) + 0x100; /* of slot 1 */
    assert_null(oche_device_create_qp(devices[0], &qp));
    for (unsigned i = 0; i < OCHE_SLOTS; i++)
        assert_true(oche_device_close(devices[i]));
    more = oche_device_open(&config, &error);
    assert_non_null(more);
    config.share = true;
    assert_null(oche_device_open(&config, &error));
    assert_int_equal(errno, EADDRINUSE);
    assert_true(oche_device_close(more));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two),
        cmocka_unit_test(comings_and_goings),
        cmocka_unit_test(killed_and_stopped),
        cmocka_unit_test(wrong_program),
        cmocka_unit_test(mixed_datagram),
        cmocka_unit_test(full_queue),
        cmocka_unit_test(nobody),
        cmocka_unit_test(strange_messages),
        cmocka_unit_test(random_messages),
        cmocka_unit_test(limits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
