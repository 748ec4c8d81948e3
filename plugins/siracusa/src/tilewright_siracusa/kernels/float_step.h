#pragma once

/* Keeps the loads of one step behind those of the one before: there are no registers for both. */
#ifdef __GNUC__
#  define TW_XP_STEP __asm__ volatile("" ::: "memory")
#else
#  define TW_XP_STEP
#endif
