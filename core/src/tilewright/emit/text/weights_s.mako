${banner(f"{p}_weights.S", "constants. Assemble with -I set to the folder of the .bin files")}
#if defined(__APPLE__) || (defined(_WIN32) && defined(__i386__))
#  define TW_SYMBOL(name) _##name
#else
#  define TW_SYMBOL(name) name
#endif
% for pool in program.constants:

#if defined(__ELF__)
#  ifndef ${P}_CONST_${pool.base.upper()}_SECTION
#    define ${P}_CONST_${pool.base.upper()}_SECTION ${sections[pool.base]}
#  endif
    .section ${P}_CONST_${pool.base.upper()}_SECTION, "a", %progbits
    .type TW_SYMBOL(${p}_const_${pool.base}), %object
    .size TW_SYMBOL(${p}_const_${pool.base}), ${pool.size_bytes}
#elif defined(__APPLE__)
    .section __TEXT,__const
#else
    .section .rdata, "dr"
#endif
    .globl TW_SYMBOL(${p}_const_${pool.base})
    .balign ${max(pool.align, 16)}
TW_SYMBOL(${p}_const_${pool.base}):
    .incbin "${p}_${pool.base}.bin"
% endfor

#if defined(__linux__) && defined(__ELF__)
    .section .note.GNU-stack, "", %progbits
#endif
