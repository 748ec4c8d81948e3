/* Where the cycles of a step go. TW_PROFILE_HEADER, a header, says what the time is, TW_CLOCK(), and takes the answers,
 * TW_CYCLES(step, tile, activity, cycles); tile TW_ALL_TILES is the whole step. */
#ifdef TW_PROFILE_HEADER
#  include TW_PROFILE_HEADER
#endif
#ifndef TW_CLOCK
#  define TW_CLOCK() UINT32_C(0)
#endif
#ifndef TW_CYCLES
#  define TW_CYCLES(step, tile, activity, cycles) ((void)(step), (void)(tile), (void)(activity), (void)(cycles))
#endif
#define TW_ALL_TILES UINT32_MAX

typedef enum { TW_COPY_IN, TW_COMPUTE, TW_COPY_OUT, TW_WAIT } tw_activity; /* TW_WAIT: for the other cores */

typedef struct {
    uint32_t since; /* the clock wraps around */
    uint32_t tile[TW_WAIT + 1];
    uint32_t step[TW_WAIT + 1];
} tw_profile;

TW_KERNEL tw_profile tw_profile_begin(void)
{
    const tw_profile profile = {.since = TW_CLOCK()};
    return profile;
}

/* What went by since the last call was spent on `activity`. */
TW_KERNEL void tw_spent(tw_profile *profile, tw_activity activity)
{
    const uint32_t tw_now = TW_CLOCK();
    profile->tile[activity] += tw_now - profile->since;
    profile->since = tw_now;
}

/* The end of a tile. Reporting is not counted. */
TW_KERNEL void tw_tile_end(tw_profile *profile, uint32_t step, uint32_t tile)
{
    for (uint32_t i = 0; i <= TW_WAIT; ++i) {
        if (REPORTS(i)) {
            TW_CYCLES(step, tile, (tw_activity)i, profile->tile[i]);
        }
        profile->step[i] += profile->tile[i];
        profile->tile[i] = 0;
    }
    profile->since = TW_CLOCK();
}

/* The end of a step; what follows its last tile counts for the step only. */
TW_KERNEL void tw_step_end(tw_profile *profile, uint32_t step)
{
    for (uint32_t i = 0; i <= TW_WAIT; ++i) {
        if (REPORTS(i)) {
            TW_CYCLES(step, TW_ALL_TILES, (tw_activity)i, profile->step[i] + profile->tile[i]);
        }
    }
}
