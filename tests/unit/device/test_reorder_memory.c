/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory for payloads behind a gap: little at first, more when something has come that had no room.
 * The data is right with it, and right without it where the system gives none. Where data goes to
 * its place as it comes, no memory is needed.
 */
#include "tests/support/losing.h"
#include "tests/unit/device/pair.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/recovery/selective_repeat.h"

#define BYTES  (UINT32_C(512) << 10)
#define ROUNDS 200
#define FIRST  (UINT32_C(64) << 10) /* what a queue pair has at first, of either kind */

static bool refuses;
static unsigned asked; /* how often more than that was */

/* In place of the C library's. */
void *mmap(void *address, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    if ((flags & MAP_NORESERVE) != 0 && bytes > FIRST) {
        asked++;
        if (refuses) {
            errno = ENOMEM;
            return MAP_FAILED;
        }
    }
    return (void *)syscall(SYS_mmap, address, bytes, protection, flags, fd, offset);
}

static void start(struct oche_cc_flow *flow, oche_time now)
{
    (void)now;
    flow->window_bytes = BYTES;
}

/* Counts READs in a window, which is as large as a transfer. */
static const struct oche_cc_scheme wide_window = {.name = "wide window",
                                                  .transports = OCHE_CC_RC,
                                                  .windows_reads = true,
                                                  .runs_on_wire = true,
                                                  .start = start};

static void transfer(struct pair *pair, uint8_t opcode, unsigned seed)
{
    const struct oche_send_work work = work_between(&pair->a, &pair->b, opcode, 0, BYTES);

    end_fill(opcode == OCHE_WORK_READ ? &pair->b : &pair->a, seed);
    assert_int_equal(oche_device_post_send(pair->a.device, pair->a.qp, &work), 0);
    assert_int_equal(pump(pair, &pair->a).status, OCHE_STATUS_SUCCESS);
    assert_memory_equal(pair->a.memory, pair->b.memory, BYTES);
}

static struct oche_selective_repeat_params params_of(uint32_t memory)
{
    struct oche_selective_repeat_params params;

    oche_param_defaults(&oche_recovery_selective_repeat.table, &params);
    params.window = 1024;
    params.memory = memory;
    return params;
}

/* Transfers until memory was asked for, and some more. Returns how often it was. */
static unsigned run(uint8_t opcode, bool refused)
{
    const struct oche_selective_repeat_params params = params_of(OCHE_SELECTIVE_MEMORY_IN_ORDER);
    const struct oche_device_config config = {.cc = &wide_window,
                                              .recovery = &oche_recovery_selective_repeat,
                                              .recovery_params = &params,
                                              .links = losing(OCHE_LINK_OUT, 3000),
                                              .seed = 1};
    struct pair pair;

    refuses = refused;
    asked = 0;
    pair_open(&pair, &config, OCHE_TRANSPORT_RC);
    pair_be_patient(&pair);
    for (unsigned round = 0; round < ROUNDS && asked == 0; round++)
        transfer(&pair, opcode, round + 1);
    for (unsigned round = 0; round < 10; round++)
        transfer(&pair, opcode, round + 1);
    pair_close(&pair);
    return asked;
}

static void writes(void **state)
{
    (void)state;
    assert_in_range(run(OCHE_WORK_WRITE, false), 1, 4);
    assert_true(run(OCHE_WORK_WRITE, true) >= 1);
}

static void reads(void **state)
{
    (void)state;
    assert_in_range(run(OCHE_WORK_READ, false), 1, 4);
    assert_true(run(OCHE_WORK_READ, true) >= 1);
}

static void as_it_comes(void **state)
{
    const struct oche_selective_repeat_params params = params_of(OCHE_SELECTIVE_MEMORY_AS_IT_COMES);
    const struct oche_device_config config = {.recovery = &oche_recovery_selective_repeat,
                                              .recovery_params = &params,
                                              .links = losing(OCHE_LINK_OUT, 3000),
                                              .seed = 1};
    struct oche_device_stats stats = {0};
    struct pair pair;

    (void)state;
    refuses = false;
    asked = 0;
    pair_open(&pair, &config, OCHE_TRANSPORT_RC);
    pair_be_patient(&pair);
    for (unsigned round = 0; round < ROUNDS && stats.nic.placed_packets < 200; round++) {
        transfer(&pair, OCHE_WORK_WRITE, round + 1);
        oche_device_stats(pair.b.device, &stats);
    }
    pair_close(&pair);
    assert_true(stats.nic.placed_packets >= 200); /* more than the first memory has room for */
    assert_int_equal(asked, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes),
        cmocka_unit_test(reads),
        cmocka_unit_test(as_it_comes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
