/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests for services without a listener. They wait for a moment, since the program may listen
 * again soon. One peer gets at most a quarter of the places, so that other peers get places too.
 */
#include "core/cm/cm.h"

#include "core/cm/parts.h"

#define MOST_OF_ONE (OCHE_CM_MOST_GRACE / 4)

bool cm_grace_keep(struct oche_cm *cm, oche_time now, const uint8_t *local_gid,
                   const uint8_t *remote_gid, const uint8_t *mad)
{
    struct oche_cm_waiting *place = NULL;
    unsigned of_peer = 0;

    for (unsigned i = 0; i < OCHE_CM_MOST_GRACE; i++) {
        struct oche_cm_waiting *one = &cm->waiting[i];

        if (!one->used) {
            place = one;
            continue;
        }
        if (memcmp(one->remote_gid, remote_gid, OCHE_CM_GID_BYTES) != 0)
            continue;
        if (memcmp(one->mad, mad, OCHE_MAD_BYTES) == 0)
            return true; /* the same request, repeated */
        of_peer++;
    }
    if (place == NULL || of_peer >= MOST_OF_ONE)
        return false;
    place->used = true;
    place->due = oche_time_add(now, OCHE_CM_GRACE);
    memcpy(place->local_gid, local_gid, OCHE_CM_GID_BYTES);
    memcpy(place->remote_gid, remote_gid, OCHE_CM_GID_BYTES);
    memcpy(place->mad, mad, OCHE_MAD_BYTES);
    return true;
}

oche_time cm_grace_due(const struct oche_cm *cm)
{
    oche_time due = OCHE_NEVER;

    for (unsigned i = 0; i < OCHE_CM_MOST_GRACE; i++)
        if (cm->waiting[i].used && cm->waiting[i].due < due)
            due = cm->waiting[i].due;
    return due;
}

void cm_grace_tick(struct oche_cm *cm, oche_time now)
{
    for (unsigned i = 0; i < OCHE_CM_MOST_GRACE; i++) {
        const struct oche_cm_waiting waited = cm->waiting[i];

        if (!waited.used || waited.due > now)
            continue;
        cm->waiting[i].used = false;
        cm_answer_kept(cm, now, waited.local_gid, waited.remote_gid, waited.mad);
    }
}
