/* SPDX-License-Identifier: Apache-2.0 */
#include "device/shared/management.h"

#include "core/cm/mad.h"
#include "core/wire/bytes.h"
#include "core/wire/opcode.h"

/* offsets from BTH on: BTH has 12 bytes, DETH 8, the MAD's header 24 */
enum { AT_QPN = 5, AT_MAD = 20 };

bool oche_management_is(const uint8_t *bytes, uint32_t count)
{
    return count >= OCHE_STEERED_BYTES && oche_get24(bytes + AT_QPN) == OCHE_CM_QPN;
}

unsigned oche_management_slot(const struct oche_services *services,
                              const struct oche_sharing *share, const uint8_t *bytes,
                              uint32_t count, bool *asks)
{
    struct oche_cm_message message;
    uint32_t id;

    *asks = false;
    if (bytes[0] != OCHE_UD_SEND_ONLY || count < AT_MAD + OCHE_MAD_BYTES ||
        oche_cm_read(bytes + AT_MAD, OCHE_MAD_BYTES, &message) != OCHE_CM_OK)
        return share->slot;
    switch (message.kind) {
    case OCHE_CM_REQ:
    case OCHE_CM_SIDR_REQ:
        *asks = true;
        return oche_services_slot(services, share, message.service_id);
    case OCHE_CM_SIDR_REP:
        id = message.local_id;
        break;
    default:
        id = message.remote_id;
        break;
    }
    return id == 0 ? oche_services_manager(services, share) : id >> (32 - OCHE_SLOT_BITS);
}
