/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The deflected flow table. Up to its capacity it behaves like a memory of any size that compares
 * whole keys. A full table rejects new entries and overwrites none. END frees an entry, at once or
 * after `hold`. Unused entries age.
 */
#include "tests/support/test.h"

#include <stdlib.h>

#include "core/random.h"
#include "fabric/deflected_flows.h"

#define MOST 32

static struct oche_deflected_flows *make(uint32_t capacity, oche_time ageing, oche_time hold)
{
    struct oche_deflected_flows *table = calloc(1, oche_deflected_bytes(capacity));

    assert_non_null(table);
    oche_deflected_init(table, capacity, ageing, hold);
    return table;
}

/* Its entry, used by that. */
static struct oche_deflected_flow *find(struct oche_deflected_flows *table,
                                        const struct oche_deflected_key *of, oche_time now)
{
    struct oche_deflected_flow *entry = oche_deflected_look(table, NULL, of, now);

    if (entry != NULL)
        oche_deflected_use(table, NULL, entry, now);
    return entry;
}

static struct oche_deflected_key key(uint32_t dst, uint32_t qpn, uint8_t tokens)
{
    return (struct oche_deflected_key){.dst = dst, .dest_qpn = qpn, .tokens = tokens};
}

static struct oche_deflected_flow *add(struct oche_deflected_flows *table,
                                       struct oche_deflected_key of, uint16_t port, oche_time now)
{
    struct oche_deflected_flow flow = {.key = of, .port = port};

    return oche_deflected_add(table, NULL, &flow, now);
}

static void full(void **state)
{
    struct oche_deflected_flows *table = make(8, OCHE_NEVER, 0);
    struct oche_deflected_key other = key(8, 1, 4);

    (void)state;
    for (uint16_t i = 0; i < 8; i++)
        assert_non_null(add(table, key(i, 1, 4), i, 0));
    assert_null(add(table, other, 99, 1));
    assert_int_equal(table->peak, 8);
    for (uint16_t i = 0; i < 8; i++) {
        struct oche_deflected_key of = key(i, 1, 4);

        assert_int_equal(find(table, &of, 2)->port, i);
    }
    assert_null(find(table, &other, 3));
    /* Room again after one has ended. */
    struct oche_deflected_key third = key(3, 1, 4);

    oche_deflected_end(table, find(table, &third, 4));
    assert_null(find(table, &third, 5));
    assert_int_equal(add(table, other, 99, 6)->port, 99);
    assert_null(add(table, third, 1, 7));
    assert_int_equal(table->count, 8);
    assert_int_equal(table->aged, 0);
    free(table);
}

static void whole_key(void **state)
{
    struct oche_deflected_flows *table = make(2, OCHE_NEVER, 0);
    struct oche_deflected_key of = key(5, 6, 3),
                              others[] = {key(6, 6, 3), key(5, 7, 3), key(5, 6, 2), key(6, 5, 3)};

    (void)state;
    add(table, of, 1, 0);
    for (unsigned i = 0; i < 4; i++)
        assert_null(find(table, &others[i], 0));
    assert_non_null(find(table, &of, 0));
    free(table);
}

static void ageing(void **state)
{
    struct oche_deflected_flows *table = make(2, 100, 0);
    struct oche_deflected_key a = key(1, 1, 4), b = key(2, 1, 4), c = key(3, 1, 4);

    (void)state;
    add(table, a, 1, 0);
    add(table, b, 2, 10);
    assert_non_null(find(table, &a, 99)); /* used: young again */
    assert_null(add(table, c, 3, 109));
    assert_int_equal(table->aged, 0);
    assert_int_equal(add(table, c, 3, 110)->port, 3); /* b's place */
    assert_int_equal(table->aged, 1);
    assert_null(find(table, &b, 110));
    /* An entry found too late is dropped, even if the table has room. */
    assert_null(find(table, &a, 199));
    assert_int_equal(table->aged, 2);
    assert_int_equal(table->count, 1);
    oche_deflected_age(table, NULL, 210);
    assert_int_equal(table->count, 0);
    assert_int_equal(table->aged, 3);
    free(table);
}

/* With `hold` the entry outlives END, and a following message takes it over. */
static void held(void **state)
{
    struct oche_deflected_flows *table = make(2, 1000, 60);
    struct oche_deflected_key a = key(1, 1, 4);

    (void)state;
    oche_deflected_end(table, add(table, a, 1, 0));
    assert_int_equal(find(table, &a, 59)->port, 1); /* START of the next */
    assert_int_equal(find(table, &a, 500)->port, 1);
    oche_deflected_end(table, find(table, &a, 600));
    assert_null(find(table, &a, 660));
    assert_int_equal(table->aged, 0); /* it had ended */
    free(table);
}

/* Against a list that compares whole keys. */
static void like_a_list(void **state)
{
    struct oche_random random = oche_random_stream(1, "deflected flows", 0);
    struct {
        struct oche_deflected_key key;
        uint16_t port;
    } list[MOST + 1]; /* one that the table refuses */

    (void)state;
    for (unsigned capacity = 1; capacity <= MOST; capacity++) {
        struct oche_deflected_flows *table = make(capacity, OCHE_NEVER, 0);
        uint32_t count = 0;

        for (unsigned step = 0; step < 2000; step++) {
            struct oche_deflected_key of = key((uint32_t)oche_random_below(&random, 4),
                                               (uint32_t)oche_random_below(&random, 4),
                                               (uint8_t)oche_random_below(&random, 4));
            struct oche_deflected_flow *found = find(table, &of, step);
            uint32_t at = 0;

            while (at < count && (list[at].key.dst != of.dst || list[at].key.tokens != of.tokens ||
                                  list[at].key.dest_qpn != of.dest_qpn))
                at++;
            assert_int_equal(found != NULL, at < count);
            if (found == NULL) {
                found = add(table, of, (uint16_t)step, step);
                assert_int_equal(found != NULL, count < capacity);
                list[count].key = of;
                list[count].port = (uint16_t)step;
                count += found != NULL;
            } else {
                assert_int_equal(found->port, list[at].port);
                if (oche_random_below(&random, 2) == 0) {
                    oche_deflected_end(table, found);
                    list[at] = list[--count];
                }
            }
            assert_int_equal(table->count, count);
        }
        free(table);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(full), cmocka_unit_test(whole_key),
                                       cmocka_unit_test(ageing), cmocka_unit_test(held),
                                       cmocka_unit_test(like_a_list)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
