/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of regions and windows move to larger memory while queue pairs use them. Each key
 * keeps its meaning, also a key that was given up. Places are reused.
 */
#include "tests/support/test.h"

#include <stdlib.h>

#include "tests/support/pair.h"

#define MORE        1000
#define KEY(i)      (UINT32_C(0x10000) + 0x1000 * (i)) /* no two differ only in the last byte */
#define VA(i)       (UINT64_C(0x1000000) * ((i) + 1))
#define WINDOW_KEY  UINT32_C(0x5500)
#define FIRST       (PAIR_REGIONS - 2) /* that many, beside the pair's own and a window */
#define PLACE(pair) ((pair)->side[1].memory + 1000)

static bool add(struct pair *pair, uint32_t i)
{
    const struct oche_region region = {.va = VA(i),
                                       .length = 100,
                                       .key = KEY(i),
                                       .access = OCHE_ACCESS_REMOTE_WRITE,
                                       .pd = PAIR_PD,
                                       .base = PLACE(pair) + 100 * (size_t)(i % 1000)};

    return oche_nic_add_region(pair->side[1].nic, &region);
}

/* A WRITE of side 0, number `index`: each error uses up a queue pair. */
static enum oche_status write_by(struct pair *pair, uint32_t index, uint32_t key, uint64_t va)
{
    struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 1, 0, 0, 100);
    struct oche_completion done;

    work.rkey = key;
    work.remote_va = va;
    assert_int_equal(oche_qp_post_send(pair->side[0].qp[index], &work), 0);
    pair_run_quiet(pair);
    assert_int_equal(oche_cq_poll(pair->side[0].cq, &done, 1), 1);
    return (enum oche_status)done.status;
}

static void expect_region(struct pair *pair, uint32_t i)
{
    const uint8_t *place = PLACE(pair) + 100 * (size_t)(i % 1000);

    pair_fill(pair, 0, 0, 100, (uint8_t)(i + 1));
    assert_int_equal(write_by(pair, 0, KEY(i), VA(i)), OCHE_STATUS_SUCCESS);
    assert_memory_equal(place, pair->side[0].memory, 100);
}

static void bind_window(struct pair *pair, struct oche_window *window)
{
    const struct oche_bind bind = {.window = window,
                                   .rkey = WINDOW_KEY + 1,
                                   .lkey = PAIR_KEY,
                                   .va = PAIR_VA + 500000,
                                   .length = 100,
                                   .access = OCHE_ACCESS_REMOTE_WRITE};
    struct oche_send_work work = {
        .wr_id = 9, .opcode = OCHE_WORK_BIND_MW, .flags = OCHE_WORK_SIGNALED, .bind = &bind};

    assert_int_equal(oche_qp_post_send(pair->side[1].qp[0], &work), 0);
    pair_run_quiet(pair);
    pair_expect(pair, 1, 9, OCHE_STATUS_SUCCESS);
}

static void test_move(void **state)
{
    const struct oche_window_config config = {
        .key = WINDOW_KEY, .pd = PAIR_PD, .type = OCHE_WINDOW_TYPE_1};
    struct pair_options options = {.qps = 4};
    struct pair *pair = pair_open(&options);
    struct oche_nic *nic = pair->side[1].nic;
    void *memory[2] = {aligned_alloc(OCHE_CACHE_LINE, oche_regions_bytes(MORE)),
                       aligned_alloc(OCHE_CACHE_LINE, oche_regions_bytes(2 * MORE))};
    void *window_memory = malloc(oche_window_bytes());
    struct oche_window *window = oche_window_create(nic, window_memory, &config);

    (void)state;
    bind_window(pair, window);
    for (uint32_t i = 0; i < FIRST; i++)
        assert_true(add(pair, i));
    assert_int_equal(oche_nic_regions_left(nic), 0);
    assert_false(add(pair, FIRST));
    assert_true(oche_nic_remove_region(nic, KEY(3)));
    assert_true(oche_nic_remove_region(nic, KEY(5)));
    oche_nic_move_regions(nic, memory[0], MORE);
    assert_int_equal(oche_nic_max_regions(nic), MORE);
    assert_int_equal(oche_nic_regions_left(nic), MORE - PAIR_REGIONS + 2);
    for (uint32_t i = FIRST; oche_nic_regions_left(nic) > 0; i++)
        assert_true(add(pair, i));
    oche_nic_move_regions(nic, memory[1], 2 * MORE);
    for (uint32_t i = 0; i < MORE; i++)
        if (i != 3 && i != 5)
            expect_region(pair, i);
    assert_int_equal(write_by(pair, 0, WINDOW_KEY + 1, PAIR_VA + 500000), OCHE_STATUS_SUCCESS);
    assert_false(oche_nic_remove_region(nic, PAIR_KEY)); /* the window is bound to it */
    assert_int_equal(write_by(pair, 1, KEY(3), VA(3)), OCHE_STATUS_REMOTE_ACCESS);
    assert_int_equal(write_by(pair, 2, KEY(4), VA(4) + 1), OCHE_STATUS_REMOTE_ACCESS);
    assert_int_equal(write_by(pair, 3, WINDOW_KEY, PAIR_VA + 500000), OCHE_STATUS_REMOTE_ACCESS);
    assert_true(add(pair, 5));
    expect_region(pair, 5);
    assert_true(oche_window_destroy(window));
    pair_close(pair);
    free(window_memory);
    free(memory[0]);
    free(memory[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_move)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
