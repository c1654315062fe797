/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of capture files: no file of this run is overwritten. And a file has only whole packets,
 * however the process ends.
 */
#include <fcntl.h>
#include <pcap/pcap.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device/path/capture.h"
#include "tests/support/test.h"

static char folder[64];
static struct oche_address v4, v6;

static struct oche_capture *open_at(const char *name, const struct oche_address *address,
                                    const char *becomes)
{
    char path[256];
    struct oche_error error;
    struct oche_capture *capture;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    capture = oche_capture_open(path, address, 0, &error);
    if (capture == NULL)
        fail_msg("%s", error.text);
    snprintf(path, sizeof(path), "%s/%s", folder, becomes);
    assert_string_equal(oche_capture_path(capture), path);
    return capture;
}

static void add_packets(struct oche_capture *capture, unsigned count)
{
    struct oche_ip_header header;
    uint8_t bytes[16] = {0};

    oche_ip_header_make(&header, &v4, &v4, 1, 2, 0);
    oche_ip_header_set_bytes(&header, sizeof(bytes));
    for (unsigned i = 0; i < count; i++)
        oche_capture_write(capture, &header, bytes, sizeof(bytes), 0);
}

static unsigned packets_in(const char *name)
{
    char path[256], error[PCAP_ERRBUF_SIZE];
    struct pcap_pkthdr *header;
    const u_char *bytes;
    unsigned count = 0;
    pcap_t *pcap;
    int status;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    pcap = pcap_open_offline(path, error);
    if (pcap == NULL)
        fail_msg("%s", error);
    while ((status = pcap_next_ex(pcap, &header, &bytes)) == 1)
        count++;
    assert_int_equal(status, PCAP_ERROR_BREAK); /* the last one is whole */
    pcap_close(pcap);
    assert_int_equal(unlink(path), 0);
    return count;
}

static void several_of_a_process(void **state)
{
    struct oche_capture *a = open_at("x.pcap", &v4, "x.pcap");
    struct oche_capture *b = open_at("x.pcap", &v4, "x-192.0.2.1.pcap");
    struct oche_capture *c = open_at("x.pcap", &v6, "x-2001_db8__1.pcap");
    struct oche_capture *d, *e;
    char name[64], next[64];

    (void)state;
    snprintf(name, sizeof(name), "x-192.0.2.1-%d.pcap", (int)getpid());
    snprintf(next, sizeof(next), "x-192.0.2.1-%d-2.pcap", (int)getpid());
    d = open_at("x.pcap", &v4, name);
    e = open_at("x.pcap", &v4, next);
    add_packets(a, 1);
    add_packets(b, 2);
    add_packets(c, 3);
    assert_true(oche_capture_close(a));
    assert_true(oche_capture_close(b));
    assert_true(oche_capture_close(c));
    assert_true(oche_capture_close(d));
    assert_true(oche_capture_close(e));
    assert_int_equal(packets_in("x.pcap"), 1);
    assert_int_equal(packets_in("x-192.0.2.1.pcap"), 2);
    assert_int_equal(packets_in("x-2001_db8__1.pcap"), 3);
    assert_int_equal(packets_in(name), 0);
    assert_int_equal(packets_in(next), 0);
}

/* One after the other: a file without packets is free again, one with packets is not. */
static void one_after_another(void **state)
{
    struct oche_capture *capture = open_at("y", &v4, "y");

    (void)state;
    assert_true(oche_capture_close(capture));
    capture = open_at("y", &v4, "y");
    add_packets(capture, 5);
    assert_true(oche_capture_close(capture));
    capture = open_at("y", &v4, "y-192.0.2.1");
    add_packets(capture, 6);
    assert_true(oche_capture_close(capture));
    assert_int_equal(packets_in("y"), 5);
    assert_int_equal(packets_in("y-192.0.2.1"), 6);
}

/* Runs `child` in a process of its own. */
static void in_child(void (*child)(struct oche_capture *), struct oche_capture *capture)
{
    const pid_t pid = fork();
    int status;

    if (pid == 0) {
        child(capture);
        exit(0); /* with what the C library does then */
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void write_two(struct oche_capture *parents)
{
    struct oche_capture *own = open_at("z.cap", &v4, "z-192.0.2.1.cap");

    (void)parents;
    add_packets(own, 2);
    assert_true(oche_capture_close(own));
}

static void write_four(struct oche_capture *parents)
{
    struct oche_capture *own = open_at("later", &v4, "later");

    (void)parents;
    add_packets(own, 4);
    assert_true(oche_capture_close(own));
}

static void leave(struct oche_capture *parents)
{
    oche_capture_leave(parents);
    add_packets(parents, 3); /* nothing of that, and of what was there, becomes visible */
}

static void other_processes(void **state)
{
    static struct oche_capture *capture; /* so that a child's copy is no leak of it */

    (void)state;
    capture = open_at("z.cap", &v4, "z.cap");
    add_packets(capture, 1);
    in_child(write_two, capture);
    add_packets(capture, 1);
    in_child(leave, capture);
    assert_true(oche_capture_close(capture));
    assert_int_equal(packets_in("z.cap"), 2);
    assert_int_equal(packets_in("z-192.0.2.1.cap"), 2);
    in_child(write_four, NULL); /* what an earlier process left is replaced */
    in_child(write_four, NULL);
    assert_int_equal(packets_in("later"), 4);
}

static void stop_at_once(struct oche_capture *capture)
{
    add_packets(capture, 3);
    oche_capture_flush(capture);
    add_packets(capture, 2); /* which are lost, as it does not say that they are all */
    raise(SIGKILL);
}

static void rescue_them(struct oche_capture *capture)
{
    add_packets(capture, 2);
    oche_capture_flush(capture);
    add_packets(capture, 4);
    oche_capture_rescue(capture);
    oche_capture_rescue(capture); /* writes the same again, at the same place */
    raise(SIGKILL);
}

static void end_it(struct oche_capture *capture)
{
    add_packets(capture, 6);
    oche_capture_end(capture);
    add_packets(capture, 50);
    oche_capture_flush(capture);
    raise(SIGKILL);
}

/* More than is kept in memory. */
static void add_many(struct oche_capture *capture)
{
    add_packets(capture, 20000);
    raise(SIGKILL);
}

/* Runs `child` in a process of its own, which opens the file, and has itself killed. */
static unsigned packets_after(void (*child)(struct oche_capture *))
{
    const pid_t pid = fork();
    int status;

    if (pid == 0)
        child(open_at("killed", &v4, "killed"));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    return packets_in("killed");
}

static void at_the_end(void **state)
{
    (void)state;
    assert_int_equal(packets_after(stop_at_once), 3);
    assert_int_equal(packets_after(rescue_them), 6);
    assert_int_equal(packets_after(end_it), 6);
    assert_in_range(packets_after(add_many), 10000, 20000);
}

static void fill_the_disk(struct oche_capture *unused)
{
    struct oche_capture *capture = open_at("full", &v4, "full");
    const struct rlimit limit = {.rlim_cur = 1000, .rlim_max = 1000};

    (void)unused;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    add_packets(capture, 3);
    oche_capture_flush(capture);
    add_packets(capture, 40);
    oche_capture_flush(capture);
    add_packets(capture, 1); /* would have room; but then packets would be missing before it */
    assert_false(oche_capture_close(capture));
}

static void full_disk(void **state)
{
    (void)state;
    in_child(fill_the_disk, NULL);
    assert_int_equal(packets_in("full"), 3);
}

static void no_files(void **state)
{
    struct oche_error error;
    char path[300], *longest = calloc(1, 5000);

    (void)state;
    assert_null(oche_capture_open(folder, &v4, 0, &error));
    snprintf(path, sizeof(path), "%s: Is a directory", folder);
    assert_string_equal(error.text, path);
    memset(longest, 'x', 4999);
    assert_null(oche_capture_open(longest, &v4, 0, &error));
    free(longest);
    for (unsigned i = 0; i < 2; i++) { /* no file, so there is nothing to protect */
        struct oche_capture *capture = oche_capture_open("/dev/null", &v4, 0, &error);
        assert_non_null(capture);
        assert_string_equal(oche_capture_path(capture), "/dev/null");
        assert_true(oche_capture_close(capture));
    }
}

/* A link of this name, that somebody else may have put there: what it leads to stays as it is. */
static void link_is_refused(const char *name)
{
    char target[128], text[300];
    struct oche_error error;
    struct stat status;
    FILE *file;

    snprintf(target, sizeof(target), "%s/target", folder);
    file = fopen(target, "w");
    assert_non_null(file);
    assert_true(fputs("precious", file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(symlink(target, name), 0);
    assert_null(oche_capture_open(name, &v4, 0, &error));
    snprintf(text, sizeof(text), "%s: a symbolic link, which captures do not follow", name);
    assert_string_equal(error.text, text);
    assert_int_equal(stat(target, &status), 0);
    assert_int_equal(status.st_size, 8);
    assert_int_equal(unlink(name), 0);
    assert_int_equal(unlink(target), 0);
}

/* A file that somebody else has put there, or another name of a file of ours. */
static void planted_file_is_refused(const char *name, const char *said)
{
    char text[300];
    struct oche_error error;
    struct stat status;

    assert_null(oche_capture_open(name, &v4, 0, &error));
    snprintf(text, sizeof(text), "%s: %s, which captures do not write to", name, said);
    assert_string_equal(error.text, text);
    assert_int_equal(stat(name, &status), 0);
    assert_int_equal(status.st_size, 8);
}

static void planted_files(void **state)
{
    char name[128], other[128];
    FILE *file;

    (void)state;
    snprintf(name, sizeof(name), "%s/planted", folder);
    snprintf(other, sizeof(other), "%s/other", folder);
    file = fopen(name, "w");
    assert_non_null(file);
    assert_true(fputs("precious", file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(link(name, other), 0);
    planted_file_is_refused(name, "a file with another name");
    assert_int_equal(unlink(other), 0);
    if (geteuid() == 0) { /* nobody else can give files away */
        assert_int_equal(chown(name, 65534, 65534), 0);
        planted_file_is_refused(name, "another user's file");
    }
    assert_int_equal(unlink(name), 0);
}

/* Another user's pipe, with a reader or without: the reader would get the packets. */
static void planted_pipes(void **state)
{
    char name[128], text[300];
    struct oche_error error;

    (void)state;
    if (geteuid() != 0)
        skip(); /* nobody else can give files away */
    snprintf(name, sizeof(name), "%s/pipe", folder);
    snprintf(text, sizeof(text), "%s: another user's file, which captures do not write to", name);
    assert_int_equal(mkfifo(name, 0666), 0);
    assert_int_equal(chown(name, 65534, 65534), 0);
    alarm(20);
    assert_null(oche_capture_open(name, &v4, 0, &error));
    assert_string_equal(error.text, text);
    const int reader = open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

    assert_true(reader >= 0);
    assert_null(oche_capture_open(name, &v4, 0, &error));
    assert_string_equal(error.text, text);
    alarm(0);
    close(reader);
    assert_int_equal(unlink(name), 0);
}

static void links(void **state)
{
    char name[128];

    (void)state;
    snprintf(name, sizeof(name), "%s/link", folder);
    link_is_refused(name);
}

/* In /dev links are the system's, but not in its folders that everybody may write to. */
static void links_below_dev(void **state)
{
    char name[128];

    (void)state;
    snprintf(name, sizeof(name), "/dev/..%s/link", folder);
    link_is_refused(name);
    if (access("/dev/shm", W_OK) != 0)
        skip();
    snprintf(name, sizeof(name), "/dev/shm/oche-captures-link-%d", (int)getpid());
    link_is_refused(name);
}

/* A descriptor, as /dev/stdout is one. */
static void a_descriptor(void **state)
{
    struct oche_capture *capture;
    struct oche_error error;
    char name[32];
    int fds[2];

    (void)state;
    assert_int_equal(pipe(fds), 0);
    snprintf(name, sizeof(name), "/dev/fd/%d", fds[1]);
    capture = oche_capture_open(name, &v4, 0, &error);
    assert_non_null(capture);
    assert_true(oche_capture_close(capture));
    close(fds[0]);
    close(fds[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(several_of_a_process),
        cmocka_unit_test(one_after_another),
        cmocka_unit_test(other_processes),
        cmocka_unit_test(at_the_end),
        cmocka_unit_test(full_disk),
        cmocka_unit_test(no_files),
        cmocka_unit_test(planted_files),
        cmocka_unit_test(planted_pipes),
        cmocka_unit_test(links),
        cmocka_unit_test(links_below_dev),
        cmocka_unit_test(a_descriptor),
    };
    int failed;

    oche_address_parse("192.0.2.1", &v4);
    oche_address_parse("2001:db8::1", &v6);
    snprintf(folder, sizeof(folder), "/tmp/oche-captures-XXXXXX");
    if (mkdtemp(folder) == NULL)
        return 1;
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(folder);
    return failed;
}
