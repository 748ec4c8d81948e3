/* The two constants of math.h that generated code uses, where the compiler comes without a C library. */
#ifndef TW_MATH_H
#define TW_MATH_H

#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")

#endif
