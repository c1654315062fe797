/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reliable responder's duty for a request, from the rules of InfiniBand alone: the errors of the
 * request or, if it has none, its effects. It shares no code with core/qp.
 */
#ifndef OCHE_TESTS_PROPERTY_REQUEST_MODEL_H
#define OCHE_TESTS_PROPERTY_REQUEST_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#define MODEL_REGIONS  5
#define MODEL_RECEIVES 64

enum model_operation { MODEL_NONE, MODEL_SEND, MODEL_WRITE, MODEL_READ, MODEL_SWAP, MODEL_ADD };

/* The rights that a program can give a peer, as a set of bits. */
enum model_right { MODEL_MAY_WRITE = 1, MODEL_MAY_READ = 2, MODEL_MAY_ATOMIC = 4 };

struct model_region {
    uint32_t key, length;
    uint64_t va;
    uint32_t at; /* its offset in memory */
    uint32_t rights;
    bool other_domain; /* the queue pair has another protection domain */
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

/* The errors that a request can have, as a set of bits. */
enum model_fault {
    MODEL_INVALID = 1, /* "invalid request" */
    MODEL_ACCESS = 2,  /* "remote access error" */
    MODEL_NOT_READY = 4,
};

/* The responder's state, as far as its program and its peer can know it. */
struct request_model {
    uint32_t mtu, resources, rights;
    struct model_region region[MODEL_REGIONS];
    struct model_receive receive[MODEL_RECEIVES]; /* by number, modulo their count */
    uint32_t posted, completed;
    uint8_t *memory;
    /* the message that is arriving */
    enum model_operation operation;
    uint32_t arrived;
    uint64_t va;
    uint32_t key, announced;
    uint32_t messages; /* requests done, modulo 2^24: the MSN */
};

/* Returns all errors of the request if it is the next in order. */
unsigned model_faults(const struct request_model *model, const struct model_request *request);
/*
 * Executes a request without an error. Returns how many PSNs it takes; `original`: an atomic's
 * result.
 */
uint32_t model_execute(struct request_model *model, const struct model_request *request,
                       const uint8_t *payload, uint64_t *original);
/* Returns the memory that a key and an address name. The request has no error. */
uint8_t *model_memory(const struct request_model *model, uint32_t key, uint64_t va);

/* Returns the time of an RNR timer code, in units of 10 us (IBTA 9.7.5.2.8). */
uint32_t model_rnr_units(unsigned code);
/* Returns the code of the shortest wait that is at least `units` times 10 us. */
unsigned model_rnr_code(uint32_t units);

#endif
