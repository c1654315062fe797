/* SPDX-License-Identifier: Apache-2.0 */
/* The list of deflections that a switch keeps. */
#include "sim/network/deflection_notes.h"

#include <stdlib.h>

#define FIRST_CAPACITY 64

void oche_deflection_notes_add(struct oche_deflection_notes *notes,
                               const struct oche_deflection_note *note)
{
    if (notes->count == OCHE_DEFLECTION_NOTES_MOST) {
        notes->dropped++;
        return;
    }
    if (notes->count == notes->capacity) {
        notes->capacity = notes->capacity == 0 ? FIRST_CAPACITY : notes->capacity * 2;
        notes->notes = realloc(notes->notes, notes->capacity * sizeof(*notes->notes));
        if (notes->notes == NULL)
            oche_panic(__FILE__, __LINE__, "out of memory for notes of deflections");
    }
    notes->notes[notes->count++] = *note;
}

void oche_deflection_notes_free(struct oche_deflection_notes *notes)
{
    free(notes->notes);
    *notes = (struct oche_deflection_notes){.count = 0};
}
