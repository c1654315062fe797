/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files that `oche stat` reads: what is written is read, nothing in a file or a folder that is
 * not ours is believed, and what is left of a process that is gone is removed.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/qp/qp_internal.h"
#include "core/random.h"
#include "device/view/place.h"
#include "device/view/reader.h"
#include "device/view/writer.h"
#include "tests/support/test.h"
#include "tests/unit/device/pair.h"

#define HEAD offsetof(struct oche_view, qp)

static char folder[64];

static void fill(struct oche_view *view, uint32_t listed)
{
    *view = (struct oche_view){.open_ns = 5000000000, .pid = (uint32_t)getpid(), .qps = listed + 1};
    view->listed = listed;
    view->address[15] = 7;
    strcpy(view->command, "program");
    strcpy(view->cc, "dart");
    for (unsigned i = 0; i < OCHE_VIEW_COUNTERS; i++)
        view->counters[i] = 100 + i;
    for (uint32_t i = 0; i < listed; i++)
        view->qp[i] = (struct oche_view_qp){.qpn = i + 1, .state = OCHE_QP_RTS};
}

/* ---- contents ---- */

static void test_every_byte_counts(void **state)
{
    struct oche_view *view = malloc(sizeof(*view)), *spoiled = malloc(sizeof(*spoiled));

    (void)state;
    fill(view, 3);
    oche_view_seal(view);
    assert_int_equal(view->bytes, HEAD + 3 * sizeof(view->qp[0]));
    memcpy(spoiled, view, sizeof(*view));
    assert_int_equal(oche_view_check(spoiled, view->bytes), OCHE_VIEW_GOOD);
    for (size_t i = 0; i < view->bytes; i++) {
        memcpy(spoiled, view, sizeof(*view));
        ((uint8_t *)spoiled)[i] ^= 1;
        if (oche_view_check(spoiled, view->bytes) == OCHE_VIEW_GOOD)
            fail_msg("byte %zu does not count", i);
    }
    for (size_t count = 0; count < view->bytes; count++) {
        memcpy(spoiled, view, sizeof(*view));
        assert_int_equal(oche_view_check(spoiled, count), OCHE_VIEW_TORN);
    }
    free(view);
    free(spoiled);
}

/* Gives the content a right sum, and says what is thought of it. */
static enum oche_view_fault judged(struct oche_view *view)
{
    oche_view_seal(view);
    return oche_view_check(view, sizeof(*view));
}

static void test_right_sum_and_wrong_content(void **state)
{
    struct oche_view *view = malloc(sizeof(*view));

    (void)state;
    fill(view, 2);
    assert_int_equal(judged(view), OCHE_VIEW_GOOD);
    view->qp[1].transport = OCHE_TRANSPORT_UD + 1;
    assert_int_equal(judged(view), OCHE_VIEW_BAD);
    view->qp[1].transport = OCHE_TRANSPORT_UD;
    view->qp[0].state = OCHE_QP_ERR + 1;
    assert_int_equal(judged(view), OCHE_VIEW_BAD);
    view->qp[0].state = OCHE_QP_ERR;
    view->qps = 1;
    assert_int_equal(judged(view), OCHE_VIEW_BAD);
    view->qps = 2;
    memset(view->command, 'a', sizeof(view->command));
    memcpy(view->cc, "a\033[2J\n\x80", 8);
    assert_int_equal(judged(view), OCHE_VIEW_GOOD);
    assert_int_equal(strlen(view->command), sizeof(view->command) - 1);
    assert_string_equal(view->cc, "a?[2J??");
    view->version++;
    assert_int_equal(oche_view_check(view, view->bytes), OCHE_VIEW_OTHER_VERSION);
    view->listed = view->qps = OCHE_VIEW_QPS;
    assert_int_equal(judged(view), OCHE_VIEW_GOOD);
    view->listed = view->qps = OCHE_VIEW_QPS + 1;
    assert_int_equal(judged(view), OCHE_VIEW_BAD);
    view->listed = view->qps = UINT32_MAX;
    assert_int_equal(judged(view), OCHE_VIEW_BAD);
    free(view);
}

static void test_sizes_that_are_wrong(void **state)
{
    static const uint32_t sizes[] = {0,          8,
                                     HEAD - 8,   HEAD + 1,
                                     UINT32_MAX, UINT32_MAX - 7,
                                     HEAD + 8,   sizeof(struct oche_view) + 8};
    struct oche_view *view = malloc(sizeof(*view));

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(sizes); i++) {
        fill(view, 1);
        oche_view_seal(view);
        view->bytes = sizes[i];
        if (oche_view_check(view, sizeof(*view)) == OCHE_VIEW_GOOD)
            fail_msg("size %u is good", sizes[i]);
    }
    free(view);
}

/* ---- a queue pair that hangs ---- */

static uint64_t hung(struct oche_device *device, struct oche_view *view)
{
    oche_device_snapshot(device, view);
    return view->counters[OCHE_VIEW_HUNG];
}

/* Work whose doorbell was lost: counted once, when it looks so a second time. */
static void test_hung(void **state)
{
    struct oche_view *view = calloc(1, sizeof(*view));
    struct pair pair;

    (void)state;
    pair_open(&pair, &(struct oche_device_config){0}, OCHE_TRANSPORT_RC);
    const struct oche_send_work work = work_between(&pair.a, &pair.b, OCHE_WORK_WRITE, 0, 100);
    assert_int_equal(oche_qp_post_send(pair.a.qp, &work), 0);
    for (int looks = 0; looks < 4; looks++)
        assert_int_equal(hung(pair.a.device, view), 0); /* the bell rings */
    atomic_store(&pair.a.qp->rung, 0);
    assert_int_equal(hung(pair.a.device, view), 0);
    for (int looks = 0; looks < 4; looks++)
        assert_int_equal(hung(pair.a.device, view), 1);
    assert_int_equal(hung(pair.b.device, view), 0);
    atomic_store(&pair.a.qp->rung, 1);
    assert_int_equal(pump(&pair, &pair.a).status, OCHE_STATUS_SUCCESS);
    assert_int_equal(hung(pair.a.device, view), 1);
    pair_close(&pair);
    free(view);
}

/* ---- names ---- */

static void test_names(void **state)
{
    static const char *const wrong[] = {"",
                                        ".",
                                        "..",
                                        "1",
                                        "1-",
                                        "-1",
                                        "0-0123456789abcdef",
                                        "1-0123456789abcde",
                                        "1-0123456789abcdef0",
                                        "1-0123456789abcdeF",
                                        "01-0123456789abcdef",
                                        "1/-0123456789abcdef",
                                        "9999999999-0123456789abcdef",
                                        " 1-0123456789abcdef"};
    char name[OCHE_VIEW_NAME_BYTES];
    pid_t pid = 0;

    (void)state;
    oche_view_name(name, 123, UINT64_MAX);
    assert_true(oche_view_name_is(name, &pid));
    assert_int_equal(pid, 123);
    for (size_t i = 0; i < OCHE_COUNT_OF(wrong); i++)
        if (oche_view_name_is(wrong[i], &pid))
            fail_msg("\"%s\" is a name", wrong[i]);
}

/* ---- a process ---- */

struct process {
    pid_t pid;
    int say, hear; /* a byte for each thing to be done, and one when it is done */
};

/* 'w': write; 'r': its file is gone, so write until there is another; 'c': close; else: end. */
static void child(int hear, int say)
{
    struct oche_view_writer *writer = oche_view_writer_open(folder);
    char what = writer != NULL ? '+' : '-';

    if (writer != NULL) {
        fill(oche_view_writer_view(writer), 2);
        oche_view_writer_write(writer);
    }
    while (write(say, &what, 1) == 1 && read(hear, &what, 1) == 1)
        for (unsigned i = 0; i < (what == 'r' ? 20 : 1); i++)
            if (what == 'c')
                oche_view_writer_close(writer);
            else
                oche_view_writer_write(writer);
    _exit(0);
}

static char answer_of(const struct process *process)
{
    char answer = 0;

    assert_int_equal(read(process->hear, &answer, 1), 1);
    return answer;
}

static void tell(const struct process *process, char what)
{
    assert_int_equal(write(process->say, &what, 1), 1);
    assert_int_equal(answer_of(process), what);
}

static struct process start(void)
{
    struct process process;
    int there[2], back[2];

    assert_int_equal(pipe(there), 0);
    assert_int_equal(pipe(back), 0);
    process.pid = fork();
    if (process.pid == 0) {
        close(there[1]);
        close(back[0]);
        child(there[0], back[1]);
    }
    close(there[0]);
    close(back[1]);
    process.say = there[1];
    process.hear = back[0];
    return process;
}

static void end(const struct process *process, int by)
{
    if (by != 0)
        kill(process->pid, by);
    close(process->say);
    close(process->hear);
    waitpid(process->pid, NULL, 0);
}

static unsigned count_of(const char *names)
{
    char command[160];
    FILE *out;
    unsigned count = 0;

    snprintf(command, sizeof(command), "ls -A %s | %s | wc -l", folder, names);
    out = popen(command, "r");
    assert_int_equal(fscanf(out, "%u", &count), 1);
    pclose(out);
    return count;
}

/* Returns the number of views. Each has a socket beside it. */
static unsigned files(void)
{
    const unsigned views = count_of("grep -v '\\.s$'");

    assert_int_equal(count_of("grep '\\.s$'"), views);
    return views;
}

static size_t seen(void)
{
    struct oche_views views;
    size_t count;

    assert_true(oche_views_read(&views, folder));
    count = views.count;
    oche_views_free(&views);
    return count;
}

static void test_alive_and_killed(void **state)
{
    struct process process = start(), other = start();
    struct oche_views views;
    char path[160];
    struct stat about;

    (void)state;
    assert_int_equal(answer_of(&process), '+');
    assert_int_equal(answer_of(&other), '+');
    assert_int_equal(stat(folder, &about), 0);
    assert_int_equal(about.st_mode & 07777, 0700);
    assert_true(oche_views_read(&views, folder));
    assert_int_equal(views.count, 2);
    assert_int_equal(views.entries[0]->pid, process.pid < other.pid ? process.pid : other.pid);
    assert_false(views.entries[0]->is_elsewhere);
    assert_true(views.entries[0]->is_first && views.entries[1]->is_first);
    assert_int_equal(views.entries[0]->user, geteuid());
    assert_true(views.entries[0]->silent_s < 60);
    assert_int_equal(views.entries[0]->view.listed, 2);
    for (unsigned i = 0; i < OCHE_VIEW_COUNTERS; i++)
        assert_int_equal(views.entries[0]->view.counters[i], 100 + i);
    snprintf(path, sizeof(path), "%s/%s", folder, views.entries[0]->name);
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 07777, 0600);
    oche_views_free(&views);
    end(&process, SIGKILL);
    assert_int_equal(files(), 2);
    assert_int_equal(seen(), 1);
    assert_int_equal(files(), 1); /* the reader has removed it */
    end(&other, SIGKILL);
    process = start();
    assert_int_equal(answer_of(&process), '+');
    assert_int_equal(files(), 1); /* the writer has removed the other one's */
    tell(&process, 'c');
    assert_int_equal(files(), 0);
    end(&process, 0);
}

/* A descriptor that a child of the process has kept does not keep the process alive. */
static void test_killed_parent(void **state)
{
    int ready[2], hold[2];
    char byte;
    pid_t parent;

    (void)state;
    assert_int_equal(pipe(ready), 0);
    assert_int_equal(pipe(hold), 0);
    parent = fork();
    if (parent == 0) {
        struct oche_view_writer *writer = oche_view_writer_open(folder);

        fill(oche_view_writer_view(writer), 0);
        oche_view_writer_write(writer);
        close(hold[1]);
        if (fork() == 0) { /* until the test lets go */
            byte = (char)read(hold[0], &byte, 1);
            _exit(0);
        }
        byte = (char)write(ready[1], "+", 1);
        pause();
    }
    close(hold[0]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(seen(), 1);
    kill(parent, SIGKILL);
    waitpid(parent, NULL, 0);
    assert_int_equal(seen(), 0);
    assert_int_equal(files(), 0);
    close(hold[1]);
    close(ready[0]);
    close(ready[1]);
}

static void test_removed_and_silent(void **state)
{
    const struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    struct process process = start();
    struct oche_views views;
    char path[160];

    (void)state;
    assert_int_equal(answer_of(&process), '+');
    assert_true(oche_views_read(&views, folder));
    assert_int_equal(views.count, 1);
    snprintf(path, sizeof(path), "%s/%s", folder, views.entries[0]->name);
    oche_views_free(&views);
    assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
    assert_true(oche_views_read(&views, folder));
    assert_true(views.entries[0]->silent_s > OCHE_VIEW_STALE_S);
    oche_views_free(&views);
    assert_int_equal(truncate(path, 100), 0);
    assert_true(oche_views_read(&views, folder));
    assert_int_equal(views.count, 0);
    assert_int_equal(views.unreadable, 1);
    oche_views_free(&views);
    tell(&process, 'w'); /* and the process lives */
    assert_int_equal(seen(), 1);
    assert_int_equal(unlink(path), 0);
    tell(&process, 'r');
    assert_int_equal(seen(), 1);
    end(&process, SIGKILL);
    assert_int_equal(seen(), 0);
}

/* Readers while it writes without a pause: a view is whole, or is not shown. */
static void test_torn(void **state)
{
    struct oche_views views;
    size_t good = 0;
    pid_t pid;

    (void)state;
    pid = fork();
    if (pid == 0) {
        struct oche_view_writer *writer = oche_view_writer_open(folder);
        struct oche_view *view = oche_view_writer_view(writer);

        fill(view, OCHE_VIEW_QPS);
        for (uint64_t round = 1;; round++) {
            for (unsigned i = 0; i < OCHE_VIEW_COUNTERS; i++)
                view->counters[i] = round;
            for (uint32_t i = 0; i < OCHE_VIEW_QPS; i++)
                view->qp[i].timeouts = round;
            oche_view_writer_write(writer);
        }
    }
    for (unsigned i = 0; i < 2000; i++) {
        assert_true(oche_views_read(&views, folder));
        for (size_t e = 0; e < views.count; e++) {
            const struct oche_view *view = &views.entries[e]->view;

            good++;
            for (unsigned c = 1; c < OCHE_VIEW_COUNTERS; c++)
                assert_int_equal(view->counters[c], view->counters[0]);
            for (uint32_t q = 0; q < view->listed; q++)
                assert_int_equal(view->qp[q].timeouts, view->counters[0]);
        }
        oche_views_free(&views);
    }
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    assert_true(good > 100);
    assert_int_equal(seen(), 0);
}

/* ---- folders ---- */

static void test_folders_of_others(void **state)
{
    char path[256], own[80], name[OCHE_VIEW_NAME_BYTES];
    struct oche_view_writer *writer;
    struct oche_views views;

    (void)state;
    snprintf(own, sizeof(own), "%s/open", folder);
    assert_int_equal(mkdir(own, 0700), 0);
    assert_int_equal(chmod(own, 0755), 0); /* others can look into it */
    assert_null(oche_view_writer_open(own));
    assert_int_equal(chmod(own, 0700), 0);
    snprintf(path, sizeof(path), "%s/link", folder);
    assert_int_equal(symlink(own, path), 0);
    assert_null(oche_view_writer_open(path));
    assert_int_equal(unlink(path), 0);
    snprintf(path, sizeof(path), "%s/none/none", folder);
    assert_null(oche_view_writer_open(path));
    writer = oche_view_writer_open(own);
    assert_non_null(writer);
    oche_view_writer_close(writer);
    /* what has the right name, and is no file of ours */
    oche_view_name(name, 1, 1);
    snprintf(path, sizeof(path), "%s/%s", own, name);
    assert_int_equal(mkfifo(path, 0600), 0);
    oche_view_name(name, 1, 2);
    snprintf(path, sizeof(path), "%s/%s", own, name);
    assert_int_equal(symlink("/etc/passwd", path), 0);
    oche_view_name(name, 1, 3);
    snprintf(path, sizeof(path), "%s/%s", own, name);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_true(oche_views_read(&views, own)); /* and does not hang */
    assert_int_equal(views.count + views.unreadable, 0);
    oche_views_free(&views);
    assert_int_equal(access("/etc/passwd", F_OK), 0);
    snprintf(path, sizeof(path), "rm -r '%s'", own);
    assert_int_equal(system(path), 0);
}

/* An earlier reading of a device that can be compared, and one that cannot. */
static void test_before(void **state)
{
    struct oche_view_entry *entries[2] = {calloc(1, sizeof(*entries[0])),
                                          calloc(1, sizeof(*entries[1]))};
    const struct oche_views earlier = {.entries = entries, .count = 1};
    struct oche_view_entry *later = entries[1];

    (void)state;
    strcpy(entries[0]->name, "a");
    fill(&entries[0]->view, 0);
    *later = *entries[0];
    assert_ptr_equal(oche_views_before(&earlier, later), entries[0]);
    later->view.open_ns--;
    assert_null(oche_views_before(&earlier, later));
    later->view.open_ns += 2;
    later->view.counters[3]--;
    assert_null(oche_views_before(&earlier, later));
    later->view.counters[3] += 2;
    assert_ptr_equal(oche_views_before(&earlier, later), entries[0]);
    strcpy(later->name, "b");
    assert_null(oche_views_before(&earlier, later));
    free(entries[0]);
    free(entries[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_byte_counts),
        cmocka_unit_test(test_right_sum_and_wrong_content),
        cmocka_unit_test(test_sizes_that_are_wrong),
        cmocka_unit_test(test_hung),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_alive_and_killed),
        cmocka_unit_test(test_killed_parent),
        cmocka_unit_test(test_removed_and_silent),
        cmocka_unit_test(test_torn),
        cmocka_unit_test(test_folders_of_others),
        cmocka_unit_test(test_before),
    };

    strcpy(folder, "/tmp/oche-test-view-XXXXXX");
    if (mkdtemp(folder) == NULL)
        return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);

    rmdir(folder);
    return failed;
}
