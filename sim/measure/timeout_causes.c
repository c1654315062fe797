/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the causes of timeouts. A hash table keeps, for each connection and lost PSN, the times of
 * the first and the last loss. Entries that no longer matter are dropped between windows, when
 * every timeout is judged.
 */
#include "sim/measure/timeout_causes.h"

#include <stdlib.h>

#include "core/random.h"

#define FIRST_CAPACITY 1024 /* a power of two */

/* The kinds of entries, and the meaning of `first` and `last` in each. */
enum about {
    NOTHING,   /* the place in the table is empty */
    DATA,      /* times of the first and last loss of the data packet `psn` */
    NAK,       /* times of the first and last loss of a NAK for `psn` */
    ACK,       /* times of the first and last loss of an ACK for `psn` */
    DUPLICATE, /* psn 0; last: when data that the receiver already had was last lost */
    STALL,     /* psn 0; last: time of the last timeout; first: the PSN expected then */
};

struct entry {
    uint32_t connection;
    uint32_t about; /* enum about */
    uint64_t psn;   /* number of the packet, counted from the connection's first */
    uint64_t first, last;
};

struct oche_timeout_causes {
    oche_connection_reader *read_progress;
    void *context;
    struct entry *entries; /* open addressing */
    uint32_t count, capacity;
};

const char *oche_timeout_cause_name(enum oche_timeout_cause cause)
{
    static const char *const names[OCHE_TIMEOUT_CAUSES] = {
        [OCHE_TIMEOUT_LAST_PACKET] = "last_packet", [OCHE_TIMEOUT_LAST_ACK] = "last_ack",
        [OCHE_TIMEOUT_NAK_LOST] = "nak_lost",       [OCHE_TIMEOUT_LOST_TWICE] = "lost_twice",
        [OCHE_TIMEOUT_NAK_HELD] = "nak_held",       [OCHE_TIMEOUT_OTHER] = "other",
    };

    return cause < OCHE_TIMEOUT_CAUSES ? names[cause] : "?";
}

/* ---- the table ---- */

static struct entry *make_entries(uint32_t capacity)
{
    struct entry *entries = calloc(capacity, sizeof(*entries));

    if (entries == NULL)
        oche_panic(__FILE__, __LINE__, "out of memory for the causes of timeouts");
    return entries;
}

/* Returns the place of an entry in the table, or the empty place where it belongs. */
static struct entry *place(const struct oche_timeout_causes *causes, uint32_t connection,
                           enum about about, uint64_t psn)
{
    uint64_t hash = oche_mix64(psn << 3 ^ about ^ (uint64_t)connection << 32);
    uint32_t mask = causes->capacity - 1;

    for (uint32_t at = (uint32_t)hash & mask;; at = (at + 1) & mask) {
        struct entry *entry = &causes->entries[at];
        if (entry->about == NOTHING || (entry->connection == connection &&
                                        entry->about == (uint32_t)about && entry->psn == psn))
            return entry;
    }
}

static const struct entry *find(const struct oche_timeout_causes *causes, uint32_t connection,
                                enum about about, uint64_t psn)
{
    const struct entry *entry = place(causes, connection, about, psn);

    return entry->about == NOTHING ? NULL : entry;
}

/* True if the loss that an entry records can still cause a timeout. */
static bool matters(const struct oche_timeout_causes *causes, const struct entry *entry)
{
    struct oche_connection_progress progress;

    if (entry->about == NOTHING)
        return false;
    causes->read_progress(causes->context, entry->connection, &progress);
    if (progress.acknowledged == UINT64_MAX)
        return false;
    switch ((enum about)entry->about) {
    case DATA:
    case NAK:
        return entry->psn >= progress.expected;
    case ACK:
        return entry->psn >= progress.acknowledged;
    case DUPLICATE:
        return progress.acknowledged < progress.expected;
    case STALL:
        return entry->first >= progress.expected;
    case NOTHING:
        break;
    }
    return false;
}

/* Moves all entries into a table with places for `capacity`. */
static void resize(struct oche_timeout_causes *causes, uint32_t capacity)
{
    struct entry *old = causes->entries;
    uint32_t old_capacity = causes->capacity;

    OCHE_MUST(capacity > 0 && causes->count < capacity);
    causes->capacity = capacity;
    causes->entries = make_entries(capacity);
    for (uint32_t i = 0; i < old_capacity; i++)
        if (old[i].about != NOTHING)
            *place(causes, old[i].connection, (enum about)old[i].about, old[i].psn) = old[i];
    free(old);
}

void oche_timeout_causes_tidy(struct oche_timeout_causes *causes)
{
    uint32_t live = 0, capacity = causes->capacity;

    if (causes->count < capacity / 4)
        return;
    for (uint32_t i = 0; i < causes->capacity; i++) {
        if (matters(causes, &causes->entries[i]))
            live++;
        else
            causes->entries[i].about = NOTHING;
    }
    OCHE_MUST(live < UINT32_C(1) << 28);
    while (capacity < 8 * live)
        capacity *= 2;
    causes->count = live;
    resize(causes, capacity);
}

void oche_timeout_causes_each(const struct oche_timeout_causes *causes, uint32_t more,
                              void (*each)(void *context, uint32_t connection), void *context)
{
    if (causes->count + more < causes->capacity / 4)
        return; /* nothing is tidied */
    for (uint32_t i = 0; i < causes->capacity; i++)
        if (causes->entries[i].about != NOTHING)
            each(context, causes->entries[i].connection);
}

/* Returns the entry; a new one is created with first = OCHE_NEVER and last = 0. */
static struct entry *take(struct oche_timeout_causes *causes, uint32_t connection, enum about about,
                          uint64_t psn)
{
    struct entry *entry = place(causes, connection, about, psn);

    if (entry->about != NOTHING)
        return entry;
    if (causes->count >= causes->capacity / 2) {
        resize(causes, 2 * causes->capacity);
        entry = place(causes, connection, about, psn);
    }
    causes->count++;
    *entry = (struct entry){
        .connection = connection, .about = (uint32_t)about, .psn = psn, .first = OCHE_NEVER};
    return entry;
}

struct oche_timeout_causes *oche_timeout_causes_create(oche_connection_reader *read_progress,
                                                       void *context)
{
    struct oche_timeout_causes *causes = malloc(sizeof(*causes));

    if (causes == NULL)
        oche_panic(__FILE__, __LINE__, "out of memory for the causes of timeouts");
    *causes = (struct oche_timeout_causes){
        .read_progress = read_progress, .context = context, .capacity = FIRST_CAPACITY};
    causes->entries = make_entries(causes->capacity);
    return causes;
}

void oche_timeout_causes_free(struct oche_timeout_causes *causes)
{
    if (causes == NULL)
        return;
    free(causes->entries);
    free(causes);
}

/* ---- what is lost ---- */

/* Returns the packet number with this PSN that is nearest to `near`. */
static uint64_t unwrap(uint32_t psn, uint64_t near)
{
    return near + (uint64_t)(int64_t)oche_psn_diff(psn, (uint32_t)near & OCHE_PSN_MASK);
}

void oche_timeout_causes_lost(struct oche_timeout_causes *causes, uint32_t connection,
                              const struct oche_lost_packet *lost)
{
    struct oche_connection_progress progress;

    causes->read_progress(causes->context, connection, &progress);
    uint64_t psn = unwrap(lost->psn, progress.expected);
    bool old = oche_psn_diff(lost->psn, (uint32_t)progress.expected & OCHE_PSN_MASK) < 0;
    enum about about = lost->kind == OCHE_LOST_ACK   ? ACK
                       : lost->kind == OCHE_LOST_NAK ? NAK
                       : old                         ? DUPLICATE
                                                     : DATA;
    bool heard = progress.acknowledged != UINT64_MAX && psn < progress.acknowledged;
    if ((about == ACK && (!old || heard)) || (about == NAK && old))
        return; /* this loss cannot cause a timeout */
    struct entry *entry = take(causes, connection, about, about == DUPLICATE ? 0 : psn);
    entry->first = oche_time_min(entry->first, lost->time);
    entry->last = lost->time > entry->last ? lost->time : entry->last;
}

/* ---- judging ---- */

/* A timeout, with the facts by which it is judged. */
struct stall {
    const struct oche_timeout_causes *causes;
    const struct oche_timed_out *timed_out;
    struct oche_connection_progress at;
    uint32_t connection;
    uint64_t missing;          /* packet number that the receiver misses */
    const struct entry *lost;  /* the losses of `missing`; NULL: the packet was not lost */
    const struct entry *again; /* the earlier timeout of the same stall, or NULL */
    oche_time pass;            /* when the sender last went back */
};

static const struct entry *look_up(const struct stall *stall, enum about about, uint64_t psn)
{
    return find(stall->causes, stall->connection, about, psn);
}

/* True if the note is about the missing PSN, or about the first PSN of a restarted message. */
static bool notes(const struct stall *stall, const struct oche_psn_note *note)
{
    return note->last > 0 && (note->psn == (stall->missing & OCHE_PSN_MASK) ||
                              note->psn == (stall->at.expected & OCHE_PSN_MASK));
}

static bool noted_since(const struct stall *stall, const struct oche_psn_note *note)
{
    return notes(stall, note) && note->last > stall->lost->last;
}

/*
 * Finds the PSN that the receiver misses: the PSN it expects or, if a later gap made the receiver
 * restart its message, the PSN of that gap.
 */
static void find_missing(struct stall *stall)
{
    const struct oche_psn_note *gap = &stall->at.losses.restarted;
    uint64_t behind = unwrap(gap->psn, stall->at.expected);

    stall->missing = stall->at.expected;
    stall->lost = look_up(stall, DATA, stall->missing);
    if (gap->last > 0 && behind > stall->missing &&
        (stall->lost == NULL || gap->last > stall->lost->last)) {
        stall->missing = behind;
        stall->lost = look_up(stall, DATA, behind);
    }
    stall->again = look_up(stall, STALL, 0);
    if (!stall->timed_out->sender.selective)
        stall->pass = stall->timed_out->sender.nak_taken.last;
    if (stall->again != NULL && stall->again->last > stall->pass)
        stall->pass = stall->again->last;
    if (stall->again != NULL && stall->again->first != stall->at.expected)
        stall->again = NULL;
}

/* Returns the time of the missing PSN's first loss, or of the restart that discarded the PSN. */
static oche_time missing_since(const struct stall *stall)
{
    const struct oche_psn_note *gap = &stall->at.losses.restarted;
    bool thrown_away = gap->last > 0 && unwrap(gap->psn, stall->at.expected) > stall->missing;

    return thrown_away ? oche_time_min(gap->last, stall->lost->first) : stall->lost->first;
}

/* True if a NAK that asked for the PSN reached the sender before the PSN was last lost. */
static bool asked_by_nak(const struct stall *stall)
{
    const struct oche_psn_note *taken = &stall->timed_out->sender.nak_taken;
    oche_time since = missing_since(stall), last = stall->lost->last;

    return notes(stall, taken) && ((since < taken->first && taken->first <= last) ||
                                   (since < taken->last && taken->last <= last));
}

static bool asked_by_timeout(const struct stall *stall)
{
    return stall->again != NULL && missing_since(stall) < stall->again->last &&
           stall->again->last <= stall->lost->last;
}

static bool nak_was_lost_since(const struct stall *stall, oche_time since)
{
    const struct entry *one = look_up(stall, NAK, stall->missing);
    const struct entry *other = look_up(stall, NAK, stall->at.expected);

    return (one != NULL && one->last >= since) || (other != NULL && other->last >= since);
}

/*
 * True if all packets sent after the missing PSN in this pass, up to `next`, were lost. (A packet
 * may be lost before the missing PSN is, at a link that the missing PSN had already passed.) After
 * a timeout, a selective sender sends only the missing PSN.
 */
static bool tail_was_lost(const struct stall *stall, uint64_t next)
{
    if (stall->timed_out->sender.selective && asked_by_timeout(stall))
        return true;
    for (uint64_t psn = stall->missing + 1; psn < next; psn++) {
        const struct entry *lost = look_up(stall, DATA, psn);
        if (lost == NULL || lost->last < stall->pass)
            return false;
    }
    return true;
}

/*
 * True if the last loss of the PSN was that of a repair, sent because of a NAK, a SACK or a
 * timeout.
 */
static bool repair_was_lost(const struct stall *stall)
{
    if (stall->timed_out->sender.selective && stall->lost->first < stall->lost->last)
        return true;
    return asked_by_nak(stall) || asked_by_timeout(stall);
}

/*
 * Judges a timeout when no packet after the missing PSN arrived: none was sent, or all were lost.
 */
static enum oche_timeout_cause judge_tail(const struct stall *stall, uint64_t next)
{
    bool selective = stall->timed_out->sender.selective;

    if (selective && repair_was_lost(stall) && !asked_by_timeout(stall))
        return OCHE_TIMEOUT_LOST_TWICE;
    if (!tail_was_lost(stall, next))
        return OCHE_TIMEOUT_OTHER;
    return asked_by_nak(stall) ? OCHE_TIMEOUT_LOST_TWICE : OCHE_TIMEOUT_LAST_PACKET;
}

/*
 * Judges a timeout when the receiver has every packet of this pass: the ACK was lost, or the
 * packet that asked for the ACK.
 */
static enum oche_timeout_cause judge_answer(const struct stall *stall)
{
    uint64_t expected = stall->at.expected;
    const struct entry *ack = look_up(stall, ACK, expected - 1);
    const struct entry *duplicate = look_up(stall, DUPLICATE, 0);

    if (unwrap(stall->timed_out->sender.una, expected) >= expected)
        return OCHE_TIMEOUT_OTHER; /* nothing has left since the sender went back */
    if (ack != NULL && ack->last >= stall->pass)
        return OCHE_TIMEOUT_LAST_ACK;
    if (nak_was_lost_since(stall, stall->pass))
        return OCHE_TIMEOUT_NAK_LOST;
    if (duplicate != NULL && duplicate->last >= stall->pass)
        return OCHE_TIMEOUT_LAST_PACKET;
    return OCHE_TIMEOUT_OTHER;
}

static enum oche_timeout_cause judge(const struct stall *stall)
{
    const struct oche_qp_losses *sender = &stall->timed_out->sender;
    const struct oche_qp_losses *receiver = &stall->at.losses;
    uint64_t next = unwrap(sender->next, stall->at.expected);
    uint64_t high = unwrap(sender->high, stall->at.expected);
    uint64_t una = unwrap(sender->una, stall->at.expected);

    if ((sender->selective ? high : next) <= stall->at.expected)
        return judge_answer(stall);
    if (stall->lost == NULL || next <= stall->missing)
        return OCHE_TIMEOUT_OTHER; /* the PSN was not lost, or is still waiting to be resent */
    bool twice = repair_was_lost(stall);
    if (stall->lost->last < stall->pass && sender->selective && una < stall->at.expected)
        return judge_answer(stall); /* the sender is repeating a packet that has arrived */
    if (stall->lost->last < stall->pass || noted_since(stall, &sender->nak_taken))
        return twice ? OCHE_TIMEOUT_LOST_TWICE : OCHE_TIMEOUT_OTHER; /* a repair is on its way */
    if (nak_was_lost_since(stall, stall->lost->last + 1))
        return OCHE_TIMEOUT_NAK_LOST;
    if (!noted_since(stall, &receiver->missing) && !noted_since(stall, &receiver->restarted))
        return judge_tail(stall, next);
    if (twice)
        return OCHE_TIMEOUT_LOST_TWICE;
    return noted_since(stall, &receiver->nak_sent) ? OCHE_TIMEOUT_OTHER : OCHE_TIMEOUT_NAK_HELD;
}

enum oche_timeout_cause oche_timeout_causes_judge(struct oche_timeout_causes *causes,
                                                  uint32_t connection,
                                                  const struct oche_timed_out *timed_out)
{
    struct stall stall = {.causes = causes, .timed_out = timed_out, .connection = connection};

    causes->read_progress(causes->context, connection, &stall.at);
    find_missing(&stall);
    enum oche_timeout_cause cause = judge(&stall);
    struct entry *again = take(causes, connection, STALL, 0);
    again->first = stall.at.expected;
    again->last = timed_out->time;
    return cause;
}
