#ifndef TW_XP_F32_GELU
#define TW_XP_F32_GELU
/* y = x times the part of the normal distribution below x, some elements at a time; far from 0 one by one. */
TW_XP_APART void tw_xp_f32_gelu(int32_t count, const float *x, int32_t x_step, float *y, int32_t y_step)
{
    for (int32_t left = count; left > 0; left -= 16) {
        const int32_t some = left < 16 ? left : 16;
        float kept[16], bell[16], largest[] = {0.0f, 0.0f, 0.0f, 0.0f};
        tw_xp_f32_reach(some, x, x_step, kept, 1, largest);
        tw_xp_f32_bell(some, kept, 1, bell, 1);
        tw_xp_f32_below_relu(some, kept, 1, bell, 1, y, y_step);
        if (!(largest[0] <= 3.0f && largest[1] <= 3.0f && largest[2] <= 3.0f && largest[3] <= 3.0f)) {
            for (int32_t i = 0; i < some; ++i) {
                if (tw_xp_f32_abs(kept[i]) > 3.0f) {
                    y[i * y_step] = tw_geluf(kept[i]);
                }
            }
        }
        x += 16 * x_step;
        y += 16 * y_step;
    }
}
#endif
