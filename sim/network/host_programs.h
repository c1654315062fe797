/* SPDX-License-Identifier: Apache-2.0 */
/* Private to host_jobs.c, host_messages.c and host_notes.c: the programs of a host, and what they
 * are to do. */
#ifndef OCHE_SIM_NETWORK_HOST_PROGRAMS_H
#define OCHE_SIM_NETWORK_HOST_PROGRAMS_H

#include "sim/network/deferred.h"
#include "sim/network/host_jobs.h"
#include "sim/network/host_state.h"

/* A rank of a job on this host. */
struct program {
    struct oche_job *job;
    uint32_t rank;
    uint32_t begun, ended; /* repetitions (struct oche_job_repeats) */
    struct oche_rank *way;
    oche_time *cpu_free;  /* by cpu: when it has done what it is to do */
    oche_time local_free; /* the same of its sends to other ranks of this host */
    oche_time busy_until; /* the last of its cpus */
    /* Where the job has a timeline that records the rank. */
    bool recorded;
    oche_time noted;    /* until when the rank's time is on it */
    uint32_t under_way; /* messages that are posted and not acknowledged */
};

/* A message whose sender has asked, until the receiver has answered; of one host, until it moved.
 */
struct request {
    struct program *receiver;
    uint32_t sender, operation; /* rank, and its send */
    uint32_t receive;           /* the receiver's operation that gets it */
    uint32_t next;              /* of the free ones */
};

/* `requests` and `ready` are of the arena. */
struct oche_host_jobs {
    struct oche_deferred_heap heap;
    struct program *programs; /* by job, and in the order of ranks */
    uint32_t count;
    uint32_t *ready; /* operations that became ready at once */
    uint32_t ready_room;
    struct request *requests;
    uint32_t request_room, request_free; /* OCHE_NO_MATCH: none is free */
};

/* Deferred work. `object` is the program, and `number` an operation, unless stated otherwise. */
enum program_work {
    BEGINS,    /* the program begins */
    STARTS,    /* the operation starts, and others wait for that */
    SENDS,     /* the cpu's part of a send is over */
    ENDS,      /* the operation is over */
    ARRIVES,   /* a flow is here: `number` */
    COMPLETES, /* a message is acknowledged: `number` is its flow */
    MOVES,     /* a message between ranks of this host is there */
    /* For messages whose sender asks first; `number` is the request, except for PUSHES. */
    ASKS,       /* the request is here, from a rank of this host */
    ANSWERS,    /* the cpu's part of the answer is over */
    IS_GRANTED, /* the answer is here, from a rank of this host */
    HANDS_OVER, /* the cpu's part of the data is over; the receiver is on this host */
    PUSHES,     /* the same; it is on another */
    IS_THERE,   /* the data is there, from a rank of this host */
};

/*
 * Takes a cpu for a time, from now or from when it has done what it is to do. Returns the end. What
 * is taken reaches from now to the cpu's end without a gap; so the rank is busy until the last end.
 */
oche_time host_program_take_cpu(struct program *program, unsigned cpu, oche_time time,
                                oche_time now);
/* A receive has its message. */
void host_program_take_message(struct oche_host *host, struct program *program, uint32_t receive,
                               oche_time now);
/* The operation is over. */
void host_program_end_op(struct oche_host *host, struct program *program, uint32_t number,
                         oche_time now);

/* The cpu's part of a send is over: its message, or its request, goes out. */
void host_program_send(struct oche_host *host, struct program *program, uint32_t number,
                       oche_time now);
/* A receive that has just been posted has got the message behind this handle (match.h). */
void host_program_meet(struct oche_host *host, struct program *receiver, uint32_t handle,
                       uint32_t receive, oche_time now);
/* Does the work that is due, of the kinds from ARRIVES on. */
void host_program_message_due(struct oche_host *host, const struct oche_deferred *due,
                              oche_time now);

/*
 * Notes the rank's time until now, before what it does changes. `received`: of the time in which it
 * did nothing else, that in which a message was received; the last part.
 */
void host_program_note(struct program *program, oche_time received, oche_time now);
/* The data of a message begins its way; and: it has been acknowledged, or has failed. */
void host_program_note_posted(struct program *program, oche_time now);
void host_program_note_acknowledged(struct program *program, oche_time now);
/* A send is about to be posted; and: the operation is over. */
void host_program_note_phase_begin(struct program *program, const struct oche_goal_op *op,
                                   oche_time now);
void host_program_note_phase_end(struct program *program, uint32_t number, oche_time now);

static inline void host_program_defer(struct oche_host *host, struct program *program,
                                      enum program_work kind, uint32_t number, oche_time until)
{
    oche_deferred_add(
        &host->jobs->heap, &host->shard->arena,
        &(struct oche_deferred){
            .until = until, .object = program, .number = number, .kind = (uint8_t)kind});
}

static inline struct oche_goal_op host_program_op(const struct program *program, uint32_t operation)
{
    return oche_goal_op(&program->job->goal.rank[program->rank], operation);
}

#endif
