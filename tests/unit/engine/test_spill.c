/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that is moved to a file is read and written as before, also on a full disk. */
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "sim/engine/sparse_memory.h"
#include "sim/engine/spill.h"

#define BYTES ((size_t)4 << 20)
#define FROM  100000
#define PIECE 1000000

static uint8_t byte_of(size_t i)
{
    return (uint8_t)(i * 2654435761U >> 13);
}

static uint8_t *filled(void)
{
    uint8_t *memory = oche_sparse_take(BYTES);

    assert_non_null(memory);
    for (size_t i = 0; i < BYTES; i++)
        memory[i] = byte_of(i);
    return memory;
}

static void expect(const uint8_t *memory, size_t changed)
{
    for (size_t i = 0; i < BYTES; i++)
        if (memory[i] != (uint8_t)(byte_of(i) + (i == changed)))
            fail_msg("byte %zu is another", i);
}

/* Returns how many pages of the piece are in the process's memory, without its ends. */
static unsigned resident(const uint8_t *memory)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t first = (size_t)(memory + FROM) / page + 1,
                 end = (size_t)(memory + FROM + PIECE) / page;
    unsigned count = 0;
    FILE *map = fopen("/proc/self/pagemap", "r");

    assert_non_null(map);
    for (size_t i = first; i < end; i++) {
        uint64_t entry = 0;

        assert_int_equal(fseek(map, (long)(i * sizeof(entry)), SEEK_SET), 0);
        assert_int_equal(fread(&entry, sizeof(entry), 1, map), 1);
        count += entry >> 63 != 0;
    }
    fclose(map);
    return count;
}

static void moved(void **state)
{
    uint8_t *memory = filled();
    struct oche_spill spill;

    (void)state;
    oche_spill_open(&spill);
    assert_true(spill.file >= 0);
    assert_true(resident(memory) > 0);
    assert_true(oche_spill_move(&spill, memory + FROM, PIECE));
    assert_int_equal(resident(memory), 0);
    expect(memory, BYTES);
    memory[FROM + PIECE / 2]++;
    oche_spill_rest(memory + FROM, PIECE);
    assert_int_equal(resident(memory), 0);
    expect(memory, FROM + PIECE / 2);
    assert_true(oche_spill_move(&spill, memory + FROM + PIECE, PIECE));
    assert_true(oche_spill_move(&spill, memory, 10)); /* no whole page */
    oche_spill_close(&spill);
    expect(memory, FROM + PIECE / 2);
    oche_sparse_free(memory);
}

static void no_room(void **state)
{
    struct rlimit before, little = {.rlim_cur = PIECE / 2};
    uint8_t *memory = filled();
    struct oche_spill spill;

    (void)state;
    getrlimit(RLIMIT_FSIZE, &before);
    little.rlim_max = before.rlim_max;
    oche_spill_open(&spill);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
    assert_false(oche_spill_move(&spill, memory + FROM, PIECE));
    assert_int_equal(spill.file, -1);
    assert_false(oche_spill_move(&spill, memory + FROM, 10000));
    setrlimit(RLIMIT_FSIZE, &before);
    expect(memory, BYTES);
    oche_sparse_free(memory);
}

static void no_folder(void **state)
{
    struct oche_spill spill;

    (void)state;
    setenv("TMPDIR", "/no/such/folder", 1);
    oche_spill_open(&spill);
    assert_true(spill.file >= 0); /* /var/tmp */
    oche_spill_close(&spill);
    unsetenv("TMPDIR");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moved),
        cmocka_unit_test(no_room),
        cmocka_unit_test(no_folder),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
