/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/recovery/script.h"

#include <stdio.h>
#include <string.h>

#include "core/wire/aeth.h"
#include "core/wire/opcode.h"
#include "tests/support/test.h"

enum kind { DATA, READ_REQUEST, READ_RESPONSE, ACK, RNR, NAK, KINDS };

static enum kind name_of(const struct oche_packet *packet, char *name, size_t size)
{
    static const char letters[KINDS][2] = {"", "r", "d", "a", "w", "n"};
    static const enum kind by_aeth[] = {
        [OCHE_AETH_ACK] = ACK, [OCHE_AETH_RNR] = RNR, [OCHE_AETH_NAK] = NAK};
    const struct oche_opcode_row *row = oche_opcode(packet->opcode);
    enum kind kind = DATA;

    if (row->operation == OCHE_OPERATION_READ)
        kind = row->flags & OCHE_OP_REQUEST ? READ_REQUEST : READ_RESPONSE;
    else if (row->operation == OCHE_OPERATION_ACK)
        kind = by_aeth[oche_aeth_kind(oche_aeth_syndrome(packet))];
    snprintf(name, size, "%s%u", letters[kind], packet->psn);
    return kind;
}

/* True if the word is in the list. */
static bool listed(const char *list, const char *word)
{
    const size_t length = strlen(word);

    for (const char *at = list; (at = strstr(at, word)) != NULL; at += length)
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return true;
    return false;
}

static enum pair_fate fate(struct pair *pair, int from, const struct oche_packet *packet)
{
    struct script *script = pair->context;
    char *sent = script->sent[from], name[16], numbered[32];
    size_t end = strlen(sent);
    enum kind kind = name_of(packet, name, sizeof(name));

    assert_true(packet->psn < SCRIPT_PSNS);
    unsigned time = ++script->times[kind][packet->psn];
    snprintf(numbered, sizeof(numbered), "%s.%u", name, time);
    bool lost = listed(script->lose, numbered) || (time == 1 && listed(script->lose, name));
    assert_true(end + 8 < SCRIPT_NAMES);
    snprintf(sent + end, SCRIPT_NAMES - end, "%s%s%s", end > 0 ? " " : "", name, lost ? "!" : "");
    return lost ? PAIR_DROP : PAIR_PASS;
}

void script_open(struct script *script, const struct pair_options *options, const char *lose)
{
    struct pair_options all = *options;

    if (all.ack_every == 0)
        all.ack_every = 64;
    memset(script, 0, sizeof(*script));
    script->pair = pair_open(&all);
    script->lose = lose;
    script->pair->fate = fate;
    script->pair->context = script;
    pair_fill(script->pair, 0, 0, SCRIPT_PSNS * PAIR_MTU, 1);
    pair_fill(script->pair, 1, 0, SCRIPT_PSNS * PAIR_MTU, 2);
}

void script_post(struct script *script, enum oche_work_opcode opcode, uint64_t wr_id,
                 uint32_t packets)
{
    struct oche_send_work work = pair_work(opcode, wr_id, 0, 0, packets * PAIR_MTU);

    if (opcode == OCHE_WORK_SEND || opcode == OCHE_WORK_SEND_IMM || opcode == OCHE_WORK_WRITE_IMM)
        pair_post_recv(script->pair, 1, wr_id, 0, packets * PAIR_MTU);
    pair_post(script->pair, 0, &work);
}

void script_expect(struct script *script, const char *sent, const char *answered)
{
    pair_run_quiet(script->pair);
    assert_string_equal(script->sent[0], sent);
    assert_string_equal(script->sent[1], answered);
}

void script_close(struct script *script)
{
    pair_close(script->pair);
}

uint64_t script_timeouts(const struct script *script)
{
    return oche_qp_timeouts(script->pair->side[0].qp[0]);
}
