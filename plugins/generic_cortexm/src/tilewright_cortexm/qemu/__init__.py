"""The runner `qemu-cortex-m`: Cortex-M boards that QEMU emulates, every executed instruction counted."""
