/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which process of an address has which slot (sharing.h), and which one listens to which service
 * (services.h). Only processes of one user can ask or answer.
 *
 * Processes meet in a folder of their user's, mode 0700, in the first of these places that can be
 * used:
 *
 *   /dev/shm/oche-UID       memory; the folder of live views, too (view/place.h)
 *   /tmp/oche-UID
 *   /run/user/UID/oche      where somebody is logged in
 *   /run/oche-UID           root alone can make it
 *   /dev/shm/oche-UID-N     N is the user namespace, unless it is the first one: there UID may be
 *   /tmp/oche-UID-N         the number of several users outside, who have the places above
 *
 * If processes of the address have met in one of them already, it is that one, or none: who cannot
 * have a name there, as the file system is full, say, must not be where nobody meets it. Which
 * place it is does not depend on variables of the environment, nor on who is logged in now.
 *
 * Each address and port has a file there, net-NETWORK-ADDRESS-PORT. NETWORK is the network
 * namespace, since an address belongs to one and a folder does not. A name is a byte range of the
 * file with a lock (F_OFD_SETLK): a slot is the byte of its number, a service a range far behind
 * that. The kernel drops locks however a process dies, and a child that it has forked takes
 * none along once it has closed the descriptor. Nothing here waits for a lock, so a process that is
 * stopped stops no other.
 *
 * The process that has a slot also has a Unix datagram socket there, its inbox. Its name is the
 * file's name and ".SLOT". No other user can reach it. That matters because what is sent to a
 * socket may hold descriptors, and closing one may take its receiver arbitrarily long.
 *
 * The last process to go removes the file. What killed processes leave is used again, and is
 * removed by the first process of another address.
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
    int file;       /* its locks are our names; -1: none */
    dev_t device;   /* the file that was opened: programs close descriptors … */
    ino_t inode;    /* … that they do not know, and the next file gets the number */
    unsigned slot;  /* ours */
    char path[108]; /* the file's; a path of an inbox is at most as long as sun_path */
};

enum oche_names_result {
    OCHE_NAMES_TAKEN,     /* we have a slot, and an inbox */
    OCHE_NAMES_ALL_TAKEN, /* other processes have all slots */
    OCHE_NAMES_NOWHERE, /* there is no folder to meet in, or we cannot join those who meet there */
};

/*
 * Takes a slot, and binds the Unix datagram socket `inbox`. A line in `error` says why if that
 * cannot be.
 */
enum oche_names_result oche_names_open(struct oche_names *names, const struct oche_address *address,
                                       uint16_t port, int inbox, struct oche_error *error);
/* Gives all names up. */
void oche_names_close(struct oche_names *names);
/* In a forked child: closes its copy of the parent's descriptor. */
void oche_names_leave(struct oche_names *names);

/*
 * True if our file was removed: by the end of a session, for example, which takes /run/user/UID
 * with it, and with RemoveIPC the user's files in /dev/shm. New processes do not see us then.
 */
bool oche_names_lost(const struct oche_names *names);
/*
 * Makes the file again, takes our slot in it, and binds `inbox`. Returns false if that cannot be
 * now: another process may have the slot. Services must be taken again.
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
/* Returns the slot of the other process that has the service, or -1: none has it. */
int oche_names_service_slot(const struct oche_names *names, uint64_t id);

#endif
