/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The out-of-band exchange that connects queue pairs of two processes, over any connected stream
 * socket: the data that each end must know about the other, and barriers that both must reach.
 */
#ifndef OCHE_TESTS_INTEROP_EXCHANGE_H
#define OCHE_TESTS_INTEROP_EXCHANGE_H

#include <stdbool.h>
#include <stdint.h>

/* One end, as the other must know it. Both processes are of one machine: host byte order. */
struct endpoint {
    char address[64]; /* text */
    uint64_t va, bytes;
    uint32_t rkey, qpn, psn, window_packets;
};

/* Sends `mine`, and waits for `theirs`. Returns false if the other process has ended. */
bool exchange_endpoints(int fd, const struct endpoint *mine, struct endpoint *theirs);
/* Says that a step has been reached. */
bool exchange_say(int fd, char step);
/* Returns the other side's last step; 0: none yet; -1: it has ended. Does not wait. */
int exchange_hear(int fd);

#endif
