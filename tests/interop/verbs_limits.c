/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that has no file descriptor left: whatever needs one fails with EMFILE, and what could
 * be opened works and is closed whole.
 */
#include "tests/interop/verbs_bench.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#define MOST_MORE 40 /* descriptors that a device and a channel need at most */

static unsigned free_descriptor(void)
{
    const int next = dup(0);

    assert_true(next >= 0);
    close(next);
    return (unsigned)next;
}

/* Opens a device and a channel with `more` descriptors. Returns true if both could be had. */
static bool open_with(struct ibv_device *device, unsigned more)
{
    const unsigned before = free_descriptor();
    struct rlimit limit, own;
    struct ibv_context *context;
    struct ibv_comp_channel *channel = NULL;
    int error;

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &own), 0);
    limit = own;
    limit.rlim_cur = before + more;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    errno = 0;
    context = ibv_open_device(device);
    if (context != NULL)
        channel = ibv_create_comp_channel(context);
    error = errno;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &own), 0);
    if (channel == NULL && error != EMFILE)
        fail_msg("%u descriptors are left: errno %d, not EMFILE", more, error);
    if (channel != NULL)
        assert_int_equal(ibv_destroy_comp_channel(channel), 0);
    if (context != NULL)
        assert_int_equal(ibv_close_device(context), 0);
    assert_int_equal(free_descriptor(), before);
    return channel != NULL;
}

static void no_descriptor_left(void **state)
{
    struct ibv_device **list = ibv_get_device_list(NULL);
    unsigned failed = 0;

    (void)state;
    assert_true(list != NULL && list[0] != NULL);
    while (failed < MOST_MORE && !open_with(list[0], failed))
        failed++;
    assert_in_range(failed, 4, MOST_MORE - 1);
    ibv_free_device_list(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_descriptor_left)};

    setenv("OCHE_DEVICE", "127.34.0.11", 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
