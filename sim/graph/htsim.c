/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Schedules of htsim's connection matrices (htsim_read.c). Each node is a rank, each connection a
 * send and a receive. A rank's clock is a row of calculations. A trigger is at home where its first
 * connection begins; if it is fired elsewhere, or starts something elsewhere, a message of one byte
 * says so.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "params/input_file.h"
#include "sim/graph/goal_write.h"
#include "sim/graph/htsim_matrix.h"

#define HEAD_BYTES     4096 /* in which a file says what it is */
#define MOST_BYTES     (1024 * OCHE_INPUT_MIB)
#define NONE           OCHE_HTSIM_NONE
#define CLOCK_CPU      1 /* the row of calculations has a stream of its own */
#define FIRST_FIRE_TAG (UINT32_C(1) << 30)
#define FIRST_GO_TAG   (UINT32_C(3) << 29)

/* ---- the schedule ---- */

/* A rank that is being written. */
struct writing {
    struct oche_htsim_matrix *m;
    struct oche_goal_writer *out;
    uint32_t rank;
    uint32_t clock; /* the last calculation; NONE: none */
    uint64_t clock_ns;
    /* By trigger at home here, but for multishots: the operation from which on it has gone off. */
    uint32_t *gone_off;
    /* By connection whose trigger is at home here: the operation that lets it start. */
    uint32_t *let;
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
    const struct oche_htsim_trigger *t = trigger == NONE ? NULL : &w->m->triggers[trigger];

    if (t == NULL || t->home == NONE)
        return;
    if (t->home == w->rank && t->type != OCHE_HTSIM_MULTISHOT) {
        wait_for(w, w->gone_off[trigger], done);
        return;
    }
    w->m->remote += t->home != w->rank;
    wait_for(w, add(w, OCHE_GOAL_SEND, t->home, 1, FIRST_FIRE_TAG + trigger, 0), done);
}

static int compare_starts(const void *left, const void *right, void *context)
{
    const struct oche_htsim_connection *list = context;
    const struct oche_htsim_connection *a = &list[*(const uint32_t *)left];
    const struct oche_htsim_connection *b = &list[*(const uint32_t *)right];

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

static uint32_t number_of(const struct oche_htsim_connection *c, enum by by)
{
    const uint32_t numbers[] = {[BY_SRC] = c->src,
                                [BY_DST] = c->dst,
                                [BY_TRIGGER] = c->trigger,
                                [BY_SEND_DONE] = c->send_done,
                                [BY_RECV_DONE] = c->recv_done};

    return numbers[by];
}

/* Sorts the connections by that number, and then in their order; NONE is left out. */
static struct lists sorted_by(const struct oche_htsim_matrix *m, enum by by)
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
        const struct oche_htsim_connection *c = &w->m->connections[firing->list[i]];
        const uint32_t from = receivers ? c->dst : c->src;

        if (from != w->rank)
            wait_for(w, w->gone_off[trigger],
                     add(w, OCHE_GOAL_RECV, from, 1, FIRST_FIRE_TAG + trigger, 0));
    }
}

/* Lets a connection start, here or elsewhere, after an operation of its trigger's home. */
static void let_start(struct writing *w, uint32_t number, uint32_t after)
{
    const uint32_t src = w->m->connections[number].src;

    w->let[number] = after;
    if (src != w->rank)
        wait_for(w, add(w, OCHE_GOAL_SEND, src, 1, FIRST_GO_TAG + number, 0), after);
}

/*
 * Each firing of a multishot is a message, also from the rank itself; the first that comes lets the
 * first connection start. Messages without a connection are received, too.
 */
static void write_multishot(struct writing *w, uint32_t trigger, const struct lists *targets)
{
    uint32_t next = targets->first[trigger], before = NONE;

    for (uint32_t i = 0; i < w->m->triggers[trigger].fired; i++) {
        const uint32_t got = add(w, OCHE_GOAL_RECV, OCHE_GOAL_ANY, 1, FIRST_FIRE_TAG + trigger, 0);

        wait_for(w, got, before);
        before = got;
        if (next < targets->first[trigger + 1])
            let_start(w, targets->list[next++], got);
    }
}

/* A trigger at home goes off when all that fires it has told; `fire` adds what is here. */
static void write_home(struct writing *w, uint32_t trigger, const struct lists *by)
{
    if (w->m->triggers[trigger].type == OCHE_HTSIM_MULTISHOT) {
        write_multishot(w, trigger, &by[BY_TRIGGER]);
        return;
    }
    w->gone_off[trigger] = add(w, OCHE_GOAL_CALC, 0, 0, 0, 0);
    hear(w, trigger, &by[BY_SEND_DONE], false);
    hear(w, trigger, &by[BY_RECV_DONE], true);
    for (EACH(i, &by[BY_TRIGGER], trigger))
        let_start(w, by[BY_TRIGGER].list[i], w->gone_off[trigger]);
}

/* Returns what a connection of this rank waits for. */
static uint32_t start_of(struct writing *w, uint32_t number)
{
    const struct oche_htsim_connection *c = &w->m->connections[number];

    if (c->trigger == NONE)
        return at_time(w, (c->start_ps + 500) / 1000);
    if (w->m->triggers[c->trigger].home == w->rank)
        return w->let[number];
    w->m->remote++;
    return add(w, OCHE_GOAL_RECV, w->m->triggers[c->trigger].home, 1, FIRST_GO_TAG + number, 0);
}

static void write_rank(struct writing *w, const struct lists *by, const struct lists *homes)
{
    const struct oche_htsim_matrix *m = w->m;

    w->clock = NONE;
    w->clock_ns = 0;
    for (EACH(i, homes, w->rank))
        write_home(w, homes->list[i], by);
    for (EACH(i, &by[BY_SRC], w->rank)) {
        const uint32_t number = by[BY_SRC].list[i];
        const struct oche_htsim_connection *c = &m->connections[number];

        if (oche_htsim_never(m, c))
            continue;
        const uint32_t before = start_of(w, number);
        const uint32_t send = add(w, OCHE_GOAL_SEND, c->dst, c->size, number, 0);

        wait_for(w, send, before);
        fire(w, c->send_done, send);
    }
    for (EACH(i, &by[BY_DST], w->rank)) {
        const uint32_t number = by[BY_DST].list[i];
        const struct oche_htsim_connection *c = &m->connections[number];

        if (!oche_htsim_never(m, c))
            fire(w, c->recv_done, add(w, OCHE_GOAL_RECV, c->src, c->size, number, 0));
    }
    oche_goal_write_rank(w->out, w->rank);
}

/* Returns the triggers that are at home at each rank. */
static struct lists homes_of(const struct oche_htsim_matrix *m)
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

static bool write_all(struct oche_htsim_matrix *m, struct oche_goal *goal, const char *path,
                      struct oche_error *error)
{
    struct writing w = {.m = m, .out = oche_goal_write_begin(m->nodes, error)};
    struct lists by[BYS], homes;

    if (w.out == NULL)
        return false;
    w.gone_off = malloc(((size_t)m->trigger_count + 1) * sizeof(*w.gone_off));
    w.let = malloc(((size_t)m->connection_count + 1) * sizeof(*w.let));
    OCHE_GOT(w.gone_off != NULL && w.let != NULL);
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
    free(w.let);
    const int file = oche_goal_write_end(w.out, error);

    return file >= 0 && oche_goal_adopt(goal, file, path, error);
}

static void say(struct oche_schedule_file *about, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Adds to the remark. */
static void say(struct oche_schedule_file *about, const char *format, ...)
{
    const size_t used = strlen(about->remark), room = sizeof(about->remark) - used;
    const size_t gap = used > 0 && room > 2 ? 2 : 0;
    va_list arguments;

    memcpy(about->remark + used, "; ", gap);
    va_start(arguments, format);
    vsnprintf(about->remark + used + gap, room - gap, format, arguments);
    va_end(arguments);
}

static void remark(const struct oche_htsim_matrix *m, struct oche_schedule_file *about)
{
    about->remark[0] = '\0';
    if (m->prios > 0)
        say(about, "prio of %u connections is ignored", m->prios);
    if (m->reused > 0)
        say(about,
            "msg: %u messages are connections of their own, on the queue pair of their two nodes",
            m->reused);
    if (m->remote > 0)
        say(about,
            "a trigger fires or starts something at another node %u times: a message of a byte, "
            "which takes the way's time; in htsim it takes none",
            m->remote);
    if (m->never > 0)
        say(about, "%u connections never start, as their multishot trigger is fired too seldom",
            m->never);
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
    struct oche_htsim_matrix m = {.nodes = 0};
    bool good;

    (void)reading;
    about->acknowledged = true;
    if (!oche_input_read(&file, path, MOST_BYTES, &why))
        return oche_fail(error, "%s: %s; a readable file", path, why.text);
    if (!oche_text_begin(&m.input, path, file.text, file.bytes, error)) {
        oche_input_free(&file);
        return false;
    }
    good = oche_htsim_read(&m) && write_all(&m, goal, path, error);
    if (good) {
        remark(&m, about);
        about->failures = m.failures;
        about->failure_count = m.failure_count;
    } else {
        free(m.failures);
    }
    oche_text_end(&m.input);
    oche_input_free(&file);
    free(m.connections);
    free(m.triggers);
    return good;
}
