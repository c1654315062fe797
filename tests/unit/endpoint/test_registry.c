/* SPDX-License-Identifier: Apache-2.0 */
/* Every endpoint describes itself completely. Its name differs from all schemes of the RNIC. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/cc/cc.h"
#include "sim/endpoint/counters.h"
#include "sim/endpoint/registry.h"
#include "sim/network/host.h"
#include "tests/support/counted.h"
#include "tests/support/test.h"

static void test_find(void **state)
{
    (void)state;
    assert_true(oche_endpoints[0] != NULL);
    for (size_t i = 0; oche_endpoints[i] != NULL; i++) {
        assert_ptr_equal(oche_endpoint_find(oche_endpoints[i]->name), oche_endpoints[i]);
        assert_null(oche_cc_find(oche_endpoints[i]->name));
    }
    assert_null(oche_endpoint_find("dcqcn"));
    assert_null(oche_endpoint_find(""));
}

static void has_hooks(const struct oche_endpoint *endpoint)
{
    assert_true(endpoint->packets != NULL && endpoint->frames != NULL);
    assert_true(endpoint->create != NULL && endpoint->start != NULL);
    assert_true(endpoint->receive != NULL && endpoint->transmit != NULL);
    assert_true(endpoint->next != NULL && endpoint->next_timer != NULL && endpoint->expire != NULL);
    assert_true(endpoint->stats != NULL);
    assert_true(endpoint->late_packets != NULL && endpoint->corrupt_bytes != NULL);
    assert_true(endpoint->rate_bps != NULL && endpoint->arrived_bytes != NULL);
    assert_non_null(endpoint->sent_again);
    assert_true((endpoint->encode == NULL) == (endpoint->decode == NULL));
    assert_true(endpoint->state_bytes > 0 && endpoint->paper[0] != '\0');
}

/* The default packet sizes of the endpoint and of a flow agree. */
static void agrees(const struct oche_endpoint *endpoint, const void *params)
{
    struct oche_host_params hosts;

    oche_param_defaults(&oche_host_params, &hosts);
    for (unsigned ipv6 = 0; ipv6 < 2; ipv6++) {
        struct oche_endpoint_packets packets;
        struct oche_frames one, many;
        hosts.ipv6 = ipv6;
        endpoint->packets(&hosts, params, &packets);
        assert_true(packets.payload_bytes > 0 && packets.ack_bytes >= OCHE_MIN_FRAME_BYTES);
        assert_true(packets.middle_bytes > packets.payload_bytes);
        assert_true(packets.frame_bytes >= packets.middle_bytes);
        assert_int_equal(packets.lossless_classes >> OCHE_CLASS_COUNT, 0);
        endpoint->frames(&hosts, params, NULL, OCHE_VERB_WRITE, 1, &one);
        endpoint->frames(&hosts, params, NULL, OCHE_VERB_WRITE,
                         UINT64_C(10) * packets.payload_bytes, &many);
        assert_int_equal(one.count, 1);
        assert_int_equal(many.count, 10);
        assert_true(one.first_bytes >= OCHE_MIN_FRAME_BYTES + OCHE_GAP_BYTES);
        assert_int_equal(many.middle_bytes, packets.middle_bytes + OCHE_GAP_BYTES);
        assert_true(many.first_bytes <= packets.frame_bytes + OCHE_GAP_BYTES);
    }
}

static void test_complete(void **state)
{
    (void)state;
    has_hooks(&oche_endpoint_rnic);
    assert_null(oche_endpoint_rnic.name);
    agrees(&oche_endpoint_rnic, NULL);
    for (size_t i = 0; oche_endpoints[i] != NULL; i++) {
        const struct oche_endpoint *endpoint = oche_endpoints[i];
        has_hooks(endpoint);
        assert_true(endpoint->name[0] != '\0' && endpoint->recovery[0] != '\0');
        void *params = calloc(1, endpoint->table->struct_bytes);
        assert_non_null(params);
        oche_param_defaults(endpoint->table, params);
        if (endpoint->check != NULL)
            assert_null(endpoint->check(params));
        agrees(endpoint, params);
        for (size_t p = 0; p < endpoint->table->count; p++) {
            const struct oche_param *param = &endpoint->table->params[p];
            assert_true(param->help != NULL && param->where != NULL);
            assert_true(oche_param_in_range(param, oche_param_get(param, params)));
        }
        free(params);
    }
}

/* Each table occurs once. No two counters have the same name, also as spelled in results files. */
static void test_counters(void **state)
{
    char names[100][64];
    unsigned count = 0;
    size_t endpoints = 0;

    (void)state;
    for (unsigned n = 0; oche_counters_at(n) != NULL; n++) {
        const struct oche_counters *counters = oche_counters_at(n);

        for (unsigned i = 0; i < counters->count; i++, count++) {
            assert_in_range(count, 0, 99);
            snprintf(names[count], sizeof(names[count]), "%s_%s", counters->prefix,
                     counters->rows[i].name);
            for (char *at = names[count]; *at != '\0'; at++)
                *at = *at == '.' ? '_' : *at;
            for (unsigned k = 0; k < count; k++)
                assert_string_not_equal(names[count], names[k]);
        }
        for (size_t i = 0; oche_endpoints[i] != NULL; i++)
            if (oche_endpoints[i]->counters == counters) {
                check_counters(counters, oche_endpoints[i]->state_bytes);
                endpoints++;
            }
    }
    assert_true(count > 0 && endpoints > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_find),
        cmocka_unit_test(test_complete),
        cmocka_unit_test(test_counters),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
