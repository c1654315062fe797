/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The private interface's functions, in all its versions, as jumps through one pointer each
 * (ov_slot_NAME, private.c). They must leave every argument where it is, of whatever number and
 * kind (some take "..."), which no C function can promise. The interface's one variable is here
 * too, since it needs a symbol for each version.
 */
#include "device/verbs/private_names.h"

#if defined(__x86_64__)
#define JUMP(slot) endbr64; jmp *slot(%rip)
#elif defined(__aarch64__)
#define JUMP(slot) hint 34; adrp x16, slot; ldr x16, [x16, :lo12:slot]; br x16
#elif defined(__riscv) && __riscv_xlen == 64
#define JUMP(slot) ld t1, slot; jr t1
#else
#error "a jump through a pointer that leaves the arguments alone, for this processor"
#endif

/* NAME__VERSION is the symbol NAME of that version; 34 is the default for callers without one. */
#define FIRST(name)                                                                                \
    .globl name##__34;                                                                             \
    .symver name##__34, name@@IBVERBS_PRIVATE_34;                                                  \
    name##__34:
#define LATER(version, name)                                                                       \
    .globl name##__##version;                                                                      \
    .symver name##__##version, name@IBVERBS_PRIVATE_##version;                                     \
    name##__##version:

#define TYPE(version, name) .type name##__##version, %function;
#define SIZE(version, name) .size name##__##version, .-name##__##version;
#define FUNCTION(name, otherwise)                                                                  \
    .balign 16;                                                                                    \
    TYPE(34, name)                                                                                 \
    OV_PRIVATE_LATER(TYPE, name)                                                                   \
    FIRST(name)                                                                                    \
    OV_PRIVATE_LATER(LATER, name)                                                                  \
    JUMP(ov_slot_##name);                                                                          \
    SIZE(34, name)                                                                                 \
    OV_PRIVATE_LATER(SIZE, name)

    .text
OV_PRIVATE_NAMES(FUNCTION)
OV_PRIVATE_OWN(FUNCTION)

    /* A bool, which drivers read and the library sets. */
#define OBJECT(version, name)                                                                      \
    .type name##__##version, %object;                                                              \
    .size name##__##version, 1;

    .bss
    .globl ov_allow_disassociate_destroy
    .hidden ov_allow_disassociate_destroy
    OBJECT(34, verbs_allow_disassociate_destroy)
    OV_PRIVATE_LATER(OBJECT, verbs_allow_disassociate_destroy)
ov_allow_disassociate_destroy:
FIRST(verbs_allow_disassociate_destroy)
OV_PRIVATE_LATER(LATER, verbs_allow_disassociate_destroy)
    .zero 1

    .section .note.GNU-stack, "", %progbits
