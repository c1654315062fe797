/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of Chakra's traces, and communicator groups, whose ranks must do the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/graph/chakra/frames.h"
#include "sim/graph/chakra/groups.h"
#include "tests/support/test.h"

static char path[] = "/tmp/oche-chakra-XXXXXX";

/* Writes bytes to the file, compressed if `mode` is "wb", as they are if it is "wbT". */
static void write_file(const void *bytes, size_t count, const char *mode)
{
    gzFile file = gzopen(path, mode);

    assert_non_null(file);
    assert_int_equal(gzwrite(file, bytes, (unsigned)count), (int)count);
    assert_int_equal(gzclose(file), Z_OK);
}

static void frames(void **state)
{
    static const char bytes[] = "\3abc\1x\0\5after";
    static const char *const modes[] = {"wb", "wbT"};

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct oche_chakra_frames read;
        struct oche_error error;

        write_file(bytes, sizeof(bytes) - 1, modes[i]);
        assert_true(oche_chakra_frames_open(&read, path, &error));
        assert_int_equal(oche_chakra_frames_next(&read, &error), OCHE_CHAKRA_FRAME);
        assert_true(read.count == 3 && memcmp(read.bytes, "abc", 3) == 0 && read.at == 0);
        assert_int_equal(oche_chakra_frames_next(&read, &error), OCHE_CHAKRA_FRAME);
        assert_true(read.count == 1 && read.bytes[0] == 'x' && read.at == 4);
        assert_int_equal(oche_chakra_frames_next(&read, &error), OCHE_CHAKRA_END);
        oche_chakra_frames_close(&read);
    }
}

/* A length that the file does not have takes no memory. */
static void cut_frames(void **state)
{
    static const char bytes[] = "\xff\xff\xff\x1fx"; /* 64 MiB - 1 */
    struct oche_chakra_frames read;
    struct oche_error error;

    (void)state;
    write_file(bytes, sizeof(bytes) - 1, "wbT");
    assert_true(oche_chakra_frames_open(&read, path, &error));
    assert_int_equal(oche_chakra_frames_next(&read, &error), OCHE_CHAKRA_WRONG);
    assert_non_null(strstr(error.text, ": byte 0: the file ends within a message"));
    assert_in_range(read.room, 1, 4096);
    oche_chakra_frames_close(&read);
}

static const struct oche_schedule_reading reading = {.chunks = 2, .window = 1};

/* Takes an operation of the rank. Returns the error, or NULL. */
static const char *take(struct oche_chakra_groups *groups, const char *group,
                        enum oche_collective_operation operation, uint64_t bytes,
                        struct oche_chakra_part *part)
{
    static struct oche_error error;
    const struct oche_chakra_node node = {
        .operation = operation, .bytes = bytes, .group = (char *)(uintptr_t)group};
    unsigned others = 0;

    return oche_chakra_groups_take(groups, &node, &reading, &others, part, &error) ? NULL
                                                                                   : error.text;
}

static void same_operations(void **state)
{
    static const char text[] = "[\"[{\"pg_name\": \"a\", \"ranks\": [2, 0]}]\"]";
    struct oche_chakra_groups *groups = oche_chakra_groups_create(3);
    struct oche_chakra_part first, second, other;
    struct oche_error error;

    (void)state;
    oche_chakra_groups_rank(groups, 0);
    assert_true(oche_chakra_groups_define(groups, text, &error));
    assert_null(take(groups, "a", OCHE_ALL_GATHER, 100, &first));
    assert_int_equal(first.of.bytes, 200); /* 100 of each */
    assert_true(first.index == 1 && first.members[0] == 2);
    assert_null(take(groups, "a", OCHE_ALL_REDUCE, 100, &second));
    assert_true(second.tag >= first.tag + oche_collective_tags(&first.of));
    oche_chakra_groups_rank(groups, 1);
    assert_non_null(strstr(take(groups, "a", OCHE_ALL_GATHER, 100, &other), "is not known"));
    assert_true(oche_chakra_groups_define(groups, text, &error));
    assert_non_null(strstr(take(groups, "a", OCHE_ALL_GATHER, 100, &other), "rank 1 is not in"));
    oche_chakra_groups_rank(groups, 2);
    assert_true(oche_chakra_groups_define(groups, text, &error));
    assert_null(take(groups, "a", OCHE_ALL_GATHER, 100, &other));
    assert_true(other.tag == first.tag && other.index == 0);
    assert_false(oche_chakra_groups_end(groups, &error));
    assert_non_null(strstr(error.text, "rank 2 does 1 operations in group \"a\""));
    assert_non_null(strstr(take(groups, "a", OCHE_ALL_REDUCE, 101, &other), "101 bytes here"));
    assert_null(take(groups, "a", OCHE_ALL_REDUCE, 100, &other));
    assert_true(oche_chakra_groups_end(groups, &error));
    assert_non_null(strstr(take(groups, "a", OCHE_ALL_REDUCE, 100, &other), "more operations"));
    oche_chakra_groups_free(groups);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames),
        cmocka_unit_test(cut_frames),
        cmocka_unit_test(same_operations),
    };
    const int file = mkstemp(path);
    int status;

    if (file < 0)
        return 1;
    close(file);
    status = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return status;
}
