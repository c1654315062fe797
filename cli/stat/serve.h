/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small HTTP server for one page, /metrics. It answers GET alone, each connection once; a request
 * has at most 4 KiB and a client ten seconds for all; sixteen clients are served at a time, and
 * others wait. One thread does all of it.
 */
#ifndef OCHE_CLI_STAT_SERVE_H
#define OCHE_CLI_STAT_SERVE_H

#include <sys/socket.h>

/*
 * Serves until a signal ends it. `view`: as in oche_views_read. Returns the command's exit status.
 */
int stat_serve(const struct sockaddr_storage *address, socklen_t bytes, const char *view);

#endif
