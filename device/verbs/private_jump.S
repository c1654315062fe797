/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The private interface's functions, as jumps through one pointer each (ov_slot_NAME, private.c).
 * They must leave every argument where it is, of whatever number and kind (some take "..."), which
 * no C function can promise.
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

#define FUNCTION(name, otherwise)                                                                  \
    .globl name;                                                                                   \
    .type name, %function;                                                                         \
    .balign 16;                                                                                    \
    name: JUMP(ov_slot_##name);                                                                    \
    .size name, .-name;

    .text
OV_PRIVATE_NAMES(FUNCTION)

    .section .note.GNU-stack, "", %progbits
