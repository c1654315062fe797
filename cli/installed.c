/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/installed.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/refuse.h"
#include "cli/similar.h"
#include "core/base.h"
#include "lab/reproduce/data_folder.h"
#include "params/printable.h"
#include "sim/scenario/document.h"

#define ENDING     ".yaml"
#define TEXT_BYTES 1024

/* ---- the folder ---- */

struct installed {
    char *folder;
    char **names; /* without ENDING, sorted */
    size_t count;
};

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Returns the name without its ending (malloc'd), or NULL if it is not that of a scenario. */
static char *name_of_scenario(const char *file)
{
    const size_t length = strlen(file), ending = strlen(ENDING);
    char *name;

    if (file[0] == '.' || length <= ending || strcmp(file + length - ending, ENDING) != 0)
        return NULL;
    name = strndup(file, length - ending);
    OCHE_GOT(name != NULL);
    return name;
}

/* Lists the scenarios in the folder; none if there is no folder. */
static struct installed find_installed(void)
{
    struct installed installed = {.folder = oche_data_folder("scenarios")};
    char *whole = realpath(installed.folder, NULL);

    if (whole != NULL) {
        free(installed.folder);
        installed.folder = whole;
    }
    DIR *folder = opendir(installed.folder);
    struct dirent *entry;

    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        char *name = name_of_scenario(entry->d_name);

        if (name == NULL)
            continue;
        installed.names =
            realloc(installed.names, (installed.count + 1) * sizeof(*installed.names));
        OCHE_GOT(installed.names != NULL);
        installed.names[installed.count++] = name;
    }
    if (folder != NULL)
        closedir(folder);
    if (installed.count > 0)
        qsort(installed.names, installed.count, sizeof(*installed.names), compare_names);
    return installed;
}

static void free_installed(struct installed *installed)
{
    for (size_t i = 0; i < installed->count; i++)
        free(installed->names[i]);
    free(installed->names);
    free(installed->folder);
}

static char *path_of(const struct installed *installed, const char *name)
{
    char *path = NULL;

    OCHE_GOT(asprintf(&path, "%s/%s" ENDING, installed->folder, name) >= 0);
    return path;
}

/* ---- an argument ---- */

static bool is_file(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && !S_ISDIR(status.st_mode);
}

static void refuse_name(const struct installed *installed, const char *name,
                        struct argp_state *state)
{
    const char *meant =
        oche_similar_word(name, (const char *const *)installed->names, installed->count);

    if (installed->count == 0)
        oche_refuse(state, "%s: no such file; give the path of a scenario file", name);
    else if (meant != NULL)
        oche_refuse(state, "%s: no such file or scenario; did you mean \"%s\"?", name, meant);
    else
        oche_refuse(state,
                    "%s: no such file or scenario; oche run --list shows those that come with oche",
                    name);
}

char *oche_scenario_argument(const char *argument, struct argp_state *state)
{
    char *path = strdup(strcmp(argument, "-") == 0 ? "/dev/stdin" : argument);

    OCHE_GOT(path != NULL);
    if (argument[0] == '\0' || strpbrk(path, "/.") != NULL || is_file(path))
        return path;
    struct installed installed = find_installed();

    free(path);
    path = path_of(&installed, argument);
    if (!is_file(path))
        refuse_name(&installed, argument, state);
    free_installed(&installed);
    return path;
}

/* ---- the list ---- */

/* Prints a name, and the description that the file has, if any. */
static void print_scenario(const char *name, size_t width, const char *path, FILE *out)
{
    struct oche_error error;
    struct oche_document *document = oche_document_open(path, &error);
    const struct oche_yaml *node =
        document != NULL ? oche_yaml_find(oche_document_root(document), "description") : NULL;
    char text[TEXT_BYTES] = "";

    if (document == NULL)
        oche_printable(error.text, text, sizeof(text));
    else if (node != NULL && node->kind == OCHE_YAML_SCALAR)
        oche_printable(node->text, text, sizeof(text));
    fprintf(out, "%-*s%s%s\n", text[0] != '\0' ? (int)width : 0, name, text[0] != '\0' ? "  " : "",
            text);
    oche_document_close(document);
}

bool oche_installed_print(FILE *out, struct oche_error *error)
{
    struct installed installed = find_installed();
    size_t width = 0;

    if (installed.count == 0)
        oche_fail(error, "--list: there are no scenarios in %s; oche was installed without them",
                  installed.folder);
    for (size_t i = 0; i < installed.count; i++)
        if (strlen(installed.names[i]) > width)
            width = strlen(installed.names[i]);
    for (size_t i = 0; i < installed.count; i++) {
        char name[TEXT_BYTES], *path = path_of(&installed, installed.names[i]);

        oche_printable(installed.names[i], name, sizeof(name));
        print_scenario(name, width, path, out);
        free(path);
    }
    if (installed.count > 0)
        fprintf(out, "\nfiles: %s/NAME" ENDING ", each with commands to try\n", installed.folder);
    const bool any = installed.count > 0;

    free_installed(&installed);
    return any;
}
