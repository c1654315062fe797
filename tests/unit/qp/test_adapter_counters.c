/* SPDX-License-Identifier: Apache-2.0 */
/* The table of the counters of adapters: its groups and names, and how values are computed. */
#include "tests/support/test.h"

#include <string.h>

#include "core/qp/adapter_counters.h"

static unsigned row_of(enum oche_adapter_group group, const char *name)
{
    unsigned i = 0;

    while (oche_adapter_counter(i).group != group ||
           strcmp(oche_adapter_counter(i).name, name) != 0) {
        i++;
        assert_true(i < OCHE_ADAPTER_COUNTERS);
    }
    return i;
}

static void test_groups_are_together(void **state)
{
    unsigned hardware = 0;

    (void)state;
    for (unsigned i = 0; i < OCHE_ADAPTER_COUNTERS; i++) {
        const struct oche_adapter_counter counter = oche_adapter_counter(i);

        assert_non_null(counter.name);
        assert_non_null(counter.help);
        assert_true(counter.counted || !counter.of_port);
        hardware += counter.group == OCHE_ADAPTER_HW;
        if (i > 0)
            assert_true(oche_adapter_counter(i - 1).group <= counter.group);
    }
    assert_int_equal(hardware, OCHE_ADAPTER_HW_COUNTERS);
}

static void test_a_file_has_one_row(void **state)
{
    (void)state;
    for (unsigned i = 0; i < OCHE_ADAPTER_COUNTERS; i++)
        for (unsigned j = 0; j < i; j++) {
            const struct oche_adapter_counter one = oche_adapter_counter(i),
                                              other = oche_adapter_counter(j);
            const bool same_folder =
                (one.group == OCHE_ADAPTER_PORT) == (other.group == OCHE_ADAPTER_PORT);

            assert_false(same_folder && strcmp(one.name, other.name) == 0);
        }
}

static void test_names_are_found(void **state)
{
    (void)state;
    assert_int_equal(oche_adapter_counter_named("packet_seq_err"),
                     row_of(OCHE_ADAPTER_HW, "packet_seq_err"));
    /* other groups are no metrics */
    assert_int_equal(oche_adapter_counter_named("sent_pkts"), OCHE_ADAPTER_COUNTERS);
    assert_int_equal(oche_adapter_counter_named(""), OCHE_ADAPTER_COUNTERS);
}

static uint64_t hardware(const char *name, const struct oche_nic_stats *nic)
{
    return oche_adapter_count(row_of(OCHE_ADAPTER_HW, name), nic, NULL);
}

static void test_values_of_the_nic(void **state)
{
    const struct oche_nic_stats nic = {.timeouts = 9,
                                       .adaptive_timeouts = 4,
                                       .gaps = 3,
                                       .gap_naks_acted_on = 2,
                                       .duplicate_packets = 7,
                                       .duplicate_responses = 5,
                                       .cnps_received = 6,
                                       .cnps_ignored = 1};

    (void)state;
    assert_int_equal(hardware("local_ack_timeout_err", &nic), 5);
    assert_int_equal(hardware("roce_adp_retrans", &nic), 4);
    assert_int_equal(hardware("out_of_sequence", &nic), 3);
    assert_int_equal(hardware("packet_seq_err", &nic), 2);
    assert_int_equal(hardware("duplicate_request", &nic), 2);
    assert_int_equal(hardware("rp_cnp_handled", &nic), 5);
    assert_int_equal(hardware("rp_cnp_ignored", &nic), 1);
    assert_int_equal(oche_adapter_count(row_of(OCHE_ADAPTER_SOFTROCE, "rcvd_seq_err"), &nic, NULL),
                     2);
}

static void test_values_of_the_port(void **state)
{
    const struct oche_nic_stats nic = {0};
    const struct oche_adapter_port port = {
        .sent_packets = 3, .sent_bytes = 4003, .received_bytes = 8000, .wrong_icrc = 2};

    (void)state;
    assert_int_equal(oche_adapter_count(row_of(OCHE_ADAPTER_PORT, "port_xmit_data"), &nic, &port),
                     1000);
    assert_int_equal(oche_adapter_count(row_of(OCHE_ADAPTER_PORT, "port_rcv_data"), &nic, &port),
                     2000);
    assert_int_equal(
        oche_adapter_count(row_of(OCHE_ADAPTER_PORT, "port_xmit_packets"), &nic, &port), 3);
    assert_int_equal(
        oche_adapter_count(row_of(OCHE_ADAPTER_HW, "rx_icrc_encapsulated"), &nic, &port), 2);
    assert_int_equal(hardware("rx_icrc_encapsulated", &nic), 0);
}

static void test_what_is_not_counted_is_0(void **state)
{
    struct oche_nic_stats nic;
    struct oche_adapter_port port;

    (void)state;
    memset(&nic, 0x11, sizeof(nic));
    memset(&port, 0x11, sizeof(port));
    for (unsigned i = 0; i < OCHE_ADAPTER_COUNTERS; i++)
        if (!oche_adapter_counter(i).counted)
            assert_int_equal(oche_adapter_count(i, &nic, &port), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groups_are_together), cmocka_unit_test(test_a_file_has_one_row),
        cmocka_unit_test(test_names_are_found),     cmocka_unit_test(test_values_of_the_nic),
        cmocka_unit_test(test_values_of_the_port),  cmocka_unit_test(test_what_is_not_counted_is_0),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
