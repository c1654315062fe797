/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/app/sheet.h"

#include <stdio.h>
#include <string.h>

#include "core/param.h"
#include "params/units.h"

#define MOST_DIGITS   24
#define MOST_BYTES    128 /* of a size with its unit */
#define MOST_EXPONENT 38  /* of 10, in 128 bits */

/* digits x 10^exponent */
struct decimal {
    oche_u128 digits;
    int exponent;
};

/* Reads a number, and returns the text behind it; NULL: there is none, or it has too many digits.
 */
static const char *read_decimal(const char *text, struct decimal *decimal)
{
    unsigned count = 0;
    bool point = false, minus;
    int exponent = 0;

    *decimal = (struct decimal){0};
    for (; (*text >= '0' && *text <= '9') || (*text == '.' && !point); text++) {
        if (*text == '.') {
            point = true;
            continue;
        }
        if (++count > MOST_DIGITS)
            return NULL;
        decimal->digits = decimal->digits * 10 + (unsigned)(*text - '0');
        decimal->exponent -= point;
    }
    if (count == 0)
        return NULL;
    if (*text != 'e' && *text != 'E')
        return text;
    text++;
    minus = *text == '-';
    text += *text == '-' || *text == '+';
    for (count = 0; *text >= '0' && *text <= '9' && count <= 3; text++, count++)
        exponent = exponent * 10 + (*text - '0');
    if (count == 0 || count > 3)
        return NULL;
    decimal->exponent += minus ? -exponent : exponent;
    return text;
}

/* Computes digits x 10^exponent x unit, rounded. False if that is not below `limit`. */
static bool scale(const struct decimal *decimal, uint64_t unit, uint64_t limit, uint64_t *value)
{
    oche_u128 number = decimal->digits * unit, divisor = 1;

    if (decimal->exponent < -MOST_EXPONENT)
        return false;
    for (int i = decimal->exponent; i < 0; i++)
        divisor *= 10;
    for (int i = 0; i < decimal->exponent && number > 0 && number < limit; i++)
        number *= 10;
    /* Rounding up half a divisor does not overflow: both are below 10^38. */
    number = number / divisor + (number % divisor >= (divisor + 1) / 2);
    *value = (uint64_t)number;
    return number < limit;
}

/* True if the number has no fraction. */
static bool is_whole(const struct decimal *decimal)
{
    oche_u128 digits = decimal->digits;

    for (int i = decimal->exponent; i < 0 && digits > 0; i++, digits /= 10)
        if (digits % 10 != 0)
            return false;
    return true;
}

bool oche_sheet_count(const char *text, uint64_t *value)
{
    struct decimal decimal;
    const char *end = read_decimal(text, &decimal);

    return end != NULL && *end == '\0' && is_whole(&decimal) &&
           scale(&decimal, 1, UINT64_MAX, value);
}

bool oche_sheet_bytes(const char *text, uint64_t *bytes)
{
    static const struct oche_param size = {
        .unit = OCHE_UNIT_BYTES, .minimum = {.u = 0}, .maximum = {.u = UINT64_MAX - 1}};
    union oche_value value;
    struct oche_error error;
    struct decimal decimal;
    char joined[MOST_BYTES];
    const char *unit = read_decimal(text, &decimal);

    if (oche_sheet_count(text, bytes))
        return true;
    if (unit == NULL || strlen(text) >= sizeof(joined))
        return false;
    snprintf(joined, sizeof(joined), "%.*s%s", (int)(unit - text), text, unit + strspn(unit, " "));
    if (!oche_value_parse(&size, joined, &value, &error))
        return false;
    *bytes = value.u;
    return true;
}

bool oche_sheet_time(const char *text, oche_time *time)
{
    static const struct {
        const char *name;
        uint64_t ps;
    } units[] = {{"", OCHE_SEC},  {"s", OCHE_SEC}, {"ms", OCHE_MS},
                 {"us", OCHE_US}, {"ns", OCHE_NS}, {"ps", 1}};
    struct decimal decimal;
    const char *end = read_decimal(text, &decimal);

    if (end != NULL)
        end += strspn(end, " ");
    for (size_t i = 0; end != NULL && i < OCHE_COUNT_OF(units); i++)
        if (strcmp(units[i].name, end) == 0)
            return scale(&decimal, units[i].ps, OCHE_NEVER / 2, time);
    return false;
}

/* True if the value, which begins with a quote, has the one that closes it. */
static bool is_closed(const char *value)
{
    unsigned quotes = 0;

    for (; *value != '\0'; value++)
        quotes += *value == '"';
    return quotes >= 2;
}

/*
 * Takes the quotes off the value, which begins with one. Returns the separator behind it, or the
 * end of the line. What stands between the closing quote and the separator stays: it is a mistake,
 * and so does the only quote of the rest of a line.
 */
static char *unquote(char *value, char separator)
{
    char *to = value, *from = value + 1;

    if (!is_closed(value))
        return value + strlen(value);
    for (; *from != '\0'; from++) {
        if (*from == '"' && *++from != '"')
            break;
        *to++ = *from;
    }
    while (*from != '\0' && *from != separator)
        *to++ = *from++;
    if (to < from)
        memset(to, ' ', (size_t)(from - to)); /* are left out with the blanks */
    return from;
}

char *oche_sheet_value(char **line, char separator)
{
    char *value = *line, *end;
    size_t length;

    if (value == NULL)
        return NULL;
    while (*value == ' ' || (*value == '\t' && separator != '\t'))
        value++;
    if (*value == '"')
        end = unquote(value, separator);
    else
        for (end = value; *end != '\0' && *end != separator;)
            end++;
    *line = *end != '\0' ? end + 1 : NULL;
    *end = '\0';
    value += strspn(value, " "); /* those within quotes */
    for (length = strlen(value);
         length > 0 && (value[length - 1] == ' ' || value[length - 1] == '\t'); length--)
        value[length - 1] = '\0';
    return value;
}
