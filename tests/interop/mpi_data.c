/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For applications.py, which compiles it with mpicc.mpich: MPI's two-sided and one-sided operations
 * between all ranks, every byte compared. The last line of each rank says so.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST   (1 << 20)
#define WINDOW 65536

static int rank, size, left, right;
static unsigned char sent[MOST], got[MOST], wanted[MOST];

static void fill(unsigned char *bytes, int count, int seed)
{
    for (int i = 0; i < count; i++)
        bytes[i] = (unsigned char)((i + seed) % 251);
}

static void expect(int right_data, const char *what)
{
    if (right_data)
        return;
    printf("wrong data at %d: %s\n", rank, what);
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void two_sided(void)
{
    static const int counts[] = {1, 100, 10000, MOST};

    for (unsigned i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        fill(sent, counts[i], rank);
        fill(wanted, counts[i], left);
        MPI_Sendrecv(sent, counts[i], MPI_BYTE, right, 1, got, counts[i], MPI_BYTE, left, 1,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        expect(memcmp(got, wanted, (size_t)counts[i]) == 0, "MPI_Sendrecv");
    }
}

static void collective(void)
{
    int *numbers = calloc(2 * (size_t)size, sizeof(*numbers)), sum, mine = rank + 1;

    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect(sum == size * (size + 1) / 2, "MPI_Allreduce");
    for (int i = 0; i < size; i++)
        numbers[i] = rank * size + i;
    MPI_Alltoall(numbers, 1, MPI_INT, numbers + size, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++)
        expect(numbers[size + i] == i * size + rank, "MPI_Alltoall");
    fill(sent, MOST, 7);
    if (rank != 0)
        memset(sent, 0, MOST);
    MPI_Bcast(sent, MOST, MPI_BYTE, 0, MPI_COMM_WORLD);
    fill(wanted, MOST, 7);
    expect(memcmp(sent, wanted, MOST) == 0, "MPI_Bcast");
    free(numbers);
}

static void one_sided(void)
{
    const int one = 1;
    unsigned char *window;
    int *counter, before;
    MPI_Win data, counters;

    MPI_Win_allocate(WINDOW, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window, &data);
    MPI_Win_fence(0, data);
    fill(sent, WINDOW, rank);
    MPI_Put(sent, WINDOW, MPI_BYTE, right, 0, WINDOW, MPI_BYTE, data);
    MPI_Win_fence(0, data);
    fill(wanted, WINDOW, left);
    expect(memcmp(window, wanted, WINDOW) == 0, "MPI_Put");
    MPI_Get(got, WINDOW, MPI_BYTE, right, 0, WINDOW, MPI_BYTE, data);
    MPI_Win_fence(0, data);
    expect(memcmp(got, sent, WINDOW) == 0, "MPI_Get");
    MPI_Win_free(&data);

    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &counter, &counters);
    *counter = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, counters);
    for (int i = 0; i < 100; i++) {
        MPI_Fetch_and_op(&one, &before, MPI_INT, 0, 0, MPI_SUM, counters);
        MPI_Win_flush(0, counters);
    }
    MPI_Win_unlock_all(counters);
    MPI_Barrier(MPI_COMM_WORLD);
    expect(rank != 0 || *counter == 100 * size, "MPI_Fetch_and_op");
    MPI_Win_free(&counters);
}

int main(int count, char **arguments)
{
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;
    two_sided();
    collective();
    one_sided();
    printf("data right at %d\n", rank);
    MPI_Finalize();
    return 0;
}
