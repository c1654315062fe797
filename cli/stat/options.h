/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of `oche stat`. */
#ifndef OCHE_CLI_STAT_OPTIONS_H
#define OCHE_CLI_STAT_OPTIONS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

struct stat_options {
    double watch_s; /* seconds between two tables; 0: one table */
    uint64_t count; /* how many tables; 0: without end */
    bool qps, json;
    const char *view;   /* folder of the views; NULL: the usual folder of processes */
    bool view_is_given; /* given by --view, and not by OCHE_VIEW, whose folder programs create */
    bool listens;
    struct sockaddr_storage address; /* to listen at */
    socklen_t address_bytes;
};

/* Reads the arguments. Ends the program if they are wrong. Returns false if they are rejected. */
bool stat_options_read(struct stat_options *options, int argc, char **argv);

#endif
