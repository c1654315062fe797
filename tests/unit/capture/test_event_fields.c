/* SPDX-License-Identifier: Apache-2.0 */
/* The fields of events: together they cover the whole record, and each has a different name. */
#include <string.h>

#include "sim/capture/event_fields.h"
#include "tests/support/test.h"

/* Kinds whose words without a field are 0. */
static bool may_lack(enum oche_trace_kind kind, bool second)
{
    switch (kind) {
    case OCHE_TRACE_NONE:
    case OCHE_TRACE_CNP_SENT:
    case OCHE_TRACE_CNP_ARRIVED:
    case OCHE_TRACE_REROUTED:
        return true;
    case OCHE_TRACE_LINK_DOWN:
    case OCHE_TRACE_LINK_UP:
        return second;
    default:
        return false;
    }
}

static void fields_are_the_whole_record(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < OCHE_TRACE_KINDS; kind++) {
        const struct oche_event_field *fields = oche_event_fields((enum oche_trace_kind)kind);
        struct oche_trace_record record = {
            .kind = kind, .a = UINT64_C(0x0123456789abcdef), .b = UINT64_C(0xfedcba9876543210)};
        uint64_t words[2] = {0, 0};
        unsigned bits[2] = {0, 0};

        for (unsigned i = 0; fields[i].name != NULL; i++) {
            words[fields[i].second] |= oche_event_value(&record, &fields[i]) << fields[i].shift;
            bits[fields[i].second] += fields[i].bits;
            for (unsigned j = 0; j < i; j++)
                assert_string_not_equal(fields[i].name, fields[j].name);
        }
        for (unsigned second = 0; second < 2; second++) {
            if (bits[second] == 0 && may_lack((enum oche_trace_kind)kind, second == 1))
                continue;
            if (bits[second] != 64 || words[second] != (second == 1 ? record.b : record.a))
                fail_msg("%s: the fields of its %s word are not all of it",
                         oche_trace_name((enum oche_trace_kind)kind), second ? "second" : "first");
        }
    }
}

static void negative_acknowledgements_have_names(void **state)
{
    struct oche_trace_record record = {.kind = OCHE_TRACE_ACK_SENT, .b = UINT64_C(0x1f) << 24};

    (void)state;
    assert_string_equal(oche_event_name(&record, true), "ACK_SENT");
    record.b = UINT64_C(0x60) << 24 | 7;
    assert_string_equal(oche_event_name(&record, true), "NAK_SENT");
    assert_string_equal(oche_event_name(&record, false), "ACK_SENT");
    record.kind = OCHE_TRACE_ACK_ARRIVED;
    assert_string_equal(oche_event_name(&record, true), "NAK_ARRIVED");
    record.b = UINT64_C(0x25) << 24;
    assert_string_equal(oche_event_name(&record, true), "RNR_NAK_ARRIVED");
    record.kind = OCHE_TRACE_PAUSE_SENT;
    assert_string_equal(oche_event_name(&record, true), "PAUSE_SENT");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_the_whole_record),
        cmocka_unit_test(negative_acknowledgements_have_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
