/* Prints tensors on their way. TW_PRINT_HEADER, a header, may define TW_PRINT as something like printf. */
#ifdef TW_PRINT_HEADER
#  include TW_PRINT_HEADER
#endif
#ifndef TW_PRINT
#  include <stdio.h>
#  define TW_PRINT printf
#endif
