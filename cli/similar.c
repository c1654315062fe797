/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/similar.h"

#include <argp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/base.h"
#include "params/units.h"

/* True if the words differ by two exchanged neighbours: "rnu" and "run". */
static bool is_swapped(const char *text, const char *word)
{
    const size_t length = strlen(text);
    size_t at = 0;

    if (strlen(word) != length)
        return false;
    while (at < length && text[at] == word[at])
        at++;
    return at + 1 < length && text[at] == word[at + 1] && text[at + 1] == word[at] &&
           strcmp(text + at + 2, word + at + 2) == 0;
}

const char *oche_similar_word(const char *text, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (is_swapped(text, words[i]))
            return words[i];
    return oche_nearest_word(text, words, count);
}

/* ---- options ---- */

/* The options that argp has by itself. */
static const char *const common[] = {"help", "usage"};

/* Lists the long options (the array is malloc'd). */
static const char **list_options(const struct argp_option *options, size_t *count)
{
    size_t room = OCHE_COUNT_OF(common);

    for (const struct argp_option *o = options; o->name != NULL || o->key != 0 || o->doc != NULL;
         o++)
        room++;
    const char **names = calloc(room, sizeof(*names));

    OCHE_GOT(names != NULL);
    *count = 0;
    for (size_t i = 0; i < OCHE_COUNT_OF(common); i++)
        names[(*count)++] = common[i];
    for (const struct argp_option *o = options; o->name != NULL || o->key != 0 || o->doc != NULL;
         o++)
        if (o->name != NULL && (o->flags & OPTION_DOC) == 0)
            names[(*count)++] = o->name;
    return names;
}

/* Returns the option of that name or with that prefix; NULL: it is none of argp's. */
static const struct argp_option *find_long(const struct argp_option *options, const char *name)
{
    const struct argp_option *found = NULL;

    for (const struct argp_option *o = options; o->name != NULL || o->key != 0 || o->doc != NULL;
         o++) {
        if (o->name == NULL || strncmp(o->name, name, strlen(name)) != 0)
            continue;
        if (strcmp(o->name, name) == 0)
            return o;
        found = o;
    }
    return found;
}

static bool is_common(const char *name)
{
    for (size_t i = 0; i < OCHE_COUNT_OF(common); i++)
        if (strncmp(common[i], name, strlen(name)) == 0)
            return true;
    return false;
}

/* True if the last option of "-qs" takes the next argument as its value. */
static bool short_takes_next(const struct argp_option *options, const char *letters)
{
    for (; *letters != '\0'; letters++)
        for (const struct argp_option *o = options;
             o->name != NULL || o->key != 0 || o->doc != NULL; o++)
            if (o->key == *letters && o->arg != NULL)
                return letters[1] == '\0' && (o->flags & OPTION_ARG_OPTIONAL) == 0;
    return false;
}

/* Returns the option that `name` probably misspells; NULL: none is similar. */
static const char *similar_option(const struct argp_option *options, const char *name)
{
    size_t count;
    const char **names = list_options(options, &count);
    const char *similar = oche_similar_word(name, names, count);

    free(names);
    return similar;
}

const char *oche_misspelt_option(const struct argp *argp, int argc, char *const *argv,
                                 unsigned flags, const char **meant)
{
    *meant = NULL;
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        const char *word = argv[i];

        if (word[0] != '-' || word[1] == '\0') {
            if ((flags & ARGP_IN_ORDER) != 0)
                return NULL;
            continue;
        }
        if (word[1] != '-') {
            i += short_takes_next(argp->options, word + 1);
            continue;
        }
        char *name = strndup(word + 2, strcspn(word + 2, "="));

        OCHE_GOT(name != NULL);
        const struct argp_option *option = find_long(argp->options, name);

        if (option == NULL && !is_common(name))
            *meant = similar_option(argp->options, name);
        free(name);
        if (*meant != NULL)
            return word;
        i += option != NULL && option->arg != NULL && strchr(word, '=') == NULL &&
             (option->flags & OPTION_ARG_OPTIONAL) == 0;
    }
    return NULL;
}
