/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers formatted for tables. */
#include "params/figures.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct scale {
    uint64_t one;
    const char *name;
};

/* Formats a value with a unit and three significant digits, or fewer if fewer are exact. */
static struct oche_figure scaled(uint64_t value, const struct scale *scales)
{
    struct oche_figure figure;
    const struct scale *scale = scales;

    while (scale[1].name != NULL && value < scale->one)
        scale++;
    double shown = (double)value / (double)scale->one;
    int places = shown < 9.995 ? 2 : shown < 99.95 ? 1 : 0;

    if (value % scale->one == 0 && shown < 1000)
        places = 0;
    snprintf(figure.text, sizeof(figure.text), "%.*f%s", places, shown, scale->name);
    return figure;
}

struct oche_figure oche_figure_time(oche_time time)
{
    static const struct scale scales[] = {{OCHE_SEC, "s"}, {OCHE_MS, "ms"}, {OCHE_US, "us"},
                                          {OCHE_NS, "ns"}, {OCHE_PS, "ps"}, {0, NULL}};

    if (time == 0)
        return (struct oche_figure){"0"};
    return scaled(time, scales);
}

struct oche_figure oche_figure_bytes(uint64_t bytes)
{
    static const struct scale scales[] = {{UINT64_C(1000000000000), "TB"},
                                          {1000000000, "GB"},
                                          {1000000, "MB"},
                                          {1000, "KB"},
                                          {1, "B"},
                                          {0, NULL}};

    if (bytes == 0)
        return (struct oche_figure){"0"};
    return scaled(bytes, scales);
}

struct oche_figure oche_figure_rate(uint64_t bps)
{
    static const struct scale scales[] = {
        {1000 * OCHE_GBPS, "Tbps"}, {OCHE_GBPS, "Gbps"}, {OCHE_MBPS, "Mbps"},
        {OCHE_KBPS, "Kbps"},        {1, "bps"},          {0, NULL}};

    if (bps == 0)
        return (struct oche_figure){"0"};
    return scaled(bps, scales);
}

struct oche_figure oche_figure_count(uint64_t count)
{
    struct oche_figure figure;
    char digits[OCHE_FIGURE_BYTES];
    size_t length = (size_t)snprintf(digits, sizeof(digits), "%" PRIu64, count), at = 0;

    for (size_t i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            figure.text[at++] = ',';
        figure.text[at++] = digits[i];
    }
    figure.text[at] = '\0';
    return figure;
}

struct oche_figure oche_figure_share(double share)
{
    struct oche_figure figure;
    double percent = 100 * share;

    snprintf(figure.text, sizeof(figure.text), "%.*f %%",
             percent < 9.995 && percent > 0   ? 2
             : percent < 99.95 && percent > 0 ? 1
                                              : 0,
             percent);
    return figure;
}

struct oche_figure oche_figure_ratio(double ratio)
{
    struct oche_figure figure;

    snprintf(figure.text, sizeof(figure.text), "%.*f",
             ratio < 9.995   ? 2
             : ratio < 99.95 ? 1
                             : 0,
             ratio);
    return figure;
}

/* ---- real numbers, in the units of results files ---- */

struct real_scale {
    double one;
    const char *name;
};

/* Returns the scale in which `value` has one to three digits before the decimal point. */
static struct real_scale scale_of(double value, const char *unit)
{
    static const struct real_scale times[] = {{1, "s"},     {1e-3, "ms"},  {1e-6, "us"},
                                              {1e-9, "ns"}, {1e-12, "ps"}, {0, NULL}};
    static const struct real_scale rates[] = {{1e12, "Tbps"}, {1e9, "Gbps"}, {1e6, "Mbps"},
                                              {1e3, "Kbps"},  {1, "bps"},    {0, NULL}};
    static const struct real_scale sizes[] = {{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"},
                                              {1e3, "KB"},  {1, "B"},    {0, NULL}};
    const struct real_scale *scale = strcmp(unit, "s") == 0       ? times
                                     : strcmp(unit, "bps") == 0   ? rates
                                     : strcmp(unit, "bytes") == 0 ? sizes
                                                                  : NULL;

    if (scale == NULL)
        return (struct real_scale){1, ""};
    if (value == 0)
        return (struct real_scale){1, ""};
    while (scale[1].name != NULL && fabs(value) < 0.9995 * scale->one)
        scale++;
    return *scale;
}

/* Returns the number of decimals, at most three, with which a value has three digits. */
static int places_of(double value)
{
    double size = fabs(value);

    return size == 0 ? 0 : size < 0.9995 ? 3 : size < 9.995 ? 2 : size < 99.95 ? 1 : 0;
}

struct oche_figure oche_figure_value(double value, const char *unit)
{
    struct real_scale scale;
    struct oche_figure figure;

    if (isnan(value))
        return (struct oche_figure){"–"};
    if (strcmp(unit, "count") == 0 && value >= 0 && value == floor(value) && value < 1e18)
        return oche_figure_count((uint64_t)value);
    scale = scale_of(value, unit);
    value /= scale.one;
    if (value != 0 && fabs(value) < 0.0995)
        snprintf(figure.text, sizeof(figure.text), "%.3g%s", value, scale.name);
    else
        snprintf(figure.text, sizeof(figure.text), "%.*f%s", places_of(value), value, scale.name);
    return figure;
}

struct oche_figure oche_figure_spread(double mean, double spread, const char *unit)
{
    static const struct {
        double half;
        const char *text;
    } last[] = {{0.5, "1"}, {0.05, "0.1"}, {0.005, "0.01"}, {0.0005, "0.001"}}; /* place */
    struct real_scale scale;
    struct oche_figure figure;

    if (isnan(mean) || isnan(spread) || spread == 0)
        return oche_figure_value(mean, unit);
    scale = scale_of(mean, unit);
    mean /= scale.one;
    spread /= scale.one;
    if (mean != 0 && fabs(mean) < 0.0995)
        snprintf(figure.text, sizeof(figure.text), "%.3g ± %.2g%s", mean, spread, scale.name);
    else if (spread < last[places_of(mean)].half) /* a spread above 0 must not be shown as 0 */
        snprintf(figure.text, sizeof(figure.text), "%.*f ± <%s%s", places_of(mean), mean,
                 last[places_of(mean)].text, scale.name);
    else
        snprintf(figure.text, sizeof(figure.text), "%.*f ± %.*f%s", places_of(mean), mean,
                 places_of(mean), spread, scale.name);
    return figure;
}

struct oche_figure oche_figure_wait(double seconds)
{
    struct oche_figure figure;
    unsigned long whole = seconds > 0 && seconds < 1e9 ? (unsigned long)(seconds + 0.5) : 0;

    if (whole < 100)
        snprintf(figure.text, sizeof(figure.text), "%lu s", whole);
    else if (whole < 7200)
        snprintf(figure.text, sizeof(figure.text), "%lu min", (whole + 30) / 60);
    else
        snprintf(figure.text, sizeof(figure.text), "%lu h %lu min", whole / 3600,
                 whole % 3600 / 60);
    return figure;
}
