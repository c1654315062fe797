/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small HTTP server for one page, /metrics. It answers GET alone, each connection once. A request
 * has at most 4 KiB and comes within a second; a client has ten seconds to take its answer. Sixteen
 * clients are served at a time. For one more the client that has been silent for longest is ended,
 * so that nobody keeps others away by connections that say nothing. One thread does all of it.
 */
#ifndef OCHE_CLI_STAT_SERVE_H
#define OCHE_CLI_STAT_SERVE_H

#include <sys/socket.h>

/*
 * Serves until a signal ends it. `view`: as in oche_views_read. Returns the command's exit status.
 */
int stat_serve(const struct sockaddr_storage *address, socklen_t bytes, const char *view);

#endif
