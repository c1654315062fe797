/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A test of Lumina (github.com/lumina-test/lumina), as its YAML has it: two adapters, the traffic
 * between them, and events. Members that name machines, folders and accounts are accepted and have
 * no effect. An adapter's type may also be what `oche nic` lists.
 */
#ifndef OCHE_LAB_CHECK_NIC_TEST_FILE_H
#define OCHE_LAB_CHECK_NIC_TEST_FILE_H

#include "core/nic/habits.h"
#include "fabric/packet_events.h"
#include "lab/check_nic/check.h"
#include "params/error.h"

enum oche_nic_verb { OCHE_NIC_WRITE, OCHE_NIC_SEND, OCHE_NIC_READ, OCHE_NIC_SEND_READ };

/* An end of the test: the requester or the responder. */
struct oche_nic_end {
    const char *profile;    /* of a name of Lumina's: ours, else NULL */
    oche_time own_interval; /* its adapter's cnp_interval; the file's may be another */
    char name[64];          /* of the adapter, as the file has it */
    struct oche_nic_habits habits;
    bool notifies, reacts; /* sends CNPs for marks; DCQCN lowers its rate for CNPs */
    bool slow_restart;
    /* NACKs bring CNPs, as Lumina's checker has it; EITHER: a type that it does not know */
    enum oche_nic_answer nak_brings_cnp;
};

struct oche_nic_test {
    struct oche_nic_end requester, responder;
    uint32_t verb; /* enum oche_nic_verb */
    uint64_t num_qps, messages, message_bytes, mtu_bytes, outstanding;
    uint64_t timeout_exponent, retries; /* T and R */
    uint64_t port_bps;
    uint64_t udp_port; /* that Lumina's mirror writes into packets; 4791: it writes none */
    bool barrier, many_addresses;
    struct oche_packet_event *events; /* malloc'd */
    uint32_t event_count;
};

/*
 * Reads the file. `nic`: the adapter of both ends, as oche_nic_read takes it, in place of the
 * file's; NULL: the file's. Returns false, with an error that names file and line, if it is wrong;
 * then there is nothing to free.
 */
bool oche_nic_test_read(struct oche_nic_test *test, const char *path, const char *nic,
                        struct oche_error *error);
void oche_nic_test_free(struct oche_nic_test *test);

/* Returns "WRITE" and the like. */
const char *oche_nic_verb_name(uint32_t verb);
/* True if the responder sends the data on which events act. */
static inline bool oche_nic_test_reads(const struct oche_nic_test *test)
{
    return test->verb == OCHE_NIC_READ;
}
/* Returns the end that receives the data, and so sends NACKs and CNPs. */
static inline const struct oche_nic_end *oche_nic_receiver(const struct oche_nic_test *test)
{
    return oche_nic_test_reads(test) ? &test->requester : &test->responder;
}
/* Returns the number of packets of a message. */
static inline uint64_t oche_nic_message_packets(const struct oche_nic_test *test)
{
    return (test->message_bytes + test->mtu_bytes - 1) / test->mtu_bytes;
}
/* Returns the properties of the test that the judges need. */
struct oche_nic_expected oche_nic_test_expected(const struct oche_nic_test *test);

#endif
