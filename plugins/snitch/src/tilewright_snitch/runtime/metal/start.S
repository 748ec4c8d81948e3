/* From the entry point to C. The ROM sends all nine harts here; the last one moves data, and runs `main`.
 *
 * The cluster's barrier counts every hart: those that a smaller team does not use only meet there.
 */
#include "machine.h"

    .option norelax
    .option arch, +zicsr
    .section .text.start, "ax"
    .globl _start
_start:
    la gp, __global_pointer$
    csrr a0, mhartid
    li t0, 8 /* the hart that moves data is the last of the team */
    bne a0, t0, computing
    li a0, TW_CORES
    j stack
computing:
    li t0, TW_CORES
    bgeu a0, t0, park
stack:
    la sp, tw_stacks
    li t0, TW_STACK_BYTES
    mul t1, t0, a0
    add t1, sp, t1 /* this core's stack: t1 .. sp */
    add sp, t1, t0
    mv tp, t1 /* team.h: whether it is whole */
    li t0, 0x57AC57AC
paint:
    sw t0, 0(t1)
    addi t1, t1, 4
    bltu t1, sp, paint
    li t0, TW_CORES
    beq a0, t0, moving
    call tw_core_main
park:
    csrr x0, 0x7C2
    j park

moving:
    addi t0, sp, -TW_ABOVE_STACK
above:
    addi sp, sp, -4
    sw zero, 0(sp)
    bne sp, t0, above
    la t0, tw_bss_start
    la t1, tw_bss_end
    bgeu t0, t1, cleared
clear:
    sw zero, 0(t0)
    addi t0, t0, 4
    bltu t0, t1, clear
cleared:
    call main
    call tw_exit
