/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Properties that all of oche's devices share. The queries of libibverbs.so.1 (query.c) and the
 * files of liboche-files.so (device/files/) both use them, so that they agree.
 */
#ifndef OCHE_DEVICE_VERBS_FACTS_H
#define OCHE_DEVICE_VERBS_FACTS_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base.h"

#define OV_PORT_NUM          1
#define OV_PKEY              UINT16_C(0xffff)
#define OV_LINE_RATE         (100 * OCHE_GBPS) /* where the link's rate is unknown */
#define OV_VENDOR            0xffffff          /* the value that soft-RoCE reports */
#define OV_PHYSICAL_LINK_UP  5
#define OV_PHYSICAL_DISABLED 3
#define OV_PORT_CAPABILITIES (IBV_PORT_CM_SUP | IBV_PORT_IP_BASED_GIDS)

/* A speed of a link, as the kernel has it for Ethernet (ib_get_eth_speed). */
struct oche_link_speed {
    uint64_t bps;         /* the highest rate that the row is for */
    uint8_t width, speed; /* active_width and active_speed of struct ibv_port_attr */
    uint8_t lanes;
    const char *generation; /* of InfiniBand, in the kernel's words: SDR, DDR, … */
    uint64_t shown_bps;     /* lanes times the rate of one */
};

/* Returns the first row that carries this rate; 0: OV_LINE_RATE. */
const struct oche_link_speed *oche_link_speed(uint64_t bps);

/* Writes the speed as the kernel's file `rate` has it: "100 Gb/sec (4X EDR)". */
void oche_link_speed_print(const struct oche_link_speed *speed, char *text, size_t bytes);

/*
 * Called when the port of the device with this address (in the form of a GID) goes down or comes up
 * in this process. liboche-files.so defines it; NULL if that library is not loaded.
 */
void oche_files_port_changed(const uint8_t ip[16], bool is_up)
    __attribute__((weak, visibility("default")));

/*
 * Called when a device of this process has written its view, the file `name` (device/view/):
 * `values` are those of core/qp/adapter_counters.h. As above.
 */
void oche_files_counted(const char *name, const uint8_t ip[16], const uint64_t *values)
    __attribute__((weak, visibility("default")));

#endif
