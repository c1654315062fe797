/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers that nobody may guess: memory keys, queue pair numbers, source ports. Each has random
 * bytes of its own from the kernel, and does not follow from the seed or from others. A number is
 * given once within a minute. Without random bytes no device opens.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "device/internal.h"
#include "tests/unit/device/pair.h"

#define KEYS 64
#define QPS  16

/* ---- a source that the test plays ---- */

struct source {
    unsigned calls, fail_at; /* fail_at: this call and later ones fail; 0: none */
    size_t bytes;
    uint8_t changed;  /* xored into … */
    unsigned in_call; /* … all bytes of this call */
};

static bool play(void *context, void *bytes, size_t count)
{
    struct source *source = context;
    struct oche_random random = oche_random_stream(source->calls, "played entropy", 0);
    uint8_t *to = bytes;

    source->calls++;
    source->bytes += count;
    errno = ENOSYS;
    for (size_t i = 0; i < count; i++)
        to[i] = (uint8_t)oche_random_u64(&random) ^
                (source->calls == source->in_call ? source->changed : 0);
    return source->fail_at == 0 || source->calls < source->fail_at;
}

static void open_with(struct end *end, struct source *source, unsigned last)
{
    end_open(end, &(struct oche_device_config){.entropy = play, .entropy_context = source}, NULL,
             last);
}

static void register_keys(struct end *end, uint32_t keys[KEYS])
{
    for (unsigned i = 0; i < KEYS; i++) {
        keys[i] = oche_device_register(end->device, end->memory, 64, OCHE_ACCESS_LOCAL_WRITE);
        assert_int_not_equal(keys[i], 0);
    }
}

static struct oche_qp *create_qp(struct end *end)
{
    const struct oche_qp_config config = {.transport = OCHE_TRANSPORT_RC,
                                          .mtu_bytes = 256,
                                          .send_depth = 4,
                                          .recv_depth = 4,
                                          .send_cq = end->cq,
                                          .recv_cq = end->cq};

    return oche_device_create_qp(end->device, &config);
}

/* ---- where they come from ---- */

/* The source's bytes go into the keys as they are: other bytes, other keys, and no others. */
static void each_key_has_bytes_of_its_own(void **state)
{
    struct source plain = {0}, other = {.changed = 0xff, .in_call = 2};
    uint32_t keys[2][KEYS];
    unsigned same = 0, inverted = 0;
    struct end a, b;

    (void)state;
    open_with(&a, &plain, 1);
    open_with(&b, &other, 2);
    register_keys(&a, keys[0]);
    register_keys(&b, keys[1]);
    for (unsigned i = 0; i < KEYS; i++) {
        same += keys[0][i] == keys[1][i];
        inverted += keys[0][i] == ~keys[1][i];
    }
    assert_int_equal(inverted, OCHE_ENTROPY_BLOCK / 8); /* one block's worth */
    assert_int_equal(same + inverted, KEYS);
    /* in blocks: not a call for each */
    assert_in_range(plain.calls, KEYS * 8 / OCHE_ENTROPY_BLOCK, KEYS * 8 / OCHE_ENTROPY_BLOCK + 2);
    end_close(&a);
    end_close(&b);
}

/* Random bytes that were given out are wiped, as they could be read later. */
static void nothing_is_kept(void **state)
{
    struct source source = {0};
    struct oche_entropy entropy;

    (void)state;
    oche_entropy_init(&entropy, play, &source);
    for (unsigned i = 1; i <= OCHE_ENTROPY_BLOCK / 8; i++) {
        const uint64_t number = oche_entropy_u64(&entropy);

        assert_int_not_equal(number, 0);
        for (size_t at = 0; at < i * sizeof(number); at++)
            assert_int_equal(entropy.block[at], 0);
    }
    assert_int_equal(source.calls, 1);
}

/* The seed decides only what is lost on purpose: known, it says nothing about a device. */
static void the_seed_says_nothing(void **state)
{
    const struct oche_device_config config = {.seed = 1};
    uint32_t keys[2][KEYS], numbers[2][QPS];
    struct end ends[2];

    (void)state;
    for (unsigned e = 0; e < 2; e++) {
        end_open(&ends[e], &config, NULL, 1 + e);
        register_keys(&ends[e], keys[e]);
        for (unsigned i = 0; i < QPS; i++)
            numbers[e][i] = oche_qp_number(create_qp(&ends[e]));
    }
    assert_memory_not_equal(keys[0], keys[1], sizeof(keys[0]));
    assert_memory_not_equal(numbers[0], numbers[1], sizeof(numbers[0]));
    assert_memory_not_equal(ends[0].device->source_ports.ports, ends[1].device->source_ports.ports,
                            4 * sizeof(uint16_t));
    end_close(&ends[0]);
    end_close(&ends[1]);
}

/*
 * Undoes one step of oche_mix64: x ^ (x >> bits) is undone by repeating it, a product by the
 * multiplier's inverse.
 */
static uint64_t unmix64(uint64_t x)
{
    x ^= x >> 31 ^ x >> 62;
    x *= UINT64_C(0x319642b2d24d8ec3);
    x ^= x >> 27 ^ x >> 54;
    x *= UINT64_C(0x96de1b173f119089);
    return x ^ x >> 30 ^ x >> 60;
}

/* True if a stream of core/random.h, of which keys are the low halves, fits three in a row. */
static bool is_stream(const uint32_t keys[3], uint64_t from, uint64_t to)
{
    const uint64_t step = UINT64_C(0x9e3779b97f4a7c15);

    for (uint64_t high = from; high < to; high++) {
        const uint64_t state = unmix64(high << 32 | keys[0]);

        if ((uint32_t)oche_mix64(state + step) == keys[1] &&
            (uint32_t)oche_mix64(state + 2 * step) == keys[2])
            return true;
    }
    return false;
}

/*
 * Keys were once the low halves of a generator's numbers, and three of them gave its state. First
 * that the search finds such a stream; then that a device's keys are none. The whole search takes
 * half a minute, the short form looks at a 64th of it.
 */
static void no_state_to_find(void **state)
{
    const bool whole = getenv("OCHE_LONG") != NULL && strcmp(getenv("OCHE_LONG"), "yes") == 0;
    struct oche_random random = oche_random_stream(1, "device memory keys", 0);
    const uint64_t first = oche_random_u64(&random), part = UINT64_C(1) << 26;
    uint32_t keys[KEYS] = {(uint32_t)first};
    struct end end;

    (void)state;
    for (unsigned i = 1; i < 3; i++)
        keys[i] = (uint32_t)oche_random_u64(&random);
    assert_true(is_stream(keys, first >> 32, (first >> 32) + 1));
    end_open(&end, &(struct oche_device_config){.seed = 1}, NULL, 1);
    register_keys(&end, keys);
    assert_false(is_stream(keys, 0, whole ? UINT64_C(1) << 32 : part));
    end_close(&end);
}

static void no_entropy_no_device(void **state)
{
    struct oche_error error;
    char address[32];

    (void)state;
    for (unsigned share = 0; share < 2; share++) {
        struct source source = {.fail_at = 1};
        const struct oche_device_config config = {.address = loopback_address(address, 1),
                                                  .share = share == 1,
                                                  .entropy = play,
                                                  .entropy_context = &source};

        assert_null(oche_device_open(&config, &error));
        assert_int_equal(source.calls, 1);
        assert_non_null(strstr(error.text, "the kernel gives no random numbers (getrandom): "
                                           "Function not implemented"));
    }
}

/* Entropy fails later: no further keys and queue pairs are made, and existing ones work. */
static void entropy_ends(void **state)
{
    struct source source = {.fail_at = 2};
    unsigned keys = 0;
    struct end end;

    (void)state;
    open_with(&end, &source, 1);
    while (oche_device_register(end.device, end.memory, 64, OCHE_ACCESS_LOCAL_WRITE) != 0)
        keys++;
    assert_in_range(keys, 1, OCHE_ENTROPY_BLOCK / 8);
    assert_null(create_qp(&end));
    assert_int_equal(source.calls, 2);
    oche_device_progress(end.device);
    end_close(&end);
}

/* ---- queue pair numbers ---- */

static int compare(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* All over the process's part, and none twice though each is destroyed at once. */
static void numbers_are_random(void **state)
{
    enum { COUNT = 3000 };
    static uint32_t numbers[COUNT];
    unsigned neighbours = 0, halves[2] = {0};
    struct end end;

    (void)state;
    end_open(&end, &(struct oche_device_config){.share = true}, NULL, 1);
    for (unsigned i = 0; i < COUNT; i++) {
        struct oche_qp *qp = create_qp(&end);

        assert_non_null(qp);
        numbers[i] = oche_qp_number(qp);
        assert_int_equal(numbers[i] >> OCHE_SLOT_SHIFT, end.device->share.slot);
        halves[numbers[i] >> (OCHE_SLOT_SHIFT - 1) & 1]++;
        neighbours += i > 0 && numbers[i] - numbers[i - 1] == 1;
        oche_device_destroy_qp(end.device, qp);
    }
    assert_in_range(halves[0], COUNT / 3, COUNT * 2 / 3);
    assert_in_range(neighbours, 0, 3);
    qsort(numbers, COUNT, sizeof(numbers[0]), compare);
    for (unsigned i = 1; i < COUNT; i++)
        assert_int_not_equal(numbers[i], numbers[i - 1]);
    end_close(&end);
}

/* For a minute, by the clock that is given; however many rest. */
static void numbers_rest(void **state)
{
    struct source source = {0};
    struct oche_qp_numbers numbers;
    struct oche_entropy entropy;
    oche_time now = OCHE_SEC;
    bool seen[1001] = {false};

    (void)state;
    oche_entropy_init(&entropy, play, &source);
    assert_true(oche_qp_numbers_create(&numbers, 1, 1000));
    for (unsigned i = 0; i < 1000; i++, now += OCHE_MS) { /* all rest in the end */
        const uint32_t number = oche_qp_numbers_take(&numbers, &entropy, now);

        assert_in_range(number, 1, 1000);
        assert_false(seen[number]);
        seen[number] = true;
        oche_qp_numbers_rest(&numbers, number, true, now);
    }
    assert_int_equal(oche_qp_numbers_take(&numbers, &entropy, 61 * OCHE_SEC - 1), 0);
    for (unsigned i = 0; i < 10; i++) { /* ten have rested for long enough */
        const uint32_t number =
            oche_qp_numbers_take(&numbers, &entropy, 61 * OCHE_SEC + 9 * OCHE_MS);

        assert_true(seen[number]);
        seen[number] = false;
    }
    assert_int_equal(oche_qp_numbers_take(&numbers, &entropy, 61 * OCHE_SEC + 9 * OCHE_MS), 0);
    oche_qp_numbers_destroy(&numbers);
}

/*
 * Numbers that never had a peer do not run out, and rest as long as there are others. Numbers that
 * had one rest for their minute.
 */
static void unmet_numbers(void **state)
{
    enum { COUNT = 1000, MET = 700 };
    struct source source = {0};
    struct oche_qp_numbers numbers;
    struct oche_entropy entropy;
    unsigned last[COUNT + 1] = {0};
    bool rests[COUNT + 1] = {false};

    (void)state;
    oche_entropy_init(&entropy, play, &source);
    assert_true(oche_qp_numbers_create(&numbers, 1, COUNT));
    for (unsigned i = 0; i < MET; i++) {
        const uint32_t number = oche_qp_numbers_take(&numbers, &entropy, 0);

        rests[number] = true;
        oche_qp_numbers_rest(&numbers, number, true, 0);
    }
    for (unsigned i = 1; i <= 10 * COUNT; i++) {
        const uint32_t number = oche_qp_numbers_take(&numbers, &entropy, OCHE_SEC);

        assert_in_range(number, 1, COUNT);
        assert_false(rests[number]);
        /* 300 are left; an eighth of all numbers is drawn from */
        assert_true(last[number] == 0 || i - last[number] >= COUNT - MET - COUNT / 8 - 1);
        last[number] = i;
        oche_qp_numbers_rest(&numbers, number, false, OCHE_SEC);
    }
    oche_qp_numbers_destroy(&numbers);
}

/* A number has had a peer if a packet was sent or received. */
static void who_has_met(void **state)
{
    struct oche_send_work work;
    struct pair pair;

    (void)state;
    pair_open(&pair, &(struct oche_device_config){0}, OCHE_TRANSPORT_RC);
    for (unsigned end = 0; end < 2; end++) {
        struct oche_device *device = end == 0 ? pair.a.device : pair.b.device;
        struct oche_qp_numbers *numbers = &device->numbers;

        assert_int_equal(numbers->unmet.tail, 0);
        oche_device_destroy_qp(device, end == 0 ? pair.a.qp : pair.b.qp);
        assert_int_equal(numbers->unmet.tail, 1);
    }
    ends_connect(&pair.a, &pair.b, OCHE_TRANSPORT_RC, 1024);
    work = work_between(&pair.a, &pair.b, OCHE_WORK_WRITE, 0, 100);
    assert_int_equal(oche_device_post_send(pair.a.device, pair.a.qp, &work), 0);
    assert_int_equal(pump(&pair, &pair.a).status, OCHE_STATUS_SUCCESS);
    oche_qp_fail(pair.a.qp, 0);
    oche_qp_reset(pair.a.qp); /* which does not make it forget */
    oche_device_destroy_qp(pair.a.device, pair.a.qp);
    oche_device_destroy_qp(pair.b.device, pair.b.qp);
    assert_int_equal(pair.a.device->numbers.met.tail, 1);
    assert_int_equal(pair.b.device->numbers.met.tail, 1);
    end_close(&pair.a);
    end_close(&pair.b);
}

/* A number that the program names itself stays its own, even if it rests; an unused one is free. */
static void claimed_numbers(void **state)
{
    struct source source = {0};
    struct oche_qp_numbers numbers;
    struct oche_entropy entropy;

    (void)state;
    oche_entropy_init(&entropy, play, &source);
    assert_true(oche_qp_numbers_create(&numbers, 17, 18));
    oche_qp_numbers_rest(&numbers, 17, true, 0);
    oche_qp_numbers_claim(&numbers, 17);
    oche_qp_numbers_claim(&numbers, 5); /* outside */
    assert_int_equal(oche_qp_numbers_take(&numbers, &entropy, 100 * OCHE_SEC), 18);
    assert_int_equal(oche_qp_numbers_take(&numbers, &entropy, 100 * OCHE_SEC), 0);
    oche_qp_numbers_undo(&numbers, 18);
    assert_int_equal(oche_qp_numbers_take(&numbers, &entropy, 100 * OCHE_SEC), 18);
    oche_qp_numbers_rest(&numbers, 18, false, 100 * OCHE_SEC);
    oche_qp_numbers_claim(&numbers, 18);
    assert_int_equal(oche_qp_numbers_take(&numbers, &entropy, 200 * OCHE_SEC), 0);
    oche_qp_numbers_destroy(&numbers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_key_has_bytes_of_its_own),
        cmocka_unit_test(nothing_is_kept),
        cmocka_unit_test(the_seed_says_nothing),
        cmocka_unit_test(no_state_to_find),
        cmocka_unit_test(no_entropy_no_device),
        cmocka_unit_test(entropy_ends),
        cmocka_unit_test(numbers_are_random),
        cmocka_unit_test(numbers_rest),
        cmocka_unit_test(unmet_numbers),
        cmocka_unit_test(who_has_met),
        cmocka_unit_test(claimed_numbers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
