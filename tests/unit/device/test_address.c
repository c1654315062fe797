/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses as text, for the socket and as headers; the table of peers. */
#include <string.h>

#include "core/random.h"
#include "device/path/address.h"
#include "device/path/peers.h"
#include "tests/support/crc.h"
#include "tests/support/test.h"

static struct oche_address parsed(const char *text)
{
    struct oche_address address;

    if (!oche_address_parse(text, &address))
        fail_msg("%s", text);
    return address;
}

static void text(void **state)
{
    static const char *const good[] = {"192.0.2.1", "127.0.0.2", "2001:db8::1", "::1"};
    static const char *const bad[] = {
        "",           "localhost",     "192.0.2",    "192.0.2.256",
        "192.0.2.1 ", "2001:db8::1::", "fe80::1%lo", "192.0.2.1:4791"};
    static const char *const not_unicast[] = {"0.0.0.0", "::", "224.0.0.1", "255.255.255.255",
                                              "ff02::1"};
    struct oche_address address;
    char printed[OCHE_ADDRESS_TEXT];

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(good); i++) {
        address = parsed(good[i]);
        oche_address_print(&address, printed);
        assert_string_equal(printed, good[i]);
        assert_true(oche_address_is_unicast(&address));
        assert_int_equal(oche_address_is_ipv4(&address), strchr(good[i], '.') != NULL);
    }
    for (size_t i = 0; i < OCHE_COUNT_OF(bad); i++)
        assert_false(oche_address_parse(bad[i], &address));
    for (size_t i = 0; i < OCHE_COUNT_OF(not_unicast); i++) {
        address = parsed(not_unicast[i]);
        assert_false(oche_address_is_unicast(&address));
    }
}

static void for_the_socket(void **state)
{
    static const char *const texts[] = {"192.0.2.1", "2001:db8::1"};
    struct sockaddr_storage out;
    struct oche_address in, back;
    uint16_t port;

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        in = parsed(texts[i]);
        assert_int_equal(oche_address_to_socket(&in, 4791, &out),
                         i == 0 ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6));
        assert_true(oche_address_from_socket(&out, &back, &port));
        assert_memory_equal(&in, &back, sizeof(in));
        assert_int_equal(port, 4791);
    }
    out.ss_family = AF_UNIX;
    assert_false(oche_address_from_socket(&out, &back, &port));
}

/* The header of the SEND of rocev2.md#icrc-vectors, but for its checksum; and the ICRC over it. */
static void header_ipv4(void **state)
{
    static const uint8_t want[] = {0x45, 0x00, 0x00, 0x34, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11,
                                   0x00, 0x00, 0xc0, 0xa8, 0x00, 0x01, 0xc0, 0xa8, 0x00, 0x02,
                                   0xd1, 0x23, 0x12, 0xb7, 0x00, 0x20, 0x00, 0x00};
    static const uint8_t transport[] = {0x04, 0x00, 0xff, 0xff, 0x00, 0x00, 0x00, 0x12,
                                        0x80, 0x00, 0x00, 0x01, 'h',  'e',  'l',  'l',
                                        'o',  ' ',  'w',  'o',  0xb2, 0xbd, 0xdc, 0xc1};
    const struct oche_address from = parsed("192.168.0.1"), to = parsed("192.168.0.2");
    struct oche_ip_header header;
    struct oche_pseudo pseudo;

    (void)state;
    oche_ip_header_make(&header, &from, &to, 0xd123, 4791, 0);
    oche_ip_header_set_bytes(&header, sizeof(transport));
    assert_int_equal(header.count, sizeof(want));
    assert_memory_equal(header.bytes, want, sizeof(want));
    oche_pseudo_from_bytes(&pseudo, header.bytes);
    assert_true(oche_icrc_check(crc_zlib, &pseudo, transport, sizeof(transport)));
    oche_ip_header_set_id(&header, 0x1234);
    assert_int_equal(header.bytes[4], 0x12);
    assert_int_equal(header.bytes[5], 0x34);
}

static void header_ipv6(void **state)
{
    const struct oche_address from = parsed("2001:db8::1"), to = parsed("2001:db8::2");
    struct oche_ip_header header, same;

    (void)state;
    oche_ip_header_make(&header, &from, &to, 4791, 4791, 0xab);
    oche_ip_header_set_bytes(&header, 24);
    assert_int_equal(header.count, 48);
    assert_int_equal(header.bytes[0], 0x6a); /* version 6, traffic class 0xab, flow label 0 */
    assert_int_equal(header.bytes[1], 0xb0);
    assert_int_equal(header.bytes[4] << 8 | header.bytes[5], 32);
    assert_int_equal(header.bytes[6], 17);
    assert_memory_equal(header.bytes + 8, from.ip, 16);
    assert_memory_equal(header.bytes + 24, to.ip, 16);
    assert_int_equal(header.bytes[44] << 8 | header.bytes[45], 32);
    same = header;
    oche_ip_header_set_id(&header, 0x1234);
    assert_memory_equal(&header, &same, sizeof(same));
}

static void peers(void **state)
{
    struct oche_address address = parsed("10.0.0.0");
    struct oche_peers table;

    (void)state;
    assert_true(oche_peers_create(&table, 200));
    for (uint32_t i = 0; i < 200; i++) {
        address.ip[15] = (uint8_t)i;
        assert_int_equal(oche_peers_find(&table, &address), OCHE_NO_PEER);
        assert_int_equal(oche_peers_add(&table, &address, 4791), i);
        assert_int_equal(oche_peers_add(&table, &address, 4791), i);
    }
    address.ip[15] = 200;
    assert_int_equal(oche_peers_add(&table, &address, 4791), OCHE_NO_PEER);
    assert_int_equal(oche_peers_find(&table, &address), OCHE_NO_PEER);
    for (uint32_t i = 0; i < 200; i++) {
        address.ip[15] = (uint8_t)i;
        assert_int_equal(oche_peers_find(&table, &address), i);
        assert_memory_equal(&table.peers[i].address, &address, sizeof(address));
    }
    oche_peers_destroy(&table);
    assert_true(oche_peers_create(&table, 1));
    assert_int_equal(oche_peers_add(&table, &address, 4791), 0);
    oche_peers_destroy(&table);
}

static bool odd(const void *context, uint32_t index)
{
    (void)context;
    return index % 2 == 1;
}

/* An index is given again when its last reference is released, the longest free first. */
static void peers_come_and_go(void **state)
{
    struct oche_address address = parsed("10.0.0.0");
    struct oche_peers table;

    (void)state;
    assert_true(oche_peers_create(&table, 4));
    for (uint8_t i = 0; i < 4; i++) {
        address.ip[15] = i;
        assert_int_equal(oche_peers_add(&table, &address, 4791), i);
        assert_int_equal(oche_peers_add(&table, &address, 4791), i);
        table.peers[i].no_gso = true;
    }
    for (uint8_t i = 4; i > 0; i--)
        oche_peers_release(&table, i - 1u);
    address.ip[15] = 9;
    assert_int_equal(oche_peers_add(&table, &address, 4791), OCHE_NO_PEER); /* all in use */
    oche_peers_release(&table, 3);
    oche_peers_release(&table, 2);
    oche_peers_release(&table, 1);
    address.ip[15] = 2;
    assert_int_equal(oche_peers_find(&table, &address), OCHE_NO_PEER);
    table.busy = odd;
    address.ip[15] = 9;
    assert_int_equal(oche_peers_add(&table, &address, 4791), 2); /* 3 is busy */
    assert_false(table.peers[2].no_gso);
    address.ip[15] = 10;
    assert_int_equal(oche_peers_add(&table, &address, 4791), OCHE_NO_PEER);
    table.busy = NULL;
    assert_int_equal(oche_peers_add(&table, &address, 4791), 3);
    oche_peers_release(&table, 2);
    address.ip[15] = 11;
    assert_int_equal(oche_peers_add(&table, &address, 4791), 1);
    address.ip[15] = 12;
    assert_int_equal(oche_peers_add(&table, &address, 4791), 2);
    oche_peers_destroy(&table);
}

/* Against a plain list: what is in the table is found, what is not is not. */
static void peers_at_random(void **state)
{
    enum { ADDRESSES = 96, ROOM = 64 };
    struct oche_random random = oche_random_stream(1, "peers", 0);
    struct oche_address address = parsed("10.0.0.0");
    uint32_t references[ADDRESSES] = {0}, index[ADDRESSES], used = 0;
    struct oche_peers table;

    (void)state;
    assert_true(oche_peers_create(&table, ROOM));
    for (unsigned i = 0; i < 200000; i++) {
        const uint32_t which = (uint32_t)oche_random_below(&random, ADDRESSES);

        address.ip[15] = (uint8_t)which;
        if (oche_random_below(&random, 2) == 0) {
            const uint32_t got = oche_peers_add(&table, &address, 4791);

            assert_int_equal(got == OCHE_NO_PEER, references[which] == 0 && used == ROOM);
            if (got == OCHE_NO_PEER)
                continue;
            used += references[which]++ == 0;
            index[which] = got;
        } else if (references[which] > 0) {
            oche_peers_release(&table, index[which]);
            used -= --references[which] == 0;
        }
        address.ip[15] = (uint8_t)oche_random_below(&random, ADDRESSES);
        assert_int_equal(oche_peers_find(&table, &address),
                         references[address.ip[15]] > 0 ? index[address.ip[15]] : OCHE_NO_PEER);
    }
    oche_peers_destroy(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text),
        cmocka_unit_test(for_the_socket),
        cmocka_unit_test(header_ipv4),
        cmocka_unit_test(header_ipv6),
        cmocka_unit_test(peers),
        cmocka_unit_test(peers_come_and_go),
        cmocka_unit_test(peers_at_random),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
