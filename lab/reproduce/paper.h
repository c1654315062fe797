/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A paper: a folder of figures' files and its own, paper.yaml:
 *
 *     title, authors, published
 *     figures                in the paper's order
 *     grids, quantities      by name, for any of its figures
 *     differences            of all of them
 */
#ifndef OCHE_LAB_REPRODUCE_PAPER_H
#define OCHE_LAB_REPRODUCE_PAPER_H

#include "params/error.h"
#include "sim/scenario/document.h"

struct oche_paper {
    struct oche_document *document;
    const char *name;   /* the folder's name */
    const char *folder; /* the folder's path */
    const char *title, *authors, *published;
    const char **figures;
    size_t figure_count;
    const struct oche_yaml *grids, *quantities, *differences; /* or NULL */
};

/* Reads FOLDER/NAME/paper.yaml. Returns NULL, with one line in `error`, if it cannot. */
struct oche_paper *oche_paper_open(const char *papers, const char *name, struct oche_error *error);
/* The same for a text; `path` stands for the file, and its folder is the paper's. */
struct oche_paper *oche_paper_parse(const char *path, const char *text, struct oche_error *error);
void oche_paper_close(struct oche_paper *paper);

/*
 * Returns the names of the papers in the folder, sorted (malloc'd, as are the strings). NULL, with
 * an error, on failure.
 */
char **oche_papers_list(const char *papers, size_t *count, struct oche_error *error);
void oche_papers_list_free(char **names, size_t count);

/*
 * Returns the folder of papers (malloc'd): `given` (or NULL), else OCHE_PAPERS from the
 * environment, else the folder in the sources if the program runs where it was built, else the
 * installed one. Returns NULL, with an error, if it does not exist.
 */
char *oche_papers_folder(const char *given, struct oche_error *error);

#endif
