/* SPDX-License-Identifier: Apache-2.0 */
/* Escapes characters that do not print. */
#include "sim/scenario/printable.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/*
 * Returns the length in bytes of the printable character that `text` begins with; 0: `text` begins
 * with a byte that must be escaped.
 */
static size_t printable_bytes(const unsigned char *text)
{
    static const uint32_t least[] = {0, 0, 0xa0, 0x800,
                                     0x10000}; /* smaller values are overlong encodings */
    size_t length = text[0] < 0x80 ? 1 : text[0] >> 5 == 6 ? 2 : text[0] >> 4 == 14 ? 3 : 4;
    uint32_t point = text[0];

    if (length == 1)
        return text[0] >= ' ' && text[0] != 0x7f ? 1 : 0;
    if (length == 4 && text[0] >> 3 != 30)
        return 0;
    point &= 0x7fU >> length;
    for (size_t i = 1; i < length; i++) {
        if (text[i] >> 6 != 2)
            return 0; /* an incomplete character, perhaps cut by the terminating zero */
        point = point << 6 | (text[i] & 0x3fU);
    }
    if (point < least[length] || point > 0x10ffff || (point >= 0xd800 && point < 0xe000))
        return 0;
    /* Line separators, and characters that change the direction of writing. */
    if ((point >= 0x2028 && point <= 0x202e) || (point >= 0x2066 && point <= 0x2069))
        return 0;
    return length;
}

/* Writes the escape sequence that stands for a byte: "\n", "\x1b". */
static void escape(unsigned char byte, char text[8])
{
    if (byte == '\n' || byte == '\t')
        snprintf(text, 8, "\\%c", byte == '\n' ? 'n' : 't');
    else
        snprintf(text, 8, "\\x%02x", byte);
}

void oche_printable(const char *text, char *to, size_t bytes)
{
    const unsigned char *from = (const unsigned char *)text;
    size_t used = 0;

    while (*from != '\0') {
        size_t taken = printable_bytes(from), length = taken;
        const char *shown = (const char *)from;
        char escaped[8];

        if (taken == 0) {
            escape(*from, escaped);
            shown = escaped;
            length = strlen(escaped);
            taken = 1;
        }
        if (used + length >= bytes)
            break;
        memcpy(to + used, shown, length);
        used += length;
        from += taken;
    }
    if (bytes > 0)
        to[used] = '\0';
}
