/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small HTTP server for one page, /metrics. It answers only GET, and each connection once. A
 * request has at most 4 KiB and must come within a second. A client has ten seconds to take its
 * answer. Sixteen clients are served at a time. For one more, the client with the longest silence
 * is closed, so silent connections cannot block others. One thread does all of it.
 */
#ifndef OCHE_CLI_STAT_SERVE_H
#define OCHE_CLI_STAT_SERVE_H

#include <sys/socket.h>

/*
 * Serves until a signal ends it. `view`: as in oche_views_read. Returns the command's exit status.
 */
int stat_serve(const struct sockaddr_storage *address, socklen_t bytes, const char *view);

#endif
