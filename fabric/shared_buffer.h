/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The packet memory that all ports of a switch share, accounted by ingress port and class for the
 * lossless classes (DCQCN sec 4; dcqcn.md#buffers, #a12):
 *
 *     headroom total   H = p * (sum over ports of the port's headroom), p PFC priorities; an
 *                      unused port of the chip has the largest headroom of the used ports
 *     shared part      S = B - H
 *     static  t_PFC    S / (p * ports), or xoff_bytes
 *     dynamic t_PFC    beta * (S - s) / p, where s bytes of the shared part are occupied,
 *                      including the packet that is being tested
 *
 * An ingress class is paused (XOFF) when it comes to hold more than t_PFC. Packets that arrive
 * after that go to the class's headroom, and are dropped only if the headroom is full. The class
 * resumes when it holds no more than max(0, t_PFC - xon_offset) and its headroom is empty; the
 * offset is 2 MTU (DCQCN sec 4) unless the configuration says otherwise.
 *
 * The paper leaves one thing open. The packet that crosses the threshold must be stored too, and
 * with a dynamic threshold near zero there may be no room for it. So the shared part has a reserve
 * for crossing packets: one MTU for each lossless ingress class. When only the reserve is left, any
 * class whose packet arrives is paused, whatever t_PFC is, and a class that is not empty resumes
 * only when the reserve is complete again. With the reserve no packet is lost as long as links
 * behave as the headroom assumes; t_PFC itself is the paper's. An empty class resumes at once,
 * because it uses none of the reserve; if it waited, two neighbours that are full of packets for
 * each other would wait for ever.
 *
 * Lossy classes (drop-tail) share S minus the reserve; see oche_buffer_has_lossy_room. The packet
 * path uses integers only: shares are in units of 2^-16.
 */
#ifndef OCHE_FABRIC_SHARED_BUFFER_H
#define OCHE_FABRIC_SHARED_BUFFER_H

#include "core/base.h"
#include "fabric/switch.h"

/* The state of one lossless class at one ingress port. */
struct oche_ingress {
    uint32_t bytes; /* bytes in the shared part and headroom together */
    uint32_t xoff : 1;
    uint32_t headroom_used : 31;
};

struct oche_buffer {
    uint64_t used;  /* s: bytes in the shared part */
    uint64_t size;  /* S */
    uint64_t limit; /* S minus the reserve for crossing packets */
    uint64_t base;  /* static t_PFC; 0 if the threshold is dynamic */
    uint64_t share; /* dynamic: beta / p in units of 2^-16; static: 0 */
    /*
     * Some paused ingress class may resume when `used` is at or below this level; -1: no class may.
     * The level may be too high, but never too low.
     */
    int64_t resume_level;
    uint32_t hysteresis;   /* how far below t_PFC a paused class resumes */
    uint32_t headroom_all; /* bytes in all headrooms, for the occupancy counter */
    uint64_t lossy_share;  /* egress_alpha in units of 2^-16; 0: no limit */
};

/* How a buffer is divided, computed from a configuration. All in bytes. */
struct oche_buffer_plan {
    unsigned priorities;     /* p, the number of PFC priorities */
    double beta;             /* beta of the dynamic threshold: a switch's alpha times p */
    uint64_t ports;          /* number of ports for which headroom is kept */
    uint64_t headroom_total; /* H */
    uint64_t reserve;        /* bytes reserved for crossing packets */
    uint64_t shared;         /* S; 0 if H exceeds the buffer */
    uint64_t xoff;           /* static t_PFC */
};

/*
 * Returns the headroom per class that the link of `port` needs: 2 C delay + C response + 2 MTU + a
 * PAUSE frame.
 */
uint64_t oche_buffer_headroom_needed(const struct oche_switch_config *config, unsigned port);
/*
 * Returns the headroom per class that the port gets: the configured headroom, or what the link
 * needs if none is configured. With less than the link needs, packets may be lost despite PFC.
 */
uint64_t oche_buffer_headroom(const struct oche_switch_config *config, unsigned port);
/* Returns how far below t_PFC a paused class resumes: the configured offset, or two frames. */
uint64_t oche_buffer_xon_offset(const struct oche_switch_config *config);
struct oche_buffer_plan oche_buffer_plan(const struct oche_switch_config *config);
void oche_buffer_init(struct oche_buffer *buffer, const struct oche_switch_config *config);

/*
 * The case for which to compute whether ECN acts before PFC (DCQCN sec 4; dcqcn.md#buffers). In the
 * worst case one ingress class has sent all the packets in the queues that it can feed, and all
 * other queues of the switch are as long. Then some queue of the `classes` classes is longer than t
 * before any ingress class is paused, if
 *
 *     m t <= t_PFC(s),   s = c n t,    m = fan_out, c = classes, n = ports
 *     static:  t <= t_PFC / m
 *     dynamic: t <= beta S / (p m + beta c n); with m = n, c = p: beta S / (p n (beta + 1))
 *
 * and, because of the reserve, if also c n t <= S - reserve.
 */
struct oche_buffer_worst {
    unsigned fan_out; /* egress ports that one ingress port can feed */
    unsigned classes; /* classes whose queues may reach length t at the same time */
};
/* Returns the largest t in bytes; it is at least 0, and Kmin must not exceed it. */
double oche_buffer_ecn_bound(const struct oche_switch_config *config,
                             struct oche_buffer_worst worst);
/* Like oche_buffer_ecn_bound, but without the reserve, which the paper does not have. */
double oche_buffer_ecn_bound_of_paper(const struct oche_switch_config *config,
                                      struct oche_buffer_worst worst);
/*
 * Returns the queue length in bytes at which PFC begins in a plain incast: all packets in the
 * switch are in one queue, and each of `fan_in` ingress ports has sent an equal part of them.
 */
double oche_buffer_incast_queue(const struct oche_switch_config *config, unsigned fan_in);

/* Returns t_PFC when the shared part holds `used` bytes. */
static inline uint64_t oche_buffer_xoff_at(const struct oche_buffer *buffer, uint64_t used)
{
    uint64_t unused = buffer->size > used ? buffer->size - used : 0;

    return buffer->base + (unused * buffer->share >> 16);
}

/*
 * Admits a packet of a lossless class to the shared part if it crosses no threshold. Otherwise
 * returns false and changes nothing; then oche_buffer_cross must decide.
 */
static inline bool oche_buffer_admit(struct oche_buffer *buffer, struct oche_ingress *in,
                                     uint32_t bytes)
{
    uint64_t used = buffer->used + bytes;
    uint64_t held = (uint64_t)in->bytes + bytes;

    if (OCHE_UNLIKELY(in->xoff || used > buffer->limit))
        return false;
    if (OCHE_UNLIKELY(held > buffer->base + ((buffer->size - used) * buffer->share >> 16)))
        return false;
    buffer->used = used;
    in->bytes = (uint32_t)held;
    return true;
}

enum oche_buffer_verdict { OCHE_BUFFER_STORED, OCHE_BUFFER_CROSSED, OCHE_BUFFER_FULL };

/*
 * Handles a packet that oche_buffer_admit refused; the port has `headroom` bytes of headroom per
 * class. Returns CROSSED: the packet is stored, and the class must be paused from now on; STORED:
 * the packet is in the headroom; FULL: there is no room for it.
 */
enum oche_buffer_verdict oche_buffer_cross(struct oche_buffer *buffer, struct oche_ingress *in,
                                           uint32_t bytes, uint32_t headroom);

/*
 * Drop-tail for lossy classes: true if there is room for `bytes`. They share S minus the reserve;
 * an egress queue, which now has `queued` bytes, gets at most egress_alpha times the bytes that are
 * free.
 */
static inline bool oche_buffer_has_lossy_room(const struct oche_buffer *buffer, uint32_t queued,
                                              uint32_t bytes)
{
    if (OCHE_UNLIKELY(buffer->used + bytes > buffer->limit))
        return false;
    return buffer->lossy_share == 0 ||
           (uint64_t)queued + bytes <= (buffer->limit - buffer->used) * buffer->lossy_share >> 16;
}

/* The same; if there is room, the bytes are taken. */
static inline bool oche_buffer_admit_lossy(struct oche_buffer *buffer, uint32_t queued,
                                           uint32_t bytes)
{
    if (!oche_buffer_has_lossy_room(buffer, queued, bytes))
        return false;
    buffer->used += bytes;
    return true;
}

/* Frees the memory of a leaving packet of a lossless class, first in the class's headroom. */
static inline void oche_buffer_release(struct oche_buffer *buffer, struct oche_ingress *in,
                                       uint32_t bytes)
{
    uint32_t from_headroom = 0;

    if (OCHE_UNLIKELY(in->headroom_used != 0)) {
        from_headroom = bytes < in->headroom_used ? bytes : in->headroom_used;
        in->headroom_used = (in->headroom_used - from_headroom) & INT32_MAX;
        buffer->headroom_all -= from_headroom;
    }
    in->bytes -= bytes;
    buffer->used -= bytes - from_headroom;
}

/*
 * Returns the highest occupancy of the shared part at which this paused class may resume.
 * INT64_MAX: the class may resume at any occupancy, because it is empty; -1: it may not resume
 * before some of its packets leave.
 */
int64_t oche_buffer_resume_level(const struct oche_buffer *buffer, const struct oche_ingress *in);

#endif
