/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the files of papers and figures. Unknown keys are errors; every error names its line. */
#ifndef OCHE_LAB_REPRODUCE_READ_H
#define OCHE_LAB_REPRODUCE_READ_H

#include "lab/reproduce/study.h"
#include "lab/reproduce/paper.h"
#include "params/error.h"

struct oche_reader {
    const struct oche_document *document; /* the document that contains the nodes */
    struct oche_document *memory;         /* owns the memory of everything that is read */
    struct oche_error *error;
};

#define OCHE_READ_FAIL(reader, node, below, ...)                                                   \
    oche_document_fail((reader)->document, node, below, (reader)->error, __VA_ARGS__)

void *oche_read_alloc(const struct oche_reader *reader, size_t count, size_t bytes);

/*
 * Returns true if `node` is a map whose keys are all in `known` (NULL-terminated); else false, with
 * an error.
 */
bool oche_read_keys(const struct oche_reader *reader, const struct oche_yaml *node,
                    const char *const *known);

/*
 * Reads the text of `key`. If the map does not have the key, sets *text to NULL, which is an error
 * if the key is required.
 */
bool oche_read_text(const struct oche_reader *reader, const struct oche_yaml *map, const char *key,
                    bool required, const char **text);

/*
 * Reads a whole number from 1 to `most`. Leaves *count unchanged if the map does not have the key.
 */
bool oche_read_count(const struct oche_reader *reader, const struct oche_yaml *map, const char *key,
                     uint32_t most, uint32_t *count);

/*
 * Reads a word and sets *choice to its index in `words` (NULL-terminated). Leaves *choice unchanged
 * if the map does not have the key.
 */
bool oche_read_choice(const struct oche_reader *reader, const struct oche_yaml *map,
                      const char *key, const char *const *words, unsigned *choice);

/*
 * Reads a number with its unit ("12us", "9.5Gbps", "45%") and converts it to `unit`: s, bps or
 * bytes; other units have plain numbers.
 */
bool oche_read_number(const struct oche_reader *reader, const struct oche_yaml *node,
                      const char *unit, double *value);

/* Reads a word or a list of words. Leaves *words and *count unchanged if `node` is NULL. */
bool oche_read_words(const struct oche_reader *reader, const struct oche_yaml *node,
                     const char ***words, size_t *count);

/* Reports that `text` is not one of `words`, and suggests the most similar word. Returns false. */
bool oche_read_unknown(const struct oche_reader *reader, const struct oche_yaml *node,
                       const char *below, const char *text, const char *what,
                       const char *const *words, size_t count);

/* ---- the parts of a figure's file, one source file each ---- */

/*
 * Reads axes, grids, overrides and combinations. `also`: the figure's other readings, because a
 * grid may belong to one of them; NULL: none.
 */
bool oche_read_grids(const struct oche_reader *reader, struct oche_study *study,
                     const struct oche_yaml *grids, const struct oche_yaml *also, bool quick);

/*
 * Reads a condition, which gives a value to some axes, by label, text or number. With `many` an
 * axis may also get a list of values.
 */
bool oche_read_condition(const struct oche_reader *reader, const struct oche_study *study,
                         const struct oche_yaml *node, bool many, struct oche_condition *condition);
struct oche_condition oche_no_condition(const struct oche_reader *reader,
                                        const struct oche_study *study);
/*
 * Returns a condition with the values of `over`; axes that `over` lacks have the values of `under`.
 */
struct oche_condition oche_condition_merge(const struct oche_reader *reader,
                                           const struct oche_study *study,
                                           const struct oche_condition *under,
                                           const struct oche_condition *over);
/*
 * Completes a condition: an axis that it does not name gets its usual value. Returns true if the
 * condition then has one value for every axis except `but`, and some grid runs that combination. If
 * `quantity` is relative, some grid must also run its reference. Returns false, with an error,
 * otherwise.
 */
bool oche_condition_complete(const struct oche_reader *reader, const struct oche_study *study,
                             const struct oche_yaml *node, size_t but,
                             const struct oche_quantity *quantity,
                             struct oche_condition *condition);

/*
 * Returns the axis' usual value, which is used if a condition does not name the axis. It is the
 * only value of the axis, not counting values that only grids for one reading use. OCHE_ANY: there
 * are several values.
 */
size_t oche_usual_value(const struct oche_study_axis *axis);

bool oche_read_quantities(const struct oche_reader *reader, struct oche_study *study,
                          const struct oche_yaml *node, const struct oche_yaml *of_paper);
bool oche_read_quantity(const struct oche_reader *reader, struct oche_study *study,
                        const struct oche_yaml *node, const struct oche_quantity **quantity);
bool oche_read_quantity_name(const struct oche_reader *reader, struct oche_study *study,
                             const struct oche_yaml *map, const char *key,
                             const struct oche_quantity **quantity);
bool oche_read_axis_name(const struct oche_reader *reader, const struct oche_study *study,
                         const struct oche_yaml *map, const char *key, size_t *axis);

/* Reads a value of the axis: its label, text or number. */
bool oche_read_axis_value(const struct oche_reader *reader, const struct oche_study_axis *axis,
                          const struct oche_yaml *node, size_t *value);
/* Finds the axis that `node` names as `key`; an error of its line if there is none. */
bool oche_read_axis(const struct oche_reader *reader, const struct oche_study *study,
                    const struct oche_yaml *node, const char *key, size_t *axis);

/* Reads the other readings, `also`; NULL: there are none. */
bool oche_read_also(const struct oche_reader *reader, struct oche_study *study,
                    const struct oche_yaml *node);

/* Reads one plot from a map, or several from a list of maps with titles. */
bool oche_read_plots(const struct oche_reader *reader, struct oche_study *study,
                     const struct oche_yaml *node);
bool oche_read_claims(const struct oche_reader *reader, struct oche_study *study,
                      const struct oche_yaml *node);

#endif
