/* SPDX-License-Identifier: Apache-2.0 */
/* What was wrong, as one line of text. The caller owns it; who refuses something fills it in. */
#ifndef OCHE_CORE_ERROR_H
#define OCHE_CORE_ERROR_H

#define OCHE_ERROR_BYTES 1024

struct oche_error {
    char text[OCHE_ERROR_BYTES]; /* zero-terminated; a longer line is cut */
};

#endif
