/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interface of liboche-mpi.so. `oche run` loads that library if mpirun has started it
 * (cli/run/ranks.c), so that the program itself does not depend on MPI.
 */
#ifndef OCHE_CLI_MPI_MAIL_H
#define OCHE_CLI_MPI_MAIL_H

#include "sim/network/rank_mail.h"

/* Joins the ranks that mpirun has started. Returns how to reach them, valid until leave. */
typedef struct oche_rank_mail *oche_mpi_join(void);
/* To be called by all ranks, last. */
typedef void oche_mpi_leave(void);

#define OCHE_MPI_JOIN  "oche_mpi_join_ranks"
#define OCHE_MPI_LEAVE "oche_mpi_leave_ranks"

#endif
