/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The events of a trace as people read them: which fields the two words of a record hold
 * (core/trace/trace.h), and what each is called. The fields of a kind together are the whole words,
 * so a record can be made again from them.
 */
#ifndef OCHE_SIM_CAPTURE_EVENT_FIELDS_H
#define OCHE_SIM_CAPTURE_EVENT_FIELDS_H

#include "core/trace/trace.h"

#define OCHE_EVENT_MOST_FIELDS 5 /* of a kind of event */

struct oche_event_field {
    const char *name;
    bool second; /* the field is in the record's word b; false: in a */
    uint8_t shift, bits;
};

/* Returns the fields of a kind. The first field without a name ends the list. */
const struct oche_event_field *oche_event_fields(enum oche_trace_kind kind);

/*
 * Returns the event's name: the name of its kind or, for negative acknowledgements, NAK_SENT,
 * RNR_NAK_SENT, … `roce`: acknowledgements have an AETH.
 */
const char *oche_event_name(const struct oche_trace_record *record, bool roce);

static inline uint64_t oche_event_value(const struct oche_trace_record *record,
                                        const struct oche_event_field *field)
{
    uint64_t word = (field->second ? record->b : record->a) >> field->shift;

    return field->bits == 64 ? word : word & ((UINT64_C(1) << field->bits) - 1);
}

#endif
