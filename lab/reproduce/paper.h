/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A paper: a folder with one file per figure, and the file paper.yaml:
 *
 *     title, authors, published
 *     figures                in the paper's order
 *     grids, quantities      by name; any figure of the paper can use them
 *     differences            that apply to every figure
 */
#ifndef OCHE_LAB_REPRODUCE_PAPER_H
#define OCHE_LAB_REPRODUCE_PAPER_H

#include "params/error.h"
#include "sim/scenario/document.h"

struct oche_paper {
    struct oche_document *document;
    const char *name;     /* name of the folder */
    const char *folder;   /* path of the folder */
    const char *measured; /* folder of measurements; NULL: "measured" in that folder; not owned */
    const char *title, *authors, *published;
    const char **figures;
    size_t figure_count;
    /* each is NULL if the file does not have it */
    const struct oche_yaml *grids, *quantities, *differences;
};

/* Reads FOLDER/NAME/paper.yaml. Returns NULL, with one line in `error`, on failure. */
struct oche_paper *oche_paper_open(const char *papers, const char *name, struct oche_error *error);
/* Like oche_paper_open, but reads `text` as if it were the file `path`. */
struct oche_paper *oche_paper_parse(const char *path, const char *text, struct oche_error *error);
void oche_paper_close(struct oche_paper *paper);

/*
 * Returns the sorted names of the papers in the folder `papers` (the array and the strings are
 * malloc'd). Returns NULL, with an error, on failure.
 */
char **oche_papers_list(const char *papers, size_t *count, struct oche_error *error);
void oche_papers_list_free(char **names, size_t count);

/*
 * Returns the folder of papers (malloc'd): `given` if that is not NULL; else OCHE_PAPERS from the
 * environment; else the folder in the sources, if the program runs where it was built; else the
 * installed folder. Returns NULL, with an error, if the folder does not exist.
 */
char *oche_papers_folder(const char *given, struct oche_error *error);

#endif
