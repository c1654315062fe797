/* SPDX-License-Identifier: Apache-2.0 */
/*
 * htsim's connection matrices (.cm, .tm), as uet-htsim reads them:
 *
 *     Nodes 16
 *     Connections 2
 *     Triggers 1
 *     trigger id 7 barrier count 2
 *     0->5 id 1 start 0 size 1000000 send_done_trigger 7
 *     5->0 id 2 trigger 7 size 4096
 *
 * Each node is a rank, each connection a send and a receive. A rank's clock is a row of
 * calculations. A trigger is at home where its first connection begins; if it is fired elsewhere,
 * or starts something elsewhere, a message of one byte says so.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "params/input_file.h"
#include "params/text_input.h"
#include "sim/graph/goal_write.h"
#include "sim/graph/schedule_file.h"

#define HEAD_BYTES     4096 /* in which a file says what it is */
#define MOST_BYTES     (1024 * OCHE_INPUT_MIB)
#define MOST_SIZE      (UINT64_C(1) << 40)
#define MOST_START_PS  (UINT64_C(1) << 60)
#define NONE           UINT32_MAX
#define CLOCK_CPU      1 /* the row of calculations has a stream of its own */
#define FIRST_FIRE_TAG (UINT32_C(1) << 30)
#define FIRST_GO_TAG   (UINT32_C(3) << 29)

struct connection {
    uint64_t start_ps, size;
    uint32_t src, dst;
    uint32_t trigger; /* that starts it: index, or NONE; at first the id */
    uint32_t send_done, recv_done;
    unsigned line;
};

struct trigger {
    uint32_t id;
    uint32_t needs; /* firings */
    uint32_t fired; /* connections that fire it */
    uint32_t home;  /* rank; NONE: it starts nothing */
    unsigned line;
};

struct matrix {
    struct oche_text_input input;
    uint32_t nodes;
    uint64_t said_connections, said_triggers;
    struct connection *connections;
    struct trigger *triggers;
    uint32_t connection_count, connection_room, trigger_count, trigger_room;
    uint32_t prios, reused, remote; /* for the remark */
};

#define fail(matrix, ...) oche_text_fail(&(matrix)->input, __VA_ARGS__)

/* ---- lines ---- */

static bool to_number(struct matrix *m, const char *key, const char *word, uint64_t most,
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

static bool read_trigger(struct matrix *m, char *rest)
{
    struct trigger trigger = {.home = NONE, .line = m->input.line};
    bool typed = false;
    uint64_t number = 0;
    char *word;

    while ((word = next_word(&rest)) != NULL) {
        if (strcmp(word, "id") == 0) {
            if (!to_number(m, "id", next_word(&rest), NONE - 1, &number))
                return false;
            trigger.id = (uint32_t)number;
        } else if (strcmp(word, "count") == 0) {
            if (!to_number(m, "count", next_word(&rest), NONE - 1, &number))
                return false;
            trigger.needs = (uint32_t)number;
        } else if (strcmp(word, "oneshot") == 0 || strcmp(word, "barrier") == 0) {
            typed = true;
            if (*word == 'o')
                trigger.needs = 1;
        } else if (strcmp(word, "multishot") == 0) {
            return fail(m, "multishot triggers are not read yet; oneshot and barrier are");
        } else {
            return fail(m, "\"%.20s\" is not known in a trigger; id, count, oneshot, barrier",
                        word);
        }
    }
    if (trigger.id == 0 || !typed || trigger.needs == 0)
        return fail(m, "a trigger needs an id from 1, a type, and a barrier a count from 1");
    m->triggers = grown(m->triggers, m->trigger_count, &m->trigger_room, sizeof(trigger));
    m->triggers[m->trigger_count++] = trigger;
    return true;
}

static bool take_ends(struct matrix *m, char *word, struct connection *connection)
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
static bool take_key(struct matrix *m, const char *key, char **rest, struct connection *c)
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
            if (!to_number(m, key, next_word(rest), NONE - 1, &number))
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

static bool read_connection(struct matrix *m, char *line)
{
    struct connection c = {.start_ps = UINT64_MAX,
                           .size = UINT64_MAX,
                           .trigger = NONE,
                           .send_done = NONE,
                           .recv_done = NONE,
                           .line = m->input.line};
    char *rest = line, *word;

    if (!take_ends(m, next_word(&rest), &c))
        return false;
    while ((word = next_word(&rest)) != NULL)
        if (!take_key(m, word, &rest, &c))
            return false;
    if (c.size == UINT64_MAX)
        return fail(m, "size is missing");
    if ((c.start_ps == UINT64_MAX) == (c.trigger == NONE))
        return fail(m, "a connection has a start or a trigger%s",
                    c.trigger == NONE ? "; write start 0" : ", not both");
    m->connections =
        grown(m->connections, m->connection_count, &m->connection_room, sizeof(*m->connections));
    m->connections[m->connection_count++] = c;
    return true;
}

static bool read_head(struct matrix *m, char *line)
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
        return to_number(m, key, value, FIRST_FIRE_TAG - 1, &m->said_connections);
    if (strcmp(key, "Triggers") == 0)
        return to_number(m, key, value, FIRST_FIRE_TAG - 1, &m->said_triggers);
    if (strcmp(key, "Failures") == 0)
        return true;
    return fail(m, "\"%.20s\" is not known; Nodes, Connections, Triggers, Failures", key);
}

static bool is_of_body(const char *line)
{
    return strncmp(line, "trigger ", 8) == 0 || strncmp(line, "failure ", 8) == 0 ||
           strstr(line, "->") != NULL;
}

static bool read_lines(struct matrix *m)
{
    bool body = false;
    char *line;

    while ((line = oche_text_next(&m->input)) != NULL) {
        bool good;

        body = body || is_of_body(line);
        if (body && m->nodes == 0)
            return fail(m, "there is no line Nodes above");
        if (strncmp(line, "failure ", 8) == 0)
            return fail(m, "failures are not read; set them in the scenario, in `failures`");
        if (!body)
            good = read_head(m, line);
        else if (strncmp(line, "trigger ", 8) == 0)
            good = read_trigger(m, line + 8);
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
    const struct trigger *a = left, *b = right;

    if (a->id != b->id)
        return a->id < b->id ? -1 : 1;
    return a->line < b->line ? -1 : a->line > b->line;
}

static bool sort_triggers(struct matrix *m)
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
static bool find_trigger(struct matrix *m, const struct connection *c, uint32_t *id)
{
    uint32_t low = 0, high = m->trigger_count;

    if (*id == NONE)
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

/* Finds who fires triggers, and where they are at home. */
static bool connect(struct matrix *m)
{
    if (!sort_triggers(m))
        return false;
    for (uint32_t i = 0; i < m->connection_count; i++) {
        struct connection *c = &m->connections[i];

        if (!find_trigger(m, c, &c->trigger) || !find_trigger(m, c, &c->send_done) ||
            !find_trigger(m, c, &c->recv_done))
            return false;
        if (c->trigger != NONE && m->triggers[c->trigger].home == NONE)
            m->triggers[c->trigger].home = c->src;
    }
    for (uint32_t i = 0; i < m->connection_count; i++) {
        const struct connection *c = &m->connections[i];

        if (c->send_done != NONE)
            m->triggers[c->send_done].fired++;
        if (c->recv_done != NONE)
            m->triggers[c->recv_done].fired++;
    }
    for (uint32_t i = 0; i < m->trigger_count; i++) {
        m->input.line = m->triggers[i].line;
        if (m->triggers[i].home != NONE && m->triggers[i].fired != m->triggers[i].needs)
            return fail(m, "trigger %u needs %u firings, and %u connections fire it; as many",
                        m->triggers[i].id, m->triggers[i].needs, m->triggers[i].fired);
    }
    return true;
}

static bool check_counts(struct matrix *m)
{
    if (m->nodes == 0)
        return fail(m, "there is no line Nodes");
    if (m->connection_count != m->said_connections || m->trigger_count != m->said_triggers)
        return fail(m, "has %u connections and %u triggers; its head says %llu and %llu",
                    m->connection_count, m->trigger_count, (unsigned long long)m->said_connections,
                    (unsigned long long)m->said_triggers);
    return true;
}

/* ---- the schedule ---- */

/* A rank that is being written. */
struct writing {
    struct matrix *m;
    struct oche_goal_writer *out;
    uint32_t rank;
    uint32_t clock; /* the last calculation; NONE: none */
    uint64_t clock_ns;
    /* by trigger: the operation from which on it has gone off here; NONE */
    uint32_t *gone_off;
};

static uint32_t add(struct writing *w, uint8_t type, uint32_t peer, uint64_t size, uint32_t tag,
                    uint8_t cpu)
{
    return oche_goal_write_op(
        w->out,
        &(struct oche_goal_op){.type = type, .peer = peer, .size = size, .tag = tag, .cpu = cpu});
}

static void wait_for(struct writing *w, uint32_t operation, uint32_t before)
{
    if (before != NONE)
        oche_goal_write_edge(w->out, operation, before, false);
}

/* Returns the operation after which it is `ns` on the rank's clock; NONE: from the beginning. */
static uint32_t at_time(struct writing *w, uint64_t ns)
{
    if (ns > w->clock_ns) {
        const uint32_t next = add(w, OCHE_GOAL_CALC, 0, ns - w->clock_ns, 0, CLOCK_CPU);

        wait_for(w, next, w->clock);
        w->clock = next;
        w->clock_ns = ns;
    }
    return w->clock;
}

/* Operation `done` fires a trigger: tells its home, which is here or elsewhere. */
static void fire(struct writing *w, uint32_t trigger, uint32_t done)
{
    const struct trigger *t = trigger == NONE ? NULL : &w->m->triggers[trigger];

    if (t == NULL || t->home == NONE)
        return;
    if (t->home == w->rank) {
        wait_for(w, w->gone_off[trigger], done);
        return;
    }
    w->m->remote++;
    wait_for(w, add(w, OCHE_GOAL_SEND, t->home, 1, FIRST_FIRE_TAG + trigger, 0), done);
}

static int compare_starts(const void *left, const void *right, void *context)
{
    const struct connection *list = context;
    const struct connection *a = &list[*(const uint32_t *)left];
    const struct connection *b = &list[*(const uint32_t *)right];

    if (a->src != b->src)
        return a->src < b->src ? -1 : 1;
    if (a->start_ps != b->start_ps)
        return a->start_ps < b->start_ps ? -1 : 1;
    return a < b ? -1 : a > b;
}

/* Connections by a number that they have: those of `number` are list[first[number] …). */
struct lists {
    uint32_t *first, *list;
};

enum by { BY_SRC, BY_DST, BY_TRIGGER, BY_SEND_DONE, BY_RECV_DONE, BYS };

static uint32_t number_of(const struct connection *c, enum by by)
{
    const uint32_t numbers[] = {[BY_SRC] = c->src,
                                [BY_DST] = c->dst,
                                [BY_TRIGGER] = c->trigger,
                                [BY_SEND_DONE] = c->send_done,
                                [BY_RECV_DONE] = c->recv_done};

    return numbers[by];
}

/* Sorts the connections by that number, and then in their order; NONE is left out. */
static struct lists sorted_by(const struct matrix *m, enum by by)
{
    const uint32_t numbers = by == BY_SRC || by == BY_DST ? m->nodes : m->trigger_count;
    struct lists lists = {.first = calloc((size_t)numbers + 2, sizeof(uint32_t)),
                          .list = calloc((size_t)m->connection_count + 1, sizeof(uint32_t))};

    OCHE_GOT(lists.first != NULL && lists.list != NULL);
    for (uint32_t i = 0; i < m->connection_count; i++)
        if (number_of(&m->connections[i], by) != NONE)
            lists.first[number_of(&m->connections[i], by) + 2]++;
    for (uint32_t i = 1; i < numbers + 2; i++)
        lists.first[i] += lists.first[i - 1];
    for (uint32_t i = 0; i < m->connection_count; i++)
        if (number_of(&m->connections[i], by) != NONE)
            lists.list[lists.first[number_of(&m->connections[i], by) + 1]++] = i;
    return lists;
}

#define EACH(i, lists, number)                                                                     \
    uint32_t i = (lists)->first[number];                                                           \
    i < (lists)->first[(number) + 1];                                                              \
    i++

/* The trigger's home hears from the ranks whose connections fire it elsewhere. */
static void hear(struct writing *w, uint32_t trigger, const struct lists *firing, bool receivers)
{
    for (EACH(i, firing, trigger)) {
        const struct connection *c = &w->m->connections[firing->list[i]];
        const uint32_t from = receivers ? c->dst : c->src;

        if (from != w->rank)
            wait_for(w, w->gone_off[trigger],
                     add(w, OCHE_GOAL_RECV, from, 1, FIRST_FIRE_TAG + trigger, 0));
    }
}

/* A trigger at home goes off when all that fires it has told; `fire` adds what is here. */
static void write_home(struct writing *w, uint32_t trigger, const struct lists *by)
{
    w->gone_off[trigger] = add(w, OCHE_GOAL_CALC, 0, 0, 0, 0);
    hear(w, trigger, &by[BY_SEND_DONE], false);
    hear(w, trigger, &by[BY_RECV_DONE], true);
    for (EACH(i, &by[BY_TRIGGER], trigger)) {
        const uint32_t number = by[BY_TRIGGER].list[i], src = w->m->connections[number].src;

        if (src != w->rank)
            wait_for(w, add(w, OCHE_GOAL_SEND, src, 1, FIRST_GO_TAG + number, 0),
                     w->gone_off[trigger]);
    }
}

/* Returns what a connection of this rank waits for. */
static uint32_t start_of(struct writing *w, uint32_t number)
{
    const struct connection *c = &w->m->connections[number];

    if (c->trigger == NONE)
        return at_time(w, (c->start_ps + 500) / 1000);
    if (w->m->triggers[c->trigger].home == w->rank)
        return w->gone_off[c->trigger];
    w->m->remote++;
    return add(w, OCHE_GOAL_RECV, w->m->triggers[c->trigger].home, 1, FIRST_GO_TAG + number, 0);
}

static void write_rank(struct writing *w, const struct lists *by, const struct lists *homes)
{
    const struct matrix *m = w->m;

    w->clock = NONE;
    w->clock_ns = 0;
    for (EACH(i, homes, w->rank))
        write_home(w, homes->list[i], by);
    for (EACH(i, &by[BY_SRC], w->rank)) {
        const uint32_t number = by[BY_SRC].list[i], before = start_of(w, number);
        const struct connection *c = &m->connections[number];
        const uint32_t send = add(w, OCHE_GOAL_SEND, c->dst, c->size, number, 0);

        wait_for(w, send, before);
        fire(w, c->send_done, send);
    }
    for (EACH(i, &by[BY_DST], w->rank)) {
        const uint32_t number = by[BY_DST].list[i];
        const struct connection *c = &m->connections[number];

        fire(w, c->recv_done, add(w, OCHE_GOAL_RECV, c->src, c->size, number, 0));
    }
    oche_goal_write_rank(w->out, w->rank);
}

/* Returns the triggers that are at home at each rank. */
static struct lists homes_of(const struct matrix *m)
{
    struct lists homes = {.first = calloc((size_t)m->nodes + 2, sizeof(uint32_t)),
                          .list = calloc((size_t)m->trigger_count + 1, sizeof(uint32_t))};

    OCHE_GOT(homes.first != NULL && homes.list != NULL);
    for (uint32_t i = 0; i < m->trigger_count; i++)
        if (m->triggers[i].home != NONE)
            homes.first[m->triggers[i].home + 2]++;
    for (uint32_t i = 1; i < m->nodes + 2; i++)
        homes.first[i] += homes.first[i - 1];
    for (uint32_t i = 0; i < m->trigger_count; i++)
        if (m->triggers[i].home != NONE)
            homes.list[homes.first[m->triggers[i].home + 1]++] = i;
    return homes;
}

static bool write_all(struct matrix *m, struct oche_goal *goal, const char *path,
                      struct oche_error *error)
{
    struct writing w = {.m = m, .out = oche_goal_write_begin(m->nodes, error)};
    struct lists by[BYS], homes;

    if (w.out == NULL)
        return false;
    w.gone_off = malloc(((size_t)m->trigger_count + 1) * sizeof(*w.gone_off));
    OCHE_GOT(w.gone_off != NULL);
    for (unsigned i = 0; i < BYS; i++)
        by[i] = sorted_by(m, (enum by)i);
    homes = homes_of(m);
    qsort_r(by[BY_SRC].list, m->connection_count, sizeof(uint32_t), compare_starts, m->connections);
    for (w.rank = 0; w.rank < m->nodes; w.rank++)
        write_rank(&w, by, &homes);
    for (unsigned i = 0; i < BYS; i++) {
        free(by[i].first);
        free(by[i].list);
    }
    free(homes.first);
    free(homes.list);
    free(w.gone_off);
    const int file = oche_goal_write_end(w.out, error);

    return file >= 0 && oche_goal_adopt(goal, file, path, error);
}

static void remark(const struct matrix *m, struct oche_schedule_file *about)
{
    size_t used = 0;

    if (m->prios > 0)
        used += (size_t)snprintf(about->remark, sizeof(about->remark),
                                 "prio of %u connections is ignored", m->prios);
    if (m->reused > 0)
        used += (size_t)snprintf(about->remark + used, sizeof(about->remark) - used,
                                 "%smsg: %u messages are connections of their own, on the queue "
                                 "pair of their two nodes",
                                 used > 0 ? "; " : "", m->reused);
    if (m->remote > 0)
        snprintf(about->remark + used, sizeof(about->remark) - used,
                 "%sa trigger fires or starts something at another node %u times: a message of a "
                 "byte, which takes the way's time; in htsim it takes none",
                 used > 0 ? "; " : "", m->remote);
}

/* ---- the file ---- */

/* Returns the next line of the text that begins with a letter or digit, or NULL. */
static const char *line_from(const char *text)
{
    while (*text == '#' || *text == '\r' || *text == '\n') {
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    return *text != '\0' ? text : NULL;
}

bool oche_htsim_is_matrix(const char *path)
{
    char head[HEAD_BYTES + 1];
    const char *line, *next;

    head[oche_input_head(path, head, HEAD_BYTES)] = '\0';
    line = line_from(head);
    if (line == NULL)
        return false;
    if (strncmp(line, "Nodes ", 6) != 0)
        return strncmp(line, "Connections ", 12) == 0;
    next = strchr(line, '\n');
    next = next == NULL ? NULL : line_from(next);
    return next == NULL || strncmp(next, "Tiers ", 6) != 0; /* a topology begins so, too */
}

bool oche_htsim_open_matrix(struct oche_goal *goal, const char *path,
                            const struct oche_schedule_reading *reading,
                            struct oche_schedule_file *about, struct oche_error *error)
{
    struct oche_input_file file;
    struct oche_error why;
    struct matrix m = {.nodes = 0};
    bool good;

    (void)reading;
    about->acknowledged = true;
    if (!oche_input_read(&file, path, MOST_BYTES, &why))
        return oche_fail(error, "%s: %s; a readable file", path, why.text);
    if (!oche_text_begin(&m.input, path, file.text, file.bytes, error)) {
        oche_input_free(&file);
        return false;
    }
    good = read_lines(&m) && connect(&m) && check_counts(&m) && write_all(&m, goal, path, error);
    if (good)
        remark(&m, about);
    oche_text_end(&m.input);
    oche_input_free(&file);
    free(m.connections);
    free(m.triggers);
    return good;
}
