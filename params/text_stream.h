/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stream with its text in memory, like open_memstream, but never with a missing part. Without
 * memory glibc's leaves out text, and neither ferror nor fclose reports it.
 */
#ifndef OCHE_PARAMS_TEXT_STREAM_H
#define OCHE_PARAMS_TEXT_STREAM_H

#include <stddef.h>
#include <stdio.h>

/*
 * Returns a stream. When it is closed, *text is the written text (malloc'd, ended by a NUL), and
 * *bytes its length. Both variables must exist until then.
 */
FILE *oche_text_stream_open(char **text, size_t *bytes);
void oche_text_stream_close(FILE *out);

#endif
