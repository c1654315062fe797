/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the results of random work: see qp_work.h. */
#include <stdlib.h>
#include <string.h>

#include "core/wire/aeth.h"
#include "core/wire/opcode.h"
#include "tests/property/qp_work.h"

static const char *const opcode_names[OCHE_WORK_OPCODES] = {
    [OCHE_WORK_SEND] = "SEND",           [OCHE_WORK_SEND_IMM] = "SEND_IMM",
    [OCHE_WORK_WRITE] = "WRITE",         [OCHE_WORK_WRITE_IMM] = "WRITE_IMM",
    [OCHE_WORK_SEND_INV] = "SEND_INV",   [OCHE_WORK_LOCAL_INV] = "LOCAL_INV",
    [OCHE_WORK_BIND_MW] = "BIND_MW",     [OCHE_WORK_READ] = "READ",
    [OCHE_WORK_FETCH_ADD] = "FETCH_ADD", [OCHE_WORK_COMPARE_SWAP] = "COMPARE_SWAP",
};

static uint8_t *memory(const struct qp_work *w, int side, uint32_t at)
{
    return w->pair->side[side].memory + at;
}

static bool is_write(const struct qp_item *item)
{
    return item->opcode == OCHE_WORK_WRITE || item->opcode == OCHE_WORK_WRITE_IMM;
}

static bool is_atomic(const struct qp_item *item)
{
    return item->opcode >= OCHE_WORK_COMPARE_SWAP;
}

static uint32_t slot_at(const struct qp_work *w, uint32_t receive)
{
    return RECEIVES + receive % w->plan.slots * w->plan.max_length;
}

/* The memory as it was at the start. */
static void wipe(struct qp_work *w, int side, uint32_t at, uint32_t length)
{
    memcpy(memory(w, side, at), w->first[side] + at, length);
}

static void check_bytes(struct qp_work *w, const char *what, int way, uint32_t index,
                        const uint8_t *got, const uint8_t *want, uint32_t length)
{
    if (memcmp(got, want, length) == 0)
        return;
    uint32_t i = 0;
    while (got[i] == want[i])
        i++;
    qp_work_fail(w, "side %d, work %u (%s, %u bytes): %s: byte %u is wrong", way, index,
                 opcode_names[w->way[way].item[index].opcode], length, what, i);
}

/* ---- the cell: the works of one direction write it, version after version ---- */

static uint8_t version_byte(const struct qp_work *w, int way, uint32_t version, uint32_t i)
{
    if (version == 0)
        return w->first[1 - way][CELL + i];
    return memory(w, way, w->way[way].version_from[version])[i];
}

/* Each byte comes from a version between `oldest` and `newest`. */
static void check_versions(struct qp_work *w, int way, const uint8_t *bytes, uint32_t oldest,
                           uint32_t newest, const char *what, uint32_t index)
{
    for (uint32_t i = 0; i < w->plan.cell; i++) {
        uint32_t v = newest;
        while (version_byte(w, way, v, i) != bytes[i]) {
            QP_WORK_CHECK(w, v > oldest,
                          "side %d, work %u: %s: byte %u is of none of the versions %u to %u", way,
                          index, what, i, oldest, newest);
            v--;
        }
    }
}

/* The newest version that a READ may see: a version behind a fence waits for the READ. */
static uint32_t newest_for(const struct qp_way *way, uint32_t read)
{
    uint32_t newest = way->item[read].oldest;

    for (uint32_t i = read + 1; i < way->posted && !(way->item[i].flags & OCHE_WORK_FENCE); i++)
        if (way->item[i].cell && is_write(&way->item[i]))
            newest = way->item[i].number;
    return newest;
}

/* ---- one work ---- */

/* The bytes of a WRITE have arrived. Later WRITEs to the same cell may have arrived, too. */
static void check_placed(struct qp_work *w, int side, uint32_t index)
{
    const struct qp_way *way = &w->way[side];
    const struct qp_item *item = &way->item[index];

    if (!is_write(item))
        return;
    if (item->cell)
        check_versions(w, side, memory(w, 1 - side, CELL), item->number, way->versions - 1,
                       "the cell behind a WRITE", index);
    else
        check_bytes(w, "what was written", side, index, memory(w, 1 - side, item->to),
                    memory(w, side, item->from), item->length);
}

static void place_up_to(struct qp_work *w, int side, uint32_t end)
{
    for (struct qp_way *way = &w->way[side]; way->placed < end; way->placed++)
        check_placed(w, side, way->placed);
}

/* A work is done. Its bytes are wiped, so that a second execution would show. */
static void settle(struct qp_work *w, int side, uint32_t index)
{
    const struct qp_way *way = &w->way[side];
    const struct qp_item *item = &way->item[index];
    uint64_t counter, result;

    place_up_to(w, side, index + 1);
    if (qp_work_takes_receive(item))
        QP_WORK_CHECK(w, w->receives[1 - side].done > item->number,
                      "side %d, work %u is done, but its receive is not", side, index);
    if (is_write(item) && !item->cell)
        wipe(w, 1 - side, item->to, item->length);
    if (item->opcode == OCHE_WORK_READ && item->cell)
        check_versions(w, side, memory(w, side, item->to), item->oldest, newest_for(way, index),
                       "what was read of the cell", index);
    else if (item->opcode == OCHE_WORK_READ)
        check_bytes(w, "what was read", side, index, memory(w, side, item->to),
                    memory(w, 1 - side, item->from), item->length);
    if (is_atomic(item)) {
        memcpy(&result, memory(w, side, item->to), 8);
        memcpy(&counter, memory(w, 1 - side, COUNTER), 8);
        QP_WORK_CHECK(w, result == item->number && counter > result,
                      "side %d, work %u: atomic %u found %lu, and left %lu", side, index,
                      item->number, (unsigned long)result, (unsigned long)counter);
    }
    if (item->opcode >= OCHE_WORK_READ)
        wipe(w, side, item->to, item->length);
}

/* ---- completions ---- */

static void flush_recv(struct qp_work *w, int side, const struct oche_completion *done)
{
    struct qp_receives *r = &w->receives[side];

    QP_WORK_CHECK(w, w->ending || w->way[side].failed != NONE,
                  "side %d: a receive was flushed, though the queue pair is well", side);
    QP_WORK_CHECK(w, done->wr_id == RECEIVE_ID + r->done && r->done < r->posted,
                  "side %d: receive %lu flushed, not %u", side,
                  (unsigned long)(done->wr_id - RECEIVE_ID), r->done);
    r->done++;
}

static void check_recv(struct qp_work *w, int side, const struct oche_completion *done)
{
    struct qp_receives *r = &w->receives[side];
    struct qp_way *way = &w->way[1 - side];

    QP_WORK_CHECK(w, done->status == OCHE_STATUS_SUCCESS && w->way[side].failed == NONE,
                  "side %d: a receive with status %u", side, done->status);
    QP_WORK_CHECK(
        w, done->wr_id == RECEIVE_ID + r->done && r->done < r->posted && r->done < way->messages,
        "side %d: receive %lu completed, not %u", side, (unsigned long)(done->wr_id - RECEIVE_ID),
        r->done);
    const uint32_t index = way->message[r->done], at = slot_at(w, r->done);
    const struct qp_item *item = &way->item[index];
    const bool send = item->opcode <= OCHE_WORK_SEND_IMM;
    const bool imm = item->opcode == OCHE_WORK_SEND_IMM || item->opcode == OCHE_WORK_WRITE_IMM;
    QP_WORK_CHECK(w,
                  done->bytes == item->length && done->has_imm == imm &&
                      (!imm || done->imm == item->imm) &&
                      done->solicited == ((item->flags & OCHE_WORK_SOLICITED) != 0) &&
                      done->opcode == (send ? OCHE_DONE_RECV : OCHE_DONE_RECV_WRITE_IMM),
                  "side %d: receive %u says %u bytes, opcode %u, immediate %u; it was work %u, "
                  "%s of %u bytes, immediate %u",
                  side, r->done, done->bytes, done->opcode, done->imm, index,
                  opcode_names[item->opcode], item->length, item->imm);
    if (send) {
        check_bytes(w, "what was received", 1 - side, index, memory(w, side, at),
                    memory(w, 1 - side, item->from), item->length);
        wipe(w, side, at, item->length);
    }
    place_up_to(w, 1 - side, index + 1);
    r->done++;
}

/*
 * True if no work can run out of retries on this link. If a receiver that stores packets has no
 * receive, it also refuses what it would have stored, and leaves that to the sender's timer.
 */
static bool too_good_to_fail(const struct qp_work *w, int side, uint32_t retries)
{
    const struct pair_options *o = &w->pair->options;
    const struct oche_recovery_scheme *peers =
        side == 0 && o->peer_recovery != NULL ? o->peer_recovery : o->recovery;
    const bool refused = peers->extend != NULL && w->pair->side[1 - side].out_rnr_naks > 0;

    return w->plan.mild || (w->plan.clean && (retries >= 7 || !refused));
}

/* True if the queue pair may end in this way: enough retries were spent, or it had to end. */
static void judge_failure(struct qp_work *w, int side)
{
    const struct pair_options *o = &w->pair->options;
    const struct oche_nic_stats *stats = oche_nic_stats(w->pair->side[side].nic);
    const struct qp_way *way = &w->way[side];
    const bool alone = w->way[1 - side].failed == NONE; /* the other queue pair still works */
    const bool restarts = w->plan.restarts;
    const uint32_t retries = o->retry_count == UINT32_MAX - 1 ? 0 : o->retry_count;
    const uint32_t rnr_retries = o->rnr_retry == UINT32_MAX - 1 ? 0 : o->rnr_retry;

    if (way->status == OCHE_STATUS_RNR_RETRY_EXCEEDED) {
        QP_WORK_CHECK(w, o->rnr_retry != UINT32_MAX && stats->rnr_naks_received > rnr_retries,
                      "side %d: RNR retries exceeded by %lu RNR NAKs, %u are allowed", side,
                      (unsigned long)stats->rnr_naks_received, rnr_retries);
        return;
    }
    QP_WORK_CHECK(w, way->status == OCHE_STATUS_RETRY_EXCEEDED, "side %d, work %u: status %u", side,
                  way->failed, way->status);
    const uint64_t spent = stats->timeouts + (restarts ? stats->naks_received : 0) +
                           (restarts ? stats->out_of_order_packets : 0);
    QP_WORK_CHECK(w, o->retry_count != UINT32_MAX && spent > retries,
                  "side %d: retries exceeded by %lu timeouts, %u are allowed", side,
                  (unsigned long)spent, retries);
    QP_WORK_CHECK(w, !alone || !too_good_to_fail(w, side, retries),
                  "side %d, work %u: retries exceeded on a link that is too good for that", side,
                  way->failed);
}

static void flush_send(struct qp_work *w, int side, const struct oche_completion *done)
{
    struct qp_way *way = &w->way[side];

    QP_WORK_CHECK(w, way->failed != NONE && done->status == OCHE_STATUS_FLUSHED,
                  "side %d, work %lu: status %u behind a failure", side, (unsigned long)done->wr_id,
                  done->status);
    QP_WORK_CHECK(w, done->wr_id == way->flushed && way->flushed < way->posted,
                  "side %d: work %lu flushed, not %u", side, (unsigned long)done->wr_id,
                  way->flushed);
    way->flushed++;
}

static void check_send(struct qp_work *w, int side, const struct oche_completion *done)
{
    static const uint8_t opcodes[OCHE_WORK_OPCODES] = {
        [OCHE_WORK_SEND] = OCHE_DONE_SEND,
        [OCHE_WORK_SEND_IMM] = OCHE_DONE_SEND,
        [OCHE_WORK_WRITE] = OCHE_DONE_WRITE,
        [OCHE_WORK_WRITE_IMM] = OCHE_DONE_WRITE,
        [OCHE_WORK_BIND_MW] = OCHE_DONE_BIND_MW,
        [OCHE_WORK_READ] = OCHE_DONE_READ,
        [OCHE_WORK_COMPARE_SWAP] = OCHE_DONE_COMPARE_SWAP,
        [OCHE_WORK_FETCH_ADD] = OCHE_DONE_FETCH_ADD,
    };
    struct qp_way *way = &w->way[side];
    const uint32_t index = (uint32_t)done->wr_id;

    if (way->failed != NONE) {
        flush_send(w, side, done);
        return;
    }
    QP_WORK_CHECK(w, done->wr_id >= way->settled && done->wr_id < way->posted,
                  "side %d: work %lu completed; %u are done, %u posted", side,
                  (unsigned long)done->wr_id, way->settled, way->posted);
    for (uint32_t i = way->settled; i < index; i++)
        QP_WORK_CHECK(w, !(way->item[i].flags & OCHE_WORK_SIGNALED),
                      "side %d: work %u completed, but not %u before it", side, index, i);
    for (; way->settled < index; way->settled++)
        settle(w, side, way->settled);
    if (done->status != OCHE_STATUS_SUCCESS) {
        way->failed = index;
        way->flushed = index + 1;
        way->status = done->status;
        judge_failure(w, side);
        return;
    }
    const struct qp_item *item = &way->item[index];
    QP_WORK_CHECK(w,
                  (item->flags & OCHE_WORK_SIGNALED) && done->opcode == opcodes[item->opcode] &&
                      (item->opcode < OCHE_WORK_READ || done->bytes == item->length),
                  "side %d: work %u, %s of %u bytes, completed as opcode %u, %u bytes", side, index,
                  opcode_names[item->opcode], item->length, done->opcode, done->bytes);
    settle(w, side, index);
    way->settled = index + 1;
}

enum what { RECEIVED, SENT, GIVEN_BACK };

static enum what what_is(const struct oche_completion *done)
{
    if (done->wr_id < RECEIVE_ID)
        return SENT;
    return done->status == OCHE_STATUS_FLUSHED ? GIVEN_BACK : RECEIVED;
}

static void check(struct qp_work *w, int side, const struct oche_completion *done)
{
    switch (what_is(done)) {
    case RECEIVED:
        check_recv(w, side, done);
        break;
    case SENT:
        check_send(w, side, done);
        break;
    case GIVEN_BACK:
        flush_recv(w, side, done);
        break;
    }
}

void qp_work_poll(struct qp_work *w)
{
    static struct oche_completion done[2][PAIR_CQ];
    unsigned count[2];

    for (int side = 0; side < 2; side++)
        count[side] = oche_cq_poll(w->pair->side[side].cq, done[side], PAIR_CQ);
    /* A work may complete only after its receive; works after a failure are flushed. */
    for (enum what pass = RECEIVED; pass <= GIVEN_BACK; pass++)
        for (int side = 0; side < 2; side++)
            for (unsigned i = 0; i < count[side]; i++)
                if (what_is(&done[side][i]) == pass)
                    check(w, side, &done[side][i]);
}

/* ---- the window ---- */

void qp_work_arrived(struct pair *pair, int to, const struct oche_packet *packet)
{
    struct qp_work *w = pair->context;
    struct qp_way *way = &w->way[to];
    const struct oche_opcode_row *row = oche_opcode(packet->opcode);

    if (!(row->flags & OCHE_OP_RESPONSE))
        return;
    /* A NAK acknowledges PSNs before its own; any other answer includes its own PSN. */
    const bool refuses = (row->flags & OCHE_OP_HAS(AETH)) &&
                         oche_aeth_kind(oche_aeth_syndrome(packet)) != OCHE_AETH_ACK;
    const uint32_t target = oche_psn_add(packet->psn, refuses ? 0 : 1);
    if (oche_psn_diff(target, way->acked) > 0)
        way->acked = target;
}

void qp_work_sent(struct pair *pair, int from, const struct oche_packet *packet)
{
    struct qp_work *w = pair->context;
    struct qp_way *way = &w->way[from];
    const int32_t ahead = oche_psn_diff(packet->psn, way->acked);

    way->extended += packet->opcode >= OCHE_SCHEME_OPCODES;
    if (oche_opcode(packet->opcode)->flags & OCHE_OP_REQUEST)
        QP_WORK_CHECK(w, ahead < (int32_t)way->window,
                      "side %d: sends PSN %x, %d behind what is acknowledged; the window is %u",
                      from, packet->psn, ahead, way->window);
}

/* ---- the end ---- */

/* Allows that these bytes have been written. Bytes that have their new value are reset. */
static void allow(struct qp_work *w, int side, uint32_t at, const uint8_t *source, uint32_t length)
{
    uint8_t *bytes = memory(w, side, at);

    for (uint32_t i = 0; i < length; i++)
        if (bytes[i] == source[i])
            bytes[i] = w->first[side][at + i];
}

/* A failed or flushed work may have been executed fully, in part, or not at all. */
static void allow_unsettled(struct qp_work *w, int side, uint32_t index)
{
    const struct qp_item *item = &w->way[side].item[index];
    const uint64_t number = item->number;

    if (is_atomic(item))
        allow(w, side, item->to, (const uint8_t *)&number, 8);
    else if (is_write(item) && !item->cell)
        allow(w, 1 - side, item->to, memory(w, side, item->from), item->length);
    else if (item->opcode == OCHE_WORK_READ && !item->cell)
        allow(w, side, item->to, memory(w, 1 - side, item->from), item->length);
    else if (item->opcode == OCHE_WORK_READ)
        for (uint32_t v = item->oldest; v < w->way[side].versions; v++)
            for (uint32_t i = 0; i < item->length; i++)
                if (*memory(w, side, item->to + i) == version_byte(w, side, v, i))
                    wipe(w, side, item->to + i, 1);
    if (item->opcode <= OCHE_WORK_SEND_IMM && item->number < w->receives[1 - side].posted)
        allow(w, 1 - side, slot_at(w, item->number), memory(w, side, item->from), item->length);
}

static void check_memory(struct qp_work *w, int side)
{
    struct qp_way *way = &w->way[1 - side]; /* the side that writes here */
    uint32_t atomics = 0, oldest = 0;
    uint64_t counter;

    for (uint32_t i = 0; i < way->settled; i++) {
        atomics += is_atomic(&way->item[i]);
        if (way->item[i].cell && is_write(&way->item[i]))
            oldest = way->item[i].number;
    }
    memcpy(&counter, memory(w, side, COUNTER), 8);
    QP_WORK_CHECK(w, counter >= atomics && counter <= way->atomics,
                  "side %d: %lu atomics executed; %u are done, %u posted", side,
                  (unsigned long)counter, atomics, way->atomics);
    check_versions(w, 1 - side, memory(w, side, CELL), oldest, way->versions - 1,
                   "the cell at the end", way->settled);
    wipe(w, side, COUNTER, 8);
    wipe(w, side, CELL, w->plan.cell);
    if (memcmp(w->pair->side[side].memory, w->first[side], PAIR_MEMORY) == 0)
        return;
    for (uint32_t at = 0; at < PAIR_MEMORY; at++)
        QP_WORK_CHECK(w, w->pair->side[side].memory[at] == w->first[side][at],
                      "side %d: the byte at %u of its memory was changed by nothing known", side,
                      at);
}

static void check_state(struct qp_work *w, int side)
{
    const struct pair_side *mine = &w->pair->side[side];
    const struct qp_way *way = &w->way[side];
    const bool failed = way->failed != NONE;

    QP_WORK_CHECK(w, oche_qp_state(mine->qp[0]) == (failed ? OCHE_QP_ERR : OCHE_QP_RTS),
                  "side %d: state %d", side, oche_qp_state(mine->qp[0]));
    QP_WORK_CHECK(w, mine->errors == failed && (!failed || mine->error == way->status),
                  "side %d: %lu errors were told", side, (unsigned long)mine->errors);
    QP_WORK_CHECK(w, oche_qp_idle(mine->qp[0]), "side %d is not idle at the end", side);
    QP_WORK_CHECK(w, oche_nic_rejected(mine->nic, OCHE_REJECT_OPCODE) == 0,
                  "side %d was sent opcodes that it does not know", side);
    QP_WORK_CHECK(w, oche_nic_rejected(mine->nic, OCHE_REJECT_CNP) == 0,
                  "side %d took CNPs of its peer for a stranger's", side);
    QP_WORK_CHECK(w, oche_nic_rejected(mine->nic, OCHE_REJECT_REPEATS) == 0,
                  "side %d was asked for a READ again and again, %lu times too often", side,
                  (unsigned long)oche_nic_rejected(mine->nic, OCHE_REJECT_REPEATS));
    QP_WORK_CHECK(w,
                  !failed || (way->flushed == way->posted &&
                              w->receives[side].done == w->receives[side].posted),
                  "side %d failed, but not all of its work was flushed", side);
}

/*
 * Sums for one side: packets that it sent (READ responses belong to the other direction), and bytes
 * that arrived at it.
 */
struct sums {
    uint64_t sent, delivered, messages;
};

static struct sums add_up(const struct qp_work *w, int side)
{
    struct sums sums = {0};

    for (int s = 0; s < 2; s++)
        for (uint32_t i = 0; i < w->way[s].posted; i++) {
            const struct qp_item *item = &w->way[s].item[i];
            const bool read = item->opcode == OCHE_WORK_READ;
            if (is_atomic(item) || item->opcode == OCHE_WORK_BIND_MW)
                continue;
            const bool towards = (s == side) == read;
            sums.delivered += towards ? item->length : 0;
            sums.messages += towards;
            sums.sent += towards ? 0 : item->length;
        }
    return sums;
}

/* `all`: both sides have done everything. */
static void check_counters(struct qp_work *w, int side, bool all)
{
    const struct pair_side *mine = &w->pair->side[side], *other = &w->pair->side[1 - side];
    const struct oche_nic_stats *stats = oche_nic_stats(mine->nic);
    const struct sums sums = add_up(w, side);

    QP_WORK_CHECK(w,
                  mine->delivered_bytes == stats->delivered_bytes &&
                      mine->delivered_messages == stats->delivered_messages,
                  "side %d: delivered by its counters %lu bytes in %lu messages, by hook %lu in "
                  "%lu",
                  side, (unsigned long)stats->delivered_bytes,
                  (unsigned long)stats->delivered_messages, (unsigned long)mine->delivered_bytes,
                  (unsigned long)mine->delivered_messages);
    QP_WORK_CHECK(w,
                  all ? stats->delivered_bytes == sums.delivered &&
                            stats->delivered_messages == sums.messages
                      : stats->delivered_bytes <= sums.delivered &&
                            stats->delivered_messages <= sums.messages,
                  "side %d: delivered %lu bytes in %lu messages; sent to it were %lu in %lu", side,
                  (unsigned long)stats->delivered_bytes, (unsigned long)stats->delivered_messages,
                  (unsigned long)sums.delivered, (unsigned long)sums.messages);
    QP_WORK_CHECK(w,
                  stats->data_bytes_sent == mine->out_payload &&
                      stats->naks_sent == mine->out_naks &&
                      stats->rnr_naks_sent == mine->out_rnr_naks,
                  "side %d: by its counters it sent %lu bytes, %lu NAKs, %lu RNR NAKs; the link "
                  "saw %lu, %lu, %lu",
                  side, (unsigned long)stats->data_bytes_sent, (unsigned long)stats->naks_sent,
                  (unsigned long)stats->rnr_naks_sent, (unsigned long)mine->out_payload,
                  (unsigned long)mine->out_naks, (unsigned long)mine->out_rnr_naks);
    QP_WORK_CHECK(w, !all || stats->data_bytes_received == mine->in_payload,
                  "side %d: by its counters it received %lu bytes; the link gave it %lu", side,
                  (unsigned long)stats->data_bytes_received, (unsigned long)mine->in_payload);
    QP_WORK_CHECK(w, !all || stats->data_bytes_sent - stats->retransmitted_bytes == sums.sent,
                  "side %d: of %lu bytes %lu were repeated; %lu were to be sent", side,
                  (unsigned long)stats->data_bytes_sent, (unsigned long)stats->retransmitted_bytes,
                  (unsigned long)sums.sent);
    QP_WORK_CHECK(w, !w->plan.exact || stats->retransmitted_packets == w->way[side].lost,
                  "side %d: %lu packets were sent again, %u were lost", side,
                  (unsigned long)stats->retransmitted_packets, w->way[side].lost);
    if (all && w->plan.clean && mine->out_rnr_naks + other->out_rnr_naks == 0)
        QP_WORK_CHECK(
            w, stats->timeouts == 0 && stats->naks_sent == 0 && stats->out_of_order_packets == 0,
            "side %d: %lu timeouts, %lu NAKs and %lu gaps on a clean link", side,
            (unsigned long)stats->timeouts, (unsigned long)stats->naks_sent,
            (unsigned long)stats->out_of_order_packets);
}

void qp_work_check_end(struct qp_work *w)
{
    const bool all = w->way[0].failed == NONE && w->way[1].failed == NONE;

    for (int side = 0; side < 2; side++) {
        const struct qp_way *way = &w->way[side];
        check_state(w, side);
        QP_WORK_CHECK(w, way->failed != NONE || way->settled == way->posted,
                      "side %d: of %u works %u are done", side, way->posted, way->settled);
        check_counters(w, side, all);
    }
    for (int side = 0; side < 2; side++)
        for (uint32_t i = w->way[side].settled; i < w->way[side].posted; i++)
            allow_unsettled(w, side, i);
    for (int side = 0; side < 2; side++)
        check_memory(w, side);
}
