/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Failing system calls: the n-th of a kind, alone or with all later ones. A program gets them by
 * its link arguments (--wrap, meson.build).
 */
#ifndef OCHE_TESTS_FAULTS_FAULTS_H
#define OCHE_TESTS_FAULTS_FAULTS_H

#include <stdbool.h>

enum fault {
    FAULT_MEMORY,  /* malloc, calloc, realloc, aligned_alloc: ENOMEM */
    FAULT_SOCKET,  /* socket, eventfd: EMFILE */
    FAULT_BIND,    /* EACCES */
    FAULT_OPTION,  /* setsockopt: ENOPROTOOPT */
    FAULT_RANDOM,  /* getrandom: ENOSYS */
    FAULT_SEND,    /* sendmsg, sendmmsg: an error of its own, see faults_error */
    FAULT_RECEIVE, /* recvmsg, recvmmsg: likewise */
    FAULTS
};

/* Begins to count, from 0. The n-th call of the kind fails; 0: none does. */
void faults_set(enum fault kind, unsigned long n, bool once);
/* The errno of a failing send or receive. */
void faults_error(int error);
/* No call fails any more. */
void faults_stop(void);
/* Returns how many calls of the kind there were since faults_set. */
unsigned long faults_calls(enum fault kind);
const char *faults_name(enum fault kind);

#endif
