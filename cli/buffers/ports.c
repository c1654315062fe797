/* SPDX-License-Identifier: Apache-2.0 */
/* Ports of several kinds, from a command line. */
#include "cli/buffers/ports.h"

#include <stdlib.h>
#include <string.h>

#include "params/units.h"

#define PS_PER_M   5000 /* light in glass or copper */
#define MOST_M     1e6
#define WORD_BYTES 64

bool oche_buffers_length(const char *text, double *metres, char *why, size_t why_bytes)
{
    char *end = NULL;
    double length = text[0] >= '0' && text[0] <= '9' ? strtod(text, &end) : -1;
    bool kilo = length >= 0 && strcmp(end, "km") == 0;

    if (length < 0 || (!kilo && strcmp(end, "m") != 0)) {
        snprintf(why, why_bytes, "not a length; write it as 100m or 2km");
        return false;
    }
    *metres = length * (kilo ? 1000 : 1);
    if (*metres <= MOST_M)
        return true;
    snprintf(why, why_bytes, "is more than 1000 km; write less");
    return false;
}

oche_time oche_buffers_delay(double metres)
{
    return (oche_time)(metres * PS_PER_M);
}

/* "64x100Gbps@3m"; the word is cut to pieces. */
static bool read_kind(char *word, struct oche_buffers_links *links, char *why, size_t why_bytes)
{
    const struct oche_param count = {.name = "number",
                                     .unit = OCHE_UNIT_COUNT,
                                     .minimum.u = 1,
                                     .maximum.u = OCHE_BUFFERS_MOST_PORTS};
    const struct oche_param rate = {.name = "rate",
                                    .unit = OCHE_UNIT_BPS,
                                    .minimum.u = OCHE_BUFFERS_LEAST_RATE,
                                    .maximum.u = OCHE_BUFFERS_MOST_RATE};
    char *length_word = strchr(word, '@'), *rate_word;
    union oche_value value;

    *links = (struct oche_buffers_links){.delay = OCHE_NEVER, .cable_m = -1};
    if (length_word != NULL) {
        *length_word++ = '\0';
        if (!oche_buffers_length(length_word, &links->cable_m, why, why_bytes))
            return false;
        links->delay = oche_buffers_delay(links->cable_m);
    }
    rate_word = strchr(word, 'x');
    if (rate_word != NULL) {
        *rate_word++ = '\0';
        if (!oche_value_parse(&rate, rate_word, &value, why, why_bytes))
            return false;
        links->rate_bps = value.u;
    }
    if (!oche_value_parse(&count, word, &value, why, why_bytes))
        return false;
    links->ports = (unsigned)value.u;
    return true;
}

bool oche_buffers_ports(const char *text, struct oche_buffers_input *input, char *why,
                        size_t why_bytes)
{
    char word[WORD_BYTES];
    size_t length;

    input->kinds = input->ports = 0;
    for (const char *at = text;; at += length + 1) {
        length = strcspn(at, ",");
        if (input->kinds == OCHE_BUFFERS_MOST_KINDS) {
            snprintf(why, why_bytes, "more than %u kinds of ports; put some together",
                     OCHE_BUFFERS_MOST_KINDS);
            return false;
        }
        if (length >= sizeof(word)) {
            snprintf(why, why_bytes, "too long a word; write 64x100Gbps@3m");
            return false;
        }
        memcpy(word, at, length);
        word[length] = '\0';
        struct oche_buffers_links *links = &input->links[input->kinds++];
        if (!read_kind(word, links, why, why_bytes))
            return false;
        input->ports += links->ports;
        if (input->ports > OCHE_BUFFERS_MOST_PORTS) {
            snprintf(why, why_bytes, "%u ports in all; at most %u", input->ports,
                     OCHE_BUFFERS_MOST_PORTS);
            return false;
        }
        if (at[length] == '\0')
            return true;
    }
}
