/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The slots of an address's processes (sharing.h), and the services that they listen to
 * (services.h). Only processes of one user see each other.
 *
 * Processes meet in a private folder, mode 0700, in the first usable one of these places:
 *
 *   /dev/shm/oche-UID       memory; the folder of live views, too (view/place.h)
 *   /tmp/oche-UID
 *   /run/user/UID/oche      where somebody is logged in
 *   /run/oche-UID           root alone can make it
 *   /dev/shm/oche-UID-N     N is the user namespace, unless it is the first one: there UID may be
 *   /tmp/oche-UID-N         the number of several users outside, who have the places above
 *
 * If processes of the address have met in one of them already, a new one joins them there, or has
 * no name at all: elsewhere it would meet nobody, even if the file system there is full. The choice
 * does not depend on environment variables, nor on who is logged in now.
 *
 * Each address and port has a file there, net-NETWORK-ADDRESS-PORT. NETWORK is the network
 * namespace, since an address belongs to one and a folder does not. A name is a locked byte range
 * of the file (F_OFD_SETLK): a slot is the byte of its number, a service a range far behind, and a
 * process with a queue pair 1 has one more byte between them. The kernel drops the locks when the
 * process ends. A forked child keeps none once it has closed the descriptor. Locks are never waited
 * for, so a stopped process blocks no other.
 *
 * Each slot has an inbox there: a Unix datagram socket whose name is the file's name and ".SLOT".
 * Other users cannot reach it: they could send descriptors, and closing one may take a long time.
 *
 * The last process removes the file. Files of killed processes are used again, or are removed by
 * the first process of another address.
 */
#ifndef OCHE_DEVICE_SHARED_NAMES_H
#define OCHE_DEVICE_SHARED_NAMES_H

#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#include "core/base.h"
#include "device/path/address.h"
#include "params/error.h"

struct oche_names {
    int file;       /* the file in which locks stand for names; -1: no file */
    dev_t device;   /* identity of the file, since programs may close unknown descriptors … */
    ino_t inode;    /* … and the next file gets the number */
    unsigned slot;  /* ours */
    char path[108]; /* the file's; a path of an inbox is at most as long as sun_path */
};

enum oche_names_result {
    OCHE_NAMES_TAKEN,     /* we have a slot, and an inbox */
    OCHE_NAMES_ALL_TAKEN, /* other processes have all slots */
    OCHE_NAMES_NOWHERE,   /* no folder is usable, or the folder of the other processes is not */
};

/*
 * Takes a slot, and binds the Unix datagram socket `inbox`. On failure a line in `error` gives the
 * reason.
 */
enum oche_names_result oche_names_open(struct oche_names *names, const struct oche_address *address,
                                       uint16_t port, int inbox, struct oche_error *error);
/* Releases all names. */
void oche_names_close(struct oche_names *names);
/* In a forked child: closes its copy of the parent's descriptor. */
void oche_names_leave(struct oche_names *names);

/*
 * True if our file was removed. The end of a session, for example, removes /run/user/UID, and with
 * RemoveIPC the user's files in /dev/shm. New processes do not see us then.
 */
bool oche_names_lost(const struct oche_names *names);
/*
 * Makes the file again, takes our slot in it, and binds `inbox`. Returns false if that is not
 * possible now, as another process has the slot. The caller takes its services again.
 */
bool oche_names_restore(struct oche_names *names, const struct oche_address *address, uint16_t port,
                        int inbox);

/* True if another process has the slot. */
bool oche_names_slot_taken(const struct oche_names *names, unsigned slot);
/* Writes the address of a slot's inbox. Returns its length. */
socklen_t oche_names_inbox(const struct oche_names *names, unsigned slot,
                           struct sockaddr_un *inbox);

/* Takes a service. Returns false, with errno, if another process has it: EADDRINUSE. */
bool oche_names_take_service(const struct oche_names *names, uint64_t id);
void oche_names_release_service(const struct oche_names *names, uint64_t id);
/* Returns the slot of another process that has the service; -1: none. */
int oche_names_service_slot(const struct oche_names *names, uint64_t id);

/* Lets other processes know that this one has a queue pair 1. Returns false, with errno, if not. */
bool oche_names_take_manager(const struct oche_names *names);
void oche_names_release_manager(const struct oche_names *names);
/* Returns the slot of another process that has a queue pair 1; -1: none. */
int oche_names_manager_slot(const struct oche_names *names);

#endif
