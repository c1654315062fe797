/* SPDX-License-Identifier: Apache-2.0 */
/* Named chips, and the default chip of a switch. */
#include <string.h>

#include "fabric/chips.h"
#include "fabric/switch.h"
#include "tests/support/test.h"

/* Each chip with known memory can be chosen by name, and each name is such a chip. */
static void every_chip_has_a_name(void **state)
{
    (void)state;
    assert_string_equal(oche_chip_names[0], "auto");
    size_t known = 0;

    while (known < oche_chip_count && oche_chips[known].buffer_bytes > 0)
        known++;
    for (size_t i = known; i < oche_chip_count; i++)
        assert_int_equal(oche_chips[i].buffer_bytes, 0);
    for (size_t i = 0; i < known; i++) {
        assert_non_null(oche_chip_names[i + 1]);
        assert_string_equal(oche_chip_names[i + 1], oche_chips[i].name);
        assert_ptr_equal(oche_chip_find(oche_chips[i].name), &oche_chips[i]);
    }
    assert_null(oche_chip_names[known + 1]);
}

static void check_chip(unsigned slow, uint64_t slow_gbps, unsigned fast, uint64_t fast_gbps,
                       const char *expected)
{
    static struct oche_switch_port_config ports[256];
    struct oche_switch_params params;
    struct oche_switch_config config = {
        .params = &params, .ports = ports, .port_count = slow + fast};

    oche_param_preset(&oche_switch_params, OCHE_PRESET_DEPLOYED, &params);
    for (unsigned port = 0; port < slow + fast; port++)
        ports[port].rate_bps = (port < slow ? slow_gbps : fast_gbps) * OCHE_GBPS;
    assert_string_equal(oche_chip_for(&config)->name, expected);
}

/* A chip's port can be two of half its rate or four of a quarter, and no more. */
static void a_chip_has_the_ports(void **state)
{
    (void)state;
    check_chip(32, 40, 0, 0, "trident2");
    check_chip(128, 10, 0, 0, "trident2");
    check_chip(129, 10, 0, 0, "tomahawk2"); /* 1290 Gbit/s, but 129 ports */
    check_chip(40, 25, 0, 0, "trident3");   /* 1000 Gbit/s, but a port of 40 cannot be two of 25 */
    check_chip(64, 20, 0, 0, "trident2");
    check_chip(65, 20, 0, 0, "trident3");
    check_chip(48, 25, 8, 100, "trident3");
    check_chip(96, 25, 9, 100, "tomahawk2");
    check_chip(16, 400, 4, 1600, "tomahawk5"); /* no chip has such ports: the largest */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_chip_has_a_name),
        cmocka_unit_test(a_chip_has_the_ports),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
