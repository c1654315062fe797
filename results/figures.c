/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers for tables. */
#include "results/figures.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct scale {
    uint64_t one;
    const char *name;
};

/* Three digits of value / one, with its unit; exact when it has no more than that. */
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
