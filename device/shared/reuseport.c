/* SPDX-License-Identifier: Apache-2.0 */
/* The BPF program that steers packets to sockets. */
#include "device/shared/reuseport.h"

#include <linux/filter.h>
#include <sys/socket.h>

bool oche_reuseport_install(int fd, const uint8_t place[OCHE_SLOTS])
{
    struct sock_filter code[8 + 2 * OCHE_SLOTS];
    struct sock_fprog program = {.filter = code};
    unsigned short n = 0;

    code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_B | BPF_ABS, OCHE_OPCODE_OFFSET);
    code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OCHE_PROBE_OPCODE, 0, 2);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_B | BPF_ABS, OCHE_PLACE_OFFSET);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_A, 0);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_B | BPF_ABS, OCHE_SLOT_OFFSET);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 8 - OCHE_SLOT_BITS);
    for (uint32_t slot = 0; slot < OCHE_SLOTS; slot++) {
        if (place[slot] == OCHE_PLACE_NONE || place[slot] == slot)
            continue;
        code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, slot, 0, 1);
        code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, place[slot]);
    }
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_A, 0);
    program.len = n;
    return setsockopt(fd, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, &program, sizeof(program)) == 0;
}
