/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Look-ahead beside an AUSS. By hand: both orders of arrival, two groups with common senders,
 * expiry, the next incast of the same number, and rejected lists. At random: against a model that
 * keeps sets by address and recounts after each step.
 */
#include "tests/support/test.h"

#include <stdlib.h>
#include <string.h>

#include "core/cc/dart/look_ahead.h"
#include "core/random.h"
#include "core/wire/bytes.h"

#define HOSTS   12
#define PLACES  16
#define TIMEOUT (100 * OCHE_US)

struct rig {
    struct oche_auss auss;
    struct oche_look_ahead look;
    void *auss_memory, *look_memory;
    struct oche_auss_member own[HOSTS]; /* of their queue pairs */
    uint8_t list[2 * OCHE_GROUP_MOST];
};

static uint32_t weight(const void *params, uint32_t address)
{
    (void)params;
    (void)address;
    return 1;
}

static const struct oche_look_facts facts = {
    .own = HOSTS - 1, .shared_addresses = HOSTS, .weight = weight};

static void rig_open(struct rig *rig)
{
    rig->auss_memory = malloc(oche_auss_bytes(HOSTS + PLACES));
    rig->look_memory = malloc(oche_look_ahead_bytes(PLACES));
    assert_non_null(rig->auss_memory);
    assert_non_null(rig->look_memory);
    oche_auss_init(&rig->auss, rig->auss_memory, HOSTS + PLACES);
    oche_look_ahead_init(&rig->look, rig->look_memory, PLACES, TIMEOUT);
    for (uint32_t i = 0; i < HOSTS; i++)
        oche_auss_member_init(&rig->own[i], OCHE_NEVER);
}

static void rig_close(struct rig *rig)
{
    free(rig->auss_memory);
    free(rig->look_memory);
}

static bool hear(struct rig *rig, uint32_t id, uint32_t members, uint32_t sender, bool begin,
                 oche_time now)
{
    struct oche_group group = {.id = id, .members = rig->list};

    for (uint32_t i = 0; i < 32; i++)
        if (members >> i & 1)
            oche_put16(rig->list + 2 * (size_t)group.count++, (uint16_t)i);
    return oche_look_ahead_take(&rig->look, &rig->auss, &group, sender, begin, &facts, now);
}

static bool take(struct rig *rig, uint32_t id, uint32_t members, uint32_t sender, oche_time now)
{
    return hear(rig, id, members, sender, true, now);
}

/* A message of the sender begins, and carries the group's number. */
static void begins(struct rig *rig, uint32_t id, uint32_t members, uint32_t sender, oche_time now)
{
    oche_auss_begin(&rig->auss, &rig->own[sender], sender, 1, now);
    take(rig, id, members, sender, now);
}

static void ends(struct rig *rig, uint32_t sender)
{
    oche_auss_end(&rig->auss, &rig->own[sender]);
}

/*
 * One message makes all senders count. A sender's own message then adds nothing, and its end
 * removes the sender.
 */
static void a_group_counts_at_once(void **state)
{
    struct rig rig;

    (void)state;
    rig_open(&rig);
    begins(&rig, 1, 0x1e, 2, 0);
    assert_int_equal(rig.auss.count, 4);
    begins(&rig, 1, 0x1e, 4, 1);
    begins(&rig, 1, 0x1e, 1, 2);
    assert_int_equal(rig.auss.count, 4);
    ends(&rig, 2);
    assert_int_equal(rig.auss.count, 3);
    begins(&rig, 1, 0x1e, 3, 3);
    assert_int_equal(rig.look.free_entries, PLACES); /* all have begun: forgotten */
    ends(&rig, 1);
    ends(&rig, 3);
    ends(&rig, 4);
    assert_int_equal(rig.auss.count, 0);
    assert_int_equal(rig.look.seen[OCHE_LOOK_INSERTED], 1);
    assert_int_equal(rig.look.seen[OCHE_LOOK_BEGUN], 3);
    rig_close(&rig);
}

/* A sender that ended before the others' lists came is not added again by them. */
static void who_was_first_is_not_brought_back(void **state)
{
    struct rig rig;

    (void)state;
    rig_open(&rig);
    begins(&rig, 1, 0x7, 0, 0);
    ends(&rig, 0);
    assert_int_equal(rig.auss.count, 2);
    begins(&rig, 1, 0x7, 1, 1);
    assert_int_equal(rig.auss.count, 2);
    rig_close(&rig);
}

/* A sender that another message made active counts once, and still counts after the group. */
static void a_message_before_the_list(void **state)
{
    struct rig rig;

    (void)state;
    rig_open(&rig);
    oche_auss_begin(&rig.auss, &rig.own[3], 3, 1, 0);
    begins(&rig, 1, 0xa, 1, 1);
    assert_int_equal(rig.auss.count, 2);
    begins(&rig, 1, 0xa, 3, 2); /* behind the other one, on the same queue pair */
    ends(&rig, 3);
    assert_int_equal(rig.auss.count, 2);
    ends(&rig, 3);
    assert_int_equal(rig.auss.count, 1);
    rig_close(&rig);
}

/*
 * Two incasts with common senders: they count once, until both groups have had them (Dart sec
 * III-D).
 */
static void groups_overlap(void **state)
{
    struct rig rig;

    (void)state;
    rig_open(&rig);
    begins(&rig, 1, 0x0f, 0, 0);
    begins(&rig, 2, 0x3c, 4, 1); /* 2 and 3 are in both */
    assert_int_equal(rig.auss.count, 6);
    begins(&rig, 1, 0x0f, 2, 2);
    ends(&rig, 2);
    assert_int_equal(rig.auss.count, 6); /* group 2 still waits for it */
    begins(&rig, 2, 0x3c, 2, 3);
    ends(&rig, 2);
    assert_int_equal(rig.auss.count, 5);
    rig_close(&rig);
}

/* The timeout passes without packets. A late message then adds only its own sender. */
static void who_does_not_come_is_forgotten(void **state)
{
    struct rig rig;

    (void)state;
    rig_open(&rig);
    begins(&rig, 1, 0xf, 0, 5);
    assert_true(oche_auss_next(&rig.auss) == 5 + TIMEOUT);
    assert_false(oche_auss_expire(&rig.auss, 4 + TIMEOUT));
    assert_true(oche_auss_expire(&rig.auss, 5 + TIMEOUT));
    assert_int_equal(rig.auss.count, 1);
    assert_int_equal(rig.auss.ahead_timeouts, 3);
    assert_int_equal(rig.auss.timeouts, 0);
    begins(&rig, 1, 0xf, 3, 2 * TIMEOUT);
    assert_int_equal(rig.auss.count, 2);
    rig_close(&rig);
}

/* The same number again: a sender that had begun now begins the next incast. */
static void a_number_comes_again(void **state)
{
    struct rig rig;

    (void)state;
    rig_open(&rig);
    begins(&rig, 1, 0x7, 0, 0);
    begins(&rig, 1, 0x7, 1, 1); /* 2 never sends */
    ends(&rig, 0);
    ends(&rig, 1);
    assert_true(oche_auss_expire(&rig.auss, 1 + TIMEOUT));
    assert_int_equal(rig.auss.count, 0);
    begins(&rig, 1, 0x7, 1, 2 * TIMEOUT);
    assert_int_equal(rig.auss.count, 3);
    assert_int_equal(rig.look.seen[OCHE_LOOK_INSERTED], 2);
    rig_close(&rig);
}

/*
 * The sender's first packet waits behind a gap. The sender counts with the others, and then by
 * itself.
 */
static void a_kept_packet_announces(void **state)
{
    struct rig rig;

    (void)state;
    rig_open(&rig);
    assert_true(hear(&rig, 1, 0x7, 0, false, 0));
    assert_int_equal(rig.auss.count, 3);
    assert_false(hear(&rig, 1, 0x7, 1, false, 1)); /* so does another one's */
    assert_int_equal(rig.look.seen[OCHE_LOOK_AWAITED], 1);
    assert_int_equal(rig.auss.count, 3);
    begins(&rig, 1, 0, 0, 2); /* the gap is closed: the message began without its list */
    begins(&rig, 1, 0, 1, 2);
    assert_int_equal(rig.auss.count, 3);
    ends(&rig, 0);
    ends(&rig, 1);
    assert_int_equal(rig.auss.count, 1);
    begins(&rig, 1, 0x7, 2, 3);
    ends(&rig, 2);
    assert_int_equal(rig.auss.count, 0);
    assert_int_equal(rig.look.free_entries, PLACES);
    begins(&rig, 1, 0, 2, 4); /* the group is forgotten */
    assert_int_equal(rig.look.seen[OCHE_LOOK_GONE], 1);
    assert_int_equal(rig.auss.count, 1);
    rig_close(&rig);
}

/* The gap closes late, or never. No sender is waited for longer than the timeout. */
static void a_kept_packet_waits_in_vain(void **state)
{
    struct rig rig;

    (void)state;
    rig_open(&rig);
    assert_true(hear(&rig, 1, 0x7, 0, false, 0));
    assert_false(oche_auss_expire(&rig.auss, TIMEOUT - 1));
    assert_true(oche_auss_expire(&rig.auss, TIMEOUT));
    assert_int_equal(rig.auss.count, 0);
    begins(&rig, 1, 0, 0, 2 * TIMEOUT);
    assert_int_equal(rig.auss.count, 1); /* and brings nobody back */
    assert_int_equal(rig.look.seen[OCHE_LOOK_BEGUN], 1);
    assert_true(hear(&rig, 1, 0x7, 0, false, 3 * TIMEOUT)); /* the next incast */
    assert_int_equal(rig.auss.count, 3);
    rig_close(&rig);
}

static void nonsense_is_counted_and_void(void **state)
{
    struct rig rig;
    struct oche_group group = {.id = 9, .count = 3, .members = rig.list};
    const uint8_t twice[] = {0, 1, 0, 2, 0, 2}, falling[] = {0, 1, 0, 3, 0, 2};

    (void)state;
    rig_open(&rig);
    memcpy(rig.list, twice, 6);
    assert_false(oche_look_ahead_take(&rig.look, &rig.auss, &group, 1, true, &facts, 0));
    memcpy(rig.list, falling, 6);
    assert_false(oche_look_ahead_take(&rig.look, &rig.auss, &group, 1, true, &facts, 0));
    group.count = 0;
    assert_false(oche_look_ahead_take(&rig.look, &rig.auss, &group, 1, true, &facts, 0));
    assert_false(take(&rig, 1, 0x6, 4, 0));                    /* without its sender */
    assert_false(take(&rig, 1, 0x6 | 1 << (HOSTS - 1), 1, 0)); /* with ourselves */
    assert_int_equal(rig.look.seen[OCHE_LOOK_GONE], 1);
    assert_int_equal(rig.look.seen[OCHE_LOOK_WRONG], 4);
    assert_false(take(&rig, 1, 0x6 | 1 << HOSTS, 1, 0)); /* nobody's address */
    assert_int_equal(rig.look.seen[OCHE_LOOK_UNKNOWN], 1);
    assert_false(take(&rig, 1, 0x2, 1, 0)); /* an incast of one */
    assert_int_equal(rig.look.seen[OCHE_LOOK_ALONE], 1);
    assert_int_equal(rig.auss.count, 0);
    assert_true(take(&rig, 1, 0x6, 1, 0));
    assert_false(take(&rig, 1, 0x18, 3, 0)); /* another list of that number */
    assert_int_equal(rig.look.seen[OCHE_LOOK_STRANGER], 1);
    assert_int_equal(rig.auss.count, 1);
    assert_int_equal(rig.look.free_entries, PLACES - 2);
    rig_close(&rig);
}

/* A flood of groups takes only the allowed places, and only while it lasts. */
static void a_flood_is_bounded(void **state)
{
    struct rig rig;

    (void)state;
    rig_open(&rig);
    for (uint32_t id = 1; id <= 1000; id++)
        take(&rig, id, 0xff, id % 8, id);
    assert_int_equal(rig.look.seen[OCHE_LOOK_INSERTED], 2);
    assert_int_equal(rig.look.seen[OCHE_LOOK_FULL], 998);
    assert_int_equal(rig.auss.count, 8);
    assert_true(oche_auss_expire(&rig.auss, TIMEOUT + 2));
    assert_int_equal(rig.auss.count, 0);
    take(&rig, 5000, 0x7, 0, TIMEOUT + 2); /* places are freed when they are needed */
    assert_int_equal(rig.auss.count, 2);
    rig_close(&rig);
}

/* ---- at random ---- */

#define GROUPS 6

struct model {
    bool known[GROUPS];
    uint32_t members[GROUPS], begun[GROUPS];
    oche_time since[GROUPS];
    uint32_t messages[HOSTS];
};

static uint32_t model_set(const struct model *m, oche_time now)
{
    uint32_t set = 0;

    for (uint32_t g = 0; g < GROUPS; g++)
        if (m->known[g] && m->since[g] + TIMEOUT > now)
            set |= m->members[g] & ~m->begun[g];
    for (uint32_t i = 0; i < HOSTS; i++)
        set |= (uint32_t)(m->messages[i] > 0) << i;
    return set;
}

static uint32_t used(const struct model *m)
{
    uint32_t count = 0;

    for (uint32_t g = 0; g < GROUPS; g++)
        count += m->known[g] ? (uint32_t)__builtin_popcount(m->members[g]) : 0;
    return count;
}

/* members 0: the turn of a kept packet has come. begin: its message has begun. */
static void model_take(struct model *m, uint32_t g, uint32_t members, uint32_t sender, bool begin,
                       oche_time now)
{
    if (m->known[g] && !(m->members[g] >> sender & 1))
        return;
    if (m->known[g] && !(m->begun[g] >> sender & 1)) {
        if (begin)
            m->begun[g] |= 1u << sender;
        m->known[g] = m->begun[g] != m->members[g];
        return;
    }
    if (members == 0)
        return;
    m->known[g] = false;
    uint32_t count = (uint32_t)__builtin_popcount(members);
    if (count < 2)
        return;
    while (used(m) + count > PLACES) {
        uint32_t oldest = GROUPS;
        for (uint32_t i = 0; i < GROUPS; i++)
            if (m->known[i] && (oldest == GROUPS || m->since[i] < m->since[oldest]))
                oldest = i;
        if (m->since[oldest] + TIMEOUT > now)
            return;
        m->known[oldest] = false;
    }
    m->known[g] = true;
    m->members[g] = members;
    m->begun[g] = (uint32_t)begin << sender;
    m->since[g] = now;
}

static void step(struct rig *rig, struct model *m, struct oche_random *random, oche_time now)
{
    uint32_t host = (uint32_t)oche_random_below(random, HOSTS - 1);
    uint32_t g = (uint32_t)oche_random_below(random, GROUPS);

    oche_auss_expire(&rig->auss, now);
    if (oche_random_below(random, 3) == 0) {
        if (m->messages[host] > 0) {
            m->messages[host]--;
            ends(rig, host);
        }
        return;
    }
    uint32_t members = (uint32_t)oche_random_below(random, 1u << (HOSTS - 1)) | 1u << host;
    if (m->known[g] && oche_random_below(random, 4) > 0)
        members = m->members[g];
    bool begin = oche_random_below(random, 4) > 0;
    if (begin) {
        members = oche_random_below(random, 4) > 0 ? members : 0;
        m->messages[host]++;
        oche_auss_begin(&rig->auss, &rig->own[host], host, 1, now);
    }
    hear(rig, g, members, host, begin, now);
    model_take(m, g, members, host, begin, now);
}

static void at_random(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 1000; seed++) {
        struct oche_random random = oche_random_stream(seed, "look-ahead", 0);
        struct model model = {0};
        struct rig rig;
        oche_time now = 0;

        rig_open(&rig);
        for (uint32_t i = 0; i < 200; i++) {
            now += 1 + oche_random_below(&random, i % 50 == 0 ? 2 * TIMEOUT : TIMEOUT / 8);
            step(&rig, &model, &random, now);
            uint32_t set = model_set(&model, now);
            if (rig.auss.count != (uint32_t)__builtin_popcount(set))
                fail_msg("seed %lu step %u: %u senders, not 0x%x", (unsigned long)seed, i,
                         rig.auss.count, set);
            assert_int_equal(rig.look.free_entries, PLACES - used(&model));
        }
        rig_close(&rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_group_counts_at_once),
        cmocka_unit_test(who_was_first_is_not_brought_back),
        cmocka_unit_test(a_message_before_the_list),
        cmocka_unit_test(groups_overlap),
        cmocka_unit_test(who_does_not_come_is_forgotten),
        cmocka_unit_test(a_number_comes_again),
        cmocka_unit_test(a_kept_packet_announces),
        cmocka_unit_test(a_kept_packet_waits_in_vain),
        cmocka_unit_test(nonsense_is_counted_and_void),
        cmocka_unit_test(a_flood_is_bounded),
        cmocka_unit_test(at_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
