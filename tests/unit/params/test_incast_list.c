/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of hosts: their order, and what is refused. */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "params/incast_list.h"
#include "tests/support/test.h"

static struct oche_incast_list list;
static struct oche_error error;

static void sorted_by_address(void **state)
{
    static const char *const same[] = {"10.0.0.2,9.255.0.1,10.0.0.10",
                                       "9.255.0.1,10.0.0.2,10.0.0.10",
                                       "10.0.0.10,10.0.0.2,9.255.0.1"};
    static const char *const wanted[] = {"9.255.0.1", "10.0.0.2", "10.0.0.10"};

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(same); i++) {
        assert_true(oche_incast_list_parse(&list, same[i], &error));
        assert_int_equal(list.count, 3);
        assert_false(list.ipv6);
        for (unsigned n = 0; n < 3; n++) {
            char text[INET_ADDRSTRLEN];

            assert_int_equal(list.addresses[n][10] & list.addresses[n][11], 0xff);
            assert_non_null(inet_ntop(AF_INET, list.addresses[n] + 12, text, sizeof(text)));
            assert_string_equal(text, wanted[n]);
        }
    }
    assert_true(oche_incast_list_parse(&list, "2001:db8::1,fd00::2", &error));
    assert_true(list.ipv6 && list.addresses[0][0] == 0x20 && list.addresses[1][15] == 2);
}

static void wrong_ones(void **state)
{
    static const char *const texts[][2] = {
        {"", "\"\" is not the IP address of a host"},
        {"10.0.0.1", "10.0.0.1: one host alone"},
        {"10.0.0.1,", "\"\" is not"},
        {",10.0.0.1", "\"\" is not"},
        {"10.0.0.1,,10.0.0.2", "\"\" is not"},
        {"10.0.0.1, 10.0.0.2", "\" 10.0.0.2\" is not"},
        {"10.0.0.1,host", "\"host\" is not"},
        {"10.0.0.1,10.0.0.256", "\"10.0.0.256\" is not"},
        {"10.0.0.1,0.0.0.0", "\"0.0.0.0\" is not"},
        {"10.0.0.1,224.0.0.1", "\"224.0.0.1\" is not"},
        {"fd00::1,ff02::1", "\"ff02::1\" is not"},
        {"fd00::1,::", "\"::\" is not"},
        {"fd00::1,::ffff:10.0.0.1", "\"::ffff:10.0.0.1\" is not"},
        {"fd00::1,10.0.0.1", "10.0.0.1: IPv4 and IPv6"},
        {"10.0.0.1,10.0.0.2,10.0.0.1", "10.0.0.1: twice"},
        {"fd00::2,fd00::1,fd00::2", "fd00::2: twice"},
        {"10.0.0.1,1111111111111111111111111111111111111111111111111111111111111111111111111111",
         "\"111111111111111111111111111111111111111111111111111111111111\" is not"},
    };

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(texts); i++) {
        assert_false(oche_incast_list_parse(&list, texts[i][0], &error));
        if (strncmp(error.text, texts[i][1], strlen(texts[i][1])) != 0)
            fail_msg("%s: %s", texts[i][0], error.text);
    }
}

static void as_many_as_a_packet_has_room_for(void **state)
{
    char text[16 * (OCHE_GROUP_MOST + 1)];
    size_t used = 0;

    (void)state;
    for (int i = 0; i <= OCHE_GROUP_MOST; i++) {
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s10.0.1.%d", i > 0 ? "," : "",
                                 i + 1);
        if (i > 0)
            assert_int_equal(oche_incast_list_parse(&list, text, &error), i < OCHE_GROUP_MOST);
    }
    assert_string_equal(error.text, "more than 200 hosts");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sorted_by_address),
        cmocka_unit_test(wrong_ones),
        cmocka_unit_test(as_many_as_a_packet_has_room_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
