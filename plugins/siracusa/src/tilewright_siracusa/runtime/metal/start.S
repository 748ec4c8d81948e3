/* From the entry point to C, on the controller and on the cores of the cluster.
 *
 * The loader starts the controller here; boot.c starts the others at the same address. mhartid: cluster << 5 | core.
 */
    .option norelax
    .option arch, +zicsr
    .section .text.start, "ax"
    .globl _start
_start:
    .option push
    la gp, __global_pointer$
    .option pop
    csrr a0, mhartid
    srli a1, a0, 5
    li t0, 31
    beq a1, t0, controller

    andi a0, a0, 31
    li t0, TW_TEAM
    bgeu a0, t0, park
    li t0, 0x6000 /* mstatus.FS: the FPU is on */
    csrs mstatus, t0
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
    li a1, 0
    li t0, 0x3F800000
    fmv.w.x fa1, t0 /* where floats have registers of their own, a1 stays 0 */
    call tw_core_main
park:
    wfi
    j park

controller:
    la sp, tw_controller_stack
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
