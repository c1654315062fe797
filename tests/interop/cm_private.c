/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private data of every length, from nothing to the most that rdma_connect(3), rdma_accept(3) and
 * rdma_reject(3) allow: it arrives as it was sent, and what the message has room for beyond it is
 * 0. One byte more is EINVAL, after which the identifier is as it was.
 */
#include "tests/interop/cm_bench.h"

enum { REQ = 56, REP = 196, REJ = 148, SIDR_REQ = 180, SIDR_REP = 136 };

static uint8_t sent[256];

static void fill(unsigned seed)
{
    for (unsigned i = 0; i < sizeof(sent); i++)
        sent[i] = (uint8_t)(1 + (seed * 31 + i * 7) % 255);
}

/* `most`: the largest private data of this kind of message. */
static void is_what_was_sent(const void *data, uint8_t bytes, size_t length, size_t most)
{
    static const uint8_t nothing[256];

    assert_int_equal(bytes, most);
    assert_memory_equal(data, sent, length);
    assert_memory_equal((const uint8_t *)data + length, nothing, most - length);
}

/* Asks with `length` bytes. Returns the identifier of the request at the server. */
static struct rdma_cm_id *ask(struct rdma_cm_id *client, size_t length, size_t most, bool datagrams)
{
    struct rdma_conn_param param = cm_param(sent, length);
    struct rdma_cm_event *event;
    struct rdma_cm_id *asked;

    fill((unsigned)length);
    CM_WORKS(rdma_connect(client, &param));
    event = cm_next(cm_serving, RDMA_CM_EVENT_CONNECT_REQUEST);
    asked = event->id;
    if (datagrams)
        is_what_was_sent(event->param.ud.private_data, event->param.ud.private_data_len, length,
                         most);
    else
        is_what_was_sent(event->param.conn.private_data, event->param.conn.private_data_len, length,
                         most);
    CM_WORKS(rdma_ack_cm_event(event));
    return asked;
}

static void refuses_more(struct rdma_cm_id *client, struct rdma_cm_id *asked, size_t most)
{
    struct rdma_conn_param param = cm_param(sent, most + 1);

    CM_FAILS(client != NULL ? rdma_connect(client, &param) : rdma_accept(asked, &param), EINVAL);
}

/* ---- connections ---- */

static void accepted(void **state)
{
    (void)state;
    for (size_t length = 0; length <= REP; length++) {
        struct rdma_cm_id *client = cm_resolved(RDMA_PS_TCP), *asked;
        struct rdma_conn_param param = cm_param(sent, length);
        struct rdma_cm_event *event;

        refuses_more(client, NULL, REQ);
        asked = ask(client, length % (REQ + 1), REQ, false);
        refuses_more(NULL, asked, REP);
        fill((unsigned)length + 1000);
        CM_WORKS(rdma_accept(asked, &param));
        event = cm_next(cm_asking, RDMA_CM_EVENT_CONNECT_RESPONSE);
        is_what_was_sent(event->param.conn.private_data, event->param.conn.private_data_len, length,
                         REP);
        assert_int_equal(event->param.conn.qp_num, param.qp_num);
        CM_WORKS(rdma_ack_cm_event(event));
        CM_WORKS(rdma_establish(client));
        assert_int_equal(cm_take(cm_serving, RDMA_CM_EVENT_ESTABLISHED), 0);
        CM_WORKS(rdma_disconnect(client));
        assert_int_equal(cm_take(cm_serving, RDMA_CM_EVENT_DISCONNECTED), 0);
        CM_WORKS(rdma_disconnect(asked));
        assert_int_equal(cm_take(cm_asking, RDMA_CM_EVENT_DISCONNECTED), 0);
        CM_WORKS(rdma_destroy_id(client));
        CM_WORKS(rdma_destroy_id(asked));
    }
}

static void rejected(void **state)
{
    (void)state;
    for (size_t length = 0; length <= REJ; length++) {
        struct rdma_cm_id *client = cm_resolved(RDMA_PS_TCP);
        struct rdma_cm_id *asked = ask(client, length % (REQ + 1), REQ, false);
        struct rdma_cm_event *event;

        CM_FAILS(rdma_reject(asked, sent, REJ + 1), EINVAL);
        fill((unsigned)length + 2000);
        CM_WORKS(rdma_reject(asked, sent, (uint8_t)length));
        event = cm_next(cm_asking, RDMA_CM_EVENT_REJECTED);
        assert_int_equal(event->status, 28); /* by the consumer */
        is_what_was_sent(event->param.conn.private_data, event->param.conn.private_data_len, length,
                         REJ);
        CM_WORKS(rdma_ack_cm_event(event));
        CM_WORKS(rdma_destroy_id(client));
        CM_WORKS(rdma_destroy_id(asked));
    }
}

/* ---- datagrams ---- */

static void told(void **state)
{
    (void)state;
    for (size_t length = 0; length <= SIDR_REQ; length++) {
        const size_t back = length % (SIDR_REP + 1);
        struct rdma_cm_id *client = cm_resolved(RDMA_PS_UDP), *asked;
        struct rdma_conn_param param = cm_param(sent, back);
        const bool accept = length % 2 == 0;
        struct rdma_cm_event *event;

        refuses_more(client, NULL, SIDR_REQ);
        asked = ask(client, length, SIDR_REQ, true);
        refuses_more(NULL, asked, SIDR_REP);
        CM_FAILS(rdma_reject(asked, sent, SIDR_REP + 1), EINVAL);
        fill((unsigned)length + 3000);
        CM_WORKS(accept ? rdma_accept(asked, &param) : rdma_reject(asked, sent, (uint8_t)back));
        event = cm_next(cm_asking, accept ? RDMA_CM_EVENT_ESTABLISHED : RDMA_CM_EVENT_UNREACHABLE);
        is_what_was_sent(event->param.ud.private_data, event->param.ud.private_data_len, back,
                         SIDR_REP);
        if (accept)
            assert_int_equal(event->param.ud.qp_num, param.qp_num);
        else
            assert_int_equal(event->status, 2); /* the SIDR REP's: rejected */
        CM_WORKS(rdma_ack_cm_event(event));
        CM_WORKS(rdma_destroy_id(client));
        CM_WORKS(rdma_destroy_id(asked));
    }
}

static int open_connections(void **state)
{
    (void)state;
    cm_open(RDMA_PS_TCP, 0);
    return 0;
}

static int open_datagrams(void **state)
{
    (void)state;
    cm_open(RDMA_PS_UDP, 0);
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    cm_silent(cm_serving);
    cm_close();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(accepted, open_connections, close_all),
        cmocka_unit_test_setup_teardown(rejected, open_connections, close_all),
        cmocka_unit_test_setup_teardown(told, open_datagrams, close_all),
    };

    setenv("OCHE_DEVICE", "127.34.0.2", 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
