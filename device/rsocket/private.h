/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that librspreload.so (device/rsocket/preload) needs besides rdma/rsocket.h. Our
 * librdmacm.so.1 exports these names with a version of ours. They return -1 with errno, as the
 * others do.
 */
#ifndef OCHE_DEVICE_RSOCKET_PRIVATE_H
#define OCHE_DEVICE_RSOCKET_PRIVATE_H

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>

#pragma GCC visibility push(default)

/* True if the descriptor is a socket over RDMA of this process. */
bool oche_rsocket_is(int descriptor);
/* Makes `to`, which the program may have, the socket's descriptor in place of `from`. */
int oche_rsocket_move(int from, int to);
/* Adds `copy`, the kernel's copy of the socket's descriptor, to the socket. */
int oche_rsocket_copied(int descriptor, int copy);
/* Makes the descriptor readable and writable when the socket is, for poll and epoll. */
int oche_rsocket_watch(int descriptor);
/*
 * Makes progress for watched sockets, for a thread that will wait in epoll. Returns false if there
 * are none; `sleeps`: the library's threads continue from now on.
 */
bool oche_rsocket_progress(bool sleeps);
/* Returns how many bytes can be received at once. */
ssize_t oche_rsocket_pending(int descriptor);
/* Like rconnect on a blocking socket, but gives up after `timeout` with ETIMEDOUT. */
int oche_rsocket_connect(int descriptor, const struct sockaddr *address, socklen_t bytes,
                         unsigned limit_ms);
/* True if there is a device towards the address, so that connecting may be tried. */
bool oche_rsocket_reaches(const struct sockaddr *address, socklen_t bytes);

/* Counts a connection over TCP, made because RDMA failed. */
void oche_rsocket_count_tcp(void);
#pragma GCC visibility pop

#endif
