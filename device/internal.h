/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declarations shared by the files of device/. The device:
 *
 *   device.c          opening and closing, the lock, progress, waiting
 *   objects.c         peers, memory, completion queues, queue pairs
 *   qp_numbers.c      the queue pair numbers that are free
 *   transmit.c        from the NIC's packets to datagrams
 *   receive.c         from datagrams to the NIC's packets
 *   link_packets.c    packets that go over links with faults (link/)
 *   event_packets.c   packets that scripted events apply to
 *   faults.c          both together
 *   refuse.c          requests for a connection where no process has a queue pair 1
 *   reorder_memory.c  memory for payloads that arrive behind a gap
 *   cc_tuning.c       congestion control's parameters, from the line's rate and round trips
 *   shared_senders.c  senders that the processes of one address count together
 *   queries.c         counters, losses, and the end of a capture
 *   snapshot.c        the counters and queue pairs that `oche stat` shows
 *
 * Its folders know nothing of struct oche_device:
 *
 *   link/    links with faults: what the user asks for, and packets under way
 *   host/    the clock, random numbers, memory, private folders, critical sections
 *   path/    addresses, sockets, ports, IP identifications, CRC, captures, delayed ACKs
 *   shared/  processes that share an address: names, slots, services, tables of senders
 */
#ifndef OCHE_DEVICE_INTERNAL_H
#define OCHE_DEVICE_INTERNAL_H

#include <stdatomic.h>

#include "core/cc/cc_advice.h"
#include "core/random.h"
#include "device/device.h"
#include "device/host/clock.h"
#include "device/host/critical_section.h"
#include "device/host/entropy.h"
#include "device/host/lock.h"
#include "device/incast.h"
#include "device/link/links.h"
#include "device/path/ack_delay.h"
#include "device/path/capture.h"
#include "device/path/peer_ports.h"
#include "device/path/peers.h"
#include "device/path/seen_addresses.h"
#include "device/path/socket.h"
#include "device/path/source_ports.h"
#include "device/qp_numbers.h"
#include "device/shared/management.h"
#include "device/shared/sharing.h"

#define OCHE_DEVICE_PULL 128 /* most packets that are made and sent together */
#define ALL_CLASSES      UINT8_C(0xff)

/*
 * Traffic class c is sent as class selector c, DSCP 8c. So the control class, 6, is DSCP 48, which
 * other vendors also use for CNPs (rocev2.md#dscp). ACKs have the class of data, so that both can
 * share datagrams, unless the configuration has ack_priority. Exception: if a packet's tag is not
 * 0, the tag is a ToS byte with the DSCP that its connection asked for. CNPs are always sent in the
 * control class.
 */
#define CONTROL_CLASS 6
#define CONTROL_MASK  (UINT8_C(1) << CONTROL_CLASS)
/* the bits of the DSCP in the ToS byte; the ECN bits are below */
#define DSCP_MASK   UINT32_C(0xfc)
#define CLASS_SHIFT 5 /* shift from a traffic class to its ToS byte */

/* A packet to be sent: its headers are written directly before the payload. */
struct outgoing {
    /* the payload, with room before it for headers, and after it for pad and ICRC */
    uint8_t *payload;
    uint8_t *bytes; /* the packet, from BTH on */
    uint32_t count; /* number of bytes, with the ICRC */
    uint16_t id;    /* IP identification */
    uint8_t port;   /* index in the device's source ports */
    bool lost;      /* true: the packet is not sent from here */
    bool on_link;   /* with `lost`: it is still to be put on a link */
};

/*
 * The packets that one pull sends from one port, in the order of the pull: a range of the
 * transmitter's arrays.
 */
struct lane {
    uint8_t port;
    unsigned first, end; /* range of `order` */
    /* index in `order`: packets before it are done with as far as the capture is concerned */
    unsigned captured;
    unsigned datagrams_end, unsent; /* indices in `datagrams`; the lane's first is at `first` */
    /* index in `order`: packets before it are counted in send_full, or have left */
    unsigned waited;
};

struct transmitter {
    struct oche_packet *packets; /* array of OCHE_DEVICE_PULL */
    struct oche_packet *pulled[OCHE_DEVICE_PULL];
    struct outgoing outgoing[OCHE_DEVICE_PULL];
    unsigned packet_count;
    oche_time pulled_at; /* time of the last pull */

    struct lane lanes[OCHE_MAX_SOURCE_PORTS];
    unsigned lane_count;
    uint64_t full; /* one bit per source port: its socket's buffer is full */
    /*
     * by source port: time since which its socket has been full and sent no datagram; 0: it is not
     * full
     */
    oche_time full_since[OCHE_MAX_SOURCE_PORTS];
    uint8_t order[OCHE_DEVICE_PULL];       /* indices of packets, sorted by lane */
    struct iovec pieces[OCHE_DEVICE_PULL]; /* indexed like `order` */
    struct oche_datagram_out datagrams[OCHE_DEVICE_PULL];
    uint8_t first_of[OCHE_DEVICE_PULL]; /* by datagram: index in `order` of its first packet */
    uint8_t *memory;
};

/* Memory for payloads of one kind that arrived behind a gap; NULL: none. */
struct reorder_memory {
    uint8_t *memory;
    uint32_t bytes;
};

/*
 * Precedes the memory of a completion queue or queue pair, and links this object into the device's
 * list.
 */
struct owned {
    struct owned *next, **link;
    /* The rest is for queue pairs only. */
    struct reorder_memory reorder[OCHE_HELD_KINDS];
    struct owned *next_full;      /* with reorder_full: the next one in device->first_full */
    bool reorder_full;            /* a payload had no room in `reorder` */
    bool chose_number;            /* its number came from device->numbers */
    uint8_t hung_checks;          /* checks in a row that found it hung (snapshot.c) */
    bool has_received;            /* it has received a packet from its peer */
    struct oche_peer_ports ports; /* from which its peer sends */
} __attribute__((aligned(OCHE_CACHE_LINE)));

static inline struct owned *device_owned(void *object)
{
    return (struct owned *)object - 1;
}

/*
 * IP identifications of a sender that is not a queue pair's peer; most of these send UD datagrams.
 * If two senders hash to the same place, the later one replaces the earlier.
 */
#define STRANGERS 64
struct stranger {
    struct oche_address address;
    struct oche_ip_ids ids;
};

/* For a member: it is accessed under the device's lock. */
#define GUARDED OCHE_GUARDED_BY(device_lock)

struct oche_device {
    struct oche_nic *nic GUARDED;
    struct oche_lock lock;        /* a lock of the kind device_lock */
    _Atomic uint32_t lock_wanted; /* threads in oche_device_lock; progress lets them go first */
    struct oche_clock clock;
    struct oche_address address;
    uint16_t port;
    struct oche_device_config config;
    size_t nic_bytes; /* size of the memory of `nic` */
    oche_time burst;  /* how far ahead packets are sent, so that they can share a datagram */
    bool paces;       /* the line's rate is known, and no more is sent than it carries */
    /* when the line will have carried all that was sent */
    oche_time line_free GUARDED;

    struct oche_socket socket;
    struct oche_source_ports source_ports;
    /* share.fd is -1 if the address is not shared … */
    struct oche_sharing share GUARDED;
    struct oche_error sharing_error; /* … and the reason, if the configuration asked for sharing */
    /* when to check whether our names were removed */
    oche_time names_check_at GUARDED;
    /* senders and bytes that other processes of the address count */
    struct oche_cc_elsewhere elsewhere GUARDED;
    /* version of our senders that was published last */
    uint32_t published_version GUARDED;
    /* number of processes that elsewhere.senders includes */
    unsigned counted_processes GUARDED;
    /* time of the last update; time of the next check for dead processes */
    oche_time senders_at GUARDED, dead_check_at GUARDED;
    /* the services that this process listens to */
    struct oche_services services GUARDED;
    /* receives since the last check for packets from other processes */
    unsigned quiet_receives GUARDED;
    /* receives in a row after which more datagrams may wait */
    unsigned full_receives GUARDED;
    _Atomic bool share_waiting; /* other processes have sent us packets */
    struct oche_peers peers GUARDED;
    struct device_incast *incast; /* NULL: none */
    /* addresses that have sent a packet, or whose silence was reported */
    struct oche_seen_addresses seen GUARDED;
    struct stranger strangers[STRANGERS] GUARDED;
    oche_crc32 *crc32;
    struct transmitter transmitter GUARDED;
    struct oche_ack_delay ack_delay GUARDED;
    _Atomic oche_time progressed; /* device time of the last progress */
    _Atomic bool posted;          /* work has been posted since packets were last sent */
    _Atomic bool has_unreliable;  /* a queue pair that is not RC was made */
    /* Packets that came on UC: until now, and when data last left on UC. Written under the lock. */
    _Atomic uint32_t unreliable_arrivals, unreliable_at_send;
    struct oche_datagram_in received[OCHE_SOCKET_IN] GUARDED;
    struct oche_links *links GUARDED;       /* NULL: none has faults */
    struct device_events *scripted GUARDED; /* NULL: no events are scripted */
    struct oche_capture *capture;
    /* header of the packet that the NIC is handling */
    const struct oche_ip_header *arriving GUARDED;
    /* completions must be reported when the lock is released */
    bool completed GUARDED;
    /* oche_device_progress_checked is making progress */
    bool checks_writes GUARDED;
    /* the process ends, so memory is read and written with a check */
    bool process_ends GUARDED;
    /* memory could not be read since the last pull began */
    bool unreadable GUARDED;

    _Atomic int watched[2]; /* more descriptors that end a wait; -1: none */
    int wake_fd;            /* an eventfd, readable while sleepers must wake up */
    _Atomic uint32_t events;
    _Atomic uint32_t waiting; /* threads in oche_device_wait */
    /* latest of the times at which the waiting threads wake by themselves */
    oche_time waiting_until GUARDED;

    /* the tables of memory regions; NULL: they are in the NIC's memory */
    void *regions GUARDED;
    size_t regions_bytes GUARDED;
    struct owned *cqs GUARDED, *qps GUARDED;
    /* queue pairs that need more memory for payloads behind a gap */
    struct owned *first_full GUARDED;
    uint32_t qp_count GUARDED; /* without the connection manager's */
    struct oche_qp_numbers numbers GUARDED;
    struct oche_entropy entropy GUARDED;
    void *cc_params, *recovery_params;
    struct oche_nic_habits habits;
    /* the network that cc_params suit */
    struct oche_cc_network network GUARDED;
    /* when to check whether the network has changed */
    oche_time tuning_at GUARDED;
    struct oche_trace trace;
    struct oche_trace_record trace_ring[1024];
    struct oche_device_stats stats GUARDED;
};

/*
 * Receives packets. Returns their number. Sets *now to the device time shortly before the return.
 */
unsigned device_receive(struct oche_device *device, oche_time *now) OCHE_NEEDS(device_lock);
/*
 * Handles a received datagram. Returns the number of its packets. Consecutive packets that are
 * forwarded together to another process count as one.
 */
unsigned device_take(struct oche_device *device, const struct oche_datagram_in *in, oche_time now)
    OCHE_NEEDS(device_lock);
/* Returns the packet's queue pair if it accepts packets from their sender, or NULL. */
struct oche_qp *device_receiver_of(struct oche_device *device, const struct oche_packet *packet)
    OCHE_NEEDS(device_lock);
/*
 * Writes the GRH that precedes a datagram's payload in the receive buffer; see struct
 * oche_nic_port.
 */
void device_grh(void *context, const struct oche_packet *packet, uint8_t grh[OCHE_GRH_BYTES])
    OCHE_NEEDS(device_lock);
/*
 * Answers a packet for queue pair 1 if there is none and it requests a connection: nobody listens
 * here (refuse.c).
 */
void device_refuse(struct oche_device *device, const struct oche_address *from,
                   const struct oche_packet *packet, oche_time now) OCHE_NEEDS(device_lock);
bool transmit_create(struct oche_device *device) OCHE_NEEDS(device_lock);
void transmit_destroy(struct oche_device *device) OCHE_NEEDS(device_lock);
/* Sends the packets that are due, until a socket's buffer is full. Returns their number. */
unsigned device_transmit(struct oche_device *device, oche_time now) OCHE_NEEDS(device_lock);
/*
 * Returns the next time at which something can be sent or a timer expires, unless something arrives
 * before.
 */
oche_time transmit_due(struct oche_device *device) OCHE_NEEDS(device_lock);
/* True if packets for the peer with this index wait for room in a socket's buffer. */
bool transmit_has_packets_for(const void *device, uint32_t index) OCHE_NEEDS(device_lock);
/* True if the device has what its scheme of paths needs; otherwise there is a line in `error`. */
bool device_suits_paths(const struct oche_device_config *config, struct oche_error *error);
/* Returns how packets are spread: over a power of two of paths, as many as there are ports. */
struct oche_spreading device_spreading(const struct oche_device_config *config);
/* Returns the source ports at which packets wait for room in the socket's buffer, one bit each. */
uint64_t transmit_full(const struct oche_device *device) OCHE_NEEDS(device_lock);
/*
 * Returns the time at which packets are dropped that wait for a full socket; OCHE_NEVER: none
 * waits.
 */
oche_time transmit_give_up_at(const struct oche_device *device) OCHE_NEEDS(device_lock);

/*
 * Sends everything that is due, with delayed ACKs, receives packets and acknowledges them, as an
 * RNIC would have done by now. Called before a queue pair is destroyed.
 */
void device_settle(struct oche_device *device) OCHE_NEEDS(device_lock);

/* Ends all waits that have begun. May also be called without the lock. */
void device_ring(struct oche_device *device);

/* Memory for payloads behind a gap (reorder_memory.c). */
/*
 * Allocates the first memory of each kind, if needed, for the queue pair that will be made at
 * `object`. Returns false if there is none.
 */
bool device_reorder_create(const struct oche_device *device, struct oche_qp_config *config,
                           void *object) OCHE_NEEDS(device_lock);
void device_reorder_free(struct oche_device *device, struct owned *owned) OCHE_NEEDS(device_lock);
/* The hook wants_room of struct oche_nic_port: notes the queue pair for device_reorder_grow. */
void device_reorder_note_full(void *context, struct oche_qp *qp) OCHE_NEEDS(device_lock);
/* Gives more memory to the queue pairs noted so far. */
void device_reorder_grow(struct oche_device *device) OCHE_NEEDS(device_lock);

/* Links with faults (link_packets.c); no call is needed without device->links. */
/* Opens the links of the configuration. Returns false, with an error, if memory is out. */
bool device_links_open(struct oche_device *device, struct oche_error *error)
    OCHE_NEEDS(device_lock);
/*
 * Puts a complete packet on the link to `to`. Returns false if there is none. `port`: index of the
 * source port; `tos`: DSCP and ECN.
 */
bool device_link_send(struct oche_device *device, const struct oche_address *to, unsigned port,
                      const uint8_t *bytes, uint32_t count, uint8_t tos, oche_time now)
    OCHE_NEEDS(device_lock);
/* Sends the packets that have crossed their links. Returns their number. */
unsigned device_links_transmit(struct oche_device *device) OCHE_NEEDS(device_lock);
/*
 * Puts a packet of the datagram on the link from its sender. Returns false if there is none.
 * `first`: the packet is the first one of the datagram.
 */
bool device_link_receive(struct oche_device *device, const struct oche_datagram_in *in,
                         const uint8_t *bytes, uint32_t count, bool first, oche_time now)
    OCHE_NEEDS(device_lock);
/* Gives the NIC the packets that have crossed their links. Returns their number. */
unsigned device_links_receive(struct oche_device *device, oche_time now) OCHE_NEEDS(device_lock);
/* Sends packets until none is on a link, for so long at most. The device gets no packets then. */
void device_links_finish(struct oche_device *device, oche_time longest) OCHE_NEEDS(device_lock);
/* Returns when to do either again, or OCHE_NEVER. */
oche_time device_links_next(const struct oche_device *device) OCHE_NEEDS(device_lock);

/* Scripted events (event_packets.c); no call is needed without device->scripted. */
/* Opens those of the configuration. Returns false, with an error, if memory is out. */
bool device_events_open(struct oche_device *device, struct oche_error *error)
    OCHE_NEEDS(device_lock);
/* NULL: nothing. */
void device_events_close(struct device_events *events);
/*
 * Looks at a packet of the datagram, as device_link_receive. Returns false if the device can go on
 * with it; true: the packet was dropped or kept, or the device has got it.
 */
bool device_event_receive(struct oche_device *device, const struct oche_datagram_in *in,
                          const uint8_t *bytes, uint32_t count, bool first, oche_time now)
    OCHE_NEEDS(device_lock);
/* Gives the NIC the delayed packets that are due. Returns their number. */
unsigned device_events_receive(struct oche_device *device, oche_time now) OCHE_NEEDS(device_lock);
/* Returns when to do so again, or OCHE_NEVER. */
oche_time device_events_next(const struct device_events *events);
/* Returns the number of packets that events have dropped. */
uint64_t device_events_dropped(const struct device_events *events);

/* Links and events together (faults.c); any of them may be missing. */
bool device_faults_open(struct oche_device *device, struct oche_error *error)
    OCHE_NEEDS(device_lock);
void device_faults_close(struct oche_device *device) OCHE_NEEDS(device_lock);
unsigned device_faults_receive(struct oche_device *device, oche_time now) OCHE_NEEDS(device_lock);
oche_time device_faults_next(const struct oche_device *device) OCHE_NEEDS(device_lock);
/* Sets the counts of packets that they have lost. */
void device_faults_count(const struct oche_device *device, struct oche_device_stats *stats)
    OCHE_NEEDS(device_lock);

void objects_destroy(struct oche_device *device) OCHE_NEEDS(device_lock);
extern const struct oche_nic_port device_port;

/* Counting senders together with other processes of the address (shared_senders.c). */
void device_senders_open(struct oche_device *device) OCHE_NEEDS(device_lock);
void device_senders_update(struct oche_device *device, oche_time now) OCHE_NEEDS(device_lock);

/* Tunes the parameters of congestion control to the network (cc_tuning.c). */
void device_tune_at_open(struct oche_device *device) OCHE_NEEDS(device_lock);
/*
 * incast.c: adds the device itself to its peers, with the index 0, and the hosts of an incast.
 * Returns false, with an error, if the list of hosts cannot be used.
 */
bool device_add_peers(struct oche_device *device, struct oche_error *error) OCHE_NEEDS(device_lock);
void device_tune(struct oche_device *device, oche_time now) OCHE_NEEDS(device_lock);

/*
 * Return our slot, and the descriptor of our inbox. Both stay the same until the device is closed,
 * so they are read without the lock.
 */
OCHE_UNCHECKED static inline unsigned device_slot(const struct oche_device *device)
{
    return device->share.slot;
}

OCHE_UNCHECKED static inline int device_inbox(const struct oche_device *device)
{
    return device->share.fd;
}

#endif
