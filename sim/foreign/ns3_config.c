/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the words of a configuration of HPCC's simulator. */
#include "sim/foreign/ns3_config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "params/text_input.h"
#include "sim/topology/ns3_rate.h"

enum kind { COUNT, REAL, RATE, WORD, THREE, MAP };

#define BLANKS     " \t"
#define MOST_ROWS  4096 /* of a map */
#define MOST_SHOWN 40

static const struct {
    const char *name;
    enum kind kind;
    enum oche_ns3_role role;
} keys[OCHE_NS3_KEY_COUNT] = {
#define X(name, kind, role) {#name, kind, OCHE_NS3_##role},
    OCHE_NS3_KEYS(X)
#undef X
};

const char *oche_ns3_key_name(enum oche_ns3_key key)
{
    return keys[key].name;
}

enum oche_ns3_role oche_ns3_key_role(enum oche_ns3_key key)
{
    return keys[key].role;
}

/* Returns the key of that name; OCHE_NS3_KEY_COUNT: there is none. */
static enum oche_ns3_key find(const char *word, size_t length)
{
    unsigned key = 0;

    while (key < OCHE_NS3_KEY_COUNT &&
           (strncmp(keys[key].name, word, length) != 0 || keys[key].name[length] != '\0'))
        key++;
    return (enum oche_ns3_key)key;
}

bool oche_ns3_is_config(const char *text, size_t bytes)
{
    const char *end = text + bytes;
    unsigned known = 0;
    bool first = true;

    while (text < end && known < 2) {
        const char *word, *line_end = memchr(text, '\n', (size_t)(end - text));

        line_end = line_end == NULL ? end : line_end;
        while (text < line_end && strchr(BLANKS "\r", *text) != NULL)
            text++;
        word = text;
        while (text < line_end && strchr(BLANKS "\r", *text) == NULL)
            text++;
        if (text > word && *word != '#') {
            const bool is_key = find(word, (size_t)(text - word)) != OCHE_NS3_KEY_COUNT;

            if (is_key && first)
                return true;
            known += is_key;
            first = false;
        }
        text = line_end < end ? line_end + 1 : end;
    }
    return known == 2;
}

/* ---- words ---- */

struct reader {
    struct oche_text_input input;
    char *rest; /* of the line; NULL: the next one comes */
    struct oche_ns3_config *config;
};

#define fail(reader, ...) oche_text_fail(&(reader)->input, __VA_ARGS__)

/* Moves behind a remark in braces that begins at `word`; it may go on over lines. */
static void skip_remark(struct reader *reader, char *word)
{
    for (;;) {
        char *end = word == NULL ? NULL : strchr(word, '}');

        if (end != NULL) {
            reader->rest = end + 1;
            return;
        }
        word = oche_text_next(&reader->input);
        if (word == NULL) {
            reader->rest = NULL;
            return;
        }
    }
}

/* Returns the next word, without remarks; NULL: the file is over. */
static char *next_word(struct reader *reader)
{
    for (;;) {
        char *word;

        if (reader->rest == NULL && (reader->rest = oche_text_next(&reader->input)) == NULL)
            return NULL;
        word = reader->rest + strspn(reader->rest, BLANKS);
        if (*word == '{') {
            skip_remark(reader, word);
            continue;
        }
        reader->rest = word + strcspn(word, BLANKS);
        if (*reader->rest != '\0')
            *reader->rest++ = '\0';
        else
            reader->rest = NULL;
        if (*word != '\0')
            return word;
    }
}

/* ---- values ---- */

/* Returns the next word as a value of `key`. NULL, with an error: the file is over. */
static const char *value_word(struct reader *reader, enum oche_ns3_key key)
{
    const char *word = next_word(reader);

    if (word == NULL)
        fail(reader, "%s: the file ends where its value should be", keys[key].name);
    return word;
}

static bool read_count(struct reader *reader, enum oche_ns3_key key, uint64_t *count)
{
    const char *word = value_word(reader, key);

    return word != NULL && (oche_text_count(word, count) ||
                            fail(reader, "%s: \"%.*s\" %s; a whole number", keys[key].name,
                                 MOST_SHOWN, word, oche_text_fault(word, "is no whole number")));
}

static bool read_real(struct reader *reader, enum oche_ns3_key key, double *real)
{
    const char *word = value_word(reader, key);

    return word != NULL && (oche_text_real(word, real) ||
                            fail(reader, "%s: \"%.*s\" %s; a number, 0 or more", keys[key].name,
                                 MOST_SHOWN, word, oche_text_fault(word, "is no number")));
}

static bool read_rate(struct reader *reader, enum oche_ns3_key key, uint64_t *bps)
{
    const char *word = value_word(reader, key);

    return word != NULL &&
           (oche_ns3_rate(word, bps) || fail(reader, "%s: \"%.*s\" is no rate; as in 50Mb/s",
                                             keys[key].name, MOST_SHOWN, word));
}

static bool read_word(struct reader *reader, enum oche_ns3_key key, char **word)
{
    const char *text = value_word(reader, key);

    if (text == NULL)
        return false;
    free(*word);
    *word = strdup(text);
    OCHE_GOT(*word != NULL);
    return true;
}

static void *with_room(void *list, size_t count, size_t *room, size_t bytes)
{
    if (count < *room)
        return list;
    *room = *room == 0 ? 16 : 2 * *room;
    list = realloc(list, *room * bytes);
    OCHE_GOT(list != NULL);
    return list;
}

/* Reads the number of entries, and as many of a rate and a value. */
static bool read_map(struct reader *reader, enum oche_ns3_key key)
{
    struct oche_ns3_config *config = reader->config;
    uint64_t count;

    if (!read_count(reader, key, &count))
        return false;
    if (count > MOST_ROWS)
        return fail(reader, "%s: %llu entries; at most %d", keys[key].name,
                    (unsigned long long)count, MOST_ROWS);
    for (uint64_t i = 0; i < count; i++) {
        struct oche_ns3_entry entry = {.key = key};

        if (!read_count(reader, key, &entry.rate_bps) || !read_real(reader, key, &entry.value))
            return false;
        config->entries = with_room(config->entries, config->entry_count, &config->entry_room,
                                    sizeof(*config->entries));
        config->entries[config->entry_count++] = entry;
    }
    return true;
}

static bool read_value(struct reader *reader, enum oche_ns3_key key)
{
    struct oche_ns3_value *value = &reader->config->value[key];

    if (value->line != 0 && reader->config->twice++ == 0)
        snprintf(reader->config->again, sizeof(reader->config->again), "%s (line %u)",
                 keys[key].name, reader->input.line);
    reader->config->keys += value->line == 0;
    value->line = reader->input.line;
    switch (keys[key].kind) {
    case COUNT:
        if (!read_count(reader, key, &value->count))
            return false;
        value->real = (double)value->count;
        return true;
    case REAL:
        return read_real(reader, key, &value->real);
    case RATE:
        return read_rate(reader, key, &value->count);
    case WORD:
        return read_word(reader, key, &value->word);
    case THREE:
        for (unsigned i = 0; i < 3; i++)
            if (!read_count(reader, key, &value->three[i]))
                return false;
        return true;
    case MAP:
        return read_map(reader, key);
    }
    return true;
}

static void add_stranger(struct reader *reader, const char *word)
{
    struct oche_ns3_config *config = reader->config;

    config->strangers = with_room(config->strangers, config->stranger_count, &config->stranger_room,
                                  sizeof(*config->strangers));
    config->strangers[config->stranger_count++] =
        (struct oche_ns3_stranger){.word = strdup(word), .line = reader->input.line};
    OCHE_GOT(config->strangers[config->stranger_count - 1].word != NULL);
}

static bool read_all(struct reader *reader)
{
    char *word;
    bool strange = false; /* the word before was none that is known */

    while ((word = next_word(reader)) != NULL) {
        const enum oche_ns3_key key = find(word, strlen(word));

        if (key == OCHE_NS3_KEY_COUNT) {
            if (!strange || (*word >= 'A' && *word <= 'Z'))
                add_stranger(reader, word);
            strange = true;
            continue;
        }
        strange = false;
        if (!read_value(reader, key))
            return false;
    }
    reader->input.line = 0;
    return reader->config->keys > 0 ||
           fail(reader, "has no key of HPCC's simulator, such as CC_MODE");
}

bool oche_ns3_config_read(struct oche_ns3_config *config, const char *name, const char *text,
                          size_t bytes, struct oche_error *error)
{
    struct reader reader = {.config = config};
    bool good;

    *config = (struct oche_ns3_config){.keys = 0};
    if (!oche_text_begin(&reader.input, name, text, bytes, error))
        return false;
    good = read_all(&reader);
    oche_text_end(&reader.input);
    if (!good)
        oche_ns3_config_free(config);
    return good;
}

void oche_ns3_config_free(struct oche_ns3_config *config)
{
    for (unsigned key = 0; key < OCHE_NS3_KEY_COUNT; key++)
        free(config->value[key].word);
    for (size_t i = 0; i < config->stranger_count; i++)
        free(config->strangers[i].word);
    free(config->entries);
    free(config->strangers);
    *config = (struct oche_ns3_config){.keys = 0};
}

bool oche_ns3_config_entry(const struct oche_ns3_config *config, enum oche_ns3_key key,
                           uint64_t rate_bps, double *value)
{
    bool found = false;

    for (size_t i = 0; i < config->entry_count; i++)
        if (config->entries[i].key == key && config->entries[i].rate_bps == rate_bps) {
            *value = config->entries[i].value;
            found = true;
        }
    return found;
}
