/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a queue pair chooses among its paths (load-balancing.md#hosts). ECMP in the network takes a
 * packet's UDP source port as entropy: another port is another path, perhaps. A queue pair has
 * `count` such ports, and they are its paths, from 0 on. A scheme is one file here and one line in
 * registry.c. The schemes are those of uet-htsim (`uec_mp.cpp`).
 *
 * A scheme may learn what became of its packets: an ACK names the path of the packet that it
 * answers, and says whether that packet was marked (core/qp/spread.h).
 */
#ifndef OCHE_CORE_PATHS_PATHS_H
#define OCHE_CORE_PATHS_PATHS_H

#include "core/base.h"
#include "core/random.h"

OCHE_C_BEGIN

#define OCHE_MOST_PATHS    1024
#define OCHE_FIRST_ENTROPY 0xc000 /* UDP source ports from here on are entropy (rocev2.md) */
#define OCHE_ENTROPY_MASK  0x3fff

enum oche_path_news {
    OCHE_PATH_GOOD,    /* a packet was acknowledged, and not marked */
    OCHE_PATH_MARKED,  /* it was acknowledged and had CE */
    OCHE_PATH_LOST,    /* it is sent again because of a NAK */
    OCHE_PATH_TIMEOUT, /* it is sent again because of a timeout */
};

struct oche_path_scheme {
    const char *help; /* one line */
    bool hears;       /* has `hear`: ACKs must name paths, and data asks for marks */
    /* Returns the bytes of state for `count` paths, a power of two up to OCHE_MOST_PATHS. */
    size_t (*state_bytes)(uint32_t count);
    /* Initialises the state, which may have any content. */
    void (*start)(void *state, uint32_t count, struct oche_random random);
    /* Returns the path of the next packet, below `count`. */
    uint32_t (*choose)(void *state, oche_time now);
    /* Something has become known of a packet on `path`, which is below `count`. */
    void (*hear)(void *state, uint32_t path, enum oche_path_news news, oche_time now);
};

/* Packets of a reliable queue pair take several paths. */
struct oche_spreading {
    const struct oche_path_scheme *scheme; /* NULL: each queue pair has one path */
    uint16_t paths;                        /* their number: a power of two up to OCHE_MOST_PATHS */
    /* also if the peer takes what is overtaken for lost, or is not known to keep it */
    bool any_recovery;
    /*
     * A port names its path only modulo `paths`: on the wire a packet leaves from the socket whose
     * port has the same remainder (device/path/source_ports.h).
     */
    bool by_remainder;
};

/*
 * The names by which users choose; NULL ends the list. The first, "ecmp", is no scheme: a queue
 * pair has one path.
 */
extern const char *const oche_path_choices[];
/* Returns the scheme of a place in the list; NULL for the first. */
const struct oche_path_scheme *oche_path_scheme(uint32_t choice);

/* Returns the UDP source port of a path, where `base` is that of path 0. */
static inline uint16_t oche_path_port(uint16_t base, uint32_t path)
{
    return (uint16_t)(OCHE_FIRST_ENTROPY | ((base + path) & OCHE_ENTROPY_MASK));
}

/* Returns the path that has this port. It may be none of the queue pair's: any number. */
static inline uint32_t oche_path_of_port(uint16_t base, uint16_t port)
{
    return port < OCHE_FIRST_ENTROPY ? UINT32_MAX : (uint32_t)(port - base) & OCHE_ENTROPY_MASK;
}

/* The same, where a port names its path modulo `paths`, a power of two. */
static inline uint32_t oche_path_of_remainder(uint16_t base, uint16_t port, uint32_t paths)
{
    return (uint32_t)(port - base) & (paths - 1);
}

/* Returns the hash of a five-tuple with `port`, where `hash` is that with the port `base`. */
static inline uint32_t oche_path_hash(uint32_t hash, uint16_t base, uint16_t port)
{
    return port == base ? hash : (uint32_t)oche_mix64((uint64_t)hash << 16 | port);
}

OCHE_C_END

#endif
