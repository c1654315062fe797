/* SPDX-License-Identifier: Apache-2.0 */
/* Files that users name: which are read, and which are rejected without waiting. */
#include "params/input_file.h"
#include "core/base.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/test.h"

#define TEST_FILE "x"
#include "tests/support/temporary_folder.h"

static struct oche_input_file file;
static struct oche_error error;

static void write_file(const char *text, size_t bytes)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    assert_int_equal(write(fd, text, bytes), bytes);
    close(fd);
}

static void test_regular_files(void **state)
{
    (void)state;
    write_file("a\0b", 3);
    assert_true(oche_input_read(&file, path, 3, &error));
    assert_int_equal(file.bytes, 3);
    assert_memory_equal(file.text, "a\0b", 4); /* and a NUL */
    oche_input_free(&file);
    assert_false(oche_input_read(&file, path, 2, &error));
    assert_string_equal(error.text, "larger than 0 MiB");
    write_file("", 0);
    assert_true(oche_input_read(&file, path, 2, &error));
    assert_int_equal(file.bytes, 0);
    oche_input_free(&file);
    assert_null(oche_input_of_pipe(path));
    assert_true(oche_input_is_regular(path));
    unlink(path);
    assert_false(oche_input_is_regular(path));
    assert_false(oche_input_read(&file, path, 2, &error));
    assert_string_equal(error.text, "No such file or directory");
}

/* No byte of it is read: its size is enough. */
static void test_a_sparse_file(void **state)
{
    (void)state;
    write_file("", 0);
    assert_int_equal(truncate(path, INT64_C(1) << 40), 0);
    assert_false(oche_input_read(&file, path, 16 * OCHE_INPUT_MIB, &error));
    assert_string_equal(error.text, "larger than 16 MiB");
    unlink(path);
}

static void test_what_is_no_file(void **state)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    (void)state;
    snprintf(name.sun_path, sizeof(name.sun_path), "%s", path);
    assert_int_equal(bind(fd, (const struct sockaddr *)&name, sizeof(name)), 0);
    const struct {
        const char *path, *reason;
    } cases[] = {
        {"/dev/zero", "a device, not a file"},
        {"/dev/null", "a device, not a file"},
        {"/tmp", "Is a directory"},
        {path, "a socket, not a file"},
    };
    for (size_t i = 0; i < OCHE_COUNT_OF(cases); i++) {
        assert_false(oche_input_read(&file, cases[i].path, OCHE_INPUT_MIB, &error));
        assert_string_equal(error.text, cases[i].reason);
        assert_int_equal(oche_input_open(cases[i].path, &error), -1);
        assert_string_equal(error.text, cases[i].reason);
    }
    close(fd);
    unlink(path);
}

/* Another process writes to the pipe, in pieces, after a while. */
static pid_t write_later(const char *text, size_t pieces)
{
    const pid_t child = fork();

    assert_true(child >= 0);
    if (child > 0)
        return child;
    alarm(20);
    usleep(50000);
    const int fd = open(path, O_WRONLY);

    for (size_t i = 0; i < pieces; i++) {
        usleep(2000);
        if (write(fd, text, strlen(text)) != (ssize_t)strlen(text))
            _exit(1);
    }
    _exit(0);
}

static void test_a_pipe_is_kept(void **state)
{
    (void)state;
    assert_int_equal(mkfifo(path, 0600), 0);
    const pid_t child = write_later("abc", 3);

    assert_true(oche_input_read(&file, path, 9, &error));
    assert_string_equal(file.text, "abcabcabc");
    oche_input_free(&file);
    waitpid(child, NULL, 0);
    assert_true(oche_input_read(&file, path, 9, &error)); /* though nobody writes any more */
    assert_string_equal(file.text, "abcabcabc");
    oche_input_free(&file);
    assert_false(oche_input_read(&file, path, 8, &error));
    assert_string_equal(error.text, "larger than 0 MiB");
    assert_non_null(oche_input_of_pipe(path));
    assert_int_equal(oche_input_of_pipe(path)->bytes, 9);
    unlink(path);
}

static void test_an_endless_pipe(void **state)
{
    int status;

    (void)state;
    assert_int_equal(mkfifo(path, 0600), 0);
    const pid_t child =
        write_later("0123456789abcdef0123456789abcdef0123456789abcdef0123456789ab", 1000000);

    assert_false(oche_input_read(&file, path, 1000, &error));
    assert_string_equal(error.text, "larger than 0 MiB");
    waitpid(child, &status, 0);
    assert_true(WIFSIGNALED(status)); /* by SIGPIPE */
    unlink(path);
}

static void test_a_pipe_that_nobody_writes_to(void **state)
{
    struct timespec before, after;

    (void)state;
    assert_int_equal(mkfifo(path, 0600), 0);
    clock_gettime(CLOCK_MONOTONIC, &before);
    assert_false(oche_input_read(&file, path, 9, &error));
    clock_gettime(CLOCK_MONOTONIC, &after);
    assert_string_equal(error.text, "a pipe to which nobody writes");
    assert_in_range(after.tv_sec - before.tv_sec, 4, 15);
    assert_null(oche_input_of_pipe(path));
    unlink(path);
}

static void test_a_pipe_without_a_byte(void **state)
{
    char name[32];
    int ends[2];

    (void)state;
    assert_int_equal(pipe(ends), 0);
    close(ends[1]);
    snprintf(name, sizeof(name), "/dev/fd/%d", ends[0]);
    assert_true(oche_input_read(&file, name, 9, &error));
    assert_int_equal(file.bytes, 0);
    oche_input_free(&file);
    close(ends[0]);
}

/* To be read piece by piece: no byte is taken out of it before. */
static void test_opening(void **state)
{
    char got[8] = "";

    (void)state;
    assert_int_equal(mkfifo(path, 0600), 0);
    const pid_t child = write_later("abc", 1);
    const int fd = oche_input_open(path, &error);

    assert_true(fd >= 0);
    assert_int_equal(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
    assert_int_equal(read(fd, got, sizeof(got)), 3);
    assert_string_equal(got, "abc");
    close(fd);
    waitpid(child, NULL, 0);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_regular_files),
        cmocka_unit_test(test_a_sparse_file),
        cmocka_unit_test(test_what_is_no_file),
        cmocka_unit_test(test_a_pipe_is_kept),
        cmocka_unit_test(test_an_endless_pipe),
        cmocka_unit_test(test_a_pipe_that_nobody_writes_to),
        cmocka_unit_test(test_a_pipe_without_a_byte),
        cmocka_unit_test(test_opening),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
