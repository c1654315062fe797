/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file that fail_calls.c and preload.c both map. The first passes its name to the other in
 * FAULTS_SHARED.
 */
#ifndef OCHE_TESTS_FAULTS_SHARED_H
#define OCHE_TESTS_FAULTS_SHARED_H

#include <stdatomic.h>
#include <stdint.h>

/* A prctl without effect, by which the preloaded library reports that the program itself begins. */
#define FAULTS_BEGIN 0x4f434845

enum faults_call {
    CALL_NONE,
    CALL_MEMORY,     /* malloc, calloc, realloc, …; counted by the preloaded library */
    CALL_CLOCK,      /* clock_gettime, gettimeofday, time; likewise */
    CALL_MMAP,       /* mmap, mremap */
    CALL_OPEN,       /* open, openat */
    CALL_READ,       /* read, pread, readv */
    CALL_WRITE,      /* write, pwrite, writev, ftruncate; not of standard error */
    CALL_SYNC,       /* fsync, fdatasync */
    CALL_RENAME,     /* rename, renameat */
    CALL_FOLDER,     /* mkdir */
    CALL_DESCRIPTOR, /* socket, pipe, eventfd, epoll_create, memfd_create, dup, accept */
    CALL_SOCKET,     /* bind, connect, setsockopt */
    CALL_SEND,       /* sendmsg, sendmmsg, sendto */
    CALL_RECEIVE,    /* recvmsg, recvmmsg, recvfrom */
    CALL_PROCESS,    /* fork, vfork, clone that makes a process */
    CALL_THREAD,     /* clone that makes a thread */
    CALL_WAIT,       /* poll, epoll_wait, sigtimedwait, wait4, nanosleep */
    CALLS
};

enum faults_clock { CLOCK_HOUR, CLOCK_BACK, CLOCK_STILL };

struct faults_shared {
    _Atomic uint64_t count[CALLS];
    uint32_t call;  /* which fails: enum faults_call */
    uint32_t later; /* 1: all later ones fail, too */
    uint64_t at;    /* the call that fails, from 1; 0: none */
    uint32_t clock; /* enum faults_clock */
    _Atomic uint32_t failed;
};

/* Counts a call. Returns 1 if it must fail. */
static inline int faults_fails(struct faults_shared *shared, enum faults_call call)
{
    const uint64_t number = atomic_fetch_add(&shared->count[call], 1) + 1;

    if (shared->call != (uint32_t)call || shared->at == 0 || number < shared->at ||
        (number > shared->at && !shared->later))
        return 0;
    atomic_fetch_add(&shared->failed, 1);
    return 1;
}

#endif
