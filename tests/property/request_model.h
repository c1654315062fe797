/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a reliable responder owes for a request, told by the rules of InfiniBand alone: what is
 * wrong with the request, and what it changes if nothing is. It shares no code with core/qp.
 */
#ifndef OCHE_TESTS_PROPERTY_REQUEST_MODEL_H
#define OCHE_TESTS_PROPERTY_REQUEST_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#define MODEL_REGIONS  5
#define MODEL_RECEIVES 64

enum model_operation { MODEL_NONE, MODEL_SEND, MODEL_WRITE, MODEL_READ, MODEL_SWAP, MODEL_ADD };

/* What a program may allow a peer; a set of bits. */
enum model_right { MODEL_MAY_WRITE = 1, MODEL_MAY_READ = 2, MODEL_MAY_ATOMIC = 4 };

struct model_region {
    uint32_t key, length;
    uint64_t va;
    uint32_t at; /* where in memory it begins */
    uint32_t rights;
    bool other_domain; /* the queue pair's protection domain is another one */
};

struct model_receive {
    uint32_t at, length;
};

/* One packet of a request. */
struct model_request {
    enum model_operation operation;
    bool first, last, imm;
    uint32_t bytes; /* of payload */
    uint64_t va;    /* first packets of WRITEs, READs, atomics */
    uint32_t key, dma_length;
    uint64_t compare, swap_add;
};

/* What may be wrong with a request; a set of bits. */
enum model_fault {
    MODEL_INVALID = 1, /* "invalid request" */
    MODEL_ACCESS = 2,  /* "remote access error" */
    MODEL_NOT_READY = 4,
};

/* The responder, as its program and its peer know it. */
struct request_model {
    uint32_t mtu, resources, rights;
    struct model_region region[MODEL_REGIONS];
    struct model_receive receive[MODEL_RECEIVES]; /* by number, in turn */
    uint32_t posted, completed;
    uint8_t *memory;
    /* the message that is arriving */
    enum model_operation operation;
    uint32_t arrived;
    uint64_t va;
    uint32_t key, announced;
    uint32_t messages; /* done, modulo 2^24: the MSN */
};

/* Returns all that is wrong with the request if it is the next in order. */
unsigned model_faults(const struct request_model *model, const struct model_request *request);
/*
 * Carries out a request without a fault. Returns how many PSNs it takes; `original`: an atomic's
 * result.
 */
uint32_t model_execute(struct request_model *model, const struct model_request *request,
                       const uint8_t *payload, uint64_t *original);
/* Returns the memory that a key and an address stand for. The request has no fault. */
uint8_t *model_memory(const struct request_model *model, uint32_t key, uint64_t va);

/* Returns how many times 10 us the RNR timer code stands for (IBTA 9.7.5.2.8). */
uint32_t model_rnr_units(unsigned code);
/* Returns the code that asks for the shortest wait of at least so many times 10 us. */
unsigned model_rnr_code(uint32_t units);

#endif
