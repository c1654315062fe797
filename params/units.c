/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads and prints values with units. Integers are exact: "1.5us" is 1500000 ps, and "0.3ps" is an
 * error, as is anything that does not fit into 64 bits.
 */
#include "params/units.h"
#include "params/error.h"
#include "params/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct suffix {
    const char *name;
    uint64_t factor;
};

/*
 * The largest suffix comes first, because a value is printed with the first suffix that divides it.
 */
static const struct suffix byte_suffixes[] = {
    {"TB", UINT64_C(1000000000000)},
    {"GB", 1000000000},
    {"MB", 1000000},
    {"KB", 1000},
    {"TiB", UINT64_C(1) << 40},
    {"GiB", UINT64_C(1) << 30},
    {"MiB", UINT64_C(1) << 20},
    {"KiB", UINT64_C(1) << 10},
    {"B", 1},
};
static const struct suffix rate_suffixes[] = {
    {"Tbps", 1000 * OCHE_GBPS}, {"Gbps", OCHE_GBPS}, {"Mbps", OCHE_MBPS},
    {"Kbps", OCHE_KBPS},        {"bps", 1},
};
static const struct suffix time_suffixes[] = {
    {"s", OCHE_SEC}, {"ms", OCHE_MS}, {"us", OCHE_US}, {"ns", OCHE_NS}, {"ps", OCHE_PS},
};
static const struct suffix no_suffixes[] = {{"", 1}};

struct unit {
    const char *name, *what, *example;
    const struct suffix *suffixes;
    size_t suffix_count;
};

static const struct unit units[] = {
    [OCHE_UNIT_COUNT] = {"count", "a whole number", "write a whole number, such as 128",
                         no_suffixes, OCHE_COUNT_OF(no_suffixes)},
    [OCHE_UNIT_BYTES] = {"bytes", "a size", "write a size with its unit, such as 225KB or 4KiB",
                         byte_suffixes, OCHE_COUNT_OF(byte_suffixes)},
    [OCHE_UNIT_BPS] = {"rate", "a rate", "write a rate with its unit, such as 40Gbps or 10Mbps",
                       rate_suffixes, OCHE_COUNT_OF(rate_suffixes)},
    [OCHE_UNIT_TIME] = {"time", "a time", "write a time with its unit, such as 55us or 1.5ms",
                        time_suffixes, OCHE_COUNT_OF(time_suffixes)},
    [OCHE_UNIT_REAL] = {"real", "a number", "write a number such as 0.5, 1/256 or 1%", NULL, 0},
    [OCHE_UNIT_BOOL] = {"bool", "true or false",
                        "write true or false; yes, no, on and off are possible, too", NULL, 0},
    [OCHE_UNIT_CHOICE] = {"choice", "one of the choices", "", NULL, 0},
    [OCHE_UNIT_TEXT] = {"text", "a text", "", NULL, 0},
};

const char *oche_unit_name(enum oche_unit unit)
{
    return units[unit].name;
}

/*
 * Returns the word that stands for UINT64_MAX: "auto" or "unlimited" if the parameter's help
 * explains that word ("auto: from each link"), else "never".
 */
static const char *special_word(const struct oche_param *param)
{
    static const char *const words[] = {"auto", "unlimited"};

    if (param->automatic)
        return words[0];
    if (param->zero_is_auto)
        return "never";
    for (size_t i = 0; i < OCHE_COUNT_OF(words) && param->help != NULL; i++) {
        const char *at = strstr(param->help, words[i]);

        if (at != NULL && at[strlen(words[i])] == ':')
            return words[i];
    }
    return "never";
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* True if the unit's values are uint64_t. */
static bool is_whole(enum oche_unit unit)
{
    return units[unit].suffixes != NULL;
}

/* True if UINT64_MAX is a value of the parameter, with a word of its own. */
static bool has_special(const struct oche_param *param)
{
    return is_whole(param->unit) && (param->automatic || param->maximum.u == UINT64_MAX);
}

enum decimal { DECIMAL_OK, DECIMAL_BAD, DECIMAL_TOO_LARGE };

/* Reads digits ["." digits] as mantissa / 10^places; sets *end to the text after the number. */
static enum decimal read_decimal(const char *text, uint64_t *mantissa, unsigned *places,
                                 const char **end)
{
    const char *c = text;
    bool point = false;

    *mantissa = 0;
    *places = 0;
    for (; is_digit(*c) || (*c == '.' && !point && c != text); c++) {
        if (*c == '.') {
            point = true;
            continue;
        }
        uint64_t digit = (uint64_t)(*c - '0');

        if (*mantissa > (UINT64_MAX - digit) / 10 || *places == 18)
            return DECIMAL_TOO_LARGE;
        *mantissa = *mantissa * 10 + digit;
        *places += point;
    }
    *end = c;
    return c == text || c[-1] == '.' ? DECIMAL_BAD : DECIMAL_OK;
}

/* Lists all suffixes of a unit, smallest first: "KB, MB, …". */
static void list_suffixes(const struct unit *unit, char *text, size_t text_bytes)
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = unit->suffix_count; i-- > 0 && used < text_bytes;)
        used += (size_t)snprintf(text + used, text_bytes - used, "%s%s", unit->suffixes[i].name,
                                 i > 1    ? ", "
                                 : i == 1 ? " or "
                                          : "");
}

static const struct suffix *find_suffix(const struct unit *unit, const char *name)
{
    for (size_t i = 0; i < unit->suffix_count; i++) {
        const char *known = unit->suffixes[i].name;

        if (strcmp(known, name) == 0)
            return &unit->suffixes[i];
        /* Also accepts kB and kbps for KB and Kbps. */
        if (known[0] == 'K' && known[1] != 'i' && name[0] == 'k' &&
            strcmp(known + 1, name + 1) == 0)
            return &unit->suffixes[i];
    }
    return NULL;
}

/* ---- what was probably meant ---- */

/* True if the words differ at most in the case of ASCII letters. */
static bool same_word(const char *a, const char *b)
{
    while (*a != '\0' && *b != '\0' && (*a | 0x20) == (*b | 0x20))
        a++, b++;
    return *a == *b;
}

/*
 * Units as people write them elsewhere, in any case: M or Mbit/s, for sizes Mi, for times usec. "$"
 * is one of k, m, g and t, or nothing.
 */
static const struct {
    enum oche_unit unit;
    const char *written, *meant;
} habits[] = {
    {OCHE_UNIT_BPS, "$", "$bps"},       {OCHE_UNIT_BPS, "$b", "$bps"},
    {OCHE_UNIT_BPS, "$b/s", "$bps"},    {OCHE_UNIT_BPS, "$bps", "$bps"},
    {OCHE_UNIT_BPS, "$bit", "$bps"},    {OCHE_UNIT_BPS, "$bit/s", "$bps"},
    {OCHE_UNIT_BPS, "$bits/s", "$bps"}, {OCHE_UNIT_BYTES, "$", "$B"},
    {OCHE_UNIT_BYTES, "$b", "$B"},      {OCHE_UNIT_BYTES, "$i", "$iB"},
    {OCHE_UNIT_BYTES, "$ib", "$iB"},    {OCHE_UNIT_BYTES, "bytes", "B"},
    {OCHE_UNIT_BYTES, "byte", "B"},     {OCHE_UNIT_TIME, "s", "s"},
    {OCHE_UNIT_TIME, "sec", "s"},       {OCHE_UNIT_TIME, "m", "ms"},
    {OCHE_UNIT_TIME, "ms", "ms"},       {OCHE_UNIT_TIME, "msec", "ms"},
    {OCHE_UNIT_TIME, "u", "us"},        {OCHE_UNIT_TIME, "us", "us"},
    {OCHE_UNIT_TIME, "usec", "us"},     {OCHE_UNIT_TIME, "\u00b5s", "us"},
    {OCHE_UNIT_TIME, "\u03bcs", "us"},  {OCHE_UNIT_TIME, "n", "ns"},
    {OCHE_UNIT_TIME, "ns", "ns"},       {OCHE_UNIT_TIME, "nsec", "ns"},
    {OCHE_UNIT_TIME, "p", "ps"},        {OCHE_UNIT_TIME, "ps", "ps"},
};

/*
 * Returns the unit that `written`, which is none, probably stands for, or NULL. Capital B is bytes:
 * nobody knows what GB is as a rate.
 */
static const char *meant_suffix(enum oche_unit unit, const char *written)
{
    static const char multiples[] = "KMGT";

    if (unit == OCHE_UNIT_BPS && strchr(written, 'B') != NULL)
        return NULL;
    for (size_t i = 0; i < OCHE_COUNT_OF(habits); i++) {
        if (habits[i].unit != unit)
            continue;
        for (size_t j = 0; j < sizeof(multiples); j++) { /* the last is none */
            const struct suffix *suffix;
            char text[2][16];
            const char *forms[] = {habits[i].written, habits[i].meant};

            for (size_t k = 0; k < 2; k++)
                snprintf(text[k], sizeof(text[k]), "%.*s%s", forms[k][0] == '$' ? 1 : 0,
                         &multiples[j], forms[k] + (forms[k][0] == '$'));
            if (written[0] != '\0' && same_word(written, text[0])) {
                suffix = find_suffix(&units[unit], text[1]);
                return suffix != NULL ? suffix->name : NULL;
            }
        }
    }
    return NULL;
}

static bool parse_whole(const struct oche_param *param, const char *text, uint64_t *value,
                        struct oche_error *error)
{
    const struct unit *unit = &units[param->unit];
    uint64_t mantissa;
    unsigned places;
    const char *end;

    if (text[0] == '-' && is_digit(text[1]))
        return oche_fail(error, "%s is negative; %s", text, unit->example);
    switch (read_decimal(text, &mantissa, &places, &end)) {
    case DECIMAL_BAD:
        return oche_fail(error, "\"%s\" is not %s; %s", text, unit->what, unit->example);
    case DECIMAL_TOO_LARGE:
        return oche_fail(error, "%s has too many digits; at most 64 bits fit", text);
    case DECIMAL_OK:
        break;
    }
    while (*end == ' ')
        end++;
    if (*end == '\0' && mantissa == 0) { /* zero needs no unit */
        *value = 0;
        return true;
    }
    char known[80];
    const struct suffix *suffix = find_suffix(unit, end);

    if (suffix == NULL) {
        const char *meant = meant_suffix(param->unit, end);

        list_suffixes(unit, known, sizeof(known));
        if (meant != NULL)
            oche_fail(error, "\"%s\": \"%s\" is not a unit of %s; did you mean \"%.*s%s\"? (%s)",
                      text, end, param->unit == OCHE_UNIT_BYTES ? "size" : unit->what + 2,
                      (int)(end - text), text, meant, known);
        else if (param->unit == OCHE_UNIT_COUNT)
            oche_fail(error, "\"%s\" is not %s; %s", text, unit->what, unit->example);
        else if (*end == '\0')
            oche_fail(error, "%s has no unit; add one of %s", text, known);
        else
            oche_fail(error, "\"%s\": \"%s\" is not a unit of %s; use %s", text, end,
                      param->unit == OCHE_UNIT_BYTES ? "size" : unit->what + 2, known);
        return false;
    }
    unsigned __int128 scaled = (unsigned __int128)mantissa * suffix->factor;

    for (; places > 0; places--) {
        if (scaled % 10 != 0)
            return oche_fail(error, "%s is not a whole number%s%s; round it", text,
                             suffix->name[0] == '\0' ? "" : " of ",
                             suffix->name[0] == '\0' ? ""
                                                     : unit->suffixes[unit->suffix_count - 1].name);
        scaled /= 10;
    }
    if (scaled >= UINT64_MAX) { /* UINT64_MAX itself is "never" */
        union oche_value most = {.u = UINT64_MAX - 1};

        if (param->maximum.u < most.u)
            most = param->maximum;
        oche_value_format(param, most, known, sizeof(known));
        return oche_fail(error, "%s is too large; at most %s", text, known);
    }
    *value = (uint64_t)scaled;
    return true;
}

/* Reads a plain decimal number; not hexadecimal, infinity or NaN. */
static bool read_real(const char *text, double *value, const char **end)
{
    char *stop;

    if (!is_digit(text[text[0] == '-']) || strspn(text, "0123456789+-.eE") == 0 ||
        (text[text[0] == '-'] == '0' && (text[1 + (text[0] == '-')] | 0x20) == 'x'))
        return false;
    *value = strtod(text, &stop);
    *end = stop;
    return isfinite(*value);
}

static bool parse_real(const char *text, double *value)
{
    const char *end;
    double divisor;

    if (!read_real(text, value, &end))
        return false;
    if (strcmp(end, "%") == 0) {
        *value /= 100;
        return true;
    }
    if (*end == '/') {
        if (!read_real(end + 1, &divisor, &end) || divisor == 0)
            return false;
        *value /= divisor;
    }
    return *end == '\0' && isfinite(*value);
}

void oche_number_format(double number, char text[OCHE_NUMBER_BYTES])
{
    double size = fabs(number);
    bool plain = number == 0 || (size >= 1e-4 && size < 1e15);

    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, OCHE_NUMBER_BYTES, "%.*g", digits, number);
        if (strtod(text, NULL) == number && (plain == (strchr(text, 'e') == NULL)))
            break;
    }
}

bool oche_number_parse(const char *text, double *number)
{
    /* `part`: one of a suffix's factor in the unit of results; times are counted in picoseconds. */
    static const struct {
        enum oche_unit unit;
        double part;
    } kinds[] = {{OCHE_UNIT_BYTES, 1}, {OCHE_UNIT_BPS, 1}, {OCHE_UNIT_TIME, 1e-12}};
    const char *end;

    if (parse_real(text, number))
        return true;
    if (read_real(text, number, &end)) {
        while (*end == ' ')
            end++;
        for (size_t i = 0; i < OCHE_COUNT_OF(kinds); i++) {
            const struct suffix *suffix = find_suffix(&units[kinds[i].unit], end);

            if (suffix != NULL) {
                *number *= (double)suffix->factor * kinds[i].part;
                return true;
            }
        }
    }
    *number = NAN;
    return false;
}

static bool parse_choice(const struct oche_param *param, const char *text, uint64_t *value,
                         struct oche_error *error)
{
    size_t count = 0;

    for (; param->choices[count] != NULL; count++) {
        if (strcmp(param->choices[count], text) == 0) {
            *value = count;
            return true;
        }
    }
    const char *nearest = oche_nearest_word(text, param->choices, count);
    char known[256];

    oche_value_range(param, known, sizeof(known));
    if (nearest != NULL)
        oche_fail(error, "\"%s\" is not known; did you mean \"%s\"? (%s)", text, nearest, known);
    else
        oche_fail(error, "\"%s\" is not known; write one of %s", text, known);
    return false;
}

/* Reads a boolean of YAML 1.1: in lower case, with a capital, or in capitals. */
static bool parse_bool(const char *text, uint64_t *value)
{
    static const char *const words[][2] = {{"false", "true"}, {"no", "yes"}, {"off", "on"}};
    bool small = false, large = false;

    for (const char *c = text + 1; text[0] != '\0' && *c != '\0'; c++) {
        small |= *c >= 'a' && *c <= 'z';
        large |= *c >= 'A' && *c <= 'Z';
    }
    if (small && large)
        return false;
    if (large && text[0] >= 'a' && text[0] <= 'z')
        return false;
    for (size_t i = 0; i < OCHE_COUNT_OF(words); i++)
        for (*value = 0; *value < 2; ++*value)
            if (same_word(words[i][*value], text))
                return true;
    return false;
}

#define MOST_SHARE 10 /* a parameter that may be larger is no share */

/* True if the number is out of range, and would be a share in range as a percentage. */
static bool is_percentage(const struct oche_param *param, const char *text)
{
    union oche_value value;

    return param->unit == OCHE_UNIT_REAL && param->maximum.real <= MOST_SHARE &&
           strpbrk(text, "%/") == NULL && parse_real(text, &value.real) && value.real <= 100 &&
           value.real > param->maximum.real &&
           oche_param_in_range(param, (union oche_value){.real = value.real / 100});
}

/* Writes the error that a well-formed value is out of range, and what the range is. */
static void explain_range(const struct oche_param *param, const char *text,
                          struct oche_error *error)
{
    char low[OCHE_VALUE_BYTES], high[OCHE_VALUE_BYTES];

    oche_value_format(param, param->minimum, low, sizeof(low));
    oche_value_format(param, param->maximum, high, sizeof(high));
    if (is_whole(param->unit) && param->maximum.u == UINT64_MAX)
        oche_fail(error, "%s is too small; at least %s", text, low);
    else if (is_percentage(param, text))
        oche_fail(error, "%s is out of range; from %s to %s; did you mean \"%s%%\"?", text, low,
                  high, text);
    else
        oche_fail(error, "%s is out of range; from %s to %s", text, low, high);
}

bool oche_value_parse(const struct oche_param *param, const char *text, union oche_value *value,
                      struct oche_error *error)
{
    const struct unit *unit = &units[param->unit];

    *value = (union oche_value){.u = 0};
    if (text[0] == '\0' && param->unit != OCHE_UNIT_TEXT)
        return oche_fail(error, "has no value; %s",
                         param->unit == OCHE_UNIT_CHOICE ? "write one of its choices"
                                                         : unit->example);
    if (param->zero_is_auto && strcmp(text, "auto") == 0)
        return true;
    if (is_whole(param->unit)) {
        bool never = strcmp(text, "never") == 0 && !param->automatic;

        if (never || strcmp(text, special_word(param)) == 0) {
            if (!has_special(param)) {
                char high[OCHE_VALUE_BYTES];

                oche_value_format(param, param->maximum, high, sizeof(high));
                return oche_fail(error, "\"%s\" is not possible; at most %s", text, high);
            }
            value->u = UINT64_MAX;
            return true;
        }
        if (!parse_whole(param, text, &value->u, error))
            return false;
    } else if (param->unit == OCHE_UNIT_REAL) {
        if (!parse_real(text, &value->real))
            return oche_fail(error, "\"%s\" is not a number; %s", text, unit->example);
    } else if (param->unit == OCHE_UNIT_BOOL) {
        if (!parse_bool(text, &value->u))
            return oche_fail(error, "\"%s\" is not true or false; %s", text, unit->example);
    } else if (param->unit == OCHE_UNIT_CHOICE) {
        return parse_choice(param, text, &value->u, error);
    } else {
        value->text = text;
    }
    if (!oche_param_in_range(param, *value)) {
        explain_range(param, text, error);
        return false;
    }
    return true;
}

/* Writes the shortest decimal that reads back as the same double, or 1/n if that is shorter. */
static void format_real(double value, char *text, size_t text_bytes)
{
    char fraction[OCHE_VALUE_BYTES];
    double inverse = value > 0 && value < 1 ? 1 / value : 0;

    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, text_bytes, "%.*g", digits, value);
        if (strtod(text, NULL) == value &&
            (strchr(text, 'e') == NULL || value >= 1e6 || value < 1e-4))
            break;
    }
    if (inverse < 2 || inverse > 1e6)
        return;
    uint64_t n = (uint64_t)(inverse + 0.5);

    snprintf(fraction, sizeof(fraction), "1/%llu", (unsigned long long)n);
    if (1 / (double)n == value && strlen(fraction) < strlen(text))
        snprintf(text, text_bytes, "%s", fraction);
}

void oche_value_format(const struct oche_param *param, union oche_value value, char *text,
                       size_t text_bytes)
{
    const struct unit *unit = &units[param->unit];

    if (is_whole(param->unit)) {
        const struct suffix *suffix = &unit->suffixes[unit->suffix_count - 1];

        if (value.u == UINT64_MAX || (param->zero_is_auto && value.u == 0)) {
            snprintf(text, text_bytes, "%s", value.u == 0 ? "auto" : special_word(param));
            return;
        }
        for (size_t i = unit->suffix_count; value.u != 0 && i-- > 0;) {
            const struct suffix *other = &unit->suffixes[unit->suffix_count - 1 - i];

            if (value.u % other->factor == 0) {
                suffix = other;
                break;
            }
        }
        snprintf(text, text_bytes, "%llu%s", (unsigned long long)(value.u / suffix->factor),
                 value.u == 0 ? "" : suffix->name);
        return;
    }
    switch (param->unit) {
    case OCHE_UNIT_REAL:
        if (param->zero_is_auto && value.u == 0)
            snprintf(text, text_bytes, "auto");
        else
            format_real(value.real, text, text_bytes);
        return;
    case OCHE_UNIT_BOOL:
        snprintf(text, text_bytes, "%s", value.u != 0 ? "true" : "false");
        return;
    case OCHE_UNIT_CHOICE:
        snprintf(text, text_bytes, "%s", param->choices[value.u]);
        return;
    default:
        snprintf(text, text_bytes, "%s", value.text != NULL ? value.text : "");
    }
}

void oche_value_show(const struct oche_param *param, union oche_value value, char *text,
                     size_t text_bytes)
{
    const struct unit *unit = &units[param->unit];
    char shorter[OCHE_VALUE_BYTES];

    oche_value_format(param, value, text, text_bytes);
    if (!is_whole(param->unit) || value.u == UINT64_MAX)
        return;
    for (size_t i = 0; i < unit->suffix_count; i++) {
        const struct suffix *suffix = &unit->suffixes[i];
        uint64_t part = suffix->factor / 1000, thousandths;

        if (part == 0 || suffix->factor % 1000 != 0 || value.u < suffix->factor ||
            value.u % part != 0)
            continue;
        thousandths = value.u / part;
        int length =
            snprintf(shorter, sizeof(shorter), "%llu.%03u",
                     (unsigned long long)(thousandths / 1000), (unsigned)(thousandths % 1000));

        while (shorter[length - 1] == '0')
            length--;
        if (shorter[length - 1] == '.')
            length--;
        snprintf(shorter + length, sizeof(shorter) - (size_t)length, "%s", suffix->name);
        if (strlen(shorter) <= strlen(text))
            snprintf(text, text_bytes, "%s", shorter);
        return;
    }
}

void oche_value_range(const struct oche_param *param, char *text, size_t text_bytes)
{
    char low[OCHE_VALUE_BYTES], high[OCHE_VALUE_BYTES];
    size_t used = 0;

    text[0] = '\0';
    if (param->unit == OCHE_UNIT_CHOICE) {
        for (size_t i = 0; param->choices[i] != NULL && used < text_bytes; i++)
            used += (size_t)snprintf(text + used, text_bytes - used, "%s%s", i == 0 ? "" : ", ",
                                     param->choices[i]);
        return;
    }
    if (!is_whole(param->unit) && param->unit != OCHE_UNIT_REAL)
        return;
    oche_value_format(param, param->minimum, low, sizeof(low));
    oche_value_format(param, param->maximum, high, sizeof(high));
    if (is_whole(param->unit) && param->maximum.u == UINT64_MAX) {
        if (param->minimum.u > 0)
            snprintf(text, text_bytes, "at least %s", low);
        return;
    }
    snprintf(text, text_bytes, "%s to %s", low, high);
}

/*
 * Returns the number of edits (insert, delete, replace, swap neighbours) from `a` to `b`; a large
 * number if one is longer than 31 characters.
 */
static unsigned edit_distance(const char *a, const char *b)
{
    enum { MOST = 31 };
    size_t rows = strlen(a), columns = strlen(b);
    unsigned cost[MOST + 1][MOST + 1];

    if (rows > MOST || columns > MOST)
        return UINT32_MAX;
    for (size_t i = 0; i <= rows; i++) {
        for (size_t j = 0; j <= columns; j++) {
            if (i == 0 || j == 0) {
                cost[i][j] = (unsigned)(i + j);
                continue;
            }
            unsigned best = cost[i - 1][j - 1] + (a[i - 1] != b[j - 1]);

            if (cost[i - 1][j] + 1 < best)
                best = cost[i - 1][j] + 1;
            if (cost[i][j - 1] + 1 < best)
                best = cost[i][j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                cost[i - 2][j - 2] + 1 < best)
                best = cost[i - 2][j - 2] + 1;
            cost[i][j] = best;
        }
    }
    return cost[rows][columns];
}

const char *oche_nearest_word(const char *text, const char *const *words, size_t count)
{
    /* a word with this many edits or more is not similar */
    unsigned best = (unsigned)(strlen(text) + 2) / 3 + 1;
    const char *nearest = NULL;

    for (size_t i = 0; i < count; i++) {
        unsigned distance = edit_distance(text, words[i]);

        if (distance < best) {
            best = distance;
            nearest = words[i];
        }
    }
    return nearest;
}

/* ---- values that are not parameters of a table ---- */

bool oche_time_parse(const char *text, oche_time *time, struct oche_error *error)
{
    static const struct oche_param param = {.name = "time", OCHE_IS_TIME(0, 0, OCHE_NEVER)};
    union oche_value value;

    if (!oche_value_parse(&param, text, &value, error))
        return false;
    *time = value.u;
    return true;
}

bool oche_rate_parse(const char *text, uint64_t *rate_bps, struct oche_error *error)
{
    static const struct oche_param param = {.name = "rate",
                                            OCHE_IS_BPS(0, OCHE_MBPS, 1000 * OCHE_GBPS)};
    union oche_value value;

    if (!oche_value_parse(&param, text, &value, error))
        return false;
    *rate_bps = value.u;
    return true;
}

size_t oche_value_length(const char *text)
{
    size_t depth = 0, at = 0;
    char quote = '\0';

    for (; text[at] != '\0'; at++) {
        char c = text[at];

        if (quote != '\0') {
            if (c == quote)
                quote = '\0';
        } else if (c == '"' || c == '\'') {
            quote = c;
        } else if (c == '{' || c == '[') {
            depth++;
        } else if ((c == '}' || c == ']') && depth > 0) {
            depth--;
        } else if (c == ',' && depth == 0) {
            break;
        }
    }
    return at;
}
