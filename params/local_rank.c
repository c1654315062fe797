/* SPDX-License-Identifier: Apache-2.0 */
/* Reads from the launcher's variables which process of an MPI job this is. */
#include "params/local_rank.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

bool oche_is_first_of_host(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",
                                        "SLURM_LOCALID"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *rank = secure_getenv(names[i]);

        if (rank != NULL && rank[0] != '\0')
            return strcmp(rank, "0") == 0;
    }
    return true;
}
