/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a paper's own file, and finds papers. */
#include "lab/reproduce/paper.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lab/reproduce/data_folder.h"
#include "lab/reproduce/read.h"
#include "params/error.h"
#include "params/text_stream.h"

/* ---- paper.yaml ---- */

static bool is_file_name(const char *name)
{
    return name[0] != '.' && strchr(name, '/') == NULL;
}

static bool read_maps(const struct oche_reader *reader, const struct oche_yaml *root,
                      const char *key, const struct oche_yaml **map)
{
    *map = oche_yaml_find(root, key);
    if (*map != NULL && (*map)->kind != OCHE_YAML_MAP)
        return OCHE_READ_FAIL(reader, *map, NULL, "is not a map; write NAME: {…} below it");
    return true;
}

static bool read_paper(const struct oche_reader *reader, struct oche_paper *paper)
{
    static const char *const known[] = {"title", "authors",    "published",   "figures",
                                        "grids", "quantities", "differences", NULL};
    const struct oche_yaml *root = oche_document_root(paper->document);
    const struct oche_yaml *figures = oche_yaml_find(root, "figures");

    if (!oche_read_keys(reader, root, known) ||
        !oche_read_text(reader, root, "title", true, &paper->title) ||
        !oche_read_text(reader, root, "authors", true, &paper->authors) ||
        !oche_read_text(reader, root, "published", true, &paper->published))
        return false;
    if (figures == NULL)
        return OCHE_READ_FAIL(reader, root, "figures", "is not there; name them: [fig2, fig3]");
    if (!oche_read_words(reader, figures, &paper->figures, &paper->figure_count))
        return false;
    for (size_t i = 0; i < paper->figure_count; i++)
        if (!is_file_name(paper->figures[i]))
            return OCHE_READ_FAIL(reader, figures, NULL,
                                  "\"%s\" is not the name of a file without .yaml; write fig2",
                                  paper->figures[i]);
    paper->differences = oche_yaml_find(root, "differences");
    return read_maps(reader, root, "grids", &paper->grids) &&
           read_maps(reader, root, "quantities", &paper->quantities);
}

/*
 * Returns the paper in the document, which the paper then owns; NULL, with an error, if the
 * document is wrong.
 */
static struct oche_paper *paper_of(struct oche_document *document, struct oche_error *error)
{
    struct oche_reader reader = {.document = document, .memory = document, .error = error};
    struct oche_paper *paper;

    if (document == NULL)
        return NULL;
    const char *path = oche_document_name(document), *slash = strrchr(path, '/'), *before;

    paper = oche_document_alloc(document, sizeof(*paper));
    paper->document = document;
    paper->folder =
        slash == NULL ? "." : oche_document_print(document, "%.*s", (int)(slash - path), path);
    before = strrchr(paper->folder, '/');
    paper->name = before != NULL ? before + 1 : paper->folder;
    if (read_paper(&reader, paper))
        return paper;
    oche_document_close(document);
    return NULL;
}

struct oche_paper *oche_paper_parse(const char *path, const char *text, struct oche_error *error)
{
    return paper_of(oche_document_parse(path, text, strlen(text), error), error);
}

void oche_paper_close(struct oche_paper *paper)
{
    if (paper != NULL)
        oche_document_close(paper->document);
}

/* ---- the folder ---- */

static bool has_paper(const char *papers, const char *name)
{
    char *path = NULL;
    bool there;

    OCHE_GOT(asprintf(&path, "%s/%s/paper.yaml", papers, name) >= 0);
    there = access(path, R_OK) == 0;
    free(path);
    return there;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

char **oche_papers_list(const char *papers, size_t *count, struct oche_error *error)
{
    DIR *folder = opendir(papers);
    struct dirent *entry;
    char **names = NULL;

    *count = 0;
    if (folder == NULL) {
        oche_fail(error, "%s: cannot be read: %s; give a folder of papers", papers,
                  strerror(errno));
        return NULL;
    }
    while ((entry = readdir(folder)) != NULL) {
        if (entry->d_name[0] == '.' || !has_paper(papers, entry->d_name))
            continue;
        names = realloc(names, (*count + 1) * sizeof(*names));
        OCHE_GOT(names != NULL);
        names[*count] = strdup(entry->d_name);
        OCHE_GOT(names[*count] != NULL);
        (*count)++;
    }
    closedir(folder);
    if (*count == 0) {
        oche_fail(error, "%s: has no papers; a paper is a folder with paper.yaml in it", papers);
        return NULL;
    }
    qsort(names, *count, sizeof(*names), compare_names);
    return names;
}

void oche_papers_list_free(char **names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    free(names);
}

struct oche_paper *oche_paper_open(const char *papers, const char *name, struct oche_error *error)
{
    struct oche_paper *paper;
    char *path = NULL;

    if (!has_paper(papers, name)) {
        size_t count;
        char **names = oche_papers_list(papers, &count, error), *list = NULL;
        size_t bytes;
        FILE *out = oche_text_stream_open(&list, &bytes);

        for (size_t i = 0; i < count; i++)
            fprintf(out, "%s%s", i > 0 ? ", " : "", names[i]);
        oche_text_stream_close(out);
        if (names != NULL)
            oche_fail(error, "%s: no such paper in %s; there are: %s", name, papers, list);
        free(list);
        oche_papers_list_free(names, count);
        return NULL;
    }
    OCHE_GOT(asprintf(&path, "%s/%s/paper.yaml", papers, name) >= 0);
    paper = paper_of(oche_document_open(path, error), error);
    free(path);
    return paper;
}

char *oche_papers_folder(const char *given, struct oche_error *error)
{
    const char *named = given != NULL ? given : getenv("OCHE_PAPERS");
    char *path = named != NULL && named[0] != '\0' ? strdup(named) : oche_data_folder("papers");
    struct stat facts;

    OCHE_GOT(path != NULL);
    while (strlen(path) > 1 && path[strlen(path) - 1] == '/')
        path[strlen(path) - 1] = '\0';
    if (stat(path, &facts) == 0 && S_ISDIR(facts.st_mode))
        return path;
    oche_fail(error, "%s: no such folder; name the papers' folder with --papers, or in OCHE_PAPERS",
              path);
    free(path);
    return NULL;
}
