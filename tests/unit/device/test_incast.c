/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Look-ahead by devices (Dart sec III-D, dart.md#d39): senders on addresses of their own, one
 * receiver, and a host that is not in the list. The first message of one sender makes the receiver
 * count them all.
 */
#include <stdio.h>
#include <string.h>

#include "core/cc/dart/dart.h"
#include "core/qp/receive/receiver.h"
#include "device/internal.h"
#include "params/incast_list.h"
#include "params/scheme.h"
#include "tests/unit/device/pair.h"

#define SENDERS 4
#define FIRST   2 /* last byte of the first sender's address */
#define LARGE   50000

static struct oche_cc_choice dart;
static struct oche_incast_list list;
static struct end to[SENDERS + 1];   /* at the receiver, a queue pair for each sender … */
static struct end from[SENDERS + 1]; /* … and for the stranger, who is the last one */

/* Parses the list of the senders, and of the receiver if `with_receiver`. */
static void make_list(bool with_receiver)
{
    char text[512], address[32];
    struct oche_error error;
    size_t used = 0;

    for (unsigned i = SENDERS; i-- > 0;) /* the order does not matter */
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", used > 0 ? "," : "",
                                 loopback_address(address, FIRST + i));
    if (with_receiver)
        snprintf(text + used, sizeof(text) - used, ",%s", loopback_address(address, 1));
    assert_true(oche_incast_list_parse(&list, text, &error));
}

static void open_all(bool with_receiver, const char *recovery)
{
    const struct oche_device_config config = {.cc = dart.cc,
                                              .cc_params = &dart.params,
                                              .recovery = oche_recovery_find(recovery),
                                              .incast = &list};

    make_list(with_receiver);
    for (unsigned i = 0; i <= SENDERS; i++) {
        end_open(&from[i], &config, NULL, FIRST + i);
        if (i == 0)
            end_open(&to[i], &config, NULL, 1);
        else
            to[i] = to[0];
        ends_connect(&from[i], &to[i], OCHE_TRANSPORT_RC, 1024);
        oche_qp_set_retries(from[i].qp, &(struct oche_qp_connection){.ack_timeout = OCHE_SEC,
                                                                     .retry_count = 7,
                                                                     .rnr_retry = 7,
                                                                     .min_rnr_timer = 1});
    }
}

static void close_all(void)
{
    for (unsigned i = 0; i <= SENDERS; i++)
        end_close(&from[i]);
    end_close(&to[0]);
}

static struct oche_dart_view view_of(const struct end *end)
{
    return oche_dart_look(oche_device_nic(end->device)->cc_nic.state);
}

/* A sender's message to the receiver, or the other way; its data must arrive. */
static void send_one(struct end *a, struct end *b, uint8_t opcode, uint32_t bytes)
{
    struct oche_send_work work = work_between(a, b, opcode, 4096, bytes);
    struct pair pair = {.a = *a, .b = *b};
    static unsigned seed;

    end_fill(a, ++seed);
    memset(b->memory, 0, PAIR_MEMORY);
    work.flags = OCHE_WORK_SIGNALED;
    work.group = oche_device_group(a->device, a->qp->remote_address);
    if (opcode != OCHE_WORK_WRITE)
        post_receive(b, 1, 4096, bytes);
    assert_int_equal(oche_device_post_send(a->device, a->qp, &work), 0);
    assert_int_equal(pump(&pair, a).status, OCHE_STATUS_SUCCESS);
    if (opcode != OCHE_WORK_WRITE)
        assert_int_equal(pump(&pair, b).status, OCHE_STATUS_SUCCESS);
    assert_memory_equal(a->memory + 4096, b->memory + 4096, bytes);
}

/*
 * A device names nobody before it knows that the peer has extensions. Nobody lingers here, so after
 * each sender's message the receiver counts none.
 */
static void let_them_meet(void)
{
    for (unsigned i = 0; i <= SENDERS; i++) {
        send_one(&from[i], &to[i], OCHE_WORK_WRITE, 100);
        send_one(&to[i], &from[i], OCHE_WORK_WRITE, 100);
    }
    assert_int_equal(view_of(&to[0]).groups, 0);
    assert_int_equal(view_of(&to[0]).senders, 0);
}

/* The first message announces all; each sender's own message takes the place of its announcement.
 */
static void all_count_at_once(void **state)
{
    (void)state;
    for (unsigned with_receiver = 0; with_receiver < 2; with_receiver++) {
        unsigned waiting = SENDERS - 1;

        open_all(with_receiver != 0, "go_back_n");
        let_them_meet();
        send_one(&from[1], &to[1], OCHE_WORK_WRITE, 100);
        assert_int_equal(view_of(&to[0]).groups, 1);
        assert_int_equal(view_of(&to[0]).senders, waiting);
        assert_int_equal(view_of(&to[0]).told, waiting); /* the share that ACKs say */
        for (unsigned i = 0; i < SENDERS; i++) {
            if (i == 1)
                continue;
            send_one(&from[i], &to[i], OCHE_WORK_WRITE, LARGE);
            assert_int_equal(view_of(&to[0]).senders, --waiting);
        }
        assert_int_equal(view_of(&to[0]).groups, 1);
        assert_int_equal(view_of(&to[0]).not_come, 0);
        send_one(&from[1], &to[1], OCHE_WORK_WRITE, LARGE); /* the next incast */
        assert_int_equal(view_of(&to[0]).groups, 2);
        assert_int_equal(view_of(&to[0]).senders, SENDERS - 1);
        assert_int_equal(view_of(&to[0]).void_groups, 0);
        close_all();
    }
}

/* Each kind of message that can name a group, long and short; the data is not disturbed. */
static void every_message_names_them(void **state)
{
    static const uint8_t opcodes[] = {OCHE_WORK_WRITE, OCHE_WORK_SEND, OCHE_WORK_SEND_IMM,
                                      OCHE_WORK_WRITE_IMM};
    static const char *const recoveries[] = {"go_back_n", "improved_go_back_n", "selective_repeat"};

    (void)state;
    for (size_t r = 0; r < OCHE_COUNT_OF(recoveries); r++) {
        uint64_t groups = 0;

        open_all(false, recoveries[r]);
        let_them_meet();
        for (size_t i = 0; i < OCHE_COUNT_OF(opcodes); i++)
            for (uint32_t bytes = 100; bytes <= LARGE; bytes += LARGE - 100) {
                send_one(&from[2], &to[2], opcodes[i], bytes);
                /* under selective repeat only WRITEs do: other opcodes have no room */
                groups +=
                    r < 2 || opcodes[i] == OCHE_WORK_WRITE || opcodes[i] == OCHE_WORK_WRITE_IMM;
                assert_int_equal(view_of(&to[0]).groups, groups);
            }
        close_all();
    }
}

/* Hosts outside of the list name nobody; nor does a host in messages to itself. */
static void others_name_nobody(void **state)
{
    (void)state;
    open_all(false, "go_back_n");
    let_them_meet();
    send_one(&from[SENDERS], &to[SENDERS], OCHE_WORK_WRITE, LARGE);
    assert_int_equal(view_of(&to[0]).groups, 0);
    send_one(&to[0], &from[0], OCHE_WORK_WRITE, LARGE); /* the receiver is no sender here */
    assert_int_equal(view_of(&from[0]).groups, 0);
    assert_null(oche_device_group(from[0].device, 0));
    assert_int_equal(view_of(&to[0]).void_groups + view_of(&from[0]).void_groups, 0);
    close_all();
    /* In the list it is one: a message to a sender names the others and it. */
    open_all(true, "go_back_n");
    send_one(&from[0], &to[0], OCHE_WORK_WRITE, 100);
    send_one(&to[0], &from[0], OCHE_WORK_WRITE, LARGE);
    assert_int_equal(view_of(&from[0]).groups, 1);
    assert_int_equal(view_of(&from[0]).senders, SENDERS - 1);
    close_all();
}

/* A list that the device cannot use is an error, not ignored. */
static void unfit_ones_are_refused(void **state)
{
    struct oche_device_config config = {.cc = oche_cc_find("dcqcn"), .incast = &list};
    char address[32];
    struct oche_error error;

    (void)state;
    make_list(false);
    config.address = loopback_address(address, FIRST);
    assert_null(oche_device_open(&config, &error));
    assert_non_null(strstr(error.text, "dcqcn takes no list"));
    config.cc = dart.cc;
    config.cc_params = &dart.params;
    config.max_peers = SENDERS;
    assert_null(oche_device_open(&config, &error));
    assert_non_null(strstr(error.text, "an incast of 4 hosts; 4 peers are possible"));
    config.max_peers = SENDERS + 1;
    struct oche_device *device = oche_device_open(&config, &error);
    assert_non_null(device);
    assert_true(oche_device_close(device));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_count_at_once),
        cmocka_unit_test(every_message_names_them),
        cmocka_unit_test(others_name_nobody),
        cmocka_unit_test(unfit_ones_are_refused),
    };
    struct oche_error error;

    /* Nobody is forgotten during a test, however slow the machine is. */
    if (!oche_cc_parse(&dart, "dart,look_ahead_timeout=1000s,linger=0", &error)) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
