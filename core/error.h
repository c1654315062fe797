/* SPDX-License-Identifier: Apache-2.0 */
/* An error message of one line. The caller owns it; the function that fails fills it in. */
#ifndef OCHE_CORE_ERROR_H
#define OCHE_CORE_ERROR_H

#define OCHE_ERROR_BYTES 1024

struct oche_error {
    char text[OCHE_ERROR_BYTES]; /* zero-terminated; a longer line is cut */
};

#endif
