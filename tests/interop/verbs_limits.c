/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program without a free file descriptor: calls that need one fail with EMFILE; what was opened
 * works and is closed completely. And a full receive buffer: with queue pairs that resend nothing
 * it is as large as the system allows, and an overflow is reported.
 */
#include "tests/interop/verbs_bench.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
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

/* The socket that receives: bound to the port of RoCEv2. */
static int receiving_socket(void)
{
    for (int fd = 3; fd < 1024; fd++) {
        struct sockaddr_in bound = {0};
        socklen_t size = sizeof(bound);

        if (getsockname(fd, (struct sockaddr *)(void *)&bound, &size) == 0 &&
            bound.sin_family == AF_INET && ntohs(bound.sin_port) == 4791)
            return fd;
    }
    fail_msg("no socket is bound to port 4791");
    return -1;
}

static int receive_buffer(int fd)
{
    int bytes = 0;
    socklen_t size = sizeof(bytes);

    assert_int_equal(getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, &size), 0);
    return bytes;
}

/* Returns the size of the largest receive buffer that the kernel gives. */
static int largest_buffer(void)
{
    const int fd = socket(AF_INET, SOCK_DGRAM, 0), most = INT_MAX / 2;
    int bytes;

    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &most, sizeof(most)), 0);
    bytes = receive_buffer(fd);
    close(fd);
    return bytes;
}

/* Waits for a line with `text` in what the library says. */
static void wait_for_line(const char *path, const char *text)
{
    char said[8192];

    for (unsigned tries = 0; tries < 500; tries++) {
        FILE *file = fopen(path, "r");

        assert_non_null(file);
        said[fread(said, 1, sizeof(said) - 1, file)] = '\0';
        fclose(file);
        if (strstr(said, text) != NULL)
            return;
        usleep(10000);
    }
    fail_msg("\"%s\" is not said: %s", text, said);
}

/* Sends a hundred times as much as the buffer holds, while the program does not receive. */
static void overflow(struct bench *bench, int fd)
{
    const int small = 2048;
    struct ibv_sge sge = sge_of(&bench->end[0], 0, 50000);

    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small)), 0);
    for (uint64_t i = 0; i < 40; i++) {
        struct ibv_send_wr wr = remote(IBV_WR_RDMA_WRITE, i, &sge, &bench->end[1], 0);

        post(&bench->end[0], &wr);
        expect(bench->end[0].cq, i, IBV_WC_SUCCESS);
    }
}

static void receive_buffers(void **state)
{
    char path[] = "/tmp/oche-limits-XXXXXX";
    const int file = mkstemp(path), before = dup(STDERR_FILENO);
    struct bench *bench = open_bench(IBV_QPT_RC, IBV_MTU_1024, NULL);
    const int of_rc = receive_buffer(receiving_socket());

    (void)state;
    close_bench(bench, false);
    assert_true(file >= 0 && dup2(file, STDERR_FILENO) >= 0);
    bench = open_bench(IBV_QPT_UC, IBV_MTU_1024, NULL);
    const int of_uc = receive_buffer(receiving_socket());
    overflow(bench, receiving_socket());
    wait_for_line(path, "the receive buffer of ");
    close_bench(bench, false);
    assert_true(dup2(before, STDERR_FILENO) >= 0);
    close(before);
    close(file);
    assert_int_equal(unlink(path), 0);
    assert_true(of_uc >= of_rc && of_uc >= largest_buffer());
    if (geteuid() == 0)
        assert_true(of_uc >= 64 << 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_descriptor_left),
                                       cmocka_unit_test(receive_buffers)};

    setenv("OCHE_DEVICE", "127.34.0.11", 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
