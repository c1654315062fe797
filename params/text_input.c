/* SPDX-License-Identifier: Apache-2.0 */
#include "params/text_input.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/param.h"
#include "params/units.h"

#define MOST_DIGITS   24
#define MOST_BYTES    128            /* of a number with its unit */
#define MOST_EXPONENT 38             /* of 10, in 128 bits */
#define MARK          "\xef\xbb\xbf" /* the byte-order mark of UTF-8, with which Excel begins */

/* ---- lines ---- */

bool oche_text_fail(struct oche_text_input *input, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    oche_fail_at(input->error, input->name, input->line, format, args);
    va_end(args);
    return false;
}

/* Returns the end of the line that begins at `from`, without its line end. */
static const char *end_of_line(const char *from, const char *end)
{
    while (from < end && *from != '\n' && *from != '\r')
        from++;
    return from;
}

/* Returns the beginning of the line after the one that ends at `from`. */
static const char *behind_line(const char *from, const char *end)
{
    if (end - from >= 2 && from[0] == '\r' && from[1] == '\n')
        return from + 2;
    return from < end ? from + 1 : end;
}

const char *oche_text_wide_encoding(const char *text, size_t bytes)
{
    if (bytes >= 4 &&
        (memcmp(text, "\xff\xfe\0\0", 4) == 0 || memcmp(text, "\0\0\xfe\xff", 4) == 0))
        return "UTF-32";
    if (bytes >= 2 && (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0))
        return "UTF-16";
    return NULL;
}

/* Rejects binary data. Sets *longest to the bytes of the longest line. */
static bool is_text(struct oche_text_input *input, size_t *longest)
{
    const char *wide = oche_text_wide_encoding(input->begin, (size_t)(input->end - input->begin));

    *longest = 0;
    input->line = 1;
    if (wide != NULL)
        return oche_text_fail(input, "is %s; save it as UTF-8 (Excel: CSV UTF-8)", wide);
    for (const char *from = input->begin; from < input->end; input->line++) {
        const char *to = end_of_line(from, input->end);
        const size_t length = (size_t)(to - from);

        if (memchr(from, '\0', length) != NULL)
            return oche_text_fail(input, "has a NUL byte; text, as UTF-8");
        if (length > OCHE_TEXT_LINE_BYTES)
            return oche_text_fail(input, "a line of more than %d bytes; shorter ones",
                                  OCHE_TEXT_LINE_BYTES);
        if (length > *longest)
            *longest = length;
        from = behind_line(to, input->end);
    }
    return true;
}

bool oche_text_begin(struct oche_text_input *input, const char *name, const char *text,
                     size_t bytes, struct oche_error *error)
{
    size_t longest;

    *input =
        (struct oche_text_input){.name = name, .error = error, .begin = text, .end = text + bytes};
    if (!is_text(input, &longest))
        return false;
    if (bytes >= strlen(MARK) && memcmp(text, MARK, strlen(MARK)) == 0)
        input->begin += strlen(MARK);
    input->copy = malloc(longest + 1);
    OCHE_GOT(input->copy != NULL);
    oche_text_rewind(input);
    return true;
}

void oche_text_end(struct oche_text_input *input)
{
    free(input->copy);
    input->copy = NULL;
}

void oche_text_rewind(struct oche_text_input *input)
{
    input->at = input->begin;
    input->line = 0;
}

/* Returns the bytes of the blank at the beginning of the text; 0: there is no blank. */
static size_t blank_bytes(const char *text, const char *end)
{
    static const char *const wide[] = {
        "\xc2\xa0",     /* no-break space */
        "\xe2\x80\xaf", /* narrow no-break space */
        "\xe2\x81\x9f", /* medium mathematical space */
        "\xe3\x80\x80", /* ideographic space */
        "\xef\xbb\xbf", /* zero width no-break space, where files were joined */
    };

    if (*text == ' ' || *text == '\v' || *text == '\f')
        return 1;
    for (size_t i = 0; i < OCHE_COUNT_OF(wide); i++) {
        const size_t length = strlen(wide[i]);

        if ((size_t)(end - text) >= length && memcmp(text, wide[i], length) == 0)
            return length;
    }
    /* U+2000 … U+200B: spaces of other widths */
    const unsigned char *bytes = (const unsigned char *)text;

    return end - text >= 3 && bytes[0] == 0xe2 && bytes[1] == 0x80 && bytes[2] >= 0x80 &&
                   bytes[2] <= 0x8b
               ? 3
               : 0;
}

/* Copies a line, with plain blanks. */
static void copy_line(const char *from, const char *to, char *copy)
{
    while (from < to) {
        const size_t blank = blank_bytes(from, to);

        *copy++ = blank > 0 ? ' ' : *from;
        from += blank > 0 ? blank : 1;
    }
    *copy = '\0';
}

/*
 * True if the whole line is a comment. A sheet that pandas writes with semicolons begins with one,
 * too: an empty name of the first column.
 */
static bool is_comment(const char *line)
{
    if (*line != ';')
        return *line == '%';
    return line[1] == ' ' || line[1] == '\t' || strchr(line + 1, ';') == NULL;
}

/* Cuts off the comment at the end of the line. Within quotes there is none. */
static void cut_comment(char *line)
{
    bool quoted = false;

    for (char *c = line; *c != '\0'; c++) {
        quoted ^= *c == '"';
        if (quoted)
            continue;
        if (*c == '#' ||
            (c[0] == '/' && c[1] == '/' && (c == line || strchr(" \t,;", c[-1]) != NULL))) {
            *c = '\0';
            return;
        }
    }
}

char *oche_text_next(struct oche_text_input *input)
{
    while (input->at < input->end) {
        const char *to = end_of_line(input->at, input->end);
        char *line = input->copy;
        size_t length;

        copy_line(input->at, to, line);
        input->at = behind_line(to, input->end);
        input->line++;
        cut_comment(line);
        line += strspn(line, " ");
        for (length = strlen(line); length > 0 && strchr(" \t", line[length - 1]) != NULL; length--)
            line[length - 1] = '\0';
        if (length > 0 && !is_comment(line + strspn(line, " \t")))
            return line;
    }
    return NULL;
}

/* ---- numbers ---- */

/* digits x 10^exponent */
struct decimal {
    oche_u128 digits;
    int exponent;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Returns `text` behind a + that begins a number. */
static const char *behind_plus(const char *text)
{
    return text[0] == '+' && (is_digit(text[1]) || text[1] == '.') ? text + 1 : text;
}

/* True if the character is an underscore between two digits, as in 1_000. */
static bool is_joint(const char *begin, const char *c)
{
    return *c == '_' && c > begin && is_digit(c[-1]) && is_digit(c[1]);
}

/*
 * Reads an optional exponent after the digits, such as e+06. Returns the text behind it; NULL if it
 * is wrong.
 */
static const char *read_exponent(const char *text, int *exponent)
{
    unsigned count;
    bool minus;

    *exponent = 0;
    if (*text != 'e' && *text != 'E')
        return text;
    text++;
    minus = *text == '-';
    text += *text == '-' || *text == '+';
    for (count = 0; is_digit(*text) && count <= 3; text++, count++)
        *exponent = *exponent * 10 + (*text - '0');
    if (minus)
        *exponent = -*exponent;
    return count == 0 || count > 3 ? NULL : text;
}

/* Reads a number, and returns the text behind it; NULL: there is none, or it has too many digits.
 */
static const char *read_decimal(const char *text, struct decimal *decimal)
{
    const char *begin = text = behind_plus(text);
    unsigned count = 0;
    bool point = false;
    int exponent;

    *decimal = (struct decimal){0};
    for (; is_digit(*text) || (*text == '.' && !point) || is_joint(begin, text); text++) {
        if (*text == '.')
            point = true;
        if (!is_digit(*text))
            continue;
        if (++count > MOST_DIGITS)
            return NULL;
        decimal->digits = decimal->digits * 10 + (unsigned)(*text - '0');
        decimal->exponent -= point;
    }
    if (count == 0)
        return NULL;
    text = read_exponent(text, &exponent);
    decimal->exponent += exponent;
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

/* True if the number, times `unit`, has no fraction. */
static bool is_whole(const struct decimal *decimal, uint64_t unit)
{
    oche_u128 digits = decimal->digits * unit;

    for (int i = decimal->exponent; i < 0 && digits > 0; i++, digits /= 10)
        if (digits % 10 != 0)
            return false;
    return true;
}

bool oche_text_count(const char *text, uint64_t *value)
{
    struct decimal decimal;
    const char *end = read_decimal(text, &decimal);

    return end != NULL && *end == '\0' && is_whole(&decimal, 1) &&
           scale(&decimal, 1, UINT64_MAX, value);
}

bool oche_text_bytes(const char *text, uint64_t *bytes)
{
    static const struct oche_param size = {
        .unit = OCHE_UNIT_BYTES, .minimum = {.u = 0}, .maximum = {.u = UINT64_MAX - 1}};
    union oche_value unit = {.u = 1};
    struct oche_error error;
    struct decimal decimal;
    char one[MOST_BYTES];
    const char *end = read_decimal(text, &decimal);

    if (end == NULL || strlen(end) + 2 > sizeof(one))
        return false;
    snprintf(one, sizeof(one), "1%s", end + strspn(end, " "));
    if (*end != '\0' && !oche_value_parse(&size, one, &unit, &error))
        return false;
    return is_whole(&decimal, unit.u) && scale(&decimal, unit.u, UINT64_MAX, bytes);
}

bool oche_text_time(const char *text, oche_time *time)
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

bool oche_text_real(const char *text, double *value)
{
    char plain[MOST_BYTES], *stop;
    const char *begin = text = behind_plus(text), *end;
    size_t used = 0;
    bool point = false, any = false;
    int exponent;

    for (; is_digit(*text) || (*text == '.' && !point) || is_joint(begin, text); text++) {
        any |= is_digit(*text);
        point |= *text == '.';
        if (*text == '_')
            continue;
        if (used + 8 < sizeof(plain))
            plain[used++] = *text;
        else if (!point)
            return false;
    }
    end = read_exponent(text, &exponent);
    if (!any || end == NULL || (*end == '%' ? end[1] : *end) != '\0')
        return false;
    snprintf(plain + used, sizeof(plain) - used, "e%d", exponent);
    *value = strtod(plain, &stop);
    return *stop == '\0' && isfinite(*value);
}

const char *oche_text_fault(const char *text, const char *else_this)
{
    const char *number = text + (*text == '-' || *text == '+');

    if (number[0] == '0' && (number[1] == 'x' || number[1] == 'X'))
        return "is hexadecimal";
    if (strncasecmp(number, "nan", 3) == 0 || strncasecmp(number, "inf", 3) == 0)
        return "is not finite";
    if (!is_digit(*number))
        return else_this;
    for (const char *c = number; *c != '\0'; c++) {
        if (*c == ',')
            return "has a comma, which may be a decimal point or may part thousands";
        if ((*c == ' ' || *c == '\'') && is_digit(c[1]))
            return *c == ' ' ? "has a blank between digits" : "has a mark between digits";
    }
    return else_this;
}

/* ---- values of a line ---- */

char oche_text_separator(const char *line)
{
    bool quoted = false, comma = false;

    for (; *line != '\0'; line++) {
        quoted ^= *line == '"';
        if (*line == ';' && !quoted)
            return ';';
        comma |= *line == ',' && !quoted;
    }
    return comma ? ',' : ' ';
}

/* True if the value begins with a quote and has a closing one. */
static bool is_closed(const char *value)
{
    unsigned quotes = 0;

    for (; *value != '\0'; value++)
        quotes += *value == '"';
    return quotes >= 2;
}

/*
 * Takes the quotes off the value, which begins with one. Returns the separator behind it, or the
 * end of the line. Text between the closing quote and the separator stays, because it is a mistake.
 * An opening quote without a closing one stays, too.
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
        memset(to, ' ', (size_t)(from - to)); /* left out, with the blanks */
    return from;
}

/* Takes the next word off a line. */
static char *next_word(char **line)
{
    char *word;

    while ((word = strsep(line, " \t")) != NULL && *word == '\0')
        ;
    return word;
}

char *oche_text_value(char **line, char separator)
{
    char *value = *line, *end;
    size_t length;

    if (separator == ' ')
        return next_word(line);
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
    value += strspn(value, " "); /* blanks within quotes */
    for (length = strlen(value);
         length > 0 && (value[length - 1] == ' ' || value[length - 1] == '\t'); length--)
        value[length - 1] = '\0';
    return value;
}

unsigned oche_text_split(char *line, char separator, char *values[], unsigned most)
{
    unsigned count = 0, full = 0;
    char *rest = line, *value;

    while ((value = oche_text_value(&rest, separator)) != NULL) {
        if (count < most)
            values[count] = value;
        count++;
        if (*value != '\0')
            full = count;
    }
    return full;
}
