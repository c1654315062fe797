/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The protocol of stream sockets over RDMA. It is rdma-core's protocol, so either end may run
 * rdma-core's library. The layout is taken from rdma-core 44 (librdmacm/docs/rsocket, and
 * librdmacm/rsocket.c where that page is silent). These functions do no I/O.
 *
 * A connection begins with a hello of 40 bytes in the private data of the REQ and of the REP: the
 * number of messages in flight, the address of the list of places, and the first place. A place is
 * memory that the peer may write to. After that all messages are RDMA WRITEs with immediate data:
 * data into the current place, a new place into the list, or only the 32 bits of the immediate,
 * which give the kind of message.
 */
#ifndef OCHE_DEVICE_RSOCKET_WIRE_H
#define OCHE_DEVICE_RSOCKET_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RS_HELLO_BYTES 40
#define RS_PLACE_BYTES 16 /* in a list of places */
#define RS_IOMAP_BYTES 24
#define RS_VERSION     1
#define RS_MOST_PLACES 64 /* in a peer's list; rdma-core has 2 */
#define RS_MOST_VALUE  0x1fffffff

enum rs_message {
    RS_MESSAGE_DATA = 0,   /* the value: how many bytes were written */
    RS_MESSAGE_CREDIT = 4, /* how many messages of data may be sent in all, modulo 65536 */
    RS_MESSAGE_IOMAP = 6,  /* entry of the iomap that was written */
    RS_MESSAGE_CONTROL = 7 /* enum rs_control */
};

enum rs_control {
    RS_CONTROL_DISCONNECT = 0, /* the sender neither sends nor takes anything any more */
    RS_CONTROL_KEEPALIVE = 1,
    RS_CONTROL_SHUTDOWN = 2 /* the sender will not send any more data */
};

struct rs_place {
    uint64_t address;
    uint32_t key;
    uint32_t length;
};

struct rs_hello {
    bool big_endian; /* bytes of a place, or an iomap, in the sender's memory */
    bool iomap;      /* the list of places is followed by an iomap */
    uint16_t credits;
    uint32_t iomaps;        /* number of entries in the sender's iomap */
    struct rs_place places; /* the sender's list; its length is a number of entries */
    struct rs_place buffer; /* the first place */
};

/* A mapping of the peer's for riowrite: the place that begins at `offset`. */
struct rs_iomap {
    uint64_t offset;
    struct rs_place place;
};

void rs_hello_write(const struct rs_hello *hello, uint8_t bytes[RS_HELLO_BYTES]);
/* Returns NULL, or the fault of the bytes. */
const char *rs_hello_read(const uint8_t *bytes, size_t count, struct rs_hello *hello);

/* Returns the number of entries of an iomap, rounded down to what the hello's byte can express. */
uint32_t rs_iomaps_rounded(uint32_t iomaps);

/* In the byte order of this processor. `value` is at most RS_MOST_VALUE. */
uint32_t rs_immediate(enum rs_message message, uint32_t value);
enum rs_message rs_immediate_message(uint32_t immediate);
uint32_t rs_immediate_value(uint32_t immediate);

/* Entries of lists: in the byte order of this processor, or swapped for a peer that has another. */
void rs_place_write(const struct rs_place *place, bool swap, uint8_t bytes[RS_PLACE_BYTES]);
struct rs_place rs_place_read(const uint8_t bytes[RS_PLACE_BYTES], bool swap);
void rs_iomap_write(const struct rs_iomap *iomap, bool swap, uint8_t bytes[RS_IOMAP_BYTES]);
struct rs_iomap rs_iomap_read(const uint8_t bytes[RS_IOMAP_BYTES], bool swap);

/* True if the place has bytes and does not reach beyond the end of the address space. */
bool rs_place_is_sound(const struct rs_place *place);

/* True on processors whose memory is big-endian. */
bool rs_is_big_endian(void);

#endif
