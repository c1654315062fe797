/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A queue pair whose packets are named, so a test can name lost packets and the whole exchange.
 * Side 0 sends work, PSNs begin at 0, one packet of PAIR_MTU bytes a PSN.
 *
 *     5   data or a request with PSN 5      r5  a READ request      d5  a READ response
 *     a5  ACK of 5       n5  NAK: 5 is missing       w5  RNR NAK
 *
 * In a list of losses, 5.2 is what is sent as 5 the second time. In what was sent, ! marks what was
 * lost.
 */
#ifndef OCHE_TESTS_UNIT_RECOVERY_SCRIPT_H
#define OCHE_TESTS_UNIT_RECOVERY_SCRIPT_H

#include "tests/support/pair.h"

#define SCRIPT_PSNS  64
#define SCRIPT_NAMES 1024

struct script {
    struct pair *pair;
    const char *lose;              /* names, with blanks between */
    char sent[2][SCRIPT_NAMES];    /* by either side */
    uint8_t times[6][SCRIPT_PSNS]; /* how often each was sent, by kind */
};

/*
 * Opens a pair with `options`. By default only last packets ask for ACKs, and the ACK timeout is
 * 500 µs. `lose` must live as long as the script.
 */
void script_open(struct script *script, const struct pair_options *options, const char *lose);
/* Posts a message of `packets` packets (wr_id: as given), and a receive for it if it takes one. */
void script_post(struct script *script, enum oche_work_opcode opcode, uint64_t wr_id,
                 uint32_t packets);
/* Runs until no event is left. Each side must have sent exactly these packets. */
void script_expect(struct script *script, const char *sent, const char *answered);
void script_close(struct script *script);
uint64_t script_timeouts(const struct script *script);

#endif
