/* From reset to C on every hart, and from a fault to its report. TEAM, STACK and GUARD come from board.h. */
#include "board.h"

    .option norelax
    .section .text.start, "ax"
    .globl _start
_start:
    csrr a0, mhartid
    li t0, TEAM
    bgeu a0, t0, park
    li t0, 0x2000 /* mstatus.FS: the FPU is on */
    csrs mstatus, t0
    la t0, on_trap
    csrw mtvec, t0
    addi t1, a0, 1
    la sp, board_stacks
    li t0, GUARD + STACK
    mul t0, t0, t1
    add sp, sp, t0
    li t0, 8 /* mie.MSIE: a software interrupt ends a wfi; mstatus.MIE stays 0, so that none is taken */
    csrw mie, t0
    call board_start
park:
    wfi
    j park

    .balign 4
on_trap:
    csrr a0, mhartid
    la sp, board_fault_stacks
    addi t0, a0, 1
    slli t0, t0, 9
    add sp, sp, t0
    csrr a1, mcause
    csrr a2, mepc
    csrr a3, mtval
    call board_fault
