/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The links of a device: what `--link` asks for (spec.h), for each rule and direction. A packet
 * that leaves or arrives becomes a parcel, which waits at the link's port, if the link has a rate,
 * and then is on its way. The model is fabric's (link_port.h, link.h, ecn.h); the device asks when
 * the next parcel is due, as it asks for its timers.
 *
 * All calls are made under the device's lock. Times are the device's.
 */
#ifndef OCHE_DEVICE_LINK_LINKS_H
#define OCHE_DEVICE_LINK_LINKS_H

#include "device/host/clock.h"
#include "device/link/report.h"
#include "device/link/shared_port.h"
#include "device/link/spec.h"

#define OCHE_NO_LINK (-1)

struct oche_links;

struct oche_links_config {
    const struct oche_link_plan *plan; /* copied; NULL: no rules yet */
    const struct oche_clock *clock;    /* the device's; must outlive the links */
    uint64_t seed;                     /* for rules without one */
    uint32_t packet_bytes;             /* longest packet, from BTH to ICRC */
    /* beginning of the path of shared ports (shared_port.h); NULL: ports are not shared */
    const char *path;
};

/* Returns NULL, with a line in `error`, if memory is out. */
struct oche_links *oche_links_open(const struct oche_links_config *config,
                                   struct oche_error *error);
/* NULL: nothing. */
void oche_links_close(struct oche_links *links);
/* In a forked child: closes its copies of descriptors. NULL: nothing. */
void oche_links_leave(struct oche_links *links);

/*
 * Changes links at run time, by KEY=VALUE,… (spec.h), in these directions: to one peer, or to all
 * if `peer` is NULL. Peers without a link get one. The change ends at `until`, or by
 * oche_links_restore; steps of the rules go on below it. Returns false, with an error and without a
 * change; errno is EINVAL (the text is wrong), ENOSPC (no room for a link or a change) or ENOMEM.
 */
bool oche_links_change(struct oche_links *links, uint8_t directions,
                       const struct oche_address *peer, const char *text, oche_time now,
                       oche_time until, struct oche_error *error);
/*
 * While `cut` is set, all packets of all peers are lost, whatever the links say. Returns false if
 * there is no room for links.
 */
bool oche_links_cut(struct oche_links *links, bool cut);
/* Ends all changes: the links are again as the rules say. */
void oche_links_restore(struct oche_links *links, oche_time now);
/* Writes which links are in force, with the changes of each; empty: no link has a fault. */
void oche_links_list(struct oche_links *links, oche_time now, char *text, size_t bytes);

/* A packet on its way. The caller fills in what it needs to go on with the packet. */
struct oche_parcel {
    uint8_t *bytes;
    uint32_t count;           /* bytes from BTH to ICRC */
    uint8_t tos;              /* DSCP and ECN; the link may mark it */
    struct oche_address peer; /* where it goes, or comes from */
    uint16_t port;            /* leaving: index of its source port; arriving: the sender's port */
    bool first;               /* arriving: of its datagram */
    bool passed_on;           /* arriving: as in struct oche_datagram_in */

    /* the links' own */
    uint8_t link;
    bool waits;    /* at the port; else it is on its way */
    uint32_t line; /* number of the line that it waits for; 0: none */
    uint32_t frame_bytes;
    struct oche_link_departure departure;
    struct oche_link_fate fate;
};

/* Returns the link to or from an address, or OCHE_NO_LINK. `direction`: OCHE_LINK_IN or _OUT. */
int oche_links_find(const struct oche_links *links, uint8_t direction,
                    const struct oche_address *peer);

/*
 * Puts a packet on a link: `count` bytes at `bytes`, in a frame of `frame_bytes` (Ethernet header
 * to FCS). Returns the parcel, of which the caller fills in the rest; NULL: the packet is lost.
 */
struct oche_parcel *oche_links_send(struct oche_links *links, int link, oche_time now,
                                    const uint8_t *bytes, uint32_t count, uint32_t frame_bytes,
                                    uint8_t tos);

/*
 * Returns the next parcel that has arrived by `now` in this direction, or NULL. The caller gives
 * it back before it asks for the next one.
 */
struct oche_parcel *oche_links_arrived(struct oche_links *links, uint8_t direction, oche_time now);
/* Gives a parcel back. A duplicate comes again. */
void oche_links_done(struct oche_links *links, struct oche_parcel *parcel);

/* Gives a parcel back that cannot go on yet: it comes again at `when`. */
void oche_links_defer(struct oche_links *links, struct oche_parcel *parcel, oche_time when);

/* Returns when to call oche_links_arrived for this direction, or OCHE_NEVER. */
oche_time oche_links_next(const struct oche_links *links, uint8_t direction);
/* Returns when the last packet that has left will have crossed its link; 0: none will. */
oche_time oche_links_last(const struct oche_links *links);
/* Returns the number of packets that links of this direction have lost. */
uint64_t oche_links_lost(const struct oche_links *links, uint8_t direction);

/* Returns what the links have done so far. */
struct oche_links_report oche_links_report(const struct oche_links *links);

#endif
