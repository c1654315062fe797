/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the judges' trace from packets that passed a place, in order: finds out what happened to
 * each, and which ACKs, NACKs, CNPs and READ requests belong to which data (ways.h).
 */
#ifndef OCHE_LAB_CHECK_NIC_WATCH_H
#define OCHE_LAB_CHECK_NIC_WATCH_H

#include "core/wire/packet.h"
#include "fabric/packet_events.h"
#include "lab/check_nic/trace.h"

/* How the packets were seen. */
enum oche_watch_place {
    OCHE_WATCH_BEFORE, /* before the events: what is lost is seen */
    OCHE_WATCH_BEHIND, /* behind them: what is lost is not seen, and the script says what it was */
    OCHE_WATCH_TOLD,   /* the caller says what happened to each packet */
};

struct oche_nic_watch;

/* Properties of the test that the watch needs. */
struct oche_watch_config {
    const struct oche_packet_event *events; /* is copied */
    uint32_t event_count;
    enum oche_watch_place place;
    uint64_t mtu_bytes, message_packets;
};

struct oche_nic_watch *oche_nic_watch_create(const struct oche_watch_config *config);
void oche_nic_watch_free(struct oche_nic_watch *watch);

/*
 * Takes the next packet, whose src and dst number the addresses. `number` counts packets of the
 * capture. `event`: an enum oche_seen_event; the caller says that a packet is damaged, or marked,
 * and for TOLD also that it is lost. Other packets than RC's are ignored.
 */
void oche_nic_watch_see(struct oche_nic_watch *watch, const struct oche_packet *packet,
                        oche_time when, uint64_t number, enum oche_seen_event event);

/* Results of a watch. */
struct oche_watched {
    struct oche_nic_trace trace; /* belongs to the watch */
    uint64_t strangers; /* answers to data that was not seen; packets of too many queue pairs */
    uint64_t events, events_seen; /* those of the script, and those of them that happened */
    uint64_t first_left;          /* number of the first event that did not, if any */
    uint64_t contradicted;        /* TOLD: packets with another fate than the script says */
};
/* To be called once, after the last packet. */
struct oche_watched oche_nic_watch_finish(struct oche_nic_watch *watch);

/* Returns the name of an enum oche_seen_kind: data, ACK, NACK, CNP, READ. */
const char *oche_seen_kind_name(unsigned kind);

#endif
