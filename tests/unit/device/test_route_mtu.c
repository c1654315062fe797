/* SPDX-License-Identifier: Apache-2.0 */
/* The MTUs of loopback and of routes there; nothing is known of what is not there. */
#include "device/path/route_mtu.h"

#include <net/if.h>

#include "tests/support/test.h"

static struct oche_address address(const char *text)
{
    struct oche_address parsed;

    assert_true(oche_address_parse(text, &parsed));
    return parsed;
}

static void test_loopback(void **state)
{
    const struct oche_address own = address("127.45.0.50"), other = address("127.45.0.51");
    const uint32_t bytes = oche_interface_mtu(if_nametoindex("lo"));

    (void)state;
    assert_true(bytes > 0);
    /* a route of IPv4 has 65535 at most, which is less than loopback's usual 65536 */
    assert_int_equal(oche_route_mtu(&own, &other), bytes < UINT16_MAX ? bytes : UINT16_MAX);
}

static void test_unknown(void **state)
{
    const struct oche_address own = address("127.45.0.50"), none = address("192.0.2.77"),
                              all = address("255.255.255.255");

    (void)state;
    assert_int_equal(oche_interface_mtu(0), 0);
    assert_int_equal(oche_interface_mtu(0x7fffffff), 0);
    assert_int_equal(oche_route_mtu(&none, &own), 0); /* not an address of this host */
    assert_int_equal(oche_route_mtu(&own, &all), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loopback),
        cmocka_unit_test(test_unknown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
