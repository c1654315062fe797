/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stream whose text is in memory, as open_memstream's, of which no part is ever missing: glibc's
 * leaves out what it finds no memory for, and neither ferror nor fclose says so.
 */
#ifndef OCHE_PARAMS_TEXT_STREAM_H
#define OCHE_PARAMS_TEXT_STREAM_H

#include <stddef.h>
#include <stdio.h>

/*
 * Returns a stream; when it is closed, *text is what was written (malloc'd, ended by a NUL), and
 * *bytes its length. Both must be there until then.
 */
FILE *oche_text_stream_open(char **text, size_t *bytes);
void oche_text_stream_close(FILE *out);

#endif
