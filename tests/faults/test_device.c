/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pair of devices while each n-th call of the system fails, alone or with all later ones:
 *   - opening and making objects either works or fails with one line (a device) or NULL;
 *   - what is sent arrives byte for byte; only if calls go on failing may a work fail, by its
 *     retries;
 *   - in the end no descriptor is left, and, with a sanitizer that tells, no memory.
 * OCHE_LONG=yes: every n; else all of the first ones and some of the others.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/faults/faults.h"
#include "tests/unit/device/pair.h"

#define BYTES 200000
#define FDS   256

/* The outcome of a run. */
enum ended { ENDED_WELL, ENDED_UNOPENED, ENDED_WITH_ERROR };

static char what[80]; /* now fails, for messages */

static unsigned descriptors(void)
{
    unsigned count = 0;

    for (int fd = 0; fd < FDS; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

static bool open_end(struct end *end, unsigned last)
{
    struct oche_error error = {.text = ""};
    const struct oche_device_config config = {.address = loopback_address(end->address, last),
                                              .share = last == 1,
                                              .no_gso = last == 2,
                                              .receive_buffer_bytes = 1 << 20};

    end->device = oche_device_open(&config, &error);
    if (end->device == NULL && (error.text[0] == 0 || strchr(error.text, '\n') != NULL))
        fail_msg("%s: a device fails to open with \"%s\"", what, error.text);
    return end->device != NULL;
}

/* Registers memory and makes a queue pair. False: an object could not be made. */
static bool fill_end(struct end *end, uint8_t *memory)
{
    const uint32_t all =
        OCHE_ACCESS_LOCAL_WRITE | OCHE_ACCESS_REMOTE_WRITE | OCHE_ACCESS_REMOTE_READ;
    struct oche_qp_config config = {.mtu_bytes = 1024,
                                    .send_depth = PAIR_DEPTH,
                                    .recv_depth = PAIR_DEPTH,
                                    .responder_resources = 4,
                                    .initiator_depth = 4,
                                    .access = all};

    end->memory = memory;
    end->key = oche_device_register(end->device, memory, PAIR_MEMORY, all);
    end->cq = oche_device_create_cq(end->device, 256);
    if (end->key == 0 || end->cq == NULL)
        return false;
    config.send_cq = config.recv_cq = end->cq;
    end->qp = oche_device_create_qp(end->device, &config);
    return end->qp != NULL;
}

static bool connect_end(struct end *end, const struct end *peer, bool patient)
{
    const struct oche_qp_connection connection = {
        .remote_address = oche_device_peer(end->device, peer->address),
        .remote_qpn = oche_qp_number(peer->qp),
        .ack_every_packets = 16,
        .ack_timeout = patient ? 20 * OCHE_MS : 4 * OCHE_MS,
        .retry_count = patient ? UINT32_MAX : 2,
        .rnr_retry = 7,
        .min_rnr_timer = 1,
    };

    return connection.remote_address != UINT32_MAX &&
           oche_device_connect(end->device, end->qp, &connection);
}

/* Moves bytes by each kind of work. */
static enum ended move(struct pair *pair)
{
    static const uint8_t opcodes[] = {OCHE_WORK_WRITE, OCHE_WORK_SEND, OCHE_WORK_READ};

    for (unsigned i = 0; i < OCHE_COUNT_OF(opcodes); i++) {
        const uint32_t at = i * BYTES;
        struct oche_send_work work = work_between(&pair->a, &pair->b, opcodes[i], at, BYTES);
        struct oche_completion done;

        memset((opcodes[i] == OCHE_WORK_READ ? pair->b : pair->a).memory + at, (int)i + 1, BYTES);
        if (opcodes[i] == OCHE_WORK_SEND)
            post_receive(&pair->b, i, at, BYTES);
        assert_int_equal(oche_device_post_send(pair->a.device, pair->a.qp, &work), 0);
        done = pump(pair, &pair->a);
        if (done.status != OCHE_STATUS_SUCCESS) {
            if (done.status != OCHE_STATUS_RETRY_EXCEEDED)
                fail_msg("%s: a work ends with status %u", what, done.status);
            return ENDED_WITH_ERROR;
        }
        assert_memory_equal(pair->a.memory + at, pair->b.memory + at, BYTES);
    }
    return ENDED_WELL;
}

static enum ended run_pair(struct pair *pair, uint8_t *memory, bool patient)
{
    if (!open_end(&pair->a, 1) || !open_end(&pair->b, 2))
        return ENDED_UNOPENED;
    if (!fill_end(&pair->a, memory) || !fill_end(&pair->b, memory + PAIR_MEMORY))
        return ENDED_UNOPENED;
    if (!connect_end(&pair->a, &pair->b, patient) || !connect_end(&pair->b, &pair->a, patient))
        return ENDED_UNOPENED;
    return move(pair);
}

static enum ended run(enum fault kind, unsigned long n, bool once)
{
    static uint8_t memory[2 * PAIR_MEMORY];
    struct pair pair = {0};
    enum ended ended;

    snprintf(what, sizeof(what), "%s %lu%s", faults_name(kind), n, once ? " alone" : "");
    memset(memory, 0, sizeof(memory));
    faults_set(kind, n, once);
    ended = run_pair(&pair, memory, once || n == 0);
    faults_stop();
    if (pair.a.device != NULL)
        assert_true(oche_device_close(pair.a.device));
    if (pair.b.device != NULL)
        assert_true(oche_device_close(pair.b.device));
    return ended;
}

/* The calls to fail: all of them, or the first ones and some of the others. */
static unsigned long next_of(unsigned long n)
{
    return getenv("OCHE_LONG") != NULL || n < 40 ? n + 1 : n + n / 8;
}

static void fail_each(enum fault kind, int error)
{
    const bool passes =
        error == EINTR || (kind == FAULT_SEND && (error == EAGAIN || error == ENOBUFS));
    const unsigned before = descriptors();
    unsigned ended[3] = {0};
    unsigned long calls;

    faults_error(error);
    assert_int_equal(run(kind, 0, true), ENDED_WELL);
    calls = faults_calls(kind);
    /* an operation that failed temporarily is tried again, but not for ever */
    for (unsigned once = passes; once < 2; once++)
        for (unsigned long n = 1; n <= calls; n = next_of(n)) {
            const enum ended how = run(kind, n, once == 1);

            ended[how]++;
            if (how == ENDED_WITH_ERROR && once == 1)
                fail_msg("%s: a work has failed", what);
            if (descriptors() != before)
                fail_msg("%s: %u descriptors instead of %u", what, descriptors(), before);
        }
    print_message("%s: %lu calls; of the runs %u ended well, %u with no device or object, %u with "
                  "an error\n",
                  faults_name(kind), calls, ended[ENDED_WELL], ended[ENDED_UNOPENED],
                  ended[ENDED_WITH_ERROR]);
    assert_true(calls > 0);
}

static void memory(void **state)
{
    (void)state;
    fail_each(FAULT_MEMORY, 0);
}

static void sockets(void **state)
{
    (void)state;
    fail_each(FAULT_SOCKET, 0);
    fail_each(FAULT_BIND, 0);
    fail_each(FAULT_OPTION, 0);
}

static void entropy(void **state)
{
    (void)state;
    fail_each(FAULT_RANDOM, 0);
}

static void sending(void **state)
{
    static const int errors[] = {EAGAIN, ENOBUFS, EINTR, EPERM, ENETUNREACH, EIO};

    (void)state;
    for (unsigned i = 0; i < OCHE_COUNT_OF(errors); i++)
        fail_each(FAULT_SEND, errors[i]);
}

static void receiving(void **state)
{
    static const int errors[] = {EAGAIN, EINTR, ECONNREFUSED, ENOMEM};

    (void)state;
    for (unsigned i = 0; i < OCHE_COUNT_OF(errors); i++)
        fail_each(FAULT_RECEIVE, errors[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(memory), cmocka_unit_test(sockets),
                                       cmocka_unit_test(entropy), cmocka_unit_test(sending),
                                       cmocka_unit_test(receiving)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
