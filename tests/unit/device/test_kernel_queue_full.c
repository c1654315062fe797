/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel has no room for what is sent: ENOBUFS, now and then, as of an interface whose queue is
 * full. Nothing is lost by that: what was not taken is sent later.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/unit/device/pair.h"

#define BYTES 200000
#define TIMES 20

static unsigned calls, refused;

static bool refuses(const struct msghdr *message)
{
    /* Fails every third packet; messages between processes have no address. */
    if (message->msg_name == NULL || ++calls % 3 != 0)
        return false;
    refused++;
    errno = ENOBUFS;
    return true;
}

/* In place of the C library's. */
ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    return refuses(message) ? -1 : (ssize_t)syscall(SYS_sendmsg, fd, message, flags);
}

int sendmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags)
{
    return refuses(&messages->msg_hdr) ? -1
                                       : (int)syscall(SYS_sendmmsg, fd, messages, count, flags);
}

static void nothing_is_lost(void **state)
{
    const struct oche_device_config config = {.seed = 1};
    struct oche_device_stats stats;
    struct pair pair;

    (void)state;
    pair_open(&pair, &config, OCHE_TRANSPORT_RC);
    pair_be_patient(&pair);
    for (unsigned i = 0; i < TIMES; i++) {
        const struct oche_send_work work =
            work_between(&pair.a, &pair.b, OCHE_WORK_WRITE, i * 1000, BYTES);

        end_fill(&pair.a, i + 1);
        assert_int_equal(oche_device_post_send(pair.a.device, pair.a.qp, &work), 0);
        assert_int_equal(pump(&pair, &pair.a).status, OCHE_STATUS_SUCCESS);
        assert_memory_equal(pair.a.memory + i * 1000, pair.b.memory + i * 1000, BYTES);
    }
    assert_true(refused > TIMES);
    oche_device_stats(pair.a.device, &stats);
    assert_true(stats.send_full > 0);
    assert_int_equal(stats.send_errors, 0);
    assert_int_equal(stats.nic.retransmitted_packets, 0);
    pair_close(&pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_is_lost)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
