/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages between ranks over MPI. The first MPI message of each has its length in front, and up to
 * FIRST bytes. The rest of a longer one is a second MPI message of whole blocks, because MPI counts
 * with an int. All are under way at the same time. An error, such as a dead rank, ends all ranks:
 * that is MPI's default. A message of a wrong length ends them, too. A rank that waits for a
 * message polls for a while, because most messages come soon. Then it yields the processor, which
 * the other ranks may need. At last it sleeps between polls, for example while rank 0 writes
 * results. MPI itself would poll without end.
 */
#include "cli/mpi/mail.h"

#include <limits.h>
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FIRST    32768
#define YIELD_NS UINT64_C(30000)
#define SLEEP_NS UINT64_C(2000000)
#define NAP_NS   50000
#define BLOCK    4096                  /* of the rest of a message */
#define TELL_NS  UINT64_C(60000000000) /* rank 0 waits for so long before it prints a message */

enum tag { TAG_FIRST, TAG_REST };

struct first {
    uint64_t count; /* bytes of the whole message */
    char bytes[FIRST - sizeof(uint64_t)];
};

static struct {
    struct oche_rank_mail mail;
    struct first *out, *in; /* by rank */
    MPI_Request *requests;  /* for each rank, two for received and two for sent messages */
    MPI_Datatype block;     /* MPI type of BLOCK bytes */
    bool told;              /* a message about the wait has been printed */
    bool begun;             /* MPI was, here */
} ours;

oche_mpi_join oche_mpi_join_ranks;
oche_mpi_leave oche_mpi_leave_ranks;

static void end_all(const char *what)
{
    fprintf(stderr, "rank %u: %s\n", ours.mail.rank, what);
    MPI_Abort(MPI_COMM_WORLD, 2);
}

static uint64_t clock_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Waits a little longer. The wait has lasted since `begun`. */
static void pause_since(uint64_t begun)
{
    const uint64_t waited = clock_ns() - begun;

    if (waited > SLEEP_NS)
        nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
    else if (waited > YIELD_NS)
        sched_yield();
}

/* Returns how many blocks of a message are in its second part. */
static int rest_of(uint64_t count)
{
    const uint64_t more = count <= sizeof(ours.out->bytes) ? 0 : count - sizeof(ours.out->bytes);
    const uint64_t blocks = (more + BLOCK - 1) / BLOCK;

    if (blocks > INT_MAX)
        end_all("a message is longer than 8 TB");
    return (int)blocks;
}

/* Returns how many bytes are in the first part; those in the second come after. */
static size_t here_of(uint64_t count)
{
    return count - (uint64_t)rest_of(count) * BLOCK;
}

static void send_to(uint32_t rank, const struct oche_rank_bytes *message, MPI_Request *requests)
{
    struct first *first = &ours.out[rank];
    const int rest = rest_of(message->count);
    const size_t here = here_of(message->count);

    first->count = message->count;
    if (here > 0)
        memcpy(first->bytes, message->at, here);
    MPI_Isend(first, (int)(sizeof(first->count) + here), MPI_BYTE, (int)rank, TAG_FIRST,
              MPI_COMM_WORLD, &requests[0]);
    if (rest > 0)
        MPI_Isend(message->at + here, rest, ours.block, (int)rank, TAG_REST, MPI_COMM_WORLD,
                  &requests[1]);
}

/* The first part has come: reads it, and asks for the rest. */
static void receive(uint32_t rank, int bytes, struct oche_rank_bytes *message, MPI_Request *request)
{
    const struct first *first = &ours.in[rank];

    if ((size_t)bytes < sizeof(first->count) ||
        (size_t)bytes != sizeof(first->count) + here_of(first->count))
        end_all("a message has come that is not of \"oche run\"");
    const int rest = rest_of(first->count);
    const size_t here = here_of(first->count);

    if (message->capacity < first->count) {
        message->at = realloc(message->at, first->count);
        message->capacity = first->count;
        if (message->at == NULL)
            end_all("out of memory for a message of another rank");
    }
    message->count = first->count;
    if (here > 0)
        memcpy(message->at, first->bytes, here);
    if (rest > 0)
        MPI_Irecv(message->at + here, rest, ours.block, (int)rank, TAG_REST, MPI_COMM_WORLD,
                  request);
}

/* Rank 0 has waited for long. Names, once, the first rank without a message. */
static void tell_of_waiting(const MPI_Request *firsts, uint64_t begun)
{
    uint32_t silent = 0;

    if (ours.told || ours.mail.rank != 0 || clock_ns() - begun < TELL_NS)
        return;
    while (silent + 1 < ours.mail.count && firsts[silent] == MPI_REQUEST_NULL)
        silent++;
    fprintf(stderr, "rank 0: has waited for rank %u for a minute, and still does\n", silent);
    ours.told = true;
}

/* Returns the rank whose first part has come, and its number of bytes. */
static int await_any(MPI_Request *firsts, int count, int *bytes)
{
    const uint64_t begun = clock_ns();
    MPI_Status status;
    int which, done;

    for (;;) {
        MPI_Testany(count, firsts, &which, &done, &status);
        if (done)
            break;
        pause_since(begun);
        tell_of_waiting(firsts, begun);
    }
    MPI_Get_count(&status, MPI_BYTE, bytes);
    return which;
}

static void await_all(MPI_Request *requests, int count)
{
    const uint64_t begun = clock_ns();
    int done;

    for (;;) {
        MPI_Testall(count, requests, &done, MPI_STATUSES_IGNORE);
        if (done)
            return;
        pause_since(begun);
    }
}

static void exchange(struct oche_rank_mail *mail, const struct oche_rank_bytes *out,
                     struct oche_rank_bytes *in)
{
    const uint32_t count = mail->count;
    MPI_Request *firsts = ours.requests, *rests = firsts + count, *sends = rests + count;

    for (uint32_t i = 0; i < 4 * count; i++)
        ours.requests[i] = MPI_REQUEST_NULL;
    for (uint32_t r = 0; r < count; r++)
        if (r != mail->rank)
            MPI_Irecv(&ours.in[r], FIRST, MPI_BYTE, (int)r, TAG_FIRST, MPI_COMM_WORLD, &firsts[r]);
    for (uint32_t r = 0; r < count; r++)
        if (r != mail->rank)
            send_to(r, &out[r], &sends[2 * r]);
    for (uint32_t left = count - 1; left > 0; left--) {
        int bytes;
        const int which = await_any(firsts, (int)count, &bytes);

        receive((uint32_t)which, bytes, &in[which], &rests[which]);
    }
    await_all(ours.requests, (int)(4 * count));
}

struct oche_rank_mail *oche_mpi_join_ranks(void)
{
    int begun, rank, count;

    MPI_Initialized(&begun);
    if (!begun)
        MPI_Init(NULL, NULL);
    ours.begun = !begun;
    MPI_Type_contiguous(BLOCK, MPI_BYTE, &ours.block);
    MPI_Type_commit(&ours.block);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    ours.mail.rank = (uint32_t)rank;
    ours.mail.count = (uint32_t)count;
    ours.mail.exchange = exchange;
    ours.out = calloc((size_t)count, sizeof(*ours.out));
    ours.in = calloc((size_t)count, sizeof(*ours.in));
    ours.requests = calloc((size_t)count, 4 * sizeof(MPI_Request));
    if (ours.out == NULL || ours.in == NULL || ours.requests == NULL)
        end_all("out of memory for messages");
    return &ours.mail;
}

void oche_mpi_leave_ranks(void)
{
    free(ours.out);
    free(ours.in);
    free(ours.requests);
    MPI_Type_free(&ours.block);
    if (ours.begun)
        MPI_Finalize();
}
