/* SPDX-License-Identifier: Apache-2.0 */
/* Escapes characters that do not print. */
#include "params/printable.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* True for line separators, and for characters that change the direction of writing. */
static bool changes_lines(uint32_t point)
{
    return (point >= 0x2028 && point <= 0x202e) || (point >= 0x2066 && point <= 0x2069) ||
           point == 0x200e || point == 0x200f || point == 0x061c;
}

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
    return changes_lines(point) ? 0 : length;
}

/* Writes the escape sequence that stands for a byte: "\n", "\x1b". */
static void escape(unsigned char byte, char text[8])
{
    if (byte == '\n' || byte == '\t')
        snprintf(text, 8, "\\%c", byte == '\n' ? 'n' : 't');
    else
        snprintf(text, 8, "\\x%02x", byte);
}

/* As oche_printable, but leaves the bytes in `kept` as they are. */
static void write_printable(const char *text, const char *kept, char *to, size_t bytes)
{
    const unsigned char *from = (const unsigned char *)text;
    size_t used = 0;

    while (*from != '\0') {
        size_t taken = strchr(kept, *from) != NULL ? 1 : printable_bytes(from), length = taken;
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

void oche_printable(const char *text, char *to, size_t bytes)
{
    write_printable(text, "", to, bytes);
}

char *oche_printable_lines(const char *text)
{
    const size_t bytes = strlen(text) * strlen("\\x00") + 1;
    char *to = malloc(bytes);

    if (to != NULL)
        write_printable(text, "\n\t", to, bytes);
    return to;
}

bool oche_is_printable(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;

    while (*at != '\0') {
        const size_t bytes = *at == '\n' || *at == '\t' ? 1 : printable_bytes(at);

        if (bytes == 0)
            return false;
        at += bytes;
    }
    return true;
}

void oche_printable_json(const char *json, FILE *out)
{
    for (const unsigned char *from = (const unsigned char *)json; *from != '\0'; from++) {
        uint32_t point = *from;
        size_t more = 0;

        if (from[0] >> 5 == 6 && from[1] >> 6 == 2) {
            point = (from[0] & 0x1fU) << 6 | (from[1] & 0x3fU);
            more = 1;
        } else if (from[0] >> 4 == 14 && from[1] >> 6 == 2 && from[2] >> 6 == 2) {
            point = (from[0] & 0xfU) << 12 | (from[1] & 0x3fU) << 6 | (from[2] & 0x3fU);
            more = 2;
        }
        if (changes_lines(point) || (point >= 0x7f && point < 0xa0 && (more > 0 || point == 0x7f)))
            fprintf(out, "\\u%04x", point);
        else
            fwrite(from, 1, more + 1, out);
        from += more;
    }
}
