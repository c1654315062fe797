/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parameter table. "ns2-xpass" is the authors' simulator (kaist-ina/ns2-xpass), "paper" Cho et
 * al., SIGCOMM 2017; REFERENCE F.3 has both.
 */
#include "sim/endpoint/expresspass/params.h"

#define FIELD(member) offsetof(struct oche_xpass_params, member)

static const char *const feedbacks[] = {
    [OCHE_XPASS_AUTHORS_CODE] = "code", [OCHE_XPASS_PAPER] = "paper", NULL};

static const struct oche_param params[] = {
    {.name = "payload",
     .unit = OCHE_UNIT_BYTES,
     .offset = FIELD(payload_bytes),
     .preset.u = 1460,
     .minimum.u = 64,
     .maximum.u = 8900,
     .where = "REFERENCE F.3: frames of up to 1538 bytes on the line",
     .help = "of a full frame; credits get their share of links by it"},
    {.name = "feedback",
     .unit = OCHE_UNIT_CHOICE,
     .offset = FIELD(feedback),
     .preset.u = OCHE_XPASS_AUTHORS_CODE,
     .choices = feedbacks,
     .where = "ns2-xpass, xpass.cc; paper sec 3.2",
     .help = "how a receiver sets a flow's credit rate: as the authors' simulator, or their paper"},
    {.name = "alpha",
     .unit = OCHE_UNIT_REAL,
     .offset = FIELD(alpha),
     .preset.real = 0.5,
     .minimum.real = 0.0001,
     .maximum.real = 1,
     .where = "ns2-xpass; 1/16 in its fat-tree script",
     .help = "credit rate at first, of the most that the receiver's link takes"},
    {.name = "w_initial",
     .unit = OCHE_UNIT_REAL,
     .offset = FIELD(w_initial),
     .preset.real = 0.5,
     .minimum.real = 0.0001,
     .maximum.real = 1,
     .where = "paper sec 3.2, ns2-xpass; 1/16 in its fat-tree script",
     .help = "aggressiveness at first"},
    {.name = "w_least",
     .unit = OCHE_UNIT_REAL,
     .offset = FIELD(w_least),
     .preset.real = 0.01,
     .minimum.real = 0.0001,
     .maximum.real = 1,
     .where = "paper sec 3.2, ns2-xpass",
     .help = "what losses of credits halve it down to"},
    {.name = "w_most",
     .unit = OCHE_UNIT_REAL,
     .offset = FIELD(w_most),
     .preset.real = 0.5,
     .minimum.real = 0.0001,
     .maximum.real = 1,
     .where = "paper sec 3.2, ns2-xpass",
     .help = "what it grows to without"},
    {.name = "w_step",
     .unit = OCHE_UNIT_REAL,
     .offset = FIELD(w_step),
     .preset.real = 0.05,
     .minimum.real = 0,
     .maximum.real = 1,
     .where = "ns2-xpass",
     .help = "feedback code: by so much in a good round trip after another"},
    {.name = "target_loss",
     .unit = OCHE_UNIT_REAL,
     .offset = FIELD(target_loss),
     .preset.real = 0,
     .minimum.real = 0,
     .maximum.real = 0.9,
     .where = "ns2-xpass, paper sec 3.2",
     .help = "share of credits that may be lost; feedback code: times what is missing to full "
             "rate; 0: 0.125 there, 0.1 with the paper's"},
    {.name = "jitter",
     .unit = OCHE_UNIT_REAL,
     .offset = FIELD(jitter),
     .preset.real = 0.1,
     .minimum.real = 0,
     .maximum.real = 0.9,
     .where = "ns2-xpass",
     .help = "credits come earlier or later by up to this share of the time between two"},
    {.name = "size_jitter",
     .unit = OCHE_UNIT_BYTES,
     .offset = FIELD(size_jitter),
     .preset.u = 0,
     .minimum.u = 0,
     .maximum.u = 64,
     .where = "ns2-xpass: 0; paper sec 3.1: 8",
     .help = "a credit is longer than the least frame by up to this, at random"},
    {.name = "rto",
     .unit = OCHE_UNIT_TIME,
     .offset = FIELD(rto),
     .preset.u = 100 * OCHE_MS,
     .minimum.u = OCHE_US,
     .maximum.u = 60 * OCHE_SEC,
     .where = "ns2-xpass; 100us in its scripts",
     .help = "a sender without credits asks again; a receiver without data stops"},
    {.name = "stop_timeout",
     .unit = OCHE_UNIT_TIME,
     .offset = FIELD(stop_timeout),
     .preset.u = 2 * OCHE_MS,
     .minimum.u = OCHE_US,
     .maximum.u = 60 * OCHE_SEC,
     .where = "ns2-xpass",
     .help = "a stop of credits that is not answered goes again"},
    {.name = "idle",
     .unit = OCHE_UNIT_TIME,
     .offset = FIELD(idle),
     .preset.u = 100 * OCHE_US,
     .minimum.u = 0,
     .maximum.u = 60 * OCHE_SEC,
     .where = "paper sec 3: a small timeout, no value; ns2-xpass: 0",
     .help = "a sender whose application has made nothing new for so long stops its credits"},
};

const struct oche_param_table oche_xpass_table = {.params = params,
                                                  .count = sizeof(params) / sizeof(params[0]),
                                                  .struct_bytes = sizeof(struct oche_xpass_params)};

const char *oche_xpass_check(const void *values)
{
    const struct oche_xpass_params *p = values;

    if (p->w_least > p->w_most)
        return "w_least: is above w_most; make it at most that";
    if (p->w_initial < p->w_least || p->w_initial > p->w_most)
        return "w_initial: is not between w_least and w_most; make it one of them, or in between";
    return NULL;
}

double oche_xpass_target_loss(const struct oche_xpass_params *p)
{
    if (p->target_loss > 0)
        return p->target_loss;
    return p->feedback == OCHE_XPASS_PAPER ? 0.1 : 0.125;
}
