/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the files of papers and figures: strict about keys, every error with its line. */
#ifndef OCHE_LAB_REPRODUCE_READ_H
#define OCHE_LAB_REPRODUCE_READ_H

#include "lab/reproduce/study.h"
#include "lab/reproduce/paper.h"
#include "params/error.h"

struct oche_reader {
    const struct oche_document *document; /* to which the nodes belong */
    struct oche_document *memory;         /* what is read is allocated here */
    struct oche_error *error;
};

#define OCHE_READ_FAIL(reader, node, below, ...)                                                   \
    oche_document_fail((reader)->document, node, below, (reader)->error, __VA_ARGS__)

void *oche_read_alloc(const struct oche_reader *reader, size_t count, size_t bytes);

/* True if `node` is a map with no keys other than these (NULL-terminated). */
bool oche_read_keys(const struct oche_reader *reader, const struct oche_yaml *node,
                    const char *const *known);

/* Reads the text of `key`; NULL if there is none, which is an error if it is required. */
bool oche_read_text(const struct oche_reader *reader, const struct oche_yaml *map, const char *key,
                    bool required, const char **text);

/* Reads a whole number, at least 1; leaves *count unchanged if there is none. */
bool oche_read_count(const struct oche_reader *reader, const struct oche_yaml *map, const char *key,
                     uint32_t most, uint32_t *count);

/*
 * Reads one of `words` (NULL-terminated) and sets its index; leaves it unchanged if there is none.
 */
bool oche_read_choice(const struct oche_reader *reader, const struct oche_yaml *map,
                      const char *key, const char *const *words, unsigned *choice);

/* Reads a number with its unit ("12us", "9.5Gbps", "45%"), in s, bps or bytes, or as it is. */
bool oche_read_number(const struct oche_reader *reader, const struct oche_yaml *node,
                      const char *unit, double *value);

/* Reads a word or a list of words; leaves them unchanged if `node` is NULL. */
bool oche_read_words(const struct oche_reader *reader, const struct oche_yaml *node,
                     const char ***words, size_t *count);

/* Reports that `text` is not one of `words`, and which may have been meant; returns false. */
bool oche_read_unknown(const struct oche_reader *reader, const struct oche_yaml *node,
                       const char *below, const char *text, const char *what,
                       const char *const *words, size_t count);

/* ---- the parts of a figure's file, one source file each ---- */

/*
 * Reads axes, grids, overrides, combinations. `also` (or NULL): the readings that grids may be for.
 */
bool oche_read_grids(const struct oche_reader *reader, struct oche_study *study,
                     const struct oche_yaml *grids, const struct oche_yaml *also, bool quick);

/*
 * Reads a condition: values of axes, by label, text or number. `many`: lists of values are allowed.
 */
bool oche_read_condition(const struct oche_reader *reader, const struct oche_study *study,
                         const struct oche_yaml *node, bool many, struct oche_condition *condition);
struct oche_condition oche_no_condition(const struct oche_reader *reader,
                                        const struct oche_study *study);
/* Returns `under`, replaced by `over` where that has values. */
struct oche_condition oche_condition_merge(const struct oche_reader *reader,
                                           const struct oche_study *study,
                                           const struct oche_condition *under,
                                           const struct oche_condition *over);
/*
 * True if the condition names one value of each axis that has several (except the axis `but`), and
 * some grid runs it; single values are filled in. If `quantity` is relative, this must also hold
 * for its reference.
 */
bool oche_condition_complete(const struct oche_reader *reader, const struct oche_study *study,
                             const struct oche_yaml *node, size_t but,
                             const struct oche_quantity *quantity,
                             struct oche_condition *condition);

/*
 * Returns the value of an axis that is meant if none is named: the only one that is not used by
 * just one reading. OCHE_ANY if there are several.
 */
size_t oche_usual_value(const struct oche_study_axis *axis);

bool oche_read_quantities(const struct oche_reader *reader, struct oche_study *study,
                          const struct oche_yaml *node, const struct oche_yaml *of_paper);
const struct oche_quantity *oche_quantity_find(const struct oche_study *study, const char *name);
bool oche_read_quantity(const struct oche_reader *reader, struct oche_study *study,
                        const struct oche_yaml *node, const struct oche_quantity **quantity);
bool oche_read_quantity_name(const struct oche_reader *reader, struct oche_study *study,
                             const struct oche_yaml *map, const char *key,
                             const struct oche_quantity **quantity);
bool oche_read_axis_name(const struct oche_reader *reader, const struct oche_study *study,
                         const struct oche_yaml *map, const char *key, size_t *axis);

/* Reads a map, or a list of maps with titles. */
bool oche_read_plots(const struct oche_reader *reader, struct oche_study *study,
                     const struct oche_yaml *node);
bool oche_read_claims(const struct oche_reader *reader, struct oche_study *study,
                      const struct oche_yaml *node);

#endif
