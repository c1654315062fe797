/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of device/ share.
 *
 *   device.c     opening and closing, the lock, progress, waiting
 *   objects.c    peers, memory, completion queues, queue pairs
 *   receive.c    datagrams → packets → the NIC
 *   transmit.c   the NIC → packets → datagrams
 *   share.c      other processes on the same address; steer.c: the kernel's part in that
 *   source_ports.c  the UDP ports that packets leave from
 *   socket.c, address.c, peers.c, ip_id.c, clock.c, crc.c, capture.c
 */
#ifndef OCHE_DEVICE_INTERNAL_H
#define OCHE_DEVICE_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "core/random.h"
#include "device/capture.h"
#include "device/clock.h"
#include "device/device.h"
#include "device/hold.h"
#include "device/peers.h"
#include "device/share.h"
#include "device/socket.h"
#include "device/source_ports.h"

#define OCHE_DEVICE_PULL 128 /* most packets that are made and sent together */
#define ALL_CLASSES      UINT8_C(0xff)

/*
 * Traffic class c is sent as class selector c, DSCP 8c. So the control class, 6, is DSCP 48, which
 * other vendors also use for CNPs (rocev2.md#dscp); ACKs have the class of data, to share datagrams
 * with it. But if a packet's tag is not 0, it is a ToS byte whose DSCP is used; it has what a
 * connection asked for. CNPs are sent in the control class whatever their queue pair uses.
 */
#define CONTROL_CLASS 6
#define CONTROL_MASK  (UINT8_C(1) << CONTROL_CLASS)
#define DSCP_MASK     UINT32_C(0xfc) /* of the ToS byte; ECN is below it */
#define CLASS_SHIFT   5              /* … of the class selector */

/* A packet to be sent: its headers are written directly before the payload. */
struct outgoing {
    uint8_t
        *payload; /* with room for OCHE_MAX_HEADER_BYTES before it, and for pad and ICRC after it */
    uint8_t *bytes; /* from BTH on */
    uint32_t count; /* bytes up to the ICRC */
    uint16_t id;    /* IP identification */
    uint8_t port;   /* index in the device's source ports */
    bool lost;      /* lost on purpose */
};

/*
 * The packets that one pull sends from one port, in the order of the pull: a range of the arrays
 * below.
 */
struct lane {
    uint8_t port;
    unsigned first, end;            /* range of `order` */
    unsigned captured;              /* packets before it are in the capture */
    unsigned datagrams_end, unsent; /* range of `datagrams`, which begins at `first` */
};

struct transmitter {
    struct oche_packet *packets; /* OCHE_DEVICE_PULL */
    struct oche_packet *pulled[OCHE_DEVICE_PULL];
    struct outgoing outgoing[OCHE_DEVICE_PULL];
    unsigned packet_count;

    struct lane lanes[OCHE_MAX_SOURCE_PORTS];
    unsigned lane_count;
    uint64_t full; /* one bit for each port whose socket has no room for the rest */
    uint8_t order[OCHE_DEVICE_PULL];       /* indices of packets, sorted by lane */
    struct iovec pieces[OCHE_DEVICE_PULL]; /* indexed like `order` */
    struct oche_datagram_out datagrams[OCHE_DEVICE_PULL];
    uint8_t first_of[OCHE_DEVICE_PULL]; /* for each datagram, the place of its first packet */
    uint8_t *memory;
};

/* The memory of a completion queue or queue pair, in the device's list of them. */
struct owned {
    struct owned *next, **link;
} __attribute__((aligned(OCHE_CACHE_LINE)));

/*
 * Identifications of senders that are no peers, normally of datagrams. If two hash to the same
 * place, the later one wins.
 */
#define STRANGERS 64
struct stranger {
    struct oche_address address;
    struct oche_ip_ids ids;
};

struct oche_device {
    struct oche_nic *nic;
    pthread_mutex_t lock;
    _Atomic uint32_t lock_wanted; /* threads in oche_device_lock, for which progress makes way */
    struct oche_clock clock;
    struct oche_address address;
    uint16_t port;
    struct oche_device_config config;
    oche_time burst; /* how far ahead packets are sent, so that they can share a datagram */

    struct oche_socket socket;
    struct oche_source_ports source_ports;
    struct oche_sharing share;  /* its fd is -1 if the address is not shared */
    unsigned quiet_receives;    /* receives since others were last asked for packets of ours */
    _Atomic bool share_waiting; /* others have packets for us */
    struct oche_peers peers;
    struct stranger strangers[STRANGERS];
    oche_crc32 *crc32;
    struct transmitter transmitter;
    struct oche_hold hold;
    _Atomic oche_time progressed; /* when somebody last made progress */
    _Atomic bool posted;          /* work was posted since something was last sent */
    struct oche_datagram_in received[OCHE_SOCKET_IN];
    struct oche_random drop_sent, drop_received;
    struct oche_capture *capture;
    const struct oche_ip_header *arriving; /* header of the packet that the NIC is handling */
    bool completed; /* completions are to be reported when the lock is released; under the lock */
    bool aside;     /* progress is being made beside the program; under the lock */

    int wake_fd; /* readable: sleepers must look */
    _Atomic uint32_t events;
    _Atomic uint32_t waiting; /* threads in oche_device_wait */
    oche_time waiting_until;  /* by the last of them, as the others may have left; under the lock */

    struct owned *cqs, *qps;
    uint32_t next_qpn, first_qpn, last_qpn;
    struct oche_random keys;
    void *cc_params, *recovery_params;
    struct oche_trace trace;
    struct oche_trace_record trace_ring[1024];
    struct oche_device_stats stats;
};

/* All of these are called under the lock. */
/* Receives what has arrived; *now becomes about the time when that was done. */
unsigned device_receive(struct oche_device *device, oche_time *now);
/* Handles one of these datagrams. Returns how many packets it held. */
unsigned device_take(struct oche_device *device, const struct oche_datagram_in *in, oche_time now);
/* Writes what precedes a datagram's payload in the receive buffer; see struct oche_nic_port. */
void device_grh(void *context, const struct oche_packet *packet, uint8_t grh[OCHE_GRH_BYTES]);
bool transmit_create(struct oche_device *device);
void transmit_destroy(struct oche_device *device);
/* Returns the number of packets sent; stops if a socket is full. */
unsigned device_transmit(struct oche_device *device, oche_time now);
/* Returns when there is something to send, or a timer expires, if nothing arrives. */
oche_time transmit_due(struct oche_device *device);
/* Returns the source ports at which packets wait for room in the socket's buffer, one bit each. */
uint64_t transmit_full(const struct oche_device *device);

/* Ends all waits that have begun. May also be called without the lock. */
void device_ring(struct oche_device *device);

void objects_destroy(struct oche_device *device);
extern const struct oche_nic_port device_port;

/* Returns true with a probability of `ppm` in a million. */
static inline bool by_chance(struct oche_random *random, uint32_t ppm)
{
    return ppm != 0 && oche_random_below(random, 1000000) < ppm;
}

#endif
