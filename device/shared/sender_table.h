/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Senders that the processes of one address count together (Dart, ToN 2020, sec III), because they
 * share the address's line. Each process has a table in its own memory, which only it writes: its
 * active senders, and the bytes that have arrived. The others map it read-only. They get its
 * descriptor after they have proved that they run as our user (sharing.h); a seal prevents writing.
 * So there are no files, and other users cannot get one. The kernel frees the memory when the last
 * process has ended.
 *
 * Another process's table is not trusted: its size is sealed, its numbers have limits, and a table
 * that changes while it is read is read again later. At worst a process of our user makes others
 * count OCHE_SENDERS_PER_TABLE more senders.
 *
 * Reading all tables takes neither a lock nor a system call.
 */
#ifndef OCHE_DEVICE_SHARED_SENDER_TABLE_H
#define OCHE_DEVICE_SHARED_SENDER_TABLE_H

#include <sys/types.h>

#include "core/base.h"
#include "device/path/address.h"

#define OCHE_SENDERS_PER_TABLE 1024 /* of one process, in its table */
#define OCHE_SENDERS_MOST      4096 /* of all processes together */

struct sender_memory;

/* Another process's table, as we saw it last. */
struct oche_sender_view {
    const struct sender_memory *table; /* NULL: it has none */
    ino_t inode;
    uint64_t bytes;   /* bytes that had arrived at that time */
    uint32_t version; /* version of the senders that we have counted; odd: they were changing */
    oche_time lively; /* when the table last changed */
    bool silent;      /* unchanged for SILENCE, so its senders no longer count */
};

struct oche_sender_table {
    int fd; /* our table; -1: we count no senders, or memory was out */
    struct sender_memory *own;
    uint64_t *ids;     /* OCHE_SENDERS_PER_TABLE, for reading another table */
    uint64_t *counted; /* a hash table of senders, for counting; 0: free */
    uint32_t own_count;
    oche_time again; /* time of the next count */
    bool stale;      /* a table has changed since they were counted */
};

/* Makes our table. Returns false if there is no memory. */
bool oche_sender_table_open(struct oche_sender_table *table);
void oche_sender_table_close(struct oche_sender_table *table);

/* Returns a sender's ID in tables: a process of a host, by its address and its slot. */
uint64_t oche_sender_id(const struct oche_address *address, unsigned slot);

/* Publish our senders, at most OCHE_SENDERS_PER_TABLE, and the bytes on the line that have arrived.
 */
void oche_sender_table_publish(struct oche_sender_table *table, const uint64_t *ids,
                               uint32_t count);
void oche_sender_table_set_bytes(struct oche_sender_table *table, uint64_t bytes);

/*
 * Maps another process's table, and takes over the descriptor. Does nothing if it is not a table of
 * sealed size.
 */
void oche_sender_view_open(struct oche_sender_view *view, int fd, oche_time now);
void oche_sender_view_close(struct oche_sender_view *view);

/*
 * Checks a table for changes. Returns the bytes that have arrived there since the last call, at
 * most `most`.
 */
uint64_t oche_sender_view_update(struct oche_sender_table *table, struct oche_sender_view *view,
                                 oche_time now, uint64_t most);
/*
 * Returns how many senders other processes have and we do not have. `views` has `count` of our
 * senders.
 */
uint32_t oche_sender_table_count_others(struct oche_sender_table *table,
                                        struct oche_sender_view *const *views, unsigned count);

#endif
