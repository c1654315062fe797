/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads htsim's connection matrices (.cm, .tm), as uet-htsim does:
 *
 *     Nodes 16
 *     Connections 2
 *     Triggers 1
 *     Failures 1
 *     trigger id 7 barrier count 2
 *     failure switch_type AGG switch_id 3 link_id 1
 *     0->5 id 1 start 0 size 1000000 send_done_trigger 7
 *     5->0 id 2 trigger 7 size 4096
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base.h"
#include "sim/graph/goal.h"
#include "sim/graph/htsim_matrix.h"

#define MOST_SIZE     (UINT64_C(1) << 40)
#define MOST_START_PS (UINT64_C(1) << 60)

#define fail(matrix, ...) oche_text_fail(&(matrix)->input, __VA_ARGS__)

/* ---- lines ---- */

static bool to_number(struct oche_htsim_matrix *m, const char *key, const char *word, uint64_t most,
                      uint64_t *number)
{
    char *end;

    if (word == NULL || *word < '0' || *word > '9')
        return fail(m, "%s: \"%.20s\" is no number", key, word == NULL ? "" : word);
    errno = 0;
    *number = strtoull(word, &end, 10);
    if (*end != '\0' || errno != 0)
        return fail(m, "%s: \"%.20s\" is no whole number", key, word);
    if (*number > most)
        return fail(m, "%s: %.20s is too large; at most %llu", key, word, (unsigned long long)most);
    return true;
}

/* Takes the next word of a line; NULL: there is none. */
static char *next_word(char **rest)
{
    char *word;

    do
        word = strsep(rest, " \t");
    while (word != NULL && *word == '\0');
    return word;
}

static void *grown(void *list, uint32_t count, uint32_t *room, size_t bytes)
{
    if (count < *room)
        return list;
    *room = *room == 0 ? 256 : 2 * *room;
    list = realloc(list, *room * bytes);
    OCHE_GOT(list != NULL);
    return list;
}

/* Returns the type of a trigger that a word names; OCHE_HTSIM_TYPES: none. */
static uint32_t type_named(const char *word)
{
    static const char *const names[OCHE_HTSIM_TYPES] = {[OCHE_HTSIM_ONESHOT] = "oneshot",
                                                        [OCHE_HTSIM_MULTISHOT] = "multishot",
                                                        [OCHE_HTSIM_BARRIER] = "barrier"};
    uint32_t type = 0;

    while (type < OCHE_HTSIM_TYPES && strcmp(word, names[type]) != 0)
        type++;
    return type;
}

static bool read_trigger(struct oche_htsim_matrix *m, char *rest)
{
    struct oche_htsim_trigger trigger = {
        .type = OCHE_HTSIM_TYPES, .home = OCHE_HTSIM_NONE, .line = m->input.line};
    uint64_t number = 0;
    char *word;

    while ((word = next_word(&rest)) != NULL) {
        const bool id = strcmp(word, "id") == 0;

        if (id || strcmp(word, "count") == 0) {
            if (!to_number(m, word, next_word(&rest), OCHE_HTSIM_NONE - 1, &number))
                return false;
            *(id ? &trigger.id : &trigger.needs) = (uint32_t)number;
        } else if (type_named(word) != OCHE_HTSIM_TYPES) {
            trigger.type = type_named(word);
        } else {
            return fail(m,
                        "\"%.20s\" is not known in a trigger; id, count, oneshot, multishot, "
                        "barrier",
                        word);
        }
    }
    if (trigger.type != OCHE_HTSIM_BARRIER)
        trigger.needs = 1;
    if (trigger.id == 0 || trigger.type == OCHE_HTSIM_TYPES || trigger.needs == 0)
        return fail(m, "a trigger needs an id from 1, a type, and a barrier a count from 1");
    m->triggers = grown(m->triggers, m->trigger_count, &m->trigger_room, sizeof(trigger));
    m->triggers[m->trigger_count++] = trigger;
    return true;
}

static bool read_failure(struct oche_htsim_matrix *m, char *rest)
{
    uint64_t agg = UINT64_MAX, link = UINT64_MAX;
    const char *type = NULL, *word;

    while ((word = next_word(&rest)) != NULL) {
        const bool of_switch = strcmp(word, "switch_id") == 0;

        if (strcmp(word, "switch_type") == 0) {
            type = next_word(&rest);
            type = type == NULL ? "" : type;
        } else if (!of_switch && strcmp(word, "link_id") != 0) {
            return fail(m,
                        "\"%.20s\" is not known in a failure; switch_type AGG, switch_id, link_id",
                        word);
        } else if (!to_number(m, word, next_word(&rest), OCHE_HTSIM_MOST, of_switch ? &agg : &link))
            return false;
    }
    if (type == NULL || agg == UINT64_MAX || link == UINT64_MAX)
        return fail(m, "a failure needs switch_type AGG, a switch_id and a link_id");
    if (strcmp(type, "AGG") != 0)
        return fail(m, "switch_type %.20s; only links of AGG to a core can fail in htsim", type);
    m->failures = grown(m->failures, m->failure_count, &m->failure_room, sizeof(*m->failures));
    m->failures[m->failure_count++] = (struct oche_schedule_failure){
        .agg = (uint32_t)agg, .link = (uint32_t)link, .line = m->input.line};
    return true;
}

static bool take_ends(struct oche_htsim_matrix *m, char *word,
                      struct oche_htsim_connection *connection)
{
    char *arrow = strstr(word, "->");
    uint64_t src = 0, dst = 0;

    if (arrow == NULL)
        return fail(m, "\"%.20s\" is no connection; write 0->5", word);
    *arrow = '\0';
    if (!to_number(m, "source", word, m->nodes - 1, &src) ||
        !to_number(m, "destination", arrow + 2, m->nodes - 1, &dst))
        return false;
    if (src == dst)
        return fail(m, "node %llu sends to itself", (unsigned long long)src);
    connection->src = (uint32_t)src;
    connection->dst = (uint32_t)dst;
    return true;
}

/* Takes a key of a connection, and its value from `rest`. */
static bool take_key(struct oche_htsim_matrix *m, const char *key, char **rest,
                     struct oche_htsim_connection *c)
{
    const struct {
        const char *name;
        uint32_t *id;
    } triggers[] = {{"trigger", &c->trigger},
                    {"send_done_trigger", &c->send_done},
                    {"recv_done_trigger", &c->recv_done}};
    uint64_t number = 0;

    for (size_t i = 0; i < OCHE_COUNT_OF(triggers); i++)
        if (strcmp(key, triggers[i].name) == 0) {
            if (!to_number(m, key, next_word(rest), OCHE_HTSIM_NONE - 1, &number))
                return false;
            *triggers[i].id = (uint32_t)number;
            return number > 0 || fail(m, "%s: 0 is no trigger", key);
        }
    if (strcmp(key, "start") == 0)
        return to_number(m, key, next_word(rest), MOST_START_PS, &c->start_ps);
    if (strcmp(key, "size") == 0)
        return to_number(m, key, next_word(rest), MOST_SIZE, &c->size);
    if (strcmp(key, "id") == 0)
        return to_number(m, key, next_word(rest), UINT64_MAX, &number);
    if (strcmp(key, "prio") == 0) {
        m->prios++;
        return to_number(m, key, next_word(rest), UINT64_MAX, &number);
    }
    if (strcmp(key, "msg") == 0) {
        m->reused++;
        if (*rest != NULL && **rest >= '0' && **rest <= '9')
            next_word(rest);
        return true;
    }
    if (strcmp(key, "addon") == 0)
        return true;
    return fail(m,
                "\"%.20s\" is not known; id, start, size, trigger, prio, send_done_trigger, "
                "recv_done_trigger, msg are",
                key);
}

static bool read_connection(struct oche_htsim_matrix *m, char *line)
{
    struct oche_htsim_connection c = {.start_ps = UINT64_MAX,
                                      .size = UINT64_MAX,
                                      .trigger = OCHE_HTSIM_NONE,
                                      .send_done = OCHE_HTSIM_NONE,
                                      .recv_done = OCHE_HTSIM_NONE,
                                      .line = m->input.line};
    char *rest = line, *word;

    if (!take_ends(m, next_word(&rest), &c))
        return false;
    while ((word = next_word(&rest)) != NULL)
        if (!take_key(m, word, &rest, &c))
            return false;
    if (c.size == UINT64_MAX)
        return fail(m, "size is missing");
    if ((c.start_ps == UINT64_MAX) == (c.trigger == OCHE_HTSIM_NONE))
        return fail(m, "a connection has a start or a trigger%s",
                    c.trigger == OCHE_HTSIM_NONE ? "; write start 0" : ", not both");
    m->connections =
        grown(m->connections, m->connection_count, &m->connection_room, sizeof(*m->connections));
    m->connections[m->connection_count++] = c;
    return true;
}

static bool read_head(struct oche_htsim_matrix *m, char *line)
{
    char *rest = line;
    const char *key = next_word(&rest), *value = next_word(&rest);
    uint64_t number = 2;

    if (strcmp(key, "Nodes") == 0) {
        if (!to_number(m, key, value, OCHE_GOAL_MOST_RANKS, &number))
            return false;
        m->nodes = (uint32_t)number;
        return number > 1 || fail(m, "Nodes: %llu; at least 2", (unsigned long long)number);
    }
    if (strcmp(key, "Connections") == 0)
        return to_number(m, key, value, OCHE_HTSIM_MOST - 1, &m->said_connections);
    if (strcmp(key, "Triggers") == 0)
        return to_number(m, key, value, OCHE_HTSIM_MOST - 1, &m->said_triggers);
    if (strcmp(key, "Failures") == 0)
        return to_number(m, key, value, OCHE_HTSIM_MOST - 1, &m->said_failures);
    return fail(m, "\"%.20s\" is not known; Nodes, Connections, Triggers, Failures", key);
}

static bool is_of_body(const char *line)
{
    return strncmp(line, "trigger ", 8) == 0 || strncmp(line, "failure ", 8) == 0 ||
           strstr(line, "->") != NULL;
}

static bool read_lines(struct oche_htsim_matrix *m)
{
    bool body = false;
    char *line;

    while ((line = oche_text_next(&m->input)) != NULL) {
        bool good;

        body = body || is_of_body(line);
        if (body && m->nodes == 0)
            return fail(m, "there is no line Nodes above");
        if (!body)
            good = read_head(m, line);
        else if (strncmp(line, "trigger ", 8) == 0)
            good = read_trigger(m, line + 8);
        else if (strncmp(line, "failure ", 8) == 0)
            good = read_failure(m, line + 8);
        else
            good = read_connection(m, line);
        if (!good)
            return false;
    }
    m->input.line = 0;
    return true;
}

/* ---- triggers ---- */

static int compare_ids(const void *left, const void *right)
{
    const struct oche_htsim_trigger *a = left, *b = right;

    if (a->id != b->id)
        return a->id < b->id ? -1 : 1;
    return a->line < b->line ? -1 : a->line > b->line;
}

static bool sort_triggers(struct oche_htsim_matrix *m)
{
    if (m->trigger_count > 0)
        qsort(m->triggers, m->trigger_count, sizeof(*m->triggers), compare_ids);
    for (uint32_t i = 1; i < m->trigger_count; i++) {
        m->input.line = m->triggers[i].line;
        if (m->triggers[i].id == m->triggers[i - 1].id)
            return fail(m, "trigger %u is also in line %u", m->triggers[i].id,
                        m->triggers[i - 1].line);
    }
    return true;
}

/* Replaces a trigger's id by its index. */
static bool find_trigger(struct oche_htsim_matrix *m, const struct oche_htsim_connection *c,
                         uint32_t *id)
{
    uint32_t low = 0, high = m->trigger_count;

    if (*id == OCHE_HTSIM_NONE)
        return true;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;

        if (m->triggers[middle].id < *id)
            low = middle + 1;
        else
            high = middle;
    }
    m->input.line = c->line;
    if (low == m->trigger_count || m->triggers[low].id != *id)
        return fail(m, "trigger %u is not defined", *id);
    *id = low;
    return true;
}

/* Finds a connection's triggers, and its place among those that its trigger starts. */
static bool find_triggers(struct oche_htsim_matrix *m, struct oche_htsim_connection *c)
{
    if (!find_trigger(m, c, &c->trigger) || !find_trigger(m, c, &c->send_done) ||
        !find_trigger(m, c, &c->recv_done))
        return false;
    if (c->trigger != OCHE_HTSIM_NONE) {
        struct oche_htsim_trigger *trigger = &m->triggers[c->trigger];

        if (trigger->home == OCHE_HTSIM_NONE)
            trigger->home = c->src;
        c->place = trigger->targets++;
    }
    if (c->send_done != OCHE_HTSIM_NONE)
        m->triggers[c->send_done].fired++;
    if (c->recv_done != OCHE_HTSIM_NONE)
        m->triggers[c->recv_done].fired++;
    return true;
}

/* True if the trigger is fired as often as it must be, or starts nothing. */
static bool check_firings(struct oche_htsim_matrix *m, const struct oche_htsim_trigger *trigger)
{
    m->input.line = trigger->line;
    if (trigger->home == OCHE_HTSIM_NONE)
        return true;
    if (trigger->type == OCHE_HTSIM_MULTISHOT)
        return trigger->fired > 0 ||
               fail(m, "no connection fires multishot trigger %u; at least one", trigger->id);
    return trigger->fired == trigger->needs ||
           fail(m, "trigger %u needs %u firings, and %u connections fire it; as many", trigger->id,
                trigger->needs, trigger->fired);
}

/* A connection that never starts must not be one that others wait for. */
static bool check_never(struct oche_htsim_matrix *m, const struct oche_htsim_connection *c)
{
    if (!oche_htsim_never(m, c))
        return true;
    m->never++;
    m->input.line = c->line;
    return (c->send_done == OCHE_HTSIM_NONE && c->recv_done == OCHE_HTSIM_NONE) ||
           fail(m,
                "never starts, as trigger %u starts %u connections and is fired %u times; so it "
                "cannot fire a trigger",
                m->triggers[c->trigger].id, m->triggers[c->trigger].targets,
                m->triggers[c->trigger].fired);
}

/* Finds who fires triggers, and where they are at home. */
static bool connect(struct oche_htsim_matrix *m)
{
    if (!sort_triggers(m))
        return false;
    for (uint32_t i = 0; i < m->connection_count; i++)
        if (!find_triggers(m, &m->connections[i]))
            return false;
    for (uint32_t i = 0; i < m->trigger_count; i++)
        if (!check_firings(m, &m->triggers[i]))
            return false;
    for (uint32_t i = 0; i < m->connection_count; i++)
        if (!check_never(m, &m->connections[i]))
            return false;
    m->input.line = 0;
    return true;
}

static bool check_counts(struct oche_htsim_matrix *m)
{
    if (m->nodes == 0)
        return fail(m, "there is no line Nodes");
    if (m->connection_count != m->said_connections || m->trigger_count != m->said_triggers)
        return fail(m, "has %u connections and %u triggers; its head says %llu and %llu",
                    m->connection_count, m->trigger_count, (unsigned long long)m->said_connections,
                    (unsigned long long)m->said_triggers);
    if (m->failure_count != m->said_failures)
        return fail(m, "has %u failures; its head says %llu", m->failure_count,
                    (unsigned long long)m->said_failures);
    return true;
}

bool oche_htsim_read(struct oche_htsim_matrix *matrix)
{
    return read_lines(matrix) && connect(matrix) && check_counts(matrix);
}
