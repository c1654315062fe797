/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a profile from YAML; see nic_file.h. */
#include "sim/scenario/nic_file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "params/nic.h"
#include "params/printable.h"
#include "sim/scenario/document.h"

bool oche_nic_is_file(const char *text)
{
    const size_t length = strlen(text);

    return length > 5 && strcmp(text + length - 5, ".yaml") == 0 && strchr(text, '=') == NULL;
}

/* Checks the word of evidence beside a value. */
static bool check_class(const struct oche_document *document, const struct oche_yaml *item,
                        struct oche_error *error)
{
    for (int i = 0; item->kind == OCHE_YAML_SCALAR && i < OCHE_EVIDENCES; i++)
        if (strcmp(item->text, oche_evidence_name((enum oche_evidence)i)) == 0)
            return true;
    return oche_document_fail(document, item, NULL, error,
                              "is not known; write documented, measured, code, paper, fitted or "
                              "assumed");
}

/* Returns the text of a habit's value, which may stand in a map with its class and source. */
static const struct oche_yaml *value_of(const struct oche_document *document,
                                        const struct oche_yaml *item, struct oche_error *error)
{
    const struct oche_yaml *value = item;

    if (item->kind == OCHE_YAML_MAP) {
        value = oche_yaml_find(item, "value");
        for (uint32_t i = 0; i < item->count; i++) {
            const struct oche_yaml *part = item->child[i];

            if (strcmp(part->key, "class") == 0 && !check_class(document, part, error))
                return NULL;
            if (strcmp(part->key, "class") != 0 && strcmp(part->key, "source") != 0 &&
                part != value) {
                oche_document_fail(document, part, NULL, error,
                                   "unknown key; write value, class or source");
                return NULL;
            }
        }
    }
    if (value != NULL && value->kind == OCHE_YAML_SCALAR)
        return value;
    oche_document_fail(document, item, NULL, error,
                       "has no value; write it as KEY: VALUE, or {value: …, class: …, source: …}");
    return NULL;
}

static bool read_habit(const struct oche_document *document, const struct oche_yaml *item,
                       struct oche_nic_habits *habits, struct oche_error *error)
{
    const struct oche_yaml *value = value_of(document, item, error);
    struct oche_error why;
    const char *text = why.text;

    if (value == NULL)
        return false;
    if (oche_nic_set(habits, item->key, value->text, &why))
        return true;
    if (strncmp(text, item->key, strlen(item->key)) == 0)
        text += strlen(item->key) + 2; /* the place names the key, too */
    return oche_document_fail(document, item, NULL, error, "%s", text);
}

static bool read_all(const struct oche_document *document, struct oche_nic_habits *habits,
                     struct oche_error *error)
{
    const struct oche_yaml *root = oche_document_root(document);
    const struct oche_yaml *like = oche_yaml_find(root, "like");
    struct oche_error why;

    if (like != NULL && like->kind != OCHE_YAML_SCALAR)
        return oche_document_fail(document, like, NULL, error, "is no name of a profile");
    if (!oche_nic_start(habits, like != NULL ? like->text : "ideal", &why))
        return oche_document_fail(document, like, NULL, error, "%s", why.text);
    for (uint32_t i = 0; i < root->count; i++) {
        const struct oche_yaml *item = root->child[i];

        if (item != like && strcmp(item->key, "title") != 0 &&
            !read_habit(document, item, habits, error))
            return false;
    }
    const char *wrong = oche_nic_habits_check(habits);

    return wrong == NULL || oche_document_fail(document, root, NULL, error, "%s", wrong);
}

bool oche_nic_read(struct oche_nic_habits *habits, const char *text, struct oche_error *error)
{
    struct oche_document *document;
    char shown[OCHE_ERROR_BYTES / 2];
    struct stat about;
    bool whole;

    if (!oche_nic_is_file(text))
        return oche_nic_parse(habits, text, error);
    oche_printable(text, shown, sizeof(shown));
    if (access(text, R_OK) != 0 || stat(text, &about) != 0)
        return oche_fail(error, "%s: cannot be read: %s", shown, strerror(errno));
    if (S_ISDIR(about.st_mode))
        return oche_fail(error, "%s: is a folder; give a profile", shown);
    document = oche_document_open(text, error);
    if (document == NULL)
        return false;
    whole = read_all(document, habits, error);
    oche_document_close(document);
    return whole;
}
