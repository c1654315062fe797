/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the messages of a file of Chakra; see frames.h. */
#include "sim/graph/chakra/frames.h"

#include <stdlib.h>
#include <unistd.h>

#include "params/input_file.h"

#define MOST_BYTES   (UINT64_C(64) << 20) /* of a message */
#define FIRST_BYTES  4096
#define LENGTH_BYTES 10 /* of a varint, at most */

bool oche_chakra_frames_open(struct oche_chakra_frames *frames, const char *path,
                             struct oche_error *error)
{
    struct oche_error why;
    const int file = oche_input_open(path, &why);

    if (file < 0)
        return oche_fail(error, "%s: %s; a readable file", path, why.text);
    *frames = (struct oche_chakra_frames){.path = path, .file = gzdopen(file, "rb")};
    OCHE_GOT(frames->file != NULL);
    return true;
}

void oche_chakra_frames_close(struct oche_chakra_frames *frames)
{
    gzclose(frames->file);
    free(frames->bytes);
}

static bool wrong(struct oche_chakra_frames *frames, const char *fault, struct oche_error *error)
{
    int number;
    const char *text = gzerror(frames->file, &number);

    if (number != Z_OK && number != Z_STREAM_END)
        return oche_fail(error, "%s: byte %llu: gzip cannot go on: %s", frames->path,
                         (unsigned long long)frames->next, text);
    return oche_fail(error, "%s: byte %llu: %s", frames->path, (unsigned long long)frames->at,
                     fault);
}

/* Reads the length of a message. */
static enum oche_chakra_frame read_length(struct oche_chakra_frames *frames, uint64_t *length,
                                          struct oche_error *error)
{
    *length = 0;
    for (unsigned i = 0; i < LENGTH_BYTES; i++) {
        const int byte = gzgetc(frames->file);
        int number;

        gzerror(frames->file, &number);
        if (byte < 0 && i == 0 && (number == Z_OK || number == Z_STREAM_END))
            return OCHE_CHAKRA_END;
        if (byte < 0) {
            wrong(frames, "the file ends within the length of a message", error);
            return OCHE_CHAKRA_WRONG;
        }
        frames->next++;
        *length |= (uint64_t)(byte & 0x7f) << (7 * i);
        if ((byte & 0x80) == 0)
            return OCHE_CHAKRA_FRAME;
    }
    wrong(frames, "a length has more than 10 bytes; the file is no trace of Chakra", error);
    return OCHE_CHAKRA_WRONG;
}

/* Reads bytes of a message into memory that grows: the length may be wrong. */
static bool read_bytes(struct oche_chakra_frames *frames, uint64_t length)
{
    for (frames->count = 0; frames->count < length;) {
        int got;

        if (frames->count == frames->room) {
            frames->room = frames->room == 0 ? FIRST_BYTES : 2 * frames->room;
            frames->bytes = realloc(frames->bytes, frames->room);
            OCHE_GOT(frames->bytes != NULL);
        }
        const uint64_t left = length - frames->count, room = frames->room - frames->count;

        got = gzread(frames->file, frames->bytes + frames->count,
                     (unsigned)(left < room ? left : room));
        if (got <= 0)
            return false;
        frames->count += (size_t)got;
        frames->next += (uint64_t)got;
    }
    return true;
}

enum oche_chakra_frame oche_chakra_frames_next(struct oche_chakra_frames *frames,
                                               struct oche_error *error)
{
    enum oche_chakra_frame frame;
    uint64_t length;

    frames->at = frames->next;
    frame = read_length(frames, &length, error);
    if (frame != OCHE_CHAKRA_FRAME)
        return frame;
    if (length == 0)
        return OCHE_CHAKRA_END; /* as the readers of Chakra take it */
    if (length > MOST_BYTES)
        wrong(frames, "a message has more than 64 MiB; the file is no trace of Chakra", error);
    else if (!read_bytes(frames, length))
        wrong(frames, "the file ends within a message", error);
    else
        return OCHE_CHAKRA_FRAME;
    return OCHE_CHAKRA_WRONG;
}
