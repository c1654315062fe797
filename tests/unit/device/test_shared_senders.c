/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes that share an address count their senders together, each sender once. A killed
 * process's senders are gone within a second. No contents of another process's table crash us or
 * delay us. In one process, or with a forked one that is killed.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/cc/dart/dart.h"
#include "core/qp/qp_internal.h"
#include "device/internal.h"
#include "tests/unit/device/pair.h"

#define LONG (UINT32_C(1) << 19) /* a message that is under way when we look */

/* LONG takes two seconds at this rate. */
static struct oche_device_config dart_config(void)
{
    return (struct oche_device_config){
        .share = true, .line_rate_bps = 2 * OCHE_MBPS, .cc = oche_cc_find("dart")};
}

static void enter(struct end *end, unsigned host)
{
    const struct oche_device_config config = dart_config();

    end_open(end, &config, NULL, host);
}

static void progress(struct end *const *ends, unsigned count, unsigned times)
{
    for (unsigned i = 0; i < times; i++)
        for (unsigned k = 0; k < count; k++)
            oche_device_progress(ends[k]->device);
}

static uint32_t told(const struct end *end)
{
    return oche_dart_look(end->device->nic->cc_nic.state).told;
}

/* The number of senders that the process itself counts. */
static uint32_t own(const struct end *end)
{
    uint32_t addresses[OCHE_SENDERS_PER_TABLE], version;

    return oche_nic_senders(end->device->nic, addresses, OCHE_SENDERS_PER_TABLE, &version);
}

static void write_long(const struct end *from, const struct end *to)
{
    const struct oche_send_work work = work_between(from, to, OCHE_WORK_WRITE, 0, LONG);

    assert_int_equal(oche_device_post_send(from->device, from->qp, &work), 0);
}

/* Two receivers on one address, a sender to each: both count two. */
static void counts_the_union(void **state)
{
    struct end r1, r2, s1, s2, *const all[] = {&r1, &r2, &s1, &s2};

    (void)state;
    enter(&r1, 1);
    enter(&r2, 1);
    enter(&s1, 2);
    enter(&s2, 3);
    progress(all, 4, 2000);
    ends_connect(&s1, &r1, OCHE_TRANSPORT_RC, 1024);
    ends_connect(&s2, &r2, OCHE_TRANSPORT_RC, 1024);
    write_long(&s1, &r1);
    progress(all, 4, 2000);
    assert_int_equal(own(&r1), 1);
    assert_int_equal(r1.device->elsewhere.senders, 0);
    assert_int_equal(r2.device->elsewhere.senders, 1);
    write_long(&s2, &r2);
    progress(all, 4, 2000);
    assert_int_equal(r1.device->elsewhere.senders, 1);
    assert_int_equal(r2.device->elsewhere.senders, 1);
    assert_int_equal(told(&r1), 2);
    assert_int_equal(told(&r2), 2);
    for (unsigned i = 0; i < 4; i++)
        end_close(all[i]);
}

/* One sender writes to both. */
static void counts_a_sender_once(void **state)
{
    struct end r1, r2, s, *const all[] = {&r1, &r2, &s};

    (void)state;
    enter(&r1, 1);
    enter(&r2, 1);
    enter(&s, 2);
    progress(all, 3, 2000);
    struct end again = s; /* another queue pair of the same device */
    ends_connect(&s, &r1, OCHE_TRANSPORT_RC, 1024);
    ends_connect(&again, &r2, OCHE_TRANSPORT_RC, 1024);
    write_long(&s, &r1);
    write_long(&again, &r2);
    progress(all, 3, 4000);
    assert_int_equal(own(&r1), 1);
    assert_int_equal(own(&r2), 1);
    assert_int_equal(told(&r1), 1);
    assert_int_equal(told(&r2), 1);
    for (unsigned i = 0; i < 3; i++)
        end_close(all[i]);
}

/* Fills the inbox of a device that makes no progress. */
static void fill_inbox(const struct end *end)
{
    const int from = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    const struct oche_sharing *share = &end->device->share;
    struct sockaddr_un inbox;
    const socklen_t bytes = oche_names_inbox(&share->names, share->slot, &inbox);

    assert_true(from >= 0);
    while (sendto(from, "x", 1, 0, (struct sockaddr *)&inbox, bytes) == 1)
        ;
    assert_int_equal(errno, EAGAIN);
    close(from);
}

/* A process whose inbox had no room for the greeting of a new one meets it all the same. */
static void meets_the_busy(void **state)
{
    struct end busy, late, *const all[] = {&busy, &late};
    bool met = false;

    (void)state;
    enter(&busy, 1);
    fill_inbox(&busy);
    enter(&late, 1);
    for (unsigned i = 0; i < 3000 && !met; i++) {
        progress(all, 2, 1);
        met = late.device->share.neighbours[busy.device->share.slot].view.table != NULL &&
              busy.device->share.neighbours[late.device->share.slot].view.table != NULL;
        usleep(1000);
    }
    assert_true(met);
    end_close(&late);
    end_close(&busy);
}

/* A process that is on the address of `end`, counts three senders, and waits to be killed. */
static pid_t start_other(const struct end *end)
{
    const struct oche_device_config config = dart_config();
    const uint64_t ids[] = {1001, 2003, 3005};
    const pid_t child = fork();
    struct end other;

    assert_true(child >= 0);
    if (child > 0)
        return child;
    oche_device_leave(end->device);
    end_open(&other, &config, end->address, 1);
    oche_sender_table_publish(&other.device->share.senders, ids, OCHE_COUNT_OF(ids));
    for (unsigned i = 0; i < 60000; i++) {
        oche_device_progress(other.device);
        usleep(1000);
    }
    _exit(1);
}

/* Makes progress until other processes count `senders`. Returns the milliseconds that it took. */
static unsigned until_elsewhere(struct end *end, uint32_t senders)
{
    unsigned ms = 0;

    for (; end->device->elsewhere.senders != senders && ms < 10000; ms++) {
        oche_device_progress(end->device);
        usleep(1000);
    }
    assert_int_equal(end->device->elsewhere.senders, senders);
    return ms;
}

static void forgets_the_killed(void **state)
{
    struct end r;
    int status;

    (void)state;
    enter(&r, 1);
    for (unsigned times = 0; times < 2; times++) {
        const pid_t child = start_other(&r);
        until_elsewhere(&r, 3);
        assert_int_equal(kill(child, SIGKILL), 0);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(until_elsewhere(&r, 0) <= 1000);
    }
    end_close(&r);
}

/* ---- tables that no process of ours writes ---- */

static unsigned descriptors(void)
{
    unsigned count = 0;

    for (int fd = 0; fd < 256; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

static void refuses_what_is_no_table(void **state)
{
    struct oche_sender_view view = {.table = NULL};
    struct oche_sender_table table;
    const unsigned before = descriptors();
    int ends[2];

    (void)state;
    assert_true(oche_sender_table_open(&table));
    assert_int_equal(pipe(ends), 0);
    oche_sender_view_open(&view, ends[0], 0);
    oche_sender_view_open(&view, ends[1], 0);
    const int large = memfd_create("test", MFD_ALLOW_SEALING);
    assert_int_equal(ftruncate(large, 1 << 20), 0);
    assert_int_equal(fcntl(large, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), 0);
    oche_sender_view_open(&view, large, 0);
    const int unsealed = memfd_create("test", MFD_ALLOW_SEALING);
    struct stat status;
    assert_int_equal(fstat(table.fd, &status), 0);
    assert_int_equal(ftruncate(unsealed, status.st_size), 0);
    oche_sender_view_open(&view, unsealed, 0); /* it could be cut, and reading it would kill us */
    assert_null(view.table);
    oche_sender_table_close(&table);
    assert_int_equal(descriptors(), before);
}

/* Reading a table with any contents ends, and counts at most as many as there is room for. */
static void survives_any_contents(void **state)
{
    struct oche_sender_table mine, theirs;
    struct oche_sender_view view = {.table = NULL}, *const views[] = {&view};
    struct oche_random random = oche_random_stream(7, "tables", 0);
    struct stat status;

    (void)state;
    assert_true(oche_sender_table_open(&mine));
    assert_true(oche_sender_table_open(&theirs));
    assert_int_equal(fstat(theirs.fd, &status), 0);
    oche_sender_view_open(&view, dup(theirs.fd), 0);
    assert_non_null(view.table);
    for (unsigned round = 0; round < 200; round++) {
        uint8_t *bytes = (uint8_t *)theirs.own;
        for (off_t at = 0; at < status.st_size; at++)
            bytes[at] = round % 4 == 0 ? 0xff : (uint8_t)oche_random_below(&random, 256);
        const uint64_t more = oche_sender_view_update(&mine, &view, round * OCHE_MS, 12345);
        assert_true(more <= 12345);
        assert_true(oche_sender_table_count_others(&mine, views, 1) <= OCHE_SENDERS_PER_TABLE);
    }
    oche_sender_view_close(&view);
    oche_sender_table_close(&mine);
    oche_sender_table_close(&theirs);
}

/* 63 tables full of different senders: the count has a limit. */
static void counts_no_more_than_its_limit(void **state)
{
    struct oche_sender_table all[OCHE_SLOTS];
    struct oche_sender_view view[OCHE_SLOTS - 1] = {{0}}, *views[OCHE_SLOTS - 1];
    uint64_t ids[OCHE_SENDERS_PER_TABLE];

    (void)state;
    for (unsigned i = 0; i < OCHE_SLOTS; i++) {
        assert_true(oche_sender_table_open(&all[i]));
        for (unsigned k = 0; k < OCHE_SENDERS_PER_TABLE; k++)
            ids[k] = 2 * (i * OCHE_SENDERS_PER_TABLE + k) + 3;
        oche_sender_table_publish(&all[i], ids, OCHE_SENDERS_PER_TABLE);
        if (i == 0)
            continue;
        views[i - 1] = &view[i - 1];
        oche_sender_view_open(views[i - 1], dup(all[i].fd), 0);
    }
    assert_int_equal(oche_sender_table_count_others(&all[0], views, 2), 2 * OCHE_SENDERS_PER_TABLE);
    assert_int_equal(oche_sender_table_count_others(&all[0], views, OCHE_SLOTS - 1),
                     OCHE_SENDERS_MOST - OCHE_SENDERS_PER_TABLE);
    for (unsigned i = 0; i < OCHE_SLOTS; i++) {
        if (i > 0)
            oche_sender_view_close(views[i - 1]);
        oche_sender_table_close(&all[i]);
    }
}

/* A process that was stopped for long counts no senders. */
static void leaves_out_who_is_silent(void **state)
{
    struct oche_sender_table mine, theirs;
    struct oche_sender_view view = {.table = NULL}, *const views[] = {&view};
    const uint64_t ids[] = {5, 7};

    (void)state;
    assert_true(oche_sender_table_open(&mine));
    assert_true(oche_sender_table_open(&theirs));
    oche_sender_table_publish(&theirs, ids, 2);
    oche_sender_view_open(&view, dup(theirs.fd), 0);
    oche_sender_view_update(&mine, &view, OCHE_MS, 0);
    assert_int_equal(oche_sender_table_count_others(&mine, views, 1), 2);
    oche_sender_view_update(&mine, &view, 4 * OCHE_SEC, 0);
    assert_true(mine.stale);
    assert_int_equal(oche_sender_table_count_others(&mine, views, 1), 0);
    oche_sender_table_set_bytes(&theirs, 1000);
    assert_int_equal(oche_sender_view_update(&mine, &view, 5 * OCHE_SEC, 5000), 1000);
    assert_true(mine.stale);
    assert_int_equal(oche_sender_table_count_others(&mine, views, 1), 2);
    oche_sender_view_close(&view);
    oche_sender_table_close(&mine);
    oche_sender_table_close(&theirs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_the_union),
        cmocka_unit_test(counts_a_sender_once),
        cmocka_unit_test(meets_the_busy),
        cmocka_unit_test(forgets_the_killed),
        cmocka_unit_test(refuses_what_is_no_table),
        cmocka_unit_test(survives_any_contents),
        cmocka_unit_test(counts_no_more_than_its_limit),
        cmocka_unit_test(leaves_out_who_is_silent),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
