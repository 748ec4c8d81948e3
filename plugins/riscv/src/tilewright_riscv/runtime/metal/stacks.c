/* Whether stacks were large enough, and how much of them was used. */
#include "metal.h"
#include "team.h"

enum { WORDS = TW_STACK_BYTES / 4 };

static uint32_t untouched_words(const uint32_t *stack)
{
    uint32_t words = 0;
    while (words < WORDS && stack[words] == TW_STACK_PAINT) {
        ++words;
    }
    return words;
}

int tw_stacks_whole(void)
{
    for (uint32_t core = 0; core < TW_TEAM; ++core) {
        if (untouched_words(tw_stacks + core * WORDS) < TW_GUARD_WORDS) {
            return 0;
        }
    }
    return 1;
}

uint32_t tw_stack_bytes(void)
{
    uint32_t most = 0;
    for (uint32_t core = 0; core < TW_TEAM; ++core) {
        const uint32_t used = WORDS - untouched_words(tw_stacks + core * WORDS);
        most = used > most ? used : most;
    }
    return 4u * most;
}
