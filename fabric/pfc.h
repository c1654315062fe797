/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PFC towards the upstream: which ingress classes should be paused, what the upstream was told, and
 * the frames that are due (DCQCN sec 4; dcqcn.md#a12, rocev2.md#pfc). An XOFF carries the maximum
 * quanta. While the class should stay paused, the XOFF is repeated (refreshed) when half of these
 * quanta have passed. An XON carries quanta 0. A frame covers all classes of its port: every paused
 * class again, and every class to resume. If a class may resume before its XOFF has left, no frame
 * is sent for the class.
 *
 * The shared buffer decides whether a class should be paused. When the shared occupancy falls,
 * every paused class is tested again, in the order of ports and classes. As long as no class can
 * resume, this costs only one comparison per packet, with the buffer's resume_level.
 */
#ifndef OCHE_FABRIC_PFC_H
#define OCHE_FABRIC_PFC_H

#include "core/base.h"
#include "core/wire/packet.h"
#include "fabric/shared_buffer.h"
#include "fabric/switch.h"

#define OCHE_PFC_MAX_QUANTA UINT16_MAX

struct oche_pfc_port {
    uint32_t headroom;    /* bytes per class */
    uint8_t told;         /* mask of the classes that the upstream was last told to pause */
    bool refresh;         /* a refresh is due */
    bool named;           /* the port is in oche_pfc.named */
    oche_time refresh_at; /* when the next refresh is due, or OCHE_NEVER */
    oche_time half_time;  /* half the duration of the maximum quanta */
    oche_time since[OCHE_CLASSES]; /* start of the pause of each class in `told` */
    uint64_t sent[OCHE_CLASSES], refreshes[OCHE_CLASSES];
    oche_time total[OCHE_CLASSES]; /* ended pauses since the last reset, summed */
};

struct oche_pfc {
    struct oche_pfc_port *ports;
    uint8_t *want;       /* for each port, the mask of the classes that should be paused */
    uint32_t *named;     /* ports that have got a frame to send, oldest first */
    uint32_t named_head; /* number of entries that were taken from `named` so far */
    uint32_t named_count;
};

struct oche_switch;

/*
 * Handles a packet that oche_buffer_admit refused at (port, cls). Returns false if it must be
 * dropped.
 */
bool oche_pfc_admit(struct oche_switch *sw, unsigned port, unsigned cls, uint32_t bytes);
/*
 * Tests which classes may resume, after a packet of (port, cls) has left while some class is
 * paused.
 */
void oche_pfc_test_resume(struct oche_switch *sw, unsigned port, unsigned cls);
/* Handles the refresh timer of `port`. */
void oche_pfc_expire(struct oche_switch *sw, unsigned port, oche_time now);
/*
 * To be called when the link of `port` goes down. The upstream forgets what it was told, and is
 * told nothing more.
 */
void oche_pfc_link_down(struct oche_switch *sw, unsigned port, oche_time now);
/* To be called when the link is up again. Tells the upstream what should be paused. */
void oche_pfc_link_up(struct oche_switch *sw, unsigned port);
void oche_pfc_reset(struct oche_pfc_port *port, oche_time now);
/* Returns for how long the upstream was paused since the last reset, up to `now`. */
oche_time oche_pfc_time(const struct oche_pfc_port *port, unsigned cls, oche_time now);

#endif
