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

/* Reads the word of evidence beside a value. */
static bool read_class(const struct oche_document *document, const struct oche_yaml *item,
                       int *evidence, struct oche_error *error)
{
    for (*evidence = 0; item->kind == OCHE_YAML_SCALAR && *evidence < OCHE_EVIDENCES; ++*evidence)
        if (strcmp(item->text, oche_evidence_name((enum oche_evidence) * evidence)) == 0)
            return true;
    return oche_document_fail(document, item, NULL, error,
                              "is not known; write documented, measured, code, paper, fitted or "
                              "assumed");
}

/* Reads class and source, which may stand beside a value. */
static bool read_fact(const struct oche_document *document, const struct oche_yaml *item,
                      const struct oche_yaml *value, struct oche_nic_fact *fact,
                      struct oche_error *error)
{
    for (uint32_t i = 0; i < item->count; i++) {
        const struct oche_yaml *part = item->child[i];

        if (strcmp(part->key, "class") == 0) {
            if (!read_class(document, part, &fact->evidence, error))
                return false;
        } else if (strcmp(part->key, "source") == 0 && part->kind == OCHE_YAML_SCALAR) {
            oche_printable(part->text, fact->source, sizeof(fact->source));
        } else if (part != value) {
            return oche_document_fail(document, part, NULL, error,
                                      "unknown key; write value, class or source");
        }
    }
    return true;
}

/* Returns the text of a habit's value, which may stand in a map with its class and source. */
static const struct oche_yaml *value_of(const struct oche_document *document,
                                        const struct oche_yaml *item, struct oche_nic_fact *fact,
                                        struct oche_error *error)
{
    const struct oche_yaml *value = item;

    *fact = (struct oche_nic_fact){.given = true, .evidence = -1};
    if (item->kind == OCHE_YAML_MAP) {
        value = oche_yaml_find(item, "value");
        if (!read_fact(document, item, value, fact, error))
            return NULL;
    }
    if (value != NULL && value->kind == OCHE_YAML_SCALAR)
        return value;
    oche_document_fail(document, item, NULL, error,
                       "has no value; write it as KEY: VALUE, or {value: …, class: …, source: …}");
    return NULL;
}

static bool read_habit(const struct oche_document *document, const struct oche_yaml *item,
                       struct oche_nic_facts *facts, struct oche_error *error)
{
    struct oche_nic_fact fact;
    const struct oche_yaml *value = value_of(document, item, &fact, error);
    struct oche_error why;
    const char *text = why.text;

    if (value == NULL)
        return false;
    if (oche_nic_set(&facts->habits, item->key, value->text, &why)) {
        const struct oche_param *param = oche_param_find(&oche_nic_habits_table, item->key);

        facts->facts[param - oche_nic_habits_table.params] = fact;
        return true;
    }
    if (strncmp(text, item->key, strlen(item->key)) == 0)
        text += strlen(item->key) + 2; /* the place names the key, too */
    return oche_document_fail(document, item, NULL, error, "%s", text);
}

/* Fails because habits do not fit together; `wrong` begins with the key of one of them. */
static bool fail_together(const struct oche_document *document, const char *wrong,
                          struct oche_error *error)
{
    const struct oche_yaml *root = oche_document_root(document);
    const size_t length = strcspn(wrong, ":");

    for (uint32_t i = 0; i < root->count; i++)
        if (strlen(root->child[i]->key) == length &&
            strncmp(root->child[i]->key, wrong, length) == 0)
            return oche_document_fail(document, root->child[i], NULL, error, "%s",
                                      wrong + length + 2);
    for (uint32_t i = 0; i < root->count; i++) /* a habit that the message is about in general */
        if (oche_param_find(&oche_nic_habits_table, root->child[i]->key) != NULL)
            return oche_document_fail(document, root->child[i], NULL, error, "%s", wrong);
    return oche_document_fail(document, root, NULL, error, "%s", wrong);
}

static bool read_all(const struct oche_document *document, struct oche_nic_facts *facts,
                     struct oche_error *error)
{
    const struct oche_yaml *root = oche_document_root(document);
    const struct oche_yaml *like = oche_yaml_find(root, "like");
    const char *from = like != NULL ? like->text : "ideal";
    struct oche_error why;

    if (like != NULL && like->kind != OCHE_YAML_SCALAR)
        return oche_document_fail(document, like, NULL, error, "is no name of a profile");
    if (!oche_nic_start(&facts->habits, from, &why))
        return oche_document_fail(document, like, NULL, error, "%s", why.text);
    facts->like = oche_nic_profile_find(from);
    for (uint32_t i = 0; i < root->count; i++) {
        const struct oche_yaml *item = root->child[i];

        if (strcmp(item->key, "title") == 0) {
            if (item->kind != OCHE_YAML_SCALAR)
                return oche_document_fail(document, item, NULL, error, "is no text");
            oche_printable(item->text, facts->title, sizeof(facts->title));
        } else if (item != like && !read_habit(document, item, facts, error)) {
            return false;
        }
    }
    const char *wrong = oche_nic_habits_check(&facts->habits);

    return wrong == NULL || fail_together(document, wrong, error);
}

/* Reads "PROFILE,KEY=VALUE…". */
static bool read_text(struct oche_nic_facts *facts, const char *text, struct oche_error *error)
{
    char name[64];
    const size_t length = strcspn(text, ",");

    if (length < sizeof(name)) {
        memcpy(name, text, length);
        name[length] = '\0';
        facts->like = oche_nic_profile_find(name);
    }
    return oche_nic_parse(&facts->habits, text, error);
}

bool oche_nic_read_facts(struct oche_nic_facts *facts, const char *text, struct oche_error *error)
{
    struct oche_document *document;
    char shown[OCHE_ERROR_BYTES / 2];
    struct stat about;
    bool whole;

    *facts = (struct oche_nic_facts){.like = NULL};
    OCHE_MUST(oche_nic_habits_table.count <= OCHE_MOST_HABITS);
    if (!oche_nic_is_file(text))
        return read_text(facts, text, error);
    oche_printable(text, shown, sizeof(shown));
    if (access(text, R_OK) != 0 || stat(text, &about) != 0)
        return oche_fail(error, "%s: cannot be read: %s", shown, strerror(errno));
    if (S_ISDIR(about.st_mode))
        return oche_fail(error, "%s: is a folder; give a profile", shown);
    document = oche_document_open(text, error);
    if (document == NULL)
        return false;
    whole = read_all(document, facts, error);
    oche_document_close(document);
    return whole;
}

bool oche_nic_read(struct oche_nic_habits *habits, const char *text, struct oche_error *error)
{
    struct oche_nic_facts facts;

    if (!oche_nic_read_facts(&facts, text, error))
        return false;
    *habits = facts.habits;
    return true;
}
