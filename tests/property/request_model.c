/* SPDX-License-Identifier: Apache-2.0 */
/* A model of a responder; see request_model.h. */
#include "tests/property/request_model.h"

#include <stddef.h>
#include <string.h>

#define PSNS        (UINT32_C(1) << 24)
#define RNR_CODES   32
#define RNR_LONGEST 65536 /* code 0 */

static bool is_atomic(const struct model_request *request)
{
    return request->operation == MODEL_SWAP || request->operation == MODEL_ADD;
}

static bool has_data(const struct model_request *request)
{
    return request->operation == MODEL_SEND || request->operation == MODEL_WRITE;
}

static bool takes_receive(const struct model_request *request)
{
    return request->operation == MODEL_SEND ||
           (request->operation == MODEL_WRITE && request->last && request->imm);
}

/* The packets of a message follow each other directly. */
static bool in_order(const struct request_model *m, const struct model_request *request)
{
    if (!has_data(request) || request->first)
        return m->operation == MODEL_NONE;
    return m->operation == request->operation;
}

/* Packets are full except the last; a WRITE has as many bytes as it announced. */
static bool right_length(const struct request_model *m, const struct model_request *request)
{
    if (request->last ? request->bytes > m->mtu : request->bytes != m->mtu)
        return false;
    if (request->operation != MODEL_WRITE)
        return true;
    const uint64_t announced = request->first ? request->dma_length : m->announced;
    const uint64_t there = (request->first ? 0 : (uint64_t)m->arrived) + request->bytes;
    return request->last ? there == announced : there < announced;
}

static uint32_t right_of(const struct model_request *request)
{
    if (is_atomic(request))
        return MODEL_MAY_ATOMIC;
    return request->operation == MODEL_READ ? MODEL_MAY_READ : MODEL_MAY_WRITE;
}

static const struct model_region *region_of(const struct request_model *m, uint32_t key)
{
    for (unsigned i = 0; i < MODEL_REGIONS; i++)
        if (m->region[i].key == key)
            return &m->region[i];
    return NULL;
}

/* The key gives access to all these bytes. */
static bool may_touch(const struct request_model *m, const struct model_request *request)
{
    const uint64_t bytes = is_atomic(request) ? 8 : request->dma_length;
    const struct model_region *region = region_of(m, request->key);

    if (bytes == 0)
        return true;
    if (region == NULL || region->other_domain || !(region->rights & right_of(request)))
        return false;
    return request->va >= region->va && request->va + bytes <= region->va + region->length;
}

unsigned model_faults(const struct request_model *m, const struct model_request *request)
{
    const bool names_memory =
        !has_data(request) || (request->operation == MODEL_WRITE && request->first);
    unsigned faults = 0;

    if (!in_order(m, request) || (has_data(request) && !right_length(m, request)))
        faults |= MODEL_INVALID;
    if (!has_data(request) && m->resources == 0)
        faults |= MODEL_INVALID;
    if (is_atomic(request) && request->va % 8 != 0)
        faults |= MODEL_INVALID;
    if (names_memory && !(m->rights & right_of(request)))
        faults |= MODEL_INVALID;
    if (names_memory && !may_touch(m, request))
        faults |= MODEL_ACCESS;
    if (!takes_receive(request))
        return faults;
    if (m->completed == m->posted)
        return faults | MODEL_NOT_READY;
    const uint64_t there = (request->first ? 0 : (uint64_t)m->arrived) + request->bytes;
    if (request->operation == MODEL_SEND &&
        there > m->receive[m->completed % MODEL_RECEIVES].length)
        faults |= MODEL_INVALID;
    return faults;
}

uint8_t *model_memory(const struct request_model *m, uint32_t key, uint64_t va)
{
    const struct model_region *region = region_of(m, key);

    return m->memory + region->at + (va - region->va);
}

static void place(struct request_model *m, const struct model_request *request,
                  const uint8_t *payload)
{
    const struct model_receive *receive = &m->receive[m->completed % MODEL_RECEIVES];
    uint8_t *to = NULL;

    if (request->bytes == 0)
        return;
    if (request->operation == MODEL_SEND)
        to = m->memory + receive->at + m->arrived;
    else
        to = model_memory(m, m->key, m->va + m->arrived);
    memcpy(to, payload, request->bytes);
}

static uint32_t execute_data(struct request_model *m, const struct model_request *request,
                             const uint8_t *payload)
{
    if (request->first) {
        m->operation = request->operation;
        m->arrived = 0;
        m->va = request->va;
        m->key = request->key;
        m->announced = request->dma_length;
    }
    place(m, request, payload);
    m->arrived += request->bytes;
    if (request->last) {
        m->operation = MODEL_NONE;
        m->messages = (m->messages + 1) % PSNS;
        m->completed += takes_receive(request);
    }
    return 1;
}

uint32_t model_execute(struct request_model *m, const struct model_request *request,
                       const uint8_t *payload, uint64_t *original)
{
    if (has_data(request))
        return execute_data(m, request, payload);
    m->messages = (m->messages + 1) % PSNS;
    if (request->operation == MODEL_READ)
        return request->dma_length == 0 ? 1 : (request->dma_length + m->mtu - 1) / m->mtu;
    uint8_t *at = model_memory(m, request->key, request->va);
    memcpy(original, at, 8);
    uint64_t value = *original + request->swap_add;
    if (request->operation == MODEL_SWAP)
        value = *original == request->compare ? request->swap_add : *original;
    memcpy(at, &value, 8);
    return 1;
}

/* From code 2 on: a power of two, then one and a half times as much, and so on. */
uint32_t model_rnr_units(unsigned code)
{
    if (code == 0)
        return RNR_LONGEST;
    return (code % 2 != 0 ? 3u << code / 2 >> 1 : 1u << code / 2);
}

unsigned model_rnr_code(uint32_t units)
{
    unsigned best = 0; /* the longest */

    for (unsigned code = 1; code < RNR_CODES; code++)
        if (model_rnr_units(code) >= units && model_rnr_units(code) < model_rnr_units(best))
            best = code;
    return best;
}
