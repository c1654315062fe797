/* SPDX-License-Identifier: Apache-2.0 */
/* Notes how the ranks on a host spend their time, and when phases of collectives begin and end. */
#include "sim/network/host_programs.h"

/* ---- the timeline ---- */

void host_program_note(struct program *program, oche_time received, oche_time now)
{
    struct oche_timeline *timeline = &program->job->timeline;
    const oche_time from = program->noted;
    const oche_time busy_end = oche_time_max(from, oche_time_min(program->busy_until, now));

    if (!program->recorded || now <= from)
        return;
    oche_timeline_add(timeline, program->rank, OCHE_CALCULATES, from, busy_end);
    if (program->under_way > 0) {
        oche_timeline_add(timeline, program->rank, OCHE_SENDS, busy_end, now);
    } else {
        const oche_time begin = oche_time_max(busy_end, received < now ? now - received : 0);

        oche_timeline_add(timeline, program->rank, OCHE_WAITS, busy_end, begin);
        oche_timeline_add(timeline, program->rank, OCHE_RECEIVES, begin, now);
    }
    program->noted = now;
}

void host_program_note_posted(struct program *program, oche_time now)
{
    host_program_note(program, 0, now);
    program->under_way++;
}

void host_program_note_acknowledged(struct program *program, oche_time now)
{
    host_program_note(program, 0, now);
    program->under_way--;
}

/* ---- phases ---- */

/* Returns the place of an operation's phase in the job's arrays; SIZE_MAX: it has none. */
static size_t phase_of(const struct program *program, const struct oche_goal_op *op)
{
    const struct oche_job *job = program->job;
    const uint32_t phase = oche_collective_phase(&job->repeats.of, op->tag);
    const size_t repetition = (size_t)program->rank * job->repeats.count + program->ended;

    return phase == OCHE_NO_PHASE || program->ended == job->repeats.count
               ? SIZE_MAX
               : repetition * job->phases + phase;
}

void host_program_note_phase_begin(struct program *program, const struct oche_goal_op *op,
                                   oche_time now)
{
    const size_t at = program->job->phases == 0 ? SIZE_MAX : phase_of(program, op);

    if (at != SIZE_MAX && program->job->phase_begun[at] == OCHE_NEVER)
        program->job->phase_begun[at] = now;
}

void host_program_note_phase_end(struct program *program, uint32_t number, oche_time now)
{
    if (program->job->phases == 0)
        return;
    const struct oche_goal_op op = host_program_op(program, number);
    const size_t at = op.type == OCHE_GOAL_RECV ? phase_of(program, &op) : SIZE_MAX;

    if (at != SIZE_MAX)
        program->job->phase_ended[at] = now;
}
