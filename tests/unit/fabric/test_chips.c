/* SPDX-License-Identifier: Apache-2.0 */
/* The chips by name, and which one a switch has that names none. */
#include <string.h>

#include "fabric/chips.h"
#include "fabric/switch.h"
#include "tests/support/test.h"

/* A chip that can be shown can be chosen, and the other way round. */
static void every_chip_has_a_name(void **state)
{
    (void)state;
    assert_string_equal(oche_chip_names[0], "auto");
    for (size_t i = 0; i < oche_chip_count; i++) {
        assert_non_null(oche_chip_names[i + 1]);
        assert_string_equal(oche_chip_names[i + 1], oche_chips[i].name);
        assert_ptr_equal(oche_chip_find(oche_chips[i].name), &oche_chips[i]);
    }
    assert_null(oche_chip_names[oche_chip_count + 1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_chip_has_a_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
