#pragma once

/* Assembler of a sum that is requantised, `narrow` (ssat or usat) to `bits`: by SMMLA and a shift of its upper half, or
 * by the formula itself, of floats. The scale is in s1; s0 is overwritten. */
#define TW_DSP_FIXED(sum, multiplier, above, narrow, bits, shift) \
    "smmla " #sum ", " #sum ", " #multiplier ", " #above "\n\t" \
    #narrow " " #sum ", #" #bits ", " #sum ", asr #" #shift "\n\t"
#define TW_DSP_EXACT(sum, zero_point, narrow, bits) \
    "vmov s0, " #sum "\n\t" \
    "vcvt.f32.s32 s0, s0\n\t" \
    "vmul.f32 s0, s0, s1\n\t" \
    "vcvtr.s32.f32 s0, s0\n\t" \
    "vmov " #sum ", s0\n\t" \
    "qadd " #sum ", " #sum ", " #zero_point "\n\t" \
    #narrow " " #sum ", #" #bits ", " #sum "\n\t"
