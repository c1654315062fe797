/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attributes of state changes. For each change, a working program's attributes, written out.
 * Without one of them, or with a wrong additional one, the change is rejected.
 */
#include "tests/support/test.h"

#include "device/verbs/internal.h"

#define ALL_BITS 26

struct change {
    enum ibv_qp_type type;
    enum ibv_qp_state from, to;
    int needed, allowed;
};

static const struct change changes[] = {
    {IBV_QPT_RC, IBV_QPS_RESET, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
     0},
    {IBV_QPT_UC, IBV_QPS_RESET, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
     0},
    {IBV_QPT_UD, IBV_QPS_RESET, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY, 0},
    {IBV_QPT_RC, IBV_QPS_INIT, IBV_QPS_RTR,
     IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
         IBV_QP_MIN_RNR_TIMER,
     IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX},
    {IBV_QPT_UC, IBV_QPS_INIT, IBV_QPS_RTR,
     IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN,
     IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX},
    {IBV_QPT_UD, IBV_QPS_INIT, IBV_QPS_RTR, 0, IBV_QP_PKEY_INDEX | IBV_QP_QKEY},
    {IBV_QPT_RC, IBV_QPS_RTR, IBV_QPS_RTS,
     IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC,
     IBV_QP_CUR_STATE | IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER |
         IBV_QP_PATH_MIG_STATE},
    {IBV_QPT_UC, IBV_QPS_RTR, IBV_QPS_RTS, IBV_QP_SQ_PSN,
     IBV_QP_CUR_STATE | IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PATH_MIG_STATE},
    {IBV_QPT_UD, IBV_QPS_RTR, IBV_QPS_RTS, IBV_QP_SQ_PSN, IBV_QP_CUR_STATE | IBV_QP_QKEY},
    {IBV_QPT_RC, IBV_QPS_RTS, IBV_QPS_RTS, 0,
     IBV_QP_CUR_STATE | IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER |
         IBV_QP_PATH_MIG_STATE},
    {IBV_QPT_RC, IBV_QPS_RTS, IBV_QPS_SQD, 0, IBV_QP_EN_SQD_ASYNC_NOTIFY},
    {IBV_QPT_RC, IBV_QPS_SQD, IBV_QPS_RTS, 0,
     IBV_QP_CUR_STATE | IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER |
         IBV_QP_PATH_MIG_STATE},
    {IBV_QPT_UC, IBV_QPS_SQE, IBV_QPS_RTS, 0, IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS},
    {IBV_QPT_UD, IBV_QPS_SQE, IBV_QPS_RTS, 0, IBV_QP_CUR_STATE | IBV_QP_QKEY},
};

static void test_attributes(void **state)
{
    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(changes); i++) {
        const struct change *c = &changes[i];
        const int needed = c->needed | IBV_QP_STATE;

        assert_true(ov_transition_ok(c->type, c->from, c->to, needed));
        assert_true(ov_transition_ok(c->type, c->from, c->to, needed | c->allowed));
        for (int bit = 1; bit < ALL_BITS; bit++) {
            const int one = 1 << bit;
            const bool ok = ov_transition_ok(c->type, c->from, c->to, needed ^ one);

            assert_int_equal(ok, (c->allowed & one) != 0);
        }
    }
}

/*
 * To RESET and ERR from every state, without attributes. No other change but those above and INIT.
 */
static void test_states(void **state)
{
    static const enum ibv_qp_type types[] = {IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD};

    (void)state;
    for (size_t t = 0; t < 3; t++) {
        for (enum ibv_qp_state from = IBV_QPS_RESET; from <= IBV_QPS_ERR; from++) {
            assert_true(ov_transition_ok(types[t], from, IBV_QPS_RESET, IBV_QP_STATE));
            assert_true(ov_transition_ok(types[t], from, IBV_QPS_ERR, IBV_QP_STATE));
            assert_false(ov_transition_ok(types[t], from, IBV_QPS_ERR, IBV_QP_STATE | IBV_QP_PORT));
        }
        for (int mask = 0; mask < 1 << 20; mask += 37) { /* whatever is given */
            assert_false(ov_transition_ok(types[t], IBV_QPS_RESET, IBV_QPS_RTR, mask));
            assert_false(ov_transition_ok(types[t], IBV_QPS_RESET, IBV_QPS_RTS, mask));
            assert_false(ov_transition_ok(types[t], IBV_QPS_INIT, IBV_QPS_RTS, mask));
            assert_false(ov_transition_ok(types[t], IBV_QPS_RTS, IBV_QPS_INIT, mask));
            assert_false(ov_transition_ok(types[t], IBV_QPS_RTS, IBV_QPS_RTR, mask));
            assert_false(ov_transition_ok(types[t], IBV_QPS_ERR, IBV_QPS_RTS, mask));
            assert_false(ov_transition_ok(types[t], IBV_QPS_RTS, IBV_QPS_SQE, mask));
            assert_false(ov_transition_ok(types[t], IBV_QPS_RTS, IBV_QPS_UNKNOWN, mask));
        }
        assert_true(ov_transition_ok(types[t], IBV_QPS_INIT, IBV_QPS_INIT, IBV_QP_PORT));
    }
    assert_false(ov_transition_ok(IBV_QPT_RC, IBV_QPS_SQE, IBV_QPS_RTS, IBV_QP_STATE));
    assert_false(ov_transition_ok(IBV_QPT_XRC_SEND, IBV_QPS_RESET, IBV_QPS_RESET, IBV_QP_STATE));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_attributes),
        cmocka_unit_test(test_states),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
