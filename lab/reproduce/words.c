/* SPDX-License-Identifier: Apache-2.0 */
/* Writes claims in words. */
#include "lab/reproduce/words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lab/reproduce/yardstick.h"
#include "params/figures.h"

/* Writes a number with three digits; with fewer if it is below one hundredth. */
static void write_number(double value, char *text, size_t text_bytes)
{
    double size = fabs(value);

    if (size > 0 && size < 0.0995)
        snprintf(text, text_bytes, "%.2g", value);
    else
        snprintf(text, text_bytes, "%.*f", size < 9.995 ? 2 : size < 99.95 ? 1 : 0, value);
    if (strchr(text, '.') == NULL || strchr(text, 'e') != NULL)
        return;
    /* removes zeros at the end: "5.00" becomes "5" */
    for (size_t end = strlen(text); end > 0; end--) {
        if (text[end - 1] == '.') {
            text[end - 1] = '\0';
            return;
        }
        if (text[end - 1] != '0')
            return;
        text[end - 1] = '\0';
    }
}

/*
 * Returns a value in words; `unit` is a metric's unit or "factor". Infinity is "never", NAN is "–".
 */
static struct oche_words value_words(double value, const char *unit)
{
    struct oche_words words;
    char number[32];

    if (isnan(value) || isinf(value)) {
        snprintf(words.text, sizeof(words.text), "%s", isnan(value) ? "–" : "never");
    } else if (strcmp(unit, "ratio") == 0) {
        write_number(100 * value, number, sizeof(number));
        snprintf(words.text, sizeof(words.text), "%s %%", number);
    } else if (strcmp(unit, "factor") == 0) {
        write_number(value, number, sizeof(number));
        snprintf(words.text, sizeof(words.text), "%s", number);
    } else {
        snprintf(words.text, sizeof(words.text), "%s", oche_figure_value(value, unit).text);
    }
    return words;
}

/* Returns a difference in words; a difference of shares is in points. */
static struct oche_words width_words(double value, const char *unit, bool with_unit)
{
    struct oche_words words;
    char number[32];

    if (strcmp(unit, "ratio") != 0)
        return value_words(value, unit);
    write_number(100 * value, number, sizeof(number));
    snprintf(words.text, sizeof(words.text), "%s%s", number,
             !with_unit                 ? ""
             : strcmp(number, "1") == 0 ? " point"
                                        : " points");
    return words;
}

/* True if the claim's number is a difference; a difference of shares is in points. */
static bool is_width(const struct oche_claim *claim)
{
    static const char *const widths[] = {"difference", "order", "near"};

    for (size_t i = 0; i < OCHE_COUNT_OF(widths); i++)
        if (strcmp(claim->kind->name, widths[i]) == 0)
            return true;
    return false;
}

/* Returns a share of a claim's points in words: "5 of 6 points". */
static struct oche_words points_words(const struct oche_study *study,
                                      const struct oche_claim *claim, double share)
{
    const size_t points = oche_claim_points(study, claim);
    struct oche_words words;

    snprintf(words.text, sizeof(words.text), "%.0f of %zu point%s", round(share * (double)points),
             points, points == 1 ? "" : "s");
    return words;
}

static struct oche_words number_words(const struct oche_study *study,
                                      const struct oche_claim *claim, double value)
{
    const char *unit = oche_claim_unit(study, claim);

    if (claim->kind->band == OCHE_BAND_POINTS && isfinite(value))
        return points_words(study, claim, value);
    if (is_width(claim) && isfinite(value))
        return width_words(value, unit, true);
    return value_words(value, unit);
}

struct oche_words oche_measured_words(const struct oche_study *study,
                                      const struct oche_claim *claim,
                                      const struct oche_judgement *judgement)
{
    return number_words(study, claim, judgement->measured);
}

struct oche_words oche_interval_words(const struct oche_study *study,
                                      const struct oche_claim *claim,
                                      const struct oche_judgement *judgement)
{
    struct oche_words words;

    if (judgement->interval == OCHE_INTERVAL_NONE) {
        snprintf(words.text, sizeof(words.text), "–");
        return words;
    }
    if (claim->kind->band == OCHE_BAND_POINTS) {
        const double points = (double)oche_claim_points(study, claim);

        snprintf(words.text, sizeof(words.text), "%.0f … %.60s *", round(judgement->low * points),
                 points_words(study, claim, judgement->high).text);
        return words;
    }
    snprintf(words.text, sizeof(words.text), "%.60s … %.60s%s",
             is_width(claim) && isfinite(judgement->low)
                 ? width_words(judgement->low, oche_claim_unit(study, claim), false).text
                 : number_words(study, claim, judgement->low).text,
             number_words(study, claim, judgement->high).text,
             judgement->interval == OCHE_INTERVAL_BOOTSTRAP ? " *" : "");
    return words;
}

struct oche_words oche_published_words(const struct oche_study *study,
                                       const struct oche_claim *claim)
{
    struct oche_words words;

    if (claim->says == NULL)
        return number_words(study, claim, claim->published);
    snprintf(words.text, sizeof(words.text), "%s", claim->says);
    return words;
}

/* Returns the end of a bound's band that is this wide. */
static double end_of_band(const struct oche_claim *claim, double width, bool most)
{
    if (claim->published == 0)
        return most ? width : -width;
    const double factor = oche_tolerance_factor(claim, claim->published, width);

    return (claim->published > 0) == most ? claim->published * factor : claim->published / factor;
}

static struct oche_words bound_words(const struct oche_study *study, const struct oche_claim *claim,
                                     bool most)
{
    const struct oche_tolerance *tolerance = &claim->tolerance;
    const char *unit = oche_claim_unit(study, claim);
    struct oche_words words;

    snprintf(words.text, sizeof(words.text), "%s %.40s; shape %.40s%s%.40s",
             most ? "at most" : "at least",
             value_words(end_of_band(claim, tolerance->reproduced, most), unit).text,
             value_words(end_of_band(claim, tolerance->in_shape, most), unit).text,
             isnan(claim->limit) ? "" : "; up to ",
             isnan(claim->limit) ? "" : value_words(claim->limit, unit).text);
    return words;
}

/* Returns the tolerance of a number that is compared by its factor from the published one. */
static struct oche_words factor_words(const struct oche_claim *claim)
{
    const struct oche_tolerance *tolerance = &claim->tolerance;
    const bool given = claim->kind->band == OCHE_BAND_FACTOR;
    struct oche_words words;

    snprintf(words.text, sizeof(words.text), "factor %.3g; shape %.3g",
             given ? tolerance->reproduced
                   : oche_tolerance_factor(claim, claim->published, tolerance->reproduced),
             given ? tolerance->in_shape
                   : oche_tolerance_factor(claim, claim->published, tolerance->in_shape));
    return words;
}

static struct oche_words own_tolerance_words(const struct oche_study *study,
                                             const struct oche_claim *claim)
{
    const struct oche_tolerance *tolerance = &claim->tolerance;
    const char *unit = oche_claim_unit(study, claim), *name = claim->kind->name;
    const bool margin = claim->kind->band == OCHE_BAND_MARGIN;
    struct oche_words words;

    if (claim->kind->conditions == OCHE_CONDITIONS_NONE)
        return value_words(NAN, unit);
    if (claim->kind->published != NULL && strcmp(claim->kind->published, "bound") == 0)
        return bound_words(study, claim, strcmp(name, "at_most") == 0);
    if (claim->kind->band == OCHE_BAND_POINTS) {
        snprintf(words.text, sizeof(words.text), "each by more than %.40s; shape %.40s of points",
                 value_words(tolerance->reproduced, "ratio").text,
                 value_words(tolerance->in_shape, "ratio").text);
        return words;
    }
    if (!margin && claim->published != 0)
        return factor_words(claim);
    snprintf(words.text, sizeof(words.text), "%s%.60s; shape %s%.60s",
             !margin                      ? "± "
             : strcmp(name, "order") == 0 ? "by more than "
                                          : "within ",
             width_words(tolerance->reproduced, unit, true).text,
             strcmp(name, "order") == 0 && tolerance->in_shape > 0 ? "-" : "",
             width_words(tolerance->in_shape, unit, false).text);
    return words;
}

struct oche_words oche_tolerance_words(const struct oche_study *study,
                                       const struct oche_claim *claim)
{
    struct oche_words words = own_tolerance_words(study, claim);

    for (size_t i = 0; i < claim->proviso_count; i++) {
        const struct oche_proviso *proviso = &claim->provided[i];
        const size_t used = strlen(words.text);

        snprintf(words.text + used, sizeof(words.text) - used, "; if %.40s %s %.30s",
                 proviso->quantity->name, proviso->least ? ">=" : "<=",
                 value_words(proviso->bound, proviso->quantity->unit).text);
    }
    return words;
}
