/* SPDX-License-Identifier: Apache-2.0 */
/* Formats words and numbers, without stdio. */
#include "fabric/text.h"

#include <string.h>

/*
 * Writes the decimal digits of `number`, zero-terminated, to the end of `digits`. Returns a pointer
 * to the first digit.
 */
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

bool oche_fabric_refuse_more(struct oche_error *error, const char *format, const uint64_t *numbers)
{
    char digits[21];
    size_t length;

    if (error == NULL)
        return false;
    length = strlen(error->text);
    for (; *format != '\0' && length + 1 < sizeof(error->text); format++) {
        if (*format != '#') {
            error->text[length++] = *format;
            continue;
        }
        for (const char *d = decimal(*numbers++, digits);
             *d != '\0' && length + 1 < sizeof(error->text); d++)
            error->text[length++] = *d;
    }
    error->text[length] = '\0';
    return false;
}

bool oche_fabric_refuse(struct oche_error *error, const char *format, const uint64_t *numbers)
{
    if (error != NULL)
        error->text[0] = '\0';
    return oche_fabric_refuse_more(error, format, numbers);
}
