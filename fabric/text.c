/* SPDX-License-Identifier: Apache-2.0 */
/* Words and numbers, without stdio. */
#include "fabric/text.h"

/* The decimal digits of `number`, zero-terminated, at the end of `digits`. */
static const char *decimal(uint64_t number, char digits[21])
{
    char *first = digits + 20;

    *first = '\0';
    do {
        *--first = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    return first;
}

bool oche_fabric_refuse(char *text, size_t size, const char *format, const uint64_t *numbers)
{
    char digits[21];
    size_t length = 0;

    if (size == 0)
        return false;
    for (; *format != '\0' && length + 1 < size; format++) {
        if (*format != '#') {
            text[length++] = *format;
            continue;
        }
        for (const char *d = decimal(*numbers++, digits); *d != '\0' && length + 1 < size; d++)
            text[length++] = *d;
    }
    text[length] = '\0';
    return false;
}
