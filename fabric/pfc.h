/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PFC towards the upstream: which ingress classes we want paused, what the upstream has been told,
 * and the frames that are due (DCQCN sec 4; REFERENCE A12, F.6). An XOFF carries the maximum
 * quanta and is refreshed at half of them while the class is still to be paused; an XON carries
 * quanta 0. A frame says all about its port: every paused class anew, and every class resumed.
 * If a class resumes before the frame that would have paused it has left, none is sent.
 *
 * Whether a class is to be paused is the shared buffer's decision. When the shared occupancy
 * falls, every paused class is tested again, in the order of ports and classes; the buffer's
 * resume_level makes that one comparison a packet as long as none can resume.
 */
#ifndef OCHE_FABRIC_PFC_H
#define OCHE_FABRIC_PFC_H

#include "core/base.h"
#include "core/wire/packet.h"
#include "fabric/shared_buffer.h"
#include "fabric/switch.h"

#define OCHE_PFC_MAX_QUANTA UINT16_MAX

struct oche_pfc_port {
    uint32_t headroom;             /* bytes per class */
    uint8_t told;                  /* classes that the upstream was last told to stop */
    bool refresh;                  /* a refresh is due */
    bool named;                    /* waits in oche_pfc.named */
    oche_time refresh_at;          /* or OCHE_NEVER */
    oche_time half_time;           /* of the maximum quanta */
    oche_time since[OCHE_CLASSES]; /* told at, for classes in `told` */
    uint64_t sent[OCHE_CLASSES], refreshes[OCHE_CLASSES];
    oche_time total[OCHE_CLASSES]; /* of pauses that have ended */
};

struct oche_pfc {
    struct oche_pfc_port *ports;
    uint8_t *want;       /* by port: classes to be paused */
    uint32_t *named;     /* ports that got a frame to send, oldest first */
    uint32_t named_head; /* entries taken so far */
    uint32_t named_count;
};

struct oche_switch;

/* A packet that oche_buffer_admit refused at (port, cls); false: it must be dropped. */
bool oche_pfc_admit(struct oche_switch *sw, unsigned port, unsigned cls, uint32_t bytes);
/* A packet of (port, cls) has left while some class is paused: tests who may resume. */
void oche_pfc_test_resume(struct oche_switch *sw, unsigned port, unsigned cls);
/* The refresh timer of `port`. */
void oche_pfc_expire(struct oche_switch *sw, unsigned port, oche_time now);
/* The link of `port` goes down: the upstream is told nothing any more, and has forgotten all. */
void oche_pfc_link_down(struct oche_switch *sw, unsigned port, oche_time now);
/* It is there again, and is told what is to be paused. */
void oche_pfc_link_up(struct oche_switch *sw, unsigned port);
void oche_pfc_reset(struct oche_pfc_port *port, oche_time now);
/* Time that the upstream was held paused since the last reset, up to `now`. */
oche_time oche_pfc_time(const struct oche_pfc_port *port, unsigned cls, oche_time now);

#endif
