/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two devices in one process, over loopback, with one connected queue pair; the test pumps both.
 * Addresses are of this process alone, so that tests can run side by side.
 */
#ifndef OCHE_TESTS_UNIT_DEVICE_PAIR_H
#define OCHE_TESTS_UNIT_DEVICE_PAIR_H

#include "device/device.h"
#include "tests/support/test.h"

#define PAIR_MEMORY (UINT32_C(1) << 20)
#define PAIR_DEPTH  64

struct end {
    struct oche_device *device;
    struct oche_cq *cq;
    struct oche_qp *qp;
    uint8_t *memory; /* PAIR_MEMORY bytes, all access */
    uint32_t key;
    char address[32];
};

struct pair {
    struct end a, b;
};

/* 127.x.y.`last`, x and y of this process. */
const char *loopback_address(char text[32], unsigned last);

/* Opens a device with these settings; the address is set here (NULL: 127.x.y.`last`). */
void end_open(struct end *end, const struct oche_device_config *config, const char *address,
              unsigned last);
void end_close(struct end *end);
/* Makes a queue pair at each end and connects them. `connection`: what differs from the usual. */
void ends_connect(struct end *a, struct end *b, enum oche_transport transport, uint32_t mtu);

/* The usual: both ends with the same settings, RC, an MTU of 1024. */
void pair_open(struct pair *pair, const struct oche_device_config *config,
               enum oche_transport transport);
/* A busy machine may stop us for longer than the timeout, 5 ms: now it is a second. */
void pair_be_patient(struct pair *pair);
void pair_close(struct pair *pair);

/* Fills memory with bytes that depend on `seed`, or zeros. */
void end_fill(struct end *end, unsigned seed);

/* Work from the first `bytes` of `from`'s memory (+ offset) to the same place of the other. */
struct oche_send_work work_between(const struct end *from, const struct end *to, uint8_t opcode,
                                   uint32_t offset, uint32_t bytes);
void post_receive(struct end *end, uint64_t wr_id, uint32_t offset, uint32_t bytes);

/* Makes progress on both until one completion is in `end`'s queue; fails after ten seconds. */
struct oche_completion pump(struct pair *pair, struct end *end);
/* … until nothing arrives any more. */
void pump_quiet(struct pair *pair);

#endif
