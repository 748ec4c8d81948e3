# The network ${prefix} as a program for the bare machine ${target}.
#   make                   with riscv64-unknown-elf-gcc
#   make TOOLCHAIN=zig     with clang out of the wheel ziglang (pip install ziglang)
#   make run               on GVSoC, where that is installed
#   make PRINT=mine.h      where the code pass print-tensors was asked for: a header that defines TW_PRINT
HERE := $$(dir $$(lastword $$(MAKEFILE_LIST)))
BUILD ?= $$(HERE)build
TOOLCHAIN ?= gcc
PYTHON ?= python3
GVSOC ?= gvsoc
PRINT ?= silent.h

ifeq ($$(TOOLCHAIN),zig)
COMMAND := $$(PYTHON) -m ziglang cc -target riscv32-freestanding-none -fno-sanitize=all ${zig_isa}
LINK := -nostartfiles
LIBRARIES :=
else
COMMAND := riscv64-unknown-elf-gcc ${gcc_isa}
LINK := -nostdlib -Wl,--no-warn-rwx-segments
LIBRARIES := -lgcc
endif
FLAGS := -std=c11 -O3 -ffp-contract=off -ffreestanding -mabi=${abi} -mno-relax ${macros} -DTW_PRINT_HEADER='"$$(PRINT)"' \
  -I$$(HERE).. -I$$(HERE)runtime -I$$(HERE)runtime/libc

NETWORK := ${network}
RUNTIME := ${runtime}
ELF := $$(BUILD)/${prefix}.elf
OBJECTS := $$(NETWORK:%=$$(BUILD)/network/%.o) $$(RUNTIME:%=$$(BUILD)/runtime/%.o) $$(BUILD)/main.c.o
HEADERS := $$(wildcard $$(HERE)../*.h $$(HERE)runtime/*.h $$(HERE)runtime/libc/*.h)

.PHONY: all run clean
all: $$(ELF)

$$(ELF): $$(OBJECTS) $$(HERE)${script}
	$$(COMMAND) -mabi=${abi} -mno-relax $$(LINK) -Wl,--gc-sections -T $$(HERE)${script} -o $$@ $$(OBJECTS) $$(LIBRARIES)

# memcpy must not become a call of itself
$$(BUILD)/runtime/%.o: $$(HERE)runtime/% $$(HEADERS)
	@mkdir -p $$(dir $$@)
	$$(COMMAND) $$(FLAGS) -fno-builtin -c -o $$@ $$<

$$(BUILD)/network/%.o: $$(HERE)../% $$(HEADERS)
	@mkdir -p $$(dir $$@)
	$$(COMMAND) $$(FLAGS) -c -o $$@ $$<

$$(BUILD)/main.c.o: $$(HERE)main.c $$(HEADERS) $$(wildcard $$(HERE)../*_selftest.c)
	@mkdir -p $$(dir $$@)
	$$(COMMAND) $$(FLAGS) -c -o $$@ $$<

run: $$(ELF)
	@mkdir -p $$(BUILD)/gvsoc
	$$(GVSOC) --target=${target} --work-dir=$$(abspath $$(BUILD)/gvsoc) --binary=$$(abspath $$(ELF)) run

clean:
	rm -rf $$(BUILD)
