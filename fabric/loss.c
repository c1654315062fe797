/* SPDX-License-Identifier: Apache-2.0 */
/* Loss on links: reads a pattern, and decides for each packet whether the pattern loses it. */
#include "fabric/loss.h"

#include <string.h>

#include "core/wire/opcode.h"
#include "fabric/text.h"

/* A pattern that is being read. */
struct reader {
    const char *start, *at;
    uint64_t psns; /* PSNs in the items read so far */
    const char *wrong;
};

static void skip_spaces(struct reader *reader)
{
    while (*reader->at == ' ')
        reader->at++;
}

static bool skip_word(struct reader *reader, const char *word)
{
    size_t length = strlen(word);

    skip_spaces(reader);
    if (strncmp(reader->at, word, length) != 0)
        return false;
    reader->at += length;
    return true;
}

static bool fail(struct reader *reader, const char *wrong)
{
    reader->wrong = wrong;
    return false;
}

static bool read_number(struct reader *reader, uint64_t *number)
{
    skip_spaces(reader);
    if (*reader->at < '0' || *reader->at > '9')
        return fail(reader, "a number is missing");
    for (*number = 0; *reader->at >= '0' && *reader->at <= '9'; reader->at++) {
        *number = *number * 10 + (uint64_t)(*reader->at - '0');
        if (*number > UINT32_MAX)
            return fail(reader, "the number is too large");
    }
    return true;
}

static bool read_range(struct reader *reader, struct oche_loss_item *item)
{
    if (!read_number(reader, &item->first))
        return false;
    item->last = item->first;
    if (!skip_word(reader, "-"))
        return true;
    if (!read_number(reader, &item->last))
        return false;
    return item->first <= item->last || fail(reader, "the range ends before it begins");
}

static bool read_item(struct reader *reader, struct oche_loss_item *item)
{
    *item = (struct oche_loss_item){.kind = OCHE_LOSS_ORDINALS};
    if (skip_word(reader, "every")) {
        item->kind = OCHE_LOSS_EVERY;
        if (!read_number(reader, &item->first))
            return false;
        item->last = item->first;
        return item->first > 0 || fail(reader, "every 0 means nothing");
    }
    if (!skip_word(reader, "psn"))
        return read_range(reader, item) &&
               (item->first > 0 || fail(reader, "packets are counted from 1"));
    item->kind = OCHE_LOSS_PSNS;
    item->bit = (uint32_t)reader->psns;
    if (!read_range(reader, item))
        return false;
    if (item->last > OCHE_PSN_MASK)
        return fail(reader, "a PSN has 24 bits");
    reader->psns += item->last - item->first + 1;
    return reader->psns <= OCHE_LOSS_MAX_PSNS || fail(reader, "more than 65536 PSNs");
}

/* Reads the pattern into `items` (NULL: only checks it) and counts the items. */
static bool read_pattern(struct reader *reader, const char *pattern, uint32_t *of,
                         struct oche_loss_item *items, uint32_t *count)
{
    struct oche_loss_item item;

    *reader = (struct reader){.start = pattern, .at = pattern};
    *count = 0;
    *of = OCHE_LOSS_OF_ALL;
    if (pattern == NULL)
        return true;
    if (skip_word(reader, "data:"))
        *of = OCHE_LOSS_OF_DATA;
    else if (skip_word(reader, "ack:"))
        *of = OCHE_LOSS_OF_ACKS;
    do {
        if (!read_item(reader, &item))
            return false;
        if (items != NULL)
            items[*count] = item;
        ++*count;
    } while (skip_word(reader, ","));
    skip_spaces(reader);
    return *reader->at == '\0' || fail(reader, "a comma is missing");
}

bool oche_loss_check(const char *pattern, struct oche_error *error)
{
    struct reader reader;
    uint32_t count, of;

    if (read_pattern(&reader, pattern, &of, NULL, &count))
        return true;
    oche_fabric_refuse(error, reader.wrong, NULL);
    return oche_fabric_refuse_more(
        error, " at character #; would be right: 3,7,10-19, or every 100, or psn 5",
        (uint64_t[]){(uint64_t)(reader.at - reader.start) + 1});
}

static size_t seen_bytes(const struct reader *reader)
{
    return (size_t)((reader->psns + 7) / 8);
}

size_t oche_loss_bytes(const char *pattern)
{
    struct reader reader;
    uint32_t count, of;

    OCHE_MUST(read_pattern(&reader, pattern, &of, NULL, &count));
    return sizeof(struct oche_loss) + count * sizeof(struct oche_loss_item) + seen_bytes(&reader);
}

struct oche_loss *oche_loss_create(void *memory, double probability, const char *pattern,
                                   uint64_t seed, uint64_t entity)
{
    struct oche_loss *loss = memory;
    struct reader reader;

    OCHE_MUST(probability >= 0 && probability <= 1);
    *loss = (struct oche_loss){.threshold = (uint64_t)(probability * 0x1p63),
                               .random = oche_random_stream(seed, "loss", entity)};
    OCHE_MUST(read_pattern(&reader, pattern, &loss->of, loss->items, &loss->item_count));
    loss->seen = (uint8_t *)&loss->items[loss->item_count];
    memset(loss->seen, 0, seen_bytes(&reader));
    return loss;
}

/*
 * If `psn` belongs to the item and was not lost before, notes that it is lost now and returns true.
 */
static bool first_with_psn(struct oche_loss *loss, const struct oche_loss_item *item, uint32_t psn)
{
    uint32_t bit;
    uint8_t mask;

    if (psn < item->first || psn > item->last)
        return false;
    bit = item->bit + (psn - (uint32_t)item->first);
    mask = (uint8_t)(1U << (bit % 8));
    if (loss->seen[bit / 8] & mask)
        return false;
    loss->seen[bit / 8] |= mask;
    return true;
}

static bool is_of(const struct oche_loss *loss, const struct oche_packet *packet)
{
    switch ((enum oche_loss_of)loss->of) {
    case OCHE_LOSS_OF_DATA:
        return packet->payload_bytes > 0;
    case OCHE_LOSS_OF_ACKS:
        return packet->kind == OCHE_PACKET_TCP
                   ? packet->payload_bytes == 0
                   : packet->kind == OCHE_PACKET_ROCE &&
                         oche_opcodes[packet->opcode].operation == OCHE_OPERATION_ACK;
    default:
        return true;
    }
}

bool oche_loss_matches(struct oche_loss *loss, const struct oche_packet *packet)
{
    bool matches = false;

    if (!is_of(loss, packet))
        return false;
    loss->count++;
    for (uint32_t i = 0; i < loss->item_count; i++) {
        const struct oche_loss_item *item = &loss->items[i];

        if (item->kind == OCHE_LOSS_PSNS)
            matches |= first_with_psn(loss, item, packet->psn);
        else if (item->kind == OCHE_LOSS_EVERY)
            matches |= loss->count % item->first == 0;
        else
            matches |= loss->count >= item->first && loss->count <= item->last;
    }
    return matches;
}
