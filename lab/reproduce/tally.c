/* SPDX-License-Identifier: Apache-2.0 */
/* Counts verdicts. */
#include "lab/reproduce/tally.h"

void oche_tally_add(struct oche_tally *tally, enum oche_source source, enum oche_finding finding,
                    bool unsure)
{
    tally->count[source][finding][unsure]++;
}

void oche_tally_add_all(struct oche_tally *tally, const struct oche_tally *from)
{
    for (unsigned s = 0; s < OCHE_SOURCES; s++)
        for (unsigned f = 0; f < OCHE_FINDINGS; f++)
            for (unsigned u = 0; u < 2; u++)
                tally->count[s][f][u] += from->count[s][f][u];
}

size_t oche_tally_count(const struct oche_tally *tally, enum oche_source source,
                        enum oche_finding finding, bool unsure)
{
    size_t count = 0;

    for (unsigned s = 0; s < OCHE_SOURCES; s++)
        if (source == OCHE_SOURCES || source == s)
            count += tally->count[s][finding][unsure];
    return count;
}

size_t oche_tally_claims(const struct oche_tally *tally, enum oche_source source)
{
    size_t count = 0;

    for (unsigned f = 0; f < OCHE_FINDINGS; f++)
        count += oche_tally_count(tally, source, (enum oche_finding)f, false) +
                 oche_tally_count(tally, source, (enum oche_finding)f, true);
    return count;
}
