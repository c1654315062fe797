/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random worlds over MPI: mpirun starts this with two or four ranks, which run one world after
 * another. Rank 0 runs each in one process, too, and compares. First, messages of lengths at which
 * their parts are other ones.
 *
 * usage: mpi_worlds FIRST COUNT
 */
#include <stdio.h>
#include <stdlib.h>

#include "cli/mpi/mail.h"
#include "sim/network/ranks.h"
#include "tests/property/same_world.h"
#include "tests/support/test.h"

oche_mpi_join oche_mpi_join_ranks;
oche_mpi_leave oche_mpi_leave_ranks;

typedef void run_world(struct random_world *random, struct random_scenario *scenario,
                       uint32_t threads);

static run_world *const runs[] = {random_world_run, random_world_run_until_done,
                                  random_world_run_cut};

static char byte_of(size_t at, size_t length, uint32_t from)
{
    return (char)(at * 31 + (at >> 13) + length + from);
}

/*
 * Each rank sends each other rank a message of `length` bytes, and a few more for a higher number.
 */
static void check_length(struct oche_rank_mail *mail, size_t length)
{
    struct oche_rank_bytes *out = calloc(mail->count, sizeof(*out));
    struct oche_rank_bytes *in = calloc(mail->count, sizeof(*in));

    OCHE_GOT(out != NULL && in != NULL);
    for (uint32_t r = 0; r < mail->count; r++) {
        char *at = oche_rank_room(&out[r], length + mail->rank);

        for (size_t i = 0; i < out[r].count; i++)
            at[i] = byte_of(i, length, mail->rank);
    }
    mail->exchange(mail, out, in);
    for (uint32_t r = 0; r < mail->count; r++) {
        if (r != mail->rank && in[r].count != length + r)
            fail_msg("%zu bytes of rank %u are %zu", length + r, r, in[r].count);
        for (size_t i = 0; r != mail->rank && i < in[r].count; i++)
            if (in[r].at[i] != byte_of(i, length, r))
                fail_msg("byte %zu of %zu of rank %u", i, length + r, r);
        free(out[r].at);
        free(in[r].at);
    }
    free(out);
    free(in);
}

static void check_lengths(struct oche_rank_mail *mail)
{
    static const size_t lengths[] = {0, 32700, 32757, 36853, 40949, 1000000, 0};

    for (size_t i = 0; i < OCHE_COUNT_OF(lengths); i++)
        check_length(mail, lengths[i]);
    for (size_t length = 32750; length < 32770; length++)
        check_length(mail, length);
}

int main(int argc, char **argv)
{
    struct oche_rank_mail *mail = oche_mpi_join_ranks();

    if (argc != 3) {
        fputs("usage: mpi_worlds FIRST COUNT\n", stderr);
        return 2;
    }
    const uint64_t first = strtoull(argv[1], NULL, 10), count = strtoull(argv[2], NULL, 10);
    uint64_t crossed = 0;

    check_lengths(mail);
    for (uint64_t number = first; number < first + count; number++) {
        run_world *run = runs[number % OCHE_COUNT_OF(runs)];
        struct random_scenario scenario;
        struct random_world one, many;

        random_world_measure((unsigned)(number / 3 % 3));
        random_scenario_make(&scenario, number);
        random_world_use_mail(mail);
        run(&many, &scenario, 0);
        random_world_use_mail(NULL);
        if (mail->rank == 0) {
            run(&one, &scenario, 1);
            assert_same_world(&one, &many, "several ranks");
            crossed += oche_world_network(many.world)->ranks->of_all.packets;
            random_world_free(&one);
        }
        random_world_free(&many);
        random_scenario_free(&scenario);
    }
    if (mail->rank == 0)
        printf("%llu worlds on %u ranks: all the same; %llu packets crossed\n",
               (unsigned long long)count, mail->count, (unsigned long long)crossed);
    oche_mpi_leave_ranks();
    return mail->rank == 0 && crossed == 0;
}
