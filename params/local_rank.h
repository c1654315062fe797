/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OCHE_PARAMS_LOCAL_RANK_H
#define OCHE_PARAMS_LOCAL_RANK_H

#include <stdbool.h>

/*
 * False if the process is one of an MPI job (Open MPI, MPICH, Slurm) and not the first one of its
 * host. Messages that concern all of them are printed by the first.
 */
bool oche_is_first_of_host(void);

#endif
