/* SPDX-License-Identifier: Apache-2.0 */
/* A port's width and speed are those of the link, as kernel drivers report them for Ethernet. */
#include "tests/interop/verbs_bench.h"

#include <stdlib.h>

static const struct {
    const char *rate; /* OCHE_LINE_RATE; NULL: not known, as on loopback */
    uint8_t width, speed;
} links[] = {
    {NULL, 2, 32},      {"1Mbps", 1, 1},     {"1Gbps", 1, 1},     {"1001Mbps", 1, 8},
    {"10Gbps", 1, 8},   {"25Gbps", 1, 32},   {"40Gbps", 2, 8},    {"100Gbps", 2, 32},
    {"200Gbps", 2, 64}, {"400Gbps", 2, 128}, {"800Gbps", 4, 128},
};

static void test_speeds(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
        struct ibv_context *context;
        struct ibv_port_attr port;

        if (links[i].rate != NULL)
            setenv("OCHE_LINE_RATE", links[i].rate, 1);
        else
            unsetenv("OCHE_LINE_RATE");
        context = open_one();
        assert_int_equal(ibv_query_port(context, 1, &port), 0);
        assert_int_equal(port.active_width, links[i].width);
        assert_int_equal(port.active_speed, links[i].speed);
        assert_int_equal(ibv_close_device(context), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_speeds)};

    setenv("OCHE_DEVICE", "127.45.0.22", 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
