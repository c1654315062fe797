/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The messages of a file of Chakra, plain or compressed by gzip: each a varint with its length, and
 * its bytes. Memory holds one of them.
 */
#ifndef OCHE_SIM_GRAPH_CHAKRA_FRAMES_H
#define OCHE_SIM_GRAPH_CHAKRA_FRAMES_H

#include "core/base.h"
#include "params/error.h"

#include <zlib.h>

struct oche_chakra_frames {
    const char *path; /* for errors; owned by the caller */
    gzFile file;
    uint8_t *bytes; /* of the message last read */
    size_t count, room;
    uint64_t at, next; /* bytes from the (uncompressed) beginning to its length, and behind it */
};

/* Opens the file. Returns false, with an error, if it cannot be read; then it is not to be closed.
 */
bool oche_chakra_frames_open(struct oche_chakra_frames *frames, const char *path,
                             struct oche_error *error);
void oche_chakra_frames_close(struct oche_chakra_frames *frames);

enum oche_chakra_frame { OCHE_CHAKRA_FRAME, OCHE_CHAKRA_END, OCHE_CHAKRA_WRONG };

/* Reads the next message. WRONG: with an error that has the byte. */
enum oche_chakra_frame oche_chakra_frames_next(struct oche_chakra_frames *frames,
                                               struct oche_error *error);

#endif
