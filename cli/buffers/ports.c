/* SPDX-License-Identifier: Apache-2.0 */
/* Parses ports of several kinds on a command line. */
#include "cli/buffers/ports.h"

#include <stdlib.h>
#include <string.h>

#include "params/error.h"
#include "params/units.h"

#define PS_PER_M   5000 /* picoseconds per metre at the speed of light in glass or copper */
#define MOST_M     1e6
#define WORD_BYTES 64

bool oche_buffers_length(const char *text, double *metres, struct oche_error *why)
{
    char *end = NULL;
    double length = text[0] >= '0' && text[0] <= '9' ? strtod(text, &end) : -1;
    bool kilo = length >= 0 && strcmp(end, "km") == 0;

    if (length < 0 || (!kilo && strcmp(end, "m") != 0))
        return oche_fail(why, "not a length; write it as 100m or 2km");
    *metres = length * (kilo ? 1000 : 1);
    if (*metres <= MOST_M)
        return true;
    return oche_fail(why, "is more than 1000 km; write less");
}

oche_time oche_buffers_delay(double metres)
{
    return (oche_time)(metres * PS_PER_M);
}

double oche_buffers_cable_m(oche_time delay)
{
    return (double)delay / PS_PER_M;
}

/* Parses a kind of ports, "64x100Gbps@3m". Changes `word`. */
static bool read_kind(char *word, struct oche_buffers_links *links, struct oche_error *why)
{
    const struct oche_param count = {.name = "number",
                                     OCHE_IS_COUNT(0, 1, OCHE_BUFFERS_MOST_PORTS)};
    const struct oche_param rate = {
        .name = "rate", OCHE_IS_BPS(0, OCHE_BUFFERS_LEAST_RATE, OCHE_BUFFERS_MOST_RATE)};
    char *length_word = strchr(word, '@'), *rate_word;
    union oche_value value;

    *links = (struct oche_buffers_links){.delay = OCHE_NEVER, .cable_m = -1};
    if (length_word != NULL) {
        *length_word++ = '\0';
        if (!oche_buffers_length(length_word, &links->cable_m, why))
            return false;
        links->delay = oche_buffers_delay(links->cable_m);
    }
    rate_word = strchr(word, 'x');
    if (rate_word != NULL) {
        *rate_word++ = '\0';
        if (!oche_value_parse(&rate, rate_word, &value, why))
            return false;
        links->rate_bps = value.u;
    }
    if (!oche_value_parse(&count, word, &value, why))
        return false;
    links->ports = (unsigned)value.u;
    return true;
}

bool oche_buffers_ports(const char *text, struct oche_buffers_input *input, struct oche_error *why)
{
    char word[WORD_BYTES];
    size_t length;

    input->kinds = input->ports = 0;
    for (const char *at = text;; at += length + 1) {
        length = strcspn(at, ",");
        if (input->kinds == OCHE_BUFFERS_MOST_KINDS)
            return oche_fail(why, "more than %u kinds of ports; put some together",
                             OCHE_BUFFERS_MOST_KINDS);
        if (length >= sizeof(word))
            return oche_fail(why, "too long a word; write 64x100Gbps@3m");
        memcpy(word, at, length);
        word[length] = '\0';
        struct oche_buffers_links *links = &input->links[input->kinds++];
        if (!read_kind(word, links, why))
            return false;
        input->ports += links->ports;
        if (input->ports > OCHE_BUFFERS_MOST_PORTS)
            return oche_fail(why, "%u ports in all; at most %u", input->ports,
                             OCHE_BUFFERS_MOST_PORTS);
        if (at[length] == '\0')
            return true;
    }
}
