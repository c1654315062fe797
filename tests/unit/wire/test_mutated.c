/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Golden packets, mutated: a short run of the fuzz target's checks, always the same. The IPv4
 * checksum is corrected after most mutations, so the mutated packets pass that check.
 */
#include <stdlib.h>
#include <string.h>

#include "core/random.h"
#include "core/wire/bytes.h"
#include "tests/fuzz/decode_check.h"
#include "tests/support/capture.h"
#include "tests/support/crc.h"
#include "tests/support/test.h"

#define MUTANTS 60 /* of each packet */

static const char *directory;
static uint8_t again[DECODE_CHECK_ROOM];

struct tally {
    struct oche_random random;
    unsigned accepted, tried;
    unsigned errors[OCHE_WIRE_ERROR_COUNT];
};

static void seal(uint8_t *bytes, size_t count)
{
    uint32_t sum = 0;

    if (count < 34)
        return;
    oche_put16(bytes + 24, 0);
    for (unsigned i = 14; i < 34; i += 2)
        sum += oche_get16(bytes + i);
    sum = (sum & 0xffff) + (sum >> 16);
    oche_put16(bytes + 24, (uint16_t) ~((sum & 0xffff) + (sum >> 16)));
}

/* Changes a few bytes (mostly in the headers), or the length. Returns the new length. */
static size_t mutate(struct oche_random *random, uint8_t *bytes, size_t count)
{
    const unsigned changes = 1 + (unsigned)oche_random_below(random, 3);
    const size_t headers = count < 80 ? count : 80;
    const size_t longest = count;

    for (unsigned i = 0; i < changes; i++) {
        const uint64_t how = oche_random_below(random, 8);
        const size_t at = oche_random_below(random, how == 0 ? count : headers);

        if (how < 4)
            bytes[at] ^= (uint8_t)(1u << oche_random_below(random, 8));
        else
            bytes[at] = (uint8_t)oche_random_u64(random);
    }
    switch (oche_random_below(random, 8)) {
    case 0:
        count = oche_random_below(random, count + 1);
        break;
    case 1: /* shorter, and saying so */
        count = 46 + oche_random_below(random, count - 45);
        if (oche_random_below(random, 4) != 0)
            count &= ~(size_t)3;
        count += 2; /* the Ethernet header is 14 bytes */
        if (count > longest)
            count = longest;
        oche_put16(bytes + 16, (uint16_t)(count - 14));
        oche_put16(bytes + 38, (uint16_t)(count - 34));
        break;
    case 2: /* with four bytes of IP options */
        bytes[14] = 0x46;
        memmove(bytes + 38, bytes + 34, count - 38);
        break;
    default:
        break;
    }
    if (oche_random_below(random, 8) != 0)
        seal(bytes, count);
    return count;
}

static void mutants(void *context, unsigned number, uint8_t *bytes, size_t count)
{
    struct tally *tally = context;
    struct oche_packet packet;
    struct oche_frame frame;

    for (unsigned i = 0; i < MUTANTS; i++) {
        uint8_t *copy = malloc(count), *exact;
        size_t size;
        const char *wrong;

        assert_non_null(copy);
        memcpy(copy, bytes, count);
        size = mutate(&tally->random, copy, count);
        exact = realloc(copy, size > 0 ? size : 1);
        assert_non_null(exact);
        wrong = decode_check(exact, size, crc_isal, again, &tally->accepted);
        if (wrong != NULL)
            fail_msg("packet %u, mutant %u: %s", number + 1, i, wrong);
        tally->tried++;
        tally->errors[oche_decode_ethernet(exact, size, crc_zlib, &packet, &frame)]++;
        free(exact);
    }
}

static void golden_mutants(void **state)
{
    struct tally tally = {.random = oche_random_stream(1, "mutants", 0)};

    (void)state;
    for (size_t i = 0; i < golden_file_count; i++)
        capture_each(directory, golden_files[i].name, mutants, &tally);
    assert_true(tally.tried > 40000);
    assert_true(tally.accepted > tally.tried / 10);
    for (int error = 0; error < OCHE_WIRE_ERROR_COUNT; error++)
        if (tally.errors[error] == 0)
            fail_msg("no mutant was ever: %s", oche_wire_error_text((enum oche_wire_error)error));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(golden_mutants)};

    directory = argc > 1 ? argv[1] : "tests/golden";
    return cmocka_run_group_tests(tests, NULL, NULL);
}
