/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers of claims as people read them: shares in per cent, differences between shares in points.
 */
#ifndef OCHE_LAB_REPRODUCE_WORDS_H
#define OCHE_LAB_REPRODUCE_WORDS_H

#include "lab/reproduce/claim.h"

#define OCHE_WORDS_BYTES 160

struct oche_words {
    char text[OCHE_WORDS_BYTES];
};

/* Returns the claim's measured number in words. */
struct oche_words oche_measured_words(const struct oche_study *study,
                                      const struct oche_claim *claim,
                                      const struct oche_judgement *judgement);

/*
 * Returns the interval: "42.1 % to 44.3 %", followed by " *" if it is by bootstrap; "–" if there is
 * none.
 */
struct oche_words oche_interval_words(const struct oche_study *study,
                                      const struct oche_claim *claim,
                                      const struct oche_judgement *judgement);

/* Returns the paper's statement for the claim if there is one; else, the paper's number. */
struct oche_words oche_published_words(const struct oche_study *study,
                                       const struct oche_claim *claim);

/*
 * Returns the claim's tolerance: "± 5 points; shape 15", "at most 5 %; shape 10 %", "ties 2 points;
 * shape 5", …
 */
struct oche_words oche_tolerance_words(const struct oche_study *study,
                                       const struct oche_claim *claim);

#endif
