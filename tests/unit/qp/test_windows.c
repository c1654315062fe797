/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory windows, SEND with invalidate, LOCAL_INV: the access that they open and close, and the
 * order.
 */
#include "tests/support/test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/recovery/selective_repeat.h"
#include "core/wire/aeth.h"
#include "core/wire/opcode.h"
#include "tests/support/pair.h"

#define SIDE0(offset) (pair->side[0].memory + (offset))
#define SIDE1(offset) (pair->side[1].memory + (offset))
#define WINDOW_KEY    UINT32_C(0x5500)
#define WRITE_READ    (OCHE_ACCESS_REMOTE_WRITE | OCHE_ACCESS_REMOTE_READ)
#define ALL_REMOTE    (WRITE_READ | OCHE_ACCESS_REMOTE_ATOMIC)

/* Side 1's windows; each test has several. */
struct windows {
    struct oche_window *window[4];
    void *memory[4];
};

static struct windows make_windows(struct pair *pair, uint8_t type)
{
    struct windows w;

    for (uint32_t i = 0; i < 4; i++) {
        struct oche_window_config config = {
            .key = WINDOW_KEY + 0x100 * i, .pd = PAIR_PD, .type = type};
        w.memory[i] = malloc(oche_window_bytes());
        w.window[i] = oche_window_create(pair->side[1].nic, w.memory[i], &config);
        assert_non_null(w.window[i]);
    }
    return w;
}

static void end_windows(struct pair *pair, struct windows *w)
{
    for (uint32_t i = 0; i < 4; i++)
        assert_true(w->window[i] == NULL || oche_window_destroy(w->window[i]));
    pair_close(pair);
    for (uint32_t i = 0; i < 4; i++)
        free(w->memory[i]);
}

/* `length` bytes from 1000 on. */
static struct oche_bind a_bind(struct oche_window *window, uint64_t length)
{
    return (struct oche_bind){
        .window = window,
        .rkey = oche_window_key(window) + 1,
        .lkey = PAIR_KEY,
        .va = PAIR_VA + 1000,
        .length = length,
        .access = ALL_REMOTE,
    };
}

static void post_bind(struct pair *pair, uint32_t index, uint64_t wr_id,
                      const struct oche_bind *bind)
{
    struct oche_send_work work = {
        .wr_id = wr_id, .opcode = OCHE_WORK_BIND_MW, .flags = OCHE_WORK_SIGNALED, .bind = bind};

    assert_int_equal(oche_qp_post_send(pair->side[1].qp[index], &work), 0);
}

static void bind_now(struct pair *pair, uint32_t index, const struct oche_bind *bind)
{
    post_bind(pair, index, 900, bind);
    pair_run_quiet(pair);
    assert_int_equal(pair_expect(pair, 1, 900, OCHE_STATUS_SUCCESS).opcode, OCHE_DONE_BIND_MW);
    assert_int_equal(oche_window_key(bind->window), bind->rkey);
}

static void post_inv(struct pair *pair, int side, uint8_t opcode, uint64_t wr_id, uint32_t key,
                     uint32_t length)
{
    struct oche_send_work work = pair_work(opcode, wr_id, 0, 0, length);

    work.imm = key;
    pair_post(pair, side, &work);
}

/* A WRITE of side 0 by the window's key. */
static enum oche_status write_by(struct pair *pair, uint32_t index, uint32_t key, uint64_t va,
                                 uint32_t length)
{
    struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 1, 0, 0, length);
    struct oche_completion done;

    work.rkey = key;
    work.remote_va = va;
    assert_int_equal(oche_qp_post_send(pair->side[0].qp[index], &work), 0);
    pair_run_quiet(pair);
    assert_int_equal(oche_cq_poll(pair->side[0].cq, &done, 1), 1);
    return (enum oche_status)done.status;
}

/* Access through a window: only within it, and only the rights it allows. */
static void test_access(void **state)
{
    static const struct {
        uint8_t opcode;
        uint32_t access, offset, length;
        enum oche_status status;
    } cases[] = {
        {OCHE_WORK_WRITE, OCHE_ACCESS_REMOTE_WRITE, 1000, 5000, OCHE_STATUS_SUCCESS},
        {OCHE_WORK_WRITE, OCHE_ACCESS_REMOTE_WRITE, 5999, 1, OCHE_STATUS_SUCCESS},
        {OCHE_WORK_WRITE, OCHE_ACCESS_REMOTE_WRITE, 999, 1, OCHE_STATUS_REMOTE_ACCESS},
        {OCHE_WORK_WRITE, OCHE_ACCESS_REMOTE_WRITE, 1001, 5000, OCHE_STATUS_REMOTE_ACCESS},
        {OCHE_WORK_WRITE, OCHE_ACCESS_REMOTE_READ, 1000, 10, OCHE_STATUS_REMOTE_ACCESS},
        {OCHE_WORK_WRITE, 0, 1000, 10, OCHE_STATUS_REMOTE_ACCESS},
        {OCHE_WORK_READ, OCHE_ACCESS_REMOTE_READ, 1000, 5000, OCHE_STATUS_SUCCESS},
        {OCHE_WORK_READ, OCHE_ACCESS_REMOTE_WRITE, 1000, 10, OCHE_STATUS_REMOTE_ACCESS},
        {OCHE_WORK_READ, OCHE_ACCESS_REMOTE_READ, 5999, 2, OCHE_STATUS_REMOTE_ACCESS},
        {OCHE_WORK_FETCH_ADD, OCHE_ACCESS_REMOTE_ATOMIC, 1000, 8, OCHE_STATUS_SUCCESS},
        {OCHE_WORK_FETCH_ADD, OCHE_ACCESS_REMOTE_WRITE, 1000, 8, OCHE_STATUS_REMOTE_ACCESS},
        {OCHE_WORK_FETCH_ADD, OCHE_ACCESS_REMOTE_ATOMIC, 992, 8, OCHE_STATUS_REMOTE_ACCESS},
    };

    (void)state;
    for (unsigned type = 0; type < 2; type++)
        for (unsigned i = 0; i < OCHE_COUNT_OF(cases); i++) {
            struct pair *pair = pair_open(NULL);
            struct windows w = make_windows(pair, (uint8_t)type);
            struct oche_bind bind = a_bind(w.window[1], 5000);
            struct oche_send_work work =
                pair_work(cases[i].opcode, 1, 0, cases[i].offset, cases[i].length);
            bind.access = cases[i].access;
            bind_now(pair, 0, &bind);
            pair_fill(pair, 0, 0, 6000, 1);
            work.rkey = bind.rkey;
            pair_post(pair, 0, &work);
            pair_run_quiet(pair);
            pair_expect(pair, 0, 1, cases[i].status);
            if (cases[i].opcode != OCHE_WORK_FETCH_ADD && cases[i].status == OCHE_STATUS_SUCCESS)
                assert_memory_equal(SIDE0(0), SIDE1(cases[i].offset), cases[i].length);
            end_windows(pair, &w);
        }
}

/* Addresses begin at 0; only type 2 allows that. */
static void test_zero_based(void **state)
{
    struct pair *pair = pair_open(NULL);
    struct windows w = make_windows(pair, OCHE_WINDOW_TYPE_2);
    struct oche_bind bind = a_bind(w.window[0], 100);

    (void)state;
    bind.access |= OCHE_ACCESS_ZERO_BASED;
    bind_now(pair, 0, &bind);
    pair_fill(pair, 0, 0, 100, 4);
    assert_int_equal(write_by(pair, 0, bind.rkey, 0, 100), OCHE_STATUS_SUCCESS);
    assert_memory_equal(SIDE0(0), SIDE1(1000), 100);
    assert_int_equal(write_by(pair, 0, bind.rkey, 99, 1), OCHE_STATUS_SUCCESS);
    assert_int_equal(SIDE1(1099)[0], SIDE0(0)[0]);
    assert_int_equal(write_by(pair, 0, bind.rkey, 99, 2), OCHE_STATUS_REMOTE_ACCESS);
    end_windows(pair, &w);
}

/* An aligned address of unaligned memory: not every processor can do that. */
static void test_unaligned_atomic(void **state)
{
    (void)state;
    for (unsigned odd = 0; odd < 2; odd++) {
        struct pair *pair = pair_open(NULL);
        struct windows w = make_windows(pair, OCHE_WINDOW_TYPE_2);
        struct oche_bind bind = a_bind(w.window[0], 100);
        struct oche_send_work work = pair_work(OCHE_WORK_FETCH_ADD, 1, 0, 0, 8);

        bind.access |= OCHE_ACCESS_ZERO_BASED;
        bind.va += odd;
        bind_now(pair, 0, &bind);
        pair_fill(pair, 1, 1000, 100, 4);
        memcpy(SIDE1(3000), SIDE1(1000), 100);
        work.rkey = bind.rkey;
        work.remote_va = 8;
        work.swap_add = 1;
        pair_post(pair, 0, &work);
        pair_run_quiet(pair);
        pair_expect(pair, 0, 1, odd ? OCHE_STATUS_REMOTE_INVALID_REQUEST : OCHE_STATUS_SUCCESS);
        assert_int_equal(memcmp(SIDE1(3000), SIDE1(1000), 100) == 0, odd);
        end_windows(pair, &w);
    }
}

/* Type 1 is open to the domain's queue pairs, type 2 only to the one that bound it. */
static void test_whose(void **state)
{
    (void)state;
    for (unsigned type = 0; type < 2; type++) {
        struct pair *pair = pair_open(&(struct pair_options){.qps = 2});
        struct windows w = make_windows(pair, (uint8_t)type);
        struct oche_bind bind = a_bind(w.window[0], 100);

        bind_now(pair, 1, &bind);
        assert_int_equal(write_by(pair, 1, bind.rkey, bind.va, 100), OCHE_STATUS_SUCCESS);
        assert_int_equal(write_by(pair, 0, bind.rkey, bind.va, 100),
                         type == OCHE_WINDOW_TYPE_1 ? OCHE_STATUS_SUCCESS
                                                    : OCHE_STATUS_REMOTE_ACCESS);
        end_windows(pair, &w);
    }
}

/* A window of another domain cannot be used, even with its key. */
static void test_domain(void **state)
{
    (void)state;
    for (uint8_t type = 0; type < 2; type++) {
        struct pair *pair = pair_open(NULL);
        struct windows w = make_windows(pair, type);
        struct oche_window_config config = {.key = 0x9900, .pd = PAIR_PD + 1, .type = type};
        void *memory = malloc(oche_window_bytes());
        struct oche_window *other = oche_window_create(pair->side[1].nic, memory, &config);
        struct oche_bind bind = a_bind(other, 100);

        post_bind(pair, 0, 5, &bind);
        pair_run_quiet(pair);
        pair_expect(pair, 1, 5, OCHE_STATUS_WINDOW);
        assert_true(oche_window_destroy(other));
        free(memory);
        end_windows(pair, &w);
    }
}

struct bind_case {
    const char *what;
    int type; /* -1: both */
    int64_t rkey, va, length;
    uint32_t lkey, access;
    bool bound; /* it is bound already */
};

/* Rules of a bind; each of these breaks one. */
static const struct bind_case wrong_binds[] = {
    {"upper bits of the key", -1, 0x100, 0, 0, 0, 0, false},
    {"a key that is taken", -1, PAIR_KEY - (int64_t)WINDOW_KEY, 0, 0, 0, 0, false},
    {"no such region", -1, 0, 0, 0, PAIR_KEY + 1, 0, false},
    {"onto a window", -1, 0, 0, 0, WINDOW_KEY + 0x200, 0, false},
    {"before the region", -1, 0, -1001, 0, 0, 0, false},
    {"behind the region", -1, 0, PAIR_MEMORY, 0, 0, 0, false},
    {"longer than the region", -1, 0, 0, PAIR_MEMORY, 0, 0, false},
    {"length wraps", -1, 0, 0, -102, 0, 0, false},
    {"local access", -1, 0, 0, 0, 0, OCHE_ACCESS_LOCAL_WRITE, false},
    {"unknown access", -1, 0, 0, 0, 0, 1u << 31, false},
    {"no leave to bind", -1, 0, 0, 0, 78, 0, false},
    {"WRITE where we may not", -1, 0, 0, 0, 79, OCHE_ACCESS_REMOTE_WRITE, false},
    {"atomics where we may not", -1, 0, 0, 0, 79, OCHE_ACCESS_REMOTE_ATOMIC, false},
    {"another domain", -1, 0, 0, 0, 80, 0, false},
    {"type 1, zero-based", 0, 0, 0, 0, 0, OCHE_ACCESS_ZERO_BASED, false},
    {"type 2, the same key", 1, -1, 0, 0, 0, 0, false},
    {"type 2, empty", 1, 0, 0, -100, 0, 0, false},
    {"type 2, bound", 1, 0, 0, 0, 0, 0, true},
};

static void add_region(struct pair *pair, uint32_t key, uint32_t access, uint32_t pd)
{
    struct oche_region region = {.va = PAIR_VA,
                                 .length = PAIR_MEMORY,
                                 .key = key,
                                 .access = access,
                                 .pd = pd,
                                 .base = pair->side[1].memory};

    assert_true(oche_nic_add_region(pair->side[1].nic, &region));
}

static void try_wrong_bind(const struct bind_case *c, uint8_t type)
{
    struct pair *pair = pair_open(NULL);
    struct windows w = make_windows(pair, type);
    struct oche_bind bind = a_bind(w.window[0], 100), before = bind;

    add_region(pair, 78, ALL_REMOTE | OCHE_ACCESS_LOCAL_WRITE, PAIR_PD);
    add_region(pair, 79, ALL_REMOTE | OCHE_ACCESS_MW_BIND, PAIR_PD);
    add_region(pair, 80, ALL_REMOTE | OCHE_ACCESS_MW_BIND | OCHE_ACCESS_LOCAL_WRITE, PAIR_PD + 1);
    if (c->bound) {
        bind_now(pair, 0, &before);
        bind.rkey++;
    }
    bind.rkey += (uint32_t)c->rkey;
    bind.va += (uint64_t)c->va;
    bind.length += (uint64_t)c->length;
    bind.access = c->access != 0 ? c->access : OCHE_ACCESS_REMOTE_READ;
    if (c->lkey != 0)
        bind.lkey = c->lkey;
    uint32_t key = oche_window_key(w.window[0]);
    post_bind(pair, 0, 5, &bind);
    post_bind(pair, 0, 6, &bind);
    pair_run_quiet(pair);
    if (oche_window_key(w.window[0]) != key)
        print_error("%s\n", c->what);
    assert_int_equal(oche_window_key(w.window[0]), key);
    pair_expect(pair, 1, 5, OCHE_STATUS_WINDOW);
    pair_expect(pair, 1, 6, OCHE_STATUS_FLUSHED);
    assert_int_equal(oche_qp_state(pair->side[1].qp[0]), OCHE_QP_ERR);
    end_windows(pair, &w);
}

static void test_wrong_binds(void **state)
{
    (void)state;
    for (unsigned i = 0; i < OCHE_COUNT_OF(wrong_binds); i++)
        for (uint8_t type = 0; type < 2; type++)
            if (wrong_binds[i].type < 0 || wrong_binds[i].type == type)
                try_wrong_bind(&wrong_binds[i], type);
}

/* Type 1: bound again at any time, which ends the old key; length 0 closes it. */
static void test_bind_again(void **state)
{
    struct pair *pair = pair_open(&(struct pair_options){.qps = 3});
    struct windows w = make_windows(pair, OCHE_WINDOW_TYPE_1);
    struct oche_bind bind = a_bind(w.window[0], 100), again;

    (void)state;
    bind_now(pair, 0, &bind);
    assert_int_equal(write_by(pair, 0, bind.rkey, bind.va, 100), OCHE_STATUS_SUCCESS);
    again = a_bind(w.window[0], 200);
    bind_now(pair, 0, &again);
    assert_int_equal(write_by(pair, 0, again.rkey, bind.va, 200), OCHE_STATUS_SUCCESS);
    assert_int_equal(write_by(pair, 0, bind.rkey, bind.va, 1), OCHE_STATUS_REMOTE_ACCESS);
    again = a_bind(w.window[0], 0);
    again.lkey = 0;
    bind_now(pair, 1, &again);
    assert_int_equal(write_by(pair, 1, again.rkey, bind.va, 1), OCHE_STATUS_REMOTE_ACCESS);
    assert_true(oche_nic_remove_region(pair->side[1].nic, PAIR_KEY));
    end_windows(pair, &w);
}

/* SEND with invalidate ends a window of type 2, and the completion reports it. */
static void test_send_inv(void **state)
{
    static const uint32_t lengths[] = {0, 100, 5000};

    (void)state;
    for (unsigned bytes = 0; bytes < 2; bytes++)
        for (unsigned i = 0; i < 3; i++) {
            struct pair *pair = pair_open(&(struct pair_options){.bytes = bytes});
            struct windows w = make_windows(pair, OCHE_WINDOW_TYPE_2);
            struct oche_bind bind = a_bind(w.window[0], 100), again;

            bind_now(pair, 0, &bind);
            pair_fill(pair, 0, 0, 5000, 1);
            assert_int_equal(write_by(pair, 0, bind.rkey, bind.va, 100), OCHE_STATUS_SUCCESS);
            pair_post_recv(pair, 1, 7, 50000, 5000);
            post_inv(pair, 0, OCHE_WORK_SEND_INV, 2, bind.rkey, lengths[i]);
            pair_run_quiet(pair);
            assert_int_equal(pair_expect(pair, 0, 2, OCHE_STATUS_SUCCESS).opcode, OCHE_DONE_SEND);
            struct oche_completion done = pair_expect(pair, 1, 7, OCHE_STATUS_SUCCESS);
            assert_int_equal(done.opcode, OCHE_DONE_RECV_INV);
            assert_int_equal(done.imm, bind.rkey);
            assert_int_equal(done.bytes, lengths[i]);
            assert_false(done.has_imm);
            assert_memory_equal(SIDE0(0), SIDE1(50000), lengths[i]);
            again = a_bind(w.window[0], 300);
            bind_now(pair, 0, &again);
            assert_int_equal(write_by(pair, 0, again.rkey, bind.va, 300), OCHE_STATUS_SUCCESS);
            assert_int_equal(write_by(pair, 0, bind.rkey, bind.va, 1), OCHE_STATUS_REMOTE_ACCESS);
            end_windows(pair, &w);
        }
}

/* Windows that are bound, written through and ended by the peer, again and again, with losses. */
static void test_cycles(void **state)
{
    struct oche_selective_repeat_params params;

    (void)state;
    oche_param_defaults(&oche_recovery_selective_repeat.table, &params);
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct pair_options options = {
            .seed = seed, .drop = 80, .twice = 40, .late = 60, .rnr_retry = UINT32_MAX};
        if (seed % 2 != 0) { /* packets that name their place */
            options.recovery = &oche_recovery_selective_repeat;
            options.own_recovery_params = &params;
            options.extensions = true;
        }
        struct pair *pair = pair_open(&options);
        struct windows w = make_windows(pair, OCHE_WINDOW_TYPE_2);
        for (uint32_t i = 0; i < 30; i++) {
            struct oche_bind bind = a_bind(w.window[i % 4], 5000);
            uint32_t length = i * 977 % 6000;
            bind_now(pair, 0, &bind);
            pair_fill(pair, 0, 0, 6000, (uint8_t)i);
            pair_post_recv(pair, 1, 7, 50000, 6000);
            struct oche_send_work write = pair_work(OCHE_WORK_WRITE, 1, 0, 1000, 5000);
            write.rkey = bind.rkey;
            pair_post(pair, 0, &write);
            post_inv(pair, 0, OCHE_WORK_SEND_INV, 2, bind.rkey, length);
            pair_run_quiet(pair);
            pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
            pair_expect(pair, 0, 2, OCHE_STATUS_SUCCESS);
            struct oche_completion done = pair_expect(pair, 1, 7, OCHE_STATUS_SUCCESS);
            assert_int_equal(done.opcode, OCHE_DONE_RECV_INV);
            assert_int_equal(done.imm, bind.rkey);
            assert_int_equal(done.bytes, length);
            assert_memory_equal(SIDE0(0), SIDE1(1000), 5000);
            assert_memory_equal(SIDE0(0), SIDE1(50000), length);
        }
        assert_true(oche_nic_remove_region(pair->side[1].nic, PAIR_KEY)); /* all are closed */
        end_windows(pair, &w);
    }
}

/* Keys that neither the peer nor we may invalidate. */
static void try_wrong_inv(bool local, unsigned which, uint32_t length)
{
    struct pair *pair = pair_open(&(struct pair_options){.qps = 2});
    struct windows w = make_windows(pair, which == 3 ? OCHE_WINDOW_TYPE_1 : OCHE_WINDOW_TYPE_2);
    struct oche_bind bind = a_bind(w.window[0], 100);
    const uint32_t keys[] = {PAIR_KEY,           0,         0x12345678, bind.rkey, bind.rkey,
                             WINDOW_KEY + 0x100, WINDOW_KEY};

    bind_now(pair, which == 4, &bind); /* 4: another queue pair's */
    if (local) {
        post_inv(pair, 1, OCHE_WORK_LOCAL_INV, 2, keys[which], 0);
        post_inv(pair, 1, OCHE_WORK_LOCAL_INV, 3, keys[which], 0);
        pair_run_quiet(pair);
        pair_expect(pair, 1, 2, OCHE_STATUS_WINDOW);
        pair_expect(pair, 1, 3, OCHE_STATUS_FLUSHED);
    } else {
        pair_post_recv(pair, 1, 7, 50000, 5000);
        post_inv(pair, 0, OCHE_WORK_SEND_INV, 2, keys[which], length);
        pair_run_quiet(pair);
        pair_expect(pair, 0, 2, OCHE_STATUS_REMOTE_ACCESS);
        struct oche_completion done;
        assert_int_equal(oche_cq_poll(pair->side[1].cq, &done, 1), 1);
        assert_int_not_equal(done.status, OCHE_STATUS_SUCCESS);
        assert_int_equal(oche_nic_rejected(pair->side[1].nic, OCHE_REJECT_ACCESS), 1);
    }
    assert_int_equal(oche_qp_state(pair->side[1].qp[0]), OCHE_QP_ERR);
    if (which == 4)
        assert_int_equal(write_by(pair, 1, bind.rkey, bind.va, 100), OCHE_STATUS_SUCCESS);
    end_windows(pair, &w);
}

static void test_wrong_invs(void **state)
{
    (void)state;
    for (unsigned which = 0; which < 7; which++) {
        try_wrong_inv(true, which, 0);
        try_wrong_inv(false, which, 0);
        try_wrong_inv(false, which, 3000);
    }
}

/* LOCAL_INV waits for earlier work, and later work finds the window closed. */
static void test_local_inv(void **state)
{
    struct pair *pair = pair_open(NULL);
    struct windows w = make_windows(pair, OCHE_WINDOW_TYPE_2);
    struct oche_bind bind = a_bind(w.window[0], 100), again;
    struct oche_send_work work = pair_work(OCHE_WORK_READ, 1, 0, 0, 20000);

    (void)state;
    bind_now(pair, 0, &bind);
    pair_post(pair, 1, &work);
    post_inv(pair, 1, OCHE_WORK_LOCAL_INV, 2, bind.rkey, 0);
    again = a_bind(w.window[0], 50);
    again.rkey++;
    post_bind(pair, 0, 3, &again);
    pair_run(pair, pair->now + OCHE_US);
    assert_int_equal(oche_window_key(w.window[0]), bind.rkey); /* the READ is under way */
    pair_run_quiet(pair);
    pair_expect(pair, 1, 1, OCHE_STATUS_SUCCESS);
    assert_int_equal(pair_expect(pair, 1, 2, OCHE_STATUS_SUCCESS).opcode, OCHE_DONE_LOCAL_INV);
    pair_expect(pair, 1, 3, OCHE_STATUS_SUCCESS);
    assert_int_equal(write_by(pair, 0, again.rkey, bind.va, 50), OCHE_STATUS_SUCCESS);
    assert_int_equal(write_by(pair, 0, bind.rkey, bind.va, 50), OCHE_STATUS_REMOTE_ACCESS);
    end_windows(pair, &w);
}

/* Binds among other work complete in their turn, also with lost packets. */
static void test_order(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct pair_options options = {.seed = seed, .drop = 100, .late = 50, .send_depth = 64};
        if (seed % 2 != 0) {
            options.recovery = &oche_recovery_selective_repeat;
            options.extensions = true;
        }
        struct oche_selective_repeat_params params;
        oche_param_defaults(&oche_recovery_selective_repeat.table, &params);
        options.own_recovery_params = &params;
        struct pair *pair = pair_open(&options);
        struct windows w = make_windows(pair, OCHE_WINDOW_TYPE_1);
        uint32_t key = oche_window_key(w.window[0]);
        for (uint64_t i = 0; i < 30; i++) {
            struct oche_bind bind = a_bind(w.window[0], 100);
            struct oche_send_work work =
                pair_work(i % 5 == 4 ? OCHE_WORK_READ : OCHE_WORK_WRITE, i, 0, 0, 3000);
            work.flags |= i % 7 == 0 ? OCHE_WORK_FENCE : 0;
            bind.rkey = ++key;
            if (i % 3 == 0)
                pair_post(pair, 1, &work);
            else
                post_bind(pair, 0, i, &bind);
        }
        assert_false(oche_window_destroy(w.window[0]));
        pair_run_quiet(pair);
        for (uint64_t i = 0; i < 30; i++)
            pair_expect(pair, 1, i, OCHE_STATUS_SUCCESS);
        assert_true(oche_qp_idle(pair->side[1].qp[0]));
        end_windows(pair, &w);
    }
}

/* A bind with a fence waits for the READ before it; one without does not. */
static void test_fence(void **state)
{
    (void)state;
    for (unsigned fence = 0; fence < 2; fence++) {
        struct pair *pair = pair_open(NULL);
        struct windows w = make_windows(pair, OCHE_WINDOW_TYPE_2);
        struct oche_bind bind = a_bind(w.window[0], 100);
        struct oche_send_work read = pair_work(OCHE_WORK_READ, 1, 0, 0, 20000);
        struct oche_send_work work = {.wr_id = 2,
                                      .opcode = OCHE_WORK_BIND_MW,
                                      .flags = fence ? OCHE_WORK_FENCE : 0,
                                      .bind = &bind};

        pair_post(pair, 1, &read);
        pair_post(pair, 1, &work);
        pair_run(pair, pair->now + OCHE_US);
        assert_int_equal(oche_window_key(w.window[0]) == bind.rkey, !fence);
        pair_run_quiet(pair);
        pair_expect(pair, 1, 1, OCHE_STATUS_SUCCESS);
        pair_expect_none(pair, 1); /* not signalled */
        assert_int_equal(oche_window_key(w.window[0]), bind.rkey);
        end_windows(pair, &w);
    }
}

/* A region or queue pair with a window must not be destroyed first. */
static void test_lifetimes(void **state)
{
    struct pair *pair = pair_open(&(struct pair_options){.qps = 2});
    struct oche_nic *nic = pair->side[1].nic;
    struct windows w = make_windows(pair, OCHE_WINDOW_TYPE_2);
    struct oche_bind bind = a_bind(w.window[0], 100), other = a_bind(w.window[1], 100);

    (void)state;
    assert_false(oche_nic_remove_region(nic, WINDOW_KEY)); /* no region's */
    bind_now(pair, 0, &bind);
    assert_false(oche_nic_remove_region(nic, PAIR_KEY));
    post_bind(pair, 1, 5, &other);
    assert_false(oche_window_destroy(w.window[1]));
    oche_qp_reset(pair->side[1].qp[1]); /* it was never done */
    assert_true(oche_window_destroy(w.window[1]));
    w.window[1] = NULL;
    oche_qp_destroy(pair->side[1].qp[0]); /* and its windows are closed */
    pair->side[1].qp[0] = NULL;
    assert_true(oche_nic_remove_region(nic, PAIR_KEY));
    end_windows(pair, &w);
}

/* A window is not local memory. */
static void test_not_local(void **state)
{
    struct pair *pair = pair_open(NULL);
    struct windows w = make_windows(pair, OCHE_WINDOW_TYPE_1);
    struct oche_bind bind = a_bind(w.window[0], 100);
    struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 1, 1000, 0, 10);

    (void)state;
    bind_now(pair, 0, &bind);
    work.sge[0].lkey = bind.rkey;
    pair_post(pair, 1, &work);
    pair_run_quiet(pair);
    pair_expect(pair, 1, 1, OCHE_STATUS_LOCAL_PROTECTION);
    end_windows(pair, &w);
}

static void test_posts(void **state)
{
    static const uint8_t transports[] = {OCHE_TRANSPORT_RC, OCHE_TRANSPORT_UC, OCHE_TRANSPORT_UD};

    (void)state;
    for (unsigned t = 0; t < 3; t++) {
        struct pair *pair = pair_open(&(struct pair_options){.transport = transports[t]});
        struct windows w = make_windows(pair, OCHE_WINDOW_TYPE_1);
        struct oche_bind bind = a_bind(w.window[0], 100);
        struct oche_destination to = pair_destination(1, 0);
        struct oche_qp *qp = pair->side[1].qp[0];
        struct oche_send_work work = {.opcode = OCHE_WORK_BIND_MW, .bind = &bind, .to = &to};
        bool connected = transports[t] != OCHE_TRANSPORT_UD;

        assert_int_equal(oche_qp_post_send(qp, &work), connected ? 0 : EINVAL);
        work.flags = OCHE_WORK_INLINE;
        assert_int_equal(oche_qp_post_send(qp, &work), EINVAL);
        work.flags = 0;
        work.bind = NULL;
        assert_int_equal(oche_qp_post_send(qp, &work), EINVAL);
        work.bind = &bind;
        bind.window = NULL;
        assert_int_equal(oche_qp_post_send(qp, &work), EINVAL);
        work.opcode = OCHE_WORK_SEND_INV;
        assert_int_equal(oche_qp_post_send(qp, &work), t == 0 ? 0 : EINVAL);
        pair_run(pair, pair->now + 10 * OCHE_US);
        end_windows(pair, &w);
    }
}

/* UC binds and invalidates its own windows. */
static void test_unconnected_inv(void **state)
{
    struct pair *pair = pair_open(&(struct pair_options){.transport = OCHE_TRANSPORT_UC});
    struct windows w = make_windows(pair, OCHE_WINDOW_TYPE_2);
    struct oche_bind bind = a_bind(w.window[0], 100);
    struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 1, 0, 1000, 10);

    (void)state;
    bind_now(pair, 0, &bind);
    work.rkey = bind.rkey;
    pair_fill(pair, 0, 0, 10, 1);
    pair_post(pair, 0, &work);
    pair_run_quiet(pair);
    assert_memory_equal(SIDE0(0), SIDE1(1000), 10);
    post_inv(pair, 1, OCHE_WORK_LOCAL_INV, 2, bind.rkey, 0);
    pair_run_quiet(pair);
    pair_expect(pair, 1, 2, OCHE_STATUS_SUCCESS);
    post_inv(pair, 1, OCHE_WORK_LOCAL_INV, 3, bind.rkey, 0);
    pair_run_quiet(pair);
    pair_expect(pair, 1, 3, OCHE_STATUS_WINDOW);
    assert_int_equal(oche_qp_state(pair->side[1].qp[0]), OCHE_QP_SQE);
    end_windows(pair, &w);
}

static void test_creating(void **state)
{
    struct pair *pair = pair_open(NULL);
    struct oche_nic *nic = pair->side[1].nic;
    void *memory = malloc(oche_window_bytes());
    struct oche_window_config c = {.key = PAIR_KEY, .pd = PAIR_PD};
    struct oche_region region = {.key = 0x77, .length = 1, .pd = UINT32_MAX};

    (void)state;
    assert_null(oche_window_create(nic, memory, &c));
    c.key = 0;
    assert_null(oche_window_create(nic, memory, &c));
    c = (struct oche_window_config){.key = 0x100, .pd = UINT32_MAX};
    assert_null(oche_window_create(nic, memory, &c));
    c = (struct oche_window_config){.key = 0x100, .type = 2};
    assert_null(oche_window_create(nic, memory, &c));
    assert_false(oche_nic_add_region(nic, &region)); /* windows are nobody's */
    c = (struct oche_window_config){.key = 0x100, .pd = PAIR_PD, .user = &c};
    struct oche_window *window = oche_window_create(nic, memory, &c);
    assert_non_null(window);
    assert_ptr_equal(oche_window_user(window), &c);
    assert_true(oche_window_destroy(window));
    window = oche_window_create(nic, memory, &c); /* the key is free again */
    assert_non_null(window);
    assert_true(oche_window_destroy(window));
    pair_close(pair);
    free(memory);
}

/* A window has 256 keys, all different from those of regions and other windows. */
static void test_whose_keys(void **state)
{
    struct pair *pair = pair_open(NULL);
    struct oche_nic *nic = pair->side[1].nic;
    struct windows w = make_windows(pair, OCHE_WINDOW_TYPE_2);
    struct oche_region region = {.va = PAIR_VA, .length = 1, .pd = PAIR_PD};
    struct oche_window_config config = {.pd = PAIR_PD};
    void *memory = malloc(oche_window_bytes());
    struct oche_bind bind = a_bind(w.window[0], 100);

    (void)state;
    for (uint32_t low = 0; low < 0x100; low++) {
        region.key = config.key = WINDOW_KEY + low;
        assert_false(oche_nic_add_region(nic, &region));
        assert_null(oche_window_create(nic, memory, &config));
        config.key = low; /* those of key 0, which is invalid, and of the pair's region */
        assert_null(oche_window_create(nic, memory, &config));
    }
    bind.rkey = WINDOW_KEY + 0xff;
    bind_now(pair, 0, &bind);
    region.key = WINDOW_KEY;
    assert_false(oche_nic_add_region(nic, &region));
    region.key = WINDOW_KEY - 1;
    assert_true(oche_nic_add_region(nic, &region));
    config.key = WINDOW_KEY - 0x100;
    assert_null(oche_window_create(nic, memory, &config));
    assert_false(oche_nic_remove_region(nic, bind.rkey)); /* it is no region */
    assert_true(oche_nic_remove_region(nic, WINDOW_KEY - 1));
    free(memory);
    end_windows(pair, &w);
}

/* Packets that our requesters never make. */
static void test_hostile(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        struct pair *pair = pair_open(NULL);
        struct windows w = make_windows(pair, OCHE_WINDOW_TYPE_2);
        struct oche_bind bind = a_bind(w.window[0], 100);
        struct oche_packet packet = pair_packet(pair, 0, OCHE_RC_SEND_ONLY_INV, 0, 0);

        bind_now(pair, 0, &bind);
        pair_post_recv(pair, 1, 7, 0, 2000);
        packet.imm = bind.rkey;
        packet.ext = i == 0 ? 0 : OCHE_EXT_IMM;
        if (i == 1)
            packet.opcode = OCHE_RC_SEND_LAST_INV; /* of no message */
        if (i == 2)
            packet.payload_bytes = PAIR_MTU + 1;
        pair_inject(pair, 0, &packet);
        assert_int_equal(oche_qp_state(pair->side[1].qp[0]), OCHE_QP_ERR);
        assert_int_equal(oche_nic_rejected(pair->side[1].nic, OCHE_REJECT_INVALID_REQUEST), 1);
        end_windows(pair, &w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_access),
        cmocka_unit_test(test_zero_based),
        cmocka_unit_test(test_unaligned_atomic),
        cmocka_unit_test(test_whose),
        cmocka_unit_test(test_domain),
        cmocka_unit_test(test_wrong_binds),
        cmocka_unit_test(test_bind_again),
        cmocka_unit_test(test_send_inv),
        cmocka_unit_test(test_wrong_invs),
        cmocka_unit_test(test_local_inv),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_fence),
        cmocka_unit_test(test_lifetimes),
        cmocka_unit_test(test_not_local),
        cmocka_unit_test(test_posts),
        cmocka_unit_test(test_unconnected_inv),
        cmocka_unit_test(test_creating),
        cmocka_unit_test(test_whose_keys),
        cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_cycles),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
