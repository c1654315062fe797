/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets of a capture, for a test of adapters: of any capture that `oche wire` reads, and of
 * Lumina's mirror (order.h).
 */
#ifndef OCHE_CLI_CHECK_NIC_CAPTURE_H
#define OCHE_CLI_CHECK_NIC_CAPTURE_H

#include "lab/check_nic/test_file.h"
#include "lab/check_nic/watch.h"

struct oche_check_capture {
    struct oche_nic_watch *watch;
    bool mirror; /* it is one of Lumina's */
    uint64_t frames, roce;
    /* packets that a mirror's numbers show and its files do not have, or have cut */
    uint64_t missing;
    uint64_t cut;     /* packets, perhaps of RoCE, that were cut within their headers; left out */
    uint64_t earlier; /* packets with a time more than 1 us before that of an earlier packet */
};

/*
 * Reads the files into a new watch, which is the caller's. `behind`: the capture was made behind
 * the events. Several files are those of one mirror. Returns false, with one line in `error`, if
 * one cannot be read, or if the packets have no safe order.
 */
bool oche_check_capture_read(struct oche_check_capture *capture, const struct oche_nic_test *test,
                             char *const *paths, size_t count, bool behind,
                             struct oche_error *error);

#endif
