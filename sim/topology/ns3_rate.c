/* SPDX-License-Identifier: Apache-2.0 */
/* Reads rates as ns-3 does: prefixes k, K, M, G, T and Ki, Mi, Gi, Ti; bits "b", bytes "B". */
#include "sim/topology/ns3_rate.h"

#include <stdio.h>
#include <string.h>

#include "params/text_input.h"

#define MOST_BYTES 40
#define MOST_BPS   0x1p60

/* Returns the factor of the unit, in bits per second; 0: it is none. */
static double factor_of(const char *unit)
{
    static const char prefixes[] = "KMGT";
    const char first = *unit == 'k' ? 'K' : *unit;
    const char *prefix = first == '\0' ? NULL : strchr(prefixes, first);
    double factor = 1;

    if (*unit == '\0')
        return 1;
    if (prefix != NULL) {
        const bool binary = unit[1] == 'i';

        for (const char *p = prefixes; p <= prefix; p++)
            factor *= binary ? 1024 : 1000;
        unit += binary ? 2 : 1;
    }
    if (*unit != 'b' && *unit != 'B')
        return 0;
    factor *= *unit == 'B' ? 8 : 1;
    return strcmp(unit + 1, "ps") == 0 || strcmp(unit + 1, "/s") == 0 ? factor : 0;
}

bool oche_ns3_rate(const char *text, uint64_t *bps)
{
    const size_t digits = strspn(text, "0123456789.");
    char number[MOST_BYTES];
    double value;

    if (digits == 0 || digits >= sizeof(number))
        return false;
    memcpy(number, text, digits);
    number[digits] = '\0';
    if (!oche_text_real(number, &value))
        return false;
    value *= factor_of(text + digits);
    if (factor_of(text + digits) == 0 || value > MOST_BPS)
        return false;
    *bps = (uint64_t)(value + 0.5);
    return true;
}
